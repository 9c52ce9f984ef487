//! Values by key for profiles that hold calls between functions instead of stacks.
//!
//! Self, totals and edges are the file's own numbers, summed by key. The total of a key with one
//! function is that of the function. The total of a key with several functions (a file, a package) is its
//! self plus what it calls outside itself. That is exact, unless those callees call back into the key; then
//! it is an upper bound.

use std::hash::Hash;
use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::profile::{CallTable, Column, Cycles, FrameId, FunctionId, Id, Profile, Total};
use crate::tree::neighbours::excess;
use crate::tree::shares::{CostShares, Costs};
use crate::tree::{By, CallEdge, Flat, KeyId, Keys, Neighbours};

/// Self and total of every key, and the edges between them, one column per series.
#[derive(Clone, Debug)]
pub struct KeyCalls {
    pub(super) flat: Flat,
    /// Caller and callee of each edge, including edges from a key to itself.
    pub(super) edges: Vec<(KeyId, KeyId)>,
    /// The cost of each edge, at most that of its caller and of its callee.
    pub(super) edge_values: Vec<Vec<i64>>,
    /// For each series, whether it counts calls rather than costs.
    pub(super) counts_calls: Vec<bool>,
    /// Whether a key has a total that is only an upper bound, because its callees call back into it.
    is_bound: Column<KeyId, bool>,
    shares: OnceLock<CostShares>,
}

/// The number of functions of a key, and their totals.
#[derive(Clone, Copy, Debug, Default)]
struct Members {
    count: usize,
    sum: i64,
    /// The largest total that is exact.
    largest: i64,
}

impl Members {
    fn add(&mut self, total: i64, is_bound: bool) {
        self.count += 1;
        self.sum = self.sum.saturating_add(total);
        self.largest = if is_bound { self.largest } else { self.largest.max(total) };
    }
}

/// The distinct items in order of first occurrence, and for each item the index of its distinct one.
fn distinct<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> (Vec<T>, Vec<usize>) {
    let mut distinct = Vec::new();
    let mut known: HashMap<T, usize> = HashMap::new();
    let number = items.map(|item| {
        *known.entry(item).or_insert_with(|| {
            distinct.push(item);
            distinct.len() - 1
        })
    });
    let number = number.collect();
    (distinct, number)
}

/// The same for items that are known to be distinct.
fn each<T>(items: impl Iterator<Item = T>) -> (Vec<T>, Vec<usize>) {
    let items: Vec<T> = items.collect();
    let number = (0..items.len()).collect();
    (items, number)
}

/// The self values of a metric, summed by key.
pub(super) fn own_values(calls: &CallTable, keys: &Keys, by: &By, metric: usize) -> Column<KeyId, i64> {
    let mut own = Column::filled(0_i64, keys.len());
    let mut add = |frame: FrameId, value: i64| {
        let key = keys.of_frame(frame);
        own[key] = own[key].saturating_add(value);
    };
    if *by == By::Line {
        let lines = calls.lines.place.iter().zip(&calls.lines.self_values[metric]);
        lines.for_each(|(&place, &value)| add(place, value));
    } else {
        calls.functions().for_each(|(function, frame)| add(frame, calls.self_values[metric][function]));
    }
    own
}

/// The sums of `count` groups; `group_of` holds the group of each value.
fn sums(group_of: &[usize], count: usize, value: impl Fn(usize) -> i64) -> Vec<i64> {
    let mut sums = vec![0_i64; count];
    for (number, &group) in group_of.iter().enumerate() {
        sums[group] = sums[group].saturating_add(value(number));
    }
    sums
}

impl KeyCalls {
    /// Sums the calls of `profile` by key, with one series per given metric.
    pub(super) fn new(profile: &Profile, calls: &CallTable, keys: &Keys, by: &By, metrics: &[usize]) -> Self {
        let self_value: Vec<_> = metrics.iter().map(|&metric| own_values(calls, keys, by, metric)).collect();
        let mut of = KeyCalls {
            flat: Flat { total: self_value.clone(), self_value },
            edges: Vec::new(),
            edge_values: Vec::new(),
            counts_calls: metrics.iter().map(|&metric| calls.counts_calls(metric)).collect(),
            is_bound: Column::filled(false, keys.len()),
            shares: OnceLock::new(),
        };
        if *by == By::Line {
            of.add_lines(profile, calls, keys, metrics);
        } else {
            of.add_edges(calls, keys, metrics);
            of.add_functions(profile, calls, keys, metrics);
        }
        of
    }

