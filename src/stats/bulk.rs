//! Estimates what the code that did *not* change did: the location of the bulk of the functions, and
//! their scatter.
//!
//! Shares alone mislead: when a function of 10 % becomes twice as fast, the share of every other one
//! grows. So costs are measured relative to the bulk, which one changed function cannot move. RNA
//! sequencing solves the same problem in the same way (the trimmed mean of M-values, Robinson and
//! Oshlack 2010).

use std::cmp::Ordering;

/// Scales a t distribution with four degrees of freedom so that its variance fits normal data.
const T4_TO_NORMAL: f64 = 0.690_566_806_671_197;
/// Tukey's bisquare gives functions that are this many standard errors away no weight; 4.685 keeps 95 %
/// efficiency.
const BISQUARE: f64 = 4.685;
/// The estimated location varies slightly more than the best possible one, because robust weights
/// discard some data.
const ROBUSTNESS_COST: f64 = 1.1;
/// With fewer functions than this there is no bulk.
pub(super) const FEWEST: usize = 5;

/// The prior of the run-to-run change τ, which is log-normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The median of τ: 0.10 means that functions usually cost 10 % more or less in another run.
    pub median: f64,
    /// The standard deviation of ln τ.
    pub log_sd: f64,
}

/// The bulk of the functions, fitted by [`fit_bulk`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bulk {
    /// ln of the cost ratio of code that did not change.
    pub location: f64,
    /// The variance of `location`.
    pub location_variance: f64,
    /// φ, the variance, divided by the variance of independent samples; at least 1.
    pub overdispersion: f64,
    /// τ, the change from run to run as a coefficient of variation; more samples do not reduce it.
    pub run_to_run: f64,
}

/// How did the functions scatter between *one* old and *one* new profile? Fits location, φ and τ to the
/// log ratios as the most probable values given the priors; the variance of the i-th log ratio around
/// the location is φ vᵢ + τ².
///
/// One pair has no replicates, so the functions stand in for them: most did not change. Those that did
/// must not count as noise, hence Student's t4 instead of the normal distribution, and the `trim` most
/// extreme functions are left out.
pub fn fit_bulk(ratios: &[f64], variances: &[f64], prior: Prior, trim: usize) -> Bulk {
    fit_bulk_around(None, ratios, variances, prior, trim)
}

/// Like [`fit_bulk`]. If the `location` of unchanged code is given, the scatter is measured around it.
pub(super) fn fit_bulk_around(
    given: Option<f64>,
    ratios: &[f64],
    variances: &[f64],
    prior: Prior,
    trim: usize,
) -> Bulk {
    const LEAST_RUN_TO_RUN: f64 = 0.03;
    const ROUNDS: usize = 3;
    if ratios.len() < FEWEST {
        let run_to_run = LEAST_RUN_TO_RUN.max(0.1);
        let location = given.unwrap_or(0.0);
        return Bulk { location, location_variance: 0.0, overdispersion: 1.5, run_to_run };
    }
    let weights: Vec<f64> = variances.iter().map(|v| 1.0 / (v + LEAST_RUN_TO_RUN.powi(2))).collect();
    let mut location = given.unwrap_or_else(|| weighted_median(ratios, &weights));
    let mut keep = vec![true; ratios.len()];
    let (mut overdispersion, mut run_to_run) = (1.0, LEAST_RUN_TO_RUN);
    let mut spread = Vec::new();
    for round in 0..ROUNDS {
        (overdispersion, run_to_run) = most_probable(ratios, variances, &keep, location, prior);
        run_to_run = run_to_run.max(LEAST_RUN_TO_RUN);
        spread = variances.iter().map(|v| overdispersion * v + run_to_run * run_to_run).collect();
        if given.is_none() {
            location = t4_location(ratios, &spread, &keep, location);
        }
        if trim > 0 && ratios.len() > 8 && round + 1 < ROUNDS {
            keep = without_most_extreme(ratios, &spread, location, trim);
        }
    }
    let information: f64 = spread.iter().zip(&keep).filter(|(_, kept)| **kept).map(|(s, _)| 1.0 / s).sum();
    Bulk { location, location_variance: ROBUSTNESS_COST / information, overdispersion, run_to_run }
}

/// The 16 values of φ to try, from 1 to 20 in equal ratios.
fn overdispersion_grid() -> Vec<f64> {
    log_steps(1.0, 20.0, 16)
}

/// `count` values from `low` to `high` in equal ratios.
pub(super) fn log_steps(low: f64, high: f64, count: usize) -> Vec<f64> {
    let (from, to) = (low.ln(), high.ln());
    let step = (to - from) / (count - 1) as f64;
    (0..count).map(|i| if i + 1 == count { to.exp() } else { (from + step * i as f64).exp() }).collect()
}

/// The grid point (φ, τ) with the greatest posterior density. A grid cannot miss the maximum as a search
/// can, and two digits are precise enough.
fn most_probable(
    ratios: &[f64],
    variances: &[f64],
    keep: &[bool],
    location: f64,
    prior: Prior,
) -> (f64, f64) {
    let kept: Vec<(f64, f64)> = (0..ratios.len())
        .filter(|&i| keep[i])
        .map(|i| ((ratios[i] - location).powi(2), variances[i]))
        .collect();
    let prior = |(phi, tau): (f64, f64)| {
        -0.5 * (((tau.ln() - prior.median.ln()) / prior.log_sd).powi(2) + (phi.ln() / 0.7).powi(2))
    };
    let rough = |point| rough_likelihood(&kept, point) + prior(point);
    let exact = |point| likelihood(&kept, point) + prior(point);
    grid_maximum(&log_steps(0.01, 0.8, 20), kept.len(), rough, exact).unwrap_or((1.0, 0.1))
}

