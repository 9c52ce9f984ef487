//! Why profiles cannot be combined.

use crate::profile::TooLarge;

/// Why profiles cannot be summed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A metric has units of different kinds.
    #[error("the metric {metric} is in {} in one input and in {} in another", units.0, units.1)]
    Units {
        /// The metric.
        metric: String,
        /// Two of its units, starting with that of the first profile.
        units: (String, String),
    },
    /// The values of a metric do not fit in 64 bits in the finest of its units.
    #[error("the values of {metric} do not fit in 64 bits when converted to the unit common to all inputs")]
    Overflow {
        /// The metric.
        metric: String,
    },
    /// Some profiles hold stacks and others only calls. The fields are the formats of one of each.
    #[error(
        "{0} profiles hold stacks and {1} profiles hold calls between functions; these cannot be combined"
    )]
    Kinds(&'static str, &'static str),
    /// A table exceeds a limit.
    #[error("{0}")]
    TooLarge(TooLarge),
}
