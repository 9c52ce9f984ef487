//! Round trips of random and recorded profiles through every format that can be written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::support::{below, corpus, corpus_root, fixture, load_file};
use prof::format::{Part, Source, WRITERS, Writer, load, named, writer_named};
use prof::profile::{
    Frame, FrameId, Function, Label, LabelSetId, LabelValue, LoadOptions, Mapping, MappingId, Period,
    Profile, ProfileBuilder, to_notation,
};
use prof::transform::{anonymize, compact};
use prof::tree::By;
use prof::view::{Scope, TopOptions, top};
use proptest::prelude::*;

fn written(writer: &Writer, profile: &Profile, metric: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    writer.write_to(profile, metric, writer.packed, &mut bytes).unwrap();
    let mut again = Vec::new();
    writer.write_to(&profile.clone(), metric, writer.packed, &mut again).unwrap();
    assert_eq!(bytes, again, "equal profiles give equal bytes");
    bytes
}

/// Writes a profile as `format` and reads it again.
fn through(format: &str, profile: &Profile, metric: usize) -> Profile {
    let bytes = written(writer_named(format).unwrap(), profile, metric);
    let mut source = Source::open(Box::new(std::io::Cursor::new(bytes))).unwrap();
    load(&mut source, LoadOptions { labels: true, times: false, ..LoadOptions::LEAST }, named(format))
        .unwrap()
}

/// Frames at the same address: the first was called, the others were inlined into it.
#[derive(Clone, Debug)]
struct Place {
    mapping: usize,
    address: u64,
    /// The numbers of functions, with lines; if empty, the address has no name.
    functions: Vec<(u8, u32)>,
}

#[derive(Clone, Debug)]
struct Sample {
    places: Vec<Place>,
    labels: Vec<(u8, Option<i64>)>,
    values: Vec<i64>,
}

fn place() -> impl Strategy<Value = Place> {
    (0..3usize, 1..4u64, prop::collection::vec((0..4u8, 0..3u32), 0..4))
        .prop_map(|(mapping, address, functions)| Place { mapping, address, functions })
}

fn samples(metrics: usize) -> impl Strategy<Value = Vec<Sample>> {
    let labels = prop::collection::vec((0..3u8, prop::option::of(-2..3i64)), 0..3);
    let values = prop::collection::vec(-4..9i64, metrics);
    let sample = (prop::collection::vec(place(), 0..5), labels, values)
        .prop_map(|(places, labels, values)| Sample { places, labels, values });
    prop::collection::vec(sample, 0..12)
}

fn build(metrics: usize, samples: &[Sample]) -> Profile {
    let mut builder =
        ProfileBuilder::new("pprof", LoadOptions { labels: true, times: false, ..LoadOptions::LEAST });
    for metric in 0..metrics {
        builder.metric(&format!("metric{metric}"), ["count", "nanoseconds", "bytes"][metric]);
    }
    let mappings: Vec<MappingId> = ["", "/usr/bin/app", "/lib/libc.so"]
        .iter()
        .enumerate()
        .map(|(number, file)| {
            let (file, build_id) = (builder.string(file), builder.string("beef"));
            let start = number as u64 * 0x1000;
            let known =
                Mapping { file, build_id, start, limit: start + 0x1000, offset: 16, ..Mapping::default() };
            builder.mapping(if number == 0 { Mapping::default() } else { known })
        })
        .collect();
    for sample in samples {
        let mut frames = Vec::new();
        for place in &sample.places {
            frames.extend(place_frames(&mut builder, place, mappings[place.mapping]));
        }
        let stack = builder.stack(&frames);
        let mut labels: Vec<Label> = sample
            .labels
            .iter()
            .map(|&(key, number)| {
                let value = match number {
                    Some(number) => LabelValue::Number(number, builder.string("bytes")),
                    None => LabelValue::Text(builder.string("some text")),
                };
                Label { key: builder.string(&format!("key{key}")), value }
            })
            .collect();
        let labels = builder.label_set(&mut labels);
        builder.sample(stack, labels, None, &sample.values);
    }
    builder.finish().unwrap()
}

