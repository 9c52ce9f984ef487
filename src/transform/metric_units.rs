//! Converting the metrics of several profiles to one unit.

use crate::profile::Meta;
use crate::stats::effective::greatest_common_divisor;
use crate::transform::merge_error::MergeError;
use crate::unit::Unit;

/// The factors that convert values in two units to the finer one; `None` if the units are of different kinds.
pub(super) fn factors(a: &str, b: &str) -> Option<(i64, i64)> {
    if a == b {
        return Some((1, 1));
    }
    let (unit_a, unit_b) = (Unit::parse(a), Unit::parse(b));
    match unit_b.factor_to(&unit_a) {
        Some(factor) => Some((1, factor)),
        None => Some((unit_a.factor_to(&unit_b)?, 1)),
    }
}

/// The least divisor to which values with either divisor can be converted without loss: of means of two and of three
/// profiles, sixths. `None` if it does not fit in 64 bits.
pub(crate) fn common_divisor(a: u64, b: u64) -> Option<u64> {
    let (a, b) = (a.max(1), b.max(1));
    (a / greatest_common_divisor(a, b)).checked_mul(b)
}

/// The finest unit of some metrics, and a divisor that is a multiple of all of theirs, if it fits. Each metric is given as its
/// profile's metadata and its number.
fn finest(metrics: &[(&Meta, usize)]) -> (String, Option<u64>) {
    let metrics = || metrics.iter().map(|&(meta, place)| &meta.metrics[place]);
    let mut finest = metrics().next().map(|metric| metric.unit.clone()).unwrap_or_default();
    for metric in metrics() {
        if Unit::parse(&finest).factor_to(&Unit::parse(&metric.unit)).is_some_and(|factor| factor > 1) {
            finest.clone_from(&metric.unit);
        }
    }
    let divisor = metrics().try_fold(1, |divisor, metric| common_divisor(divisor, metric.divisor));
    (finest, divisor)
}

/// What the values of several profiles are converted to.
pub(super) struct Reconciled {
    /// The finest of their units.
    pub(super) unit: String,
    /// The common multiple of their divisors.
    pub(super) divisor: u64,
    /// For each profile, the factor for its values.
    pub(super) factors: Vec<i64>,
}

/// The finest unit of some metrics and their common divisor, with the factors that convert values to them. Each metric is given as
/// its profile's metadata and its number. Fails if the units are of different kinds, or if the factors do not fit in 64 bits.
pub(super) fn reconcile(metrics: &[(&Meta, usize)], name: &str) -> Result<Reconciled, MergeError> {
    let overflow = || MergeError::Overflow { metric: name.to_string() };
    let (unit, divisor) = finest(metrics);
    let divisor = divisor.ok_or_else(overflow)?;
    let target = Unit::parse(&unit);
    let factor = |&(meta, place): &(&Meta, usize)| {
        let metric = &meta.metrics[place];
        let factor = if metric.unit == unit { Some(1) } else { Unit::parse(&metric.unit).factor_to(&target) };
        let factor = factor.ok_or_else(|| MergeError::Units {
            metric: name.to_string(),
            units: (unit.clone(), metric.unit.clone()),
        })?;
        let finer = i64::try_from(divisor / metric.divisor.max(1)).ok();
        finer.and_then(|finer| factor.checked_mul(finer)).ok_or_else(overflow)
    };
    let factors = metrics.iter().map(factor).collect::<Result<_, _>>()?;
    Ok(Reconciled { unit, divisor, factors })
}
