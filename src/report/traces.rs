//! The report of `traces`.

use serde::Serialize;

use crate::report::labels::LabelText;
use crate::report::values::as_map;
use crate::report::{Header, Name};

/// Distinct stacks with their values.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Traces {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The stacks, the heaviest first.
    pub traces: Vec<Trace>,
}

/// A stack with its values and labels.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// The names of its frames, root first.
    pub frames: Vec<Name>,
    /// Its value in each of the metrics shown.
    #[serde(serialize_with = "as_map")]
    pub values: Vec<(Name, i64)>,
    /// The same for the old side of a comparison.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub old: Vec<(Name, i64)>,
    /// New − old.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub delta: Vec<(Name, i64)>,
    /// The labels that its samples carry.
    #[serde(serialize_with = "as_map")]
    pub labels: Vec<(Name, LabelText)>,
}
