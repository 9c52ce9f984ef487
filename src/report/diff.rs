//! The report of `diff`: two sides compared, and which changes are more than noise.

use serde::Serialize;

pub use crate::stats::Verdict as RowVerdict;

use crate::report::{
    DiffCause, Header, Matched, MixChange, Name, Pair, RowTest, Selection, TotalGrowth, Upgrade,
};

/// Two sides compared.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Diff {
    /// The header: the metric, the totals of the new side, warnings, and how the sides were normalised.
    #[serde(flatten)]
    pub header: Header,
    /// Whether the metric is the one that views of these inputs show by default.
    pub default_metric: bool,
    /// Options besides filters that a view of these inputs needs to count the same: `--fold=mallocgc`, `--match`, `names.txt`.
    #[serde(skip)]
    pub options: Vec<String>,
    /// The side before the change.
    pub old: DiffSide,
    /// The side after it.
    pub new: DiffSide,
    /// How noisy the profiles are; null if nothing could be tested.
    pub noise: Option<DiffNoise>,
    /// From how many earlier runs the noise was learned, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned_runs: Option<usize>,
    /// Whether the numbers of samples are estimates: from the sizes of a heap's objects, or from how much runs differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub samples_estimated: bool,
    /// The number of statistical tests.
    pub tested: usize,
    /// The verdict on all rows, including those that were cut.
    pub verdict: DiffVerdict,
    /// How many functions became more expensive, including those that were cut.
    pub regressed: usize,
    /// How many became cheaper.
    pub improved: usize,
    /// The cost ratios that would have been detected with 80 % power.
    pub detectable: Vec<Detectable>,
    /// Profiler artefacts whose self was added to their callers, the heaviest first.
    pub folded: Vec<Folded>,
    /// Functions that are matched although their names or places differ, the heaviest first.
    pub matched: Vec<Matched>,
    /// The libraries of which the sides have different versions, in alphabetical order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upgrades: Vec<Upgrade>,
    /// Why costs changed: what explains the growth, the largest part first, then what only moved.
    pub causes: Vec<DiffCause>,
    /// How much more the new side costs; null if nothing could be tested.
    pub growth: Option<TotalGrowth>,
    /// The part of the growth that no cause explains, from 0 to 1; null if it is not certain that there is growth.
    pub unexplained: Option<f64>,
    /// How the mix of work changed, if it did: `ratio` and `points` of rows are then for equal amounts of each kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixChange>,
    /// The budgets that were checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetCheck>,
    /// The tested functions, the most important first, followed by untested ones.
    pub rows: Vec<DiffRow>,
    /// How strict the tests were.
    pub strictness: Strictness,
    /// The factor by which the shares of the new side were divided.
    pub core_ratio: f64,
    /// Why nothing could be tested; null if it could.
    pub untestable: Option<String>,
    /// How many samples per side it takes to detect `strictness.detect` for a function with a 10 % share; null if more
    /// samples do not help.
    pub samples_needed: Option<f64>,
    /// How many samples per run that takes with five runs per side.
    pub samples_needed_per_run: Option<f64>,
    /// τ, if functions of all sizes changed more than runs of one program on one machine do.
    pub too_noisy: Option<f64>,
    /// Why the code that costs are relative to may not be unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<DoubtfulCore>,
    /// How many functions were matched although their lines differ.
    pub shifted: usize,
    /// How many tested rows were cut.
    pub elided_tested: usize,
    /// How many functions exist only on the new side and are too small to test.
    pub appeared: usize,
    /// The same for the old side.
    pub vanished: usize,
    /// How long processors had nothing to do, which is not tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleProcessors>,
    /// If nothing could be tested, the functions that are called more often or less, where calls are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ChangedCalls>,
}

impl Diff {
    /// What the comparison means for a check.
    pub fn outcome(&self) -> DiffOutcome {
        if self.verdict == DiffVerdict::Regressed || self.exceeded().next().is_some() {
            DiffOutcome::Failed
        } else if self.strictness.strict && !self.is_sensitive() {
            DiffOutcome::Undecided
        } else {
            DiffOutcome::Passed
        }
    }

