//! Converts fractional values to integers for writing, which OTLP needs as well.

use crate::profile::{Metric, Profile};
use crate::unit::{self, Family, Unit};

/// How the values of a metric become integers, because pprof has no others.
pub(in crate::format) struct IntegerScale {
    pub(in crate::format) unit: String,
    factor: i64,
    divisor: i64,
}

impl IntegerScale {
    /// Values as they are stored: those of a metric with a divisor are that many times what they mean.
    fn as_stored(metric: &Metric) -> Self {
        IntegerScale { unit: metric.unit.clone(), factor: 1, divisor: 1 }
    }

    /// Begins to round the values of a metric, one after the other.
    pub(in crate::format) fn rounding(&self) -> Rounding {
        Rounding { factor: self.factor.into(), divisor: self.divisor.into(), carry: 0 }
    }
}

/// Rounds values. What rounding takes from one goes to the next, so that their sum is right however small they are.
pub(in crate::format) struct Rounding {
    factor: i128,
    divisor: i128,
    carry: i128,
}

impl Rounding {
    pub(in crate::format) fn next(&mut self, value: i64) -> i64 {
        // Nothing is carried to a sample that has no value.
        if self.divisor == 1 || value == 0 {
            return value;
        }
        let scaled = i128::from(value) * self.factor + self.carry;
        let rounded = unit::round_div(scaled, self.divisor);
        self.carry = scaled - rounded * self.divisor;
        // A factor is only chosen if all values fit.
        rounded as i64
    }
}

/// Fractional times become nanoseconds and sizes bytes. `None` if that needs no rounding, or does not fit.
fn whole_units(metric: &Metric) -> Option<IntegerScale> {
    let unit = Unit::parse(&metric.unit);
    let (finest, name) = match unit.family() {
        Family::Time => (Unit::NANOSECONDS, "nanoseconds"),
        Family::Bytes => (Unit::BYTES, "bytes"),
        _ => return None,
    };
    let (factor, divisor) = (unit.factor_to(&finest)?, i64::try_from(metric.divisor).ok()?);
    let total = i128::from(metric.total) * i128::from(factor) / i128::from(divisor);
    let fits = divisor != 1 && i64::try_from(total).is_ok();
    fits.then(|| IntegerScale { unit: name.to_string(), factor, divisor })
}

/// The scales of all metrics, and messages about changes of values, which name the format.
///
/// If there is no smaller unit, as for 0.25 samples, values are multiplied by the divisor, so that small ones are not lost;
/// but not beside times or sizes that are rounded, because what a sample costs is one divided by the other.
pub(in crate::format) fn scales(profile: &Profile, format: &str) -> (Vec<IntegerScale>, Vec<String>) {
    let metrics = &profile.meta.metrics;
    let has_sizes = metrics.iter().any(|metric| whole_units(metric).is_some());
    let whole_counts = |metric: &Metric| {
        let divisor = i64::try_from(metric.divisor).ok().filter(|&divisor| divisor != 1 && has_sizes)?;
        (Unit::parse(&metric.unit).family() == Family::Count)
            .then(|| IntegerScale { divisor, ..IntegerScale::as_stored(metric) })
    };
    let mut changes = Vec::new();
    let scale = |metric: &Metric| {
        let name = &metric.name;
        if let Some(scale) = whole_units(metric) {
            changes.push(format!("{format}: values of {name} are rounded to whole {}", scale.unit));
            return scale;
        }
        if let Some(scale) = whole_counts(metric) {
            changes.push(format!("{format}: values of {name} are rounded to whole numbers"));
            return scale;
        }
        if metric.divisor != 1 {
            changes.push(format!(
                "{format}: values of {name} are multiplied by {}, because {format} only stores integers",
                metric.divisor
            ));
        }
        IntegerScale::as_stored(metric)
    };
    (metrics.iter().map(scale).collect(), changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_values_add_up_to_the_rounded_sum() {
        let mut thirds = IntegerScale { unit: "count".into(), factor: 1, divisor: 3 }.rounding();
        let values = [1, 1, 0, 1, 1, 2, -1, 4];
        let rounded: Vec<i64> = values.iter().map(|&value| thirds.next(value)).collect();
        assert_eq!(rounded, [0, 1, 0, 0, 0, 1, 0, 1]);
        let mut micros = IntegerScale { unit: "nanoseconds".into(), factor: 1000, divisor: 7 }.rounding();
        assert_eq!([1, 1, 1].map(|value| micros.next(value)), [143, 143, 143]);
        assert_eq!([1, 1, 1, 1].map(|value| micros.next(value)).iter().sum::<i64>(), 571);
    }
}
