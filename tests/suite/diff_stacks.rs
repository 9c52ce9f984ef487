//! Comparisons of drawn stacks: functions that are removed, new, renamed or moved, and empty sides.

use std::fmt::Write;

use crate::support::sides::{compare_drawn, usual, verdicts};
use prof::report::{DiffOutcome, DiffRow, DiffVerdict, Moved, RowTest, RowVerdict};

/// Unchanged code, which costs are compared relative to.
const STEADY: &[(&str, i64)] = &[
    ("main;parse", 2003),
    ("main;plan", 1501),
    ("main;plan;cost", 907),
    ("main;sort", 1210),
    ("main;hash", 811),
    ("main;read", 613),
    ("main;write", 719),
    ("main;log", 405),
    ("main;flush", 307),
    ("main;idle", 211),
];

/// A run of the steady code and of `more`; `wobble` makes runs vary as samples do.
fn run(wobble: i64, more: &[(&str, i64)]) -> String {
    let mut picture = String::new();
    for (number, (stack, count)) in STEADY.iter().chain(more).enumerate() {
        let shift = ((number as i64 * 7 + wobble * 5) % 11 - 5) * count.isqrt() / 8;
        if *count > 0 {
            writeln!(picture, "{stack} {}", count + shift).unwrap();
        }
    }
    picture
}

fn runs(first: i64, more: &[(&str, i64)]) -> Vec<String> {
    (first..first + 3).map(|wobble| run(wobble, more)).collect()
}

fn verdicts_of(old: &[(&str, i64)], new: &[(&str, i64)]) -> (Vec<String>, DiffVerdict, Vec<DiffRow>) {
    let (old, new) = (runs(0, old), runs(3, new));
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let new: Vec<&str> = new.iter().map(String::as_str).collect();
    let diff = compare_drawn(&old, &new, &usual());
    (verdicts(&diff), diff.verdict, diff.rows)
}

fn row<'r>(rows: &'r [DiffRow], name: &str, test: RowTest) -> &'r DiffRow {
    rows.iter().find(|row| &*row.name == name && row.test == test).unwrap()
}

#[test]
fn a_slower_function_regresses_and_its_callers_inherit() {
    let (found, verdict, rows) = verdicts_of(&[("main;serve;render", 1000)], &[("main;serve;render", 1500)]);
    assert_eq!(found, ["regressed render (self)", "inherits serve", "inherits main"]);
    assert_eq!(verdict, DiffVerdict::Regressed);
    let render = row(&rows, "render", RowTest::SelfCount);
    assert!((render.ratio.unwrap() - 1.5).abs() < 0.1, "{render:?}");
}

#[test]
fn a_faster_function_makes_nothing_else_slower() {
    let (found, verdict, _) = verdicts_of(&[("main;slow", 4000)], &[("main;slow", 1000)]);
    assert_eq!(found, ["improved slow (self)", "inherits main"]);
    assert_eq!(verdict, DiffVerdict::Improved);
}

#[test]
fn a_new_function_that_costs_enough_regresses() {
    let (found, _, rows) = verdicts_of(&[], &[("main;check", 900)]);
    assert_eq!(found, ["regressed check (self)", "inherits main"]);
    let check = row(&rows, "check", RowTest::SelfCount);
    assert_eq!((check.ratio, check.old.self_value), (None, 0));
    assert!(check.delta.self_value > 2600 && check.points > 5.0);
}

#[test]
fn a_small_new_function_and_a_small_removed_one_are_named() {
    let (found, verdict, rows) = verdicts_of(&[("main;was", 4)], &[("main;is", 4)]);
    assert_eq!(found, ["removed was (self)", "new is (self)"]);
    assert_eq!(verdict, DiffVerdict::None);
    assert_eq!(row(&rows, "is", RowTest::SelfCount).q, None);
}

#[test]
fn a_large_removed_function_improves() {
    let (found, ..) = verdicts_of(&[("main;check", 900)], &[]);
    assert_eq!(found, ["improved check (self)", "inherits main"]);
}

