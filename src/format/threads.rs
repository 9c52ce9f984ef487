//! Labels for the thread on which a sample was taken.

use std::borrow::Cow;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::format::labels::{LabelList, label_set};
use crate::profile::{LabelSetId, LabelValue, Profile, ProfileBuilder};

/// A thread as described by a format; unknown fields are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// Name of the process, or its id if it has no name.
    pub(super) process: String,
    /// Name of the thread.
    pub(super) name: String,
    /// Thread id as written in the file: Firefox has ids such as `2104.1`.
    pub(super) tid: String,
}

impl Thread {
    /// The labels of samples of this thread.
    pub(super) fn labels(&self, builder: &mut ProfileBuilder) -> LabelSetId {
        label_set(builder, |labels| self.add_to(labels))
    }

    /// Adds these labels to those of a sample.
    pub(super) fn add_to(&self, labels: &mut LabelList<'_>) {
        for (key, value) in [("process", &self.process), ("thread", &self.name), ("tid", &self.tid)] {
            labels.text_if_known(key, value);
        }
    }

    /// Whether any field is known.
    pub(super) fn is_known(&self) -> bool {
        !(self.process.is_empty() && self.name.is_empty() && self.tid.is_empty())
    }
}

/// The thread described by a set of labels, for writers; unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LabelledThread<'p> {
    pub(super) process: Cow<'p, str>,
    pub(super) name: Cow<'p, str>,
    pub(super) tid: Cow<'p, str>,
}

impl<'p> LabelledThread<'p> {
    /// The thread of a set of labels.
    pub(super) fn of(profile: &'p Profile, set: LabelSetId) -> Self {
        let strings = &profile.symbols.strings;
        let mut thread = LabelledThread::default();
        for label in profile.label_sets.labels(set) {
            let part = match strings.get(label.key) {
                "process" => &mut thread.process,
                "thread" => &mut thread.name,
                "tid" => &mut thread.tid,
                _ => continue,
            };
            if part.is_empty() {
                *part = match label.value {
                    LabelValue::Text(text) => strings.get(text).into(),
                    LabelValue::Number(number, _) => number.to_string().into(),
                };
            }
        }
        thread
    }
}

/// Splits rows by `key`, in order of first appearance.
pub(super) fn rows_by<K: Hash + Eq + Clone>(
    rows: impl IntoIterator<Item = usize>,
    key: impl Fn(usize) -> K,
) -> Vec<(K, Vec<usize>)> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for row in rows {
        let key = key(row);
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(row);
    }
    groups
}
