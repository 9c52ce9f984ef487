//! A call tree, from either end.

use serde::Serialize;

use crate::report::{Header, Name, Pair, Values};

/// Which way a tree is read.
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
pub struct Tree {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// Which way it is read.
    pub direction: Direction,
    /// The nodes, depth first: flat, since real stacks are deeper than JSON readers nest.
    pub rows: Vec<TreeRow>,
    /// For the text: how many top-level rows were cut.
    #[serde(skip)]
    pub cut: u64,
    /// For the text: the smallest share, in percent, that a row had to have.
    #[serde(skip)]
    pub min_share: f64,
}

impl Tree {
    /// Marks the rows that the header calls artefacts of the profiler.
    pub(crate) fn mark_artefacts(&mut self) {
        for row in &mut self.rows {
            row.artefact = self.header.is_artefact(&row.name);
        }
    }
}

/// A node of a tree.
#[derive(Clone, Debug, Serialize)]
pub struct TreeRow {
    /// The number of rows above it, up to the top-level row.
    pub depth: u32,
    /// Index of the row above it.
    pub parent: Option<u32>,
    /// The unique name.
    pub name: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// Its values. From the bottom up these are the top function's, as far as it is reached through
    /// this row.
    #[serde(flatten)]
    pub values: Values,
    /// Whether the profiler itself put it there: its self is that of its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// How many events its values weigh, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Pair>,
    /// For the text: how many rows directly below this one were cut.
    #[serde(skip)]
    pub cut: u32,
    /// For the text: whether this row shares a line with the one below it, whose numbers are the same.
    #[serde(skip)]
    pub joined: bool,
}
