//! `prof diff --by-side`: several builds, each compared with the first.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::needs::shared;
use crate::support::prof;

/// Three runs of a program in a folder: the function `name` has the given count, eight others vary like samples.
fn runs(folder: &TempDir, build: &str, name: &str, count: i64) {
    runs_in(folder, build, name, count, "");
}

/// The same with a folder that is part of the paths of the sources.
fn runs_in(folder: &TempDir, build: &str, name: &str, count: i64, source: &str) {
    let path = folder.path().join(build);
    fs::create_dir_all(&path).unwrap();
    let steady = [("plan", 1501), ("sort", 1210), ("hash", 811), ("read", 613), ("write", 719), ("log", 405)];
    for run in 0..3 {
        let place = if source.is_empty() { String::new() } else { format!(" ({source}/app.py:7)") };
        let line = |(number, (function, count)): (usize, (&str, i64))| {
            let wobble = ((number as i64 * 7 + run * 5 + build.len() as i64) % 11 - 5) * count.isqrt() / 8;
            format!("main{place};{function}{place} {}", count + wobble)
        };
        let all = steady.into_iter().chain([(name, count)]).enumerate();
        let text = all.map(line).collect::<Vec<String>>().join("\n");
        fs::write(path.join(format!("{run}.folded")), text + "\n").unwrap();
    }
}

fn run(folder: &Path, arguments: &str) -> (i32, String, String) {
    let words: Vec<&str> = std::iter::once("diff").chain(arguments.split_whitespace()).collect();
    let out = prof(folder, &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn json(folder: &Path, arguments: &str) -> Value {
    let (_, text, error) = run(folder, &format!("{arguments} -f json"));
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{error}"))
}

/// The row of a function's self.
fn row<'v>(all: &'v Value, name: &str) -> &'v Value {
    let mut rows = all["rows"].as_array().unwrap().iter();
    rows.find(|row| row["name"] == name && row["test"] == "self").unwrap()
}

/// Builds `v1` to `v4`: `parse` costs the same in `v2`, half as much again in `v3`, and is called `scan` in `v4`.
fn four_builds() -> TempDir {
    let folder = tempdir().unwrap();
    runs(&folder, "v1", "parse", 2003);
    runs(&folder, "v2", "parse", 1995);
    runs(&folder, "v3", "parse", 3010);
    runs(&folder, "v4", "scan", 2010);
    folder
}

#[test]
fn any_build_that_regressed_fails_and_the_table_says_which() {
    let folder = four_builds();
    let (code, text, _) = run(folder.path(), "--by-side v1 v2 v3 v4");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("1 of 3 builds regressed: v3 · alpha 1% for all builds together"), "{text}");
    assert!(text.trim_end().ends_with("exit 1"), "{text}");
    let row = text.lines().find(|line| line.ends_with("  parse (self)")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    // The shares, verdicts and costs of each build.
    assert_eq!((cells[2], cells[5], cells[8]), ("~", "REGRESSED", "~"), "{row}");
    assert_eq!(cells[6], "×1.50", "{row}");

    let (code, text, _) = run(folder.path(), "--by-side v1 v2 v4");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("none of 2 builds regressed"), "{text}");
}

#[test]
fn a_function_has_one_row_whatever_the_builds_call_it() {
    let folder = four_builds();
    let all = json(folder.path(), "--by-side v1 v2 v3 v4");
    let parse = row(&all, "parse");
    assert!(all["rows"].as_array().unwrap().iter().all(|row| row["name"] != "scan"));
    assert_eq!(all["builds"][2]["matched"][0]["old"], "parse");
    assert_eq!(all["builds"][2]["matched"][0]["new"], "scan");
    let sums: Vec<i64> = parse["builds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["new"]["self"].as_i64().unwrap())
        .collect();
    for (sum, count) in sums.into_iter().zip([1995, 3010, 2010]) {
        assert!((sum - 3 * count).abs() < 100, "{sum} is not three times {count}");
    }

    // Each build in a folder of its own.
    let folder = tempdir().unwrap();
    for build in ["v1", "v2", "v3"] {
        runs_in(&folder, build, "parse", 2003, &format!("/srv/{build}"));
    }
    let (code, text, _) = run(folder.path(), "--by-side v1 v2 v3 --by file -f csv");
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("/srv/v2") && text.contains("/srv/v1/app.py"), "{text}");
}

#[test]
fn each_build_is_tested_like_a_pair_with_a_part_of_alpha() {
    let folder = four_builds();
    let all = json(folder.path(), "--by-side v1 v2 v3 v4 --alpha 3%");
    for (number, build) in ["v2", "v3"].into_iter().enumerate() {
        let pair = json(folder.path(), &format!("v1 {build} --alpha 1%"));
        let of_all = &all["builds"][number];
        for key in ["verdict", "regressed", "improved", "tested", "noise", "detectable", "growth", "causes"] {
            assert_eq!(of_all[key], pair[key], "{build} {key}");
        }
        let in_pair = pair["rows"].as_array().unwrap();
        for row in in_pair.iter().filter(|row| !row["p"].is_null()) {
            let same = |other: &&Value| other["name"] == row["name"] && other["test"] == row["test"];
            let in_table = all["rows"].as_array().unwrap().iter().find(same).unwrap();
            assert_eq!(&in_table["builds"][number], row, "{build}");
        }
    }
    assert_eq!(all["alpha"], 0.03);
    assert_eq!(all["verdict"], "regressed");
}