fn place_frames(builder: &mut ProfileBuilder, place: &Place, mapping: MappingId) -> Vec<FrameId> {
    let frame = Frame { address: place.address, mapping, ..Frame::default() };
    if place.functions.is_empty() {
        let function = builder.unnamed_function(mapping);
        return vec![builder.frame(Frame { function, ..frame })];
    }
    let mut frames = Vec::new();
    for (depth, &(number, line)) in place.functions.iter().enumerate() {
        let (name, file) = (builder.string(&format!("f{number}")), builder.string("a.rs"));
        let start = u32::from(number);
        let function = builder.function(Function { name, file, line: start, column: 0, by_place: false });
        frames.push(builder.frame(Frame { function, line, inlined: depth > 0, ..frame }));
    }
    frames
}

/// Everything that pprof can store about the samples, sorted for comparison.
fn everything(profile: &Profile) -> Vec<String> {
    let row = |row: usize| {
        let values: Vec<i64> = profile.samples.values.iter().map(|column| column[row]).collect();
        format!("{} {values:?}", sampled(profile, row))
    };
    let mut rows: Vec<String> = (0..profile.samples.len()).map(row).collect();
    rows.sort();
    rows
}

/// The sums of the positive and of the negative values of each metric, by stack and labels.
fn by_metric(profile: &Profile) -> BTreeMap<(String, usize), [i64; 2]> {
    let mut sums: BTreeMap<(String, usize), [i64; 2]> = BTreeMap::new();
    for (metric, column) in profile.samples.values.iter().enumerate() {
        for (row, &value) in column.iter().enumerate().filter(|(_, value)| **value != 0) {
            sums.entry((sampled(profile, row), metric)).or_default()[usize::from(value < 0)] += value;
        }
    }
    sums
}

/// All samples with their times and two of their values, the first one divided by `divisor`; sorted.
fn timed(profile: &Profile, metrics: [&str; 2], divisor: u64) -> Vec<String> {
    let [first, second] = metrics.map(|name| profile.meta.metric_named(name).unwrap());
    let factor = (divisor / profile.meta.metrics[first].divisor).cast_signed();
    let row = |row: usize| {
        let values = [profile.samples.values[first][row] * factor, profile.samples.values[second][row]];
        let time = profile.samples.time.as_ref().map(|times| times[row]);
        format!("{} {values:?} {time:?}", sampled(profile, row))
    };
    let mut rows: Vec<String> = (0..profile.samples.len()).map(row).collect();
    rows.sort();
    rows
}

/// The stack and the labels of a row.
fn sampled(profile: &Profile, row: usize) -> String {
    let symbols = &profile.symbols;
    let text = |id| symbols.strings.get(id);
    let frame = |&id: &FrameId| {
        let frame = symbols.frames[id];
        let function = symbols.functions[frame.function];
        let mapping = symbols.mappings[frame.mapping];
        format!(
            "{} {} {} {} {} {:x} [{} {} {} {} {}]",
            symbols.frame_name(id),
            text(function.file),
            function.line,
            frame.line,
            frame.inlined,
            frame.address,
            text(mapping.file),
            text(mapping.build_id),
            mapping.start,
            mapping.limit,
            mapping.offset
        )
    };
    let label = |label: &Label| match label.value {
        LabelValue::Text(value) => format!("{}={}", text(label.key), text(value)),
        LabelValue::Number(number, unit) => format!("{}={number} {}", text(label.key), text(unit)),
    };
    let frames: Vec<String> = profile.stacks.frames(profile.samples.stack[row]).iter().map(frame).collect();
    let mut labels: Vec<String> =
        profile.label_sets.labels(profile.samples.labels[row]).iter().map(label).collect();
    labels.sort();
    format!("{frames:?} {labels:?}")
}

