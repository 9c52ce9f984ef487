//! Functions that are matched between two sides.

use std::fmt;

use serde::Serialize;

use crate::report::Name;

/// A function of the old side that was matched with one of a different name or place on the new side.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Matched {
    /// Its unique name on the old side.
    pub old: Name,
    /// Its unique name on the new side, which rows show.
    pub new: Name,
    /// How it was matched: `given`, `shifted`, `relocated`, `normalised` or `renamed`.
    pub how: &'static str,
    /// How similar the two are, from 0 to 1.
    pub similarity: f64,
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {} ({}", self.old, self.new, self.how)?;
        if self.similarity < 1.0 {
            write!(f, ", similarity {:.2}", self.similarity)?;
        }
        f.write_str(")")
    }
}
