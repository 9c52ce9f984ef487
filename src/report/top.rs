//! The report of `top`: the flat view.

use serde::Serialize;

use crate::report::header::is_one;
use crate::report::{Header, Name, Pair, Values};

/// The flat view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Top {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// One row per function, in the requested order.
    pub rows: Vec<TopRow>,
    /// What numbers of calls are divided by, such as the number of profiles that were averaged; left out if it is 1.
    #[serde(skip_serializing_if = "is_one")]
    pub calls_divisor: u64,
}

/// A function of the flat view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TopRow {
    /// The unique name.
    pub name: Name,
    /// The function's name without its place.
    pub function: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The source line, if there is exactly one.
    pub line: Option<u32>,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Whether it is leaf-heavy: self is at least 90 % of total and 1 % of all.
    pub candidate: bool,
    /// Whether its total is only an upper bound, because of recursion through others, in a profile of calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub upper_bound: bool,
    /// Whether it is a profiler artefact, whose self belongs to its callers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub artefact: bool,
    /// The number of events, with `--per-event`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Pair>,
    /// How often it was called, if the profile holds calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<i64>,
    /// The average cost of one call, rounded to a whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_call: Option<Pair>,
    /// The number of files that define a function with this name, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
}
