//! One unit for a whole column, and the column's numbers written in it.

use std::fmt;

use super::number::{drop_zeros, plus, with_point};
use super::{Family, KNOWN, Known, Unit, round_div};

/// How the values of one column are written: in one unit, so that rows compare at a glance, and
/// with the unit on every number, so that a line can be pasted alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    unit: Unit,
    /// A stored value times `numerator / denominator` is the number in `unit`.
    numerator: i128,
    denominator: i128,
    /// 0 where every value of the column is a whole number of the unit, else 2.
    decimals: u32,
}

/// A unit was asked for that measures something else than the metric does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompatibleUnits {
    metric: String,
    requested: String,
}

impl fmt::Display for IncompatibleUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values in {} cannot be shown in {}", self.metric, self.requested)
    }
}

impl std::error::Error for IncompatibleUnits {}

impl Scale {
    /// The scale of a column of values in `unit`, to be divided by `divisor` (a divisor of 0 counts
    /// as 1), the largest of which, by its absolute value, is `largest`. `requested` is what
    /// `--unit` says; without it the unit follows from `largest`, see [`Scale::automatic`]. Fails where
    /// `requested` is of another kind than `unit`.
    pub fn for_column(
        unit: &Unit,
        divisor: u64,
        largest: i64,
        requested: Option<&Unit>,
    ) -> Result<Scale, IncompatibleUnits> {
        match requested {
            None => Ok(Scale::automatic(unit, divisor, largest)),
            Some(target) if target.is_same_kind(unit) => Ok(Scale::to(unit, divisor, target)),
            Some(target) => Err(IncompatibleUnits {
                metric: unit.spoken().to_owned(),
                requested: target.spoken().to_owned(),
            }),
        }
    }

    /// The scale that makes `largest` readable: the largest unit in which it is at least 1, but
    /// minutes and hours only from 10 of them on (85.99s compares better with 4.82s than 1.43min),
    /// and counts in full (2,759,229).
    pub fn automatic(unit: &Unit, divisor: u64, largest: i64) -> Scale {
        let mut ladder = KNOWN.iter().filter(|k| k.family == unit.family && k.automatic_from > 0);
        let Some(first) = ladder.next() else { return Scale::to(unit, divisor, unit) };
        let mut scale = Scale::to(unit, divisor, &first.unit());
        for next in ladder {
            if scale.reaches(largest, next) {
                scale = Scale::to(unit, divisor, &next.unit());
            }
        }
        scale
    }

    /// Whether `value`, as this scale would write it, is enough for the next unit. Asking for the
    /// rounded number keeps 1,048,575 bytes from being written `1,024.00KiB`.
    fn reaches(&self, value: i64, next: &Known) -> bool {
        let wanted = i128::from(next.factor / self.unit.factor) * i128::from(next.automatic_from);
        self.rounded(value).abs() >= wanted * 10_i128.pow(self.decimals)
    }

    fn to(unit: &Unit, divisor: u64, target: &Unit) -> Scale {
        let (from, to) = (i128::from(unit.factor), i128::from(target.factor));
        // Within a family the larger factor is a multiple of the smaller one.
        let numerator = (from / to).max(1);
        let denominator = (to / from).max(1) * i128::from(divisor.max(1));
        let decimals = if numerator % denominator == 0 { 0 } else { 2 };
        Scale { unit: target.clone(), numerator, denominator, decimals }
    }

    /// The unit this column is written in.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// A stored value times the first number, divided by the second, is the number in this unit; the
    /// third is how many decimals it is written with.
    pub fn factor(&self) -> (i128, i128, u32) {
        (self.numerator, self.denominator, self.decimals)
    }

    /// The number of last digits: hundredths of the unit, or whole units.
    fn rounded(&self, value: i64) -> i128 {
        round_div(i128::from(value) * self.numerator * 10_i128.pow(self.decimals), self.denominator)
    }

