//! The report of `source`.

use serde::Serialize;

use crate::report::{Header, Name, Pair};

/// Source lines with their values.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AnnotatedSource {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The functions that match, the heaviest first.
    pub functions: Vec<SourceFunction>,
}

/// A function with its lines.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SourceFunction {
    /// The unique name.
    pub name: Name,
    /// The source file as named in the profile; null if unknown.
    pub file: Option<Name>,
    /// The value of the samples whose leaf the function is.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples with the function on their stack.
    pub total: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// Its lines in order: those with a value and, if the source was found, the lines around them.
    pub lines: Vec<SourceLine>,
    /// The file that was read, or the paths that were tried.
    pub origin: Origin,
}

/// Where the text of a function's lines came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The file that was read.
    Found(String),
    /// The first paths that were tried without success.
    Missing(Vec<String>),
}

/// A source line.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SourceLine {
    /// Its number, from 1; 0 stands for samples whose line is unknown.
    pub line: u32,
    /// The value of the samples whose leaf is at this line.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples with this line on their stack, each counted once.
    pub total: i64,
    /// The old side of a comparison. Its line numbers refer to the old source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// The text; null if the source was not found.
    pub text: Option<String>,
}
