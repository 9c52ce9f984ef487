//! Which rows of a comparison are shown, and in which order.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::support::prof;

/// Runs `prof diff` on two texts of collapsed stacks.
fn diff(old: &str, new: &str, options: &[&str]) -> String {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), old).unwrap();
    fs::write(folder.path().join("new.folded"), new).unwrap();
    let arguments = [&["diff", "-q"], options, &["old.folded", "new.folded"]].concat();
    String::from_utf8(prof(folder.path(), &arguments).output().unwrap().stdout).unwrap()
}

/// A program of `main` and twelve functions, one of which differs: f3 costs twice as much on the new side.
fn program(is_new: bool) -> String {
    let mut text = String::new();
    for function in 0..12 {
        let cost = 900 + 10 * function;
        let wobble = if is_new { function % 4 } else { 0 };
        let cost = if is_new && function == 3 { 2 * cost } else { cost + wobble };
        writeln!(text, "main;f{function} {cost}").unwrap();
    }
    text
}

/// The functions of the rows in a text.
fn functions(text: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("COST ")).skip(1);
    let rows = rows.take_while(|line| !line.contains("not shown") && !line.is_empty());
    rows.map(|line| line.split("  ").last().unwrap().trim().to_string()).collect()
}

#[test]
fn rows_that_are_not_significant_come_last_and_are_few() {
    let text = diff(&program(false), &program(true), &["--noise", "steady"]);
    let functions = functions(&text);
    assert_eq!(functions[..2], ["f3 (self)", "not significant:"], "{text}");
    assert_eq!(functions.len(), 2 + 5, "{text}");
    assert!(text.contains("\n… 7 tested rows are not shown\n"), "{text}");
    let all = diff(&program(false), &program(true), &["--noise", "steady", "-n", "0"]);
    assert_eq!(all.lines().filter(|line| line.contains("(self)") && line.contains('×')).count(), 12, "{all}");
}

#[test]
fn a_single_pair_shows_its_largest_changes_first() {
    let few = |text: &str| {
        let mut all = String::new();
        for (stack, count) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
            writeln!(all, "{stack} {}", count.parse::<i64>().unwrap() / 30).unwrap();
        }
        all
    };
    let text = diff(&few(&program(false)), &few(&program(true)), &[]);
    assert_eq!(functions(&text)[..2], ["too little data to tell:", "f3 (self)"], "{text}");
    assert!(text.contains("Detecting 1.2×"), "{text}");
}

/// The shipped pair: `Discounted` does twice the work in the new build, which is too little for a verdict on one pair, and
/// twelve other changes are a little clearer.
fn shipped_pair(options: &[&str]) -> String {
    let pair = ["fixtures/pprof/go-cpu-old.pb.gz", "fixtures/pprof/go-cpu-new.pb.gz"];
    let arguments = [&["diff", "-q"], options, &pair].concat();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    String::from_utf8(prof(root, &arguments).output().unwrap().stdout).unwrap()
}

#[test]
fn a_single_pair_shows_what_grew_although_decreases_are_clearer() {
    let text = shipped_pair(&["--names", "short"]);
    let functions = functions(&text);
    assert_eq!(
        functions[..2],
        ["too little data to tell:", "catalog.(*Catalog).Discounted (self)"],
        "{text}"
    );
    let is_decrease = |line: &&str| line.starts_with('~') && line.contains("×0.");
    assert_eq!(text.lines().filter(is_decrease).count(), 2, "{text}");
    assert_eq!(
        text.lines().filter(|line| line.starts_with('~') && line.contains("×1.")).count(),
        3,
        "{text}"
    );
}

#[test]
fn values_per_run_have_the_unit_of_their_column_and_no_digits_that_the_data_lack() {
    // Samples are 10ms long.
    let text = shipped_pair(&["-n", "0", "--width", "200"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('×')).collect();
    assert!(rows.len() > 60 && rows.iter().any(|row| row.contains(" 0.97s ")), "{text}");
    assert!(
        rows.iter().any(|row| row.contains(" 70ms ")) && !rows.iter().any(|row| row.contains(".00ms")),
        "{text}"
    );
    let text = shipped_pair(&["-n", "0", "--width", "200", "--unit", "ms"]);
    let mut rows = text.lines().filter(|line| line.contains('×') && line.contains("Discounted (self)"));
    assert!(rows.next().unwrap().contains(" 2,250ms  4,430ms "), "{text}");
}

#[test]
fn rows_are_sorted_as_asked() {
    for (column, key) in [("old", "old"), ("new", "new")] {
        let text = diff(&program(false), &program(true), &["-f", "json", "--sort", column]);
        let report: Value = serde_json::from_str(&text).unwrap();
        let values: Vec<i64> = report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[key][row["test"].as_str().unwrap()].as_i64().unwrap())
            .collect();
        assert!(values.len() > 10 && values.is_sorted_by(|a, b| a >= b), "{column}: {values:?}");
    }
    for (column, key, sign) in [("delta", "points", 1.0), ("ratio", "ratio", 1.0), ("q", "q", -1.0)] {
        let text = diff(&program(false), &program(true), &["-f", "json", "--sort", column]);
        let report: Value = serde_json::from_str(&text).unwrap();
        let values: Vec<f64> = report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|row| row[key].as_f64())
            .map(|value| if key == "points" { value.abs() } else { sign * value })
            .collect();
        assert!(values.len() > 10 && values.is_sorted_by(|a, b| a >= b), "{column}: {values:?}");
    }
}

