//! Pairs given by the user.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::pool::{EntryId, Groups, Pool, grouped};
use super::{MatchMethod, MatchingState};

/// Why given pairs cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GivenError {
    /// No function of the old or the new side has this name.
    #[error("{name}: no function of the {side} side has this name")]
    Unknown {
        /// The name as given.
        name: String,
        /// Which side it was looked for on: `old` or `new`.
        side: &'static str,
    },
    /// A function occurs in two pairs.
    #[error("{name}: two lines name this function of the {side} side, and each can have only one match")]
    Twice {
        /// The name as given.
        name: String,
        /// Its side: `old` or `new`.
        side: &'static str,
    },
    /// Functions that both sides have are given in a circle, such as `a = b` and `b = a`.
    #[error("{}: these lines swap functions that both sides have, which would give each the cost of another", .names.join(" = "))]
    Cycle {
        /// The names as given, from the first one back to it.
        names: Vec<String>,
    },
    /// A function is to have no match, but the other side has the same one.
    #[error("{name}: the {side} side has a function with the same name and place, so the two share a row")]
    OneRow {
        /// The name as given.
        name: String,
        /// The other side: `old` or `new`.
        side: &'static str,
    },
}

impl GivenError {
    /// The same error if the sides were given the other way round.
    pub(crate) fn swapped(self) -> Self {
        let other = |side| if side == "old" { "new" } else { "old" };
        match self {
            GivenError::Unknown { name, side } => GivenError::Unknown { name, side: other(side) },
            GivenError::Twice { name, side } => GivenError::Twice { name, side: other(side) },
            GivenError::OneRow { name, side } => GivenError::OneRow { name, side: other(side) },
            GivenError::Cycle { names } => GivenError::Cycle { names: names.into_iter().rev().collect() },
        }
    }
}

/// Functions of the old side whose names were given to others.
pub(super) struct Displaced(Vec<(EntryId, String)>);

impl Displaced {
    /// Fails if one of them has no match: then it would be counted together with the function that got its name.
    pub(super) fn check(self, pairs: &MatchingState<'_>) -> Result<(), GivenError> {
        let unmatched = self.0.into_iter().find(|(entry, _)| pairs.of_old[*entry].is_none());
        unmatched.map_or(Ok(()), |(_, name)| Err(GivenError::OneRow { name, side: "old" }))
    }
}

/// Matches the given pairs.
pub(super) fn pair(
    pairs: &mut MatchingState<'_>,
    given: &[(String, String)],
) -> Result<Displaced, GivenError> {
    if given.is_empty() {
        return Ok(Displaced(Vec::new()));
    }
    let (old_names, new_names) = (Names::new(pairs.old), Names::new(pairs.new));
    let mut links: BTreeMap<EntryId, Link<'_>> = BTreeMap::new();
    for (old, new) in given {
        let old_entry = named(&old_names, old, "old")?;
        let new_entry = named(&new_names, new, "new")?;
        if old_entry.is_some_and(|entry| pairs.of_old[entry].is_some() || pairs.alone[0].contains(&entry)) {
            return Err(GivenError::Twice { name: old.clone(), side: "old" });
        }
        if new_entry.is_some_and(|entry| pairs.of_new[entry].is_some() || pairs.alone[1].contains(&entry)) {
            return Err(GivenError::Twice { name: new.clone(), side: "new" });
        }
        match (old_entry, new_entry) {
            (Some(old_entry), Some(new_entry)) => {
                let next = pairs.old.same_as(pairs.new.get(new_entry));
                links.insert(old_entry, Link { old, new, next });
                pairs.pair(old_entry, new_entry, MatchMethod::Given, 1.0);
            }
            (Some(entry), None) if pairs.new.same_as(pairs.old.get(entry)).is_some() => {
                return Err(GivenError::OneRow { name: old.clone(), side: "new" });
            }
            (None, Some(entry)) if pairs.old.same_as(pairs.new.get(entry)).is_some() => {
                return Err(GivenError::OneRow { name: new.clone(), side: "old" });
            }
            (old, new) => {
                pairs.alone[0].extend(old);
                pairs.alone[1].extend(new);
            }
        }
    }
    if let Some(error) = links.keys().find_map(|&start| cycle(&links, start)) {
        return Err(error);
    }
    let displaced = links.values().filter_map(|link| Some((link.next?, link.new.to_string())));
    Ok(Displaced(displaced.collect()))
}

/// A given pair, as a step from a function of the old side to another one.
struct Link<'g> {
    old: &'g str,
    new: &'g str,
    /// The function of the old side that is the same as the new one of this pair.
    next: Option<EntryId>,
}

/// The circle of two or more pairs that starts here, if there is one. A function given as its own match is none.
fn cycle(links: &BTreeMap<EntryId, Link<'_>>, start: EntryId) -> Option<GivenError> {
    let first = links.get(&start)?;
    let mut names = vec![first.old.to_string(), first.new.to_string()];
    let mut next = first.next?;
    // Each function is in at most one pair, so a way either ends or comes back to its start.
    while next != start {
        let link = links.get(&next)?;
        names.push(link.new.to_string());
        next = link.next?;
    }
    (names.len() > 2).then_some(GivenError::Cycle { names })
}

/// The function with this name; `None` if the name is empty, which stands for no function.
fn named(names: &Names<'_>, name: &str, side: &'static str) -> Result<Option<EntryId>, GivenError> {
    if name.is_empty() { Ok(None) } else { names.named(name, side).map(Some) }
}

/// The functions of a side by their names.
struct Names<'p> {
    /// The first function with each name that views display.
    displayed: HashMap<String, EntryId>,
    /// The functions with each name, whatever their places.
    bare: Groups<&'p str>,
}

impl<'p> Names<'p> {
    fn new(pool: &'p Pool<'_>) -> Self {
        let mut displayed = HashMap::new();
        for entry in 0..pool.len() {
            displayed.entry(pool.get(entry).display()).or_insert(entry);
        }
        Names { displayed, bare: grouped(0..pool.len(), |entry| &*pool.get(entry).name) }
    }

    /// The function that views display as `name`, or else the only one called `name`.
    fn named(&self, name: &str, side: &'static str) -> Result<EntryId, GivenError> {
        let bare = || match self.bare.get(&name) {
            &[entry] => Some(entry),
            _ => None,
        };
        let found = self.displayed.get(name).copied().or_else(bare);
        found.ok_or_else(|| GivenError::Unknown { name: name.to_string(), side })
    }
}
