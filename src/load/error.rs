//! Why profiles cannot be loaded.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::format::LoadError;
use crate::profile::TooLarge;
use crate::source::FetchError;
use crate::transform::MergeError;

/// Why profiles cannot be loaded, or not together.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An input cannot be read.
    Input {
        /// The input.
        name: String,
        /// Why not.
        error: LoadError,
    },
    /// An address cannot be fetched.
    Fetch {
        /// The address, without a password.
        name: String,
        /// Why not.
        error: FetchError,
    },
    /// A folder cannot be read.
    Folder {
        /// The folder.
        name: String,
        /// Why not.
        error: io::Error,
    },
    /// None of these inputs is a profile.
    NoProfile(Vec<String>),
    /// A binary that names are to be looked up in does not exist.
    NoBinary(PathBuf),
    /// A source map, or a folder of them, does not exist.
    NoSourceMap(PathBuf),
    /// The tables with the names that were found outgrow their ids.
    Names(TooLarge),
    /// The first profile has no metric at all.
    NoMetric,
    /// No metric has this name.
    UnknownMetric {
        /// The name.
        name: String,
        /// The metrics of the first profile.
        known: Vec<String>,
    },
    /// An input lacks a metric that the first one has.
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
    MetricTooLarge(String),
    /// Profiles cannot be added up.
    Merge(MergeError),
    /// Two sides compare one metric, but several were asked for.
    SeveralMetrics,
    /// The new side is missing, and this input does not hold both sides.
    OneSide(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input { name, error: LoadError::Io(error) } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{}: no such file", shown(name))
            }
            Error::Input { name, error } => write!(f, "{}: {error}", shown(name)),
            Error::Fetch { name, error } => write!(f, "{name}: {error}"),
            Error::Folder { name, error } => write!(f, "{name}: {error}"),
            Error::NoProfile(names) => write!(f, "{}: no profile found", names.join(", ")),
            Error::NoBinary(path) | Error::NoSourceMap(path) => {
                write!(f, "{}: no such file or folder", path.display())
            }
            Error::Names(error) => write!(f, "names for addresses: {error}"),
            Error::NoMetric => f.write_str("the profile has no metric"),
            Error::UnknownMetric { name, .. } => write!(f, "{name}: no such metric"),
            Error::MissingMetric { input, metric, .. } => write!(f, "{input}: no metric named {metric}"),
            Error::MetricTooLarge(metric) => {
                write!(f, "the sum of the values of {metric} does not fit 64 bits")
            }
            Error::Merge(error) => write!(f, "{error}"),
            Error::SeveralMetrics => f.write_str("a comparison has one metric, but several were asked for"),
            Error::OneSide(_) => f.write_str("the new side is missing"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Input { error, .. } => Some(error),
            Error::Fetch { error, .. } => Some(error),
            Error::Folder { error, .. } => Some(error),
            Error::Names(error) => Some(error),
            Error::Merge(error) => Some(error),
            _ => None,
        }
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        Error::Merge(error)
    }
}

/// The name of an input in messages.
pub fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}
