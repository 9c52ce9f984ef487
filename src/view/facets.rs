//! The labels by which the interactive page filters: threads, endpoints and the like.
//!
//! Each label that the page knows splits its stacks further, so labels that would make it much larger are left out.

use std::iter;

use hashbrown::{HashMap, HashSet};

use crate::profile::{Column, LabelSetId, LabelValue, Profile, StringId};
use crate::report::PageFacet;
use crate::transform::THREAD_KEYS;

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

/// What sets of labels have under a key.
#[derive(Default)]
struct Found {
    /// The number of sets, and the last of them.
    carriers: usize,
    last: Option<LabelSetId>,
    /// The values, as long as they are not too many.
    values: HashSet<LabelValue>,
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

/// The keys that tell samples apart, and those of threads, with their values in order.
fn candidates(profile: &Profile) -> Vec<Candidate> {
    let sets = profile.samples.labels.iter().copied();
    let used = Column::marking(sets, profile.label_sets.len());
    let used: Vec<LabelSetId> = profile.label_sets.ids().filter(|&set| used[set]).collect();
    let mut found: HashMap<StringId, Found> = HashMap::new();
    for &set in &used {
        for label in profile.label_sets.labels(set) {
            let found = found.entry(label.key).or_default();
            found.carriers += usize::from(found.last.replace(set) != Some(set));
            if found.values.len() <= MOST_VALUES {
                found.values.insert(label.value);
            }
        }
    }
    let candidate = |(key, Found { carriers, values, .. }): (StringId, Found)| {
        let mut values: Vec<String> = values.into_iter().map(|value| profile.label_text(value)).collect();
        values.sort_unstable();
        values.dedup();
        // The command line takes `KEY=VALUE` apart at the first `=`.
        let is_typable = !profile.symbols.strings.get(key).contains('=');
        // The number of the only process tells no samples apart, but is what `--thread` may ask for.
        let is_thread = THREAD_KEYS.contains(&profile.symbols.strings.get(key));
        let is_useful = is_thread || values.len() > 1 || carriers < used.len();
        (is_typable && is_useful).then_some(Candidate { key, values })
    };
    let mut candidates: Vec<Candidate> = found.into_iter().filter_map(candidate).collect();
    candidates.sort_by_key(|candidate| (candidate.values.len(), profile.symbols.strings.get(candidate.key)));
    candidates
}

/// The values of a label as numbers.
struct ValueIds<'p> {
    profile: &'p Profile,
    /// Their texts in order.
    texts: &'p [String],
    ids: HashMap<LabelValue, Option<u32>>,
    /// The lists of values that sets have; most have one value or none.
    lists: Vec<Vec<u32>>,
    number_of: HashMap<Vec<u32>, u32>,
}

impl<'p> ValueIds<'p> {
    fn new(profile: &'p Profile, candidate: &'p Candidate) -> Self {
        let lists: Vec<Vec<u32>> =
            iter::once(Vec::new()).chain((0..candidate.values.len() as u32).map(|id| vec![id])).collect();
        let number_of = lists.iter().cloned().zip(0..).collect();
        ValueIds { profile, texts: &candidate.values, ids: HashMap::new(), lists, number_of }
    }

    /// The number of a value; `None` for those of sets that no sample has any more.
    fn one(&mut self, value: LabelValue) -> Option<u32> {
        let ValueIds { profile, texts, ids, .. } = self;
        let id = || texts.binary_search(&profile.label_text(value)).ok().map(|id| id as u32);
        *ids.entry(value).or_insert_with(id)
    }

    /// The number of a list of values.
    fn several(&mut self, mut values: impl Iterator<Item = LabelValue>) -> u32 {
        let first = values.next().and_then(|value| self.one(value));
        let Some(second) = values.next() else { return first.map_or(0, |id| id + 1) };
        let rest: Vec<LabelValue> = iter::once(second).chain(values).collect();
        let rest = rest.into_iter().filter_map(|value| self.one(value));
        let mut list: Vec<u32> = first.into_iter().chain(rest).collect();
        list.sort_unstable();
        list.dedup();
        if let Some(&number) = self.number_of.get(&list) {
            return number;
        }
        let number = self.lists.len() as u32;
        self.lists.push(list.clone());
        self.number_of.insert(list, number);
        number
    }
}

impl Facets {
    /// Adds a label, unless the page would then have too many rows.
    fn add(&mut self, profile: &Profile, candidate: &Candidate) -> bool {
        let facet = self.choices.len() as u32;
        let mut value_ids = ValueIds::new(profile, candidate);
        // A set is known by its number among the facets before, and by the values of this one.
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let split = |set: LabelSetId| {
            let labels = profile.label_sets.labels(set).iter().filter(|label| label.key == candidate.key);
            let next = known.len() as u32;
            let values = value_ids.several(labels.map(|label| label.value));
            *known.entry((self.set_of[set], values)).or_insert(next)
        };
        let set_of: Column<LabelSetId, u32> = profile.label_sets.ids().map(split).collect();
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
        let mut sets = vec![Vec::new(); known.len()];
        for ((before, values), number) in known {
            let values = value_ids.lists[values as usize].iter().map(|&value| (facet, value));
            sets[number as usize] = self.sets[before as usize].iter().copied().chain(values).collect();
        }
        self.sets = sets;
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
        // All samples have the same host, and `--thread` does not ask for it.
        assert_eq!(drawn, ["bytes: 64B", "endpoint: /x", "thread: main worker"]);
        let set = |row: usize| &found.sets[found.set_of[profile.samples.labels[row]] as usize];
        assert_eq!([set(0), set(2)], [&vec![(2, 0)], &vec![(1, 0), (2, 0)]]);
    }

    #[test]
    fn the_only_process_is_known() {
        let profile = from_notation("a 1 {process=7 host=h}\nb 2 {process=7 host=h}");
        let found = facets(&profile);
        assert_eq!(found.choices, [PageFacet { key: "process".into(), values: vec!["7".into()] }]);
        let numbers = profile.samples.labels.iter().map(|&set| found.set_of[set]);
        assert!(numbers.into_iter().all(|number| found.sets[number as usize] == [(0, 0)]));
    }

    #[test]
    fn a_sample_may_have_several_values_of_a_label() {
        let profile = from_notation("a 1 {t=y t=x u=1}\na 2 {t=y}\na 4 {t=x t=y}\na 8");
        let found = facets(&profile);
        assert_eq!(found.choices[1].values, ["x", "y"]);
        let set = |row: usize| &found.sets[found.set_of[profile.samples.labels[row]] as usize][..];
        let mut sets: Vec<_> = (0..4).map(|row| (profile.samples.values[0][row], set(row))).collect();
        sets.sort_unstable();
        // The label u comes first, because it has fewer values.
        let both = [(1, 0), (1, 1)];
        assert_eq!(sets, [(1, &[(0, 0), (1, 0), (1, 1)][..]), (2, &both[1..]), (4, &both), (8, &[])]);
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
