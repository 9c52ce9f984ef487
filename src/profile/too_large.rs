//! The error for profiles that exceed a limit.

use std::fmt;

use crate::unit::{self, Unit};

/// A profile exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// A table outgrew its ids: there are more than 2³² frames in distinct stacks, or labels in distinct sets.
    Ids,
    /// There are too many metrics. Every sample has a value for each of them.
    Metrics,
    /// Loading or a view needs more memory than its [`Budget`](crate::profile::Budget).
    Memory {
        /// The budget, in bytes.
        limit: u64,
    },
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Ids => f.write_str("more than the maximum of 2^32 frames or labels"),
            TooLarge::Metrics => write!(f, "more than {MOST_METRICS} metrics"),
            TooLarge::Memory { limit } => {
                write!(
                    f,
                    "needs more memory than the {} allowed",
                    unit::human(i64::try_from(*limit).unwrap_or(i64::MAX), &Unit::parse("bytes"), 1)
                )
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// The maximum number of metrics.
pub(super) const MOST_METRICS: usize = 250;
