//! What unchanged code costs in each profile of a series, so that costs of different profiles can be compared.
//!
//! A profile with twice the requests has twice the samples, and if one function becomes cheaper, the shares of all others
//! grow. So costs are relative to the code that did not change, as in a comparison of two sides ([`bulk`](super::bulk)):
//! each profile is compared with the sum of all, function by function, and most functions agree on the ratio.

use crate::stats::bulk::core_location;
use crate::stats::majority::majority;
use crate::stats::steps::median;

/// For each profile, the ratio of what unchanged code costs in it to its part of the whole: dividing a share by it gives a
/// cost per unit of unchanged code. `costs` has the self cost of each function in each profile, all profiles alike.
///
/// ```
/// use prof::stats::scales::unchanged;
///
/// // In the second profile, the first function has become three times as expensive, and everything was sampled half as long.
/// let profile = |first: f64| vec![first, 200.0, 150.0, 120.0, 100.0, 90.0, 80.0];
/// let half: Vec<f64> = profile(300.0).iter().map(|cost| cost / 2.0).collect();
/// let ratios = unchanged(&[profile(100.0), half, profile(100.0), profile(300.0)]);
/// let cost = |profile: &[f64], ratio: f64| profile[1] / profile.iter().sum::<f64>() / ratio;
/// assert!((cost(&profile(100.0), ratios[0]) - cost(&profile(300.0), ratios[3])).abs() < 1e-3);
/// ```
pub fn unchanged(costs: &[Vec<f64>]) -> Vec<f64> {
    let functions = costs.first().map_or(0, Vec::len);
    let all: f64 = costs.iter().flatten().sum();
    let shares: Vec<f64> = (0..functions)
        .map(|function| costs.iter().map(|profile| profile[function]).sum::<f64>() / all)
        .collect();
    let common: Vec<usize> = (0..functions)
        .filter(|&function| {
            let found = costs.iter().filter(|profile| profile[function] > 0.0).count();
            shares[function] >= LEAST_SHARE && 2 * found > costs.len()
        })
        .collect();
    // Of a function that was not seen, half of what would have been seen is assumed.
    let least =
        costs.iter().flatten().copied().filter(|cost| *cost > 0.0).fold(f64::INFINITY, f64::min) / 2.0;
    let ratios: Vec<Vec<f64>> = costs
        .iter()
        .map(|profile| {
            let total: f64 = profile.iter().sum();
            let seen = |cost: f64| if cost > 0.0 { cost } else { least };
            let ratio = |&function: &usize| (seen(profile[function]) / total / shares[function]).ln();
            common.iter().map(ratio).collect()
        })
        .collect();
    let first: Vec<f64> = ratios.iter().map(|ratios| middle(ratios, &common, &shares)).collect();
    let variances = variances(&ratios, &first);
    let location = |ratios: &Vec<f64>| {
        if !ratios.iter().all(|ratio| ratio.is_finite()) {
            // A profile without samples says nothing.
            return 1.0;
        }
        let found = core_location(ratios, &variances);
        majority(ratios, &variances, found).unwrap_or(found).0.exp()
    };
    ratios.iter().map(location).collect()
}

/// Functions with a smaller share of all profiles say too little.
const LEAST_SHARE: f64 = 0.001;

/// The ratio at which half of the cost has a smaller one.
fn middle(ratios: &[f64], functions: &[usize], shares: &[f64]) -> f64 {
    let mut order: Vec<(f64, f64)> =
        ratios.iter().zip(functions).map(|(ratio, &function)| (*ratio, shares[function])).collect();
    order.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let half = order.iter().map(|(_, share)| share).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let reached = order.iter().find(|(_, share)| {
        sum += share;
        sum >= half
    });
    reached.map_or(0.0, |(ratio, _)| *ratio)
}

/// How much the ratio of each function varies from profile to profile: the median of the changes between neighbours, which a
/// step does not affect.
fn variances(ratios: &[Vec<f64>], location: &[f64]) -> Vec<f64> {
    /// Makes the median of the absolute values of a normal distribution its standard deviation.
    const NORMAL: f64 = 1.4826;
    /// Some change from run to run is always possible.
    const LEAST: f64 = 0.01;
    let functions = ratios.first().map_or(0, Vec::len);
    let of_function = |function: usize| {
        let at = |profile: usize| ratios[profile][function] - location[profile];
        let mut changes: Vec<f64> = (1..ratios.len())
            .map(|later| (at(later) - at(later - 1)).abs())
            .filter(|c| c.is_finite())
            .collect();
        // A change has the variance of two values.
        median(&mut changes).map_or(1.0, |change| (NORMAL * change).powi(2) / 2.0).max(LEAST * LEAST)
    };
    (0..functions).map(of_function).collect()
}
