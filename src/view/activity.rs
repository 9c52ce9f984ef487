//! How busy the recorded program was, and how much of the time it is known to have waited.

use crate::profile::{Metric, Profile};
use crate::unit::{Unit, duration, saturated};

/// How busy the program was according to a metric. Headers, `info` and pictures all use this.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// How many processors were busy on average, in hundredths; only for CPU time.
    pub(super) busy_hundredths: Option<i64>,
    /// The share of the metric that was spent waiting, in percent; `None` if it is under 1.
    pub(super) idle_percent: Option<u8>,
    /// How long the recording took, unless the value is implausible.
    pub(super) duration_ns: Option<i64>,
    /// Why the numbers of the recording are implausible.
    pub(super) warning: Option<String>,
}

/// Longer durations are implausible: some recorders write a date instead of the duration.
const LONGEST: i64 = 366 * 24 * 3600 * 1_000_000_000;

/// More processors than any machine has.
const MOST_PROCESSORS: i64 = 10_000;

impl Activity {
    /// How many processors were busy on average.
    pub(super) fn busy(&self) -> Option<f64> {
        self.busy_hundredths.map(|hundredths| hundredths as f64 / 100.0)
    }

    /// The share of the metric that was spent waiting, from 0 to 1.
    pub(super) fn idle(&self) -> Option<f64> {
        self.idle_percent.map(|percent| f64::from(percent) / 100.0)
    }

    /// The activity of the whole recording according to metric number `metric`, regardless of filters.
    pub(super) fn of(profile: &Profile, metric: usize) -> Activity {
        let meta = &profile.meta;
        let shown = &meta.metrics[metric];
        let idle_percent = idle_percent(shown);
        let Some(duration_ns) = meta.duration_ns.filter(|&duration| duration < LONGEST) else {
            let warning = meta.duration_ns.map(|ns| {
                format!("the recorded duration, {}, cannot be true and is not shown", duration(ns))
            });
            return Activity { idle_percent, warning, ..Activity::default() };
        };
        let activity = Activity { idle_percent, duration_ns: Some(duration_ns), ..Activity::default() };
        // What was saved at one time was not recorded at another.
        let is_time = !meta.is_latency && !profile.has_negatives(metric);
        let Some(busy) = busy_hundredths(shown, duration_ns).filter(|_| is_time) else {
            return activity;
        };
        let processors = meta.processors.unwrap_or(MOST_PROCESSORS);
        // Timers are not exact, so a machine may appear to use slightly more CPUs than it has.
        if busy > processors.saturating_mul(110) {
            return Activity { warning: Some(too_busy(&shown.name, busy, meta.processors)), ..activity };
        }
        Activity { busy_hundredths: Some(busy), ..activity }
    }
}

fn too_busy(metric: &str, busy: i64, processors: Option<i64>) -> String {
    let limit = match processors {
        Some(count) => format!("the machine has {count}"),
        None => "no machine has as many".to_string(),
    };
    format!(
        "{metric} or the recorded duration is wrong: together they would mean {} busy CPUs, and {limit}",
        busy / 100
    )
}

/// CPU time divided by duration, not counting time known to be idle.
fn busy_hundredths(metric: &Metric, duration_ns: i64) -> Option<i64> {
    if !metric.name.eq_ignore_ascii_case("cpu") || duration_ns <= 0 {
        return None;
    }
    let cpu = nanoseconds(metric.total - metric.idle, &metric.unit, metric.divisor)?;
    let hundredths = (i128::from(cpu) * 100 + i128::from(duration_ns) / 2) / i128::from(duration_ns);
    Some(saturated(hundredths))
}

/// It is 100 % only if nothing else was recorded.
fn idle_percent(metric: &Metric) -> Option<u8> {
    let (idle, total) = (i128::from(metric.idle), i128::from(metric.total.max(1)));
    let rounded = u8::try_from((idle * 100 + total / 2) / total).ok()?;
    let percent = if idle < total { rounded.min(99) } else { rounded };
    (percent > 0).then_some(percent)
}

/// A value of a time unit in nanoseconds.
pub(super) fn nanoseconds(value: i64, unit: &str, divisor: u64) -> Option<i64> {
    let factor = Unit::parse(unit).factor_to(&Unit::parse("ns"))?;
    i64::try_from(i128::from(value) * i128::from(factor) / i128::from(divisor.max(1))).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::profile::from_notation;

    fn cpu(seconds: i64, idle: i64) -> Profile {
        let mut profile = from_notation(&format!("main {seconds}"));
        let metric = &mut profile.meta.metrics[0];
        (metric.name, metric.unit, metric.idle) = ("cpu".into(), "seconds".into(), idle);
        profile.meta.duration_ns = Some(100_000_000_000);
        profile
    }

    #[test]
    fn waiting_is_not_busy() {
        let activity = Activity::of(&cpu(100, 78), 0);
        assert_eq!((activity.busy_hundredths, activity.idle_percent), (Some(22), Some(78)));
        let activity = Activity::of(&cpu(1000, 999), 0);
        assert_eq!((activity.busy_hundredths, activity.idle_percent), (Some(1), Some(99)));
        assert_eq!(Activity::of(&cpu(100, 0), 0).idle_percent, None);
    }

    #[test]
    fn a_difference_of_two_profiles_kept_nothing_busy() {
        let mut profile = cpu(100, 0);
        Arc::make_mut(&mut profile.samples).values[0].push(-30);
        let activity = Activity::of(&profile, 0);
        assert_eq!((activity.busy_hundredths, activity.duration_ns), (None, Some(100_000_000_000)));
    }

    #[test]
    fn implausible_values_give_a_warning() {
        let mut profile = cpu(3300, 0);
        assert_eq!(Activity::of(&profile, 0).busy_hundredths, Some(3300));
        profile.meta.processors = Some(32);
        assert_eq!(Activity::of(&profile, 0).busy_hundredths, Some(3300), "all of 32, as clocks go");
        profile.meta.processors = Some(8);
        let activity = Activity::of(&profile, 0);
        assert_eq!((activity.busy_hundredths, activity.duration_ns), (None, Some(100_000_000_000)));
        assert_eq!(
            activity.warning.unwrap(),
            "cpu or the recorded duration is wrong: together they would mean 33 busy CPUs, and the machine has 8"
        );
        profile.meta.duration_ns = Some(i64::MAX);
        let activity = Activity::of(&profile, 0);
        assert_eq!((activity.busy_hundredths, activity.duration_ns), (None, None));
        assert!(activity.warning.unwrap().contains("cannot be true"));
    }
}
