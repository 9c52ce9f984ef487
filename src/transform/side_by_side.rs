//! Profiles laid beside each other: a comparison is one more column.

use std::fmt;

use crate::profile::{LoadOptions, Period, Profile, ProfileBuilder};
use crate::transform::copier::{Copier, Taken};
use crate::transform::merge::{MergeError, finest, reconcile, same_kind};
use crate::unit::{Unit, human_short};

/// One metric of one profile, to stand beside others.
#[derive(Clone, Copy, Debug)]
pub struct OneMetric<'p> {
    /// The profile.
    pub profile: &'p Profile,
    /// The number of the metric.
    pub metric: usize,
    /// One more value for every row, if there is one; those of all parts share a column.
    pub extra: Option<&'p [i64]>,
}

/// Why profiles cannot be laid beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideBySideError {
    /// Units of different kinds, or tables that outgrow their ids.
    Merge(MergeError),
    /// One sample stands for different amounts: the first period and the one that differs from it, and
    /// the number of its profile.
    Periods(String, String, usize),
    /// The values of all profiles together do not fit 64 bits.
    Overflow(String),
}

impl fmt::Display for SideBySideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SideBySideError::Merge(error) => write!(f, "{error}"),
            SideBySideError::Periods(first, other, _) => {
                write!(f, "the sampling periods differ: {first} in one profile and {other} in another")
            }
            SideBySideError::Overflow(metric) => {
                write!(f, "the values of {metric} on both sides sum to more than 64 bits hold")
            }
        }
    }
}

impl std::error::Error for SideBySideError {}

