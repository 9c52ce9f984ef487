use super::*;
use crate::format::wire::{push_bytes, push_varint};
use crate::profile::to_notation;

/// Written with the classes that protoc makes of Perfetto's own definitions; see fixtures/README.md.
const WORKED: &[u8] = include_bytes!("../../../fixtures/perfetto/worked.pftrace");

/// Samples that different counters triggered, likewise.
const STACK_SAMPLES: &[u8] = include_bytes!("../../../fixtures/perfetto/stack-samples.pftrace");

fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
    assert_eq!(sniff(bytes), Confidence::Certain);
    read(&mut Source::from_bytes(bytes.into()), LoadOptions::ALL)
}

/// The name, unit and total of each metric.
fn metrics(profile: &Profile) -> Vec<(&str, &str, i64)> {
    profile.meta.metrics.iter().map(|metric| (&*metric.name, &*metric.unit, metric.total)).collect()
}

/// A packet of sequence 1 with a field for its data.
fn packet(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    push_bytes(&mut fields, kind, data);
    push_varint(&mut fields, 10 << 3);
    push_varint(&mut fields, 1);
    let mut packet = Vec::new();
    push_bytes(&mut packet, 1, &fields);
    packet
}

#[test]
fn samples_heaps_and_slices_are_metrics() {
    let profile = load(WORKED).unwrap();
    assert_eq!(
        metrics(&profile),
        [
            ("samples", "count", 5),
            ("alloc_objects", "count", 19),
            ("alloc_space", "bytes", 5236),
            ("inuse_objects", "count", 13),
            ("inuse_space", "bytes", 3712),
            ("wall", "nanoseconds", 100_000),
        ]
    );
    let process = "process=/system/bin/shop";
    let expected = [
        format!("fetch 0 0 0 0 0 50000 {{{process} thread=network}}"),
        format!("frame 0 0 0 0 0 10000 {{{process} thread=Render tid=41}}"),
        format!("frame 0 0 0 0 0 10000 {{{process} thread=Render tid=41}}"),
        format!("frame;paint 0 0 0 0 0 30000 {{{process} thread=Render tid=41}}"),
        format!("main;[kernel.kallsyms] 1 0 0 0 0 0 {{{process} thread=Render tid=41}}"),
        format!("main;[libshop.so] 0 10 640 10 640 0 {{heap=malloc {process}}}"),
        format!("main;[libshop.so] 1 0 0 0 0 0 {{{process} thread=main tid=40}}"),
        format!("main;shop::draw() 0 4 4096 3 3072 0 {{heap=malloc {process}}}"),
        format!("main;shop::draw() 1 0 0 0 0 0 {{{process} thread=main tid=40}}"),
        format!(
            "main;shop::draw();shop::fill(int)@fill.cc:42;+blend()@blend.h:7 0 5 500 0 0 0 {{heap=malloc {process}}}"
        ),
        format!(
            "main;shop::draw();shop::fill(int)@fill.cc:42;+blend()@blend.h:7 1 0 0 0 0 0 {{{process} thread=Render tid=41}}"
        ),
        format!(
            "main;shop::draw();shop::fill(int)@fill.cc:42;+blend()@blend.h:7 1 0 0 0 0 0 {{{process} thread=main tid=40}}"
        ),
    ];
    assert_eq!(to_notation(&profile).lines().collect::<Vec<_>>(), expected);
    assert_eq!(profile.meta.default_metric, 0);
    // The first sample was taken 10 ms after the snapshot of the clocks, at the beginning of 2026.
    assert_eq!(profile.meta.time_ns, Some(1_767_225_600_000_000_000));
    let binary = profile.symbols.mappings.iter().nth(1).unwrap();
    assert_eq!(profile.symbols.strings.get(binary.file), "/system/lib64/libshop.so");
    assert_eq!(profile.symbols.strings.get(binary.build_id), "00ff102030");
    assert_eq!(
        profile.meta.warnings,
        [
            "1 heap was dumped several times; what is in use is that of its last dump",
            "1 end event has no matching begin event and was skipped",
            "7 records were lost by the kernel while recording",
            "1 stack is incomplete: it could not be unwound to its root",
            "1 sample was skipped because its stack was lost",
        ]
    );
}

