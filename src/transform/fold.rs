//! `--fold`: removing leaf frames, such as profiler artefacts, so that their self counts for their callers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::name::is_artefact;
use crate::parallel;
use crate::profile::{Column, FrameId, FunctionId, Profile};
use crate::transform::Marks;
use crate::transform::engine::{Change, map_stacks};

/// The frames of known profiler artefacts.
pub fn artefacts(profile: &Profile) -> Marks {
    let symbols = &profile.symbols;
    let functions: Column<FunctionId, bool> =
        symbols.functions.ids().map(|function| is_artefact(symbols.function_name(function))).collect();
    Marks::of(symbols.frames.map(|frame| functions[frame.function]))
}

/// Removes marked frames from the leaf end of stacks, so that their self counts for the function they
/// interrupted. A stack of marked frames only keeps its outermost frame. Also returns how many stacks were
/// changed.
///
/// ```
/// use prof::profile::{from_notation, to_notation};
/// use prof::transform::{artefacts, fold_leaves};
///
/// let profile = from_notation("main;work;runtime.asyncPreempt 2\nmain;work 3\nruntime.asyncPreempt 1");
/// let (folded, stacks) = fold_leaves(&profile, &artefacts(&profile));
/// assert_eq!(to_notation(&folded), "main;work 5\nruntime.asyncPreempt 1");
/// assert_eq!(stacks, 1);
/// ```
pub fn fold_leaves(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut folded = 0;
    let profile = map_stacks(profile, |frames, out| {
        let kept = kept(frames, marks);
        if kept >= frames.len() {
            return Change::Keep;
        }
        folded += 1;
        out.extend_from_slice(&frames[..kept]);
        Change::Replace
    });
    (profile, folded)
}

/// How many frames of a stack are kept.
fn kept(frames: &[FrameId], marks: &Marks) -> usize {
    let artefacts = frames.iter().rev().take_while(|frame| marks.contain(**frame)).count();
    (frames.len() - artefacts).max(1)
}

/// The functions whose self [`fold_leaves`] would move, with that self in each of `metrics`; the heaviest first.
pub fn foldable(profile: &Profile, marks: &Marks, metrics: &[usize]) -> Vec<(String, Vec<i64>)> {
    if !marks.any() {
        return Vec::new();
    }
    let mut sums = BTreeMap::new();
    let parts =
        parallel::ranges(profile.samples.len(), 50_000, |rows| folded_in(profile, marks, metrics, rows));
    for (function, values) in parts.into_iter().flatten() {
        add(&mut sums, function, &values);
    }
    let mut found: Vec<(String, Vec<i64>)> = Vec::new();
    for (function, values) in sums {
        // Functions with the same name in several files are reported as one.
        let name = profile.symbols.function_name(function);
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
            None => found.push((name.to_string(), values)),
        }
    }
    found.retain(|(_, values)| values.iter().any(|value| *value != 0));
    found.sort_by_key(|(_, values)| Reverse(values.iter().map(|value| value.unsigned_abs()).max()));
    found
}

/// What these rows have in leaves that can be folded, by function.
fn folded_in(
    profile: &Profile,
    marks: &Marks,
    metrics: &[usize],
    rows: Range<usize>,
) -> BTreeMap<FunctionId, Vec<i64>> {
    let (samples, mut sums) = (&profile.samples, BTreeMap::new());
    let mut values = vec![0; metrics.len()];
    for row in rows {
        let frames = profile.stacks.frames(samples.stack[row]);
        let Some(&leaf) = frames.last().filter(|_| kept(frames, marks) < frames.len()) else { continue };
        for (value, &metric) in values.iter_mut().zip(metrics) {
            *value = samples.values[metric][row];
        }
        add(&mut sums, profile.symbols.frames[leaf].function, &values);
    }
    sums
}

fn add(sums: &mut BTreeMap<FunctionId, Vec<i64>>, function: FunctionId, values: &[i64]) {
    let sums = sums.entry(function).or_insert_with(|| vec![0; values.len()]);
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
