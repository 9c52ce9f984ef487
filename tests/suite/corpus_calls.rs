//! Real profiles of calls, in every view that supports them, and compared with the official tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use prof::format::writer_named;
use prof::profile::Profile;
use prof::report::{Top, Tree};
use prof::tree::By;
use prof::view::{FlameOptions, Scope, TopOptions, TreeOptions, bottom_up, flame, top, tree};

use crate::support::{corpus, corpus_root, fixture, load_well};

fn flat(profile: &Profile, metric: usize, by: By) -> Top {
    top(profile, &TopOptions::new(Scope { by, ..Scope::metric(metric) }))
}

/// Self and total by name.
fn rows(top: &Top) -> BTreeMap<String, (i64, i64)> {
    top.rows.iter().map(|row| (row.name.to_string(), (row.values.self_value, row.values.total))).collect()
}

#[test]
#[needs(Corpus)]
fn every_view_adds_up() {
    for path in corpus("callgrind").iter().chain(&corpus("pstats")) {
        let profile = load_well(path);
        let name = path.display();
        for by in [By::Function, By::Name, By::File, By::Package, By::Mapping] {
            let top = flat(&profile, 0, by);
            let own: i64 = top.rows.iter().map(|row| row.values.self_value).sum();
            assert_eq!(own, top.header.total, "{name}");
            for row in &top.rows {
                assert!(row.values.self_value <= row.values.total, "{name}: {}", row.name);
                assert!(row.values.total <= top.header.total, "{name}: {}", row.name);
            }
        }
        let options = TreeOptions { min_share: 0.5, ..TreeOptions::new(Scope::metric(0)) };
        let top_down = tree(&profile, &options);
        let own: i64 = top_down.rows.iter().map(|row| row.values.self_value).sum();
        assert_eq!(own + top_down.header.elided, top_down.header.total, "{name}");
        assert!(roots(&top_down) <= top_down.header.total, "{name}");
        let limited = TreeOptions { limit: Some(20), min_share: 5.0, ..options };
        assert!(bottom_up(&profile, &limited).unwrap().rows.len() <= 20 * 100, "{name}");
        flame(&profile, &FlameOptions::new(Scope::metric(0)));
    }
}

fn roots(tree: &Tree) -> i64 {
    tree.rows.iter().filter(|row| row.depth == 0).map(|row| row.values.total).sum()
}

