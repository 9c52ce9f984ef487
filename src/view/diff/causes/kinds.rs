//! What kind of change an origin is, by its callers and callees.

use std::collections::HashSet;

use crate::profile::Id;
use crate::report::{CauseKind, DiffCause, Growth, Name};
use crate::stats::CountKind;
use crate::view::diff::causes::distant::grown_call_above;
use crate::view::diff::causes::flow::{Change, Flow};
use crate::view::diff::causes::inlined::newly_inlined;
use crate::view::diff::causes::origins::{
    LEAST_WITNESS, Origin, functions_below, grew_with_its_circle, is_grown_part, main_caller,
};
use crate::view::diff::causes::sites::further_call;

/// A caller with this fraction of a function's growth is the only one from which it grew.
const NEARLY_ALL: f64 = 0.8;
/// A function of the program that new code calls, and that has this fraction of its growth, is what it is there for.
const MOST: f64 = 0.5;
/// Callers with less than this fraction of a function are not looked at.
const LEAST_CALLER: f64 = 0.1;

/// What a new path leads to has grown by at least this fraction of what the path costs.
const LEAST_OF_PATH: f64 = 0.25;

/// What the code of a module that is outside of all functions is called in Python.
const MODULE: &str = "<module>";

/// The cause that an origin stands for.
pub(super) fn cause(flow: &Flow<'_, '_>, origin: Origin) -> DiffCause {
    let change = flow.of(origin.function, origin.kind);
    // Where calls are counted, a function that was called before is not new, however little it did.
    let was_called = flow.call_counts(origin.function).is_some_and(|[old, _]| old > 0.0);
    if flow.total(origin.function).is_new() && !was_called {
        return of_new_code(flow, origin, change);
    }
    let callers = flow.callers(origin.function);
    let total = flow.total(origin.function);
    if let Some(calls) = flow.call_counts(origin.function) {
        return of_counted_calls(flow, origin, change, calls);
    }
    let main = main_caller(flow, origin.function);
    if let Some(found) = main.and_then(|(caller, call)| of_one_caller(flow, origin, caller, call)) {
        return found;
    }
    if let Some((caller, callee)) = further_call(flow, origin) {
        let total = flow.total(callee);
        let found =
            made(flow, CauseKind::CalledMore, Origin { function: callee, kind: CountKind::Total }, total);
        let path = vec![name(flow, caller), name(flow, callee)];
        return DiffCause { path, growth: Growth::FurtherCall, ..found };
    }
    if origin.kind == CountKind::Total && grew_with_its_circle(flow, origin.function) {
        return DiffCause { growth: Growth::Whole, ..made(flow, CauseKind::CalledMore, origin, change) };
    }
    if origin.kind == CountKind::SelfCount
        && let Some((callee, call)) = newly_inlined(flow, origin.function, &change)
    {
        return of_inlined_call(flow, origin.function, &change, callee, call);
    }
    if let Some(found) = of_callee(flow, origin, &change) {
        return found;
    }
    // The kernel is the same on both sides.
    if flow.is_of_system(origin.function) {
        let whole = Origin { kind: CountKind::Total, ..origin };
        return DiffCause { growth: Growth::Whole, ..made(flow, CauseKind::CalledMore, whole, total) };
    }
    // A recursive function is called by what it calls, which says nothing about where its growth comes from.
    let below = functions_below(flow, &Origin { kind: CountKind::Total, ..origin });
    let from_outside: Vec<(usize, Change)> =
        callers.into_iter().filter(|(caller, _)| !below.contains(caller)).collect();
    if let Some(found) = of_new_calls(flow, origin, &from_outside) {
        return found;
    }
    let heavy = from_outside.iter().filter(|(_, call)| call.new_share >= LEAST_CALLER * total.new_share);
    let alike =
        heavy.clone().filter(|(_, call)| call.points > 0.0 && call.log_ratio >= change.log_ratio / 4.0);
    let growth = match heavy.count() {
        0 | 1 => Growth::Itself,
        // What stacks lack the caller of seems to be called by those above.
        count if alike.count() == count && !flow.lacks_callers(origin.function) => Growth::AllCallers(count),
        _ => Growth::Itself,
    };
    DiffCause { growth, ..made(flow, CauseKind::Dearer, origin, change) }
}

