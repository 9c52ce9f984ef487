//! Distinct stacks as the bytes they arrived in.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The distinct lists of location ids of a profile, kept as their encoded bytes and numbered from 0.
///
/// Samples come before the locations that explain them, and most repeat a stack seen before: looking
/// the raw bytes up costs a tenth of decoding them, and each distinct stack is decoded once, at the
/// end.
#[derive(Default)]
pub(super) struct RawStacks {
    bytes: Vec<u8>,
    stacks: Vec<RawStack>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// A distinct stack, and where it was first seen, for error messages.
#[derive(Clone, Copy)]
struct RawStack {
    /// Where its bytes end; they start where those of the stack before it end.
    end: usize,
    first_sample: u64,
    first_byte: u64,
}

impl RawStacks {
    /// The number of the stack encoded as `ids`. `None` past 2³² distinct stacks.
    pub(super) fn intern(&mut self, ids: &[u8], sample: u64, byte: u64) -> Option<usize> {
        let RawStacks { bytes, stacks, index, hasher } = self;
        let hash = hasher.hash_one(ids);
        if let Some(&number) = index.find(hash, |&number| slice(bytes, stacks, number as usize) == ids) {
            return Some(number as usize);
        }
        let number = u32::try_from(stacks.len()).ok()?;
        bytes.extend_from_slice(ids);
        stacks.push(RawStack { end: bytes.len(), first_sample: sample, first_byte: byte });
        index.insert_unique(hash, number, |&number| hasher.hash_one(slice(bytes, stacks, number as usize)));
        Some(number as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.stacks.len()
    }

    /// The encoded location ids of a stack, leaf first as pprof has them.
    pub(super) fn ids(&self, number: usize) -> &[u8] {
        slice(&self.bytes, &self.stacks, number)
    }

    /// The sample, counted from 1, and the byte offset where a stack was first seen.
    pub(super) fn first_seen(&self, number: usize) -> (u64, u64) {
        (self.stacks[number].first_sample, self.stacks[number].first_byte)
    }
}

fn slice<'a>(bytes: &'a [u8], stacks: &[RawStack], number: usize) -> &'a [u8] {
    let start = if number == 0 { 0 } else { stacks[number - 1].end };
    &bytes[start..stacks[number].end]
}
