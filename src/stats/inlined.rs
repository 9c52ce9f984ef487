//! Functions that are gone because they were put into their callers, whose own code grew by theirs.

use super::CountKind;
use super::call_paths::{COVERS, Side, StackSource};
use super::compare::{Comparison, Hypothesis, RemovedCount};
use super::dispersion::RunCounts;
use super::examiner::Examiner;

/// How many functions that are gone are looked at, the heaviest first.
const CANDIDATES: usize = 20;

/// The functions that a function called, and that are gone, if they had as much own code as its own code grew by.
pub(super) fn inlined_callees(
    row: &Hypothesis,
    comparison: &Comparison,
    examiner: Examiner<'_, impl StackSource>,
) -> Vec<usize> {
    if row.measure == CountKind::Total {
        return Vec::new();
    }
    let mut whole = examiner.own(row.function, row.unit);
    let mut lost = 0.0;
    let is_part = |removed: &&RemovedCount| {
        removed.measure == CountKind::SelfCount && removed.share >= row.points / CANDIDATES as f64
    };
    let mut parts: Vec<&RemovedCount> = comparison.removed.iter().filter(is_part).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts.truncate(CANDIDATES);
    parts.retain(|removed| is_near_caller(row.function, removed.function, examiner));
    for removed in &parts {
        let part = own_code_below(removed.function, row, examiner);
        lost += examiner.model.comparable_shares(&part).0;
        whole.add(&part);
    }
    let found = lost >= row.points / 2.0 && !examiner.certainly_grew(&whole, CountKind::SelfCount);
    if found { parts.into_iter().map(|removed| removed.function).collect() } else { Vec::new() }
}

/// Whether a function called one that is gone, and is no further away than the nearest one that all its calls come from.
fn is_near_caller(function: usize, removed: usize, examiner: Examiner<'_, impl StackSource>) -> bool {
    let enough = COVERS * examiner.own(removed, 1.0).counts.iter().sum::<f64>();
    let callers = examiner.stacks.callers(removed, CountKind::SelfCount, Side::Old);
    let near = callers.iter().position(|caller| caller.count >= enough).unwrap_or(callers.len());
    callers.iter().take(near + 1).any(|caller| caller.function == function)
}

/// The own code of a function that is gone, as far as the function of a row called it.
fn own_code_below(removed: usize, row: &Hypothesis, examiner: Examiner<'_, impl StackSource>) -> RunCounts {
    let spent = examiner.spent_in(row.function, &[removed], row.unit);
    let total = examiner.total(removed, row.unit);
    let mut own = examiner.own(removed, row.unit);
    for (profile, count) in own.counts.iter_mut().enumerate() {
        let below = spent.counts[profile] / total.counts[profile].max(f64::MIN_POSITIVE);
        *count *= below.clamp(0.0, 1.0);
    }
    own
}
