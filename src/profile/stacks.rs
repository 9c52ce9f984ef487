//! The table of distinct stacks.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::profile::{Column, FrameId, HashIndex, Id, StackId};

/// Distinct stacks, root first, as one ragged table.
///
/// This is not a prefix tree, because counting needs only the frames of a stack, and filling a tree with a million
/// distinct stacks took seven times as long.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    /// Where each stack ends in `frames`; it starts where the previous one ends.
    end: Column<StackId, u32>,
    frames: Vec<FrameId>,
}

impl Stacks {
    /// A table without stacks.
    pub fn new() -> Self {
        Stacks::default()
    }

    /// An empty table with reserved space.
    pub(crate) fn with_capacity(stacks: usize, frames: usize) -> Self {
        Stacks { end: Column::with_capacity(stacks), frames: Vec::with_capacity(frames) }
    }

    /// The frames of `stack`, root first.
    #[inline]
    pub fn frames(&self, stack: StackId) -> &[FrameId] {
        &self.frames[self.start(stack)..self.end[stack] as usize]
    }

    /// Number of stacks.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether there are no stacks.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = StackId> + use<> {
        self.end.ids()
    }

    /// All stacks in order.
    pub fn iter(&self) -> impl Iterator<Item = &[FrameId]> {
        self.ids().map(|id| self.frames(id))
    }

    /// The frames of all stacks, one stack after the other.
    pub fn all_frames(&self) -> &[FrameId] {
        &self.frames
    }

    /// Appends a stack without checking whether the table already has it. Returns `None` if the table is full; it
    /// holds at most 2³² frames.
    pub(crate) fn push(&mut self, frames: &[FrameId]) -> Option<StackId> {
        let end = u32::try_from(self.frames.len() + frames.len()).ok()?;
        self.frames.extend_from_slice(frames);
        Some(self.end.push(end))
    }

    /// Appends the stacks of another table.
    pub(crate) fn append(&mut self, other: &Stacks) {
        let before = self.frames.len() as u32;
        self.frames.extend_from_slice(&other.frames);
        for &end in &other.end {
            self.end.push(before.wrapping_add(end));
        }
    }

    /// Appends the stack that `write` adds to the given vector, without checking whether the table already has it. With
    /// more than 2³² frames, the table becomes invalid; check with [`Stacks::fit`].
    pub(crate) fn push_with<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<FrameId>) -> Result<(), E>,
    ) -> Result<StackId, E> {
        write(&mut self.frames)?;
        Ok(self.end.push(self.frames.len() as u32))
    }

    /// Removes all stacks, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.end.clear();
        self.frames.clear();
    }

    /// Whether the number of frames is within the limit of 2³².
    pub(crate) fn fit(&self) -> bool {
        u32::try_from(self.frames.len()).is_ok()
    }

    /// The range of the frames of `stack` in [`Stacks::all_frames`].
    #[inline]
    pub(crate) fn range(&self, stack: StackId) -> Range<u32> {
        self.start(stack) as u32..self.end[stack]
    }

    #[inline]
    fn start(&self, stack: StackId) -> usize {
        if stack.index() == 0 { 0 } else { self.end[StackId::new(stack.index() - 1)] as usize }
    }
}

/// Stacks while they are being collected: equal stacks get equal ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackTable {
    pub(crate) stacks: Stacks,
    index: HashIndex<StackId>,
    /// Buffers for [`StackTable::intern_all`].
    hashes: Vec<u32>,
    known: Vec<Option<StackId>>,
    ranges: Vec<Range<usize>>,
}

/// The number of stacks that are best looked up at once.
pub(crate) const AT_ONCE: usize = 128;

