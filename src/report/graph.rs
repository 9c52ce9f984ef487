//! The report of `graph`: the call graph, one node per function.

use serde::Serialize;

use crate::report::{ColorGroup, Header, Name, PairBySide};

/// The call graph, or its heaviest part.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Graph {
    /// The header. `elided_rows` is the number of nodes that were cut, `elided` is their self.
    #[serde(flatten)]
    pub header: Header,
    /// The nodes, the heaviest first, in a comparison those that changed the most; or in the order that was asked for.
    pub nodes: Vec<GraphNode>,
    /// Whether they are in another order than that: the first ones are not the heaviest.
    #[serde(skip)]
    pub reordered: bool,
    /// The edges between them, the heaviest first.
    pub edges: Vec<GraphEdge>,
    /// The number of edges between these nodes that were too light to be shown.
    pub edges_elided: u64,
    /// The minimum share of an edge in `shown`, in percent.
    pub min_edge: f64,
    /// The groups of functions that share a colour, in the order of their colours: those of a flame graph.
    #[serde(skip)]
    pub groups: Vec<ColorGroup>,
}

/// A function.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GraphNode {
    /// The unique name.
    pub name: Name,
    /// Self and total.
    #[serde(flatten)]
    pub values: PairBySide,
    /// Whether it is a profiler artefact, whose self belongs to its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The package, else the binary, else the folder of the source file; empty if none is known.
    pub package: Name,
    /// The index of the group whose colour it has.
    #[serde(skip)]
    pub group: u32,
}

/// A call.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GraphEdge {
    /// The unique name of the caller.
    pub caller: Name,
    /// The unique name of the callee.
    pub callee: Name,
    /// The value of the samples in which the caller calls the callee, each counted once.
    pub value: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<i64>,
    /// Whether the caller never calls the callee directly, only through functions that were cut.
    pub bridged: bool,
}
