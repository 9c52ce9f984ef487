//! Choosing one unit for a whole column, and formatting its numbers.

use super::number::{drop_zeros, plus, with_point};
use super::{Family, KNOWN, KnownUnit, Unit, round_div};

/// How to write the values of one column: in one unit, so that rows compare at a glance, and with the
/// unit on every number, so that a line can be pasted alone. A value that would have fewer than two
/// digits is written in a smaller unit: `3.1ms` in a column of seconds, not `<0.01s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The unit of the column, followed by the smaller units for small values, the largest first.
    steps: Vec<Step>,
}

/// A unit in which values of the column can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    unit: Unit,
    /// A stored value times `numerator / denominator` is the number in `unit`.
    numerator: i128,
    denominator: i128,
    /// How many decimals are shown: 2, or fewer where the data have no more.
    decimals: u32,
    /// A value is written in this unit if it is at least this many of it.
    from: i64,
}

/// The error for a requested unit that is incompatible with that of the metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values in {metric} cannot be shown in {requested}")]
pub struct IncompatibleUnits {
    metric: String,
    requested: String,
    /// The units that the metric can be shown in.
    pub suitable: Vec<String>,
}

impl Scale {
    /// The scale of a column of values in `unit`, which are to be divided by `divisor` (a divisor of 0
    /// counts as 1); `largest` is the largest absolute value. `requested` is the unit given by `--unit`;
    /// without it, the unit is chosen by [`Scale::automatic`]. Fails if `requested` is incompatible with
    /// `unit`.
    pub fn for_column(
        unit: &Unit,
        divisor: u64,
        largest: i64,
        requested: Option<&Unit>,
    ) -> Result<Scale, IncompatibleUnits> {
        match requested {
            None => Ok(Scale::automatic(unit, divisor, largest)),
            Some(target) if target.is_same_kind(unit) => {
                Ok(Scale { steps: vec![Step::new(unit, divisor, target, 1)] })
            }
            Some(target) => Err(IncompatibleUnits {
                metric: unit.spoken().to_owned(),
                requested: target.spoken().to_owned(),
                suitable: unit.suitable(),
            }),
        }
    }

    /// The scale that makes `largest` readable: the largest unit in which it is at least 1, except that
    /// minutes and hours are used only from 10 on (85.99s compares better with 4.82s than 1.43min), and
    /// counts are written in full (2,759,229).
    pub fn automatic(unit: &Unit, divisor: u64, largest: i64) -> Scale {
        let automatic = KNOWN.iter().filter(|k| k.family == unit.family && k.automatic_from > 0);
        let mut steps: Vec<Step> = Vec::new();
        for next in automatic {
            if steps.last().is_none_or(|step| step.reaches(largest, next)) {
                steps.push(Step::new(unit, divisor, &next.unit(), next.automatic_from));
            }
        }
        if steps.is_empty() {
            steps.push(Step::new(unit, divisor, unit, 1));
        }
        steps.reverse();
        Scale { steps }
    }

    /// The same scale for data whose values are all multiples of `resolution`. Digits that such data
    /// cannot have are not shown, so that values counted in ticks of 10ms read `460ms`, not `460.00ms`.
    #[must_use]
    pub fn with_resolution(mut self, resolution: i64) -> Scale {
        for step in &mut self.steps {
            step.decimals = step.decimals_of(resolution);
        }
        self
    }

    /// The unit of this column.
    pub fn unit(&self) -> &Unit {
        &self.steps[0].unit
    }

    /// The units that values are written in: the column's own, then smaller ones for small values.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The unit to write a value in, the value as a number of last digits, and how many of these are
    /// decimals.
    fn written(&self, value: i64) -> (&Step, i128, u32) {
        let column = &self.steps[0];
        let number = column.rounded(value);
        if number.abs() >= TWO_DIGITS || column.holds(value, column.decimals) {
            return (column, number, column.decimals);
        }
        if let Some(step) = self.steps[1..].iter().find(|step| step.holds(value, 1)) {
            let has_two_digits = step.digits(value, 0).abs() >= TWO_DIGITS;
            let decimals = if has_two_digits { 0 } else { step.decimals.min(1) };
            return (step, step.digits(value, decimals), decimals);
        }
        // No smaller unit exists, or a unit was requested: use more decimals.
        let last = &self.steps[self.steps.len() - 1];
        let enough = (last.decimals..=MAX_DECIMALS).find_map(|decimals| {
            let (number, is_exact) = last.checked_digits(value, decimals)?;
            (number.abs() >= TWO_DIGITS || is_exact).then_some((last, number, decimals))
        });
        enough.unwrap_or((last, 0, MAX_DECIMALS))
    }

