//! Android's simpleperf, as reported by `simpleperf report-sample --protobuf`.
//!
//! After `SIMPLEPERF` and a version, each record is preceded by its size; a size of 0 ends the file:
//!
//! ```text
//! message Record { Sample sample = 1; LostSituation lost = 2; File file = 3; Thread thread = 4; MetaInfo meta_info = 5; … }
//! message Sample { uint64 time = 1; int32 thread_id = 2; repeated CallChainEntry callchain = 3; uint64 event_count = 4;
//!                  uint32 event_type_id = 5; … }
//! message CallChainEntry { uint64 vaddr_in_file = 1; uint32 file_id = 2; int32 symbol_id = 3; … }
//! ```
//!
//! Files, which have the names of functions, threads, and the events come after the samples.

use hashbrown::HashMap;

use crate::format::event_metrics::EventMetrics;
use crate::format::fields::Fields;
use crate::format::text::lossy;
use crate::format::threads::Thread;
use crate::format::wire::{Field, Value, Wire};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{plural, saturated};

/// The entry in the list of readable formats.
pub(super) static SIMPLEPERF: Format = Format { name: NAME, title: "simpleperf report", sniff, read };

const NAME: &str = "simpleperf";
const MAGIC: &[u8] = b"SIMPLEPERF";
const VERSION: u16 = 1;

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut fields = Fields::new(bytes.get(MAGIC.len()..).unwrap_or_default(), false);
    let version =
        fields.u16().ok_or_else(|| ParseError::whole(NAME, "file is truncated within its header"))?;
    if version != VERSION {
        let message = unsupported_version(version, VERSION, VERSION);
        return Err(ParseError::at_byte(NAME, MAGIC.len() as u64, message).into());
    }
    let mut report = Report::default();
    while let Some(size) = fields.u32() {
        if size == 0 {
            report.is_whole = true;
            break;
        }
        let at = bytes.len() - fields.len();
        let Some(record) = fields.take(size as usize) else { break };
        if report.record(record).is_none() {
            return Err(ParseError::at_byte(NAME, at as u64, "a record is not a protobuf message").into());
        }
    }
    Ok(finished(SimpleperfReader::new(report, options).read())?)
}

/// The records by kind, of which only the outermost fields are decoded.
#[derive(Default)]
struct Report<'a> {
    samples: Vec<&'a [u8]>,
    files: HashMap<u64, ReportFile<'a>>,
    /// The process and the name of each thread.
    threads: HashMap<u64, (u64, &'a [u8])>,
    events: Vec<&'a [u8]>,
    app: &'a [u8],
    lost: u64,
    is_whole: bool,
}

#[derive(Default)]
struct ReportFile<'a> {
    path: &'a [u8],
    symbols: Vec<&'a [u8]>,
}

/// The fields of a message; `None` if it is malformed.
fn fields(message: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut wire = Wire::new(message);
    let mut fields = Vec::new();
    while let Some(field) = wire.field().ok()? {
        fields.push(field);
    }
    Some(fields)
}

