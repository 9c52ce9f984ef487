//! The call tree of a V8 profile.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::v8::KnownFrames;
use crate::format::v8::nodes::{NodeKeys, OwnValues};
use crate::profile::{Column, Frame, FrameId, Id, ProfileBuilder, StackId};

/// A node of a [`V8Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
pub(in crate::format) struct V8Tree<'a> {
    /// The frames of the functions read so far.
    pub(super) known_frames: KnownFrames<'a>,
    pub(super) keys: NodeKeys<'a>,
    nodes: Column<NodeId, V8Node>,
    numbers: NodeNumbers,
    /// Parents and the ids of their children, to be resolved when all nodes are known.
    children: Vec<(NodeId, i64)>,
    /// Nodes and the ids of their parents, likewise.
    parents: Vec<(NodeId, i64)>,
    /// Nodes and how long each was running, in µs. Only what WebKit wrote in 2012 has this, in milliseconds, instead of samples.
    pub(super) self_times: Vec<(NodeId, i64)>,
    /// Nodes, lines of their functions, and how often each line was running.
    ticks: Vec<(NodeId, u32, u64)>,
    /// Stacks whose leaf has a line.
    at_lines: HashMap<(NodeId, u32), StackId>,
    frames: Vec<FrameId>,
}

/// Nodes by their ids in the file. V8 counts nodes as they appear, so nearly all ids are small enough for a table.
#[derive(Default)]
struct NodeNumbers {
    table: Vec<Option<NodeId>>,
    /// Those with ids that were too large when they came.
    others: HashMap<i64, NodeId>,
}

impl NodeNumbers {
    /// Later nodes replace earlier ones with the same id.
    fn insert(&mut self, number: i64, node: NodeId) {
        // The limit never falls, so an id that was in the table once is never added to the others.
        let limit = 4 * node.index() + 1000;
        match usize::try_from(number).ok().filter(|&number| number < limit) {
            Some(number) => {
                self.table.resize(self.table.len().max(number + 1), None);
                self.table[number] = Some(node);
            }
            None => {
                self.others.insert(number, node);
            }
        }
    }

    fn find(&self, number: i64) -> Option<NodeId> {
        let known = usize::try_from(number).ok().and_then(|number| *self.table.get(number)?);
        known.or_else(|| self.others.get(&number).copied())
    }
}

struct V8Node {
    parent: Option<NodeId>,
    frame: Option<FrameId>,
    stack: Option<StackId>,
}

impl V8Tree<'_> {
    /// Adds a node.
    pub(in crate::format) fn node(&mut self, parent: Option<NodeId>) -> NodeId {
        self.nodes.push(V8Node { parent, frame: None, stack: None })
    }

    /// Sets the frame of a node; `None` for `(root)`, which is shown only below other nodes.
    pub(in crate::format) fn set_frame(&mut self, node: NodeId, frame: Option<FrameId>) {
        self.nodes[node].frame = frame;
    }

    /// Sets the id of a node.
    pub(in crate::format) fn number(&mut self, node: NodeId, number: i64) {
        self.numbers.insert(number, node);
    }

    /// Records that the node with the id `child` is a child of `node`.
    pub(in crate::format) fn child(&mut self, node: NodeId, child: i64) {
        self.children.push((node, child));
    }

    /// Records that the node with the id `parent` is the parent of `node`.
    pub(in crate::format) fn parent(&mut self, node: NodeId, parent: i64) {
        self.parents.push((node, parent));
    }

    /// Records that `line` of the function of `node` was running `ticks` times.
    pub(in crate::format) fn line_ticks(&mut self, node: NodeId, line: u32, ticks: u64) {
        self.ticks.push((node, line, ticks));
    }

    /// Links children and parents by the ids recorded so far.
    pub(in crate::format) fn link(&mut self) {
        for (parent, child) in self.children.drain(..) {
            if let Some(child) = self.numbers.find(child) {
                self.nodes[child].parent = Some(parent);
            }
        }
        for (child, parent) in self.parents.drain(..) {
            self.nodes[child].parent = self.numbers.find(parent);
        }
    }

    /// The node with the id `number`.
    pub(in crate::format) fn find(&self, number: i64) -> Option<NodeId> {
        self.numbers.find(number)
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
            next = self.nodes[at].parent;
            // Below other nodes, `(root)` is a function that another program called so.
            let root = || next.is_some().then(|| builder.named_frame("(root)"));
            self.frames.extend(self.nodes[at].frame.or_else(root));
        }
        self.frames.reverse();
        let stack = builder.stack(&self.frames);
        self.nodes[node].stack = Some(stack);
        Ok(stack)
    }

    /// The stack that ends in `node`, with the line that was running. Without a file a line means nothing.
    pub(in crate::format) fn stack_at_line(
        &mut self,
        builder: &mut ProfileBuilder,
        node: NodeId,
        line: u32,
    ) -> Result<StackId, ParseError> {
        let stack = self.stack(builder, node)?;
        let Some(leaf) = self.nodes[node].frame.map(|frame| builder.frame_row(frame)) else {
            return Ok(stack);
        };
        if line == 0 || builder.text(builder.function_row(leaf.function).file).is_empty() {
            return Ok(stack);
        }
        if let Some(&known) = self.at_lines.get(&(node, line)) {
            return Ok(known);
        }
        let mut frames = builder.stack_frames(stack).to_vec();
        if let Some(last) = frames.last_mut() {
            *last = builder.frame(Frame { line, ..leaf });
        }
        let stack = builder.stack(&frames);
        self.at_lines.insert((node, line), stack);
        Ok(stack)
    }

    /// Divides the values of each node among the lines that were running, in proportion to their ticks. `hits` says
    /// how often the node was running in all: where the lines have fewer ticks, the line of the rest is unknown.
    pub(in crate::format) fn divide_among_lines(
        &mut self,
        builder: &mut ProfileBuilder,
        hits: &OwnValues,
    ) -> Result<(), ParseError> {
        // Nobody knows which sample was at which line.
        if builder.options().times {
            builder.meta.lacks_lines |= !self.ticks.is_empty();
            return Ok(());
        }
        let mut unknown = hits.map(|&hits| u64::try_from(hits).unwrap_or(0));
        for (node, line, ticks) in std::mem::take(&mut self.ticks) {
            unknown[node] = unknown[node].saturating_sub(ticks);
            let (whole, part) = (self.stack(builder, node)?, self.stack_at_line(builder, node, line)?);
            builder.divide(whole, part, ticks);
        }
        for (node, &ticks) in unknown.enumerate().filter(|(_, ticks)| **ticks > 0) {
            let whole = self.stack(builder, node)?;
            builder.divide(whole, whole, ticks);
        }
        Ok(())
    }
}
