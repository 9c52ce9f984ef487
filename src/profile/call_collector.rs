//! Collecting the calls of a profile: equal edges and lines are stored once, and their values are summed.

use std::hash::{Hash, Hasher};

use hashbrown::HashMap;

use crate::profile::cycles::{Cycles, Total};
use crate::profile::{
    CallLines, CallTable, Column, Frame, FrameId, FunctionId, HashIndex, Id, MappingId, SymbolTable,
    ValueSums,
};

/// A call table while it is being collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCollector {
    nodes: Vec<CallNode>,
    self_values: ValueSums,
    totals: ValueSums,
    edges: Vec<Edge>,
    edge_values: ValueSums,
    /// The number of each edge. It does not store the edges themselves, which would take three times as much memory.
    edge_index: HashIndex<u32>,
    lines: Vec<CallLine>,
    line_values: ValueSums,
    line_index: HashMap<CallLine, usize>,
    pub(crate) call_counts: Vec<usize>,
}

/// How many functions have totals that cannot be, by more than a hundredth of the whole; less is rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpossibleTotals {
    /// Above the whole; cut to it.
    pub(crate) above: usize,
    /// Below their self values; raised to them.
    pub(crate) below: usize,
}

#[derive(Clone, Debug, Default)]
struct CallNode {
    is_used: bool,
    has_total: bool,
    has_bound: bool,
    /// Whether its total is cut to the whole. In a file of several threads, `main` waits while another thread runs; in a file that
    /// lacks functions, `main` calls them all the same.
    is_cut: bool,
    /// Whether its total is less than its self value. Since Python 3.12, one profiler sees the calls of all threads, which interleave.
    is_raised: bool,
    mapping: MappingId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    caller: FunctionId,
    callee: FunctionId,
    site: Option<FrameId>,
}

// Implemented by hand to hash two words instead of four fields.
impl Hash for Edge {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64((self.caller.index() as u64) << 32 | self.callee.index() as u64);
        state.write_u64(self.site.map_or(0, |site| site.index() as u64 + 1));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CallLine {
    function: FunctionId,
    place: FrameId,
}

impl CallCollector {
    /// The approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        let sums = [&self.self_values, &self.totals, &self.edge_values, &self.line_values];
        self.nodes.capacity() * size_of::<CallNode>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.edge_index.size()
            + self.lines.capacity() * size_of::<CallLine>()
            + self.line_index.allocation_size()
            + sums.into_iter().map(ValueSums::size).sum::<usize>()
    }

    fn node(&mut self, function: FunctionId) -> &mut CallNode {
        if self.nodes.len() <= function.index() {
            self.nodes.resize_with(function.index() + 1, CallNode::default);
        }
        let node = &mut self.nodes[function.index()];
        node.is_used = true;
        node
    }

    pub(crate) fn add_self(&mut self, function: FunctionId, values: &[i64]) -> Result<(), usize> {
        self.node(function);
        self.self_values.add(function.index(), values)
    }

    pub(crate) fn add_line(
        &mut self,
        function: FunctionId,
        place: FrameId,
        values: &[i64],
    ) -> Result<(), usize> {
        let lines = &mut self.lines;
        let line = CallLine { function, place };
        let index = *self.line_index.entry(line).or_insert_with(|| {
            lines.push(line);
            lines.len() - 1
        });
        self.line_values.add(index, values)
    }

    pub(crate) fn add_total(&mut self, function: FunctionId, values: &[i64]) -> Result<(), usize> {
        self.node(function).has_total = true;
        self.totals.add(function.index(), values)
    }

    /// Says that the totals added are only upper bounds.
    pub(crate) fn set_bound(&mut self, function: FunctionId) {
        self.node(function).has_bound = true;
    }

    pub(crate) fn set_mapping(&mut self, function: FunctionId, mapping: MappingId) {
        self.node(function).mapping = mapping;
    }

