//! The report of `hot`: the heaviest path, and the repeated call sequences.

use serde::Serialize;

use crate::report::{Header, Name, Neighbour, Pair, PairBySide};

/// The heaviest path, and the repeated call sequences.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Hot {
    /// The header. Sequences overlap and cannot be summed, so `elided` is 0; `elided_rows` is the number of
    /// sequences that were cut.
    #[serde(flatten)]
    pub header: Header,
    /// The heaviest root, its heaviest callee, and so on, as long as the callee has at least half of its
    /// caller's total. In a comparison, this is the path of the new side.
    pub path: Vec<PathStep>,
    /// Call sequences that recur in several contexts, the heaviest first. In a comparison, those that recur
    /// on either side, the largest change first.
    pub sequences: Vec<HotSequence>,
    /// The heaviest callee of the last step of the path, which has less than half of its total.
    pub next: Option<PathStep>,
    /// The minimum share of a sequence, in percent.
    pub min_share: f64,
}

/// A node of the heaviest path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PathStep {
    /// The unique name.
    pub name: Name,
    /// Self and total.
    #[serde(flatten)]
    pub values: PairBySide,
    /// Whether it is a profiler artefact, whose self belongs to its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
}

/// A repeated call sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HotSequence {
    /// The names, starting at the end nearest to the root.
    pub frames: Vec<Name>,
    /// The value of the samples whose stack contains it, each counted once.
    pub total: i64,
    /// The part of `total` in which the last function is the leaf.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// The number of distinct stack prefixes before it. In a comparison, these are counted on the new side,
    /// or on the old side if the sequence recurs only there.
    pub contexts: u64,
    /// The callers of the first function, the heaviest first; `(root)` if it starts the stack. A sample in
    /// which the sequence recurs counts for each of its callers.
    pub callers: Vec<Neighbour>,
}
