//! Ratios, changes and probabilities, as comparisons print them.

use crate::unit::{group_thousands, number::grouped};

/// A cost ratio: `×1.16`.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("×{}", plain_ratio(ratio))
}

/// The same without the sign: `1.16`.
pub(crate) fn plain_ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1e6 => format!("{ratio:.0e}"),
        ratio if ratio >= 100.0 => decimals(ratio, 0),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        _ => format!("{ratio:.2}"),
    }
}

/// A ratio within a sentence, rounded to about two digits: `2.2×`, `1.16×`, `1.2×`.
pub(crate) fn times(value: f64) -> String {
    let text = if (2.0..10.0).contains(&value) { format!("{value:.1}") } else { plain_ratio(value) };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}×")
}

/// A change in percentage points: `+2.3pt`.
pub(crate) fn points(points: f64) -> String {
    let sign = match points {
        points if points >= 0.05 => "+",
        points if points <= -0.05 => "−",
        _ => "",
    };
    format!("{sign}{}pt", decimals(points.abs(), 1))
}

/// A p-value with its relevant digits: `1`, `0.27`, `0.001`, `<0.0001`.
pub(crate) fn probability(q: f64) -> String {
    match q {
        q if q >= 0.995 => "1".to_string(),
        q if q >= 0.0095 => format!("{q:.2}"),
        q if q >= 0.00095 => format!("{q:.3}"),
        q if q >= 0.00005 => format!("{q:.4}"),
        _ => "<0.0001".to_string(),
    }
}

/// A number rounded to three digits: `11,900`.
pub(crate) fn about(value: f64) -> String {
    let digits = value.max(1.0).log10().floor();
    let step = 10_f64.powf((digits - 2.0).max(0.0));
    group_thousands(((value / step).round() * step) as i128)
}

/// A significance level: `1%`
pub(crate) fn significance(alpha: f64) -> String {
    let percent = format!("{:.4}", alpha * 100.0);
    format!("{}%", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// A change in percent: `+11.1%`, `+2,747%`, `−3.0%`.
pub(crate) fn percentage(percent: f64, digits: usize) -> String {
    let sign = if percent.is_sign_negative() { "−" } else { "+" };
    format!("{sign}{}%", decimals(percent.abs(), digits))
}

/// A number with so many digits after the point, and commas between thousands: `2,747.3`.
pub(crate) fn decimals(value: f64, digits: usize) -> String {
    grouped(&format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(percentage(2747.04, 0), "+2,747%");
        assert_eq!(percentage(-3.04, 1), "−3.0%");
        assert_eq!(points(-1234.56), "−1,234.6pt");
        assert_eq!(ratio(12_345.6), "×12,346");
        assert_eq!([decimals(-123_456.7, 1), decimals(-999.0, 0)], ["-123,456.7", "-999"]);
        assert_eq!(decimals(f64::INFINITY, 1), "inf");
    }
}
