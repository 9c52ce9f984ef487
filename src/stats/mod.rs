//! Separates real changes in cost from noise: takes the sample counts of two sides and returns rows with
//! a verdict.
//!
//! This module knows nothing about profiles. [`compare`](compare::compare) takes, for every profile and
//! function, how many *effective samples* ([`effective`]) ended in the function (self) or passed through
//! it (total), and decides for every function whether it became more expensive relative to the code that
//! did not change:
//!
//! 1. [`bulk`]: the location of unchanged code, and how it scatters between two profiles;
//! 2. [`dispersion`]: how noisy each function is, if a side has several profiles;
//! 3. [`model`]: both together, giving a p-value for any function ([`distributions`] has the tails);
//! 4. [`multiplicity`]: adjusts for hundreds of tests, so that false alarms stay rare;
//! 5. [`compare`]: the thresholds below which a change is small, and the verdict;
//! 6. [`attribution`]: callers that only pass a change on, and code that only moved;
//! 7. [`mix`]: more work of a kind, which makes no code dearer;
//! 8. [`detect`]: what these profiles could not have detected.
//!
//! Series of many profiles are judged by [`steps`], where a level changed for good, and [`rise`], what rises and does not
//! come back, with costs made comparable by [`scales`].
//!
//! Everything is deterministic, takes milliseconds and never panics; all results are finite.
//!
//! ```
//! use prof::stats::{SampleCounts, TestOptions, ProfileCounts, SampleUnit, Verdict, compare::compare};
//!
//! let profile = |leaf: f64| {
//!     let counts = vec![leaf, 4000.0, 3000.0, 2000.0, 1500.0, 1200.0, 900.0, 800.0];
//!     ProfileCounts { self_counts: counts.clone(), total_counts: counts }
//! };
//! let old = vec![profile(1000.0), profile(1030.0), profile(985.0)];
//! let new = vec![profile(1510.0), profile(1490.0), profile(1530.0)];
//! let result = compare(&SampleCounts { old, new, sample_unit: SampleUnit::Samples }, &TestOptions::default()).unwrap();
//! assert_eq!(result.hypotheses[0].verdict, Verdict::Regressed);
//! assert!((result.hypotheses[0].ratio.unwrap() - 1.5).abs() < 0.05);
//! ```

pub mod attribution;
pub mod bulk;
mod call_paths;
mod called_elsewhere;
mod check;
mod columns;
pub mod compare;
pub mod detect;
pub mod dispersion;
pub mod distributions;
pub mod effective;
mod examiner;
mod exchanged;
mod inlined;
pub mod learned;
mod majority;
pub mod mix;
pub mod model;
mod moved;
pub mod multiplicity;
mod parts;
pub mod random;
mod replaced;
pub mod rise;
pub mod scales;
pub mod steps;
mod trades;

use serde::Serialize;

/// The counts of one profile; both lists are indexed by function number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileCounts {
    /// The samples that ended in each function.
    pub self_counts: Vec<f64>,
    /// The samples on whose stack the function is, counted once however often it recurs.
    pub total_counts: Vec<f64>,
}

/// Both sides of a comparison; several profiles per side are replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleCounts {
    /// The profiles taken before the change.
    pub old: Vec<ProfileCounts>,
    /// The profiles taken after it.
    pub new: Vec<ProfileCounts>,
    /// How much of a count makes one effective sample.
    pub sample_unit: SampleUnit,
}

/// How much of a count makes one *effective* sample, that is, one independent observation.
#[derive(Debug, Clone, PartialEq)]
pub enum SampleUnit {
    /// The counts are samples.
    Samples,
    /// It differs between functions, as on a heap ([`effective::heap_unit`]); one value per function.
    PerFunction {
        /// For the self counts.
        self_units: Vec<f64>,
        /// For the total counts.
        total_units: Vec<f64>,
    },
    /// It is unknown, but the same everywhere. It is estimated from the scatter of replicates, so one
    /// side needs two profiles.
    Unknown,
}

/// Which of the two counts of a function is meant. The command line offers these values, with these descriptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CountKind {
    /// The samples that ended in the function
    #[serde(rename = "self")]
    #[cfg_attr(feature = "cli", value(name = "self"))]
    SelfCount,
    /// The samples that passed through it
    #[default]
    Total,
}

impl CountKind {
    /// The word on the screen and in reports.
    pub fn word(self) -> &'static str {
        match self {
            CountKind::SelfCount => "self",
            CountKind::Total => "total",
        }
    }
}

