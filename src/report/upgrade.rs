//! Libraries of which two sides have different versions.

use std::fmt;

use serde::Serialize;

/// A library of which the two sides have different versions, as the folders of its source files show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Upgrade {
    /// The name of the library.
    pub library: String,
    /// The version on the old side.
    pub old: String,
    /// The version on the new side, which may be an earlier one.
    pub new: String,
}

/// `serde_json 1.0.128 → 1.0.140`.
impl fmt::Display for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} → {}", self.library, self.old, self.new)
    }
}
