//! How much of a metric makes one independent sample: the basis of all statistics.

use crate::profile::Profile;
use crate::stats::effective::{CommonDivisor, agrees_with_period, are_multiples, heap_row};
use crate::unit::{Family, Unit};

/// How much of a metric makes one independent sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSize {
    /// A constant amount.
    Known(i64),
    /// It differs between functions, and follows from the variances in the column after those of the
    /// profiles, multiplied by this factor.
    ByVariance(f64),
    /// The mean time of the samples that a pair of profiles counts. It tells what functions cost compared with unchanged
    /// code, but not how much runs of this kind differ: a V8 profile varies by far more than its number of samples
    /// suggests, because the compiler inlines other functions in each run.
    Mean(i64),
    /// A constant amount, in a pair of profiles whose samples follow the clock: while the program waits for a processor, each of them
    /// finds the same stack. How often that happened can be told from several runs only.
    ByClock(i64),
    /// The profiles do not determine it.
    Unknown,
}

impl SampleSize {
    /// How much of the metric makes one sample; 1 if that is not the same for all functions.
    pub(super) fn of_sample(self) -> f64 {
        match self {
            SampleSize::Known(size) | SampleSize::Mean(size) | SampleSize::ByClock(size) => size as f64,
            SampleSize::ByVariance(_) | SampleSize::Unknown => 1.0,
        }
    }
}

/// Metrics that count samples.
pub(super) const SAMPLES: &[&str] = &["samples", "sample", "events", "hits"];

/// Metrics that several threads contribute to at once, or that a few long events dominate: their rows
/// are not independent of each other.
const DEPENDENT: &[&str] = &[
    "goroutine",
    "goroutines",
    "goroutines_count",
    "contentions",
    "delay",
    "wall",
    "wall-time",
    "elapsed",
    "lock_count",
    "lock_time",
    "mutex_count",
    "mutex_duration",
    "block_count",
    "block_duration",
    "exceptions",
];

/// The shortest time between two samples, in nanoseconds, that a common divisor of times may be taken
/// for; anything shorter is the resolution of a clock.
const SHORTEST_PERIOD: i64 = 50_000;

/// The variances of the rows of heap profiles, scaled so that they fit integers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeapVariances {
    /// For each profile, one value per row.
    pub(super) rows: Vec<Vec<i64>>,
    /// The factor that converts a value to a variance.
    pub(super) scale: f64,
}

/// The variances of sampled heaps; `None` for other profiles. Each profile comes with the number of its
/// metric, and has one row per size.
pub(super) fn heap_variances(profiles: &[(&Profile, usize)]) -> Option<HeapVariances> {
    let mut variances = Vec::new();
    for &(profile, metric) in profiles {
        let heap = heap_columns(profile, metric)?;
        let (objects, bytes) = (&profile.samples.values[heap.objects], &profile.samples.values[heap.bytes]);
        let variance = |(&objects, &bytes): (&i64, &i64)| {
            let row = heap_row(objects as f64, bytes as f64, heap.rate);
            if metric == heap.bytes { row.bytes_variance } else { row.objects_variance }
        };
        variances.push(objects.iter().zip(bytes).map(variance).collect::<Vec<f64>>());
    }
    let sum: f64 = variances.iter().flatten().sum();
    let scale = if sum > 0.0 && sum.is_finite() { sum / WHOLE } else { 1.0 };
    let rows = variances.iter().map(|rows| rows.iter().map(|row| (row / scale).round() as i64).collect());
    Some(HeapVariances { rows: rows.collect(), scale })
}

/// The sum of all variances as integers, small enough for an f64 to be exact.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// The columns with objects and bytes in a heap profile, and the mean number of bytes between two
/// recorded allocations.
struct HeapColumns {
    objects: usize,
    bytes: usize,
    rate: f64,
}

