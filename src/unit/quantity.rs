//! Quantities as a user types them: `1mb`, `100ms`, `-1.5s`, `42`.

use std::cmp::Ordering;

use super::{Family, Unit, round_div};

/// An exact number, with a unit if one was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The digits without the decimal point, and the power of ten to divide them by: 1.5 is 15 and 10.
    digits: i128,
    denominator: i128,
    unit: Option<Unit>,
}

/// The error for text that is not a number, or that has more digits than any profile can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {problem}", text.escape_debug())]
pub struct QuantityError {
    text: String,
    problem: &'static str,
}

impl Quantity {
    /// Parses a decimal number followed by its unit, optionally separated by spaces. Any word is a unit;
    /// unknown ones are compared by name. Fails if the text does not start with a number, or if the
    /// number does not fit.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        Quantity::parse_with(text, Unit::parse)
    }

    /// Like [`Quantity::parse`], but for a known family, as for `--max-memory 2g`.
    pub fn parse_as(text: &str, family: Family) -> Result<Quantity, QuantityError> {
        Quantity::parse_with(text, |unit| Unit::parse_as(unit, family))
    }

    fn parse_with(text: &str, parse_unit: impl Fn(&str) -> Unit) -> Result<Quantity, QuantityError> {
        let error = |problem| QuantityError { text: text.to_owned(), problem };
        let trimmed = text.trim();
        let (negative, unsigned) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, unit) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(error("is not a number with a unit, such as 1mb, 100ms or 1.5s"));
        }
        // 2^63 has 19 digits; 18 more after the decimal point are finer than any clock.
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > 19 || fraction.len() > 18 {
            return Err(error("has more digits than a value can have"));
        }
        let denominator = 10_i128.pow(fraction.len() as u32);
        let digits = parse_digits(whole) * denominator + parse_digits(fraction);
        let unit = unit.trim();
        Ok(Quantity {
            digits: if negative { -digits } else { digits },
            denominator,
            unit: (!unit.is_empty()).then(|| parse_unit(unit)),
        })
    }

    /// The unit that was typed, if any.
    pub fn unit(&self) -> Option<&Unit> {
        self.unit.as_ref()
    }

    /// Compares `value`, which is in `unit`, with this quantity, exactly: a label of 1536 bytes is
    /// greater than `1kb`. A quantity without a unit takes the value's unit. `None` if the two are
    /// incompatible, so that no range matches.
    pub fn compare(&self, value: i64, unit: &Unit) -> Option<Ordering> {
        let own = self.unit.as_ref().unwrap_or(unit);
        if !own.is_same_kind(unit) {
            return None;
        }
        // Both in the family's smallest unit; the product with the denominator might not fit.
        let value = i128::from(value) * i128::from(unit.factor);
        let (whole, rest) = self.in_smallest(own.factor);
        Some(value.cmp(&whole).then(0.cmp(&rest)))
    }

    /// The integer part of this quantity in its family's smallest unit, and the remainder.
    fn in_smallest(&self, factor: i64) -> (i128, i128) {
        // Integer part and fraction are computed separately: 19 digits, 18 decimals and 2^50 together
        // would not fit an i128.
        let (whole, fraction) =
            (self.digits.div_euclid(self.denominator), self.digits.rem_euclid(self.denominator));
        let factor = i128::from(factor);
        let fraction = fraction * factor;
        (whole * factor + fraction / self.denominator, fraction % self.denominator)
    }

    /// A duration in nanoseconds, rounded half away from zero. `None` if this is not a time, or if it is
    /// too long.
    pub fn nanoseconds(&self) -> Option<i64> {
        self.in_family(Family::Time)
    }

    /// A number of bytes, for sizes such as `--max-memory 2gb`; without a unit it is in bytes.
    /// `None` if this is not a size, or too large.
    pub fn bytes(&self) -> Option<i64> {
        match self.unit {
            None => Quantity { unit: Some(Unit::BYTES), ..self.clone() }.bytes(),
            Some(_) => self.in_family(Family::Bytes),
        }
    }

    fn in_family(&self, family: Family) -> Option<i64> {
        let unit = self.unit.as_ref().filter(|unit| unit.family == family)?;
        let (whole, rest) = self.in_smallest(unit.factor);
        // Since this is a floor, a negative half rounds down and a positive one up.
        let up = if self.digits < 0 {
            2 * rest > self.denominator
        } else {
            round_div(rest, self.denominator) == 1
        };
        i64::try_from(whole + i128::from(up)).ok()
    }
}

