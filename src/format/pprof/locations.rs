//! Locations (instruction addresses with lines) and their conversion to frames.

use hashbrown::HashSet;

use crate::format::ParseError;
use crate::format::pprof::by_id::ById;
use crate::format::pprof::messages::LineMessage;
use crate::format::pprof::sniff::NAME;
use crate::format::wire::{Value, Wire, WireError};
use crate::profile::{Frame, FrameId, FunctionId, Id, MappingId, ProfileBuilder};
use crate::unit::plural;

/// The number of locations whose frames are looked up at once.
const AT_ONCE: usize = 256;

/// The locations of a file, before conversion.
///
/// Half of the fields of a typical file are locations and their lines. They are decoded by hand into two flat
/// vectors, which saves an allocation per location.
#[derive(Default)]
pub(super) struct RawLocations {
    rows: Vec<RawLocation>,
    /// The lines of all locations.
    lines: Vec<LineMessage>,
}

/// A location; `at` is its byte offset in the file.
struct RawLocation {
    id: u64,
    mapping: u64,
    address: u64,
    /// Where its lines end. They start where those of the previous location end.
    end: usize,
    at: u64,
}

impl RawLocations {
    /// The approximate memory usage in bytes.
    pub(super) fn size(&self) -> usize {
        self.rows.capacity() * size_of::<RawLocation>() + self.lines.capacity() * size_of::<LineMessage>()
    }

    /// Removes everything, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.lines.clear();
    }

    /// Adds the location encoded as `bytes`, which is at offset `at` of the file.
    pub(super) fn add(&mut self, bytes: &[u8], at: u64) -> Result<(), WireError> {
        let mut row = RawLocation { id: 0, mapping: 0, address: 0, end: 0, at };
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Varint(id)) => row.id = id,
                (2, Value::Varint(mapping)) => row.mapping = mapping,
                (3, Value::Varint(address)) => row.address = address,
                (4, Value::Bytes(line)) => self.lines.push(line_of(line)?),
                (1..=4, _) => return Err(WireError::Malformed),
                _ => {}
            }
        }
        row.end = self.lines.len();
        self.rows.push(row);
        Ok(())
    }

    /// Makes lines without a function refer to the one with the position of their location. For files whose functions
    /// have no ids.
    pub(super) fn number_functions(&mut self) {
        let mut start = 0;
        for (number, row) in (1..).zip(&self.rows) {
            for line in self.lines[start..row.end].iter_mut().filter(|line| line.function_id == 0) {
                line.function_id = number;
            }
            start = row.end;
        }
    }

    /// The number of lines of all locations.
    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are addresses without a function.
    pub(super) fn have_unnamed(&self) -> bool {
        let mut start = 0;
        self.rows.iter().any(|row| std::mem::replace(&mut start, row.end) == row.end)
    }

    /// Converts locations to frames.
    pub(super) fn expand(
        &self,
        builder: &mut ProfileBuilder,
        mappings: &ById<MappingId>,
        functions: &ById<Option<FunctionId>>,
    ) -> Result<Locations, ParseError> {
        let frames = Vec::with_capacity(self.lines.len());
        let by_id = ById::with_capacity(self.rows.len());
        let mut locations = Locations { by_id, frames, longest: 0 };
        let mut unknown_mapping = 0;
        let mut start = 0;
        let (mut some, mut lengths) = (Vec::new(), Vec::new());
        // The frames of many locations are looked up at once, which takes less time.
        for rows in self.rows.chunks(AT_ONCE) {
            some.clear();
            lengths.clear();
            for row in rows {
                let mapping = mappings.get(row.mapping).copied().unwrap_or_else(|| {
                    unknown_mapping += u64::from(row.mapping != 0);
                    MappingId::default()
                });
                let lines = &self.lines[start..row.end];
                start = row.end;
                let before = some.len();
                frames_of(builder, row, lines, mapping, functions, &mut some)?;
                lengths.push(some.len() - before);
            }
            let mut first = locations.frames.len();
            locations.frames.extend(builder.frames(&some));
            for (row, &length) in rows.iter().zip(&lengths) {
                locations.add(row, first, length)?;
                first += length;
            }
        }
        if unknown_mapping > 0 {
            let locations =
                plural(unknown_mapping, "location refers to a mapping", "locations refer to mappings");
            builder.warn(format!(
                "{unknown_mapping} {locations} that {} not exist",
                plural(unknown_mapping, "does", "do")
            ));
        }
        Ok(locations)
    }
}

fn line_of(bytes: &[u8]) -> Result<LineMessage, WireError> {
    let mut line = LineMessage::default();
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        match (field.number, field.value) {
            (1, Value::Varint(function)) => line.function_id = function,
            (2, Value::Varint(number)) => line.line = number as i64,
            (1..=2, _) => return Err(WireError::Malformed),
            _ => {}
        }
    }
    Ok(line)
}

