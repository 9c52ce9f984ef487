//! Writes profiles for the Firefox Profiler, in version 49 of its processed format. The profiler upgrades
//! older versions itself, and other programs that read the format support this one.
//!
//! A sample has a weight, which the call tree adds up: a number of samples, a time or a size. It may also
//! have the CPU time that passed before the sample, which the profiler draws as activity. So a profile with
//! both samples and CPU time keeps both.

use std::io::{self, Write};

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::format::gecko::NAME;
use crate::format::gecko::write_samples::{NANOSECOND, SampleMetrics, SampleTable, Start, milliseconds};
use crate::format::gecko::write_tables::{ThreadTables, WrittenLibs, is_too_large};
use crate::format::threads::{LabelledThread, rows_by};
use crate::format::write::{Part, Writer, rows_in_time};
use crate::kind;
use crate::profile::{Frame, Id, LoadOptions, MappingId, Profile};
use crate::unit::{Family, Unit};

/// The entry in the list of writable formats.
pub(in crate::format) static WRITER: Writer = Writer {
    name: NAME,
    title: "Firefox Profiler",
    endings: &[".firefox.json", ".gecko.json"],
    packed_endings: &[],
    packed: false,
    holds: &[
        Part::Threads,
        Part::Processes,
        Part::Files,
        Part::Lines,
        Part::Places,
        Part::Addresses,
        Part::Inlining,
        Part::Comments,
        Part::Recording,
        Part::Times,
        Part::Negatives,
    ],
    holds_calls: false,
    second_metric: |profile, metric| SampleMetrics::of(profile, metric).second_metric(metric),
    read_as: &[("samples", "count"), ("wall", "nanoseconds"), ("bytes", "bytes"), ("cpu", "nanoseconds")],
    needs: LoadOptions::ALL,
    write,
};

const VERSION: u32 = 49;