proptest! {
    #[test]
    fn pprof_holds_everything(
        (metrics, samples) in (1..4usize).prop_flat_map(|metrics| (Just(metrics), samples(metrics))),
        (default, time, duration, period) in (0..3usize, 0..3i64, 0..3i64, 0..3i64),
        texts in prop::collection::vec("[a-z|.*]{0,4}", 0..4),
    ) {
        let mut profile = build(metrics, &samples);
        let meta = &mut profile.meta;
        meta.default_metric = default % metrics;
        meta.time_ns = (time > 0).then_some(time * 1_700_000_000_000_000_000);
        meta.duration_ns = (duration > 0).then_some(duration);
        meta.period =
            (period > 0).then(|| Period { name: "cpu".into(), unit: "nanoseconds".into(), value: period });
        meta.drop_frames = texts.first().cloned().unwrap_or_default();
        meta.keep_frames = texts.last().cloned().unwrap_or_default();
        meta.comments = texts;
        for profile in [profile.clone(), compact(&profile).unwrap()] {
            let again = through("pprof", &profile, 0);
            prop_assert_eq!(everything(&again), everything(&profile));
            let about = |profile: &Profile| {
                let meta = profile.meta.clone();
                let metrics: Vec<_> =
                    meta.metrics.into_iter().map(|metric| (metric.name, metric.unit, metric.total)).collect();
                (metrics, meta.default_metric, meta.time_ns, meta.duration_ns, meta.period, meta.comments,
                    meta.drop_frames, meta.keep_frames)
            };
            prop_assert_eq!(about(&again), about(&profile));
        }
    }

    #[test]
    fn otlp_holds_metrics_times_and_labels(
        (metrics, samples) in (1..4usize).prop_flat_map(|metrics| (Just(metrics), samples(metrics))),
        (default, time, duration, period) in (0..3usize, 0..3i64, 0..3i64, 0..3i64),
    ) {
        let mut profile = build(metrics, &samples);
        let meta = &mut profile.meta;
        meta.default_metric = default % metrics;
        meta.time_ns = (time > 0).then_some(time * 1_700_000_000_000_000_000);
        meta.duration_ns = (duration > 0).then_some(duration);
        meta.period =
            (period > 0).then(|| Period { name: "cpu".into(), unit: "events".into(), value: period });
        let again = through("otlp", &profile, 0);
        prop_assert_eq!(by_metric(&again), by_metric(&profile));
        let about = |profile: &Profile| {
            let meta = profile.meta.clone();
            let metrics: Vec<_> =
                meta.metrics.into_iter().map(|metric| (metric.name, metric.unit, metric.total)).collect();
            (metrics, meta.default_metric, meta.time_ns, meta.duration_ns, meta.period)
        };
        prop_assert_eq!(about(&again), about(&profile));
    }

    #[test]
    fn collapsed_holds_names_and_the_values_of_a_metric(
        stacks in prop::collection::vec((prop::collection::vec("[a-z<>:]{1,3}( [a-z]{1,2})?", 0..4), -5..9i64), 1..10),
        divisor in prop::sample::select(vec![1u64, 10, 100]),
    ) {
        let profile = of_names(&stacks, divisor);
        prop_assume!(!profile.samples.is_empty());
        let again = through("collapsed", &profile, 0);
        // The reader keeps as many decimals as occur.
        let kept = again.meta.metrics[0].divisor;
        let whole = |profile: &Profile| -> BTreeMap<String, i128> {
            let factor = i128::from(divisor) / i128::from(profile.meta.metrics[0].divisor);
            sums(profile).into_iter().map(|(stack, sum)| (stack, sum * factor)).collect()
        };
        prop_assert!(divisor.is_multiple_of(kept));
        prop_assert_eq!(whole(&again), whole(&profile));
    }

    #[test]
    fn collapsed_survives_any_name(
        stacks in prop::collection::vec((prop::collection::vec("[a;# /\n\t0-9\\-.]{0,5}|\\PC{0,3}", 0..3), 1..9i64), 1..10),
    ) {
        let profile = of_names(&stacks, 1);
        let again = through("collapsed", &profile, 0);
        prop_assert_eq!(again.meta.metrics[0].total, profile.meta.metrics[0].total);
        prop_assert_eq!(again.meta.metrics.len(), 1);
        let no_stack = |profile: &Profile| sums(profile).get("[]").copied();
        prop_assert_eq!(no_stack(&again), no_stack(&profile));
        prop_assert_eq!(to_notation(&through("collapsed", &again, 0)), to_notation(&again));
    }

    #[test]
    fn speedscope_holds_threads_and_places(
        samples in prop::collection::vec((prop::collection::vec(0..6u32, 0..5), 0..3u8, 1..9i64), 1..12),
        divisor in prop::sample::select(vec![1u64, 10, 100]),
    ) {
        let mut profile = placed(&samples, &[("samples", "count")], |value| vec![value]);
        profile.meta.metrics[0].divisor = divisor;
        let again = through("speedscope", &profile, 0);
        let factor = divisor / again.meta.metrics[0].divisor;
        prop_assert_eq!(sums(&again).into_values().sum::<i128>() * i128::from(factor), sums(&profile).into_values().sum::<i128>());
        if factor == 1 {
            prop_assert_eq!(to_notation(&again), to_notation(&profile));
        }
    }

    #[test]
    fn gecko_holds_stacks_threads_and_values(
        samples in samples(2),
        threads in prop::collection::vec((0..3u8, 0..3u8, 0..3u8), 12),
        (metric, start, divisor) in (0..4usize, prop::option::of(1_700_000_000_000_000_000..1_800_000_000_000_000_000i64), 0..2usize),
        times in prop::option::of(prop::collection::vec(0..1_000_000_000_000i64, 12)),
    ) {
        let (name, unit) = [("samples", "count"), ("wall", "nanoseconds"), ("bytes", "bytes"), ("cpu", "nanoseconds")][metric];
        let (other, other_unit) = if metric == 3 { ("samples", "count") } else { ("cpu", "nanoseconds") };
        let mut builder = ProfileBuilder::new("gecko", LoadOptions { times: times.is_some(), ..LoadOptions::ALL });
        builder.metric(name, unit);
        builder.metric(other, other_unit);
        // Times are whole numbers of nanoseconds.
        let divisor = if ["samples", "bytes"].contains(&name) { [1, 100][divisor] } else { 1 };
        builder.meta.metrics[0].divisor = divisor;
        builder.meta.time_ns = start;
        // All samples are within the recording.
        builder.meta.duration_ns = start.map(|_| 1_000_000_000_000);
        let file = builder.string("/usr/bin/app");
        let build_id = builder.string("7544444e7eeafbb5a7ecaf94fc3ebebd2b986846");
        let app = builder.mapping(Mapping { file, build_id, ..Mapping::default() });
        for (number, (sample, (process, thread, tid))) in samples.iter().zip(threads).enumerate() {
            let frames: Vec<FrameId> = sample.places.iter().flat_map(|place| {
                place_frames(&mut builder, place, [MappingId::default(), app][place.mapping % 2])
            }).collect();
            let stack = builder.stack(&frames);
            let known = [("process", process), ("thread", thread), ("tid", tid)];
            let mut labels: Vec<Label> = known.into_iter().filter(|(_, number)| *number > 0).map(|(key, number)| {
                let value = LabelValue::Text(builder.string(&number.to_string()));
                Label { key: builder.string(key), value }
            }).collect();
            let labels = builder.label_set(&mut labels);
            let values = [sample.values[0], sample.values[1]];
            // CPU time is never negative.
            let values = if metric == 3 { [values[0].abs(), values[1]] } else { [values[0], values[1].abs()] };
            let time = times.as_ref().map(|times| start.unwrap_or(0) + times[number]);
            builder.sample(stack, labels, time, &values);
        }
        let profile = builder.finish().unwrap();
        let writer = writer_named("firefox").unwrap();
        prop_assert_eq!(writer.left_out(&profile, 0), Vec::<&str>::new());
        let bytes = written(writer, &profile, 0);
        let again = load(&mut Source::from_bytes(bytes), LoadOptions { labels: true, times: times.is_some(), ..LoadOptions::LEAST }, None).unwrap();
        prop_assert_eq!(again.meta.format, "gecko");
        prop_assert_eq!(again.meta.time_ns, start);
        // Without a date, the recording lasts from the first sample to the last.
        prop_assert_eq!(again.meta.duration_ns.filter(|_| start.is_some()), profile.meta.duration_ns);
        prop_assert_eq!(timed(&again, [name, other], divisor), timed(&profile, [name, other], divisor));
    }

    #[test]
    fn cpuprofile_holds_samples_and_their_time(
        samples in prop::collection::vec((prop::collection::vec(0..6u32, 0..5), Just(0u8), 0..9i64), 1..12),
    ) {
        let metrics = [("samples", "count"), ("cpu", "microseconds")];
        let profile = placed(&samples, &metrics, |value| vec![1, value]);
        // Without times, equal rows are merged into one sample.
        let again = through("cpuprofile", &profile, 1);
        prop_assert_eq!(again.meta.metrics[1].total, profile.meta.metrics[1].total);
        let by_stack = |profile: &Profile| -> BTreeMap<String, i64> {
            let values = profile.value_by_stack(1);
            let stacks = profile.stacks.ids().filter(|&stack| values[stack] != 0);
            stacks.map(|stack| (functions(profile, profile.stacks.frames(stack)), values[stack])).collect()
        };
        prop_assert_eq!(by_stack(&again), by_stack(&profile));
    }
}

