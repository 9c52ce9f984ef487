//! The flat view.

use serde::Serialize;

use crate::report::{Header, Name, Pair, Values};

/// The flat view.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// One row per function, in the requested order.
    pub rows: Vec<TopRow>,
}

impl Top {
    /// Marks the rows that the header calls artefacts of the profiler.
    pub(crate) fn mark_artefacts(&mut self) {
        for row in &mut self.rows {
            row.artefact = self.header.is_artefact(&row.name);
            // What the profiler left at the end of stacks is not work of its own.
            row.candidate &= !row.artefact;
        }
    }
}

/// A function of the flat view.
#[derive(Clone, Debug, Serialize)]
pub struct TopRow {
    /// The unique name.
    pub name: Name,
    /// The function's name alone.
    pub function: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The source line, where there is one and only one.
    pub line: Option<u32>,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Whether it is leaf-heavy: self is at least 90 % of total and 1 % of all.
    pub candidate: bool,
    /// Whether the profiler itself put it there: its self is that of its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// How many events its values weigh, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Pair>,
    /// How often it was called, where the profile holds calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<i64>,
    /// What one call costs on average, rounded to a whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_call: Option<Pair>,
    /// How many different files hold a function of this name.
    #[serde(skip)]
    pub files: u32,
}
