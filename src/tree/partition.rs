//! Builds every tree: groups paths by their key at each depth.
//!
//! A set of paths (stacks from the root, or callers of a function) is partitioned by the first key, each
//! group by the second, and so on, descending only into groups that are worth showing. This is several
//! times as fast as inserting paths one by one, because nothing is built for nodes that are cut. With a
//! work list instead of recursion, long paths cannot overflow the program's own stack.

use std::cmp::Ordering;
use std::ops::Range;

use crate::parallel::{self, checkpoint};
use crate::profile::{Column, Id};
use crate::tree::KeyId;
use crate::tree::paths::{NodeId, PathTail, Paths, TreeNode};
use crate::tree::split::{LARGE, PathGroup, PathSplitter};

/// Which part of a tree to build, and in which order.
pub struct Shape<'f> {
    /// Which nodes to build. Omitting a node omits its descendants.
    pub keep: &'f (dyn Fn(TreeNode<'_>) -> bool + Sync),
    /// The order of siblings.
    pub order: &'f (dyn Fn(TreeNode<'_>, TreeNode<'_>) -> Ordering + Sync),
    /// The greatest depth to build; the root has depth 0.
    pub max_depth: usize,
}

/// A built tree in preorder: parents come before their children, and the descendants of a node
/// follow it directly. The root is node 0 and its own parent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    pub(crate) parent: Column<NodeId, NodeId>,
    pub(crate) key: Column<NodeId, KeyId>,
    pub(crate) total: Vec<Column<NodeId, i64>>,
    pub(crate) ended: Vec<Column<NodeId, i64>>,
    /// How many children of each node were left out.
    pub(crate) cut: Column<NodeId, u32>,
    /// Whether each node is inlined on all paths through it.
    pub(crate) inlined: Column<NodeId, bool>,
}

/// Builds the tree of `paths`.
///
/// The top of a large tree is built first; its groups of fewer paths are put off, and their branches are built by all processors.
pub(super) fn partition<P: Paths>(paths: &P, keys: usize, shape: &Shape<'_>) -> Partition {
    let mut order = paths.all();
    let mut splitter = PathSplitter::new(paths, keys);
    let whole = splitter.whole(&order);
    let mut top = Partition::new(paths.series());
    if order.len() < LARGE || parallel::processors() == 1 {
        top.grow(&mut splitter, &mut order, whole, shape);
        return top;
    }
    let mut put_off = Vec::new();
    top.grow_until(&mut splitter, &mut order, whole, shape, |top, group| {
        let is_small = group.paths.len() < LARGE;
        if is_small {
            put_off.push(PutOff { before: top.parent.len(), group });
            None
        } else {
            Some(group)
        }
    });
    let branches = branches(paths, keys, shape, &mut order, put_off);
    top.with(&branches)
}

/// A group whose branch is built later.
struct PutOff {
    /// How many nodes of the top come before it.
    before: usize,
    group: PathGroup,
}

/// Some branches, one after the other.
struct Branches {
    /// The parent of the first node of each is a node of the top.
    tree: Partition,
    /// For each, how many nodes of the top come before it, and its nodes.
    places: Vec<(usize, Range<usize>)>,
}

/// Builds the branches of groups, in their order.
fn branches<P: Paths>(
    paths: &P,
    keys: usize,
    shape: &Shape<'_>,
    order: &mut [PathTail],
    put_off: Vec<PutOff>,
) -> Vec<Branches> {
    let weights: Vec<u64> = put_off.iter().map(|put_off| put_off.group.paths.len() as u64).collect();
    let mut slices = slices(order, &put_off).into_iter();
    let mut put_off = put_off.into_iter();
    let runs: Vec<Vec<(PutOff, &mut [PathTail])>> = parallel::balanced(&weights)
        .into_iter()
        .map(|run| put_off.by_ref().zip(slices.by_ref()).take(run.len()).collect())
        .collect();
    parallel::each(runs, |run| {
        let mut splitter = PathSplitter::new(paths, keys);
        let mut branches = Branches { tree: Partition::new(paths.series()), places: Vec::new() };
        for (PutOff { before, mut group }, order) in run {
            let first = branches.tree.parent.len();
            group.paths = 0..order.len();
            branches.tree.grow(&mut splitter, order, group, shape);
            branches.places.push((before, first..branches.tree.parent.len()));
        }
        branches
    })
}

