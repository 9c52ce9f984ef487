//! The list of formats in the README.

use std::collections::BTreeMap;

use prof::format::{FORMATS, WRITERS};

/// The columns of each row: name, origin, whether it is read, extensions, and the names on the command line.
fn rows() -> Vec<Vec<String>> {
    let readme = include_str!("../../README.md");
    let table = readme.split("| `--input-format` |\n").nth(1).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_string()).collect()).collect()
}

#[test]
fn every_format_has_one_row_and_the_rows_are_sorted() {
    let rows = rows();
    let names: Vec<&str> =
        rows.iter().map(|row| row[5].split('`').nth(1).expect("the name of a format")).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let mut expected: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    let titles: Vec<String> = rows.iter().map(|row| row[1].trim_matches('`').to_lowercase()).collect();
    assert!(titles.is_sorted(), "{titles:?}");
}

#[test]
fn the_extensions_of_writable_formats_are_listed() {
    let listed: BTreeMap<String, String> = rows()
        .into_iter()
        // Datasets are folders.
        .filter(|row| !row[4].is_empty() && row[4] != "folders")
        .map(|row| (row[5].split('`').nth(1).unwrap().to_string(), row[4].clone()))
        .collect();
    let writers: Vec<&str> = WRITERS.iter().map(|writer| writer.name).collect();
    assert_eq!(listed.len(), writers.len(), "{listed:?}");
    for writer in WRITERS {
        for ending in writer.endings.iter().chain(writer.packed_endings) {
            assert!(listed[writer.name].contains(&format!("`{ending}`")), "{}: {ending}", writer.name);
        }
    }
}