    /// Formats a value: `85.99s`, `8,599`, `1,234 steps`. Zero is `0`; a nonzero value far below the
    /// smallest unit is `<0.000000001ns`.
    pub fn format(&self, value: i64) -> String {
        self.write(value, |digits| digits)
    }

    /// Formats a mean of values that are whole numbers, which is finer than they are: with more decimals where it would have fewer
    /// than three digits otherwise, such as `2.33` for 7 bytes in 3 calls.
    pub fn format_mean(&self, value: i64) -> String {
        let (step, ..) = self.written(value);
        let enough = (0..=MAX_DECIMALS).find_map(|decimals| {
            let (number, is_exact) = step.checked_digits(value, decimals)?;
            (number.abs() >= THREE_DIGITS || is_exact).then(|| with_point(number, decimals) + &step.suffix())
        });
        match enough {
            Some(text) if step.decimals == 0 && value != 0 => text,
            _ => self.format(value),
        }
    }

    /// Formats a difference: like [`Scale::format`], with a `+` if it is positive.
    pub fn format_signed(&self, value: i64) -> String {
        plus(value, self.format(value))
    }

    /// Formats a value without trailing zeros: `10ms`, `512KiB`, `1.5s`.
    pub fn format_short(&self, value: i64) -> String {
        self.write(value, |digits| drop_zeros(&digits).to_owned())
    }

    fn write(&self, value: i64, shown: impl Fn(String) -> String) -> String {
        if value == 0 {
            return "0".to_owned();
        }
        let (step, number, decimals) = self.written(value);
        let digits = match number {
            0 => format!("{}<{}", if value < 0 { "-" } else { "" }, with_point(1, decimals)),
            _ => shown(with_point(number, decimals)),
        };
        digits + &step.suffix()
    }
}

impl Step {
    fn new(unit: &Unit, divisor: u64, target: &Unit, from: i64) -> Step {
        let (source, to) = (i128::from(unit.factor), i128::from(target.factor));
        // Within a family, the larger factor is a multiple of the smaller one.
        let numerator = (source / to).max(1);
        let denominator = (to / source).max(1) * i128::from(divisor.max(1));
        let mut step = Step { unit: target.clone(), numerator, denominator, decimals: 0, from };
        step.decimals = step.decimals_of(1);
        step
    }

    /// How many decimals are needed for all digits of multiples of `resolution`, at most two.
    fn decimals_of(&self, resolution: i64) -> u32 {
        let is_enough = |decimals: &u32| {
            self.checked_digits(resolution.max(1), *decimals).is_some_and(|(_, exact)| exact)
        };
        (0..DECIMALS).find(is_enough).unwrap_or(DECIMALS)
    }

    /// Whether `value`, as this step would write it, is large enough for the next unit. Testing the
    /// rounded number keeps 1,048,575 bytes from being written as `1,024.00KiB`.
    fn reaches(&self, value: i64, next: &KnownUnit) -> bool {
        let wanted = i128::from(next.factor / self.unit.factor) * i128::from(next.automatic_from);
        self.rounded(value).abs() >= wanted * 10_i128.pow(self.decimals)
    }

    /// Whether `value`, written with that many decimals, is large enough for this unit.
    fn holds(&self, value: i64, decimals: u32) -> bool {
        self.digits(value, decimals).abs() >= i128::from(self.from) * 10_i128.pow(decimals)
    }

    /// The value as a number of last digits, as the column shows them: hundredths of the unit, or whole
    /// units.
    fn rounded(&self, value: i64) -> i128 {
        self.digits(value, self.decimals)
    }

    /// The value as a number of last digits with the given decimals, at most two.
    fn digits(&self, value: i64, decimals: u32) -> i128 {
        round_div(i128::from(value) * self.numerator * 10_i128.pow(decimals), self.denominator)
    }

