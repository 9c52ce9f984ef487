//! Traces and allocation profiles in the corpus, compared with what other programs made of the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::sums::functions;
use crate::support::{corpus_root, load_file, load_well};
use prof::format::{self, Source};
use prof::profile::{LabelValue, LoadOptions, Profile};

/// Loads a profile with its labels.
fn load_all(path: &Path) -> Profile {
    let file = std::fs::File::open(path).unwrap();
    format::load(&mut Source::open(Box::new(file)).unwrap(), LoadOptions::ALL, None).unwrap()
}

/// Sums of a metric by the text of the label `key`.
fn by_label(profile: &Profile, metric: &str, key: &str) -> BTreeMap<String, i64> {
    let metric = profile.meta.metric_named(metric).unwrap();
    let strings = &profile.symbols.strings;
    let mut sums = BTreeMap::new();
    for (&set, &value) in profile.samples.labels.iter().zip(&profile.samples.values[metric]) {
        for label in profile.label_sets.labels(set).iter().filter(|label| strings.get(label.key) == key) {
            if let LabelValue::Text(text) = label.value {
                *sums.entry(strings.get(text).to_string()).or_default() += value;
            }
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

/// The expected numbers are those of PerfView's tests: how many events of each name a recording has.
#[test]
#[needs(Corpus)]
fn nettrace_recordings_have_the_events_that_perfview_counts() {
    let folder = corpus_root().join("nettrace");
    let kinds = [
        ("Microsoft-DotNETCore-SampleProfiler/Thread/Sample", "samples"),
        ("Microsoft-Windows-DotNETRuntime/Contention/Stop", "lock_count"),
        ("Microsoft-Windows-DotNETRuntime/GC/AllocationTick", "alloc-samples"),
    ];
    let mut counted = 0;
    for name in [
        "eventpipe-dotnetcore2.1-win-x86-objver3.netperf",
        "eventpipe-dotnetcore3.0-win-x64-objver4.nettrace",
        "eventpipe-dotnetcore6.0-win-x64-executioncheckpoints.nettrace",
    ] {
        let meta = load_file(&folder.join(format!("microsoft__perfview__{name}.zip"))).unwrap().meta;
        assert_eq!(meta.encoding, ["zip"], "{name}");
        let golden = folder.join(format!("golden/microsoft__perfview__{name}.baseline.txt"));
        let golden = std::fs::read(golden).unwrap();
        let golden = String::from_utf8_lossy(&golden);
        for (event, metric) in kinds {
            let line = golden
                .lines()
                .find_map(|line| line.trim_start_matches('\u{FEFF}').strip_prefix(event)?.strip_prefix(", "));
            let expected = line.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap());
            let total = meta.metric_named(metric).map_or(0, |metric| meta.metrics[metric].total);
            assert_eq!(total, expected, "{name}: {event}");
            counted += total;
        }
    }
    assert_eq!(counted, 7 + 70_627);
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

/// The value after `"key": ` on a line of a snapshot.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    Some(line.trim().strip_prefix('"')?.strip_prefix(key)?.strip_prefix("\": ")?.trim_end_matches(','))
}

/// The snapshot of the Firefox Profiler has the samples and the milliseconds of CPU time of each thread.
#[test]
#[needs(Corpus)]
fn simpleperf_reports_have_the_threads_of_the_firefox_profiler() {
    let folder = corpus_root().join("simpleperf");
    let name = "firefox-devtools__profiler__simpleperf-cpu-clock.trace.gz";
    let snapshot = std::fs::read_to_string(folder.join(format!("golden/{name}.snap"))).unwrap();
    let threads = snapshot.split("topStacksPerThread").next().unwrap();
    let (mut expected, mut samples, mut weight) = (BTreeMap::new(), 0, 0.0);
    for line in threads.lines() {
        if let Some(count) = field(line, "sampleCount") {
            samples = count.parse::<i64>().unwrap();
        } else if let Some(total) = field(line, "sampleWeightTotal") {
            weight = total.parse::<f64>().unwrap();
        } else if let (Some(tid), true) = (field(line, "tid"), samples > 0) {
            expected.insert(tid.to_string(), (samples, (weight * 1e6) as i64));
        }
    }
    let profile = load_all(&folder.join(name));
    let (counts, clocks) = (by_label(&profile, "samples", "tid"), by_label(&profile, "cpu-clock", "tid"));
    let ours = counts.iter().map(|(tid, &count)| (tid.clone(), (count, *clocks.get(tid).unwrap_or(&0))));
    assert_eq!(ours.collect::<BTreeMap<_, _>>(), expected);
}

/// The expected sums of wall time, in microseconds, come from a separate script that replays the records. The snapshot of the
/// Firefox Profiler has the same functions at the root of each thread's most frequent stack.
#[test]
#[needs(Corpus)]
fn art_traces_have_the_times_and_stacks_of_other_readers() {
    let folder = corpus_root().join("art-trace");
    let name = "firefox-devtools__profiler__art-trace-regular.trace.gz";
    let sums = [(name, 52_599_734), ("getsentry__vroom__api_21_missing_threads.trace", 12_185_117)];
    for (name, microseconds) in sums {
        let profile = load_all(&folder.join(name));
        assert_eq!(profile.meta.metrics[0].total, microseconds * 1000, "{name}");
    }
    let profile = load_all(&folder.join(name));
    assert_eq!(by_label(&profile, "wall", "tid")["21491"], 6_224_530_000);
    let ours: BTreeSet<String> = profile
        .stack_ids()
        .map(|stack| {
            let frames = profile.stacks.frames(stack).iter();
            frames.map(|&frame| profile.symbols.frame_name(frame)).collect::<Vec<_>>().join(" -> ")
        })
        .collect();
    let snapshot = std::fs::read_to_string(folder.join(format!("golden/{name}.snap"))).unwrap();
    let stacks = snapshot.lines().filter_map(|line| {
        // `        "9 (9x) java.lang.Thread.run -> Worker.run -> ...",`, where `$` of names is written `\$`.
        let (count, stack) = line.trim().trim_end_matches(',').strip_suffix('"')?.split_once("x) ")?;
        // The last sample of a thread is the stack after its last record, for which there is no time.
        let is_last = count.ends_with("(1");
        Some(stack.replace('\\', "")).filter(|stack| !is_last && stack != "(null stack)")
    });
    let mut compared = 0;
    for stack in stacks {
        assert!(ours.contains(&stack), "{stack}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

/// speedscope derives self values from totals, and drops the decimals of the second file: its sum is 1 % off.
#[test]
#[needs(Corpus)]
fn call_trees_copied_from_instruments_have_the_values_of_speedscope() {
    let folder = corpus_root().join("instruments-deep-copy");
    let snapshot = folder.join("golden/jlfwong__speedscope__instruments.test.ts.snap");
    let snapshot = std::fs::read_to_string(snapshot).unwrap();
    let (_, time) = snapshot.split_once("importFromInstrumentsDeepCopy time profile 1`").unwrap();
    let (mut expected, mut name) = (BTreeMap::new(), String::new());
    for line in time.split("\n}\n").next().unwrap().lines() {
        if let Some(text) = field(line, "name") {
            name = text.trim_matches('"').to_string();
        } else if let Some(own) = field(line, "selfWeight") {
            expected.insert(name.clone(), own.parse::<i64>().unwrap());
        }
    }
    let profile =
        load_well(&folder.join("jlfwong__speedscope__instruments-7.3.1-simple-time-profile-deep-copy.txt"));
    let ours = functions(&profile, "cpu");
    assert!(expected.len() == 20 && ours.len() == expected.len());
    for (name, own) in &expected {
        let ours = ours[name].0 / 1_000_000;
        assert!((ours - own).abs() <= 1, "{name}: {ours}, not {own}");
    }
    let cycles =
        load_well(&folder.join("jlfwong__speedscope__instruments-13.4-cycles-example-deep-copy.txt"));
    let total = cycles.meta.metrics[0].total;
    assert_eq!(cycles.meta.metrics[0].name, "cycles");
    assert!((total - 96_080_000_000).abs() < 100_000_000, "{total}");
}

/// speedscope has only the stacks that are printed to their end.
#[test]
#[needs(Corpus)]
fn pmcstat_call_graphs_have_the_stacks_of_speedscope() {
    let folder = corpus_root().join("pmcstat");
    let profile = load_well(&folder.join("jlfwong__speedscope__simple.txt"));
    let values = profile.value_by_stack(0);
    let ours: BTreeSet<String> = profile
        .stack_ids()
        .map(|stack| {
            let frames = profile.stacks.frames(stack).iter();
            let names: Vec<&str> = frames.map(|&frame| profile.symbols.frame_name(frame)).collect();
            format!("{} {}", names.join(";"), values[stack])
        })
        .collect();
    let snapshot =
        std::fs::read_to_string(folder.join("golden/jlfwong__speedscope__pmcstat-callgraph.test.ts.snap"));
    let snapshot = snapshot.unwrap();
    let (_, stacks) = snapshot.split_once("\"stacks\": [").unwrap();
    let (stacks, _) = stacks.split_once("\n  ]").unwrap();
    let mut compared = 0;
    for line in
        stacks.lines().map(|line| line.trim().trim_matches([',', '"'])).filter(|line| line.contains('_'))
    {
        assert!(ours.contains(&line.replace(',', "")), "{line}");
        compared += 1;
    }
    assert_eq!((compared, functions(&profile, "inst_retired.any")["fletcher_2_native"].0), (3, 5_156));
}

/// The file says itself how many samples each function has.
#[test]
#[needs(Corpus)]
fn sysprof_trees_have_the_sums_that_the_file_says() {
    let file = corpus_root().join("sysprof-xml/jrfonseca__gprof2dot__nautilus.sysprof");
    let text = std::fs::read_to_string(&file).unwrap();
    let profile = load_well(&file);
    let ours = functions(&profile, "samples");
    assert!(
        text.contains(&format!("<size>{}</size>", profile.meta.metrics[0].total)),
        "{}",
        profile.meta.metrics[0].total
    );
    let (objects, _) = text.split_once("</objects>").unwrap();
    // Functions of one name in two binaries are two objects.
    let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
    for object in objects.split("<object ").skip(1) {
        let value = |tag: &str| object.split_once(&format!("<{tag}>")).unwrap().1.split('<').next().unwrap();
        *expected.entry(value("name").trim_matches('"')).or_default() +=
            value("self").parse::<i64>().unwrap();
    }
    expected.retain(|name, _| !name.contains('&') && ours.contains_key(*name));
    for (name, own) in &expected {
        assert_eq!(ours[*name].0, *own, "{name}");
    }
    assert!(expected.len() > 1000, "{}", expected.len());
}
