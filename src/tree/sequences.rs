//! The search for call sequences that recur in several contexts.
//!
//! A sequence is a chain of keys `f1 → … → fk` that directly call each other on some stack. In the tree
//! of all prefixes it ends at certain nodes, which determine everything about it: each of them is one
//! context, the sum of their subtrees is its total, and the stacks that end at them are its self. The
//! search starts with the nodes of every single key and extends chains at the front, which splits their
//! nodes by the preceding key: `b` → (`a → b`, `c → b`). An extended chain has no more weight and no
//! more contexts than the original, so a chain with too little of either is dropped together with all
//! its extensions. No chain is enumerated twice, and extensions of chains that are too light are never
//! examined.
//!
//! Whether a longer chain has nearly the same total is known for the front from the same step. For the
//! back it takes a look at the callees, but only for chains that pass all other tests.

mod extensions;
mod miner;

use std::cmp::Reverse;

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::miner::Miner;
use crate::tree::{KeyId, SeenKeys, Subject};

/// A fraction in millionths, so that comparisons are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u32);

impl Fraction {
    const WHOLE: u32 = 1_000_000;

    /// A fraction given in percent, rounded to a millionth.
    pub fn percent(percent: f64) -> Self {
        Fraction((percent.clamp(0.0, 100.0) * 10_000.0).round() as u32)
    }

    /// One minus this fraction.
    #[must_use]
    pub fn rest(self) -> Self {
        Fraction(Self::WHOLE - self.0)
    }

    /// The smallest value that is at least this fraction of `whole`.
    fn least_part(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0)).div_ceil(u128::from(Self::WHOLE)) as u64
    }

    /// Whether `part` is at least this fraction of `whole`, ignoring signs.
    pub fn is_reached_by(self, part: i64, whole: i64) -> bool {
        let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
        part * u128::from(Self::WHOLE) >= whole * u128::from(self.0)
    }
}

/// Options for the search for sequences.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSearch {
    /// The minimum absolute total; at least 1.
    pub min_total: u64,
    /// The minimum number of keys; at least 2.
    pub min_length: usize,
    /// The maximum number of keys.
    pub max_length: usize,
    /// The minimum number of contexts; at least 1.
    pub contexts: usize,
    /// The minimum fraction of the total outside the `contexts` − 1 heaviest contexts.
    pub context_share: Fraction,
    /// A chain is omitted if a chain one key longer has the same total within this fraction.
    pub tolerance: Fraction,
}

/// A sequence that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The value of the stacks that contain it; each stack counts once.
    pub total: i64,
    /// The part of `total` in which the last key is the leaf.
    pub self_value: i64,
    /// The number of distinct prefixes before it.
    pub contexts: u64,
    /// The callers of the first key, heaviest first, with the value of the stacks on which they call it.
    /// The key of the whole profile stands for stacks that start with the sequence.
    pub callers: Vec<(KeyId, i64)>,
    /// The number of keys.
    pub length: usize,
    /// One of the nodes where it ends.
    place: PrefixId,
}

/// The sequences of a profile, heaviest first.
#[derive(Debug)]
pub struct Sequences {
    prefixes: Prefixes,
    /// Ordered by total, then length, then names.
    pub found: Vec<Sequence>,
}

impl Sequences {
    /// The keys of a sequence, from the leaf end.
    pub fn keys_from_leaf(&self, sequence: &Sequence) -> impl Iterator<Item = KeyId> + '_ {
        let up = |&node: &PrefixId| Some(self.prefixes.parent[node]);
        let nodes = std::iter::successors(Some(sequence.place), up);
        nodes.take(sequence.length).map(|node| self.prefixes.key[node])
    }

    /// The keys of a sequence, from the root end.
    pub fn keys(&self, sequence: &Sequence) -> Vec<KeyId> {
        let mut keys: Vec<KeyId> = self.keys_from_leaf(sequence).collect();
        keys.reverse();
        keys
    }
}

/// Finds the sequences of the first series.
pub fn sequences(subject: &Subject<'_>, search: SequenceSearch) -> Sequences {
    sequences_with(subject, search, Strides::USUAL)
}

/// When chains are extended by many keys at once.
#[derive(Clone, Copy, Debug)]
struct Strides {
    /// The shortest step is 2^`least` keys; it is tried at lengths that are a multiple of that.
    least: u32,
    /// Stacks with fewer keys than this are searched key by key.
    depth: u32,
}

impl Strides {
    const USUAL: Strides = Strides { least: 5, depth: 512 };
}

fn sequences_with(subject: &Subject<'_>, search: SequenceSearch, strides: Strides) -> Sequences {
    let weight = weight_of_keys(subject);
    // A chain with less can neither be shown nor cause a shorter one to be omitted.
    let least = search.tolerance.rest().least_part(search.min_total).max(1);
    let wanted = weight.map(|&weight| weight.unsigned_abs() >= least);
    let prefixes = Prefixes::new(subject, &wanted);
    let mut found = Miner::new(subject, &prefixes, search, strides).run(&weight);
    let sequences = Sequences { prefixes, found: Vec::new() };
    let names = |sequence: &Sequence| sequences.keys(sequence).into_iter().map(|key| subject.keys.name(key));
    found.sort_by(|a, b| {
        let weight = |sequence: &Sequence| Reverse((sequence.total.unsigned_abs(), sequence.length));
        weight(a).cmp(&weight(b)).then_with(|| names(a).cmp(names(b)))
    });
    Sequences { found, ..sequences }
}

/// Σ |value| of the stacks that contain each key.
fn weight_of_keys(subject: &Subject<'_>) -> Column<KeyId, i64> {
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
