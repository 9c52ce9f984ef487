//! Approximate trees for profiles that hold calls instead of stacks.
//!
//! Such a profile does not say who called a function's caller at the time. A function's cost is
//! therefore divided among its callers in proportion to what each is charged for it, as gprof does; this
//! is exact if each function has one caller. Calls that close a cycle are left out, so that the
//! remaining calls have an order.

use crate::profile::Column;
use crate::tree::calls::KeyCalls;
use crate::tree::partition::Partition;
use crate::tree::{CallTree, CallerTree, KeyId, Node, NodeId, Shape, whole};

/// How the cost of every key is divided among its callers.
#[derive(Clone, Debug)]
pub(super) struct CostShares {
    /// The callers and the callees of every key, without cycles and calls to itself.
    callers: Column<KeyId, Vec<NeighbourEdge>>,
    callees: Column<KeyId, Vec<NeighbourEdge>>,
    /// For each series: the cost charged to each edge, the cost without a caller, and the sum of both.
    charged: Vec<Vec<f64>>,
    uncalled: Vec<Column<KeyId, f64>>,
    all: Vec<Column<KeyId, f64>>,
    /// For each series, self plus the divided cost of callees: the total of a key in the whole tree.
    below: Vec<Column<KeyId, f64>>,
}

/// An edge as seen from one of its ends.
#[derive(Clone, Copy, Debug)]
struct NeighbourEdge {
    key: KeyId,
    edge: usize,
}

impl CostShares {
    pub(super) fn new(calls: &KeyCalls) -> CostShares {
        let keys = calls.flat.total.first().map_or(0, Column::len);
        let mut callees: Column<KeyId, Vec<NeighbourEdge>> = Column::filled(Vec::new(), keys);
        for (edge, &(caller, callee)) in calls.edges.iter().enumerate() {
            let is_charged = calls.edge_values.iter().any(|values| values[edge] > 0);
            if caller != callee && is_charged {
                callees[caller].push(NeighbourEdge { key: callee, edge });
            }
        }
        let order = break_cycles(calls, &mut callees);
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
        for series in 0..calls.edge_values.len() {
            shares.weigh(calls, series, &order);
        }
        shares
    }

