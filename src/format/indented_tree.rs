//! A call tree written one node per line, in which the indentation says how deep a node is.

use crate::profile::{Frame, FrameId, LabelSetId, MappingId, ProfileBuilder};
use crate::unit::plural;

/// What own value and children leave of a total is missing from the file, if it is more than this fraction of it. Less is rounding.
const ROUNDING: f64 = 0.02;

/// The nodes from the root to the current one, which have `N` values each.
#[derive(Default)]
pub(super) struct IndentedTree<const N: usize> {
    nodes: Vec<Node<N>>,
    /// How many nodes had callees that are missing from the file, which are functions without a name.
    incomplete: u64,
}

struct Node<const N: usize> {
    indent: usize,
    frame: FrameId,
    /// The node's own values: what its children leave of its totals, unless the file says.
    own: [i64; N],
    total: [i64; N],
    /// What the children still have to account for, if the file says what is the node's own.
    rest: [i64; N],
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
    /// Warns of callees that are missing from the file.
    pub(super) fn warn_of_missing(&self, builder: &mut ProfileBuilder) {
        if self.incomplete > 0 {
            let functions = plural(self.incomplete, "function has", "functions have");
            builder.warn(format!(
                "{} {functions} callees that the file lacks: `<unknown>` is what they take",
                self.incomplete
            ));
        }
    }

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
            // If children add up to more than the node, rounded values do not fit; nothing is left then.
            match (self.nodes.last_mut(), own) {
                (Some(parent), None) => {
                    parent.own[number] = parent.own[number].saturating_sub(*total).max(0);
                }
                (Some(parent), Some(_)) => {
                    parent.rest[number] = parent.rest[number].saturating_sub(*total).max(0);
                }
                (None, _) => {}
            }
        }
        self.nodes.push(Node {
            indent,
            frame,
            own: values.map(|(total, own)| own.unwrap_or(total)),
            total: values.map(|(total, _)| total),
            rest: values.map(|(total, own)| own.map_or(0, |own| total.saturating_sub(own))),
        });
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
            let (own, missing) = (last.own, last.missing());
            // Most nodes have nothing of their own, and a stack is as long as the tree is deep.
            if own == [0; N] && missing == [0; N] {
                self.nodes.pop();
                continue;
            }
            let mut frames: Vec<FrameId> = self.nodes.iter().map(|node| node.frame).collect();
            let mut add = |builder: &mut ProfileBuilder, mut frames: Vec<FrameId>, values: [i64; N]| {
                if from == From::Leaf {
                    frames.reverse();
                }
                add_sample(builder, &frames, values);
            };
            if own != [0; N] {
                add(builder, frames.clone(), own);
            }
            if missing != [0; N] {
                let function = builder.unnamed_function(MappingId::default());
                frames.push(builder.frame(Frame { function, ..Frame::default() }));
                add(builder, frames, missing);
                self.incomplete += 1;
            }
            self.nodes.pop();
        }
    }
}

impl<const N: usize> Node<N> {
    /// What neither the node itself nor its children account for.
    fn missing(&self) -> [i64; N] {
        let mut missing = self.rest;
        for (rest, total) in missing.iter_mut().zip(self.total) {
            if *rest as f64 <= ROUNDING * total as f64 {
                *rest = 0;
            }
        }
        missing
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