    pub(crate) fn add_edge(
        &mut self,
        caller: FunctionId,
        callee: FunctionId,
        site: Option<FrameId>,
        values: &[i64],
    ) -> Result<(), usize> {
        self.node(caller);
        self.node(callee);
        let edge = Edge { caller, callee, site };
        let hash = self.edge_index.hash(&edge);
        let known = self.edge_index.find(hash, |index| self.edges[index as usize] == edge);
        let index = known.unwrap_or_else(|| {
            // More than 2³² edges do not fit in memory.
            let index = self.edges.len() as u32;
            self.edges.push(edge);
            self.edge_index.insert(hash, index);
            index
        });
        self.edge_values.add(index as usize, values)
    }

    /// Replaces callees, which must not be callers themselves. Edges that become equal are merged.
    pub(crate) fn redirect_callees(&mut self, target: &HashMap<FunctionId, FunctionId>) {
        if target.is_empty() {
            return;
        }
        for &replaced in target.keys() {
            self.node(replaced).is_used = false;
        }
        let (edges, values) = (std::mem::take(&mut self.edges), std::mem::take(&mut self.edge_values));
        self.edge_index = HashIndex::default();
        for (row, Edge { caller, callee, site }) in edges.into_iter().enumerate() {
            let callee = target.get(&callee).copied().unwrap_or(callee);
            // Sums that do not fit were reported when the edges were added.
            let _ = self.add_edge(caller, callee, site, values.row(row));
        }
    }

    /// The finished table. `wholes` are the totals of the metrics, which limit the totals of functions. The frames of
    /// the functions are added to `symbols`. Returns also how many functions have totals that cannot be.
    pub(crate) fn finish(
        mut self,
        symbols: &mut SymbolTable,
        wholes: &[i64],
    ) -> (CallTable, ImpossibleTotals) {
        self.edge_index = HashIndex::default();
        self.nodes.resize_with(symbols.symbols.functions.len(), CallNode::default);
        // If there are no frames yet, there is no need to search for equal ones.
        let is_first = symbols.symbols.frames.is_empty();
        let frame = |(function, node): (usize, &CallNode)| {
            let frame =
                Frame { function: FunctionId::new(function), mapping: node.mapping, ..Frame::default() };
            let add =
                |frame| if is_first { symbols.symbols.frames.push(frame) } else { symbols.frame(frame) };
            node.is_used.then_some(frame).map(add)
        };
        let mut table = CallTable {
            call_counts: self.call_counts.clone(),
            frame: self.nodes.iter().enumerate().map(frame).collect(),
            caller: self.edges.iter().map(|edge| edge.caller).collect(),
            callee: self.edges.iter().map(|edge| edge.callee).collect(),
            site: self.edges.iter().map(|edge| edge.site).collect(),
            lines: CallLines {
                function: self.lines.iter().map(|line| line.function).collect(),
                place: self.lines.iter().map(|line| line.place).collect(),
                self_values: Vec::new(),
            },
            ..CallTable::default()
        };
        let pair = |edge: &Edge| (edge.caller.index(), edge.callee.index());
        let cycles = Cycles::find(self.nodes.len(), self.edges.iter().map(pair));
        for (metric, &whole) in wholes.iter().enumerate() {
            let (self_values, totals) = self.sums(metric, whole, &cycles);
            table.self_values.push(self_values);
            table.totals.push(totals);
            table.edge_values.push(self.edge_values.column(self.edges.len(), metric));
            table.lines.self_values.push(self.line_values.column(self.lines.len(), metric));
        }
        table.has_bounds = self.nodes.iter().map(|node| node.has_bound).collect();
        let count = |is: fn(&CallNode) -> bool| self.nodes.iter().filter(|node| is(node)).count();
        (table, ImpossibleTotals { above: count(|node| node.is_cut), below: count(|node| node.is_raised) })
    }

