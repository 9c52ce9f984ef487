//! Comparisons of memory and of other quantities, which are compared as recorded. The runs are in folders next to the
//! checkout.

use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::support::needs::shared;
use crate::support::sides::{compare, usual, verdicts};
use crate::support::{files, load_file, prof};
use prof::load::{self, Observer, Request, Side};
use prof::profile::{LoadOptions, Profile};
use prof::report::{Diff, DiffOutcome};
use prof::stats::dispersion::{Design, RunCounts, pearson_dispersion};
use prof::stats::{Normalization, TestOptions};
use prof::transform::merge;
use prof::view::DiffOptions;

/// Random comparisons for each rate; `PROF_DRAWS=400` makes more.
fn draws() -> usize {
    std::env::var("PROF_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(20)
}

/// Recorded heap profiles of one program that always does the same, each with every allocation since its start.
fn heaps() -> Vec<Profile> {
    let mut files = files(&shared("ab").join("heap-allocs"));
    files.retain(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("A-") && name.ends_with(".pb.gz")
    });
    files.iter().map(|file| load_file(file).unwrap()).collect()
}

fn as_recorded() -> DiffOptions {
    let test = TestOptions { normalize: Normalization::Run, ..TestOptions::default() };
    DiffOptions { test, ..usual() }
}

/// Compares runs `old` and `new` of the metric `alloc_space`.
fn compare_heaps(old: &[&Profile], new: &[&Profile]) -> Diff {
    let side = |profiles: &[&'_ Profile]| -> Vec<usize> {
        profiles.iter().map(|profile| profile.meta.metric_named("alloc_space").unwrap()).collect()
    };
    let (old_metrics, new_metrics) = (side(old), side(new));
    let old: Vec<(&Profile, usize)> = old.iter().copied().zip(old_metrics).collect();
    let new: Vec<(&Profile, usize)> = new.iter().copied().zip(new_metrics).collect();
    compare(&old, &new, &as_recorded())
}

/// Multiplies what each function allocates itself.
fn multiplied(heap: &Profile, factor: impl Fn(&str) -> f64) -> Profile {
    let mut heap = heap.clone();
    for row in 0..heap.samples.len() {
        let leaf = heap.stacks.frames(heap.samples.stack[row]).last().copied();
        let function = leaf.map(|leaf| heap.symbols.function_name(heap.symbols.frames[leaf].function));
        let factor = factor(function.unwrap_or_default());
        for column in &mut Arc::make_mut(&mut heap.samples).values {
            column[row] = (column[row] as f64 * factor).round() as i64;
        }
    }
    heap
}

/// A run in which `function` allocates twice: it gets what the function allocated in another run.
fn doubled(heap: &Profile, other: &Profile, function: &str) -> Profile {
    let added = multiplied(other, |name| if name == function { 1.0 } else { 0.0 });
    merge(&[heap.clone(), added]).unwrap()
}

/// Small and always the same: which runs are drawn must not depend on the day.
fn draw(seed: usize, from: usize, count: usize) -> Vec<usize> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed as u64 + 1);
    let mut all: Vec<usize> = (0..from).collect();
    for place in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(place, place + (state >> 33) as usize % (from - place));
    }
    all.truncate(count);
    all
}

#[test]
#[needs(Runs)]
fn heaps_of_one_build_raise_no_alarm() {
    let heaps = heaps();
    for count in [1, 3, 5] {
        let is_alarm = |&seed: &usize| {
            let picked: Vec<&Profile> =
                draw(seed, heaps.len(), 2 * count).into_iter().map(|run| &heaps[run]).collect();
            compare_heaps(&picked[..count], &picked[count..]).outcome() == DiffOutcome::Failed
        };
        let alarms = (0..draws()).filter(is_alarm).count();
        println!("heaps, {count} a side: {alarms} of {} draws alarm", draws());
        assert!(alarms * 100 <= draws(), "{count} a side: {alarms}");
    }
}

