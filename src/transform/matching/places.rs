//! Matching functions with the same name in the same file, whose lines differ.

use hashbrown::{HashMap, HashSet};

use super::in_place::MatchedLines;
use super::pool::{EntryId, Pool, PoolEntry, grouped};
use super::{MatchMethod, MatchingState};
use crate::name::{base_name, is_anonymous};

/// The maximum number of pairs to compare among functions with one name. With more, they are paired in order.
pub(super) const MOST_COMPARED: usize = 250_000;

/// Pairs functions with the same name and file whose lines differ.
pub(super) fn pair_by_place(pairs: &mut MatchingState<'_>) {
    let files = same_files(pairs);
    pair_within_files(pairs, &files);
}

pub(super) fn pair_within_files(pairs: &mut MatchingState<'_>, files: &HashMap<String, String>) {
    let has_place = |pool: &Pool<'_>, entry: EntryId| pool.get(entry).by_place;
    let (old, new) = (pairs.old, pairs.new);
    let old_left = pairs.old_left().into_iter().filter(|&entry| has_place(old, entry));
    let new_left = pairs.new_left().into_iter().filter(|&entry| has_place(new, entry));
    let new_groups = grouped(new_left, |entry| (&*new.get(entry).name, new.get(entry).file.to_string()));
    let old_groups = grouped(old_left, |entry| (&*old.get(entry).name, old.get(entry).file.to_string()));
    if old_groups.lists().is_empty() || new_groups.lists().is_empty() {
        return;
    }
    // Where nothing moved, an anonymous function in another line is another one.
    let lines = MatchedLines::new(pairs);
    let is_other = |one: &PoolEntry<'_>, other: &PoolEntry<'_>| {
        // A line that was added above it changes its line, but not its column.
        let around = if one.column == other.column { 2 } else { 1 };
        one.line != other.line
            && is_anonymous(&one.name)
            && lines.are_unmoved_around(one.file, one.line, around)
    };
    for group in old_groups.lists() {
        let first = old.get(group[0]);
        let Some(file) = files.get(first.file) else { continue };
        let others = new_groups.get(&(&*first.name, file.clone()));
        match (&group[..], others) {
            (_, []) => {}
            (&[one], &[other]) => {
                let entries = (old.get(one), new.get(other));
                if is_other(entries.0, entries.1) {
                    pairs.alone[0].insert(one);
                    pairs.alone[1].insert(other);
                    continue;
                }
                let how = if (entries.0.line, entries.0.column) == (entries.1.line, entries.1.column) {
                    MatchMethod::Same
                } else {
                    MatchMethod::Shifted
                };
                pairs.pair(one, other, how, 1.0);
            }
            _ => pair_in_order(pairs, group, others),
        }
    }
}

/// The new file for each old one: the same path, else the path with the most trailing folders in common.
fn same_files(pairs: &MatchingState<'_>) -> HashMap<String, String> {
    let (old, new) = (files(pairs.old), files(pairs.new));
    let known: HashSet<&str> = new.iter().copied().collect();
    let mut mapped: HashMap<String, String> = HashMap::new();
    let mut taken: HashSet<&str> = HashSet::new();
    for &file in old.iter().filter(|file| known.contains(*file)) {
        mapped.insert(file.to_string(), file.to_string());
        taken.insert(file);
    }
    let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
    for &file in new.iter().filter(|file| !taken.contains(*file)) {
        by_name.entry(base_name(file)).or_default().push(file);
    }
    let mut candidates: Vec<(usize, &str, &str)> = Vec::new();
    for &file in old.iter().filter(|file| !mapped.contains_key(**file)) {
        let others = by_name.get(base_name(file)).map_or(&[][..], Vec::as_slice);
        // There may be a thousand files called index.js; do not try all pairs.
        for &other in others.iter().take(MOST_FILES_OF_A_NAME) {
            candidates.push((common_ending(file, other), file, other));
        }
    }
    candidates.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    for (_, file, other) in candidates {
        if !mapped.contains_key(file) && taken.insert(other) {
            mapped.insert(file.to_string(), other.to_string());
        }
    }
    mapped
}

/// The maximum number of files with one name that are compared by their folders.
const MOST_FILES_OF_A_NAME: usize = 64;

fn files<'p>(pool: &Pool<'p>) -> Vec<&'p str> {
    let mut files: Vec<&str> = (0..pool.len())
        .map(|entry| pool.get(entry))
        .filter(|entry| entry.by_place)
        .map(|entry| entry.file)
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The number of trailing components that two paths have in common.
fn common_ending(a: &str, b: &str) -> usize {
    a.rsplit(['/', '\\']).zip(b.rsplit(['/', '\\'])).take_while(|(a, b)| a == b).count()
}

/// Pairs several functions with one name in one file, in the order of their lines, so that the pairs agree best.
fn pair_in_order(pairs: &mut MatchingState<'_>, old: &[EntryId], new: &[EntryId]) {
    let by_place = |pool: &Pool<'_>, entries: &[EntryId]| {
        let mut entries = entries.to_vec();
        entries.sort_by_key(|&entry| (pool.get(entry).line, pool.get(entry).column));
        entries
    };
    let (old, new) = (by_place(pairs.old, old), by_place(pairs.new, new));
    let found = if old.len() * new.len() > MOST_COMPARED {
        old.iter().copied().zip(new.iter().copied()).collect()
    } else {
        best_in_order(&old, &new, |old, new| agreement(pairs, old, new))
    };
    for (old, new) in found {
        let (before, after) = (pairs.old.get(old), pairs.new.get(new));
        let is_same = (before.line, before.column) == (after.line, after.column);
        pairs.pair(old, new, if is_same { MatchMethod::Same } else { MatchMethod::Shifted }, 1.0);
    }
}

/// How well two functions with one name in one file match; greater than 0.
fn agreement(pairs: &MatchingState<'_>, old: EntryId, new: EntryId) -> f64 {
    let (before, after) = (pairs.old.get(old), pairs.new.get(new));
    let place = match (before.line == after.line, before.column == after.column) {
        (true, true) => 0.3,
        (_, true) => 0.2,
        _ => 0.05,
    };
    place + pairs.similarity(old, new)
}

/// Below this, two functions have nothing in common except name and file.
const LEAST_AGREEMENT: f64 = 0.2;

/// The pairs of two lists, in order, with the greatest sum of scores: a weighted longest common subsequence.
pub(super) fn best_in_order(
    old: &[EntryId],
    new: &[EntryId],
    score: impl Fn(EntryId, EntryId) -> f64,
) -> Vec<(EntryId, EntryId)> {
    let width = new.len() + 1;
    let mut best = vec![0.0_f64; (old.len() + 1) * width];
    let mut scores = vec![0.0_f64; old.len() * new.len()];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let own = score(old[i], new[j]);
            scores[i * new.len() + j] = own;
            let paired = own + best[(i + 1) * width + j + 1];
            best[i * width + j] = paired.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        if best[(i + 1) * width + j] >= here {
            i += 1;
        } else if best[i * width + j + 1] >= here {
            j += 1;
        } else {
            if scores[i * new.len() + j] >= LEAST_AGREEMENT {
                found.push((old[i], new[j]));
            }
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}
