//! Where a series changes its level for good: E-divisive means, a search that makes no assumption about how the values are
//! distributed.
//!
//! A split of a series is judged by the *energy* between its parts: how much farther values of different parts are
//! from each other than values of the same part (Székely and Rizzo). The best split is a step if hardly any other
//! order of the same values has a split as good; then each part is searched in the same way (Matteson and James, "A
//! nonparametric approach for multiple change point analysis of multivariate data", 2014). A single outlier is not a step:
//! it splits off nothing that lasts.
//!
//! Values in a series may depend on those before them, as the size of a heap does; then any stretch of such a series looks
//! like a step. How much of a value is kept ([`kept`]) is estimated first, and the orders that are tried keep blocks of
//! values together.

use crate::stats::random::Random;

/// How steps are searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSearch {
    /// The fewest values before and after a step; at least 2.
    pub least: usize,
    /// A split is a step if its p-value is at most this: the accepted probability of a false alarm, divided by the
    /// number of series.
    pub threshold: f64,
    /// The seed for the orders that are tried.
    pub seed: u64,
    /// How much of each value series of this kind keep of the one before ([`kept_by_most`]); 0 if it is unknown. A series
    /// that clearly keeps more is recognised.
    pub kept: f64,
}

impl StepSearch {
    /// The usual search among series that together may raise a false alarm with probability `alpha`.
    pub fn new(alpha: f64, series: usize) -> Self {
        StepSearch { least: 3, threshold: alpha / series.max(1) as f64, seed: 42, kept: 0.0 }
    }
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The number of the first value after it.
    pub at: usize,
    /// The share of orders of the values around it that have a split as good.
    pub p: f64,
}

/// The steps of a series, in its order.
///
/// ```
/// use prof::stats::steps::{StepSearch, steps};
///
/// let mut series: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 5)).collect();
/// series[25..].iter_mut().for_each(|value| *value += 10.0);
/// let found = steps(&series, &StepSearch::new(0.01, 1));
/// assert_eq!(found.iter().map(|step| step.at).collect::<Vec<_>>(), [25]);
/// ```
pub fn steps(values: &[f64], search: &StepSearch) -> Vec<Step> {
    let mut random = Random::new(search.seed);
    let mut found = Vec::new();
    let whole = 0..values.len();
    let mut parts = Vec::from([whole]);
    while let Some(part) = parts.pop() {
        let Some(split) = best_split(&values[part.clone()], search.least) else { continue };
        let p = chance(&values[part.clone()], search, &mut random);
        if p <= search.threshold {
            let at = part.start + split.at;
            found.push(Step { at, p });
            parts.extend([part.start..at, at..part.end]);
        }
    }
    found.sort_unstable_by_key(|step| step.at);
    found
}

/// The steps without those that are too small to matter: the smallest one is removed, and with it the distinction between
/// the values on either side of it, until every step is large. `size` is that of a change from one mean to another; a
/// step of at least 1 is large.
pub fn large_steps(values: &[f64], mut steps: Vec<Step>, size: impl Fn(f64, f64) -> f64) -> Vec<Step> {
    loop {
        let means = levels(values, &steps);
        let sizes = means.windows(2).map(|pair| size(pair[0], pair[1]));
        let smallest = sizes.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        match smallest {
            Some((number, size)) if size < 1.0 => drop(steps.remove(number)),
            _ => return steps,
        }
    }
}

/// The mean of the values between two steps, for each pair.
pub fn levels(values: &[f64], steps: &[Step]) -> Vec<f64> {
    let starts = std::iter::once(0).chain(steps.iter().map(|step| step.at));
    let ends = steps.iter().map(|step| step.at).chain([values.len()]);
    starts.zip(ends).map(|(start, end)| mean(&values[start..end])).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A split of a series in two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The number of the first value of the second part.
    pub at: usize,
    /// The energy between the parts.
    pub energy: f64,
}

