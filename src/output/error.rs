//! Why a report cannot be written.

use std::io;

use crate::unit::{IncompatibleUnits, group_thousands};

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The destination fails.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The requested unit is of another kind than that of the metric.
    #[error("{0}")]
    Units(#[from] IncompatibleUnits),
    /// A flame graph cannot be drawn in the classic style.
    #[error("{0}")]
    Classic(#[from] ClassicError),
}

/// Why a flame graph cannot be drawn in the classic style.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicError {
    /// Some values are negative.
    #[error("a classic flame graph cannot show negative values")]
    Negative,
    /// All values are 0.
    #[error("a classic flame graph needs a value other than 0")]
    Empty,
    /// The stacks, written out for inferno, take more than this number of bytes.
    #[error(
        "the stacks are too many and too deep for a classic flame graph: over {} MiB of text",
        group_thousands((.0 >> 20) as i128)
    )]
    TooLarge(usize),
    /// The callers of a focus are a second graph.
    #[error("a classic flame graph cannot show callers and callees at once")]
    TwoGraphs,
}
