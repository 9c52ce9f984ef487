//! Rules about labels.

use hashbrown::{HashMap, HashSet};

use crate::lint::{Finding, Recorded};
use crate::profile::StringId;
use crate::report::Severity;
use crate::unit::group_thousands;

/// Fewer samples than this say nothing about how many values there are.
const FEWEST: u64 = 100;

/// A label with nearly as many values as samples, such as the id of a request: it groups nothing.
pub(super) fn as_many_as_samples(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    let rows = profile.meta.labelled_rows;
    if rows < FEWEST {
        return None;
    }
    let mut values: HashMap<StringId, HashSet<_>> = HashMap::new();
    for set in profile.label_sets.ids() {
        for label in profile.label_sets.labels(set) {
            values.entry(label.key).or_default().insert(label.value);
        }
    }
    let strings = &profile.symbols.strings;
    let counts = values.iter().map(|(&key, values)| (values.len() as u64, strings.get(key)));
    let (count, key) = counts
        .filter(|(count, _)| count * 2 >= rows)
        .max_by_key(|&(count, key)| (count, std::cmp::Reverse(key)))?;
    Some(Finding {
        level: Severity::Note,
        says: format!(
            "the label {key} has {} values for {} samples: it groups nothing, and makes the file large",
            group_thousands(count.into()),
            group_thousands(rows.into())
        ),
        remedy: "label what there are few of, such as the route instead of the request".to_string(),
        share: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn a_value_per_sample() {
        let profile = |values: usize| {
            let rows: Vec<String> =
                (0..200).map(|row| format!("main;f{row} 3 {{request=r{}}}", row % values)).collect();
            from_notation(&rows.join("\n"))
        };
        let expected = "note labels: the label request has 200 values for 200 samples: it groups nothing, and makes the file large";
        assert_eq!(drawn(&profile(200)), [expected]);
        assert!(drawn(&profile(20)).is_empty());
    }
}
