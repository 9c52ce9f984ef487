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

/// Fewer stacks are expanded by one thread.
const FEW: usize = 20_000;

/// A batch ends with this number of stacks or frames: it fits into the L2 cache.
const STACKS: usize = 2048;
const FRAMES: usize = 1 << 16;

/// The frames of all stacks, root first. They are expanded in batches, which another thread appends to the table: that thread has to wait
/// for the system to provide each page of it, which takes as long as expanding.
pub(super) fn expand_all(
    stacks: &RawStacks,
    locations: &Locations,
    budget: &Budget,
) -> Result<Stacks, ParseError> {
    // Every id has at least a byte, and most become one frame.
    let mut all = Stacks::with_capacity(stacks.len(), stacks.bytes());
    let (mut reservation, mut reserved) = (budget.reservation(), 0);
    // Five bytes of a stack may refer to a location with a thousand frames.
    let mut account_for = |all: &Stacks| {
        let size = size_of_val(all.all_frames());
        if size - reserved <= 1 << 20 {
            return Ok(());
        }
        reserved = size;
        reservation.set(size as u64).map_err(|error| ParseError::whole(NAME, error.to_string()))
    };
    let mut expander = Expander::new(stacks, locations);
    if stacks.len() < FEW {
        for number in 0..stacks.len() {
            all.push_with(|frames| expander.expand(number, frames))?;
            account_for(&all)?;
        }
        return Ok(all);
    }
    let expand = |hand_on: &mut dyn FnMut(Stacks) -> bool| {
        let mut next = 0;
        while next < stacks.len() {
            let mut batch = Stacks::with_capacity(STACKS, FRAMES);
            while next < stacks.len() && batch.len() < STACKS && batch.all_frames().len() < FRAMES {
                batch.push_with(|frames| expander.expand(next, frames))?;
                next += 1;
            }
            if !hand_on(batch) {
                break;
            }
        }
        Ok(())
    };
    let append = |batch: Stacks| {
        all.append(&batch);
        account_for(&all)
    };
    parallel::relay(expand, append)?;
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::format::Source;
    use crate::format::pprof::read::read;
    use crate::format::wire::{push_bytes, push_varint};
    use crate::profile::{Id, LoadOptions, Profile, StackId};

    /// The number of functions of a location, innermost first; those of location 30 do not fit into a byte.
    fn lines_of(location: u64) -> u64 {
        if location == 30 { 300 } else { 1 + location % 3 }
    }

    /// The locations of a stack, leaf first: all lists of three of thirty locations.
    fn locations_of(stack: u64) -> [u64; 3] {
        [stack % 30, stack / 30 % 30, stack / 900].map(|location| location + 1)
    }

    const STACKS: u64 = 27_000;

    /// A profile of these stacks, and one more with the given ids.
    fn load(odd: &[u64]) -> Result<Profile, String> {
        let list = |ids: &[u64]| {
            let mut bytes = Vec::new();
            for &id in ids {
                push_varint(&mut bytes, id);
            }
            bytes
        };
        let mut bytes = Vec::new();
        push_bytes(&mut bytes, 1, &[1 << 3, 1, 2 << 3, 1]);
        for ids in (0..STACKS).map(|stack| list(&locations_of(stack))).chain([list(odd)]) {
            let mut sample = Vec::new();
            push_bytes(&mut sample, 1, &ids);
            push_bytes(&mut sample, 2, &[1]);
            push_bytes(&mut bytes, 2, &sample);
        }
        let mut function = 0;
        for location in 1..=30 {
            let mut fields = vec![1 << 3, location as u8];
            for _ in 0..lines_of(location) {
                function += 1;
                let mut line = vec![1 << 3];
                push_varint(&mut line, function);
                push_bytes(&mut fields, 4, &line);
                let mut described = line.clone();
                described.push(2 << 3);
                push_varint(&mut described, function);
                push_bytes(&mut bytes, 5, &described);
            }
            push_bytes(&mut bytes, 4, &fields);
        }
        push_bytes(&mut bytes, 6, b"");
        (1..=function).for_each(|number| push_bytes(&mut bytes, 6, number.to_string().as_bytes()));
        read(&mut Source::from_bytes(bytes), LoadOptions::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn many_stacks_have_the_frames_of_their_locations() {
        let profile = load(&[1]).unwrap();
        assert_eq!(profile.stacks.len() as u64, STACKS + 1);
        let first = |location: u64| 1 + (1..location).map(lines_of).sum::<u64>();
        let functions = |location: u64| first(location)..first(location) + lines_of(location);
        for stack in 0..STACKS {
            let expected: Vec<String> = locations_of(stack)
                .into_iter()
                .flat_map(functions)
                .map(|number| number.to_string())
                .collect();
            let frames = profile.stacks.frames(StackId::new(stack as usize)).iter().rev();
            let names: Vec<&str> = frames.map(|&frame| profile.symbols.frame_name(frame)).collect();
            assert_eq!(names, expected, "stack {stack}");
        }
        let distinct: HashSet<_> = profile.stacks.iter().collect();
        assert_eq!(distinct.len(), profile.stacks.len());
    }

    #[test]
    fn a_stack_of_many_that_refers_to_nothing_is_an_error() {
        for (odd, error) in
            [(&[1, 31][..], "location 31"), (&[0], "location 0"), (&[1 << 40], "location 1099511627776")]
        {
            let found = load(odd).unwrap_err();
            assert!(found.contains(error) && found.contains("sample 27001"), "{found}");
        }
    }
}
