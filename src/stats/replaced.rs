//! New functions that do the work of functions that are gone.
//!
//! ```text
//! main;run;parse 500    →    main;run;decode 510
//! ```

use hashbrown::HashMap;

use super::call_paths::{COVERS, ExcludedStacks, Side, StackSource, column, nearest_caller};
use super::called_elsewhere::may_hold;
use super::compare::{Cause, Comparison, Hypothesis, RemovedCount};
use super::model::{GONE, Model};
use super::trades::{Trades, max_change, max_growth};
use super::{CountKind, Verdict};

/// How many removed functions are examined for one that may have replaced them: a rebuilt program can lose thousands.
const CANDIDATES: usize = 20;

/// The functions apart from that of `row` that are known to have replaced a removed one.
fn replacements<'c>(
    removed: &'c RemovedCount,
    row: &'c Hypothesis,
    comparison: &'c Comparison,
) -> impl Iterator<Item = usize> + 'c {
    let is_other = |other: &&Hypothesis| {
        let from =
            matches!(other.cause, Some(Cause::Moved { from: Some(from), .. }) if from == removed.function);
        from && other.measure == removed.measure && other.function != row.function
    };
    comparison.hypotheses.iter().filter(is_other).map(|other| other.function)
}

/// The function that a new one replaced: removed, under the same caller, at least half and at most twice
/// as large, and such that both taken as one function cannot have grown by half as much as the new one.
pub(super) fn replaced(
    row: &Hypothesis,
    caller: Option<usize>,
    comparison: &Comparison,
    model: &Model,
    stacks: &impl StackSource,
    trades: &Trades,
) -> Option<usize> {
    if row.old > 0.0 {
        return None;
    }
    let size = row.points..=4.0 * row.points;
    let mut alike: Vec<&RemovedCount> = comparison
        .removed
        .iter()
        .filter(|removed| removed.measure == row.measure && size.contains(&(2.0 * removed.share)))
        .collect();
    let unlike = |removed: &RemovedCount| (removed.share - row.points).abs();
    alike.sort_by(|a, b| unlike(a).total_cmp(&unlike(b)));
    alike.truncate(CANDIDATES);
    let appeared = stacks.counts(row.function, row.measure, ExcludedStacks::default());
    let takes_its_place = |removed: &&RemovedCount| {
        let vanished = stacks.counts(removed.function, removed.measure, ExcludedStacks::default());
        let enough = COVERS * vanished.iter().sum::<f64>();
        let mut both: Vec<f64> = appeared.iter().zip(vanished).map(|(new, old)| new + old).collect();
        // What was lost once explains several gains only if it is as large as all of them.
        let traded = trades.gainers_of(removed.function).filter(|_| removed.measure == CountKind::SelfCount);
        let mut others: Vec<usize> = replacements(removed, row, comparison).chain(traded).collect();
        others.sort_unstable();
        others.dedup();
        for function in others {
            let other = stacks.counts(function, row.measure, ExcludedStacks::default());
            both.iter_mut().zip(other).for_each(|(sum, count)| *sum += count);
        }
        max_growth(model, &column(both, row.unit), row.measure) < row.points / 2.0
            && nearest_caller(removed.function, removed.measure, Side::Old, enough, stacks) == caller
    };
    let mut found: Vec<usize> =
        alike.into_iter().filter(takes_its_place).map(|removed| removed.function).collect();
    // Of closures of one size that one function calls, what they call tells which of them this one was.
    if found.len() > 1 {
        let unlike: HashMap<usize, f64> = found
            .iter()
            .map(|&removed| (removed, unlike_callees(row, removed, comparison, stacks)))
            .collect();
        found.sort_by(|a, b| unlike[a].total_cmp(&unlike[b]));
    }
    found.first().copied()
}

/// How much of the program, as the sum of shares, one of two functions calls, and the other one does not.
fn unlike_callees(
    row: &Hypothesis,
    removed: usize,
    comparison: &Comparison,
    stacks: &impl StackSource,
) -> f64 {
    let is_callee = |other: &&Hypothesis| {
        other.measure == CountKind::Total && other.old > 0.0 && may_hold(other, row.points)
    };
    let differs = |other: &&Hypothesis| {
        stacks.includes(row.function, other.function) != stacks.includes(removed, other.function)
    };
    let callees = comparison.hypotheses.iter().filter(is_callee).filter(differs);
    callees.map(|other| other.old_share.max(other.new_share)).sum()
}

