//! The report of `lint`: whether a recording is fit to conclude from.

use serde::Serialize;

use crate::report::Header;

/// What is wrong with a recording.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Lint {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The number of rules that were applied.
    pub rules: u64,
    /// The problems, the most severe first.
    pub problems: Vec<Problem>,
}

/// One problem of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The rule that found it.
    pub rule: &'static str,
    /// How severe it is.
    pub level: Severity,
    /// What is wrong, with numbers.
    pub says: String,
    /// What to do about it; empty if only the problem itself says more.
    pub remedy: String,
    /// The share of the profile that is affected, in percent; null if it is about the recording as a whole.
    pub share: Option<f64>,
}

/// How severe a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Some conclusions are wrong.
    Warning,
    /// The recording is not fit to conclude from.
    Error,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}
