//! Units, and the formatting of every number on screen.
//!
//! A metric is stored as integers in its own unit ("nanoseconds", "bytes", whatever the file says).
//! [`Unit::parse`] recognises that name, [`Scale`] chooses a readable unit for a whole column and
//! formats its numbers, and [`Quantity`] parses what a user types (`1mb`, `1.5s`). All arithmetic is on
//! integers: a number on screen is the exact value, rounded once, half away from zero.
//!
//! ```
//! use prof::unit::{Scale, Unit};
//! let column = Scale::automatic(&Unit::parse("nanoseconds"), 1, 85_990_000_000);
//! assert_eq!(column.format(85_990_000_000), "85.99s");
//! assert_eq!(column.format(410_000_000), "0.41s");
//! // A value that would have fewer than two digits is shown in a smaller unit.
//! assert_eq!(column.format(70_000_000), "70ms");
//! ```

mod number;
mod quantity;
mod ratio;
mod scale;
mod timestamp;

use std::borrow::Cow;

pub(crate) use number::{first_of, mean_in_parts, saturated};
pub use number::{fixed, group_thousands, mean, plural, rate, share, signed_share};
pub use quantity::{Quantity, QuantityError};
pub(crate) use ratio::{
    about, decimals, percentage, plain_ratio, points, probability, ratio, significance, times,
};
pub(crate) use scale::round_step;
pub use scale::{IncompatibleUnits, Scale, Step, duration, human, human_short, label_number, moment};
pub use timestamp::{TimestampError, date, parse_rfc3339, timestamp_minutes, timestamp_seconds};

/// A kind of unit: values can be converted within a family, but not across families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Memory: B, KiB, MiB …, each 1024 of the one before.
    Bytes,
    /// Time: ns, µs, ms, s, min, h.
    Time,
    /// Plain numbers: no unit, k, M, G.
    Count,
    /// Google compute units: `nGCU`, `µGCU`, `mGCU`, `GCU`.
    Gcu,
    /// A unit that `prof` does not know; it is compatible only with itself.
    Other,
}

/// One unit of measurement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    family: Family,
    name: Cow<'static, str>,
    /// How many of the family's smallest units (B, ns, 1, nGCU) this one is.
    factor: i64,
}

/// One row of the table of known units; the rows of a family are adjacent, smallest first.
struct KnownUnit {
    family: Family,
    name: &'static str,
    factor: i64,
    /// A column uses this unit by default if its largest value is at least this many of it; 0 means only on request.
    automatic_from: i64,
    /// Other spellings, in lower case, with `u` for `µ`; a plural `s` is always accepted.
    aliases: &'static [&'static str],
}

const fn known(
    family: Family,
    name: &'static str,
    factor: i64,
    automatic_from: i64,
    aliases: &'static [&'static str],
) -> KnownUnit {
    KnownUnit { family, name, factor, automatic_from, aliases }
}

const SECOND: i64 = 1_000_000_000;