    /// Whether the ratio `strictness.detect` would have been detected for a function with a 10 % share.
    pub fn is_sensitive(&self) -> bool {
        self.detectable_ratio(TYPICAL_SHARE).is_some_and(|ratio| ratio <= self.strictness.detect)
    }

    /// The smallest ratio that would have been detected for a function with one of the shares of `detectable`.
    pub fn detectable_ratio(&self, share: f64) -> Option<f64> {
        self.detectable.iter().find(|at| (at.share - share).abs() < 1e-9)?.ratio
    }

    /// The rows with a verdict.
    pub fn with_verdict(&self, verdict: RowVerdict) -> impl Iterator<Item = &DiffRow> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    /// The budgets that were exceeded.
    pub fn exceeded(&self) -> impl Iterator<Item = &BudgetCheck> {
        self.budgets.iter().filter(|budget| budget.exceeded)
    }
}

/// Stacks of functions in which processors are idle, in percent of each side.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct IdleProcessors {
    /// Of the old side.
    pub old: f64,
    /// Of the new side.
    pub new: f64,
}

/// A heavy function and most other functions disagree about what unchanged code did.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DoubtfulCore {
    /// The heavy function.
    pub function: Name,
    /// Its share of the old total, in percent, callees not included.
    pub share: f64,
    /// Its cost ratio, relative to most other functions.
    pub ratio: f64,
    /// Whether most other functions are taken to be unchanged, because a run costs about as much in them as before, or it
    /// costs far more or less in the heavy function. Otherwise that one is.
    pub by_most: bool,
}

/// How often a function is called in a run of each side.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChangedCalls {
    /// The function.
    pub function: Name,
    /// Calls per run of the old side.
    pub old: f64,
    /// The same for the new side.
    pub new: f64,
}

/// The self of a function that was added to its callers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Folded {
    /// The function.
    pub name: Name,
    /// Its self in all old profiles.
    pub old: i64,
    /// Its self in all new profiles.
    pub new: i64,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DiffSide {
    /// The inputs, as given.
    pub inputs: Vec<String>,
    /// The number of profiles in them.
    pub profiles: usize,
    /// Σ |value| of the metric in all of them; shares of this side refer to it.
    pub total: i64,
    /// The part of it that was compared: without what filters left out. Changes in points are fractions of it.
    #[serde(skip)]
    pub compared: f64,
    /// The number of effective (independent) samples in them; null if unknown.
    pub samples: Option<i64>,
    /// How the profiles were chosen; null if all were used.
    pub chosen: Option<Selection>,
    /// The total duration of the recordings, in nanoseconds.
    pub duration_ns: Option<i64>,
}

/// How noisy profiles are.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct DiffNoise {
    /// How many times larger the variance is than that of independent samples.
    pub phi: f64,
    /// How much costs vary from run to run, as a coefficient of variation.
    pub tau: f64,
}

/// The verdict on a comparison as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffVerdict {
    /// Something became more expensive.
    Regressed,
    /// Nothing became more expensive, and something became cheaper.
    Improved,
    /// Nothing changed, although changes would have been detected.
    None,
    /// Nothing changed detectably, but there is too little evidence to rule changes out.
    Inconclusive,
}

impl DiffVerdict {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            DiffVerdict::Regressed => "regressed",
            DiffVerdict::Improved => "improved",
            DiffVerdict::None => "none",
            DiffVerdict::Inconclusive => "inconclusive",
        }
    }
}

/// A cost ratio that would have been detected.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Detectable {
    /// The function's share of the old samples, from 0 to 1.
    pub share: f64,
    /// The smallest detectable ratio; null if none is detectable.
    pub ratio: Option<f64>,
}

/// A budget, and whether the new side is within it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BudgetCheck {
    /// The rule as text, such as "total of `^serde` at most 12%".
    pub rule: String,
    /// The pattern that names the functions.
    pub pattern: String,
    /// Whether their self or their total is limited.
    pub test: RowTest,
    /// The owner of the budget.
    pub owner: Option<String>,
    /// The cost on the new side, averaged over its profiles: percent of the total, or a value in the
    /// metric's unit.
    pub value: f64,
    /// The maximum, in the same form.
    pub limit: f64,
    /// Whether `value` is greater than `limit`.
    pub exceeded: bool,
    /// Whether `value` and `limit` are percentages.
    pub percent: bool,
    /// Whether any function matches. Only optional budgets may match none.
    pub matched: bool,
    /// The sum on the new side that `value` was computed from.
    pub cost: i64,
}

