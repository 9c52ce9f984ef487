//! The call tree of a V8 profile.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::profile::{Column, FrameId, Id, ProfileBuilder, StackId};

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) struct NodeId(u32);

impl Id for NodeId {
    fn new(index: usize) -> Self {
        NodeId(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A call tree that is being read. A node may come before or after its parent, and refers either to its parent or
/// to its children.
#[derive(Default)]
pub(in crate::format) struct Tree {
    nodes: Column<NodeId, Node>,
    /// Nodes by their id in the file.
    by_number: HashMap<i64, NodeId>,
    /// Parents and the ids of their children, to be resolved when all nodes are known.
    children: Vec<(NodeId, i64)>,
    /// Nodes and the ids of their parents, likewise.
    parents: Vec<(NodeId, i64)>,
    frames: Vec<FrameId>,
}

struct Node {
    parent: Option<NodeId>,
    frame: Option<FrameId>,
    stack: Option<StackId>,
}

impl Tree {
    /// Adds a node.
    pub(in crate::format) fn node(&mut self, parent: Option<NodeId>) -> NodeId {
        self.nodes.push(Node { parent, frame: None, stack: None })
    }

    /// Sets the frame of a node; `None` for a frame that is not shown.
    pub(in crate::format) fn set_frame(&mut self, node: NodeId, frame: Option<FrameId>) {
        self.nodes[node].frame = frame;
    }

    /// Sets the id of a node.
    pub(in crate::format) fn number(&mut self, node: NodeId, number: i64) {
        self.by_number.insert(number, node);
    }

    /// Records that the node with the id `child` is a child of `node`.
    pub(in crate::format) fn child(&mut self, node: NodeId, child: i64) {
        self.children.push((node, child));
    }

    /// Records that the node with the id `parent` is the parent of `node`.
    pub(in crate::format) fn parent(&mut self, node: NodeId, parent: i64) {
        self.parents.push((node, parent));
    }

    /// Links children and parents by the ids recorded so far.
    pub(in crate::format) fn link(&mut self) {
        for (parent, child) in self.children.drain(..) {
            if let Some(&child) = self.by_number.get(&child) {
                self.nodes[child].parent = Some(parent);
            }
        }
        for (child, parent) in self.parents.drain(..) {
            self.nodes[child].parent = self.by_number.get(&parent).copied();
        }
    }

    /// The node with the id `number`.
    pub(in crate::format) fn find(&self, number: i64) -> Option<NodeId> {
        self.by_number.get(&number).copied()
    }

    /// The stack that ends in `node`.
    pub(in crate::format) fn stack(
        &mut self,
        builder: &mut ProfileBuilder,
        node: NodeId,
    ) -> Result<StackId, ParseError> {
        if let Some(stack) = self.nodes[node].stack {
            return Ok(stack);
        }
        self.frames.clear();
        let mut next = Some(node);
        let mut steps = 0;
        while let Some(at) = next {
            if steps == self.nodes.len() {
                let message = "the call tree contains a cycle";
                return Err(ParseError::whole(builder.meta.format, message));
            }
            steps += 1;
            self.frames.extend(self.nodes[at].frame);
            next = self.nodes[at].parent;
        }
        self.frames.reverse();
        let stack = builder.stack(&self.frames);
        self.nodes[node].stack = Some(stack);
        Ok(stack)
    }
}
