//! Fractional values, such as a weight of 0.25 samples.
//!
//! A metric stores integers and a divisor, which grows when a value has more decimals than the previous ones.

use crate::profile::ProfileBuilder;

/// Maximum number of decimals kept.
const MAX_DECIMALS: u32 = 6;

/// Rounds like [`f64::round`], half away from zero, but inline: on processors without an instruction for it, `round` is a
/// call that takes longer than reading the number.
#[inline]
pub(super) fn rounded(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    // Beyond 2^52, there is no rest.
    whole.saturating_add(i64::from(rest >= 0.5) - i64::from(rest <= -0.5))
}

/// The number of decimals kept for each metric.
#[derive(Default)]
pub(super) struct Decimals {
    of_metric: Vec<u32>,
}

impl Decimals {
    /// Converts `value` to an integer of `metric`, raising the metric's divisor if needed.
    pub(super) fn integer(&mut self, builder: &mut ProfileBuilder, metric: usize, value: f64) -> i64 {
        self.keep(builder, metric, value);
        rounded(value * scale(self.of_metric[metric]))
    }

    /// Converts an integer, which may be too large for `f64`.
    pub(super) fn whole(&self, metric: usize, value: i64) -> i64 {
        let decimals = self.of_metric.get(metric).copied().unwrap_or(0);
        value.saturating_mul(10i64.pow(decimals))
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
    let scaled = value * scale(decimals);
    // Large numbers, and those that are no numbers, have no decimals.
    if scaled.abs() >= 2f64.powi(52) || scaled.is_nan() {
        return false;
    }
    (scaled - rounded(scaled) as f64).abs() > 1e-9 * scaled.abs().max(1.0)
}

/// 10 to the power of `decimals`.
fn scale(decimals: u32) -> f64 {
    const POWERS: [f64; MAX_DECIMALS as usize + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    POWERS[decimals as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        let halves = (-9..=9).map(|number| f64::from(number) / 2.0);
        let large = [2f64.powi(52) - 0.5, 2f64.powi(52) + 1.0, 2f64.powi(53) + 2.0, 9.3e18, 1e30];
        let others = [0.499_999_999_999_999_94, 1.499_999_999_999_999_8, 1e-300, f64::NAN, f64::INFINITY];
        for value in halves.chain(large).chain(others) {
            for value in [value, -value] {
                assert_eq!(rounded(value), value.round() as i64, "{value}");
            }
        }
    }
}