    /// Self and total of every function. Notes those whose total is only an upper bound, and those whose total is cut or raised.
    fn sums(
        &mut self,
        metric: usize,
        whole: i64,
        cycles: &Cycles,
    ) -> (Column<FunctionId, i64>, Column<FunctionId, i64>) {
        let own = self.self_values.column(self.nodes.len(), metric);
        let are_counts = self.call_counts.contains(&metric);
        let counted = if are_counts {
            own.iter().map(|&calls| Total { value: calls, is_bound: false }).collect()
        } else {
            let edge = |(index, edge): (usize, &Edge)| {
                (edge.caller.index(), edge.callee.index(), self.edge_values.at(index, metric))
            };
            let calls = self.call_counts.first().map(|&calls| self.self_values.column(own.len(), calls));
            let edges = self.edges.iter().enumerate().map(edge);
            cycles.totals(&own, edges, vec![0; own.len()], calls.as_deref())
        };
        let total = |(index, counted): (usize, Total)| {
            let node = &mut self.nodes[index];
            let value = if node.has_total { self.totals.at(index, metric) } else { counted.value };
            let is_bound = counted.is_bound && !node.has_total;
            node.has_bound |= is_bound;
            node.is_cut |= !is_bound && !are_counts && value > whole.saturating_add(whole / 100);
            let least = own[index].max(0);
            node.is_raised |= !are_counts && value >= 0 && value < least.saturating_sub(whole / 100);
            if value >= 0 { value.max(least).min(whole) } else { value.min(whole) }
        };
        let totals: Column<FunctionId, i64> = counted.into_iter().enumerate().map(total).collect();
        (own.into_iter().collect(), totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Function;

    /// Totals of functions 0, 1, 2 … from their self values and their calls.
    fn totals(self_values: &[i64], calls: &[(usize, usize, i64)]) -> Vec<i64> {
        let mut calls_by = CallCollector { call_counts: vec![1], ..CallCollector::default() };
        for (function, &value) in self_values.iter().enumerate() {
            calls_by.add_self(FunctionId::new(function), &[value, 0]).unwrap();
        }
        for &(caller, callee, value) in calls {
            calls_by.add_edge(FunctionId::new(caller), FunctionId::new(callee), None, &[value, 1]).unwrap();
        }
        let mut symbols = SymbolTable::default();
        for function in 0..self_values.len() {
            let name = symbols.symbols.strings.intern(&function.to_string());
            symbols.function(Function { name, file: name, line: 0, column: 0, by_place: false });
        }
        let (table, _) = calls_by.finish(&mut symbols, &[self_values.iter().sum(), 0]);
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
    fn stacks_may_start_in_a_circle() {
        // The stacks 0, 1, 0 with 10 and 0, 1, 2 with 5.
        assert_eq!(totals(&[10, 0, 5], &[(0, 1, 15), (1, 0, 10), (1, 2, 5)]), [15, 15, 5]);
        // 0 calls 1 for 4, and the stacks 1, 2, 1 with 6.
        assert_eq!(totals(&[0, 10, 0], &[(0, 1, 4), (1, 2, 6), (2, 1, 6)]), [4, 10, 6]);
    }

    #[test]
    fn deep_chains_need_no_deep_stack() {
        let count = 200_000;
        let calls: Vec<_> = (1..count).map(|callee| (callee - 1, callee, (count - callee) as i64)).collect();
        assert_eq!(totals(&vec![1; count], &calls)[0], count as i64);
    }

    #[test]
    fn redirected_calls_are_merged_with_equal_ones() {
        let [main, lex, first, second] = [0, 1, 2, 3].map(FunctionId::new);
        let mut calls = CallCollector::default();
        calls.add_self(lex, &[5]).unwrap();
        for (callee, value) in [(first, 10), (lex, 1), (second, 4)] {
            calls.add_edge(main, callee, None, &[value]).unwrap();
        }
        calls.redirect_callees(&HashMap::from_iter([(first, lex), (second, lex)]));
        let mut symbols = SymbolTable::default();
        for function in ["main", "lex", "lex [1/2]", "lex [2/2]"] {
            let name = symbols.symbols.strings.intern(function);
            symbols.function(Function { name, file: name, line: 0, column: 0, by_place: false });
        }
        let (table, _) = calls.finish(&mut symbols, &[100]);
        assert_eq!((&table.caller[..], &table.callee[..]), (&[main][..], &[lex][..]));
        assert_eq!(table.edge_values, [[15]]);
        let has_frame: Vec<bool> = table.frame.iter().map(Option::is_some).collect();
        assert_eq!(has_frame, [true, true, false, false]);
    }
}
