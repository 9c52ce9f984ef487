//! Functions and the calls between them, for formats that record these instead of stacks.
//!
//! Callgrind and Python's cProfile write down what each function cost by itself, and for each pair of
//! caller and callee how often the one called the other and what that cost. No stack can be had from
//! that: whether `a → b → c` ever happened is not known where both `a → b` and `b → c` did.

use hashbrown::HashMap;

use crate::profile::{Column, FunctionId, Id, MappingId};

/// A table of functions and a table of calls. Values are columns, one a metric, in the order of
/// [`Meta::metrics`](crate::profile::Meta::metrics).
#[derive(Clone, Debug, Default)]
pub struct CallTable {
    /// The metric that counts calls, if there is one. Its self and total values are how often a
    /// function was called.
    pub calls_metric: Option<usize>,
    /// What each function cost by itself.
    pub self_values: Vec<Column<FunctionId, i64>>,
    /// What each function cost with all it called. Never more than the metric's total.
    pub totals: Vec<Column<FunctionId, i64>>,
    /// The binary or library of each function; id 0 where unknown.
    pub mapping: Column<FunctionId, MappingId>,
    /// The caller of each edge.
    pub caller: Vec<FunctionId>,
    /// The callee of each edge, which may be the caller itself.
    pub callee: Vec<FunctionId>,
    /// What each edge cost: the callee with all it called, when called by the caller.
    pub edge_values: Vec<Vec<i64>>,
}

impl CallTable {
    /// Number of edges. There is one a pair of caller and callee.
    pub fn edge_count(&self) -> usize {
        self.caller.len()
    }
}

/// A call table while it is being collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCollector {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    edge_index: HashMap<(FunctionId, FunctionId), usize>,
    pub(crate) calls_metric: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    self_values: Vec<i64>,
    totals: Option<Vec<i64>>,
    mapping: MappingId,
}

#[derive(Clone, Debug)]
struct Edge {
    caller: FunctionId,
    callee: FunctionId,
    values: Vec<i64>,
}

/// Adds values to sums. The error is the metric whose sum does not fit 64 bits.
fn add(sums: &mut Vec<i64>, values: &[i64]) -> Result<(), usize> {
    sums.resize(values.len().max(sums.len()), 0);
    let mut fits = Ok(());
    for (metric, (sum, &value)) in sums.iter_mut().zip(values).enumerate() {
        *sum = sum.saturating_add(value);
        if matches!(*sum, i64::MIN | i64::MAX) {
            fits = Err(metric);
        }
    }
    fits
}

impl CallCollector {
    /// About how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        /// The values of a row stand on their own, and small allocations take more than they hold.
        const VALUES: usize = 64;
        self.nodes.capacity() * (size_of::<Node>() + VALUES)
            + self.edges.capacity() * (size_of::<Edge>() + VALUES)
            + self.edge_index.allocation_size()
    }

    fn node(&mut self, function: FunctionId) -> &mut Node {
        if self.nodes.len() <= function.index() {
            self.nodes.resize_with(function.index() + 1, Node::default);
        }
        &mut self.nodes[function.index()]
    }

    pub(crate) fn add_self(&mut self, function: FunctionId, values: &[i64]) -> Result<(), usize> {
        add(&mut self.node(function).self_values, values)
    }

    pub(crate) fn add_total(&mut self, function: FunctionId, values: &[i64]) -> Result<(), usize> {
        add(self.node(function).totals.get_or_insert_default(), values)
    }

    pub(crate) fn set_mapping(&mut self, function: FunctionId, mapping: MappingId) {
        self.node(function).mapping = mapping;
    }

    pub(crate) fn add_edge(
        &mut self,
        caller: FunctionId,
        callee: FunctionId,
        values: &[i64],
    ) -> Result<(), usize> {
        let edges = &mut self.edges;
        let index = *self.edge_index.entry((caller, callee)).or_insert_with(|| {
            edges.push(Edge { caller, callee, values: Vec::new() });
            edges.len() - 1
        });
        add(&mut self.edges[index].values, values)
    }

    /// The finished table. `functions` is how many there are; `wholes` are the metrics' totals, which
    /// bound those of functions.
    pub(crate) fn finish(mut self, functions: usize, wholes: &[i64]) -> CallTable {
        self.nodes.resize_with(functions, Node::default);
        let cycles = Cycles::find(functions, &self.edges);
        let mut table = CallTable {
            calls_metric: self.calls_metric,
            mapping: self.nodes.iter().map(|node| node.mapping).collect(),
            caller: self.edges.iter().map(|edge| edge.caller).collect(),
            callee: self.edges.iter().map(|edge| edge.callee).collect(),
            ..CallTable::default()
        };
        let at = |values: &[i64], metric: usize| values.get(metric).copied().unwrap_or(0);
        for (metric, &whole) in wholes.iter().enumerate() {
            let self_values: Column<FunctionId, i64> =
                self.nodes.iter().map(|node| at(&node.self_values, metric)).collect();
            let edge_values: Vec<i64> = self.edges.iter().map(|edge| at(&edge.values, metric)).collect();
            let mut totals = if Some(metric) == self.calls_metric {
                self_values.clone()
            } else {
                cycles.totals(&self_values, &self.edges, &edge_values)
            };
            for (function, node) in self.nodes.iter().enumerate() {
                let function = FunctionId::new(function);
                if let Some(known) = &node.totals {
                    totals[function] = at(known, metric);
                }
                totals[function] = totals[function].min(whole);
            }
            table.self_values.push(self_values);
            table.totals.push(totals);
            table.edge_values.push(edge_values);
        }
        table
    }
}

