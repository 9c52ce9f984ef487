//! Functions that are gone because they were put into their callers, whose own code grew by theirs.

use super::CountKind;
use super::call_paths::{COVERS, ExcludedStacks, Side, StackSource, column};
use super::compare::{Comparison, Hypothesis, RemovedCount};
use super::model::Model;
use super::trades::SURE;

/// How many functions that are gone are looked at, the heaviest first.
const CANDIDATES: usize = 20;

/// The functions that a function called, and that are gone, if they had as much own code as its own code grew by.
pub(super) fn inlined_callees(
    row: &Hypothesis,
    comparison: &Comparison,
    model: &Model,
    stacks: &impl StackSource,
) -> Vec<usize> {
    if row.measure == CountKind::Total {
        return Vec::new();
    }
    let mut whole = stacks.counts(row.function, CountKind::SelfCount, ExcludedStacks::default());
    let mut lost = 0.0;
    let is_part = |removed: &&RemovedCount| {
        removed.measure == CountKind::SelfCount && removed.share >= row.points / CANDIDATES as f64
    };
    let mut parts: Vec<&RemovedCount> = comparison.removed.iter().filter(is_part).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts.truncate(CANDIDATES);
    parts.retain(|removed| is_near_caller(row.function, removed.function, stacks));
    for removed in &parts {
        let part = own_code_below(removed.function, row.function, stacks);
        let (old, _) = model.comparable_shares(&column(part.clone(), row.unit));
        lost += old;
        whole.iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
    }
    let is_balanced = || model.test(&column(whole, row.unit), CountKind::SelfCount).increase.0 > SURE;
    let found = lost >= row.points / 2.0 && is_balanced();
    if found { parts.into_iter().map(|removed| removed.function).collect() } else { Vec::new() }
}

/// Whether a function called one that is gone, and is no further away than the nearest one that all its calls come from.
fn is_near_caller(function: usize, removed: usize, stacks: &impl StackSource) -> bool {
    let own = stacks.counts(removed, CountKind::SelfCount, ExcludedStacks::default());
    let enough = COVERS * own.iter().sum::<f64>();
    let callers = stacks.callers(removed, CountKind::SelfCount, Side::Old);
    let near = callers.iter().position(|caller| caller.count >= enough).unwrap_or(callers.len());
    callers.iter().take(near + 1).any(|caller| caller.function == function)
}

/// The own code of a function that is gone, as far as `caller` called it.
fn own_code_below(removed: usize, caller: usize, stacks: &impl StackSource) -> Vec<f64> {
    let count = |function: usize, through: &[usize]| {
        stacks.counts(function, CountKind::Total, ExcludedStacks { through, ending: false })
    };
    let (whole, rest, total) = (count(caller, &[]), count(caller, &[removed]), count(removed, &[]));
    let own = stacks.counts(removed, CountKind::SelfCount, ExcludedStacks::default());
    let part = |profile: usize| {
        let below = (whole[profile] - rest[profile]) / total[profile].max(f64::MIN_POSITIVE);
        own[profile] * below.clamp(0.0, 1.0)
    };
    (0..own.len()).map(part).collect()
}