/// The cause of a function that grew in the calls of one caller, if that says more than that the function grew.
fn of_one_caller(flow: &Flow<'_, '_>, origin: Origin, caller: usize, call: Change) -> Option<DiffCause> {
    let total = flow.total(origin.function);
    let path = vec![name(flow, caller), name(flow, origin.function)];
    let is_moved = flow.is_moved_call(origin.function, caller, &call);
    // What others spent in it before is no growth.
    let points = if is_moved { call.points.min(total.points) } else { call.points };
    // A caller that costs less as a whole did not become dearer, such as one that looks up in a map what it computed before.
    if flow.is_own(caller)
        && !flow.is_own(origin.function)
        && flow.total(caller).points > 0.0
        && is_of_one_module(flow, caller, origin.function)
        && !is_new_path(flow, caller, origin.function)
    {
        return Some(of_library_call(flow, caller, path, Change { points, ..call }));
    }
    let whole = Origin { kind: CountKind::Total, ..origin };
    // Stacks that lack the caller of `memmove` show no path to it.
    if call.is_new() && !flow.is_own(origin.function) && flow.lacks_callers(origin.function) {
        return Some(DiffCause { growth: Growth::Whole, ..made(flow, CauseKind::CalledMore, whole, total) });
    }
    if call.is_new() && !is_moved {
        let (path, change) = new_path(flow, path, caller, call);
        return Some(DiffCause { path, ..made(flow, CauseKind::NewPath, whole, change) });
    }
    // A library did not change by itself, so its new caller makes it do more than those that called it before.
    let is_library = is_moved && !flow.is_own(origin.function);
    let (path, points) =
        if is_library || (!is_moved && is_only_grown_call(flow, origin.function, caller, &call)) {
            (path, points)
        } else {
            let (way, call) = grown_call_above(flow, origin.function)?;
            (way.into_iter().map(|function| name(flow, function)).collect(), call.points)
        };
    // The ratio is that of the function, as in its row, which other callers make smaller than that of the call.
    let found = made(flow, CauseKind::CalledMore, whole, total);
    Some(DiffCause { path, growth: Growth::OneCaller, points: points * 100.0, ..found })
}

/// Whether a function cost more in the calls of one caller only, as its other callers show, which spend in it what they did. In
/// compiled code, callers that spend less may have made calls that are in this caller now, where others were inlined.
fn is_only_grown_call(flow: &Flow<'_, '_>, function: usize, caller: usize, call: &Change) -> bool {
    let others = flow.of_other_callers(function, caller);
    let may_be_theirs = flow.may_lack_callers(function) && -others.points >= LEAST_WITNESS * call.points;
    others.old_share >= LEAST_WITNESS * flow.total(function).old_share
        && others.grew_less_than(call)
        && !may_be_theirs
}

/// A function that costs more in one that it calls, which did not become dearer itself: most of it was in the function before, or
/// others call it less.
fn of_callee(flow: &Flow<'_, '_>, origin: Origin, change: &Change) -> Option<DiffCause> {
    if origin.kind == CountKind::SelfCount {
        return None;
    }
    let (callee, call) = flow.callees(origin.function).into_iter().next()?;
    let growth = if flow.has_moved(callee) { Growth::NewCallee } else { Growth::OneCallee };
    let path = vec![name(flow, origin.function), name(flow, callee)];
    let is_it = call.points >= NEARLY_ALL * change.points && !is_grown_part(flow, callee, &call);
    if let Some(found) = of_replacement(flow, callee, change).filter(|_| is_it) {
        return Some(found);
    }
    is_it.then(|| DiffCause { growth, path, ..made(flow, CauseKind::Dearer, origin, *change) })
}

