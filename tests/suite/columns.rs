//! The columns of CSV are the keys of the rows in JSON, with the same values.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::prof;
use serde_json::Value;

fn run(arguments: &[&str]) -> String {
    let output = prof(Path::new(env!("CARGO_MANIFEST_DIR")), arguments).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The values of a row by their paths: `old.self`.
fn flatten(row: &Value, path: &str, cells: &mut BTreeMap<String, String>) {
    for (key, value) in row.as_object().unwrap() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Object(_) => flatten(value, &path, cells),
            Value::Null => {}
            Value::String(text) => drop(cells.insert(path, same_digits(text))),
            other => drop(cells.insert(path, same_digits(&other.to_string()))),
        }
    }
}

/// A fraction with thirteen digits: reading JSON may change the last one.
fn same_digits(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if cell.contains('.') => format!("{number:.12e}"),
        _ => cell.to_string(),
    }
}

/// The cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

#[test]
fn csv_has_the_keys_and_values_of_json() {
    let [cpu, old] = ["fixtures/pprof/go-cpu-new.pb.gz", "fixtures/pprof/go-cpu-old.pb.gz"];
    let (calls, heap) = ("fixtures/callgrind/c.callgrind", "fixtures/pprof/go-heap.pb.gz");
    for (rows, arguments) in [
        ("rows", vec!["top", cpu]),
        ("rows", vec!["top", "--base", old, cpu]),
        ("rows", vec!["top", calls]),
        ("rows", vec!["top", "-m", "alloc_space", "-m", "inuse_space", heap]),
        ("rows", vec!["top", "-m", "alloc_space", "--per-event", heap]),
        ("rows", vec!["tree", "-n", "30", cpu]),
        ("rows", vec!["tree", "-n", "30", "--base", old, cpu]),
        ("rows", vec!["tree", "-n", "30", "--bottom-up", cpu]),
        ("rows", vec!["tree", "-n", "30", "-m", "alloc_space", "-m", "inuse_space", heap]),
        ("rows", vec!["diff", old, cpu]),
        ("rows", vec!["trend", "-m", "inuse_space", "fixtures/trend/heaps"]),
        ("rows", vec!["timeline", "fixtures/jfr/java.jfr"]),
        (
            "rows",
            vec!["timeline", "-m", "cpu", "-m", "samples", "fixtures/perf-data/rust-two-events.perf.data"],
        ),
        ("metrics", vec!["info", heap]),
    ] {
        let csv = run(&[&arguments[..], &["-f", "csv"]].concat());
        let json = run(&[&arguments[..], &["-f", "json"]].concat());
        let mut lines = csv.lines();
        let keys = cells(lines.next().unwrap());
        let json: Value = serde_json::from_str(&json).unwrap();
        let found = json[rows].as_array().unwrap();
        assert_eq!(lines.clone().count(), found.len(), "{arguments:?}");
        for (line, row) in lines.zip(found) {
            let mut expected = BTreeMap::new();
            flatten(row, "", &mut expected);
            expected.retain(|_, text| !text.is_empty());
            let cells = keys.iter().cloned().zip(cells(line).into_iter().map(|cell| same_digits(&cell)));
            let cells: BTreeMap<String, String> = cells.filter(|(_, text)| !text.is_empty()).collect();
            assert_eq!(cells, expected, "{arguments:?}");
        }
    }
}

/// The numbers in the last line of text that contains `label`, without units and thousands separators.
fn numbers(text: &str, label: &str) -> Vec<String> {
    let line = text.lines().rfind(|line| line.contains(label)).unwrap();
    let words = line.split_whitespace().filter(|word| word.ends_with('B'));
    words.map(|word| word.trim_end_matches('B').replace(',', "")).collect()
}