#[test]
fn samples_of_counters_are_weighted() {
    let profile = load(STACK_SAMPLES).unwrap();
    assert_eq!(
        metrics(&profile),
        [
            ("wall-time samples", "count", 3),
            ("cycles samples", "count", 2),
            ("allocated samples", "count", 2),
            ("wall-time", "nanoseconds", 3000),
            ("cycles", "count", 7000),
            ("page-faults", "faults", 2),
            ("allocated", "bytes", 5120),
        ]
    );
    assert_eq!(profile.meta.default_metric, 3);
    assert_eq!(
        to_notation(&profile).lines().collect::<Vec<_>>(),
        [
            " 0 0 1 0 0 0 1024",
            "main;grow 0 0 1 0 0 0 4096",
            "main@shop.py:10 1 0 0 500 0 0 0 {process=40 task=accept tid=40}",
            "main@shop.py:10;parse@shop.py:20 1 0 0 1000 0 0 0 {process=40 tid=40}",
            "main@shop.py:10;parse@shop.py:20 1 0 0 1500 0 0 0 {process=40 task=request tid=41}",
            "shop::draw()@draw.cc:5;<unknown> 0 1 0 0 3000 2 0 {process=50 tid=51}",
            "shop::draw()@draw.cc:5;<unknown> 0 1 0 0 4000 0 0 {process=50 tid=51}",
        ]
    );
    assert_eq!(
        profile.meta.warnings,
        [
            "1 stack is incomplete: it could not be unwound to its root",
            "1 sample was skipped because its stack was lost",
        ]
    );
    assert_eq!(profile.meta.duration_ns, Some(11_000_000));
}

/// A sample as the first version of the format has it: interned tasks and counters have other numbers, and a stack lists frames.
#[test]
fn stack_samples_of_the_first_version() {
    let field = |number: u32, bytes: &[u8]| {
        let mut out = Vec::new();
        push_bytes(&mut out, number, bytes);
        out
    };
    let numbers = |fields: &[(u64, u64)]| {
        let mut out = Vec::new();
        for (number, value) in fields {
            push_varint(&mut out, number << 3);
            push_varint(&mut out, *value);
        }
        out
    };
    let named = |name: &[u8]| [numbers(&[(1, 1)]), field(2, name)].concat();
    let interned = [
        field(5, &named(b"main")),
        field(6, &numbers(&[(1, 7), (2, 1)])),
        field(2000, &numbers(&[(1, 3), (2, 40), (3, 41)])),
        field(2002, &[named(b"clock"), numbers(&[(3, 1)])].concat()),
    ]
    .concat();
    let sample = [numbers(&[(2, 3), (10, 1), (11, 250)]), field(5, &numbers(&[(2, 7)]))].concat();
    let bytes = [packet(12, &interned), packet(135, &sample)].concat();
    let profile = load(&bytes).unwrap();
    assert_eq!(to_notation(&profile), "main 1 250 {process=40 tid=41}");
    assert_eq!(profile.meta.metrics[profile.meta.default_metric].name, "clock");
}

#[test]
fn times_of_all_clocks_agree() {
    let profile = load(WORKED).unwrap();
    let mut times: Vec<i64> = profile.samples.time.as_deref().unwrap().to_vec();
    times.sort_unstable();
    times.dedup();
    // Samples 10 to 14 ms after the snapshot of the clocks and a heap after 20 ms, in boot time; slices from 100.05 ms on, in microseconds of another
    // clock.
    let since_snapshot = |us: i64| 1_767_225_599_990_000_000 + us * 1000;
    let first = [10_000, 11_000, 12_000, 13_000, 14_000, 20_000].map(since_snapshot);
    let last = [100_050, 100_060, 100_090].map(since_snapshot);
    assert_eq!(times, [&first[..], &last].concat());
}

#[test]
fn a_trace_without_stacks_says_what_to_record() {
    let snapshot = packet(6, &[]);
    let error = load(&[snapshot.clone(), snapshot].concat()).unwrap_err().to_string();
    assert!(error.contains("linux.perf, android.heapprofd or track_event"), "{error}");
}

#[test]
fn a_cut_trace_and_malformed_packets() {
    let cut = load(&WORKED[..WORKED.len() - 1]).unwrap();
    assert_eq!(cut.meta.warnings.last().unwrap(), "file is truncated within its last packet");
    let malformed = [packet(6, &[]), packet(66, &[0x0B])].concat();
    let error = load(&malformed).unwrap_err().to_string();
    assert_eq!(error, "perfetto: a packet is malformed (byte 6)");
}

#[test]
fn compressed_packets_are_not_unpacked_without_limit() {
    let mut zeros = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut zeros, &vec![0; 17 << 20]).unwrap();
    let error = load(&packet(50, &zeros.finish().unwrap())).unwrap_err().to_string();
    assert!(error.contains("they are larger than 16 MiB"), "{error}");
}

#[test]
fn other_messages_are_not_traces() {
    // A message whose first field is a text, as in pprof, OTLP and many others.
    let mut other = Vec::new();
    push_bytes(&mut other, 1, b"\x08\x01\x10\x02");
    push_bytes(&mut other, 1, b"\x08\x03\x10\x04");
    assert_eq!(sniff(&other), Confidence::No);
    assert_eq!(sniff(b""), Confidence::No);
}
