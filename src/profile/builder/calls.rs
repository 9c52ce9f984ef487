//! Building profiles of calls instead of stacks.

use hashbrown::HashMap;

use crate::profile::builder::ProfileBuilder;
use crate::profile::call_collector::CallCollector;
use crate::profile::{FrameId, FunctionId, MappingId};

impl ProfileBuilder {
    /// Declares that this profile holds calls instead of stacks, and that a metric counts them. Afterwards, call
    /// [`ProfileBuilder::call_node`] and [`ProfileBuilder::call_edge`], and add no samples.
    pub fn calls_metric(&mut self, metric: usize) {
        let counts = &mut self.call_collector().call_counts;
        if !counts.contains(&metric) {
            counts.push(metric);
        }
    }

    /// Adds the self cost of a function, one value per metric. For the metric that counts calls, that is how often
    /// it was called.
    pub fn call_node(&mut self, function: FunctionId, self_values: &[i64]) {
        debug_assert_eq!(self_values.len(), self.totals.len());
        self.count(0, self_values);
        let fits = self.call_collector().add_self(function, self_values);
        self.reject_overflow(fits);
    }

    /// Marks the first metric that does not fit, if there is one.
    fn reject_overflow(&mut self, fits: Result<(), usize>) {
        if let Err(metric) = fits {
            self.overflow(metric);
        }
    }

    /// Adds the self cost of a line of a function, in addition to the function's own cost given to
    /// [`ProfileBuilder::call_node`]. If the line was inlined from another file, `place` is a frame that is marked as
    /// inlined, of a function with the same name in that file.
    pub fn call_line(&mut self, function: FunctionId, place: FrameId, self_values: &[i64]) {
        if self.is_full(size_of_val(self_values)) {
            return;
        }
        let fits = self.call_collector().add_line(function, place, self_values);
        self.reject_overflow(fits);
    }

    /// Adds the total cost of a function, if the format has it. Otherwise totals are computed from the edges.
    pub fn call_total(&mut self, function: FunctionId, totals: &[i64]) {
        let fits = self.call_collector().add_total(function, totals);
        self.reject_overflow(fits);
    }

    /// Says that the total costs of a function are only upper bounds.
    pub fn call_bound(&mut self, function: FunctionId) {
        self.call_collector().set_bound(function);
    }

    /// Sets the binary or library of a function of a call table.
    pub fn call_mapping(&mut self, function: FunctionId, mapping: MappingId) {
        self.call_collector().set_mapping(function, mapping);
    }

    /// Adds the cost of calls from `caller` to `callee`, one value per metric. `site` is the line of the call, if
    /// known.
    pub fn call_edge(
        &mut self,
        caller: FunctionId,
        callee: FunctionId,
        site: Option<FrameId>,
        values: &[i64],
    ) {
        if self.is_full(size_of_val(values)) {
            return;
        }
        let fits = self.call_collector().add_edge(caller, callee, site, values);
        self.reject_overflow(fits);
    }

    /// Replaces callees in all calls so far. They must not be callers themselves.
    pub(crate) fn redirect_callees(&mut self, target: &HashMap<FunctionId, FunctionId>) {
        self.call_collector().redirect_callees(target);
    }

    fn call_collector(&mut self) -> &mut CallCollector {
        self.calls.get_or_insert_default()
    }
}
