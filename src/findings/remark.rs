//! Remarks: what is worth knowing about the samples of all findings together.

use hashbrown::HashMap;

use crate::findings::label_totals::{LabelTotals, RemarkRule};
use crate::findings::{label, threads};
use crate::profile::{LabelSetId, LabelValue, Profile, StringId};
use crate::report::Sentence;
use crate::transform::THREAD_KEYS;

/// The label that names a thread. Its values are told apart by process and thread id, too: each process of a browser has a
/// `GeckoMain`, and pools have many threads of one name.
const THREAD: &str = THREAD_KEYS[0];

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
    let mut threads: HashMap<[Option<LabelValue>; 3], (&str, i64)> = HashMap::new();
    for (set, value) in sets {
        if let Some(LabelValue::Text(name)) = profile.label(set, THREAD) {
            let thread = THREAD_KEYS.map(|key| profile.label(set, key));
            threads.entry(thread).or_insert((strings.get(name), 0)).1 += value;
        }
        for label in profile.label_sets.labels(set) {
            if let LabelValue::Text(text) = label.value {
                *keys.entry(label.key).or_default().entry(text).or_default() += value;
            }
        }
    }
    let mut labels: Vec<LabelTotals<'_>> = keys
        .into_iter()
        .filter(|(key, _)| strings.get(*key) != THREAD)
        .map(|(key, values)| {
            let labelled = values.values().sum();
            let values = values.into_iter().map(|(text, value)| (strings.get(text), value)).collect();
            LabelTotals { key: strings.get(key), values, labelled, whole, is_time }
        })
        .collect();
    if !threads.is_empty() {
        let values: Vec<(&str, i64)> = threads.into_values().collect();
        let labelled = values.iter().map(|(_, value)| value).sum();
        labels.push(LabelTotals { key: THREAD, values, labelled, whole, is_time });
    }
    for label in &mut labels {
        label.values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    }
    labels.sort_by_key(|label| label.key);
    let about = |rule: &'static RemarkRule| {
        let labels = labels.iter();
        labels.filter_map(move |label| (rule.find)(label)).map(move |(says, value)| (rule, says, value))
    };
    REMARKS.iter().flat_map(|rule| about(rule)).collect()
}