#[test]
#[needs(Runs)]
fn a_function_that_allocates_twice_as_much_is_found() {
    let heaps = heaps();
    // Each has 11 % to 13 % of all bytes, in large objects and in small ones.
    for function in ["main.a256k", "main.amix"] {
        let is_found = |&seed: &usize| {
            let picked = draw(seed, heaps.len(), 9);
            let old: Vec<&Profile> = picked[..3].iter().map(|&run| &heaps[run]).collect();
            let new: Vec<Profile> =
                (3..6).map(|run| doubled(&heaps[picked[run]], &heaps[picked[run + 3]], function)).collect();
            let diff = compare_heaps(&old, &new.iter().collect::<Vec<_>>());
            diff.outcome() == DiffOutcome::Failed
                && verdicts(&diff).contains(&format!("regressed {function} (self)"))
        };
        let found = (0..draws()).filter(is_found).count();
        println!("{function} doubled, 3 a side: found in {found} of {} draws", draws());
        assert!(found * 100 >= draws() * 95, "{function}: {found}");
    }
}

#[test]
#[needs(Runs)]
fn more_work_shows_only_if_values_are_compared_as_recorded() {
    let heaps = heaps();
    let old: Vec<&Profile> = heaps[..3].iter().collect();
    let new: Vec<Profile> = heaps[3..6].iter().map(|heap| multiplied(heap, |_| 1.5)).collect();
    let diff = compare_heaps(&old, &new.iter().collect::<Vec<_>>());
    assert_eq!(diff.outcome(), DiffOutcome::Failed);
    let growth = diff.growth.unwrap();
    assert!((growth.percent - (diff.new.total as f64 / diff.old.total as f64 - 1.0) * 100.0).abs() < 1e-6);
    assert!(0.0 < growth.low && growth.low < growth.percent && growth.percent < growth.high, "{growth:?}");
    let metric = heaps[0].meta.metric_named("alloc_space").unwrap();
    let with_metric = |profile| (profile, metric);
    let old: Vec<(&Profile, usize)> = old.into_iter().map(with_metric).collect();
    let new: Vec<(&Profile, usize)> = new.iter().map(with_metric).collect();
    assert_eq!(compare(&old, &new, &usual()).outcome(), DiffOutcome::Passed);
}

#[test]
#[needs(Runs)]
fn the_interval_of_the_growth_holds_the_truth() {
    let heaps = heaps();
    let holds_zero = |&seed: &usize| {
        let picked: Vec<&Profile> = draw(seed, heaps.len(), 6).into_iter().map(|run| &heaps[run]).collect();
        let growth = compare_heaps(&picked[..3], &picked[3..]).growth.unwrap();
        growth.low <= 0.0 && 0.0 <= growth.high
    };
    let held = (0..draws()).filter(holds_zero).count();
    println!("growth of 3 heaps a side that are alike: 0 is in {held} of {} intervals", draws());
    assert!(held * 100 >= draws() * 90, "{held}");
}

