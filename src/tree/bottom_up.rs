//! Caller trees: a function at the root, its callers below it, then their callers.

use hashbrown::HashMap;

use crate::profile::{Column, FrameId, StackId};
use crate::tree::partition::{Partition, partition};
use crate::tree::paths::{PathTail, Paths};
use crate::tree::{KeyId, NodeId, SeenKeys, Shape, Subject, approximate};

/// The occurrence of a key on a stack that is nearest to the leaf. Counting callers there makes the
/// callers of a recursive function add up to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The stack.
    pub stack: StackId,
    /// Index of the frame, counted from the root.
    pub depth: u32,
}

/// The occurrence nearest to the leaf of each given key, on every stack that has a value.
pub fn occurrences(subject: &Subject<'_>, keys: &[KeyId]) -> HashMap<KeyId, Vec<Occurrence>> {
    let mut found: HashMap<KeyId, Vec<Occurrence>> = keys.iter().map(|&key| (key, Vec::new())).collect();
    let mut wanted = Column::<KeyId, bool>::filled(false, subject.keys.len());
    for &key in keys {
        wanted[key] = true;
    }
    let mut seen = SeenKeys::new(subject.keys.len());
    for stack in subject.stacks() {
        seen.next();
        let frames = subject.profile.stacks.frames(stack);
        for (depth, &frame) in frames.iter().enumerate().rev() {
            let key = subject.keys.of_frame(frame);
            if wanted[key] && seen.first(key) {
                let occurrence = Occurrence { stack, depth: depth as u32 };
                found.entry(key).or_default().push(occurrence);
            }
        }
    }
    found
}

/// The callers of one function, in preorder. Node 0 is the function itself and its own parent. The
/// values of a node are those of the function when called along the path to that node. Where a stack
/// starts, there is a node with the key of the whole profile, so that the callers of a node always add
/// up to it.
#[derive(Clone, Debug)]
pub struct CallerTree {
    /// The callee of each node.
    pub parent: Column<NodeId, NodeId>,
    /// The key of each node.
    pub key: Column<NodeId, KeyId>,
    /// The function's self when called along this path, one column per series.
    pub self_value: Vec<Column<NodeId, i64>>,
    /// The function's total when called along this path, one column per series.
    pub total: Vec<Column<NodeId, i64>>,
    /// How many callers of each node were left out.
    pub cut: Column<NodeId, u32>,
}

/// Builds the caller tree of `key` from its `occurrences`. The nodes that `shape` sees have the totals
/// of all series first, then the selfs.
pub fn caller_tree(
    subject: &Subject<'_>,
    key: KeyId,
    occurrences: &[Occurrence],
    shape: &Shape<'_>,
) -> CallerTree {
    let tree = match &subject.calls {
        Some(calls) => approximate::caller_tree(calls, key, shape),
        None => {
            let paths = TowardsRoot { subject, occurrences };
            let mut tree = partition(&paths, subject.keys.len(), shape);
            tree.key[NodeId::default()] = key;
            tree
        }
    };
    CallerTree::of(tree, subject.series.len())
}

impl CallerTree {
    /// Converts a partition whose columns are the totals of all `series`, followed by the selfs.
    fn of(mut tree: Partition, series: usize) -> Self {
        CallerTree {
            parent: tree.parent,
            key: tree.key,
            self_value: tree.total.split_off(series),
            total: tree.total,
            cut: tree.cut,
        }
    }
}

/// Paths from a function towards the root. The first half of the series holds the value of every
/// occurrence, the second half only the value of occurrences at the leaf.
struct TowardsRoot<'s> {
    subject: &'s Subject<'s>,
    occurrences: &'s [Occurrence],
}

impl Paths for TowardsRoot<'_> {
    fn go_up(&self) -> bool {
        true
    }

    fn end_with_root(&self) -> bool {
        true
    }

    fn all(&self) -> Vec<PathTail> {
        let path = |(number, &Occurrence { stack, depth }): (usize, &Occurrence)| PathTail {
            next: (self.subject.profile.stacks.range(stack).start + depth).wrapping_sub(1),
            left: depth + 1,
            number: number as u32,
            value: self.subject.series[0][stack],
        };
        self.occurrences.iter().enumerate().map(path).collect()
    }

    fn frames(&self) -> &[FrameId] {
        self.subject.profile.stacks.all_frames()
    }

    fn key(&self, frame: FrameId) -> (KeyId, bool) {
        (self.subject.keys.of_frame(frame), false)
    }

    fn series(&self) -> usize {
        2 * self.subject.series.len()
    }

    #[inline]
    fn value(&self, path: &PathTail, series: usize) -> i64 {
        let Occurrence { stack, depth } = self.occurrences[path.number as usize];
        let count = self.subject.series.len();
        if series < count {
            return self.subject.series[series][stack];
        }
        let is_leaf = depth as usize + 1 == self.subject.profile.stacks.frames(stack).len();
        if is_leaf { self.subject.series[series - count][stack] } else { 0 }
    }
}
