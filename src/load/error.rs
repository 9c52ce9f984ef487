//! Why profiles cannot be loaded.

use std::io;
use std::path::PathBuf;

use crate::format::LoadError;
use crate::profile::TooLarge;
use crate::source::FetchError;
use crate::transform::MergeError;

/// Why profiles cannot be loaded, or not together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be read.
    #[error("{}: {}", shown(name), reason(error))]
    Input {
        /// The input.
        name: String,
        /// Why not.
        #[source]
        error: LoadError,
    },
    /// An address cannot be fetched.
    #[error("{name}: {error}")]
    Fetch {
        /// The address, without a password.
        name: String,
        /// Why not.
        #[source]
        error: FetchError,
    },
    /// A folder cannot be read.
    #[error("{name}: {error}")]
    Folder {
        /// The folder.
        name: String,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// None of these inputs is a profile.
    #[error("{}: no profile found", .0.join(", "))]
    NoProfile(Vec<String>),
    /// A binary that names are to be looked up in does not exist.
    #[error("{}: no such file or folder", .0.display())]
    NoBinary(PathBuf),
    /// A source map, or a folder of them, does not exist.
    #[error("{}: no such file or folder", .0.display())]
    NoSourceMap(PathBuf),
    /// The tables with the names that were found outgrow their ids.
    #[error("names for addresses: {0}")]
    Names(#[source] TooLarge),
    /// The first profile has no metric at all.
    #[error("the profile has no metric")]
    NoMetric,
    /// No metric has this name.
    #[error("{name}: no such metric")]
    UnknownMetric {
        /// The name.
        name: String,
        /// The metrics of the first profile.
        known: Vec<String>,
    },
    /// An input lacks a metric that the first one has.
    #[error("{input}: no metric named {metric}")]
    MissingMetric {
        /// The input.
        input: String,
        /// The metric.
        metric: String,
        /// The metrics of the input.
        known: Vec<String>,
        /// The metrics that all inputs have.
        common: Vec<String>,
    },
    /// The values of this metric do not fit in 64 bits.
    #[error("the sum of the values of {0} does not fit 64 bits")]
    MetricTooLarge(String),
    /// Profiles cannot be added up.
    #[error("{0}")]
    Merge(#[from] MergeError),
    /// Two sides compare one metric, but several were asked for.
    #[error("a comparison has one metric, but several were asked for")]
    SeveralMetrics,
    /// The new side is missing, and this input does not hold both sides.
    #[error("the new side is missing")]
    OneSide(String),
}

/// Why an input cannot be read, without the number that the system has for it.
fn reason(error: &LoadError) -> String {
    match error {
        LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound => "no such file".to_string(),
        error => error.to_string(),
    }
}

/// The name of an input in messages.
pub fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}
