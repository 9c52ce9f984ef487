//! Finds where a change began: separates callers that only pass a change on from its origin, and code
//! that only moved from code that grew.
//!
//! When `main.fnv` becomes slower, so do its callers `main.stageHash`, `main.run` and `main.main`, but
//! only one of the four rows is news. And after `parse` was renamed to `decode`, the "new" function
//! `decode` did not make anything slower.

use hashbrown::HashMap;

pub use super::call_paths::{Caller, ExcludedStacks, Side, StackSource};
use super::called_elsewhere::{CalledElsewhere, may_hold};
use super::compare::{Cause, Comparison, Hypothesis, origin, row_of_own};
use super::examiner::Examiner;
use super::exchanged::Exchanges;
use super::inlined::inlined_callees;
use super::model::APPEARED;
use super::moved::{Callers, Moved};
use super::replaced::{move_what_its_caller_does, move_what_was_replaced};
use super::trades::Trades;
use super::{CountKind, TestOptions, Verdict};

/// Names every row by the function nearest to the leaf. Then changes the verdict of totals that only
/// pass a change on to [`Verdict::Inherits`] and that of regressions without growth to
/// [`Verdict::Moved`], and sets their cause.
///
/// A total inherits its change if what remains of it, without the stacks through the rows that explain
/// it, could be chance (p > 1 %: there are a dozen of totals above most functions, each of them with its noise), or is too
/// small to matter. A new function has moved if, at 95 % confidence, the nearest caller of
/// nearly all its samples grew by less than half as many points: then the samples were already below
/// that caller before. So has any function whose gain the own code of its caller or of a neighbour lost, and a new function
/// most of which is code that both sides have and that did not grow by half as much.
pub fn attribute(comparison: &mut Comparison, stacks: &impl StackSource) {
    let Some(model) = comparison.model.take() else { return };
    for row in comparison.hypotheses.iter_mut().filter(|row| row.same_counts.len() > 1) {
        row.function = stacks.leafmost(&row.same_counts);
    }
    // In order of increasing totals, callees come before their callers.
    let mut totals: Vec<usize> = (0..comparison.hypotheses.len())
        .filter(|&i| comparison.hypotheses[i].measure == CountKind::Total)
        .filter(|&i| direction(&comparison.hypotheses[i], comparison.options.alpha).is_some())
        .collect();
    let size = |row: &Hypothesis| (row.old + row.new) * row.unit;
    totals.sort_by(|&a, &b| size(&comparison.hypotheses[a]).total_cmp(&size(&comparison.hypotheses[b])));
    let is_regressed = |row: &Hypothesis| row.verdict == Verdict::Regressed;
    if !totals.is_empty() || comparison.hypotheses.iter().any(is_regressed) {
        stacks.expect(&looked_up(comparison));
    }
    let examiner = Examiner { model: &model, stacks };
    for &index in &totals {
        inherit(index, comparison, examiner);
    }
    if !comparison.options.one_build {
        excuse(&totals, comparison, examiner);
    }
    comparison.model = Some(model);
}

/// Sets the verdict and the cause of what seems to cost more or less because code moved, given the totals that changed.
fn excuse(totals: &[usize], comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let mut trades = Trades::default();
    let exchanges = Exchanges::new(comparison, examiner);
    let all = (0..comparison.hypotheses.len()).collect();
    excuse_moved(all, comparison, examiner, (&mut trades, &exchanges), Callers::OfNewCode);
    excuse_new_calls(comparison, examiner);
    excuse_exchanges(comparison, examiner);
    judge_by_total(comparison);
    let orphans = orphans(totals, comparison);
    for &index in &orphans {
        let row = &mut comparison.hypotheses[index];
        (row.cause, row.verdict) = (None, row.verdict_alone(&comparison.options));
    }
    for &index in &orphans {
        inherit(index, comparison, examiner);
    }
    // The way in which code moved may make its caller seem to grow, but not the caller of that.
    excuse_moved(orphans, comparison, examiner, (&mut trades, &exchanges), Callers::OfAny);
    excuse_new_calls(comparison, examiner);
    excuse_exchanges(comparison, examiner);
    move_with_total(comparison, examiner);
    move_with_new_caller(comparison, examiner);
    keep_unexplained(comparison, examiner);
    tell_wrappers(comparison, examiner);
    move_what_was_given_away(comparison, examiner);
    move_what_was_replaced(comparison, &trades, examiner);
    move_what_its_caller_does(comparison, examiner);
    tell_extracted(comparison, examiner);
}

