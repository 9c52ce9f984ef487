//! What to compare, and which rows to show.

use crate::kind;
use crate::profile::Profile;
use crate::report::{DiffSide, Matched, NoiseHistory, Upgrade};
use crate::stats::{Normalization, TestOptions};
use crate::transform::Marks;
use crate::tree::By;
use crate::unit::{Family, Unit};
use crate::view::diff::budget::BudgetRule;
use crate::view::diff::calls::CallCounts;
use crate::view::diff::sample_size::SampleSize;

/// Options for [`diff()`](super::diff()).
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// What to group frames by.
    pub by: By,
    /// How strict the test is. Its own `functions` are ignored in favour of those below.
    pub test: TestOptions,
    /// What earlier runs say about noise.
    pub history: Option<NoiseHistory>,
    /// The functions to test; `None` for all.
    pub functions: Option<Marks>,
    /// The cost ratio that should be detectable for a function with a 10 % share; otherwise, finding
    /// nothing means little.
    pub wanted_ratio: f64,
    /// Whether too little evidence is a failure.
    pub strict: bool,
    /// Whether to look for the causes of changes.
    pub explain: bool,
    /// The maximum number of rows; `None` for all.
    pub limit: Option<usize>,
    /// The maximum number of tested rows that are not significant; `None` for all.
    pub others: Option<usize>,
    /// The column to sort rows by; `None` for the most important first.
    pub sort: Option<DiffSort>,
    /// Rows with a smaller share on both sides are cut, in percent.
    pub min_share: f64,
    /// The maximum costs on the new side.
    pub budgets: Vec<BudgetRule>,
}

/// A column of a comparison to sort by. Rows that have no value in it are last. The command line offers these values, with
/// these descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DiffSort {
    /// The largest change first, whether up or down
    Delta,
    /// The largest cost ratio first
    Ratio,
    /// The most significant first
    Q,
    /// The most expensive on the old side first
    Old,
    /// The most expensive on the new side first
    New,
}

/// The sides of a profile with one column per input, the old ones first.
#[derive(Clone, Debug)]
pub struct DiffSides {
    /// The inputs of the old side.
    pub old: DiffSide,
    /// The inputs of the new side.
    pub new: DiffSide,
    /// How much of the metric makes one sample.
    pub size: SampleSize,
    /// How often functions were called, if the profiles say so.
    pub calls: Option<CallCounts>,
    /// Functions that are matched although their names or places differ, the heaviest first.
    pub matched: Vec<Matched>,
    /// The libraries of which the sides have different versions, in alphabetical order.
    pub upgrades: Vec<Upgrade>,
}

impl DiffSides {
    /// Sides whose functions have the same names, in profiles that count samples.
    pub fn new(old: DiffSide, new: DiffSide, size: SampleSize) -> Self {
        DiffSides { old, new, size, calls: None, matched: Vec::new(), upgrades: Vec::new() }
    }

    /// The same with the new side as the old one; functions have the names of the new one all the same.
    pub(super) fn reversed(&self) -> Self {
        let reversed = |upgrade: &Upgrade| Upgrade {
            old: upgrade.new.clone(),
            new: upgrade.old.clone(),
            ..upgrade.clone()
        };
        DiffSides {
            old: self.new.clone(),
            new: self.old.clone(),
            size: self.size,
            calls: self.calls.as_ref().map(CallCounts::reversed),
            matched: Vec::new(),
            upgrades: self.upgrades.iter().map(reversed).collect(),
        }
    }
}

impl Default for DiffOptions {
    /// All functions, tested with the default strictness.
    fn default() -> Self {
        DiffOptions::new(By::Function)
    }
}

impl DiffOptions {
    /// All functions, tested with the default strictness.
    pub fn new(by: By) -> Self {
        DiffOptions {
            by,
            test: TestOptions::default(),
            history: None,
            functions: None,
            wanted_ratio: 1.2,
            strict: false,
            explain: true,
            limit: None,
            others: None,
            sort: None,
            min_share: 0.0,
            budgets: Vec::new(),
        }
    }
}

/// How the sides of a comparison are made comparable unless something else is asked for: memory and counts as recorded, time
/// per unit of unchanged code.
pub fn usual_normalization(whole: &Profile) -> Normalization {
    let is_quantity = whole.meta.metrics.first().is_some_and(|metric| {
        Unit::parse(&metric.unit).family() == Family::Bytes || kind::is_quantity(&metric.name)
    });
    if is_quantity { Normalization::Run } else { Normalization::Core }
}

/// The word for what costs are relative to.
pub fn normalization_name(normalize: Normalization) -> &'static str {
    match normalize {
        Normalization::Core => "core",
        Normalization::Total => "total",
        Normalization::Per { .. } => "per",
        Normalization::Run => "none",
    }
}