/// How strict the comparison is, and what costs are relative to.
#[derive(Debug, Clone, PartialEq)]
pub struct TestOptions {
    /// The probability of any false alarm among all tests together.
    pub alpha: f64,
    /// The minimum cost increase of a regression: 0.05 means by 5 %.
    pub min_effect: f64,
    /// The minimum increase as a fraction of the old total: 0.01 is one percentage point. Merely another
    /// order of the functions in the binary can change a function by almost as much.
    pub min_points: f64,
    /// Functions below this share of all samples of both sides are not tested, which leaves more power
    /// for the others.
    pub min_tested: f64,
    /// What is known about the change from run to run, which one pair of profiles cannot show.
    pub noise: Noise,
    /// What is known about the noise of every function, which then counts instead of `noise`.
    pub learned: Option<learned::LearnedNoise>,
    /// What the costs are relative to.
    pub normalize: Normalization,
    /// ln of the cost ratio of unchanged code and the variance of that, if they are known from a finer comparison: a few
    /// kinds of requests do not tell what unchanged code costs, but their functions do.
    pub core: Option<(f64, f64)>,
    /// The counts of each part of the call tree in every profile, the old ones first: parts do not share the functions of
    /// libraries, as callers do. If most of them cost the same per run, they are unchanged. Empty if they are not known.
    pub parts: Vec<Vec<f64>>,
    /// The functions in which processors have nothing to do, in ascending order. More of that is no more work, so they are not tested and say nothing
    /// about unchanged code.
    pub idle: Vec<usize>,
    /// Whether the cost of unchanged code is estimated from functions on both sides only, and not at all if that leaves it
    /// uncertain.
    pub check_scale: bool,
    /// Whether both sides ran one build, as the values of a label did, so that no code was elsewhere on the old side.
    pub one_build: bool,
    /// Tests only these functions, which takes far fewer samples; `None` tests all.
    pub functions: Option<Vec<usize>>,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            min_effect: 0.05,
            min_points: 0.01,
            min_tested: 0.005,
            noise: Noise::Auto,
            learned: None,
            normalize: Normalization::Core,
            core: None,
            parts: Vec::new(),
            idle: Vec::new(),
            check_scale: false,
            one_build: false,
            functions: None,
        }
    }
}

/// How much a function's cost changes from run to run of the same program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Estimated from the profiles; about 10 % if they say little.
    Auto,
    /// Estimated as well, for a workload that repeats itself exactly: about 4 % if the profiles say
    /// little.
    Steady,
    /// Known from earlier runs, as a coefficient of variation: 0.03 is 3 %.
    Fixed(f64),
}

/// What "more expensive" is relative to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Normalization {
    /// The bulk of the functions, which no single change can move.
    Core,
    /// All samples, which compares shares. Code that only moved is then recognised by a removed
    /// function, not by its caller.
    Total,
    /// The work done, known exactly: the number of requests (or iterations) on each side, over all its
    /// profiles. The only method that detects a uniform slowdown of everything and is still safe.
    Per {
        /// The work of the old profiles.
        old: f64,
        /// The work of the new profiles.
        new: f64,
    },
    /// The run: compares plain samples per run, for runs of equal length on an idle machine.
    Run,
}

/// The verdict on a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Significantly more expensive, and by enough to matter. The only verdict that fails a build.
    Regressed,
    /// Significantly cheaper, and by enough to matter.
    Improved,
    /// The samples came from elsewhere below the same caller, as after a rename: nothing became more expensive.
    Moved,
    /// Changed only because a function it calls did.
    Inherits,
    /// Changed only because the program did more of one kind of work and less of another.
    Mix,
    /// Changed significantly, but by less than matters.
    Small,
    /// Only on the new side, with too few samples to test.
    New,
    /// Only on the old side, with too few samples to test.
    Removed,
    /// No difference that these profiles can show.
    #[serde(rename = "")]
    #[default]
    Unchanged,
}

impl Verdict {
    /// Whether a difference was found. All other rows are not significant, or were not tested.
    pub fn is_significant(self) -> bool {
        match self {
            Verdict::Regressed
            | Verdict::Improved
            | Verdict::Moved
            | Verdict::Inherits
            | Verdict::Mix
            | Verdict::Small => true,
            Verdict::New | Verdict::Removed | Verdict::Unchanged => false,
        }
    }

    /// The word in JSON and CSV; empty for [`Verdict::Unchanged`].
    pub fn word(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Moved => "moved",
            Self::Inherits => "inherits",
            Self::Mix => "mix",
            Self::Small => "small",
            Self::New => "new",
            Self::Removed => "removed",
            Self::Unchanged => "",
        }
    }
}

/// Why two sides cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Incomparable {
    /// A side has no profile.
    #[error("one side has no profile")]
    NoProfile,
    /// Two lists that are indexed by function differ in length.
    #[error("the profiles count different numbers of functions")]
    Shape,
    /// A count is negative or not a number, as in a profile that is itself a difference.
    #[error("a count of {0} cannot be tested; counts must not be negative")]
    Count(f64),
    /// The size of an effective sample is not positive.
    #[error("the size of a sample cannot be {0}")]
    Unit(f64),
    /// An option is out of its range; its name and value.
    #[error("{0} cannot be {1}")]
    Option(&'static str, f64),
    /// The size of a sample is unknown ([`SampleUnit::Unknown`]) and each side has one profile only.
    #[error("the size of one sample is unknown, so two or more profiles per side are needed")]
    NeedsReplicates,
    /// The sides have hardly a function in common: the shares, from 0 to 1, that such functions have of the old and of
    /// the new side.
    #[error(
        "the two sides have almost no functions in common ({:.1}% of the old side, {:.1}% of the new side)",
        .0 * 100.0,
        .1 * 100.0
    )]
    NothingInCommon(f64, f64),
    /// The sides share libraries, but none of the code that uses them.
    #[error(
        "the two sides seem to be different programs: outside of libraries and the runtime, the old side has {old} \
         functions and the new side {new}, and {} of them are on both sides",
        if *both == 0 { "none".to_string() } else { format!("only {both}") }
    )]
    DifferentPrograms {
        /// How many functions of the old side are neither of the runtime nor of a library.
        old: usize,
        /// The same for the new side.
        new: usize,
        /// How many of these both sides have.
        both: usize,
    },
}
