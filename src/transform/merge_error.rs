//! Why profiles cannot be combined.

use std::fmt;

use crate::profile::TooLarge;

/// Why profiles cannot be summed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// A metric has units of different kinds.
    Units {
        /// The metric.
        metric: String,
        /// Two of its units, starting with that of the first profile.
        units: (String, String),
    },
    /// The values of a metric do not fit in 64 bits in the finest of its units.
    Overflow {
        /// The metric.
        metric: String,
    },
    /// Some profiles hold stacks and others only calls. The fields are the formats of one of each.
    Kinds(&'static str, &'static str),
    /// A table exceeds a limit.
    TooLarge(TooLarge),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Units { metric, units: (first, other) } => {
                write!(f, "the metric {metric} is in {first} in one input and in {other} in another")
            }
            MergeError::Overflow { metric } => {
                write!(
                    f,
                    "the values of {metric} do not fit in 64 bits when converted to the unit common to all inputs"
                )
            }
            MergeError::Kinds(stacks, calls) => {
                write!(
                    f,
                    "{stacks} profiles hold stacks and {calls} profiles hold calls between functions; these cannot be combined"
                )
            }
            MergeError::TooLarge(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for MergeError {}
