//! Functions whose name another one took, which calls them.
//!
//! `moves` was renamed `pseudoMoves`, and a new `moves` calls that and leaves some of the moves out. By name, the old function is the
//! new one, which does something else, and what did not change seems to be new:
//!
//! ```text
//! main;search;moves;pieces 40    →    main;search;moves;pseudoMoves;pieces 40
//!                                     main;search;moves;leavesCheck 25
//! ```
//!
//! A part of a function that was extracted looks alike, but leaves something behind: what else the function did, or nothing but
//! the call. So the function with the old name must do little of what the old one did itself, and something else.
//!
//! If it is the old side that has the wrapper, it keeps its name, and shares the row of that name with what it called.

use hashbrown::{HashMap, HashSet};

use super::neighbours::NeighbourShares;
use super::pool::EntryId;
use super::{MatchMethod, MatchingState};
use crate::name::is_anonymous;

/// The minimum share of the calls of the old function under its new name that come from the function with the old name.
const LEAST_CALLED: f64 = 0.1;
/// The minimum fraction of the larger share that the smaller one has.
const LEAST_SIZE_RATIO: f64 = 0.5;
/// The minimum similarity of what the old function calls and what it calls under its new name.
const LEAST_ALIKE: f64 = 0.9;
/// The maximum similarity of what the old function calls and what the one with its name calls.
const MOST_ALIKE: f64 = 0.1;
/// The minimum share of the function with the old name that is something else.
const LEAST_ELSE: f64 = 0.1;
/// The minimum share of the old function that is in functions that it calls, or of its calls under its new name that come from
/// where it was called: own code alone is the same in all functions.
const LEAST_EVIDENCE: f64 = 0.2;

/// A function that calls the one which had its name before, or did.
#[derive(Clone, Copy)]
struct Wrapped {
    /// The function of the side without a wrapper.
    alone: EntryId,
    /// The function with its name on the other side.
    wrapper: EntryId,
    /// What it is there.
    inner: EntryId,
}

/// Which side has the wrapper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    New,
    Old,
}

/// Pairs functions with those that they became, or were, and separates them from the wrappers that have their names.
pub(super) fn pair_wrapped(pairs: &mut MatchingState<'_>, least_share: f64) {
    for on in [On::New, On::Old] {
        let candidates = candidates(pairs, on, least_share);
        if candidates.is_empty() {
            continue;
        }
        let neighbours = neighbours(pairs, on, &candidates);
        let mut found: HashMap<EntryId, Vec<Wrapped>> = HashMap::new();
        for candidate in candidates {
            if is_wrapped(pairs, on, candidate, &neighbours) {
                found.entry(candidate.alone).or_default().push(candidate);
            }
        }
        let mut found: Vec<Wrapped> = found
            .into_values()
            .filter_map(|found| if let [one] = found[..] { Some(one) } else { None })
            .collect();
        found.sort_unstable_by_key(|wrapped| wrapped.alone);
        let mut taken = HashSet::new();
        for wrapped in found.into_iter().filter(|wrapped| taken.insert(wrapped.inner)) {
            let (old, new) = wrapped.renamed(on);
            let alike = pairs.callees_alike_in(&neighbours, old, new);
            let (namesake, other) = wrapped.with_name(on);
            pairs.part(namesake, other);
            pairs.pair(old, new, MatchMethod::Renamed, alike);
        }
    }
}

impl On {
    /// What belongs to the side without wrappers and to the other one, given for the old and the new side; or the other way round.
    fn ordered<T>(self, (first, second): (T, T)) -> (T, T) {
        match self {
            On::New => (first, second),
            On::Old => (second, first),
        }
    }
}

impl Wrapped {
    /// The pair with the same name: the old function, and the new one.
    fn with_name(self, on: On) -> (EntryId, EntryId) {
        on.ordered((self.alone, self.wrapper))
    }

    /// The pair that is one function: the old one, and the new one.
    fn renamed(self, on: On) -> (EntryId, EntryId) {
        on.ordered((self.alone, self.inner))
    }
}