/// The function that another one was before, and that costs more than that did: the callee that holds what its caller costs more, or
/// one below it, such as `verify_impl` below the decorator `retry`.
fn of_replacement(flow: &Flow<'_, '_>, callee: usize, change: &Change) -> Option<DiffCause> {
    let mut seen = HashSet::new();
    let mut at = callee;
    while seen.insert(at) && flow.total(at).is_new() {
        if let Some(old) = flow.replaced(at) {
            let both = flow.of_both(at, old);
            let whole = Origin { function: at, kind: CountKind::Total };
            let found =
                || DiffCause { of: Some(name(flow, old)), ..made(flow, CauseKind::Dearer, whole, both) };
            return (both.points >= MOST * change.points).then(found);
        }
        let callees = flow.callees(at);
        at = callees.first().filter(|(_, call)| call.points >= NEARLY_ALL * flow.total(at).points)?.0;
    }
    None
}

/// The cause of a function that grew because of several calls that are new; `None` if others call it less instead, so that the new
/// calls do what those did.
fn of_new_calls(flow: &Flow<'_, '_>, origin: Origin, callers: &[(usize, Change)]) -> Option<DiffCause> {
    let total = flow.total(origin.function);
    let new: Vec<&(usize, Change)> = callers.iter().filter(|(_, call)| call.is_new()).collect();
    let added: f64 = new.iter().map(|(_, call)| call.points).sum();
    let is_added = added >= NEARLY_ALL * total.points && total.points >= NEARLY_ALL * added;
    let (caller, _) = new.first().filter(|_| is_added)?;
    let path = vec![name(flow, *caller), name(flow, origin.function)];
    let whole = Origin { kind: CountKind::Total, ..origin };
    Some(DiffCause { path, ..made(flow, CauseKind::NewPath, whole, total) })
}

/// The whole of a new path that ends in a call by `caller`, and what it costs: of a caller that is new as well, all of it is,
/// and it begins with the function that calls that.
fn new_path(flow: &Flow<'_, '_>, mut path: Vec<Name>, caller: usize, call: Change) -> (Vec<Name>, Change) {
    let of_caller = flow.total(caller);
    if !of_caller.is_new() {
        return (path, call);
    }
    path.splice(0..0, nearest_old_caller(flow, caller).0.map(|above| name(flow, above)));
    // A new caller may do much else.
    (path, if call.points >= MOST * of_caller.points { of_caller } else { call })
}

/// Whether a new function of the program leads to code that the old side called from elsewhere. What a runtime does for its
/// program, such as allocating, is no path.
fn is_new_path(flow: &Flow<'_, '_>, caller: usize, function: usize) -> bool {
    flow.total(caller).is_new() && nearest_old_caller(flow, caller).0.is_some() && !flow.is_runtime(function)
}

/// A new call that the compiler has put into its caller, whose own code grew by it and by what is new around it.
fn of_inlined_call(
    flow: &Flow<'_, '_>,
    caller: usize,
    own: &Change,
    callee: usize,
    call: Change,
) -> DiffCause {
    let found = made(flow, CauseKind::NewPath, Origin { function: callee, kind: CountKind::Total }, call);
    let caller_points = (own.points - call.points) * 100.0;
    DiffCause {
        points: own.points * 100.0,
        caller_points: Some(caller_points).filter(|points| *points > 0.0),
        path: vec![name(flow, caller), name(flow, callee)],
        ..found
    }
}

/// A library did not change by itself: the caller makes it do more.
pub(super) fn of_library_call(
    flow: &Flow<'_, '_>,
    caller: usize,
    path: Vec<Name>,
    call: Change,
) -> DiffCause {
    let caller = Origin { function: caller, kind: CountKind::Total };
    let total = flow.total(caller.function);
    let found = made(flow, CauseKind::Dearer, caller, total);
    // What the caller did itself before is no growth.
    let points = if total.points > 0.0 { call.points.min(total.points) } else { call.points };
    DiffCause { path, growth: Growth::OneCallee, points: points * 100.0, ..found }
}