    /// Computes the weights of one series. `order` has callers before their callees.
    fn weigh(&mut self, calls: &KeyCalls, series: usize, order: &[KeyId]) {
        let keys = self.callers.len();
        let charged: Vec<f64> = calls.edge_values[series].iter().map(|&value| value.max(0) as f64).collect();
        // The cost charged to callers, including callers whose calls close a cycle.
        let mut by_all = Column::<KeyId, f64>::filled(0.0, keys);
        for (&(caller, callee), charged) in calls.edges.iter().zip(&charged) {
            by_all[callee] += if caller == callee { 0.0 } else { *charged };
        }
        let (mut uncalled, mut all) = (Column::filled(0.0, keys), Column::filled(0.0, keys));
        for (key, callers) in self.callers.enumerate() {
            let by_callers: f64 = callers.iter().map(|link| charged[link.edge]).sum();
            let total = calls.flat.total[series][key].max(0) as f64;
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
        let mut below: Column<KeyId, f64> = calls.flat.self_value[series].map(|&own| own.max(0) as f64);
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
    fn charge(&self, series: usize, key: KeyId, edge: Option<usize>) -> f64 {
        let charged = edge.map_or(self.uncalled[series][key], |edge| self.charged[series][edge]);
        self.below[series][key] * charged / self.all[series][key]
    }
}

/// Leaves out the calls that close a cycle: those that lead back in a depth-first search that starts at
/// keys without callers, then at the heaviest, and follows the heaviest calls first. Returns the keys
/// with callers before their callees.
fn break_cycles(calls: &KeyCalls, callees: &mut Column<KeyId, Vec<NeighbourEdge>>) -> Vec<KeyId> {
    let (total, charged) = (&calls.flat.total[0], &calls.edge_values[0]);
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

/// Builds the call tree.
pub(super) fn call_tree(calls: &KeyCalls, shape: &Shape<'_>) -> CallTree {
    let shares = calls.shares();
    let wholes = wholes(calls);
    let own = |key: KeyId, total: &[i64]| -> Vec<i64> {
        let share = |(series, &total): (usize, &i64)| {
            let own = calls.flat.self_value[series][key].max(0) as f64;
            part(total, own, shares.below[series][key])
        };
        total.iter().enumerate().map(share).collect()
    };
    let root = NodeDraft { key: whole(), total: wholes.clone(), ended: vec![0; wholes.len()] };
    let grow = |node: &NodeDraft| -> Vec<NodeDraft> {
        let is_root = node.key == whole();
        let links: Vec<(KeyId, Option<usize>)> = if is_root {
            shares.callers.ids().skip(1).map(|key| (key, None)).collect()
        } else {
            shares.callees[node.key].iter().map(|link| (link.key, Some(link.edge))).collect()
        };
        let split = |(series, &total): (usize, &i64)| {
            let charges = links.iter().map(|&(key, edge)| shares.charge(series, key, edge));
            if is_root {
                let weights: Vec<f64> = charges.collect();
                return split(total, &weights, weights.iter().sum());
            }
            let own = calls.flat.self_value[series][node.key].max(0) as f64;
            let weights: Vec<f64> = std::iter::once(own).chain(charges).collect();
            split(total, &weights, shares.below[series][node.key]).split_off(1)
        };
        let columns: Vec<Vec<i64>> = node.total.iter().enumerate().map(split).collect();
        let child = |(row, &(key, _)): (usize, &(KeyId, Option<usize>))| {
            let total: Vec<i64> = columns.iter().map(|column| column[row]).collect();
            NodeDraft { key, ended: own(key, &total), total }
        };
        links.iter().enumerate().map(child).collect()
    };
    build(&root, &grow, shape, NODES, PATH).into()
}

/// Builds the inverted tree: leaf functions at the top, their callers below them.
pub(super) fn inverted_tree(calls: &KeyCalls, shape: &Shape<'_>) -> CallTree {
    let shares = calls.shares();
    let wholes = wholes(calls);
    let root = NodeDraft { key: whole(), total: wholes.clone(), ended: vec![0; wholes.len()] };
    let ended = |key: KeyId, total: &[i64]| shares.split_callers(key, total).1;
    let grow = |node: &NodeDraft| -> Vec<NodeDraft> {
        if node.key == whole() {
            let own = |key: KeyId| calls.flat.self_value.iter().map(|own| own[key]).collect::<Vec<i64>>();
            let keys = shares.callers.ids().skip(1);
            return keys
                .map(|key| NodeDraft { key, ended: ended(key, &own(key)), total: own(key) })
                .collect();
        }
        let (rows, _) = shares.split_callers(node.key, &node.total);
        rows.into_iter().map(|(key, total)| NodeDraft { key, ended: ended(key, &total), total }).collect()
    };
    build(&root, &grow, shape, NODES, PATH).into()
}

/// Builds the caller tree of one key. The values of a node are all totals, then all selfs.
pub(super) fn caller_tree(calls: &KeyCalls, key: KeyId, shape: &Shape<'_>) -> CallerTree {
    let shares = calls.shares();
    let series = calls.flat.total.len();
    let columns = calls.flat.total.iter().chain(&calls.flat.self_value);
    let total: Vec<i64> = columns.map(|column| column[key]).collect();
    let root = NodeDraft { key, ended: vec![0; total.len()], total };
    let grow = |node: &NodeDraft| -> Vec<NodeDraft> {
        if node.key == whole() {
            return Vec::new();
        }
        // Parts of totals and parts of selfs are rounded apart, so that a self could exceed its total: what is not self
        // is divided instead, and added to the part of self again.
        let (rows, uncalled) = shares.split_callers(node.key, &add_self(&node.total, series, -1));
        let rows = rows.into_iter().chain([(whole(), uncalled)]);
        let row = |(key, parts): (KeyId, Vec<i64>)| {
            let total = add_self(&parts, series, 1);
            NodeDraft { key, ended: vec![0; total.len()], total }
        };
        rows.map(row).collect()
    };
    CallerTree::of(build(&root, &grow, shape, CALLERS, PATH), series)
}

/// Adds the selfs to the totals that come before them, or subtracts them. `values` are a total for each series, then a
/// self for each series.
fn add_self(values: &[i64], series: usize, sign: i64) -> Vec<i64> {
    let mut values = values.to_vec();
    for column in 0..series {
        values[column] += sign * values[series + column];
    }
    values
}

impl CostShares {
    /// Divides the values of a key among its callers, and returns what remains without a caller. The
    /// values are one per series, or all totals and then all selfs.
    fn split_callers(&self, key: KeyId, total: &[i64]) -> (Vec<(KeyId, Vec<i64>)>, Vec<i64>) {
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

fn wholes(calls: &KeyCalls) -> Vec<i64> {
    calls.flat.self_value.iter().map(|own| own.iter().sum()).collect()
}

/// `total` · `part` / `all`, rounded.
fn part(total: i64, part: f64, all: f64) -> i64 {
    if all <= 0.0 {
        return 0;
    }
    let total_as_float = total as f64;
    #[expect(clippy::float_cmp, reason = "exact where nothing has to be scaled, as in graphs that are trees")]
    let scaled = if total_as_float == all { part } else { total_as_float * part / all };
    (scaled.round() as i64).clamp(0, total.max(0))
}

/// Splits `total` in proportion to the weights, whose sum is `all`; the parts add up exactly to `total`.
fn split(total: i64, weights: &[f64], all: f64) -> Vec<i64> {
    let (mut sum, mut given) = (0.0, 0);
    let share = |weight: &f64| {
        sum += weight;
        let upto = part(total, sum, all).max(given);
        upto - std::mem::replace(&mut given, upto)
    };
    weights.iter().map(share).collect()
}

/// A node of a tree under construction.
struct NodeDraft {
    key: KeyId,
    total: Vec<i64>,
    ended: Vec<i64>,
}

/// The most nodes that are built for a whole tree, and for the callers of one function.
const NODES: usize = 50_000;
const CALLERS: usize = 100;

/// Paths lighter than 1 / `PATH` of the whole are not followed.
const PATH: u64 = 100_000;

/// Builds a tree limited by `shape` and to `most` nodes; if that is too few, lighter paths are left out.
fn build(
    root: &NodeDraft,
    grow: &dyn Fn(&NodeDraft) -> Vec<NodeDraft>,
    shape: &Shape<'_>,
    most: usize,
    mut parts: u64,
) -> Partition {
    let whole: u64 = root.total.iter().map(|total| total.unsigned_abs()).max().unwrap_or(0);
    loop {
        // At one part, only a path with the whole weight is followed, which has no forks.
        let (tree, is_full) = build_down_to(root, grow, shape, most, (whole / parts).max(1));
        if !is_full || parts <= 1 {
            return tree;
        }
        parts = (parts / 4).max(1);
    }
}

/// Builds a tree of the nodes that weigh at least `smallest`, and reports whether it stopped at `most`
/// nodes.
fn build_down_to(
    root: &NodeDraft,
    grow: &dyn Fn(&NodeDraft) -> Vec<NodeDraft>,
    shape: &Shape<'_>,
    most: usize,
    smallest: u64,
) -> (Partition, bool) {
    let mut tree = Partition {
        total: vec![Column::new(); root.total.len()],
        ended: vec![Column::new(); root.total.len()],
        ..Partition::default()
    };
    let copy = NodeDraft { key: root.key, total: root.total.clone(), ended: root.ended.clone() };
    let mut work = vec![(NodeId::default(), 0, copy)];
    while let Some((parent, depth, node)) = work.pop() {
        let is_full = tree.parent.len() >= most;
        let id = tree.push(parent, node.node(), false);
        let mut children = grow(&node);
        children.retain(|child| child.total.iter().any(|&total| total != 0));
        let all = children.len();
        if depth >= shape.max_depth || is_full {
            children.clear();
        }
        let weighs = |child: &NodeDraft| child.total.iter().any(|total| total.unsigned_abs() >= smallest);
        children.retain(|child| weighs(child) && (shape.keep)(child.node()));
        tree.cut.push((all - children.len()) as u32);
        if is_full {
            // Nodes that are still waiting are not built either: they count as cut from their parent.
            for (parent, ..) in work {
                tree.cut[parent] += 1;
            }
            return (tree, true);
        }
        children.sort_by(|a, b| (shape.order)(a.node(), b.node()));
        // Pushed in reverse, since the last one pushed is popped first.
        work.extend(children.into_iter().rev().map(|child| (id, depth + 1, child)));
    }
    (tree, false)
}

impl NodeDraft {
    fn node(&self) -> Node<'_> {
        Node { key: self.key, total: &self.total, ended: &self.ended }
    }
}
