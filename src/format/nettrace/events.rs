//! The events in a block: their headers, which may be compressed, and their payloads.

use crate::format::fields::Fields;

/// An event; the meaning of its payload follows from its metadata.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// The id of the metadata; 0 for an event that is itself metadata (version 3).
    pub(super) metadata: u32,
    /// The thread that the event is about: its id, or its index in version 6.
    pub(super) thread: u64,
    pub(super) stack: EventStack<'a>,
    pub(super) ticks: i64,
    pub(super) payload: &'a [u8],
}

/// The addresses of an event's stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventStack<'a> {
    /// The id of a stack in a block of stacks.
    Id(u32),
    /// The addresses themselves (version 3).
    Addresses(&'a [u8]),
}

/// The high bit of the metadata id says that events up to this one are sorted.
const METADATA_ID: u32 = 0x7FFF_FFFF;

/// Calls `event` for every event of a block whose content is at `at` in the file. `None` if the block is corrupt.
pub(super) fn for_each<'a>(
    body: &'a [u8],
    at: usize,
    version: u32,
    mut event: impl FnMut(&Event<'a>),
) -> Option<()> {
    if version == 3 {
        return uncompressed(body, at, version, event);
    }
    let mut header = Fields::new(body, false);
    let (size, flags) = (usize::from(header.u16()?), header.u16()?);
    let rows = body.get(size..)?;
    if flags & 1 == 0 {
        return uncompressed(rows, at + size, version, event);
    }
    let mut fields = Fields::new(rows, false);
    let mut header = CompressedHeader::default();
    while !fields.is_empty() {
        header.read(&mut fields, version)?;
        let payload = fields.take(usize::try_from(header.payload).ok()?)?;
        event(&Event {
            metadata: header.metadata & METADATA_ID,
            thread: header.thread,
            stack: EventStack::Id(header.stack),
            ticks: header.ticks,
            payload,
        });
    }
    Some(())
}

/// A header in which fields that equal those of the previous event are left out.
#[derive(Default)]
struct CompressedHeader {
    metadata: u32,
    thread: u64,
    capturing_thread: u64,
    stack: u32,
    ticks: i64,
    payload: u64,
}

impl CompressedHeader {
    #[inline]
    fn read(&mut self, fields: &mut Fields<'_>, version: u32) -> Option<()> {
        let flags = fields.u8()?;
        let has = |bit: u8| flags & bit != 0;
        if has(1) {
            self.metadata = fields.varint()? as u32;
        }
        if has(2) {
            let _sequence_number = fields.varint()?;
            self.capturing_thread = fields.varint()?;
            let _processor = fields.varint()?;
        }
        if has(4) {
            self.thread = fields.varint()?;
        }
        if has(8) {
            self.stack = fields.varint()? as u32;
        }
        self.ticks = self.ticks.wrapping_add(fields.varint()? as i64);
        if version < 6 {
            // The ids of two activities, 16 bytes each.
            fields.take(if has(16) { 16 } else { 0 } + if has(32) { 16 } else { 0 })?;
        } else if has(16) {
            let _labels = fields.varint()?;
        }
        if has(128) {
            self.payload = fields.varint()?;
        }
        Some(())
    }
}

fn uncompressed<'a>(
    rows: &'a [u8],
    at: usize,
    version: u32,
    mut event: impl FnMut(&Event<'a>),
) -> Option<()> {
    let mut fields = Fields::new(rows, false);
    while !fields.is_empty() {
        let size = fields.u32()?;
        let row = fields.take(size as usize)?;
        event(&uncompressed_row(Fields::new(row, false), version)?);
        let end = at + (rows.len() - fields.len());
        let padding = if version < 6 { end.next_multiple_of(4) - end } else { 0 };
        fields.take(padding.min(fields.len()))?;
    }
    Some(())
}

fn uncompressed_row(mut row: Fields<'_>, version: u32) -> Option<Event<'_>> {
    let metadata = row.u32()? & METADATA_ID;
    if version == 3 {
        let (thread, ticks) = (row.u32()?, row.u64()? as i64);
        row.take(32)?; // activities
        let payload = row.u32()? as usize;
        let payload = row.take(payload)?;
        let addresses = row.u32()? as usize;
        let stack = EventStack::Addresses(row.take(addresses)?);
        return Some(Event { metadata, thread: thread.into(), stack, ticks, payload });
    }
    let _sequence_number = row.u32()?;
    let (thread, _capturing_thread, _processor) = (row.u64()?, row.u64()?, row.u32()?);
    let stack = EventStack::Id(row.u32()?);
    let ticks = row.u64()? as i64;
    row.take(if version < 6 { 32 } else { 4 })?; // activities, or the id of a list of labels
    let payload = row.u32()? as usize;
    Some(Event { metadata, thread, stack, ticks, payload: row.take(payload)? })
}