/// A profile of stacks of names.
fn of_names(stacks: &[(Vec<String>, i64)], divisor: u64) -> Profile {
    let mut builder = ProfileBuilder::new("test", LoadOptions::default());
    builder.metric("samples", "count");
    builder.meta.metrics[0].divisor = divisor;
    for (names, value) in stacks {
        let frames: Vec<FrameId> = names.iter().map(|name| builder.named_frame(name)).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[*value]);
    }
    builder.finish().unwrap()
}

/// A profile of functions with a location; those with even numbers have no file.
fn placed(
    samples: &[(Vec<u32>, u8, i64)],
    metrics: &[(&str, &str)],
    values: impl Fn(i64) -> Vec<i64>,
) -> Profile {
    let mut builder =
        ProfileBuilder::new("test", LoadOptions { labels: true, times: false, ..LoadOptions::LEAST });
    for (name, unit) in metrics {
        builder.metric(name, unit);
    }
    for (functions, thread, value) in samples {
        let frames: Vec<FrameId> =
            functions.iter().map(|&number| placed_frame(&mut builder, number)).collect();
        let stack = builder.stack(&frames);
        let (key, name) = (builder.string("thread"), builder.string(&format!("t{thread}")));
        let label = Label { key, value: LabelValue::Text(name) };
        let labels = if *thread == 0 { LabelSetId::default() } else { builder.label_set(&mut [label]) };
        builder.sample(stack, labels, None, &values(*value));
    }
    builder.finish().unwrap()
}

