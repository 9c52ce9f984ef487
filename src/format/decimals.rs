//! Fractional values, such as a weight of 0.25 samples.
//!
//! A metric stores integers and a divisor, which grows when a value has more decimals than the previous ones.

use crate::profile::ProfileBuilder;

/// Maximum number of decimals kept.
const MAX_DECIMALS: u32 = 6;

/// The number of decimals kept for each metric.
#[derive(Default)]
pub(super) struct Decimals {
    of_metric: Vec<u32>,
}

impl Decimals {
    /// Converts `value` to an integer of `metric`, raising the metric's divisor if needed.
    pub(super) fn integer(&mut self, builder: &mut ProfileBuilder, metric: usize, value: f64) -> i64 {
        self.keep(builder, metric, value);
        (value * 10f64.powi(self.of_metric[metric].cast_signed())).round() as i64
    }

    /// Raises the divisor of a metric to fit the decimals of `value`.
    pub(super) fn keep(&mut self, builder: &mut ProfileBuilder, metric: usize, value: f64) {
        if self.of_metric.len() <= metric {
            self.of_metric.resize(metric + 1, 0);
        }
        let decimals = &mut self.of_metric[metric];
        while *decimals < MAX_DECIMALS && has_more(value, *decimals) {
            *decimals += 1;
            builder.rescale(metric, 10);
        }
    }
}

/// Whether `value` has more than `decimals` decimals, ignoring binary rounding noise.
fn has_more(value: f64, decimals: u32) -> bool {
    let scaled = value * 10f64.powi(decimals.cast_signed());
    (scaled - scaled.round()).abs() > 1e-9 * scaled.abs().max(1.0)
}
