//! Traces and allocation profiles in the corpus, compared with what other programs made of the same files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{corpus_root, load_well};
use prof::profile::Profile;

/// Self and total of every function.
fn functions(profile: &Profile, metric: &str) -> BTreeMap<String, (i64, i64)> {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for stack in profile.stack_ids() {
        let frames = profile.stacks.frames(stack);
        let mut names: Vec<&str> = frames.iter().map(|&frame| profile.symbols.frame_name(frame)).collect();
        if let Some(&leaf) = names.last() {
            sums.entry(leaf.into()).or_default().0 += values[stack];
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            sums.entry(name.into()).or_default().1 += values[stack];
        }
    }
    sums
}

/// The time during which each frame of an evented speedscope profile was open, in milliseconds. Events need not be nested.
fn open_times(path: &Path) -> BTreeMap<String, f64> {
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names = json["shared"]["frames"].as_array().unwrap();
    let mut times = BTreeMap::new();
    for profile in json["profiles"].as_array().unwrap() {
        let mut open: BTreeMap<u64, i32> = BTreeMap::new();
        let mut last = 0.0;
        for event in profile["events"].as_array().unwrap() {
            let now = event["at"].as_f64().unwrap();
            for (frame, _) in open.iter().filter(|(_, count)| **count > 0) {
                let name = names[*frame as usize]["name"].as_str().unwrap();
                *times.entry(name.to_string()).or_default() += now - last;
            }
            last = now;
            let change = if event["type"] == "O" { 1 } else { -1 };
            *open.entry(event["frame"].as_u64().unwrap()).or_default() += change;
        }
    }
    times
}

/// `dotnet-trace convert` wrote the expected result. It prefixes functions with their module, adds frames for the process,
/// the thread and its state, and joins samples of a function that lie close together, which adds up to 2 % to some.
#[test]
#[needs(Corpus)]
fn a_nettrace_recording_has_the_functions_and_times_of_dotnet_trace() {
    let folder = corpus_root().join("nettrace");
    let ours = functions(&load_well(&folder.join("Jacobh2__RobotCleaner__trace.nettrace")), "wall");
    let theirs = open_times(&folder.join("golden/Jacobh2__RobotCleaner__trace.speedscope.json"));
    let theirs: BTreeMap<&str, f64> =
        theirs.iter().filter_map(|(name, &time)| Some((name.split_once('!')?.1, time))).collect();
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (name, (_, total)) in &ours {
        let (total, expected) = (*total as f64 / 1e6, theirs[name.as_str()]);
        assert!((total - expected).abs() <= expected * 0.02, "{name}: {total}, not {expected}");
    }
}

/// The expected numbers are those of heaptrack's own tests (`tst_parser.cpp`) and of `heaptrack_print` 1.4.
#[test]
#[needs(Corpus)]
fn heaptrack_recordings_have_the_numbers_of_heaptracks_tests() {
    let files = [
        ("heaptrack/KDE__heaptrack__heaptrack.david.18594.gz", [2_896, 729, 996_970, 25_259]),
        ("heaptrack/KDE__heaptrack__heaptrack.embedded_lsan_suppressions.84207.zst", [5, 0, 72_714, 5]),
    ];
    for (file, expected) in files {
        let meta = load_well(&corpus_root().join(file)).meta;
        let total = |name: &str| meta.metrics[meta.metric_named(name).unwrap()].total;
        assert_eq!(["allocations", "temporary", "peak", "leaked"].map(total), expected, "{file}");
    }
}

/// `heaptrack_interpret` gave the expected result, with names from binaries that are not in the corpus.
#[test]
#[needs(Corpus)]
fn raw_heaptrack_recordings_have_the_sizes_of_interpreted_ones() {
    let folder = corpus_root().join("heaptrack-raw");
    let raw = load_well(&folder.join("KDE__heaptrack__heaptrack.test_sysroot.raw"));
    let interpreted = load_well(&folder.join("golden/KDE__heaptrack__heaptrack.test_sysroot.expected"));
    let sizes = |profile: &Profile| {
        let mut sizes: Vec<(i64, i64)> = profile.samples.values[1]
            .iter()
            .zip(&profile.samples.values[3])
            .map(|(&allocated, &peak)| (allocated, peak))
            .collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes(&raw), [(8, 8), (24, 24), (73_728, 73_728)]);
    assert_eq!(sizes(&raw), sizes(&interpreted));
}