fn write(profile: &Profile, metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let columns = SampleMetrics::of(profile, metric);
    let start = Start::of(profile);
    let libs = WrittenLibs::of(profile);
    let labelled: Vec<LabelledThread> =
        profile.label_sets.ids().map(|set| LabelledThread::of(profile, set)).collect();
    let thread_of = |row: usize| profile.samples.labels[row].index();
    // Sets of labels that differ in other labels are the same thread.
    let rows = rows_in_time(profile, &columns.all());
    let mut threads = rows_by(rows, |row| &labelled[thread_of(row)]);
    if threads.is_empty() {
        threads.push((&labelled[0], Vec::new()));
    }
    let mut processes = Processes::default();
    let mut is_symbolicated = true;
    let mut written = Vec::new();
    for (labelled, rows) in &threads {
        let (tables, stacks) = ThreadTables::of(profile, &libs, rows);
        is_symbolicated &= tables.is_symbolicated;
        let samples = SampleTable::of(profile, &columns, &start, rows, stacks);
        written.push(WrittenThread::new(labelled, &mut processes, tables, samples));
    }
    let file = File {
        meta: meta(profile, &columns, &start, &written, is_symbolicated),
        libs: libs.rows(profile),
        threads: written,
        pages: [],
        counters: [],
        profiler_overhead: [],
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")?;
    Ok(changes(profile, metric, &columns))
}

/// Integers up to this one are exact in JSON readers.
const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

/// Messages about unexpected changes.
fn changes(profile: &Profile, metric: usize, columns: &SampleMetrics) -> Vec<String> {
    let mut changes = Vec::new();
    let metrics = &profile.meta.metrics;
    if columns.weight == metric && kind::is(&metrics[metric].name, "cpu") {
        changes
            .push("gecko: there is no sample count, so CPU time becomes the sample weight, which reads back as `wall`".into());
    }
    let period = profile.meta.period.as_ref();
    if let Some(period) = period.filter(|_| interval(profile).is_none()) {
        changes.push(format!(
            "gecko: the sampling period must be a time, so the period of {} {} is lost",
            period.value, period.unit
        ));
    }
    let symbols = &profile.symbols;
    let is_lost = |frame: &Frame| frame.address != 0 && frame.mapping == MappingId::default();
    if symbols.frames.iter().any(is_lost) {
        changes.push("gecko: addresses without a binary are lost".into());
    }
    let is_large = |frame: &Frame| is_too_large(frame.address, &symbols.mappings[frame.mapping]);
    if symbols.frames.iter().any(|frame| !is_lost(frame) && is_large(frame)) {
        changes.push("gecko: addresses above 2^53, such as those of the kernel, are lost".into());
    }
    if profile.samples.values[columns.weight].iter().any(|value| value.unsigned_abs() > EXACT) {
        changes.push(format!("gecko: values above 2^{} are rounded", f64::MANTISSA_DIGITS));
    }
    let symbols = &profile.symbols;
    if symbols.functions.ids().any(|function| symbols.function_name(function).starts_with("0x")) {
        changes.push("gecko: functions that are called like an address are read as addresses".into());
    }
    changes
}

/// The sampling period in nanoseconds, if it is a time.
fn interval(profile: &Profile) -> Option<i128> {
    let period = profile.meta.period.as_ref()?;
    let unit = Unit::parse(&period.unit);
    let factor = unit.factor_to(&Unit::NANOSECONDS).filter(|_| unit.family() == Family::Time)?;
    Some(i128::from(period.value) * i128::from(factor))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'p> {
    meta: Value,
    libs: Vec<Value>,
    threads: Vec<WrittenThread<'p>>,
    pages: [(); 0],
    counters: [(); 0],
    profiler_overhead: [(); 0],
}

/// The categories of frames, in the order of [`write_tables`](super::write_tables).
fn categories() -> Value {
    let category = |(name, color)| json!({"name": name, "color": color, "subcategories": ["Other"]});
    [("Other", "grey"), ("User", "yellow"), ("Kernel", "orange"), ("Idle", "transparent")]
        .map(category)
        .to_vec()
        .into()
}

fn meta(
    profile: &Profile,
    columns: &SampleMetrics,
    start: &Start,
    threads: &[WrittenThread],
    is_symbolicated: bool,
) -> Value {
    let about = &profile.meta;
    let program = concat!("prof ", env!("CARGO_PKG_VERSION"));
    let product = if about.comments.is_empty() { program.to_string() } else { about.comments.join("; ") };
    let mut meta = json!({
        "interval": milliseconds(interval(profile).unwrap_or(1_000_000)),
        "startTime": start.milliseconds,
        "processType": 0,
        "product": product,
        "importedFrom": format!("{} by {program}", about.format),
        "stackwalk": 1,
        "debug": false,
        "version": 24,
        "preprocessedProfileVersion": VERSION,
        "symbolicated": is_symbolicated,
        "categories": categories(),
        "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
        "markerSchema": [],
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns"},
        "usesOnlyOneStackType": true,
        "doesNotUseFrameImplementation": true,
        "sourceCodeIsNotOnSearchfox": true,
    });
    if columns.cpu.is_none() {
        meta["sampleUnits"]["threadCPUDelta"] = "µs".into();
    }
    if let Some(time) = about.time_ns {
        meta["profilingStartTime"] = start.until(time).into();
    }
    if let Some((begin, end)) = start.recording(profile) {
        // The profiler ignores samples before the start, and those at or after the end.
        let times = || threads.iter().flat_map(|thread| &thread.samples.time).copied();
        let last = times().fold(f64::MIN, f64::max);
        meta["profilingStartTime"] = times().fold(begin, f64::min).into();
        // Milliseconds since 1970 are so large that a nanosecond more is the same number; a few units in the last place are
        // still more after a reader has rounded.
        let after = (last + NANOSECOND).max(last * (1.0 + 4.0 * f64::EPSILON));
        meta["profilingEndTime"] = if last < end { end } else { after }.into();
    }
    meta
}

/// Process ids, which the format uses instead of names.
#[derive(Default)]
struct Processes<'p> {
    numbers: HashMap<&'p str, String>,
}

