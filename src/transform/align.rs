//! Aligning profiles: one profile with the stacks of all inputs and one metric (a column) per input.

use crate::profile::{LoadOptions, Meta, Period, Profile, ProfileBuilder, RecordedTimes, RunColumns};
use crate::transform::copier::{CopiedTables, Copier, SourceMetric};
use crate::transform::merge::same_kind;
use crate::transform::merge_error::MergeError;
use crate::transform::metric_units::{Reconciled, reconcile};
use crate::unit::{Unit, human_short};

/// One metric of one profile, as an input of [`align`].
#[derive(Clone, Copy, Debug)]
pub struct ProfileMetric<'p> {
    /// The profile.
    pub profile: &'p Profile,
    /// The number of the metric.
    pub metric: usize,
    /// An additional value per row, if any. The extra values of all inputs share one column.
    pub extra: Option<&'p [i64]>,
}

/// Why profiles cannot be aligned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AlignError {
    /// The units are of different kinds, or a table has more rows than ids can count.
    #[error("{0}")]
    Merge(MergeError),
    /// The sampling periods differ: the first period, the one that differs from it, and the number of
    /// the profile that has it.
    #[error("the sampling periods differ: {0} in one profile and {1} in another")]
    Periods(String, String, usize),
    /// The sum of the values of all profiles does not fit in 64 bits.
    #[error("the sum of {0} over both sides does not fit in 64 bits")]
    Overflow(String),
}

/// Aligns profiles: the result holds the stacks of all inputs and one metric per input, in order,
/// followed by a column for the extra values if there are any. Units of one kind are converted to the
/// finest of them. Labels and times are kept only if `keep` asks for them; without them, samples with the
/// same stack become one row. Profiles that hold calls instead of stacks are aligned too, without extra
/// values.
///
/// ```
/// use prof::profile::{LoadOptions, from_notation, to_notation};
/// use prof::transform::{ProfileMetric, align};
///
/// let (old, new) = (from_notation("main;a 3\nmain;b 4"), from_notation("main;a 5\nmain;c 1"));
/// let parts = [&old, &new].map(|profile| ProfileMetric { profile, metric: 0, extra: None });
/// let both = align(&parts, LoadOptions::default()).unwrap();
/// assert_eq!(to_notation(&both), "main;a 3 5\nmain;b 4 0\nmain;c 0 1");
/// ```
///
/// Fails if the metrics have units of different kinds or different sampling periods, or if the sum of all
/// values does not fit in 64 bits.
pub fn align(parts: &[ProfileMetric<'_>], keep: LoadOptions) -> Result<Profile, AlignError> {
    let owned = |part: &ProfileMetric<'_>| AlignedInput {
        profile: part.profile.clone(),
        metric: part.metric,
        extra: part.extra.map(<[i64]>::to_vec),
    };
    align_owned(parts.iter().map(owned).collect(), keep)
}

/// One metric of one profile, as an input of [`align_owned`].
pub(crate) struct AlignedInput {
    pub(crate) profile: Profile,
    pub(crate) metric: usize,
    /// As in [`ProfileMetric`].
    pub(crate) extra: Option<Vec<i64>>,
}

/// [`align`], but each profile is dropped as soon as it is copied, so that memory does not hold all samples twice.
pub(crate) fn align_owned(parts: Vec<AlignedInput>, keep: LoadOptions) -> Result<Profile, AlignError> {
    let Some(first) = parts.first() else {
        let builder = ProfileBuilder::new("none", keep);
        return builder.finish().map_err(|error| AlignError::Merge(MergeError::TooLarge(error)));
    };
    same_kind(&parts.iter().map(|part| &part.profile).collect::<Vec<_>>()).map_err(AlignError::Merge)?;
    let metric = &first.profile.meta.metrics[first.metric];
    let metrics: Vec<_> = parts.iter().map(|part| (&part.profile.meta, part.metric)).collect();
    let Reconciled { unit, divisor, factors } =
        reconcile(&metrics, &metric.name).map_err(AlignError::Merge)?;
    // Periods in units of different kinds say less than the units themselves.
    check_periods(&parts)?;
    let has_extra = parts.iter().any(|part| part.extra.is_some());

    let keep_labels = keep.labels;
    let keep_times = keep.times && parts.iter().any(|part| part.profile.samples.time.is_some());
    let mut builder =
        ProfileBuilder::new(first.profile.meta.format, LoadOptions { times: keep_times, ..keep });
    for _ in &parts {
        let made = builder.metric(&metric.name, &unit);
        builder.meta.metrics[made].divisor = divisor;
    }
    if has_extra {
        builder.metric("extra", "");
    }
    let count = parts.len();
    if !has_extra && parts.iter().all(|part| is_plain(&part.profile, part.metric, keep_labels)) {
        let metas = add_plain(&mut builder, parts, &factors);
        return finish(builder, &metas);
    }
    let mut metas: Vec<Meta> = Vec::with_capacity(count);
    let mut copied: Option<CopiedTables> = None;
    for (number, (part, factor)) in parts.into_iter().zip(factors).enumerate() {
        let known = copied.take().filter(|copied| copied.are_of(&part.profile));
        let tables = copied.insert(known.unwrap_or_else(|| CopiedTables::new(&mut builder, &part.profile)));
        if part.profile.calls.is_none() {
            builder.reserve_rows();
        }
        let copier = Copier::new(&mut builder, &part.profile, Some(tables), keep_labels);
        if let Some(calls) = &part.profile.calls {
            let mut taken = vec![None; count];
            taken[number] = Some(SourceMetric { column: part.metric, factor });
            copier.copy_calls(calls, &taken);
            metas.push(part.profile.meta);
            continue;
        }
        let column = &part.profile.samples.values[part.metric];
        let metrics = if has_extra { 0..count + 1 } else { number..number + 1 };
        let own = number - metrics.start;
        copier.copy_rows(metrics, |builder, row, values| {
            values[own] = column[row].checked_mul(factor).unwrap_or_else(|| {
                builder.overflow(number);
                0
            });
            if has_extra {
                values[count] = part.extra.as_ref().map_or(0, |extra| extra[row]);
            }
        });
        metas.push(part.profile.meta);
    }
    finish(builder, &metas)
}

