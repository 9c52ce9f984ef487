//! Whether a function that seems to cost more grew at the expense of others: what it costs was elsewhere before.

use super::call_paths::{Side, StackSource};
use super::called_elsewhere::CalledElsewhere;
use super::compare::{Cause, Comparison, Hypothesis};
use super::examiner::Examiner;
use super::exchanged::Exchanges;
use super::model::{APPEARED, GONE};
use super::replaced::replaced;
use super::trades::Trades;
use super::{CountKind, Normalization};

/// A total that grew by this fraction in its own code did not grow in what it calls.
const ALL_BUT_NOISE: f64 = 0.9;

/// The functions that have moved if their caller did not grow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Callers {
    /// Those that only the new side has.
    OfNewCode,
    /// All.
    OfAny,
}

/// What is known of a comparison when it is asked what has moved.
pub(super) struct Moved<'a, S> {
    pub(super) comparison: &'a Comparison,
    pub(super) examiner: Examiner<'a, S>,
    pub(super) exchanges: &'a Exchanges,
    pub(super) callers: Callers,
}

impl<S: StackSource> Moved<'_, S> {
    /// The cause of a row that has moved: its nearest caller cannot have grown by half as much, or a function of similar size was
    /// removed from below that caller, or the own code of a neighbour lost as much. Also given are the callees that it has inlined.
    pub(super) fn cause(
        &self,
        row: &Hypothesis,
        inlined_callees: &[usize],
        trades: &mut Trades,
    ) -> Option<Cause> {
        let (comparison, examiner) = (self.comparison, self.examiner);
        let nearest = || examiner.callers(row, Side::New).first().copied();
        let caller = examiner.nearest_old_caller(row).or_else(nearest);
        let from = replaced(row, caller, comparison, examiner, trades);
        for loser in from.iter().filter(|_| is_own(row)).chain(inlined_callees) {
            trades.note(*loser, row.function);
        }
        let by_caller = caller.is_some_and(|caller| self.caller_shows_it(row, caller));
        let held_above = if by_caller { None } else { self.held_above(row) };
        // Nor did a function become more expensive if all of it, callees included, did not: it has inlined one of them.
        let inlined = is_own(row) && (!inlined_callees.is_empty() || self.hardly_grew(row.function, row));
        let elsewhere = self.elsewhere();
        let is_extracted = |caller: &usize| elsewhere.was_part_of(row, *caller);
        let extracted =
            caller.filter(is_extracted).or_else(|| examiner.nearest_program_caller(row).filter(is_extracted));
        let loser = caller
            .filter(|_| from.is_none() && self.grew_itself(row))
            .and_then(|caller| trades.loser(row, caller, comparison, examiner));
        let is_explained =
            !row.is_new_code() || by_caller || held_above.is_some() || from.is_some() || loser.is_some();
        let several = if is_explained { None } else { trades.losers(row, comparison, examiner) };
        // Of copies that are gone, the new function is one; of code in several functions, a part.
        let from = from.or(several.filter(|&function| trades.was_copy(function)));
        let loser = loser.or(several.filter(|&function| !trades.was_copy(function)));
        let is_moved = by_caller
            || held_above.is_some()
            || inlined
            || extracted.is_some()
            || from.is_some()
            || loser.is_some()
            || caller.is_some_and(|caller| self.is_exchanged(row, caller));
        // What a new function has taken along is not where it was taken from, unless that calls it.
        let calls_it = |function: usize| {
            let callers = examiner.stacks.callers(row.function, row.measure, Side::New);
            callers.iter().any(|caller| caller.function == function)
        };
        let is_taken_along = |function: &usize| {
            row.old <= 0.0 && examiner.stacks.includes(row.function, *function) && !calls_it(*function)
        };
        let loser = loser.filter(|loser| !is_taken_along(loser));
        is_moved.then_some(Cause::Moved { caller: extracted.or(held_above).or(caller), from, loser })
    }

    /// Whether the caller of a row cannot have grown by half as much, which shows that the row did not.
    fn caller_shows_it(&self, row: &Hypothesis, caller: usize) -> bool {
        // Of a function that both sides have, a caller that did not grow proves little: other code that it calls may have become
        // cheaper by as much.
        let may_show_it = || {
            self.callers == Callers::OfAny
                || row.old_share < APPEARED * row.new_share
                || self.has_lost(caller, row)
        };
        // With shares, callers prove nothing: the outermost caller always has 100 %.
        self.comparison.options.normalize != Normalization::Total
            && may_show_it()
            && self.hardly_grew(caller, row)
    }

    /// The function that did itself what a new one does now, although another one is between them which both sides have: a compiler had
    /// put that into it, and all that it calls.
    ///
    /// ```text
    /// main;check 190              →    main;check 2
    /// main;check;search;find 20        main;check;search;candidates 210
    /// ```
    fn held_above(&self, row: &Hypothesis) -> Option<usize> {
        if row.old > 0.0 || self.comparison.options.normalize == Normalization::Total {
            return None;
        }
        let mut above = self.examiner.callers(row, Side::New).into_iter();
        above.find(|&function| {
            self.examiner.is_common(function)
                && self.has_lost(function, row)
                && self.hardly_grew(function, row)
        })
    }

    /// Whether a function cannot have grown by half as much as a row.
    fn hardly_grew(&self, function: usize, row: &Hypothesis) -> bool {
        let elsewhere = self.elsewhere();
        let whole = elsewhere.total_of(function);
        // What it gave away to others makes no room for what is new.
        let away = whole.map_or_else(Vec::new, |whole| elsewhere.given_away(whole, row.points, GONE));
        let through: Vec<usize> = away.into_iter().map(|given| given.function).collect();
        let unit = whole.map_or(row.unit, |whole| whole.unit);
        let kept = self.examiner.total_without(function, &through, unit);
        self.examiner.max_growth(&kept, CountKind::Total) < row.points / 2.0
    }

    /// Whether what a row gained is its own code.
    fn grew_itself(&self, row: &Hypothesis) -> bool {
        let in_callees = || row.points - self.examiner.growth(&self.examiner.own(row.function, row.unit));
        let matters = |rest: f64| {
            rest >= self.comparison.options.min_points && rest >= (1.0 - ALL_BUT_NOISE) * row.points
        };
        is_own(row) || !matters(in_callees())
    }

    /// Whether own code of a row may have been there in another form.
    fn is_exchanged(&self, row: &Hypothesis, caller: usize) -> bool {
        row.is_new_code() && self.exchanges.may_be_exchanged(row, caller, self.examiner)
    }

    /// Whether the own code of `caller` certainly lost at least half of what `row` gained.
    fn has_lost(&self, caller: usize, row: &Hypothesis) -> bool {
        let own = self.examiner.own(caller, row.unit);
        -self.examiner.growth(&own) >= row.points / 2.0
            && self.examiner.certainly_shrank(&own, CountKind::SelfCount)
    }

    fn elsewhere(&self) -> CalledElsewhere<'_, S> {
        CalledElsewhere { comparison: self.comparison, examiner: self.examiner }
    }
}

fn is_own(row: &Hypothesis) -> bool {
    row.measure == CountKind::SelfCount
}