/// Those of a sampled heap to which a metric belongs; `None` for other profiles.
fn heap_columns(profile: &Profile, metric: usize) -> Option<HeapColumns> {
    let meta = &profile.meta;
    let period = meta.period.as_ref().filter(|period| Unit::parse(&period.unit) == Unit::BYTES)?;
    let name = &meta.metrics.get(metric)?.name;
    let (objects, bytes) = if name.ends_with("objects") {
        (metric, meta.metric_named(&name.replace("objects", "space"))?)
    } else if name.ends_with("space") {
        (meta.metric_named(&name.replace("space", "objects"))?, metric)
    } else {
        return None;
    };
    let is_plain = |metric: usize| meta.metrics[metric].divisor == 1;
    let in_bytes = Unit::parse(&meta.metrics[bytes].unit) == Unit::BYTES;
    (in_bytes && is_plain(objects) && is_plain(bytes)).then_some(HeapColumns {
        objects,
        bytes,
        rate: period.value as f64,
    })
}

/// What profiles, each given with the number of its metric, say about their samples before they are made one profile.
pub(super) struct Recorded {
    /// How many profiles there are.
    profiles: usize,
    /// Whether rows may depend on each other.
    is_dependent: bool,
    /// Whether their own counts of samples, if there are any, are those that follow from the period.
    counts_agree: bool,
    /// Whether this is a pair whose samples follow the clock.
    is_pair_by_clock: bool,
    /// The mean time of a sample in a pair of profiles that count samples of unequal length.
    mean_time: Option<i64>,
}

impl Recorded {
    pub(super) fn of(profiles: &[(&Profile, usize)]) -> Self {
        Recorded {
            profiles: profiles.len(),
            is_dependent: profiles.iter().any(|&(profile, metric)| is_dependent(profile, metric)),
            counts_agree: profiles.iter().all(|&(profile, metric)| counts_agree(profile, metric)),
            is_pair_by_clock: profiles.len() == 2
                && profiles.iter().any(|(profile, _)| profile.meta.by_clock),
            mean_time: mean_time(profiles),
        }
    }
}

/// How much of the metric makes one sample, in the unit of `whole`, which contains all that were recorded as metrics, one
/// after the other from number `first` on; with a note for the reader if there is doubt.
pub(super) fn sample_size(
    recorded: &Recorded,
    whole: &Profile,
    first: usize,
) -> (SampleSize, Option<String>) {
    let Some(metric) = whole.meta.metrics.get(first) else { return (SampleSize::Unknown, None) };
    // Profiles of calls have no samples: only repeated runs show how much a count varies.
    if whole.calls.is_some() || recorded.is_dependent {
        return (SampleSize::Unknown, None);
    }
    let divisor = metric.divisor as i64;
    let weights = || whole.samples.values[first..first + recorded.profiles].iter().flatten().copied();
    let unit = Unit::parse(&metric.unit);
    if SAMPLES.contains(&metric.name.as_str()) && unit.family() == Family::Count {
        if recorded.is_pair_by_clock {
            return (SampleSize::ByClock(divisor), None);
        }
        return if are_multiples(weights(), divisor) {
            counted(CommonDivisor::of(weights()), divisor)
        } else {
            (SampleSize::Unknown, None)
        };
    }
    if let Some(size) =
        period_in(whole, &metric.name, &unit, divisor).filter(|&size| are_multiples(weights(), size))
    {
        return (if recorded.counts_agree { SampleSize::Known(size) } else { SampleSize::Unknown }, None);
    }
    let common = CommonDivisor::of(weights());
    let shortest = Unit::NANOSECONDS.factor_to(&unit).map_or_else(
        || unit.factor_to(&Unit::NANOSECONDS).map(|factor| SHORTEST_PERIOD.saturating_mul(divisor) / factor),
        |factor| Some(SHORTEST_PERIOD.saturating_mul(divisor).saturating_mul(factor)),
    );
    match (common.divisor().and_then(|size| i64::try_from(size).ok()), shortest) {
        (Some(size), Some(shortest)) if common.is_sample_size() && size >= shortest => {
            (SampleSize::Known(size), None)
        }
        _ => (recorded.mean_time.map_or(SampleSize::Unknown, SampleSize::Mean), None),
    }
}

