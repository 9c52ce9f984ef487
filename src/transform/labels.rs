//! `--label`, `--hide-label`, `--thread`: keeping or dropping samples by their labels.

use std::cmp::Ordering;

use crate::pattern::{FrameNames, Pattern, PatternError, Patterns};
use crate::profile::{Column, Label, LabelSetId, LabelValue, Profile, Strings};
use crate::transform::engine::keep_rows;
use crate::unit::{Quantity, Unit};

/// A filter for labels: `K=V`, `K=~RE`, `K=LO:HI`, or `K` alone.
#[derive(Clone, Debug)]
pub struct LabelFilter {
    text: String,
    key: String,
    wanted: WantedValue,
}

#[derive(Clone, Debug)]
enum WantedValue {
    /// The key is present.
    Any,
    /// The value equals this text, or this number with a unit.
    Whole(String, Option<Quantity>),
    /// The value matches this pattern.
    Pattern(Pattern),
    /// The value is a number in this range, ends included, or equals the text as typed.
    Range(String, Option<Quantity>, Option<Quantity>),
}

impl LabelFilter {
    /// Parses a filter. A note is returned if an invalid regular expression is matched literally. Either end of a
    /// range may be omitted: `latency=100ms:` is 100 ms or more. A number without a unit has the unit of the
    /// label. Fails if the pattern cannot be used.
    pub fn parse(text: &str, fixed: bool) -> Result<(LabelFilter, Option<String>), PatternError> {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (text, None),
        };
        if key.is_empty() {
            return Err(PatternError::Empty { pattern: text.to_string() });
        }
        let mut note = None;
        let wanted = match value {
            None => WantedValue::Any,
            Some(value) => match (value.strip_prefix('~'), range(value)) {
                (Some(regex), _) => {
                    let (pattern, said) = Pattern::parse(regex, fixed)?;
                    note = said;
                    WantedValue::Pattern(pattern)
                }
                (None, Some((low, high))) => WantedValue::Range(value.to_string(), low, high),
                (None, None) => WantedValue::Whole(value.to_string(), Quantity::parse(value).ok()),
            },
        };
        Ok((LabelFilter { text: text.to_string(), key: key.to_string(), wanted }, note))
    }

    /// The filter as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether a label of this key may match that has this value as text: with its unit, if it is a number.
    #[cfg(feature = "parquet")]
    pub(crate) fn may_match(&self, value: &str) -> bool {
        let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
        self.wants_text(value) || number.parse().is_ok_and(|number| self.wants_number(number, unit))
    }

    /// Whether a label with a text from `first` to `last` may match.
    #[cfg(feature = "parquet")]
    pub(crate) fn may_match_within(&self, first: &str, last: &str) -> bool {
        match &self.wanted {
            WantedValue::Whole(text, None) => (first..=last).contains(&&**text),
            _ => true,
        }
    }

    /// Whether one of a sample's labels matches.
    fn matches(&self, labels: &[Label], strings: &Strings) -> bool {
        let of_key = labels.iter().filter(|label| strings.get(label.key) == self.key);
        of_key.into_iter().any(|label| match label.value {
            LabelValue::Text(text) => self.wants_text(strings.get(text)),
            LabelValue::Number(number, unit) => self.wants_number(number, strings.get(unit)),
        })
    }

    fn wants_text(&self, value: &str) -> bool {
        match &self.wanted {
            WantedValue::Any => true,
            WantedValue::Whole(text, _) => text == value,
            // Recorders also write numbers as text: `port=8000:8999` matches the text `8080`.
            WantedValue::Range(text, _, _) => {
                text == value || value.parse().is_ok_and(|number| self.wants_number(number, ""))
            }
            WantedValue::Pattern(pattern) => matches_text(pattern, value),
        }
    }

    fn wants_number(&self, value: i64, unit: &str) -> bool {
        // Go writes the label `bytes` without a unit; the key is the unit.
        let own = Unit::parse(if unit.is_empty() { &self.key } else { unit });
        let compare = |quantity: &Quantity| quantity.compare(value, &own);
        match &self.wanted {
            WantedValue::Any => true,
            WantedValue::Whole(_, quantity) => {
                quantity.as_ref().is_some_and(|quantity| compare(quantity) == Some(Ordering::Equal))
            }
            WantedValue::Pattern(pattern) => {
                matches_text(pattern, &value.to_string()) || matches_text(pattern, &number_text(value, unit))
            }
            WantedValue::Range(_, low, high) => {
                let above = |low: &Quantity| compare(low).is_some_and(Ordering::is_ge);
                let below = |high: &Quantity| compare(high).is_some_and(Ordering::is_le);
                low.as_ref().is_none_or(above) && high.as_ref().is_none_or(below)
            }
        }
    }

    /// The sets of labels that match.
    fn matching_sets(&self, profile: &Profile) -> Column<LabelSetId, bool> {
        let strings = &profile.symbols.strings;
        profile.label_sets.ids().map(|set| self.matches(profile.label_sets.labels(set), strings)).collect()
    }
}

