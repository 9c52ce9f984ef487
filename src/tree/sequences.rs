//! The search for call sequences that recur in several contexts.
//!
//! A sequence is a chain of keys `f1 → … → fk` that stand below each other on some stack. On the
//! tree of all prefixes it ends at some nodes, and that is all there is to know about it: each of
//! these nodes is one context, their subtrees together are its total, and what ends at them is its
//! self. The search starts with the nodes of every single key and makes chains longer at the front,
//! which splits their nodes by the key above: `b` → (`a → b`, `c → b`). A part has no more weight and
//! no more contexts than the whole, so whatever has too little of either is dropped with all that is
//! longer. Nothing is enumerated twice, and chains that are too light are never looked at.
//!
//! Whether a longer chain has nearly the same total is seen at the front in the same step, and at the
//! back by looking at the callees, but only for chains that pass all other tests.

mod longer;
mod miner;

use std::cmp::Reverse;

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::miner::Miner;
use crate::tree::{KeyId, SeenKeys, Subject};

/// A share of something, in millionths, so that comparing is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u32);

impl Fraction {
    const WHOLE: u32 = 1_000_000;

    /// A share given in percent, rounded to the millionth.
    pub fn percent(percent: f64) -> Self {
        Fraction((percent.clamp(0.0, 100.0) * 10_000.0).round() as u32)
    }

    /// The rest of the whole.
    #[must_use]
    pub fn rest(self) -> Self {
        Fraction(Self::WHOLE - self.0)
    }

    /// The least value that has this share of `whole`.
    fn least_part(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0)).div_ceil(u128::from(Self::WHOLE)) as u64
    }

    /// Whether `part` has at least this share of `whole`, signs aside.
    pub fn is_reached_by(self, part: i64, whole: i64) -> bool {
        let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
        part * u128::from(Self::WHOLE) >= whole * u128::from(self.0)
    }
}

/// Which sequences are looked for.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSearch {
    /// The least total, without its sign; at least 1.
    pub min_total: u64,
    /// The fewest keys; at least 2.
    pub min_length: usize,
    /// The most keys.
    pub max_length: usize,
    /// The fewest contexts; at least 1.
    pub contexts: usize,
    /// The least share of the total that lies outside the `contexts` − 1 heaviest contexts.
    pub context_share: Fraction,
    /// A chain is left out if one per key longer has all of its total but this share.
    pub tolerance: Fraction,
}

/// A sequence that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The value of the stacks that contain it, each once.
    pub total: i64,
    /// The part of it where the last key is the leaf.
    pub self_value: i64,
    /// The number of distinct prefixes in front of it.
    pub contexts: u64,
    /// Who calls the first key, and the value of the stacks in which it does; the key of the whole
    /// profile where the sequence starts the stack. The heaviest first.
    pub callers: Vec<(KeyId, i64)>,
    /// How many keys.
    pub length: usize,
    /// A place where it ends.
    place: PrefixId,
}

/// The sequences of a profile, the heaviest first.
#[derive(Debug)]
pub struct Sequences {
    prefixes: Prefixes,
    /// By total, then length, then names.
    pub found: Vec<Sequence>,
}

impl Sequences {
    /// The keys of a sequence, the leaf-most first.
    pub fn keys_from_leaf(&self, sequence: &Sequence) -> impl Iterator<Item = KeyId> + '_ {
        let up = |&node: &PrefixId| Some(self.prefixes.parent[node]);
        let nodes = std::iter::successors(Some(sequence.place), up);
        nodes.take(sequence.length).map(|node| self.prefixes.key[node])
    }

    /// The keys of a sequence, the root-most first.
    pub fn keys(&self, sequence: &Sequence) -> Vec<KeyId> {
        let mut keys: Vec<KeyId> = self.keys_from_leaf(sequence).collect();
        keys.reverse();
        keys
    }
}

/// Finds the sequences of the first series.
pub fn sequences(subject: &Subject<'_>, search: SequenceSearch) -> Sequences {
    sequences_with(subject, search, Leaps::USUAL)
}

/// When chains are made longer by leaps.
#[derive(Clone, Copy, Debug)]
struct Leaps {
    /// The shortest leap is 2^`least` keys, and is tried at lengths that are a multiple of that.
    least: u32,
    /// Stacks without so many keys are searched step by step.
    depth: u32,
}

impl Leaps {
    const USUAL: Leaps = Leaps { least: 5, depth: 512 };
}

fn sequences_with(subject: &Subject<'_>, search: SequenceSearch, leaps: Leaps) -> Sequences {
    let weight = mass_of_keys(subject);
    // A chain with less can neither be found nor keep a shorter one from being found.
    let least = search.tolerance.rest().least_part(search.min_total).max(1);
    let wanted = weight.map(|&weight| weight.unsigned_abs() >= least);
    let prefixes = Prefixes::new(subject, &wanted);
    let mut found = Miner::new(subject, &prefixes, search, leaps).run(&weight);
    let sequences = Sequences { prefixes, found: Vec::new() };
    let names = |sequence: &Sequence| sequences.keys(sequence).into_iter().map(|key| subject.keys.name(key));
    found.sort_by(|a, b| {
        let weight = |sequence: &Sequence| Reverse((sequence.total.unsigned_abs(), sequence.length));
        weight(a).cmp(&weight(b)).then_with(|| names(a).cmp(names(b)))
    });
    Sequences { found, ..sequences }
}

/// Σ |value| of the stacks that hold each key.
fn mass_of_keys(subject: &Subject<'_>) -> Column<KeyId, i64> {
    let mut weight = Column::filled(0, subject.keys.len());
    let mut seen = SeenKeys::new(subject.keys.len());
    for (stack, &value) in subject.series[0].enumerate() {
        if value != 0 {
            seen.next();
            subject
                .stack_keys(stack)
                .filter(|&key| seen.first(key))
                .for_each(|key| weight[key] += value.abs());
        }
    }
    weight
}

#[cfg(test)]
#[path = "sequences_tests.rs"]
mod tests;
