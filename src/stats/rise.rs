//! What rises and does not come back: a leak.
//!
//! Whether a series rises is decided by the test of Mann and Kendall, which counts the pairs of values of which the later
//! one is larger, and how fast by the median of the slopes of all pairs (Theil and Sen). Neither minds outliers. Three
//! kinds of series rise without being a leak, and are told apart:
//!
//! - A sawtooth, such as a cache that is emptied from time to time, rises within each tooth, but loses half of its rise
//!   again. What is left when the rise is taken out of it (the best fit that never falls) also depends on its past, which
//!   weakens the evidence.
//! - A step, such as a table that is loaded once, does not rise before or after: two levels fit it better than a line.
//! - A cache that fills up rises ever more slowly. Its later half is nearly flat, too.

use std::cmp::Ordering;

use crate::stats::distributions::{normal_upper, normal_upper_quantile};
use crate::stats::steps::{best_split, information, median};

/// How a series rises. Times and values are in the units given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rise {
    /// The median slope: value per time.
    pub slope: f64,
    /// The lower end of its 95 % confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The value of the fitted line at the first time.
    pub first: f64,
    /// The same at the last time.
    pub last: f64,
    /// The probability that a series that does not rise looks as if it did.
    pub p: f64,
    /// Whether it still rises at the end and has not come back.
    pub lasts: bool,
}

/// How a series of values at these times rises; times must not fall. `kept` is how much of each value series of this kind
/// keep of the one before ([`kept_by_most`](super::steps::kept_by_most)). `None` if the series is too short to tell, or if
/// there are values that are not numbers.
///
/// ```
/// use prof::stats::rise::rise;
///
/// let times: Vec<f64> = (0..30).map(f64::from).collect();
/// let leak: Vec<f64> = times.iter().map(|time| 100.0 + 5.0 * time + time * 7.0 % 3.0).collect();
/// let found = rise(&times, &leak, 0.0).unwrap();
/// assert!((found.slope - 5.0).abs() < 0.1 && found.p < 1e-6 && found.lasts);
/// ```
pub fn rise(times: &[f64], values: &[f64], kept: f64) -> Option<Rise> {
    let count = values.len();
    if count < FEWEST || times.len() != count || !times.iter().chain(values).all(|value| value.is_finite()) {
        return None;
    }
    let variance = variance(values) * inflation(values, kept);
    let p = p_value(concordance(values), variance);
    let mut slopes = slopes(times, values);
    let slope = median(&mut slopes)?;
    slopes.sort_unstable_by(f64::total_cmp);
    // Sen's interval: the ranks of the slopes that the statistic would have to be away from zero.
    let width = normal_upper_quantile(0.025) * variance.sqrt();
    let rank = |rank: f64| slopes[rank.clamp(0.0, (slopes.len() - 1) as f64) as usize];
    let low = rank((slopes.len() as f64 - width) / 2.0 - 1.0);
    let high = rank(f64::midpoint(slopes.len() as f64, width));
    let mut offsets: Vec<f64> = times.iter().zip(values).map(|(time, value)| value - slope * time).collect();
    let offset = median(&mut offsets)?;
    let at = |time: f64| offset + slope * time;
    let (first, last) = (at(times[0]), at(times[count - 1]));
    let lasts = still_rises(times, values, slope)
        && stays_up(values, first, last)
        && !falls_again(values, last - first)
        && !is_step(values, |number| at(times[number]));
    Some(Rise { slope, low, high, first, last, p, lasts })
}

/// The fewest values whose rise is judged.
pub const FEWEST: usize = 8;

/// The p-value of a rise, quickly: only [`rise`] tells its slope. 1 if a series is too short, or if it falls.
pub fn rise_p(values: &[f64], kept: f64) -> f64 {
    let concordance = concordance(values);
    if values.len() < FEWEST || concordance <= 0 || !values.iter().all(|value| value.is_finite()) {
        return 1.0;
    }
    p_value(concordance, variance(values) * inflation(values, kept))
}

/// The one-sided p-value, with a correction because the statistic is a whole number.
fn p_value(concordance: i64, variance: f64) -> f64 {
    if concordance <= 0 || variance <= 0.0 {
        return 1.0;
    }
    normal_upper((concordance as f64 - 1.0) / variance.sqrt())
}

