//! Forms of a comparison that machines of others read: comments, annotations, test reports.

mod github;
mod junit;
mod markdown;
pub(super) mod words;

pub use github::github;
pub use junit::junit;
pub(super) use markdown::comment;

use crate::report::{Diff, DiffVerdict};

/// What must reach the eye even where nobody reads the report: that there is no verdict, and what one
/// pair of profiles cannot show.
pub fn evidence_notes(diff: &Diff) -> Vec<String> {
    let mut notes = Vec::new();
    if diff.verdict == DiffVerdict::Inconclusive {
        notes.push(words::evidence(diff));
    }
    notes.extend(words::one_pair(diff));
    notes.extend(words::too_noisy(diff));
    notes
}
