//! What rules for remarks look at: how the values of a label share the cost.

use crate::report::Sentence;

/// A rule for remarks. They are not part of the sum, because each sample may also support a finding.
#[derive(Debug)]
pub struct RemarkRule {
    /// Its name.
    pub name: &'static str,
    /// What it finds, as a sentence.
    pub finds: &'static str,
    /// What it says about the values of a label, if anything.
    pub(super) find: fn(&LabelTotals<'_>) -> Option<(Sentence, i64)>,
}

/// The values of one label that are texts, the heaviest first. A name that several threads have is there once for each.
pub(super) struct LabelTotals<'p> {
    pub(super) key: &'p str,
    pub(super) values: Vec<(&'p str, i64)>,
    /// Σ value of the samples with the label.
    pub(super) labelled: i64,
    /// Σ value of all samples.
    pub(super) whole: i64,
    /// Whether the metric is time.
    pub(super) is_time: bool,
}

impl LabelTotals<'_> {
    /// Whether the label names threads or processes.
    pub(super) fn is_thread(&self) -> bool {
        ["thread", "tid", "thread_id", "thread_name", "process", "pid"].contains(&self.key)
    }
}
