//! `labels`: label keys and values, with their share.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Label, LabelSetId, LabelValue, Profile, StringId};
use crate::report::{LabelKey, LabelShare, LabelText, Labels};
use crate::view::Scope;

/// What `labels` is told.
#[derive(Clone, Debug)]
pub struct LabelsOptions {
    /// The metric.
    pub scope: Scope,
    /// How many values a key at most; `None` for all.
    pub limit: Option<usize>,
    /// Values under this share of what is shown are cut, in percent.
    pub min_share: f64,
}

/// The value of the samples that carry each label. The profile must have been loaded with labels.
pub fn labels(profile: &Profile, options: &LabelsOptions) -> Labels {
    let header = options.scope.header(profile, "prof.labels.v1");
    let sums = sum_by_set(profile, options.scope.metrics[0]);
    let mut values: HashMap<Label, i64> = HashMap::new();
    let mut keys: HashMap<StringId, i64> = HashMap::new();
    for (&set, &sum) in &sums {
        let distinct: HashSet<Label> = profile.label_sets.labels(set).iter().copied().collect();
        let distinct_keys: HashSet<StringId> = distinct.iter().map(|label| label.key).collect();
        for label in distinct {
            *values.entry(label).or_default() += sum;
        }
        for key in distinct_keys {
            *keys.entry(key).or_default() += sum;
        }
    }
    let smallest = super::threshold(header.shown, options.min_share);
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut rows: Vec<LabelKey> = keys
        .into_iter()
        .map(|(key, total)| {
            let of_key = values.iter().filter(|(label, _)| label.key == key);
            let mut shares: Vec<LabelShare> =
                of_key.map(|(label, &total)| share(profile, label, total)).collect();
            shares.sort_by(|a, b| {
                b.total.unsigned_abs().cmp(&a.total.unsigned_abs()).then_with(|| by_text(a, b))
            });
            let heavy = shares.iter().take_while(|share| share.total.unsigned_abs() >= smallest).count();
            let rest = shares.split_off(heavy.min(limit));
            let cut = (rest.len() as u64, rest.iter().map(|share| share.total).sum());
            LabelKey { key: profile.symbols.strings.get(key).to_string(), values: shares, total, cut }
        })
        .collect();
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Labels { header, keys: rows }
}

fn sum_by_set(profile: &Profile, metric: usize) -> HashMap<LabelSetId, i64> {
    let mut sums: HashMap<LabelSetId, i64> = HashMap::new();
    for (&set, &value) in profile.samples.labels.iter().zip(&profile.samples.values[metric]) {
        if value != 0 {
            *sums.entry(set).or_default() += value;
        }
    }
    sums
}

fn share(profile: &Profile, label: &Label, total: i64) -> LabelShare {
    let strings = &profile.symbols.strings;
    let (value, unit) = match label.value {
        LabelValue::Text(text) => (LabelText::Text(strings.get(text).to_string()), None),
        LabelValue::Number(number, unit) => {
            let unit = Some(strings.get(unit).to_string()).filter(|unit| !unit.is_empty());
            (LabelText::Number(number), unit)
        }
    };
    LabelShare { value, unit, total }
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
    use crate::profile::from_picture;

    #[test]
    fn every_label_counts_once_a_sample() {
        let profile = from_picture(
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
}
