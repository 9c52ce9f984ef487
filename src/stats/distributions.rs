//! Tails of the binomial, normal and t distributions, and the derivatives of the gamma function.
//!
//! `statrs` provides the incomplete beta function, both distributions and digamma. This module adds what
//! it lacks: a mid-p binomial tail for fractional counts, and trigamma with its derivative and inverse.

use std::f64::consts::PI;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::checked_beta_reg;

/// Above this, for both counts, the saddle-point formula is used: `statrs` stops its continued fraction
/// after 140 steps, too few for such counts, while the formula is accurate to 1e-8.
const BOTH_LARGE: f64 = 5e4;
/// For sums above this, too, because differences of logarithms of gamma functions would lose all digits.
const SUM_LARGE: f64 = 1e10;

/// How surprising is it that `new` or more of the `new + old` samples are on the new side, if each of
/// them is there with probability `share_new`? This is the one-sided *mid-p* value, P(more) + P(exactly
/// as many) / 2.
///
/// Given the sum, the split of two Poisson counts is binomial, so the unknown cost of the function
/// cancels out. Mid-p is used because the plain tail of a small count is far too conservative: 10 of 10
/// gives 2⁻¹¹, 0 of 0 gives one half. Counts may be fractional, since they are divided by a noise factor
/// first (Lancaster 1961 for mid-p).
///
/// The relative error is below 1e-9 up to sums of 100,000 and below 2e-6 everywhere both counts are large.
pub fn binomial_mid_p(new: f64, old: f64, share_new: f64) -> f64 {
    let (new, old) = (new.max(0.0), old.max(0.0));
    let all = new + old;
    if all <= 0.0 || !all.is_finite() || share_new.is_nan() {
        return 0.5;
    }
    let share_new = share_new.clamp(0.0, 1.0);
    if new <= 0.0 {
        return 1.0 - 0.5 * (all * (-share_new).ln_1p()).exp();
    }
    if old <= 0.0 {
        return 0.5 * (all * share_new.ln()).exp();
    }
    if new.min(old) > BOTH_LARGE || all > SUM_LARGE {
        return saddle_point_mid_p(new, old, share_new);
    }
    let at_least = beta_regularized(new, old + 1.0, share_new);
    let more = beta_regularized(new + 1.0, old, share_new);
    (0.5 * (at_least + more)).clamp(0.0, 1.0)
}

/// The regularized incomplete beta function of `x`. The caller ensures that `a` and `b` are positive;
/// otherwise the result is the limit for a count of zero.
fn beta_regularized(a: f64, b: f64, x: f64) -> f64 {
    checked_beta_reg(a, b, x).unwrap_or(if a <= 0.0 { 1.0 } else { 0.0 })
}

/// [`binomial_mid_p`] for huge counts: the formula of Lugannani and Rice (1980), whose relative error falls with the
/// smaller count (1e-8 at 50,000, a percent at 1) while the work stays constant.
fn saddle_point_mid_p(new: f64, old: f64, share_new: f64) -> f64 {
    if share_new <= 0.0 || share_new >= 1.0 {
        return if share_new <= 0.0 { 0.0 } else { 1.0 };
    }
    let all = new + old;
    let (expected_new, expected_old) = (all * share_new, all * (1.0 - share_new));
    let excess = new - expected_new;
    // The deviance, term by term without cancellation: x ln(x / m) - (x - m) = m h((x - m) / m).
    let deviance =
        expected_new * entropy(excess / expected_new) + expected_old * entropy(-excess / expected_old);
    let signed_root = (2.0 * deviance.max(0.0)).sqrt().copysign(excess);
    let deviation = (new * old / all).sqrt();
    let tilt = (excess / expected_new).ln_1p() - (-excess / expected_old).ln_1p();
    let correction = if signed_root.abs() < 1e-3 {
        // The difference below loses all digits near the mean; its limit is a sixth of the skewness.
        -(1.0 - 2.0 * share_new) / (6.0 * (all * share_new * (1.0 - share_new)).sqrt())
    } else {
        0.5 / ((0.5 * tilt).tanh() * deviation) - 1.0 / signed_root
    };
    let density = (-0.5 * signed_root * signed_root).exp() / (2.0 * PI).sqrt();
    let p = normal_upper(signed_root) + density * correction;
    if p.is_nan() { if excess > 0.0 { 0.0 } else { 1.0 } } else { p.clamp(0.0, 1.0) }
}

/// (1 + t) ln(1 + t) - t, by its series where the difference would cancel.
fn entropy(t: f64) -> f64 {
    if t <= -1.0 {
        return 1.0;
    }
    if t.abs() < 1e-2 {
        // t²/2 - t³/6 + t⁴/12 - t⁵/20 + ...: the k-th coefficient is 1 / (k (k - 1)).
        let series = [2.0, 6.0, 12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 90.0];
        return series.iter().rev().fold(0.0, |sum, coefficient| 1.0 / coefficient - t * sum) * t * t;
    }
    (1.0 + t) * t.ln_1p() - t
}

