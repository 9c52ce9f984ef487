//! Matching renamed functions: by words that were replaced throughout the program, and by callers, callees and cost.

use hashbrown::{HashMap, HashSet};

use super::names::{unique_on_both_sides, word_overlap};
use super::pool::{EntryId, grouped};
use super::{MatchMethod, MatchingState};
use crate::name::{identifiers, normalized};

/// The minimum similarity of renamed functions in callers, callees and cost.
const LEAST_SIMILARITY: f64 = 0.7;
/// How much better the best match must be than the second best.
const LEAD: f64 = 0.15;
/// How much similar names raise the rank of a match.
const NAME: f64 = 0.4;
/// The maximum number of functions per side that are compared with each other; the heaviest are used.
const MOST: usize = 600;

/// Pairs renamed functions.
pub(super) fn pair_renamed(pairs: &mut MatchingState<'_>, least_share: f64) {
    pair_by_new_words(pairs);
    pair_by_neighbours(pairs, least_share);
}

/// Pairs the functions of a renamed class or namespace: `Rounds.plan` and `Rounds.gain` became `Tours.plan` and
/// `Tours.gain`, and no name contains `Rounds` any more.
fn pair_by_new_words(pairs: &mut MatchingState<'_>) {
    let last_word = |name: &str| identifiers(name).last().map(str::to_string);
    let found = unique_on_both_sides(pairs, |pool, entry| last_word(&normalized(&pool.get(entry).name)));
    let (old_words, new_words) = (words(pairs, true), words(pairs, false));
    let mut support: HashMap<(String, String), usize> = HashMap::new();
    for &(old, new) in &found {
        let (old, new) = (normalized(&pairs.old.get(old).name), normalized(&pairs.new.get(new).name));
        let (old, new): (Vec<&str>, Vec<&str>) = (identifiers(&old).collect(), identifiers(&new).collect());
        if old.len() != new.len() {
            continue;
        }
        let mut differing = old.iter().zip(&new).filter(|(old, new)| old != new);
        let (Some((old, new)), None) = (differing.next(), differing.next()) else { continue };
        if !new_words.contains(*old) && !old_words.contains(*new) {
            *support.entry(((*old).to_string(), (*new).to_string())).or_default() += 1;
        }
    }
    // Each old word is replaced by one new word, and each new word replaces one old word.
    let mut renamed: Vec<((String, String), usize)> =
        support.into_iter().filter(|(_, count)| *count >= 2).collect();
    renamed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut taken = HashSet::new();
    let mut new_word: HashMap<String, String> = HashMap::new();
    for ((old, new), _) in renamed {
        if !new_word.contains_key(&old) && taken.insert(new.clone()) {
            new_word.insert(old, new);
        }
    }
    if new_word.is_empty() {
        return;
    }
    let by_name = grouped(pairs.new_left(), |entry| pairs.new.get(entry).name.clone().into_owned());
    for old in pairs.old_left() {
        let translated = translated(&pairs.old.get(old).name, &new_word);
        if let &[new] = by_name.get(&translated)
            && pairs.of_new[new].is_none()
        {
            pairs.pair(old, new, MatchMethod::Renamed, 1.0);
        }
    }
}

/// A name in which renamed words are replaced.
fn translated(name: &str, new_word: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let word = identifiers(rest).next().unwrap_or_default();
        let start = rest.find(word).unwrap_or(0);
        // Brackets are part of words such as `<init>`, but separate the words of `Smaller<double>`.
        out.push_str(&rest[..start]);
        if word.is_empty() {
            out.push_str(rest);
            break;
        }
        let mut inner = word;
        while let Some(at) = inner.find(['<', '>']) {
            push_word(&mut out, &inner[..at], new_word);
            out.push_str(&inner[at..=at]);
            inner = &inner[at + 1..];
        }
        push_word(&mut out, inner, new_word);
        rest = &rest[start + word.len()..];
    }
    out
}

fn push_word(out: &mut String, word: &str, new_word: &HashMap<String, String>) {
    out.push_str(new_word.get(word).map_or(word, String::as_str));
}

/// All words in the names of a side.
fn words(pairs: &MatchingState<'_>, old: bool) -> HashSet<String> {
    let pool = if old { pairs.old } else { pairs.new };
    let names = (0..pool.len()).map(|entry| normalized(&pool.get(entry).name));
    names.flat_map(|name| identifiers(&name).map(str::to_string).collect::<Vec<_>>()).collect()
}

/// Pairs the remaining heavy functions by callers, callees and cost. This is repeated, because each pair gives more
/// evidence about its neighbours.
fn pair_by_neighbours(pairs: &mut MatchingState<'_>, least_share: f64) {
    loop {
        let old = heavy(pairs.old_left(), pairs.old.shares(), least_share);
        let new = heavy(pairs.new_left(), pairs.new.shares(), least_share);
        if old.is_empty() || new.is_empty() {
            return;
        }
        let found = clear_winners(pairs, &old, &new);
        if found.is_empty() {
            return;
        }
        for (similarity, old, new) in found {
            pairs.pair(old, new, MatchMethod::Renamed, similarity);
        }
    }
}

/// The heaviest of some functions, with at least `least_share` of their side.
fn heavy(mut entries: Vec<EntryId>, shares: &[f64], least_share: f64) -> Vec<EntryId> {
    entries.retain(|&entry| shares[entry] >= least_share);
    entries.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    entries.truncate(MOST);
    entries
}

/// The pairs that are each other's best match by a clear margin.
fn clear_winners(
    pairs: &MatchingState<'_>,
    old: &[EntryId],
    new: &[EntryId],
) -> Vec<(f64, EntryId, EntryId)> {
    let mut similarities = Vec::with_capacity(old.len() * new.len());
    let mut ranks = Vec::with_capacity(old.len() * new.len());
    for &one in old {
        for &other in new {
            // If one function costs many times as much as the other, they cannot reach the minimum similarity.
            let similarity = if pairs.size_ratio(one, other) < LEAST_SIZE_RATIO {
                0.0
            } else {
                pairs.similarity(one, other)
            };
            similarities.push(similarity);
            let names = word_overlap(&pairs.old.get(one).name, &pairs.new.get(other).name);
            ranks.push(similarity + NAME * names * similarity);
        }
    }
    let width = new.len();
    let row = |i: usize| two_best((0..width).map(|j| ranks[i * width + j]));
    let column = |j: usize| two_best((0..old.len()).map(|i| ranks[i * width + j]));
    let columns: Vec<_> = (0..width).map(column).collect();
    let mut found = Vec::new();
    for (i, &one) in old.iter().enumerate() {
        let (best, j, second) = row(i);
        let (_, best_of_other, second_of_other) = columns[j];
        let is_ahead = best - second.max(second_of_other) >= LEAD;
        let similarity = similarities[i * width + j];
        if best_of_other == i && is_ahead && similarity >= LEAST_SIMILARITY {
            found.push((similarity, one, new[j]));
        }
    }
    found
}

/// Functions whose costs differ more than this are not the same.
const LEAST_SIZE_RATIO: f64 = 0.1;

/// The largest value, its index, and the second largest value; 0 if there is none.
fn two_best(values: impl Iterator<Item = f64>) -> (f64, usize, f64) {
    let (mut best, mut place, mut second) = (0.0, 0, 0.0);
    for (number, value) in values.enumerate() {
        if value > best {
            (second, best, place) = (best, value, number);
        } else if value > second {
            second = value;
        }
    }
    (best, place, second)
}