/// Whether the samples of a profile are added up by stack alone, and all have the same sign.
fn is_plain(profile: &Profile, metric: usize, keep_labels: bool) -> bool {
    let has_labels = keep_labels && profile.label_sets.len() > 1;
    let is_unsigned = || profile.samples.values[metric].iter().all(|&value| value >= 0);
    profile.calls.is_none() && profile.samples.time.is_none() && !has_labels && is_unsigned()
}

/// Adds profiles whose samples are added up by stack alone: the columns of different profiles do not depend on each other.
fn add_plain(builder: &mut ProfileBuilder, parts: Vec<AlignedInput>, factors: &[i64]) -> Vec<Meta> {
    let mut columns = RunColumns::default();
    let mut metas = Vec::with_capacity(parts.len());
    let mut copied: Option<CopiedTables> = None;
    for (AlignedInput { profile, metric, .. }, &factor) in parts.into_iter().zip(factors) {
        let known = copied.take().filter(|copied| copied.are_of(&profile));
        let tables = copied.insert(known.unwrap_or_else(|| CopiedTables::new(builder, &profile)));
        columns.add(profile.samples, metric, factor, |stack| tables.stack(stack));
        metas.push(profile.meta);
    }
    builder.runs(columns);
    metas
}

/// The aligned profile, with what its inputs say about themselves.
fn finish(mut builder: ProfileBuilder, metas: &[Meta]) -> Result<Profile, AlignError> {
    builder.meta.period.clone_from(&metas[0].period);
    builder.meta.profiles = metas.iter().map(|meta| meta.profiles).sum();
    builder.meta.is_latency = metas.iter().any(|meta| meta.is_latency);
    let mut whole = builder.finish().map_err(|error| AlignError::Merge(MergeError::TooLarge(error)))?;
    refuse_overflow(&whole, metas.len())?;
    if whole.samples.time.is_some() {
        // `--from 1s` means one second after the start of each.
        let recordings: Option<Vec<RecordedTimes>> = metas.iter().map(RecordedTimes::of).collect();
        whole.meta.recordings = recordings.unwrap_or_default();
    }
    for warning in metas.iter().flat_map(|meta| &meta.warnings) {
        if !whole.meta.warnings.contains(warning) {
            whole.meta.warnings.push(warning.clone());
        }
    }
    for meta in metas {
        whole.meta.sources.extend(meta.sources.clone());
        for note in &meta.notes {
            if !whole.meta.notes.contains(note) {
                whole.meta.notes.push(note.clone());
            }
        }
    }
    Ok(whole)
}

fn check_periods(parts: &[AlignedInput]) -> Result<(), AlignError> {
    let known = |part: &AlignedInput| part.profile.meta.period.clone();
    let Some(first) = parts.iter().find_map(known) else { return Ok(()) };
    let spoken = |period: &Period| {
        format!("{} of {}", human_short(period.value, &Unit::parse(&period.unit), 1), period.name)
    };
    for (number, part) in parts.iter().enumerate() {
        if let Some(other) = known(part).filter(|other| *other != first) {
            return Err(AlignError::Periods(spoken(&first), spoken(&other), number));
        }
    }
    Ok(())
}