/// P(Z > z) of a standard normal variable.
pub fn normal_upper(z: f64) -> f64 {
    if z.is_nan() { 0.5 } else { Normal::standard().sf(z) }
}

/// The z with P(Z > z) = `p`; precise far into the tail, where 1 - p rounds to 1. Infinite at 0 and 1.
pub fn normal_upper_quantile(p: f64) -> f64 {
    if p.is_nan() { 0.0 } else { -Normal::standard().inverse_cdf(p.clamp(0.0, 1.0)) }
}

/// P(T > t) with `freedom` degrees of freedom; infinite `freedom` means the normal distribution.
pub fn t_upper(t: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if freedom.is_finite() && t.is_finite() => student.sf(t),
        _ => normal_upper(t),
    }
}

/// The t with P(T > t) = `p`; infinite `freedom` means the normal distribution.
pub fn t_upper_quantile(p: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if freedom.is_finite() && p > 0.0 && p < 1.0 => -student.inverse_cdf(p),
        _ => normal_upper_quantile(p),
    }
}

/// Converts a p-value for a known variance to one for a variance estimated with `freedom` degrees of
/// freedom: the same distance in standard errors, looked up in the wider t distribution.
pub fn normal_to_t(p: f64, freedom: f64) -> f64 {
    if freedom.is_finite() { t_upper(normal_upper_quantile(p), freedom) } else { p }
}

/// ψ'(x) for x > 0, the variance of the logarithm of a gamma variable: shifted to x >= 15, where six terms of the
/// asymptotic series reach full precision.
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 15.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let tail = y * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0)))));
    sum + (1.0 + 0.5 / x + tail) / x
}

/// ψ''(x) for x > 0, the slope of [`trigamma`].
pub fn tetragamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 15.0 {
        sum -= 2.0 / (x * x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let tail = y * (0.5 - y * (1.0 / 6.0 - y * (1.0 / 6.0 - y * (0.3 - y * (5.0 / 6.0)))));
    sum - y * (1.0 + 1.0 / x + tail)
}

/// The x with ψ'(x) = `value`, by Newton's method on 1 / ψ', which is nearly straight: about five rounds (Smyth 2004,
/// appendix). It turns an observed spread of log variances into degrees of freedom.
pub fn trigamma_inverse(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..50 {
        let at = trigamma(x);
        let step = at * (1.0 - at / value) / tetragamma(x);
        x += step;
        if -step / x < 1e-8 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `scipy.special.betainc`, from the range where both formulas work to that where only one
    /// does.
    #[test]
    fn huge_counts() {
        let known = [
            (500_900.0, 1e6, 0.5, 0.035_930_363_640_842_185),
            (503_000.0, 1e6, 0.5, 9.864_995_474_429_47e-10),
            (500_000.0, 1e6, 0.5, 0.5),
            (30_400.0, 1e6, 0.03, 0.009_623_136_805_520_958),
            (29_000.0, 1e6, 0.03, 0.999_999_998_105_649_1),
            (300.0, 3e6, 8e-5, 9.376_540_691_722_502e-5),
            (12.0, 1e7, 1e-6, 0.255_833_612_826_683_04),
            (500_010_000.0, 1e9, 0.5, 0.263_544_628_546_376_9),
        ];
        for (new, all, share, want) in known {
            let got = binomial_mid_p(new, all - new, share);
            assert!((got - want).abs() < 1e-6 * want, "{new} of {all}: {got:e}, want {want:e}");
        }
    }

    #[test]
    fn both_formulas_agree_where_they_meet() {
        for (new, old, share) in
            [(50_001.0, 50_500.0, 0.5), (50_100.0, 150_000.0, 0.248), (50_001.0, 3e6, 0.0163)]
        {
            let at_least = beta_regularized(new, old + 1.0, share);
            let more = beta_regularized(new + 1.0, old, share);
            let (beta, saddle) = (0.5 * (at_least + more), saddle_point_mid_p(new, old, share));
            assert!((beta - saddle).abs() < 1e-6 * beta, "{beta:e} {saddle:e}");
        }
    }

    #[test]
    fn few_samples_are_weak_evidence() {
        for (new, old, share, want) in
            [(0.0, 0.0, 0.3, 0.5), (3.0, 0.0, 0.5, 0.0625), (0.0, 3.0, 0.5, 0.9375)]
        {
            assert!((binomial_mid_p(new, old, share) - want).abs() < 1e-15);
        }
    }

    #[test]
    fn derivatives_of_digamma() {
        // ψ'(1) = π²/6, ψ'(1/2) = π²/2, and ψ'' by the difference quotient.
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-14);
        assert!((trigamma(0.5) - PI * PI / 2.0).abs() < 1e-13);
        for x in [0.2, 1.0, 7.5, 40.0] {
            let slope = (trigamma(x + 1e-5) - trigamma(x - 1e-5)) / 2e-5;
            assert!((tetragamma(x) / slope - 1.0).abs() < 1e-6);
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-8);
        }
    }
}
