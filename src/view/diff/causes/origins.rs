//! Where growth began: the functions to which all rows that grew lead back.
//!
//! A row that grew is followed down to the callee that has most of its growth, and then up as long as a caller grew as
//! a whole: if `aggregate` is called twice as often, its own code and all it calls cost twice as much, and `aggregate`
//! is the answer rather than ten functions below it or `main` above it.

use std::collections::HashSet;

use crate::stats::CountKind;
use crate::view::diff::causes::above::common_caller;
use crate::view::diff::causes::flow::{Change, Flow, reached};
use crate::view::diff::causes::recursion::{called_more_inside, circle, entrance};

/// A function in which growth began: in its own code, or in all of it, callees included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) function: usize,
    pub(super) kind: CountKind,
}

/// A part with this fraction of a function's growth explains it.
const MOST: f64 = 0.7;
/// A caller with this fraction of a function's growth is where the growth comes from.
pub(super) const NEARLY_ALL: f64 = 0.8;
/// What is left of a function without its largest part must be at least this fraction of it to say anything.
const LEAST_REST: f64 = 0.08;
/// That fraction if the whole costs many times as much: hardly anything but more calls multiplies all that a function does.
const LEAST_REST_OF_MANY: f64 = 0.02;
/// So many times as much, on a logarithmic scale (4 times).
const MANY_TIMES: f64 = 1.4;
/// Parts may have grown alike if each has this fraction of the growth of the whole, on a logarithmic scale, however uncertain that is.
const PERHAPS_ALIKE: f64 = 0.4;
/// Callers that have none of the growth show that the function itself did not change, if they have this fraction of it.
pub(super) const LEAST_WITNESS: f64 = 0.2;
/// A function in which one part leaves less than this does little else.
const LITTLE_ELSE: f64 = 0.15;
/// Own code of at least this fraction of a function that grew far more than the function shows that it changed.
const LEAST_OWN: f64 = 0.1;
/// A function that is called at least so many times as often is called more.
pub(super) const CALLED_MORE: f64 = 1.1;
/// A function whose callees explain this fraction of its growth needs no mention of its own.
const EXPLAINED: f64 = 0.6;

/// The origins of all growth, the largest first.
pub(super) fn origins(flow: &Flow<'_, '_>) -> Vec<Origin> {
    let mut found: Vec<Origin> = Vec::new();
    for (function, kind) in flow.grown() {
        let kind = if took_over(flow, function) { CountKind::Total } else { kind };
        let origin = entry(flow, climb(flow, descend(flow, Origin { function, kind })));
        let origin = called_more(flow, newly_called(flow, origin));
        if !found.contains(&origin) {
            found.push(origin);
        }
    }
    let growth = |origin: &Origin| flow.of(origin.function, origin.kind).points;
    found.sort_by(|a, b| growth(b).total_cmp(&growth(a)).then(a.function.cmp(&b.function)));
    without_duplicates(flow, &found)
}

/// Follows the growth of a function down to the part that has most of it.
fn descend(flow: &Flow<'_, '_>, mut origin: Origin) -> Origin {
    let mut seen = HashSet::from([origin.function]);
    while origin.kind == CountKind::Total && !grew_as_a_whole(flow, origin.function) {
        let whole = flow.total(origin.function);
        if took_over(flow, origin.function) {
            return origin;
        }
        if flow.own(origin.function).points >= MOST * whole.points {
            return Origin { kind: CountKind::SelfCount, ..origin };
        }
        let is_part = |&&(callee, change): &&(usize, Change)| {
            change.points >= MOST * whole.points
                && is_grown_part(flow, callee, &change)
                && !is_same_for_others(flow, (origin.function, callee), &change)
        };
        match flow.callees(origin.function).first().filter(is_part) {
            Some(&(callee, _)) if seen.insert(callee) => origin.function = callee,
            _ => return origin,
        }
    }
    origin
}

/// Whether a function, in which one of its callers spends more, grew itself. If it was taken out of the caller, only the growth of
/// the caller is news; if others call it less, only this caller changed.
pub(super) fn is_grown_part(flow: &Flow<'_, '_>, callee: usize, call: &Change) -> bool {
    !flow.has_moved(callee) && flow.total(callee).points >= call.points / 2.0
}

