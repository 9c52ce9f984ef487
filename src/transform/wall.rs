//! `--wall`: the time of threads on processors and waiting, as one metric.

use std::sync::Arc;

use crate::kind;
use crate::profile::{Column, Metric, Profile, StackId, WAITING, WAITS, WALL};
use crate::unit::Unit;

/// A profile does not say how long its threads waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the profile does not say how long its threads waited")]
pub struct NoWaits;

/// Adds the metric `wall`, the sum of CPU time and the times of waiting, and makes it the default, and the metric `waiting`, the
/// part of it without CPU time. A profile that has a metric of elapsed time keeps it.
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
/// assert_eq!(to_notation(&profile), "main;read 0 30 30 30\nmain;work 20 0 20 0");
/// assert_eq!([2, 3].map(|metric| &*profile.meta.metrics[metric].name), ["wall", "waiting"]);
/// # Ok::<(), prof::transform::NoWaits>(())
/// ```
pub fn with_wall(mut profile: Profile) -> Result<Profile, NoWaits> {
    let metrics = &profile.meta.metrics;
    if let Some(known) = metrics.iter().position(|metric| kind::is(&metric.name, "wall")) {
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
    let on_cpu = times().find(|(_, metric)| kind::is(&metric.name, "cpu")).map(|(number, _)| number);
    let all: Vec<usize> = on_cpu.into_iter().chain(waits.iter().copied()).collect();
    profile.meta.default_metric = metrics.len();
    add_sum(&mut profile, WALL, &all);
    add_sum(&mut profile, WAITING, &waits);
    Ok(profile)
}

/// Adds a metric of time that is the sum of others.
fn add_sum(profile: &mut Profile, name: &str, metrics: &[usize]) {
    let parts: Vec<&Vec<i64>> = metrics.iter().map(|&metric| &profile.samples.values[metric]).collect();
    let rows = 0..profile.samples.len();
    let sums: Vec<i64> =
        rows.map(|row| parts.iter().fold(0_i64, |sum, values| sum.saturating_add(values[row]))).collect();
    let total = sums.iter().try_fold(0_i64, |sum, value| sum.checked_add(value.checked_abs()?));
    profile.meta.metrics.push(Metric {
        name: name.to_string(),
        unit: "nanoseconds".to_string(),
        divisor: 1,
        total: total.unwrap_or(i64::MAX),
        too_large: total.is_none(),
        rows: sums.iter().filter(|&&value| value != 0).count() as u64,
        ..Metric::default()
    });
    Arc::make_mut(&mut profile.samples).values.push(sums);
}

/// The metric with the part of `metric` that was spent waiting, if `metric` is a sum that [`with_wall`] made. The two sides of a
/// comparison have one each, in the same order.
pub fn waiting_of(metrics: &[Metric], metric: usize) -> Option<usize> {
    let named = |name: &'static str| (0..metrics.len()).filter(move |&other| metrics[other].name == name);
    let side = named(WALL).position(|wall| wall == metric)?;
    named(WAITING).nth(side).filter(|&waiting| !metrics[waiting].too_large)
}

/// How long each stack waited, if `metric` is a sum that [`with_wall`] made.
pub fn waits_of_stacks(profile: &Profile, metric: usize) -> Option<Column<StackId, i64>> {
    waiting_of(&profile.meta.metrics, metric).map(|waiting| profile.value_by_stack(waiting))
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
        assert_eq!(to_notation(&wall), "a 10 0 0 7 10 0\nb 0 20 30 0 50 50");
        let metric = &wall.meta.metrics[4];
        assert_eq!((&*metric.name, metric.total, wall.meta.default_metric), ("wall", 60, 4));
        assert_eq!(waiting_of(&wall.meta.metrics, 4), Some(5));
        assert_eq!(waiting_of(&wall.meta.metrics, 0), None);
    }

    #[test]
    fn a_profile_without_waits_is_refused_and_one_with_wall_keeps_it() {
        assert_eq!(with_wall(named("a 10", &["cpu"])).unwrap_err(), NoWaits);
        let known = with_wall(named("a 10 4", &["cpu", "wall"])).unwrap();
        assert_eq!((known.meta.metrics.len(), known.meta.default_metric), (2, 1));
    }
}