/// Refuses values whose sum over all inputs exceeds 64 bits, so that no difference between them can.
fn refuse_overflow(profile: &Profile, parts: usize) -> Result<(), AlignError> {
    let metrics = &profile.meta.metrics[..parts];
    let sum = metrics.iter().try_fold(0_i64, |sum, metric| sum.checked_add(metric.total));
    if sum.is_none() || metrics.iter().any(|metric| metric.too_large) {
        return Err(AlignError::Overflow(metrics[0].name.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{from_notation, to_notation};

    fn align_two(a: &Profile, b: &Profile) -> Result<Profile, AlignError> {
        let parts = [a, b].map(|profile| ProfileMetric { profile, metric: 0, extra: None });
        align(&parts, LoadOptions::default())
    }

    #[test]
    fn a_function_on_one_side_is_zero_on_the_other() {
        let (old, new) =
            (from_notation("main;gone 3 {k=v}\nmain;gone 1"), from_notation("main;new 2\nmain;new 7 {k=w}"));
        assert_eq!(to_notation(&align_two(&old, &new).unwrap()), "main;gone 4 0\nmain;new 0 9");
    }

    /// Runs as lines of a function, which is the leaf of `main`, and its value.
    type Drawn = Vec<Vec<(usize, i64)>>;

    fn drawn() -> impl Strategy<Value = Drawn> {
        let run = proptest::collection::vec((0..9_usize, 0..5_i64), 0..12);
        proptest::collection::vec(run, 1..6)
    }

    proptest! {
        #[test]
        fn runs_that_become_columns_are_as_if_copied_row_by_row(runs in drawn()) {
            let mut profiles: Vec<Profile> = runs
                .iter()
                .map(|run| {
                    let lines = run.iter().map(|(leaf, value)| format!("main;f{leaf} {value}"));
                    from_notation(&lines.chain(["main 1".to_string()]).collect::<Vec<_>>().join("\n"))
                })
                .collect();
            profiles[0].meta.metrics[0].unit = "ms".into();
            profiles.iter_mut().skip(1).for_each(|profile| profile.meta.metrics[0].unit = "seconds".into());
            // An extra column has every row copied.
            let zeros = [0; 13];
            let aligned = |extra| {
                let part = |profile| ProfileMetric { profile, metric: 0, extra };
                align(&profiles.iter().map(part).collect::<Vec<_>>(), LoadOptions::LEAST).unwrap()
            };
            let (plain, copied) = (aligned(None), aligned(Some(&zeros[..])));
            prop_assert_eq!(&plain.samples.stack, &copied.samples.stack);
            prop_assert_eq!(&plain.samples.labels, &copied.samples.labels);
            prop_assert_eq!(&plain.samples.values[..], &copied.samples.values[..runs.len()]);
            prop_assert_eq!(&plain.meta.metrics[..], &copied.meta.metrics[..runs.len()]);
            prop_assert_eq!(plain.meta.rows, copied.meta.rows);
            prop_assert_eq!(plain.stacks.all_frames(), copied.stacks.all_frames());
        }
    }

    #[test]
    fn units_are_reconciled_and_kinds_must_agree() {
        let (mut old, mut new) = (from_notation("main 2"), from_notation("main 7"));
        (old.meta.metrics[0].unit, new.meta.metrics[0].unit) = ("seconds".into(), "ms".into());
        assert_eq!(to_notation(&align_two(&old, &new).unwrap()), "main 2000 7");
        new.meta.metrics[0].unit = "bytes".into();
        let error = align_two(&old, &new).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the metric samples is in seconds in one input and in bytes in another"
        );
    }

    /// Means of two and of three profiles are compared in sixths.
    #[test]
    fn divisors_need_not_divide_each_other() {
        let (mut old, mut new) = (from_notation("main 30"), from_notation("main 34"));
        (old.meta.metrics[0].divisor, new.meta.metrics[0].divisor) = (3, 2);
        let both = align_two(&old, &new).unwrap();
        assert_eq!(to_notation(&both), "main 60 102");
        assert_eq!(both.meta.metrics.iter().map(|metric| metric.divisor).collect::<Vec<_>>(), [6, 6]);
        (old.meta.metrics[0].divisor, new.meta.metrics[0].divisor) = (u64::MAX, u64::MAX - 1);
        assert!(align_two(&old, &new).is_err());
    }

    #[test]
    fn periods_must_agree() {
        let (mut old, mut new) = (from_notation("main 2"), from_notation("main 7"));
        let period = |value| Some(Period { name: "cpu".into(), unit: "nanoseconds".into(), value });
        (old.meta.period, new.meta.period) = (period(10_000_000), period(4_000_000));
        let error = align_two(&old, &new).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the sampling periods differ: 10ms of cpu in one profile and 4ms of cpu in another"
        );
        new.meta.period = None;
        assert!(align_two(&old, &new).is_ok());
    }

    #[test]
    fn both_sides_together_must_fit() {
        let half = format!("main {}", i64::MAX / 2 + 1);
        let error = align_two(&from_notation(&half), &from_notation(&half)).unwrap_err();
        assert!(matches!(error, AlignError::Overflow(_)));
    }
}
