//! Readers compared with what the recorders themselves say about the same files: fixtures, and real files from
//! `../shared/corpus`.

use std::collections::BTreeMap;

use crate::support::{corpus_root, fixture, load_file, load_well};
use prof::profile::{LabelValue, Profile};

/// The names and totals of the metrics.
fn totals(profile: &Profile) -> Vec<(&str, i64)> {
    profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect()
}

/// Self and total of every function, counted naively.
fn functions(profile: &Profile, metric: &str) -> BTreeMap<String, (i64, i64)> {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for stack in profile.stacks.ids() {
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
    sums.retain(|_, sums| *sums != (0, 0));
    sums
}

/// Sums of a metric by the label `key`.
fn by_label(profile: &Profile, metric: &str, key: &str) -> BTreeMap<String, i64> {
    let metric = profile.meta.metric_named(metric).unwrap();
    let strings = &profile.symbols.strings;
    let mut sums = BTreeMap::new();
    for (row, &value) in profile.samples.values[metric].iter().enumerate() {
        for label in profile.label_sets.labels(profile.samples.labels[row]) {
            if value != 0 && strings.get(label.key) == key {
                let text = match label.value {
                    LabelValue::Text(text) => strings.get(text).to_string(),
                    LabelValue::Number(number, _) => number.to_string(),
                };
                *sums.entry(text).or_default() += value;
            }
        }
    }
    sums
}

/// `fixtures/programs/otlp.py` wrote the collapsed stacks with OpenTelemetry's own classes, of three versions.
#[test]
fn otlp_in_every_version() {
    let stacks = load_well(&fixture("collapsed/python.folded"));
    let plain = |(name, sums): (String, (i64, i64))| (name.rsplit_once(" (").unwrap().0.to_string(), sums);
    let expected: BTreeMap<_, _> = functions(&stacks, "samples").into_iter().map(plain).collect();
    for name in [
        "python-ranges.otlp",
        "python-values-first.otlp",
        "python-values-last.otlp",
        "python-messages.otlp",
        "python.otlp.json",
    ] {
        let profile = load_well(&fixture("otlp").join(name));
        assert_eq!(profile.meta.format, "otlp", "{name}");
        assert_eq!(profile.meta.warnings, [""; 0], "{name}");
        assert_eq!(totals(&profile), [("samples", 372), ("wall", 3_720_000_000)], "{name}");
        assert_eq!(functions(&profile, "samples"), expected, "{name}");
        assert_eq!(by_label(&profile, "samples", "service.name"), [("weather".into(), 372)].into(), "{name}");
        assert_eq!(by_label(&profile, "samples", "process"), [("77".into(), 372)].into(), "{name}");
        let threads = by_label(&profile, "samples", "thread");
        assert_eq!(threads.values().sum::<i64>(), 372, "{name}");
        assert_eq!(threads.len(), 2, "{name}");
        let times = profile.samples.time.as_ref().unwrap();
        assert_eq!(times.iter().min(), Some(&1_700_000_000_000_000_000), "{name}");
        assert_eq!(
            (profile.meta.time_ns, profile.meta.duration_ns),
            (Some(1_700_000_000_000_000_000), Some(10_000_000_000))
        );
    }
}

/// The expected values are those of an independent reader, and what Pyroscope stored of the same request.
#[test]
#[needs(Corpus)]
fn otlp_of_the_ebpf_profiler() {
    let folder = corpus_root().join("otlp");
    let profile = load_well(&folder.join("open-telemetry__sig-profiling__profile.otlp"));
    // One sample every 50 ms.
    assert_eq!(totals(&profile), [("samples", 189), ("cpu", 9_450_000_000)]);
    let sums = functions(&profile, "samples");
    assert_eq!(sums["int java.util.Random.next(int)"].0, 116);
    let work = "void PerformanceTest.hardWork(java.util.concurrent.CountDownLatch, java.lang.Integer)";
    assert_eq!(sums[work].0, 19);
    for name in
        ["grafana__pyroscope__otel-ebpf-profile.pb.bin", "grafana__pyroscope__otel-ebpf-profile.pb.json"]
    {
        let profile = load_well(&folder.join(name));
        let expected = [("off_cpu", 267_302_249_331), ("samples", 10), ("cpu", 500_000_000)];
        assert_eq!(totals(&profile), expected);
        assert_eq!(profile.meta.metrics[profile.meta.default_metric].name, "cpu");
        assert_eq!(profile.meta.metrics[0].rows, 5311);
        for (metric, file) in [("cpu", "cpu"), ("off_cpu", "offcpu")] {
            let golden = format!("golden/grafana__pyroscope__otel-ebpf-profile-{file}.out.json");
            let golden = std::fs::read_to_string(folder.join(golden)).unwrap();
            compare_with_pyroscope(&profile, metric, &serde_json::from_str(&golden).unwrap());
        }
    }
}

/// Every stack that Pyroscope stored has at least its value; for CPU time, which all belongs to one service, exactly.
fn compare_with_pyroscope(profile: &Profile, metric: &str, golden: &serde_json::Value) {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut ours: BTreeMap<Vec<&str>, i64> = BTreeMap::new();
    for stack in profile.stacks.ids() {
        let frames = profile.stacks.frames(stack).iter().rev();
        let names = frames.map(|&frame| profile.symbols.frame_name(frame)).collect();
        *ours.entry(names).or_default() += values[stack];
    }
    let mut compared = 0;
    for sample in golden["samples"].as_array().unwrap() {
        let lines = sample["locations"].as_array().into_iter().flatten();
        let lines = lines.flat_map(|location| location["lines"].as_array().unwrap());
        let names: Vec<&str> =
            lines.map(|line| line.as_str().unwrap().split_once("[]@").unwrap().0).collect();
        let value: i64 = sample["values"].as_str().unwrap().parse().unwrap();
        assert!(metric != "cpu" || ours[&names] == value, "{names:?}");
        assert!(ours[&names] >= value, "{names:?}");
        compared += 1;
    }
    assert!(compared >= 7, "{compared}");
}

/// What is wrong with a file that is not read.
#[test]
fn otlp_of_unknown_versions_is_refused() {
    let message = |fields: &[(u8, &[u8])]| -> Vec<u8> {
        fields
            .iter()
            .flat_map(|(field, bytes)| [&[field << 3 | 2, bytes.len() as u8], *bytes].concat())
            .collect()
    };
    let wrapped = |profile: &[u8], dictionary: &[u8]| {
        let resource = message(&[(2, &message(&[(2, profile)]))]);
        message(&[(1, &resource), (2, dictionary)])
    };
    let strings = message(&[(5, b""), (5, b"cpu"), (5, b"count"), (6, b""), (7, b"")]);
    let kind: &[u8] = &[8, 1, 16, 2];
    let load = |bytes: Vec<u8>| {
        let mut source = prof::format::Source::from_bytes(bytes);
        prof::format::load(&mut source, prof::profile::LoadOptions::ALL, prof::format::named("otlp"))
    };
    // Attribute 9 does not exist, whether it is in field 2 or in field 3; so neither numbering is right.
    let sample = message(&[(2, &[9, 8]), (3, &[9]), (4, &[7])]);
    let error = load(wrapped(&message(&[(1, kind), (2, &sample)]), &strings)).unwrap_err().to_string();
    assert!(error.contains("no sense in any known version"), "{error}");
    let error = load(wrapped(&message(&[(1, kind), (2, &[8, 1])]), b"")).unwrap_err().to_string();
    assert!(error.contains("have no dictionary"), "{error}");
    // One time and the number 1: a value of 1 in field 2, or attribute 1.
    let attributes = message(&[(5, b""), (5, b"cpu"), (5, b"count"), (6, b""), (6, &[8, 1]), (7, b"")]);
    let sample = message(&[(2, &[1]), (5, &[1, 0, 0, 0, 0, 0, 0, 0])]);
    let profile = load(wrapped(&message(&[(1, kind), (2, &sample)]), &attributes)).unwrap();
    assert_eq!(totals(&profile), [("cpu", 1)]);
    assert!(profile.meta.warnings[0].contains("fit two versions"), "{:?}", profile.meta.warnings);
    assert!(load_file(&fixture("otlp/python-values-last.otlp")).is_ok());
}
