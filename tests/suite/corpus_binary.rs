//! Reads real profiles in binary formats from `../shared/corpus`, and compares them with the results of other programs.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::support::{corpus_root, files, load_file, load_well};
use prof::format::LoadError;
use prof::profile::Profile;

/// The names and totals of the metrics.
fn totals(profile: &Profile) -> Vec<(&str, i64)> {
    profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect()
}

/// The expected counts of events are those of `jfr summary`.
#[test]
#[needs(Corpus)]
fn recordings_of_java() {
    let corpus = corpus_root();
    let readable = files(&corpus.join("jfr")).into_iter().filter(|path| load_file(path).is_ok()).count();
    assert_eq!(readable, JFR.len());
    for &(name, expected) in JFR {
        let profile = load_well(&corpus.join("jfr").join(name));
        let totals = totals(&profile);
        for metric in expected {
            assert!(totals.contains(metric), "{name}: {metric:?} is not in {totals:?}");
        }
    }
}

/// Compares every readable recording with the JDK's `jfr print`, event by event.
#[test]
#[needs(Corpus, Jdk)]
fn recordings_of_java_hold_what_the_jdk_prints() {
    let corpus = corpus_root();
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for path in files(&corpus.join("jfr")) {
        let Ok(profile) = load_file(&path) else { continue };
        // The JDK requires decompressed files with the extension `.jfr`.
        let plain = folder.path().join("recording.jfr");
        std::fs::write(&plain, unpacked(&path)).unwrap();
        let Some(printed) = printed_by_jdk(&plain) else {
            // The metadata of the first file refer to missing constants, and all of its events are missing. The others
            // are of version 0.9.
            let names = ["btraceio__jafar__AZ0slzMAAAC9yoVJD_6NAwAA", "jmc__7u40", "jmc__8u0", "jmc__8u60"];
            let stem = path.file_stem().unwrap().to_string_lossy();
            assert!(names.iter().any(|name| stem.ends_with(name)), "{stem}");
            continue;
        };
        let ours = |name: &str| {
            let metric = profile.meta.metric_named(name);
            metric.map_or(0, |metric| profile.meta.metrics[metric].total)
        };
        let theirs = |event: &str| printed.get(event).copied().unwrap_or(0);
        let by_buffer = theirs("jdk.ObjectAllocationInNewTLAB") + theirs("jdk.ObjectAllocationOutsideTLAB");
        let allocations = if by_buffer > 0 { by_buffer } else { theirs("jdk.ObjectAllocationSample") };
        let sum = |events: &[&str]| events.iter().map(|event| theirs(event)).sum::<i64>();
        let is_datadog = theirs("datadog.ObjectSample") > 0;
        for (ours, theirs) in [
            (
                // The JDK cannot select Datadog's wall-clock samples.
                ours("samples") + if is_datadog { 0 } else { ours("wall_samples") },
                sum(&["jdk.ExecutionSample", "profiler.WallClockSample", "datadog.ExecutionSample"]),
            ),
            (ours("native_samples"), theirs("jdk.NativeMethodSample")),
            // Datadog's stand for several objects each.
            (if is_datadog { 0 } else { ours("alloc_objects") }, allocations),
            (ours("wait_count"), theirs("jdk.JavaMonitorWait")),
            (ours("sleep_count"), theirs("jdk.ThreadSleep")),
            (ours("socket_count"), sum(&["jdk.SocketRead", "jdk.SocketWrite"])),
            (ours("file_count"), sum(&["jdk.FileRead", "jdk.FileWrite", "jdk.FileForce"])),
            (ours("old_objects"), theirs("jdk.OldObjectSample")),
            (ours("exceptions"), sum(&["datadog.ExceptionSample", "jdk.JavaExceptionThrow"])),
            (if is_datadog { 0 } else { ours("inuse_objects") }, theirs("profiler.LiveObject")),
            (ours("lock_count"), theirs("jdk.JavaMonitorEnter")),
            (ours("park_count"), theirs("jdk.ThreadPark")),
        ] {
            assert_eq!(ours, theirs, "{}: {printed:?}", path.display());
        }
        // All of these have one interval.
        let (samples, cpu) = (ours("samples"), ours("cpu"));
        assert!(samples == 0 || cpu % samples == 0, "{}: {samples} {cpu}", path.display());
        compared += 1;
    }
    assert!(compared > 15, "{compared}");
}

