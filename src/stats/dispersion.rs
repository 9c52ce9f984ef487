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
    /// Adds counts in the same unit.
    pub(super) fn add(&mut self, other: &RunCounts) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
    }

    /// Subtracts counts in the same unit.
    pub(super) fn subtract(&mut self, other: &RunCounts) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum -= count);
    }
}

/// The number of profiles per side, and the size of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// The total of every profile, old ones first, in the unit of [`RunCounts::unit`], times its weight.
    pub totals: Vec<f64>,
    /// How much of the samples of each profile counts, from 0 to 1.
    pub weights: Vec<f64>,
    /// How many of them are old.
    pub old: usize,
    /// Whether runs are compared as they are: each is expected to hold the same amount. Otherwise, a run that recorded
    /// more is expected to hold more of everything.
    pub per_run: bool,
}

/// No run counts for more than so many typical ones of its side.
const MOST_OF_TYPICAL: f64 = 2.0;

impl Design {
    /// Profiles with these totals, the first `old` of them old ones, whose samples all count.
    pub fn new(totals: Vec<f64>, old: usize, per_run: bool) -> Self {
        Design { weights: vec![1.0; totals.len()], totals, old, per_run }
    }

    /// The same, but of runs that are much longer than the others of their side, only a part counts. If a program was stopped for
    /// seconds, or did other work, in one run, the samples of this run would outweigh all others, and the scatter would be that around
    /// this run alone.
    #[must_use]
    pub fn with_even_runs(mut self) -> Self {
        for side in self.sides() {
            let mut sorted = self.totals[side.clone()].to_vec();
            sorted.sort_by(f64::total_cmp);
            let Some(typical) = sorted.get(sorted.len().saturating_sub(1) / 2) else { continue };
            let most = typical * MOST_OF_TYPICAL;
            for run in side.filter(|_| most > 0.0) {
                if self.totals[run] > most {
                    (self.weights[run], self.totals[run]) = (most / self.totals[run], most);
                }
            }
        }
        self
    }

    /// What counts of the samples of a function in every profile.
    pub(super) fn weighted<'d>(&'d self, column: &'d RunCounts) -> impl Iterator<Item = f64> + 'd {
        column.counts.iter().zip(&self.weights).map(|(count, weight)| count * weight)
    }

    /// The mean count of a profile.
    pub(super) fn mean(&self, column: &RunCounts) -> f64 {
        self.weighted(column).sum::<f64>() / column.counts.len().max(1) as f64
    }

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
    let count = |run: usize| column.counts[run] * design.weights[run];
    for side in design.sides() {
        let total: f64 = design.totals[side.clone()].iter().sum::<f64>() / column.unit;
        if side.len() < 2 || total <= 0.0 {
            continue;
        }
        let sum: f64 = side.clone().map(count).sum();
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
                statistic += (count(i) - expected).powi(2) / variance.max(1e-12);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::compare::compare;
    use crate::stats::{ProfileCounts, SampleCounts, SampleUnit, TestOptions};

    #[test]
    fn a_long_run_counts_for_two_typical_ones_of_its_side() {
        let totals = vec![100.0, 900.0, 120.0, 50.0, 300.0, 0.0, 7.0];
        let even = Design::new(totals, 3, false).with_even_runs();
        assert_eq!(even.totals, [100.0, 240.0, 120.0, 14.0, 14.0, 0.0, 7.0]);
        let column = RunCounts { counts: vec![10.0, 90.0, 12.0, 5.0, 30.0, 0.0, 7.0], unit: 1.0 };
        let counts: Vec<f64> = even.weighted(&column).collect();
        for (count, expected) in counts.into_iter().zip([10.0, 24.0, 12.0, 1.4, 1.4, 0.0, 7.0]) {
            assert!((count - expected).abs() < 1e-9, "{count} {expected}");
        }
        // A side of one run may be of any length.
        let alone = Design::new(vec![5.0, 5.0, 900.0], 2, false);
        assert_eq!(alone.clone().with_even_runs(), alone);
    }

    #[test]
    fn how_long_a_stopped_run_took_does_not_matter() {
        let run = |number: usize, longer: f64| {
            let count = |function: usize| longer * (40 + (number * 31 + function * 17) % 13) as f64;
            let counts: Vec<f64> = (0..12).map(count).collect();
            ProfileCounts { self_counts: counts.clone(), total_counts: counts }
        };
        let rows = |longer: f64| {
            let old = (0..5).map(|number| run(number, 1.0)).collect();
            let new = (5..10).map(|number| run(number, if number == 7 { longer } else { 1.0 })).collect();
            let counts = SampleCounts { old, new, sample_unit: SampleUnit::Samples };
            compare(&counts, &TestOptions::default()).unwrap().hypotheses
        };
        for (one, other) in rows(5.0).iter().zip(&rows(40.0)) {
            assert!((one.log_ratio - other.log_ratio).abs() < 1e-9, "{one:?} {other:?}");
            assert!((one.noise_factor - other.noise_factor).abs() < 1e-6, "{one:?} {other:?}");
        }
    }
}
