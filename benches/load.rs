//! The throughput of each reader, in decompressed bytes per second.
//!
//! `cargo bench --bench load -- speedscope` measures one reader. The inputs are repeated fixtures, and a generated
//! profile in each format that can be written. In an input called `distinct`, no stack occurs twice.
//! `cargo bench --bench load -- fleet` measures adding up and averaging several profiles.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prof::Request;
use prof::format::{Source, WRITERS, load, named, writer_named};
use prof::load::Merge;
use prof::profile::{LoadOptions, Profile};
use serde_json::Value;

#[path = "support/generated.rs"]
mod generated;

/// The size of inputs whose size can be chosen.
const SIZE: usize = 8 << 20;

/// Formats whose lines can be repeated, with a fixture and the number of header lines, which are not.
const REPEATED: &[(&str, &str, usize)] = &[
    ("austin", "austin/python.austin", 0),
    ("bpftrace", "bpftrace/c.bpftrace.txt", 0),
    ("collapsed-recorded", "collapsed/rust.folded", 0),
    ("jfr", "jfr/java.jfr", 0),
    ("perf-script", "perf-script/rust.perf.txt", 0),
    ("perf-data", "perf-data/rust.perf.data", usize::MAX),
    ("pstats", "pstats/python.pstats", usize::MAX),
    ("callgrind-recorded", "callgrind/c.callgrind", usize::MAX),
    ("gmon", "gmon/c.gmon", usize::MAX),
    ("gprof", "gprof/c.gprof.txt", 0),
    ("memray", "memray/pantry.bin", usize::MAX),
    ("nettrace", "nettrace/searches.nettrace.gz", usize::MAX),
    ("otlp-recorded", "otlp/python-messages.otlp", 0),
    ("perfetto", "perfetto/worked.pftrace", 0),
    ("rprof", "rprof/plain.out", usize::MAX),
    ("tachyon", "tachyon/worked.tachyon", usize::MAX),
];

/// JSON formats, with a fixture and the lists in it that are repeated.
const LISTS: &[(&str, &str, &[&str])] = &[
    ("cpuprofile-recorded", "cpuprofile/node.cpuprofile", &["/samples", "/timeDeltas"]),
    ("heapprofile", "heapprofile/node.heapprofile", &["/head/children"]),
    (
        "speedscope-sampled",
        "speedscope/python.speedscope.json",
        &["/profiles/0/samples", "/profiles/0/weights"],
    ),
    ("dhat", "dhat/c.dhat.json", &["/pps"]),
];

/// A fixture, decompressed.
fn fixture(path: &str) -> Vec<u8> {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)).unwrap();
    Source::open(Box::new(Cursor::new(bytes))).unwrap().read_all().unwrap()
}

/// The inputs by name, which starts with the name of the format.
fn inputs() -> BTreeMap<&'static str, Vec<u8>> {
    let mut inputs = BTreeMap::new();
    for &(name, path, keep) in REPEATED {
        let bytes = fixture(path);
        let times = if keep == usize::MAX { 1 } else { SIZE / bytes.len() };
        inputs.insert(name, bytes.repeat(times));
    }
    for &(name, path, lists) in LISTS {
        let mut json: Value = serde_json::from_slice(&fixture(path)).unwrap();
        // All columns of a table must keep the same length.
        let size: usize = lists.iter().map(|list| json.pointer(list).unwrap().to_string().len()).sum();
        for list in lists {
            let list = json.pointer_mut(list).and_then(Value::as_array_mut).unwrap();
            *list = std::iter::repeat_n(&*list, (SIZE / size).max(1)).flatten().cloned().collect();
        }
        inputs.insert(name, serde_json::to_vec(&json).unwrap());
    }
    let profile = generated::profile(200_000);
    for writer in WRITERS {
        let mut bytes = Vec::new();
        writer.write_to(&profile, 0, false, &mut bytes).unwrap();
        inputs.insert(writer.name, bytes);
    }
    inputs.insert("collapsed-distinct", generated::distinct(SIZE));
    inputs.insert("pprof-distinct", pprof(&generated::distinct_profile(SIZE), false));
    inputs.insert("pprof-legacy", generated::legacy_heap(SIZE));
    inputs.insert("speedscope-evented", generated::evented(SIZE));
    inputs.insert("chrome-trace", generated::spans(SIZE));
    inputs.insert("stackprof", generated::stackprof(SIZE));
    inputs.insert("art-trace", generated::art_trace(SIZE));
    inputs.insert("mojo", generated::mojo(SIZE));
    inputs.insert("dtrace", generated::dtrace(SIZE));
    inputs
}

/// A profile in the pprof format.
fn pprof(profile: &Profile, compressed: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer_named("pprof").unwrap().write_to(profile, 0, compressed, &mut bytes).unwrap();
    bytes
}

/// Adding up and averaging several profiles of one program.
fn fleet(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..FLEET {
        let bytes = pprof(&generated::profile(7_000 + number), true);
        fs::write(folder.path().join(format!("{number}.pb.gz")), bytes).unwrap();
    }
    let mut group = criterion.benchmark_group("fleet");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for (name, merge) in [("sum", Merge::Sum), ("mean", Merge::Mean)] {
        let needs = LoadOptions { times: false, labels: false, ..LoadOptions::default() };
        let mut request = Request { needs, ..Request::new([folder.path().display().to_string()]) };
        request.combine.merge = merge;
        group.bench_function(name, |bench| bench.iter(|| black_box(request.load().unwrap())));
    }
    group.finish();
}

/// Number of profiles of the fleet.
const FLEET: usize = 25;

fn readers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for (name, bytes) in inputs() {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let format = named(name).or_else(|| named(name.rsplit_once('-')?.0)).unwrap();
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut source = Source::open(Box::new(Cursor::new(bytes.clone()))).unwrap();
                black_box(load(&mut source, LoadOptions::default(), Some(format)).unwrap())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, readers, fleet);
criterion_main!(benches);
