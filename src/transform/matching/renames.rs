//! Matching renamed functions: by words that were replaced throughout the program, and by callers, callees and cost.

use hashbrown::{HashMap, HashSet};

use super::names::{unique_on_both_sides, words_of};
use super::pool::{EntryId, Pool, grouped};
use super::{MatchMethod, MatchingState};
use crate::name::identifiers;

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

/// Pairs the functions of a renamed class or namespace, and the instances of a renamed generic function: `Rounds.plan` and
/// `Rounds.gain` became `Tours.plan` and `Tours.gain`, and no name contains `Rounds` any more.
fn pair_by_new_words(pairs: &mut MatchingState<'_>) {
    let last_word = |name: &str| identifiers(name).last().map(str::to_string);
    let found = unique_on_both_sides(pairs, |pool, entry| last_word(pool.normalized(entry)));
    let mut support: HashMap<(&str, &str), usize> = HashMap::new();
    for &(old, new) in &found {
        let (old, new) = (pairs.old.normalized(old), pairs.new.normalized(new));
        let mut differing = identifiers(old).zip(identifiers(new)).filter(|(old, new)| old != new);
        let (Some(words), None) = (differing.next(), differing.next()) else { continue };
        if identifiers(old).count() == identifiers(new).count() {
            *support.entry(words).or_default() += 1;
        }
    }
    for (old, new) in unique_on_both_sides(pairs, arguments_of) {
        let (old, new) = (pairs.old.normalized(old), pairs.new.normalized(new));
        if let (Some(old), Some(new)) = (identifiers(old).last(), identifiers(new).last()) {
            *support.entry((old, new)).or_default() += 1;
        }
    }
    support.retain(|_, count| *count >= 2);
    if support.is_empty() {
        return;
    }
    let (old_words, new_words) = (words(pairs.old), words(pairs.new));
    support.retain(|(old, new), _| !new_words.contains(old) && !old_words.contains(new));
    // Each old word is replaced by one new word, and each new word replaces one old word.
    let mut renamed: Vec<((&str, &str), usize)> = support.into_iter().collect();
    renamed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut taken = HashSet::new();
    let mut new_word: HashMap<&str, &str> = HashMap::new();
    for ((old, new), _) in renamed {
        if !new_word.contains_key(old) && taken.insert(new) {
            new_word.insert(old, new);
        }
    }
    if new_word.is_empty() {
        return;
    }
    let new_side = pairs.new;
    let by_name = grouped(pairs.new_left(), |entry| &*new_side.get(entry).name);
    for old in pairs.old_left() {
        let translated = translated(&pairs.old.get(old).name, &new_word);
        if let &[new] = by_name.get(&&*translated)
            && pairs.of_new[new].is_none()
            && pairs.old.may_be_renamed(old)
        {
            pairs.pair(old, new, MatchMethod::Renamed, 1.0);
        }
    }
}

/// The name of a generic function without its last word, if it has arguments that tell its instances apart: of
/// `sort<Price>` and `sort<Name>`, which became `order<Price>` and `order<Name>`, these remain.
fn arguments_of(pool: &Pool<'_>, entry: EntryId) -> Option<String> {
    let (name, normalized) = (&*pool.get(entry).name, pool.normalized(entry));
    let word = identifiers(normalized).last().filter(|_| name != normalized)?;
    name.split_once(word).map(|(before, after)| format!("{before} {after}"))
}

/// A name in which renamed words are replaced.
fn translated(name: &str, new_word: &HashMap<&str, &str>) -> String {
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

fn push_word(out: &mut String, word: &str, new_word: &HashMap<&str, &str>) {
    out.push_str(new_word.get(word).unwrap_or(&word));
}

/// All words in the names of a side.
fn words<'p>(pool: &'p Pool<'_>) -> HashSet<&'p str> {
    (0..pool.len()).flat_map(|entry| identifiers(pool.normalized(entry))).collect()
}

/// Pairs the remaining heavy functions by callers, callees and cost. This is repeated, because each pair gives more
/// evidence about its neighbours.
fn pair_by_neighbours(pairs: &mut MatchingState<'_>, least_share: f64) {
    loop {
        let (old, new) = (pairs.old_left(), pairs.new_left());
        // The shares of functions are counted only if they are needed.
        if old.is_empty() || new.is_empty() {
            return;
        }
        let old = heavy(old, pairs.old, least_share);
        let new = heavy(new, pairs.new, least_share);
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

/// The heaviest of some functions, with at least `least_share` of their side, that may have been renamed.
fn heavy(mut entries: Vec<EntryId>, pool: &Pool<'_>, least_share: f64) -> Vec<EntryId> {
    let shares = pool.shares();
    entries.retain(|&entry| shares[entry] >= least_share && pool.may_be_renamed(entry));
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
    let (old_words, new_words) = (words_of(pairs.old, old), words_of(pairs.new, new));
    for (&one, old_words) in old.iter().zip(&old_words) {
        for (&other, new_words) in new.iter().zip(&new_words) {
            // If one function costs many times as much as the other, they cannot reach the minimum similarity.
            let similarity = if pairs.size_ratio(one, other) < LEAST_SIZE_RATIO {
                0.0
            } else {
                pairs.similarity(one, other)
            };
            similarities.push(similarity);
            let names = if similarity > 0.0 { old_words.overlap(new_words) } else { 0.0 };
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
