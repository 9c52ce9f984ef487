//! .NET's event traces (`.nettrace`, and `.netperf` of .NET Core 2.1), written by `dotnet-trace` and the runtime itself.
//!
//! A recording is a sequence of blocks: definitions of event types, stacks, and events, whose meaning follows from
//! their provider and number. These become samples:
//!
//! | event | metrics |
//! |---|---|
//! | sample of a thread | `samples`, `wall`: the time until the next sample of the same thread |
//! | `GC/AllocationTick` | `alloc-samples`, `alloc-size`: the bytes allocated since the last one |
//! | `GC/SampledObjectAllocation` | `alloc_objects`, `alloc_space` |
//! | `Contention/Stop` | `lock_count`, `lock_duration` |
//! | `Exception/Start` | `exceptions` |
//! | `Universal.Events` (machine-wide recordings) | one metric per event, such as `cpu` |
//!
//! The sampler looks at all threads, whether they run or wait; the label `state` says whether a thread was in managed
//! code. Stacks are addresses: their names are in events that the runtime writes for each method, mostly at the end.

mod blocks;
mod code;
mod events;
mod metadata;
mod payload;
mod samples;

use crate::format::nettrace::blocks::{BlockKind, MAGIC, OBJECTS, Recording};
use crate::format::nettrace::code::Code;
use crate::format::nettrace::events::Event;
use crate::format::nettrace::metadata::{EventKind, Metadata};
use crate::format::nettrace::samples::SampleReader;
use crate::format::nettrace::threads::Threads;
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::profile::{LoadOptions, Profile};

mod threads;

/// The entry in the list of readable formats.
pub(super) static NETTRACE: Format = Format { name: NAME, title: ".NET nettrace", sniff, read };

const NAME: &str = "nettrace";

fn sniff(head: &[u8]) -> Confidence {
    // Other files of the serialization library start like those of version 3 but contain other objects.
    let is_old = head.starts_with(OBJECTS) && head.get(39..44) == Some(b"Trace");
    if head.starts_with(MAGIC) || is_old { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let recording = Recording::read(&bytes)?;
    let mut survey = Survey::default();
    let broken = walk(&recording, &mut survey);
    survey.code.sort();
    let mut reader = SampleReader::new(&recording, survey, options);
    walk(&recording, &mut reader);
    Ok(finished(reader.finish(broken))?)
}

/// Something that is told about the parts of a recording, in order.
trait Visitor<'a> {
    fn event(&mut self, kind: &EventKind<'a>, event: &Event<'a>, threads: &Threads<'a>);

    /// A block of stacks.
    fn stacks(&mut self, _body: &'a [u8]) -> Option<()> {
        Some(())
    }
}

/// Goes through all blocks and returns how many are corrupt.
fn walk<'a>(recording: &Recording<'a>, visitor: &mut impl Visitor<'a>) -> u64 {
    let version = recording.version;
    let (mut metadata, mut threads) = (Metadata::default(), Threads::new(version));
    let mut broken = 0;
    for block in &recording.blocks {
        let read = match block.kind {
            BlockKind::Events => events::for_each(block.body, block.at, version, |event| {
                if event.metadata == 0 && version == 3 {
                    metadata.add(event.payload);
                } else if let Some(kind) = metadata.kind(event.metadata) {
                    visitor.event(kind, event, &threads);
                }
            }),
            BlockKind::Metadata if version >= 6 => metadata.add_block(block.body),
            BlockKind::Metadata => events::for_each(block.body, block.at, version, |event| {
                metadata.add(event.payload);
            }),
            BlockKind::Stacks => visitor.stacks(block.body),
            BlockKind::Threads => threads.add(block.body),
            BlockKind::SequencePoint if version >= 6 => {
                let flags = block.body.get(8).copied();
                if flags.is_some_and(|flags| flags & 1 != 0) {
                    threads.clear();
                }
                if flags.is_some_and(|flags| flags & 2 != 0) {
                    metadata.clear();
                }
                flags.map(|_| ())
            }
            BlockKind::SequencePoint | BlockKind::Trace | BlockKind::Other => Some(()),
        };
        broken += u64::from(read.is_none());
    }
    broken
}

/// What must be known before samples are read.
#[derive(Debug, Default)]
struct Survey<'a> {
    code: Code<'a>,
    /// The kinds of events that become samples, in order of appearance.
    kinds: Vec<EventKind<'a>>,
    command: Option<&'a [u8]>,
    /// The time of the last event.
    end: i64,
}

impl<'a> Visitor<'a> for Survey<'a> {
    fn event(&mut self, kind: &EventKind<'a>, event: &Event<'a>, threads: &Threads<'a>) {
        self.end = self.end.max(event.ticks);
        let payload = event.payload;
        // An event that is too short is one name less.
        match kind {
            EventKind::Method => self.code.add_method(threads.process(event.thread), payload),
            EventKind::Module => self.code.add_module(threads.process(event.thread), payload),
            EventKind::Mapping => self.code.add_mapping(payload),
            EventKind::Symbol => self.code.add_symbol(threads.process(event.thread), payload),
            EventKind::Process => {
                self.command = self.command.or(Some(payload));
                None
            }
            EventKind::ProcessName | EventKind::LockWaitStart => None,
            kind => {
                if !self.kinds.contains(kind) {
                    self.kinds.push(kind.clone());
                }
                None
            }
        };
    }
}

#[cfg(test)]
mod tests;
