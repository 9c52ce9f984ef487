//! What most functions did, however heavy they are.
//!
//! Unchanged code is found by weight: a function with many samples says more than one with few. If one function with
//! 75 % of the samples becomes six times as expensive, it outweighs all others, and these seem to have become cheaper,
//! all by the same factor. It is more plausible that one function changed than that six others did alike.

use super::bulk::{FEWEST, core_location};

/// Locations that differ by less than this, on a logarithmic scale, agree.
pub(super) const LEAST: f64 = 0.1;
/// The number of standard errors by which they must differ.
pub(super) const ERRORS: f64 = 4.0;
/// The same for the heaviest function and all others together: only one pair is compared.
const ERRORS_OF_ONE: f64 = 3.0;

/// Locations of groups of functions that differ by less than this may be one.
const LEAST_APART: f64 = 0.2;
/// They must also differ by so many standard deviations of runs of one side, which may have had more or less to do.
const RUNS_APART: f64 = 4.0;
/// So many functions, with such a share of a side, and a quarter as many as those that changed alike, do not cost the same per run
/// by chance; nor do those with most of the samples, however many changed alike.
const FEWEST_SAME: usize = 3;
const LEAST_SAME: f64 = 0.25;
const FEWER: usize = 4;
pub(super) const MOST_SAMPLES: f64 = 0.5;
/// If the cost of a run in unchanged code differs by less than this, on a logarithmic scale, the runs did the same work.
const SAME_WORK: f64 = 0.25;
/// What is so many times farther from the same work, on a logarithmic scale, is not unchanged.
const FARTHER: f64 = 3.0;

/// The location of most functions, and its variance, if these agree with each other but not with the `location` of most
/// samples. `ratios` are log ratios, and `variances` those of sampling and noise.
pub(super) fn majority(ratios: &[f64], variances: &[f64], location: (f64, f64)) -> Option<(f64, f64)> {
    let mut sorted = variances.to_vec();
    sorted.sort_by(f64::total_cmp);
    // No function is heard more than the median one.
    let typical = *sorted.get(sorted.len() / 2)?;
    let equal: Vec<f64> = variances.iter().map(|variance| variance.max(typical)).collect();
    let found = core_location(ratios, &equal);
    let least = LEAST.max(ERRORS * (found.1 + location.1).sqrt());
    let agree = |at: f64| {
        let is_near = |(ratio, variance): &(&f64, &f64)| (*ratio - at).abs() <= LEAST + 2.0 * variance.sqrt();
        ratios.iter().zip(variances).filter(is_near).count()
    };
    let most = agree(found.0);
    let is_majority = (found.0 - location.0).abs() > least && most >= FEWEST && most > 2 * agree(location.0);
    is_majority.then_some(found).or_else(|| without_heaviest(ratios, variances, location.0))
}

/// Whether `most` is a more plausible location of unchanged code than the `location` of most samples. `none` is the location at which
/// nothing changed per run.
///
/// If a function costs 49 times as much per run as before, and outweighs all others, of which most cost 1.6 times as much, the runs
/// did about 1.6 times the work. It is the function that changed, not all others that became 30 times as fast.
pub(super) fn is_plausible(most: f64, location: f64, none: f64) -> bool {
    let per_run = |location: f64| (location - none).abs();
    let is_same_work = per_run(most) <= SAME_WORK && per_run(most) < per_run(location);
    is_same_work || FARTHER * per_run(most) <= per_run(location)
}

/// The location of the functions that cost as much per run as before, and its variance, if there are enough of them and the location
/// of most samples is another one. `shares` are those of all samples, `none` is the location at which nothing changed per run, and
/// `spread` the standard deviation of runs of one side.
///
/// If three functions cost five times as much and four others as much as before, either the three changed, or four became
/// cheaper by exactly the factor by which everything was longer. The former is more plausible, unless runs differ in length.
pub(super) fn same_per_run(
    ratios: &[f64],
    variances: &[f64],
    shares: &[f64],
    (location, none): (f64, f64),
    spread: f64,
) -> Option<(f64, f64)> {
    if (location - none).abs() < LEAST_APART.max(RUNS_APART * spread) {
        return None;
    }
    let is_at = |at: f64, i: usize| (ratios[i] - at).abs() <= LEAST + 2.0 * variances[i].sqrt();
    // Functions with few samples may be at both.
    let at = |at: f64, other: f64| -> Vec<usize> {
        let is_nearer = |i: usize| (ratios[i] - at).abs() < (ratios[i] - other).abs();
        (0..ratios.len()).filter(|&i| is_at(at, i) && is_nearer(i)).collect()
    };
    let (same, changed) = (at(none, location), at(location, none));
    let share: f64 = same.iter().map(|&i| shares[i]).sum();
    let certainly = same.iter().filter(|&&i| !is_at(location, i)).count();
    let is_few = FEWER * same.len() < changed.len() && share <= MOST_SAMPLES;
    if certainly < FEWEST_SAME || share < LEAST_SAME || is_few {
        return None;
    }
    mean_near(none, same.iter().map(|&i| (ratios[i], variances[i])))
}