    /// Whether a key has a value in the first series.
    pub fn has_value(&self, key: KeyId) -> bool {
        self.flat.total[0][key] != 0 || self.flat.self_value[0][key] != 0
    }

    /// Whether the first series counts calls rather than what they cost.
    pub fn counts_calls(&self) -> bool {
        self.counts_calls[0]
    }

    /// The number of series.
    pub fn series(&self) -> usize {
        self.edge_values.len()
    }

    /// The self of a key in a series.
    pub fn self_of(&self, key: KeyId, series: usize) -> i64 {
        self.flat.self_value[series][key]
    }

    /// The total of a key in a series.
    pub fn total_of(&self, key: KeyId, series: usize) -> i64 {
        self.flat.total[series][key]
    }

    /// The self of a key in the first series: how often it was called, if that counts calls.
    pub fn self_value(&self, key: KeyId) -> i64 {
        self.flat.self_value[0][key]
    }

    /// The total of a key in the first series.
    pub fn total(&self, key: KeyId) -> i64 {
        self.flat.total[0][key]
    }

    /// Whether the total of a key is only an upper bound, because its callees call back into it.
    pub fn is_bound(&self, key: KeyId) -> bool {
        self.is_bound[key]
    }

    /// How many keys have such a total.
    pub fn upper_bounds(&self) -> usize {
        self.is_bound.iter().filter(|&&is_bound| is_bound).count()
    }