/// The functions that attribution looks at: those of the rows that changed, and those that new ones may have replaced.
fn looked_up(comparison: &Comparison) -> Vec<usize> {
    let alpha = comparison.options.alpha;
    let rows = comparison.hypotheses.iter().filter(|row| direction(row, alpha).is_some());
    let mut functions: Vec<usize> = rows.map(|row| row.function).collect();
    let is_new = |row: &&Hypothesis| row.verdict == Verdict::Regressed && row.old <= 0.0;
    if comparison.hypotheses.iter().any(|row| is_new(&row)) {
        functions.extend(comparison.removed.iter().map(|removed| removed.function));
    }
    let may_be_elsewhere = |row: &&Hypothesis| is_new(row) || row.verdict == Verdict::Improved;
    let sizes = comparison.hypotheses.iter().filter(may_be_elsewhere).map(|row| row.points.abs());
    if let Some(smallest) = sizes.min_by(f64::total_cmp) {
        let holders = comparison.hypotheses.iter().filter(|row| may_hold(row, smallest));
        functions.extend(holders.map(|row| row.function));
    }
    functions.sort_unstable();
    functions.dedup();
    functions
}

/// Sets the verdict and the cause of a total that only passes a change on.
fn inherit(index: usize, comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    if let Some(row) = inherited_from(index, comparison, examiner) {
        comparison.hypotheses[index].cause = Some(Cause::Inherits { row });
        comparison.hypotheses[index].verdict = Verdict::Inherits;
    }
}

/// Sets the verdict and the cause of those of these rows that regressed although their cost was elsewhere before.
fn excuse_moved(
    mut regressed: Vec<usize>,
    comparison: &mut Comparison,
    examiner: Examiner<'_, impl StackSource>,
    (trades, exchanges): (&mut Trades, &Exchanges),
    callers: Callers,
) {
    regressed.retain(|&i| comparison.hypotheses[i].verdict == Verdict::Regressed);
    // The largest first: what another function lost explains only as much. But what called that function comes before what
    // is only called from the same place.
    let points = |index: &usize| comparison.hypotheses[*index].points;
    let inlined = |index| inlined_callees(&comparison.hypotheses[index], comparison, examiner);
    let mut regressed: Vec<(usize, Vec<usize>)> =
        regressed.into_iter().map(|index| (index, inlined(index))).collect();
    regressed.sort_by(|(a, of_a), (b, of_b)| {
        of_a.is_empty().cmp(&of_b.is_empty()).then(points(b).total_cmp(&points(a))).then(a.cmp(b))
    });
    for (index, inlined) in regressed {
        let known = Moved { comparison, examiner, exchanges, callers };
        if let Some(cause) = known.cause(&comparison.hypotheses[index], &inlined, trades) {
            comparison.hypotheses[index].set_moved(cause);
        }
    }
}

