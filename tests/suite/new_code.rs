//! New code is a regression if something grew, and not if it was elsewhere before, in runs that vary as recorded ones do.

use prof::stats::random::Random;

use crate::support::series::Normal;
use crate::support::sides::{compare_labelled, usual};

/// The stacks of a program besides the part that changes, with their samples per run.
const PROGRAM: [(&str, f64); 7] = [
    ("main;serve;find", 150.0),
    ("main;serve;rank", 120.0),
    ("main;serve;score", 80.0),
    ("main;serve;row;escape", 70.0),
    ("main;serve;row;fill", 60.0),
    ("main;serve;digest", 50.0),
    ("main;serve;money", 40.0),
];

/// Four runs. Besides the chance of sampling, each function varies from run to run by 15 %.
fn runs(part: &[(&str, f64)], normal: &mut Normal) -> Vec<String> {
    let mut run = |_| {
        let line = |&(stack, mean): &(&str, f64)| {
            let mean = mean * (1.0 + 0.15 * normal.next());
            let count = (mean + mean.max(0.0).sqrt() * normal.next()).round().max(0.0);
            format!("{stack} {count}")
        };
        PROGRAM.iter().chain(part).map(line).collect::<Vec<String>>().join("\n")
    };
    (0..4).map(&mut run).collect()
}

/// How many of 20 comparisons find a regression.
fn found(old: &[(&str, f64)], new: &[(&str, f64)]) -> usize {
    let regressed = |seed: u64| {
        let mut normal = Normal(Random::new(seed));
        let (old, new) = (runs(old, &mut normal), runs(new, &mut normal));
        compare_labelled(&old, &new, &usual()).regressed > 0
    };
    (1..=20).filter(|&seed| regressed(seed)).count()
}

const PARSE: [(&str, f64); 1] = [("main;serve;row;parse", 100.0)];

#[test]
fn what_was_taken_out_of_a_function_is_no_regression_because_runs_vary() {
    let taken_out = [("main;serve;row;parse", 62.0), ("main;serve;row;parse;readVar", 38.0)];
    assert!(found(&PARSE, &taken_out) <= 1);
    assert!(found(&taken_out, &PARSE) <= 1);
    let added = [("main;serve;row;parse", 100.0), ("main;serve;row;parse;check", 90.0)];
    assert!(found(&PARSE, &added) >= 19);
}

#[test]
fn functions_that_became_one_are_no_regression_because_runs_vary() {
    let two = [("main;serve;row;lex", 50.0), ("main;serve;row;build", 50.0)];
    assert!(found(&two, &PARSE) <= 1);
    assert!(found(&PARSE, &two) <= 1);
    assert!(found(&two, &[("main;serve;row;parse", 220.0)]) >= 19);
}

/// What `parse` cost pays for `fastParse` or for `scan` below it, and not for both.
#[test]
fn a_replacement_that_costs_more_is_a_regression_although_its_parts_do_not() {
    let replacement = [("main;serve;row;fastParse", 60.0), ("main;serve;row;fastParse;scan", 120.0)];
    assert!(found(&PARSE, &replacement) >= 19);
}

/// A function that is gone hides nothing that became dearer beside it.
#[test]
fn a_cached_function_is_not_where_another_one_was() {
    let with_parse = [("main;serve;row;parse (row.py:9)", 100.0), ("main;serve;row;quote (row.py:40)", 65.0)];
    assert!(found(&with_parse, &[("main;serve;row;quote (row.py:40)", 165.0)]) >= 19);
}

/// `value` sometimes calls itself through `branch` now, which has little but what that has.
#[test]
fn what_was_taken_out_of_a_recursive_function_is_no_regression_because_runs_vary() {
    let old = [("main;serve;value", 200.0), ("main;serve;value;value", 100.0)];
    let taken_out = |own: f64| {
        [
            ("main;serve;value", 200.0),
            ("main;serve;value;value", 65.0),
            ("main;serve;value;branch", own),
            ("main;serve;value;branch;value", 32.0),
        ]
    };
    assert!(found(&old, &taken_out(3.0)) <= 1);
    assert!(found(&old, &taken_out(150.0)) >= 19);
}

/// `sign` does much else, whose noise hides what it did itself.
#[test]
fn a_library_in_place_of_own_code_is_no_regression_unless_it_costs_more() {
    let sign = |own: f64, library: f64| {
        [
            ("main;serve;sign;canonical", 400.0),
            ("main;serve;sign", own),
            ("main;serve;sign;crypto/sha1.(*digest).Write", library),
        ]
    };
    assert!(found(&sign(40.0, 3.0), &sign(3.0, 38.0)) <= 1);
    assert!(found(&sign(3.0, 38.0), &sign(40.0, 3.0)) <= 1);
    assert!(found(&sign(40.0, 3.0), &sign(3.0, 160.0)) >= 19);
}

/// `comments` starts a thread for what it does, or does it itself.
#[test]
fn what_a_thread_did_before_is_no_regression_of_who_does_it_now() {
    let setup = ("main;setup", 4.0);
    let beside = [setup, ("main;serve;comments", 3.0), ("start;comments.func1;mentions", 200.0)];
    let itself = [setup, ("main;serve;comments", 3.0), ("main;serve;comments;mentions", 200.0)];
    assert!(found(&beside, &itself) <= 1);
    assert!(found(&itself, &beside) <= 1);
}
