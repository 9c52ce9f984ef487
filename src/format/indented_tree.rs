//! A call tree written one node per line, in which the indentation says how deep a node is.

use crate::profile::{FrameId, LabelSetId, ProfileBuilder};

/// The nodes from the root to the current one, which have `N` values each.
#[derive(Default)]
pub(super) struct IndentedTree<const N: usize> {
    nodes: Vec<Node<N>>,
}

struct Node<const N: usize> {
    indent: usize,
    frame: FrameId,
    /// The node's own values: what its children leave of its totals, unless the file says.
    own: [i64; N],
}

/// A total, and the own value if the file has it.
pub(super) type TotalAndOwn = (i64, Option<i64>);

/// The order of the frames from the root of the tree on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// Children are callees.
    Root,
    /// Children are callers.
    Leaf,
}

impl<const N: usize> IndentedTree<N> {
    /// Adds a node below the last one with a smaller indentation.
    pub(super) fn add(
        &mut self,
        builder: &mut ProfileBuilder,
        from: From,
        add_sample: impl FnMut(&mut ProfileBuilder, &[FrameId], [i64; N]),
        (indent, frame): (usize, FrameId),
        values: [TotalAndOwn; N],
    ) {
        self.close(builder, from, add_sample, indent);
        for (number, (total, own)) in values.iter().enumerate() {
            if let (Some(parent), None) = (self.nodes.last_mut(), own) {
                // If children add up to more than the node, rounded values do not fit; nothing is left then.
                parent.own[number] = parent.own[number].saturating_sub(*total).max(0);
            }
        }
        self.nodes.push(Node { indent, frame, own: values.map(|(total, own)| own.unwrap_or(total)) });
    }

    /// Closes the nodes that are indented by at least `indent`.
    pub(super) fn close(
        &mut self,
        builder: &mut ProfileBuilder,
        from: From,
        mut add_sample: impl FnMut(&mut ProfileBuilder, &[FrameId], [i64; N]),
        indent: usize,
    ) {
        while let Some(last) = self.nodes.last().filter(|last| last.indent >= indent) {
            if last.own != [0; N] {
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

/// Adds a sample without labels. Values of metrics that were not declared are left out.
pub(super) fn plain_sample<const N: usize>(
    builder: &mut ProfileBuilder,
    frames: &[FrameId],
    values: [i64; N],
) {
    let stack = builder.stack(frames);
    let known = builder.meta.metrics.len().min(N);
    builder.sample(stack, LabelSetId::default(), None, &values[..known]);
}