    /// Like [`digits`](Self::digits) for any number of decimals. Also returns whether the result is exact. `None` if the
    /// numbers become too large.
    fn checked_digits(&self, value: i64, decimals: u32) -> Option<(i128, bool)> {
        let scaled = (i128::from(value) * self.numerator).checked_mul(10_i128.pow(decimals))?;
        Some((round_div(scaled, self.denominator), scaled % self.denominator == 0))
    }

    /// Numerator, denominator and decimals: a stored value times the numerator, divided by the denominator, is the number
    /// in this unit.
    pub fn factor(&self) -> (i128, i128, u32) {
        (self.numerator, self.denominator, self.decimals)
    }

    /// A value is written in this unit if it is at least this many of it.
    pub fn from(&self) -> i64 {
        self.from
    }

    /// The suffix of every number: `s`, `MiB`, ` steps`, nothing for a count.
    pub fn suffix(&self) -> String {
        let blank = self.unit.family == Family::Other && !self.unit.name.is_empty();
        format!("{}{}", if blank { " " } else { "" }, self.unit.name)
    }
}

/// The decimals of a column, unless the data have fewer.
const DECIMALS: u32 = 2;

/// The smallest number with two digits: one digit is too few to judge the size of a value.
const TWO_DIGITS: i128 = 10;

/// The smallest number with three digits.
const THREE_DIGITS: i128 = 100;

/// The maximum number of decimals, for values below the smallest unit.
const MAX_DECIMALS: u32 = 9;

impl Unit {
    /// The names of all units that values in this one can be shown in.
    fn suitable(&self) -> Vec<String> {
        match self.family {
            Family::Other => vec![self.spoken().to_owned()],
            family => {
                let units = KNOWN.iter().filter(|known| known.family == family).map(KnownUnit::unit);
                units.map(|unit| unit.spoken().to_owned()).collect()
            }
        }
    }

    /// The name of a unit for use in a sentence, where a count needs a word.
    fn spoken(&self) -> &str {
        match (self.family, self.name()) {
            (Family::Count, "") => "count",
            (Family::Other, "") => "no unit",
            (_, name) => name,
        }
    }
}

/// A single value in the unit that suits it: `85.99s`, `349.45MiB`, `8,599`.
pub fn human(value: i64, unit: &Unit, divisor: u64) -> String {
    Scale::automatic(unit, divisor, value).format(value)
}

/// Like [`human`], without trailing zeros, for periods and thresholds: `10ms`, `512KiB`.
pub fn human_short(value: i64, unit: &Unit, divisor: u64) -> String {
    Scale::automatic(unit, divisor, value).format_short(value)
}

/// The number of a label, with its unit: `128KiB`. The label `bytes` of Go's heap profiles has none, because its name is the unit.
pub fn label_number(key: &str, number: i64, unit: &str) -> String {
    match if unit.is_empty() && key == "bytes" { key } else { unit } {
        "" => number.to_string(),
        unit => human_short(number, &Unit::parse(unit), 1),
    }
}

/// A duration given in nanoseconds: `40.73s`, `100.00s`.
pub fn duration(nanoseconds: i64) -> String {
    human(nanoseconds, &Unit::NANOSECONDS, 1)
}

/// A moment after the start of a recording, with all its digits, as options for times take it: `2.31s`, `350µs`.
pub fn moment(nanoseconds: i64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)];
    let size = nanoseconds.unsigned_abs();
    let fitting = units.into_iter().find(|&(_, factor)| size >= factor || size == 0);
    let (unit, factor) = fitting.unwrap_or(("ns", 1));
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let (whole, rest) = (size / factor, size % factor);
    let digits = format!("{:0width$}", rest, width = factor.ilog10() as usize);
    let digits = if rest == 0 { "" } else { digits.trim_end_matches('0') };
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{digits}{unit}")
}