/// Budgets that were checked on profiles by themselves, without an old side.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// The header: the metric, the total of all profiles, and warnings.
    #[serde(flatten)]
    pub header: Header,
    /// The profiles.
    pub new: DiffSide,
    /// The self of functions that was added to their callers, as in a comparison.
    pub folded: Vec<Folded>,
    /// The budgets.
    pub budgets: Vec<BudgetCheck>,
}

impl BudgetReport {
    /// What the budgets mean for a check.
    pub fn outcome(&self) -> DiffOutcome {
        if self.budgets.iter().any(|budget| budget.exceeded) {
            DiffOutcome::Failed
        } else {
            DiffOutcome::Passed
        }
    }
}

/// A row of a comparison: a function.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct DiffRow {
    /// The unique name.
    pub name: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The sums of all old profiles.
    pub old: Pair,
    /// The sums of all new profiles.
    pub new: Pair,
    /// New − old.
    pub delta: Pair,
    /// Whether self or total was tested.
    pub test: RowTest,
    /// The cost per unit of unchanged code, new divided by old; null if the function is new or was not
    /// tested.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// The upper end of its 95 % interval; null if it is infinite.
    pub ratio_high: Option<f64>,
    /// The change in percentage points of the old total, after normalising unchanged code.
    pub points: f64,
    /// The one-sided p-value of this test alone.
    pub p: Option<f64>,
    /// The p-value adjusted for the number of tests.
    pub q: Option<f64>,
    /// The verdict.
    pub verdict: RowVerdict,
    /// The line of the function, if known.
    pub line: Option<u32>,
    /// Effective samples of both sides; null if unknown.
    pub samples: Option<EffectiveSamples>,
    /// Whether there were enough samples for any outcome to be significant.
    pub tested: bool,
    /// Where the samples were before, or where they are now, if they only moved; otherwise null.
    pub moved: Option<Moved>,
}

impl DiffRow {
    /// The tested values as recorded on the old and on the new side.
    pub fn tested_values(&self) -> (i64, i64) {
        match self.test {
            RowTest::SelfCount => (self.old.self_value, self.new.self_value),
            RowTest::Total => (self.old.total, self.new.total),
        }
    }
}

/// How many independent samples a function is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectiveSamples {
    /// In all old profiles.
    pub old: f64,
    /// In all new profiles.
    pub new: f64,
}

/// Where the samples of a moved function were before, or are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Moved {
    /// In a function that was removed.
    From(Name),
    /// In this function, which is new and replaced it.
    To(Name),
    /// Elsewhere below this function.
    Below(Name),
    /// In this function, from which a new one was extracted.
    #[serde(rename = "below")]
    OutOf(Name),
    /// Elsewhere in the whole program.
    Elsewhere,
    /// They are in this function now, into which the function was inlined, or which was extracted from it.
    Into(Name),
}

/// How strict the tests of a comparison were.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Strictness {
    /// The significance level.
    pub alpha: f64,
    /// The minimum cost increase of a regression, such as 0.05.
    pub min_effect: f64,
    /// The minimum increase in percentage points.
    pub min_points: f64,
    /// The cost ratio that should be detectable for a function with a 10 % share.
    pub detect: f64,
    /// Whether only named functions were tested, which takes fewer samples.
    pub named: bool,
    /// Whether too little evidence is a failure.
    pub strict: bool,
}

/// The share of the function that messages about what is detectable refer to.
pub const TYPICAL_SHARE: f64 = 0.1;

/// The share of a small function, for which a comparison also says what it can detect.
pub const SMALL_SHARE: f64 = 0.02;

/// The number of runs per side that a comparison suggests if one is too little.
pub const SUGGESTED_RUNS: usize = 5;

/// What a comparison means for a check, such as a step of a CI job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffOutcome {
    /// Nothing speaks against the new side.
    Passed,
    /// Something became more expensive, or a budget was exceeded.
    Failed,
    /// The evidence is too weak for a strict check.
    Undecided,
}
