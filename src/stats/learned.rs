//! Noise learned from many runs of one build: how much each function varies by itself, so that a single new run can be
//! judged.

use super::check::check;
use super::columns::{columns, profiles};
use super::dispersion::{Design, RunCounts, dispersion_trend, pearson_dispersion};
use super::{CountKind, Incomparable, SampleCounts, TestOptions};

/// Functions with fewer samples per run than this vary by chance more than by anything else.
const FEWEST_SAMPLES: f64 = 3.0;
/// A function that is not listed varies as much as all but this part of those that are.
const UNLISTED: f64 = 0.9;

/// What is known about the noise of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedNoise {
    /// φ, how many times larger than that of independent samples the variance of small functions is.
    pub dispersion: f64,
    /// The degrees of freedom of the estimates.
    pub freedom: f64,
    /// How much a typical function varies from run to run, as a coefficient of variation without sampling.
    pub typical: f64,
    /// The same for the self of each function, by function number.
    pub self_variation: Vec<f64>,
    /// The same for its total.
    pub total_variation: Vec<f64>,
}

impl LearnedNoise {
    /// How much a function varies from run to run.
    pub(super) fn variation(&self, function: usize, measure: CountKind) -> f64 {
        let of = match measure {
            CountKind::SelfCount => &self.self_variation,
            CountKind::Total => &self.total_variation,
        };
        of.get(function).copied().unwrap_or(self.typical)
    }
}

/// How a count varies between runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variation {
    /// Its share of all samples, 0 to 1.
    pub share: f64,
    /// The coefficient of variation from run to run, without sampling.
    pub variation: f64,
    /// In how many runs it has samples.
    pub runs: usize,
}

/// What was learned from several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// φ, as in [`LearnedNoise`].
    pub dispersion: f64,
    /// The degrees of freedom of the estimates.
    pub freedom: f64,
    /// The variation of a function that is not listed.
    pub unlisted: f64,
    /// The samples of a run.
    pub samples: f64,
    /// The self of each function; `None` if it has too few samples to tell.
    pub own: Vec<Option<Variation>>,
    /// The total of each function.
    pub total: Vec<Option<Variation>>,
}

/// Learns the noise from runs of one build, on either side of `counts`. If `per_run`, from amounts as recorded, otherwise
/// from shares. Fails like [`compare`](super::compare::compare).
pub fn learn(counts: &SampleCounts, per_run: bool) -> Result<Lesson, Incomparable> {
    check(counts, &TestOptions::default())?;
    let totals: Vec<f64> = profiles(counts).map(|profile| profile.self_counts.iter().sum()).collect();
    let runs = totals.len();
    let design = Design::new(totals, runs, per_run);
    let columns = columns(counts);
    let residual = design.residual();
    let is_usable = |column: &&RunCounts| design.mean(column) >= FEWEST_SAMPLES;
    let (dispersions, means): (Vec<f64>, Vec<f64>) = columns
        .own
        .iter()
        .filter(is_usable)
        .map(|column| (pearson_dispersion(column, &design), design.mean(column)))
        .unzip();
    let trend = dispersion_trend(&dispersions, &means, residual, (2.0 * residual as f64 + 4.0).min(20.0));
    let dispersion = trend.overdispersion.max(1.0);
    let all: f64 = design.totals.iter().sum();
    let variation = |column: &RunCounts| {
        let moderated = trend.moderate(pearson_dispersion(column, &design), design.mean(column), residual);
        is_usable(&column).then(|| Variation {
            share: column.counts.iter().sum::<f64>() * column.unit / all,
            variation: ((moderated - dispersion).max(0.0) / design.mean(column)).sqrt(),
            runs: column.counts.iter().filter(|count| **count > 0.0).count(),
        })
    };
    let own: Vec<Option<Variation>> = columns.own.iter().map(variation).collect();
    let mut sorted: Vec<f64> = own.iter().flatten().map(|variation| variation.variation).collect();
    sorted.sort_by(f64::total_cmp);
    let high = sorted.get((sorted.len() as f64 * UNLISTED) as usize).copied().unwrap_or(0.1);
    Ok(Lesson {
        dispersion,
        freedom: trend.prior_freedom + residual as f64,
        unlisted: high.max(trend.run_to_run),
        samples: columns.own.iter().flat_map(|column| &column.counts).sum::<f64>()
            / design.totals.len() as f64,
        own,
        total: columns.total.iter().map(variation).collect(),
    })
}