/// The statistic of Mann and Kendall: the number of pairs of which the later value is larger, minus those of which it is
/// smaller. Counted by merging sorted runs, so that long series take no time.
pub fn concordance(values: &[f64]) -> i64 {
    let pairs = |count: usize| (count * count.saturating_sub(1) / 2) as i64;
    let mut sorted = values.to_vec();
    let mut merged = Vec::with_capacity(sorted.len());
    let mut discordant = 0;
    let mut length = 1;
    while length < sorted.len() {
        merged.clear();
        for both in sorted.chunks(2 * length) {
            let (mut left, mut right) = both.split_at(length.min(both.len()));
            while let (Some(one), Some(other)) = (left.first(), right.first()) {
                // An earlier value is before a later one unless it is larger.
                if one <= other {
                    merged.push(*one);
                    left = &left[1..];
                } else {
                    merged.push(*other);
                    right = &right[1..];
                    discordant += left.len() as i64;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut sorted, &mut merged);
        length *= 2;
    }
    let equal: i64 = sorted.chunk_by(|a, b| are_equal(*a, *b)).map(|ties| pairs(ties.len())).sum();
    pairs(values.len()) - equal - 2 * discordant
}

/// Whether two values are a tie.
fn are_equal(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(Ordering::Equal)
}

/// The variance of the statistic if no order of the values is more likely than another, corrected for equal values.
fn variance(values: &[f64]) -> f64 {
    let term = |count: usize| {
        let count = count as f64;
        count * (count - 1.0) * (2.0 * count + 5.0)
    };
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let equal: f64 = sorted.chunk_by(|a, b| are_equal(*a, *b)).map(|ties| term(ties.len())).sum();
    (term(values.len()) - equal) / 18.0
}

/// By how much the variance of the statistic is larger because values depend on those before them, apart from the rise
/// itself. A series that does not fall has no other variation.
fn inflation(values: &[f64], usually_kept: f64) -> f64 {
    const LARGEST: f64 = 0.98;
    let fitted = never_falling(values);
    let left: Vec<f64> = values.iter().zip(&fitted).map(|(value, fitted)| value - fitted).collect();
    let mean = left.iter().sum::<f64>() / left.len().max(1) as f64;
    let spread: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
    // Only rounding is left of a series that never falls.
    let size: f64 = values.iter().map(|value| value * value).sum();
    if spread <= 1e-18 * size {
        return 1.0;
    }
    let with_next: f64 = left.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let error = 1.0 / (values.len() as f64).sqrt();
    let kept = Some(with_next / spread).filter(|kept| *kept > error).unwrap_or(0.0);
    1.0 / information(kept.max(usually_kept).min(LARGEST))
}

/// The series that never falls and is nearest to the values: neighbours in the wrong order are replaced with their mean until
/// none are.
fn never_falling(values: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut block = (value, 1);
        while let Some((mean, count)) = blocks.pop_if(|(mean, _)| *mean > block.0) {
            let both = count + block.1;
            block = ((mean * count as f64 + block.0 * block.1 as f64) / both as f64, both);
        }
        blocks.push(block);
    }
    blocks.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

/// The slopes of all pairs of values at different times. Those of a long series are of the means of equally many values each.
fn slopes(times: &[f64], values: &[f64]) -> Vec<f64> {
    const MOST: usize = 1000;
    let size = values.len().div_ceil(MOST);
    let means = |numbers: &[f64]| -> Vec<f64> {
        numbers.chunks(size).map(|some| some.iter().sum::<f64>() / some.len() as f64).collect()
    };
    let (times, values) = (means(times), means(values));
    let pairs = (0..values.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let distant = pairs.filter(|&(earlier, later)| times[later] > times[earlier]);
    distant
        .map(|(earlier, later)| (values[later] - values[earlier]) / (times[later] - times[earlier]))
        .collect()
}

/// Whether the later half rises at least a quarter as fast as the whole.
fn still_rises(times: &[f64], values: &[f64], slope: f64) -> bool {
    let half = values.len() / 2;
    let later = median(&mut slopes(&times[half..], &values[half..]));
    later.is_some_and(|later| later > 0.0 && later >= 0.25 * slope)
}

/// Whether the end is nearer to the top of the fitted line than to its bottom.
fn stays_up(values: &[f64], first: f64, last: f64) -> bool {
    let end = values.len() - (values.len() / 10).max(3);
    let end = median(&mut values[end..].to_vec());
    end.is_some_and(|end| end > f64::midpoint(first, last))
}

/// Whether a series loses half of its rise again, apart from noise. Medians of neighbours follow teeth, but not noise.
fn falls_again(values: &[f64], growth: f64) -> bool {
    /// Makes the median difference of neighbours the standard deviation of a value.
    const NORMAL: f64 = 1.4826 / std::f64::consts::SQRT_2;
    /// The error of a median compared with that of a mean.
    const OF_MEDIAN: f64 = 1.25;
    let width = (values.len() / 6).max(3);
    let mut differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let noise = NORMAL * median(&mut differences).unwrap_or(0.0) * OF_MEDIAN / (width as f64).sqrt();
    let (mut top, mut deepest) = (f64::NEG_INFINITY, 0.0_f64);
    for window in values.windows(width) {
        let level = median(&mut window.to_vec()).unwrap_or(top);
        top = top.max(level);
        deepest = deepest.max(top - level);
    }
    deepest > 0.5 * growth + 2.0 * noise
}

/// Whether two levels fit the values better than a line.
fn is_step(values: &[f64], line: impl Fn(usize) -> f64) -> bool {
    let Some(split) = best_split(values, 2) else { return false };
    let spread = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let (before, after) = values.split_at(split.at);
    let around_line: f64 =
        values.iter().enumerate().map(|(number, value)| (value - line(number)).powi(2)).sum();
    spread(before) + spread(after) < around_line
}
