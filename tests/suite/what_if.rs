//! `--what-if`: costs change exactly, in every view, together with filters and baselines.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// Runs a command on a profile of these stacks.
fn run(text: &str, words: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cpu.folded"), text).unwrap();
    let output = prof(folder.path(), &[words, &["-f", "json", "cpu.folded"]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Self and total of a row of `top`.
fn row(report: &Value, name: &str) -> (i64, i64) {
    let rows = report["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
    (row["self"].as_i64().unwrap(), row["total"].as_i64().unwrap())
}

const STACKS: &str = "main;parse;read 30\nmain;parse 10\nmain;render;parse 8\nmain;render 12\nmain;idle 40\n";

#[test]
fn samples_with_a_match_are_multiplied() {
    let report = run(STACKS, &["top", "--what-if", "^parse$=0.25"]);
    // In quarters: read 30 × 1/4, parse 10 × 1/4 + 8 × 1/4, render 12, idle 40; main has all of it.
    assert_eq!(report["metric"]["divisor"], 4);
    assert_eq!((report["total"].as_i64(), report["shown"].as_i64()), (Some(400), Some(30 + 18 + 48 + 160)));
    assert_eq!(report["what_if"]["before"], 400);
    assert_eq!(row(&report, "read"), (30, 30));
    assert_eq!(row(&report, "parse"), (18, 48));
    assert_eq!(row(&report, "render"), (48, 56));
    assert_eq!(row(&report, "main"), (0, 256));
}

/// How many samples there are does not depend on what they cost.
#[test]
fn the_header_has_the_samples_that_were_recorded() {
    let folder = fixture("pprof");
    for factor in ["0", "0.5", "2", "1.3"] {
        let what_if = format!("Discounted={factor}");
        let words = ["top", "--what-if", &what_if, "go-cpu.pb.gz", "-f", "json"];
        let output = prof(&folder, &words).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["recording"]["samples"], 723, "{factor}");
    }
    let words = ["top", "--base", "go-cpu.pb.gz", "--what-if", "Discounted=0", "-n", "5", "go-cpu.pb.gz"];
    let text = String::from_utf8(prof(&folder, &words).output().unwrap().stdout).unwrap();
    assert!(text.contains("Discounted") && !text.contains("(removed)"), "{text}");
}

#[test]
fn several_matches_of_a_stack_give_the_product() {
    let report = run(STACKS, &["top", "--what-if", "read=0.5", "--what-if", "parse=50%"]);
    // In quarters: main;parse;read 30 × 1/4, the other stacks of parse × 1/2.
    assert_eq!((row(&report, "read"), row(&report, "parse")), ((30, 30), (36, 66)));
}

#[test]
fn patterns_see_whole_stacks_whatever_filters_leave_of_them() {
    // `parse` is not shown, but the cost of its callees and callers changes.
    let words = ["top", "--what-if", "parse=0", "--hide-frames", "parse", "--hide-stacks", "idle"];
    let report = run(STACKS, &words);
    assert_eq!((report["total"].as_i64(), report["shown"].as_i64()), (Some(100), Some(12)));
    assert_eq!(report["what_if"]["before"], 60, "of the stacks without idle");
    let report = run(STACKS, &["tree", "--focus", "render", "--what-if", "parse=3"]);
    assert_eq!((report["what_if"]["before"].as_i64(), report["shown"].as_i64()), (Some(20), Some(36)));
}

#[test]
fn the_old_side_stays_as_recorded() {
    let folder = TempDir::new().unwrap();
    for name in ["old.folded", "new.folded"] {
        fs::write(folder.path().join(name), STACKS).unwrap();
    }
    let words = ["top", "--what-if", "parse=0.5", "--base", "old.folded", "new.folded", "-f", "json"];
    let output = prof(folder.path(), &words).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["base"]["sum"], 200, "100 samples in halves");
    assert_eq!((report["total"].as_i64(), report["shown"].as_i64()), (Some(200), Some(152)));
    let rows = report["rows"].as_array().unwrap();
    let read = rows.iter().find(|row| row["name"] == "read").unwrap();
    assert_eq!((&read["old"]["total"], &read["total"]), (&Value::from(60), &Value::from(30)));
}

#[test]
fn a_function_that_costs_nothing_gives_its_ceiling() {
    // The ceiling of a finding is what the report says if the function costs nothing.
    let folder = fixture("pprof");
    let json = |words: &[&str]| -> Value {
        let output = prof(&folder, &[words, &["-f", "json", "go-cpu.pb.gz"]].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = json(&["report"]);
    let findings = report["findings"].as_array().unwrap();
    let memory = findings.iter().find(|finding| finding["rule"] == "allocation").unwrap();
    let after = json(&["report", "--what-if", "@memory=0"]);
    let ratio = |before: &Value, after: &Value| before.as_f64().unwrap() / after.as_f64().unwrap();
    let expected = ratio(&after["what_if"]["before"], &after["shown"]);
    assert!((memory["ceiling"]["ratio"].as_f64().unwrap() - expected).abs() < 1e-9);
}

#[test]
fn every_view_has_the_option_and_says_what_changed() {
    let folder = fixture("pprof");
    let views: &[&[&str]] = &[
        &["top"],
        &["tree"],
        &["tree", "--bottom-up"],
        &["focus", "Discounted"],
        &["hot"],
        &["report"],
        &["graph"],
        &["labels"],
        &["traces", "-n", "2"],
        &["source", "Discounted"],
    ];
    for view in views {
        let words = [*view, &["--what-if", "Discounted=50%", "go-cpu.pb.gz"]].concat();
        let output = prof(&folder, &words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // 7.23s − 2.55s ÷ 2, and 7.23 ÷ 5.955.
        assert!(text.contains("what if Discounted=50%: cpu 7.23s → 5.96s, ÷ 1.21"), "{view:?}: {text}");
    }
}

#[test]
fn mistakes_are_explained() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cpu.folded"), STACKS).unwrap();
    fs::write(folder.path().join("huge.folded"), "main;parse 4611686018427387904\n").unwrap();
    for (words, says) in [
        (["--what-if", "parse", "cpu.folded"], "--what-if parse: expected RE=FACTOR"),
        (["--what-if", "parse=-1", "cpu.folded"], "--what-if parse=-1: expected RE=FACTOR"),
        (["--what-if", "prase=0.5", "cpu.folded"], "--what-if prase: nothing matches"),
        (
            ["--what-if", "parse=0.001", "huge.folded"],
            "--what-if: the values of samples would not fit in 64 bits",
        ),
    ] {
        let output = prof(folder.path(), &[&["top"], &words[..]].concat()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says), "{error}");
    }
}