impl<'a> Report<'a> {
    fn record(&mut self, record: &'a [u8]) -> Option<()> {
        let mut wire = Wire::new(record);
        while let Some(field) = wire.field().ok()? {
            match (field.number, field.value) {
                (1, Value::Bytes(sample)) => self.samples.push(sample),
                (2, Value::Bytes(lost)) => {
                    for field in fields(lost)? {
                        if let (2, Value::Varint(count)) = (field.number, field.value) {
                            self.lost = self.lost.saturating_add(count);
                        }
                    }
                }
                (3, Value::Bytes(file)) => self.file(file)?,
                (4, Value::Bytes(thread)) => {
                    let (mut id, mut process, mut name) = (0, 0, &b""[..]);
                    for field in fields(thread)? {
                        match (field.number, field.value) {
                            (1, Value::Varint(number)) => id = number,
                            (2, Value::Varint(number)) => process = number,
                            (3, Value::Bytes(text)) => name = text,
                            _ => {}
                        }
                    }
                    self.threads.insert(id, (process, name));
                }
                (5, Value::Bytes(meta)) => {
                    for field in fields(meta)? {
                        match (field.number, field.value) {
                            (1, Value::Bytes(event)) => self.events.push(event),
                            (2, Value::Bytes(app)) => self.app = app,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    fn file(&mut self, file: &'a [u8]) -> Option<()> {
        let (mut id, mut read) = (0, ReportFile::default());
        let mut wire = Wire::new(file);
        while let Some(field) = wire.field().ok()? {
            match (field.number, field.value) {
                (1, Value::Varint(number)) => id = number,
                (2, Value::Bytes(path)) => read.path = path,
                (3, Value::Bytes(symbol)) => read.symbols.push(symbol),
                _ => {}
            }
        }
        self.files.insert(id, read);
        Some(())
    }
}

struct SimpleperfReader<'a> {
    report: Report<'a>,
    builder: ProfileBuilder,
    frames: HashMap<(u64, u64, i32), FrameId>,
    label_sets: HashMap<u64, LabelSetId>,
    stack: Vec<FrameId>,
    values: Vec<i64>,
    broken: u64,
}

impl<'a> SimpleperfReader<'a> {
    fn new(report: Report<'a>, options: LoadOptions) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        builder.metric("samples", "count");
        let mut metrics = EventMetrics::default();
        for event in &report.events {
            metrics.of(&mut builder, event, true);
        }
        builder.meta.default_metric = metrics.default_metric();
        if !report.app.is_empty() {
            let app = lossy(report.app);
            // The first mapping of a profile is assumed to be the program.
            builder.named_mapping(&app);
            builder.meta.comments.push(app.into_owned());
        }
        SimpleperfReader {
            report,
            builder,
            values: vec![0; metrics.len()],
            frames: HashMap::new(),
            label_sets: HashMap::new(),
            stack: Vec::new(),
            broken: 0,
        }
    }

    fn read(mut self) -> ProfileBuilder {
        let samples = std::mem::take(&mut self.report.samples);
        // The clock starts at boot, so times are relative to the first sample.
        let times = samples.iter().filter_map(|sample| time(sample));
        let (first, last) =
            times.fold((u64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        for sample in &samples {
            if self.sample(sample, first).is_none() {
                self.broken += 1;
            }
        }
        let mut builder = self.builder;
        builder.meta.duration_ns = i64::try_from(last.saturating_sub(first)).ok().filter(|&ns| ns > 0);
        let (lost, broken) = (self.report.lost, self.broken);
        if lost > 0 {
            builder.meta.faults.lost = lost;
            let samples = plural(lost, "sample was", "samples were");
            builder.meta.warn_of_fault(format!("{lost} {samples} lost while recording"));
        }
        if broken > 0 {
            let samples = plural(broken, "malformed sample was", "malformed samples were");
            builder.warn(format!("{broken} {samples} skipped"));
        }
        if !self.report.is_whole {
            builder.warn("file is truncated: the end marker is missing".into());
        }
        builder
    }

    fn sample(&mut self, sample: &[u8], start: u64) -> Option<()> {
        let (mut time, mut thread, mut count, mut event) = (None, 0, 0, 0);
        self.stack.clear();
        let mut wire = Wire::new(sample);
        while let Some(field) = wire.field().ok()? {
            match (field.number, field.value) {
                (1, Value::Varint(number)) => time = Some(number),
                (2, Value::Varint(number)) => thread = number,
                (3, Value::Bytes(entry)) => {
                    let frame = self.entry(entry)?;
                    self.stack.push(frame);
                }
                (4, Value::Varint(number)) => count = number,
                (5, Value::Varint(number)) => event = number,
                _ => {}
            }
        }
        self.stack.reverse();
        let stack = self.builder.stack(&self.stack);
        let labels = self.labels(thread);
        let values = &mut self.values;
        values.fill(0);
        values[0] = 1;
        if let Some(value) =
            usize::try_from(event).ok().and_then(|event| values.get_mut(event.checked_add(1)?))
        {
            *value = saturated(count);
        }
        let time = time.and_then(|time| i64::try_from(time.saturating_sub(start)).ok());
        self.builder.sample(stack, labels, time, values);
        Some(())
    }

    fn entry(&mut self, entry: &[u8]) -> Option<FrameId> {
        let (mut address, mut file, mut symbol) = (0, 0, -1);
        let mut wire = Wire::new(entry);
        while let Some(field) = wire.field().ok()? {
            match (field.number, field.value) {
                (1, Value::Varint(number)) => address = number,
                (2, Value::Varint(number)) => file = number,
                (3, Value::Varint(number)) => symbol = number as i32,
                _ => {}
            }
        }
        if let Some(&known) = self.frames.get(&(file, address, symbol)) {
            return Some(known);
        }
        let builder = &mut self.builder;
        let place = self.report.files.get(&file);
        let path = place.map_or(&b""[..], |file| file.path);
        let mapping = builder.named_mapping(&lossy(path));
        let name = place.and_then(|file| file.symbols.get(usize::try_from(symbol).ok()?));
        let function = match name {
            Some(name) => builder.named_function(&demangle(&lossy(name)), ""),
            None => builder.unnamed_function(mapping),
        };
        let frame = builder.frame(Frame { function, address, mapping, ..Frame::default() });
        self.frames.insert((file, address, symbol), frame);
        Some(frame)
    }

    fn labels(&mut self, thread: u64) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        if let Some(&known) = self.label_sets.get(&thread) {
            return known;
        }
        let threads = &self.report.threads;
        let (process, name) = threads.get(&thread).copied().unwrap_or_default();
        // The main thread has the name of the process.
        let process = match threads.get(&process) {
            Some((_, name)) if !name.is_empty() => lossy(name).into_owned(),
            _ if process == 0 => String::new(),
            _ => process.to_string(),
        };
        let labels = Thread { process, name: lossy(name).into_owned(), tid: thread.to_string() };
        let set = labels.labels(&mut self.builder);
        self.label_sets.insert(thread, set);
        set
    }
}

/// The time of a sample.
fn time(sample: &[u8]) -> Option<u64> {
    let mut wire = Wire::new(sample);
    while let Some(field) = wire.field().ok()? {
        if let (1, Value::Varint(time)) = (field.number, field.value) {
            return Some(time);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    /// Written by hand: two events, two threads of one process, a file with symbols, and the kernel.
    const SEED: &[u8] = include_bytes!("../../tests/hostile/seeds/simpleperf/report.trace");

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.into()), LoadOptions::ALL)
    }

    #[test]
    fn names_threads_and_events_come_after_the_samples() {
        let profile = load(SEED).unwrap();
        assert_eq!(
            to_notation(&profile),
            "main 1 250000 0 {process=shop thread=shop tid=7}\n\
             main;draw() 1 250000 0 {process=shop thread=shop tid=7}\n\
             main;draw();[kernel.kallsyms] 1 0 1 {process=shop thread=Render tid=8}"
        );
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, &*metric.unit)).collect();
        assert_eq!(
            metrics,
            [("samples", "count"), ("cpu-clock", "nanoseconds"), ("sched:sched_switch", "count")]
        );
        assert_eq!(profile.samples.time.as_deref(), Some(&[0, 1_000_000, 2_000_000][..]));
        assert_eq!((profile.meta.default_metric, profile.meta.duration_ns), (1, Some(2_000_000)));
        assert_eq!(profile.meta.warnings, ["5 samples were lost while recording"]);
    }

    #[test]
    fn truncated_and_unknown_files_are_told() {
        let cut = load(&SEED[..SEED.len() - 4]).unwrap();
        assert_eq!(cut.meta.warnings[1], "file is truncated: the end marker is missing");
        let error = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
        assert_eq!(
            error(b"SIMPLEPERF\x02\0"),
            "simpleperf: unsupported version 2; only version 1 is supported (byte 10)"
        );
        assert_eq!(
            error(b"SIMPLEPERF\x01\0\x02\0\0\0\x0A\x05"),
            "simpleperf: a record is not a protobuf message (byte 16)"
        );
    }
}
