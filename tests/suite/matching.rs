//! Comparisons of two builds: functions are matched although their names, files and lines differ.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use tempfile::tempdir;

use crate::support::needs::shared;
use crate::support::prof;

/// The report of `prof diff` on two texts of collapsed stacks, and the exit code.
fn diff(old: &str, new: &str, options: &[&str]) -> (Value, i32, String) {
    let folder = tempdir().unwrap();
    let paths = [("old.folded", old), ("new.folded", new)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    });
    let mut arguments = vec!["diff", "-f", "json"];
    arguments.extend(options);
    arguments.extend(paths.iter().map(String::as_str));
    let out = prof(folder.path(), &arguments).output().unwrap();
    let report = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
    (report, out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
}

/// Five functions with about the same cost, one of which has the given name.
fn program(name: &str) -> String {
    let others = ["read", "parse", "print", "sort"].map(|other| format!("main;{other} 2000"));
    format!("{}\nmain;run;{name} 3000\n", others.join("\n"))
}

#[test]
fn a_renamed_function_is_no_regression() {
    let (old, new) = (program("parseNum"), program("parseNumber"));
    let (report, code, _) = diff(&old, &new, &["--noise", "steady"]);
    assert_eq!(code, 0);
    let matched = &report["matched"][0];
    assert_eq!((&matched["old"], &matched["new"]), (&"parseNum".into(), &"parseNumber".into()));
    assert_eq!(matched["how"], "renamed");
    assert!(report["rows"].as_array().unwrap().iter().all(|row| row["name"] != "parseNum"));

    // By name alone, one function is gone and another one is new.
    let (report, _, _) = diff(&old, &new, &["--match", "exact"]);
    assert_eq!(report["matched"].as_array().unwrap().len(), 0);
    assert!(report["rows"].as_array().unwrap().iter().any(|row| row["name"] == "parseNum"));
}

#[test]
fn stubs_and_versions_of_the_linker_are_not_renamed() {
    for (old, new) in [("memcmp@plt", "operator delete@plt"), ("hypot@@GLIBC_2.35", "log1p@@GLIBC_2.29")] {
        let (report, _, _) = diff(&program(old), &program(new), &["--noise", "steady"]);
        assert_eq!(report["matched"], Value::Array(Vec::new()), "{old}");
    }
}

