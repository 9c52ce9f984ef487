//! The number of threads changes how long a command takes, and nothing else.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::{fixture, prof};

/// What a command prints, and its exit code.
fn printed(folder: &Path, threads: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = prof(folder, &[arguments, &["--threads", threads]].concat()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Collapsed stacks of more than a megabyte, so that they are read and counted in parts.
fn many_stacks(seed: usize) -> String {
    let mut text = String::new();
    for number in 0..20_000 {
        let (a, b, c) = (number % 97, (number * 31 + seed) % 1009, number % 7919);
        writeln!(
            text,
            "main;serve{a};handle{b};parse{c};read_the_next_token_of_the_input {}",
            1 + number % 5
        )
        .unwrap();
    }
    text
}

#[test]
fn any_number_of_threads_prints_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("old.folded"), many_stacks(0)).unwrap();
    fs::write(folder.join("new.folded"), many_stacks(5)).unwrap();
    for (name, file) in [
        ("cpu.pb.gz", "pprof/go-cpu.pb.gz"),
        ("perf.data", "perf-data/rust.perf.data"),
        ("app.jfr", "jfr/java.jfr"),
    ] {
        fs::copy(fixture(file), folder.join(name)).unwrap();
    }
    // Chunks are read ahead of each other.
    fs::write(folder.join("chunks.jfr"), fs::read(fixture("jfr/java.jfr")).unwrap().repeat(5)).unwrap();
    for arguments in [
        &["diff", "-f", "json", "old.folded", "new.folded"][..],
        &["diff", "--old", "old.folded", "old.folded", "--new", "new.folded", "new.folded"],
        &["diff", "cpu.pb.gz", "cpu.pb.gz"],
        &["diff", "app.jfr", "app.jfr", "-m", "samples"],
        &["diff", "missing.folded", "absent.folded"],
        &["diff", "old.folded", "absent.folded"],
        &["top", "--base", "old.folded", "new.folded", "-f", "json"],
        &["top", "old.folded", "new.folded", "-f", "csv"],
        &["tree", "old.folded", "-n", "50"],
        &["tree", "--bottom-up", "cpu.pb.gz"],
        &["info", "cpu.pb.gz"],
        &["top", "perf.data"],
        &["info", "app.jfr"],
        &["info", "chunks.jfr"],
        &["tree", "chunks.jfr", "-f", "json"],
        &["labels", "chunks.jfr"],
    ] {
        let alone = printed(folder, "1", arguments);
        assert_eq!(printed(folder, "3", arguments), alone, "{arguments:?}");
    }
}
