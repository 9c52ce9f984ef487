//! The error for profiles that exceed a limit.

use crate::unit::{self, Unit, saturated};

/// A profile exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// A table outgrew its ids: there are more than 2³² frames in distinct stacks, or labels in distinct sets.
    #[error("more than the maximum of 2^32 frames or labels")]
    Ids,
    /// There are too many metrics. Every sample has a value for each of them.
    #[error("more than {MOST_METRICS} metrics")]
    Metrics,
    /// The factors of `--what-if` have more digits than 64 bits hold.
    #[error("the factors have too many digits for exact sums in 64 bits")]
    Factors,
    /// Loading or a view needs more memory than its [`Budget`](crate::profile::Budget).
    #[error("needs more memory than the {} allowed", size(*limit))]
    Memory {
        /// The budget, in bytes.
        limit: u64,
    },
}

fn size(bytes: u64) -> String {
    unit::human(saturated(bytes), &Unit::BYTES, 1)
}

/// The maximum number of metrics.
pub(crate) const MOST_METRICS: usize = 250;
