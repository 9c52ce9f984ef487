//! Matching functions by their names.

use hashbrown::{HashMap, HashSet};

use super::places::pair_within_files;
use super::pool::{EntryId, Groups, Pool, PoolEntry, grouped};
use super::{MatchMethod, MatchingState};
use crate::name::{identifiers, is_anonymous, normalized, without_numbers};

/// Pairs functions with the same name, and the same place if that is needed to distinguish functions.
///
/// Names numbered by a compiler (`rankHits.func2`), and several functions with one name in one file, are paired only
/// if both sides have the same set of them: a new closure further up would shift all the others.
pub(super) fn pair_same(pairs: &mut MatchingState<'_>, exact: bool) {
    let (old_side, new_side) = (pairs.old, pairs.new);
    let places = grouped(pairs.new_left(), |entry| new_side.get(entry).key());
    let (old_families, new_families) = (families(old_side), families(new_side));
    for old in pairs.old_left() {
        let entry = old_side.get(old);
        let &[new] = places.get(&entry.key()) else { continue };
        let is_certain = exact || {
            let family = family(entry);
            let (old, new) = (old_families.get(&family), new_families.get(&family));
            let is_counted = !entry.by_place && family.0 != entry.name;
            let is_one_of_several = entry.by_place && (old.len() > 1 || new.len() > 1);
            !(is_counted || is_one_of_several) || members(pairs.old, old) == members(pairs.new, new)
        };
        if is_certain && pairs.of_new[new].is_none() {
            pairs.pair(old, new, MatchMethod::Same, 1.0);
        }
    }
}

/// The name, and perhaps the file, that functions share if they differ only in a number or a place.
type NameFamily = (String, String);

fn family(entry: &PoolEntry<'_>) -> NameFamily {
    if entry.by_place {
        (entry.name.to_string(), entry.file.to_string())
    } else {
        (without_numbers(&entry.name), String::new())
    }
}

fn families(pool: &Pool<'_>) -> Groups<NameFamily> {
    grouped(0..pool.len(), |entry| family(pool.get(entry)))
}

/// The names and places of some functions, as a set.
fn members<'p>(pool: &'p Pool<'_>, entries: &[EntryId]) -> HashSet<(&'p str, u32, u32)> {
    let member = |&entry: &EntryId| {
        let entry = pool.get(entry);
        (&*entry.name, entry.line, entry.column)
    };
    entries.iter().map(member).collect()
}

/// The maximum number of pairs to compare among functions with one name. With more, they are paired in order.
pub(super) const MOST_COMPARED: usize = 250_000;

/// Pairs functions in different files or packages whose name is unique among the remaining functions of both sides.
pub(super) fn pair_relocated(pairs: &mut MatchingState<'_>) {
    let found = unique_on_both_sides(pairs, |pool, entry| {
        let entry = pool.get(entry);
        if entry.by_place {
            return (!is_anonymous(&entry.name)).then(|| (true, entry.name.to_string()));
        }
        let name = normalized(&entry.name);
        let (_, local) = split_package(&name)?;
        Some((false, local))
    });
    // Several functions that moved between the same two packages or files support each other.
    let moves = |pairs: &MatchingState<'_>, (old, new): (EntryId, EntryId)| {
        (origin(pairs.old, old), origin(pairs.new, new))
    };
    let mut together: HashMap<(String, String), usize> = HashMap::new();
    for &pair in &found {
        *together.entry(moves(pairs, pair)).or_default() += 1;
    }
    let (old_origins, new_origins) = (origins(pairs.old), origins(pairs.new));
    let mut files = HashMap::new();
    for (old, new) in found {
        let (from, to) = moves(pairs, (old, new));
        if from == to {
            continue;
        }
        let supported = together[&(from.clone(), to.clone())] >= SUPPORT;
        if !supported && pairs.similarity(old, new) < LEAST_SIMILARITY_OF_A_NAME {
            continue;
        }
        // If one namespace was removed and another of the same depth was added, it was renamed.
        let depth = |origin: &str| identifiers(origin).count();
        let is_renamed = !pairs.old.get(old).by_place
            && depth(&from) == depth(&to)
            && !new_origins.contains(&from)
            && !old_origins.contains(&to);
        pairs.pair(old, new, if is_renamed { MatchMethod::Renamed } else { MatchMethod::Relocated }, 1.0);
        if pairs.old.get(old).by_place && !new_origins.contains(&from) {
            files.insert(from, to);
        }
    }
    // Functions without a name moved with their file.
    pair_within_files(pairs, &files);
}

/// This many functions that moved from one place to another need no further evidence.
const SUPPORT: usize = 3;

/// The minimum similarity of functions with a unique name; renamed functions need more.
const LEAST_SIMILARITY_OF_A_NAME: f64 = 0.4;