/// The best split of a series into parts of at least `least` values; `None` if it is too short, or has values that are
/// not numbers.
pub fn best_split(values: &[f64], least: usize) -> Option<Split> {
    Ordered::new(values)?.best(least)
}

/// The energy between the parts of each split of a series: entry τ is that of the first τ values and the others. 0 where a
/// part has fewer than two values.
///
/// Mean distances within a part are over its pairs. The energy of two parts of n and m values is n m / (n + m) times
/// twice the mean distance between the parts, minus the mean distance within either part.
pub fn energies(values: &[f64]) -> Vec<f64> {
    Ordered::new(values).map_or_else(|| vec![0.0; values.len()], |ordered| ordered.energies().collect())
}

/// Values in some order.
#[derive(Clone)]
struct Ordered {
    values: Vec<f64>,
    /// For each value, the sum of its distances to all others, which no order changes.
    distances: Vec<f64>,
}

impl Ordered {
    fn new(values: &[f64]) -> Option<Self> {
        let distances: Vec<f64> = values.iter().map(|&value| distance(value, values)).collect();
        let is_known = distances.iter().chain(values).all(|number| number.is_finite());
        is_known.then(|| Ordered { values: values.to_vec(), distances })
    }

    /// See [`energies`]. The distances within the first part, and within the second one, are summed value by value.
    fn energies(&self) -> impl Iterator<Item = f64> + '_ {
        let count = self.values.len();
        // For each value, the sum of its distances to those before it.
        let before: Vec<f64> =
            (0..count).map(|number| distance(self.values[number], &self.values[..number])).collect();
        let all: f64 = before.iter().sum();
        let (mut within_first, mut within_second) = (0.0, all);
        (0..count).map(move |at| {
            if at > 0 {
                within_first += before[at - 1];
                within_second -= self.distances[at - 1] - before[at - 1];
            }
            let (first, second) = (at as f64, (count - at) as f64);
            if at < 2 || count - at < 2 {
                return 0.0;
            }
            let between = all - within_first - within_second;
            first * second / (first + second)
                * (2.0 * between / (first * second)
                    - 2.0 * within_first / (first * (first - 1.0))
                    - 2.0 * within_second / (second * (second - 1.0)))
        })
    }

    fn best(&self, least: usize) -> Option<Split> {
        let (count, least) = (self.values.len(), least.max(2));
        let energies = self.energies().enumerate().take((count + 1).saturating_sub(least)).skip(least);
        // Of equal splits, the first counts.
        energies
            .map(|(at, energy)| Split { at, energy })
            .reduce(|best, next| if next.energy > best.energy { next } else { best })
    }

    /// The same values with blocks of `length` in a random order.
    fn shuffled(&self, blocks: &mut [usize], length: usize, random: &mut Random, into: &mut Ordered) {
        random.shuffle(blocks);
        into.values.clear();
        into.distances.clear();
        for &block in &*blocks {
            let start = block * length;
            let block = start..self.values.len().min(start + length);
            into.values.extend_from_slice(&self.values[block.clone()]);
            into.distances.extend_from_slice(&self.distances[block]);
        }
    }
}

/// The sum of the distances of a value to others. Several sums at once take a fraction of the time of one.
fn distance(value: f64, others: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (chunks, rest) = others.as_chunks::<SUMS>();
    let mut sums = [0.0; SUMS];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, other)| *sum += (value - other).abs());
    }
    sums.iter().sum::<f64>() + rest.iter().map(|other| (value - other).abs()).sum::<f64>()
}

