//! Counts that do not say what they count: collapsed stacks may hold samples, but also nanoseconds or bytes.

use std::sync::Arc;

use crate::profile::Profile;
use crate::stats::effective::CommonDivisor;
use crate::unit::{Family, Unit, group_thousands};
use crate::view::diff::sample_size::SAMPLES;

/// How counts in different units were made comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reconciled {
    /// All count samples now.
    Samples(String),
    /// All have the same total now, so their shares are comparable.
    Shares(String),
}

impl Reconciled {
    /// What to tell the reader.
    pub(crate) fn warning(&self) -> &str {
        match self {
            Reconciled::Samples(warning) | Reconciled::Shares(warning) => warning,
        }
    }
}

/// A format whose counts have no unit.
const WITHOUT_UNIT: &str = "collapsed";
/// Beyond this factor, totals of two collapsed files differ in more than the length of the recording.
const MOST_ALIKE: i64 = 1000;
/// The same for files of different formats.
const MOST_MIXED: i64 = 50;
/// The same for counts that are multiples of different numbers.
const MOST_MULTIPLES: i64 = 5;

/// Makes counts comparable that cannot have the same unit, because a file with collapsed stacks has a total of quite another
/// size. `None` if nothing speaks against comparing them as they are.
pub(crate) fn reconcile(inputs: &mut [(&mut Profile, usize)]) -> Option<Reconciled> {
    let is_plain = |(profile, metric): &(&mut Profile, usize)| {
        let metric = &profile.meta.metrics[*metric];
        let counts = Unit::parse(&metric.unit).family() == Family::Count && metric.divisor == 1;
        profile.calls.is_none() && counts && SAMPLES.contains(&metric.name.as_str())
    };
    let is_without_unit = |(profile, _): &(&mut Profile, usize)| profile.meta.format == WITHOUT_UNIT;
    if !inputs.iter().all(is_plain) || !inputs.iter().any(is_without_unit) {
        return None;
    }
    let totals: Vec<i64> =
        inputs.iter().map(|(profile, metric)| profile.meta.metrics[*metric].total).collect();
    let apart = factor_between(&totals);
    let sizes: Vec<i64> = inputs.iter().map(|(profile, metric)| size(profile, *metric)).collect();
    let counts: Vec<i64> = totals.iter().zip(&sizes).map(|(total, size)| total / size).collect();
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let differ = sizes.iter().any(|&size| size != largest);
    if differ && apart > MOST_MULTIPLES && factor_between(&counts) < apart.min(MOST_ALIKE) {
        for ((profile, metric), size) in inputs.iter_mut().zip(sizes) {
            rescale(profile, *metric, |value| value / size);
        }
        return Some(Reconciled::Samples(format!(
            "the inputs count in different units, and collapsed stacks do not say in which: where all counts are multiples \
             of {0}, every {0} are compared as one sample",
            group_thousands(i128::from(largest))
        )));
    }
    let is_mixed = !inputs.iter().all(is_without_unit);
    if apart <= if is_mixed { MOST_MIXED } else { MOST_ALIKE } {
        return None;
    }
    let most = totals.iter().copied().max().unwrap_or(0);
    for ((profile, metric), total) in inputs.iter_mut().zip(totals) {
        let factor = if total > 0 { most / total } else { 1 };
        // Rounded down, so the sum stays below that of the largest.
        rescale(profile, *metric, |value| value.saturating_mul(factor));
    }
    Some(Reconciled::Shares(format!(
        "the inputs count in different units, and collapsed stacks do not say in which (the totals differ by a factor of \
         {}): they are rescaled to the same total, so only shares are compared, and values are not those recorded",
        group_thousands(i128::from(apart))
    )))
}

/// How many times the smallest total, of those that are not zero, the largest one is.
fn factor_between(totals: &[i64]) -> i64 {
    let known = || totals.iter().copied().filter(|&total| total > 0);
    known().max().zip(known().min()).map_or(1, |(most, least)| most / least)
}

/// How much one sample counts in this profile, as far as its rows tell.
fn size(profile: &Profile, metric: usize) -> i64 {
    let common = CommonDivisor::of(profile.samples.values[metric].iter().copied());
    let size = common.divisor().filter(|_| common.is_sample_size());
    size.and_then(|size| i64::try_from(size).ok()).unwrap_or(1)
}

fn rescale(profile: &mut Profile, metric: usize, rescaled: impl Fn(i64) -> i64) {
    for value in &mut Arc::make_mut(&mut profile.samples).values[metric] {
        *value = rescaled(*value);
    }
    let meta = &mut profile.meta.metrics[metric];
    (meta.total, meta.idle) = (rescaled(meta.total), rescaled(meta.idle));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    fn collapsed(picture: &str) -> Profile {
        let mut profile = from_notation(picture);
        profile.meta.format = WITHOUT_UNIT;
        profile
    }

    /// Twenty rows, multiples of `size`.
    fn rows(size: i64) -> String {
        (1..=20).map(|i| format!("f{i} {}", i * size)).collect::<Vec<String>>().join("\n")
    }

    fn reconciled(old: &mut Profile, new: &mut Profile) -> Option<Reconciled> {
        reconcile(&mut [(old, 0), (new, 0)])
    }

    #[test]
    fn multiples_of_a_period_become_samples() {
        let (mut old, mut new) = (from_notation(&rows(1)), collapsed(&rows(4_000_000)));
        let found = reconciled(&mut old, &mut new).unwrap();
        assert!(matches!(found, Reconciled::Samples(_)), "{found:?}");
        assert!(found.warning().contains("every 4,000,000"), "{found:?}");
        assert_eq!(to_notation(&new), to_notation(&old));
        assert_eq!(new.meta.metrics[0].total, old.meta.metrics[0].total);
    }

    #[test]
    fn counts_of_unknown_size_get_the_same_total() {
        let (mut old, mut new) = (from_notation("a 3\nb 1"), collapsed("a 3000017\nb 999983"));
        let found = reconciled(&mut old, &mut new).unwrap();
        assert!(matches!(found, Reconciled::Shares(_)), "{found:?}");
        assert_eq!(to_notation(&old), "a 3000000\nb 1000000");
        assert_eq!(to_notation(&new), "a 3000017\nb 999983");
    }

    #[test]
    fn longer_recordings_and_formats_with_units_are_left_alone() {
        let small = || from_notation("a 3\nb 1");
        for (mut old, mut new) in [
            (collapsed("a 3\nb 1"), collapsed("a 1500\nb 500")),
            (small(), collapsed("a 60\nb 21")),
            (small(), from_notation("a 3000017\nb 999983")),
            (collapsed(&rows(10)), collapsed(&rows(10))),
        ] {
            assert_eq!(reconciled(&mut old, &mut new), None);
        }
    }
}