/// Compares recordings of version 0.9 with what JDK Mission Control prints: the number of events of each kind, and the
/// methods on the stacks.
#[test]
#[needs(Corpus)]
fn recordings_of_java_7_hold_what_mission_control_prints() {
    let corpus = corpus_root();
    for name in ["7u40", "8u0", "8u60"] {
        let profile = load_well(&corpus.join(format!("jfr/openjdk__jmc__{name}.jfr")));
        let golden = |kind: &str| {
            let path = corpus.join(format!("jfr/golden/openjdk__jmc__{name}.{kind}.txt"));
            let text = std::fs::read_to_string(path).unwrap();
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect::<Vec<_>>()
        };
        // `<event name="Java Monitor Wait" path="jdk.JavaMonitorWait">`
        let printed = golden("printout");
        let theirs = |events: &[&str]| {
            let is_event = |event: &&str, line: &str| line.contains(&format!(" path=\"{event}\""));
            let is_any = |line: &&String| events.iter().any(|event| is_event(event, line));
            printed.iter().filter(is_any).count() as i64
        };
        let ours = |name: &str| {
            let metric = profile.meta.metric_named(name);
            metric.map_or(0, |metric| profile.meta.metrics[metric].total)
        };
        for (metric, events) in [
            ("samples", &["jdk.ExecutionSample"][..]),
            ("alloc_objects", &["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"]),
            ("wait_count", &["jdk.JavaMonitorWait"]),
            ("socket_count", &["jdk.SocketRead", "jdk.SocketWrite"]),
            ("park_count", &["jdk.ThreadPark"]),
            ("lock_count", &["jdk.JavaMonitorEnter"]),
        ] {
            assert_eq!(ours(metric), theirs(events), "{name}: {metric}");
        }
        // `    void java.util.TimerThread.mainLoop() (11)`
        let theirs: std::collections::BTreeSet<String> = golden("stacktraces")
            .iter()
            .filter_map(|line| Some(plain(line.split('(').next()?.trim().rsplit(' ').next()?)))
            .filter(|method| !method.is_empty())
            .collect();
        let symbols = &profile.symbols;
        // Mission Control hides the recorder itself.
        let ours = symbols.functions.ids().map(|id| plain(symbols.function_name(id)));
        let ours = ours.filter(|name| !name.starts_with("oracle.jrockit.jfr.events.")).collect();
        assert_eq!(theirs, ours, "{name}");
    }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&*bytes).read_to_end(&mut plain).unwrap();
    plain
}

/// The number of events of each kind that the JDK prints; a wall-clock sample that represents several counts as several.
/// `None` if the JDK cannot read the recording either.
fn printed_by_jdk(recording: &Path) -> Option<BTreeMap<String, i64>> {
    let kinds = "jdk.ExecutionSample,profiler.WallClockSample,jdk.NativeMethodSample,\
                 jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB,jdk.ObjectAllocationSample,\
                 profiler.LiveObject,jdk.JavaMonitorEnter,jdk.ThreadPark,jdk.JavaMonitorWait,jdk.ThreadSleep,\
                 jdk.SocketRead,jdk.SocketWrite,jdk.FileRead,jdk.FileWrite,jdk.FileForce,jdk.OldObjectSample,\
                 jdk.JavaExceptionThrow,datadog.ExecutionSample,datadog.ObjectSample,\
                 datadog.ExceptionSample";
    let mut command = Command::new("jfr");
    let output = command.args(["print", "--stack-depth", "1", "--events", kinds]).arg(recording).output();
    let output = output.unwrap();
    if !output.status.success() {
        return None;
    }
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    let mut kind = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(name) = line.strip_suffix(" {").filter(|name| !name.starts_with(' ')) {
            kind = name.to_string();
            *counts.entry(kind.clone()).or_default() += 1;
        } else if let Some(samples) = line.strip_prefix("  samples = ") {
            *counts.get_mut(&kind).unwrap() += samples.parse::<i64>().unwrap() - 1;
        }
    }
    Some(counts)
}

