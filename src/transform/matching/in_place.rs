//! Matching functions with new names at their old places.
//!
//! If the function above it in its file is three lines lower than before, or the one below it, and so is one function with a new name,
//! that is the old one, whatever it costs now. Where its own lines changed, too, the two differ.

use hashbrown::{HashMap, HashSet};

use super::pool::{EntryId, Pool, grouped};
use super::{MatchMethod, MatchingState};

/// The minimum similarity of the callers or the callees of a function that was renamed: another function may stand at its place.
const LEAST_ALIKE: f64 = 0.5;

/// A function that is gone and has this fraction of another one may be a part of what replaced both.
const LEAST_PART: f64 = 0.25;

/// Pairs functions with different names whose lines differ as those of the functions around them do.
pub(super) fn pair_in_place(pairs: &mut MatchingState<'_>) {
    let has_place = |pool: &Pool<'_>, entry: EntryId| pool.get(entry).has_place();
    let (old, new) = (pairs.old, pairs.new);
    let is_candidate = |&entry: &EntryId| has_place(old, entry) && old.may_be_renamed(entry);
    let left: Vec<EntryId> = pairs.old_left().into_iter().filter(is_candidate).collect();
    let others = pairs.new_left().into_iter().filter(|&entry| has_place(new, entry));
    let others = grouped(others, |entry| (new.get(entry).file, new.get(entry).line));
    if left.is_empty() || others.lists().is_empty() {
        return;
    }
    let files = MatchedLines::new(pairs);
    let expected = |entry: EntryId| {
        let places = files.expected(old.get(entry).file, old.get(entry).line);
        let mut taken = places.into_iter().filter(|place| !others.get(place).is_empty());
        // Two functions with new names may be this one.
        match (taken.next(), taken.next()) {
            (Some(place), None) => Some((place, entry)),
            _ => None,
        }
    };
    let expected: Vec<_> = left.iter().copied().filter_map(expected).collect();
    let displaced: Vec<EntryId> = {
        let placed: HashSet<EntryId> = expected.iter().map(|(_, entry)| *entry).collect();
        left.into_iter().filter(|entry| !placed.contains(entry)).collect()
    };
    let mut candidates: HashMap<_, usize> = HashMap::new();
    for (place, _) in &expected {
        *candidates.entry(*place).or_default() += 1;
    }
    for (place, one) in expected {
        if candidates[&place] == 1
            && let &[other] = others.get(&place)
            && new.may_be_renamed(other)
            && pairs.callers_alike(one, other).max(pairs.callees_alike(one, other)) >= LEAST_ALIKE
            && (old.get(one).by_place || !is_of_several(pairs, &displaced, one, other))
        {
            pairs.pair(one, other, MatchMethod::Renamed, pairs.similarity(one, other));
        }
    }
}

/// Whether a function that is gone, and whose place nothing took, was called from the same places as the new one, so that this may do
/// what both did.
fn is_of_several(pairs: &MatchingState<'_>, left: &[EntryId], one: EntryId, other: EntryId) -> bool {
    let shares = pairs.old.shares();
    let is_part = |&gone: &EntryId| {
        gone != one
            && pairs.of_old[gone].is_none()
            && shares[gone] >= LEAST_PART * shares[one]
            && pairs.callers_alike(gone, other) >= LEAST_ALIKE
    };
    left.iter().any(is_part)
}

/// The matched functions of each old file.
pub(super) struct MatchedLines<'p> {
    of_file: HashMap<&'p str, FileLines<'p>>,
}

/// The new file, and the lines of the functions in order: where they were, and where they are now.
type FileLines<'p> = (&'p str, Vec<(u32, u32)>);

impl<'p> MatchedLines<'p> {
    pub(super) fn new(pairs: &MatchingState<'p>) -> Self {
        let mut of_file: HashMap<&str, FileLines<'_>> = HashMap::new();
        for (entry, paired) in pairs.of_old.iter().enumerate() {
            let Some(paired) = paired else { continue };
            let (before, after) = (pairs.old.get(entry), pairs.new.get(paired.new));
            if before.has_place() && after.has_place() {
                let (file, lines) = of_file.entry(before.file).or_insert((after.file, Vec::new()));
                // A function that moved to another file says nothing about lines.
                if *file == after.file {
                    lines.push((before.line, after.line));
                }
            }
        }
        of_file.values_mut().for_each(|(_, lines)| lines.sort_unstable());
        MatchedLines { of_file }
    }

    /// The places at which the function of an old line may stand now: it is as many lines lower as the function above it, unless that
    /// became longer or shorter; then, as the one below it.
    fn expected(&self, file: &str, line: u32) -> Vec<(&'p str, u32)> {
        let Some((file, lines)) = self.of_file.get(file) else { return Vec::new() };
        let [above, below] = shifts(lines, line);
        let below = below.filter(|_| above != below);
        let shifts = above.into_iter().chain(below);
        shifts.filter_map(|shift| Some((*file, u32::try_from(i64::from(line) + shift).ok()?))).collect()
    }

    /// Whether the functions above and below a line are where they were, of which at least so many are known.
    pub(super) fn are_unmoved_around(&self, file: &str, line: u32, least: usize) -> bool {
        let Some((_, lines)) = self.of_file.get(file) else { return false };
        let known: Vec<i64> = shifts(lines, line).into_iter().flatten().collect();
        known.len() >= least && known.iter().all(|&shift| shift == 0)
    }
}

/// By how many lines the functions above and below a line have moved.
fn shifts(lines: &[(u32, u32)], line: u32) -> [Option<i64>; 2] {
    let at = lines.partition_point(|&(before, _)| before < line);
    let shift = |&(before, after): &(u32, u32)| i64::from(after) - i64::from(before);
    [lines[..at].last().map(shift), lines.get(at).map(shift)]
}
