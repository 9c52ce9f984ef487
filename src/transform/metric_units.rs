//! Converting the metrics of several profiles to one unit.

use crate::profile::Meta;
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

/// The finest unit of some metrics, and the largest divisor. Each metric is given as its profile's metadata and
/// its number.
pub(super) fn finest(metrics: &[(&Meta, usize)]) -> (String, u64) {
    let metrics = || metrics.iter().map(|&(meta, place)| &meta.metrics[place]);
    let mut finest = metrics().next().map(|metric| metric.unit.clone()).unwrap_or_default();
    for metric in metrics() {
        if Unit::parse(&finest).factor_to(&Unit::parse(&metric.unit)).is_some_and(|factor| factor > 1) {
            finest.clone_from(&metric.unit);
        }
    }
    (finest, metrics().map(|metric| metric.divisor).max().unwrap_or(1))
}

/// For each profile, the factor that converts its values to the finest unit.
pub(super) fn reconcile(metrics: &[(&Meta, usize)], name: &str) -> Result<Vec<i64>, MergeError> {
    let (finest, divisor) = finest(metrics);
    let target = Unit::parse(&finest);
    let factor = |&(meta, place): &(&Meta, usize)| {
        let metric = &meta.metrics[place];
        let factor =
            if metric.unit == finest { Some(1) } else { Unit::parse(&metric.unit).factor_to(&target) };
        let factor = factor.ok_or_else(|| MergeError::Units {
            metric: name.to_string(),
            units: (finest.clone(), metric.unit.clone()),
        })?;
        // Divisors are powers of ten, so the larger is a multiple of the smaller.
        let finer = i64::try_from(divisor / metric.divisor.max(1)).ok();
        let factor = finer.and_then(|finer| factor.checked_mul(finer));
        factor.ok_or_else(|| MergeError::Overflow { metric: name.to_string() })
    };
    metrics.iter().map(factor).collect()
}