/// Files, and some of their metrics.
const JFR: &[(&str, &[(&str, i64)])] = &[
    ("grafana__jfr-parser__cortex-dev-01__kafka-0__cpu__0.jfr.gz", &[("samples", 478)]),
    ("grafana__jfr-parser__cortex-dev-01__kafka-0__cpu__1.jfr.gz", &[("samples", 613)]),
    ("grafana__jfr-parser__cortex-dev-01__kafka-0__cpu__2.jfr.gz", &[("samples", 482)]),
    ("grafana__jfr-parser__cortex-dev-01__kafka-0__cpu__3.jfr.gz", &[("samples", 698)]),
    (
        "grafana__jfr-parser__cortex-dev-01__kafka-0__cpu_lock0_alloc0__0.jfr.gz",
        &[("samples", 582), ("lock_count", 1_773), ("park_count", 435), ("alloc_objects", 10_210)],
    ),
    (
        "grafana__jfr-parser__cortex-dev-01__kafka-0__cpu_lock_alloc__0.jfr.gz",
        &[("samples", 554), ("alloc_objects", 766)],
    ),
    (
        "grafana__jfr-parser__cortex-dev-01__kafka-0__cpu_lock_alloc__1.jfr.gz",
        &[("samples", 536), ("alloc_objects", 660)],
    ),
    (
        "grafana__jfr-parser__cortex-dev-01__kafka-0__cpu_lock_alloc__3.jfr.gz",
        &[("samples", 502), ("alloc_objects", 667)],
    ),
    (
        "grafana__jfr-parser__cpool-uint64-constant-index.jfr.gz",
        &[("samples", 88), ("park_count", 75), ("native_samples", 204), ("alloc_objects", 842)],
    ),
    (
        "grafana__jfr-parser__dd-trace-java.jfr.gz",
        &[("samples", 113), ("park_count", 122), ("alloc_objects", 3_818)],
    ),
    (
        "grafana__jfr-parser__dump2.jfr.gz",
        &[("wall_samples", 14_723), ("inuse_objects", 4), ("alloc_objects", 4)],
    ),
    (
        "grafana__jfr-parser__object-allocation-sample.jfr.gz",
        &[("samples", 1_243), ("park_count", 799), ("alloc_objects", 10_694)],
    ),
    ("grafana__jfr-parser__parse_failure_repro1.jfr.gz", &[("samples", 1_500)]),
    ("grafana__jfr-parser__wall_tick_sample.jfr.gz", &[]),
    // All of its events are missing.
    ("btraceio__jafar__AZ0slzMAAAC9yoVJD_6NAwAA.jfr", &[("samples", 0)]),
    (
        "btraceio__jafar__tck-test.jfr",
        &[("samples", 14_202), ("wall_samples", 12_813), ("lock_count", 1), ("exceptions", 3_357)],
    ),
    // Version 0.9.
    (
        "openjdk__jmc__7u40.jfr",
        &[("samples", 2), ("alloc_objects", 3), ("wait_count", 108), ("socket_count", 9)],
    ),
    ("openjdk__jmc__8u0.jfr", &[("samples", 1), ("alloc_objects", 8), ("wait_count", 106)]),
    ("openjdk__jmc__8u60.jfr", &[("alloc_objects", 30), ("wait_count", 65), ("socket_count", 10)]),
    ("openjdk__jmc__autobox_allocation_sample.jfr", &[("alloc_objects", 113)]),
    // No events that are samples.
    ("openjdk__jmc__jdk15.jfr", &[("samples", 0)]),
    ("petrbouda__jeffrey__profile-1.jfr", &[("samples", 261), ("alloc_objects", 116), ("park_count", 11)]),
    ("petrbouda__jeffrey__profile-3.jfr", &[("samples", 199), ("alloc_objects", 114), ("park_count", 8)]),
    ("parca-dev__parca-agent__prof.jfr", &[("samples", 347)]),
];

