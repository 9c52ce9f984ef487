//! What the events mean: their provider and number or name.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::nettrace::blocks::text;
use crate::format::nettrace::payload::{utf16, wide_text};

/// The kinds of events that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventKind<'a> {
    /// A thread was seen, in managed code or outside.
    Sample,
    /// About 100 kB have been allocated since the last of these.
    Allocation,
    /// A sampled object, with the number and size of those it stands for.
    SampledObject,
    LockWaitStart,
    LockWaitEnd,
    Exception,
    /// A method was compiled, or existed at the end of the recording.
    Method,
    Module,
    /// The command line of the process.
    Process,
    /// A process was found, with its name (machine-wide recordings).
    ProcessName,
    /// A file was mapped into a process.
    Mapping,
    /// The name of a range of addresses.
    Symbol,
    /// A value with a stack, whose name says what it is.
    Value(&'a [u8]),
}

/// The kind of each metadata id; events of other kinds are skipped.
#[derive(Debug, Default)]
pub(super) struct Metadata<'a> {
    kinds: HashMap<u32, EventKind<'a>>,
}

impl<'a> Metadata<'a> {
    pub(super) fn kind(&self, id: u32) -> Option<&EventKind<'a>> {
        self.kinds.get(&id)
    }

    pub(super) fn clear(&mut self) {
        self.kinds.clear();
    }

    /// Adds the definition in the payload of an event (versions 3 to 5).
    pub(super) fn add(&mut self, payload: &'a [u8]) -> Option<()> {
        let mut fields = Fields::new(payload, false);
        let id = fields.u32()?;
        let provider = wide_text(utf16(&mut fields)?);
        let number = fields.u32()?;
        let kind = of_runtime(&provider, number);
        self.set(id, kind);
        Some(())
    }

    /// Adds the definitions in a block of version 6.
    pub(super) fn add_block(&mut self, body: &'a [u8]) -> Option<()> {
        let mut fields = Fields::new(body, false);
        let header = fields.u16()?;
        fields.take(header.into())?;
        while !fields.is_empty() {
            let size = fields.u16()?;
            let mut row = Fields::new(fields.take(size.into())?, false);
            let id = row.varint()? as u32;
            let provider = text(&mut row)?;
            let number = row.varint()? as u32;
            let name = text(&mut row)?;
            let kind = match (provider, name) {
                (b"Universal.Events", name) => Some(EventKind::Value(name)),
                (b"Universal.System", b"ProcessCreate") => Some(EventKind::ProcessName),
                (b"Universal.System", b"ProcessMapping") => Some(EventKind::Mapping),
                (b"Universal.System", b"ProcessSymbol") => Some(EventKind::Symbol),
                _ => std::str::from_utf8(provider).ok().and_then(|provider| of_runtime(provider, number)),
            };
            self.set(id, kind);
        }
        Some(())
    }

    fn set(&mut self, id: u32, kind: Option<EventKind<'a>>) {
        match kind {
            Some(kind) => self.kinds.insert(id, kind),
            None => self.kinds.remove(&id),
        };
    }
}

/// The events of the .NET runtime, which have numbers.
fn of_runtime(provider: &str, number: u32) -> Option<EventKind<'static>> {
    Some(match (provider, number) {
        ("Microsoft-DotNETCore-SampleProfiler", 0) => EventKind::Sample,
        ("Microsoft-DotNETCore-EventPipe", 1) => EventKind::Process,
        ("Microsoft-Windows-DotNETRuntime", number) => match number {
            10 => EventKind::Allocation,
            20 | 32 => EventKind::SampledObject,
            80 => EventKind::Exception,
            81 => EventKind::LockWaitStart,
            91 => EventKind::LockWaitEnd,
            // At the start and the end of a recording, or when it was compiled.
            139 | 140 | 143 => EventKind::Method,
            149 | 150 | 152 => EventKind::Module,
            _ => return None,
        },
        ("Microsoft-Windows-DotNETRuntimeRundown", 143 | 144) => EventKind::Method,
        ("Microsoft-Windows-DotNETRuntimeRundown", 153 | 154) => EventKind::Module,
        _ => return None,
    })
}