/// Whether a function is not known to have grown, and other callers spend as much in it as before, while this one seems to do more
/// of what it does besides, too: what grew is the caller.
fn is_same_for_others(flow: &Flow<'_, '_>, (caller, callee): (usize, usize), call: &Change) -> bool {
    let rest = flow.rest(caller, Some(callee)).log_ratio;
    if flow.is_changed(callee) || rest < PERHAPS_ALIKE * flow.total(caller).log_ratio {
        return false;
    }
    let others = flow.of_other_callers(callee, caller);
    others.old_share >= LEAST_WITNESS * flow.total(callee).old_share && others.grew_less_than(call)
}

/// Whether the own code of a function grew by far more than all of it, callees included, which certainly grew: it does now what
/// they did, so that only the growth of the whole is news.
fn took_over(flow: &Flow<'_, '_>, function: usize) -> bool {
    let whole = flow.total(function);
    whole.grew() && MOST * flow.own(function).points > whole.points
}

/// Whether the growth of a function is one cause, rather than one for each of its parts that grew.
fn is_one_cause(flow: &Flow<'_, '_>, function: usize) -> bool {
    grew_with_its_circle(flow, function) || took_over(flow, function) || is_newly_called(flow, function)
}

/// Whether a function of both sides has nearly all of its growth from a caller that did not call it before: what it calls grew with
/// it.
fn is_newly_called(flow: &Flow<'_, '_>, function: usize) -> bool {
    !flow.total(function).is_new()
        && main_caller(flow, function)
            .is_some_and(|(caller, call)| call.is_new() && !flow.is_moved_call(function, caller, &call))
}

/// The caller from which nearly all growth of a function comes, and how much.
pub(super) fn main_caller(flow: &Flow<'_, '_>, function: usize) -> Option<(usize, Change)> {
    let callers = flow.callers(function);
    let least = NEARLY_ALL * flow.total(function).points;
    callers.first().filter(|(_, call)| call.points >= least).copied()
}

/// Whether a function grew as a whole, or one of those that it calls and that call it did.
pub(super) fn grew_with_its_circle(flow: &Flow<'_, '_>, function: usize) -> bool {
    grew_as_a_whole(flow, function)
        || circle(flow, function).iter().any(|&member| grew_as_a_whole(flow, member))
}

/// Follows the growth of a function up through callers that grew as a whole. Callers that do nothing but call it, and code
/// that is all that a function has, show neither that it did nor that it did not: what counts is whether one above them did.
fn climb(flow: &Flow<'_, '_>, mut origin: Origin) -> Origin {
    let mut at = origin.function;
    if origin.kind == CountKind::SelfCount {
        if grew_as_a_whole(flow, at) {
            origin.kind = CountKind::Total;
        } else if !is_all_of(flow, at, None) {
            return origin;
        }
    }
    let mut seen = HashSet::from([at]);
    loop {
        // The functions of a circle call one another, and all of them grew.
        if origin == (Origin { function: at, kind: CountKind::Total })
            && grew_as_a_whole(flow, at)
            && let Some(first) = entrance(flow, at).filter(|&first| seen.insert(first))
        {
            (origin.function, at) = (first, first);
        }
        let main = main_caller(flow, at).filter(|(caller, _)| seen.insert(*caller));
        let Some((caller, _)) = main else { return origin };
        if grew_as_a_whole(flow, caller) {
            origin = Origin { function: caller, kind: CountKind::Total };
        } else if !is_all_of(flow, caller, Some(at)) {
            return origin;
        }
        at = caller;
    }
}

/// Whether a function has next to nothing but its own code, or but one callee.
fn is_all_of(flow: &Flow<'_, '_>, function: usize, part: Option<usize>) -> bool {
    flow.rest(function, part).new_share < LITTLE_ELSE * flow.total(function).new_share
}

/// The function that is called from where it was not called before, if the growth of an origin comes from there: what a
/// function does that has a new caller, it did before. Unless that caller took the place of those that it had.
fn newly_called(flow: &Flow<'_, '_>, origin: Origin) -> Origin {
    let least = NEARLY_ALL * flow.of(origin.function, origin.kind).points;
    let mut at = origin.function;
    let mut seen = HashSet::from([at]);
    loop {
        let callers = flow.callers(at);
        let Some(&(caller, change)) = callers.first().filter(|(_, change)| change.points >= least) else {
            // Where calls are counted, nothing is known beyond callers.
            let common =
                || common_caller(flow, origin.function, least).filter(|_| flow.subject.calls.is_none());
            match common().filter(|&common| seen.insert(common)) {
                Some(common) => at = common,
                None => return origin,
            }
            continue;
        };
        if change.is_new() && !flow.is_moved_call(at, caller, &change) {
            let is_old = !flow.total(at).is_new() && flow.is_own(at);
            return if is_old { Origin { function: at, kind: CountKind::Total } } else { origin };
        }
        if !seen.insert(caller) {
            return origin;
        }
        at = caller;
    }
}

