//! Calls that a compiler has put into the function that makes them, found by the lines that were running.
//!
//! V8 compiles hot functions into their callers, whose own code they then are. It still says which line was running: lines
//! 16 and 17 of own code of `render`, which begins at line 61, are those of `slug`, which begins at line 15.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::Id;
use crate::stats::CountKind;
use crate::tree::KeyId;
use crate::view::diff::causes::flow::{Change, Flow, reached};

/// A call with this fraction of the growth of a function's own code explains it: the code around the call is new as well.
const LEAST: f64 = 0.2;

/// The function of the old side that is new in the own code of another one, if it has much of what `own` grew by, and what
/// it costs there.
pub(super) fn newly_inlined(flow: &Flow<'_, '_>, function: usize, own: &Change) -> Option<(usize, Change)> {
    let calls = inlined_code(flow, function);
    // Compiled code has some lines that are not those of what was running.
    let calls = calls
        .into_iter()
        .map(|(callee, values)| (callee, flow.of_values(&values, function, CountKind::SelfCount)));
    calls
        .filter(|(_, call)| call.is_nearly_new() && call.grew() && call.points >= LEAST * own.points)
        .filter(|(callee, _)| flow.total(*callee).old_share > 0.0)
        .max_by(|(_, a), (_, b)| a.points.total_cmp(&b.points))
}

/// The values of a function's own code that belong to other functions of its file, of each one.
///
/// Only lines before the function itself are certainly not its own: what follows it may be in it. They may be lines of another file, if
/// code from there was put into the function: a function that it leads to, and that begins nearer to the line, says so.
fn inlined_code(flow: &Flow<'_, '_>, function: usize) -> BTreeMap<usize, Vec<i64>> {
    let subject = flow.subject;
    let this = subject.keys.get(KeyId::new(function));
    let (Some(file), Some(begin)) = (&this.file, this.line) else { return BTreeMap::new() };
    let begins = |key: KeyId| {
        let other = subject.keys.get(key);
        other.line.filter(|line| *line < begin && other.file.as_ref() == Some(file)).map(|line| (line, key))
    };
    let before: BTreeMap<u32, KeyId> = subject.keys.ids().filter_map(begins).collect();
    if before.is_empty() {
        return BTreeMap::new();
    }
    let below = reached(function, |caller| flow.all_callees(caller));
    let others = below.into_iter().map(|callee| subject.keys.get(KeyId::new(callee)));
    let elsewhere: BTreeSet<u32> =
        others.filter(|other| other.file.as_ref() != Some(file)).filter_map(|other| other.line).collect();
    let mut found: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for stack in subject.stacks() {
        let Some(&leaf) = subject.profile.stacks.frames(stack).last() else { continue };
        let line = subject.profile.symbols.frames[leaf].line;
        if subject.keys.of_frame(leaf).index() != function || line == 0 || line >= begin {
            continue;
        }
        let Some((start, callee)) = before.range(..=line).next_back() else { continue };
        if elsewhere.range(start..=&line).next().is_some() {
            continue;
        }
        let sums = found.entry(callee.index()).or_insert_with(|| vec![0; subject.series.len()]);
        sums.iter_mut().zip(subject.values(stack)).for_each(|(sum, value)| *sum = sum.saturating_add(value));
    }
    found
}