/// The output of a tool.
fn said_by(program: &str, arguments: &[&str], path: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(path).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The self or inclusive cost of each function in one event, according to `callgrind_annotate`. For a recursive
/// function, `dig` means the outermost calls and `dig'2` the inner ones.
fn annotated(path: &Path, event: &str, inclusive: &str) -> Vec<(String, i64)> {
    let arguments =
        [format!("--inclusive={inclusive}"), format!("--show={event}"), format!("--sort={event}")];
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--threshold=100", "--auto=no", "--show-percs=no"]);
    let text = said_by("callgrind_annotate", &arguments, path);
    let (_, table) = text.split_once("file:function\n").unwrap();
    let row = |line: &str| {
        let (value, function) = line.trim().split_once("  ")?;
        let value = value.replace(',', "").parse().ok()?;
        let function = function.rsplit_once(" [").map_or(function, |(function, _)| function);
        Some((function.split_once(':')?.1.to_string(), value))
    };
    table.lines().filter_map(row).collect()
}

/// The name `dig` of `dig'2`.
fn outermost(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('\'').unwrap_or(name)
}

/// The events of a file, in order.
fn events(path: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let events = text.lines().find_map(|line| line.strip_prefix("events:")).unwrap();
    events.split_whitespace().map(str::to_string).collect()
}

#[test]
#[needs(Valgrind)]
fn callgrind_annotate_agrees() {
    callgrind_annotate_agrees_on(
        &["c", "c-instr"].map(|name| fixture(&format!("callgrind/{name}.callgrind"))),
    );
}

/// A program in C++ and one in C, with recursion; `callgrind_annotate` writes names of Rust in another way.
#[test]
#[needs(Corpus, Valgrind)]
fn callgrind_annotate_agrees_on_real_profiles() {
    callgrind_annotate_agrees_on(&["googlecode-issue98", "issue35"].map(real_callgrind));
}

fn real_callgrind(name: &str) -> PathBuf {
    corpus_root().join(format!("callgrind/jrfonseca__gprof2dot__{name}.callgrind"))
}

fn callgrind_annotate_agrees_on(paths: &[PathBuf]) {
    for path in paths {
        let event = &events(path)[0];
        let (own, total) = (annotated(path, event, "no"), annotated(path, event, "yes"));
        let counted = rows(&flat(&load_well(path), 0, By::Function));
        let mut selfs: BTreeMap<String, i64> = BTreeMap::new();
        for (name, value) in own {
            *selfs.entry(outermost(&name).to_string()).or_default() += value;
        }
        for (name, value) in selfs {
            assert_eq!(
                counted.get(&name).map_or(0, |row| row.0),
                value,
                "{}: self of {name}",
                path.display()
            );
        }
        let mut compared = 0;
        for (name, value) in &total {
            // Several functions with the same name are one row here.
            let is_one = total.iter().filter(|other| other.0 == *name).count() == 1;
            if let Some(row) = counted.get(name).filter(|_| is_one && !name.contains('\'')) {
                compared += 1;
                assert_eq!(row.1, *value, "{}: total of {name}", path.display());
            }
        }
        assert!(compared > 100, "{}: only {compared} functions", path.display());
    }
}

/// A profile written as callgrind. The folder is deleted when the first value is dropped.
fn as_callgrind(profile: &Profile) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.callgrind");
    let mut bytes = Vec::new();
    writer_named("callgrind").unwrap().write_to(profile, 0, false, &mut bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The functions whose totals `callgrind_annotate` computes from the calls of their callers, and therefore incompletely
/// or more than once: those that occur twice on a stack, and those that both start stacks and are called.
fn not_added_up(profile: &Profile) -> BTreeSet<&str> {
    let (mut twice, mut first, mut called) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for frames in profile.stacks.iter() {
        let mut seen = BTreeSet::new();
        for (depth, &frame) in frames.iter().enumerate() {
            let name = profile.symbols.frame_name(frame);
            if !seen.insert(name) {
                twice.insert(name);
            }
            if depth == 0 {
                first.insert(name)
            } else {
                called.insert(name)
            };
        }
    }
    twice.extend(first.intersection(&called));
    twice
}

#[test]
#[needs(Valgrind)]
fn callgrind_annotate_reads_what_we_write_of_stacks() {
    let mut compared = 0;
    for file in [
        "pprof/go-cpu.pb.gz",
        "pprof/go-heap.pb.gz",
        "pprof/rust-cpu.pb.gz",
        "collapsed/python.folded",
        "perf-script/rust-two-events.perf.txt",
    ] {
        let profile = load_well(&fixture(file));
        let (_folder, written) = as_callgrind(&profile);
        let not_added_up = not_added_up(&profile);
        for (metric, event) in events(&written).iter().enumerate() {
            let (own, total) = (annotated(&written, event, "no"), annotated(&written, event, "yes"));
            let top = flat(&profile, metric, By::Name);
            let counted = rows(&top);
            assert_eq!(own.iter().map(|row| row.1).sum::<i64>(), top.header.total, "{file}: {event}");
            let mut selfs: BTreeMap<&str, i64> = BTreeMap::new();
            for (name, value) in &own {
                *selfs.entry(name).or_default() += value;
            }
            for (name, row) in &counted {
                assert_eq!(
                    selfs.get(&**name).copied().unwrap_or(0),
                    row.0,
                    "{file}: {event}: self of {name}"
                );
            }
            let is_one = |name: &str| total.iter().filter(|other| other.0 == name).count() == 1;
            for (name, value) in
                total.iter().filter(|(name, _)| is_one(name) && !not_added_up.contains(&**name))
            {
                compared += 1;
                let counted = counted.get(name).map_or(0, |row| row.1);
                assert_eq!(counted, *value, "{file}: {event}: total of {name}");
            }
        }
    }
    assert!(compared > 1000, "only {compared} totals were compared");
}

/// The recursive functions that are marked in a file.
fn nested(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().filter_map(|line| line.strip_prefix("fn=").or(line.strip_prefix("cfn=")));
    let names = names.map(|name| name.split_once(") ").map_or(name, |(_, name)| name));
    names.map(|name| (name, outermost(name))).filter(|(name, plain)| name != plain).map(|(_, plain)| plain)
}

/// A callgrind file that was read and written again gives the same results.
#[test]
#[needs(Valgrind)]
fn callgrind_annotate_reads_what_we_write_of_calls() {
    written_calls_agree(&["c", "c-cache"].map(|name| fixture(&format!("callgrind/{name}.callgrind"))));
}

#[test]
#[needs(Corpus, Valgrind)]
fn callgrind_annotate_reads_what_we_write_of_a_real_profile() {
    written_calls_agree(&[real_callgrind("issue35")]);
}

fn written_calls_agree(paths: &[PathBuf]) {
    for path in paths {
        let (_folder, written) = as_callgrind(&load_well(path));
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let recursive: BTreeSet<String> = nested(&text).map(str::to_string).collect();
        for (event, ours) in events(path).iter().zip(events(&written)) {
            for inclusive in ["no", "yes"] {
                let sums = |path: &Path, event: &str| {
                    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
                    for (name, value) in annotated(path, event, inclusive) {
                        *sums.entry(outermost(&name).to_string()).or_default() += value;
                    }
                    // The totals of recursive functions do not add up.
                    sums.retain(|name, value| {
                        *value != 0 && (inclusive == "no" || !recursive.contains(name))
                    });
                    sums
                };
                let (expected, found) = (sums(path, event), sums(&written, &ours));
                assert!(expected == found, "{}: {event}, inclusive: {inclusive}", path.display());
            }
        }
    }
}

/// Prints self and cumulative nanoseconds and calls of each function, as read by Python's own module.
const PSTATS: &str = "
import pstats, sys
for (file, line, name), (_, calls, own, total, _) in pstats.Stats(sys.argv[1]).stats.items():
    place = '' if file == '~' else f' {file}:{line}' if line else f' {file}'
    print(round(own * 1e9), round(total * 1e9), calls, name + place, sep='\\t')
";

#[test]
#[needs(Python)]
fn pythons_pstats_agrees() {
    pythons_pstats_agrees_on(&[fixture("pstats/python.pstats")]);
}

#[test]
#[needs(Corpus, Python)]
fn pythons_pstats_agrees_on_real_profiles() {
    pythons_pstats_agrees_on(&corpus("pstats"));
}

fn pythons_pstats_agrees_on(paths: &[PathBuf]) {
    for path in paths {
        let text = said_by("python3", &["-c", PSTATS], path);
        let profile = load_well(path);
        let whole = profile.meta.metrics[0].total;
        let (counted, calls) =
            (rows(&flat(&profile, 0, By::Function)), rows(&flat(&profile, 1, By::Function)));
        let mut expected: BTreeMap<&str, (i64, i64, i64, usize)> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.splitn(4, '\t');
            let mut number = || words.next().unwrap().parse::<i64>().unwrap();
            let (own, total, calls) = (number(), number(), number());
            let row = expected.entry(words.next().unwrap()).or_default();
            *row = (row.0 + own, row.1 + total, row.2 + calls, row.3 + 1);
        }
        for (name, (own, total, count, functions)) in expected {
            let row = counted.get(name).copied().unwrap_or_default();
            let called = calls.get(name).map_or(0, |row| row.0);
            assert_eq!((row.0, called), (own, count), "{}: {name}", path.display());
            // Inaccurate clocks can give more than the whole.
            if functions == 1 {
                assert_eq!(row.1, total.min(whole), "{}: total of {name}", path.display());
            }
        }
    }
}
