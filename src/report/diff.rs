//! The report of `diff`: two sides compared, and what could be told apart from noise.

use std::fmt;

use serde::Serialize;

pub use crate::stats::Verdict as RowVerdict;

use crate::report::{Header, Name, Pair};

/// Two sides compared.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// What it is about: the metric, the totals of the new side, warnings, how the sides were made
    /// comparable.
    #[serde(flatten)]
    pub header: Header,
    /// The side before the change.
    pub old: DiffSide,
    /// The side after it.
    pub new: DiffSide,
    /// How noisy the profiles are; null where nothing could be tested.
    pub noise: Option<DiffNoise>,
    /// How many questions were asked of the profiles.
    pub tested: usize,
    /// What all rows together say, those that were cut included.
    pub verdict: DiffVerdict,
    /// How many functions became more expensive, those that were cut included.
    pub regressed: usize,
    /// How many became cheaper.
    pub improved: usize,
    /// The cost ratios that these profiles would have shown four times out of five.
    pub detectable: Vec<Detectable>,
    /// The self of artefacts of profilers that was added to their callers, the heaviest first.
    pub folded: Vec<Folded>,
    /// Functions that are matched although their names or places differ, the heaviest first.
    pub matched: Vec<Matched>,
    /// Budgets that were to be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<BudgetCheck>,
    /// What was tested, the most telling first; then what was not.
    pub rows: Vec<DiffRow>,
    /// What the forms for people say besides.
    #[serde(skip)]
    pub about: DiffAbout,
}

impl Diff {
    /// The rows with a verdict.
    pub fn with_verdict(&self, verdict: RowVerdict) -> impl Iterator<Item = &DiffRow> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    /// Keeps the first `rows` rows and counts the others as cut.
    pub fn keep(&mut self, rows: usize) {
        for row in self.rows.drain(rows.min(self.rows.len())..) {
            self.header.elided_rows += 1;
            self.about.cut += usize::from(row.about.tested);
            if row.test == RowTest::SelfValue {
                self.header.elided += row.new.self_value;
            }
        }
    }

    /// The budgets that were exceeded.
    pub fn exceeded(&self) -> impl Iterator<Item = &BudgetCheck> {
        self.budgets.iter().filter(|budget| budget.exceeded)
    }
}

/// A function of the old side that is matched with one of another name or place on the new side.
#[derive(Clone, Debug, Serialize)]
pub struct Matched {
    /// Its unique name on the old side.
    pub old: Name,
    /// Its unique name on the new side, which rows show.
    pub new: Name,
    /// What says so: `given`, `shifted`, `relocated`, `normalised` or `renamed`.
    pub how: &'static str,
    /// How much the evidence agrees, from 0 to 1.
    pub similarity: f64,
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {} ({}", self.old, self.new, self.how)?;
        if self.similarity < 1.0 {
            write!(f, ", similarity {:.2}", self.similarity)?;
        }
        f.write_str(")")
    }
}

/// The self of a function that was added to its callers.
#[derive(Clone, Debug, Serialize)]
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
    /// How many profiles they hold.
    pub profiles: usize,
    /// For the text: how they were chosen, where not all were taken: `5 of 12 profiles, seed 42`.
    #[serde(skip)]
    pub chosen: Option<String>,
    /// Σ |value| of the metric in all of them; shares of this side are of this.
    pub total: i64,
    /// How many independent samples they are worth; null where that cannot be told.
    pub samples: Option<i64>,
    /// How long the recordings took together, in nanoseconds.
    #[serde(skip)]
    pub duration_ns: Option<i64>,
}

/// How noisy profiles are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DiffNoise {
    /// How many times larger than that of independent samples the variance is.
    pub phi: f64,
    /// How much costs vary from run to run, as a coefficient of variation.
    pub tau: f64,
}

/// What a comparison says as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffVerdict {
    /// Something became more expensive.
    Regressed,
    /// Nothing did, and something became cheaper.
    Improved,
    /// Nothing changed that would have been seen.
    None,
    /// Too little would have been seen to say so.
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

/// A cost ratio that would have been seen.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Detectable {
    /// At a function with this part of the old samples, 0 to 1.
    pub share: f64,
    /// The smallest ratio; null where none would have been seen.
    pub ratio: Option<f64>,
}

