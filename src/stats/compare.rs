//! The comparison itself: which functions are tested, and the verdict on each.

use std::collections::HashSet;

use super::check::check;
use super::columns::{FunctionColumns, calibrate, columns, profiles};
use super::dispersion::{Design, RunCounts};
use super::distributions::t_upper_quantile;
use super::model::{Model, TestResult};
use super::multiplicity::adjust;
use super::{CountKind, Incomparable, Normalization, SampleCounts, SampleUnit, TestOptions, Verdict};

/// A row: the test of one function's self or total count.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    /// The number of the function in the counts.
    pub function: usize,
    /// Which of its counts is tested.
    pub measure: CountKind,
    /// All functions with exactly these counts in every profile, such as a chain of callers; `function`
    /// is the first.
    pub same_counts: Vec<usize>,
    /// Effective samples of all old profiles.
    pub old: f64,
    /// Effective samples of all new profiles.
    pub new: f64,
    /// `old` as a share of all old samples, 0 to 1.
    pub old_share: f64,
    /// `new` as a share of all new samples, 0 to 1.
    pub new_share: f64,
    /// How much of a count makes one effective sample.
    pub unit: f64,
    /// ln of the cost ratio with half a sample added to both sides, so that it is finite.
    pub log_ratio: f64,
    /// The standard error of `log_ratio`.
    pub standard_error: f64,
    /// The cost of the function per unit of unchanged code, new over old; `None` if the old side has no sample.
    pub ratio: Option<f64>,
    /// The lower end of the 95 % interval of `ratio`.
    pub ratio_low: Option<f64>,
    /// The upper end of the 95 % interval; `None` if it is infinite.
    pub ratio_high: Option<f64>,
    /// The increase as a fraction of the old total, unchanged code held equal: 0.02 is two percentage points.
    pub points: f64,
    /// How many times larger the variance is than that of independent samples.
    pub noise_factor: f64,
    /// The evidence for an increase.
    pub increase: Evidence,
    /// The evidence for a decrease.
    pub decrease: Evidence,
    /// The verdict.
    pub verdict: Verdict,
    /// Where the change began, if not here; set by [`attribute`](super::attribution::attribute).
    pub cause: Option<Cause>,
}

impl Hypothesis {
    /// Whether the row is about own code of a function that only the new side has, and that seems to be more expensive for it.
    pub(super) fn is_new_code(&self) -> bool {
        self.measure == CountKind::SelfCount && self.old <= 0.0 && self.verdict == Verdict::Regressed
    }

    /// The evidence in the direction in which the cost changed.
    pub fn evidence(&self) -> Evidence {
        if self.log_ratio < 0.0 { self.decrease } else { self.increase }
    }

    /// The verdict on the change itself, wherever it began.
    pub fn verdict_alone(&self, options: &TestOptions) -> Verdict {
        verdict(self, options)
    }

    /// Says that the change is no change of the cost, which was or is elsewhere.
    pub(super) fn set_moved(&mut self, cause: Cause) {
        (self.cause, self.verdict) = (Some(cause), Verdict::Moved);
    }
}

/// The row of a function's own code, if that was tested.
pub(super) fn row_of_own(rows: &[Hypothesis], function: usize) -> Option<&Hypothesis> {
    rows.iter().find(|row| row.measure == CountKind::SelfCount && row.function == function)
}

/// The function that a moved one may have been taken out of: the one whose own code lost what it gained, or the caller, if its
/// own code lost at least half of that.
pub fn taken_out_of(row: &Hypothesis, rows: &[Hypothesis]) -> Option<usize> {
    let Some(Cause::Moved { caller, loser, .. }) = row.cause else { return None };
    let gained = || row_of_own(rows, row.function).unwrap_or(row).points;
    let has_lost =
        |&caller: &usize| row_of_own(rows, caller).is_some_and(|own| -own.points >= gained() / 2.0);
    loser.or_else(|| caller.filter(has_lost))
}

/// The row from which the row at `index` inherits its change, directly or not: itself, if it inherits none.
pub fn origin(rows: &[Hypothesis], index: usize) -> usize {
    let mut at = index;
    for _ in 0..rows.len() {
        match rows[at].cause {
            Some(Cause::Inherits { row }) => at = row,
            _ => break,
        }
    }
    at
}

/// A count that has samples on the old side only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemovedCount {
    /// The function.
    pub function: usize,
    /// Which of its counts.
    pub measure: CountKind,
    /// Its share of all old samples, 0 to 1.
    pub share: f64,
}

