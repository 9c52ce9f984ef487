//! Ratios, changes and probabilities, as comparisons print them.

use crate::unit::group_thousands;

/// A cost ratio: `×1.16`.
pub(crate) fn ratio(ratio: f64) -> String {
    format!("×{}", plain_ratio(ratio))
}

/// The same without the sign: `1.16`.
pub(crate) fn plain_ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1e6 => format!("{ratio:.0e}"),
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
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
    format!("{sign}{:.1}pt", points.abs())
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

/// A change in percent: `+11.1%`.
pub(crate) fn percentage(percent: f64, digits: usize) -> String {
    format!("{percent:+.digits$}%").replace('-', "−")
}