/// Appends the frames of a location, innermost first, before they are looked up.
fn frames_of(
    builder: &mut ProfileBuilder,
    row: &RawLocation,
    lines: &[LineMessage],
    mapping: MappingId,
    functions: &ById<Option<FunctionId>>,
    frames: &mut Vec<Frame>,
) -> Result<(), ParseError> {
    let frame = Frame { address: row.address, mapping, ..Frame::default() };
    if lines.is_empty() {
        let function = builder.unnamed_function(mapping);
        frames.push(Frame { function, ..frame });
        return Ok(());
    }
    for (index, line) in lines.iter().enumerate() {
        let known = functions.get(line.function_id).ok_or_else(|| {
            let message =
                format!("location {} refers to function {}, which does not exist", row.id, line.function_id);
            ParseError::at_byte(NAME, row.at, message)
        })?;
        let function = known.unwrap_or_else(|| builder.unnamed_function(mapping));
        let inlined = index + 1 < lines.len();
        let line = u32::try_from(line.line).unwrap_or(0);
        frames.push(Frame { function, line, inlined, ..frame });
    }
    Ok(())
}

pub(super) fn duplicate(what: &str, id: u64, at: u64) -> ParseError {
    ParseError::at_byte(NAME, at, format!("{what} {id} is defined twice"))
}

/// The frames of every location, by its id.
pub(super) struct Locations {
    by_id: ById<Expanded>,
    /// Frames of all locations, innermost first.
    frames: Vec<FrameId>,
    longest: usize,
}

/// The frames of a location.
#[derive(Clone, Copy)]
struct Expanded {
    /// The frame if there is only one, as usual: this saves a lookup.
    only: Option<FrameId>,
    /// The range of its frames.
    first: u32,
    end: u32,
}

impl Locations {
    /// Adds a location with `length` of the frames, from number `first` on.
    fn add(&mut self, row: &RawLocation, first: usize, length: usize) -> Result<(), ParseError> {
        let only = (length == 1).then(|| self.frames[first]);
        // Mapping an array of both is a call here, which took 3 % of the time of reading many small files.
        let (Ok(first), Ok(end)) = (u32::try_from(first), u32::try_from(first + length)) else {
            return Err(ParseError::at_byte(NAME, row.at, "more than 2^32 frames"));
        };
        if !self.by_id.insert(row.id, Expanded { only, first, end }) {
            return Err(duplicate("location", row.id, row.at));
        }
        self.longest = self.longest.max(length);
        Ok(())
    }

    /// The frames of a location, innermost first.
    #[inline]
    pub(super) fn frames(&self, id: u64) -> Option<&[FrameId]> {
        self.by_id.get(id).map(|location| self.range(location))
    }

    /// The frame of a location with a single frame, if it can be found without hashing.
    #[inline]
    pub(super) fn only_frame(&self, id: u64) -> Option<FrameId> {
        self.by_id.consecutive(id)?.only
    }

    /// The maximum number of frames of a location.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    fn range(&self, location: &Expanded) -> &[FrameId] {
        &self.frames[location.first as usize..location.end as usize]
    }

    /// Whether all locations have different frames. Then different lists of locations have different frames, too:
    /// all frames of a location except the outermost are inlined, so the end of each location can be seen in a list
    /// of frames.
    pub(super) fn are_distinct(&self) -> bool {
        let rows = self.by_id.in_order();
        // If locations have addresses, their innermost frames already differ, and hashing is not needed.
        let frames = self.frames.iter().map(|frame| frame.index() + 1).max().unwrap_or(0);
        let mut seen = vec![false; frames];
        let is_new = |frame: &FrameId| !std::mem::replace(&mut seen[frame.index()], true);
        if rows.iter().filter_map(|(_, location)| self.range(location).first()).all(is_new) {
            return true;
        }
        let mut seen = HashSet::with_capacity(rows.len());
        rows.iter().all(|(_, location)| seen.insert(self.range(location)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::wire::{push_bytes, push_varint};
    use crate::profile::LoadOptions;

    fn location(id: u64, address: u64, functions: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (field, value) in [(1, id), (3, address)] {
            push_varint(&mut bytes, field << 3);
            push_varint(&mut bytes, value);
        }
        for &function in functions {
            let mut line = vec![1 << 3];
            push_varint(&mut line, function);
            push_bytes(&mut bytes, 4, &line);
        }
        bytes
    }

    fn expand(rows: &[Vec<u8>]) -> Locations {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        let mut functions = ById::default();
        for id in 1..=3 {
            functions.insert(id, Some(builder.named_function(&format!("f{id}"), "")));
        }
        let mut raw = RawLocations::default();
        for row in rows {
            raw.add(row, 0).unwrap();
        }
        raw.expand(&mut builder, &ById::default(), &functions).unwrap()
    }

    #[test]
    fn the_frames_of_a_list_show_where_each_location_ends() {
        let locations = expand(&[location(1, 8, &[1]), location(2, 8, &[2]), location(3, 8, &[1, 2])]);
        assert!(locations.are_distinct());
        // In location 3, the frame of function 1 is inlined, so it is not the frame of location 1.
        assert_ne!(locations.frames(3).unwrap()[0], locations.frames(1).unwrap()[0]);
        assert_eq!(locations.frames(3).unwrap()[1].index(), locations.frames(2).unwrap()[0].index());
        assert!(!expand(&[location(1, 8, &[1]), location(2, 8, &[1])]).are_distinct());
        assert!(expand(&[location(1, 8, &[1]), location(2, 9, &[1])]).are_distinct());
    }

    #[test]
    fn a_number_instead_of_a_message_is_malformed() {
        let mut raw = RawLocations::default();
        assert_eq!(raw.add(&[4 << 3, 1], 0), Err(WireError::Malformed));
        assert_eq!(raw.add(&[4 << 3 | 2, 5], 0), Err(WireError::Truncated));
    }
}
