//! Sums that tests compare with what other programs say.

use std::collections::BTreeMap;

use prof::profile::{LabelValue, Profile};

/// Self and total of every function, counted naively.
pub(crate) fn functions(profile: &Profile, metric: &str) -> BTreeMap<String, (i64, i64)> {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for stack in profile.stack_ids() {
        let frames = profile.stacks.frames(stack);
        let mut names: Vec<&str> = frames.iter().map(|&frame| profile.symbols.frame_name(frame)).collect();
        if let Some(&leaf) = names.last() {
            sums.entry(leaf.into()).or_default().0 += values[stack];
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            sums.entry(name.into()).or_default().1 += values[stack];
        }
    }
    sums
}

/// Sums of a metric by the label `key`.
pub(crate) fn by_label(profile: &Profile, metric: &str, key: &str) -> BTreeMap<String, i64> {
    let metric = profile.meta.metric_named(metric).unwrap();
    let strings = &profile.symbols.strings;
    let mut sums = BTreeMap::new();
    for (row, &value) in profile.samples.values[metric].iter().enumerate() {
        for label in profile.label_sets.labels(profile.samples.labels[row]) {
            if value != 0 && strings.get(label.key) == key {
                let text = match label.value {
                    LabelValue::Text(text) => strings.get(text).to_string(),
                    LabelValue::Number(number, _) => number.to_string(),
                };
                *sums.entry(text).or_default() += value;
            }
        }
    }
    sums
}
