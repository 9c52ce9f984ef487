//! The report of `flame` as an SVG.

use serde::Serialize;

use crate::report::{ColorGroup, Direction, Header, Name, Pair, RowVerdict};

/// The call tree of a flame graph.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Flame {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The nodes in preorder; node 0 is the whole profile.
    pub nodes: Vec<FlameNode>,
    /// With a focus, the tree of its callers in preorder: the children of a node are its callers, and
    /// node 0 is the whole again. It is drawn above `nodes`, which then starts at the focus. Otherwise
    /// empty.
    pub callers: Vec<FlameNode>,
    /// Whether the children of a node are its callees or its callers.
    pub direction: Direction,
    /// Title of the picture.
    pub title: String,
    /// The groups of functions that share a colour, in the order of their colours.
    pub groups: Vec<ColorGroup>,
    /// The self of every group.
    pub group_self: Vec<i64>,
    /// The self of every source file, narrow nodes included, the heaviest first.
    pub files: Vec<(Name, i64)>,
    /// Functions that only the old side of a comparison has, with their old totals, the heaviest first.
    pub removed: Vec<(Name, i64)>,
    /// What the comparison says about the functions that it tested; empty if there is no test.
    pub verdicts: Vec<(Name, RowVerdict)>,
    /// The depth at which the tree was truncated, if it was too deep to draw.
    pub deepest: Option<u32>,
    /// The number of nodes that were too narrow to draw, without their descendants.
    pub dropped: u64,
}

/// A node of a flame graph.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FlameNode {
    /// The parent; node 0 is its own parent.
    pub parent: u32,
    /// The unique name.
    pub name: Name,
    /// The function's name without a place; equal to `name` if that has none.
    pub function: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The line, if there is exactly one.
    pub line: Option<u32>,
    /// The index of the group whose colour the node has.
    pub group: u32,
    /// Whether the compiler inlined the function in all stacks through the node.
    pub inlined: bool,
    /// The width: Σ |value| of the samples through the node. It is at least the sum of the widths of its
    /// children, even if values have both signs.
    pub width: i64,
    /// Total.
    pub total: i64,
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Self and total of the old side of a comparison.
    pub old: Option<Pair>,
}
