//! Readers of binary formats on the recorded profiles in `fixtures/`. The expected numbers for JFR were counted in the
//! output of `jfr print --json`; those for `perf.data` come from the output of `perf script` for the same files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::sums::{by_label, functions};
use prof::format::{self, LoadError, Source};
use prof::profile::{Frame, LoadOptions, Profile};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

fn load_bytes(bytes: Vec<u8>) -> Result<Profile, LoadError> {
    format::load(&mut Source::open(Box::new(std::io::Cursor::new(bytes)))?, LoadOptions::ALL, None)
}

fn load(name: &str) -> Profile {
    load_bytes(bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_recording_of_java() {
    let profile = load("jfr/java.jfr");
    let metrics: Vec<_> =
        profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total, metric.rows)).collect();
    assert_eq!(
        metrics[..4],
        [
            ("samples", 319, 319),
            ("cpu", 3_190_000_000, 319),
            ("alloc_objects", 1_076, 1_076),
            ("alloc_space", 1_583_193_776, 1_076),
        ]
    );
    assert_eq!(metrics[4].0, "lock_count");
    assert_eq!(metrics[4].1, 132);
    // The `jfr` tool prints durations in nanoseconds.
    assert_eq!(metrics[5], ("lock_duration", 1_684_128_872, 132));
    assert_eq!(
        metrics[6..],
        [("park_count", 1, 1), ("park_duration", 3_590_327_414, 1), ("old_objects", 5, 5)]
    );
    assert_eq!(profile.meta.default_metric, 1);
    assert_eq!(profile.meta.warnings, ["1 sample has no stack"]);

    let samples = functions(&profile, "samples");
    assert_eq!(samples["java.util.HashMap.computeIfAbsent"].0, 96);
    assert_eq!(samples["java.lang.StringLatin1.hashCode"].0, 83);
    assert_eq!(samples["Stock$Clerk.plan"].0, 39);
    assert_eq!(samples["Stock$Clerk.run"].1, 318);
    let allocated = functions(&profile, "alloc_space");
    assert_eq!(allocated["java.lang.invoke.DirectMethodHandle.allocateInstance"].0, 1_363_086_712);
    assert_eq!(allocated["java.util.HashMap.newNode"].0, 35_514_792);
    let threads = by_label(&profile, "samples", "thread");
    let expected = [
        ("main", 1),
        ("pool-1-thread-1", 81),
        ("pool-1-thread-2", 72),
        ("pool-1-thread-3", 83),
        ("pool-1-thread-4", 82),
    ];
    assert_eq!(threads, expected.map(|(thread, count)| (thread.to_string(), count)).into());
    assert_eq!(by_label(&profile, "samples", "state"), [("STATE_RUNNABLE".to_string(), 319)].into());
    assert!(profile.samples.time.is_some());
}

#[test]
fn unknown_versions_of_flight_recorder_are_rejected() {
    for (version, name) in [([0, 3, 0, 0], "3.0"), ([0, 0, 0, 8], "0.8")] {
        let mut other = bytes("jfr/java.jfr");
        other[4..8].copy_from_slice(&version);
        let error = load_bytes(other).unwrap_err().to_string();
        let expected = format!(
            "jfr: version {name} of Flight Recorder is not one that prof supports: 0.9, 1 and 2 (byte 0)"
        );
        assert_eq!(error, expected);
    }
}

#[test]
fn chunks_are_added_up() {
    let whole = bytes("jfr/java.jfr");
    let mut twice = whole.repeat(2);
    assert_eq!(load_bytes(twice.clone()).unwrap().meta.metrics[0].total, 638);
    twice.truncate(whole.len() + 5_000);
    let cut = load_bytes(twice).unwrap();
    assert_eq!(cut.meta.metrics[0].total, 319);
    assert!(cut.meta.warnings[0].starts_with("the last chunk (at byte"), "{:?}", cut.meta.warnings);
}