/// Exact, where calls are counted: what more calls cost, and what each of them costs more.
fn of_counted_calls(flow: &Flow<'_, '_>, origin: Origin, change: Change, calls: [f64; 2]) -> DiffCause {
    let [old, new] = calls;
    let by_calls = flow.growth_by_calls(origin.function, &change);
    let callers = flow.callers(origin.function);
    if by_calls.is_none_or(|by_calls| by_calls < change.points / 2.0) {
        // `str.join` did not change: one of its callers gives it more to do.
        let gives_more = |(caller, call): &&(usize, Change)| {
            flow.is_own(*caller)
                && flow.total(*caller).points > 0.0
                && call.points >= NEARLY_ALL * change.points
        };
        if let Some(&(caller, call)) = callers.first().filter(gives_more)
            && !flow.is_own(origin.function)
        {
            let path = vec![name(flow, caller), name(flow, origin.function)];
            return of_library_call(flow, caller, path, call);
        }
        return DiffCause { calls: Some(calls), ..made(flow, CauseKind::Dearer, origin, change) };
    }
    let calls_of = |caller: usize| flow.edge_counts(caller, origin.function).unwrap_or_default();
    let grew = |caller: usize| calls_of(caller)[1] - calls_of(caller)[0] >= NEARLY_ALL * (new - old);
    let Some(&(caller, call)) = callers.iter().find(|(caller, _)| grew(*caller)) else {
        let found = made(flow, CauseKind::CalledMore, origin, change);
        return DiffCause { calls: Some(calls), growth: Growth::AllCallers(callers.len()), ..found };
    };
    let kind = if calls_of(caller)[0] > 0.0 { CauseKind::CalledMore } else { CauseKind::NewPath };
    let path = vec![name(flow, caller), name(flow, origin.function)];
    if flow.is_own(caller) && !flow.is_own(origin.function) && flow.total(caller).points > 0.0 {
        return of_library_call(flow, caller, path, change);
    }
    if kind == CauseKind::NewPath {
        let (path, change) = new_path(flow, path, caller, call);
        return DiffCause { calls: Some(calls), path, ..made(flow, kind, origin, change) };
    }
    DiffCause { calls: Some(calls), growth: Growth::OneCaller, path, ..made(flow, kind, origin, change) }
}

/// How much of new code is what others called before, and call no longer: a decorator has all that the decorated function costs.
fn taken_over(flow: &Flow<'_, '_>, origin: Origin) -> f64 {
    if origin.kind == CountKind::SelfCount {
        return 0.0;
    }
    // What an event loop has taken over may be below other functions that are new. But what these allocate, others did not before.
    let (mut seen, mut left, mut taken) = (HashSet::from([origin.function]), vec![origin.function], 0.0);
    while let Some(at) = left.pop() {
        for (callee, call) in flow.callees(at) {
            if flow.total(callee).is_new() {
                left.extend(Some(callee).filter(|&callee| seen.insert(callee)));
            } else if at == origin.function || flow.is_own(callee) {
                let lost = -flow.of_other_callers(callee, at).points;
                taken += lost.clamp(0.0, call.points.max(0.0));
            }
        }
    }
    taken
}

/// Code that the old side did not have, without what it took over.
fn of_new_code(flow: &Flow<'_, '_>, origin: Origin, change: Change) -> DiffCause {
    let found = of_all_new_code(flow, origin, change);
    let added = (change.points - taken_over(flow, origin)).max(0.0);
    DiffCause { points: found.points.min(added * 100.0), ..found }
}

