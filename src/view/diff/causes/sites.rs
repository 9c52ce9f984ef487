//! Places in a function from which it calls another one: more work per call and more calls look alike, but a second place
//! with costs of its own is a second call.

use std::collections::{BTreeMap, HashSet};

use hashbrown::HashMap;

use crate::profile::{Column, FrameId, Id};
use crate::stats::CountKind;
use crate::tree::KeyId;
use crate::view::diff::causes::flow::{Change, Edge, Flow};
use crate::view::diff::causes::origins::{NEARLY_ALL, Origin};

/// A place with less than this fraction of what a caller spends in a function is not looked at.
const LEAST_SITE: f64 = 0.1;

/// What a call costs in one run, by its place: a line, or where lines are unknown an address.
type Sites = BTreeMap<u64, i64>;

/// The call that is made in more places than before, if that explains the growth of an origin: one of the function itself
/// or of one above it that has all of the growth.
pub(super) fn further_call(flow: &Flow<'_, '_>, origin: Origin) -> Option<Edge> {
    if flow.subject.calls.is_some() {
        return None;
    }
    let change = flow.of(origin.function, origin.kind);
    let mut calls: Vec<(Edge, Change)> = Vec::new();
    let mut seen = HashSet::from([origin.function]);
    let mut at = origin.function;
    while let Some(&(caller, call)) = flow.callers(at).first() {
        let total = flow.total(at);
        let is_it = call.points >= NEARLY_ALL * total.points && !call.is_new() && total.grew_like(&change);
        if !is_it || !seen.insert(caller) {
            break;
        }
        calls.push(((caller, at), call));
        at = caller;
    }
    let edges: Vec<Edge> =
        calls.iter().map(|(edge, _)| *edge).filter(|(_, callee)| flow.is_own(*callee)).collect();
    let runs = sites(flow, &edges);
    let is_further = |edge: &Edge| {
        let call = calls.iter().find(|(other, _)| other == edge).map(|(_, call)| call);
        runs.get(edge).zip(call).is_some_and(|(runs, call)| explains(flow, *edge, runs, call))
    };
    edges.into_iter().find(is_further)
}

/// Whether there are more places than before, and those with the largest costs cost together what all did before.
fn explains(flow: &Flow<'_, '_>, (_, callee): Edge, runs: &[Sites], call: &Change) -> bool {
    let old = flow.comparison.profiles.0;
    let heavy = |sites: &Sites| {
        let least = LEAST_SITE * sites.values().sum::<i64>() as f64;
        sites.values().filter(|&&value| value as f64 >= least).count()
    };
    // A run without the call says nothing about its places.
    let counts =
        |runs: &[Sites]| -> Vec<usize> { runs.iter().filter(|sites| !sites.is_empty()).map(heavy).collect() };
    let (before, after) = runs.split_at(old);
    let (Some(before), Some(after)) = (counts(before).into_iter().max(), counts(after).into_iter().min())
    else {
        return false;
    };
    if after <= before || runs.iter().any(|sites| sites.contains_key(&UNKNOWN)) {
        return false;
    }
    let largest = |sites: &Sites| -> i64 {
        let mut values: Vec<i64> = sites.values().copied().collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        values.into_iter().take(before).sum()
    };
    let values: Vec<i64> = runs
        .iter()
        .enumerate()
        .map(|(run, sites)| if run < old { sites.values().sum() } else { largest(sites) })
        .collect();
    flow.of_values(&values, callee, CountKind::SelfCount).grew_less_than(call)
}

/// The place of a call if neither line nor address are known.
const UNKNOWN: u64 = 0;

/// What calls cost in each run, by their places. A stack counts for the outermost of its calls between two functions.
fn sites(flow: &Flow<'_, '_>, edges: &[Edge]) -> HashMap<Edge, Vec<Sites>> {
    let subject = flow.subject;
    let profiles = flow.profiles();
    let mut found: HashMap<Edge, Vec<Sites>> =
        edges.iter().map(|&edge| (edge, vec![Sites::new(); profiles])).collect();
    let callees = edges.iter().map(|&(_, callee)| KeyId::new(callee));
    let is_callee = Column::marking(callees, subject.keys.len());
    for stack in subject.stacks().filter(|_| !edges.is_empty()) {
        let frames = subject.profile.stacks.frames(stack);
        let mut seen: Vec<Edge> = Vec::new();
        for (&caller, &callee) in frames.iter().zip(&frames[1.min(frames.len())..]) {
            let key = subject.keys.of_frame(callee);
            let edge = (subject.keys.of_frame(caller).index(), key.index());
            if !is_callee[key] || seen.contains(&edge) {
                continue;
            }
            let Some(runs) = found.get_mut(&edge) else { continue };
            seen.push(edge);
            let site = site(flow, caller, callee);
            for (sites, value) in runs.iter_mut().zip(subject.values(stack)).filter(|(_, value)| *value != 0)
            {
                let sum = sites.entry(site).or_default();
                *sum = sum.saturating_add(value);
            }
        }
    }
    found
}

/// Where `caller` calls `callee`. Inlined code has the address of what was running, and not of a call.
fn site(flow: &Flow<'_, '_>, caller: FrameId, callee: FrameId) -> u64 {
    let frames = &flow.subject.profile.symbols.frames;
    let (caller, is_inlined) = (&frames[caller], frames[callee].inlined);
    match caller.line {
        0 if is_inlined => UNKNOWN,
        0 => caller.address,
        line => u64::from(line),
    }
}
