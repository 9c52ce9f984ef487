//! The report of `source`.

use serde::Serialize;

use crate::report::{Header, Name, PairBySide};

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
    /// Self and total.
    #[serde(flatten)]
    pub values: PairBySide,
    /// Its lines in order: those with a value and, if the source was found, the lines around them.
    pub lines: Vec<SourceLine>,
    /// The file that was read, or the paths that were tried.
    pub origin: Origin,
    /// A file that has the name, but not all lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub another: Option<OtherFile>,
}

/// A file that is not the recorded one, although it has the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OtherFile {
    /// Its path.
    pub path: String,
    /// The line that it lacks.
    pub lacks_line: u32,
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

impl Origin {
    /// The file that was read.
    pub fn path(&self) -> Option<&String> {
        match self {
            Origin::Found(path) => Some(path),
            Origin::Missing(_) => None,
        }
    }
}

/// A source line.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SourceLine {
    /// Its number, from 1; 0 stands for samples whose line is unknown.
    pub line: u32,
    /// Self and total.
    #[serde(flatten)]
    pub values: PairBySide,
    /// The text; null if the source was not found.
    pub text: Option<String>,
}
