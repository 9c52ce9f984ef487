//! One function between its callers and its callees.

use serde::Serialize;

use crate::report::{Header, Name, Pair};

/// One function, or several counted as one, with callers above and callees below.
#[derive(Clone, Debug, Serialize)]
pub struct Focus {
    /// What it is about. What was cut on both sides is `elided`.
    #[serde(flatten)]
    pub header: Header,
    /// The unique name; what was typed where several functions are counted as one.
    pub name: Name,
    /// The value of the samples whose leaf the function is.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples on whose stack the function stands.
    pub total: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// Who calls it, at its leaf-most occurrence. With `(root)`, where it starts the stack, and with
    /// what was cut they sum to `total`.
    pub callers: Vec<Neighbour>,
    /// What it calls there. With `self` and with what was cut they sum to `total`.
    pub callees: Vec<Neighbour>,
    /// What was cut of the callers.
    pub more_callers: More,
    /// What was cut of the callees.
    pub more_callees: More,
    /// The functions meant, each by itself, the heaviest first.
    pub matches: Vec<Match>,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
}

/// A caller or a callee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    /// The unique name, or `(root)`.
    pub name: Name,
    /// The value of the samples in which it stands next to the function.
    pub value: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<i64>,
}

/// What was cut of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct More {
    /// How many rows.
    pub rows: u64,
    /// Their sum.
    pub value: i64,
    /// Their sum on the old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
}

/// One of the functions that were meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// The unique name.
    pub name: Name,
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
}
