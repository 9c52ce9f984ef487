//! Why costs changed between two sides.

use serde::Serialize;

use crate::report::Name;
pub use crate::stats::CountKind as RowTest;

/// Why costs changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffCause {
    /// The kind of change.
    pub cause: CauseKind,
    /// The function to look at.
    pub function: Name,
    /// The source file to look at: that of the function, or that of the caller which calls it more.
    pub file: Option<Name>,
    /// The line of that file that grew most.
    pub line: Option<u32>,
    /// Whether the change is in its own code or in all of it, callees included.
    pub test: RowTest,
    /// The change in percentage points of the old total.
    pub points: f64,
    /// The part of `points` in the own code of the caller that makes more calls, which no row of the function has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_points: Option<f64>,
    /// The part of the growth that it explains, from 0 to 1; 0 for what only moved.
    pub explains: f64,
    /// The cost ratio; null for new code.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// The upper end of its 95 % interval.
    pub ratio_high: Option<f64>,
    /// Where the growth is.
    #[serde(flatten)]
    pub growth: Growth,
    /// The calls that lead to it, from the caller to the function; empty if no caller stands out.
    pub path: Vec<Name>,
    /// The function that it was before, that it was extracted from, or that was inlined into it; for the garbage
    /// collector, the function that collects.
    pub of: Option<Name>,
    /// How often the function was called per run on the old and on the new side, where calls are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<[f64; 2]>,
}

impl DiffCause {
    /// A cause about which nothing is known but what it is, and of which count.
    pub fn new(cause: CauseKind, function: Name, count: RowTest) -> Self {
        DiffCause { cause, function, test: count, ..DiffCause::default() }
    }
}

/// A kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// A function costs more.
    #[default]
    Dearer,
    /// A function has more work: it is called more often, or with more to do.
    CalledMore,
    /// A function is called from where it was not called before.
    NewPath,
    /// The program did more of one kind of work, each piece of which costs as much as before.
    Mix,
    /// The garbage collector has more work.
    Gc,
    /// A function has another name.
    Renamed,
    /// A function is in another file or package, or its cost was elsewhere before.
    Moved,
    /// A function was taken out of another one.
    Extracted,
    /// A function was put into its caller.
    Inlined,
}

impl CauseKind {
    /// Whether it explains growth, rather than what only moved.
    pub fn explains_growth(self) -> bool {
        self <= CauseKind::Gc
    }
}

/// A change of the mix of work: how much of each kind the sides did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MixChange {
    /// The label whose values are the kinds of work.
    pub label: Option<Name>,
    /// The function whose callees are the kinds of work.
    pub caller: Option<Name>,
    /// The kinds, the most changed first.
    pub kinds: Vec<MixKind>,
}

/// A kind of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MixKind {
    /// The value of the label, or the callee.
    pub name: Name,
    /// The sum of all old profiles.
    pub old: i64,
    /// The sum of all new profiles.
    pub new: i64,
    /// How much more of it a new run did than an old run; null if its amount did not change.
    pub ratio: Option<f64>,
}

/// Where the growth of a function is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "grew", content = "callers", rename_all = "kebab-case")]
pub enum Growth {
    /// In the function; its callers do not say more.
    #[default]
    Itself,
    /// In the calls of all its callers alike; how many there are.
    AllCallers(usize),
    /// Only when called from one of its callers.
    OneCaller,
    /// In calls from a place of its caller where it was not called before.
    FurtherCall,
    /// In its own code and in all that it calls alike.
    Whole,
    /// In a function that it calls and that the old side did not have.
    NewCallee,
    /// In a function of a library that it calls.
    OneCallee,
}

/// How much more the new side costs per unit of unchanged code.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TotalGrowth {
    /// In percent of the old total.
    pub percent: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
}
