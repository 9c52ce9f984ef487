//! Why costs changed between two sides.

use serde::Serialize;

use crate::report::Name;
pub use crate::stats::CountKind as RowTest;

/// Why costs changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiffCause {
    /// What a script needs to print it; `None` until all else is known.
    #[serde(flatten)]
    pub summary: Option<CauseSummary>,
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

    /// Whether it explains growth, rather than what only moved or became cheaper.
    pub fn explains_growth(&self) -> bool {
        self.cause < CauseKind::Gc || self.cause == CauseKind::Gc && self.points > 0.0
    }

    /// Whether it explains what became cheaper.
    pub fn explains_saving(&self) -> bool {
        self.cause > CauseKind::Inlined || self.cause == CauseKind::Gc && self.points < 0.0
    }

    /// The command that shows it, once it is known.
    pub fn command(&self) -> Option<&str> {
        self.summary.as_ref()?.command.as_deref()
    }

    /// The function whose calls lead to it, now or more often.
    fn caller(&self) -> Option<&Name> {
        let (first, last) = (self.path.first()?, self.path.last()?);
        (self.path.len() > 1 && *last == self.function).then_some(first)
    }
}

/// A cause as one line: what it is, how much it costs, what shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CauseSummary {
    /// The kind of change, in the words of the command line: see [`CauseKind::word`].
    pub kind: &'static str,
    /// Where it comes from: the old name, the function that it was extracted from, that was inlined into it or that
    /// collects garbage, or the one whose calls lead to it, now or more often.
    pub from: Option<Name>,
    /// What it costs more, in the metric's unit, for as many runs as the old side has; rescaled, as points are.
    pub delta: i64,
    /// The lower end of the 95 % interval of `delta`; null if there is no interval of the ratio.
    pub low: Option<i64>,
    /// The upper end.
    pub high: Option<i64>,
    /// The part of the growth that it explains, from 0 to 1.
    pub share: f64,
    /// What shows that it is so, in words.
    pub evidence: String,
    /// The command that shows it; null if both sides are in one file.
    pub command: Option<String>,
}

impl CauseSummary {
    /// The summary of a cause in a comparison in which the old side costs `old` in the metric's unit.
    pub fn new(cause: &DiffCause, old: f64, evidence: String, command: Option<String>) -> Self {
        let delta = cause.points / 100.0 * old;
        // If all of a function doubles at most, it costs at most as much more as it cost before.
        let at = |end: Option<f64>| {
            let delta = delta * (end? - 1.0) / (cause.ratio? - 1.0);
            delta.is_finite().then_some(delta.round() as i64)
        };
        CauseSummary {
            kind: cause.cause.word(),
            from: cause.of.as_ref().or_else(|| cause.caller()).cloned(),
            delta: delta.round() as i64,
            low: at(cause.ratio_low),
            high: at(cause.ratio_high),
            share: cause.explains,
            evidence,
            command,
        }
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
    /// A function costs less.
    Cheaper,
    /// A function has less work, or is no longer called from where it was called before.
    CalledLess,
}

impl CauseKind {
    /// Its name in a summary.
    pub fn word(self) -> &'static str {
        match self {
            CauseKind::Dearer => "dearer",
            CauseKind::CalledMore => "called-more",
            CauseKind::NewPath => "new-path",
            CauseKind::Mix => "mix",
            CauseKind::Gc => "knock-on",
            CauseKind::Renamed => "renamed",
            CauseKind::Moved => "moved",
            CauseKind::Extracted => "extracted",
            CauseKind::Inlined => "inlined",
            CauseKind::Cheaper => "cheaper",
            CauseKind::CalledLess => "called-less",
        }
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
