//! From lists of location ids to stacks of frames.

use crate::format::ParseError;
use crate::format::pprof::locations::Locations;
use crate::format::pprof::raw_stacks::{FirstSeen, RawStacks};
use crate::format::pprof::read::NAME;
use crate::format::wire::Wire;
use crate::parallel;
use crate::profile::{Budget, FrameId, Stacks};

/// Stacks are not deeper: this one alone takes 256 MiB.
const DEEPEST: usize = 1 << 26;

/// Stacks with more frames than this use the slow path.
const ROOM: usize = 1 << 16;

/// The frames of all stacks, root first.
pub(super) fn expand_all(
    stacks: &RawStacks,
    locations: &Locations,
    budget: Budget,
) -> Result<Stacks, ParseError> {
    let parts = parallel::ranges(stacks.len(), 20_000, |numbers| {
        let (mut share, mut told) = (budget.share(), 0);
        let mut expander = Expander::new(stacks, locations);
        // Every id has a byte at least, and most become one frame.
        let mut part = Stacks::with_capacity(numbers.len(), stacks.bytes_of(numbers.clone()));
        for number in numbers {
            part.push_with(|frames| expander.expand(number, frames))?;
            // Five bytes of a stack may name a location of a thousand frames.
            let size = size_of_val(part.all_frames());
            if size - told > 1 << 20 {
                share.set(size as u64).map_err(|error| ParseError::whole(NAME, error.to_string()))?;
                told = size;
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

/// Expands one stack after the other.
pub(super) struct Expander<'a> {
    stacks: &'a RawStacks,
    locations: &'a Locations,
    /// A buffer for one stack, filled from its end: pprof lists the leaf first, the model the root first.
    /// Appending the frames and reversing them took two thirds more instructions.
    room: Vec<FrameId>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(stacks: &'a RawStacks, locations: &'a Locations) -> Self {
        Expander { stacks, locations, room: Vec::new() }
    }

    /// Appends the frames of a stack, root first. Fails where it names a location that does not exist, or
    /// is deeper than any.
    pub(super) fn expand(&mut self, number: usize, frames: &mut Vec<FrameId>) -> Result<(), ParseError> {
        let ids = self.stacks.ids(number);
        match self.fill(ids) {
            Some(start) => {
                frames.extend_from_slice(&self.room[start..]);
                Ok(())
            }
            None => self.expand_any(number, frames),
        }
    }

    /// Writes the frames of a list of ids to the end of the room, and returns where they start. `None`
    /// where they may not fit, or something is wrong with the list.
    fn fill(&mut self, ids: &[u8]) -> Option<usize> {
        let most = ids.len() * self.locations.longest();
        if most > self.room.len() {
            if most > ROOM {
                return None;
            }
            self.room.resize(most, FrameId::default());
        }
        let mut at = self.room.len();
        let mut wire = Wire::new(ids);
        while !wire.is_at_end() {
            let id = wire.varint().ok()?;
            if let Some(frame) = self.locations.only_frame(id) {
                at -= 1;
                self.room[at] = frame;
                continue;
            }
            for &frame in self.locations.frames(id)? {
                at -= 1;
                self.room[at] = frame;
            }
        }
        Some(at)
    }

    /// As [`Expander::expand`], for stacks of any depth, and for those that are broken.
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
            // A location may be a thousand inlined frames, and a stack name it a million times.
            if frames.len() - start > DEEPEST {
                return Err(bad(&format!("has a stack of more than {DEEPEST} frames")));
            }
        }
        frames[start..].reverse();
        Ok(())
    }
}