/// Sets the verdict and the cause of functions whose total grew only by that of unchanged code which they call now, and of those
/// that are called now in exchange for something dearer: of new ones (wrappers), only their own code is news.
fn excuse_new_calls(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let rows = &comparison.hypotheses;
    let known = CalledElsewhere { comparison, examiner };
    // Own code may be all that a function has.
    let is_whole =
        |row: &Hypothesis| row.measure == CountKind::Total || known.total_of(row.function).is_none();
    let mut regressed: Vec<usize> = (0..rows.len())
        .filter(|&index| rows[index].verdict == Verdict::Regressed && is_whole(&rows[index]))
        .collect();
    // The smallest first: a wrapper may call others.
    regressed.sort_by(|&a, &b| rows[a].points.total_cmp(&rows[b].points).then(a.cmp(&b)));
    for index in regressed {
        let row = &comparison.hypotheses[index];
        let elsewhere = CalledElsewhere { comparison, examiner };
        if row.old <= 0.0 && elsewhere.is_wrapper(row) {
            let caller = examiner.nearest_old_caller(row);
            comparison.hypotheses[index].set_moved(Cause::Wraps { caller });
        } else if row.old > 0.0 && elsewhere.took_over(row) {
            let cause = Cause::Moved { caller: None, from: None, loser: None };
            comparison.hypotheses[index].set_moved(cause);
        } else if row.old > 0.0
            && let Some(caller) = elsewhere.cheaper_caller(row)
        {
            let cause = Cause::Moved { caller: Some(caller), from: None, loser: None };
            comparison.hypotheses[index].set_moved(cause);
        }
    }
}