/// Lays profiles beside each other: the result holds the stacks of all, and a metric for each part in
/// order, then one of the extra values where there are any. Units of one kind become the finest of
/// them. Labels and times are kept only where `keep` says so: without them equal stacks are one row.
/// Calls instead of stacks are laid beside each other too, without extra values.
///
/// ```
/// use prof::profile::{LoadOptions, from_notation, to_notation};
/// use prof::transform::{OneMetric, side_by_side};
///
/// let (old, new) = (from_notation("main;a 3\nmain;b 4"), from_notation("main;a 5\nmain;c 1"));
/// let parts = [&old, &new].map(|profile| OneMetric { profile, metric: 0, extra: None });
/// let both = side_by_side(&parts, LoadOptions::default()).unwrap();
/// assert_eq!(to_notation(&both), "main;a 3 5\nmain;b 4 0\nmain;c 0 1");
/// ```
/// Fails for metrics with units of different kinds or with different periods, and where the values of all
/// do not fit 64 bits.
pub fn side_by_side(parts: &[OneMetric<'_>], keep: LoadOptions) -> Result<Profile, SideBySideError> {
    let Some(first) = parts.first() else {
        let builder = ProfileBuilder::new("none", keep);
        return builder.finish().map_err(|error| SideBySideError::Merge(MergeError::TooLarge(error)));
    };
    check_periods(parts)?;
    same_kind(&parts.iter().map(|part| part.profile).collect::<Vec<_>>()).map_err(SideBySideError::Merge)?;
    let metric = &first.profile.meta.metrics[first.metric];
    let metrics: Vec<_> = parts.iter().map(|part| (&part.profile.meta, part.metric)).collect();
    let (unit, divisor) = finest(&metrics);
    let factors = reconcile(&metrics, &metric.name).map_err(SideBySideError::Merge)?;
    let has_extra = parts.iter().any(|part| part.extra.is_some());

    let keep_times = keep.times && parts.iter().any(|part| part.profile.samples.time.is_some());
    let mut builder =
        ProfileBuilder::new(first.profile.meta.format, LoadOptions { times: keep_times, ..keep });
    for _ in parts {
        let made = builder.metric(&metric.name, &unit);
        builder.meta.metrics[made].divisor = divisor;
    }
    if has_extra {
        builder.metric("extra", "");
    }
    for (number, (part, factor)) in parts.iter().zip(factors).enumerate() {
        let column = &part.profile.samples.values[part.metric];
        let copier = Copier::new(&mut builder, part.profile, keep.labels);
        if let Some(calls) = &part.profile.calls {
            let mut taken = vec![None; parts.len()];
            taken[number] = Some(Taken { column: part.metric, factor });
            copier.copy_calls(calls, &taken);
            continue;
        }
        copier.copy_rows(parts.len() + usize::from(has_extra), |builder, row, values| {
            values[number] = column[row].checked_mul(factor).unwrap_or_else(|| {
                builder.overflow(number);
                0
            });
            if has_extra {
                values[parts.len()] = part.extra.map_or(0, |extra| extra[row]);
            }
        });
    }
    let meta = &first.profile.meta;
    builder.meta.period.clone_from(&meta.period);
    builder.meta.profiles = parts.iter().map(|part| part.profile.meta.profiles).sum();
    let mut whole = builder.finish().map_err(|error| SideBySideError::Merge(MergeError::TooLarge(error)))?;
    refuse_overflow(&whole, parts.len())?;
    for warning in parts.iter().flat_map(|part| &part.profile.meta.warnings) {
        if !whole.meta.warnings.contains(warning) {
            whole.meta.warnings.push(warning.clone());
        }
    }
    Ok(whole)
}

fn check_periods(parts: &[OneMetric<'_>]) -> Result<(), SideBySideError> {
    let known = |part: &OneMetric<'_>| part.profile.meta.period.clone();
    let Some(first) = parts.iter().find_map(known) else { return Ok(()) };
    let spoken = |period: &Period| {
        format!("{} of {}", human_short(period.value, &Unit::parse(&period.unit), 1), period.name)
    };
    for (number, part) in parts.iter().enumerate() {
        if let Some(other) = known(part).filter(|other| *other != first) {
            return Err(SideBySideError::Periods(spoken(&first), spoken(&other), number));
        }
    }
    Ok(())
}

/// Refuses values whose sum over all parts exceeds 64 bits, so that no difference of them can.
fn refuse_overflow(profile: &Profile, parts: usize) -> Result<(), SideBySideError> {
    let metrics = &profile.meta.metrics[..parts];
    let sum = metrics.iter().try_fold(0_i64, |sum, metric| sum.checked_add(metric.total));
    if sum.is_none() || metrics.iter().any(|metric| metric.too_large) {
        return Err(SideBySideError::Overflow(metrics[0].name.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    fn beside(a: &Profile, b: &Profile) -> Result<Profile, SideBySideError> {
        let parts = [a, b].map(|profile| OneMetric { profile, metric: 0, extra: None });
        side_by_side(&parts, LoadOptions::default())
    }

    #[test]
    fn a_function_on_one_side_has_nothing_on_the_other() {
        let (old, new) =
            (from_notation("main;gone 3 {k=v}\nmain;gone 1"), from_notation("main;new 2\nmain;new 7 {k=w}"));
        assert_eq!(to_notation(&beside(&old, &new).unwrap()), "main;gone 4 0\nmain;new 0 9");
    }

    #[test]
    fn units_are_reconciled_and_kinds_must_agree() {
        let (mut old, mut new) = (from_notation("main 2"), from_notation("main 7"));
        (old.meta.metrics[0].unit, new.meta.metrics[0].unit) = ("seconds".into(), "ms".into());
        assert_eq!(to_notation(&beside(&old, &new).unwrap()), "main 2000 7");
        new.meta.metrics[0].unit = "bytes".into();
        let error = beside(&old, &new).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the metric samples is in seconds in one input and in bytes in another"
        );
    }

    #[test]
    fn periods_must_agree() {
        let (mut old, mut new) = (from_notation("main 2"), from_notation("main 7"));
        let period = |value| Some(Period { name: "cpu".into(), unit: "nanoseconds".into(), value });
        (old.meta.period, new.meta.period) = (period(10_000_000), period(4_000_000));
        let error = beside(&old, &new).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the sampling periods differ: 10ms of cpu in one profile and 4ms of cpu in another"
        );
        new.meta.period = None;
        assert!(beside(&old, &new).is_ok());
    }

    #[test]
    fn both_sides_together_must_fit() {
        let half = format!("main {}", i64::MAX / 2 + 1);
        let error = beside(&from_notation(&half), &from_notation(&half)).unwrap_err();
        assert!(matches!(error, SideBySideError::Overflow(_)));
    }
}