    /// Writes one value: `85.99s`, `8,599`, `1,234 steps`. Zero is `0`; what is not zero but would
    /// be written as zero is `<0.01s`, or `-<0.01s`.
    pub fn format(&self, value: i64) -> String {
        if value == 0 {
            return "0".to_owned();
        }
        match (self.rounded(value), self.decimals) {
            (0, decimals) => {
                let sign = if value < 0 { "-" } else { "" };
                self.with_unit(&format!("{sign}<{}", with_point(1, decimals)))
            }
            (last_digits, decimals) => self.with_unit(&with_point(last_digits, decimals)),
        }
    }

    /// Writes a difference: like [`Scale::format`], with a `+` before what is above zero.
    pub fn format_signed(&self, value: i64) -> String {
        plus(value, self.format(value))
    }

    /// Writes a value without the zeros that end it: `10ms`, `512KiB`, `1.5s`.
    pub fn format_short(&self, value: i64) -> String {
        if value == 0 || self.rounded(value) == 0 {
            return self.format(value);
        }
        self.with_unit(drop_zeros(&with_point(self.rounded(value), self.decimals)))
    }

    fn with_unit(&self, number: &str) -> String {
        format!("{number}{}", self.suffix())
    }

    /// What stands behind every number: `s`, `MiB`, ` steps`, nothing for a count.
    pub fn suffix(&self) -> String {
        let blank = self.unit.family == Family::Other && !self.unit.name.is_empty();
        format!("{}{}", if blank { " " } else { "" }, self.unit.name)
    }
}

impl Unit {
    /// A name to use in a sentence, where a count needs a word.
    fn spoken(&self) -> &str {
        match (self.family, self.name()) {
            (Family::Count, "") => "count",
            (Family::Other, "") => "no unit",
            (_, name) => name,
        }
    }
}

/// One value on its own, in the unit that suits it: `85.99s`, `349.45MiB`, `8,599`.
pub fn human(value: i64, unit: &Unit, divisor: u64) -> String {
    Scale::automatic(unit, divisor, value).format(value)
}

/// [`human`] without the zeros that end it, for periods and thresholds: `10ms`, `512KiB`.
pub fn human_short(value: i64, unit: &Unit, divisor: u64) -> String {
    Scale::automatic(unit, divisor, value).format_short(value)
}

