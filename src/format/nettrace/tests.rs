//! The recordings in `tests/hostile/seeds` describe the same few events in each version: three samples of thread 7 in
//! managed code and one outside, 1 to 2 ms apart, and two of thread 8.

use super::*;
use crate::profile::{LabelValue, to_notation};

macro_rules! seed {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/hostile/seeds/nettrace/", $name)).as_slice()
    };
}

const V3: &[u8] = seed!("v3.netperf");
const V4: &[u8] = seed!("v4.nettrace");
const V4_PLAIN: &[u8] = seed!("v4-plain.nettrace");
const V6: &[u8] = seed!("v6.nettrace");

fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
    assert_eq!(sniff(bytes), Confidence::Certain);
    read(&mut Source::from_bytes(bytes.into()), LoadOptions::ALL)
}

/// The part of a label's text in each row, in the order of time.
fn texts(profile: &Profile, key: &str) -> Vec<String> {
    let strings = &profile.symbols.strings;
    let rows = profile.samples.labels.iter().map(|&set| {
        let label = profile.label_sets.labels(set).iter().find(|label| strings.get(label.key) == key);
        match label.map(|label| label.value) {
            Some(LabelValue::Text(text)) => strings.get(text).to_string(),
            _ => String::new(),
        }
    });
    rows.collect()
}

#[test]
fn a_sample_lasts_until_the_next_of_its_thread() {
    for bytes in [V3, V4, V4_PLAIN] {
        let profile = read(&mut Source::from_bytes(bytes.into()), LoadOptions::LEAST).unwrap();
        let metrics: Vec<(&str, i64)> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(
            metrics,
            [
                ("samples", 6),
                ("wall", 6_000_000),
                ("alloc-samples", 1),
                ("alloc-size", 106_496),
                ("lock_count", 1),
                ("lock_duration", 250_000),
                ("exceptions", 1),
            ]
        );
        assert_eq!(profile.meta.default_metric, 1);
        // Thread 7 and thread 8 are at different addresses of `Main`. The caller of unknown code returns to 0x1100,
        // where `Main` has ended.
        let (main, work) = ("Shop.Main(class System.String[])", "Shop.Work(int32)");
        let expected = format!(
            "{main} 1 2000000 0 0 1 250000 0\n{main} 2 2000000 0 0 0 0 0\n{main};<unknown> 1 0 0 0 0 0 0\n{main};{work} 2 2000000 1 106496 0 0 1"
        );
        assert_eq!(to_notation(&profile), expected);
        assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
    }
}

#[test]
fn threads_states_times_and_the_program_are_kept() {
    let profile = load(V4).unwrap();
    let mut rows: Vec<_> = profile.samples.time.clone().unwrap();
    rows.sort_unstable();
    // 2026-11-22 09:30:00.5 UTC, as `date` says; the clock has a million ticks per second and was at 1000.
    assert_eq!(profile.meta.time_ns, Some(1_795_339_800_500_000_000));
    assert_eq!(rows[0] - 1_795_339_800_500_000_000, 1_000_000);
    let count = |key: &str, text: &str| texts(&profile, key).iter().filter(|found| *found == text).count();
    assert_eq!((count("tid", "7"), count("tid", "8")), (6, 3));
    assert_eq!((count("state", "managed"), count("state", "unmanaged")), (4, 1));
    assert_eq!((count("class", "System.String"), count("class", "System.FormatException")), (1, 1));
    let first = profile.symbols.mappings.ids().nth(1).unwrap();
    assert_eq!(profile.symbols.mapping_file(first), "/srv/shop.dll");
    assert_eq!(profile.meta.comments, ["dotnet /srv/shop.dll --all"]);
    assert_eq!((profile.meta.duration_ns, profile.meta.processors), (Some(6_200_000), Some(4)));
}

#[test]
fn machine_wide_recordings_have_processes_and_symbols() {
    let profile = load(V6).unwrap();
    let metrics: Vec<_> =
        profile.meta.metrics.iter().map(|metric| (&*metric.name, &*metric.unit, metric.total)).collect();
    assert_eq!(metrics, [("cpu", "count", 6), ("cswitch", "nanoseconds", 700_000)]);
    let mut lines: Vec<String> = to_notation(&profile).lines().map(str::to_string).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "<unknown> 3 0 {process=100 thread=work tid=102}",
            "<unknown>;db::scan() 0 700000 {process=db tid=201}",
            "<unknown>;db::scan() 1 0 {process=db tid=201}",
            "Shop.Main(class System.String[]);Shop.Work(int32) 1 0 {process=100 thread=main tid=101}",
            "Shop.Main(class System.String[]);Shop.Work(int32) 1 0 {process=100 thread=main tid=101}",
        ]
    );
    let files = profile.symbols.mappings.ids().map(|id| profile.symbols.mapping_file(id));
    assert_eq!(files.collect::<Vec<_>>(), ["", "/srv/shop.dll", "/usr/bin/db"]);
}

#[test]
fn truncated_and_unknown_recordings_are_told() {
    let cut = load(&V4[..V4.len() - 300]).unwrap();
    assert_eq!(cut.meta.warnings[0], "file is truncated: the end marker is missing");
    let error = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
    let mut newer = V6.to_vec();
    newer[12] = 7;
    assert_eq!(error(&newer), "nettrace: unsupported version 7; versions 3 to 6 are supported (byte 12)");
    let mut newer = V4.to_vec();
    // The oldest reader of the first object.
    newer[39] = 6;
    assert_eq!(error(&newer), "nettrace: unsupported version 4; versions 3 to 6 are supported (byte 32)");
    assert_eq!(error(&V6[..20]), "nettrace: expected the block that describes the trace (byte 20)");
    assert_eq!(
        error(&V4[..40]),
        "nettrace: expected the object `Trace`; recordings by previews of .NET Core 2 are not supported (byte 32)"
    );
}