fn run(arguments: &[&str]) -> Output {
    prof(".".as_ref(), arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = run(&[&["diff", "-q", "-f", "json"], arguments].concat());
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

/// Two heap profiles of a Go server. In the first one, the profiler itself has just allocated 1.1 MiB, once.
const ONE_PROCESS: [&str; 2] = ["fixtures/pprof/go-heap-earlier.pb.gz", "fixtures/pprof/go-heap.pb.gz"];

#[test]
fn what_grew_in_one_process_is_shown_in_bytes() {
    let (report, exit) = json(&[&["--noise", "steady"][..], &ONE_PROCESS].concat());
    assert_eq!((exit, &report["normalize"]["method"]), (Some(1), &Value::from("none")));
    let regressed: Vec<&str> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["verdict"] == "regressed")
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(regressed, ["reflect.growslice"]);
    let text = run(&[&["diff", "-q", "--width", "100"][..], &ONE_PROCESS].concat()).stdout;
    let text = String::from_utf8(text).unwrap();
    let row = text.lines().find(|line| line.contains("reflect.growslice (self)")).unwrap();
    // 3,281,560 − 852,418 bytes.
    for value in ["0.81MiB", "3.13MiB", "+2.31MiB"] {
        assert!(row.contains(value), "{value}: {text}");
    }
    assert!(text.contains("OLD and NEW are values per run as recorded"), "{text}");
    let (report, _) = json(&[&["--normalize", "core"][..], &ONE_PROCESS].concat());
    assert_eq!(report["normalize"]["method"], "core");
}

#[test]
fn time_is_still_compared_with_unchanged_code() {
    let (report, _) = json(&["fixtures/pprof/go-cpu-old.pb.gz", "fixtures/pprof/go-cpu-new.pb.gz"]);
    assert_eq!(report["normalize"]["method"], "core");
    let goroutines = "fixtures/pprof/go-goroutine.pb.gz";
    assert_eq!(json(&[goroutines, goroutines]).0["normalize"]["method"], "none");
}

/// The two sides of a recorded change, as folders.
fn sides(change: &str) -> [String; 2] {
    ["heap-old", "heap-new"]
        .map(|side| shared("changes").join(change).join(side).to_string_lossy().into_owned())
}

#[test]
#[needs(Builds)]
fn recorded_leaks_and_allocations_have_the_right_verdict() {
    for (change, metric, culprit) in [
        // `keepLine` keeps lines of the requests; nothing did before.
        ("go-gc", "inuse_space", Some("main.keepLine")),
        ("go-gc", "alloc_space", Some("main.keepLine")),
        ("go-called-more", "alloc_space", Some("main.aggregate")),
        ("go-dearer", "alloc_space", Some("main.formatAmount")),
        ("go-dearer", "inuse_space", None),
        ("go-none", "alloc_space", None),
        ("go-none", "inuse_space", None),
        ("go-renamed", "alloc_space", None),
    ] {
        let [old, new] = sides(change);
        let (report, exit) = json(&["--metric", metric, &old, &new]);
        assert_eq!(exit, Some(i32::from(culprit.is_some())), "{change} {metric}");
        let mut rows = report["rows"].as_array().unwrap().iter();
        let is_culprit = |row: &Value| row["verdict"] == "regressed" && row["name"].as_str() == culprit;
        assert_eq!(rows.any(is_culprit), culprit.is_some(), "{change} {metric}");
    }
}

#[test]
fn runs_that_recorded_more_are_noise_if_values_are_compared() {
    let counts = RunCounts { counts: vec![10.0, 20.0, 30.0, 30.0], unit: 1.0 };
    let design = |per_run| Design::new(vec![100.0, 200.0, 300.0, 300.0], 2, per_run);
    // As shares, all runs are alike. As values, the old ones are 5 away from their mean of 15: 2 × 25 ÷ 15, over two
    // degrees of freedom.
    assert!(pearson_dispersion(&counts, &design(false)).abs() < 1e-12);
    assert!((pearson_dispersion(&counts, &design(true)) - 25.0 / 15.0).abs() < 1e-12);
}

/// Counts the bytes that are read.
#[derive(Default)]
struct Bytes(AtomicU64);

impl Observer for Bytes {
    fn bytes(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}

/// The sizes of allocations, which the statistics need, are found in one pass: a pipe cannot be read twice.
#[test]
fn heaps_are_read_once() {
    let fixture = |name: &str| format!("{}/fixtures/pprof/{name}", env!("CARGO_MANIFEST_DIR"));
    let inputs = ["go-heap-earlier.pb.gz", "go-heap.pb.gz"].map(fixture);
    let size: u64 = inputs.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
    let read = Arc::new(Bytes::default());
    let [old, new] = inputs.map(|path| Request {
        needs: LoadOptions::LEAST,
        observer: read.clone(),
        ..Request::new([path])
    });
    let sides = load::sides(&old, Some(&new)).unwrap();
    assert_eq!(read.0.load(Ordering::Relaxed), size);
    let rows = |side: &Side| {
        let profile = &side.inputs[0].profile;
        (profile.samples.len(), profile.stacks.len())
    };
    for side in [&sides.old, &sides.new] {
        let (rows, stacks) = rows(side);
        assert!(rows > stacks, "{rows} rows of {stacks} stacks: one row per size");
    }
}
