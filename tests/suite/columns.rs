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
