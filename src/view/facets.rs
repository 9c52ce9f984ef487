//! The labels by which the interactive page filters: threads, endpoints and the like.
//!
//! Each label that the page knows splits its stacks further, so labels that would make it much larger are left out.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Column, Label, LabelSetId, LabelValue, Profile, StringId};
use crate::report::PageFacet;

/// A label with more values, such as a request ID, is not a choice that anybody reads.
const MOST_VALUES: usize = 200;

/// The page has at most this many rows per distinct stack, and a few more in a small profile.
const ROWS_PER_STACK: usize = 4;
const FEW_ROWS: usize = 10_000;

/// The labels of a page.
pub(super) struct Facets {
    pub(super) choices: Vec<PageFacet>,
    /// The keys that are left out because they have too many values.
    pub(super) left_out: Vec<String>,
    /// For each set of labels in the profile, its number in `sets`.
    pub(super) set_of: Column<LabelSetId, u32>,
    /// The distinct sets of labels that the page knows: pairs of facet and value.
    pub(super) sets: Vec<Vec<(u32, u32)>>,
}

/// A key and its values, each a text that `--label KEY=VALUE` takes.
struct Candidate {
    key: StringId,
    values: Vec<String>,
}

/// Chooses the labels, those with the fewest values first.
pub(super) fn facets(profile: &Profile) -> Facets {
    let mut found = Facets {
        choices: Vec::new(),
        left_out: Vec::new(),
        set_of: Column::filled(0, profile.label_sets.len()),
        sets: vec![Vec::new()],
    };
    for candidate in candidates(profile) {
        let key = profile.symbols.strings.get(candidate.key).to_string();
        if candidate.values.len() > MOST_VALUES || !found.add(profile, &candidate) {
            found.left_out.push(key);
        }
    }
    found
}

/// The keys that tell samples apart, with their values in order.
fn candidates(profile: &Profile) -> Vec<Candidate> {
    let mut used = Column::<LabelSetId, bool>::filled(false, profile.label_sets.len());
    profile.samples.labels.iter().for_each(|&set| used[set] = true);
    let used: Vec<LabelSetId> = profile.label_sets.ids().filter(|&set| used[set]).collect();
    let mut values: HashMap<StringId, HashSet<String>> = HashMap::new();
    let mut carriers: HashMap<StringId, usize> = HashMap::new();
    for &set in &used {
        let labels = profile.label_sets.labels(set);
        for label in labels {
            values.entry(label.key).or_default().insert(text(profile, label.value));
        }
        let keys: HashSet<StringId> = labels.iter().map(|label| label.key).collect();
        keys.into_iter().for_each(|key| *carriers.entry(key).or_default() += 1);
    }
    let is_choice = |key: StringId, values: &HashSet<String>| {
        // The command line takes `KEY=VALUE` apart at the first `=`.
        let is_typable = !profile.symbols.strings.get(key).contains('=');
        is_typable && (values.len() > 1 || carriers[&key] < used.len())
    };
    let mut candidates: Vec<Candidate> = values
        .into_iter()
        .filter(|(key, values)| is_choice(*key, values))
        .map(|(key, values)| {
            let mut values: Vec<String> = values.into_iter().collect();
            values.sort();
            Candidate { key, values }
        })
        .collect();
    candidates.sort_by_key(|candidate| (candidate.values.len(), profile.symbols.strings.get(candidate.key)));
    candidates
}

/// The value as `--label` takes it. A number has its unit: `64bytes`.
fn text(profile: &Profile, value: LabelValue) -> String {
    match value {
        LabelValue::Text(text) => profile.symbols.strings.get(text).to_string(),
        LabelValue::Number(number, unit) => format!("{number}{}", profile.symbols.strings.get(unit)),
    }
}

