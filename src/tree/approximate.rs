//! Approximate trees for profiles that hold calls instead of stacks: the cost of a function is divided among its
//! callers as [`CostShares`](crate::tree::shares::CostShares) says.

use crate::profile::Column;
use crate::tree::calls::KeyCalls;
use crate::tree::partition::Partition;
use crate::tree::shares::{part, split};
use crate::tree::{KeyId, NodeId, Shape, TreeNode, whole};

/// Builds the call tree.
pub(super) fn call_tree(calls: &KeyCalls, shape: &Shape<'_>) -> Partition {
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
    build(&root, &grow, shape, NODES, PATH)
}

/// Builds the inverted tree: leaf functions at the top, their callers below them.
pub(super) fn inverted_tree(calls: &KeyCalls, shape: &Shape<'_>) -> Partition {
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
    build(&root, &grow, shape, NODES, PATH)
}

/// Builds the caller tree of one key. The values of a node are all totals, then all selfs.
pub(super) fn caller_tree(calls: &KeyCalls, key: KeyId, shape: &Shape<'_>) -> Partition {
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
    build(&root, &grow, shape, CALLERS, PATH)
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

fn wholes(calls: &KeyCalls) -> Vec<i64> {
    calls.flat.self_value.iter().map(|own| own.iter().sum()).collect()
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
    fn node(&self) -> TreeNode<'_> {
        TreeNode { key: self.key, total: &self.total, ended: &self.ended }
    }
}
