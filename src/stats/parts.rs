//! What parts of the call tree tell about what unchanged code costs: which of them cost as much per run as before.
//!
//! A function is called from changed code and from unchanged code, a part of the tree by one of them. Parts that changed alike are in
//! two groups: if a call that has 40 % of the samples is made twice, half of the new samples are in parts that cost twice as much, and half in
//! parts that cost what they did. Taken together they seem to cost 1.4 times as much, which none of them does.

use super::bulk::FEWEST;
use super::majority::{ERRORS, LEAST, MOST_SAMPLES, mean_near};

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

/// The location of the parts that cost as much per run as before, and its variance, if these have most of the samples, and many more
/// than those at the location that functions have led to. The parts are disjoint; `none` and `spread` are those of
/// [`same_per_run`](super::majority::same_per_run).
///
/// If a handler that fills maps is called twice as often, the functions of maps have doubled; those of the allocator, which others
/// call as well, are somewhere in between, and are more than the functions of all other handlers. But most of the tree is as it was,
/// or less than that, if they are one of two groups with nothing in between.
pub(super) fn same_parts_per_run(
    parts: &[Part],
    (location, none): (f64, f64),
    spread: f64,
) -> Option<(f64, f64)> {
    if (location - none).abs() < LEAST_APART_OF_PARTS.max(spread) {
        return None;
    }
    let at = |at: f64, other: f64| {
        let is_at = move |part: &&Part| (part.ratio - at).abs() <= LEAST + 2.0 * part.variance.sqrt();
        let is_nearer = move |part: &&Part| (part.ratio - at).abs() < (part.ratio - other).abs();
        parts.iter().filter(is_at).filter(is_nearer)
    };
    let share = |parts: &mut dyn Iterator<Item = &Part>| parts.map(|part| part.share).sum::<f64>();
    let (same, changed) = (share(&mut at(none, location)), share(&mut at(location, none)));
    let are_most = at(none, location).count() >= FEWEST && same >= MOST_SAMPLES && same >= MORE * changed;
    let unchanged =
        if are_most { at(none, location).collect() } else { one_of_two_groups(parts, (location, none))? };
    let found = mean_near(none, unchanged.into_iter().map(|part| (part.ratio, part.variance)));
    found.filter(|(mean, variance)| (mean - location).abs() >= ERRORS * variance.sqrt())
}

/// Locations that differ by less than this may be one.
pub(super) const LEAST_APART_OF_PARTS: f64 = 0.1;
/// So many times the samples of parts that changed are in those that did not.
const MORE: f64 = 1.25;

/// A part of the call tree: its log ratio, the variance of that, and its share of the side where it has more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub(super) ratio: f64,
    pub(super) variance: f64,
    pub(super) share: f64,
}

/// The parts that cost as much per run as before, at `none`, if two groups of which one is there explain all far better than two
/// groups of which one is at `location`.
fn one_of_two_groups(parts: &[Part], (location, none): (f64, f64)) -> Option<Vec<&Part>> {
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

    #[test]
    fn parts_with_most_samples_cost_the_same_per_run() {
        let part = |(old, new): (f64, f64)| Part {
            ratio: f64::ln(new / old),
            variance: 1.0 / old + 1.0 / new,
            share: old / 1000.0,
        };
        // A handler with 32 % does twice the work; functions, of which most are called by all, led to a location in between.
        let doubled = [(120.0, 240.0), (80.0, 160.0), (60.0, 125.0), (60.0, 118.0)];
        let same =
            [(160.0, 161.0), (150.0, 148.0), (120.0, 121.0), (110.0, 108.0), (80.0, 82.0), (60.0, 60.0)];
        let found = |parts: &[(f64, f64)], spread: f64| {
            let parts: Vec<Part> = parts.iter().copied().map(part).collect();
            same_parts_per_run(&parts, (1.45_f64.ln(), 0.0), spread).map(|found| found.0.exp())
        };
        let location = found(&[&doubled[..], &same].concat(), 0.1).unwrap();
        assert!((location - 1.0).abs() < 0.02, "{location}");
        // Runs that differ as much, most of a tree that changed, and parts with 1.2 times the cost tell nothing.
        assert_eq!(found(&[&doubled[..], &same].concat(), 0.4), None);
        assert_eq!(found(&[&doubled[..], &same[1..5]].concat(), 0.1), None);
        let longer = same.map(|(old, new)| (old, 1.2 * new));
        assert_eq!(found(&[&doubled[..], &longer].concat(), 0.1), None);
    }

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
        one_of_two_groups(&parts(groups), (location.ln(), 0.0)).map(|found| found.len())
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