#[test]
fn a_value_that_one_build_did_not_test_is_a_part_of_what_filters_left() {
    let folder = tempdir().unwrap();
    // Enough samples to be tested only in the third build.
    for (build, own) in [("v1", 2), ("v2", 4), ("v3", 400)] {
        let text =
            format!("main;parse {own}\nmain;parse;read 1000\nmain;write {}\nwait;poll 2000\n", 1000 - own);
        fs::write(folder.path().join(format!("{build}.folded")), text).unwrap();
    }
    let report =
        json(folder.path(), "--by-side --normalize total --hide-stacks wait v1.folded v2.folded v3.folded");
    let builds = &row(&report, "parse")["builds"];
    assert_eq!((&builds[0]["tested"], &builds[1]["tested"]), (&Value::from(false), &Value::from(true)));
    // 4 of 2000 samples instead of 2, as changes in all tested rows are parts of these 2000.
    let points = [0, 1].map(|build: usize| builds[build]["points"].as_f64().unwrap());
    assert!((points[0] - 0.1).abs() < 1e-9 && (points[1] - 19.9).abs() < 1e-9, "{points:?}");
}

#[test]
fn csv_has_a_line_per_function_and_build() {
    let folder = four_builds();
    let all = json(folder.path(), "--by-side v1 v3 v4");
    let (_, csv, _) = run(folder.path(), "--by-side v1 v3 v4 -f csv");
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().starts_with("function,build,name,file,old.self,"));
    let cells = all["rows"].as_array().unwrap().iter().flat_map(|row| row["builds"].as_array().unwrap());
    assert_eq!(lines.clone().count(), cells.filter(|cell| !cell.is_null()).count());
    let regressed: Vec<&str> = lines.filter(|line| line.contains(",regressed,")).collect();
    assert_eq!(regressed.len(), 1, "{regressed:?}");
    assert!(regressed[0].starts_with("parse,v3,parse,"), "{regressed:?}");
}

#[test]
fn markdown_has_the_same_two_tables() {
    let folder = four_builds();
    let (code, text, _) = run(folder.path(), "--by-side v1 v2 v3 -f markdown");
    assert_eq!(code, 1);
    assert!(text.lines().any(|line| line.starts_with("| RUNS |") && line.contains("VERDICT")), "{text}");
    let title = text.lines().find(|line| line.contains("FUNCTION")).unwrap();
    let titles: Vec<&str> = title.split('|').map(str::trim).filter(|title| !title.is_empty()).collect();
    assert_eq!(titles, ["v1", "v2", "COST v2", "v3", "COST v3", "FUNCTION"]);
}

#[test]
fn names_and_self_are_whole_at_every_width() {
    let folder = four_builds();
    for width in [60, 80, 120, 200] {
        let (_, text, _) = run(folder.path(), &format!("--width {width} --by-side v1 v2 v3"));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        assert!(text.lines().any(|line| line.ends_with("  parse (self)")), "{width}:\n{text}");
        assert!(text.contains("REGRESSED ×1.50"), "{width}:\n{text}");
    }
}

#[test]
fn builds_with_long_or_equal_names_are_numbered() {
    let folder = tempdir().unwrap();
    for build in ["a/x/cpu", "b/x/cpu", "c/x/cpu"] {
        runs(&folder, build, "parse", 2003);
    }
    let (_, text, _) = run(folder.path(), "--by-side a/x/cpu b/x/cpu c/x/cpu");
    assert!(text.lines().any(|line| line.ends_with("  2    c/x/cpu")), "{text}");
    assert!(
        text.lines()
            .any(|line| line.split_whitespace().eq(["old", "1", "COST", "1", "2", "COST", "2", "FUNCTION"])),
        "{text}"
    );
}

#[test]
fn what_is_about_two_sides_is_rejected() {
    let folder = four_builds();
    for (arguments, error, hint) in [
        ("--by-side v1", "fewer than two were given", "prof diff --by-side v1/ v2/ v3/"),
        ("--by-side v1 v2 -f junit", "no test reports", "text, json, csv and markdown"),
        ("--by-side v1 v2 --normalize per=1,2", "per=OLD,NEW is about two sides", "--normalize none"),
        ("--by-side --old v1 --new v2", "cannot be used with", "prof diff --help"),
        ("v1 v2 v3 v4", "4 profiles given for two sides", "prof diff --by-side"),
    ] {
        let (code, _, text) = run(folder.path(), arguments);
        assert_eq!(code, 2, "{arguments}: {text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(error) && text.contains(hint), "{arguments}: {text}");
    }
}

#[test]
fn budgets_hold_for_every_build() {
    let folder = four_builds();
    let budget = "[[budget]]\nfunction = \"parse|scan\"\nself = \"30 %\"\n";
    fs::write(folder.path().join("prof.toml"), budget).unwrap();
    let (code, text, _) = run(folder.path(), "--by-side v1 v2 v3 --min-effect 90 --budget prof.toml");
    assert_eq!(code, 1);
    assert!(
        text.contains("v2: within budget: self of") && text.contains("v3: budget exceeded: self of"),
        "{text}"
    );
}

#[test]
#[needs(Builds)]
fn recorded_builds_of_one_program() {
    let path = |folder: &str| shared("changes").join(folder).display().to_string();
    let [first, same, dearer, renamed] =
        ["go-none/old", "go-none/new", "go-dearer/new", "go-renamed/new"].map(path);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (code, text, _) = run(here, &format!("--by-side {first} {same} {dearer} {renamed} --width 200"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("1 of 3 builds regressed: go-dearer/new"), "{text}");
    // The renamed functions are those of the first build.
    assert!(!text.lines().any(|line| line.ends_with("credentialHash (self)")), "{text}");
    assert!(text.contains("go-renamed/new: matched: main.tokenDigest → main.credentialHash"), "{text}");
}