/// The unmatched functions that are called by one which both sides have, and are about as heavy as that was.
fn candidates(pairs: &MatchingState<'_>, on: On, least_share: f64) -> Vec<Wrapped> {
    let (pool, left) = match on {
        On::New => (pairs.new, pairs.new_left()),
        On::Old => (pairs.old, pairs.old_left()),
    };
    let heavy =
        left.into_iter().filter(|&entry| pool.shares()[entry] >= least_share && pool.may_be_renamed(entry));
    let heavy: Vec<EntryId> = heavy.collect();
    if heavy.is_empty() {
        return Vec::new();
    }
    let (old_side, new_side) = pairs.neighbours();
    let (_, side) = on.ordered((old_side, new_side));
    let mut found = Vec::new();
    for inner in heavy {
        for (wrapper, share) in side.callers(inner) {
            let candidate = namesake(pairs, on, wrapper).map(|alone| Wrapped { alone, wrapper, inner });
            let is_as_heavy = |wrapped: &Wrapped| {
                let (old, new) = wrapped.renamed(on);
                pairs.size_ratio(old, new) >= LEAST_SIZE_RATIO
            };
            found.extend(candidate.filter(|_| share >= LEAST_CALLED).filter(is_as_heavy));
        }
    }
    found
}

/// The function of the other side that was matched by its name, and that may be renamed.
fn namesake(pairs: &MatchingState<'_>, on: On, wrapper: EntryId) -> Option<EntryId> {
    let (old, new) = match on {
        On::New => (pairs.of_new[wrapper]?, wrapper),
        On::Old => (wrapper, pairs.of_old[wrapper]?.new),
    };
    let name = &pairs.old.get(old).name;
    let is_by_name = pairs.of_old[old]?.how != MatchMethod::Given && *name == pairs.new.get(new).name;
    // All anonymous functions have one name.
    let is_by_name = is_by_name && !is_anonymous(name);
    (is_by_name && pairs.old.may_be_renamed(old)).then_some(if on == On::New { old } else { new })
}

/// The neighbours of all candidates on both sides.
fn neighbours(
    pairs: &MatchingState<'_>,
    on: On,
    candidates: &[Wrapped],
) -> (NeighbourShares, NeighbourShares) {
    let alone = candidates.iter().map(|candidate| candidate.alone);
    let others = candidates.iter().flat_map(|candidate| [candidate.wrapper, candidate.inner]);
    let (alone_pool, other_pool) = on.ordered((pairs.old, pairs.new));
    on.ordered((NeighbourShares::new(alone_pool, alone), NeighbourShares::new(other_pool, others)))
}

/// Whether one function became, or was, the other, whose name another one has.
fn is_wrapped(
    pairs: &MatchingState<'_>,
    on: On,
    wrapped: Wrapped,
    neighbours: &(NeighbourShares, NeighbourShares),
) -> bool {
    let Wrapped { alone, wrapper, inner } = wrapped;
    let (of_alone, of_others) = on.ordered((&neighbours.0, &neighbours.1));
    let counterpart = |entry: EntryId| match on {
        On::New => pairs.of_new[entry],
        On::Old => pairs.of_old[entry].map(|paired| paired.new),
    };
    let callers: HashSet<EntryId> = of_alone.callers(alone).map(|(caller, _)| caller).collect();
    let is_caller = |entry: EntryId| counterpart(entry).is_some_and(|entry| callers.contains(&entry));
    // Where it is called from besides, it was called from before.
    let (mut as_before, mut elsewhere) = (0.0, 0.0);
    for (caller, share) in of_others.callers(inner).filter(|(caller, _)| *caller != wrapper) {
        *if is_caller(caller) { &mut as_before } else { &mut elsewhere } += share;
    }
    let in_callees: f64 = of_alone.callees(alone).map(|(_, share)| share).sum();
    let through =
        of_others.callees(wrapper).find(|(callee, _)| *callee == inner).map_or(0.0, |(_, share)| share);
    let alike = |(old, new): (EntryId, EntryId)| pairs.callees_alike_in(neighbours, old, new);
    elsewhere < LEAST_CALLED
        && as_before.max(in_callees) >= LEAST_EVIDENCE
        && through > 0.0
        && 1.0 - through >= LEAST_ELSE
        && alike(wrapped.renamed(on)) >= LEAST_ALIKE
        && alike(wrapped.with_name(on)) <= MOST_ALIKE
}
