//! Counting: from stacks to functions and trees.
//!
//! A [`Subject`] is what a view counts: a profile, the [`Keys`] that group its frames, and one value per
//! stack for every series. Trees are built only as far as they are shown, by partitioning the stacks
//! level by level without recursion.
//!
//! For a profile that holds calls between functions instead of stacks, the same functions return exact
//! values where the calls determine them (`calls.rs`), and trees that divide costs among callers
//! (`shares.rs`, `approximate.rs`).

mod adjacent;
mod alike;
mod approximate;
mod bottom_up;
mod call_graph;
mod call_tree;
mod calls;
mod chains;
mod flat;
mod granularity;
mod key_runs;
mod neighbours;
mod partition;
mod path;
mod paths;
mod prefixes;
mod sequences;
mod series;
mod shares;
mod split;

pub use adjacent::join_adjacent;
pub use alike::first_alike;
pub use bottom_up::{CallerTree, Occurrence, caller_tree, occurrences};
pub use call_graph::{CallEdge, call_edges};
pub use call_tree::{CallTree, call_tree, inverted_tree};
pub use calls::KeyCalls;
pub use chains::{ChainCount, count_chains};
pub use flat::{Flat, flat};
pub use granularity::{By, Key, KeyId, Keys, marks, whole};
pub use neighbours::{Neighbours, neighbours};
pub use partition::Shape;
pub use path::{HeaviestPath, PathRow, along_path, heaviest_path};
pub use paths::{NodeId, TreeNode};
pub use sequences::{Fraction, PreparedSearch, Sequence, SequenceSearch, Sequences};
pub use series::Series;

use crate::parallel;
use crate::profile::{Column, FrameId, Profile, StackId};

/// What a view counts.
pub struct Subject<'p> {
    /// The profile, with filters applied.
    pub profile: &'p Profile,
    /// The keys that its frames are grouped by.
    pub keys: Keys,
    /// For each series, the value of every stack. The first series is shown and sorted by; further ones
    /// are other metrics, or the old side of a comparison.
    pub series: Vec<Series<'p>>,
    /// The calls by key, if the profile holds calls instead of stacks.
    pub calls: Option<KeyCalls>,
}

impl<'p> Subject<'p> {
    /// A subject whose series are the given metrics of `profile`.
    pub fn new(profile: &'p Profile, by: &By, metrics: &[usize]) -> Self {
        // Some hundred thousand rows are worth a thread.
        let least = 1 + 200_000 / (profile.samples.len() + 1);
        let of_metric = Series::of_metrics(profile);
        let series = parallel::ranges(metrics.len(), least, |some| {
            metrics[some].iter().map(|&metric| of_metric(metric)).collect::<Vec<_>>()
        });
        let series = series.into_iter().flatten().collect();
        let keys = Keys::new(profile, by);
        let calls = profile.calls.as_ref().map(|calls| KeyCalls::new(profile, calls, &keys, by, metrics));
        Subject { profile, keys, series, calls }
    }

    /// The self value of every key in another metric, if the profile holds calls: how often each was called, if the
    /// metric counts that.
    pub fn self_of_calls(&self, by: &By, metric: usize) -> Option<Column<KeyId, i64>> {
        let calls = self.profile.calls.as_ref()?;
        Some(calls::own_values(calls, &self.keys, by, metric))
    }

    /// The keys of a stack, root first.
    pub fn stack_keys(&self, stack: StackId) -> impl DoubleEndedIterator<Item = KeyId> + '_ {
        self.profile.stacks.frames(stack).iter().map(|&frame| self.keys.of_frame(frame))
    }

    /// The stacks that have a value in any series, including the empty stack.
    pub fn stacks(&self) -> impl Iterator<Item = StackId> + '_ {
        self.profile.stacks.ids().filter(|&stack| self.has_value(stack))
    }

    /// Whether a stack has a value in any series.
    pub(crate) fn has_value(&self, stack: StackId) -> bool {
        self.series.iter().any(|series| series[stack] != 0)
    }

    /// The values of a stack, one per series.
    pub fn values(&self, stack: StackId) -> impl Iterator<Item = i64> + '_ {
        self.series.iter().map(move |series| series[stack])
    }

    /// For each series, the value of the samples without a stack.
    pub fn no_stack(&self) -> Vec<i64> {
        let stacks = &self.profile.stacks;
        // There is at most one, which need not be found again for each of a hundred runs.
        let empty: Vec<StackId> = stacks.ids().filter(|&id| self.frames(id).is_empty()).collect();
        self.series.iter().map(|series| empty.iter().map(|&id| series[id]).sum()).collect()
    }

    fn frames(&self, stack: StackId) -> &[FrameId] {
        self.profile.stacks.frames(stack)
    }
}

/// The keys already seen on the current stack, so that recursion counts once. Moving on to the next
/// stack is free: each stack has its own stamp.
pub(crate) struct SeenKeys {
    stamp: Column<KeyId, u32>,
    current: u32,
}

impl SeenKeys {
    pub(crate) fn new(keys: usize) -> Self {
        SeenKeys { stamp: Column::filled(0, keys), current: 0 }
    }

    /// Forgets all keys.
    pub(crate) fn next(&mut self) {
        self.current = self.current.wrapping_add(1);
        if self.current == 0 {
            // After 2³² stacks, old stamps could be mistaken for new ones.
            self.stamp = Column::filled(0, self.stamp.len());
            self.current = 1;
        }
    }

    /// Whether this is the first call for `key` since [`SeenKeys::next`].
    #[inline]
    pub(crate) fn first(&mut self, key: KeyId) -> bool {
        std::mem::replace(&mut self.stamp[key], self.current) != self.current
    }
}