// The thresholds for minutes and hours are high: `85.99s` compares with `4.82s` at a glance, `1.43min`
// does not.
// No factor exceeds 2^50, so that i64::MAX of any unit, in hundredths of another, fits an i128.
static KNOWN: &[KnownUnit] = &[
    known(Family::Bytes, "B", 1, 1, &["byte"]),
    known(Family::Bytes, "KiB", 1 << 10, 1, &["k", "kb", "kbyte", "kilobyte", "kibibyte"]),
    known(Family::Bytes, "MiB", 1 << 20, 1, &["m", "mb", "mbyte", "megabyte", "mebibyte"]),
    known(Family::Bytes, "GiB", 1 << 30, 1, &["g", "gb", "gbyte", "gigabyte", "gibibyte"]),
    known(Family::Bytes, "TiB", 1 << 40, 1, &["t", "tb", "tbyte", "terabyte", "tebibyte"]),
    known(Family::Bytes, "PiB", 1 << 50, 1, &["pb", "pbyte", "petabyte", "pebibyte"]),
    known(Family::Time, "ns", 1, 1, &["nanosecond", "nanosec", "nsec"]),
    known(Family::Time, "µs", 1_000, 1, &["microsecond", "microsec", "usec"]),
    known(Family::Time, "ms", 1_000_000, 1, &["millisecond", "millisec", "msec"]),
    known(Family::Time, "s", SECOND, 1, &["second", "sec"]),
    known(Family::Time, "min", 60 * SECOND, 10, &["minute"]),
    known(Family::Time, "h", 3_600 * SECOND, 10, &["hour", "hr", "hrs"]),
    known(Family::Count, "", 1, 1, &["count"]),
    known(Family::Count, "k", 1_000, 0, &["kilo", "thousand"]),
    known(Family::Count, "M", 1_000_000, 0, &["mega", "million"]),
    known(Family::Count, "G", 1_000_000_000, 0, &["giga", "billion"]),
    known(Family::Gcu, "nGCU", 1, 1, &["n*gcu", "nanogcu"]),
    known(Family::Gcu, "µGCU", 1_000, 1, &["u*gcu", "microgcu"]),
    known(Family::Gcu, "mGCU", 1_000_000, 1, &["m*gcu", "milligcu"]),
    known(Family::Gcu, "GCU", 1_000_000_000, 1, &[]),
];

impl KnownUnit {
    fn unit(&self) -> Unit {
        Unit { family: self.family, name: Cow::Borrowed(self.name), factor: self.factor }
    }

    fn is_called(&self, folded: &str) -> bool {
        (!self.name.is_empty() && fold(self.name) == folded) || self.aliases.contains(&folded)
    }
}

/// Lower case, and one letter for the two that look like a mu (U+00B5 and U+03BC).
fn fold(name: &str) -> String {
    name.to_lowercase().replace(['µ', 'μ'], "u")
}

impl Unit {
    /// Plain numbers.
    pub const COUNT: Unit = Unit { family: Family::Count, name: Cow::Borrowed(""), factor: 1 };
    /// Nanoseconds.
    pub const NANOSECONDS: Unit = Unit { family: Family::Time, name: Cow::Borrowed("ns"), factor: 1 };
    /// Bytes.
    pub const BYTES: Unit = Unit { family: Family::Bytes, name: Cow::Borrowed("B"), factor: 1 };

    /// Recognises a unit's name, in any case, singular or plural: `us`, `µs` and `μs` are the same, and
    /// so are `kB`, `KB` and `KiB`. `k`, `M` and `G` are counts. An unknown name is kept as it is.
    pub fn parse(name: &str) -> Unit {
        let trimmed = name.trim();
        let folded = fold(trimmed);
        // `k` means kibi, and `m` mebi, only where bytes are already expected, see `parse_as`.
        let is_short = ["k", "m", "g", "t"].contains(&&*folded);
        let found = Self::find(&folded, |k| !(k.family == Family::Bytes && is_short));
        found.unwrap_or_else(|| Unit {
            family: Family::Other,
            name: Cow::Owned(trimmed.to_owned()),
            factor: 1,
        })
    }

    /// Like [`Unit::parse`], but for a known family, as for `--unit k` with a metric in bytes. Only a
    /// name that is unknown in this family is searched for in the others.
    pub fn parse_as(name: &str, family: Family) -> Unit {
        Self::find(&fold(name.trim()), |k| k.family == family).unwrap_or_else(|| Unit::parse(name))
    }

    fn find(folded: &str, wanted: impl Fn(&KnownUnit) -> bool) -> Option<Unit> {
        let find = |name: &str| KNOWN.iter().find(|k| wanted(k) && k.is_called(name));
        // Only words have a plural: the s of `ms` and `s` is their own, and `mss` is not a unit.
        let singular = folded.strip_suffix('s').filter(|stem| stem.len() >= 3);
        find(folded).or_else(|| singular.and_then(find)).map(KnownUnit::unit)
    }

