//! Converts events to samples.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::labels::label_set;
use crate::format::nettrace::blocks::{NAME, Recording, Trace};
use crate::format::nettrace::code::Code;
use crate::format::nettrace::events::{Event, EventStack};
use crate::format::nettrace::metadata::EventKind;
use crate::format::nettrace::payload::{
    allocation, is_managed, lock_wait, sampled_object, short_text, utf16, wide_text,
};
use crate::format::nettrace::survey::{Survey, Visitor};
use crate::format::nettrace::threads::{Thread, Threads};
use crate::format::text::lossy;
use crate::profile::{FrameId, LabelSetId, LoadOptions, Period, ProfileBuilder, StackId};
use crate::unit::{plural, saturated};

/// Reads samples, when all code is known.
pub(super) struct SampleReader<'a> {
    builder: ProfileBuilder,
    trace: Trace,
    is_whole: bool,
    code: Code<'a>,
    /// The first metric of each kind of event; a second one follows unless the kind only counts.
    metrics: Vec<(EventKind<'a>, usize)>,
    stacks_by_id: HashMap<u32, &'a [u8]>,
    stacks: HashMap<(u64, &'a [u8]), StackId>,
    label_sets: HashMap<(Thread<'a>, Detail<'a>), LabelSetId>,
    process_names: HashMap<u64, &'a [u8]>,
    /// The last sample of each thread, whose duration is not known yet.
    pending: HashMap<Thread<'a>, Pending>,
    /// When each thread began to wait for a lock.
    waiting_since: HashMap<Thread<'a>, i64>,
    frames: Vec<FrameId>,
    values: Vec<i64>,
    without_stack: u64,
}

/// What a label says about an event in addition to its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Detail<'a> {
    Nothing,
    State(bool),
    /// The type of an object or exception, in UTF-16.
    Class(&'a [u8]),
}

struct Pending {
    ticks: i64,
    stack: StackId,
    labels: LabelSetId,
}

impl<'a> SampleReader<'a> {
    pub(super) fn new(recording: &Recording<'a>, survey: Survey<'a>, options: LoadOptions) -> Self {
        let trace = recording.trace.clone();
        let mut builder = ProfileBuilder::new(NAME, options);
        let metrics = declare(&mut builder, survey.kinds);
        builder.meta.default_metric =
            ["wall", "cpu"].iter().find_map(|name| builder.meta.metric_named(name)).unwrap_or(0);
        builder.meta.time_ns = Some(trace.start_ns);
        builder.meta.duration_ns = Some(trace.since_start(survey.end)).filter(|&ns| ns > 0);
        builder.meta.processors = trace.processors;
        let has_samples = metrics.iter().any(|(kind, _)| *kind == EventKind::Sample);
        builder.meta.period = trace.interval.filter(|_| has_samples).map(|value| Period {
            name: "wall".into(),
            unit: "nanoseconds".into(),
            value,
        });
        if let Some(command) = survey.command.and_then(|payload| utf16(&mut Fields::new(payload, false))) {
            let command = wide_text(command);
            // The first mapping of a profile is assumed to be the program.
            if let Some(program) = survey.code.program(&command) {
                builder.named_mapping(program);
            }
            builder.meta.comments.push(command);
        }
        let values = vec![0; builder.meta.metrics.len()];
        SampleReader {
            builder,
            trace,
            is_whole: recording.is_whole,
            code: survey.code,
            metrics,
            stacks_by_id: HashMap::new(),
            stacks: HashMap::new(),
            label_sets: HashMap::new(),
            process_names: HashMap::new(),
            pending: HashMap::new(),
            waiting_since: HashMap::new(),
            frames: Vec::new(),
            values,
            without_stack: 0,
        }
    }

    pub(super) fn finish(mut self, broken: u64) -> ProfileBuilder {
        let mut pending: Vec<Pending> = std::mem::take(&mut self.pending).into_values().collect();
        pending.sort_unstable_by_key(|sample| (sample.ticks, sample.stack, sample.labels));
        for sample in pending {
            self.add_thread_sample(&sample, 0);
        }
        let mut builder = self.builder;
        if self.metrics.is_empty() {
            builder.warn(
                "the recording has no samples; record with `dotnet-trace collect --profile dotnet-sampled-thread-time`"
                    .into(),
            );
        }
        if !self.is_whole {
            builder.warn("file is truncated: the end marker is missing".into());
        }
        if broken > 0 {
            builder.warn(format!(
                "{broken} {} skipped in part",
                plural(broken, "corrupt block was", "corrupt blocks were")
            ));
        }
        if self.without_stack > 0 {
            let samples = plural(self.without_stack, "sample has", "samples have");
            builder.warn(format!("{} {samples} no stack", self.without_stack));
        }
        builder
    }

    fn metric(&self, kind: &EventKind<'a>) -> Option<usize> {
        self.metrics.iter().find(|(known, _)| known == kind).map(|&(_, metric)| metric)
    }

    fn stack(&mut self, process: u64, stack: EventStack<'a>) -> StackId {
        let addresses = match stack {
            EventStack::Addresses(addresses) => addresses,
            EventStack::Id(id) => self.stacks_by_id.get(&id).copied().unwrap_or_default(),
        };
        self.without_stack += u64::from(addresses.is_empty());
        if let Some(&known) = self.stacks.get(&(process, addresses)) {
            return known;
        }
        self.frames.clear();
        for (depth, address) in addresses.chunks_exact(self.trace.pointer_size).enumerate() {
            let address = address.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
            // Callers have the address after the call, which may be in the next method already.
            let address = if depth == 0 { address } else { address.saturating_sub(1) };
            self.frames.push(self.code.frame(&mut self.builder, process, address));
        }
        self.frames.reverse();
        let made = self.builder.stack(&self.frames);
        self.stacks.insert((process, addresses), made);
        made
    }

    fn labels(&mut self, thread: Thread<'a>, detail: Detail<'a>) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        if let Some(&known) = self.label_sets.get(&(thread, detail)) {
            return known;
        }
        let process_name = self.process_names.get(&thread.process).copied().unwrap_or_default();
        let set = label_set(&mut self.builder, |labels| {
            match process_name {
                b"" if thread.process == 0 => {}
                b"" => labels.text("process", &thread.process.to_string()),
                name => labels.text("process", &lossy(name)),
            }
            labels.text_if_known("thread", &lossy(thread.name));
            labels.text("tid", &thread.id.to_string());
            match detail {
                Detail::Nothing => {}
                Detail::State(is_managed) => {
                    labels.text("state", if is_managed { "managed" } else { "unmanaged" });
                }
                Detail::Class(name) => labels.text_if_known("class", &wide_text(name)),
            }
        });
        self.label_sets.insert((thread, detail), set);
        set
    }

    /// A sample lasts until the next one of its thread.
    fn thread_sample(&mut self, event: &Event<'a>, thread: Thread<'a>) {
        let stack = self.stack(thread.process, event.stack);
        let detail = is_managed(event.payload).map_or(Detail::Nothing, Detail::State);
        let labels = self.labels(thread, detail);
        let sample = Pending { ticks: event.ticks, stack, labels };
        if let Some(last) = self.pending.insert(thread, sample) {
            let duration = self.trace.nanoseconds(event.ticks.saturating_sub(last.ticks)).max(0);
            self.add_thread_sample(&last, duration);
        }
    }

    fn add_thread_sample(&mut self, sample: &Pending, duration: i64) {
        if let Some(metric) = self.metric(&EventKind::Sample) {
            self.add(metric, &[1, duration], sample.stack, sample.labels, sample.ticks);
        }
    }

    fn other_sample(&mut self, kind: &EventKind<'a>, event: &Event<'a>, thread: Thread<'a>) -> Option<()> {
        let metric = self.metric(kind)?;
        let pointer_size = self.trace.pointer_size;
        let mut detail = Detail::Nothing;
        let values = match kind {
            EventKind::Allocation => {
                let (amount, class) = allocation(event.payload, pointer_size)?;
                detail = Detail::Class(class);
                [1, saturated(amount)]
            }
            EventKind::SampledObject => {
                let (count, size) = sampled_object(event.payload, pointer_size)?;
                [saturated(count), saturated(size)]
            }
            EventKind::LockWaitEnd => {
                let since = self.waiting_since.remove(&thread);
                let waited = || self.trace.nanoseconds(event.ticks.saturating_sub(since?)).into();
                [1, lock_wait(event.payload).or_else(waited).unwrap_or(0).max(0)]
            }
            EventKind::Exception => {
                detail = Detail::Class(utf16(&mut Fields::new(event.payload, false))?);
                [1, 0]
            }
            EventKind::Value(name) => {
                let value = saturated(Fields::new(event.payload, false).varint()?);
                [if is_time(name) { self.trace.nanoseconds(value) } else { value }, 0]
            }
            _ => return None,
        };
        let stack = self.stack(thread.process, event.stack);
        let labels = self.labels(thread, detail);
        let count = if has_two_metrics(kind) { 2 } else { 1 };
        self.add(metric, &values[..count], stack, labels, event.ticks);
        Some(())
    }

    fn add(&mut self, metric: usize, values: &[i64], stack: StackId, labels: LabelSetId, ticks: i64) {
        self.values.fill(0);
        self.values[metric..metric + values.len()].copy_from_slice(values);
        let time = self.builder.options().times.then(|| self.trace.time(ticks));
        self.builder.skipped_times();
        self.builder.sample(stack, labels, time, &self.values);
    }
}