fn placed_frame(builder: &mut ProfileBuilder, number: u32) -> FrameId {
    let by_place = number % 2 == 1;
    let name = builder.string(&format!("f{}", number / 3));
    let file = builder.string(if by_place { "a.js" } else { "" });
    let line = if by_place { number } else { 0 };
    let function = builder.function(Function { name, file, line, column: line, by_place });
    builder.frame(Frame { function, line, ..Frame::default() })
}

/// The sum of the values of every stack of names.
fn sums(profile: &Profile) -> BTreeMap<String, i128> {
    let mut sums = BTreeMap::new();
    for (&stack, &value) in profile.samples.stack.iter().zip(&profile.samples.values[0]) {
        let names: Vec<&str> =
            profile.stacks.frames(stack).iter().map(|&frame| profile.symbols.frame_name(frame)).collect();
        *sums.entry(format!("{names:?}")).or_default() += i128::from(value);
    }
    sums
}

/// The functions of a stack with their locations.
fn functions(profile: &Profile, frames: &[FrameId]) -> String {
    let symbols = &profile.symbols;
    let function = |&frame: &FrameId| {
        let id = symbols.frames[frame].function;
        let function = symbols.functions[id];
        format!(
            "{}@{}:{}:{}",
            symbols.function_name(id),
            symbols.function_file(id),
            function.line,
            function.column
        )
    };
    frames.iter().map(function).collect::<Vec<_>>().join(";")
}

/// The total of the metric, and self and total of every name.
fn flat(profile: &Profile, metric: usize) -> (i64, BTreeMap<String, (i64, i64)>) {
    let scope = Scope { by: By::Name, ..Scope::metric(metric) };
    let shown = top(profile, &TopOptions::new(scope));
    let rows =
        shown.rows.iter().map(|row| (row.name.replace(';', ":"), (row.values.self_value, row.values.total)));
    (shown.header.total, rows.collect())
}

/// Checks that two profiles show the same numbers except for a common factor.
fn assert_same_top(
    a: (i64, BTreeMap<String, (i64, i64)>),
    b: (i64, BTreeMap<String, (i64, i64)>),
    what: &str,
) {
    let ((total_a, a), (total_b, b)) = (a, b);
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{what}");
    for (name, (own, total)) in &a {
        let same =
            |x: i64, y: i64| i128::from(x) * i128::from(total_b) == i128::from(y) * i128::from(total_a);
        assert!(same(*own, b[name].0) && same(*total, b[name].1), "{what}: {name}");
    }
}

