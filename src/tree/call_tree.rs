//! The call tree: callers above, callees below.

use crate::profile::{Column, FrameId, Id, StackId};
use crate::tree::partition::{Partition, partition};
use crate::tree::paths::{PathTail, Paths};
use crate::tree::{KeyId, NodeId, Shape, Subject, approximate};

/// A call tree in preorder. Node 0 stands for the whole profile and is its own parent; its self is
/// the value of the samples without a stack.
#[derive(Clone, Debug)]
pub struct CallTree {
    /// The caller of each node.
    pub parent: Column<NodeId, NodeId>,
    /// The key of each node.
    pub key: Column<NodeId, KeyId>,
    /// The value of the samples that end at the node, one column per series.
    pub self_value: Vec<Column<NodeId, i64>>,
    /// The value of the samples through the node, one column per series.
    pub total: Vec<Column<NodeId, i64>>,
    /// How many callees of each node were left out.
    pub cut: Column<NodeId, u32>,
    /// Whether the node was inlined on all of its stacks. A function may be inlined into one caller and
    /// not into another.
    pub inlined: Column<NodeId, bool>,
}

/// Builds the call tree of all stacks, limited by `shape`.
pub fn call_tree(subject: &Subject<'_>, shape: &Shape<'_>) -> CallTree {
    match &subject.calls {
        Some(calls) => approximate::call_tree(calls, shape).into(),
        None => build(subject, shape, false),
    }
}

/// Builds the inverted tree of all stacks: leaf functions at the top, their callers below them. Self is
/// then the value of the samples whose stack starts at the node.
pub fn inverted_tree(subject: &Subject<'_>, shape: &Shape<'_>) -> CallTree {
    match &subject.calls {
        Some(calls) => approximate::inverted_tree(calls, shape).into(),
        None => build(subject, shape, true),
    }
}

fn build(subject: &Subject<'_>, shape: &Shape<'_>, from_leaf: bool) -> CallTree {
    let symbols = &subject.profile.symbols;
    let keys = symbols.frames.enumerate().map(|(id, frame)| (subject.keys.of_frame(id), frame.inlined));
    let paths = WholeStacks { subject, keys: keys.collect(), from_leaf };
    partition(&paths, subject.keys.len(), shape).into()
}

impl From<Partition> for CallTree {
    fn from(tree: Partition) -> Self {
        CallTree {
            parent: tree.parent,
            key: tree.key,
            self_value: tree.ended,
            total: tree.total,
            cut: tree.cut,
            inlined: tree.inlined,
        }
    }
}

struct WholeStacks<'s> {
    subject: &'s Subject<'s>,
    /// The key of each frame and whether it was inlined, in one table so that they share cache lines.
    keys: Column<FrameId, (KeyId, bool)>,
    from_leaf: bool,
}

impl Paths for WholeStacks<'_> {
    fn go_up(&self) -> bool {
        self.from_leaf
    }

    fn all(&self) -> Vec<PathTail> {
        let Subject { profile, series, .. } = self.subject;
        let path = |stack: StackId| {
            let frames = profile.stacks.range(stack);
            PathTail {
                next: if self.from_leaf { frames.end.wrapping_sub(1) } else { frames.start },
                left: frames.end - frames.start,
                number: stack.index() as u32,
                value: series[0][stack],
            }
        };
        self.subject.stacks().map(path).collect()
    }

    fn frames(&self) -> &[FrameId] {
        self.subject.profile.stacks.all_frames()
    }

    #[inline]
    fn key(&self, frame: FrameId) -> (KeyId, bool) {
        self.keys[frame]
    }

    fn series(&self) -> usize {
        self.subject.series.len()
    }

    #[inline]
    fn value(&self, path: &PathTail, series: usize) -> i64 {
        self.subject.series[series][StackId::new(path.number as usize)]
    }
}

impl CallTree {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Never true: the root is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The depth of every node; the root's is 0.
    pub fn depths(&self) -> Column<NodeId, u32> {
        depths(&self.parent)
    }
}

/// The depth of every node of a tree in preorder.
pub(crate) fn depths(parent: &Column<NodeId, NodeId>) -> Column<NodeId, u32> {
    let mut depth = Column::new();
    for (node, &parent) in parent.enumerate() {
        let below = if node.index() == 0 { 0 } else { depth[parent] + 1 };
        depth.push(below);
    }
    depth
}