impl<'a> Visitor<'a> for SampleReader<'a> {
    fn event(&mut self, kind: &EventKind<'a>, event: &Event<'a>, threads: &Threads<'a>) {
        let thread = threads.thread(event.thread);
        match kind {
            EventKind::Sample => self.thread_sample(event, thread),
            EventKind::LockWaitStart => {
                self.waiting_since.insert(thread, event.ticks);
            }
            EventKind::ProcessName => {
                let mut fields = Fields::new(event.payload, false);
                let name = fields.varint().and_then(|_| short_text(&mut fields));
                self.process_names.insert(thread.process, name.unwrap_or_default());
            }
            // An event that is shorter than its kind is not a sample.
            kind => drop(self.other_sample(kind, event, thread)),
        }
    }

    fn stacks(&mut self, body: &'a [u8]) -> Option<()> {
        let mut fields = Fields::new(body, false);
        let (first, count) = (fields.u32()?, fields.u32()?);
        for index in 0..count {
            let size = fields.u32()?;
            let addresses = fields.take(size as usize)?;
            self.stacks_by_id.insert(first.wrapping_add(index), addresses);
        }
        Some(())
    }
}

/// Declares the metrics of the kinds of events that occur: samples first, then in order of appearance.
fn declare<'a>(builder: &mut ProfileBuilder, mut kinds: Vec<EventKind<'a>>) -> Vec<(EventKind<'a>, usize)> {
    kinds.sort_by_key(|kind| *kind != EventKind::Sample);
    if kinds.is_empty() {
        builder.metric("samples", "count");
    }
    let mut metrics = Vec::new();
    for kind in kinds {
        let mut declare = |name: &str, unit: &str| builder.metric(name, unit);
        let first = match &kind {
            EventKind::Sample => {
                let first = declare("samples", "count");
                declare("wall", "nanoseconds");
                first
            }
            EventKind::Allocation => {
                let first = declare("alloc-samples", "count");
                declare("alloc-size", "bytes");
                first
            }
            EventKind::SampledObject => {
                let first = declare("alloc_objects", "count");
                declare("alloc_space", "bytes");
                first
            }
            EventKind::LockWaitEnd => {
                let first = declare("lock_count", "count");
                declare("lock_duration", "nanoseconds");
                first
            }
            EventKind::Exception => declare("exceptions", "count"),
            EventKind::Value(name) => {
                declare(&lossy(name), if is_time(name) { "nanoseconds" } else { "count" })
            }
            _ => continue,
        };
        metrics.push((kind, first));
    }
    metrics
}

fn has_two_metrics(kind: &EventKind<'_>) -> bool {
    matches!(
        kind,
        EventKind::Sample | EventKind::Allocation | EventKind::SampledObject | EventKind::LockWaitEnd
    )
}

/// Whether the values of a machine-wide event are times: how long a thread did not run.
fn is_time(name: &[u8]) -> bool {
    name == b"cswitch"
}