/// The file or package that a function is in.
fn origin(pool: &Pool<'_>, entry: EntryId) -> String {
    let entry = pool.get(entry);
    if entry.by_place {
        return entry.file.to_string();
    }
    split_package(&normalized(&entry.name)).map(|(package, _)| package).unwrap_or_default()
}

fn origins(pool: &Pool<'_>) -> HashSet<String> {
    (0..pool.len()).map(|entry| origin(pool, entry)).collect()
}

/// Splits a normalised name into its package and the rest, which includes the type of a method:
/// `depot.text.Json.value` is `Json.value` in `depot.text`, and `main.(*server).report` is `server.report` in `main`.
fn split_package(name: &str) -> Option<(String, String)> {
    let words: Vec<&str> = identifiers(name).collect();
    let is_type = |word: &str| word.starts_with(char::is_uppercase) || name.contains(&format!("(*{word})"));
    let last = words.len().checked_sub(1)?;
    let types = words[..last].iter().rev().take_while(|word| is_type(word)).count();
    let (package, local) = words.split_at(last - types);
    (!package.is_empty()).then(|| (package.join("."), local.join(".")))
}

/// Pairs functions whose names agree except for what compilers add.
pub(super) fn pair_normalised(pairs: &mut MatchingState<'_>) {
    let (old, new) = (pairs.old, pairs.new);
    let named = |pool: &Pool<'_>, entry: EntryId| !is_anonymous(&pool.get(entry).name);
    let old_left = pairs.old_left().into_iter().filter(|&entry| named(old, entry));
    let new_left = pairs.new_left().into_iter().filter(|&entry| named(new, entry));
    let new_groups = grouped(new_left, |entry| normalized(&new.get(entry).name));
    let old_groups = grouped(old_left, |entry| normalized(&old.get(entry).name));
    for group in old_groups.lists() {
        let others = new_groups.get(&normalized(&old.get(group[0]).name));
        match (&group[..], others) {
            (_, []) => {}
            (&[one], &[other]) => pair_alike(pairs, one, other),
            _ => pair_best(pairs, group, others),
        }
    }
}

/// Pairs functions with the same normalised name, the best pairs first, as long as they agree well enough.
fn pair_best(pairs: &mut MatchingState<'_>, old: &[EntryId], new: &[EntryId]) {
    if old.len() * new.len() > MOST_COMPARED {
        return;
    }
    let mut candidates: Vec<(f64, EntryId, EntryId)> = Vec::new();
    for &one in old {
        for &other in new {
            let words = word_overlap(&pairs.old.get(one).name, &pairs.new.get(other).name);
            candidates.push((pairs.similarity(one, other) + words, one, other));
        }
    }
    let name = |&(_, old, new): &(f64, EntryId, EntryId)| {
        let (old, new) = (&pairs.old.get(old).name, &pairs.new.get(new).name);
        (old.min(new), old.max(new))
    };
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| name(a).cmp(&name(b))));
    let found: Vec<_> = candidates.into_iter().filter(|candidate| candidate.0 >= LEAST_OF_BOTH).collect();
    for (_, one, other) in found {
        if pairs.of_old[one].is_none() && pairs.of_new[other].is_none() {
            pair_alike(pairs, one, other);
        }
    }
}

/// The minimum sum of the similarity of neighbours and of names, of at most 2.
const LEAST_OF_BOTH: f64 = 0.8;

fn pair_alike(pairs: &mut MatchingState<'_>, old: EntryId, new: EntryId) {
    let is_same = pairs.old.get(old).name == pairs.new.get(new).name;
    pairs.pair(old, new, if is_same { MatchMethod::Same } else { MatchMethod::Normalised }, 1.0);
}

/// The fraction of identifiers that two names have in common, from 0 to 1.
pub(super) fn word_overlap(a: &str, b: &str) -> f64 {
    let words = |name| {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        identifiers(name).for_each(|word| *counts.entry(word).or_default() += 1);
        counts
    };
    let (a, b) = (words(a), words(b));
    let common: usize = a.iter().map(|(word, count)| b.get(word).map_or(0, |other| *count.min(other))).sum();
    let most = a.values().sum::<usize>().max(b.values().sum());
    if most == 0 { 0.0 } else { common as f64 / most as f64 }
}

/// Pairs of unmatched functions with the same key, if the key is unique on both sides.
pub(super) fn unique_on_both_sides<K: Eq + std::hash::Hash>(
    pairs: &MatchingState<'_>,
    key: impl Fn(&Pool<'_>, EntryId) -> Option<K>,
) -> Vec<(EntryId, EntryId)> {
    let old_groups = grouped(pairs.old_left(), |entry| key(pairs.old, entry));
    let new_groups = grouped(pairs.new_left(), |entry| key(pairs.new, entry));
    let mut found = Vec::new();
    for group in old_groups.lists() {
        let &[old] = &group[..] else { continue };
        let Some(key) = key(pairs.old, old) else { continue };
        if let &[new] = new_groups.get(&Some(key)) {
            found.push((old, new));
        }
    }
    found
}
