//! Distinct stacks, stored as the bytes they arrived in.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;

use crate::format::wire::{Wire, push_varint};
use crate::profile::{Id, StackId};

/// The distinct lists of location ids of a profile, kept as their encoded bytes and numbered from 0.
///
/// Samples come before the locations that they refer to, and most repeat an earlier stack. Looking up the raw
/// bytes costs a tenth of decoding them, and each distinct stack is decoded once, at the end.
///
/// The index is a plain vector rather than a hash map, for two reasons. Its entries contain the hash, so growing
/// it does not hash the bytes again (with a million distinct stacks, that took a third of the time). And it
/// allows looking up a whole batch at once, see [`RawStacks::intern_all`].
pub(super) struct RawStacks {
    bytes: Vec<u8>,
    /// Where the bytes of each stack end. They start where those of the previous stack end.
    end: Vec<usize>,
    first_seen: FirstSeenList,
    /// A hash table with linear probing, at most half full.
    slots: Vec<Slot>,
    hasher: DefaultHashBuilder,
}

/// The first sample with a stack: its number, counted from 1, and its byte offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstSeen {
    pub(super) sample: u64,
    pub(super) byte: u64,
}

/// The [`FirstSeen`] of each stack, for error messages. Stored as differences from the previous stack, in
/// varints: two or three bytes per stack instead of sixteen.
#[derive(Default)]
struct FirstSeenList {
    steps: Vec<u8>,
    last: FirstSeen,
}

impl FirstSeenList {
    fn push(&mut self, seen: FirstSeen) {
        push_varint(&mut self.steps, seen.sample - self.last.sample);
        push_varint(&mut self.steps, seen.byte - self.last.byte);
        self.last = seen;
    }

    fn get(&self, number: usize) -> FirstSeen {
        let mut seen = FirstSeen::default();
        let mut steps = Wire::new(&self.steps);
        for _ in 0..=number {
            seen.sample += steps.varint().unwrap_or_default();
            seen.byte += steps.varint().unwrap_or_default();
        }
        seen
    }
}

/// A slot of the hash table.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    number: u32,
}

const FREE: Slot = Slot { hash: 0, number: u32::MAX };

/// The initial number of slots, which is always a power of two.
const SLOTS: usize = 1 << 10;

/// The number of lists that are looked up at once: as many as fit into the L1 cache.
const AT_ONCE: usize = 256;

/// Lists of location ids that have not been looked up yet.
pub(super) struct Lists {
    bytes: Vec<u8>,
    rows: Vec<List>,
    hasher: DefaultHashBuilder,
}

/// Buffers for looking up lists.
#[derive(Default)]
pub(super) struct LookUp {
    /// The slot where the search for each list starts.
    slots: Vec<Slot>,
    candidates: Vec<Option<(u32, Range<usize>)>>,
}

struct List {
    end: usize,
    hash: u32,
    seen: FirstSeen,
}

impl Lists {
    /// An empty collection, for [`RawStacks`] with the same hasher.
    pub(super) fn new(hasher: DefaultHashBuilder) -> Self {
        Lists { bytes: Vec::new(), rows: Vec::new(), hasher }
    }

    /// Adds a list.
    #[inline]
    pub(super) fn push(&mut self, ids: &[u8], seen: FirstSeen) {
        self.bytes.extend_from_slice(ids);
        let hash = self.hasher.hash_one(ids) as u32;
        self.rows.push(List { end: self.bytes.len(), hash, seen });
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The size of all lists in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }
}

