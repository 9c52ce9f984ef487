//! What `source` found.

use serde::Serialize;

use crate::report::{Header, Name, Pair};

/// Source lines with their values.
#[derive(Clone, Debug, Serialize)]
pub struct AnnotatedSource {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// The functions that match, the heaviest first.
    pub functions: Vec<SourceFunction>,
}

/// A function with its lines.
#[derive(Clone, Debug, Serialize)]
pub struct SourceFunction {
    /// The unique name.
    pub name: Name,
    /// The source file as the profile names it; null where it names none.
    pub file: Option<Name>,
    /// The value of the samples whose leaf the function is.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples on whose stack it stands.
    pub total: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// Its lines in order: those with a value and, where the source was found, those around them.
    pub lines: Vec<SourceLine>,
    /// For the text: the file that was read, or the places where it was looked for.
    #[serde(skip)]
    pub origin: Origin,
}

/// Where the text of a function's lines came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file that was read.
    Found(String),
    /// The first places that were looked at in vain.
    Missing(Vec<String>),
}

/// A source line.
#[derive(Clone, Debug, Serialize)]
pub struct SourceLine {
    /// Its number, from 1; 0 stands for samples whose line is unknown.
    pub line: u32,
    /// The value of the samples whose leaf stands at this line.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples on whose stack this line stands, once per sample.
    pub total: i64,
    /// The old side of a comparison, whose lines are counted in its own source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// The text; null where the source was not found.
    pub text: Option<String>,
}
