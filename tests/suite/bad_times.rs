//! Times that cannot be true: what `prof timeline` says of them, and shows.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::prof;

const MS: i64 = 1_000_000;
const DAY: i64 = 86_400_000 * MS;

/// The times of the samples of one thread, of which the first half is in `alpha` and the rest in `beta`.
type Times = Vec<Option<i64>>;

/// A format: the name of a file, and its contents for such times.
type Writing = (&'static str, fn(&Times) -> String);

const FORMATS: &[Writing] = &[
    ("a.perf.txt", perf_script),
    ("a.gecko.json", gecko),
    ("a.stackprof.json", stackprof),
    ("a.sentry.json", sentry),
    ("a.cpuprofile", cpuprofile),
    ("a.speedscope.json", speedscope),
    ("a.trace.json", chrome_trace),
];

fn function(times: &Times, sample: usize) -> usize {
    usize::from(sample * 2 >= times.len().max(2))
}

fn perf_script(times: &Times) -> String {
    let mut text = String::new();
    for (sample, time) in times.iter().enumerate() {
        let name = ["alpha", "beta"][function(times, sample)];
        let time = time.map(|time| format!(" {}.{:09}:", time / 1_000_000_000, time % 1_000_000_000));
        writeln!(text, "app 10/11{} 10000000 cpu-clock:", time.unwrap_or_default()).unwrap();
        writeln!(text, "\t401000 {name} (/bin/app)\n\t400000 main (/bin/app)\n").unwrap();
    }
    text
}

fn gecko(times: &Times) -> String {
    let milliseconds = |time: &Option<i64>| time.map(|time| time as f64 / 1e6);
    let samples: Vec<Value> = times
        .iter()
        .enumerate()
        .map(|(sample, time)| json!([function(times, sample), milliseconds(time)]))
        .collect();
    json!({"meta": {"version": 24, "interval": 10, "startTime": 1.7e12, "processType": 0, "product": "Firefox"},
        "libs": [], "processes": [], "threads": [{"name": "GeckoMain", "tid": 1, "pid": 1,
        "samples": {"schema": {"stack": 0, "time": 1}, "data": samples},
        "frameTable": {"schema": {"location": 0}, "data": [[0], [1]]},
        "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [null, 1]]},
        "markers": {"schema": {"name": 0}, "data": []}, "stringTable": ["alpha", "beta"]}]})
    .to_string()
}

fn stackprof(times: &Times) -> String {
    // It has fewer times than samples rather than samples without.
    let stamps: Vec<i64> = times.iter().map_while(|time| time.map(|time| time / 1000)).collect();
    let raw: Vec<Value> = (0..times.len())
        .flat_map(|sample| [json!(1), json!(function(times, sample) + 1), json!(1)])
        .collect();
    let frame =
        |name: &str| json!({"name": name, "file": "a.rb", "line": 1, "total_samples": 1, "samples": 1});
    json!({"version": 1.2, "mode": "wall", "interval": 10000, "samples": times.len(), "gc_samples": 0,
        "missed_samples": 0, "frames": {"1": frame("alpha"), "2": frame("beta")}, "raw": raw,
        "raw_sample_timestamps": stamps})
    .to_string()
}

fn sentry(times: &Times) -> String {
    let sample = |(sample, time): (usize, &Option<i64>)| {
        let time = time.map(|time| time.to_string());
        json!({"elapsed_since_start_ns": time, "stack_id": function(times, sample), "thread_id": "1"})
    };
    let samples: Vec<Value> = times.iter().enumerate().map(sample).collect();
    json!({"version": "1", "platform": "python", "event_id": "a", "timestamp": "2024-01-01T00:00:00Z",
        "profile": {"frames": [{"function": "alpha"}, {"function": "beta"}], "stacks": [[0], [1]],
        "samples": samples, "thread_metadata": {"1": {"name": "main"}}}})
    .to_string()
}

fn cpuprofile(times: &Times) -> String {
    let node = |id: usize, name: &str, children: &[usize]| {
        json!({"id": id, "children": children,
            "callFrame": {"functionName": name, "scriptId": "1", "url": "a.js", "lineNumber": id, "columnNumber": 0}})
    };
    let times: Vec<i64> = times.iter().map_while(|time| time.map(|time| time / 1000)).collect();
    let deltas: Vec<i64> =
        times.iter().zip(times.first().into_iter().chain(&times)).map(|(b, a)| b - a).collect();
    let samples: Vec<usize> = (0..20.max(times.len())).map(|sample| 2 + usize::from(sample >= 10)).collect();
    let samples = if times.len() == 1 { &samples[..1] } else { &samples[..] };
    json!({"nodes": [node(1, "(root)", &[2, 3]), node(2, "alpha", &[]), node(3, "beta", &[])],
        "startTime": times[0], "endTime": times[times.len() - 1] + 10_000, "samples": samples, "timeDeltas": deltas})
    .to_string()
}

fn speedscope(times: &Times) -> String {
    let events = times.iter().enumerate().flat_map(|(sample, time)| {
        let event = |kind: &str, after: i64| {
            json!({"type": kind, "frame": function(times, sample), "at": time.map(|time| time + after)})
        };
        [event("O", 0), event("C", 5 * MS)]
    });
    json!({"$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "alpha"}, {"name": "beta"}]},
        "profiles": [{"type": "evented", "name": "t", "unit": "nanoseconds", "startValue": 0, "endValue": 0,
        "events": events.collect::<Vec<Value>>()}]})
    .to_string()
}

fn chrome_trace(times: &Times) -> String {
    let event = |(sample, time): (usize, &Option<i64>)| {
        let name = ["alpha", "beta"][function(times, sample)];
        json!({"ph": "X", "name": name, "ts": time.map(|time| time as f64 / 1e3), "dur": 5000, "pid": 1, "tid": 1})
    };
    json!({"traceEvents": times.iter().enumerate().map(event).collect::<Vec<Value>>()}).to_string()
}

/// The report, and the messages; the messages alone if it fails.
fn timeline(folder: &Path, (name, write): Writing, times: &Times) -> (Option<Value>, String) {
    fs::write(folder.join(name), write(times)).unwrap();
    let output = prof(folder, &["timeline", "-f", "json", "--bins", "20", name]).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    let report = serde_json::from_slice(&output.stdout).ok();
    assert_eq!(output.status.code(), Some(if report.is_some() { 0 } else { 2 }), "{name}: {messages}");
    (report, messages)
}

/// The values of the bins of all rows.
fn bins(report: &Value) -> Vec<i64> {
    let mut sums = vec![0; report["axis"]["bins"].as_u64().unwrap() as usize];
    for row in report["rows"].as_array().unwrap() {
        for (sum, bin) in sums.iter_mut().zip(row["bins"].as_array().unwrap()) {
            *sum += bin.as_i64().unwrap();
        }
    }
    sums
}

/// Runs all formats with such times. `says` has a part of the messages of each format, in the order of [`FORMATS`]: empty for
/// none, and beginning with `error` if there is no timeline.
fn check(times: &Times, says: [&str; 7], is_right: impl Fn(&str, &[i64], &Value)) {
    let folder = TempDir::new().unwrap();
    for (&format, said) in FORMATS.iter().zip(says) {
        let (report, messages) = timeline(folder.path(), format, times);
        let name = format.0;
        if said.is_empty() {
            assert_eq!(messages, "", "{name}");
        } else {
            assert!(messages.contains(said), "{name}: {messages}");
        }
        assert_eq!(report.is_none(), said.starts_with("error"), "{name}: {messages}");
        let Some(report) = report else { continue };
        let number = |key: &str| report[key].as_i64().unwrap();
        let bins = bins(&report);
        let rows = report["rows"].as_array().unwrap();
        let total: i64 = rows.iter().map(|row| row["total"].as_i64().unwrap()).sum();
        assert_eq!(total + number("untimed"), number("shown"), "{name}");
        is_right(name, &bins, &report);
    }
}

fn known(times: impl Iterator<Item = i64>) -> Times {
    times.map(Some).collect()
}

const BACK: &str = "note: the clock went back: 19 samples are shown earlier than the one recorded before";

#[test]
fn clocks_that_run_backwards() {
    let times = known((0..20).rev().map(|sample| sample * 10 * MS));
    // Spans may come in any order, and Sentry's samples may, too.
    let v8 = "19 samples have timestamps earlier than the sample before them; these timestamps are ignored";
    check(&times, [BACK, BACK, BACK, "", v8, "error", ""], |name, bins, report| {
        let length = if name.ends_with(".cpuprofile") { 0..10 * MS } else { 190 * MS..201 * MS };
        assert!(length.contains(&report["axis"]["to_ns"].as_i64().unwrap()), "{name}: {}", report["axis"]);
        assert!(bins.iter().filter(|&&bin| bin != 0).count() >= bins.len() - 1, "{name}: {bins:?}");
    });
}

#[test]
fn clocks_that_jump() {
    let times = known((0..10).chain(8_640_000..8_640_010).map(|sample| sample * 10 * MS));
    check(&times, [""; 7], |name, bins, report| {
        assert!((DAY..DAY + DAY / 100).contains(&report["axis"]["to_ns"].as_i64().unwrap()), "{name}");
        // The samples of these formats last until the next one.
        if !["a.sentry.json", "a.cpuprofile"].contains(&name) {
            let busy: Vec<usize> = (0..bins.len()).filter(|&bin| bins[bin] != 0).collect();
            assert_eq!(busy, [0, bins.len() - 1], "{name}");
            assert_eq!(bins[0], bins[bins.len() - 1], "{name}");
        }
    });
}

#[test]
fn times_that_repeat() {
    let no_time = "the default metric, wall, has a total of 0; showing samples instead";
    check(&known((0..20).map(|_| 50 * MS)), ["", "", "", no_time, "", "error", ""], |name, bins, report| {
        assert!(report["axis"]["to_ns"].as_i64().unwrap() <= 10 * MS, "{name}");
        assert!(bins.iter().all(|&bin| bin > 0), "{name}: {bins:?}");
    });
}

#[test]
fn samples_without_a_time() {
    let times: Times = (0..20).map(|sample| (sample < 10).then_some(sample * 10 * MS)).collect();
    let untimed = "note: 10 samples have no time: not on the axis, but in the row (no time)";
    let v8 = "the last 10 samples have no timestamp";
    let spans = "10 spans without a timestamp or duration were skipped";
    check(&times, [untimed, untimed, untimed, "", v8, "error", spans], |name, bins, report| {
        assert!(report["axis"]["to_ns"].as_i64().unwrap() <= 110 * MS, "{name}: {}", report["axis"]);
        assert!(bins[0] > 0, "{name}");
        let half = [("a.perf.txt", 100 * MS), ("a.gecko.json", 10), ("a.stackprof.json", 100_000)];
        if let Some((_, value)) = half.iter().find(|(format, _)| *format == name) {
            assert_eq!(report["untimed"].as_i64().unwrap(), *value, "{name}");
        }
    });
}

#[test]
fn times_of_several_clocks() {
    let later = 1_700_000_000_000 * MS;
    let times = known(
        (0..12)
            .chain(0..8)
            .enumerate()
            .map(|(at, sample)| sample * 10 * MS + if at < 12 { 0 } else { later }),
    );
    let other = "samples have no time, or one of another clock: not on the axis, but in the row (no time)";
    check(&times, [other; 7], |name, _, report| {
        // The clock that most samples have.
        assert!(
            (110 * MS..121 * MS).contains(&report["axis"]["to_ns"].as_i64().unwrap()),
            "{name}: {}",
            report["axis"]
        );
        assert!(report["untimed"].as_i64().unwrap() > 0, "{name}");
    });
}

#[test]
fn a_month_and_a_thread_with_one_sample() {
    let month = known((0..20).map(|sample| sample * 30 * DAY / 19));
    check(&month, [""; 7], |name, bins, report| {
        let to = report["axis"]["to_ns"].as_i64().unwrap();
        assert!((30 * DAY..31 * DAY).contains(&to), "{name}");
        assert!(bins.len() > 10 && bins.iter().all(|&bin| bin > 0), "{name}: {bins:?}");
    });
    let no_time = "the default metric, wall, has a total of 0; showing samples instead";
    check(&vec![Some(0)], ["", "", "", no_time, "", "", ""], |name, bins, report| {
        assert!(report["axis"]["to_ns"].as_i64().unwrap() <= 10 * MS, "{name}");
        assert_eq!(report["rows"].as_array().unwrap().len(), 1, "{name}");
        assert!(bins.iter().all(|&bin| bin > 0), "{name}: {bins:?}");
    });
}

#[test]
fn long_times_are_hours() {
    let folder = TempDir::new().unwrap();
    let month = known((0..20).map(|sample| sample * 30 * DAY / 19));
    fs::write(folder.path().join("a.perf.txt"), perf_script(&month)).unwrap();
    let output = prof(folder.path(), &["timeline", "--width", "80", "a.perf.txt"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("a character is 27.78h, a blank is nothing"), "{text}");
    assert!(text.lines().nth(1).unwrap().contains("h  THREAD"), "{text}");
}
