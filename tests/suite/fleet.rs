//! The script in `examples/fleet`: query engines give the numbers of `prof`.

use std::path::Path;
use std::process::Command;

/// Runs the script with a fleet of so many profiles. It exports them twice, asks ten questions, and compares every sum with
/// what `prof` says.
fn check(engine: &str, profiles: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new(root.join(format!("target/tools/fleet-{engine}/bin/python3")));
    let script = python.arg(root.join("examples/fleet/check.py")).args([engine, &profiles.to_string()]);
    let output = script.env("PROF", env!("CARGO_BIN_EXE_prof")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert_eq!(text.matches(": equal").count(), 10, "{text}{errors}");
}

#[test]
#[needs(DuckDb)]
fn duckdb_gives_the_numbers_of_prof() {
    check("duckdb", 30);
}

#[test]
#[needs(Spark)]
fn spark_gives_the_numbers_of_prof() {
    check("spark", 12);
}
