//! The forms of a comparison that others read: a comment, annotations, a test report.

use std::collections::HashSet;

use crate::support::sides::{compare, compare_drawn, usual};
use insta::assert_snapshot;
use prof::output;
use prof::profile::{Profile, from_picture};
use prof::report::{Diff, DiffVerdict, Report, RowTest};
use prof::transform::Marks;
use prof::view::{BudgetRule, Limit};

/// Ten functions of which `parse` has the given count, and whose others differ between runs like samples.
fn run(wobble: i64, parse: i64) -> String {
    let steady = [
        ("main;parse@src/parse.rs:12", parse),
        ("main;plan@src/plan.rs:3", 1501),
        ("main;sort<a|b>@src/sort.rs:40", 1210),
        ("main;hash", 811),
        ("main;read", 613),
        ("main;write", 719),
        ("main;log", 405),
        ("main;flush", 307),
        ("main;idle", 211),
    ];
    let line = |(number, (stack, count)): (usize, &(&str, i64))| {
        let shift = ((number as i64 * 7 + wobble * 5) % 11 - 5) * count.isqrt() / 8;
        format!("{stack} {}", count + shift)
    };
    steady.iter().enumerate().map(line).collect::<Vec<String>>().join("\n")
}

/// Three runs a side; `parse` costs half as much again on the new one.
fn regressed() -> Diff {
    let runs = |first: i64, parse: i64| -> Vec<Profile> {
        (first..first + 3).map(|wobble| from_picture(&run(wobble, parse))).collect()
    };
    let (old, new) = (runs(0, 2003), runs(3, 3010));
    let old: Vec<(&Profile, usize)> = old.iter().map(|profile| (profile, 0)).collect();
    let new: Vec<(&Profile, usize)> = new.iter().map(|profile| (profile, 0)).collect();
    let mut diff = compare(&old, &new, &usual());
    diff.old.inputs = vec!["main/".to_string()];
    diff.new.inputs = vec!["pr/".to_string()];
    diff
}

/// One pair, too small for a verdict.
fn undecided() -> Diff {
    compare_drawn(&["main;a 30\nmain;b 21"], &["main;a 20\nmain;b 33"], &usual())
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn markdown(diff: Diff) -> String {
    written(|out| output::markdown(&Report::Diff(Box::new(diff)), out).unwrap())
}

#[test]
fn a_comment_says_what_regressed_first() {
    assert_snapshot!(markdown(regressed()), @"");
}

#[test]
fn a_comment_without_a_verdict_says_what_would_take_one() {
    assert_snapshot!(markdown(undecided()), @"");
}

#[test]
fn annotations_stand_beside_the_function() {
    assert_snapshot!(written(|out| output::github(&regressed(), out).unwrap()), @"");
}

#[test]
fn annotations_without_a_verdict_warn() {
    assert_snapshot!(written(|out| output::github(&undecided(), out).unwrap()), @"");
}

#[test]
fn build_servers_get_a_test_a_function() {
    let report = written(|out| output::junit(&regressed(), out).unwrap());
    assert_snapshot!(report, @"");
    // What is escaped is read back as it was.
    let mut reader = quick_xml::Reader::from_str(&report);
    let mut names = HashSet::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Empty(element) | quick_xml::events::Event::Start(element) => {
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    if attribute.key.as_ref() == "name" {
                        names.insert(attribute.value.into_owned());
                    }
                }
            }
            _ => {}
        }
    }
    assert!(names.contains("self of sort&lt;a|b&gt;"), "{names:?}");
}

#[test]
fn every_row_has_the_promised_keys_and_nothing_is_infinite() {
    let new = run(1, 0).replace("main;parse@src/parse.rs:12 0", "main;fresh 2000");
    let diff = compare_drawn(&[&run(0, 2000)], &[&new], &usual());
    let json = written(|out| output::json(&Report::Diff(Box::new(diff)), out).unwrap());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let row = [
        "name",
        "file",
        "old",
        "new",
        "delta",
        "test",
        "ratio",
        "ratio_low",
        "ratio_high",
        "points",
        "p",
        "q",
        "verdict",
    ];
    for found in document["rows"].as_array().unwrap() {
        assert_eq!(keys(found), row);
    }
    let fresh = document["rows"].as_array().unwrap().iter().find(|row| row["name"] == "fresh").unwrap();
    assert!(fresh["ratio"].is_null() && fresh["p"].is_number());
    assert_eq!(document["schema"], "prof.diff.v1");
    assert_eq!(keys(&document["old"]), ["inputs", "profiles", "total", "samples"]);
    assert_eq!(keys(&document["normalize"]), ["method", "ratio"]);
    assert_eq!(keys(&document["noise"]), ["phi", "tau"]);
    assert_eq!(keys(&document["detectable"][0]), ["share", "ratio"]);
}

#[test]
fn budgets_are_checked_on_the_new_side() {
    let (old, new) = (run(0, 2003), run(1, 2003));
    let profile = from_picture(&format!("{old}\n{new}"));
    let rule = |measure: RowTest, limit: Limit| BudgetRule {
        // Frames of the drawings are numbered alike in all profiles made of them.
        functions: Marks::new(&profile, &prof::pattern::Patterns::parse(&["^parse$"], false).unwrap().0),
        measure,
        limit,
        rule: "total of `^parse$` at most …".to_string(),
        owner: Some("parsing".to_string()),
    };
    for (limit, exceeded) in [
        (Limit::Percent(20.0), true),
        (Limit::Percent(30.0), false),
        (Limit::Value(1900.0), true),
        (Limit::Value(2100.0), false),
    ] {
        let options = prof::view::DiffOptions { budgets: vec![rule(RowTest::Total, limit)], ..usual() };
        let diff = compare_drawn(&[&old], &[&new], &options);
        assert_eq!(diff.budgets[0].exceeded, exceeded, "{limit:?}: {}", diff.budgets[0].value);
        assert_eq!(diff.about.exit, u8::from(exceeded));
        assert_ne!(diff.verdict, DiffVerdict::Regressed);
        assert_eq!(written(|out| output::github(&diff, out).unwrap()).contains("::error"), exceeded);
    }
}