/// Which functions call each other in circles.
///
/// Outside of circles a function's total is its self and what its calls cost. Within one, a call's
/// cost may contain the caller's own, and adding it up would count that many times. There the total is
/// what the callers say the function cost them, but at least its self and its calls out of the
/// circle, and at most what the circle costs as a whole. A function that only calls itself needs no
/// such care: the calls to itself are left out.
struct Cycles {
    /// The circle of each function. A function in no circle has one of its own.
    of: Vec<usize>,
    /// Number of functions in each circle.
    size: Vec<usize>,
}

impl Cycles {
    /// Finds the strongly connected components of the call graph (Tarjan, with a stack of its own
    /// instead of recursion).
    fn find(functions: usize, edges: &[Edge]) -> Cycles {
        const NEW: usize = usize::MAX;
        let (starts, callees) = by_caller(functions, edges);
        let mut cycles = Cycles { of: vec![NEW; functions], size: Vec::new() };
        let (mut order, mut low) = (vec![NEW; functions], vec![0; functions]);
        let (mut open, mut next) = (Vec::new(), 0);
        for root in 0..functions {
            if order[root] != NEW {
                continue;
            }
            // Functions being visited, each with the edge it goes on with.
            let mut visits = vec![(root, starts[root])];
            while let Some((function, edge)) = visits.pop() {
                if order[function] == NEW {
                    (order[function], low[function]) = (next, next);
                    next += 1;
                    open.push(function);
                }
                if edge > starts[function] {
                    let done = callees[edge - 1];
                    if cycles.of[done] == NEW {
                        low[function] = low[function].min(low[done]);
                    }
                }
                if edge < starts[function + 1] {
                    visits.push((function, edge + 1));
                    let callee = callees[edge];
                    if order[callee] == NEW {
                        visits.push((callee, starts[callee]));
                    }
                } else if low[function] == order[function] {
                    cycles.close(function, &mut open);
                }
            }
        }
        cycles
    }

    fn close(&mut self, first: usize, open: &mut Vec<usize>) {
        let cycle = self.size.len();
        self.size.push(0);
        while let Some(member) = open.pop() {
            self.of[member] = cycle;
            self.size[cycle] += 1;
            if member == first {
                return;
            }
        }
    }

    fn totals(
        &self,
        self_values: &Column<FunctionId, i64>,
        edges: &[Edge],
        edge_values: &[i64],
    ) -> Column<FunctionId, i64> {
        let mut own: Vec<i64> = self_values.iter().copied().collect();
        let mut from_callers = vec![0_i64; own.len()];
        let mut of_cycle = vec![0_i64; self.size.len()];
        for (function, &value) in own.iter().enumerate() {
            of_cycle[self.of[function]] = of_cycle[self.of[function]].saturating_add(value);
        }
        for (edge, &value) in edges.iter().zip(edge_values) {
            let (caller, callee) = (edge.caller.index(), edge.callee.index());
            if self.of[caller] != self.of[callee] {
                own[caller] = own[caller].saturating_add(value);
                of_cycle[self.of[caller]] = of_cycle[self.of[caller]].saturating_add(value);
            }
            if caller != callee {
                from_callers[callee] = from_callers[callee].saturating_add(value);
            }
        }
        let total = |function: usize| {
            let cycle = self.of[function];
            if self.size[cycle] == 1 {
                return own[function];
            }
            from_callers[function].max(own[function]).min(of_cycle[cycle])
        };
        (0..own.len()).map(total).collect()
    }
}

/// The callees of every function in one list, and where each function's begin.
fn by_caller(functions: usize, edges: &[Edge]) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; functions + 1];
    for edge in edges {
        starts[edge.caller.index() + 1] += 1;
    }
    for function in 0..functions {
        starts[function + 1] += starts[function];
    }
    let mut next = starts.clone();
    let mut callees = vec![0; edges.len()];
    for edge in edges {
        let slot = &mut next[edge.caller.index()];
        callees[*slot] = edge.callee.index();
        *slot += 1;
    }
    (starts, callees)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals of functions 0, 1, 2 … from their self values and their calls.
    fn totals(self_values: &[i64], calls: &[(usize, usize, i64)]) -> Vec<i64> {
        let mut calls_by = CallCollector { calls_metric: Some(1), ..CallCollector::default() };
        for (function, &value) in self_values.iter().enumerate() {
            calls_by.add_self(FunctionId::new(function), &[value, 0]).unwrap();
        }
        for &(caller, callee, value) in calls {
            calls_by.add_edge(FunctionId::new(caller), FunctionId::new(callee), &[value, 1]).unwrap();
        }
        let table = calls_by.finish(self_values.len(), &[self_values.iter().sum(), 0]);
        table.totals[0].iter().copied().collect()
    }

    #[test]
    fn without_recursion_a_total_is_self_and_calls() {
        assert_eq!(totals(&[1, 2, 4], &[(0, 1, 4), (0, 2, 2), (1, 2, 2)]), [7, 4, 4]);
    }

    #[test]
    fn calls_to_oneself_are_left_out() {
        assert_eq!(totals(&[1, 10, 5], &[(0, 1, 15), (1, 1, 40), (1, 2, 5)]), [16, 15, 5]);
    }

    #[test]
    fn in_a_circle_no_total_exceeds_the_circle() {
        // 0 calls 1, 1 and 2 call each other, 2 calls 3.
        let calls = [(0, 1, 18), (1, 2, 30), (2, 1, 25), (2, 3, 8)];
        assert_eq!(totals(&[2, 6, 4, 8], &calls), [20, 18, 18, 8]);
    }

    #[test]
    fn deep_chains_need_no_deep_stack() {
        let count = 200_000;
        let calls: Vec<_> = (1..count).map(|callee| (callee - 1, callee, (count - callee) as i64)).collect();
        assert_eq!(totals(&vec![1; count], &calls)[0], count as i64);
    }
}