/// How strong the evidence for a change in one direction is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The one-sided p-value of this test alone.
    pub p: f64,
    /// The p-value adjusted for the number of tests; below α the change is significant. 1 if the test
    /// was not `reachable`.
    pub q: f64,
    /// Whether there were enough samples for any outcome to be significant.
    pub reachable: bool,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The rows: self counts by function number, then totals by function number.
    pub hypotheses: Vec<Hypothesis>,
    /// The counts that have samples on the old side only, tested or not, by function number.
    pub removed: Vec<RemovedCount>,
    /// How many tests for an increase had enough samples; α is divided among them.
    pub tested: usize,
    /// The number of profiles on the old and on the new side.
    pub profiles: (usize, usize),
    /// The size of an effective sample, if it was estimated because of [`SampleUnit::Unknown`]; else 1.
    pub unit: f64,
    /// The fitted model; `None` if a side has no samples.
    pub model: Option<Model>,
    /// The options used.
    pub options: TestOptions,
}

/// Why a row that changed is not the origin of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The change comes from another row (its index): that of a callee or of the function's own code;
    /// the largest if there are several.
    Inherits {
        /// The index among the hypotheses.
        row: usize,
    },
    /// The samples existed before, under another name.
    Moved {
        /// The nearest caller of nearly all samples, which hardly grew, if there is one.
        caller: Option<usize>,
        /// The removed function of the same size under the same caller, if there is one.
        from: Option<usize>,
        /// The function whose own code lost what this one gained, if one did.
        loser: Option<usize>,
    },
    /// A new function that has next to no own code: it calls what was called from elsewhere before.
    Wraps {
        /// The nearest caller of nearly all samples that the old side has as well, if there is one.
        caller: Option<usize>,
    },
}

impl Comparison {
    /// The cost ratio of the code that did not change; 1 unless the profiles differ in length or the machine in speed.
    pub fn core_ratio(&self) -> f64 {
        self.model.as_ref().map_or(1.0, |model| model.location.exp())
    }

    /// Whether values can be said in samples. Where runs hardly differ, as in counts of calls, they are worth more samples than
    /// there are calls, and the number means nothing.
    pub fn counts_samples(&self) -> bool {
        self.unit >= 1.0
    }

    /// Whether functions of all sizes changed so much that this hardly is the same program on the same
    /// machine.
    pub fn is_bulk_too_noisy(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.noise().1 > 0.15)
    }
}

/// Compares the new profiles with the old ones. Fails if the input cannot be compared, see
/// [`Incomparable`].
pub fn compare(counts: &SampleCounts, options: &TestOptions) -> Result<Comparison, Incomparable> {
    check(counts, options)?;
    let totals = profiles(counts).map(|profile| profile.self_counts.iter().sum()).collect();
    let mut design = Design::new(totals, counts.old.len(), options.normalize == Normalization::Run);
    if matches!(options.normalize, Normalization::Core | Normalization::Total) {
        design = design.with_even_runs();
    }
    let mut comparison = Comparison {
        hypotheses: Vec::new(),
        removed: Vec::new(),
        tested: 0,
        profiles: (counts.old.len(), counts.new.len()),
        unit: 1.0,
        model: None,
        options: options.clone(),
    };
    let total = |side: &[f64]| side.iter().sum::<f64>();
    if total(&design.totals[..design.old]) <= 0.0 || total(&design.totals[design.old..]) <= 0.0 {
        return Ok(comparison);
    }
    let mut columns = columns(counts);
    if counts.sample_unit == SampleUnit::Unknown {
        comparison.unit = calibrate(&mut columns, &design, options.min_tested);
    }
    let model = Model::fit(design, &columns, options, counts.sample_unit != SampleUnit::Unknown);
    let (hypotheses, tested) = test_all(&model, &columns, options);
    comparison.removed = removed(&model, &columns);
    comparison.hypotheses = hypotheses;
    comparison.tested = tested;
    comparison.model = Some(model);
    Ok(comparison)
}

fn removed(model: &Model, columns: &FunctionColumns) -> Vec<RemovedCount> {
    let own =
        columns.own.iter().enumerate().map(|(function, column)| (function, CountKind::SelfCount, column));
    let total =
        columns.total.iter().enumerate().map(|(function, column)| (function, CountKind::Total, column));
    own.chain(total)
        .map(|(function, measure, column)| (function, measure, model.sums(column), column.unit))
        .filter(|(_, _, sums, _)| sums.new <= 0.0 && sums.old > 0.0)
        .map(|(function, measure, sums, unit)| RemovedCount {
            function,
            measure,
            share: sums.old * unit / model.old_total,
        })
        .collect()
}

