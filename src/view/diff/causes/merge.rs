//! Several causes that are one: a function that costs more itself and in what it calls, or that calls others more often.

use std::collections::HashSet;

use crate::report::{CauseKind, DiffCause, Growth, RowTest};
use crate::stats::CountKind;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::hidden::calls_hidden;
use crate::view::diff::causes::kinds::made;
use crate::view::diff::causes::origins::{CALLED_MORE, Origin, functions_below};

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

/// Counts nothing twice: if one cause is all of a function, and another one is about what this calls, then the latter is a part of the
/// former. Only if it is code of the program that both sides have, and certainly grew more, as a ratio, the former is what remains.
pub(super) fn share_out(flow: &Flow<'_, '_>, causes: &mut Vec<DiffCause>) {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for (whole, cause) in causes.iter().enumerate() {
        let Some(function) = all_of(flow, cause) else { continue };
        let of_whole = parts_of(flow, causes, function);
        let sum = cause.points + of_whole.iter().map(|&part| causes[part].points).sum::<f64>();
        // It may be without them.
        if sum > TOO_MUCH * flow.total(function).points * 100.0 {
            parts.extend(of_whole.into_iter().map(|part| (whole, part)));
        }
    }
    let mut left: Vec<f64> = causes.iter().map(|cause| cause.points).collect();
    for &(whole, part) in &parts {
        // In a circle, each is below the other.
        if parts.contains(&(part, whole)) && part < whole {
            continue;
        }
        if is_cause_itself(flow, &causes[part], &causes[whole]) {
            left[whole] -= causes[part].points;
        } else {
            left[part] = 0.0;
        }
    }
    let least = flow.comparison.options.min_points * 100.0 / 2.0;
    let mut left = left.into_iter();
    causes.retain_mut(|cause| {
        let left = left.next().unwrap_or(cause.points);
        let is_kept = left >= cause.points || left >= least;
        cause.points = left.min(cause.points);
        is_kept
    });
}

/// What causes may add up to, of the growth of the function that calls them all.
const TOO_MUCH: f64 = 1.1;

/// The causes about functions that another one calls, from which they have their growth.
fn parts_of(flow: &Flow<'_, '_>, causes: &[DiffCause], whole: usize) -> Vec<usize> {
    let below = functions_below(flow, &Origin { function: whole, kind: CountKind::Total });
    let is_part = |part: &usize| {
        let cause = &causes[*part];
        place(flow, cause).filter(|_| is_about_costs(cause)).is_some_and(|function| {
            function != whole
                && !flow.is_collector(function)
                && is_mostly_below(flow, function, whole, &below)
        })
    };
    (0..causes.len()).filter(is_part).collect()
}

/// The function all of whose growth, callees included, a cause is.
fn all_of(flow: &Flow<'_, '_>, cause: &DiffCause) -> Option<usize> {
    place(flow, cause).filter(|_| cause.test == RowTest::Total && is_about_costs(cause))
}

/// The function in which what a cause is about is spent: of a call that costs more, the function that is called.
fn place(flow: &Flow<'_, '_>, cause: &DiffCause) -> Option<usize> {
    let is_callee = matches!(cause.growth, Growth::NewCallee | Growth::OneCallee);
    flow.function(if is_callee { cause.path.last()? } else { &cause.function })
}

/// Whether a cause is what functions of the program, or those that they call, cost more.
fn is_about_costs(cause: &DiffCause) -> bool {
    !matches!(cause.cause, CauseKind::Gc | CauseKind::Mix)
}

/// Whether most growth of a function is in calls by another one, or by functions `below` that.
fn is_mostly_below(flow: &Flow<'_, '_>, function: usize, other: usize, below: &HashSet<usize>) -> bool {
    let callers = flow.callers(function).into_iter();
    let inside = callers.filter(|(caller, _)| *caller == other || below.contains(caller));
    let inside: f64 = inside.map(|(_, change)| change.points).sum();
    below.contains(&function) && inside >= MOST_OF_PART * flow.total(function).points
}

/// Whether a part of a function grew by itself. What new code calls did not, nor did a library.
fn is_cause_itself(flow: &Flow<'_, '_>, part: &DiffCause, whole: &DiffCause) -> bool {
    let of = |cause: &DiffCause| {
        let function = place(flow, cause)?;
        Some((function, flow.of(function, cause.test)))
    };
    let (Some((part, grown)), Some((_, all))) = (of(part), of(whole)) else { return false };
    flow.is_own(part) && whole.growth != Growth::NewCallee && !all.is_new() && grown.grew_more_than(&all)
}

/// A function with this fraction of its growth below another one is a part of that.
const MOST_OF_PART: f64 = 0.8;

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