/// The p-value of the best split: the share of random orders of the values whose best split has at least as much energy.
/// As soon as enough orders have, the search ends, so that most series take few orders (Besag and Clifford 1991).
fn chance(values: &[f64], search: &StepSearch, random: &mut Random) -> f64 {
    /// So many orders with a split as good settle the matter.
    const ENOUGH: usize = 10;
    /// The smallest p-value that the number of orders allows is this much below the threshold.
    const MARGIN: f64 = 4.0;
    const MOST: f64 = 400_000.0;
    let values = condensed(values);
    let (Some(ordered), least) = (Ordered::new(&values), search.least) else { return 1.0 };
    let Some(Split { energy, .. }) = ordered.best(least) else { return 1.0 };
    // Blocks have to be longer than the memory of the series, or they cut it in too many places.
    let length = (2.0 / information(search.kept.max(kept(&values))) - 1.0).round() as usize;
    let mut blocks: Vec<usize> = (0..values.len().div_ceil(length)).collect();
    // Rounding may make equal orders differ.
    let as_good = energy - 1e-9 * energy.abs();
    let orders = (MARGIN / search.threshold).clamp(1.0, MOST) as usize;
    let mut other = ordered.clone();
    let mut found = 0;
    for tried in 1..=orders {
        ordered.shuffled(&mut blocks, length, random, &mut other);
        if other.best(least).is_some_and(|best| best.energy >= as_good) {
            found += 1;
            if found == ENOUGH {
                return found as f64 / tried as f64;
            }
        }
    }
    (found + 1) as f64 / (orders + 1) as f64
}

/// The means of equally many values each, if a series is so long that trying orders of it would take minutes.
fn condensed(values: &[f64]) -> Vec<f64> {
    const MOST: usize = 400;
    values.chunks(values.len().div_ceil(MOST).max(1)).map(mean).collect()
}

/// How much of each value a series keeps of the one before, from 0 to 0.9; 0 unless that is clear.
///
/// If each value keeps the part ρ of the one before, values two apart differ by more than neighbours do: by the factor
/// 1 + ρ, in squares. The largest of these differences are left out, because they are steps and outliers.
pub fn kept(values: &[f64]) -> f64 {
    // The error of an estimate from so few differences. A short series says nothing.
    let error = 7.0 / (values.len() as f64).sqrt();
    let is_clear = |kept: &f64| error < MOST_KEPT && *kept > error;
    kept_estimate(values).filter(is_clear).unwrap_or(0.0).min(MOST_KEPT)
}

/// How much of each value most of these series keep of the one before, from 0 to 0.9; 0 unless that is clear. Many series tell
/// that better than one.
pub fn kept_by_most<'v>(series: impl Iterator<Item = &'v [f64]>) -> f64 {
    let (mut estimates, mut count) = (Vec::new(), 0);
    for values in series {
        estimates.extend(kept_estimate(values));
        count += values.len();
    }
    // Twice the error of the median of so many estimates, found by simulation.
    let error = 7.0 / (count.max(1) as f64).sqrt();
    median(&mut estimates).filter(|kept| *kept > error).unwrap_or(0.0).min(MOST_KEPT)
}

/// How much information a value adds if it keeps the part ρ of the one before: (1 - ρ) / (1 + ρ) of that of an independent
/// one.
pub fn information(kept: f64) -> f64 {
    (1.0 - kept) / (1.0 + kept)
}

/// Series that keep more than this are taken for ones that keep this much.
const MOST_KEPT: f64 = 0.9;

fn kept_estimate(values: &[f64]) -> Option<f64> {
    /// The part of the differences that counts: the largest ones are steps and outliers.
    const PART: f64 = 0.9;
    let apart = |distance: usize| {
        let mut squares: Vec<f64> =
            values.windows(distance + 1).map(|window| (window[distance] - window[0]).powi(2)).collect();
        squares.sort_unstable_by(f64::total_cmp);
        let count = (squares.len() as f64 * PART).floor();
        (count > 0.0).then(|| squares[..count as usize].iter().sum::<f64>() / count)
    };
    let (one, two) = (apart(1)?, apart(2)?);
    (one > 0.0 && one.is_finite() && two.is_finite()).then(|| two / one - 1.0)
}

/// The median; `None` of nothing. Changes the order of the values.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    let count = values.len();
    let middle = count.checked_sub(1)? / 2;
    let (_, &mut low, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let high =
        if count.is_multiple_of(2) { above.iter().copied().fold(f64::INFINITY, f64::min) } else { low };
    Some(f64::midpoint(low, high))
}