    /// The values of every edge, one per series; those from a key to itself included.
    pub fn all_edges(&self) -> impl Iterator<Item = (KeyId, KeyId, Vec<i64>)> + '_ {
        self.edges.iter().enumerate().map(|(edge, &(caller, callee))| {
            (caller, callee, self.edge_values.iter().map(|values| values[edge]).collect())
        })
    }

    /// How trees divide the costs among callers, computed on first use.
    pub(super) fn shares(&self) -> &CostShares {
        let costs = Costs { flat: &self.flat, edges: &self.edges, edge_values: &self.edge_values };
        self.shares.get_or_init(|| CostShares::new(costs))
    }

    /// Sums edges, first by pair of functions (whatever the line of the call), then by pair of keys. Where all pairs are
    /// known to be distinct, nothing is looked up: that took a fifth of the time of `top` for a pstats file.
    fn add_edges(&mut self, calls: &CallTable, keys: &Keys, metrics: &[usize]) {
        let ends = (0..calls.edge_count()).map(|edge| (calls.caller[edge], calls.callee[edge]));
        let has_sites = calls.site.iter().any(Option::is_some);
        let (pairs, pair_of) = if has_sites { distinct(ends) } else { each(ends) };
        let key = |function: FunctionId| keys.of_frame(calls.frame[function].unwrap_or_default());
        let ends = pairs.iter().map(|&(caller, callee)| (key(caller), key(callee)));
        let mut has_function = Column::<KeyId, bool>::filled(false, keys.len());
        let is_first = |(_, frame)| !std::mem::replace(&mut has_function[keys.of_frame(frame)], true);
        let (edges, edge_of) = if calls.functions().all(is_first) { each(ends) } else { distinct(ends) };
        for (series, &metric) in metrics.iter().enumerate() {
            let of_pairs = sums(&pair_of, pairs.len(), |edge| calls.edge_values[metric][edge]);
            // Recursive calls contain each other, so their sum can exceed what was really spent.
            let most = |pair: usize| {
                let (caller, callee) = pairs[pair];
                let counts_calls = self.counts_calls[series];
                if counts_calls {
                    i64::MAX
                } else {
                    calls.totals[metric][caller].min(calls.totals[metric][callee])
                }
            };
            let of_edges = sums(&edge_of, edges.len(), |pair| of_pairs[pair].min(most(pair)));
            self.edge_values.push(of_edges);
        }
        self.edges = edges;
    }

    fn add_functions(&mut self, profile: &Profile, calls: &CallTable, keys: &Keys, metrics: &[usize]) {
        let ends = |&(caller, callee): &(KeyId, KeyId)| (caller.index(), callee.index());
        let mut cycles = None;
        for (series, &metric) in metrics.iter().enumerate() {
            let mut members = Column::<KeyId, Members>::filled(Members::default(), keys.len());
            if self.counts_calls[series] {
                continue;
            }
            for (function, frame) in calls.functions() {
                members[keys.of_frame(frame)].add(calls.totals[metric][function], calls.has_bounds[function]);
            }
            self.flat.total[series] = members.map(|members| members.sum);
            for (key, members) in members.enumerate().filter(|(_, members)| members.count == 1) {
                self.is_bound[key] |= members.sum > members.largest;
            }
            if members.iter().all(|members| members.count <= 1) {
                continue;
            }
            let cycles = cycles.get_or_insert_with(|| Cycles::find(keys.len(), self.edges.iter().map(ends)));
            let counted = self.totals_of_graph(series, cycles, &members);
            let whole = profile.meta.metrics[metric].total;
            for (key, members) in members.enumerate().filter(|(_, members)| members.count > 1) {
                let counted = counted[key.index()];
                let total = counted.value.min(members.sum).min(whole);
                self.flat.total[series][key] = total;
                // A total equal to that of the largest function is exact.
                self.is_bound[key] |= counted.is_bound && total > members.largest;
            }
        }
    }

    /// The total of each key, computed from the calls between keys.
    fn totals_of_graph(
        &self,
        series: usize,
        cycles: &Cycles,
        members: &Column<KeyId, Members>,
    ) -> Vec<Total> {
        let values = &self.edge_values[series];
        let edges =
            || self.edges.iter().zip(values).map(|(&(from, to), &value)| (from.index(), to.index(), value));
        // The cost that no caller accounts for.
        let mut uncalled: Vec<i64> = members.iter().map(|members| members.sum).collect();
        for (_, callee, value) in edges() {
            uncalled[callee] = uncalled[callee].saturating_sub(value);
        }
        let uncalled = uncalled.into_iter().map(|value| value.max(0)).collect();
        cycles.totals(self.flat.self_value[series].as_slice(), edges(), uncalled, None)
    }

    /// Sums by line: a line's own cost plus the calls made on it. Recursion cannot raise a line above
    /// the total of its function.
    fn add_lines(&mut self, profile: &Profile, calls: &CallTable, keys: &Keys, metrics: &[usize]) {
        let lines = &calls.lines;
        for (series, &metric) in metrics.iter().enumerate() {
            let (own, total) = (&self.flat.self_value[series], &mut self.flat.total[series]);
            let mut most = Column::<KeyId, i64>::filled(0, keys.len());
            let mut add = |place: FrameId, function, value: i64| {
                let key = keys.of_frame(place);
                total[key] = total[key].saturating_add(value);
                most[key] = most[key].max(calls.totals[metric][function]);
            };
            for (&place, &function) in lines.place.iter().zip(&lines.function) {
                // The self values of lines are in their totals already.
                add(place, function, 0);
            }
            for edge in 0..calls.edge_count() {
                let (caller, callee) = (calls.caller[edge], calls.callee[edge]);
                if let Some(site) = calls.site[edge].filter(|_| caller != callee) {
                    let value = calls.edge_values[metric][edge].min(calls.totals[metric][callee]);
                    add(site, caller, value);
                }
            }
            let whole = profile.meta.metrics[metric].total;
            for key in keys.ids() {
                total[key] = total[key].min(most[key].max(own[key])).min(whole);
            }
        }
    }

    /// The callers and callees of the wanted keys.
    pub(super) fn neighbours(&self, wanted: &Column<KeyId, bool>, series: usize) -> Neighbours {
        let mut found = Neighbours::none(wanted.len());
        let counts_calls = self.counts_calls[series];
        let mut uncalled = self.flat.total[series].clone();
        // The number of edges on each side: each edge may be off by one because of rounding.
        let (mut above, mut below) = (0, 0);
        for (&(caller, callee), &value) in self.edges.iter().zip(&self.edge_values[series]) {
            match (wanted[caller], wanted[callee]) {
                (true, true) => found.itself = found.itself.saturating_add(value),
                (false, true) => {
                    found.callers[caller] = found.callers[caller].saturating_add(value);
                    above += 1;
                }
                (true, false) => {
                    found.callees[callee] = found.callees[callee].saturating_add(value);
                    below += 1;
                }
                (false, false) => {}
            }
            uncalled[callee] = uncalled[callee].saturating_sub(value);
        }
        let keys: Vec<KeyId> = wanted.ids().filter(|&key| wanted[key]).collect();
        let sum = |values: &mut dyn Iterator<Item = i64>| values.fold(0_i64, i64::saturating_add);
        found.self_value = sum(&mut keys.iter().map(|&key| self.flat.self_value[series][key]));
        let totals = sum(&mut keys.iter().map(|&key| self.flat.total[series][key]));
        let from_outside = sum(&mut found.callers.iter().copied());
        let to_outside = sum(&mut found.callees.iter().copied());
        found.is_called_back = !counts_calls && self.is_called_back(wanted, &keys);
        found.total = match keys[..] {
            [one] => self.flat.total[series][one],
            _ if counts_calls => found.self_value,
            // The cost of calls from outside plus the cost without a known caller: an upper bound.
            _ if found.is_called_back => {
                let uncalled = sum(&mut keys.iter().map(|&key| uncalled[key].max(0)));
                from_outside
                    .saturating_add(uncalled)
                    .max(found.self_value)
                    .min(totals)
                    .min(self.whole(series))
            }
            _ => found.self_value.saturating_add(to_outside).min(totals),
        };
        // Every call counts, whoever makes it; but the cost of inner calls is contained in that of the
        // outer ones.
        let accounted = if counts_calls {
            from_outside.saturating_add(found.itself)
        } else {
            found.itself = found.itself.min(found.total);
            from_outside
        };
        let rest = found.total.saturating_sub(accounted);
        if rest > above || accounted == 0 {
            found.root = rest;
        }
        // The number of calls that a function makes is not part of the number of calls to it.
        if !counts_calls {
            let beyond = |sum: i64, end: i64, rounding: i64| {
                let excess = excess(sum.into(), end, found.itself, found.total);
                if excess.unsigned_abs() > rounding.unsigned_abs() { excess } else { 0 }
            };
            let (callers, callees) =
                (beyond(from_outside, found.root, above), beyond(to_outside, found.self_value, below));
            (found.callers_excess, found.callees_excess) = (callers, callees);
        }
        found
    }

    /// The cost of everything: no function costs more.
    fn whole(&self, series: usize) -> i64 {
        self.flat.self_value[series].iter().fold(0, |sum, &own| sum.saturating_add(own))
    }

    /// Whether the callees of the wanted keys call back into them, directly or not.
    fn is_called_back(&self, wanted: &Column<KeyId, bool>, keys: &[KeyId]) -> bool {
        let mut callees: HashMap<KeyId, Vec<KeyId>> = HashMap::new();
        for &(caller, callee) in &self.edges {
            callees.entry(caller).or_default().push(callee);
        }
        let next = |key: KeyId| callees.get(&key).into_iter().flatten().copied();
        let mut seen = Column::<KeyId, bool>::filled(false, wanted.len());
        let mut work: Vec<KeyId> =
            keys.iter().flat_map(|&key| next(key)).filter(|&key| !wanted[key]).collect();
        while let Some(key) = work.pop() {
            if wanted[key] {
                return true;
            }
            if !std::mem::replace(&mut seen[key], true) {
                work.extend(next(key));
            }
        }
        false
    }

    /// The edges between the kept keys. Paths through omitted keys are not known.
    pub(super) fn call_edges(&self, kept: &Column<KeyId, bool>) -> Vec<CallEdge> {
        let edges = self.edges.iter().enumerate();
        edges
            .filter(|(_, (caller, callee))| caller != callee && kept[*caller] && kept[*callee])
            .map(|(edge, &(caller, callee))| {
                let values = self.edge_values.iter().map(|values| values[edge]).collect();
                CallEdge { caller, callee, values, bridged: false }
            })
            .collect()
    }
}