/// At most 19 ASCII digits; an empty text is zero.
fn parse_digits(digits: &str) -> i128 {
    digits.bytes().fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap()
    }

    #[test]
    fn times() {
        for (text, want) in [
            ("1.5s", Some(1_500_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("100ms", Some(100_000_000)),
            (" 2 min ", Some(120_000_000_000)),
            (".5us", Some(500)),
            ("1.0000000005s", Some(1_000_000_001)),
            ("-1.0000000005s", Some(-1_000_000_001)),
            ("-1.0000000004s", Some(-1_000_000_000)),
            ("5.s", Some(5_000_000_000)),
            ("9999999999h", None),
            ("1.5", None),
            ("1mb", None),
        ] {
            assert_eq!(quantity(text).nanoseconds(), want, "{text}");
        }
        assert_eq!(quantity("2gb").bytes(), Some(2 << 30));
        assert_eq!(quantity("100").bytes(), Some(100));
        assert_eq!(quantity("1.5kib").bytes(), Some(1536));
        assert_eq!(quantity("1s").bytes(), None);
    }

    #[test]
    fn comparisons_respect_kinds() {
        let bytes = Unit::parse("bytes");
        for (text, value, unit, want) in [
            ("1mb", 1 << 20, &bytes, Some(Ordering::Equal)),
            ("1mb", (1 << 20) - 1, &bytes, Some(Ordering::Less)),
            ("0.3b", 0, &bytes, Some(Ordering::Less)),
            ("0.3b", 1, &bytes, Some(Ordering::Greater)),
            ("-0.3b", 0, &bytes, Some(Ordering::Greater)),
            ("-0.3b", -1, &bytes, Some(Ordering::Less)),
            ("1024", 1024, &bytes, Some(Ordering::Equal)),
            ("1s", 1024, &bytes, None),
            ("1kb", 1024, &Unit::parse(""), None),
            ("3 steps", 4, &Unit::parse("step"), Some(Ordering::Greater)),
            ("9999999999999999999.999999999999999999pb", i64::MIN, &bytes, Some(Ordering::Less)),
            (
                "-9999999999999999999.999999999999999999pb",
                i64::MIN,
                &Unit::parse("PiB"),
                Some(Ordering::Greater),
            ),
        ] {
            assert_eq!(quantity(text).compare(value, unit), want, "{text} {value}");
        }
    }

    #[test]
    fn invalid_quantities_are_rejected() {
        for text in ["", "s", "-", "1.2.3s", "abc", ".", "\u{1b}[0m"] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
        let error = Quantity::parse("12345678901234567890s").unwrap_err();
        assert_eq!(error.to_string(), "`12345678901234567890s` has more digits than a value can have");
        assert!(Quantity::parse("00000000000000000000000000001s").is_ok());
    }

    proptest! {
        #[test]
        fn whole_numbers_round_trip(value: i64) {
            prop_assert_eq!(quantity(&format!("{value}ns")).nanoseconds(), Some(value));
            prop_assert_eq!(quantity(&value.to_string()).compare(value, &Unit::COUNT), Some(Ordering::Equal));
        }

        #[test]
        fn any_text_is_parsed_or_rejected(text in "\\PC*") {
            if let Ok(read) = Quantity::parse(&text) {
                read.nanoseconds();
                read.compare(i64::MIN, &Unit::NANOSECONDS);
            }
        }
    }
}
