//! Functions that call one another in a circle: which of them is called from outside, and, if calls are counted, where it is that
//! each call makes more calls than before.
//!
//! If `value` no longer remembers its results, all functions of the circle `value → evaluate → parse → value` are called six times
//! as often, each by the one before it. But `value` is called only five times as often, because calls from outside are what they
//! were. So `value` is the function that makes more calls of `evaluate` each time that it is called itself.

use std::collections::BTreeSet;

use crate::view::diff::causes::flow::{Edge, Flow, reached};

/// If calls from outside grew by this fraction of the growth of those in the circle, on a logarithmic scale, they explain it.
const MOST: f64 = 0.7;
/// A function of a circle grew from outside if calls from there have this fraction of its growth.
const NEARLY_ALL: f64 = 0.8;

/// The function in the circle of another one whose calls by one caller grew most, compared with the calls of that caller. `None` if
/// there is no circle, or if it is called more often from outside.
pub(super) fn called_more_inside(flow: &Flow<'_, '_>, function: usize) -> Option<usize> {
    let circle = circle(flow, function);
    if circle.len() < 2 {
        return None;
    }
    let calls_to = |&callee: &usize| {
        flow.all_callers(callee)
            .filter_map(move |caller| Some(((caller, callee), flow.edge_counts(caller, callee)?)))
    };
    let (inside, outside): (Vec<_>, Vec<_>) =
        circle.iter().flat_map(calls_to).partition(|((caller, _), _)| circle.contains(caller));
    let growth = |calls: &[(Edge, [f64; 2])]| {
        let [old, new] =
            calls.iter().fold([0.0, 0.0], |sum, (_, calls)| [sum[0] + calls[0], sum[1] + calls[1]]);
        (new / old).ln()
    };
    let (grew_inside, grew_outside) = (growth(&inside), growth(&outside));
    if !grew_inside.is_finite() || !grew_outside.is_finite() || grew_outside >= MOST * grew_inside {
        return None;
    }
    let widened = |&(edge, [old, new]): &(Edge, [f64; 2])| {
        let [rarely, often] = flow.call_counts(edge.0)?;
        let more = (new / old / (often / rarely)).ln();
        more.is_finite().then_some((more, edge))
    };
    let widest =
        inside.iter().filter_map(widened).max_by(|(a, one), (b, other)| a.total_cmp(b).then(other.cmp(one)));
    widest.filter(|(more, _)| *more > 0.0).map(|(_, (_, callee))| callee)
}

/// The function in the circle of another one which only functions outside of it make cost more, and that has all of the growth of
/// the other one: if a validator of nested values is called twice, so is each part of it, by the other parts.
pub(super) fn entrance(flow: &Flow<'_, '_>, function: usize) -> Option<usize> {
    let circle = circle(flow, function);
    let from_outside = |member: usize| -> f64 {
        let callers = flow.callers(member).into_iter();
        callers.filter(|(caller, _)| !circle.contains(caller)).map(|(_, call)| call.points).sum()
    };
    let entrance = |&member: &usize| {
        let (outside, total) = (from_outside(member), flow.total(member).points);
        let is_entrance = total >= flow.total(function).points && outside >= NEARLY_ALL * total;
        (member != function && is_entrance).then_some((outside, member))
    };
    let widest = circle.iter().filter_map(entrance).max_by(|(a, _), (b, _)| a.total_cmp(b));
    widest.map(|(_, member)| member)
}

/// The functions that a function calls and that call it, directly or not, in order: of several equal ones, the same is found each time.
pub(super) fn circle(flow: &Flow<'_, '_>, function: usize) -> BTreeSet<usize> {
    let below = reached(function, |at| flow.all_callees(at));
    let above = reached(function, |at| flow.all_callers(at));
    below.intersection(&above).copied().collect()
}
