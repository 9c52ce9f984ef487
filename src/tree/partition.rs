//! Builds every tree: groups paths by their key at each depth.
//!
//! A set of paths (stacks from the root, or callers of a function) is partitioned by the first key, each
//! group by the second, and so on, descending only into groups that are worth showing. This is several
//! times as fast as inserting paths one by one, because nothing is built for nodes that are cut. With a
//! work list instead of recursion, long paths cannot overflow the program's own stack.

use std::cmp::Ordering;

use crate::parallel::checkpoint;
use crate::profile::Column;
use crate::tree::KeyId;
use crate::tree::paths::{NodeId, Paths, TreeNode};
use crate::tree::split::PathSplitter;

/// Which part of a tree to build, and in which order.
pub struct Shape<'f> {
    /// Which nodes to build. Omitting a node omits its descendants.
    pub keep: &'f dyn Fn(TreeNode<'_>) -> bool,
    /// The order of siblings.
    pub order: &'f dyn Fn(TreeNode<'_>, TreeNode<'_>) -> Ordering,
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
pub(super) fn partition<P: Paths>(paths: &P, keys: usize, shape: &Shape<'_>) -> Partition {
    let series = paths.series();
    let mut tree = Partition {
        total: vec![Column::new(); series],
        ended: vec![Column::new(); series],
        ..Partition::default()
    };
    let mut splitter = PathSplitter::new(paths, keys);
    let mut work = vec![splitter.whole()];
    while let Some(group) = work.pop() {
        checkpoint();
        let node = tree.push(group.parent, group.node(), group.inlined && group.depth > 0);
        let mut split = splitter.count(&group, node);
        let all = split.children.len();
        if group.depth >= shape.max_depth {
            split.leave_out(|_| false);
        }
        split.leave_out(|child| (shape.keep)(child.node()));
        tree.cut.push((all - split.kept()) as u32);
        let mut children = splitter.part(&group, split);
        children.sort_by(|a, b| (shape.order)(a.node(), b.node()));
        // Pushed in reverse, since the last one pushed is popped first.
        work.extend(children.into_iter().rev());
    }
    tree
}

impl Partition {
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
