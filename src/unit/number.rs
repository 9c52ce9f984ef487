//! Plain numbers: thousands separators, fixed decimals, shares and rates.

use std::fmt;

use super::round_div;

/// An integer with a comma between groups of three digits: `2,759,229`.
pub fn group_thousands(value: i128) -> String {
    grouped(&value.to_string())
}

/// A decimal number with a comma between groups of three digits before the point: `-2,759,229.5`.
pub(super) fn grouped(number: &str) -> String {
    let end = number.find('.').unwrap_or(number.len());
    let mut out = String::with_capacity(number.len() + number.len() / 3);
    let mut after_digit = false;
    for (at, character) in number.char_indices() {
        if after_digit && at < end && (end - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(character);
        after_digit = character.is_ascii_digit();
    }
    out
}

/// `numerator / denominator` with the given number of decimals (at most 9) and thousands separators,
/// rounded half away from zero: `fixed(85_990, 40_730, 2)` is `2.11`. Empty if the denominator is not
/// positive.
pub fn fixed(numerator: i64, denominator: i64, decimals: u32) -> String {
    if denominator <= 0 {
        return String::new();
    }
    let decimals = decimals.min(9);
    let scaled = i128::from(numerator) * 10_i128.pow(decimals);
    with_point(round_div(scaled, i128::from(denominator)), decimals)
}

/// Writes `units`, a number of 10^-decimals: 8599 with two decimals is `85.99`.
pub(super) fn with_point(units: i128, decimals: u32) -> String {
    let one = 10_u128.pow(decimals);
    let whole = group_thousands((units.unsigned_abs() / one).cast_signed());
    let sign = if units < 0 { "-" } else { "" };
    if decimals == 0 {
        return format!("{sign}{whole}");
    }
    let rest = units.unsigned_abs() % one;
    format!("{sign}{whole}.{rest:0width$}", width = decimals as usize)
}

/// `value` as a percentage of `whole`, with one decimal: `35.5%`. A nonzero value that would round to
/// zero is `<0.1%`. Empty if `whole` is not positive.
pub fn share(value: i64, whole: i64) -> String {
    if whole <= 0 {
        return String::new();
    }
    let tenths = round_div(i128::from(value) * 1000, i128::from(whole));
    if tenths == 0 && value != 0 {
        let sign = if value < 0 { "-" } else { "" };
        return format!("{sign}<0.1%");
    }
    format!("{}%", with_point(tenths, 1))
}

/// [`share`] of a difference: `+2.3%`, `-0.5%`, and `0.0%` without a sign.
pub fn signed_share(value: i64, whole: i64) -> String {
    plus(value, share(value, whole))
}

/// Adds the `+` of a positive difference.
pub(super) fn plus(value: i64, text: String) -> String {
    if value > 0 && !text.is_empty() { format!("+{text}") } else { text }
}

/// The word or words that agree with `count`: `plural(1, "sample has", "samples have")` is `sample has`.
pub fn plural<'w>(count: u64, one: &'w str, several: &'w str) -> &'w str {
    if count == 1 { one } else { several }
}

/// The frequency of an event with the given period: `100 Hz`, `99.01 Hz`. `None` if the period is not
/// positive.
pub fn rate(period_ns: i64) -> Option<String> {
    (period_ns > 0)
        .then(|| format!("{} Hz", drop_zeros(&fixed(1_000_000_000, period_ns, rate_digits(period_ns)))))
}

/// Two decimals; for less than once a second, enough decimals for three digits: every 15 minutes is
/// `0.00111 Hz`.
fn rate_digits(period_ns: i64) -> u32 {
    let seconds = period_ns / 1_000_000_000;
    if seconds < 10 { 2 } else { (3 + seconds.ilog10()).min(9) }
}

/// Drops trailing zeros of a decimal fraction: `10.50` → `10.5`, `10.00` → `10`; `100` stays.
pub(super) fn drop_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// `sum / events`, rounded half away from zero; `None` if there are no events.
pub fn mean(sum: i64, events: i64) -> Option<i64> {
    mean_in_parts(sum, events, 1)
}

/// `sum / events` in parts of the values, such as millionths, rounded like [`mean`].
pub(crate) fn mean_in_parts(sum: i64, events: i64, parts: i64) -> Option<i64> {
    let (sum, events) = (i128::from(sum) * i128::from(parts), i128::from(events));
    let mean = if events == 0 { None } else { Some(super::round_div(sum * events.signum(), events.abs())) };
    mean.and_then(|mean| i64::try_from(mean).ok())
}

/// A number as an `i64`; the greatest one if it is greater.
pub(crate) fn saturated(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The first names of a list, and how many more there are: `a, b and 3 more`.
pub(crate) fn first_of(
    names: impl ExactSizeIterator<Item = impl fmt::Display>,
    most: usize,
    comma: &str,
) -> String {
    let more = names.len().saturating_sub(most);
    let mut text = String::new();
    for (number, name) in names.take(most).enumerate() {
        text += if number == 0 { "" } else { comma };
        text += &name.to_string();
    }
    if more > 0 { format!("{text} and {} more", group_thousands(more as i128)) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_end_with_how_many_more_there_are() {
        assert_eq!(first_of(["a", "b", "c"].iter(), 2, ", "), "a, b and 1 more");
        assert_eq!(first_of(["a", "b"].iter(), 2, " · "), "a · b");
        assert_eq!(saturated(u64::MAX), i64::MAX);
    }

    #[test]
    fn thousands() {
        for (value, want) in [
            (0, "0"),
            (999, "999"),
            (1_064, "1,064"),
            (2_759_229, "2,759,229"),
            (-123_456, "-123,456"),
            (i128::from(i64::MIN), "-9,223,372,036,854,775,808"),
        ] {
            assert_eq!(group_thousands(value), want);
        }
    }

    #[test]
    fn shares() {
        for (value, whole, want) in [
            (3051, 8599, "35.5%"),
            (7, 8599, "0.1%"),
            (8599, 8599, "100.0%"),
            (0, 8599, "0.0%"),
            (1, 8599, "<0.1%"),
            (-1, 8599, "-<0.1%"),
            (-860, 8599, "-10.0%"),
            (1, 2000, "0.1%"),
            (1, 0, ""),
            (i64::MIN, i64::MAX, "-100.0%"),
            (i64::MAX, 1, "922,337,203,685,477,580,700.0%"),
        ] {
            assert_eq!(share(value, whole), want, "{value} of {whole}");
        }
        assert_eq!(signed_share(23, 1000), "+2.3%");
        assert_eq!(signed_share(-5, 1000), "-0.5%");
        assert_eq!(signed_share(0, 1000), "0.0%");
        assert_eq!(signed_share(1, 0), "");
    }

    #[test]
    fn ratios_and_rates() {
        assert_eq!(fixed(85_990_000_000, 40_730_000_000, 2), "2.11");
        assert_eq!(fixed(-1, 2, 0), "-1");
        assert_eq!(fixed(1, 0, 2), "");
        assert_eq!(fixed(1, 3, 99), "0.333333333");
        for (period, want) in [
            (10_000_000, Some("100 Hz")),
            (10_101_010, Some("99 Hz")),
            (10_100_000, Some("99.01 Hz")),
            (1_000_000, Some("1,000 Hz")),
            (2_000_000_000, Some("0.5 Hz")),
            (900_000_000_000, Some("0.00111 Hz")),
            (1, Some("1,000,000,000 Hz")),
            (0, None),
            (-1, None),
        ] {
            assert_eq!(rate(period).as_deref(), want, "{period}");
        }
        assert!(rate(i64::MAX).is_some());
    }

    proptest! {
        #[test]
        fn zero_has_no_sign(value: i64, small in -3_000_i64..3_000, whole in 1..=i64::MAX, decimals in 0_u32..=9) {
            for value in [value, small, 0] {
                for text in [share(value, whole), signed_share(value, whole), fixed(value, whole, decimals)] {
                    let number = text.trim_end_matches('%').replace(',', "");
                    let is_zero = number.parse::<f64>().is_ok_and(|number| number == 0.0);
                    prop_assert!(!is_zero || !number.starts_with(['-', '+']), "{}", text);
                }
            }
        }

        #[test]
        fn fixed_is_within_half_a_digit(n: i64, d in 1..=i64::MAX, decimals in 0_u32..=9) {
            let text = fixed(n, d, decimals).replace([',', '.'], "");
            let units: i128 = text.parse().unwrap();
            // |units / 10^decimals − n / d| ≤ 1/2 · 10^-decimals, without fractions.
            let exact = i128::from(n) * 10_i128.pow(decimals);
            // A share of i64::MAX over 1 does not fit an i128 in this cross product, although it does in
            // the division.
            if let Some(shown) = units.checked_mul(i128::from(d)) {
                prop_assert!((shown - exact).abs() <= i128::from(d) - i128::from(d) / 2);
            }
        }
    }
}
