//! A call tree written one node per line, in which the indentation says how deep a node is.

use crate::profile::{FrameId, LabelSetId, ProfileBuilder};

/// The nodes from the root to the current one.
#[derive(Default)]
pub(super) struct IndentedTree {
    nodes: Vec<Node>,
}

struct Node {
    indent: usize,
    frame: FrameId,
    /// The node's own value: what its children leave of its total, unless the file says.
    own: i64,
}

/// The order of the frames from the root of the tree on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// Children are callees.
    Root,
    /// Children are callers.
    Leaf,
}

impl IndentedTree {
    /// Adds a node below the last one with a smaller indentation. If only the total is known, `own` is `None`.
    pub(super) fn add(
        &mut self,
        builder: &mut ProfileBuilder,
        from: From,
        add_sample: impl FnMut(&mut ProfileBuilder, &[FrameId], i64),
        (indent, frame): (usize, FrameId),
        (total, own): (i64, Option<i64>),
    ) {
        self.close(builder, from, add_sample, indent);
        if let (Some(parent), None) = (self.nodes.last_mut(), own) {
            // If children add up to more than the node, rounded values do not fit; nothing is left then.
            parent.own = parent.own.saturating_sub(total).max(0);
        }
        self.nodes.push(Node { indent, frame, own: own.unwrap_or(total) });
    }

    /// Closes the nodes that are indented by at least `indent`.
    pub(super) fn close(
        &mut self,
        builder: &mut ProfileBuilder,
        from: From,
        mut add_sample: impl FnMut(&mut ProfileBuilder, &[FrameId], i64),
        indent: usize,
    ) {
        while let Some(last) = self.nodes.last().filter(|last| last.indent >= indent) {
            if last.own != 0 {
                let mut frames: Vec<FrameId> = self.nodes.iter().map(|node| node.frame).collect();
                if from == From::Leaf {
                    frames.reverse();
                }
                add_sample(builder, &frames, last.own);
            }
            self.nodes.pop();
        }
    }
}

/// Adds a sample with a single metric and without labels.
pub(super) fn plain_sample(builder: &mut ProfileBuilder, frames: &[FrameId], value: i64) {
    let stack = builder.stack(frames);
    builder.sample(stack, LabelSetId::default(), None, &[value]);
}