/// The first of 1, 2, 5, 10, 20, 50 … that is enough for a purpose; 5 × 10¹⁸ if none is.
pub(crate) fn round_step(is_enough: impl Fn(i64) -> bool) -> i64 {
    let mut steps = (0..=18).flat_map(|zeros| [1, 2, 5].map(|digit| digit * 10_i64.pow(zeros)));
    steps.find(|&step| is_enough(step)).unwrap_or(5 * 10_i64.pow(18))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = 1_000_000_000;
    const TICK: i64 = 10_000_000;

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
            (5, "ns", "5ns"),
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

    /// Means are stored in millionths here.
    #[test]
    fn means_have_three_digits() {
        let parts = 1_000_000;
        let scale = |unit: &str, largest: i64| {
            Scale::automatic(&Unit::parse(unit), parts as u64, largest).with_resolution(parts)
        };
        for (unit, sum, events, want) in [
            ("count", 7, 3, "2.33"),
            ("count", 1, 3, "0.333"),
            ("count", 169, 2, "84.5"),
            ("count", 1_000, 3, "333"),
            ("count", 3_703_703, 3, "1,234,568"),
            ("count", 10, 5, "2"),
            ("bytes", 100, 3, "33.3B"),
            ("us", 6_730_000, 796_261_558, "8.45ns"),
            ("us", 169, 2, "84.5µs"),
            ("us", 65_020_000, 1, "65.02s"),
            ("us", 0, 1, "0"),
            ("ns", -7, 3, "-2.33ns"),
        ] {
            let mean = (f64::from(sum) / f64::from(events) * parts as f64).round() as i64;
            assert_eq!(scale(unit, mean).format_mean(mean), want, "{sum} {unit} / {events}");
        }
        // In a column of seconds.
        let column = scale("us", 65_020_000 * parts);
        let means =
            [(413_000 * parts, "0.41s"), (3_141_592_000, "3.1ms"), (84_500_000, "84.5µs"), (8_452, "8.45ns")];
        for (mean, want) in means {
            assert_eq!(column.format_mean(mean), want);
        }
    }

    #[test]
    fn a_column_has_one_unit() {
        let column = Scale::automatic(&Unit::NANOSECONDS, 1, 85 * S);
        for (value, want) in [
            (4_820_000_000, "4.82s"),
            (410_000_000, "0.41s"),
            (95_000_000, "0.10s"),
            (94_999_999, "95ms"),
            (70_000_000, "70ms"),
            (3_140_000, "3.1ms"),
            (950_000, "1.0ms"),
            (949_999, "950µs"),
            (-4_999_999, "-5.0ms"),
            (1, "1ns"),
            (0, "0"),
        ] {
            assert_eq!(column.format(value), want);
        }
        assert_eq!(column.format_signed(S), "+1.00s");
        assert_eq!(column.format_signed(-S), "-1.00s");
        assert_eq!(column.format_signed(1), "+1ns");
        assert_eq!(column.format_signed(0), "0");
    }

    #[test]
    fn moments_have_all_digits() {
        for (nanoseconds, want) in [
            (0, "0s"),
            (2_310_000_000, "2.31s"),
            (95 * S, "95s"),
            (350_000, "350µs"),
            (12_345_678, "12.345678ms"),
            (7, "7ns"),
            (-1_500_000_000, "-1.5s"),
            (i64::MIN, "-9223372036.854775808s"),
        ] {
            assert_eq!(moment(nanoseconds), want);
        }
    }

    #[test]
    fn divisors() {
        assert_eq!(human(10, &Unit::COUNT, 3), "3.33");
        assert_eq!(human(7, &Unit::COUNT, 2), "3.5");
        assert_eq!(human(9, &Unit::COUNT, 1000), "0.009");
        assert_eq!(human(17, &Unit::COUNT, 3000), "0.0057");
        assert_eq!(human(2_500_000_000, &Unit::NANOSECONDS, 250), "10.00ms");
        assert_eq!(human(1, &Unit::parse("s"), u64::MAX), "<0.000000001ns");
        assert_eq!(human(5, &Unit::COUNT, 0), "5");
    }

    #[test]
    fn digits_beyond_the_resolution_are_not_shown() {
        let column = |unit: &str, divisor, largest, resolution| {
            Scale::automatic(&Unit::parse(unit), divisor, largest).with_resolution(resolution)
        };
        assert_eq!(column("ns", 1, 46 * TICK, TICK).format(46 * TICK), "460ms");
        assert_eq!(column("ns", 1, 46 * TICK, TICK).format(TICK), "10ms");
        assert_eq!(column("ns", 1, 8_599 * TICK, TICK).format(8_599 * TICK), "85.99s");
        assert_eq!(column("ns", 1, 8_599 * TICK, TICK).format(9 * TICK), "90ms");
        assert_eq!(column("ns", 1, 9 * S, S).format(9 * S), "9s");
        assert_eq!(column("ns", 1, 9 * S, S / 10).format(8_500_000_000), "8.5s");
        assert_eq!(column("ns", 1, 9 * S, S / 10).format(400_000_000), "400ms");
        assert_eq!(column("bytes", 1, 5 << 20, 512 << 10).format(3 << 19), "1.5MiB");
        assert_eq!(column("bytes", 1, 5 << 20, 512 << 10).format(512 << 10), "512KiB");
        // The mean of two recordings has half ticks.
        assert_eq!(column("ns", 2, 46 * TICK, TICK).format(3 * TICK), "15ms");
    }

    #[test]
    fn small_values_of_large_columns() {
        let memory = Scale::automatic(&Unit::BYTES, 1, 7 << 30);
        for (value, want) in [
            (1_i64 << 30, "1.00GiB"),
            (103_000_000, "0.10GiB"),
            (97 << 20, "97MiB"),
            (1_500_000, "1.4MiB"),
            (970 << 10, "970KiB"),
            (12, "12B"),
            (5, "5B"),
        ] {
            assert_eq!(memory.format(value), want);
        }
        let hours = Scale::automatic(&Unit::NANOSECONDS, 1, 40 * 3600 * S);
        assert_eq!(hours.format(144 * S), "144s");
        assert_eq!(hours.format(5_300_000_000), "5.3s");
        assert_eq!(hours.format(341 * S), "341s");
        assert_eq!(hours.format(342 * S), "0.10h");
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
        assert_eq!(to("ns", "s", 3_140_000).unwrap(), "0.0031s");
        assert_eq!(to("ns", "s", 3_000_000).unwrap(), "0.003s");
        assert_eq!(to("count", "M", 500).unwrap(), "0.0005M");
        let error = to("ns", "MiB", 1).unwrap_err();
        assert_eq!(error.to_string(), "values in ns cannot be shown in MiB");
        assert_eq!(error.suitable, ["ns", "µs", "ms", "s", "min", "h"]);
        assert_eq!(to("steps", "s", 1).unwrap_err().suitable, ["steps"]);
        let error = to("count", "s", 1).unwrap_err();
        assert_eq!(error.to_string(), "values in count cannot be shown in s");
        assert_eq!(error.suitable, ["count", "k", "M", "G"]);
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
        fn zero_has_no_sign(value in -2_000_i64..2_000, unit in any_unit(), to in any_unit(), divisor in 1..5000_u64) {
            let scales = [Some(Scale::automatic(&unit, divisor, i64::MAX)), Scale::for_column(&unit, divisor, value, Some(&to)).ok()];
            for scale in scales.into_iter().flatten() {
                for text in [scale.format(value), scale.format_signed(value), scale.format_short(value)] {
                    let number = text.trim_end_matches(|c: char| !c.is_ascii_digit()).replace(',', "");
                    let is_zero = number.parse::<f64>().is_ok_and(|number| number == 0.0);
                    prop_assert!(!is_zero || !number.starts_with(['-', '+']), "{}", text);
                }
            }
        }

        #[test]
        fn larger_values_are_never_shown_as_smaller(a: i64, b: i64, unit in any_unit(), divisor in 1..5000_u64) {
            let scale = Scale::automatic(&unit, divisor, a);
            // In the smallest unit, so that numbers of different units compare.
            let size = |value: i64| {
                let (step, number, decimals) = scale.written(value);
                let last = i128::from(step.unit.factor / scale.steps[scale.steps.len() - 1].unit.factor);
                number.checked_mul(last * 10_i128.pow(MAX_DECIMALS - decimals))
            };
            if let (Some(smaller), Some(larger)) = (size(a.min(b)), size(a.max(b))) {
                prop_assert!(smaller <= larger);
            }
        }

        #[test]
        fn an_automatic_number_is_short(ns in 1..36_000_000_000_000_i64) {
            let text = human(ns, &Unit::NANOSECONDS, 1);
            let number = text.trim_end_matches(|c: char| c.is_alphabetic());
            prop_assert!(number.len() <= 6, "{}", text);
        }
    }
}
