//! Remarks: what is worth knowing about the samples of all findings together.

use hashbrown::HashMap;

use crate::findings::label_totals::{LabelTotals, RemarkRule};
use crate::findings::{label, threads};
use crate::profile::{LabelSetId, LabelValue, Profile, StringId};
use crate::report::Sentence;

/// All rules for remarks.
static REMARKS: &[&RemarkRule] = &[&threads::RULE, &label::RULE];

/// What there is to say about the labels of a profile, in metric number `metric`: the rule, the sentence, and the value that it
/// is about. The profile must have been loaded with labels.
pub fn remarks(profile: &Profile, metric: usize, is_time: bool) -> Vec<(&'static RemarkRule, Sentence, i64)> {
    let strings = &profile.symbols.strings;
    let mut sets: HashMap<LabelSetId, i64> = HashMap::new();
    for (&set, &value) in profile.samples.labels.iter().zip(&profile.samples.values[metric]) {
        *sets.entry(set).or_default() += value;
    }
    let whole = sets.values().sum();
    let mut keys: HashMap<StringId, HashMap<StringId, i64>> = HashMap::new();
    for (set, value) in sets {
        for label in profile.label_sets.labels(set) {
            if let LabelValue::Text(text) = label.value {
                *keys.entry(label.key).or_default().entry(text).or_default() += value;
            }
        }
    }
    let mut labels: Vec<LabelTotals<'_>> = keys
        .into_iter()
        .map(|(key, values)| {
            let labelled = values.values().sum();
            let mut values: Vec<(&str, i64)> =
                values.into_iter().map(|(text, value)| (strings.get(text), value)).collect();
            values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            LabelTotals { key: strings.get(key), values, labelled, whole, is_time }
        })
        .collect();
    labels.sort_by_key(|label| label.key);
    let about = |rule: &'static RemarkRule| {
        let labels = labels.iter();
        labels.filter_map(move |label| (rule.find)(label)).map(move |(says, value)| (rule, says, value))
    };
    REMARKS.iter().flat_map(|rule| about(rule)).collect()
}
