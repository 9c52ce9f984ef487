//! Errors, hints, warnings and notes of the command line, and what it does with missing or broken inputs.

use std::fs::{self, File};
use std::process::{Output, Stdio};

use tempfile::TempDir;

#[cfg(target_os = "linux")]
use crate::support::in_terminal;
use crate::support::{copies, fixture, prof};

fn folder() -> TempDir {
    copies(&[("pprof/go-cpu.pb.gz", "cpu.pb.gz"), ("pprof/go-cpu-old.pb.gz", "old.pb.gz")])
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    prof(folder.path(), arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_profile_on_standard_input_is_shown_without_a_command() {
    let folder = folder();
    let from_file = || Stdio::from(File::open(folder.path().join("cpu.pb.gz")).unwrap());
    let top = prof(folder.path(), &["top", "-"]).stdin(from_file()).output().unwrap();
    let bare = prof(folder.path(), &[]).stdin(from_file()).output().unwrap();
    assert!(top.status.success() && stdout(&top).contains("Discounted"), "{}", stderr(&top));
    assert_eq!(stdout(&bare), stdout(&top));
    let with_options = prof(folder.path(), &["-n", "1"]).stdin(from_file()).output().unwrap();
    assert!(stdout(&with_options).lines().count() < stdout(&top).lines().count());
    let named = prof(folder.path(), &[]).env("PROF_PROFILE", "cpu.pb.gz").output().unwrap();
    assert!(stdout(&named).starts_with("cpu.pb.gz"), "{}", stderr(&named));
}

#[test]
fn without_a_profile_prof_alone_prints_the_short_help() {
    let folder = folder();
    let help = stdout(&run(&folder, &["-h"]));
    let empty = run(&folder, &[]);
    assert_eq!((empty.status.code(), stdout(&empty)), (Some(2), String::new()));
    assert_eq!(stderr(&empty), format!("{help}\nerror: no profile given, and standard input is empty\n"));
    let unset = prof(folder.path(), &[]).env("PROF_PROFILE", "").stdin(Stdio::null()).output().unwrap();
    assert_eq!(stderr(&unset), stderr(&empty));
}

#[test]
#[cfg(target_os = "linux")]
#[needs(Script)]
fn prof_alone_on_a_terminal_prints_the_short_help() {
    let folder = folder();
    let shown = in_terminal(folder.path(), 100, "; echo exit code $?");
    assert_eq!(shown, stdout(&run(&folder, &["-h"])) + "exit code 2\n");
}

#[test]
fn options_of_go_tool_pprof_get_a_hint() {
    let folder = folder();
    for (arguments, hint) in [
        (&["-http=:8080", "cpu.pb.gz"][..], "prof open PROFILE"),
        (&["top", "-cum", "cpu.pb.gz"], "prof top --sort total"),
        (&["-top", "-nodecount=5", "cpu.pb.gz"], "prof top PROFILE"),
        (&["-base", "old.pb.gz", "cpu.pb.gz"], "prof top --base OLD NEW"),
        (&["top10", "cpu.pb.gz"], "prof top -n 10"),
    ] {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(hint), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn options_of_other_programs_get_a_hint() {
    let folder = folder();
    for (arguments, hint) in [
        (&["top", "-10", "cpu.pb.gz"][..], "prof top -n 10 cpu.pb.gz"),
        (&["-10", "cpu.pb.gz"], "prof top -n 10 cpu.pb.gz"),
        (&["top", "--cum", "cpu.pb.gz"], "prof top --sort total"),
        (&["--svg", "cpu.pb.gz"], "prof graph out.svg"),
        (&["-svg", "cpu.pb.gz"], "prof graph out.svg"),
        (&["top", "--nodecount=5", "cpu.pb.gz"], "prof top -n 10"),
        (&["diff", "-s", "delta", "old.pb.gz", "cpu.pb.gz"], "prof diff --sort delta"),
        (&["top", "--no-children", "cpu.pb.gz"], "perf report"),
        (&["top", "-i", "cpu.pb.gz"], "prof top perf.data"),
        (&["flame", "x.svg", "--image-width", "900", "cpu.pb.gz"], "--width 1600"),
        (&["flame", "x.svg", "--reverse", "cpu.pb.gz"], "--bottom-up"),
        (&["record", "-p", "12"], "prof does not record"),
        (&["speedscope", "cpu.pb.gz"], "prof flame out.html"),
        (&["top", "-f", "svg", "cpu.pb.gz"], "prof flame out.svg"),
        (&["tree", "--format", "folded", "cpu.pb.gz"], "prof convert -o out.folded"),
        (&["convert", "-f", "folded", "cpu.pb.gz"], "--to"),
        (&["flame", "y.png", "cpu.pb.gz"], "prof flame y.svg cpu.pb.gz"),
        (&["flame", "-o", "y.pdf", "cpu.pb.gz"], "prof flame y.svg cpu.pb.gz"),
        (&["graph", "y.png", "cpu.pb.gz"], "dot -Tpng -o y.png y.dot"),
        (&["graph", "-o", "y.jpg", "cpu.pb.gz"], "prof graph y.svg cpu.pb.gz"),
    ] {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = stderr(&output);
        assert!(error.starts_with("error: ") && error.contains("\nhint: "), "{arguments:?}: {error}");
        assert!(error.contains(hint), "{arguments:?}: {error}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was written");
}

#[test]
fn a_classic_flame_graph_refuses_what_it_cannot_show() {
    let folder = folder();
    for (arguments, hint) in [
        (&["x.svg", "--color-by", "file"][..], "omit it"),
        (&["x.svg", "--highlight", "main"], "search in the picture"),
        (&["x.svg", "--unit", "ms"], "the unit of the metric"),
        (&["x.svg", "--focus", "main"], "--show-from RE"),
        (&["x.html"], "omit --style, or write an .svg"),
    ] {
        let arguments = [&["flame", "cpu.pb.gz", "--style", "classic"], arguments].concat();
        let output = run(&folder, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(hint), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was written");
    let with_options =
        ["flame", "-", "--style", "classic", "--icicle", "--order", "weight", "--title", "Shop", "cpu.pb.gz"];
    let drawn = stdout(&run(&folder, &with_options));
    // The script and the background of inferno.
    assert!(
        drawn.contains("function init(evt)")
            && drawn.contains("url(#background)")
            && drawn.contains(">Shop<")
    );
    let callers = ["flame", "-", "--style", "classic", "--bottom-up", "--focus", "main", "cpu.pb.gz"];
    assert!(stdout(&run(&folder, &callers)).contains("function init(evt)"));
}

#[test]
fn a_flame_graph_goes_to_standard_output() {
    let folder = folder();
    let by_option = stdout(&run(&folder, &["flame", "-o", "-", "cpu.pb.gz"]));
    assert!(by_option.starts_with("<svg ") && by_option.trim_end().ends_with("</svg>"));
    assert!(stdout(&run(&folder, &["flame", "-", "cpu.pb.gz"])) == by_option);
    assert!(stdout(&run(&folder, &["flame", "cpu.pb.gz", "-"])) == by_option);
    // Without another argument, `-` is the output, and the profile comes from standard input.
    let from_file = || Stdio::from(File::open(folder.path().join("cpu.pb.gz")).unwrap());
    let piped = prof(folder.path(), &["flame", "-"]).stdin(from_file()).output().unwrap();
    assert!(stdout(&piped).contains("<svg"), "{}", stderr(&piped));
    let both = prof(folder.path(), &["flame", "-", "-"]).stdin(from_file()).output().unwrap();
    assert!(stdout(&both) == stdout(&piped), "{}", stderr(&both));
}

#[test]
fn a_truncated_input_is_reported_with_its_end() {
    let folder = folder();
    let whole = fs::read(folder.path().join("cpu.pb.gz")).unwrap();
    fs::write(folder.path().join("cut.pb.gz"), &whole[..9000]).unwrap();
    let error = stderr(&run(&folder, &["top", "cut.pb.gz"]));
    assert!(
        error.starts_with("error: cut.pb.gz: gzip: file is truncated") && error.contains("(byte 9000)"),
        "{error}"
    );
    // Whole fields, without a string table after them: `sample_type {type: 1, unit: 2}`.
    fs::write(folder.path().join("cut.pb"), [0x0a, 4, 0x08, 1, 0x10, 2]).unwrap();
    let error = stderr(&run(&folder, &["top", "--input-format", "pprof", "cut.pb"]));
    assert!(error.contains("the string table ends after 0 strings"), "{error}");
}

#[test]
fn an_unknown_set_lists_the_known_ones() {
    let folder = folder();
    let show = run(&folder, &["top", "--show-stacks", "@idel", "cpu.pb.gz"]);
    assert_eq!(show.status.code(), Some(2));
    assert!(stderr(&show).contains("the named sets are @idle, @runtime, @gc, @alloc"), "{}", stderr(&show));
    let hide = run(&folder, &["top", "--hide-stacks", "@idel", "cpu.pb.gz"]);
    assert_eq!(hide.status.code(), Some(0));
    assert!(stderr(&hide).contains("the named sets are @idle, @runtime, @gc, @alloc"), "{}", stderr(&hide));
}

#[test]
fn hints_name_the_option_that_helps() {
    let folder = folder();
    let literal = run(&folder, &["top", "-F", "--show-stacks", "@runtime", "cpu.pb.gz"]);
    assert_eq!(literal.status.code(), Some(2));
    assert!(stderr(&literal).contains("with -F, `@runtime` is literal text"), "{}", stderr(&literal));
    // With a time, `--to` is a filter.
    let convert = run(&folder, &["convert", "-o", "-", "--to", "1.5s", "cpu.pb.gz"]);
    assert_eq!(convert.status.code(), Some(2));
    assert!(stderr(&convert).contains("name the format with --output-format"), "{}", stderr(&convert));
    let help = run(&folder, &["source", "--help"]);
    assert!(
        !String::from_utf8_lossy(&help.stdout).contains("label:KEY"),
        "source groups by function or name only"
    );
}

#[test]
fn skipped_inputs_are_named_with_verbose() {
    let folder = folder();
    fs::write(folder.path().join("notes.md"), "# Notes\n\nNo profile.\n").unwrap();
    let of_folder = |more: &[&str]| stderr(&run(&folder, &[&["top", "-n", "1", "."], more].concat()));
    let note = of_folder(&[]);
    assert!(note.contains("note: 1 file skipped: not a profile (./notes.md)"), "{note}");
    assert!(!of_folder(&["-q"]).contains("notes.md"), "{}", of_folder(&["-q"]));
    let error = of_folder(&["-v"]);
    assert!(error.contains("skipped: ./notes.md: not a profile in any known format"), "{error}");
    let diff = ["diff", "--skip-broken", "-v", "--old", "notes.md", "old.pb.gz", "--new", "cpu.pb.gz"];
    let error = stderr(&run(&folder, &diff));
    assert!(error.contains("skipped: notes.md: not a profile"), "{error}");
}

#[test]
fn a_side_of_many_runs_is_sampled() {
    let folder = folder();
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).unwrap();
    for number in 0..6 {
        fs::copy(fixture("pprof/go-cpu-old.pb.gz"), runs.join(format!("{number}.pb.gz"))).unwrap();
    }
    let output = run(&folder, &["diff", "--max-profiles", "2", "--old", "runs", "--new", "cpu.pb.gz"]);
    assert!(stdout(&output).contains("2 of 6 profiles, seed 42"), "{}", stdout(&output));
    assert!(stdout(&output).lines().nth(1).unwrap().contains("1 profile, "), "{}", stdout(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let folder = folder();
    for words in
        [&["top", "cpu.pb.gz"][..], &["--help"], &["top", "-h"], &["help", "filters"], &["--version"]]
    {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = prof(folder.path(), words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).starts_with("error: standard output: "), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn equal_work_on_both_sides_is_a_ratio_of_exactly_one() {
    let folder = folder();
    for (work, ratio) in [("1000,1000", "1.0"), ("3,3", "1.0"), ("1000,1500", "1.5")] {
        let normalize = format!("per={work}");
        let arguments = ["diff", "-f", "json", "--normalize", &normalize, "old.pb.gz", "cpu.pb.gz"];
        let json = stdout(&run(&folder, &arguments));
        let want = format!(r#""normalize":{{"method":"per","ratio":{ratio}}}"#);
        assert!(json.contains(&want), "{work}: {}", &json[..json.len().min(900)]);
    }
}

#[test]
fn info_lists_several_inputs() {
    let folder = folder();
    let text = stdout(&run(&folder, &["info", "cpu.pb.gz", "old.pb.gz"]));
    let rows: Vec<&str> = text.lines().take(4).collect();
    assert!(rows[0].trim_start().starts_with("CPU  DURATION"), "{text}");
    assert!(rows[1].ends_with("cpu.pb.gz") && rows[1].starts_with("7.23s"), "{text}");
    assert!(rows[2].ends_with("old.pb.gz") && rows[3].is_empty(), "{text}");
    assert!(text.contains("2 profiles, summed"), "{text}");
    let markdown = stdout(&run(&folder, &["info", "-f", "markdown", "cpu.pb.gz", "old.pb.gz"]));
    assert!(markdown.contains("| cpu ●   | nanoseconds | 14.50s |"), "{markdown}");
    assert!(markdown.contains("\nfunctions: ") && markdown.contains("\nstacks: "), "{markdown}");
}

#[test]
fn sequences_in_markdown_have_no_raw_values() {
    let folder = folder();
    let markdown = stdout(&run(&folder, &["hot", "-n", "2", "-f", "markdown", "cpu.pb.gz"]));
    assert!(markdown.contains("88% example.com/shop/orders"), "{markdown}");
    assert!(!markdown.contains("000000"), "{markdown}");
    assert!(markdown.contains("heaviest path"), "{markdown}");
}

/// On a terminal of 80x24, every view fits the screen, so that no pager opens.
#[test]
#[needs(Script)]
#[cfg(target_os = "linux")]
fn views_fit_the_screen() {
    let folder = folder();
    let lines = |columns: usize, arguments: &str| {
        let shown = in_terminal(folder.path(), columns, &format!("{arguments} --pager never"));
        (shown.lines().count(), shown)
    };
    for view in [
        "top",
        "tree",
        "tree --bottom-up",
        "hot",
        "focus runtime.mallocgc",
        "graph",
        "labels",
        "top --base old.pb.gz",
    ] {
        let (count, shown) = lines(80, &format!("{view} cpu.pb.gz"));
        assert!((2..24).contains(&count), "{view}: {count} lines\n{shown}");
    }
    let (count, shown) = lines(120, "diff old.pb.gz cpu.pb.gz -q");
    assert!((10..24).contains(&count), "diff: {count} lines\n{shown}");
    // A limit given on the command line is kept.
    let (count, shown) = lines(80, "top -n 40 cpu.pb.gz");
    assert!(count > 40, "{shown}");
}

/// Messages on a terminal are wrapped at its width between words; elsewhere they are not wrapped.
#[test]
#[needs(Script)]
#[cfg(target_os = "linux")]
fn messages_are_wrapped_on_a_terminal_only() {
    const WIDTH: usize = 40;
    let folder = folder();
    fs::write(folder.path().join("two.folded"), "main;a 3 0\n").unwrap();
    for arguments in [
        "diff --strict --columns self old.pb.gz cpu.pb.gz", // a hint
        "top --nodecount 5 cpu.pb.gz",
        "flame y.png cpu.pb.gz",
        "top -m inuse cpu.pb.gz",                     // an error of prof
        "top --per-event --base old.pb.gz cpu.pb.gz", // an error of clap
        "top two.folded -o report",                   // a warning
        "tree --hide-stacks nothing_is_called_like_this_name cpu.pb.gz -o report", // a warning
        "top --show-stacks '[' --show-frames 'gob.(*Decoder' cpu.pb.gz", // notes
    ] {
        let run = |redirect: &str| in_terminal(folder.path(), WIDTH, &format!("{arguments} {redirect}"));
        let wrapped = run(">/dev/null");
        run(">/dev/null 2>redirected");
        let whole = fs::read_to_string(folder.path().join("redirected")).unwrap();
        assert!(whole.lines().any(|line| line.len() > WIDTH), "{arguments}: {whole}");
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<String>>();
        assert_eq!(words(&wrapped), words(&whole), "{arguments}: words stay whole");
        for line in wrapped.lines() {
            let is_one_word = line.split_whitespace().count() < 2;
            assert!(line.chars().count() <= WIDTH || is_one_word, "{arguments}:\n{wrapped}");
            let is_start =
                ["error: ", "hint: ", "warning: ", "note: "].iter().any(|kind| line.starts_with(kind));
            let is_of_clap =
                line.is_empty() || ["Usage:", "For more"].iter().any(|start| line.starts_with(start));
            assert!(is_start || is_of_clap || line.starts_with("  "), "{arguments}:\n{wrapped}");
        }
    }
}

/// The list of matching functions is short on the screen and complete in JSON.
#[test]
fn focus_lists_the_heaviest_matches() {
    let folder = folder();
    // The self and total of `leaf_N` are N.
    let lines: Vec<String> = (1..=9).map(|number| format!("main;leaf_{number} {number}")).collect();
    fs::write(folder.path().join("many.folded"), lines.join("\n")).unwrap();
    let names = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().filter(|word| word.starts_with("leaf_"));
        words.map(str::to_string).collect()
    };
    let text = stdout(&run(&folder, &["focus", "leaf_[0-9]", "many.folded"]));
    let list = text.split("MATCHING FUNCTIONS").nth(1).unwrap();
    assert_eq!(names(list), ["leaf_9", "leaf_8", "leaf_7", "leaf_6", "leaf_5"], "{text}");
    assert!(list.contains("… 4 more functions"), "{text}");
    let six = stdout(&run(&folder, &["focus", "leaf_[1-6]", "many.folded"]));
    assert!(six.contains("… 1 more function\n"), "{six}");
    let five = stdout(&run(&folder, &["focus", "leaf_[1-5]", "many.folded"]));
    assert!(!five.contains(" more "), "{five}");
    let json = stdout(&run(&folder, &["focus", "-f", "json", "leaf_[0-9]", "many.folded"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["matches"].as_array().unwrap().len(), 9);
}

/// `-o` takes a report, so a file with the name of a picture would hold a table.
#[test]
fn reports_are_not_written_into_pictures() {
    let folder = folder();
    for (command, out, hint) in [
        (&["top"][..], "n.svg", "prof flame n.svg cpu.pb.gz"),
        (&["tree"], "n.html", "prof flame n.html cpu.pb.gz"),
        (&["focus", "main.main"], "n.png", "prof flame n.svg cpu.pb.gz"),
        (&["info"], "n.dot", "prof graph n.dot cpu.pb.gz"),
        (&["diff", "old.pb.gz"], "n.svg", "prof flame n.svg --base OLD NEW"),
    ] {
        let output = run(&folder, &[command, &["-o", out, "cpu.pb.gz"]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(stderr(&output).contains(hint), "{command:?}: {}", stderr(&output));
        assert!(!folder.path().join(out).exists(), "{command:?}");
    }
    let note = "note: -o n.json does not choose the format: add --format json";
    for command in ["top", "graph"] {
        let text = run(&folder, &[command, "-o", "n.json", "cpu.pb.gz"]);
        assert!(text.status.success() && stderr(&text).contains(note), "{command}: {}", stderr(&text));
        let json = run(&folder, &[command, "-f", "json", "-o", "n.json", "cpu.pb.gz"]);
        assert!(json.status.success() && !stderr(&json).contains("note: -o"), "{}", stderr(&json));
        let csv = run(&folder, &[command, "-f", "csv", "-o", "n.json", "cpu.pb.gz"]);
        assert!(stderr(&csv).contains("the format: use --format json"), "{command}: {}", stderr(&csv));
        let quiet = run(&folder, &[command, "-q", "-o", "n.json", "cpu.pb.gz"]);
        assert_eq!(stderr(&quiet), "", "{command}");
    }
}

/// `prof flame picture cpu.pb.gz` names an output, only without its extension.
#[test]
fn an_output_without_extension_is_recognised() {
    let folder = folder();
    let output = run(&folder, &["flame", "picture", "cpu.pb.gz"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = stderr(&output);
    assert!(errors.contains("picture does not end in .svg or .html"), "{errors}");
    assert!(errors.contains("prof flame picture.svg cpu.pb.gz"), "{errors}");
    let missing = stderr(&run(&folder, &["flame", "cpu.pb.gz"]));
    assert!(missing.contains("no output file given"), "{missing}");
}

/// V8 samples threads that wait, too.
#[test]
fn the_cpu_time_of_v8_profiles_is_not_said_to_leave_out_waiting() {
    let v8 = fixture("cpuprofile/node.cpuprofile");
    let folder = folder();
    let info = stdout(&run(&folder, &["info", v8.to_str().unwrap()]));
    let line = info.replace('\n', " ");
    assert!(line.contains("while it waits, the function is (idle)"), "{info}");
    assert!(!line.contains("does not include waiting"), "{info}");
    let go = stdout(&run(&folder, &["info", "cpu.pb.gz"])).replace('\n', " ");
    assert!(go.contains("does not include waiting"), "{go}");
}

#[test]
fn only_diff_offers_the_formats_of_checks() {
    let folder = folder();
    let help = |command: &str| stdout(&run(&folder, &[command, "--help"]));
    assert!(help("diff").contains("- github:") && help("diff").contains("- junit:"));
    assert!(!help("top").contains("github") && help("top").contains("- markdown:"));
    let github = run(&folder, &["diff", "-f", "github", "old.pb.gz", "old.pb.gz"]);
    assert!(github.status.code() != Some(2), "{}", stderr(&github));
}

/// Without `positionTicks`, V8 says where a function starts, not which of its lines were sampled.
#[test]
fn profiles_without_lines_say_so() {
    let folder = folder();
    let text = std::fs::read_to_string(fixture("cpuprofile/node.cpuprofile")).unwrap();
    std::fs::write(folder.path().join("v8.cpuprofile"), text.replace("positionTicks", "ticks")).unwrap();
    let v8 = "v8.cpuprofile";
    let note = "note: this profile (cpuprofile) does not say what lines cost, only what functions cost";
    let source = run(&folder, &["source", "waysToPay", v8]);
    assert!(source.status.success() && stderr(&source).contains(note), "{}", stderr(&source));
    for command in ["top", "tree"] {
        let by_line = run(&folder, &[command, "--by", "line", v8]);
        assert!(by_line.status.success() && stderr(&by_line).contains(note), "{}", stderr(&by_line));
        let go = run(&folder, &[command, "--by", "line", "cpu.pb.gz"]);
        assert_eq!(stderr(&go), "", "{command}");
    }
    let go = run(&folder, &["source", "Discounted", "cpu.pb.gz"]);
    assert_eq!((go.status.success(), &*stderr(&go)), (true, ""));
    let diff = run(&folder, &["diff", "--by", "line", v8, v8]);
    assert_eq!(stderr(&diff).matches(note).count(), 1, "{}", stderr(&diff));
    let go = run(&folder, &["diff", "--by", "line", "old.pb.gz", "old.pb.gz"]);
    assert_eq!(stderr(&go), "note: old.pb.gz is on both sides\n");
}

#[test]
fn long_arguments_are_cut_in_messages() {
    let folder = folder();
    let long = "a".repeat(40_000);
    let option = format!("--{long}");
    let output = format!("x.{long}");
    for arguments in [
        &["top", "--show-stacks", &long, "cpu.pb.gz"][..],
        &["top", "--show-stacks", &format!("[{long}"), "cpu.pb.gz"],
        &["top", "--hide-stacks", &long, "-n", "1", "cpu.pb.gz"],
        &["top", "--rename", &long, "cpu.pb.gz"],
        &["top", "--metric", &long, "cpu.pb.gz"],
        &["top", "--sort", &long, "cpu.pb.gz"],
        &["top", "--label", &long, "cpu.pb.gz"],
        &["top", "--by", &long, "cpu.pb.gz"],
        &["top", &option, "cpu.pb.gz"],
        &["focus", &long, "cpu.pb.gz"],
        &["source", &long, "cpu.pb.gz"],
        &["convert", "-o", &output, "cpu.pb.gz"],
        &["flame", &output, "cpu.pb.gz"],
        &["types", &long],
        &["completions", &long],
        &["help", &long],
        &["top", &long],
        &[&long],
    ] {
        let said = stderr(&run(&folder, arguments));
        let start = arguments.iter().map(|word| &word[..word.len().min(20)]).collect::<Vec<_>>().join(" ");
        assert!(said.contains("aaaa…aaaa"), "{start}: {}", said.len());
        assert!(said.chars().count() < 2_000, "{start}: {}", said.len());
    }
}

#[test]
fn anonymised_names_without_a_salt_get_a_note() {
    let folder = folder();
    for arguments in [
        &["top", "-n", "1", "--anonymize", "cpu.pb.gz"][..],
        &["convert", "-o", "a.pb.gz", "--anonymize", "cpu.pb.gz"],
    ] {
        let said = stderr(&run(&folder, arguments));
        assert!(said.contains("--salt SECRET prevents this"), "{said}");
    }
    let said = stderr(&run(&folder, &["top", "-n", "1", "--anonymize", "--salt", "x", "cpu.pb.gz"]));
    assert_eq!(said, "");
}

#[test]
fn help_has_help() {
    let folder = folder();
    for option in ["-h", "--help"] {
        let output = run(&folder, &["help", option]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).contains("Usage: prof help [COMMAND]..."), "{}", stdout(&output));
    }
}

#[test]
fn a_file_that_holds_both_sides_has_one_metric() {
    let folder = folder();
    fs::write(folder.path().join("both.folded"), "main;foo 5 7\nmain;bar 3 9\n").unwrap();
    let budget = "[[budget]]\nfunction = 'foo'\ntotal = '12 %'\nmetric = 'new'\n";
    fs::write(folder.path().join("prof.toml"), budget).unwrap();
    let output = run(&folder, &["diff", "both.folded", "--budget", "prof.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: the inputs' metric is samples;"), "{}", stderr(&output));
}

#[test]
fn errors_say_which_option_is_wrong_and_what_it_takes() {
    let folder = folder();
    let literal = "error: --label endpoint=~[: nothing matches\nhint: it is not a valid regular expression \
                   (unclosed character class at character 1), so it was matched literally; the values of endpoint are \
                   /orders, /products\n";
    let both = &["convert", "--to", "parquet", "--output-format", "pprof", "-o", "x", "cpu.pb.gz"][..];
    for (arguments, said) in [
        (&["top", "--width", "1", "cpu.pb.gz"][..], "error: --width 1: not between 20 and 1000000\n"),
        (&["top", "--width", "-5", "cpu.pb.gz"], "error: --width -5: must not be negative\n"),
        (&["top", "--unit", "parsec", "cpu.pb.gz"], "hint: --unit takes ns, µs, ms, s, min or h\n"),
        (&["top", "--label", "endpoint=~[", "cpu.pb.gz"], literal),
        (&["top", "--thread", "[", "cpu.pb.gz"], "(unclosed character class at character 1)"),
        (
            &["top", "--rename", "[=x", "cpu.pb.gz"],
            "error: --rename [=x: `[` is not a valid regular expression",
        ),
        (&["top", "--to", "noon", "cpu.pb.gz"], "error: --to noon: not a point in time\n"),
        (
            &["hot", "--min-length", "6", "--max-length", "5", "cpu.pb.gz"],
            "error: --max-length 5 is less than --min-length 6\n",
        ),
        (&["diff", "old.pb.gz", "cpu.pb.gz", "--budget", "none"], "error: --budget none: no such file\n"),
        (both, "error: --to parquet and --output-format pprof both name the format to write\n"),
    ] {
        let output = run(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
    let marked = run(&folder, &["top", "--highlight", "[", "cpu.pb.gz"]);
    assert!(
        stderr(&marked).starts_with("note: `[` is not a valid regular expression"),
        "{}",
        stderr(&marked)
    );
}

#[test]
fn standard_input_is_one_profile() {
    let folder = folder();
    for arguments in [&["top", "-", "-"][..], &["top", "-", "--base", "-"], &["diff", "-", "-"]] {
        let input = File::open(folder.path().join("cpu.pb.gz")).unwrap();
        let output = prof(folder.path(), arguments).stdin(Stdio::from(input)).output().unwrap();
        let why = "error: standard input: `-` can be given only once, because there is one standard input\n";
        assert_eq!((output.status.code(), &*stderr(&output)), (Some(2), why), "{arguments:?}");
    }
}

#[test]
fn options_without_an_effect_are_named() {
    let folder = folder();
    for (arguments, said) in [
        (
            &["top", "-f", "json", "--columns", "self", "--width", "80", "cpu.pb.gz"][..],
            "note: --columns and --width have no effect with --format json\n",
        ),
        (
            &["tree", "-f", "csv", "--highlight", "Place", "cpu.pb.gz"],
            "note: --highlight has no effect with --format csv\n",
        ),
        (&["top", "--weight", "top50", "cpu.pb.gz"], "note: --weight has no effect on a single profile\n"),
        (
            &["top", "--seed", "7", "cpu.pb.gz", "old.pb.gz"],
            "note: --seed has no effect without --max-profiles or --merge mean\n",
        ),
        (
            &["top", "--seconds", "7", "cpu.pb.gz"],
            "note: --seconds has no effect on files: it is for addresses of servers\n",
        ),
        (
            &["top", "--tls-insecure", "--header", "A: b", "--tls-ca", "nofile", "cpu.pb.gz"],
            "note: --header, --tls-ca and --tls-insecure have no effect on files: they are for addresses of servers\n",
        ),
        (&["top", "-q", "-f", "json", "--width", "80", "cpu.pb.gz"], ""),
    ] {
        let output = run(&folder, arguments);
        assert_eq!((output.status.code(), &*stderr(&output)), (Some(0), said), "{arguments:?}");
    }
    let drawn = run(&folder, &["graph", "--width", "80", "out.dot", "cpu.pb.gz"]);
    assert!(stderr(&drawn).starts_with("error: graph --width: a picture is as large"), "{}", stderr(&drawn));
    let alone = run(&folder, &["top", "--match", "exact", "cpu.pb.gz"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(stderr(&alone).starts_with("error: --base OLD is missing\n"), "{}", stderr(&alone));
}
