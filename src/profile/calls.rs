//! Functions and the calls between them, for formats that record these instead of stacks.
//!
//! Callgrind and Python's cProfile record the cost of each function itself, and for each pair of caller and
//! callee the number of calls and their cost. Stacks cannot be reconstructed from that: if both `a → b` and
//! `b → c` happened, it is unknown whether `a → b → c` ever did.

use crate::profile::{Column, FrameId, FunctionId};

/// A table of functions and a table of calls. Values are columns, one per metric, in the order of
/// [`Meta::metrics`](crate::profile::Meta::metrics).
#[derive(Clone, Debug, Default)]
pub struct CallTable {
    /// The metrics that count calls: at most one of a file, but each of those that two sides were made from. Their self
    /// and total values are how often a function was called.
    pub call_counts: Vec<usize>,
    /// The self cost of each function.
    pub self_values: Vec<Column<FunctionId, i64>>,
    /// The total cost of each function, including its callees; at most the metric's total.
    pub totals: Vec<Column<FunctionId, i64>>,
    /// Whether a function has totals that are only upper bounds: it calls others that call it back, and the file has no
    /// totals.
    pub has_bounds: Column<FunctionId, bool>,
    /// The frame of each function as a whole: it has no line, and the binary if known. `None` for a function that
    /// exists only to name the file of inlined lines.
    pub frame: Column<FunctionId, Option<FrameId>>,
    /// The caller of each edge.
    pub caller: Vec<FunctionId>,
    /// The callee of each edge, which may be the caller itself.
    pub callee: Vec<FunctionId>,
    /// The line that each edge is called from, if the format has that.
    pub site: Vec<Option<FrameId>>,
    /// The cost of each edge: that of the callee, including its own callees, when called by the caller. Recursive
    /// calls contain each other, so these can add up to more than the callee's total.
    pub edge_values: Vec<Vec<i64>>,
    /// The self cost of lines, if the format has it.
    pub lines: CallLines,
}

/// The self cost of lines, one row per line of a function.
#[derive(Clone, Debug, Default)]
pub struct CallLines {
    /// The function that is charged.
    pub function: Vec<FunctionId>,
    /// The line. If it was inlined from another file, this is a frame of another function, with the same name and in
    /// that file.
    pub place: Vec<FrameId>,
    /// The cost, one column per metric.
    pub self_values: Vec<Vec<i64>>,
}

impl CallTable {
    /// Whether a metric counts calls, rather than what they cost.
    pub fn counts_calls(&self, metric: usize) -> bool {
        self.call_counts.contains(&metric)
    }

    /// The first metric that counts calls, if there is one.
    pub fn calls_metric(&self) -> Option<usize> {
        self.call_counts.first().copied()
    }

    /// Number of edges: one per caller, line and callee.
    pub fn edge_count(&self) -> usize {
        self.caller.len()
    }

    /// Whether the cost of lines is known.
    pub fn has_lines(&self) -> bool {
        !self.lines.place.is_empty()
    }

    /// The metrics of the given numbers, in that order.
    pub(crate) fn pick(&self, metrics: &[usize]) -> CallTable {
        let lines = CallLines { self_values: picked(&self.lines.self_values, metrics), ..self.lines.clone() };
        CallTable {
            call_counts: (0..metrics.len()).filter(|&made| self.counts_calls(metrics[made])).collect(),
            self_values: picked(&self.self_values, metrics),
            totals: picked(&self.totals, metrics),
            edge_values: picked(&self.edge_values, metrics),
            lines,
            ..self.clone()
        }
    }

    /// The functions that have a cost, call, or are called, each with its frame.
    pub fn functions(&self) -> impl Iterator<Item = (FunctionId, FrameId)> + '_ {
        self.frame.enumerate().filter_map(|(function, &frame)| Some((function, frame?)))
    }
}

fn picked<T: Clone>(columns: &[T], metrics: &[usize]) -> Vec<T> {
    metrics.iter().map(|&metric| columns[metric].clone()).collect()
}
