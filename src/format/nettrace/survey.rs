//! Goes through a recording: once to learn what samples refer to, and once for the samples.

use crate::format::nettrace::blocks::{BlockKind, Recording};
use crate::format::nettrace::code::Code;
use crate::format::nettrace::events::{self, Event};
use crate::format::nettrace::metadata::{EventKind, Metadata};
use crate::format::nettrace::threads::Threads;

/// Something that is told about the parts of a recording, in order.
pub(super) trait Visitor<'a> {
    fn event(&mut self, kind: &EventKind<'a>, event: &Event<'a>, threads: &Threads<'a>);

    /// A block of stacks.
    fn stacks(&mut self, _body: &'a [u8]) -> Option<()> {
        Some(())
    }
}

/// Goes through all blocks and returns how many are corrupt.
pub(super) fn walk<'a>(recording: &Recording<'a>, visitor: &mut impl Visitor<'a>) -> u64 {
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
pub(super) struct Survey<'a> {
    pub(super) code: Code<'a>,
    /// The kinds of events that become samples, in order of appearance.
    pub(super) kinds: Vec<EventKind<'a>>,
    pub(super) command: Option<&'a [u8]>,
    /// The time of the last event.
    pub(super) end: i64,
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
