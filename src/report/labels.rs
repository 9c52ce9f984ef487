//! The report of `labels`.

use serde::Serialize;

use crate::report::{CutRows, Header};

/// Label keys and their values.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Labels {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The keys in alphabetical order.
    pub keys: Vec<LabelKey>,
}

/// A label key.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LabelKey {
    /// The key.
    pub key: String,
    /// Its values, the heaviest first.
    pub values: Vec<LabelShare>,
    /// The value of the samples that carry the key.
    pub total: i64,
    /// The same for the old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// The values that were cut.
    #[serde(rename = "more_values")]
    pub cut: CutRows,
}

/// A value of a label, and the value of the samples that carry it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LabelShare {
    /// The label's value.
    pub value: LabelText,
    /// Its own unit, if it is a number with a unit.
    pub unit: Option<String>,
    /// The value of the samples that carry it.
    pub total: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<i64>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<i64>,
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LabelText {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
}