/// A span of time given in nanoseconds: `40.73s`, `100.00s`.
pub fn duration(nanoseconds: i64) -> String {
    human(nanoseconds, &Unit::NANOSECONDS, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn single_values() {
        for (value, unit, want) in [
            (85_990_000_000, "nanoseconds", "85.99s"),
            (99_990_000_000, "ns", "99.99s"),
            (3 * S, "ns", "3.00s"),
            (500_000_000, "ns", "500.00ms"),
            (999, "ns", "999ns"),
            (1_000, "ns", "1.00µs"),
            (999_999_999, "ns", "1.00s"),
            (599 * S, "ns", "599.00s"),
            (600 * S, "ns", "10.00min"),
            (35_999 * S, "ns", "599.98min"),
            (36_000 * S, "ns", "10.00h"),
            (7, "seconds", "7s"),
            (85_990, "ms", "85.99s"),
            (137_177_859, "bytes", "130.82MiB"),
            (1_048_575, "bytes", "1.00MiB"),
            (1_023, "bytes", "1,023B"),
            (524_288, "bytes", "512.00KiB"),
            (3, "mb", "3MiB"),
            (2_759_229, "count", "2,759,229"),
            (-4_820_000_000, "ns", "-4.82s"),
            (0, "ns", "0"),
            (1_234, "steps", "1,234 steps"),
            (1_234, "", "1,234"),
            (1_500_000_000, "nGCU", "1.50GCU"),
            (i64::MAX, "count", "9,223,372,036,854,775,807"),
            (i64::MIN, "ns", "-2,562,047.79h"),
            (i64::MAX, "h", "9,223,372,036,854,775,807h"),
            (i64::MIN, "PiB", "-9,223,372,036,854,775,808PiB"),
        ] {
            assert_eq!(human(value, &Unit::parse(unit), 1), want, "{value} {unit}");
        }
        assert_eq!(human_short(10_000_000, &Unit::NANOSECONDS, 1), "10ms");
        assert_eq!(human_short(524_288, &Unit::BYTES, 1), "512KiB");
        assert_eq!(human_short(1_500_000_000, &Unit::NANOSECONDS, 1), "1.5s");
        assert_eq!(human_short(100, &Unit::COUNT, 1), "100");
        assert_eq!(human_short(0, &Unit::NANOSECONDS, 1), "0");
        assert_eq!(duration(40_734_000_000), "40.73s");
    }

    #[test]
    fn a_column_has_one_unit() {
        let column = Scale::automatic(&Unit::NANOSECONDS, 1, 85 * S);
        for (value, want) in [
            (4_820_000_000, "4.82s"),
            (70_000_000, "0.07s"),
            (5_000_000, "0.01s"),
            (4_999_999, "<0.01s"),
            (-4_999_999, "-<0.01s"),
            (-5_000_000, "-0.01s"),
            (0, "0"),
        ] {
            assert_eq!(column.format(value), want);
        }
        assert_eq!(column.format_signed(S), "+1.00s");
        assert_eq!(column.format_signed(-S), "-1.00s");
        assert_eq!(column.format_signed(1), "+<0.01s");
        assert_eq!(column.format_signed(0), "0");
    }

    #[test]
    fn divisors() {
        assert_eq!(human(10, &Unit::COUNT, 3), "3.33");
        assert_eq!(human(9, &Unit::COUNT, 1000), "0.01");
        assert_eq!(human(1, &Unit::COUNT, 1000), "<0.01");
        assert_eq!(human(2_500_000_000, &Unit::NANOSECONDS, 250), "10.00ms");
        assert_eq!(human(1, &Unit::parse("s"), u64::MAX), "<0.01ns");
        assert_eq!(human(5, &Unit::COUNT, 0), "5");
    }

    #[test]
    fn requested_units() {
        let to = |unit: &str, requested: &str, value| {
            Scale::for_column(&Unit::parse(unit), 1, value, Some(&Unit::parse(requested)))
                .map(|scale| scale.format(value))
        };
        assert_eq!(to("count", "M", 2_759_229).unwrap(), "2.76M");
        assert_eq!(to("ns", "ms", 85_990_000_000).unwrap(), "85,990.00ms");
        assert_eq!(to("ns", "min", 90 * S).unwrap(), "1.50min");
        assert_eq!(to("s", "ns", 2).unwrap(), "2,000,000,000ns");
        assert_eq!(to("steps", "step", 2).unwrap(), "2 step");
        let error = to("ns", "MiB", 1).unwrap_err();
        assert_eq!(error.to_string(), "values in ns cannot be shown in MiB");
        let error = to("count", "s", 1).unwrap_err();
        assert_eq!(error.to_string(), "values in count cannot be shown in s");
    }

    fn any_unit() -> impl Strategy<Value = Unit> {
        (0..KNOWN.len()).prop_map(|i| KNOWN[i].unit())
    }

    proptest! {
        #[test]
        fn nothing_overflows(value: i64, from in any_unit(), to in any_unit(), divisor: u64) {
            if let Ok(scale) = Scale::for_column(&from, divisor, value, Some(&to)) {
                scale.format(value);
            }
            let scale = Scale::automatic(&from, divisor, value);
            prop_assert!(!scale.format_signed(value).is_empty());
        }

        #[test]
        fn larger_values_never_read_smaller(a: i64, b: i64, unit in any_unit(), divisor in 1..5000_u64) {
            let scale = Scale::automatic(&unit, divisor, a);
            prop_assert!(scale.rounded(a.min(b)) <= scale.rounded(a.max(b)));
        }

        #[test]
        fn an_automatic_number_is_short(ns in 1..36_000_000_000_000_i64) {
            let text = human(ns, &Unit::NANOSECONDS, 1);
            let number = text.trim_end_matches(|c: char| c.is_alphabetic());
            prop_assert!(number.len() <= 6, "{}", text);
        }
    }
}