/// Code that the old side did not have: it makes its caller dearer, unless it leads to code that was there before.
fn of_all_new_code(flow: &Flow<'_, '_>, origin: Origin, change: Change) -> DiffCause {
    let (above, between) = nearest_old_caller(flow, origin.function);
    // If `best` calls the new `draw`, and that calls `sprintf`, `draw` is the news.
    let is_new_way =
        between.first().is_some_and(|&first| first != origin.function && flow.total(first).is_new());
    // A module that is imported for the first time is what is new, wherever the first import of it is.
    let is_new_module =
        |function: &usize| name(flow, *function).starts_with(MODULE) && flow.is_own(*function);
    if let Some(module) = between.iter().rposition(is_new_module) {
        let path = between[module..].iter().map(|&function| name(flow, function)).collect();
        return DiffCause { path, ..made(flow, CauseKind::Dearer, origin, change) };
    }
    let mut path: Vec<Name> = between.into_iter().map(|function| name(flow, function)).collect();
    let is_library = |caller: &usize| {
        flow.is_own(*caller)
            && !flow.is_own(origin.function)
            && (flow.subject.calls.is_some() || is_of_one_module(flow, *caller, origin.function))
            && flow.total(*caller).points >= change.points / 2.0
    };
    if let Some(caller) = above.filter(is_library) {
        path.insert(0, name(flow, caller));
        let found = of_library_call(flow, caller, path, change);
        return if is_new_way { DiffCause { growth: Growth::NewCallee, ..found } } else { found };
    }
    // Of new own code, nothing was there before.
    if origin.kind == CountKind::Total
        && let Some(old) = old_code_below(flow, origin.function, change.points, &mut path)
    {
        path.splice(0..0, above.map(|caller| name(flow, caller)));
        let old = Origin { function: old, kind: CountKind::Total };
        return DiffCause { path, ..made(flow, CauseKind::NewPath, old, change) };
    }
    // Who calls a decorator, or a constructor that Python writes, did not change.
    let is_around = is_around_old_code(flow, origin) && !is_part_of_its_caller(&name(flow, origin.function));
    if is_around || above.is_some_and(|caller| is_generated(&name(flow, caller))) {
        path.splice(0..0, above.map(|caller| name(flow, caller)));
        let of_caller = above.map_or(0.0, |caller| flow.total(caller).points);
        let points = if of_caller > 0.0 { change.points.min(of_caller) } else { change.points };
        return DiffCause { path, ..made(flow, CauseKind::Dearer, origin, Change { points, ..change }) };
    }
    // A runtime that runs a new script, or a pool of threads a new task, did not change.
    let above = above.filter(|&caller| flow.is_own(caller) || !flow.is_own(origin.function));
    let Some(caller) = above else { return made(flow, CauseKind::Dearer, origin, change) };
    path.insert(0, name(flow, caller));
    let of_caller = flow.total(caller);
    if !is_of_one_module(flow, caller, origin.function) || of_caller.points < change.points / 2.0 {
        // What was in the caller before is no growth.
        let taken_out = (-flow.own(caller).points).max(0.0);
        let points = (change.points - taken_out).max(0.0);
        return DiffCause { path, ..made(flow, CauseKind::Dearer, origin, Change { points, ..change }) };
    }
    let caller = Origin { function: caller, kind: CountKind::Total };
    let points = change.points.min(of_caller.points);
    let found = made(flow, CauseKind::Dearer, caller, Change { points, ..of_caller });
    // A few old samples show that it was called before.
    let was_called = flow.total(origin.function).old_samples > 0.0;
    let growth = if was_called && !is_new_way { Growth::OneCallee } else { Growth::NewCallee };
    // A library that was called before calls new code, such as a closure that sorts.
    if growth == Growth::NewCallee && !is_new_way {
        path.drain(1..path.len() - 1);
    }
    DiffCause { growth, path, ..found }
}

/// Whether new own code is but a part of its function, which otherwise calls what the old side had: a decorator, or a handler that
/// counts requests.
fn is_around_old_code(flow: &Flow<'_, '_>, origin: Origin) -> bool {
    let total = flow.total(origin.function).new_share;
    let around = |(callee, call): &(usize, Change)| {
        flow.is_own(*callee) && !flow.total(*callee).is_new() && call.new_share >= MOST * total
    };
    origin.kind == CountKind::SelfCount && flow.callees(origin.function).iter().any(around)
}

/// Whether a function has no name of its own, as a closure or a comprehension, which people look for in the function around it.
fn is_part_of_its_caller(function: &str) -> bool {
    let nameless = [
        "<genexpr>",
        "<listcomp>",
        "<dictcomp>",
        "<setcomp>",
        "<lambda>",
        "(anonymous)",
        "{closure",
        "lambda",
    ];
    let is_go_closure = function
        .rsplit_once(".func")
        .is_some_and(|(_, number)| number.starts_with(|c: char| c.is_ascii_digit()));
    is_go_closure || nameless.iter().any(|part| function.contains(part))
}

/// Whether a function is one that Python writes for a class of data.
fn is_generated(function: &str) -> bool {
    function.starts_with("__create_fn__.")
}

