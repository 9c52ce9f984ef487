//! Converts stacks of frames to lists of locations for writing.

use hashbrown::HashMap;

use crate::format::pprof::mapping_order::MappingOrder;
use crate::format::pprof::messages::{LineMessage, LocationMessage};
use crate::format::wire::push_varint;
use crate::profile::{Column, FrameId, Id, MappingId, Profile, StackId, Symbols};

/// The locations of a profile, in the order of their first occurrence in its stacks.
pub(in crate::format) struct WrittenLocations {
    pub(in crate::format) rows: Vec<LocationMessage>,
    pub(in crate::format) mappings: MappingOrder,
    /// Whether any frame of a mapping has a name.
    pub(super) named: Column<MappingId, bool>,
}

/// The encoded location ids of every stack, leaf first.
pub(in crate::format) struct PackedStacks {
    bytes: Vec<u8>,
    end: Column<StackId, usize>,
}

impl PackedStacks {
    pub(in crate::format) fn ids(&self, stack: StackId) -> &[u8] {
        let start = if stack.index() == 0 { 0 } else { self.end[StackId::new(stack.index() - 1)] };
        &self.bytes[start..self.end[stack]]
    }
}

impl WrittenLocations {
    pub(in crate::format) fn of(profile: &Profile) -> (WrittenLocations, PackedStacks) {
        let symbols = &profile.symbols;
        let mut locations = WrittenLocations {
            rows: Vec::new(),
            mappings: MappingOrder::of(profile),
            named: Column::filled(false, symbols.mappings.len()),
        };
        let mut ids: HashMap<&[FrameId], u64> = HashMap::new();
        let mut stacks = PackedStacks { bytes: Vec::new(), end: Column::new() };
        let unnamed = symbols.unnamed_frames();
        for stack in profile.stacks.iter() {
            let mut rest = stack;
            while !rest.is_empty() {
                let start = last_group(symbols, rest);
                let group = &rest[start..];
                rest = &rest[..start];
                let id = *ids.entry(group).or_insert_with(|| {
                    let id = locations.rows.len() as u64 + 1;
                    let mapping = symbols.frames[group[0]].mapping;
                    let location = LocationMessage {
                        mapping_id: locations.mappings.number(mapping),
                        ..location(id, symbols, group, &unnamed)
                    };
                    locations.named[mapping] |= !location.line.is_empty();
                    locations.rows.push(location);
                    id
                });
                push_varint(&mut stacks.bytes, id);
            }
            stacks.end.push(stacks.bytes.len());
        }
        (locations, stacks)
    }
}

/// The index of the last frame of `frames` that was not inlined, provided that the frames after it have the same
/// address.
fn last_group(symbols: &Symbols, frames: &[FrameId]) -> usize {
    let mut start = frames.len() - 1;
    while start > 0 {
        let (frame, caller) = (symbols.frames[frames[start]], symbols.frames[frames[start - 1]]);
        let same_place = (frame.address, frame.mapping) == (caller.address, caller.mapping);
        if !(frame.inlined && same_place) {
            break;
        }
        start -= 1;
    }
    start
}

/// The location of frames that share an address, outermost first, without its mapping.
fn location(
    id: u64,
    symbols: &Symbols,
    frames: &[FrameId],
    unnamed: &Column<FrameId, bool>,
) -> LocationMessage {
    let first = symbols.frames[frames[0]];
    let line = |&frame: &FrameId| {
        let frame = symbols.frames[frame];
        LineMessage { function_id: frame.function.index() as u64 + 1, line: i64::from(frame.line) }
    };
    let line = match frames {
        [frame] if unnamed[*frame] => Vec::new(),
        frames => frames.iter().rev().map(line).collect(),
    };
    LocationMessage { id, mapping_id: 0, address: first.address, line }
}