const RECORDED: &[&str] = &[
    "austin/python.austin",
    "collapsed/python.folded",
    "collapsed/rust.folded",
    "collapsed/worked-1.folded",
    "cpuprofile/node.cpuprofile",
    "dhat/c.dhat.json",
    "heapprofile/node.heapprofile",
    "perf-script/rust.perf.txt",
    "perf-script/rust-two-events.perf.txt",
    "pprof/go-block.pb.gz",
    "pprof/go-cpu.pb.gz",
    "pprof/go-goroutine.pb.gz",
    "pprof/go-heap.pb.gz",
    "pprof/rust-cpu.pb.gz",
    "speedscope/python.speedscope.json",
];

#[test]
fn recorded_profiles_show_the_same_in_every_format() {
    for path in RECORDED {
        let profile = compact(&load_file(&fixture(path)).unwrap()).unwrap();
        let metric = profile.meta.default_metric;
        for format in ["pprof", "collapsed", "speedscope", "gecko", "otlp"] {
            let again = through(format, &profile, metric);
            let what = format!("{path} as {format}");
            assert_same_top(flat(&profile, metric), flat(&again, again.meta.default_metric), &what);
            if format == "pprof" {
                for other in 0..profile.meta.metrics.len() {
                    assert_same_top(flat(&profile, other), flat(&again, other), &what);
                }
            }
        }
    }
}

/// The names of the functions of a profile's default metric, as `top` shows them.
fn names(profile: &Profile, metric: usize) -> BTreeSet<String> {
    let shown = top(profile, &TopOptions::new(Scope::metric(metric)));
    shown.rows.iter().map(|row| row.name.to_string()).collect()
}

/// Formats that store which functions are identified by their location keep all names, even of functions that have a
/// location but are not identified by it.
#[test]
fn functions_keep_their_names_in_formats_that_hold_places() {
    let paths =
        RECORDED.iter().chain(&["jfr/java.jfr", "perf-data/rust.perf.data"]).map(|path| fixture(path));
    let compared = functions_keep_their_names(paths.collect());
    assert!(compared >= 3 * RECORDED.len() - 3, "{compared}");
}

#[test]
#[needs(Corpus)]
fn functions_of_real_profiles_keep_their_names() {
    let folders = ["cpuprofile", "pprof-legacy", "speedscope", "austin", "stackprof"];
    let compared = functions_keep_their_names(folders.into_iter().flat_map(corpus).collect());
    assert!(compared > 60, "{compared}");
}

/// Returns how many times a profile was written and read.
fn functions_keep_their_names(paths: Vec<PathBuf>) -> usize {
    let mut compared = 0;
    for path in paths {
        let Ok(profile) = load_file(&path) else { continue };
        if profile.calls.is_some() || profile.meta.metrics.iter().any(|metric| metric.too_large) {
            continue;
        }
        let profile = compact(&profile).unwrap();
        let metric = profile.meta.default_metric;
        let before = names(&profile, metric);
        // In V8, every function has a name, and every stack has `(root)`.
        if before.iter().any(|name| name.is_empty() || name.starts_with("(root)")) {
            continue;
        }
        for format in ["speedscope", "cpuprofile", "gecko"] {
            if format == "cpuprofile" && profile.samples.values[metric].iter().any(|&value| value < 0) {
                continue;
            }
            let again = through(format, &profile, metric);
            let metric = again.meta.default_metric;
            assert_eq!(names(&again, metric), before, "{} as {format}", path.display());
            compared += 1;
        }
    }
    compared
}

