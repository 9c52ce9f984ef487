//! Options for readers.

use std::sync::Arc;

use crate::profile::budget::Budget;

/// A label with more values than this does not tell kinds of work.
pub const MOST_KINDS: usize = 64;

/// What to load. Readers skip what no view needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Keep labels. Without them, rows that differ only in labels are merged, so that a million samples with
    /// different labels take no more memory than their distinct stacks.
    pub labels: bool,
    /// Of the labels, keep only those that may tell kinds of work: texts whose key has at most [`MOST_KINDS`] values, and the
    /// sizes of allocations if these are kept. A million samples with an id each then take no more memory than without it.
    pub kinds_only: bool,
    /// Keep the sizes of allocations in sampled heaps, one row per size, whether or not labels are kept.
    pub sizes: bool,
    /// Keep the time of every sample, if the format has it.
    pub times: bool,
    /// Keep when threads got and left processors, if the format has it.
    pub switches: bool,
    /// The memory limit for loading.
    pub budget: Budget,
    /// Which samples are of interest; `None` for all.
    pub only: Option<Arc<OnlySamples>>,
}

/// What is known of the samples that filters will keep. A reader that can find these without reading all others may leave
/// those out, but has to count them in the totals. The texts are those of `--label`, `--from` and `--to`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlySamples {
    /// Samples with these labels: one of each key.
    pub labels: Vec<String>,
    /// Whether patterns of labels are literal text.
    pub fixed: bool,
    /// Samples taken at this time or later.
    pub from: Option<String>,
    /// Samples taken before this time.
    pub to: Option<String>,
}

impl LoadOptions {
    /// Everything that the format has. Labels include sizes.
    pub const ALL: LoadOptions = LoadOptions {
        labels: true,
        kinds_only: false,
        sizes: false,
        times: true,
        switches: true,
        budget: Budget::UNLIMITED,
        only: None,
    };

    /// Stacks and values only.
    pub const LEAST: LoadOptions = LoadOptions {
        labels: false,
        kinds_only: false,
        sizes: false,
        times: false,
        switches: false,
        budget: Budget::UNLIMITED,
        only: None,
    };

    /// Everything that either of the two requests.
    #[must_use]
    pub fn or(self, other: LoadOptions) -> LoadOptions {
        let labels = self.labels || other.labels;
        LoadOptions {
            labels,
            kinds_only: labels && self.labels_if_any_are_kinds() && other.labels_if_any_are_kinds(),
            sizes: self.sizes || other.sizes,
            times: self.times || other.times,
            switches: self.switches || other.switches,
            budget: self.budget.or(other.budget),
            only: self.only.filter(|only| other.only.as_ref() == Some(only)),
        }
    }

    /// Whether it asks for no label that tells no kind of work.
    fn labels_if_any_are_kinds(&self) -> bool {
        self.kinds_only || !self.labels
    }
}