/// Sets the verdict and the cause of functions of libraries that their caller uses now instead of others or of its own code, and of own
/// code that does what a library did.
fn excuse_exchanges(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let has_regressed = |row: &&Hypothesis| row.verdict == Verdict::Regressed;
    let elsewhere = CalledElsewhere { comparison, examiner };
    let exchanged = |row: &Hypothesis| {
        let row = Some(row).filter(has_regressed)?;
        elsewhere.exchanging_caller(row).map(|caller| (caller, false)).or_else(|| {
            let function = elsewhere.exchanging_itself(row)?;
            Some((function, function != row.function))
        })
    };
    let callers: Vec<Option<(usize, bool)>> = comparison.hypotheses.iter().map(exchanged).collect();
    for (row, caller) in comparison.hypotheses.iter_mut().zip(&callers) {
        if let Some((caller, _)) = *caller {
            row.set_moved(Cause::Moved { caller: Some(caller), from: None, loser: None });
        }
    }
    // What a library does now for a function is no improvement of that.
    let gave_away = |row: &Hypothesis| {
        row.measure == CountKind::SelfCount
            && row.verdict == Verdict::Improved
            && callers.contains(&Some((row.function, true)))
    };
    for row in comparison.hypotheses.iter_mut().filter(|row| gave_away(row)) {
        row.set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
}

/// If a total certainly regressed, and all below it that grew has only moved, something did become more expensive: the smallest of
/// such totals that both sides have did. Libraries did not change, nor did what only calls now what others called before, such as a
/// goroutine.
fn keep_unexplained(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let rows = &comparison.hypotheses;
    if rows.iter().any(|row| row.verdict == Verdict::Regressed) {
        return;
    }
    let elsewhere = CalledElsewhere { comparison, examiner };
    let is_unexplained = |&index: &usize| {
        let (row, origin) = (&rows[index], &rows[origin(rows, index)]);
        // A wrapper has what it calls, which tells nothing.
        let is_known = row.old_share >= APPEARED * row.new_share;
        is_known
            && row.verdict == Verdict::Inherits
            && origin.verdict == Verdict::Moved
            && origin.function != row.function
            && !examiner.stacks.is_library(row.function)
            && row.verdict_alone(&comparison.options) == Verdict::Regressed
            && !elsewhere.took_over(row)
    };
    let size = |index: &usize| rows[*index].new_share;
    let smallest =
        (0..rows.len()).filter(is_unexplained).min_by(|a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
    if let Some(index) = smallest {
        let row = &mut comparison.hypotheses[index];
        (row.cause, row.verdict) = (None, Verdict::Regressed);
    }
}

/// Tells new functions that only call what was called from elsewhere before from those that were extracted.
fn tell_wrappers(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let elsewhere = CalledElsewhere { comparison, examiner };
    let wraps = |row: &Hypothesis| match row.cause {
        Some(Cause::Moved { caller, from: None, loser: None }) if row.measure == CountKind::Total => {
            let is_new = row.old <= 0.0 && row.verdict == Verdict::Moved;
            (is_new && elsewhere.has_little_own_code(row) && elsewhere.is_wrapper(row))
                .then_some(Cause::Wraps { caller })
        }
        _ => None,
    };
    let found: Vec<(usize, Cause)> = comparison
        .hypotheses
        .iter()
        .enumerate()
        .filter_map(|(index, row)| Some((index, wraps(row)?)))
        .collect();
    for (index, cause) in found {
        comparison.hypotheses[index].cause = Some(cause);
    }
}

/// Tells new functions that were taken out of their caller, with code that this called before, from those that replaced others.
fn tell_extracted(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let elsewhere = CalledElsewhere { comparison, examiner };
    let rows = &comparison.hypotheses;
    let own_was_in = |row: &Hypothesis, caller: usize| {
        let own = row_of_own(rows, row.function);
        own.is_some_and(|own| matches!(own.cause, Some(Cause::Moved { loser, .. }) if loser == Some(caller)))
    };
    let is_new =
        |row: &Hypothesis| row.old <= 0.0 && row.verdict == Verdict::Moved && row.measure == CountKind::Total;
    let place = |row: &Hypothesis| match row.cause {
        _ if !is_new(row) || examiner.stacks.is_library(row.function) => None,
        Some(Cause::Moved { caller: Some(caller), from: None, loser: None }) => {
            (elsewhere.lost_as_much(row, caller) && elsewhere.is_wrapper(row)).then_some(caller)
        }
        // What is around one function is a wrapper, unless its own code was in the caller.
        Some(Cause::Wraps { caller: Some(caller) }) => {
            let is_part = || {
                examiner.is_nearest_caller(row, caller)
                    && elsewhere.calls_several(row)
                    && elsewhere.lost_as_much(row, caller)
            };
            (own_was_in(row, caller) || is_part()).then_some(caller)
        }
        _ => None,
    };
    let found: Vec<Option<usize>> = comparison.hypotheses.iter().map(place).collect();
    for (row, caller) in comparison.hypotheses.iter_mut().zip(found) {
        if caller.is_some() {
            row.cause = Some(Cause::Moved { caller, from: None, loser: caller });
        }
    }
}

/// Sets the verdict and the cause of own code that grew by more than twice as much as all of the function, callees included,
/// although that certainly regressed: most of it was in callees before. What counts is by how much the total grew. A loop that was
/// a comprehension may be dearer, but not by all that it costs.
fn judge_by_total(comparison: &mut Comparison) {
    let rows = &comparison.hypotheses;
    let is_mostly_moved = |own: &Hypothesis| {
        own.measure == CountKind::SelfCount
            && own.verdict == Verdict::Regressed
            && rows.iter().any(|row| is_total_of_moved(row, own, &comparison.options))
    };
    let moved: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| is_mostly_moved(row)).map(|(index, _)| index).collect();
    for index in moved {
        let own = &mut comparison.hypotheses[index];
        own.set_moved(Cause::Moved { caller: Some(own.function), from: None, loser: None });
    }
}

/// Whether a row is the total of the function whose own code is `own`, and a regression by itself, although it grew by less than
/// half as much.
fn is_total_of_moved(row: &Hypothesis, own: &Hypothesis, options: &TestOptions) -> bool {
    row.measure == CountKind::Total
        && row.function == own.function
        && row.points < own.points / 2.0
        && row.verdict_alone(options) == Verdict::Regressed
}

/// Sets the verdict and the cause of totals that seem cheaper because others call now what they called.
fn move_what_was_given_away(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let rows = &comparison.hypotheses;
    let improved = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.verdict == Verdict::Improved && row.measure == CountKind::Total);
    let elsewhere = CalledElsewhere { comparison, examiner };
    let moved: Vec<usize> =
        improved.filter(|(_, row)| elsewhere.gave_away(row)).map(|(index, _)| index).collect();
    for index in moved {
        comparison.hypotheses[index].set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
}

/// The totals that grew by much, and seemed to inherit that from code which only moved: `parse` still grew if it now spends
/// more in `parseLine` than the code cost that became `parseLine`, or in its own code than the callees cost that it replaced.
fn orphans(totals: &[usize], comparison: &Comparison) -> Vec<usize> {
    let rows = &comparison.hypotheses;
    let is_orphan = |&index: &usize| match rows[index].cause {
        Some(Cause::Inherits { row: from }) => {
            let is_orphan = if rows[from].function == rows[index].function {
                is_total_of_moved(&rows[index], &rows[from], &comparison.options)
            } else {
                rows[index].points >= MUCH * rows[from].points
            };
            rows[from].verdict == Verdict::Moved && is_orphan
        }
        _ => false,
    };
    totals.iter().copied().filter(is_orphan).collect()
}

/// Growth of less than this fraction of what moved may come from the move.
const MUCH: f64 = 0.25;

/// The own code of a function was where all of the function was: if its total, callees included, has moved, so has its self.
/// Except for wrappers, of which only the code that they call was there, and where the own code is a small part and the caller
/// certainly grew by that.
fn move_with_total(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    for (index, cause) in moved_with_total(comparison, examiner) {
        let row = &mut comparison.hypotheses[index];
        (row.cause, row.verdict) = (cause, Verdict::Moved);
    }
}

/// The rows of own code that moved with the total of the function, and the causes of these totals.
fn moved_with_total(
    comparison: &Comparison,
    examiner: Examiner<'_, impl StackSource>,
) -> Vec<(usize, Option<Cause>)> {
    let has_moved = |row: &&Hypothesis| {
        let is_wrapper = matches!(row.cause, Some(Cause::Wraps { .. }));
        row.measure == CountKind::Total && row.verdict == Verdict::Moved && !is_wrapper
    };
    let moved = comparison.hypotheses.iter().filter(has_moved);
    let totals: HashMap<usize, &Hypothesis> = moved.map(|row| (row.function, row)).collect();
    let elsewhere = CalledElsewhere { comparison, examiner };
    let caller_grew_by = |own: &Hypothesis, total: &Hypothesis| match total.cause {
        Some(Cause::Moved { caller: Some(caller), from: None, .. }) => {
            let others = elsewhere.beside(total, caller);
            let spent = examiner.total_without(caller, &others, own.unit);
            examiner.growth(&spent) >= own.points / 2.0 && examiner.certainly_grew(&spent, CountKind::Total)
        }
        _ => false,
    };
    let cause = |own: &Hypothesis| {
        let total = totals.get(&own.function).filter(|_| own.verdict == Verdict::Regressed)?;
        let is_most = own.points >= total.points / 2.0;
        (is_most || !caller_grew_by(own, total)).then_some(total.cause)
    };
    let rows = comparison.hypotheses.iter().enumerate();
    rows.filter_map(|(index, own)| Some((index, cause(own)?))).collect()
}

/// New code that only moved code calls was where that was, if the place did not certainly grow: `sort.Slice` does what
/// `sort.Sort` did, and so do the functions below the one what those below the other did.
fn move_with_new_caller(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let rows = &comparison.hypotheses;
    let elsewhere = CalledElsewhere { comparison, examiner };
    let steady_place = |row: &Hypothesis| {
        let Some(Cause::Moved { caller, from, loser: None }) = row.cause else { return None };
        let mut place = examiner.total(from.map_or(caller, |_| Some(row.function))?, row.unit);
        if let Some(from) = from {
            place.add(&examiner.total(from, row.unit));
        }
        // Of a place that does much else, little is known. What a wrapper calls is no part of it.
        let is_most = row.points >= examiner.model.comparable_shares(&place).1 / 2.0;
        let is_steady = !examiner.probably_grew(&place, CountKind::Total);
        (is_most && is_steady && !elsewhere.is_wrapper(row)).then_some(caller)
    };
    let is_new = |row: &&Hypothesis| row.old <= 0.0;
    let is_moved = |row: &&Hypothesis| row.measure == CountKind::Total && row.verdict == Verdict::Moved;
    let moved: HashMap<usize, Option<usize>> = rows
        .iter()
        .filter(is_new)
        .filter(is_moved)
        .filter_map(|row| Some((row.function, steady_place(row)?)))
        .collect();
    if moved.is_empty() {
        return;
    }
    let place = |row: &Hypothesis| {
        examiner.callers(row, Side::New).iter().find_map(|caller| moved.get(caller).copied())
    };
    let parts: Vec<(usize, Option<usize>)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.verdict == Verdict::Regressed && row.old <= 0.0)
        .filter_map(|(index, row)| Some((index, place(row)?)))
        .collect();
    for (index, caller) in parts {
        comparison.hypotheses[index].set_moved(Cause::Moved { caller, from: None, loser: None });
    }
}

