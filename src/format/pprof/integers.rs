//! Converts fractional values to integers for writing, which OTLP needs as well.

use crate::profile::{Metric, Profile};
use crate::unit::{Family, Unit};

/// Converts the values of a metric to integers, because pprof has no others.
pub(in crate::format) struct IntegerScale {
    pub(in crate::format) unit: String,
    factor: i64,
    divisor: i64,
}

impl IntegerScale {
    pub(in crate::format) fn value(&self, value: i64) -> i64 {
        if self.divisor == 1 {
            return value;
        }
        let scaled = i128::from(value) * i128::from(self.factor);
        let half = i128::from(self.divisor / 2) * scaled.signum();
        // `scale` only chooses a factor with which all values fit.
        ((scaled + half) / i128::from(self.divisor)) as i64
    }
}

/// Fractional times are converted to nanoseconds and sizes to bytes, rounded. If there is no smaller unit, as for
/// 0.25 samples, values are multiplied by the divisor instead, so that small ones are not lost.
fn scale(metric: &Metric) -> IntegerScale {
    let as_is = IntegerScale { unit: metric.unit.clone(), factor: 1, divisor: 1 };
    let unit = Unit::parse(&metric.unit);
    let (finest, name) = match unit.family() {
        Family::Time => (Unit::NANOSECONDS, "nanoseconds"),
        Family::Bytes => (Unit::BYTES, "bytes"),
        _ => return as_is,
    };
    let (Some(factor), Ok(divisor)) = (unit.factor_to(&finest), i64::try_from(metric.divisor)) else {
        return as_is;
    };
    let total = i128::from(metric.total) * i128::from(factor) / i128::from(divisor);
    if divisor == 1 || i64::try_from(total).is_err() {
        return as_is;
    }
    IntegerScale { unit: name.to_string(), factor, divisor }
}

/// The scales of all metrics, and messages about changes of values, which name the format.
pub(in crate::format) fn scales(profile: &Profile, format: &str) -> (Vec<IntegerScale>, Vec<String>) {
    let mut changes = Vec::new();
    let scales = profile.meta.metrics.iter().map(|metric| {
        let scale = scale(metric);
        if scale.divisor != 1 {
            changes.push(format!("{format}: values of {} are rounded to whole {}", metric.name, scale.unit));
        } else if metric.divisor != 1 {
            let factor = metric.divisor;
            changes.push(format!(
                "{format}: values of {} are multiplied by {factor}, because {format} only stores integers",
                metric.name
            ));
        }
        scale
    });
    (scales.collect(), changes)
}