/// The nearest caller, direct or not, that the old side has: a function of the program, unless only libraries call it. Also the
/// way from there, which ends with `function`.
fn nearest_old_caller(flow: &Flow<'_, '_>, function: usize) -> (Option<usize>, Vec<usize>) {
    let mut seen = HashSet::from([function]);
    // From the function up to the caller; it is turned round at the end.
    let (mut at, mut way, mut of_library) = (function, vec![function], None);
    let found = loop {
        let callers = flow.callers(at);
        // `makeslice` is called by `flips` and by `legal`, but what it leads to here may be below one of them only.
        let leads_here = |caller: &usize| seen.insert(*caller) && flow.is_below(*caller, function);
        let Some(caller) = callers.iter().map(|(caller, _)| *caller).find(leads_here) else {
            break of_library;
        };
        // A single sample shows that a function was there, even if it is negligible compared with the new side.
        let total = flow.total(caller);
        let was_called = flow.call_counts(caller).is_some_and(|[old, _]| old > 0.0);
        if !total.is_new() || total.old_samples >= 1.0 || was_called {
            if flow.is_own(caller) {
                break Some((caller, way));
            }
            of_library = of_library.or_else(|| Some((caller, way.clone())));
        }
        way.push(caller);
        at = caller;
    };
    let (caller, way) = found.unzip();
    let mut way = way.unwrap_or_else(|| vec![function]);
    way.reverse();
    (caller, way)
}

/// The code of the old side that has most of the cost of new code; `path` gets the way to it.
fn old_code_below(flow: &Flow<'_, '_>, function: usize, points: f64, path: &mut Vec<Name>) -> Option<usize> {
    let start = path.len();
    let mut seen = HashSet::from([function]);
    let mut at = function;
    loop {
        let callees = flow.callees(at);
        // What a runtime does for its program, such as allocating, is no path.
        let least = |callee: usize| if flow.is_own(callee) { MOST } else { NEARLY_ALL };
        let is_way = |&&(callee, call): &&(usize, Change)| {
            call.points >= least(callee) * points && !flow.is_runtime(callee)
        };
        let next = callees.first().filter(is_way);
        let Some(&(callee, _)) = next.filter(|(callee, _)| seen.insert(*callee)) else {
            path.truncate(start);
            return None;
        };
        path.push(name(flow, callee));
        if !flow.total(callee).is_new() {
            // What costs no more than before is only called in another way.
            if flow.total(callee).points < LEAST_OF_PATH * points {
                path.truncate(start);
                return None;
            }
            return Some(callee);
        }
        at = callee;
    }
}

/// Whether two functions are in one binary. A function of a library that is called for the first time is named itself:
/// without frame pointers its direct caller may be missing.
fn is_of_one_module(flow: &Flow<'_, '_>, one: usize, other: usize) -> bool {
    let symbols = &flow.subject.profile.symbols;
    let keys = &flow.subject.keys;
    // Of either side: the two builds of a program are two binaries, which may have two names.
    let modules = |function: usize| -> HashSet<&str> {
        let frames =
            symbols.frames.enumerate().filter(|(frame, _)| keys.of_frame(*frame).index() == function);
        frames.map(|(_, frame)| symbols.strings.get(symbols.mappings[frame.mapping].file)).collect()
    };
    !modules(one).is_disjoint(&modules(other))
}

pub(super) fn made(flow: &Flow<'_, '_>, kind: CauseKind, origin: Origin, change: Change) -> DiffCause {
    // A function whose own code is new is not.
    let total = flow.total(origin.function);
    let of_ratio = if change.old_share <= 0.0 && !total.is_new() { total } else { change };
    let ratio = flow.ratio(&of_ratio).map(|ratio| Some(ratio).filter(|_| of_ratio.old_share > 0.0));
    let [ratio, ratio_low, ratio_high] = ratio.map(|ratio| ratio.filter(|ratio| ratio.is_finite()));
    let points = change.points * 100.0;
    let made = DiffCause::new(kind, name(flow, origin.function), origin.kind);
    DiffCause { points, ratio, ratio_low, ratio_high, ..made }
}

pub(super) fn name(flow: &Flow<'_, '_>, function: usize) -> Name {
    flow.name(function).clone()
}
