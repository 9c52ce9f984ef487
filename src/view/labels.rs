//! `labels`: label keys and values with their totals.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Label, LabelSetId, LabelValue, Profile, StringId};
use crate::report::{CutRows, LabelKey, LabelShare, LabelText, Labels};
use crate::view::Scope;
use crate::view::values::RowValues;

/// Options for `labels`.
#[derive(Clone, Debug, Default)]
pub struct LabelsOptions {
    /// The metric.
    pub scope: Scope,
    /// The maximum number of values per key; `None` for all.
    pub limit: Option<usize>,
    /// Values with a smaller share of the shown total are left out, in percent.
    pub min_share: f64,
}

/// The value of the samples that carry each label. The profile must have been loaded with labels.
pub fn labels(profile: &Profile, options: &LabelsOptions) -> Labels {
    let scope = &options.scope;
    let mut header = scope.header(profile, "prof.labels.v1");
    header.highlight = scope.highlight(&scope.subject(profile));
    let row_values = RowValues::new(&header);
    let sums = sum_by_set(profile, scope.metrics[0], scope.base.as_ref().map(|base| base.metric));
    let mut values: HashMap<Label, ValueBySide> = HashMap::new();
    let mut keys: HashMap<StringId, ValueBySide> = HashMap::new();
    for (&set, &sum) in &sums {
        let distinct: HashSet<Label> = profile.label_sets.labels(set).iter().copied().collect();
        let distinct_keys: HashSet<StringId> = distinct.iter().map(|label| label.key).collect();
        for label in distinct {
            add(values.entry(label).or_default(), sum);
        }
        for key in distinct_keys {
            add(keys.entry(key).or_default(), sum);
        }
    }
    let smallest = super::threshold(header.shown, options.min_share);
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut rows: Vec<LabelKey> = keys
        .into_iter()
        .map(|(key, [total, old])| {
            let of_key = values.iter().filter(|(label, _)| label.key == key);
            let mut shares: Vec<LabelShare> =
                of_key.map(|(label, &sides)| share(profile, &row_values, label, sides)).collect();
            shares.sort_by(by_weight);
            let is_heavy = |share: &&LabelShare| {
                share.total.unsigned_abs().max(share.old.unwrap_or(0).unsigned_abs()) >= smallest
            };
            let (mut heavy, mut rest): (Vec<_>, Vec<_>) =
                shares.into_iter().partition(|share| is_heavy(&share));
            rest.extend(heavy.split_off(heavy.len().min(limit)));
            let old = row_values.old_value(old);
            let cut = CutRows {
                rows: rest.len() as u64,
                value: rest.iter().map(|share| share.total).sum(),
                old: old.map(|_| rest.iter().filter_map(|share| share.old).sum()),
            };
            LabelKey { key: profile.symbols.strings.get(key).to_string(), values: heavy, total, old, cut }
        })
        .collect();
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Labels { header, keys: rows }
}

/// A value on the new side and on the old one.
type ValueBySide = [i64; 2];

fn add(sides: &mut ValueBySide, more: ValueBySide) {
    for (side, more) in sides.iter_mut().zip(more) {
        *side += more;
    }
}

fn sum_by_set(profile: &Profile, metric: usize, old: Option<usize>) -> HashMap<LabelSetId, ValueBySide> {
    let samples = &profile.samples;
    let mut sums: HashMap<LabelSetId, ValueBySide> = HashMap::new();
    for (row, &set) in samples.labels.iter().enumerate() {
        let sides = [samples.values[metric][row], old.map_or(0, |old| samples.values[old][row])];
        if sides != [0, 0] {
            add(sums.entry(set).or_default(), sides);
        }
    }
    sums
}

/// Sorts by the largest change, or without an old side by the largest value.
fn by_weight(a: &LabelShare, b: &LabelShare) -> std::cmp::Ordering {
    let weight = |share: &LabelShare| share.delta.unwrap_or(share.total).unsigned_abs();
    let heaviest = weight(b).cmp(&weight(a));
    heaviest.then_with(|| b.total.unsigned_abs().cmp(&a.total.unsigned_abs())).then_with(|| by_text(a, b))
}

fn share(profile: &Profile, row_values: &RowValues, label: &Label, [total, old]: ValueBySide) -> LabelShare {
    let (value, unit) = label_text(profile, label.value);
    let old = row_values.old_value(old);
    LabelShare { value, unit, total, old, delta: old.map(|old| total - old) }
}

/// The value of a label for a report, and its unit if it has one.
pub(super) fn label_text(profile: &Profile, value: LabelValue) -> (LabelText, Option<String>) {
    let strings = &profile.symbols.strings;
    match value {
        LabelValue::Text(text) => (LabelText::Text(strings.get(text).to_string()), None),
        LabelValue::Number(number, unit) => {
            let unit = Some(strings.get(unit).to_string()).filter(|unit| !unit.is_empty());
            (LabelText::Number(number), unit)
        }
    }
}

fn by_text(a: &LabelShare, b: &LabelShare) -> std::cmp::Ordering {
    match (&a.value, &b.value) {
        (LabelText::Number(a), LabelText::Number(b)) => a.cmp(b),
        (LabelText::Text(a), LabelText::Text(b)) => a.cmp(b),
        (LabelText::Number(_), LabelText::Text(_)) => std::cmp::Ordering::Less,
        (LabelText::Text(_), LabelText::Number(_)) => std::cmp::Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn every_label_counts_once_a_sample() {
        let profile = from_notation(
            "a 5 {endpoint=/users bytes=64B}\na 3 {endpoint=/orders}\nb 2 {endpoint=/users}\nb 1",
        );
        let options = LabelsOptions { scope: Scope::metric(0), limit: None, min_share: 0.0 };
        let labels = labels(&profile, &options);
        let drawn: Vec<String> = labels
            .keys
            .iter()
            .flat_map(|key| {
                key.values.iter().map(move |v| {
                    format!("{} {}: {:?} {:?} {}", key.key, key.total, v.value, v.unit, v.total)
                })
            })
            .collect();
        let expected = [
            "bytes 5: Number(64) Some(\"B\") 5",
            "endpoint 10: Text(\"/users\") None 7",
            "endpoint 10: Text(\"/orders\") None 3",
        ];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn values_and_cut_rows_of_both_sides() {
        let profile = from_notation("a 5 1 {k=x}\na 3 9 {k=y}\nb 0 2 {k=z}\nb 1 1 {k=w}\nb 2 2");
        let options = LabelsOptions { scope: Scope::compared(), limit: Some(2), min_share: 0.0 };
        let labels = labels(&profile, &options);
        let [key] = &labels.keys[..] else { panic!() };
        let drawn: Vec<_> = key.values.iter().map(|v| (v.total, v.old, v.delta)).collect();
        assert_eq!(drawn, [(3, Some(9), Some(-6)), (5, Some(1), Some(4))]);
        assert_eq!((key.total, key.old), (9, Some(13)));
        assert_eq!(key.cut, CutRows { rows: 2, value: 1, old: Some(3) });
    }
}