#[test]
fn a_renamed_function_has_moved() {
    let (found, verdict, rows) = verdicts_of(&[("main;serve;encode", 1000)], &[("main;serve;marshal", 1000)]);
    assert!(found.contains(&"moved marshal (self)".to_string()), "{found:?}");
    assert!(!found.iter().any(|row| row.starts_with("regressed")), "{found:?}");
    assert_ne!(verdict, DiffVerdict::Regressed);
    let marshal = row(&rows, "marshal", RowTest::SelfCount);
    assert_eq!(marshal.moved, Some(Moved::From("encode".into())));
}

#[test]
fn code_extracted_into_a_new_function_has_moved() {
    let (found, _, rows) =
        verdicts_of(&[("main;serve", 2000)], &[("main;serve", 1000), ("main;serve;extracted", 1000)]);
    assert!(found.contains(&"moved extracted (self)".to_string()), "{found:?}");
    let extracted = row(&rows, "extracted", RowTest::SelfCount);
    assert_eq!(extracted.moved, Some(Moved::OutOf("serve".into())));
}

#[test]
fn equal_sides_have_no_change() {
    let (found, verdict, rows) = verdicts_of(&[("main;render", 1000)], &[("main;render", 1000)]);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(verdict, DiffVerdict::None);
    assert!(rows.iter().all(|row| row.verdict == RowVerdict::Unchanged));
}

#[test]
fn where_nothing_changed_the_heaviest_function_is_the_first() {
    let one = run(0, &[]);
    let diff = compare_drawn(&[&one], &[&one], &usual());
    let names: Vec<&str> = diff.rows.iter().map(|row| &*row.name).collect();
    assert_eq!(names[..4], ["main", "plan", "parse", "plan"]);
}

#[test]
fn artefact_leaves_count_for_the_function_they_interrupt() {
    let (old, new) = (
        run(0, &[("main;loop", 1000), ("main;loop;runtime.asyncPreempt", 900)]),
        run(1, &[("main;loop", 1890), ("main;loop;runtime.asyncPreempt", 10)]),
    );
    let diff = compare_drawn(&[&old], &[&new], &usual());
    assert!(verdicts(&diff).is_empty(), "{:?}", verdicts(&diff));
    assert!(diff.rows.iter().all(|row| !row.name.starts_with("runtime.")));
}

#[test]
fn swapping_the_sides_mirrors_the_result() {
    let (old, new) = (run(0, &[("main;render", 1000)]), run(1, &[("main;render", 1700), ("main;extra", 30)]));
    let there = compare_drawn(&[&old], &[&new], &usual());
    let back = compare_drawn(&[&new], &[&old], &usual());
    assert_eq!(there.rows.len(), back.rows.len());
    for row in &there.rows {
        let other = back.rows.iter().find(|other| other.name == row.name && other.test == row.test).unwrap();
        assert_eq!(row.delta.self_value, -other.delta.self_value);
        assert_eq!(row.delta.total, -other.delta.total);
        assert_eq!((row.old, row.new), (other.new, other.old));
    }
}

#[test]
fn the_same_profile_twice_has_no_change() {
    let picture = run(0, &[("main;render", 1000)]);
    let diff = compare_drawn(&[&picture], &[&picture], &usual());
    assert!(verdicts(&diff).is_empty());
    assert!(diff.rows.iter().all(|row| row.ratio.is_none_or(|ratio| (ratio - 1.0).abs() < 1e-9)));
    assert!(diff.rows.iter().all(|row| row.delta.self_value == 0 && row.points.abs() < 1e-9));
}

#[test]
fn one_pair_with_few_samples_gives_no_verdict_and_fails_with_strict() {
    let (old, new) = ("main;a 30\nmain;b 21", "main;a 20\nmain;b 33");
    let diff = compare_drawn(&[old], &[new], &usual());
    assert_eq!((diff.verdict, diff.outcome()), (DiffVerdict::Inconclusive, DiffOutcome::Passed));
    let strict = prof::view::DiffOptions { strict: true, ..usual() };
    assert_eq!(compare_drawn(&[old], &[new], &strict).outcome(), DiffOutcome::Undecided);
}

#[test]
fn empty_sides_give_no_verdict() {
    for (old, new) in [("main 0", "main 0"), ("main 5", "main 0"), ("main 0", "main 5")] {
        let diff = compare_drawn(&[old], &[new], &usual());
        assert_eq!(
            (diff.verdict, diff.outcome()),
            (DiffVerdict::Inconclusive, DiffOutcome::Passed),
            "{old} {new}"
        );
    }
}
