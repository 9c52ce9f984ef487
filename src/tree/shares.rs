//! Dividing the cost of functions among their callers, for profiles that hold calls instead of stacks.
//!
//! Such a profile does not say who called a function's caller at the time. A function's cost is
//! therefore divided among its callers in proportion to what each is charged for it, as gprof does; this
//! is exact if each function has one caller. Calls that close a cycle are left out, so that the
//! remaining calls have an order.

use crate::profile::Column;
use crate::tree::{Flat, KeyId};

/// How the cost of every key is divided among its callers.
#[derive(Clone, Debug)]
pub(super) struct CostShares {
    /// The callers and the callees of every key, without cycles and calls to itself.
    pub(super) callers: Column<KeyId, Vec<NeighbourEdge>>,
    pub(super) callees: Column<KeyId, Vec<NeighbourEdge>>,
    /// For each series: the cost charged to each edge, the cost without a caller, and the sum of both.
    charged: Vec<Vec<f64>>,
    uncalled: Vec<Column<KeyId, f64>>,
    all: Vec<Column<KeyId, f64>>,
    /// For each series, self plus the divided cost of callees: the total of a key in the whole tree.
    pub(super) below: Vec<Column<KeyId, f64>>,
}

/// What is divided: self and total of every key, and the cost of each edge from caller to callee.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs<'c> {
    pub(super) flat: &'c Flat,
    pub(super) edges: &'c [(KeyId, KeyId)],
    /// One column per series.
    pub(super) edge_values: &'c [Vec<i64>],
}

/// An edge as seen from one of its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeighbourEdge {
    pub(super) key: KeyId,
    pub(super) edge: usize,
}

impl CostShares {
    pub(super) fn new(costs: Costs<'_>) -> CostShares {
        let keys = costs.flat.total.first().map_or(0, Column::len);
        let mut callees: Column<KeyId, Vec<NeighbourEdge>> = Column::filled(Vec::new(), keys);
        for (edge, &(caller, callee)) in costs.edges.iter().enumerate() {
            let is_charged = costs.edge_values.iter().any(|values| values[edge] > 0);
            if caller != callee && is_charged {
                callees[caller].push(NeighbourEdge { key: callee, edge });
            }
        }
        let order = break_cycles(costs, &mut callees);
        let mut callers: Column<KeyId, Vec<NeighbourEdge>> = Column::filled(Vec::new(), keys);
        for &key in &order {
            for link in &callees[key] {
                callers[link.key].push(NeighbourEdge { key, edge: link.edge });
            }
        }
        let mut shares = CostShares {
            callers,
            callees,
            charged: Vec::new(),
            uncalled: Vec::new(),
            all: Vec::new(),
            below: Vec::new(),
        };
        for series in 0..costs.edge_values.len() {
            shares.weigh(costs, series, &order);
        }
        shares
    }

    /// Computes the weights of one series. `order` has callers before their callees.
    fn weigh(&mut self, costs: Costs<'_>, series: usize, order: &[KeyId]) {
        let keys = self.callers.len();
        let charged: Vec<f64> = costs.edge_values[series].iter().map(|&value| value.max(0) as f64).collect();
        // The cost charged to callers, including callers whose calls close a cycle.
        let mut by_all = Column::<KeyId, f64>::filled(0.0, keys);
        for (&(caller, callee), charged) in costs.edges.iter().zip(&charged) {
            by_all[callee] += if caller == callee { 0.0 } else { *charged };
        }
        let (mut uncalled, mut all) = (Column::filled(0.0, keys), Column::filled(0.0, keys));
        for (key, callers) in self.callers.enumerate() {
            let by_callers: f64 = callers.iter().map(|link| charged[link.edge]).sum();
            let total = costs.flat.total[series][key].max(0) as f64;
            // Each rounded value may be off by one, so the sum may differ from the exact one by one per
            // edge.
            let rest = total - by_all[key];
            uncalled[key] = match by_callers > 0.0 {
                true if rest <= callers.len() as f64 => 0.0,
                true => rest,
                false => total.max(1.0),
            };
            all[key] = by_callers + uncalled[key];
        }
        let mut below: Column<KeyId, f64> = costs.flat.self_value[series].map(|&own| own.max(0) as f64);
        for &key in order.iter().rev() {
            for link in &self.callees[key] {
                let share = below[link.key] * charged[link.edge] / all[link.key];
                below[key] += share;
            }
        }
        self.charged.push(charged);
        self.uncalled.push(uncalled);
        self.all.push(all);
        self.below.push(below);
    }

