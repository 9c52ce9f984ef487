//! Combining several profiles: which of them are used, and whether they are summed or averaged.

use std::cmp::Reverse;

use crate::profile::{Metric, Profile};
use crate::report::{Combined, Selection};
use crate::stats::random::Random;
use crate::transform::{MergeError, average, merge};
use crate::unit::Unit;

/// Which of several profiles are combined into one, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    /// Whether they are added up or averaged.
    pub merge: Merge,
    /// Whether only some are used, whatever their weight.
    pub sampling: Sampling,
    /// The share of the profiles that is used, those with the highest total, in percent.
    pub heaviest: usize,
}

/// Using only some of the profiles, chosen at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The largest number of profiles that are used, 0 for all; `None` for 250 if they are averaged, and otherwise all.
    pub most: Option<usize>,
    /// The same seed chooses the same profiles.
    pub seed: u64,
}

/// How several profiles become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Merge {
    /// They are added up
    #[default]
    Sum,
    /// They are averaged
    Mean,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { most: None, seed: 42 }
    }
}

/// All profiles, added up.
impl Default for Combine {
    fn default() -> Self {
        Combine { merge: Merge::Sum, sampling: Sampling::default(), heaviest: 100 }
    }
}

impl Sampling {
    /// The order in which to load `count` inputs, and how many of them to load.
    pub(super) fn order(&self, count: usize) -> (Vec<usize>, usize) {
        self.sample((0..count).collect(), None)
    }

    /// The choice of `used` of `found` profiles; `None` if all were used.
    pub(super) fn describe(&self, used: usize, found: usize) -> Option<Selection> {
        (used < found).then_some(Selection { used, found, seed: Some(self.seed) })
    }

    /// Shuffles `all` if there are more than the limit, which is `default` unless one was given. Returns the
    /// order and how many to take from its front.
    fn sample(&self, mut all: Vec<usize>, default: Option<usize>) -> (Vec<usize>, usize) {
        let most = self.most.or(default).filter(|&most| most > 0).unwrap_or(usize::MAX);
        if all.len() > most {
            Random::new(self.seed).shuffle(&mut all);
        }
        let count = all.len().min(most);
        (all, count)
    }
}

/// The default limit on averaged profiles: more of them hardly change a mean.
const MOST_AVERAGED: usize = 250;

impl Combine {
    /// The order in which to load `count` inputs, and how many of them to load: shuffled if only some are
    /// used. To find the heaviest, all have to be loaded first.
    pub(super) fn order(&self, count: usize) -> (Vec<usize>, usize) {
        if self.chooses() { ((0..count).collect(), count) } else { self.sample((0..count).collect()) }
    }

    /// Whether profiles are chosen by their weight, after loading.
    pub fn chooses(&self) -> bool {
        self.heaviest < 100
    }

    /// Chooses which of the loaded profiles to combine: the heaviest if only these are wanted, and a random
    /// sample of these if there are too many. Their order is kept.
    pub(super) fn choose(&self, metrics: &[&Metric]) -> Vec<usize> {
        let all = (0..metrics.len()).collect();
        if !self.chooses() {
            return all;
        }
        let (mut chosen, count) = self.sample(heaviest(metrics, self.heaviest));
        chosen.truncate(count);
        chosen.sort_unstable();
        chosen
    }

    fn sample(&self, all: Vec<usize>) -> (Vec<usize>, usize) {
        self.sampling.sample(all, (self.merge == Merge::Mean).then_some(MOST_AVERAGED))
    }

    /// Combines the chosen profiles, or sums of them, into one.
    pub(super) fn combine(&self, mut profiles: Vec<Profile>) -> Result<Profile, MergeError> {
        let sum = if profiles.len() == 1 { profiles.remove(0) } else { merge(&profiles)? };
        Ok(match self.merge {
            Merge::Sum => sum,
            Merge::Mean => average(&sum),
        })
    }

