//! Several causes that are one: a function that costs more itself and in what it calls, or that calls others more often.

use crate::report::{CauseKind, DiffCause, Growth, RowTest};
use crate::stats::CountKind;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::hidden::calls_hidden;
use crate::view::diff::causes::kinds::made;
use crate::view::diff::causes::origins::{CALLED_MORE, Origin};

/// Calling costs something itself: a caller whose own code grew because it calls more often is no cause of its own.
pub(super) fn merge_callers(flow: &Flow<'_, '_>, causes: &mut Vec<DiffCause>) {
    let is_merged = |cause: &DiffCause, other: &DiffCause| {
        cause.test == RowTest::SelfCount
            && cause.cause == CauseKind::Dearer
            && other.calls.is_some()
            && matches!(other.cause, CauseKind::CalledMore | CauseKind::NewPath)
            && other.path.first() == Some(&cause.function)
            && makes_more_calls(flow, cause)
    };
    for cause in causes.clone() {
        if let Some(callee) = causes.iter().position(|other| is_merged(&cause, other)) {
            causes[callee].points += cause.points;
            causes[callee].caller_points = Some(cause.points);
            causes.retain(|other| other != &cause);
        }
    }
}

/// Makes one cause of a function whose own code costs more, and which also calls something that costs more.
pub(super) fn merge_parts(flow: &Flow<'_, '_>, causes: &mut Vec<DiffCause>) {
    let mut merged: Vec<DiffCause> = Vec::new();
    for cause in causes.drain(..) {
        let is_part = |other: &&mut DiffCause| {
            other.function == cause.function
                && costs_more(other)
                && costs_more(&cause)
                && (other.cause == CauseKind::Dearer || cause.cause == CauseKind::Dearer)
        };
        let Some(whole) = merged.iter_mut().find(is_part) else {
            merged.push(cause);
            continue;
        };
        let Some(function) = flow.function(&cause.function) else { continue };
        let origin = Origin { function, kind: CountKind::Total };
        let path = if whole.path.is_empty() { &cause.path } else { &whole.path }.clone();
        // What the one is called for may be what the other is.
        let both = whole.points + cause.points;
        let points = if calls_hidden(flow, function, &cause) || calls_hidden(flow, function, whole) {
            both
        } else {
            both.min((flow.total(function).points * 100.0).max(whole.points))
        };
        let calls = whole.calls.or(cause.calls);
        // If all of it is in what the function calls, its own code did not change.
        let is_called = |growth: Growth| matches!(growth, Growth::NewCallee | Growth::OneCallee);
        let is_all_called = is_called(whole.growth) && is_called(cause.growth);
        let growth = if is_all_called { whole.growth } else { Growth::Itself };
        let found = made(flow, CauseKind::Dearer, origin, flow.total(function));
        *whole = DiffCause { points, growth, path, calls, ..found };
    }
    *causes = merged;
}

/// Whether a function itself is what costs more, as far as samples tell.
fn costs_more(cause: &DiffCause) -> bool {
    match cause.cause {
        CauseKind::Dearer => true,
        CauseKind::CalledMore => cause.calls.is_none() && cause.growth == Growth::Whole,
        _ => false,
    }
}

/// Whether the function of a cause calls others more often while it is not called more often itself.
fn makes_more_calls(flow: &Flow<'_, '_>, cause: &DiffCause) -> bool {
    let Some(function) = flow.function(&cause.function) else { return false };
    let calls =
        flow.callees(function).into_iter().filter_map(|(callee, _)| flow.edge_counts(function, callee));
    let [old, new] = calls.fold([0.0, 0.0], |sum, calls| [sum[0] + calls[0], sum[1] + calls[1]]);
    new > CALLED_MORE * old
}
