//! Options for readers.

use crate::profile::budget::Budget;

/// What to load. Readers skip what no view needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Keep labels. Without them, rows that differ only in labels are merged, so that a million samples with
    /// different labels take no more memory than their distinct stacks.
    pub labels: bool,
    /// Keep the sizes of allocations in sampled heaps, one row per size, whether or not labels are kept.
    pub sizes: bool,
    /// Keep the time of every sample, if the format has it.
    pub times: bool,
    /// Keep when threads got and left processors, if the format has it.
    pub switches: bool,
    /// The memory limit for loading.
    pub budget: Budget,
}

impl LoadOptions {
    /// Everything that the format has. Labels include sizes.
    pub const ALL: LoadOptions =
        LoadOptions { labels: true, sizes: false, times: true, switches: true, budget: Budget::UNLIMITED };

    /// Stacks and values only.
    pub const LEAST: LoadOptions =
        LoadOptions { labels: false, sizes: false, times: false, switches: false, budget: Budget::UNLIMITED };

    /// Everything that either of the two requests.
    #[must_use]
    pub fn or(self, other: LoadOptions) -> LoadOptions {
        LoadOptions {
            labels: self.labels || other.labels,
            sizes: self.sizes || other.sizes,
            times: self.times || other.times,
            switches: self.switches || other.switches,
            budget: self.budget.or(other.budget),
        }
    }
}