/// Sets the verdict and the cause of own code that is gone, while new code below the same caller, which hardly grew, does its work:
/// `subtotal` and `discount` are `amount` now. New code replaces as much as it costs, the heaviest first.
pub(super) fn move_what_was_replaced(
    comparison: &mut Comparison,
    trades: &Trades,
    stacks: &impl StackSource,
) {
    let rows = &comparison.hypotheses;
    let mut room: HashMap<usize, f64> = HashMap::new();
    for row in rows.iter().filter(|row| row.measure == CountKind::SelfCount && row.old <= 0.0) {
        if let Some(Cause::Moved { caller: Some(caller), from: None, loser: None }) = row.cause {
            *room.entry(caller).or_default() += row.points;
        }
    }
    let is_gone = |row: &Hypothesis| {
        row.measure == CountKind::SelfCount
            && row.verdict == Verdict::Improved
            && row.new_share < GONE * row.old_share
    };
    let mut gone: Vec<usize> = (0..rows.len()).filter(|&index| is_gone(&rows[index])).collect();
    gone.sort_by(|&a, &b| rows[a].points.total_cmp(&rows[b].points).then(a.cmp(&b)));
    for index in gone {
        let rows = &comparison.hypotheses;
        let row = &rows[index];
        let enough = COVERS * row.old * row.unit;
        let caller = nearest_caller(row.function, row.measure, Side::Old, enough, stacks);
        let room = caller.and_then(|caller| room.get_mut(&caller)).filter(|room| **room >= -row.points / 2.0);
        match room {
            Some(room) => *room += row.points,
            None if trades.was_copy(row.function) && !is_named(rows, row.function) => {}
            None => continue,
        }
        comparison.hypotheses[index].set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
    move_with_replaced_caller(comparison, stacks);
}

/// Sets the verdict and the cause of functions that are gone together with the one that called them, which another one replaced:
/// `indexer.Run` is what `main.func1` was, and all that it called, `indexJob`.
fn move_with_replaced_caller(comparison: &mut Comparison, stacks: &impl StackSource) {
    let rows = &comparison.hypotheses;
    let is_gone_with_caller = |row: &Hypothesis| {
        let caller = || {
            let enough = COVERS * row.old * row.unit;
            nearest_caller(row.function, row.measure, Side::Old, enough, stacks)
        };
        row.measure == CountKind::Total
            && row.verdict == Verdict::Improved
            && row.new <= 0.0
            && caller().is_some_and(|caller| is_named(rows, caller))
    };
    let gone: Vec<usize> = (0..rows.len()).filter(|&index| is_gone_with_caller(&rows[index])).collect();
    for index in gone {
        comparison.hypotheses[index].set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
}

/// Whether a row says that it was this function, or a part of it.
fn is_named(rows: &[Hypothesis], function: usize) -> bool {
    rows.iter().any(|row| match row.cause {
        Some(Cause::Moved { from, loser, .. }) => [from, loser].contains(&Some(function)),
        _ => false,
    })
}

/// Sets the verdict and the cause of functions of which nearly nothing is left, although their caller, callees included, cannot
/// have lost half as much: their code is in the caller now, or in what it calls instead.
///
/// ```text
/// main;hint 100           →    main;hint 150
/// main;hint;close_to 50
/// ```
pub(super) fn move_what_its_caller_does(
    comparison: &mut Comparison,
    model: &Model,
    stacks: &impl StackSource,
) {
    let is_gone = |row: &Hypothesis| {
        row.verdict == Verdict::Improved
            && row.new_share < GONE * row.old_share
            && !stacks.is_library(row.function)
    };
    for row in comparison.hypotheses.iter_mut().filter(|row| is_gone(row)) {
        let enough = COVERS * row.old * row.unit;
        let caller = nearest_caller(row.function, row.measure, Side::Old, enough, stacks);
        let cannot_have_lost = |caller: &usize| {
            let total = stacks.counts(*caller, CountKind::Total, ExcludedStacks::default());
            max_change(model, &column(total, row.unit), CountKind::Total, -1.0) < row.points.abs() / 2.0
        };
        if caller.as_ref().is_some_and(cannot_have_lost) {
            row.set_moved(Cause::Moved { caller: None, from: None, loser: None });
        }
    }
}