/// A range with at least one end; both ends must be numbers.
fn range(value: &str) -> Option<(Option<Quantity>, Option<Quantity>)> {
    let (low, high) = value.split_once(':')?;
    let end = |text: &str| match text {
        "" => Some(None),
        text => Quantity::parse(text).ok().map(Some),
    };
    let (low, high) = (end(low)?, end(high)?);
    (low.is_some() || high.is_some()).then_some((low, high))
}

fn matches_text(pattern: &Pattern, text: &str) -> bool {
    pattern.matches(FrameNames { function: text, ..FrameNames::default() })
}

/// The text of a numeric label when it is used as a frame: exact, with its own unit.
pub(super) fn number_text(value: i64, unit: &str) -> String {
    if unit.is_empty() { value.to_string() } else { format!("{value} {unit}") }
}

/// Keeps the samples that match, for every key, at least one of the filters with that key. Also returns how many
/// samples each filter matched.
///
/// ```text
/// --label endpoint=/users    main;work 3 {endpoint=/users}    →  main;work 3 {endpoint=/users}
///                            main;work 4 {endpoint=/orders}
///                            main 1
/// ```
pub fn show_labels(profile: &Profile, filters: &[LabelFilter]) -> (Profile, Vec<usize>) {
    let sets: Vec<_> = filters.iter().map(|filter| (filter, filter.matching_sets(profile))).collect();
    let all_keys = |set: LabelSetId| {
        filters.iter().all(|wanted| sets.iter().any(|(other, is)| other.key == wanted.key && is[set]))
    };
    let kept: Column<LabelSetId, bool> = profile.label_sets.ids().map(all_keys).collect();
    let shown = keep_rows(profile, |row| kept[profile.samples.labels[row]]);
    (shown, sets.iter().map(|(_, matching)| count_rows(profile, matching)).collect())
}

/// Drops the samples that match any of the filters. Also returns how many samples each filter matched.
pub fn hide_labels(profile: &Profile, filters: &[LabelFilter]) -> (Profile, Vec<usize>) {
    let sets: Vec<_> = filters.iter().map(|filter| filter.matching_sets(profile)).collect();
    let shown = keep_rows(profile, |row| !sets.iter().any(|hidden| hidden[profile.samples.labels[row]]));
    (shown, sets.iter().map(|matching| count_rows(profile, matching)).collect())
}

/// The keys of labels that name the thread or process of a sample.
pub const THREAD_KEYS: [&str; 3] = ["thread", "tid", "process"];

/// Keeps the samples of the threads and processes that match the patterns. Also returns how many
/// there are.
pub fn show_threads(profile: &Profile, patterns: &Patterns) -> (Profile, usize) {
    let strings = &profile.symbols.strings;
    let is_match = |label: &Label| {
        if !THREAD_KEYS.contains(&strings.get(label.key)) {
            return false;
        }
        let matching = |text: &str| patterns.iter().any(|pattern| matches_text(pattern, text));
        match label.value {
            LabelValue::Text(text) => matching(strings.get(text)),
            LabelValue::Number(number, _) => matching(&number.to_string()),
        }
    };
    let sets = &profile.label_sets;
    let kept: Column<LabelSetId, bool> =
        sets.ids().map(|set| sets.labels(set).iter().any(is_match)).collect();
    let shown = keep_rows(profile, |row| kept[profile.samples.labels[row]]);
    (shown, count_rows(profile, &kept))
}

fn count_rows(profile: &Profile, matching: &Column<LabelSetId, bool>) -> usize {
    profile.samples.labels.iter().filter(|&&set| matching[set]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_written_as_text_are_in_ranges() {
        for (filter, value, expected) in [
            ("port=8000:8999", "8080", true),
            ("port=8000:8999", "9000", false),
            ("port=8000:8999", "80 80", false),
            ("port=1:2", "1:2", true),
            ("bytes=1kb:", "2048", true),
            ("bytes=1s:", "2048", false),
        ] {
            let filter = LabelFilter::parse(filter, false).unwrap().0;
            assert_eq!(filter.wants_text(value), expected, "{} of {value}", filter.text());
        }
    }
}