/// The mean time of a sample in a single pair of profiles that have no sampling period, but count their samples, such as V8's.
/// Several runs show themselves how much they differ, which is the better measure.
fn mean_time(profiles: &[(&Profile, usize)]) -> Option<i64> {
    let &[(first, metric), _] = profiles else { return None };
    let recorded = &first.meta.metrics.get(metric)?.unit;
    if Unit::parse(recorded).family() != Family::Time {
        return None;
    }
    let (mut time, mut count) = (0_i64, 0_i64);
    for &(profile, metric) in profiles {
        let meta = &profile.meta;
        let counts = meta.metrics.iter().position(|metric| SAMPLES.contains(&metric.name.as_str()))?;
        let both = [metric, counts].map(|metric| &meta.metrics[metric]);
        if both[0].unit != *recorded || both.iter().any(|metric| metric.divisor != 1) || meta.period.is_some()
        {
            return None;
        }
        let values = &profile.samples.values;
        // Samples that are idle have no time of this metric.
        let busy = values[counts].iter().zip(&values[metric]).filter(|(_, time)| **time != 0);
        for (samples, own) in busy {
            (count, time) = (count.checked_add(*samples)?, time.checked_add(*own)?);
        }
    }
    (time > 0 && count > 0).then(|| (time / count).max(1))
}

/// Plain counts, which may have been multiplied by some factor.
fn counted(common: CommonDivisor, divisor: i64) -> (SampleSize, Option<String>) {
    let size = common.divisor().and_then(|size| i64::try_from(size).ok()).unwrap_or(divisor).max(divisor);
    let factor = size / divisor.max(1);
    if factor <= 1 {
        return (SampleSize::Known(divisor), None);
    }
    if common.is_sample_size() {
        let note = format!("all counts are multiples of {factor}: every {factor} are counted as one sample");
        return (SampleSize::Known(size), Some(note));
    }
    let note = format!(
        "all counts are multiples of {factor}: if one sample was counted {factor} times, the evidence is weaker than it looks"
    );
    (SampleSize::Known(divisor), Some(note))
}

fn is_dependent(profile: &Profile, metric: usize) -> bool {
    let meta = &profile.meta;
    let is_named = |name: &str| DEPENDENT.iter().any(|known| name.eq_ignore_ascii_case(known));
    let waits = |name: &str| ["wall", "wall-time", "elapsed"].contains(&name);
    is_named(&meta.metrics[metric].name)
        || meta.period.as_ref().is_some_and(|period| waits(&period.name))
        || meta.metrics.iter().any(|metric| waits(&metric.name))
}

/// The sampling period of a metric in its unit, times `divisor`.
fn period_in(profile: &Profile, metric: &str, unit: &Unit, divisor: i64) -> Option<i64> {
    let period = profile.meta.period.as_ref()?;
    let own = Unit::parse(&period.unit);
    if own.family() == Family::Count && own.family() == unit.family() && period.name != metric {
        // Different things are counted: a period in cycles says nothing about instructions.
        return None;
    }
    period.value.checked_mul(own.factor_to(unit)?)?.checked_mul(divisor)
}