#[test]
fn a_file_says_what_is_the_same() {
    let folder = tempdir().unwrap();
    let file = |text: &str| {
        let path: PathBuf = folder.path().join("pairs.txt");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let old = "main;a 500\nmain;b 500\nmain;c 9000\n";
    let new = "main;x 500\nmain;y 500\nmain;c 9000\n";
    let (report, code, _) = diff(old, new, &["--match", &file("# by hand\n\na = y\n")]);
    assert_eq!(code, 0);
    let given: Vec<&Value> =
        report["matched"].as_array().unwrap().iter().filter(|matched| matched["how"] == "given").collect();
    assert_eq!((given.len(), &given[0]["old"], &given[0]["new"]), (1, &"a".into(), &"y".into()));
    for (text, message) in [
        ("a = nowhere", "nowhere: no function of the new side has this name"),
        ("a = x\nb = x", "x: two lines name this function of the new side"),
        ("a x", "line 1 is not `old = new`"),
    ] {
        let (_, code, errors) = diff(old, new, &["--match", &file(text)]);
        assert_eq!(code, 2, "{text}");
        assert!(errors.contains(message), "{errors}");
    }
}

/// `parse` starts what `skipBlanks` spends the most own time in.
#[test]
fn what_moved_is_listed_by_own_code_and_by_what_it_calls() {
    let side = |package: &str| {
        let stacks = ["read 300", "parse 400", "parse;skipBlanks 700", "parse;number 500"].map(|stack| {
            let (names, value) = stack.split_once(' ').unwrap();
            let names: Vec<String> = names.split(';').map(|name| format!("shop.{package}.{name}")).collect();
            format!("main;{} {value}\n", names.join(";"))
        });
        stacks.concat() + "main;work 4000\nmain;print 3000\n"
    };
    let (report, code, _) = diff(&side("Json"), &side("text.Json"), &["--noise", "steady"]);
    assert_eq!(code, 0);
    let listed: Vec<&str> = report["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cause| cause["function"].as_str().unwrap())
        .collect();
    // Own code and all: 400 + 1600, 700 + 700, 500 + 500, 300 + 300.
    assert_eq!(
        listed,
        ["parse", "skipBlanks", "number", "read"].map(|name| format!("shop.text.Json.{name}")),
        "{report}"
    );
}

#[test]
fn a_base_is_matched_as_well() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let (old, new) = (write("old.folded", program("parseNum")), write("new.folded", program("parseNumber")));
    for command in ["top", "tree", "graph"] {
        let out = prof(folder.path(), &[command, "-f", "json", "--base", &old, &new]).output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(report["base"]["matched"][0]["new"], "parseNumber", "{command}");
        let rows = report["rows"].as_array().or(report["nodes"].as_array()).unwrap();
        let row = rows.iter().find(|row| row["name"] == "parseNumber").unwrap();
        assert_eq!(row["old"]["self"], 3000, "{command}");
        assert!(String::from_utf8(out.stderr).unwrap().contains("matched: parseNum → parseNumber"));
    }
}

/// Comparisons that do not have the correct outcome yet, and why.
const NOT_YET: &[(&str, &str)] = &[
    ("java-called-more", "100 to 300 samples a run are too few to see the change"),
    ("java-new-path", "100 to 300 samples a run are too few to see the change"),
];

/// Comparisons whose first cause is not one of those expected, and why.
const ANOTHER_CAUSE: &[(&str, &str)] = &[
    ("cpp-generic", "two instances of a template were renamed; the heavier one comes first"),
    ("java-called-more", "too few samples to see the change"),
    ("java-new-path", "too few samples to see the change"),
];

/// Whether the first cause is one of those expected, by its kind and its function.
fn first_cause_is_right(truth: &Value, report: &Value) -> bool {
    let expected = truth["expect"]["causes"].as_array().unwrap();
    let mut expected = expected.iter().filter(|cause| cause["cause"] != "none").peekable();
    let Some(first) = report["causes"].as_array().unwrap().first() else { return expected.peek().is_none() };
    expected.any(|cause| {
        let also = cause["also"].as_array().is_some_and(|also| also.contains(&first["function"]));
        cause["cause"] == first["cause"] && (cause["function"] == first["function"] || also)
    })
}

/// Recorded pairs of builds in six languages: the exit code and the first cause are correct, and no function with unchanged
/// code is reported as regressed.
#[test]
#[needs(Builds)]
fn recorded_pairs_of_builds_get_the_right_verdict() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for entry in fs::read_dir(shared("changes")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(truth) = fs::read(folder.join("truth.json")) else { continue };
        let truth: Value = serde_json::from_slice(&truth).unwrap();
        let id = truth["id"].as_str().unwrap();
        let out = prof(&folder, &["diff", "-f", "json", "old", "new"]).output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        let regressed: Vec<&Value> =
            report["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == "regressed").collect();
        let must_not = truth["expect"]["must_not"].as_array().unwrap();
        let blamed = regressed.iter().any(|row| must_not.contains(&row["name"]));
        let is_right =
            i64::from(out.status.code().unwrap()) == truth["expect"]["exit"].as_i64().unwrap() && !blamed;
        if is_right == NOT_YET.iter().any(|(known, _)| *known == id) {
            wrong.push(format!("{id}: exit {:?}, right: {is_right}", out.status.code()));
        }
        if first_cause_is_right(&truth, &report) == ANOTHER_CAUSE.iter().any(|(known, _)| *known == id) {
            wrong.push(format!("{id}: the first cause is {}", report["causes"][0]));
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 20, "{compared} pairs");
}

/// A program of thirty functions, of which the given ones cost twice as much.
fn thirty(prefix: &str, dearer: &[usize]) -> String {
    let line = |function: usize| {
        let value = (1000 + function) * if dearer.contains(&function) { 2 } else { 1 };
        format!("main;{prefix}{function} {value}\n")
    };
    (0..30).map(line).collect()
}

#[test]
fn rows_that_are_cut_still_count() {
    let (old, new) = (thirty("f", &[]), thirty("f", &[3, 4, 5]));
    let (whole, code, _) = diff(&old, &new, &["--noise", "steady"]);
    assert_eq!((code, &whole["regressed"], &whole["verdict"]), (1, &3.into(), &"regressed".into()));
    for options in [&["--noise", "steady", "-n", "1"][..], &["--noise", "steady", "--min-share", "90"]] {
        let (cut, code, _) = diff(&old, &new, options);
        assert_eq!(
            (code, &cut["regressed"], &cut["verdict"]),
            (1, &3.into(), &"regressed".into()),
            "{options:?}"
        );
    }
}

#[test]
fn different_programs_are_not_compared() {
    let (_, code, errors) = diff(&thirty("f", &[]), &thirty("zebra_", &[2]), &["--match", "exact"]);
    assert_eq!(code, 2);
    assert!(
        errors.contains("almost no functions in common (0.0% of the old side, 0.0% of the new side)"),
        "{errors}"
    );
    assert!(errors.contains("profiles of the same program?"), "{errors}");
}

#[test]
fn an_exit_code_of_3_is_explained() {
    let folder = tempdir().unwrap();
    for name in ["old.folded", "new.folded"] {
        fs::write(folder.path().join(name), "main;a 50\nmain;b 60\n").unwrap();
    }
    let out = prof(folder.path(), &["diff", "--strict", "old.folded", "new.folded"]).output().unwrap();
    assert_eq!(out.status.code(), Some(3));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.replace('\n', " ").contains("--strict: these runs cannot show a change of 1.2×"), "{text}");
}

/// Compares three runs per side of a program that spends three quarters of its time in one function. Each side is given as
/// the samples of this function and how many percent of the usual samples all others have.
fn one_heavy_function(old: (i64, i64), new: (i64, i64), options: &[&str]) -> (Value, i32, String) {
    let folder = tempdir().unwrap();
    for (side, (work, others)) in [("old", old), ("new", new)] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for run in 0..3 {
            // As samples vary: by about their square root.
            let wobble =
                |value: i64, number: i64| value + (number * 7 + run * 5) % 3 * value.isqrt() - value.isqrt();
            let other = |(number, (name, samples)): (usize, &(&str, i64))| {
                format!("main;run;{name} {}\n", wobble(samples * others / 100, number as i64))
            };
            let text: String = OTHERS.iter().enumerate().map(other).collect();
            let text = format!("main;run;work {}\n{text}", wobble(work, 9));
            fs::write(folder.path().join(side).join(format!("{run}.folded")), text).unwrap();
        }
    }
    let arguments = [&["diff", "-f", "json"], options, &["old", "new"]].concat();
    let out = prof(folder.path(), &arguments).output().unwrap();
    let report = serde_json::from_slice(&out.stdout).unwrap();
    (report, out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
}

const OTHERS: [(&str, i64); 6] =
    [("parse", 300), ("read", 250), ("format", 240), ("sort", 200), ("log", 150), ("start", 110)];

#[test]
fn a_heavy_function_that_grew_is_not_taken_for_unchanged_code() {
    let (report, code, errors) = one_heavy_function((3750, 100), (22_500, 100), &[]);
    let changed: Vec<(&str, &str)> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| Some((row["verdict"].as_str()?, row["name"].as_str()?)))
        .filter(|(verdict, _)| ["regressed", "improved"].contains(verdict))
        .collect();
    assert_eq!((code, &changed[..]), (1, &[("regressed", "work")][..]), "{report}");
    let doubt = &report["doubt"];
    assert_eq!((&doubt["function"], &doubt["by_most"]), (&"work".into(), &true.into()));
    assert!((doubt["ratio"].as_f64().unwrap() - 6.0).abs() < 0.1, "{doubt}");
    assert!(
        errors.contains("it is unclear which code is unchanged: work (75% of the old total) costs 6×"),
        "{errors}"
    );
}

#[test]
fn nothing_is_decided_if_unchanged_code_cannot_be_told() {
    // Either `work` costs six times as much, in runs that did half of the work; or all else costs a sixth, in runs that
    // did three times as much.
    let (report, code, errors) = one_heavy_function((3750, 100), (11_250, 50), &[]);
    assert_eq!((code, &report["verdict"]), (0, &"inconclusive".into()), "{report}");
    assert_eq!(report["doubt"]["by_most"], false);
    assert!(errors.contains("(75% of the old total) is assumed to be unchanged"), "{errors}");
    // Those who know the work done get an answer.
    let known = ["--normalize", "per=100,50"];
    let (report, code, _) = one_heavy_function((3750, 100), (11_250, 50), &known);
    assert_eq!((code, &report["verdict"], &report["doubt"]), (1, &"regressed".into(), &Value::Null));
}

#[test]
fn one_heavy_function_that_did_not_change_raises_no_doubt() {
    let (report, code, _) = one_heavy_function((3750, 100), (3800, 101), &[]);
    assert_eq!((code, &report["doubt"]), (0, &Value::Null));
}