/// Checks that loading truncated or overwritten bytes gives an error that names the format, or a profile whose totals are the
/// sums of its samples. If the file is truncated, no total is larger, and a smaller one comes with a warning, unless the
/// recording `is_open_ended`.
fn survives_corruption(name: &str, is_open_ended: bool) {
    let whole = bytes(name);
    let complete = load_bytes(whole.clone()).unwrap();
    let total = |profile: &Profile, metric: &str| {
        let metric = profile.meta.metric_named(metric);
        metric.map_or(0, |metric| profile.meta.metrics[metric].total)
    };
    let sound = |read: Result<Profile, LoadError>, what: &str| match read {
        Err(error) => {
            let message = error.to_string();
            let is_named = message.starts_with(complete.meta.format) || message.contains("not a profile");
            assert!(is_named || message.contains("is empty"), "{name}, {what}: {message}");
            None
        }
        Ok(profile) => {
            for (metric, values) in profile.meta.metrics.iter().zip(&profile.samples.values) {
                let sum: i128 = values.iter().map(|&value| i128::from(value).abs()).sum();
                assert!(
                    metric.too_large || i128::from(metric.total) == sum,
                    "{name}, {what}: {}",
                    metric.name
                );
            }
            Some(profile)
        }
    };
    let mut read = 0;
    for length in (0..whole.len()).step_by(1_000) {
        let what = format!("cut at byte {length}");
        if let Some(part) = sound(load_bytes(whole[..length].to_vec()), &what) {
            for metric in &complete.meta.metrics {
                let part_total = total(&part, &metric.name);
                assert!(part_total <= metric.total, "{name}, {what}: {} is {part_total}", metric.name);
                let has_warning = part.meta.warnings.len() > complete.meta.warnings.len();
                assert!(
                    part_total == metric.total || has_warning || is_open_ended,
                    "{name}, {what}: no warning"
                );
            }
            read += 1;
        }
        let mut broken = whole.clone();
        broken[length] ^= 0xFF;
        read += usize::from(sound(load_bytes(broken), &format!("byte {length} inverted")).is_some());
    }
    assert!(read > whole.len() / 5_000, "{name}: only {read} were read");
}

#[test]
fn corrupt_java_recordings_do_not_panic() {
    survives_corruption("jfr/java.jfr", false);
}

/// The stacks as far as they can be compared with the text of `perf script`, which has names that `perf.data` lacks.
/// With `return_to`, addresses are return addresses, as in the text, which are one larger than the addresses here
/// except for the leaf and where the kernel was entered.
fn places(profile: &Profile, metric: &str, return_to: bool) -> BTreeMap<String, i64> {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums = BTreeMap::new();
    for stack in profile.stack_ids().filter(|&stack| values[stack] != 0) {
        let frames = profile.stacks.frames(stack).iter().map(|&id| profile.symbols.frames[id]);
        let frames: Vec<_> = frames.filter(|frame| !frame.inlined).collect();
        let mut places = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let file = profile.symbols.mapping_file(frame.mapping);
            let is_kernel =
                |frame: &Frame| profile.symbols.mapping_file(frame.mapping).starts_with("[kernel");
            let calls = frames.get(index + 1).is_some_and(|next| is_kernel(next) == is_kernel(frame));
            places.push(format!("{file}+{:x}", frame.address.saturating_sub(u64::from(return_to && calls))));
        }
        *sums.entry(places.join(" ")).or_default() += values[stack];
    }
    sums
}

#[test]
fn perf_data_agrees_with_perf_script() {
    for name in ["rust", "rust-two-events"] {
        let data = load(&format!("perf-data/{name}.perf.data"));
        let text = load(&format!("perf-script/{name}.perf.txt"));
        assert_eq!(data.meta.format, "perf-data");
        assert_eq!(data.meta.warnings, [""; 0]);
        let metrics = |profile: &Profile| -> Vec<_> {
            let metrics = profile.meta.metrics.iter();
            metrics
                .map(|metric| (metric.name.clone(), metric.unit.clone(), metric.total, metric.rows))
                .collect()
        };
        assert_eq!(metrics(&data), metrics(&text), "{name}");
        assert_eq!(data.meta.default_metric, text.meta.default_metric);
        for metric in &data.meta.metrics {
            let (ours, theirs) = (places(&data, &metric.name, false), places(&text, &metric.name, true));
            assert_eq!(ours, theirs, "{name} {}", metric.name);
        }
        assert_eq!(by_label(&data, "samples", "thread"), by_label(&text, "samples", "thread"));
        assert_eq!(by_label(&data, "samples", "tid"), by_label(&text, "samples", "tid"));
        assert_eq!(data.samples.time.as_ref().map(Vec::len), text.samples.time.as_ref().map(Vec::len));
    }
}

