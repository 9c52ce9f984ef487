//! Why a report cannot be written.

use std::fmt;
use std::io;

use crate::unit::{IncompatibleUnits, group_thousands};

/// Why a report cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The destination fails.
    Io(io::Error),
    /// The requested unit is of another kind than that of the metric.
    Units(IncompatibleUnits),
    /// A flame graph cannot be drawn in the classic style.
    Classic(ClassicError),
}

/// Why a flame graph cannot be drawn in the classic style.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClassicError {
    /// Some values are negative.
    Negative,
    /// All values are 0.
    Empty,
    /// The stacks, written out for inferno, take more than this number of bytes.
    TooLarge(usize),
    /// The callers of a focus are a second graph.
    TwoGraphs,
}

impl fmt::Display for ClassicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassicError::Negative => write!(f, "a classic flame graph cannot show negative values"),
            ClassicError::Empty => write!(f, "a classic flame graph needs a value other than 0"),
            ClassicError::TooLarge(limit) => {
                let limit = group_thousands((limit >> 20) as i128);
                write!(
                    f,
                    "the stacks are too many and too deep for a classic flame graph: over {limit} MiB of text"
                )
            }
            ClassicError::TwoGraphs => {
                write!(f, "a classic flame graph cannot show callers and callees at once")
            }
        }
    }
}

impl std::error::Error for ClassicError {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Units(error) => error.fmt(f),
            Error::Classic(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Error::Io(error) => error,
            Error::Units(error) => error,
            Error::Classic(error) => error,
        })
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

impl From<IncompatibleUnits> for Error {
    fn from(error: IncompatibleUnits) -> Self {
        Error::Units(error)
    }
}

impl From<ClassicError> for Error {
    fn from(error: ClassicError) -> Self {
        Error::Classic(error)
    }
}