/// Tests every function with enough samples, adjusts for the number of tests and sets the verdicts.
fn test_all(model: &Model, columns: &FunctionColumns, options: &TestOptions) -> (Vec<Hypothesis>, usize) {
    let wanted: Option<HashSet<usize>> =
        options.functions.as_ref().map(|functions| functions.iter().copied().collect());
    let is_wanted = |functions: &[usize]| {
        let is_idle = functions.iter().any(|function| options.idle.binary_search(function).is_ok());
        !is_idle
            && wanted.as_ref().is_none_or(|wanted| functions.iter().any(|function| wanted.contains(function)))
    };
    let is_testable = |column: &RunCounts| {
        model.sums(column).all() >= 3.0 && model.pooled_share(column) >= options.min_tested
    };
    let own = (0..columns.own.len()).map(|function| (CountKind::SelfCount, function, vec![function]));
    let total = columns.distinct_totals.iter();
    let total = total.map(|(function, group)| (CountKind::Total, *function, group.clone()));
    let mut rows = Vec::new();
    let mut tests = Vec::new();
    for (measure, function, group) in own.chain(total) {
        let column =
            if measure == CountKind::SelfCount { &columns.own[function] } else { &columns.total[function] };
        if is_testable(column) && is_wanted(&group) {
            let variation = options.learned.as_ref().map(|learned| learned.variation(function, measure));
            let tested = model.test_with(column, measure, variation);
            rows.push(row(model, column, measure, group, tested));
            tests.push(tested);
        }
    }
    let tested = pass_verdicts(&mut rows, &tests, options);
    (rows, tested)
}

/// Adjusts the p-values of each direction separately and sets the verdicts; returns the number of tests
/// for an increase that count.
fn pass_verdicts(rows: &mut [Hypothesis], tests: &[TestResult], options: &TestOptions) -> usize {
    let adjust = |side: fn(&TestResult) -> (f64, f64)| {
        let (p, smallest): (Vec<f64>, Vec<f64>) = tests.iter().map(side).unzip();
        adjust(&p, &smallest, options.alpha)
    };
    let (up, down) = (adjust(|tested| tested.increase), adjust(|tested| tested.decrease));
    for (i, row) in rows.iter_mut().enumerate() {
        row.increase = Evidence { p: tests[i].increase.0, q: up.q[i], reachable: up.reachable[i] };
        row.decrease = Evidence { p: tests[i].decrease.0, q: down.q[i], reachable: down.reachable[i] };
        row.verdict = verdict(row, options);
    }
    if rows.is_empty() { 0 } else { up.counted }
}

/// A change must be significant *and* large enough, both as a ratio and in points of the whole.
fn verdict(row: &Hypothesis, options: &TestOptions) -> Verdict {
    let effect = options.min_effect.ln_1p();
    if row.increase.q < options.alpha {
        let large = row.log_ratio > effect && row.points >= options.min_points;
        return if large { Verdict::Regressed } else { Verdict::Small };
    }
    if row.decrease.q < options.alpha {
        let large = row.log_ratio < -effect && -row.points >= options.min_points;
        return if large { Verdict::Improved } else { Verdict::Small };
    }
    if row.increase.reachable || row.decrease.reachable {
        return Verdict::Unchanged;
    }
    untested_verdict(row.old, row.new)
}

/// The verdict on counts that were not tested: whether the function exists on both sides.
pub fn untested_verdict(old: f64, new: f64) -> Verdict {
    // What is negative on one side is there.
    if old == 0.0 && new > 0.0 {
        Verdict::New
    } else if old > 0.0 && new == 0.0 {
        Verdict::Removed
    } else {
        Verdict::Unchanged
    }
}

fn row(
    model: &Model,
    column: &RunCounts,
    measure: CountKind,
    group: Vec<usize>,
    tested: TestResult,
) -> Hypothesis {
    let sums = model.sums(column);
    let old_share = sums.old * column.unit / model.old_total;
    let new_share = sums.new * column.unit / model.new_total;
    let half_width = t_upper_quantile(0.025, model.freedom) * tested.standard_error;
    let finite = |log: f64| Some(log.exp()).filter(|value| value.is_finite());
    let on_both = |log: f64| if sums.old > 0.0 { finite(log) } else { None };
    let pending = Evidence { p: 1.0, q: 1.0, reachable: false };
    Hypothesis {
        function: group[0],
        measure,
        same_counts: group,
        old: sums.old,
        new: sums.new,
        old_share,
        new_share,
        unit: column.unit,
        log_ratio: tested.log_ratio,
        standard_error: tested.standard_error,
        ratio: on_both(tested.log_ratio),
        ratio_low: finite(tested.log_ratio - half_width),
        ratio_high: on_both(tested.log_ratio + half_width),
        points: new_share * (-model.location).exp() - old_share,
        noise_factor: tested.noise_factor,
        increase: pending,
        decrease: pending,
        verdict: Verdict::Unchanged,
        cause: None,
    }
}
