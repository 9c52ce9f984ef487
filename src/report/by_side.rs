//! The report of `diff --by-side`: several builds, each compared with the first.

use serde::Serialize;

use crate::report::{Diff, DiffOutcome, DiffRow, DiffSide, DiffVerdict, Header, Name, Pair, RowTest};

/// Several builds, each compared with the first.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BySide {
    /// The header: the metric, the total of the first build, warnings.
    #[serde(flatten)]
    pub header: Header,
    /// The first build.
    pub old: DiffSide,
    /// The verdict on all builds together: regressed if any of them is.
    pub verdict: DiffVerdict,
    /// The accepted probability of a false alarm in any of the builds; each is tested with an equal part of it.
    pub alpha: f64,
    /// The other builds in the order given: their comparisons with the first, whose rows are in `rows`.
    pub builds: Vec<Diff>,
    /// The functions, the most important first.
    pub rows: Vec<BySideRow>,
    /// How many tested rows were cut.
    pub elided_tested: usize,
}

/// A function in all builds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BySideRow {
    /// The unique name in the first build; that of another build if the first one does not have the function.
    pub name: Name,
    /// Whether the rows of the builds are about self or about total.
    pub test: RowTest,
    /// The sums of all profiles of the first build.
    pub old: Pair,
    /// Its row in the comparison of each build; null where it has none.
    pub builds: Vec<Option<DiffRow>>,
}

impl BySide {
    /// What the comparisons mean for a check: it fails if that of any build does.
    pub fn outcome(&self) -> DiffOutcome {
        let outcomes: Vec<DiffOutcome> = self.builds.iter().map(Diff::outcome).collect();
        let worst = [DiffOutcome::Failed, DiffOutcome::Undecided];
        worst.into_iter().find(|outcome| outcomes.contains(outcome)).unwrap_or(DiffOutcome::Passed)
    }
}
