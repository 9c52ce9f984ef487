//! The report of `trend`: what each function cost in a series of profiles, and where that changed.

use serde::Serialize;

use crate::report::{Header, Matched, Name};

/// A series of profiles, function by function.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Trend {
    /// The header; its total is that of all profiles.
    #[serde(flatten)]
    pub header: Header,
    /// Which value of a function is followed: `self` or `total`.
    pub value: &'static str,
    /// What the order of the profiles follows: `time`, `name` or `given`.
    pub order: &'static str,
    /// How the profiles were made comparable: `core`, `total` or `none`.
    pub relative_to: &'static str,
    /// The verdict on all functions together.
    pub verdict: TrendVerdict,
    /// The accepted probability of a false alarm, in all functions together.
    pub alpha: f64,
    /// How many functions were tested.
    pub tested: usize,
    /// How many functions became more expensive for good.
    pub regressed: usize,
    /// How many became cheaper for good.
    pub improved: usize,
    /// How many rise and do not come back.
    pub leaking: usize,
    /// How many profiles before and after a step it takes to find one, if these are too few profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<usize>,
    /// The profiles in their order.
    pub series: Vec<TrendPoint>,
    /// The functions, the most important first.
    pub rows: Vec<TrendRow>,
    /// Functions that are matched although their names or places differ, the heaviest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
}

impl Trend {
    /// Whether a cost went up and stayed up.
    pub fn has_failed(&self) -> bool {
        self.verdict.is_failure()
    }

    /// Keeps at most `most` rows, and of those at most `others` without a verdict.
    pub fn cut(&mut self, most: usize, others: Option<usize>) {
        let before = self.rows.len();
        let with_verdict = self.rows.iter().filter(|row| row.verdict != TrendVerdict::None).count();
        self.rows.truncate(most.min(others.map_or(before, |others| with_verdict.saturating_add(others))));
        self.header.elided_rows += (before - self.rows.len()) as u64;
    }
}

/// One of the profiles.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TrendPoint {
    /// Its path.
    pub input: String,
    /// When it was recorded, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// Σ value after filtering.
    pub total: i64,
    /// The factor that makes its values comparable with those of the other profiles.
    pub scale: f64,
}

/// A function in all profiles.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TrendRow {
    /// Its unique name.
    pub name: Name,
    /// What became of it.
    pub verdict: TrendVerdict,
    /// Its level before the first step: a mean, rescaled. For a leak, the start of the fitted line; otherwise, its
    /// value in the first profile, rescaled.
    pub first: f64,
    /// Its level after the last step; for a leak, the end of the fitted line; otherwise, its value in the last profile.
    pub last: f64,
    /// The last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<TrendStep>,
    /// How it rises, if it is a leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rise: Option<TrendRise>,
    /// For each step, the number of the first profile after it, from 0.
    pub steps: Vec<usize>,
    /// Its value in each profile, as recorded.
    pub values: Vec<i64>,
}

/// A lasting change.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TrendStep {
    /// The profile after which it changed.
    pub after: String,
    /// When the first profile after the change was recorded, in nanoseconds since 1970.
    pub since_ns: Option<i64>,
    /// The level before: the mean up to the step before this one, rescaled.
    pub old: f64,
    /// The level after it.
    pub new: f64,
    /// New / old; null if the function is new.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % confidence interval.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// The p-value of the step alone.
    pub p: f64,
    /// The same, adjusted for the number of functions.
    pub q: f64,
}

/// A rise that does not come back.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct TrendRise {
    /// By how much it rises per hour; null unless all profiles have a time.
    pub per_hour: Option<f64>,
    /// By how much it rises per profile.
    pub per_profile: f64,
    /// The lower end of the 95 % confidence interval, as a part of the slope.
    pub low: f64,
    /// The upper end, as a part of the slope.
    pub high: f64,
    /// The level to expect an hour after the last profile.
    pub in_an_hour: Option<f64>,
    /// The level to expect a day after the last profile.
    pub in_a_day: Option<f64>,
    /// The p-value of the rise alone.
    pub p: f64,
    /// The same, adjusted for the number of functions.
    pub q: f64,
}

/// What became of a function, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrendVerdict {
    /// Rises and does not come back.
    Leak,
    /// The last step is to a higher level.
    Regressed,
    /// The last step is to a lower level.
    Improved,
    /// No change that these profiles can show.
    #[default]
    None,
    /// There are too few profiles to show any change.
    Inconclusive,
}

impl TrendVerdict {
    /// The word in JSON and CSV.
    pub fn word(self) -> &'static str {
        match self {
            TrendVerdict::Leak => "leak",
            TrendVerdict::Regressed => "regressed",
            TrendVerdict::Improved => "improved",
            TrendVerdict::None => "none",
            TrendVerdict::Inconclusive => "inconclusive",
        }
    }

    /// Whether it fails a check.
    pub fn is_failure(self) -> bool {
        matches!(self, TrendVerdict::Leak | TrendVerdict::Regressed)
    }
}