/// `go tool pprof` assumes that the first mapping is the program: `File: words`, not `[kernel.kallsyms]`.
#[test]
fn the_program_is_the_first_mapping_of_a_pprof_file() {
    for (path, program) in [
        ("perf-data/rust.perf.data", "/srv/words/target/release/words"),
        ("perf-data/rust-two-events.perf.data", "/srv/words/target/release/words"),
        ("perf-script/rust.perf.txt", "/srv/words/target/release/words"),
        ("symbols/sorting.perf.data", "/srv/sorting/sorting"),
    ] {
        let profile = load_file(&fixture(path)).unwrap();
        for profile in [compact(&profile).unwrap(), profile] {
            let again = through("pprof", &profile, 0);
            let files: Vec<&str> =
                again.symbols.mappings.ids().skip(1).map(|id| again.symbols.mapping_file(id)).collect();
            assert_eq!(files[0], program, "{path}: {files:?}");
            let before: BTreeSet<&str> =
                profile.symbols.mappings.ids().skip(1).map(|id| profile.symbols.mapping_file(id)).collect();
            assert_eq!(files.into_iter().collect::<BTreeSet<_>>(), before, "{path}");
            assert_same_top(flat(&profile, 0), flat(&again, 0), path);
        }
    }
}

#[test]
fn a_recorded_cpuprofile_is_the_same_cpuprofile() {
    let profile = load_file(&fixture("cpuprofile/node.cpuprofile")).unwrap();
    let writer = writer_named("cpuprofile").unwrap();
    assert!(writer.left_out(&profile, 1).is_empty());
    let again = through("cpuprofile", &profile, 1);
    let merged = through("cpuprofile", &again, 1);
    for metric in 0..2 {
        assert_same_top(flat(&profile, metric), flat(&again, metric), "node");
    }
    assert_eq!(again.meta.metrics[1].total, 1_151_457);
    assert_eq!(merged.meta.metrics[1].total, 1_151_457);
}

#[test]
fn an_anonymous_profile_has_the_same_numbers_and_no_name() {
    let profile = load_file(&fixture("pprof/go-heap.pb.gz")).unwrap();
    let again = through("pprof", &compact(&anonymize(&profile, "pepper")).unwrap(), 0);
    let numbers = |profile: &Profile| {
        let mut numbers: Vec<_> = flat(profile, 3).1.into_values().collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&again), numbers(&profile));
    for id in again.symbols.strings.ids() {
        let text = again.symbols.strings.get(id);
        assert!(!text.contains("main") && !text.contains(".go"), "{text}");
    }
}

/// The values of a metric by stack, with everything that `writer` can hold: names, files, lines and labels.
fn contents(profile: &Profile, metric: usize, writer: &Writer) -> BTreeMap<String, i128> {
    let symbols = &profile.symbols;
    let holds = |part: &Part| writer.holds.contains(part);
    let frame = |&frame: &FrameId| {
        let Frame { function, line, .. } = symbols.frames[frame];
        let name = symbols.frame_name(frame);
        // Some pprof files have symbols as they were recorded, which are demangled when they are read from collapsed stacks.
        let is_symbol = writer.name == "collapsed" && name.starts_with("_Z");
        let name = if is_symbol { prof::name::demangle(name) } else { name.into() };
        let mut text = name.replace(';', ":");
        if holds(&Part::Files) {
            text += &format!("@{}", symbols.function_file(function));
        }
        if holds(&Part::Lines) {
            text += &format!(":{line}");
        }
        text
    };
    let label = |label: &Label| {
        let key = symbols.strings.get(label.key);
        let part = match key {
            "thread" => Part::Threads,
            "tid" | "process" => Part::Processes,
            _ => Part::Labels,
        };
        let value = match label.value {
            LabelValue::Text(text) => symbols.strings.get(text).to_string(),
            LabelValue::Number(number, _) => number.to_string(),
        };
        // In the Firefox Profiler, 0 stands for an unknown thread or process.
        let is_known = value != "0" || writer.name != "gecko";
        (holds(&part) && is_known && !value.is_empty()).then(|| format!("{key}={value}"))
    };
    let mut contents = BTreeMap::new();
    let samples = &profile.samples;
    for row in 0..samples.len() {
        let frames: Vec<String> = profile.stacks.frames(samples.stack[row]).iter().map(frame).collect();
        let mut labels: Vec<String> =
            profile.label_sets.labels(samples.labels[row]).iter().filter_map(label).collect();
        labels.sort();
        let key = format!("{} {{{}}}", frames.join(";"), labels.join(" "));
        *contents.entry(key).or_default() += i128::from(samples.values[metric][row]);
    }
    contents.retain(|_, value| *value != 0);
    contents
}

