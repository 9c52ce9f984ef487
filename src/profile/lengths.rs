//! How long samples last.

use crate::profile::Metric;
use crate::unit::{Family, Unit};

/// No recording is longer: times that are farther apart are those of different clocks.
pub(crate) const LONGEST: i64 = 366 * 24 * 3600 * 1_000_000_000;

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