impl RawStacks {
    pub(super) fn new() -> Self {
        RawStacks {
            bytes: Vec::new(),
            end: Vec::new(),
            first_seen: FirstSeenList::default(),
            slots: vec![FREE; SLOTS],
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The hasher for lists that are looked up here.
    pub(super) fn hasher(&self) -> DefaultHashBuilder {
        self.hasher.clone()
    }

    /// Looks up or adds all lists, and appends their numbers to `found`. `None` if there are more than 2³² distinct
    /// stacks.
    ///
    /// A large index does not fit into a cache, and each lookup needs three dependent memory accesses. Done one
    /// list at a time, the processor waits for each of them. Done one step at a time for hundreds of lists, it
    /// fetches many at once.
    pub(super) fn intern_all(
        &mut self,
        all: &Lists,
        LookUp { slots, candidates }: &mut LookUp,
        found: &mut Vec<StackId>,
    ) -> Option<()> {
        let mut start = 0;
        for lists in all.rows.chunks(AT_ONCE) {
            slots.clear();
            slots.extend(lists.iter().map(|list| self.slots[self.first_slot(list.hash)]));
            candidates.clear();
            candidates.extend(lists.iter().zip(&*slots).map(|(list, slot)| self.range_of(*slot, list.hash)));
            for (list, candidate) in lists.iter().zip(&*candidates) {
                let ids = &all.bytes[start..list.end];
                start = list.end;
                let number = match candidate {
                    Some((number, range)) if self.bytes[range.clone()] == *ids => *number,
                    _ => self.intern(list.hash, ids, list.seen)?,
                };
                found.push(StackId::new(number as usize));
            }
        }
        Some(())
    }

    /// The number and byte range of the stack in `slot`, if it has the given hash.
    fn range_of(&self, slot: Slot, hash: u32) -> Option<(u32, Range<usize>)> {
        let is_candidate = slot.hash == hash && slot.number != FREE.number;
        is_candidate.then(|| (slot.number, self.range(slot.number as usize)))
    }

    /// Looks up or adds a stack and returns its number. `None` if there are more than 2³² distinct stacks.
    fn intern(&mut self, hash: u32, ids: &[u8], seen: FirstSeen) -> Option<u32> {
        let mut slot = self.first_slot(hash);
        while self.slots[slot].number != FREE.number {
            let Slot { hash: other, number } = self.slots[slot];
            if other == hash && self.ids(number as usize) == ids {
                return Some(number);
            }
            slot = self.next_slot(slot);
        }
        let number = u32::try_from(self.end.len()).ok().filter(|&number| number != FREE.number)?;
        self.bytes.extend_from_slice(ids);
        self.end.push(self.bytes.len());
        self.first_seen.push(seen);
        self.slots[slot] = Slot { hash, number };
        if self.end.len() * 2 > self.slots.len() {
            self.grow();
        }
        Some(number)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![FREE; old.len() * 2];
        for entry in old.into_iter().filter(|entry| entry.number != FREE.number) {
            let mut slot = self.first_slot(entry.hash);
            while self.slots[slot].number != FREE.number {
                slot = self.next_slot(slot);
            }
            self.slots[slot] = entry;
        }
    }

    /// The slot where the search for a hash starts.
    fn first_slot(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// Frees the memory that is only needed for adding stacks.
    pub(super) fn finish(self) -> Self {
        RawStacks { slots: Vec::new(), ..self }
    }

    /// Removes all stacks, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.end.clear();
        self.first_seen.steps.clear();
        self.first_seen.last = FirstSeen::default();
        self.slots.fill(FREE);
        // There are none after `finish`.
        self.slots.resize(self.slots.len().max(SLOTS), FREE);
    }

    /// The size of the ids of all stacks in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The approximate memory usage in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.capacity()
            + self.end.capacity() * size_of::<usize>()
            + self.first_seen.steps.capacity()
            + self.slots.capacity() * size_of::<Slot>()
    }

    pub(super) fn len(&self) -> usize {
        self.end.len()
    }

    /// The encoded location ids of a stack, leaf first as in pprof.
    #[inline]
    pub(super) fn ids(&self, number: usize) -> &[u8] {
        &self.bytes[self.range(number)]
    }

    #[inline]
    fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.end[number - 1] };
        start..self.end[number]
    }

    /// Where a stack was first seen.
    pub(super) fn first_seen(&self, number: usize) -> FirstSeen {
        self.first_seen.get(number)
    }

    /// Whether lists with different bytes are certain to have different ids. A varint can be longer than
    /// necessary; its last byte is then 0.
    pub(super) fn differ_in_ids(&self) -> bool {
        memchr::memchr(0, &self.bytes).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(stacks: &mut RawStacks, lists: &[&[u8]]) -> Vec<u32> {
        let mut all = Lists::new(stacks.hasher());
        for (sample, ids) in (1..).zip(lists) {
            all.push(ids, FirstSeen { sample, byte: 300 * sample });
        }
        let mut found = Vec::new();
        stacks.intern_all(&all, &mut LookUp::default(), &mut found).unwrap();
        found.iter().map(|stack| stack.index() as u32).collect()
    }

    #[test]
    fn equal_lists_have_the_same_number_within_and_across_batches() {
        let mut stacks = RawStacks::new();
        assert_eq!(numbers(&mut stacks, &[b"ab", b"", b"ab", b"abc"]), [0, 1, 0, 2]);
        assert_eq!(stacks.first_seen(2), FirstSeen { sample: 4, byte: 1200 });
        assert_eq!(numbers(&mut stacks, &[b"abc", b"", b"", b"ab", b"b"]), [2, 1, 1, 0, 3]);
        assert_eq!((stacks.len(), stacks.ids(2), stacks.ids(1)), (4, &b"abc"[..], &b""[..]));
        assert_eq!(stacks.first_seen(3), FirstSeen { sample: 5, byte: 1500 });
    }

    #[test]
    fn growing_keeps_all_stacks() {
        let mut stacks = RawStacks::new();
        let lists: Vec<[u8; 4]> = (0..5000u32).map(u32::to_be_bytes).collect();
        let lists: Vec<&[u8]> = lists.iter().map(<[u8; 4]>::as_slice).collect();
        let first = numbers(&mut stacks, &lists);
        assert_eq!(first, (0..5000).collect::<Vec<u32>>());
        assert_eq!(numbers(&mut stacks, &lists), first);
    }

    #[test]
    fn stacks_with_equal_hashes_are_distinguished_by_their_bytes() {
        let mut stacks = RawStacks::new();
        let seen = FirstSeen { sample: 1, byte: 0 };
        let last = SLOTS as u32 - 1;
        for (ids, number) in [(b"a", 0), (b"b", 1), (b"c", 2), (b"b", 1)] {
            assert_eq!(stacks.intern(last, ids, seen), Some(number));
        }
    }
}
