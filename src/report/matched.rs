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

impl Matched {
    /// The pair with names as they are to be shown: `parseNum → parseNumber (renamed, similarity 0.91)`.
    pub(crate) fn spoken(&self, old: impl fmt::Display, new: impl fmt::Display) -> String {
        let similarity = if self.similarity < 1.0 {
            format!(", similarity {:.2}", self.similarity)
        } else {
            String::new()
        };
        format!("{old} → {new} ({}{similarity})", self.how)
    }
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spoken(&self.old, &self.new))
    }
}
