//! The engine of every tree: paths grouped by their key at each depth.
//!
//! A set of paths (stacks from the root, or callers of a function) is partitioned by the first key,
//! each group by the second, and so on, descending only into groups that are worth showing. That is
//! several times as fast as growing a tree path by path, since nothing is built for what is cut, and
//! an explicit work list keeps paths of any length from overflowing the program's own stack.

use std::cmp::Ordering;

use crate::profile::{Column, Id, ids};
use crate::tree::KeyId;
use crate::tree::granularity::whole;

ids! {
    /// A node of a tree, in preorder; node 0 is the root.
    NodeId;
}

/// Paths of keys with their values.
pub(crate) trait Paths {
    /// Number of series of values.
    fn series(&self) -> usize;
    /// Number of paths.
    fn len(&self) -> usize;
    /// The key of path `path` at `depth`, or `None` where the path is no longer.
    fn key(&self, path: u32, depth: usize) -> Option<KeyId>;
    /// The value of path `path` in series number `series`.
    fn value(&self, path: u32, series: usize) -> i64;
    /// Whether what stands at `depth` of path `path` was inlined by the compiler.
    fn is_inlined(&self, _path: u32, _depth: usize) -> bool {
        false
    }
}

/// A node as it is weighed while its tree is built.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    /// What it is.
    pub key: KeyId,
    /// The values of the paths through it, one a series.
    pub total: &'t [i64],
    /// The values of the paths that end at it.
    pub ended: &'t [i64],
}

/// What of a tree is built, and in which order.
pub struct Shape<'f> {
    /// Which nodes to build; those left out take all below them along.
    pub keep: &'f dyn Fn(Node<'_>) -> bool,
    /// The order of siblings.
    pub order: &'f dyn Fn(Node<'_>, Node<'_>) -> Ordering,
    /// How deep to build; the root is depth 0.
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
    /// Whether each node was inlined on all paths through it.
    pub(crate) inlined: Column<NodeId, bool>,
}

/// A group of paths that share their first `depth` keys.
struct Group {
    parent: NodeId,
    key: KeyId,
    start: usize,
    end: usize,
    depth: usize,
    total: Vec<i64>,
    ended: Vec<i64>,
    inlined: bool,
}

impl Group {
    fn node(&self) -> Node<'_> {
        Node { key: self.key, total: &self.total, ended: &self.ended }
    }
}

/// Builds the tree of `paths`.
pub(crate) fn partition<P: Paths>(paths: &P, keys: usize, shape: &Shape<'_>) -> Partition {
    let series = paths.series();
    let mut tree = Partition {
        total: vec![Column::new(); series],
        ended: vec![Column::new(); series],
        ..Partition::default()
    };
    let mut splitter = Splitter {
        paths,
        order: (0..paths.len() as u32).collect(),
        scratch: Vec::new(),
        group_of: Column::filled(NO_GROUP, keys),
    };
    let mut work = vec![splitter.whole()];
    while let Some(group) = work.pop() {
        let node = tree.push(group.parent, group.node(), group.inlined && group.depth > 0);
        let mut children = splitter.split(&group, node);
        let all = children.len();
        if group.depth >= shape.max_depth {
            children.clear();
        }
        children.retain(|child| (shape.keep)(child.node()));
        tree.cut.push((all - children.len()) as u32);
        children.sort_by(|a, b| (shape.order)(a.node(), b.node()));
        // The last in is the first out.
        work.extend(children.into_iter().rev());
    }
    tree
}

impl Partition {
    /// Adds a node; its cut is to follow.
    pub(crate) fn push(&mut self, parent: NodeId, node: Node<'_>, inlined: bool) -> NodeId {
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

const NO_GROUP: u32 = u32::MAX;

struct Splitter<'p, P> {
    paths: &'p P,
    /// The paths, those of a group side by side.
    order: Vec<u32>,
    scratch: Vec<(u32, u32)>,
    /// While a group is split: the number of the subgroup of each key.
    group_of: Column<KeyId, u32>,
}

impl<P: Paths> Splitter<'_, P> {
    /// The group of all paths.
    fn whole(&self) -> Group {
        let mut group = self.empty_group(NodeId::new(0), whole(), 0);
        group.end = self.order.len();
        for &path in &self.order {
            self.add(&mut group, path);
        }
        group
    }

    /// The groups of the paths of `group` by their next key. Paths that end here are in none.
    fn split(&mut self, group: &Group, node: NodeId) -> Vec<Group> {
        let mut children: Vec<Group> = Vec::new();
        self.scratch.clear();
        for index in group.start..group.end {
            let path = self.order[index];
            let Some(key) = self.paths.key(path, group.depth) else { continue };
            let mut number = self.group_of[key];
            if number == NO_GROUP {
                number = children.len() as u32;
                self.group_of[key] = number;
                children.push(self.empty_group(node, key, group.depth + 1));
            }
            let child = &mut children[number as usize];
            child.end += 1;
            // Only blocks that are inlined so far need another look.
            child.inlined = child.inlined && self.paths.is_inlined(path, group.depth);
            self.add(child, path);
            self.scratch.push((number, path));
        }
        let mut start = group.start;
        for child in &mut children {
            self.group_of[child.key] = NO_GROUP;
            let length = child.end;
            (child.start, child.end) = (start, start);
            start += length;
        }
        for &(number, path) in &self.scratch {
            let child = &mut children[number as usize];
            self.order[child.end] = path;
            child.end += 1;
        }
        children
    }

    fn empty_group(&self, parent: NodeId, key: KeyId, depth: usize) -> Group {
        let zeros = || vec![0; self.paths.series()];
        Group { parent, key, start: 0, end: 0, depth, total: zeros(), ended: zeros(), inlined: true }
    }

    fn add(&self, group: &mut Group, path: u32) {
        let ends = self.paths.key(path, group.depth).is_none();
        for series in 0..self.paths.series() {
            let value = self.paths.value(path, series);
            group.total[series] += value;
            if ends {
                group.ended[series] += value;
            }
        }
    }
}
