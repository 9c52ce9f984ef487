//! Compares the flat view of every real profile of the corpus with naive counting.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{corpus, load_file, naive};
use prof::view::{Scope, TopOptions, top};

#[test]
#[needs(Corpus)]
fn flat_views_of_real_profiles_agree_with_naive_counting() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for folder in ["pprof", "collapsed"] {
        let files = corpus(folder);
        for file in files {
            match expected(folder, &file) {
                Ok(expected) => {
                    compared += 1;
                    wrong.extend(differences(&file, &expected));
                }
                Err(why) => println!("not compared: {}: {why}", file.display()),
            }
        }
    }
    assert!(compared > 80, "only {compared} files could be compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn expected(folder: &str, file: &Path) -> Result<naive::Profile, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    if folder == "pprof" {
        return naive::read_pprof(&bytes);
    }
    naive::read_collapsed(std::str::from_utf8(&bytes).map_err(|error| error.to_string())?)
}

fn differences(file: &Path, expected: &naive::Profile) -> Vec<String> {
    let profile = match load_file(file) {
        Ok(profile) => profile,
        Err(error) => return vec![format!("{}: {error}", file.display())],
    };
    let mut wrong = Vec::new();
    for (number, name) in expected.metrics.iter().enumerate() {
        let (total, rows) = naive::flat(expected, number);
        let shown = top(&profile, &TopOptions::new(Scope::metric(number)));
        let counted: BTreeMap<String, (i64, i64)> = shown
            .rows
            .iter()
            .map(|row| (row.name.to_string(), (row.values.self_value, row.values.total)))
            .collect();
        if shown.header.total != total || counted != rows || profile.meta.metrics[number].name != *name {
            wrong.push(format!("{}: {name} differs", file.display()));
        }
    }
    wrong
}

/// Files that other programs refuse, and in which nothing is broken.
const WHOLE: [(&str, &str); 3] = [
    ("grafana__pyroscope__no_addr_no_line.pb.gz", "a location needs neither an address nor a line"),
    ("jonhoo__inferno__perf_empty-line.txt", "an empty line ends a sample"),
    ("jonhoo__inferno__invalid-perf-with-empty-line-after-event-line.txt", "a sample may have no stack"),
];

#[test]
#[needs(Corpus)]
fn corrupt_files_are_rejected_with_a_position_or_read_with_a_warning() {
    let (mut refused, mut read) = (0, 0);
    for file in corpus("malformed") {
        match load_file(&file) {
            Err(error) => {
                let message = error.to_string();
                let names_place = message.contains("(byte ") || message.contains("(line ");
                let unknown = message.contains("not a profile");
                assert!(names_place || unknown, "{}: {message}", file.display());
                refused += 1;
            }
            Ok(profile) => {
                let is_whole = WHOLE.iter().any(|(name, _)| file.ends_with(name));
                assert_eq!(profile.meta.warnings.is_empty(), is_whole, "{}", file.display());
                read += 1;
            }
        }
    }
    assert!(refused > 5 && read > WHOLE.len(), "{refused} refused, {read} read");
}
