//! Numbers and sentences of one report agree with each other and with those of other reports.

use std::collections::HashSet;
use std::fmt::{self, Formatter};
use std::fs;
use std::path::Path;

use prof::filter::FilterKind;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tempfile::tempdir;

use crate::support::needs::shared;
use crate::support::{fixture, prof};

/// Standard output and standard error.
fn run(folder: &Path, arguments: &str) -> (String, String) {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let out = prof(folder, &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr))
}

fn here(arguments: &str) -> String {
    run(Path::new(env!("CARGO_MANIFEST_DIR")), arguments).0
}

fn json(folder: &Path, arguments: &str) -> Value {
    serde_json::from_str(&run(folder, &format!("{arguments} -f json")).0).unwrap()
}

/// The numbers of a text, without separators of thousands.
fn numbers(text: &str) -> Vec<f64> {
    let text = text.replace(',', "");
    text.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|number| number.parse().ok()).collect()
}

/// A heap holds thousands of small objects, which are recorded nearly exactly, and few large ones: adding up how well each
/// function is known counted half a million samples where `main` had 860, and more runs did not add any.
#[test]
#[needs(Runs)]
fn the_samples_of_a_heap_are_those_of_its_main_function() {
    let heaps = shared("ab/heap-allocs");
    let one = json(&heaps, "diff A-01.pb.gz B20-01.pb.gz");
    let rows = one["rows"].as_array().unwrap();
    let main = rows.iter().find(|row| row["name"] == "runtime.main" && row["test"] == "total").unwrap();
    for side in ["old", "new"] {
        let (whole, main) = (one[side]["samples"].as_f64().unwrap(), main["samples"][side].as_f64().unwrap());
        assert!((whole / main - 1.0).abs() < 0.01, "{side}: {whole} of all, {main} of main");
    }
    assert_eq!(one["samples_estimated"], true);
    let (text, _) = run(&heaps, "diff A-01.pb.gz B20-01.pb.gz");
    assert!(text.contains("1 profile, worth about 861 samples, alloc_space 310.03MiB"), "{text}");
    assert!(text.contains("no verdict: too few samples") && !text.contains("differ too much"), "{text}");
    let ten =
        json(&heaps, "diff --old A-01.pb.gz A-03.pb.gz A-05.pb.gz A-07.pb.gz A-09.pb.gz --new B20-01.pb.gz");
    let per_run = ten["old"]["samples"].as_f64().unwrap() / 5.0;
    assert!((per_run / 861.0 - 1.0).abs() < 0.1, "{per_run} samples per run");
}

/// Counts of calls hardly vary from run to run. That is no reason to speak of 58,000,000,000,000 samples.
#[test]
#[needs(Builds)]
fn nothing_is_worth_more_samples_than_it_has_units() {
    let folder = shared("changes/python-two-causes");
    let calls = json(&folder, "diff -m calls old new");
    assert_eq!((&calls["old"]["samples"], &calls["rows"][0]["samples"]), (&Value::Null, &Value::Null));
    // cProfile takes no samples, but its times vary as those of samples do.
    let (text, _) = run(&folder, "diff old new");
    assert!(text.contains("5 profiles together: worth about 20,400 samples, time 9.90s"), "{text}");
}

/// The Δ of a cause is that of a row, or the difference is explained.
#[test]
#[needs(Builds)]
fn what_a_cause_adds_to_its_row_is_said() {
    let folder = shared("changes/python-two-causes");
    let diff = json(&folder, "diff old new");
    let cause = &diff["causes"][0];
    assert_eq!((&cause["cause"], &cause["grew"]), (&"called-more".into(), &"one-caller".into()));
    let points_of = |name: &str, test: &str| {
        let rows = diff["rows"].as_array().unwrap();
        let row =
            rows.iter().find(|row| row["name"].as_str().unwrap().starts_with(name) && row["test"] == test);
        row.unwrap()["points"].as_f64().unwrap()
    };
    let own = points_of("group_digits", cause["test"].as_str().unwrap());
    let of_caller = points_of("format_cell", "self");
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
    assert!(close(&cause["caller_points"], of_caller) && close(&cause["points"], own + of_caller), "{cause}");
    let (text, _) = run(&folder, "diff --width 200 old new");
    assert!(text.contains("calls it more often; +2.2pt of it in the own code of format_cell"), "{text}");
    // 81 % and 19 % are all of it.
    let explained = text.lines().any(|line| line.contains("1 cause explains 81% of it"));
    assert!(explained && text.contains("\n   19% is unexplained\n"), "{text}");
}

