//! Why costs changed: each kind of cause on small programs whose change is known.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::support::prof;

/// The causes that `prof diff` finds between two texts of collapsed stacks, and what it prints for people.
fn causes(old: &str, new: &str) -> (Vec<Value>, String) {
    let folder = tempdir().unwrap();
    for (name, text) in [("old.folded", old), ("new.folded", new)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |format: &str| {
        let arguments = ["diff", "-q", "--noise", "steady", "-f", format, "old.folded", "new.folded"];
        prof(folder.path(), &arguments).output().unwrap().stdout
    };
    let report: Value = serde_json::from_slice(&run("json")).unwrap();
    (report["causes"].as_array().unwrap().clone(), String::from_utf8(run("text")).unwrap())
}

/// Stacks of `work` and of eight functions that do not change, which `main` calls.
fn program(work: &str) -> String {
    let others = (1..=8).map(|number| format!("main;other{number} {}\n", 2000 + 100 * number));
    others.chain([work.to_string()]).collect()
}

fn check(old: &str, new: &str, kind: &str, function: &str, sentence: &str) {
    let (causes, text) = causes(&program(old), &program(new));
    let found: Vec<(&str, &str)> = causes
        .iter()
        .map(|cause| (cause["cause"].as_str().unwrap(), cause["function"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [(kind, function)], "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(sentence), "{sentence}\n{text}");
}

#[test]
fn own_code_that_costs_more() {
    check(
        "main;run;hash 1000\nmain;run;pack 1000\n",
        "main;run;hash 1800\nmain;run;pack 1000\n",
        "dearer",
        "hash",
        "1 hash more expensive ×1.80",
    );
}

#[test]
fn a_function_that_costs_more_whoever_calls_it() {
    check(
        "main;a;hash 600\nmain;b;hash 500\nmain;c;hash 550\nmain;a 900\nmain;b 900\nmain;c 900\n",
        "main;a;hash 1200\nmain;b;hash 1000\nmain;c;hash 1100\nmain;a 900\nmain;b 900\nmain;c 900\n",
        "dearer",
        "hash",
        "equally from all 3 callers, so the function itself changed",
    );
}

#[test]
fn a_function_that_costs_more_only_when_called_from_one_place() {
    check(
        "main;a;hash 600\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "main;a;hash 1500\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "called-more",
        "hash",
        "only when called from a",
    );
}

#[test]
fn a_function_that_does_all_it_does_more_often() {
    check(
        "main;run;load 500\nmain;run;load;read 700\nmain;run;load;parse 600\nmain;run 1500\n",
        "main;run;load 1000\nmain;run;load;read 1400\nmain;run;load;parse 1200\nmain;run 1500\n",
        "called-more",
        "load",
        "its own code and everything that it calls grew equally: more calls, or more work per call",
    );
}

#[test]
fn a_call_from_where_there_was_none() {
    check(
        "main;a;format 900\nmain;b 900\n",
        "main;a;format 900\nmain;b;audit;format 900\nmain;b 900\n",
        "new-path",
        "format",
        "b → audit → format",
    );
}

#[test]
fn new_code_makes_its_caller_dearer() {
    check(
        "main;a 900\nmain;b 900\n",
        "main;a 900\nmain;b 900\nmain;b;check 700\n",
        "dearer",
        "b",
        "it calls check, which is new",
    );
}

#[test]
fn code_that_only_moved_is_no_cause_of_growth() {
    check(
        "main;parse 3000\n",
        "main;parse 1200\nmain;parse;readHeader 1800\n",
        "extracted",
        "readHeader",
        "not slower, only moved: readHeader extracted from parse",
    );
    check(
        "main;parse 1200\nmain;parse;token 1800\n",
        "main;parse 3000\n",
        "inlined",
        "parse",
        "token inlined into parse",
    );
}

#[test]
fn two_causes_share_out_the_growth() {
    let old = program("main;run;hash 1000\nmain;run;pack 1000\n");
    let new = program("main;run;hash 1800\nmain;run;pack 1400\n");
    let (causes, text) = causes(&old, &new);
    let explains: Vec<f64> = causes.iter().map(|cause| cause["explains"].as_f64().unwrap()).collect();
    assert_eq!(causes.len(), 2, "{text}");
    // 800 and 400 samples of 1,200.
    assert!((explains[0] - 2.0 / 3.0).abs() < 0.02 && (explains[1] - 1.0 / 3.0).abs() < 0.02, "{explains:?}");
}

#[test]
fn nothing_is_explained_where_nothing_changed() {
    let same = program("main;run;hash 1000\n");
    let (causes, text) = causes(&same, &same);
    assert!(causes.is_empty() && !text.contains("cause"), "{text}");
}
