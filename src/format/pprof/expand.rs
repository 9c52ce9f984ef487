//! Converts lists of location ids to stacks of frames.

use crate::format::ParseError;
use crate::format::pprof::locations::Locations;
use crate::format::pprof::raw_stacks::{FirstSeen, RawStacks};
use crate::format::pprof::sniff::NAME;
use crate::format::wire::Wire;
use crate::parallel;
use crate::profile::{Budget, FrameId, Stacks};

/// The maximum depth of a stack, which takes 256 MiB.
const MAX_DEPTH: usize = 1 << 26;

/// The maximum size of the buffer. Stacks that may have more frames than this use the slow path.
const MAX_BUFFER: usize = 1 << 16;

/// The frames of all stacks, root first.
pub(super) fn expand_all(
    stacks: &RawStacks,
    locations: &Locations,
    budget: &Budget,
) -> Result<Stacks, ParseError> {
    let parts = parallel::ranges(stacks.len(), 20_000, |numbers| {
        let (mut reservation, mut reserved) = (budget.reservation(), 0);
        let mut expander = Expander::new(stacks, locations);
        // Every id has at least a byte, and most become one frame.
        let mut part = Stacks::with_capacity(numbers.len(), stacks.bytes_of(numbers.clone()));
        for number in numbers {
            part.push_with(|frames| expander.expand(number, frames))?;
            // Five bytes of a stack may refer to a location with a thousand frames.
            let size = size_of_val(part.all_frames());
            if size - reserved > 1 << 20 {
                reservation.set(size as u64).map_err(|error| ParseError::whole(NAME, error.to_string()))?;
                reserved = size;
            }
        }
        Ok(part)
    });
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_else(|| Ok(Stacks::new()))?;
    for part in parts {
        all.append(&part?);
    }
    Ok(all)
}

/// Converts stacks one by one.
pub(super) struct Expander<'a> {
    stacks: &'a RawStacks,
    locations: &'a Locations,
    /// A buffer for one stack, filled from its end, because pprof lists the leaf first and the model the root first.
    /// Appending frames and reversing them takes two thirds more instructions.
    buffer: Vec<FrameId>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(stacks: &'a RawStacks, locations: &'a Locations) -> Self {
        Expander { stacks, locations, buffer: Vec::new() }
    }

    /// Appends the frames of a stack, root first. Fails if it refers to a missing location or is too deep.
    pub(super) fn expand(&mut self, number: usize, frames: &mut Vec<FrameId>) -> Result<(), ParseError> {
        let ids = self.stacks.ids(number);
        match self.fill(ids) {
            Some(start) => {
                frames.extend_from_slice(&self.buffer[start..]);
                Ok(())
            }
            None => self.expand_any(number, frames),
        }
    }

    /// Writes the frames of a list of ids to the end of the buffer, and returns where they start. `None` if they may
    /// not fit or the list is malformed.
    fn fill(&mut self, ids: &[u8]) -> Option<usize> {
        let most = ids.len() * self.locations.longest();
        if most > self.buffer.len() {
            if most > MAX_BUFFER {
                return None;
            }
            self.buffer.resize(most, FrameId::default());
        }
        let mut at = self.buffer.len();
        let mut wire = Wire::new(ids);
        while !wire.is_at_end() {
            let id = wire.varint().ok()?;
            if let Some(frame) = self.locations.only_frame(id) {
                at -= 1;
                self.buffer[at] = frame;
                continue;
            }
            for &frame in self.locations.frames(id)? {
                at -= 1;
                self.buffer[at] = frame;
            }
        }
        Some(at)
    }

    /// Like [`Expander::expand`], for stacks of any depth. Reports what is wrong with malformed ones.
    fn expand_any(&self, number: usize, frames: &mut Vec<FrameId>) -> Result<(), ParseError> {
        let bad = |what: &str| {
            let FirstSeen { sample, byte } = self.stacks.first_seen(number);
            ParseError::at_byte(NAME, byte, format!("sample {sample} {what}"))
        };
        let start = frames.len();
        let mut wire = Wire::new(self.stacks.ids(number));
        while !wire.is_at_end() {
            let id = wire.varint().map_err(|_| bad("has malformed location ids"))?;
            let location = self
                .locations
                .frames(id)
                .ok_or_else(|| bad(&format!("refers to location {id}, which does not exist")))?;
            frames.extend_from_slice(location);
            // A location may have a thousand inlined frames, and a stack may refer to it a million times.
            if frames.len() - start > MAX_DEPTH {
                return Err(bad(&format!("has a stack of more than {MAX_DEPTH} frames")));
            }
        }
        frames[start..].reverse();
        Ok(())
    }
}
