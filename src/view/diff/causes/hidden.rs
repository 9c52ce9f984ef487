//! Callers that stacks lack: code that was built without frame pointers, such as that of the C library, hides the function that
//! called it, or all of them.

use crate::report::{CauseKind, DiffCause, Growth};
use crate::stats::CountKind;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::kinds::{made, name};
use crate::view::diff::causes::origins::{Origin, main_caller};

/// A function that grew so many times as much as others, on a logarithmic scale, is the one that changed.
const FAR_MORE: f64 = 2.0;
/// A function with callers for less than this fraction of it seems to be called by nobody.
const FEW_CALLERS: f64 = 0.2;

/// The function that may be the caller of one of a library: among those that are called where the library seems to be called, the
/// one whose own code grew, and by far more than that of others. What seems to be called by nobody may be called by any.
///
/// ```text
/// main;blur 100    →    main;blur 300
///                       main;invoke 200
/// ```
fn hidden_caller(flow: &Flow<'_, '_>, callee: usize) -> Option<usize> {
    if flow.is_own(callee) || !flow.lacks_callers(callee) || flow.is_collector(callee) {
        return None;
    }
    let grew: Vec<usize> = flow
        .grown()
        .filter(|(_, kind)| *kind == CountKind::SelfCount)
        .map(|(function, _)| function)
        .collect();
    let near: Vec<usize> = match main_caller(flow, callee) {
        Some((caller, _)) if grew.contains(&caller) => return None,
        Some((caller, _)) => flow.callees(caller).into_iter().map(|(callee, _)| callee).collect(),
        None if is_called_by_nobody(flow, callee) => grew.clone(),
        None => return None,
    };
    let may_call_it =
        |function: &usize| *function != callee && flow.is_own(*function) && grew.contains(function);
    let mut found: Vec<(usize, f64)> = near
        .into_iter()
        .filter(may_call_it)
        .map(|function| (function, flow.own(function).log_ratio))
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (first, ratio) = *found.first()?;
    let next = found.get(1).map_or(0.0, |(_, ratio)| *ratio);
    (ratio >= FAR_MORE * next).then_some(first)
}

fn is_called_by_nobody(flow: &Flow<'_, '_>, function: usize) -> bool {
    let called: f64 = flow.callers(function).iter().map(|(_, call)| call.new_share).sum();
    called < FEW_CALLERS * flow.total(function).new_share
}

/// What a function of a library costs more, in percent of the old total, in the calls of a function that stacks lack.
pub(super) fn of_hidden_call(flow: &Flow<'_, '_>, callee: usize, points: f64) -> Option<DiffCause> {
    let caller = hidden_caller(flow, callee)?;
    let path = vec![name(flow, caller), name(flow, callee)];
    let whole = Origin { function: caller, kind: CountKind::Total };
    let growth = if flow.total(callee).is_new() { Growth::NewCallee } else { Growth::OneCallee };
    let found = made(flow, CauseKind::Dearer, whole, flow.total(caller));
    Some(DiffCause { points, growth, path, ..found })
}

/// Whether a cause is that a function calls another one without being in its stacks.
pub(super) fn calls_hidden(flow: &Flow<'_, '_>, function: usize, cause: &DiffCause) -> bool {
    let callee = cause.path.last().and_then(|callee| flow.function(callee));
    callee.is_some_and(|callee| callee != function && !flow.is_below(function, callee))
}
