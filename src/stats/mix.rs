//! Tells more work from dearer work: if a program does more of one kind of work, all of the code that does it grows by
//! the same ratio. If code became dearer, some functions grow and others do not.

use super::bulk::{FEWEST, Prior, fit_bulk};
use super::dispersion::RunCounts;

/// Functions that agree within this much, on a logarithmic scale, grew alike, give or take their sampling error.
const ALIKE: f64 = 0.12;
/// So few functions tell, if they all grew alike.
const FEWEST_ALIKE: usize = 3;
/// The functions that grew alike must have this part of the old samples of the kind, from 0 to 1.
const MOST: f64 = 0.75;
/// One function with more than this part of the samples would only be compared with itself.
const TOO_LARGE: f64 = 0.7;
/// If functions scatter by more than this, as a coefficient of variation, they did not grow alike.
const TOO_NOISY: f64 = 0.15;

/// How much more work of one kind was done per run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkRatio {
    /// ln of the work of a new run divided by that of an old run.
    pub log_ratio: f64,
    /// The variance of `log_ratio`.
    pub variance: f64,
}

/// How much more of a kind of work was done, given the self counts of the functions that do it, the `old` profiles
/// first. `None` if the functions did not all grow alike, or are too few to tell.
pub fn work_ratio(functions: &[RunCounts], old: usize) -> Option<WorkRatio> {
    let profiles = functions.first()?.counts.len();
    let new = profiles.checked_sub(old).filter(|&new| new > 0 && old > 0)?;
    let (old_runs, new_runs) = (old as f64, new as f64);
    let share = new_runs / (old_runs + new_runs);
    let (mut ratios, mut variances, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = 0.0;
    let sums = |function: &RunCounts| -> (f64, f64) {
        let (before, after) = function.counts.split_at(old);
        (before.iter().sum(), after.iter().sum())
    };
    let log_ratio =
        |(before, after): (f64, f64)| ((after + 0.5) / new_runs).ln() - ((before + 0.5) / old_runs).ln();
    for function in functions {
        let (before, after) = sums(function);
        let sum = before + after;
        if sum * share.min(1.0 - share) < 5.0 {
            continue;
        }
        // A function that became dearer, too, must not outweigh the others by what it grew.
        all += before * function.unit;
        if before > 0.0 && after > 0.0 {
            ratios.push(log_ratio((before, after)));
            variances.push(1.0 / (sum * share) + 1.0 / (sum * (1.0 - share)));
            weights.push(before * function.unit);
        }
    }
    if weights.iter().any(|&weight| weight > TOO_LARGE * all) {
        let of_all: Vec<((f64, f64), f64)> =
            functions.iter().map(|function| (sums(function), function.unit)).collect();
        return ratio_of_heavy(&of_all, log_ratio);
    }
    if ratios.len() < FEWEST {
        return ratio_of_few(&ratios, &variances);
    }
    let bulk = fit_bulk(&ratios, &variances, Prior { median: 0.04, log_sd: 0.8 }, 1);
    let is_alike = |(ratio, variance): (&f64, &f64)| {
        (ratio - bulk.location).abs() <= ALIKE + 2.0 * (bulk.overdispersion * variance).sqrt()
    };
    let alike: f64 = ratios
        .iter()
        .zip(&variances)
        .zip(&weights)
        .filter(|(function, _)| is_alike(*function))
        .map(|(_, weight)| weight)
        .sum();
    (bulk.run_to_run <= TOO_NOISY && alike >= MOST * all)
        .then_some(WorkRatio { log_ratio: bulk.location, variance: bulk.location_variance })
}

/// The same for so few functions that all of them must have grown alike.
fn ratio_of_few(ratios: &[f64], variances: &[f64]) -> Option<WorkRatio> {
    if ratios.len() < FEWEST_ALIKE {
        return None;
    }
    let information: f64 = variances.iter().map(|variance| 1.0 / variance).sum();
    let mean =
        ratios.iter().zip(variances).map(|(ratio, variance)| ratio / variance).sum::<f64>() / information;
    let is_alike = |(ratio, variance): (&f64, &f64)| (ratio - mean).abs() <= ALIKE + 2.0 * variance.sqrt();
    let are_alike = ratios.iter().zip(variances).all(is_alike);
    are_alike.then(|| WorkRatio { log_ratio: mean, variance: (1.0 / information).max(ALIKE * ALIKE / 4.0) })
}

/// The same where one function has nearly all samples of the kind: it did more work if all others together grew like it,
/// and by more than chance explains. Each function is given with the size of its effective sample.
fn ratio_of_heavy(
    functions: &[((f64, f64), f64)],
    log_ratio: impl Fn((f64, f64)) -> f64,
) -> Option<WorkRatio> {
    let value = |&((before, after), unit): &((f64, f64), f64)| (before + after) * unit;
    let heavy =
        (0..functions.len()).max_by(|&a, &b| value(&functions[a]).total_cmp(&value(&functions[b])))?;
    let others = functions.iter().enumerate().filter(|(index, _)| *index != heavy);
    let others = others.fold((0.0, 0.0), |sum, (_, (pair, _))| (sum.0 + pair.0, sum.1 + pair.1));
    let variance = |pair: (f64, f64)| 1.0 / (pair.0 + 0.5) + 1.0 / (pair.1 + 0.5);
    let heavy = functions[heavy].0;
    let (of_heavy, of_others) = (log_ratio(heavy), log_ratio(others));
    let error = variance(others).sqrt();
    let is_alike = (of_heavy - of_others).abs() <= ALIKE + 2.0 * error;
    let is_certain = of_others.abs() >= 2.0 * error && of_heavy * of_others > 0.0;
    // Of work that did not change, there is nothing to tell.
    (is_alike && (is_certain || of_heavy.abs() <= ALIKE))
        .then(|| WorkRatio { log_ratio: of_heavy, variance: variance(heavy) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(pairs: &[(f64, f64)]) -> Vec<RunCounts> {
        pairs.iter().map(|&(old, new)| RunCounts { counts: vec![old, new], unit: 1.0 }).collect()
    }

    #[test]
    fn more_work_of_a_kind_makes_all_of_its_functions_grow_alike() {
        let twice =
            functions(&[(400.0, 810.0), (300.0, 590.0), (200.0, 405.0), (150.0, 296.0), (90.0, 183.0)]);
        let ratio = work_ratio(&twice, 1).unwrap().log_ratio.exp();
        assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn one_heavy_function_did_more_work_if_all_others_grew_like_it() {
        let others = [(22.0, 37.0), (18.0, 29.0), (12.0, 22.0), (3.0, 4.0)];
        let ratio = work_ratio(&functions(&[&[(1340.0, 2230.0)], &others[..]].concat()), 1).unwrap();
        assert!((ratio.log_ratio.exp() - 1.66).abs() < 0.03, "{ratio:?}");
        // If only the heavy one grew, it became dearer; and a few samples do not tell.
        let alone = [(22.0, 21.0), (18.0, 19.0), (12.0, 13.0), (3.0, 4.0)];
        assert_eq!(work_ratio(&functions(&[&[(1340.0, 2230.0)], &alone[..]].concat()), 1), None);
        assert_eq!(work_ratio(&functions(&[(1340.0, 2230.0), (3.0, 6.0), (2.0, 3.0)]), 1), None);
        let same = work_ratio(&functions(&[&[(1340.0, 1360.0)], &alone[..]].concat()), 1).unwrap();
        assert!(same.log_ratio.abs() < 0.03, "{same:?}");
    }

    #[test]
    fn few_functions_did_more_work_only_if_all_of_them_grew_alike() {
        let ratio =
            |pairs: &[(f64, f64)]| work_ratio(&functions(pairs), 1).map(|found| found.log_ratio.exp());
        let twice = ratio(&[(400.0, 810.0), (300.0, 590.0), (200.0, 405.0)]).unwrap();
        assert!((twice - 2.0).abs() < 0.05, "{twice}");
        assert_eq!(ratio(&[(400.0, 810.0), (300.0, 590.0), (200.0, 205.0)]), None);
        assert_eq!(ratio(&[(400.0, 810.0), (300.0, 590.0)]), None);
    }

    #[test]
    fn one_dearer_function_is_not_more_work() {
        let one = functions(&[(400.0, 800.0), (300.0, 300.0), (200.0, 205.0), (150.0, 146.0), (90.0, 93.0)]);
        let ratio = work_ratio(&one, 1).map_or(1.0, |found| found.log_ratio.exp());
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn half_of_the_functions_say_nothing() {
        let half =
            functions(&[(400.0, 800.0), (300.0, 600.0), (350.0, 350.0), (350.0, 355.0), (90.0, 180.0)]);
        assert_eq!(work_ratio(&half, 1), None);
    }

    #[test]
    fn no_function_is_no_kind() {
        assert_eq!(work_ratio(&[], 1), None);
        assert_eq!(work_ratio(&functions(&[(10.0, 20.0)]), 2), None);
    }
}