    /// How `used` of `found` profiles were combined, after `skipped` others could not be read.
    pub(super) fn describe(&self, used: usize, found: usize, skipped: usize) -> Combined {
        let weighted = heaviest_count(found, self.heaviest);
        Combined {
            method: match self.merge {
                Merge::Sum => "sum",
                Merge::Mean => "mean",
            },
            selection: Selection { used, found, seed: (used < weighted).then_some(self.sampling.seed) },
            heaviest_percent: self.chooses().then_some(self.heaviest),
            skipped,
        }
    }
}

/// `percent` of `count`, rounded up, but at least one.
fn heaviest_count(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).max(1).min(count)
}

/// The profiles with the highest totals, in their original order.
fn heaviest(metrics: &[&Metric], percent: usize) -> Vec<usize> {
    let weights = weights(metrics);
    let mut order: Vec<usize> = (0..metrics.len()).collect();
    order.sort_by_key(|&number| Reverse(weights[number]));
    order.truncate(heaviest_count(metrics.len(), percent));
    order.sort_unstable();
    order
}

/// The total of each profile, all in the finest of their units.
fn weights(metrics: &[&Metric]) -> Vec<i128> {
    let units: Vec<Unit> = metrics.iter().map(|metric| Unit::parse(&metric.unit)).collect();
    let Some(finest) = units.iter().reduce(|a, b| if a.factor_to(b).is_some() { b } else { a }) else {
        return Vec::new();
    };
    let divisor = metrics.iter().map(|metric| metric.divisor).max().unwrap_or(1);
    let weight = |(metric, unit): (&&Metric, &Unit)| {
        let factor = unit.factor_to(finest).unwrap_or(1);
        i128::from(metric.total) * i128::from(factor) * i128::from(divisor / metric.divisor.max(1))
    };
    metrics.iter().zip(&units).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::combined;

    fn combine(merge: Merge, most: Option<usize>, heaviest: usize) -> Combine {
        Combine { merge, sampling: Sampling { most, seed: 42 }, heaviest }
    }

    fn metric(total: i64, unit: &str) -> Metric {
        Metric { total, unit: unit.to_string(), divisor: 1, ..Metric::default() }
    }

    #[test]
    fn a_mean_is_of_250_at_most() {
        let mean = combine(Merge::Mean, None, 100);
        assert_eq!(mean.order(250), ((0..250).collect(), 250));
        let (order, count) = mean.order(1312);
        assert_eq!((order.len(), count), (1312, 250));
        assert_ne!(order, (0..1312).collect::<Vec<_>>());
        assert_eq!(mean.order(1312), (order, 250), "the same seed chooses the same profiles");
        assert_eq!(combine(Merge::Sum, None, 100).order(1312).1, 1312);
        assert_eq!(combine(Merge::Sum, Some(10), 100).order(1312).1, 10);
        assert_eq!(combine(Merge::Mean, Some(0), 100).order(1312).1, 1312);
    }

    #[test]
    fn the_heaviest_are_compared_in_one_unit() {
        let metrics = [metric(1, "seconds"), metric(2000, "ms"), metric(3, "ms"), metric(900, "ms")];
        let metrics: Vec<&Metric> = metrics.iter().collect();
        for (weight, want) in [(100, &[0, 1, 2, 3][..]), (50, &[0, 1]), (25, &[1]), (1, &[1])] {
            assert_eq!(combine(Merge::Sum, None, weight).choose(&metrics), want, "the heaviest {weight}%");
        }
        assert_eq!(combine(Merge::Sum, Some(1), 50).choose(&metrics).len(), 1);
    }

    #[test]
    fn described() {
        let of = |of: Combine, used, found, skipped| combined(&of.describe(used, found, skipped));
        let mean = combine(Merge::Mean, None, 100);
        assert_eq!(of(mean, 250, 1312, 0), "250 of 1,312 profiles, seed 42, averaged");
        assert_eq!(of(mean, 4, 4, 1), "4 profiles, averaged, 1 skipped");
        let heavy = combine(Merge::Sum, None, 25);
        assert_eq!(of(heavy, 328, 1312, 0), "328 of 1,312 profiles, the top 25%, summed");
        let few = combine(Merge::Mean, None, 25);
        assert_eq!(of(few, 250, 1312, 0), "250 of 1,312 profiles, the top 25%, seed 42, averaged");
    }
}