/// The point (φ, τ) of the grid with these values of τ at which `exact` is greatest, the first of equal ones; `None` if
/// it is nowhere more than negative infinity. `rough` differs from `exact` only by the rounding of a sum of `count`
/// numbers, but takes less time, so `exact` is computed only where it could be greatest.
pub(super) fn grid_maximum(
    taus: &[f64],
    count: usize,
    rough: impl Fn((f64, f64)) -> f64,
    exact: impl Fn((f64, f64)) -> f64,
) -> Option<(f64, f64)> {
    let grid = overdispersion_grid().into_iter().flat_map(|phi| taus.iter().map(move |&tau| (phi, tau)));
    let rough: Vec<_> = grid.map(|point| (rough(point), point)).collect();
    let greatest = rough.iter().map(|(value, _)| *value).fold(f64::NEG_INFINITY, f64::max);
    let error = 1e-9 * (greatest.abs() + count as f64 + 1.0);
    let mut best = (f64::NEG_INFINITY, None);
    // What is not a number is not known to be less.
    for (_, point) in rough
        .into_iter()
        .filter(|(value, _)| (greatest - value).partial_cmp(&error) != Some(Ordering::Greater))
    {
        let value = exact(point);
        if value > best.0 {
            best = (value, Some(point));
        }
    }
    best.1
}

/// The log likelihood of squared distances from the location, each given with its variance.
fn likelihood(kept: &[(f64, f64)], (phi, tau): (f64, f64)) -> f64 {
    let of_function = |&(squared, variance): &(f64, f64)| {
        let scale = (phi * variance + tau * tau) * T4_TO_NORMAL;
        -0.5 * scale.ln() - 2.5 * (squared / scale / 4.0).ln_1p()
    };
    kept.iter().map(of_function).sum()
}

/// The same, apart from rounding, with one logarithm for several functions: computing logarithms takes most of the time.
fn rough_likelihood(kept: &[(f64, f64)], (phi, tau): (f64, f64)) -> f64 {
    let of_functions = |functions: &[(f64, f64)]| {
        let (mut scales, mut tails) = (1.0, 1.0);
        for &(squared, variance) in functions {
            let scale = (phi * variance + tau * tau) * T4_TO_NORMAL;
            scales *= scale;
            tails *= 1.0 + squared / (4.0 * scale);
        }
        // -0.5 ln(scales) - 2.5 ln(tails)
        -0.5 * (scales * tails.powi(5)).ln()
    };
    kept.chunks(AT_ONCE).map(of_functions).sum()
}

/// The number of functions with one logarithm. Their product stays within the range of floating point: log ratios are
/// below 100, counts below 2⁶⁴, φ and τ as in the grid.
pub(super) const AT_ONCE: usize = 4;

/// One step towards the location of a t4 distribution: a mean in which distant functions weigh less.
fn t4_location(ratios: &[f64], spread: &[f64], keep: &[bool], location: f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for i in (0..ratios.len()).filter(|&i| keep[i]) {
        let weight = 5.0 / (4.0 * T4_TO_NORMAL + (ratios[i] - location).powi(2) / spread[i]) / spread[i];
        sum += weight * ratios[i];
        total += weight;
    }
    if total > 0.0 { sum / total } else { location }
}

/// Which functions remain if the `count` functions most standard errors away from the location are left
/// out.
fn without_most_extreme(ratios: &[f64], spread: &[f64], location: f64, count: usize) -> Vec<bool> {
    let distance: Vec<f64> =
        ratios.iter().zip(spread).map(|(ratio, s)| (ratio - location).abs() / s.sqrt()).collect();
    let mut order: Vec<usize> = (0..ratios.len()).collect();
    order.sort_by(|&a, &b| distance[b].total_cmp(&distance[a]));
    let mut keep = vec![true; ratios.len()];
    for &i in order.iter().take(count) {
        keep[i] = false;
    }
    keep
}

/// What did unchanged code do between two *groups* of profiles, where replicates gave the variance of
/// every function? Returns the location of the bulk and its variance; Tukey's bisquare ignores functions
/// that changed.
pub fn core_location(ratios: &[f64], variances: &[f64]) -> (f64, f64) {
    if ratios.len() < FEWEST {
        return (0.0, 0.0);
    }
    // A run-to-run change of one percent is always possible, so that no function of a billion samples
    // dominates.
    let spread: Vec<f64> = variances.iter().map(|v| v + 0.01 * 0.01).collect();
    let weights: Vec<f64> = spread.iter().map(|s| 1.0 / s).collect();
    let mut location = weighted_median(ratios, &weights);
    let cut = BISQUARE * BISQUARE;
    let mut distance = vec![0.0; ratios.len()];
    for _ in 0..20 {
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..ratios.len() {
            distance[i] = (ratios[i] - location).powi(2) / spread[i];
            if distance[i] < cut {
                let weight = (1.0 - distance[i] / cut).powi(2) / spread[i];
                sum += weight * ratios[i];
                total += weight;
            }
        }
        if total <= 0.0 {
            break;
        }
        location = sum / total;
    }
    let information: f64 = weights.iter().zip(&distance).filter(|(_, d)| **d < cut).map(|(w, _)| w).sum();
    (location, if information > 0.0 { ROBUSTNESS_COST / information } else { 0.0 })
}

/// The value at which the cumulative weight reaches one half.
fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let reached: Vec<f64> = order
        .iter()
        .scan(0.0, |sum, &i| {
            *sum += weights[i];
            Some(*sum)
        })
        .collect();
    let half = reached.last().copied().unwrap_or(0.0) / 2.0;
    let middle = reached.partition_point(|&sum| sum < half).min(order.len().saturating_sub(1));
    order.get(middle).map_or(0.0, |&i| values[i])
}
