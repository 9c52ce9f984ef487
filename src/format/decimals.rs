//! Values that are no whole numbers, such as a weight of 0.25 samples.
//!
//! A metric holds integers and a divisor. Its divisor grows when a value comes along that has more
//! decimals than those before it.

use crate::profile::ProfileBuilder;

/// Decimals that are kept.
const MAX_DECIMALS: u32 = 6;

/// For each metric how many decimals its values keep.
#[derive(Default)]
pub(super) struct Decimals {
    of_metric: Vec<u32>,
}

impl Decimals {
    /// The integer that `value` is in `metric`, which makes room for the decimals first.
    pub(super) fn integer(&mut self, builder: &mut ProfileBuilder, metric: usize, value: f64) -> i64 {
        self.keep(builder, metric, value);
        (value * 10f64.powi(self.of_metric[metric].cast_signed())).round() as i64
    }

    /// Makes room in a metric for the decimals of `value`.
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

/// Whether `value` has more than `decimals` decimals, but for the noise of binary fractions.
fn has_more(value: f64, decimals: u32) -> bool {
    let scaled = value * 10f64.powi(decimals.cast_signed());
    (scaled - scaled.round()).abs() > 1e-9 * scaled.abs().max(1.0)
}