    /// The part of a key's cost that is charged to one of its edges, or to no caller.
    pub(super) fn charge(&self, series: usize, key: KeyId, edge: Option<usize>) -> f64 {
        let charged = edge.map_or(self.uncalled[series][key], |edge| self.charged[series][edge]);
        self.below[series][key] * charged / self.all[series][key]
    }
}

/// Leaves out the calls that close a cycle: those that lead back in a depth-first search that starts at
/// keys without callers, then at the heaviest, and follows the heaviest calls first. Returns the keys
/// with callers before their callees.
fn break_cycles(costs: Costs<'_>, callees: &mut Column<KeyId, Vec<NeighbourEdge>>) -> Vec<KeyId> {
    let (total, charged) = (&costs.flat.total[0], &costs.edge_values[0]);
    let mut uncalled = total.clone();
    for key in callees.ids() {
        for link in &callees[key] {
            uncalled[link.key] = uncalled[link.key].saturating_sub(charged[link.edge]);
        }
    }
    let mut starts: Vec<KeyId> = callees.ids().collect();
    starts.sort_by_key(|&key| std::cmp::Reverse((uncalled[key].max(0), total[key], std::cmp::Reverse(key))));
    for key in starts.iter().copied() {
        callees[key].sort_by_key(|link| (std::cmp::Reverse(charged[link.edge]), link.key));
    }
    let mut state = Column::<KeyId, State>::filled(State::New, callees.len());
    let mut done = Vec::with_capacity(callees.len());
    for start in starts {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        // The keys being visited, each with the next edge to follow.
        let mut visits = vec![(start, 0)];
        while let Some((key, next)) = visits.pop() {
            let Some(&link) = callees[key].get(next) else {
                state[key] = State::Done;
                done.push(key);
                continue;
            };
            if state[link.key] == State::Open {
                callees[key].remove(next);
                visits.push((key, next));
                continue;
            }
            visits.push((key, next + 1));
            if state[link.key] == State::New {
                state[link.key] = State::Open;
                visits.push((link.key, 0));
            }
        }
    }
    done.reverse();
    done
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

impl CostShares {
    /// Divides the values of a key among its callers, and returns what remains without a caller. The
    /// values are one per series, or all totals and then all selfs.
    pub(super) fn split_callers(&self, key: KeyId, total: &[i64]) -> (Vec<(KeyId, Vec<i64>)>, Vec<i64>) {
        let callers = &self.callers[key];
        let mut rows: Vec<(KeyId, Vec<i64>)> = callers.iter().map(|link| (link.key, Vec::new())).collect();
        let mut uncalled = Vec::new();
        for (column, &total) in total.iter().enumerate() {
            let series = column % self.charged.len();
            let charged = callers.iter().map(|link| self.charged[series][link.edge]);
            let weights: Vec<f64> = charged.chain([self.uncalled[series][key]]).collect();
            let mut parts = split(total, &weights, self.all[series][key]);
            uncalled.extend(parts.pop());
            for (row, part) in rows.iter_mut().zip(parts) {
                row.1.push(part);
            }
        }
        (rows, uncalled)
    }
}

/// `total` · `part` / `all`, rounded.
pub(super) fn part(total: i64, part: f64, all: f64) -> i64 {
    if all <= 0.0 {
        return 0;
    }
    let total_as_float = total as f64;
    #[expect(clippy::float_cmp, reason = "exact where nothing has to be scaled, as in graphs that are trees")]
    let scaled = if total_as_float == all { part } else { total_as_float * part / all };
    (scaled.round() as i64).clamp(0, total.max(0))
}

/// Splits `total` in proportion to the weights, whose sum is `all`; the parts add up exactly to `total`.
pub(super) fn split(total: i64, weights: &[f64], all: f64) -> Vec<i64> {
    let (mut sum, mut given) = (0.0, 0);
    let share = |weight: &f64| {
        sum += weight;
        let upto = part(total, sum, all).max(given);
        upto - std::mem::replace(&mut given, upto)
    };
    weights.iter().map(share).collect()
}
