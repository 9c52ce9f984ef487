//! Matching functions whose names and places are the same on both sides.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::pool::{EntryId, Pool, PoolEntry, count_step};
use super::{MatchMethod, MatchingState};
use crate::name::without_numbers;

/// Pairs functions with the same name, and the same place if that is needed to distinguish functions.
///
/// Names numbered by a compiler (`rankHits.func2`), and several functions with one name in one file, are paired only
/// if both sides have the same set of them: a new closure further up would shift all the others.
pub(super) fn pair_same(pairs: &mut MatchingState<'_>, exact: bool) {
    let (old_side, new_side) = (pairs.old, pairs.new);
    let families = (!exact).then(|| Families::new(old_side, new_side));
    for old in pairs.old_left() {
        let entry = old_side.get(old);
        let Some(new) = new_side.same_as(entry) else { continue };
        let is_certain = families.as_ref().is_none_or(|families| families.are_same(entry));
        if is_certain && pairs.of_new[new].is_none() {
            pairs.pair(old, new, MatchMethod::Same, 1.0);
        }
    }
}

/// The name, and perhaps the file, that functions share if they differ only in a number or a place.
type NameFamily<'n> = (Cow<'n, str>, &'n str);

/// The families of both sides in which a name alone does not say which function it is.
struct Families<'n> {
    /// For each family, whether both sides have the same members.
    are_same: HashMap<NameFamily<'n>, bool>,
}

impl<'n> Families<'n> {
    fn new(old: &'n Pool<'_>, new: &'n Pool<'_>) -> Self {
        let mut families: HashMap<NameFamily<'n>, [Vec<EntryId>; 2]> = HashMap::new();
        for (side, pool) in [old, new].into_iter().enumerate() {
            for entry in 0..pool.len() {
                if let Some(family) = family(pool.get(entry)) {
                    families.entry(family).or_default()[side].push(entry);
                }
            }
        }
        // `rankHits.func` is of the family of `rankHits.func2`.
        if families.keys().any(|(_, file)| file.is_empty()) {
            for (side, pool) in [old, new].into_iter().enumerate() {
                for entry in (0..pool.len()).filter(|&entry| family(pool.get(entry)).is_none()) {
                    if let Some(members) = families.get_mut(&(Cow::Borrowed(&*pool.get(entry).name), "")) {
                        members[side].push(entry);
                    }
                }
            }
        }
        let are_same = |(family, [of_old, of_new]): (NameFamily<'n>, [Vec<EntryId>; 2])| {
            (family, members(old, &of_old) == members(new, &of_new))
        };
        Families { are_same: families.into_iter().map(are_same).collect() }
    }

    /// Whether both sides have the same functions in the family of `entry`.
    fn are_same(&self, entry: &PoolEntry<'_>) -> bool {
        family(entry).is_none_or(|family| self.are_same.get(&family).is_some_and(|&same| same))
    }
}

/// The family of a function; `None` if its name says which function it is.
fn family<'n>(entry: &'n PoolEntry<'_>) -> Option<NameFamily<'n>> {
    if entry.by_place {
        return Some((Cow::Borrowed(&*entry.name), entry.file));
    }
    match without_numbers(&entry.name) {
        Cow::Borrowed(_) => None,
        numbered @ Cow::Owned(_) => Some((numbered, "")),
    }
}

/// The names and places of some functions, as a set.
fn members<'p>(pool: &'p Pool<'_>, entries: &[EntryId]) -> Vec<(&'p str, u32, u32)> {
    let member = |&entry: &EntryId| {
        count_step();
        let entry = pool.get(entry);
        (&*entry.name, entry.line, entry.column)
    };
    let mut members: Vec<_> = entries.iter().map(member).collect();
    members.sort_unstable();
    members.dedup();
    members
}
