//! `--latency` on the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use prof::format::TIMED_FORMATS;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{files, fixture, load_file, prof};

/// Exit code, output and messages.
fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = prof(folder, &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(folder: &Path, line: &str) -> Value {
    let (code, output, messages) = run(folder, &format!("{line} -f json"));
    assert_eq!(code, 0, "{line}: {messages}");
    serde_json::from_str(&output).unwrap()
}

/// Total by function.
fn totals(folder: &Path, line: &str) -> BTreeMap<String, i64> {
    let report = json(folder, line);
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_string(), row["total"].as_i64().unwrap())).collect()
}

/// `perf script` of a program that runs `foo` on one thread for 900 ms, and then `bar` on four for 100 ms.
fn write_example(folder: &Path, name: &str) {
    let mut text = String::new();
    let mut sample = |tid: u32, ms: u32, function: &str| {
        writeln!(text, "app 10/{tid} 50.{ms:03}000: 1000000 cpu-clock:").unwrap();
        writeln!(text, "\t401000 {function} (/bin/app)\n\t400000 main (/bin/app)\n").unwrap();
    };
    (0..900).for_each(|ms| sample(11, ms, "foo"));
    (900..1000).for_each(|ms| (11..15).for_each(|tid| sample(tid, ms, "bar")));
    fs::write(folder.join(name), text).unwrap();
}

fn example() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_example(folder.path(), "app.txt");
    folder
}

/// pprof holds integers: a third of a sample would be read as 333 of them.
#[test]
fn a_file_of_latency_counts_no_samples() {
    let folder = example();
    let (code, _, said) = run(folder.path(), "convert --latency -o out.pb.gz app.txt");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("samples is left out: by latency, a sample counts less than 1"), "{said}");
    let report = json(folder.path(), "top out.pb.gz");
    assert_eq!(report["metric"]["name"], "cpu-clock");
    assert_eq!(report["total"], 1_000_000_000);
    let recording = &report["recording"];
    assert_eq!((&recording["samples"], &recording["busy"]), (&Value::Null, &Value::Null));
    assert_eq!(recording["latency"], true);
    assert_eq!(
        run(folder.path(), "convert --latency -m samples -o counts.pb.gz app.txt").0,
        0,
        "as asked for"
    );
}

#[test]
fn what_delays_the_end_is_not_what_uses_the_processors() {
    let folder = example();
    let of = |line: &str| totals(folder.path(), line);
    let ms = |of_foo: i64, of_bar: i64| {
        let row = |name: &str, ms: i64| (name.to_string(), ms * 1_000_000);
        BTreeMap::from([row("main", of_foo + of_bar), row("foo", of_foo), row("bar", of_bar)])
    };
    assert_eq!(of("top app.txt"), ms(900, 400));
    assert_eq!(of("top --latency app.txt"), ms(900, 100));
    // A filter does not change who was running.
    let thread = of("top --latency --thread 12 app.txt");
    assert_eq!(thread["bar"], 25_000_000);
    let late = of("top --latency --from 0.95s app.txt");
    assert_eq!(late["bar"], 50_000_000);
    let shown = of("top --latency --hide-stacks foo app.txt");
    assert_eq!(shown["bar"], 100_000_000);
    // The sum of two recordings is that of their latencies, whatever their clocks.
    write_example(folder.path(), "again.txt");
    assert_eq!(of("top --latency app.txt again.txt"), ms(1800, 200));
}

#[test]
fn every_output_counts_latency() {
    let folder = example();
    let folder = folder.path();
    let report = json(folder, "top --latency app.txt");
    let note = report["warnings"].to_string();
    assert!(note.contains("values are latency"), "{note}");
    let (_, collapsed, _) = run(folder, "convert --latency -o - --to collapsed app.txt");
    let lines: BTreeSet<&str> = collapsed.lines().collect();
    assert_eq!(lines, BTreeSet::from(["main;bar 100000000", "main;foo 900000000"]));
    run(folder, "convert --latency -o latency.pb.gz app.txt");
    assert_eq!(totals(folder, "top latency.pb.gz"), totals(folder, "top --latency app.txt"));
    assert_eq!(run(folder, "flame --latency out.svg app.txt").0, 0);
    let picture = fs::read_to_string(folder.join("out.svg")).unwrap();
    assert!(picture.contains("1.0s by latency in") && picture.contains(">foo 90.0%<"));
    let base = json(folder, "top --latency --base app.txt app.txt");
    let bar = base["rows"].as_array().unwrap().iter().find(|row| row["name"] == "bar").unwrap();
    assert_eq!(
        (&bar["total"], &bar["old"]["total"], &bar["delta"]["total"]),
        (&100_000_000.into(), &100_000_000.into(), &0.into())
    );
    let diff = json(folder, "diff --latency app.txt app.txt");
    assert_eq!(diff["old"]["total"], 1_000_000_000);
    let timeline = json(folder, "timeline --latency --bins 10 app.txt");
    assert_eq!(timeline["rows"][0]["total"], 925_000_000);
}

#[test]
fn what_lacks_times_or_threads_is_refused() {
    for (file, reason) in [
        ("pprof/go-cpu.pb.gz", "does not say when its samples were taken"),
        ("cpuprofile/node.cpuprofile", "does not say on which threads"),
        ("xdebug/php-text.xt", "spans or calls"),
        ("callgrind/c.callgrind", "spans or calls"),
    ] {
        let path = fixture(file);
        for command in
            ["top", "tree", "info", "timeline", "diff x", "trend", "labels", "convert -o - --to collapsed"]
        {
            let command = command.replace('x', path.to_str().unwrap());
            let (code, _, messages) = run(Path::new("."), &format!("{command} --latency {}", path.display()));
            assert_eq!(code, 2, "{command} {file}: {messages}");
            assert!(
                messages.contains(reason) && messages.contains("as in perf.data, perf script, JFR"),
                "{command} {file}: {messages}"
            );
        }
    }
}

/// The lists of formats in hints are those of the readers.
#[test]
fn formats_with_times_are_listed() {
    let mut timed: BTreeMap<&str, bool> = BTreeMap::new();
    for folder in fs::read_dir(fixture("")).unwrap() {
        let folder = folder.unwrap().path();
        let paths = if folder.is_dir() { files(&folder) } else { Vec::new() };
        for profile in paths.iter().filter_map(|path| load_file(path).ok()) {
            let has_threads = !profile.meta.holds_spans
                && profile
                    .label_sets
                    .ids()
                    .flat_map(|set| profile.label_sets.labels(set))
                    .any(|label| ["thread", "tid"].contains(&profile.symbols.strings.get(label.key)));
            if profile.samples.time.is_some() {
                *timed.entry(profile.meta.format).or_default() |= has_threads;
            }
        }
    }
    assert!(timed.len() > 8, "{timed:?}");
    for (name, has_threads) in timed {
        let listed = TIMED_FORMATS.iter().find(|format| format.name == name);
        let listed = listed.unwrap_or_else(|| panic!("{name} has times and is not listed"));
        assert!(!has_threads || listed.has_threads, "{name} has threads");
    }
    for format in TIMED_FORMATS {
        assert!(prof::format::named(format.name).is_some(), "{}", format.name);
    }
}
