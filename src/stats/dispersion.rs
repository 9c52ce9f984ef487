//! The noise of every function, estimated from replicates: its own scatter, stabilised by that of all
//! the others.
//!
//! Five runs per side say little about one function, but three hundred functions together say a lot. So
//! the estimate of each is shrunk towards a common trend (limma and edgeR do the same for genes), but
//! never below its own scatter.

use statrs::function::gamma::digamma;

use super::bulk::{AT_ONCE, grid_maximum, log_steps};
use super::distributions::{trigamma, trigamma_inverse};

/// One function's counts in every profile, the old profiles first.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCounts {
    /// Effective samples, one value per profile.
    pub counts: Vec<f64>,
    /// The size of one effective sample, in the unit of the profiles' totals: 1 for plain samples, bytes for a heap.
    pub unit: f64,
}

impl RunCounts {
    /// The mean count of a profile.
    pub(super) fn mean(&self) -> f64 {
        self.counts.iter().sum::<f64>() / self.counts.len().max(1) as f64
    }
}

/// The number of profiles per side, and the size of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// The total of every profile, old ones first, in the unit of [`RunCounts::unit`].
    pub totals: Vec<f64>,
    /// How many of them are old.
    pub old: usize,
    /// Whether runs are compared as they are: each is expected to hold the same amount. Otherwise, a run that recorded
    /// more is expected to hold more of everything.
    pub per_run: bool,
}

impl Design {
    /// The residual degrees of freedom: the number of profiles beyond one per side.
    pub fn residual(&self) -> usize {
        self.old.saturating_sub(1) + (self.totals.len() - self.old).saturating_sub(1)
    }

    /// The old profiles and the new ones, as ranges of their indices.
    fn sides(&self) -> [std::ops::Range<usize>; 2] {
        [0..self.old, self.old..self.totals.len()]
    }
}

/// How many times more than independent samples did this function vary between runs of the *same* side?
/// This is Pearson's statistic per degree of freedom, on the binomial variance (of amounts per run: on Poisson's): 1 is
/// pure sampling, 4 is twice the scatter.
pub fn pearson_dispersion(column: &RunCounts, design: &Design) -> f64 {
    let mut statistic = 0.0;
    for side in design.sides() {
        let total: f64 = design.totals[side.clone()].iter().sum::<f64>() / column.unit;
        if side.len() < 2 || total <= 0.0 {
            continue;
        }
        let sum: f64 = column.counts[side.clone()].iter().sum();
        let share = sum / total;
        let mean = sum / side.len() as f64;
        for i in side {
            // Shares of a fixed total vary less than amounts that nothing limits.
            let (expected, free) = if design.per_run {
                (mean, 1.0)
            } else {
                (design.totals[i] / column.unit * share, 1.0 - share.min(1.0 - 1e-6))
            };
            if expected > 0.0 {
                let variance = expected * free;
                statistic += (column.counts[i] - expected).powi(2) / variance.max(1e-12);
            }
        }
    }
    statistic / design.residual().max(1) as f64
}

/// The typical dispersion of a function of a given size, and how much single functions deviate from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// φ, the dispersion of small functions.
    pub overdispersion: f64,
    /// τ: the dispersion grows by τ² per sample, because a run that does 5 % more of something does so
    /// at any size.
    pub run_to_run: f64,
    /// d0: how many degrees of freedom the trend is worth, compared to the function's own.
    pub prior_freedom: f64,
}

impl Trend {
    /// The typical dispersion of a function with `mean` samples per profile.
    pub fn at(&self, mean: f64) -> f64 {
        self.overdispersion + self.run_to_run.powi(2) * mean
    }

    /// The dispersion to use for a function whose own estimate is `own`: shrunk towards the trend, but
    /// never less than `own`, since otherwise a truly erratic function would be "significant" in one of
    /// fifty comparisons of equal sides.
    pub fn moderate(&self, own: f64, mean: f64, residual: usize) -> f64 {
        let residual = residual as f64;
        let drawn = (self.prior_freedom * self.at(mean) + residual * own) / (self.prior_freedom + residual);
        own.max(drawn)
    }
}

/// Fits the [`Trend`] to the dispersions `own` of functions with `means` samples per profile.
/// `most_freedom` limits d0.
///
/// φ and τ maximise a gamma likelihood in which the influence of a single outlier is bounded. d0 is
/// computed as by limma's `fitFDist` (Smyth 2004): the more the log ratios scatter beyond sampling, the
/// less the trend is worth.
pub fn dispersion_trend(own: &[f64], means: &[f64], residual: usize, most_freedom: f64) -> Trend {
    let usable: Vec<(f64, f64)> =
        own.iter().zip(means).filter(|(_, mean)| **mean >= 3.0).map(|(&y, &mean)| (y, mean)).collect();
    if usable.len() < 5 || residual == 0 {
        return Trend { overdispersion: 1.5, run_to_run: 0.0, prior_freedom: most_freedom.min(4.0) };
    }
    let half = residual as f64 / 2.0;
    let (overdispersion, run_to_run) = most_likely(&usable, half);
    let mut trend = Trend { overdispersion, run_to_run, prior_freedom: most_freedom };
    let expected_log = digamma(half) - half.ln();
    let mut logs: Vec<f64> =
        usable.iter().map(|&(y, mean)| (y.max(1e-3) / trend.at(mean)).ln() - expected_log).collect();
    winsorize(&mut logs, 0.05);
    let unexplained = sample_variance(&logs) - trigamma(half);
    let freedom = if unexplained > 0.02 { 2.0 * trigamma_inverse(unexplained) } else { 100.0 };
    trend.prior_freedom = freedom.max(1.0).min(most_freedom);
    trend
}

/// The grid point (φ, τ) with the greatest likelihood; every function's excess counts at most fourfold.
fn most_likely(usable: &[(f64, f64)], half: f64) -> (f64, f64) {
    let excess = |&(y, _): &(f64, f64), expected: f64| (y / expected).min(4.0);
    let exact = |(phi, tau): (f64, f64)| {
        let of_function = |function: &(f64, f64)| {
            let expected = phi + tau * tau * function.1;
            expected.ln() + excess(function, expected)
        };
        -half * usable.iter().map(of_function).sum::<f64>()
    };
    let rough = |(phi, tau): (f64, f64)| {
        let of_functions = |functions: &[(f64, f64)]| {
            let (mut product, mut sum) = (1.0_f64, 0.0);
            for function in functions {
                let expected = phi + tau * tau * function.1;
                product *= expected;
                sum += excess(function, expected);
            }
            product.ln() + sum
        };
        -half * usable.chunks(AT_ONCE).map(of_functions).sum::<f64>()
    };
    let run_to_run = [vec![0.0], log_steps(0.005, 0.8, 20)].concat();
    let count = usable.len() * (1.0 + half) as usize;
    grid_maximum(&run_to_run, count, rough, exact).unwrap_or((1.0, 0.0))
}

/// Winsorises: moves the outer `fraction` of the values at both ends to the quantile there.
fn winsorize(values: &mut [f64], fraction: f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (quantile(&sorted, fraction), quantile(&sorted, 1.0 - fraction));
    for value in values {
        *value = value.max(low).min(high);
    }
}

/// The quantile of sorted values, interpolated between neighbours.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = fraction * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The variance with n - 1 in the denominator; 0 for fewer than two values.
fn sample_variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)
}