/// Values by stack, with names written like Pyroscope's where possible.
fn by_stack(profile: &Profile, metric: &str) -> BTreeMap<String, i64> {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums = BTreeMap::new();
    for stack in profile.stack_ids().filter(|&stack| values[stack] != 0) {
        let frames = profile.stacks.frames(stack).iter();
        let names: Vec<String> = frames.map(|&frame| plain(profile.symbols.frame_name(frame))).collect();
        *sums.entry(names.join(";")).or_default() += values[stack];
    }
    sums
}

/// A name without the parts that the two programs write differently: separators, and the numbers of hidden and
/// generated classes.
fn plain(name: &str) -> String {
    let mut name = name.replace('/', ".");
    if let (Some(lambda), Some(method)) = (name.find("$$Lambda"), name.rfind('.')) {
        name = format!("{}{}", &name[..lambda], &name[method..]);
    }
    // Pyroscope keeps the addresses of some hidden classes.
    let parts: Vec<&str> = name.split('.').filter(|part| !part.starts_with("0x")).collect();
    let kept: String = parts.join(".").chars().filter(|c| !c.is_ascii_digit() && *c != '_').collect();
    kept.trim_start_matches('.').to_string()
}

#[test]
#[needs(Corpus)]
fn stacks_are_those_of_pyroscope() {
    let corpus = corpus_root();
    let compare = |recording: &str, metric: &str, made: &[&str]| {
        let ours = load_well(&corpus.join(format!("jfr/grafana__jfr-parser__{recording}.jfr.gz")));
        let ours = by_stack(&ours, metric);
        let mut theirs: BTreeMap<String, i64> = BTreeMap::new();
        for made in made {
            let path =
                format!("pprof/grafana__pyroscope__{recording}.jfr.gz.{made}.17241709254077376921.pb.gz");
            let part = load_well(&corpus.join(path));
            for (stack, value) in by_stack(&part, &part.meta.metrics[0].name) {
                *theirs.entry(stack).or_default() += value;
            }
        }
        let difference: Vec<_> = ours
            .iter()
            .filter(|(stack, value)| theirs.get(*stack) != Some(value))
            .map(|(stack, value)| (value, theirs.get(stack), stack))
            .take(3)
            .collect();
        assert!(difference.is_empty(), "{recording} {metric}: {difference:#?}");
        assert_eq!(ours.len(), theirs.len(), "{recording} {metric}");
    };
    let kafka = "cortex-dev-01__kafka-0__cpu_lock0_alloc0__0";
    compare(kafka, "cpu", &["process_cpu_cpu_nanoseconds_cpu_nanoseconds"]);
    compare(kafka, "lock_count", &["mutex_contentions_count_mutex_count"]);
    let (within, outside) = (
        "memory_alloc_in_new_tlab_objects_count_space_bytes",
        "memory_alloc_outside_tlab_objects_count_space_bytes",
    );
    compare(kafka, "alloc_objects", &[within, outside]);
    // Pyroscope's delays are not compared, because they are ticks of the recorder's clock labelled as nanoseconds.
    compare("dump2", "wall", &["wall_wall_nanoseconds_wall_nanoseconds"]);
    compare("dump2", "alloc_space", &["memory_alloc_in_new_tlab_bytes_bytes_space_bytes"]);
    compare("dump2", "alloc_objects", &[within]);
    compare("dump2", "inuse_objects", &["memory_live_count_objects_count"]);
}

