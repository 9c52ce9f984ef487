//! From the packets of a trace to a profile.

use hashbrown::HashMap;

use crate::format::by_number::ByNumber;
use crate::format::group::{GroupedStack, StackGroups};
use crate::format::perfetto::NAME;
use crate::format::perfetto::clocks::{Clocks, SequenceClocks};
use crate::format::perfetto::heaps::Heaps;
use crate::format::perfetto::interned::{INTERNED, Interned};
use crate::format::perfetto::names::Names;
use crate::format::perfetto::packet::{Packet, each_field, each_packet, kind};
use crate::format::perfetto::slices::Slices;
use crate::format::perfetto::stack_samples::{Contexts, StackSamples};
use crate::format::wire::{Value, WireError, numbers};
use crate::format::{ParseError, finished};
use crate::profile::{LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::plural;

/// Reads a trace: first the names, which may come last, then all else.
pub(super) fn read(trace: Vec<u8>, options: LoadOptions) -> Result<Profile, ParseError> {
    let (mut names, mut clocks) = (Names::default(), Clocks::default());
    each_packet(&trace, |packet| {
        if packet.kind == kind::CLOCKS {
            clocks.add(packet.data)?;
        }
        names.packet(packet)
    })?;
    let mut reader = TraceReader {
        names,
        clocks,
        sequences: ByNumber::default(),
        builder: ProfileBuilder::new(NAME, options),
        groups: StackGroups::default(),
        samples: Vec::new(),
        stack_samples: StackSamples::default(),
        heaps: Heaps::default(),
        slices: Slices::default(),
        label_sets: HashMap::new(),
        lost: Lost::default(),
    };
    let is_whole = each_packet(&trace, |packet| reader.packet(packet))?;
    drop(trace);
    reader.finish(is_whole)
}

/// What the packets of a sequence share.
#[derive(Default)]
struct Sequence {
    interned: Interned,
    clocks: SequenceClocks,
    contexts: Contexts,
    /// The track of slices that do not name one.
    track: u64,
    /// The thread of samples that do not name one.
    thread: Option<u64>,
}

/// A sample of the processor.
struct Sample {
    stack: GroupedStack,
    labels: LabelSetId,
    time: Option<i64>,
}

/// Numbers of samples that are missing or incomplete.
#[derive(Default)]
struct Lost {
    stacks: u64,
    cut: u64,
    skipped: u64,
    records: u64,
}

struct TraceReader {
    names: Names,
    clocks: Clocks,
    sequences: ByNumber<Sequence>,
    builder: ProfileBuilder,
    /// The stacks of all samples but slices.
    groups: StackGroups,
    samples: Vec<Sample>,
    stack_samples: StackSamples,
    heaps: Heaps,
    slices: Slices,
    label_sets: HashMap<Place, LabelSetId>,
    lost: Lost,
}

impl TraceReader {
    fn packet(&mut self, packet: &Packet<'_>) -> Result<(), WireError> {
        let sequence = self.sequences.or_default(packet.sequence.unwrap_or(0));
        if packet.is_reset {
            *sequence = Sequence::default();
        }
        let mut defaults = &b""[..];
        each_field(packet.defaults, |number, value| match (number, value) {
            (58, Value::Varint(clock)) => sequence.clocks.default = Some(clock),
            (11, Value::Bytes(events)) => sequence.track = track(events).unwrap_or(0),
            (100, Value::Bytes(samples)) => defaults = samples,
            _ => {}
        })?;
        if !packet.defaults.is_empty() {
            sequence.contexts.defaults(defaults, &mut self.stack_samples.counters)?;
        }
        if !packet.interned.is_empty() {
            sequence.interned.add(packet.interned, &INTERNED, &mut self.builder)?;
            sequence.contexts.add(packet.interned, &mut self.stack_samples.counters)?;
        }
        if packet.kind == kind::CLOCKS {
            sequence.clocks.add(packet.data, &self.clocks)?;
        }
        let time = packet.timestamp.map(|time| sequence.clocks.time(packet.clock, time, &self.clocks));
        match packet.kind {
            kind::THREAD => sequence.thread = self.names.thread(packet.data, 1, 2, 5)?,
            kind::TRACK_EVENT => {
                let place = (time, sequence.track);
                self.slices.add(packet.data, place, &sequence.interned, &mut self.builder)?;
            }
            kind::HEAPS => {
                self.heaps.packet(
                    (packet.data, time),
                    &mut sequence.interned,
                    &self.names,
                    &mut self.groups,
                    &mut self.builder,
                )?;
            }
            kind::PERF_SAMPLE => {
                if let Some((stack, thread)) = self.lost.perf_sample(packet.data)? {
                    let (groups, builder) = (&mut self.groups, &mut self.builder);
                    let stack = sequence.interned.stack(stack, &self.names, groups, builder);
                    self.sample(stack, thread, time);
                }
            }
            kind::STREAMED_SAMPLES => self.streamed_samples(packet, time)?,
            kind::STACK_SAMPLE => {
                let Sequence { interned, contexts, .. } = sequence;
                let sample = (packet.data, time);
                let (groups, builder) = (&mut self.groups, &mut self.builder);
                self.stack_samples.add(sample, contexts, interned, &self.names, groups, builder)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// `repeated callstack_iid = 1; repeated timestamp_delta_us = 2`
    fn streamed_samples(&mut self, packet: &Packet<'_>, time: Option<i64>) -> Result<(), WireError> {
        let (mut stacks, mut deltas, mut result) = (Vec::new(), Vec::new(), Ok(()));
        each_field(packet.data, |number, value| match number {
            1 => result = result.and(numbers(value, |stack| stacks.push(stack))),
            2 => result = result.and(numbers(value, |delta| deltas.push(delta.cast_signed()))),
            _ => {}
        })?;
        result?;
        let sequence = self.sequences.or_default(packet.sequence.unwrap_or(0));
        let thread = (None, sequence.thread);
        let interned = &mut sequence.interned;
        let (groups, builder) = (&mut self.groups, &mut self.builder);
        let stacks: Vec<Option<GroupedStack>> =
            stacks.into_iter().map(|stack| interned.stack(stack, &self.names, groups, builder)).collect();
        let mut now = time;
        for (at, stack) in stacks.into_iter().enumerate() {
            let delta = deltas.get(at).map_or(0, |delta| delta.saturating_mul(1000));
            now = now.map(|now| now.saturating_add(delta));
            self.sample(stack, thread, now);
        }
        Ok(())
    }

    /// Adds a sample of a thread of a process, unless its stack was lost.
    fn sample(&mut self, stack: Option<GroupedStack>, thread: Place, time: Option<i64>) {
        let Some(stack) = stack else {
            self.lost.stacks += 1;
            return;
        };
        let labels = if self.builder.options().labels {
            *self
                .label_sets
                .entry(thread)
                .or_insert_with_key(|(pid, tid)| self.names.thread_of(*pid, *tid).labels(&mut self.builder))
        } else {
            self.builder.skipped_labels();
            LabelSetId::default()
        };
        self.samples.push(Sample { stack, labels, time });
    }

    fn finish(mut self, is_whole: bool) -> Result<Profile, ParseError> {
        let times = self.samples.iter().filter_map(|sample| sample.time);
        let times = times.chain(self.stack_samples.times());
        let (first, last) = (times.clone().min(), times.max());
        let start = first.into_iter().chain(self.slices.start()).chain(self.heaps.start()).min();
        let builder = &mut self.builder;
        self.groups.look_up(builder);
        builder.meta.time_ns = start.and_then(|start| self.clocks.wall(start));
        // Times count from 1970 if the trace says when that was, else from the first event.
        let origin = start.unwrap_or(0).saturating_sub(builder.meta.time_ns.unwrap_or(0));
        if !self.samples.is_empty() {
            builder.metric("samples", "count");
        }
        if first != last {
            builder.meta.duration_ns = first.zip(last).map(|(first, last)| last.saturating_sub(first));
        }
        for sample in &self.samples {
            let time = sample.time.map(|time| time.saturating_sub(origin));
            builder.sample(self.groups.id(sample.stack), sample.labels, time, &[1]);
        }
        self.lost.cut += self.stack_samples.cut;
        self.lost.stacks += self.stack_samples.lost;
        let has_samples = !self.samples.is_empty();
        let mut shown = has_samples.then_some(0);
        if !self.stack_samples.is_empty() {
            let counted = self.stack_samples.write(origin, &self.groups, builder);
            shown = shown.or(Some(counted));
        }
        let recorded = builder.meta.duration_ns;
        self.heaps.write(origin, &self.names, &self.groups, builder);
        let last_heap = builder.meta.metric_named("inuse_space");
        builder.meta.default_metric = shown.or(last_heap).unwrap_or(0);
        self.slices.write(origin, &self.names, builder);
        builder.meta.duration_ns = builder.meta.duration_ns.max(recorded).filter(|duration| *duration > 0);
        if builder.meta.metrics.is_empty() {
            let message = "the trace has neither stacks of the processor, nor heaps, nor slices: record it with the data source \
                           linux.perf, android.heapprofd or track_event";
            return Err(ParseError::whole(NAME, message));
        }
        self.lost.warn(builder);
        if !is_whole {
            builder.warn("file is truncated within its last packet".into());
        }
        finished(self.builder)
    }
}

/// The process and the thread of a sample.
type Place = (Option<u64>, Option<u64>);

impl Lost {
    /// The stack of a sample, and where it was taken.
    ///
    /// `cpu = 1; pid = 2; tid = 3; callstack_iid = 4; unwind_error = 16; kernel_records_lost = 17; sample_skipped_reason = 18`
    fn perf_sample(&mut self, message: &[u8]) -> Result<Option<(u64, Place)>, WireError> {
        let (mut pid, mut tid, mut stack) = (None, None, None);
        each_field(message, |number, value| match (number, value) {
            (2, Value::Varint(id)) => pid = Some(id),
            (3, Value::Varint(id)) => tid = Some(id),
            (4, Value::Varint(id)) => stack = Some(id),
            // 1 stands for no error.
            (16, Value::Varint(error)) => self.cut += u64::from(error != 1),
            (17, Value::Varint(count)) => self.records = self.records.saturating_add(count),
            (18, Value::Varint(_)) => self.skipped += 1,
            _ => {}
        })?;
        Ok(stack.map(|stack| (stack, (pid, tid))))
    }

    fn warn(&self, builder: &mut ProfileBuilder) {
        let warnings = [
            (
                self.records,
                "record was lost by the kernel while recording",
                "records were lost by the kernel while recording",
            ),
            (
                self.skipped,
                "sample was not unwound while recording",
                "samples were not unwound while recording",
            ),
            (
                self.cut,
                "stack is incomplete: it could not be unwound to its root",
                "stacks are incomplete: they could not be unwound to their roots",
            ),
            (
                self.stacks,
                "sample was skipped because its stack was lost",
                "samples were skipped because their stacks were lost",
            ),
        ];
        for (count, one, several) in warnings.into_iter().filter(|(count, ..)| *count > 0) {
            builder.warn(format!("{count} {}", plural(count, one, several)));
        }
    }
}

/// The track in the defaults for slices.
fn track(defaults: &[u8]) -> Option<u64> {
    let mut track = None;
    let read = each_field(defaults, |number, value| {
        if let (11, Value::Varint(uuid)) = (number, value) {
            track = Some(uuid);
        }
    });
    read.ok().and(track)
}