/// `decodeRecord` is new, and so is half of what it calls: it did not only inherit that.
#[test]
#[needs(Builds)]
fn a_function_whose_own_code_regressed_does_not_inherit() {
    for pair in ["go-gc/heap", "python-two-causes/", "go-two-causes/", "node-dearer/"] {
        let folder = shared("changes");
        let diff = json(
            &folder,
            &format!("diff {pair}old {pair}new")
                .replace("heapold", "heap-old")
                .replace("heapnew", "heap-new"),
        );
        let rows = diff["rows"].as_array().unwrap();
        let is = |row: &Value, test: &str, verdict: &str| row["test"] == test && row["verdict"] == verdict;
        let own: Vec<&Value> =
            rows.iter().filter(|row| is(row, "self", "regressed")).map(|row| &row["name"]).collect();
        assert!(!own.is_empty(), "{pair}");
        for row in rows.iter().filter(|row| is(row, "total", "inherits")) {
            assert!(!own.contains(&&row["name"]), "{pair}: {row}");
        }
    }
}

#[test]
#[needs(Builds)]
fn what_was_not_tested_is_counted_without_zeros() {
    let folder = shared("changes");
    let (heap, _) = run(&folder, "diff go-gc/heap-old go-gc/heap-new --width 200");
    let why = "(fewer than 3 samples, or a share below --min-tested)";
    assert!(
        heap.contains(&format!(
            "\nnot tested: 14 more functions seen only on the new side, 7 only on the old side {why}\n"
        )),
        "{heap}"
    );
    let (python, _) = run(&folder, "diff python-two-causes/old python-two-causes/new --width 200");
    assert!(
        python.contains(&format!("\nnot tested: 1 function seen only on the new side {why}\n")),
        "{python}"
    );
}

/// A total that grew by a third as recorded was said to have shrunk, without a word on rescaling.
#[test]
fn the_change_in_total_of_several_builds_is_that_of_the_totals_shown() {
    let text = here("diff --by-side fixtures/pprof/go-cpu-old.pb.gz fixtures/pprof/go-cpu-new.pb.gz");
    let row = text.lines().find(|line| line.contains("9.70s")).unwrap();
    // 9.70 / 7.27
    assert!(text.contains("CHANGE IN TOTAL") && row.contains("  +33.4%  "), "{text}");
    assert!(text.contains("AFTER RESCALING"), "{text}");
    let memory = here("diff --by-side fixtures/pprof/go-heap-earlier.pb.gz fixtures/pprof/go-heap.pb.gz");
    assert!(memory.contains("CHANGE IN TOTAL") && !memory.contains("AFTER RESCALING"), "{memory}");
}

/// `info` counts the functions of `top`.
/// JSON in which no object has a key twice: readers of other programs keep only the last one, or refuse it.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Strict;

    fn expecting(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_str<E>(self, _: &str) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        while items.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut known = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value::<Strict>()?;
            if let Some(key) = known.replace(key) {
                return Err(A::Error::custom(format!("the key {key} occurs twice")));
            }
        }
        Ok(Strict)
    }
}

#[test]
fn no_object_has_a_key_twice() {
    let (stacks, calls) = ("fixtures/pprof/go-cpu.pb.gz", "fixtures/pstats/python.pstats");
    let base = format!("--base fixtures/pprof/go-cpu-old.pb.gz {stacks}");
    let views =
        ["top", "tree", "tree --bottom-up", "graph", "hot", "labels", "traces", "report", "info", "lint"];
    let mut commands: Vec<String> = views.map(|view| format!("{view} {stacks}")).to_vec();
    commands.extend(["top", "tree", "graph", "report"].map(|view| format!("{view} {calls}")));
    commands.extend([format!("top {base}"), format!("tree {base}"), format!("focus mallocgc$ {base}")]);
    commands.extend([format!("focus mallocgc$ {stacks}"), format!("source mallocgc$ {stacks}")]);
    commands.push(format!("top --per-event {stacks}"));
    commands.push(format!("diff fixtures/pprof/go-cpu-old.pb.gz {stacks}"));
    for command in commands {
        let text = here(&format!("{command} -f json"));
        let strict = serde_json::from_str::<Strict>(&text);
        assert!(strict.is_ok() && text.len() > 100, "{command}: {:?}", strict.err());
    }
    let focus =
        json(Path::new(env!("CARGO_MANIFEST_DIR")), &format!("focus mallocgc$ --label endpoint {stacks}"));
    let [whole, shown, total] = ["whole", "shown", "total"].map(|key| focus[key].as_i64().unwrap());
    assert!(whole > shown && shown > total, "{whole} {shown} {total}");
}

