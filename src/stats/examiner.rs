//! What the stacks and the noise of runs let one say of a function, or of a part of it.

use super::CountKind;
use super::call_paths::{COVERS, ExcludedStacks, Side, StackSource};
use super::compare::{Hypothesis, RemovedCount};
use super::dispersion::RunCounts;
use super::distributions::t_upper_quantile;
use super::model::Model;

/// A change whose p-value is above this may be none.
pub(super) const CHANCE: f64 = 0.05;
/// A change whose p-value is below this is certain.
pub(super) const SURE: f64 = 0.01;
/// If counts are so many times as probable with a change as without, the code changed.
const EVIDENCE: f64 = 5.0;

/// The stacks that counts were made from, and the model of their noise. Counts are those of all runs, the old ones first, in
/// effective samples of the size `unit`.
pub(super) struct Examiner<'a, S> {
    pub(super) model: &'a Model,
    pub(super) stacks: &'a S,
}

impl<S> Clone for Examiner<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Examiner<'_, S> {}

impl<S: StackSource> Examiner<'_, S> {
    /// All of a function, or its own code.
    pub(super) fn counts(&self, function: usize, measure: CountKind, unit: f64) -> RunCounts {
        column(self.stacks.counts(function, measure, ExcludedStacks::default()), unit)
    }

    /// The own code of a function.
    pub(super) fn own(&self, function: usize, unit: f64) -> RunCounts {
        self.counts(function, CountKind::SelfCount, unit)
    }

    /// A function with what it calls.
    pub(super) fn total(&self, function: usize, unit: f64) -> RunCounts {
        self.counts(function, CountKind::Total, unit)
    }

    /// A function with what it calls, but for what it spends in others.
    pub(super) fn total_without(&self, function: usize, others: &[usize], unit: f64) -> RunCounts {
        let without = ExcludedStacks { through: others, ending: false };
        column(self.stacks.counts(function, CountKind::Total, without), unit)
    }

    /// What a row counts, but for some of its stacks.
    pub(super) fn row_without(&self, row: &Hypothesis, without: ExcludedStacks<'_>) -> RunCounts {
        column(self.stacks.counts(row.function, row.measure, without), row.unit)
    }

    /// The same without the stacks through each of some functions in turn.
    pub(super) fn row_without_each(&self, row: &Hypothesis, functions: &[usize]) -> Vec<RunCounts> {
        if row.measure == CountKind::SelfCount {
            let without = |function: &usize| {
                let through = std::slice::from_ref(function);
                self.row_without(row, ExcludedStacks { through, ending: false })
            };
            return functions.iter().map(without).collect();
        }
        let totals = self.stacks.totals_without_each(row.function, functions);
        totals.into_iter().map(|counts| column(counts, row.unit)).collect()
    }

    /// What a function spends in others.
    pub(super) fn spent_in(&self, function: usize, others: &[usize], unit: f64) -> RunCounts {
        let mut spent = self.total(function, unit);
        spent.subtract(&self.total_without(function, others, unit));
        spent
    }

    /// By how much counts grew, as a fraction of the old total.
    pub(super) fn growth(&self, counts: &RunCounts) -> f64 {
        let (old, new) = self.model.comparable_shares(counts);
        new - old
    }

    /// Whether counts are known to have grown.
    pub(super) fn certainly_grew(&self, counts: &RunCounts, measure: CountKind) -> bool {
        self.model.test(counts, measure).increase.0 < SURE
    }

    /// Whether counts are known to have become less.
    pub(super) fn certainly_shrank(&self, counts: &RunCounts, measure: CountKind) -> bool {
        self.model.test(counts, measure).decrease.0 < SURE
    }

    /// Whether counts probably grew.
    pub(super) fn probably_grew(&self, counts: &RunCounts, measure: CountKind) -> bool {
        self.model.test(counts, measure).increase.0 < CHANCE
    }

    /// Whether counts probably became less.
    pub(super) fn probably_shrank(&self, counts: &RunCounts, measure: CountKind) -> bool {
        self.model.test(counts, measure).decrease.0 < CHANCE
    }

    /// The upper 95 % bound of what counts gained, as a fraction of the old total.
    pub(super) fn max_growth(&self, counts: &RunCounts, measure: CountKind) -> f64 {
        self.max_change(counts, measure, 1.0)
    }

    /// The upper 95 % bound of what counts gained, or of what they lost if `sign` is -1, as a fraction of the old total.
    pub(super) fn max_change(&self, counts: &RunCounts, measure: CountKind, sign: f64) -> f64 {
        let tested = self.model.test(counts, measure);
        let margin = t_upper_quantile(CHANCE, self.model.freedom) * tested.standard_error;
        sign * self.model.old_share(counts) * (tested.log_ratio + sign * margin).exp_m1()
    }

    /// Whether counts are not known to have changed in the direction of `by`, a fraction of the old total, nor much more probably
    /// changed by that than not.
    pub(super) fn may_be_unchanged(&self, counts: &RunCounts, measure: CountKind, by: f64) -> bool {
        let certainly_changed = if by < 0.0 {
            self.certainly_shrank(counts, measure)
        } else {
            self.certainly_grew(counts, measure)
        };
        !certainly_changed && self.likelihood_of_change(counts, by) < EVIDENCE
    }

    /// How many times as probable counts are if they changed by this fraction of the old total as if they did not.
    fn likelihood_of_change(&self, counts: &RunCounts, by: f64) -> f64 {
        let tested = self.model.test(counts, CountKind::SelfCount);
        let changed = (by / self.model.old_share(counts)).ln_1p();
        ((tested.log_ratio * changed - changed * changed / 2.0) / tested.standard_error.powi(2)).exp()
    }

    /// The callers of most of a row's function on one side, nearest first.
    pub(super) fn callers(&self, row: &Hypothesis, side: Side) -> Vec<usize> {
        let count = if side == Side::Old { row.old } else { row.new };
        self.callers_of_most(row.function, row.measure, side, count * row.unit)
    }

    /// The callers of most of a function that is gone, nearest first.
    pub(super) fn callers_of_gone(&self, gone: &RemovedCount) -> Vec<usize> {
        let count = self.counts(gone.function, gone.measure, 1.0).counts.iter().sum();
        self.callers_of_most(gone.function, gone.measure, Side::Old, count)
    }

    fn callers_of_most(&self, function: usize, measure: CountKind, side: Side, count: f64) -> Vec<usize> {
        let callers = self.stacks.callers(function, measure, side).into_iter();
        callers.filter(|caller| caller.count >= COVERS * count).map(|caller| caller.function).collect()
    }

    /// The nearest caller of most of a row's function on the new side that the old side has as well: between them may be wrappers.
    pub(super) fn nearest_old_caller(&self, row: &Hypothesis) -> Option<usize> {
        self.callers(row, Side::New).into_iter().find(|&caller| self.is_common(caller))
    }

    /// The same, but a function of the program, if that of the row is one, too: a library that calls a new closure did not change.
    pub(super) fn nearest_program_caller(&self, row: &Hypothesis) -> Option<usize> {
        if self.stacks.is_library(row.function) { None } else { self.nearest_user(row) }
    }

    /// The function of the program which both sides have and that is the nearest caller of most of a row's function on the new
    /// side, be that one of a library or not.
    pub(super) fn nearest_user(&self, row: &Hypothesis) -> Option<usize> {
        let is_wanted = |&caller: &usize| !self.stacks.is_library(caller) && self.is_common(caller);
        self.callers(row, Side::New).into_iter().find(is_wanted)
    }

    /// Whether most calls of a row's function on the new side come straight from a caller, apart from new functions and libraries
    /// between them, rather than from others that the caller calls: a decorator of many functions has one caller far above.
    pub(super) fn is_nearest_caller(&self, row: &Hypothesis, caller: usize) -> bool {
        let callers = self.stacks.callers(row.function, row.measure, Side::New).into_iter();
        let between = callers.take_while(|other| other.function != caller);
        let others =
            between.filter(|other| !self.stacks.is_library(other.function) && self.is_common(other.function));
        others.map(|other| other.count).sum::<f64>() <= (1.0 - COVERS) * row.new * row.unit
    }

    /// Whether both sides have a function.
    pub(super) fn is_common(&self, function: usize) -> bool {
        let (old, new) = self.model.comparable_shares(&self.total(function, 1.0));
        old > 0.0 && new > 0.0
    }
}

/// Counts of every run as a column, given the size of an effective sample.
fn column(counts: Vec<f64>, unit: f64) -> RunCounts {
    RunCounts { counts: counts.into_iter().map(|count| count / unit).collect(), unit }
}
