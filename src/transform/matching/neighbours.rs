//! Comparing functions by their callers and callees.

use hashbrown::HashMap;

use super::MatchingState;
use super::pool::{EntryId, Pool, count_step};

/// Callers and callees of the unmatched functions of one side.
pub(super) struct NeighbourShares {
    callers: HashMap<EntryId, NeighbourWeights>,
    callees: HashMap<EntryId, NeighbourWeights>,
}

/// The share of a function's total that each caller or callee has, from 0 to 1. They are sorted, because sums of
/// fractions depend on their order in the last digit.
type NeighbourWeights = Vec<(EntryId, f64)>;

/// The caller of a function that starts the stack.
const ROOT: EntryId = EntryId::MAX;
/// The callee of a function that is the leaf.
const LEAF: EntryId = EntryId::MAX - 1;

impl NeighbourShares {
    /// Counts the neighbours of some entries.
    pub(super) fn new(pool: &Pool<'_>, entries: impl IntoIterator<Item = EntryId>) -> Self {
        let mut open = vec![false; pool.len()];
        entries.into_iter().for_each(|entry| open[entry] = true);
        let mut edges = Edges { weights: HashMap::new(), open: &open };
        for (table, calls, metric) in pool.calls() {
            for edge in 0..calls.edge_count() {
                let caller = pool.of_function(table, calls.caller[edge]);
                let callee = pool.of_function(table, calls.callee[edge]);
                edges.add(caller, callee, calls.edge_values[metric][edge] as f64);
            }
            for (function, &own) in calls.self_values[metric].enumerate() {
                edges.add(pool.of_function(table, function), LEAF, own as f64);
            }
        }
        let mut seen = Vec::new();
        pool.each_stack(|table, frames, weight| {
            seen.clear();
            let mut caller = ROOT;
            let entries = frames.iter().map(|&frame| pool.of_frame(table, frame));
            for callee in entries.chain([LEAF]) {
                if edges.concerns(caller, callee) && caller != callee {
                    seen.push((caller, callee));
                }
                caller = callee;
            }
            // Each pair counts once per sample, however often it recurs.
            seen.sort_unstable();
            seen.dedup();
            for &(caller, callee) in &seen {
                edges.add(caller, callee, weight);
            }
        });
        edges.finish()
    }
}

impl NeighbourShares {
    /// The functions that call `entry`, each with its share of the total of that.
    pub(super) fn callers(&self, entry: EntryId) -> impl Iterator<Item = (EntryId, f64)> + '_ {
        functions(self.callers.get(&entry))
    }

    /// The functions that `entry` calls, each with its share of the total of that. What is missing is its own code.
    pub(super) fn callees(&self, entry: EntryId) -> impl Iterator<Item = (EntryId, f64)> + '_ {
        functions(self.callees.get(&entry))
    }
}

fn functions(neighbours: Option<&NeighbourWeights>) -> impl Iterator<Item = (EntryId, f64)> + '_ {
    neighbours.into_iter().flatten().copied().filter(|(neighbour, _)| *neighbour < LEAF)
}

/// The weights of calls while they are summed.
struct Edges<'o> {
    weights: HashMap<(EntryId, EntryId), f64>,
    open: &'o [bool],
}

impl Edges<'_> {
    fn is_open(&self, entry: EntryId) -> bool {
        self.open.get(entry).is_some_and(|&open| open)
    }

    fn concerns(&self, caller: EntryId, callee: EntryId) -> bool {
        self.is_open(caller) || self.is_open(callee)
    }

    fn add(&mut self, caller: EntryId, callee: EntryId, weight: f64) {
        if self.concerns(caller, callee) && weight > 0.0 {
            *self.weights.entry((caller, callee)).or_default() += weight;
        }
    }

    fn finish(self) -> NeighbourShares {
        let mut found = NeighbourShares { callers: HashMap::new(), callees: HashMap::new() };
        for (&(caller, callee), &weight) in &self.weights {
            if self.is_open(callee) {
                found.callers.entry(callee).or_default().push((caller, weight));
            }
            if self.is_open(caller) {
                found.callees.entry(caller).or_default().push((callee, weight));
            }
        }
        for shares in found.callers.values_mut().chain(found.callees.values_mut()) {
            shares.sort_unstable_by_key(|&(neighbour, _)| neighbour);
            let whole: f64 = shares.iter().map(|(_, weight)| weight).sum();
            for (_, share) in shares {
                *share /= whole;
            }
        }
        found
    }
}

/// The weight of unmatched neighbours that both sides have: they may be the same functions, or not.
const UNKNOWN: f64 = 0.5;

impl MatchingState<'_> {
    /// How similar two functions are in callers, callees and cost, from 0 to 1.
    pub(super) fn similarity(&self, old: EntryId, new: EntryId) -> f64 {
        let (callers, callees) = (self.callers_alike(old, new), self.callees_alike(old, new));
        (callers + callees + self.size_ratio(old, new)) / 3.0
    }

    /// How similar the callers of two functions are, from 0 to 1.
    pub(super) fn callers_alike(&self, old: EntryId, new: EntryId) -> f64 {
        count_step();
        let (old_side, new_side) = self.neighbours();
        self.overlap((old, old_side.callers.get(&old)), (new, new_side.callers.get(&new)))
    }

    /// How similar the callees of two functions are, from 0 to 1.
    pub(super) fn callees_alike(&self, old: EntryId, new: EntryId) -> f64 {
        self.callees_alike_in(self.neighbours(), old, new)
    }

    /// The same of functions that may be matched: their neighbours are given.
    pub(super) fn callees_alike_in(
        &self,
        (old_side, new_side): &(NeighbourShares, NeighbourShares),
        old: EntryId,
        new: EntryId,
    ) -> f64 {
        self.overlap((old, old_side.callees.get(&old)), (new, new_side.callees.get(&new)))
    }

    /// The smaller share of the two functions divided by the larger one.
    pub(super) fn size_ratio(&self, old: EntryId, new: EntryId) -> f64 {
        let (old, new) = (self.old.shares()[old], self.new.shares()[new]);
        let larger = old.max(new);
        if larger > 0.0 { old.min(new) / larger } else { 0.0 }
    }

    /// For each neighbour that both have, the smaller of the two shares; summed.
    fn overlap(
        &self,
        old: (EntryId, Option<&NeighbourWeights>),
        new: (EntryId, Option<&NeighbourWeights>),
    ) -> f64 {
        let ((old, Some(old_shares)), (new, Some(new_shares))) = (old, new) else { return 0.0 };
        let (mut common, mut old_unknown) = (0.0, 0.0);
        for &(neighbour, share) in old_shares {
            let same = match neighbour {
                ROOT | LEAF => Some(neighbour),
                own if own == old => Some(new),
                other => self.of_old[other].map(|paired| paired.new),
            };
            match same {
                Some(same) => {
                    let place = new_shares.binary_search_by_key(&same, |&(neighbour, _)| neighbour);
                    common += place.map_or(0.0, |place| new_shares[place].1.min(share));
                }
                None => old_unknown += share,
            }
        }
        let is_unknown = |&&(neighbour, _): &&(EntryId, f64)| {
            neighbour < LEAF && neighbour != new && self.of_new[neighbour].is_none()
        };
        let new_unknown: f64 = new_shares.iter().filter(is_unknown).map(|(_, share)| share).sum();
        common + UNKNOWN * old_unknown.min(new_unknown)
    }
}