#[test]
fn values_have_their_unit_at_any_width_and_shares_if_there_is_space() {
    let with = |width: &str| diff(&program(false), &program(true), &["--noise", "steady", "--width", width]);
    let row = |text: &str| text.lines().find(|line| line.ends_with("f3 (self)")).unwrap().to_string();
    let wide = with("120");
    // 930 and 1860 samples of 11,460 and 12,405.
    for number in ["8.1%", "15.0%", "930", "1,860"] {
        assert!(row(&wide).split_whitespace().any(|word| word == number), "{number}: {wide}");
    }
    assert!(wide.contains("OLD%"));
    for width in (60..140).step_by(4) {
        let text = with(&width.to_string());
        assert_eq!(text.contains("OLD%"), text.contains("NEW%"), "{text}");
    }
    for width in ["60", "80"] {
        let narrow = with(width);
        assert!(!row(&narrow).contains('%'), "{narrow}");
        for number in ["930", "1,860"] {
            assert!(row(&narrow).split_whitespace().any(|word| word == number), "{number}: {narrow}");
        }
        assert!(narrow.lines().all(|line| line.chars().count() <= width.parse().unwrap()), "{narrow}");
    }
}

#[test]
fn functions_of_one_side_say_nothing_about_unchanged_code() {
    // Six functions on each side only, and three on both: too few to tell what unchanged code costs.
    let side = |own: char| {
        let mut text = String::from("main;a 500\nmain;b 600\nmain;c 700\n");
        for function in 0..6 {
            writeln!(text, "main;{own}{function} {}", 100 + 37 * function).unwrap();
        }
        text
    };
    let text = diff(&side('x'), &side('y'), &["-f", "json", "--match", "exact"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["normalize"]["ratio"], 1.0);
    assert!(report["normalize"]["reason"].as_str().unwrap().starts_with("too few functions"), "{report}");
    // Half of the code costs four times as much, and a run costs more in the other half, too: unchanged code may be either half.
    let half = |factor: i64, longer: i64| {
        let mut all = String::new();
        for function in 0..10 {
            let cost = if function % 2 == 0 { 300 * factor } else { 300 };
            writeln!(all, "main;f{function} {}", cost * longer + function).unwrap();
        }
        all
    };
    let text = diff(&half(1, 1), &half(4, 2), &["-f", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert!(report["normalize"]["reason"].as_str().unwrap().contains("only within a factor of"), "{report}");
    // If the other half costs as much per run as before, it is unchanged.
    let text = diff(&half(1, 1), &half(4, 1), &["-f", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["normalize"]["reason"], Value::Null);
    assert_eq!(report["doubt"]["by_most"], true, "{report}");
}

/// As many values are counted as have rows that were tested, and only these have a q.
#[test]
fn the_values_tested_are_the_rows_that_were() {
    let of = |format: &str| {
        let arguments = format!(
            "diff -q -n 0 --width 200 --normalize per=1000,1000 -f {format} fixtures/pprof/go-cpu-old.pb.gz fixtures/pprof/go-cpu-new.pb.gz"
        );
        let words: Vec<&str> = arguments.split(' ').collect();
        let out = prof(Path::new(env!("CARGO_MANIFEST_DIR")), &words).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&of("json")).unwrap();
    let is_tested = |row: &&Value| row["tested"] == true;
    let rows = json["rows"].as_array().unwrap();
    let tested = rows.iter().filter(is_tested).count();
    assert_eq!(json["tested"], tested);
    let text = of("text");
    assert!(text.contains(&format!(" {tested} values tested ")), "{text}");
    let shown = |row: &&Value| row["p"].is_number();
    assert!(rows.iter().filter(shown).count() > tested, "no row without a test");
    // An arrow is in the samples, and the q before it is a number or `<0.0001`.
    let is_row = |line: &&str| line.contains(" → ");
    let has_q = |line: &&str| {
        let before = line.split(" → ").next().unwrap().split_whitespace().rev().nth(1).unwrap();
        !before.ends_with("pt")
    };
    assert_eq!(text.lines().filter(is_row).filter(has_q).count(), tested, "{text}");
}

/// One run a side says nothing about costs, but calls are counted.
#[test]
fn calls_that_are_counted_are_compared_without_a_verdict() {
    let folder = tempdir().unwrap();
    let write = |name: &str, calls: i64| {
        let cost = calls * 10;
        let text = format!(
            "events: Ir\nfn=main\n1 5000\ncfn=minify\ncalls={calls} 10\n2 {}\nfn=minify\n10 {cost}\ncfn=strip\ncalls={calls} 20\n\
             11 {cost}\nfn=strip\n20 {cost}\n",
            2 * cost
        );
        fs::write(folder.path().join(name), text).unwrap();
    };
    write("old.out", 240);
    write("new.out", 480);
    let run = |format: &str| {
        let output =
            prof(folder.path(), &["diff", "-q", "-f", format, "old.out", "new.out"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("text").split_whitespace().collect::<Vec<_>>().join(" ");
    // `strip` is called more often because `minify` is.
    let said = "calls are counted, so these differences are certain: minify is called 480 times per run, was 240 no verdict";
    assert!(text.contains(said), "{text}");
    let report: Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(report["calls"], serde_json::json!([{ "function": "minify", "old": 240.0, "new": 480.0 }]));
    assert!(run("markdown").contains("minify is called 480 times per run"));
}