#[test]
fn closing_rows_and_titles_are_those_of_every_metric() {
    let heap = "fixtures/pprof/go-heap.pb.gz";
    let metrics = ["-m", "alloc_space", "-m", "inuse_space", "--show-stacks", "json", heap];
    let json: Value = serde_json::from_str(&run(&[&["top", "-f", "json"], &metrics[..]].concat())).unwrap();
    let shown: Vec<String> =
        json["metrics"].as_array().unwrap().iter().map(|metric| metric["shown"].to_string()).collect();
    assert_eq!(shown.len(), 2);
    assert_ne!(shown[0], shown[1]);

    let wide = ["--width", "300", "--unit", "B", "-n", "2"];
    let top = run(&[&["top"], &wide[..], &metrics[..]].concat());
    assert!(top.contains("ALLOC_SPACE SELF") && top.contains("INUSE_SPACE SELF"), "{top}");
    assert_eq!(numbers(&top, "all shown"), shown);
    let tree = run(&[&["tree"], &wide[..], &metrics[..]].concat());
    assert!(tree.contains("ALLOC_SPACE TOTAL") && tree.contains("INUSE_SPACE TOTAL"), "{tree}");
    assert_eq!(numbers(&tree, "(all)"), shown);
    // What is not listed is the rest of each metric.
    let traces = run(&[&["traces", "-n", "1"], &wide[..4], &metrics[..]].concat());
    let rest = numbers(&traces, "more stacks");
    assert_eq!(rest[1], shown[1], "the first stack has nothing in use: {traces}");
    assert_ne!(rest[0], shown[0]);

    // If every frame is hidden, all of both metrics is on stacks without frames.
    let hidden = ["--hide-frames", ".", "-m", "alloc_space", "-m", "inuse_space", heap];
    let tree = run(&[&["tree"], &wide[..], &hidden[..]].concat());
    let [first, first_self, second, second_self] = &numbers(&tree, "(all)")[..] else { panic!("{tree}") };
    assert_eq!([first, second], [first_self, second_self]);
    assert!(tree.contains("stacks whose frames are all hidden by --hide-frames: "), "{tree}");
}

#[test]
fn only_the_samples_of_a_metric_are_counted_in_its_header() {
    let header = |metric: &str| {
        let text = run(&["top", "-n", "1", "-m", metric, "fixtures/jfr/java.jfr"]);
        text.lines().next().unwrap().to_string()
    };
    assert!(header("cpu").contains(" 319 samples"), "{}", header("cpu"));
    assert!(!header("alloc_space").contains("samples"), "{}", header("alloc_space"));
}

#[test]
fn a_tree_says_which_options_hide_its_rows() {
    let last = |arguments: &[&str]| {
        let text = run(&[&["tree", "fixtures/pprof/go-cpu.pb.gz"], arguments].concat());
        text.lines().last().unwrap().to_string()
    };
    assert_eq!(last(&["-n", "0"]), "showing rows with at least 0.5% · for all rows: --min-share 0");
    assert!(last(&["-n", "5"]).ends_with(" · for all rows: -n 0 --min-share 0"), "{}", last(&["-n", "5"]));
    assert!(last(&["-n", "5", "--min-share", "0"]).ends_with(" · for all rows: -n 0"));
    assert!(last(&["--depth", "2"]).ends_with(", without --depth"));
    assert!(!last(&["-n", "0", "--min-share", "0"]).contains("showing"));
    let bottom_up = last(&["--bottom-up"]);
    let note =
        "%TOP: share of the function at the top · showing callers with at least 20% (--min-share 0: all)";
    assert_eq!(bottom_up, note);
    // 19 of the 19.3 MiB that the thread allocates are in a function without CPU time.
    let java = ["--thread", "^main$", "-m", "cpu", "-m", "alloc_space", "fixtures/jfr/java.jfr"];
    let text = run(&[&["tree"], &java[..]].concat());
    assert!(text.contains("ConcurrentHashMap.initTable") && text.contains("19.01MiB"), "{text}");
}