impl<'p> Processes<'p> {
    /// The id of a process, and whether this is its first thread. A process without a name has the id 0,
    /// which means none.
    fn number(&mut self, process: &'p str) -> (String, bool) {
        let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
        let known = self.numbers.len();
        let number = self.numbers.entry(process).or_insert_with(|| match process {
            "" => "0".to_string(),
            _ if is_number => process.to_string(),
            // Real process ids are not negative, so these cannot collide with one.
            _ => format!("-{}", known + 1),
        });
        let number = number.clone();
        (number, self.numbers.len() > known)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenThread<'p> {
    name: &'p str,
    #[serde(rename = "isMainThread")]
    is_main: bool,
    pid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_name: Option<&'p str>,
    tid: &'p str,
    process_type: &'static str,
    process_startup_time: u32,
    process_shutdown_time: (),
    register_time: u32,
    unregister_time: (),
    paused_ranges: [(); 0],
    markers: Value,
    samples: SampleTable,
    #[serde(flatten)]
    tables: ThreadTables<'p>,
}

impl<'p> WrittenThread<'p> {
    fn new(
        labelled: &'p LabelledThread<'p>,
        processes: &mut Processes<'p>,
        tables: ThreadTables<'p>,
        samples: SampleTable,
    ) -> Self {
        let process = &*labelled.process;
        let (pid, is_main) = processes.number(process);
        WrittenThread {
            name: &labelled.name,
            is_main,
            process_name: Some(process).filter(|process| !process.is_empty() && *process != pid),
            pid,
            tid: if labelled.tid.is_empty() { "0" } else { &labelled.tid },
            process_type: "default",
            process_startup_time: 0,
            process_shutdown_time: (),
            register_time: 0,
            unregister_time: (),
            paused_ranges: [],
            markers: json!({"length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [], "startTime": []}),
            samples,
            tables,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{LabelSetId, ProfileBuilder, from_notation, to_notation};

    /// Elapsed time is something else: three busy threads have three seconds of CPU time in one.
    #[test]
    fn cpu_time_stays_cpu_time_whatever_it_is_called() {
        let mut profile = from_notation("main 2 20 {thread=b}\nmain;work 1 10 {thread=a}");
        (profile.meta.metrics[1].name, profile.meta.metrics[1].unit) =
            ("cpu-clock:ppp".into(), "nanoseconds".into());
        let mut bytes = Vec::new();
        write(&profile, 1, &mut bytes).unwrap();
        let again = format::load(&mut Source::from_bytes(bytes), LoadOptions::ALL, None).unwrap();
        let names: Vec<_> = again.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(names, [("samples", 3), ("cpu", 30)]);
    }

    #[test]
    fn samples_and_cpu_time_are_both_kept() {
        let picture =
            "main 2 20 {process=33 thread=b}\nmain@a.rs:3;+get@a.rs:9;work 1 10 {process=app thread=a tid=7}";
        let mut profile = from_notation(picture);
        (profile.meta.metrics[1].name, profile.meta.metrics[1].unit) = ("cpu".into(), "nanoseconds".into());
        assert_eq!(WRITER.left_out(&profile, 1), Vec::<&str>::new());
        let mut bytes = Vec::new();
        assert_eq!(write(&profile, 1, &mut bytes).unwrap(), Vec::<String>::new());
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let again = format::load(&mut Source::from_bytes(bytes), options, None).unwrap();
        assert_eq!(to_notation(&again), to_notation(&profile));
        assert_eq!(again.meta.metrics[again.meta.default_metric].name, "cpu");
    }

    #[test]
    fn all_samples_are_within_the_recording() {
        let mut profile = from_notation("main 1\nmain;work 2\nmain;rest 3");
        // Times are relative to a whole millisecond: the recording starts 0.25 ms and ends 1.25 ms after it.
        (profile.meta.time_ns, profile.meta.duration_ns) = (Some(7_250_000), Some(1_000_000));
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        let file: Value = serde_json::from_slice(&bytes).unwrap();
        let times: Vec<f64> = serde_json::from_value(file["threads"][0]["samples"]["time"].clone()).unwrap();
        assert_eq!(file["meta"]["profilingStartTime"], 0.25);
        assert_eq!(file["meta"]["profilingEndTime"], 1.25);
        assert!(times.is_sorted() && times[0] >= 0.25 && times[2] < 1.25, "{times:?}");
    }

    #[test]
    fn a_recording_without_a_start_starts_at_its_first_sample() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::ALL);
        builder.metric("samples", "count");
        for time in [5_000_000, 6_000_000] {
            let frame = builder.named_frame("main");
            let stack = builder.stack(&[frame]);
            builder.sample(stack, LabelSetId::default(), Some(time), &[1]);
        }
        builder.meta.duration_ns = Some(1_000_000);
        let mut bytes = Vec::new();
        write(&builder.finish().unwrap(), 0, &mut bytes).unwrap();
        let file: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(file["meta"]["profilingStartTime"], 5.0);
        assert_eq!(file["meta"]["profilingEndTime"], 6.000_001);
    }

    #[test]
    fn changes_are_reported() {
        let mut profile = from_notation("main 2");
        (profile.meta.metrics[0].name, profile.meta.metrics[0].unit) = ("cpu".into(), "seconds".into());
        let mut bytes = Vec::new();
        assert_eq!(write(&profile, 0, &mut bytes).unwrap().len(), 1);
        let again = format::load(&mut Source::from_bytes(bytes), LoadOptions::default(), None).unwrap();
        assert_eq!((&*again.meta.metrics[0].name, again.meta.metrics[0].total), ("wall", 2_000_000_000));
    }
}
