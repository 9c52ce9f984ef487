//! How many independent observations a profile holds: the number on which all of the statistics are
//! based.
//!
//! 4.65 s of CPU time say nothing about noise until one knows that they were 465 samples of 10 ms. How
//! to find this number depends on the kind of profile:
//!
//! | kind of profile | effective samples |
//! |---|---|
//! | a metric counts samples | that count; [`agrees_with_period`] checks it against the other metric |
//! | weights, and a period in the same unit | weight / period, if all are whole ([`are_multiples`]) |
//! | weights without a period | weight / [`CommonDivisor`], if it [is a sample's size](CommonDivisor::is_sample_size) |
//! | collapsed stacks | the counts, divided by a [`CommonDivisor`], if it [is a sample's size](CommonDivisor::is_sample_size), which is reported |
//! | Go heap | bytes or objects / [`heap_unit`], from the variance of every [`heap_row`] |
//! | mutex, block, delays, anything else | unknown, so it is estimated from replicates ([`SampleUnit::Unknown`](super::SampleUnit::Unknown)) |

/// The common divisor of the weights of a profile without sample counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommonDivisor {
    divisor: u64,
    smallest: u64,
    rows: usize,
}

impl CommonDivisor {
    /// Collects the weights of all profiles of both sides, so that all get the same divisor; zeros are
    /// ignored.
    pub fn of(weights: impl IntoIterator<Item = i64>) -> Self {
        let mut found = Self::default();
        for weight in weights.into_iter().map(i64::unsigned_abs).filter(|weight| *weight > 0) {
            found.smallest = if found.rows == 0 { weight } else { found.smallest.min(weight) };
            found.divisor = greatest_common_divisor(found.divisor, weight);
            found.rows += 1;
        }
        found
    }

    /// The greatest common divisor; `None` without any weight.
    pub fn divisor(self) -> Option<u64> {
        Some(self.divisor).filter(|divisor| *divisor > 0)
    }

    /// Whether the divisor is the size of a sample: there must be at least twenty rows, one of them with
    /// three samples or fewer. In a small profile the divisor is chance: a single row of 18 samples of
    /// 10 ms would look like one sample of 180 ms.
    pub fn is_sample_size(self) -> bool {
        self.rows >= 20 && self.smallest / self.divisor.max(1) <= 3
    }

    /// How much each sample counts, if the weights are counts that were all multiplied by one number; `None` for plain counts.
    /// Collapsed stacks often hold times, such as 30000000, 10000000 and 20000000 ns for six samples. Counts of samples are hardly
    /// ever all multiples of a million, unless there are only one or two.
    ///
    /// ```
    /// use prof::stats::effective::CommonDivisor;
    ///
    /// assert_eq!(CommonDivisor::of([30_000_000, 10_000_000, 20_000_000]).multiplier(), Some(10_000_000));
    /// assert_eq!(CommonDivisor::of([30, 10, 20]).multiplier(), None);
    /// ```
    pub fn multiplier(self) -> Option<u64> {
        let is_large = self.rows >= 3 && self.divisor >= 1_000_000;
        Some(self.divisor).filter(|&divisor| divisor > 1 && (is_large || self.is_sample_size()))
    }
}

/// The largest number that divides both; the other one if one is 0.
pub(crate) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether all weights are whole multiples of a sampling period in the same unit, so that weight /
/// period is a number of samples: 30 ms at a period of 10 ms are three.
pub fn are_multiples(weights: impl IntoIterator<Item = i64>, period: i64) -> bool {
    period > 0 && weights.into_iter().all(|weight| weight % period == 0)
}

/// Whether every row's weight is its sample count times the period, as in a Go CPU profile; if not, one
/// of the three does not mean what it seems to.
pub fn agrees_with_period(rows: impl IntoIterator<Item = (i64, i64)>, period: i64) -> bool {
    rows.into_iter().all(|(count, weight)| count.checked_mul(period) == Some(weight))
}

/// What was really recorded for one row of a Go heap profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HeapRow {
    /// How many allocations the profiler recorded.
    pub records: f64,
    /// The variance of the estimated bytes.
    pub bytes_variance: f64,
    /// The variance of the estimated number of objects.
    pub objects_variance: f64,
}

/// Undoes the scaling of a heap row. `objects` and `bytes` are estimates from few recorded allocations,
/// since an object of s bytes is recorded only with probability π = 1 - e^(-s / `rate`).
///
/// 794,624 objects of 64 B are 97 records, and so have an error of about 10 %; one object of 8 MiB is
/// nearly exact. The variance is that of Horvitz and Thompson (1952): every record stands for 1 / π
/// objects.
pub fn heap_row(objects: f64, bytes: f64, rate: f64) -> HeapRow {
    if !(objects > 0.0 && bytes > 0.0 && objects.is_finite() && bytes.is_finite()) {
        return HeapRow::default();
    }
    let size = bytes / objects;
    // A rate of 0 or 1 records every allocation.
    let recorded = if rate > 1.0 { -(-size / rate).exp_m1() } else { 1.0 };
    if recorded <= 0.0 {
        return HeapRow::default();
    }
    let records = (objects * recorded).round_ties_even();
    let objects_variance = records * (1.0 - recorded) / (recorded * recorded);
    HeapRow { records, bytes_variance: size * size * objects_variance, objects_variance }
}

/// The size of one effective sample of a heap count: the unit in which the count varies as much as a
/// number of independent samples does. `total` and `variance` are summed over all rows of the function
/// and both sides.
///
/// The result is at most a million samples: counts of huge objects are exact, but two runs never do
/// exactly the same.
pub fn heap_unit(total: f64, variance: f64) -> f64 {
    const MOST_SAMPLES: f64 = 1e6;
    if total > 0.0 && total.is_finite() && variance.is_finite() {
        (variance / total).max(total / MOST_SAMPLES)
    } else {
        1.0
    }
}