impl Facets {
    /// Adds a label, unless the page would then have too many rows.
    fn add(&mut self, profile: &Profile, candidate: &Candidate) -> bool {
        let facet = self.choices.len() as u32;
        let value_ids: HashMap<&str, u32> = candidate.values.iter().map(String::as_str).zip(0..).collect();
        let mut known: HashMap<Vec<(u32, u32)>, u32> = HashMap::new();
        let set_of: Column<LabelSetId, u32> = profile
            .label_sets
            .ids()
            .map(|set| {
                let labels = profile.label_sets.labels(set).iter().filter(|label| label.key == candidate.key);
                let mut split = self.sets[self.set_of[set] as usize].clone();
                // Sets that no sample has any more have values of their own.
                let value = |label: &Label| value_ids.get(&*text(profile, label.value)).copied();
                split.extend(labels.filter_map(value).map(|value| (facet, value)));
                split.sort_unstable();
                split.dedup();
                let next = known.len() as u32;
                *known.entry(split).or_insert(next)
            })
            .collect();
        let samples = &profile.samples;
        let most = profile.stacks.len() * ROWS_PER_STACK + FEW_ROWS;
        if samples.labels.len() > most {
            let rows: HashSet<_> = samples
                .stack
                .iter()
                .zip(&samples.labels)
                .map(|(&stack, &set)| (stack, set_of[set]))
                .collect();
            if rows.len() > most {
                return false;
            }
        }
        self.sets = vec![Vec::new(); known.len()];
        for (set, number) in known {
            self.sets[number as usize] = set;
        }
        self.set_of = set_of;
        let key = profile.symbols.strings.get(candidate.key).to_string();
        self.choices.push(PageFacet { key, values: candidate.values.clone() });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn labels_that_tell_samples_apart_are_facets() {
        let profile = from_notation(
            "a 1 {thread=main host=h}\na 2 {thread=worker host=h}\nb 3 {thread=main host=h endpoint=/x}\nb 4 {thread=main host=h bytes=64B}",
        );
        let found = facets(&profile);
        let drawn: Vec<String> =
            found.choices.iter().map(|facet| format!("{}: {}", facet.key, facet.values.join(" "))).collect();
        // All samples have the same host.
        assert_eq!(drawn, ["bytes: 64B", "endpoint: /x", "thread: main worker"]);
        let set = |row: usize| &found.sets[found.set_of[profile.samples.labels[row]] as usize];
        assert_eq!([set(0), set(2)], [&vec![(2, 0)], &vec![(1, 0), (2, 0)]]);
    }

    #[test]
    fn labels_that_a_filter_removed_are_no_facets() {
        let profile = from_notation("a 1 {t=x u=1}\na 2 {t=x u=2}\nb 4 {t=y u=3}");
        let (filter, _) = crate::transform::LabelFilter::parse("t=x", false).unwrap();
        let found = facets(&crate::transform::show_labels(&profile, &[filter]).0);
        let expected = PageFacet { key: "u".into(), values: vec!["1".into(), "2".into()] };
        assert_eq!(found.choices, [expected]);
    }

    #[test]
    fn labels_with_many_values_are_left_out() {
        let ids: Vec<String> = (0..201).map(|id| format!("a 1 {{id={id} even={}}}\n", id % 2)).collect();
        let found = facets(&from_notation(&ids.concat()));
        assert_eq!((found.choices.len(), &found.choices[0].key), (1, &"even".to_string()));
        assert_eq!(found.left_out, ["id"]);
    }

    #[test]
    fn labels_that_would_make_the_page_much_larger_are_left_out() {
        // 100 × 150 pairs on one stack.
        let rows: Vec<String> =
            (0..15_000).map(|n| format!("a 1 {{x={} y={}}}\n", n % 100, n / 100)).collect();
        let found = facets(&from_notation(&rows.concat()));
        let keys: Vec<&str> = found.choices.iter().map(|facet| &*facet.key).collect();
        assert_eq!((keys, &found.left_out[..]), (vec!["x"], &["y".to_string()][..]));
    }
}