/// The times of the samples that have a value.
fn times(profile: &Profile, metric: usize) -> Vec<i64> {
    let samples = &profile.samples;
    let Some(times) = &samples.time else { return Vec::new() };
    let has_value = |&row: &usize| samples.values[metric][row] != 0;
    let mut times: Vec<i64> = (0..samples.len()).filter(has_value).map(|row| times[row]).collect();
    times.sort_unstable();
    times
}

/// Real profiles keep their sums, names, files, lines, labels, threads and times in every format that can hold them.
#[test]
#[needs(Corpus)]
fn real_profiles_keep_what_formats_can_hold() {
    // Names that have a meaning in the other format, such as `(root)` or a number at the end, and weights with decimals.
    let exceptions = [
        "dtrace/jonhoo__inferno__flamegraph-bug.txt as gecko",
        "collapsed/jonhoo__inferno__diff_before_fractionals.txt as",
        "collapsed/jonhoo__inferno__fractional-samples_with-space.txt as cpuprofile",
        "malformed/grafana__pyroscope__invalid_utf8.pb.gz as",
        "pprof/utwente-fmt__vercors__profile.pprof as collapsed",
        "pprof/parca-dev__parca__profile-with-labels.pb.gz as collapsed",
        "processed-1.v",
    ];
    let (mut compared, mut wrong) = (0, Vec::new());
    let root = corpus_root();
    let paths = below(&root).into_iter().map(|path| root.join(path));
    for path in paths.filter(|path| path.metadata().unwrap().len() < 150_000) {
        for writer in WRITERS.iter().filter(|writer| writer.name != "callgrind") {
            let file = std::fs::File::open(&path).unwrap();
            let Ok(mut source) = Source::open(Box::new(file)) else { continue };
            let Ok(profile) = load(&mut source, writer.needs.clone(), None) else { break };
            if profile.calls.is_some() || profile.meta.metrics.iter().any(|metric| metric.too_large) {
                break;
            }
            let profile = compact(&profile).unwrap();
            let metric = profile.meta.default_metric;
            if profile.meta.metrics[metric].total == 0
                || writer.losses(&profile, metric).contains(&Part::Negatives)
            {
                continue;
            }
            let bytes = written(writer, &profile, metric);
            let mut source = Source::open(Box::new(std::io::Cursor::new(bytes))).unwrap();
            let again = load(&mut source, writer.needs.clone(), named(writer.name));
            let again =
                again.unwrap_or_else(|error| panic!("{} as {}: {error}", path.display(), writer.name));
            let name = &profile.meta.metrics[metric].name;
            let by_name = again.meta.metric_named(name).filter(|_| writer.holds.contains(&Part::MetricNames));
            let metric_again = by_name.unwrap_or(again.meta.default_metric);
            let both = [(&profile, metric), (&again, metric_again)];
            let [before, after] = both.map(|(profile, metric)| contents(profile, metric, writer));
            let [sum, sum_after] =
                [&before, &after].map(|contents| contents.values().map(|value| value.abs()).sum::<i128>());
            // This format has whole microseconds.
            let slack = if writer.name == "cpuprofile" { 2 * sum.max(sum_after) } else { 0 };
            let is_same = |key: &String| {
                let value = |of: &BTreeMap<String, i128>| of.get(key).copied().unwrap_or(0);
                (value(&before) * sum_after - value(&after) * sum).abs() <= slack
            };
            let different = before.iter().chain(&after).find(|(key, _)| !is_same(key));
            let what = format!("{} as {}", path.display(), writer.name);
            if let Some((key, value)) = different {
                wrong.push(format!("{what}: {value} {key}, after {:?}", after.get(key)));
            }
            if writer.holds.contains(&Part::Times) && profile.samples.time.is_some() {
                let [before, after] = both.map(|(profile, metric)| times(profile, metric));
                let is_same = |(a, b): (&i64, &i64)| (a - before[0] - (b - after[0])).abs() <= 1_000;
                if before.len() != after.len() || !before.iter().zip(&after).all(is_same) {
                    wrong.push(format!("{what}: {} times, after {}", before.len(), after.len()));
                }
            }
            compared += 1;
        }
    }
    wrong.retain(|what| !exceptions.iter().any(|exception| what.contains(exception)));
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 700, "{compared}");
}