/// Files and their numbers of samples, counted by a short Python script that only knows the sizes and kinds of records.
const PERF_DATA: &[(&str, i64)] = &[
    ("0xmsc__pyparse__perf.data", 974),
    ("DarkBenky__ReadWriteBytes__perf.data", 1_021),
    ("KDAB__hotspot__perf.data.PerfFormatLost", 34),
    ("SSD-Brandeis__LSMMemoryProfiling__perf.data", 9_215),
    ("SeanTater__copyforward__perf.data", 126),
    ("hardliner66__abps__perf.data", 277),
    ("khasm-lang__khasmc__perf.data", 208),
    ("manthanabc__kumiko-rs__perf.data", 3_523),
    ("tspp-io__tspp-compiler__perf.data", 1_002),
];

#[test]
#[needs(Corpus)]
fn perf_data() {
    let corpus = corpus_root();
    let folder = corpus.join("perf-data");
    for &(name, samples) in PERF_DATA {
        let profile = load_well(&folder.join(name));
        assert_eq!(totals(&profile)[0], ("samples", samples), "{name}");
        // Mapping 0 means none, and the kernel is always present.
        assert!(profile.symbols.mappings.len() > 2, "{name}");
    }
    let sums = |name: &str| totals(&load_well(&folder.join(name)))[1].1;
    assert_eq!(sums("0xmsc__pyparse__perf.data"), 24_117_651_906);
    assert_eq!(sums("tspp-io__tspp-compiler__perf.data"), 553_717_499);
    assert_eq!(sums("khasm-lang__khasmc__perf.data"), 161_586_576);
    // Its samples are in one compressed record, which the script cannot count.
    for name in [
        "mstange__linux-perf-data__sleep.compressed.data",
        "mstange__linux-perf-data__sleep.compressed2.data",
    ] {
        let profile = load_well(&folder.join(name));
        assert!(profile.meta.rows > 0 && profile.meta.warnings.is_empty(), "{name}: {:?}", profile.meta);
    }
    // Recorded through a pipe, in which attributes are records, too, and with stacks as raw memory.
    let piped = load_file(&folder.join("mstange__linux-perf-data__fibo.compressed2.pipe.data")).unwrap();
    assert_eq!(totals(&piped), [("samples", 547), ("cycles:P", 942_061_728)]);
    assert!(piped.meta.warnings[0].contains("raw memory"), "{:?}", piped.meta.warnings);
}

#[test]
#[needs(Corpus)]
fn perf_data_agree_with_perf_script() {
    let corpus = corpus_root();
    for (data, text) in [
        ("hardliner66__abps__perf.data", "perf-script/hardliner66__abps__out.perf"),
        ("SeanTater__copyforward__perf.data", "perf-script/SeanTater__copyforward__perf.script"),
        ("DarkBenky__ReadWriteBytes__perf.data", "perf-script/DarkBenky__ReadWriteBytes__out.perf"),
    ] {
        let (data, text) = (load_well(&corpus.join("perf-data").join(data)), load_well(&corpus.join(text)));
        assert_eq!(totals(&data), totals(&text));
    }
    let data = load_well(&corpus.join("perf-data/SSD-Brandeis__LSMMemoryProfiling__perf.data"));
    let folded = load_well(&corpus.join("collapsed/SSD-Brandeis__LSMMemoryProfiling__out.folded"));
    assert_eq!(data.meta.metrics[1].total, folded.meta.metrics[0].total);
}

#[test]
#[needs(Corpus)]
fn perf_data_of_old_versions() {
    let corpus = corpus_root();
    let first = load_file(&corpus.join("malformed/KDAB__hotspot__perf.data.true.v1")).unwrap_err();
    let LoadError::Unrecognized { hint: Some(hint) } = first else { panic!("{first}") };
    assert!(hint.starts_with("this is a version 1 perf.data file"), "{hint}");
    let second = load_well(&corpus.join("malformed/KDAB__hotspot__perf.data.true.v2"));
    assert_eq!(totals(&second), [("samples", 1), ("cpu-clock", 250_000)]);
}
