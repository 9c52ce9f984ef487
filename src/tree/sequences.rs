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
mod search;

pub use search::{Fraction, Sequence, SequenceSearch};

use std::cmp::Reverse;

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::miner::Miner;
use crate::tree::sequences::search::Strides;
use crate::tree::{KeyId, SeenKeys, Subject};

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

/// A search for sequences in the first series, before it starts.
pub struct PreparedSearch<'s, 'p> {
    subject: &'s Subject<'p>,
    search: SequenceSearch,
    strides: Strides,
    /// Σ |value| of the stacks that contain each key.
    weight: Column<KeyId, i64>,
    prefixes: Prefixes,
}

impl<'s, 'p> PreparedSearch<'s, 'p> {
    /// Builds what the search needs, which takes most of the time and one thread.
    pub fn new(subject: &'s Subject<'p>, search: SequenceSearch) -> Self {
        PreparedSearch::with_strides(subject, search, Strides::USUAL)
    }

    fn with_strides(subject: &'s Subject<'p>, search: SequenceSearch, strides: Strides) -> Self {
        let weight = weight_of_keys(subject);
        // A chain with less can neither be shown nor cause a shorter one to be omitted.
        let least = search.tolerance.rest().least_part(search.min_total).max(1);
        let wanted = weight.map(|&weight| weight.unsigned_abs() >= least);
        let prefixes = Prefixes::new(subject, &wanted);
        PreparedSearch { subject, search, strides, weight, prefixes }
    }

    /// Finds the sequences, on all processors.
    pub fn find(self) -> Sequences {
        let PreparedSearch { subject, search, strides, weight, prefixes } = self;
        let mut found = Miner::new(subject, &prefixes, search, strides).run(&weight);
        let sequences = Sequences { prefixes, found: Vec::new() };
        let names =
            |sequence: &Sequence| sequences.keys(sequence).into_iter().map(|key| subject.keys.name(key));
        found.sort_by(|a, b| {
            let weight = |sequence: &Sequence| Reverse((sequence.total.unsigned_abs(), sequence.length));
            weight(a).cmp(&weight(b)).then_with(|| names(a).cmp(names(b)))
        });
        Sequences { found, ..sequences }
    }
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
