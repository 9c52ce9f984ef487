//! The labels that say on which thread a sample was taken.

use crate::profile::{Label, LabelSetId, LabelValue, ProfileBuilder};

/// What a format knows of a thread; what it does not know is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// Name of the process, or its number where it has no name.
    pub(super) process: String,
    /// Name of the thread.
    pub(super) name: String,
    /// Number of the thread, as the format writes it: Firefox has numbers such as `2104.1`.
    pub(super) tid: String,
}

impl Thread {
    /// The labels of samples of this thread.
    pub(super) fn labels(&self, builder: &mut ProfileBuilder) -> LabelSetId {
        let known = [("process", &self.process), ("thread", &self.name), ("tid", &self.tid)];
        let mut labels = Vec::with_capacity(known.len());
        for (key, value) in known.into_iter().filter(|(_, value)| !value.is_empty()) {
            let (key, value) = (builder.string(key), builder.string(value));
            labels.push(Label { key, value: LabelValue::Text(value) });
        }
        if builder.options().labels { builder.label_set(&mut labels) } else { LabelSetId::default() }
    }

    /// Whether there is anything to label a sample with.
    pub(super) fn is_known(&self) -> bool {
        !(self.process.is_empty() && self.name.is_empty() && self.tid.is_empty())
    }
}