    /// The family this unit belongs to.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The name written after a number: `s`, `MiB`, empty for a count.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether values of the two units can be compared: same family, and for unknown units the same
    /// name.
    pub fn is_same_kind(&self, other: &Unit) -> bool {
        self.family == other.family && (self.family != Family::Other || same_word(&self.name, &other.name))
    }

    /// How many of `finer` make one of this unit: 1,000,000 for ms and ns. `None` if the units are
    /// incompatible or this unit is the finer one. Always exact.
    pub fn factor_to(&self, finer: &Unit) -> Option<i64> {
        (self.is_same_kind(finer) && self.factor >= finer.factor).then(|| self.factor / finer.factor)
    }
}

/// Whether two names of unknown units are equal except for case and a plural `s` (`Step`, `steps`).
fn same_word(a: &str, b: &str) -> bool {
    let (a, b) = (fold(a), fold(b));
    a == b || a.strip_suffix('s') == Some(&b) || b.strip_suffix('s') == Some(&a)
}

/// Divides, rounding half away from zero. `denominator` is positive.
pub(crate) fn round_div(numerator: i128, denominator: i128) -> i128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    // The same as `rest ≥ denominator / 2`, but without the doubling that could overflow.
    if rest.abs() >= denominator - rest.abs() { whole + numerator.signum() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised() {
        for (text, family, name, factor) in [
            ("nanoseconds", Family::Time, "ns", 1),
            ("Nanosecond", Family::Time, "ns", 1),
            ("us", Family::Time, "µs", 1_000),
            ("\u{b5}s", Family::Time, "µs", 1_000),
            ("\u{3bc}s", Family::Time, "µs", 1_000),
            ("MICROSECONDS", Family::Time, "µs", 1_000),
            ("ms", Family::Time, "ms", 1_000_000),
            ("S", Family::Time, "s", SECOND),
            ("seconds", Family::Time, "s", SECOND),
            ("mins", Family::Time, "min", 60 * SECOND),
            ("hrs", Family::Time, "h", 3600 * SECOND),
            ("bytes", Family::Bytes, "B", 1),
            ("b", Family::Bytes, "B", 1),
            ("kB", Family::Bytes, "KiB", 1024),
            ("KiB", Family::Bytes, "KiB", 1024),
            ("megabytes", Family::Bytes, "MiB", 1 << 20),
            ("count", Family::Count, "", 1),
            ("Counts", Family::Count, "", 1),
            ("k", Family::Count, "k", 1_000),
            ("m", Family::Count, "M", 1_000_000),
            ("n*GCU", Family::Gcu, "nGCU", 1),
            ("gcu", Family::Gcu, "GCU", SECOND),
            ("mem holes", Family::Other, "mem holes", 1),
            ("mss", Family::Other, "mss", 1),
            ("", Family::Other, "", 1),
        ] {
            let unit = Unit::parse(text);
            assert_eq!((unit.family, unit.name(), unit.factor), (family, name, factor), "{text:?}");
        }
        assert_eq!(Unit::parse_as("k", Family::Bytes).name(), "KiB");
        assert_eq!(Unit::parse_as("s", Family::Bytes).name(), "s");
    }

    #[test]
    fn kinds_and_factors() {
        let (ms, ns) = (Unit::parse("ms"), Unit::NANOSECONDS);
        assert_eq!(ms.factor_to(&ns), Some(1_000_000));
        assert_eq!(ns.factor_to(&ms), None);
        assert_eq!(ms.factor_to(&Unit::BYTES), None);
        assert!(Unit::parse("Step").is_same_kind(&Unit::parse("steps")));
        assert!(!Unit::parse("steps").is_same_kind(&Unit::parse("holes")));
        assert!(!Unit::parse("").is_same_kind(&Unit::COUNT));
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (n, d, want) in [(5, 10, 1), (-5, 10, -1), (4, 10, 0), (-4, 10, 0), (15, 10, 2), (1, 3, 0)] {
            assert_eq!(round_div(n, d), want, "{n}/{d}");
        }
        assert_eq!(round_div(i128::MAX, i128::MAX), 1);
    }
}
