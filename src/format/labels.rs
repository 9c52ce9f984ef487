//! Labels of samples, for readers.

use crate::profile::{Label, LabelSetId, LabelValue, ProfileBuilder, StringId};

/// The set of the labels that `add` adds; the empty set if labels are not loaded.
pub(super) fn label_set(builder: &mut ProfileBuilder, add: impl FnOnce(&mut LabelList<'_>)) -> LabelSetId {
    if !builder.options().labels {
        return LabelSetId::default();
    }
    added(builder, add)
}

/// The label `bytes` of an allocation, if sizes are loaded.
pub(super) fn size_label(builder: &mut ProfileBuilder, size: i64) -> LabelSetId {
    if !builder.options().labels && !builder.options().sizes {
        builder.skipped_labels();
        return LabelSetId::default();
    }
    added(builder, |list| list.number_in("bytes", size, "bytes"))
}

fn added(builder: &mut ProfileBuilder, add: impl FnOnce(&mut LabelList<'_>)) -> LabelSetId {
    let mut list = LabelList { builder, labels: Vec::new() };
    add(&mut list);
    let LabelList { builder, mut labels } = list;
    builder.label_set(&mut labels)
}

/// Like [`label_set`], for a single sample. If labels are not loaded, it counts as a sample whose labels were skipped.
pub(super) fn sample_labels(
    builder: &mut ProfileBuilder,
    add: impl FnOnce(&mut LabelList<'_>),
) -> LabelSetId {
    if !builder.options().labels {
        builder.skipped_labels();
    }
    label_set(builder, add)
}

/// A list of labels that is being filled.
pub(super) struct LabelList<'b> {
    builder: &'b mut ProfileBuilder,
    labels: Vec<Label>,
}

impl LabelList<'_> {
    pub(super) fn text(&mut self, key: &str, text: &str) {
        let text = self.builder.string(text);
        self.interned_text(key, text);
    }

    /// Adds a text unless it is empty.
    pub(super) fn text_if_known(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.text(key, text);
        }
    }

    pub(super) fn interned_text(&mut self, key: &str, text: StringId) {
        let key = self.builder.string(key);
        self.labels.push(Label { key, value: LabelValue::Text(text) });
    }

    /// Adds a number without a unit.
    pub(super) fn number(&mut self, key: &str, number: i64) {
        self.number_in(key, number, "");
    }

    pub(super) fn number_in(&mut self, key: &str, number: i64, unit: &str) {
        let (key, unit) = (self.builder.string(key), self.builder.string(unit));
        self.labels.push(Label { key, value: LabelValue::Number(number, unit) });
    }
}
