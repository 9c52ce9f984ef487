//! Options for readers.

use crate::profile::budget::Budget;

/// What to load. Readers skip what no view needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Keep labels. Without them, rows that differ only in labels are merged, so that a million samples with
    /// different labels take no more memory than their distinct stacks.
    pub labels: bool,
    /// Keep the time of every sample, if the format has it.
    pub times: bool,
    /// The memory limit for loading.
    pub budget: Budget,
}

impl LoadOptions {
    /// Everything that the format has.
    pub const ALL: LoadOptions = LoadOptions { labels: true, times: true, ..LoadOptions::LEAST };

    /// Stacks and values only.
    pub const LEAST: LoadOptions = LoadOptions { labels: false, times: false, budget: Budget::UNLIMITED };

    /// Everything that either of the two requests.
    #[must_use]
    pub fn or(self, other: LoadOptions) -> LoadOptions {
        LoadOptions {
            labels: self.labels || other.labels,
            times: self.times || other.times,
            budget: self.budget.or(other.budget),
        }
    }
}
