//! `prof lint`: levels, exit codes, and where its errors appear.

use std::path::Path;

use tempfile::TempDir;

use crate::support::{fixture, prof};

/// Exit code and output of `prof` in a folder with a profile of unnamed code and one without problems.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("fine.folded"), "main;work 900\nmain;rest 300\n").unwrap();
    std::fs::write(folder.path().join("few.folded"), "main;work 9\nmain;rest 3\n").unwrap();
    std::fs::write(folder.path().join("hundred.folded"), "main;work 90\nmain;rest 10\n").unwrap();
    let output = prof(folder.path(), arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_exit_code_depends_on_the_level() {
    for (file, level, code) in [
        ("few.folded", "error", 1),
        ("few.folded", "note", 1),
        ("hundred.folded", "error", 0),
        ("hundred.folded", "warning", 1),
        ("fine.folded", "note", 0),
    ] {
        assert_eq!(run(&["lint", "--deny", level, file]).0, Some(code), "{file} {level}");
    }
    assert_eq!(run(&["lint", "few.folded"]).0, Some(0), "nothing is denied unless asked for");
}

#[test]
fn problems_have_numbers_and_remedies() {
    let (_, text) = run(&["lint", "hundred.folded"]);
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        [
            "warning [few-samples]: there are only 100 samples: what has less than 5.0% is hit by fewer than 5 of them",
            "  record for longer, at a higher rate, or several times (prof adds up several files)",
            "1 problem found by 22 rules",
        ]
    );
    assert!(run(&["lint", "fine.folded"]).1.ends_with("no problems: none of the 22 rules found one\n"));
}

#[test]
fn other_commands_mention_them() {
    assert!(run(&["report", "few.folded"]).1.contains("recording: there are only 12 samples"));
    assert!(run(&["report", "fine.folded"]).1.ends_with("recording: no problems\n"));
    assert!(run(&["info", "few.folded"]).1.contains("there are only 12 samples"));
    assert!(!run(&["info", "hundred.folded"]).1.contains("there are only"), "a warning is no error");
}

/// Collapsed stacks with times: `prof convert` writes the default metric, which is often one of nanoseconds.
#[test]
fn times_in_collapsed_stacks_are_no_samples() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("times.folded");
    std::fs::write(file, "main;work 90000000\nmain;rest 10000000\nmain;read 20000000\n").unwrap();
    let text = |arguments: &[&str]| {
        String::from_utf8(prof(folder.path(), arguments).output().unwrap().stdout).unwrap()
    };
    assert!(text(&["lint", "times.folded"]).contains("there are only 12 samples"));
    assert!(text(&["top", "times.folded"]).starts_with("times.folded · samples 120,000,000 · 12 samples\n"));
    let report = text(&["report", "times.folded"]);
    assert!(
        report.contains("(95%: 1.88 to 11.24)") && report.contains("there are only 12 samples"),
        "{report}"
    );
    // A filter leaves too few stacks to see that their numbers are multiples.
    let report = text(&["report", "--focus", "work", "times.folded"]);
    assert!(report.contains("there are only 9 samples"), "{report}");
}

/// What filters leave is as uncertain as a recording with as many samples.
#[test]
fn a_report_counts_the_samples_that_are_left() {
    let (_, text) = run(&["report", "--focus", "rest", "hundred.folded"]);
    assert!(text.contains("recording: there are only 10 samples"), "{text}");
    let java = |options: &[&str]| {
        let words = [&["report"][..], options, &["java.jfr"]].concat();
        String::from_utf8(prof(&fixture("jfr"), &words).output().unwrap().stdout).unwrap()
    };
    let text = java(&["--latency", "--thread", "main"]);
    assert!(text.contains("recording: there ") && text.contains("no share means anything"), "{text}");
}

/// Goroutines begin in a function of the program, and Go's compiler keeps frame pointers.
#[test]
fn short_stacks_of_go_are_whole() {
    let lint = |picture: &str| {
        let mut profile = prof::profile::from_notation(picture);
        profile.meta.format = "pprof";
        let recorded = prof::lint::Recorded::new(&profile, 0, None, None);
        let found = prof::lint::problems(&recorded, prof::report::Severity::Note);
        found.into_iter().map(|problem| problem.says).collect::<Vec<String>>()
    };
    assert_eq!(
        lint("main.main.func1@a.go:3!/bin/two+0x10;main.spin@a.go:9!/bin/two+0x20 500"),
        Vec::<String>::new()
    );
    let found = lint("run@a.c:3!/bin/two+0x10;spin@a.c:9!/bin/two+0x20 500");
    assert!(found[0].contains("stacks of one or two functions"), "{found:?}");
}

#[test]
fn a_comparison_warns_of_recordings_that_are_not_fit() {
    let sides = ["diff", "--symbolize", "never", "sorting.pb.gz", "sorting.pb.gz"];
    let output = prof(&fixture("symbols"), &sides).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("sorting.pb.gz: ") && said.contains("of the profile is in code without names"),
        "{said}"
    );
    let sides = ["diff", "go-cpu-old.pb.gz", "go-cpu-new.pb.gz"];
    let output = prof(&fixture("pprof"), &sides).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("go-cpu-old.pb.gz: "), "{said}");
}

/// The table of `docs/lint.md` names a recording for each rule.
#[test]
fn recorded_problems_are_found() {
    let page = include_str!("../../docs/lint.md");
    for rule in prof::lint::RULES.iter().map(|rule| rule.name) {
        let mut rows = page.lines().filter(|line| line.starts_with(&format!("| `{rule}` |")));
        let command = rows.next_back().and_then(|row| row.split("`prof lint ").nth(1)?.split('`').next());
        let command = command.unwrap_or_else(|| panic!("{rule} has no recording"));
        let mut words = vec!["lint", "--format", "json", "--symbolize", "never"];
        words.extend(command.split(' '));
        let output = prof(Path::new(env!("CARGO_MANIFEST_DIR")), &words).output().unwrap();
        let json = String::from_utf8(output.stdout).unwrap();
        assert!(json.contains(&format!("\"rule\":\"{rule}\"")), "{rule}: {command}: {json}");
    }
}

#[test]
fn a_good_recording_has_no_problems() {
    let heap = fixture("pprof/go-heap.pb.gz");
    let (_, json) = run(&["lint", "--format", "json", heap.to_str().unwrap()]);
    assert!(json.contains("\"problems\":[]"), "{json}");
}

/// `perf report -D` has 102 samples, 70 pauses, and messages of lost records that add up to 300, as the one at the end says.
#[test]
fn lost_samples_are_counted() {
    let lost = fixture("lint/lost.perf.data.gz");
    let (_, text) = run(&["lint", lost.to_str().unwrap()]);
    assert!(text.contains("error [lost]: the recorder lost 300 of 402 samples (74.6%)"), "{text}");
    let throttled = fixture("lint/throttled.perf.data.gz");
    let (_, text) = run(&["lint", throttled.to_str().unwrap()]);
    assert!(text.contains("the kernel throttled sampling 70 times"), "{text}");
}