/// The mean of log ratios, given with their variances, and the variance of that, if it cannot be told from `none`.
pub(super) fn mean_near(none: f64, ratios: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    let (mut weight, mut sum) = (0.0, 0.0);
    for (ratio, variance) in ratios {
        weight += 1.0 / variance;
        sum += ratio / variance;
    }
    let mean = sum / weight;
    ((mean - none).abs() <= LEAST / 2.0 + 2.0 / weight.sqrt()).then_some((mean, 1.0 / weight))
}

/// The location of all functions but the heaviest one, and its variance, if that one sets the `location` of most samples,
/// but differs from all others together. A function with 60 % of few samples agrees with itself, while each of the
/// others has too few samples to disagree with anything.
fn without_heaviest(ratios: &[f64], variances: &[f64], location: f64) -> Option<(f64, f64)> {
    let (heaviest, &variance) = variances.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let ratio = ratios[heaviest];
    let others = |of: &[f64]| [&of[..heaviest], &of[heaviest + 1..]].concat();
    let (ratios, variances) = (others(ratios), others(variances));
    if ratios.len() < FEWEST {
        return None;
    }
    let found = core_location(&ratios, &variances);
    // One of the others may outweigh the rest in the same way, but it has only one vote.
    let agree =
        (0..ratios.len()).filter(|&i| (ratios[i] - found.0).abs() <= LEAST + 2.0 * variances[i].sqrt());
    let do_agree = 3 * agree.count() > 2 * ratios.len();
    let mut sorted = ratios;
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    let is_like_others = (middle - found.0).abs() < (middle - ratio).abs();
    let error = (variance + found.1).sqrt();
    let differs = (ratio - found.0).abs() > LEAST.max(ERRORS_OF_ONE * error);
    // A location between the two, as of few samples, is that of nobody.
    let is_location_theirs = (location - found.0).abs() <= LEAST;
    (differs && do_agree && is_like_others && !is_location_theirs).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log ratios and variances of functions with old and new counts.
    fn majority_of(pairs: &[(f64, f64)]) -> Option<f64> {
        let ratios: Vec<f64> = pairs.iter().map(|(old, new)| (new / old).ln()).collect();
        let variances: Vec<f64> = pairs.iter().map(|(old, new)| 1.0 / old + 1.0 / new).collect();
        majority(&ratios, &variances, core_location(&ratios, &variances)).map(|(location, _)| location.exp())
    }

    #[test]
    fn six_functions_outvote_a_heavy_one() {
        let small =
            [(300.0, 296.0), (250.0, 255.0), (240.0, 236.0), (200.0, 207.0), (150.0, 148.0), (100.0, 103.0)];
        let found = majority_of(&[&[(3750.0, 22_500.0)], &small[..]].concat()).unwrap();
        assert!((found - 1.0).abs() < 0.03, "{found}");
        // If the heavy function did not change, there is nothing to vote about.
        assert_eq!(majority_of(&[&[(3750.0, 3800.0)], &small[..]].concat()), None);
    }

    #[test]
    fn one_heavy_function_does_not_vouch_for_itself() {
        // A function with 58 % of the samples has half as many again. None of the others has enough samples to differ from
        // it, but together they have.
        let small = [87.0, 57.0, 34.0, 30.0, 30.0, 25.0, 21.0, 20.0, 20.0, 18.0, 15.0, 14.0, 14.0, 11.0];
        let found = |heavy: (f64, f64), others: &[(f64, f64)], location: f64| {
            let small = small.iter().zip([1.0, 1.05, 0.95].iter().cycle());
            let small: Vec<(f64, f64)> = small.map(|(old, factor)| (*old, old * factor)).collect();
            let all = [&[heavy], others, &small[..]].concat();
            let ratios: Vec<f64> = all.iter().map(|(old, new)| (new / old).ln()).collect();
            let variances: Vec<f64> = all.iter().map(|(old, new)| 1.0 / old + 1.0 / new).collect();
            without_heaviest(&ratios, &variances, location.ln()).map(|(location, _)| location.exp())
        };
        let core = found((636.0, 954.0), &[], 1.4).unwrap();
        assert!((core - 1.0).abs() < 0.05, "{core}");
        // What is near the others already needs no vote, nor does a function that did as they did.
        assert_eq!(found((636.0, 954.0), &[], 1.1), None);
        assert_eq!(found((636.0, 660.0), &[], 1.04), None);
        // If one of the others became cheaper and outweighs them, the heaviest one is still in good company.
        assert_eq!(found((3000.0, 3000.0), &[(900.0, 450.0)], 1.0), None);
    }

    #[test]
    fn a_location_between_the_heavy_function_and_the_others_is_outvoted() {
        // A function with half the evidence does twice the work. A location that is fitted to both lies between them, where
        // no function is: 1.46, while the heavy one has 1.97 and the others 1.2 together.
        let others = [
            (49.0, 74.0),
            (43.0, 51.0),
            (28.0, 46.0),
            (29.0, 32.0),
            (29.0, 18.0),
            (12.0, 21.0),
            (17.0, 10.0),
            (12.0, 13.0),
            (14.0, 6.0),
            (10.0, 7.0),
            (7.0, 7.0),
            (6.0, 8.0),
        ];
        let all = [&[(225.0, 443.0)], &others[..]].concat();
        let ratios: Vec<f64> = all.iter().map(|(old, new): &(f64, f64)| (new / old).ln()).collect();
        let variances: Vec<f64> = all.iter().map(|(old, new)| 1.0 / old + 1.0 / new).collect();
        let found = without_heaviest(&ratios, &variances, 1.46_f64.ln()).map(|(location, _)| location.exp());
        let (old, new) = others.iter().fold((0.0, 0.0), |(old, new), pair| (old + pair.0, new + pair.1));
        assert!((found.unwrap() - new / old).abs() < 0.1, "{found:?}, all others together {}", new / old);
    }

    #[test]
    fn what_is_nearer_to_the_same_work_per_run_is_more_plausible() {
        let is_plausible = |most: f64, location: f64| is_plausible(most.ln(), location.ln(), 0.0);
        assert!(is_plausible(1.2, 1.5) && is_plausible(0.9, 0.5));
        assert!(is_plausible(1.6, 48.8) && is_plausible(0.6, 0.02));
        // Runs may have had twice or four times as much to do, and a heavy function that did not change cost as much as before.
        assert!(!is_plausible(2.0, 4.0) && !is_plausible(1.6, 1.0) && !is_plausible(1.2, 1.1));
    }

    /// Three functions of a module have half of the samples, and cost `factor` times as much; a run has `longer` times the samples.
    fn same_in_runs(factor: f64, longer: f64, spread: f64) -> Option<f64> {
        let old = [2212.0, 2085.0, 2456.0, 2030.0, 1504.0, 1766.0, 735.0];
        let new = |i: usize| old[i] * longer * if i < 3 { factor } else { [0.97, 1.03][i % 2] };
        let new: Vec<f64> = (0..old.len()).map(new).collect();
        let total = |side: &[f64]| side.iter().sum::<f64>();
        let none = (total(&old) / total(&new)).ln();
        let ratios: Vec<f64> = old.iter().zip(&new).map(|(old, new)| (new / old).ln() + none).collect();
        let variances: Vec<f64> = old.iter().zip(&new).map(|(old, new)| 1.0 / old + 1.0 / new).collect();
        let shares: Vec<f64> = old.iter().map(|count| count / total(&old)).collect();
        let of_module = factor.ln() + none;
        same_per_run(&ratios, &variances, &shares, (of_module, none), spread)
            .map(|found| (found.0 - none).exp())
    }

    #[test]
    fn what_costs_the_same_per_run_is_unchanged_although_half_of_the_program_changed_alike() {
        for factor in [5.0, 1.4, 0.5] {
            let found = same_in_runs(factor, 1.0, 0.02).unwrap();
            assert!((found - 1.0).abs() < 0.03, "{factor}: {found}");
        }
        // A change of this size may be the machine.
        assert_eq!(same_in_runs(1.15, 1.0, 0.02), None);
        // Runs that had 1.7 times as much to do cost the same nowhere, and of runs that differ by as much nothing is known.
        assert_eq!(same_in_runs(1.4, 1.7, 0.02), None);
        assert_eq!(same_in_runs(1.4, 1.0, 0.2), None);
    }

    #[test]
    fn most_samples_cost_the_same_per_run_although_many_light_functions_changed_alike() {
        let light = |old: f64| vec![(old, 1.6 * old); 100];
        let found = |light: &[(f64, f64)]| {
            let all = [&[(3000.0, 2990.0), (2000.0, 2020.0), (1500.0, 1490.0)], light].concat();
            let (old, new) = all.iter().fold((0.0, 0.0), |(old, new), (more, less)| (old + more, new + less));
            let none = f64::ln(old / new);
            let ratios: Vec<f64> = all.iter().map(|(old, new)| (new / old).ln() + none).collect();
            let variances: Vec<f64> = all.iter().map(|(old, new)| 1.0 / old + 1.0 / new).collect();
            let shares: Vec<f64> = all.iter().map(|(count, _)| count / old).collect();
            same_per_run(&ratios, &variances, &shares, (1.6_f64.ln() + none, none), 0.01)
                .map(|found| (found.0 - none).exp())
        };
        let few = found(&light(40.0)).unwrap();
        assert!((few - 1.0).abs() < 0.03, "{few}");
        assert_eq!(found(&light(80.0)), None);
    }

    #[test]
    fn functions_that_disagree_with_each_other_outvote_nothing() {
        let small =
            [(300.0, 96.0), (250.0, 455.0), (240.0, 336.0), (200.0, 107.0), (150.0, 348.0), (100.0, 203.0)];
        assert_eq!(majority_of(&[&[(37_500.0, 37_000.0)], &small[..]].concat()), None);
    }

    #[test]
    fn no_functions_have_no_majority() {
        assert_eq!(majority_of(&[]), None);
        assert_eq!(majority_of(&[(1000.0, 6000.0), (10.0, 10.0), (10.0, 11.0)]), None);
    }
}
