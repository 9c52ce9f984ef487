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