#[test]
fn code_without_names_is_named_after_its_file() {
    let functions = functions(&load("perf-data/rust.perf.data"), "cpu-clock");
    assert!(functions.contains_key("[words]") && functions.contains_key("[kernel.kallsyms]"));
}

#[test]
fn corrupt_perf_data_does_not_panic() {
    survives_corruption("perf-data/rust.perf.data", false);
    survives_corruption("perf-data/rust-two-events.perf.data", false);
}

/// The sums are those of `perf script -F event,period`.
#[test]
fn recordings_through_a_pipe_are_read() {
    let profile = load_bytes(bytes("perf-data/sh-pipe.perf.data")).unwrap();
    let totals: Vec<_> = profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
    assert_eq!(totals, [("samples", 48), ("task-clock:u", 48_000_000)]);
    assert_eq!(profile.meta.warnings, [""; 0]);
    survives_corruption("perf-data/sh-pipe.perf.data", true);
}

/// `perf script` prints the same 49,036,800 and 61, in 49 lines: one for each event that a sample counts.
#[test]
fn groups_of_events_are_read_together() {
    let profile = load_bytes(bytes("perf-data/sh-group.perf.data")).unwrap();
    let totals: Vec<_> = profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
    assert_eq!(totals, [("samples", 48), ("task-clock:u", 49_036_800), ("page-faults:u", 61)]);
    survives_corruption("perf-data/sh-group.perf.data", false);
}

/// The expected numbers were counted by a separate script that decodes the events.
#[test]
fn a_recording_of_dotnet() {
    let profile = load("nettrace/searches.nettrace.gz");
    let metrics: Vec<_> =
        profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total, metric.rows)).collect();
    assert_eq!(
        metrics,
        [
            ("samples", 581, 581),
            ("wall", 1_673_630_091, 579),
            ("alloc-samples", 81, 81),
            ("alloc-size", 8_827_128, 81),
            ("exceptions", 2, 2),
        ]
    );
    let functions = functions(&profile, "wall");
    assert_eq!(functions["System.Threading.Thread.Join()"].0, 257_783_962);
    assert_eq!(functions["System.Text.RegularExpressions.RegexInterpreter.Backtrack()"].0, 144_905_323);
    assert_eq!(functions["System.Text.RegularExpressions.RegexRunner.EnsureStorage()"].0, 51_871_286);
    let states = by_label(&profile, "samples", "state");
    assert_eq!((states["managed"], states["unmanaged"]), (246, 335));
    assert_eq!(by_label(&profile, "samples", "tid").len(), 2);
    assert_eq!(by_label(&profile, "exceptions", "class")["System.FormatException"], 1);
    assert_eq!(profile.meta.comments, ["/usr/bin/python3.11"]);
}

/// The expected values are those that `perf buildid-list` and `perf script --show-mmap-events` print.
#[test]
fn the_recorded_kernel_is_identified() {
    let profile = load("perf-data/rust.perf.data");
    let symbols = &profile.symbols;
    let kernel =
        symbols.mappings.iter().find(|row| symbols.strings.get(row.file) == "[kernel.kallsyms]").unwrap();
    assert_eq!(symbols.strings.get(kernel.build_id), "48dc540c8b76393804ca8088dbfa7d42911a9444");
    assert_eq!(kernel.start, 0xFFFF_FFFF_8100_0000);
}
