//! Parts of a call tree that changed alike, in two groups.
//!
//! If a call that has 40 % of the samples is made twice, half of the new samples are in parts that cost twice as much, and half in
//! parts that cost what they did. Taken together they seem to cost 1.4 times as much, which none of them does.

use super::bulk::FEWEST;
use super::majority::Part;

/// Parts differ by so much, on a logarithmic scale, beyond what sampling and noise explain.
const SLACK: f64 = 0.05;
/// So many times more likely, on a logarithmic scale (100 times), must it be that some parts did not change.
const EVIDENCE: f64 = 4.6;
/// These parts must have this share of the samples.
const LEAST_SHARE: f64 = 0.25;
/// The best place of the other group is looked for from so many places.
const STARTS: usize = 8;
/// A fit changes little after so many steps.
const STEPS: usize = 30;

/// The parts that cost as much per run as before, at `none`, if two groups of which one is there explain all far better than two
/// groups of which one is at `location`.
pub(super) fn unchanged(parts: &[Part], (location, none): (f64, f64)) -> Option<Vec<&Part>> {
    let (same, other) = (best(parts, none)?, best(parts, location)?);
    let found: Vec<&Part> =
        parts.iter().zip(&same.probabilities).filter(|(_, p)| **p > 0.5).map(|(part, _)| part).collect();
    let share: f64 = found.iter().map(|part| part.share).sum();
    let is_more_likely = same.likelihood >= other.likelihood + EVIDENCE;
    (is_more_likely && found.len() >= FEWEST && share >= LEAST_SHARE).then_some(found)
}

/// Two groups of parts.
struct Groups {
    /// The logarithm of how likely the ratios of all parts are.
    likelihood: f64,
    /// How probably each part is in the first group.
    probabilities: Vec<f64>,
}

/// The most likely two groups of which one is at `at`.
fn best(parts: &[Part], at: f64) -> Option<Groups> {
    let mut ratios: Vec<f64> = parts.iter().map(|part| part.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let starts =
        (0..STARTS).filter_map(|number| ratios.get(number * ratios.len().saturating_sub(1) / (STARTS - 1)));
    let groups = starts.map(|&start| fit(parts, at, start));
    groups.max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))
}

/// Finds the place and the size of the second group by expectation maximization.
fn fit(parts: &[Part], at: f64, start: f64) -> Groups {
    let density = |part: &Part, place: f64| {
        let variance = part.variance + SLACK * SLACK;
        (-(part.ratio - place).powi(2) / (2.0 * variance)).exp() / variance.sqrt()
    };
    let (mut place, mut weight) = (start, 0.5);
    let mut groups = Groups { likelihood: 0.0, probabilities: Vec::new() };
    for _ in 0..STEPS {
        groups = Groups { likelihood: 0.0, probabilities: Vec::with_capacity(parts.len()) };
        let (mut sum, mut evidence) = (0.0, 0.0);
        for part in parts {
            let (first, second) = (weight * density(part, at), (1.0 - weight) * density(part, place));
            // What is far from both is as good as impossible.
            let either = (first + second).max(f64::MIN_POSITIVE);
            groups.likelihood += either.ln();
            groups.probabilities.push(first / either);
            let of_second = second / either / (part.variance + SLACK * SLACK);
            sum += of_second * part.ratio;
            evidence += of_second;
        }
        weight = groups.probabilities.iter().sum::<f64>() / parts.len() as f64;
        if evidence > 0.0 {
            place = sum / evidence;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(groups: &[(usize, f64)]) -> Vec<Part> {
        let all: usize = groups.iter().map(|(count, _)| count).sum();
        let part = |number: usize, factor: f64| {
            let noise = [0.1, -0.12, 0.05, -0.03][number % 4];
            Part { ratio: factor.ln() + noise, variance: 0.02, share: 1.0 / all as f64 }
        };
        groups
            .iter()
            .flat_map(|&(count, factor)| (0..count).map(move |number| part(number, factor)))
            .collect()
    }

    fn found(groups: &[(usize, f64)], location: f64) -> Option<usize> {
        unchanged(&parts(groups), (location.ln(), 0.0)).map(|found| found.len())
    }

    #[test]
    fn a_place_between_two_groups_is_that_of_none() {
        assert_eq!(found(&[(14, 1.0), (20, 1.9)], 1.4), Some(14));
        // Some parts are at the place, however many others there are.
        assert_eq!(found(&[(14, 1.0), (20, 1.4)], 1.4), None);
        assert_eq!(found(&[(20, 1.4), (14, 2.0)], 1.4), None);
        // All of a program that has more to do costs more.
        assert_eq!(found(&[(34, 1.4)], 1.4), None);
        assert_eq!(found(&[], 1.4), None);
        // A few parts, or light ones, show nothing.
        assert_eq!(found(&[(4, 1.0), (8, 1.9)], 1.4), None);
        assert_eq!(found(&[(7, 1.0), (40, 1.9)], 1.4), None);
    }
}