/// Whether the profile's own count of samples, if it has one, equals its weights divided by the period.
fn counts_agree(profile: &Profile, metric: usize) -> bool {
    let meta = &profile.meta;
    let count = meta.metrics.iter().position(|metric| SAMPLES.contains(&metric.name.as_str()));
    let (Some(count), Some(period)) = (count, &meta.period) else { return true };
    if meta.metrics[metric].unit != period.unit || meta.metrics[metric].divisor != 1 {
        return true;
    }
    if profile.calls.is_some() {
        return true;
    }
    let rows = profile.samples.values[count].iter().zip(&profile.samples.values[metric]);
    agrees_with_period(rows.map(|(&count, &weight)| (count, weight)), period.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LoadOptions, Period, from_notation};
    use crate::transform::{ProfileMetric, align};

    fn size(profile: &Profile) -> SampleSize {
        let part = ProfileMetric { profile, metric: 0, extra: None };
        let whole = align(&[part], LoadOptions::default()).unwrap();
        sample_size(&Recorded::of(&[(profile, 0)]), &whole, 0).0
    }

    fn profile(metric: &str, unit: &str, picture: &str) -> Profile {
        let mut profile = from_notation(picture);
        (profile.meta.metrics[0].name, profile.meta.metrics[0].unit) = (metric.into(), unit.into());
        profile
    }

    /// Twenty rows, multiples of `size`.
    fn rows(size: i64) -> String {
        (1..=20).map(|i| format!("f{i} {}", i * size)).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn counts_of_samples_are_samples() {
        assert_eq!(size(&profile("samples", "count", "a 30\nb 20")), SampleSize::Known(1));
        let many = rows(10);
        assert_eq!(size(&profile("samples", "count", &many)), SampleSize::Known(10));
        assert_eq!(size(&profile("contentions", "count", "a 30\nb 21")), SampleSize::Unknown);
    }

    #[test]
    fn a_pair_that_follows_the_clock_has_samples_that_depend_on_each_other() {
        let text =
            "main (app.py:1);work (app.py:3) 30\nmain (app.py:1) 20\nmain (app.py:1);other (app.py:5) 7";
        let load = || {
            let mut source = crate::format::Source::from_bytes(text.into());
            crate::format::load(&mut source, LoadOptions::default(), None).unwrap()
        };
        let (old, new, whole) = (load(), load(), profile("samples", "count", "a 30 1\nb 20 1\nc 7 1"));
        let size = |given: &[(&Profile, usize)]| sample_size(&Recorded::of(given), &whole, 0).0;
        assert_eq!(size(&[(&old, 0), (&new, 0)]), SampleSize::ByClock(1));
        assert_eq!(size(&[(&old, 0)]), SampleSize::Known(1));
    }

    #[test]
    fn weights_are_divided_by_the_period() {
        let mut cpu = profile("cpu", "nanoseconds", "a 30000000 3\nb 20000000 2");
        assert_eq!(size(&cpu), SampleSize::Unknown);
        cpu.meta.period = Some(Period { name: "cpu".into(), unit: "nanoseconds".into(), value: 10_000_000 });
        assert_eq!(size(&cpu), SampleSize::Known(10_000_000));
        cpu.meta.metrics[1].name = "samples".into();
        assert_eq!(size(&cpu), SampleSize::Known(10_000_000));
        let mut odd = profile("cpu", "nanoseconds", "a 30000000 3\nb 20000000 1");
        odd.meta.period.clone_from(&cpu.meta.period);
        odd.meta.metrics[1].name = "samples".into();
        assert_eq!(size(&odd), SampleSize::Unknown);
    }

    #[test]
    fn times_without_a_period_may_have_a_common_divisor() {
        assert_eq!(size(&profile("cpu", "microseconds", &rows(10_000))), SampleSize::Known(10_000));
        assert_eq!(size(&profile("cpu", "microseconds", &rows(1))), SampleSize::Unknown);
        assert_eq!(size(&profile("wall", "microseconds", &rows(10_000))), SampleSize::Unknown);
        assert_eq!(size(&profile("size", "bytes", &rows(16))), SampleSize::Unknown);
    }

    #[test]
    fn a_pair_that_counts_samples_of_unequal_length_has_a_mean() {
        let mut v8 = profile("cpu", "microseconds", "a 400 1\nb 800 1\nc 3000 7");
        let pair_of = |profile: &Profile| mean_time(&[(profile, 0), (profile, 0)]);
        assert_eq!(pair_of(&v8), None);
        v8.meta.metrics[1].name = "samples".into();
        assert_eq!(pair_of(&v8), Some(466));
        // Several runs show more, and a period says it better.
        assert_eq!(mean_time(&[(&v8, 0), (&v8, 0), (&v8, 0)]), None);
        v8.meta.period = Some(Period { name: "cpu".into(), unit: "microseconds".into(), value: 500 });
        assert_eq!(pair_of(&v8), None);
    }

    #[test]
    fn a_heap_has_variances() {
        let mut heap = profile("alloc_objects", "count", "a 794624 50855936\nb 1 1048576");
        (heap.meta.metrics[1].name, heap.meta.metrics[1].unit) = ("alloc_space".into(), "bytes".into());
        heap.meta.period = Some(Period { name: "space".into(), unit: "bytes".into(), value: 524_288 });
        let found = heap_variances(&[(&heap, 1)]).unwrap();
        let variance = |row: usize| found.rows[0][row] as f64 * found.scale;
        assert!((variance(0) / 2.666_315_694_043_845e13 - 1.0).abs() < 1e-12);
        assert!((variance(1) / 1.990_285_538_648e11 - 1.0).abs() < 1e-9);
        assert!(heap_columns(&heap, 0).is_some());
        heap.meta.period = None;
        assert!(heap_variances(&[(&heap, 1)]).is_none());
    }
}