/// Whether the row is a significant increase or decrease, however small.
fn direction(row: &Hypothesis, alpha: f64) -> Option<ChangeDirection> {
    match row.verdict {
        Verdict::Regressed | Verdict::Improved | Verdict::Small => {
            Some(if row.increase.q < alpha { ChangeDirection::Up } else { ChangeDirection::Down })
        }
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeDirection {
    Up,
    Down,
}

/// The row that explains the total at `index`: without the stacks of all other origins, no significant
/// change remains.
fn inherited_from(
    index: usize,
    comparison: &Comparison,
    examiner: Examiner<'_, impl StackSource>,
) -> Option<usize> {
    let rows = &comparison.hypotheses;
    let row = &rows[index];
    let alpha = comparison.options.alpha;
    let direction_of_change = direction(row, alpha)?;
    // Only a regression explains a regression: ten small changes below a large one must not hide it.
    let explains = |other: &Hypothesis| {
        direction(other, alpha) == Some(direction_of_change)
            && (other.verdict == row.verdict || row.verdict == Verdict::Small)
    };
    let origins: Vec<usize> = (0..rows.len()).filter(|&i| i != index && explains(&rows[i])).collect();
    let own = origins.iter().copied().find(|&i| is_own_code(&rows[i], row));
    let callees: Vec<usize> = origins
        .into_iter()
        .filter(|&i| !row.same_counts.contains(&rows[i].function))
        .filter(|&i| examiner.stacks.includes(row.function, rows[i].function))
        .collect();
    if own.is_none() && callees.is_empty() {
        return None;
    }
    let through: Vec<usize> = callees.iter().map(|&i| rows[i].function).collect();
    let rest = examiner.row_without(row, ExcludedStacks { through: &through, ending: own.is_some() });
    let has_changed = match direction_of_change {
        ChangeDirection::Up => examiner.certainly_grew(&rest, row.measure),
        ChangeDirection::Down => examiner.certainly_shrank(&rest, row.measure),
    };
    let is_small = examiner.growth(&rest).abs() < comparison.options.min_points;
    let largest = |a: &usize, b: &usize| rows[*a].points.abs().total_cmp(&rows[*b].points.abs());
    if !has_changed || is_small { own.into_iter().chain(callees).max_by(largest) } else { None }
}

/// Whether `other` is the self count of the function whose total is `row`.
fn is_own_code(other: &Hypothesis, row: &Hypothesis) -> bool {
    other.measure == CountKind::SelfCount && other.function == row.function
}