/// Where calls are counted: the outermost function that is called more often, if each call of the origin costs much what it
/// did. If `evolve` is called twice as often, so is `neighbours`, which it calls a thousand times.
fn called_more(flow: &Flow<'_, '_>, origin: Origin) -> Origin {
    let change = flow.of(origin.function, origin.kind);
    let is_by_calls = flow
        .growth_by_calls(origin.function, &change)
        .is_some_and(|by_calls| by_calls >= change.points / 2.0);
    if !is_by_calls {
        return origin;
    }
    if let Some(function) = called_more_inside(flow, origin.function) {
        return Origin { function, kind: CountKind::Total };
    }
    let mut at = origin.function;
    let mut seen = HashSet::from([at]);
    while let Some(caller) = called_more_often_itself(flow, at).filter(|&caller| seen.insert(caller)) {
        at = caller;
    }
    if at == origin.function { origin } else { Origin { function: at, kind: CountKind::Total } }
}

/// The caller that makes nearly all of the additional calls of a function, if it makes them because it is called as much more
/// often itself.
fn called_more_often_itself(flow: &Flow<'_, '_>, function: usize) -> Option<usize> {
    let [old, new] = flow.call_counts(function)?;
    let makes_them = |caller: &usize| {
        let Some([before, after]) = flow.edge_counts(*caller, function) else { return false };
        let Some([rarely, often]) = flow.call_counts(*caller) else { return false };
        after - before >= NEARLY_ALL * (new - old)
            && before > 0.0
            && rarely > 0.0
            && often > CALLED_MORE * rarely
            && (often / rarely).ln() >= MOST * (after / before).ln()
    };
    let callers = flow.callers(function).into_iter().map(|(caller, _)| caller);
    callers.filter(|&caller| flow.is_own(caller)).find(makes_them)
}

/// The function of a library through which the program calls the one in which growth began: what the library does
/// inside is of no interest to someone who calls it. The collector is not called, it takes its time.
fn entry(flow: &Flow<'_, '_>, origin: Origin) -> Origin {
    let mut at = origin.function;
    let mut seen = HashSet::new();
    while !flow.is_own(at) && !flow.is_collector(at) && seen.insert(at) {
        let whole = |function| Origin { function, kind: CountKind::Total };
        match main_caller(flow, at) {
            // The whole program calls the kernel, and nobody calls what it does inside.
            None if flow.is_of_system(origin.function) => return whole(flow.of_row(at)),
            _ if is_entry(flow, at) => return if at == origin.function { origin } else { whole(at) },
            Some((caller, _)) => at = caller,
            None => break,
        }
    }
    origin
}

/// Whether a function belongs to a library, and the program itself has nearly all of its growth by calling it.
fn is_entry(flow: &Flow<'_, '_>, function: usize) -> bool {
    let of_program = || {
        let callers = flow.callers(function).into_iter();
        callers
            .filter(|(caller, _)| flow.is_own(*caller))
            .map(|(_, change)| change.points.max(0.0))
            .sum::<f64>()
    };
    !flow.is_own(function) && of_program() >= NEARLY_ALL * flow.total(function).points
}

/// Whether all parts of a function grew alike, rather than one of them: what is left without the part that grew most
/// is not negligible, and grew about as much.
pub(super) fn grew_as_a_whole(flow: &Flow<'_, '_>, function: usize) -> bool {
    flow.grew_as_a_whole(function, || parts_grew_alike(flow, function))
}