#[test]
fn info_counts_functions_as_top_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [
        "cpuprofile/node.cpuprofile",
        "pstats/python.pstats",
        "pprof/go-heap.pb.gz",
        "callgrind/c.callgrind",
    ];
    for file in files {
        let rows = json(folder, &format!("top fixtures/{file}"))["rows"].as_array().unwrap().len();
        let info = here(&format!("info fixtures/{file}"));
        let line = info.lines().find(|line| line.starts_with("functions")).unwrap();
        let counts = numbers(line);
        // Some have a value of another metric only.
        let shown = if line.contains(" functions with ") { counts[2] } else { counts[0] };
        assert_eq!(shown as usize, rows, "{file}: {line}");
    }
}

/// Two functions called `init` of different scripts, as a recorder writes them that knows no scripts: every id is 0.
#[test]
fn functions_of_different_scripts_are_different_without_the_ids_of_scripts() {
    let folder = tempdir().unwrap();
    let node = |number: i64, name: &str, url: &str, children: &str| {
        format!(
            r#"{{"functionName":"{name}","url":"{url}","lineNumber":{number},"callUID":{number},"id":{number},"scriptId":0,"hitCount":{number},"children":[{children}]}}"#
        )
    };
    let leaves = format!("{},{}", node(2, "init", "a.js", ""), node(3, "init", "b.js", ""));
    let text = format!(
        r#"{{"typeId":"CPU","title":"t","head":{},"startTime":0,"endTime":1}}"#,
        node(0, "(root)", "", &leaves)
    );
    fs::write(folder.path().join("old.cpuprofile"), text).unwrap();
    let names = |by: &str| -> Vec<String> {
        let top = json(folder.path(), &format!("top -m samples --by {by} old.cpuprofile"));
        top["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(names("function"), ["init b.js:3", "init a.js:2"]);
    assert_eq!(names("name"), ["init"]);
}

/// A `.cpuprofile` has the elapsed time of a thread, so it cannot say how many CPUs were busy.
#[test]
fn time_of_a_thread_is_not_called_time_of_cpus() {
    let folder = tempdir().unwrap();
    let node = fixture("cpuprofile/node.cpuprofile");
    let node = node.to_str().unwrap();
    let (info, _) = run(folder.path(), &format!("info {node}"));
    assert!(info.contains("0.99 threads busy") && info.contains("Elapsed time of the thread"), "{info}");
    assert!(info.contains("took a lot of the thread's time"), "{info}");
    for command in ["top -n 1", "tree -n 1", "hot"] {
        let (text, _) = run(folder.path(), &format!("{command} {node}"));
        assert!(text.contains("0.99 threads busy") && !text.contains("CPU"), "{command}: {text}");
    }
    for picture in ["a.svg", "a.html"] {
        run(folder.path(), &format!("flame {picture} {node}"));
        let text = fs::read_to_string(folder.path().join(picture)).unwrap();
        let untrue = ["CPUs busy", "a lot of CPU time"];
        assert!(!untrue.iter().any(|untrue| text.contains(untrue)), "{picture}");
        assert!(text.contains("threads busy"), "{picture}");
    }
    assert_eq!(json(folder.path(), &format!("top {node}"))["recording"]["thread_time"], true);
    assert!(here("info fixtures/pprof/go-cpu.pb.gz").contains("1.84 CPUs busy"));
}

/// With `--inspect-brk`, Node.js waits until somebody attaches a debugger.
#[test]
#[needs(Corpus)]
fn waiting_for_a_debugger_is_idle() {
    let folder = shared("corpus/cpuprofile");
    let file = "ignromanov__big-decimal__profile.cpuprofile";
    let (top, _) = run(&folder, &format!("top {file}"));
    assert!(top.contains("0.20 threads busy, 79% idle"), "{top}");
    assert!(!top.contains("◆ waitForDebugger"), "{top}");
    let (awake, _) = run(&folder, &format!("top --hide-stacks @idle {file}"));
    assert!(!awake.contains("waitForDebugger"), "{awake}");
}

/// Functions that call each other were 107.6 % of all.
#[test]
fn no_highlight_is_more_than_everything() {
    let text = here("top --highlight weather -n 3 fixtures/pstats/python.pstats");
    assert!(text.contains("matches weather: at most 695.71ms, 100.0% of all"), "{text}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = json(folder, "top --highlight weather fixtures/pstats/python.pstats");
    assert_eq!((&top["highlight"]["upper_bound"], &top["highlight"]["total"]), (&true.into(), &top["total"]));
    let focus = json(folder, "focus weather fixtures/pstats/python.pstats");
    assert_eq!(focus["total"], top["total"]);
    let gauss = json(folder, "top --highlight gauss fixtures/pstats/python.pstats");
    assert!(gauss["highlight"].get("upper_bound").is_none(), "{}", gauss["highlight"]);
}

/// With two sides, only the old one was known to count calls, and the others were cut as costs are.
#[test]
#[needs(Builds)]
fn calls_are_counted_on_both_sides_of_a_comparison() {
    let folder = shared("changes/python-two-causes");
    let alone = json(&folder, "focus -m calls group_digits new");
    let both = json(&folder, "focus -m calls group_digits --base old new");
    for side in ["callers", "callees"] {
        let values = |focus: &Value| -> Vec<(String, i64)> {
            let rows = focus[side].as_array().unwrap().iter();
            rows.map(|row| (row["name"].to_string(), row["value"].as_i64().unwrap())).collect()
        };
        assert_eq!(values(&both), values(&alone), "{side}");
    }
    let (text, _) = run(&folder, "focus -m calls group_digits --base old new");
    assert!(text.contains("  CALLS      OLD") && text.contains("\nCALLS: above the function"), "{text}");
    assert!(!text.contains("(root)") && !text.contains("(self)") && !text.contains("add up"), "{text}");
}

/// What `◆` means is said with its exceptions, and a label has no callees, so that its self says nothing.
#[test]
fn labels_are_never_leaf_heavy() {
    let top = here("top --by label:endpoint fixtures/pprof/go-cpu.pb.gz");
    assert!(top.contains("/orders") && !top.contains('◆'), "{top}");
    let top = here("top fixtures/pprof/go-cpu.pb.gz");
    assert!(
        top.contains(
            "◆ leaf-heavy: self is at least 90% of total and 1% of all; waiting functions and the profiler's own are never marked"
        ),
        "{top}"
    );
}

/// Without a line to show, telling where the source is would not help.
#[test]
fn sources_are_asked_for_only_if_lines_are_known() {
    let folder = tempdir().unwrap();
    let text = fs::read_to_string(fixture("cpuprofile/node.cpuprofile")).unwrap();
    fs::write(folder.path().join("old.cpuprofile"), text.replace("positionTicks", "ticks")).unwrap();
    fs::write(folder.path().join("new.cpuprofile"), text).unwrap();
    let (old, note) = run(folder.path(), "source waysToPay old.cpuprofile");
    assert!(note.contains("this profile (cpuprofile) does not say what lines cost"), "{note}");
    assert!(!old.contains("--source-path") && old.contains("invoices.mjs"), "{old}");
    assert!(run(folder.path(), "source waysToPay new.cpuprofile").0.contains("--source-path"));
}

/// The order of filters is stated as the code has it, in help and in the README.
#[test]
fn the_order_of_filters_is_stated_as_it_is() {
    assert!(FilterKind::ALL.is_sorted() && FilterKind::ALL.len() == FilterKind::Anonymize as usize + 1);
    let options: Vec<&str> = FilterKind::ALL.iter().map(|kind| kind.option()).collect();
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = one_line(&here("help filters"));
    assert!(
        help.contains(&format!("whatever their order on the command line: {}.", options.join(", "))),
        "{help}"
    );
    let readme =
        one_line(&fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap());
    let quoted: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
    assert!(readme.contains(&quoted.join(", ")), "{}", quoted.join(", "));
}

/// People type the line as it stands.
#[test]
fn help_of_several_topics_shows_them_all() {
    let text = here("help filters input");
    assert!(text.contains("--show-stacks <RE>") && text.contains("--input-format <FORMAT>"), "{text}");
    let (text, error) = run(Path::new("."), "help filters nonsense");
    assert!(text.is_empty() && error.starts_with("error: "), "{text}{error}");
    let help = here("top -h");
    assert!(help.contains("Shared options: prof help TOPIC (filters, input, servers or output)"), "{help}");
}

/// What filters leave has one unit in tables and in pictures: 300 ms, whatever the whole profile has.
#[test]
fn pictures_and_tables_write_a_value_alike() {
    let folder = tempdir().unwrap();
    let cpu = fixture("pprof/go-cpu.pb.gz");
    let cpu = cpu.to_str().unwrap();
    let (top, _) = run(folder.path(), &format!("top -n 1 --show-stacks memclrNoHeapPointers {cpu}"));
    assert!(top.contains("shown 300ms, 4.1% of all") && top.contains("cpu 7.23s"), "{top}");
    run(folder.path(), &format!("flame a.svg --show-stacks memclrNoHeapPointers {cpu}"));
    let picture = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(picture.contains("shown 300ms, 4.1% of all") && picture.contains("cpu 7.23s"));
    assert!(picture.contains("all — 300ms"));
}
