//! Filters on the command line: their order and names, messages for filters that match nothing, and how many profiles
//! are merged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::fixture;

const STACKS: &str = "main;parse;read 30\nmain;sort;qsort;cmp 50\nmain;sort;qsort 10\nmain;sort 6\nidle 4\n";

/// A folder with the given files, removed when dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Folder(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(PathBuf::from(env!("CARGO_BIN_EXE_prof")))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("PROF_PROFILE")
            .output()
            .unwrap()
    }

    /// Standard output of a run that must succeed.
    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "prof {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a run that must end with `code`.
    fn stderr(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "prof {arguments:?}: {errors}");
        errors
    }

    /// `name self/total` of every row, and what is shown.
    fn rows(&self, arguments: &[&str]) -> (Vec<String>, i64) {
        let document = self.stdout(&[arguments, &["--format", "json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let row = |row: &serde_json::Value| {
            format!("{} {}/{}", row["name"].as_str().unwrap(), row["self"], row["total"])
        };
        let rows = document["rows"].as_array().unwrap().iter().map(row).collect();
        (rows, document["shown"].as_i64().unwrap())
    }
}

fn stacks() -> Folder {
    Folder::new(&[("a.folded", STACKS)])
}

#[test]
fn the_order_of_options_does_not_matter() {
    let folder = stacks();
    // sort is hidden first, so the stacks of qsort start at main. In the other order, they would start at sort, which
    // would then be hidden.
    let one = folder.rows(&["top", "a.folded", "--show-from", "main", "--hide-frames", "^sort$"]);
    let other = folder.rows(&["top", "--hide-frames", "^sort$", "a.folded", "--show-from", "main"]);
    assert_eq!(one, other);
    let rows = ["cmp 50/50", "read 30/30", "qsort 10/60", "main 6/96", "parse 0/30"];
    assert_eq!(one, (rows.map(String::from).to_vec(), 96));
    // Stacks are selected before frames are hidden.
    let (rows, shown) = folder.rows(&["top", "a.folded", "--hide-frames", "sort", "--show-stacks", "sort"]);
    assert_eq!((rows, shown), (vec!["cmp 50/50".into(), "main 16/66".into()], 66));
}

#[test]
fn hidden_frames_keep_their_value_in_the_stack() {
    let document = stacks().stdout(&["top", "a.folded", "--show-frames", "sort", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        (&document["no_stack"], &document["shown"], &document["total"]),
        (&34.into(), &100.into(), &100.into())
    );
}

#[test]
fn familiar_option_names_are_accepted() {
    let folder = stacks();
    for (known, own) in [
        (&["--ignore", "idle"][..], &["--hide-stacks", "idle"][..]),
        (&["--hide", "qsort"], &["--hide-frames", "qsort"]),
        (&["--show", "sort"], &["--show-frames", "sort"]),
        (&["--sort", "cum"], &["--sort", "total"]),
        (&["--sort", "flat"], &["--sort", "self"]),
        (&["--files"], &["--by", "file"]),
        (&["--lines"], &["--by", "line"]),
        (&["--addresses"], &["-g", "address"]),
        (&["--granularity", "files"], &["-g", "file"]),
    ] {
        assert_eq!(
            folder.rows(&[&["a.folded"], known].concat()),
            folder.rows(&[&["a.folded"], own].concat())
        );
    }
}

#[test]
fn the_header_repeats_the_filters() {
    let text = stacks().stdout(&["top", "a.folded", "--hide-stacks", "a b", "--show-stacks", "sort$", "-q"]);
    let line = text.lines().nth(1).unwrap();
    assert_eq!(line, "--show-stacks 'sort$' --hide-stacks 'a b' · shown 66, 66.0% of all");
}

#[test]
fn filters_that_match_nothing_are_reported() {
    let folder = stacks();
    for option in ["--show-stacks", "--show-frames", "--show-from", "--focus"] {
        let errors = folder.stderr(&["top", "a.folded", option, "parze"], 2);
        assert_eq!(errors, format!("error: {option} parze: nothing matches\nhint: did you mean parse?\n"));
    }
    for option in ["--hide-stacks", "--hide-frames", "--prune-from"] {
        let output = folder.run(&["top", "a.folded", option, "nothing"]);
        assert!(output.status.success());
        let warnings = String::from_utf8(output.stderr).unwrap();
        assert_eq!(warnings, format!("warning: {option} nothing: nothing matches\n"));
    }
    let errors = folder.stderr(&["top", "a.folded", "--hide-stacks", ".", "--focus", "main"], 2);
    assert_eq!(
        errors,
        "error: --focus main: nothing matches\nhint: the filters applied before it left no samples\n"
    );
    let errors = folder.stderr(&["top", "a.folded", "--show-stacks", ""], 2);
    assert_eq!(errors, "error: --show-stacks: the pattern `` is empty\n");
    let errors = folder.stderr(&["top", "a.folded", "--label", "endpoint=/users"], 2);
    assert_eq!(errors, "error: --label endpoint=/users: nothing matches\nhint: the profile has no labels\n");
    let errors = folder.stderr(&["top", "a.folded", "--from", "1s"], 2);
    assert!(
        errors.starts_with(
            "error: --from, --to: the profile does not say when its samples were taken\nhint: formats with times: perf.data, "
        ),
        "{errors}"
    );
    // The recording took 994 ms, but times are counted from the first sample.
    let log = fixture("v8-log/node.log");
    let errors = folder.stderr(&["top", log.to_str().unwrap(), "--from", "0.2s"], 2);
    assert_eq!(
        errors,
        "error: --from 0.2s is after the last sample\n\
         hint: times are counted from the first sample, and the last one is at 149.86ms\n"
    );
    let errors = folder.stderr(&["top", "a.folded", "--by", "label:thread"], 2);
    assert_eq!(errors, "error: --by label:thread: nothing matches\nhint: the profile has no labels\n");
}

/// Another metric would not help: the function is only on stacks that a filter drops.
#[test]
fn a_filter_that_removed_a_function_is_named() {
    let folder = Folder::new(&[("a.folded", "main;parse 3\nmain;sort 2\n")]);
    for command in ["focus", "source"] {
        let errors = folder.stderr(&[command, "parse", "a.folded", "--hide-stacks", "parse"], 2);
        let message =
            "error: parse: parse has no value after --hide-stacks parse\nhint: leave filters out, or";
        assert!(errors.contains(message), "{errors}");
        let errors = folder.stderr(&[command, "parse", "a.folded", "--what-if", "parse=0"], 2);
        assert!(errors.contains("has no value after --what-if parse=0"), "{errors}");
    }
    let errors = folder.stderr(&["top", "a.folded", "--hide-stacks", "parse", "--show-frames", "parse"], 2);
    assert_eq!(
        errors,
        "error: --show-frames parse: nothing matches\nhint: the filters applied before it left no samples of it\n"
    );
}

#[test]
fn invalid_regular_expressions_are_matched_literally() {
    let folder = Folder::new(&[("go.folded", "main;gob.(*Decoder).Decode 3\nmain;f[int] 2\n")]);
    let noted = |pattern: &str| {
        let output = folder.run(&["top", "go.folded", "--show-stacks", pattern]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let invalid = "note: `gob.(*Decoder).D` is not a valid regular expression (repetition operator missing expression \
                   at character 6); matching it literally\n";
    assert_eq!(noted("gob.(*Decoder).D"), invalid);
    let unmatched = "note: `f[in` is not a valid regular expression (unclosed character class at character 2); \
                     matching it literally\n";
    assert_eq!(noted("f[in"), unmatched);
    // A whole name needs no note on how it was read.
    assert_eq!(noted("gob.(*Decoder).Decode"), "");
    assert_eq!(noted("f[int]"), "");
    assert_eq!(noted("gob"), "");
    let (rows, _) = folder.rows(&["top", "go.folded", "-F", "--show-frames", "f[int]"]);
    assert_eq!(rows, ["f[int] 2/2"]);
}

#[test]
fn no_inlines_without_inlined_frames_is_noted() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pprof");
    for (file, expected) in [
        ("rust-cpu.pb.gz", "note: --no-inlines: no frame of this profile is marked as inlined\n"),
        ("go-cpu.pb.gz", ""),
    ] {
        let path = fixtures.join(file);
        let output = stacks().run(&["top", "--no-inlines", path.to_str().unwrap()]);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected, "{file}");
    }
}

/// The profile mentions lines of `/srv/words/src/main.rs` up to 105.
#[test]
fn a_shorter_file_is_not_the_recorded_source() {
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pprof/rust-cpu.pb.gz");
    let shown = |lines: usize| {
        let folder = Folder::new(&[("main.rs", &"fn unrelated() {}\n".repeat(lines))]);
        folder.stdout(&["source", "words::count", profile.to_str().unwrap()])
    };
    let other = shown(104);
    assert!(!other.contains("unrelated"), "{other}");
    let said = "./main.rs has no line 105, so it is another file or version; recorded as /srv/words/src/main.rs; \
                use --source-path DIR to say where the sources are\n";
    assert!(other.contains(said), "{other}");
    assert!(shown(105).contains("fn unrelated()"));
}

#[test]
fn focus_in_trees() {
    let folder = stacks();
    let (rows, shown) = folder.rows(&["tree", "a.folded", "--focus", "sort"]);
    assert_eq!((rows, shown), (vec!["sort 6/66".into(), "qsort 10/60".into(), "cmp 50/50".into()], 66));
    let (rows, _) = folder.rows(&["tree", "--bottom-up", "a.folded", "--focus", "^qsort$"]);
    assert_eq!(rows, ["qsort 10/60", "sort 10/60", "main 10/60", "(root) 10/60"]);

    // A recursive function is shown once, below its outermost call.
    let stacks =
        "main;http;parse;object;parse;object;parse;lex 90\nmain;http;parse 10\nmain;cli;parse;lex 20\n";
    let folder = Folder::new(&[("parse.folded", stacks)]);
    let (rows, shown) = folder.rows(&["tree", "parse.folded", "--focus", "^parse$"]);
    let expected =
        ["parse 10/120", "object 0/90", "parse 0/90", "object 0/90", "parse 0/90", "lex 90/90", "lex 20/20"];
    assert_eq!((rows, shown), (expected.map(String::from).to_vec(), 120));
}

#[test]
fn many_profiles() {
    let folder = Folder::new(&[
        ("a.folded", "main;x 10\nmain 2\n"),
        ("b.folded", "main;x 20\n"),
        ("c.folded", "main;y 30\n"),
        ("d.folded", "main 1\n"),
    ]);
    let all = ["a.folded", "b.folded", "c.folded", "d.folded"];
    let run = |more: &[&str]| folder.stdout(&[&["top"], &all[..], more].concat());
    let first = |text: &str| text.split(" · ").next().unwrap().to_string();
    assert_eq!(first(&run(&[])), "4 profiles, summed");
    assert_eq!(first(&run(&["--merge", "mean"])), "4 profiles, averaged");
    assert_eq!(first(&run(&["--weight", "top50"])), "2 of 4 profiles, the top 50%, summed");
    let sampled = run(&["--merge", "mean", "--max-profiles", "2", "--seed", "7"]);
    assert_eq!(first(&sampled), "2 of 4 profiles, seed 7, averaged");
    assert_eq!(sampled, run(&["--merge", "mean", "--max-profiles", "2", "--seed", "7"]));

    let document = run(&["--merge", "mean", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        (&document["metric"]["divisor"], &document["profiles"], &document["total"]),
        (&4.into(), &4.into(), &63.into())
    );
    let (rows, _) = folder.rows(&[&["top"], &all[..], &["--weight", "top25"]].concat());
    assert_eq!(rows, ["y 30/30", "main 0/30"]);
}

/// The means of two and of three profiles have divisors of which neither is a multiple of the other.
#[test]
fn means_of_different_numbers_of_profiles_are_compared() {
    let folder = Folder::new(&[
        ("1.folded", "main;a 10\nmain;b 4\n"),
        ("2.folded", "main;a 20\n"),
        ("3.folded", "main;a 30\nmain;c 6\n"),
    ]);
    let all = ["1.folded", "2.folded", "3.folded"];
    let base: Vec<&str> = all.iter().flat_map(|name| ["--base", *name]).collect();
    let of_two = ["top", "--merge", "mean", "--format", "json", "1.folded", "2.folded"];
    let document = folder.stdout(&[&of_two[..], &base].concat());
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    // In sixths: 34 / 2 = 17 on the new side, and 70 / 3 on the old side.
    let of =
        |value: &serde_json::Value| (value["self"].as_i64().unwrap(), value["old"]["self"].as_i64().unwrap());
    let rows = document["rows"].as_array().unwrap();
    let row = |name: &str| of(rows.iter().find(|row| row["name"] == name).unwrap());
    assert_eq!(document["metric"]["divisor"], 6);
    assert_eq!((&document["total"], &document["base"]["total"]), (&102.into(), &140.into()));
    assert_eq!([row("a"), row("b"), row("c")], [(90, 120), (12, 8), (0, 12)]);
}

/// If filters hide all frames of some stacks, a line says which filters, and how much that is.
#[test]
fn stacks_that_lose_all_their_frames_are_explained() {
    let folder = Folder::new(&[("a.folded", STACKS)]);
    for command in ["top", "tree", "hot", "graph", "traces"] {
        let text = folder.stdout(&[command, "--hide-frames", "idle", "a.folded"]);
        let line = "stacks whose frames are all hidden by --hide-frames: 4\n";
        assert!(text.contains(line), "{command}: {text}");
        let text = folder.stdout(&[command, "--hide-frames", "qsort", "a.folded"]);
        assert!(!text.contains("all hidden"), "{command}: {text}");
    }
    let kept = folder.stdout(&["top", "--show-frames", "parse", "a.folded"]);
    assert!(kept.contains("all hidden by --show-frames: 70\n"), "{kept}");
    // A picture says the same: these samples had a stack.
    let svg = folder.stdout(&["flame", "-o", "-", "--hide-frames", "idle", "a.folded"]);
    assert!(svg.contains("stacks whose frames are all hidden by --hide-frames 4"), "{svg}");
    assert!(!svg.contains("without a stack"), "{svg}");
}

#[test]
fn a_name_after_fold_needs_an_equals_sign() {
    let folder = stacks();
    let errors = folder.stderr(&["top", "--fold", "qsort", "a.folded"], 2);
    assert!(errors.contains("qsort: no such file") && errors.contains("--fold=qsort"), "{errors}");
}

#[test]
fn a_format_that_is_only_read_is_explained_by_its_extension_too() {
    let folder = stacks();
    let reads = "prof reads Java Flight Recorder but does not write it";
    let by_name = folder.stderr(&["convert", "-o", "-", "--to", "jfr", "a.folded"], 2);
    assert!(by_name.contains(reads), "{by_name}");
    let by_extension = folder.stderr(&["convert", "-o", "x.jfr", "a.folded"], 2);
    assert!(by_extension.contains(reads), "{by_extension}");
    let unknown = folder.stderr(&["convert", "-o", "x.xyz", "a.folded"], 2);
    assert!(unknown.contains("cannot tell the format from the file extension"), "{unknown}");
}

#[test]
fn an_unknown_option_is_compared_with_names_that_help_shows() {
    let errors = stacks().stderr(&["top", "--ignor3", "x", "a.folded"], 2);
    assert!(!errors.contains("'--ignore'"), "{errors}");
    assert!(errors.contains("--hide-stacks"), "{errors}");
}

/// Names that are no valid regular expressions can be pasted: only parts of names are explained.
#[test]
fn a_whole_name_is_matched_literally_without_a_note() {
    let folder = Folder::new(&[("a.folded", "main;f(*x).g 3\nmain;f(*x).g;h 1\n")]);
    let errors = |pattern: &str| {
        let output = folder.run(&["tree", "--focus", pattern, "a.folded"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(errors("f(*x).g"), "");
    assert!(errors("f(*x").contains("not a valid regular expression"), "{}", errors("f(*x"));
}

#[test]
fn a_folder_of_folders_names_the_first_of_them() {
    let folder = Folder::new(&[]);
    for name in ["runs/b", "runs/a"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("x.folded"), STACKS).unwrap();
    }
    let errors = folder.stderr(&["top", "runs"], 2);
    assert!(errors.contains("not its subfolders") && errors.contains("name runs/a"), "{errors}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let errors = folder.stderr(&["top", "empty"], 2);
    assert!(errors.contains("name a profile, or a folder that contains one"), "{errors}");
}

#[test]
fn numbers_of_a_label_are_offered_as_they_can_be_typed() {
    let heap = fixture("pprof/go-heap.pb.gz").display().to_string();
    let folder = Folder::new(&[]);
    let errors = folder.stderr(&["top", "--label", "bytes=3b:4b", &heap], 2);
    let hint = errors.split("hint: ").nth(1).unwrap();
    assert!(
        hint.starts_with("the values of bytes are from ") && hint.contains("prof labels lists them"),
        "{errors}"
    );
    let first = hint.split(' ').nth(6).unwrap();
    assert!(folder.run(&["top", "--label", &format!("bytes={first}"), &heap]).status.success(), "{errors}");
}

#[test]
fn rename_takes_the_prefixes_and_sets_of_patterns() {
    let folder = Folder::new(&[("a.folded", "main;f 3\nmain;f2 2\nmain;runtime.gcDrain 1\n")]);
    let (rows, _) = folder.rows(&["top", "--rename", "exact:f=g", "--rename", "@gc=[gc]", "a.folded"]);
    assert_eq!(rows, ["g 3/3", "f2 2/2", "[gc] 1/1", "main 0/6"]);
    let errors = folder.stderr(&["top", "--rename", "file:main.go=x", "a.folded"], 0);
    assert!(errors.contains("nothing matches; it changes names of functions"), "{errors}");
}

#[test]
fn one_sample_is_called_a_sample_next_to_none() {
    let folder = Folder::new(&[("none.folded", "main;a 0\n"), ("one.folded", "main;a 1\n")]);
    let text = folder.stdout(&["diff", "none.folded", "one.folded"]);
    assert!(text.contains("1 profile, 0 samples") && text.contains("1 profile, 1 sample\n"), "{text}");
}
