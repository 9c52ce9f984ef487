//! How long samples last.

use crate::profile::{Meta, Metric};
use crate::unit::{Family, Unit};

/// No recording is longer: times that are farther apart are those of different clocks.
pub(crate) const LONGEST: i64 = 366 * 24 * 3600 * 1_000_000_000;

/// The metrics of waiting. Each of their values is the length of one wait, which began at the time of its sample.
pub(crate) const WAITS: [&str; 7] = [
    "off_cpu",
    "lock_duration",
    "park_duration",
    "wait_duration",
    "sleep_duration",
    "socket_duration",
    "file_duration",
];

/// The metric that adds waiting to CPU time.
pub(crate) const WALL: &str = "wall";

/// The metric with the part of it that was spent waiting.
pub(crate) const WAITING: &str = "waiting";

/// Turns the values of a metric of time, such as that of a span, into the time that they last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    factor: i128,
    divisor: i128,
}

impl Lengths {
    /// `None` if the values of the metric are not times: such samples mark moments.
    pub(crate) fn of(metric: &Metric) -> Option<Self> {
        let unit = Unit::parse(&metric.unit);
        let factor = unit.factor_to(&Unit::NANOSECONDS).filter(|_| unit.family() == Family::Time)?;
        Some(Lengths { factor: factor.into(), divisor: metric.divisor.max(1).into() })
    }

    /// How long a value lasts, in nanoseconds.
    pub(crate) fn length(self, value: i64) -> i64 {
        let length = i128::from(value.unsigned_abs()) * self.factor / self.divisor;
        // Longer ones are sums of many samples.
        i64::try_from(length).ok().filter(|&length| length <= LONGEST).unwrap_or(0)
    }
}

impl Meta {
    /// For each metric, how to turn its values into the exact time that they lasted: those of spans and of waits. A value of a
    /// profiler's sample, such as 10 ms of CPU time, stands for time around the sample instead.
    pub(crate) fn lasting(&self) -> Vec<Option<Lengths>> {
        let is_wait = |metric: &Metric| WAITS.contains(&&*metric.name);
        let has_waits = self.metrics.iter().any(is_wait);
        let is_sum = |metric: &Metric| has_waits && [WALL, WAITING].contains(&&*metric.name);
        let lasts = |metric: &Metric| self.holds_spans || is_wait(metric) || is_sum(metric);
        self.metrics.iter().map(|metric| Lengths::of(metric).filter(|_| lasts(metric))).collect()
    }
}
