//! The report of `tree`: a call tree, top-down or bottom-up.

use serde::Serialize;

use crate::report::{Header, Name, Pair, Values};

/// The direction of a call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Callees below their callers.
    TopDown,
    /// Callers below the functions they call.
    BottomUp,
}

/// A call tree.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Tree {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// Whether it is top-down or bottom-up.
    pub direction: Direction,
    /// The nodes in preorder. They are not nested, because stacks can be deeper than JSON readers allow.
    pub rows: Vec<TreeRow>,
    /// How many top-level rows were cut.
    #[serde(rename = "elided_roots")]
    pub cut: u64,
    /// The minimum share of a row, in percent: of `shown`, or in the bottom-up tree of the top-level row.
    pub min_share: f64,
    /// Which options hide rows; for text only, because JSON has the number of rows that were cut.
    #[serde(skip)]
    pub hidden_by: HiddenBy,
}

/// Which options hide rows of a top-down tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct HiddenBy {
    /// `--limit`, or its default.
    pub limit: bool,
    /// `--min-share`, or its default.
    pub min_share: bool,
    /// `--depth`.
    pub depth: bool,
}

/// A node of a tree.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TreeRow {
    /// The depth of the row; top-level rows have depth 0.
    pub depth: u32,
    /// The index of its parent row; null for top-level rows.
    pub parent: Option<u32>,
    /// The unique name.
    pub name: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// Its values. In a bottom-up tree, these are the values of the top-level function when called through
    /// this row.
    #[serde(flatten)]
    pub values: Values,
    /// Whether it is a profiler artefact, whose self belongs to its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// The number of events, with `--per-event`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Pair>,
    /// How many children of this row were cut.
    #[serde(rename = "elided_rows", skip_serializing_if = "is_zero")]
    pub cut: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