impl StackTable {
    /// The approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        let Stacks { end, frames } = &self.stacks;
        frames.capacity() * size_of::<FrameId>() + end.len() * size_of::<u32>() + self.index.size()
    }

    /// The id of the stack with these frames, root first, if the table has it.
    pub(crate) fn find(&self, frames: &[FrameId]) -> Option<StackId> {
        self.index
            .find(self.index.hash(&FrameFours(frames)), |stack| are_same(self.stacks.frames(stack), frames))
    }

    /// The id of the stack with these frames, root first; it is added if it is new. `None` if the table is full.
    pub(crate) fn intern(&mut self, frames: &[FrameId]) -> Option<StackId> {
        self.intern_hashed(self.index.hash(&FrameFours(frames)), frames)
    }

    fn intern_hashed(&mut self, hash: u32, frames: &[FrameId]) -> Option<StackId> {
        if let Some(stack) = self.index.find(hash, |stack| are_same(self.stacks.frames(stack), frames)) {
            return Some(stack);
        }
        let stack = self.stacks.push(frames)?;
        self.index.insert(hash, stack);
        Some(stack)
    }

    /// Appends the ids of several stacks to `ids`; those that are new are added. `None` if the table is full.
    ///
    /// Each lookup needs three memory accesses that depend on one another. Done one step at a time for many stacks, the
    /// processor fetches many at once instead of waiting for each: see `RawStacks::intern_all` of pprof.
    pub(crate) fn intern_all(&mut self, some: &Stacks, ids: &mut Column<StackId, StackId>) -> Option<()> {
        let StackTable { stacks, index, hashes, known, ranges } = self;
        hashes.clear();
        hashes.extend(some.iter().map(|frames| index.hash(&FrameFours(frames))));
        known.clear();
        known.extend(hashes.iter().map(|&hash| index.find(hash, |_| true)));
        ranges.clear();
        let range = |&stack: &StackId| stacks.start(stack)..stacks.end[stack] as usize;
        ranges.extend(known.iter().map(|known| known.as_ref().map_or(0..0, range)));
        for (number, frames) in some.iter().enumerate() {
            let id = match self.known[number] {
                Some(stack) if are_same(&self.stacks.frames[self.ranges[number].clone()], frames) => stack,
                _ => self.intern_hashed(self.hashes[number], frames)?,
            };
            ids.push(id);
        }
        Some(())
    }
}

/// Whether two stacks have the same frames. Most have if their hashes are the same, so frames are compared several at a time.
/// Zipped iterators would be calls here.
fn are_same(one: &[FrameId], other: &[FrameId]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let ((some, rest), (others, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    for number in 0..some.len().min(others.len()) {
        let (one, other) = (&some[number], &others[number]);
        let differ = (0..8).fold(0, |differ, at| differ | (one[at].index() ^ other[at].index()));
        if differ != 0 {
            return false;
        }
    }
    rest == other_rest
}

/// Frames that are hashed four at a time: the hasher mixes 128 bits at once, and collects smaller numbers first. Hashing frames one by
/// one made looking up stacks a quarter slower.
struct FrameFours<'f>(&'f [FrameId]);

impl Hash for FrameFours<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (fours, rest) = self.0.as_chunks::<4>();
        for &[a, b, c, d] in fours {
            let pair = |one: FrameId, other: FrameId| (one.index() as u64) << 32 | other.index() as u64;
            state.write_u128(u128::from(pair(a, b)) << 64 | u128::from(pair(c, d)));
        }
        for frame in rest {
            state.write_u32(frame.index() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_one_id_and_the_empty_stack_is_a_stack() {
        let mut table = StackTable::default();
        let [a, b] = [FrameId::new(0), FrameId::new(1)];
        let ab = table.intern(&[a, b]).unwrap();
        let empty = table.intern(&[]).unwrap();
        assert_eq!(table.intern(&[a, b]), Some(ab));
        assert_ne!(table.intern(&[b, a]), Some(ab));
        assert_eq!(table.stacks.frames(empty), []);
        assert_eq!(table.stacks.frames(ab), [a, b]);
        assert_eq!(table.stacks.len(), 3);
    }

    #[test]
    fn stacks_that_are_looked_up_together_get_the_same_ids() {
        let frames =
            |numbers: &[usize]| -> Vec<FrameId> { numbers.iter().map(|&id| FrameId::new(id)).collect() };
        let all: Vec<Vec<FrameId>> =
            (0..600).map(|number| frames(&[&[1, 2], &[number % 97][..]].concat()[number % 3..])).collect();
        let (mut one_by_one, mut together) = (StackTable::default(), StackTable::default());
        let expected: Vec<StackId> = all.iter().map(|frames| one_by_one.intern(frames).unwrap()).collect();
        let mut ids = Column::new();
        for some in all.chunks(100) {
            let mut stacks = Stacks::new();
            for frames in some {
                assert!(stacks.push(frames).is_some());
            }
            together.intern_all(&stacks, &mut ids).unwrap();
        }
        assert_eq!(ids.as_slice(), expected);
        assert_eq!(together.stacks.all_frames(), one_by_one.stacks.all_frames());
    }
}