/// The paths of each group.
fn slices<'o>(order: &'o mut [PathTail], groups: &[PutOff]) -> Vec<&'o mut [PathTail]> {
    let mut numbers: Vec<usize> = (0..groups.len()).collect();
    let paths = |number: usize| &groups[number].group.paths;
    numbers.sort_by_key(|&number| (paths(number).start, paths(number).end));
    let mut slices: Vec<&mut [PathTail]> = groups.iter().map(|_| &mut [][..]).collect();
    let (mut rest, mut at) = (order, 0);
    for number in numbers {
        let Range { start, end } = *paths(number);
        let (own, others) = rest.split_at_mut(end - at);
        slices[number] = &mut own[start - at..];
        (rest, at) = (others, end);
    }
    slices
}

impl Partition {
    fn new(series: usize) -> Self {
        Partition {
            total: vec![Column::new(); series],
            ended: vec![Column::new(); series],
            ..Partition::default()
        }
    }

    /// Adds the branch of a group.
    fn grow<P: Paths>(
        &mut self,
        splitter: &mut PathSplitter<'_, P>,
        order: &mut [PathTail],
        group: PathGroup,
        shape: &Shape<'_>,
    ) {
        self.grow_until(splitter, order, group, shape, |_, group| Some(group));
    }

    /// Adds the branch of a group, without the branches of those that `take` keeps for itself.
    fn grow_until<P: Paths>(
        &mut self,
        splitter: &mut PathSplitter<'_, P>,
        order: &mut [PathTail],
        group: PathGroup,
        shape: &Shape<'_>,
        mut take: impl FnMut(&Partition, PathGroup) -> Option<PathGroup>,
    ) {
        let mut work = vec![group];
        while let Some(group) = work.pop() {
            checkpoint();
            let Some(group) = take(self, group) else { continue };
            let node = self.push(group.parent, group.node(), group.inlined && group.depth > 0);
            let mut split = splitter.count(order, &group, node);
            let all = split.children.len();
            if group.depth >= shape.max_depth {
                split.leave_out(|_| false);
            }
            split.leave_out(|child| (shape.keep)(child.node()));
            self.cut.push((all - split.kept()) as u32);
            let mut children = splitter.part(order, &group, split);
            children.sort_by(|a, b| (shape.order)(a.node(), b.node()));
            // Pushed in reverse, since the last one pushed is popped first.
            work.extend(children.into_iter().rev());
        }
    }

    /// The tree with branches where they belong.
    fn with(&self, all: &[Branches]) -> Partition {
        let mut whole = Partition::new(self.total.len());
        let mut places: Vec<NodeId> = Vec::with_capacity(self.parent.len());
        let add_top = |whole: &mut Partition, places: &mut Vec<NodeId>, end: usize| {
            for node in places.len()..end {
                let parent = self.parent[NodeId::new(node)].index();
                // The root is its own parent.
                let parent = places.get(parent).copied().unwrap_or_default();
                places.push(whole.copy(self, node, parent));
            }
        };
        for Branches { tree, places: of_branches } in all {
            for (before, nodes) in of_branches {
                add_top(&mut whole, &mut places, *before);
                let first = whole.parent.len();
                for node in nodes.clone() {
                    let own = tree.parent[NodeId::new(node)].index();
                    let is_first = node == nodes.start;
                    let parent = if is_first { places[own] } else { NodeId::new(first + own - nodes.start) };
                    whole.copy(tree, node, parent);
                }
            }
        }
        add_top(&mut whole, &mut places, self.parent.len());
        whole
    }

    /// Adds a node of another tree.
    fn copy(&mut self, other: &Partition, node: usize, parent: NodeId) -> NodeId {
        let node = NodeId::new(node);
        for (column, others) in self.total.iter_mut().zip(&other.total) {
            column.push(others[node]);
        }
        for (column, others) in self.ended.iter_mut().zip(&other.ended) {
            column.push(others[node]);
        }
        self.key.push(other.key[node]);
        self.inlined.push(other.inlined[node]);
        self.cut.push(other.cut[node]);
        self.parent.push(parent)
    }

    /// Adds a node; `cut` is set later.
    pub(crate) fn push(&mut self, parent: NodeId, node: TreeNode<'_>, inlined: bool) -> NodeId {
        for (column, &value) in self.total.iter_mut().zip(node.total) {
            column.push(value);
        }
        for (column, &value) in self.ended.iter_mut().zip(node.ended) {
            column.push(value);
        }
        self.key.push(node.key);
        self.inlined.push(inlined);
        self.parent.push(parent)
    }
}
