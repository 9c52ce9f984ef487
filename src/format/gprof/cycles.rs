//! Estimates the times of calls within a cycle.
//!
//! ```text
//!                                  3             a <cycle 1> [5]      a caller of the cycle
//! [4]     42.3    0.00    0.36       3         b <cycle 1> [4]        its own time, and that of what it calls outside of the cycle
//!                 0.36    0.00       3/6           burn [3]           a callee outside of the cycle
//!                                    2             a <cycle 1> [5]    a callee of the cycle
//! ```
//!
//! For calls within a cycle, a report says how many there are, but not for how long. A function of a cycle passes what it costs on to
//! its callers in the cycle, in proportion to their calls, but only to those nearer to where the cycle is entered: a call that leads
//! back is part of another one. If `main` calls `a`, and `a` and `b` each other, `a` contains `b` and all that it costs, and `b` what
//! the report says of it.

use std::cmp::Reverse;
use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::profile::{FunctionId, Id};

/// A cycle of a report.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    /// The time of the cycle as a whole, if the report says so.
    pub(super) whole: Option<i64>,
    members: HashMap<FunctionId, Member>,
    calls: Vec<Call>,
}

/// A function of a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// Its self time, and that of what it calls outside of the cycle.
    own: i64,
    /// What callers outside of the cycle are charged for it, which is part of what the cycle costs.
    entered: i64,
    is_entry: bool,
    /// How many calls away from where the cycle is entered.
    depth: usize,
    total: i64,
}

/// Calls between two functions of a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) caller: FunctionId,
    pub(super) callee: FunctionId,
    pub(super) calls: i64,
    /// The estimated time.
    pub(super) time: i64,
}

impl Cycle {
    pub(super) fn add_own(&mut self, function: FunctionId, time: i64) {
        let member = self.members.entry(function).or_default();
        member.own = member.own.saturating_add(time);
    }

    /// Adds the time for which something outside of the cycle, if only the system, calls a function.
    pub(super) fn add_entry(&mut self, function: FunctionId, time: i64) {
        let member = self.members.entry(function).or_default();
        member.entered = member.entered.saturating_add(time);
        member.is_entry = true;
    }

    pub(super) fn add_calls(&mut self, caller: FunctionId, callee: FunctionId, calls: i64) {
        for function in [caller, callee] {
            self.members.entry(function).or_default();
        }
        self.calls.push(Call { caller, callee, calls, time: 0 });
    }

    /// The totals of the functions, in order, and the times of the calls between them.
    pub(super) fn estimate(mut self) -> (Vec<(FunctionId, i64)>, Vec<Call>) {
        let owns = self.members.values().map(|member| member.own).fold(0, i64::saturating_add);
        let whole = self.whole.unwrap_or(owns);
        self.find_depths();
        for member in self.members.values_mut() {
            member.total = member.own;
        }
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|call| (Reverse(self.members[&call.callee].depth), call.callee.index()));
        for calls in calls.chunk_by_mut(|one, next| one.callee == next.callee) {
            self.charge(calls, whole);
        }
        let total = |(function, member): (FunctionId, Member)| {
            (function, member.total.max(member.entered).min(whole))
        };
        let mut totals: Vec<_> = self.members.into_iter().map(total).collect();
        totals.sort_unstable_by_key(|(function, _)| *function);
        (totals, calls)
    }

    /// Charges the callers of one function, those that are nearer to where the cycle is entered, for it.
    fn charge(&mut self, calls: &mut [Call], whole: i64) {
        let callee = self.members[&calls[0].callee];
        let leads_on = |call: &Call| call.calls > 0 && self.members[&call.caller].depth < callee.depth;
        let count: i128 = calls.iter().filter(|call| leads_on(call)).map(|call| i128::from(call.calls)).sum();
        let cost = i128::from(callee.total.min(whole));
        for call in calls.iter_mut().filter(|call| leads_on(call)) {
            // At most `whole`, because there are at most `count` of these calls.
            call.time = (cost * i128::from(call.calls) / count) as i64;
        }
        for call in calls {
            if let Some(caller) = self.members.get_mut(&call.caller) {
                caller.total = caller.total.saturating_add(call.time);
            }
        }
    }

    /// Finds how far each function is from where the cycle is entered: breadth first.
    fn find_depths(&mut self) {
        let mut callees: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
        for call in &self.calls {
            callees.entry(call.caller).or_default().push(call.callee);
        }
        let entries = self.members.iter().filter(|(_, member)| member.is_entry);
        let mut depths: HashMap<FunctionId, usize> = entries.map(|(&entry, _)| (entry, 0)).collect();
        let mut open: VecDeque<FunctionId> = depths.keys().copied().collect();
        while let Some(caller) = open.pop_front() {
            let depth = depths[&caller] + 1;
            for &callee in callees.get(&caller).into_iter().flatten() {
                depths.entry(callee).or_insert_with(|| {
                    open.push_back(callee);
                    depth
                });
            }
        }
        for (function, depth) in depths {
            self.members.entry(function).or_default().depth = depth;
        }
    }
}
