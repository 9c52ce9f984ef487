//! `--wall`: the time of threads on processors and waiting, as one metric.

use std::sync::Arc;

use crate::kind;
use crate::profile::{Metric, Profile, WAITS, WALL};
use crate::unit::Unit;

/// A profile does not say how long its threads waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the profile does not say how long its threads waited")]
pub struct NoWaits;

/// Adds the metric `wall`, the sum of CPU time and the times of waiting, and makes it the default. A profile that has such a metric
/// keeps it.
///
/// ```
/// use prof::profile::{from_notation, to_notation};
/// use prof::transform::with_wall;
///
/// let mut profile = from_notation("main;work 20 0\nmain;read 0 30");
/// for (metric, name) in profile.meta.metrics.iter_mut().zip(["cpu", "off_cpu"]) {
///     (metric.name, metric.unit) = (name.to_string(), "nanoseconds".to_string());
/// }
/// let profile = with_wall(profile)?;
/// assert_eq!(to_notation(&profile), "main;read 0 30 30\nmain;work 20 0 20");
/// assert_eq!(profile.meta.metrics[2].name, "wall");
/// # Ok::<(), prof::transform::NoWaits>(())
/// ```
pub fn with_wall(mut profile: Profile) -> Result<Profile, NoWaits> {
    let metrics = &profile.meta.metrics;
    if let Some(known) = metrics.iter().position(|metric| is(metric, "wall")) {
        profile.meta.default_metric = known;
        return Ok(profile);
    }
    let is_time = |metric: &Metric| {
        Unit::parse(&metric.unit) == Unit::NANOSECONDS && metric.divisor == 1 && !metric.too_large
    };
    let usable = |(_, metric): &(usize, &Metric)| is_time(metric);
    let times = || metrics.iter().enumerate().filter(usable);
    let waits: Vec<usize> =
        times().filter(|(_, metric)| WAITS.contains(&&*metric.name)).map(|(number, _)| number).collect();
    if waits.is_empty() || profile.calls.is_some() {
        return Err(NoWaits);
    }
    let on_cpu = times().find(|(_, metric)| is(metric, "cpu")).map(|(number, _)| number);
    let parts: Vec<&Vec<i64>> =
        on_cpu.into_iter().chain(waits).map(|metric| &profile.samples.values[metric]).collect();
    let rows = 0..profile.samples.len();
    let wall: Vec<i64> =
        rows.map(|row| parts.iter().fold(0_i64, |sum, values| sum.saturating_add(values[row]))).collect();
    let total = wall.iter().try_fold(0_i64, |sum, value| sum.checked_add(value.checked_abs()?));
    profile.meta.default_metric = metrics.len();
    profile.meta.metrics.push(Metric {
        name: WALL.to_string(),
        unit: "nanoseconds".to_string(),
        divisor: 1,
        total: total.unwrap_or(i64::MAX),
        too_large: total.is_none(),
        rows: wall.iter().filter(|&&value| value != 0).count() as u64,
        ..Metric::default()
    });
    Arc::make_mut(&mut profile.samples).values.push(wall);
    Ok(profile)
}

/// Whether a metric is of a type.
fn is(metric: &Metric, kind_name: &str) -> bool {
    kind::of_metric(&metric.name).is_some_and(|kind| kind.name == kind_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    fn named(notation: &str, names: &[&str]) -> Profile {
        let mut profile = from_notation(notation);
        for (metric, name) in profile.meta.metrics.iter_mut().zip(names) {
            (metric.name, metric.unit) = ((*name).to_string(), "nanoseconds".to_string());
        }
        profile
    }

    #[test]
    fn all_kinds_of_waiting_count_and_nothing_else_does() {
        let profile = named(
            "a 10 0 0 7\nb 0 20 0 0\nb 0 0 30 0",
            &["cpu", "lock_duration", "sleep_duration", "call_duration"],
        );
        let wall = with_wall(profile).unwrap();
        assert_eq!(to_notation(&wall), "a 10 0 0 7 10\nb 0 20 30 0 50");
        let metric = &wall.meta.metrics[4];
        assert_eq!((&*metric.name, metric.total, wall.meta.default_metric), ("wall", 60, 4));
    }

    #[test]
    fn a_profile_without_waits_is_refused_and_one_with_wall_keeps_it() {
        assert_eq!(with_wall(named("a 10", &["cpu"])).unwrap_err(), NoWaits);
        let known = with_wall(named("a 10 4", &["cpu", "wall"])).unwrap();
        assert_eq!((known.meta.metrics.len(), known.meta.default_metric), (2, 1));
    }
}