/// A budget, and whether it was kept.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetCheck {
    /// The rule in words, such as "total of `^serde` at most 12%".
    pub rule: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// What the new side has, on average of its profiles: percent of the total, or a value in the
    /// metric's unit.
    pub value: f64,
    /// What it may have at most, likewise.
    pub limit: f64,
    /// Whether it has more.
    pub exceeded: bool,
    /// Whether value and limit are percent.
    pub percent: bool,
    /// Whether any function matches; only an optional budget may do without.
    pub matched: bool,
    /// For the forms for people: the sum on the new side that `value` is made of.
    #[serde(skip)]
    pub cost: i64,
}

/// Which of the two values of a function a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowTest {
    /// Its self.
    #[serde(rename = "self")]
    SelfValue,
    /// Its total.
    Total,
}

/// A function compared.
#[derive(Clone, Debug, Serialize)]
pub struct DiffRow {
    /// The unique name.
    pub name: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The sums of all old profiles.
    pub old: Pair,
    /// The sums of all new profiles.
    pub new: Pair,
    /// New − old.
    pub delta: Pair,
    /// Which of the two was compared.
    pub test: RowTest,
    /// The cost per unit of unchanged code, new by old; null where there was none before, or where
    /// nothing was tested.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// The upper end of its 95 % interval; null where it is infinite.
    pub ratio_high: Option<f64>,
    /// The change in percentage points of the old total, unchanged code held equal.
    pub points: f64,
    /// How likely chance alone is to move one function so far this way.
    pub p: Option<f64>,
    /// The same, adjusted for all that was tested.
    pub q: Option<f64>,
    /// What it says.
    pub verdict: RowVerdict,
    /// What the forms for people say besides.
    #[serde(skip)]
    pub about: RowAbout,
}

impl DiffRow {
    /// The values that the row is about, as recorded on the old and on the new side.
    pub fn tested_values(&self) -> (i64, i64) {
        match self.test {
            RowTest::SelfValue => (self.old.self_value, self.new.self_value),
            RowTest::Total => (self.old.total, self.new.total),
        }
    }
}

/// What the forms for people say of a row besides.
#[derive(Clone, Debug, Default)]
pub struct RowAbout {
    /// The line of the function, where known.
    pub line: Option<u32>,
    /// Effective samples of both sides; `None` where that cannot be told.
    pub samples: Option<(f64, f64)>,
    /// Whether there were samples enough for any outcome to count.
    pub tested: bool,
    /// Whether it stands under the row whose change it inherits.
    pub indented: bool,
    /// Why nothing became more expensive though samples appeared here.
    pub moved: Option<Moved>,
}

/// Where the samples of a moved function were before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// In a function that is gone.
    From(Name),
    /// Elsewhere under this caller, which did not grow.
    Below(Name),
    /// Elsewhere in the whole program.
    Elsewhere,
}

/// What the forms for people say of a comparison besides.
#[derive(Clone, Debug, Default)]
pub struct DiffAbout {
    /// What the shares of the new side were divided by.
    pub core_ratio: f64,
    /// The options of the test.
    pub alpha: f64,
    /// The least cost increase, such as 0.05.
    pub min_effect: f64,
    /// The least increase in percentage points.
    pub min_points: f64,
    /// Whether functions were named, which takes fewer samples.
    pub named: bool,
    /// Why nothing could be tested, where that is so.
    pub untestable: Option<String>,
    /// The ratio that should be seen at a function of 10 %.
    pub wanted_ratio: f64,
    /// How many samples a side must hold for that; `None` where more samples do not help.
    pub samples_needed: Option<f64>,
    /// How many samples each of five runs a side must hold for it.
    pub samples_needed_per_run: Option<f64>,
    /// τ where functions of all sizes moved further than one program on one machine does.
    pub too_noisy: Option<f64>,
    /// How many functions are matched although their lines differ.
    pub shifted: usize,
    /// How many tested rows were cut.
    pub cut: usize,
    /// How many functions are on the new side only, too small to test.
    pub appeared: usize,
    /// How many are on the old side only.
    pub vanished: usize,
    /// The exit code.
    pub exit: u8,
}
