//! The words of a comparison, and its reports for CI: comments, annotations, test reports.

pub(super) mod causes;
pub(super) mod evidence;
mod github;
mod junit;
mod markdown;
pub(super) mod words;

pub use causes::{sentence as cause_sentence, summarise as summarise_causes};
pub use github::{github, github_budgets};
pub use junit::{junit, junit_budgets};
pub(super) use markdown::comment;

use crate::report::{Diff, DiffVerdict};

/// Notes that must be visible even if nobody reads the report: that there is no verdict, and the limits
/// of a single pair of profiles.
pub fn evidence_notes(diff: &Diff) -> Vec<String> {
    let mut notes = Vec::new();
    if diff.verdict == DiffVerdict::Inconclusive {
        notes.push(words::evidence(diff));
    }
    notes.extend(words::strict(diff));
    notes.extend(words::one_pair(diff));
    notes.extend(words::doubts(diff));
    notes
}
