//! The heaviest path, and the repeated call sequences.

use serde::Serialize;

use crate::report::{Header, Name, Neighbour, Pair};

/// The heaviest path, and the repeated call sequences.
#[derive(Clone, Debug, Serialize)]
pub struct Hot {
    /// What it is about. Sequences overlap, so there is nothing to sum: `elided` is 0, and
    /// `elided_rows` are the sequences that were cut.
    #[serde(flatten)]
    pub header: Header,
    /// On the new side of a comparison: from the heaviest root on, always the heaviest callee while it keeps half of its caller.
    pub path: Vec<PathStep>,
    /// Call sequences that recur in several contexts, the heaviest first; in a comparison those that
    /// recur on either side, by how much they changed.
    pub sequences: Vec<HotSequence>,
    /// For the text: the callee with which the path would go on; it has less than half.
    #[serde(skip)]
    pub next: Option<PathStep>,
    /// For the text: the smallest share, in percent, that a sequence had to have.
    #[serde(skip)]
    pub min_share: f64,
}

/// A node of the heaviest path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// The unique name.
    pub name: Name,
    /// The value of the samples that end here.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples that begin like the path.
    pub total: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
}

/// A repeated call sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HotSequence {
    /// The names, root-most first.
    pub frames: Vec<Name>,
    /// The value of the samples whose stack holds it, each once.
    pub total: i64,
    /// The part of it where the last function is the leaf.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// How many distinct stack prefixes stand in front of it; of a sequence that recurs on the old side
    /// of a comparison only, there.
    pub contexts: u64,
    /// Who calls the first function, `(root)` where it starts the stack, the heaviest first. A
    /// sample in which the sequence recurs counts for each of its callers.
    pub callers: Vec<Neighbour>,
}