fn parts_grew_alike(flow: &Flow<'_, '_>, function: usize) -> bool {
    let whole = flow.total(function);
    let own = flow.own(function);
    let (largest, part) = match flow.callees(function).first() {
        Some(&(callee, change)) if change.points > own.points => (Some(callee), change),
        _ => (None, own),
    };
    let rest = flow.rest(function, largest);
    // Where calls are counted, a function has more work only if it is called more often.
    let is_called_more = flow.call_counts(function).is_none_or(|[old, new]| new > CALLED_MORE * old);
    let least = if whole.log_ratio >= MANY_TIMES { LEAST_REST_OF_MANY } else { LEAST_REST };
    // What was elsewhere before did not grow as a whole: a wrapper of all that there was.
    whole.points > 0.0
        && !flow.has_moved(function)
        && is_called_more
        && rest.new_share >= least * whole.new_share
        && rest.grew_like(&whole)
        && part.grew_like(&whole)
        && !rest.grew_less_than(&part)
        && !part.grew_less_than(&rest)
        && !changed_below(flow, function, &whole)
        && !(own.new_share >= LEAST_OWN * whole.new_share && own.grew_more_than(&whole))
}

/// Whether the own code of functions below this one, which certainly grew more than it did, explains its growth.
fn changed_below(flow: &Flow<'_, '_>, function: usize, whole: &Change) -> bool {
    let grown = flow.grown().filter(|(_, kind)| *kind == CountKind::SelfCount);
    let changed: Vec<(usize, f64)> = grown
        .map(|(function, kind)| (function, flow.of(function, kind)))
        .filter(|(_, own)| own.grew_more_than(whole))
        .map(|(function, own)| (function, own.points))
        .collect();
    if changed.iter().map(|(_, points)| points).sum::<f64>() < EXPLAINED * whole.points {
        return false;
    }
    let below = functions_below(flow, &Origin { function, kind: CountKind::Total });
    let inside = changed.iter().filter(|(other, _)| *other != function && below.contains(other));
    inside.map(|(_, points)| points).sum::<f64>() >= EXPLAINED * whole.points
}

/// Leaves out origins whose growth is part of that of another one.
fn without_duplicates(flow: &Flow<'_, '_>, found: &[Origin]) -> Vec<Origin> {
    let total_of = |origin: &Origin, is: fn(&Flow<'_, '_>, usize) -> bool| {
        origin.kind == CountKind::Total && is(flow, origin.function)
    };
    let is_one: Vec<bool> = found.iter().map(|origin| total_of(origin, is_one_cause)).collect();
    let is_library: Vec<bool> = found.iter().map(|origin| total_of(origin, is_entry)).collect();
    let below: Vec<HashSet<usize>> = found.iter().map(|origin| functions_below(flow, origin)).collect();
    let growth = |index: usize| flow.of(found[index].function, found[index].kind).points;
    let is_collector: Vec<bool> = found.iter().map(|origin| flow.is_collector(origin.function)).collect();
    // A function that allocates may do some of the collector's work, but does not call the rest of it.
    let may_be_part =
        |part: usize, whole: usize| part != whole && (is_collector[whole] || !is_collector[part]);
    let is_part = |part: usize, whole: usize| {
        may_be_part(part, whole) && below[whole].contains(&found[part].function) && {
            let callers = flow.callers(found[part].function);
            let inside = callers
                .iter()
                .filter(|(caller, _)| *caller == found[whole].function || below[whole].contains(caller));
            let inside: f64 = inside.map(|(_, change)| change.points).sum();
            found[part].function == found[whole].function
                || inside >= MOST * flow.total(found[part].function).points
        }
    };
    let mut kept: Vec<usize> = Vec::new();
    for index in 0..found.len() {
        // What grew as a whole needs no list of its parts, nor does a library.
        let is_in_whole =
            (0..found.len()).any(|whole| (is_one[whole] || is_library[whole]) && is_part(index, whole));
        // What merely calls several origins needs no mention of its own.
        let parts = (0..found.len()).filter(|&part| growth(part) < growth(index) && is_part(part, index));
        let explained: f64 = parts.filter(|_| !is_one[index] && !is_library[index]).map(growth).sum();
        let is_explained = found[index].kind == CountKind::Total && explained >= EXPLAINED * growth(index);
        if !is_in_whole && !is_explained {
            kept.push(index);
        }
    }
    kept.into_iter().map(|index| found[index]).collect()
}

/// The functions that are called, directly or not, by the function of an origin. Its own code has none.
pub(super) fn functions_below(flow: &Flow<'_, '_>, origin: &Origin) -> HashSet<usize> {
    match origin.kind {
        CountKind::SelfCount => HashSet::new(),
        CountKind::Total => reached(origin.function, |function| flow.growing_callees(function)),
    }
}
