//! The table of a thread's samples, for writing.

use serde::Serialize;

use crate::kind;
use crate::profile::{Metric, Profile};
use crate::unit::{Family, Unit};

/// The metrics written as sample weight and as CPU time.
pub(super) struct SampleMetrics {
    pub(super) weight: usize,
    pub(super) cpu: Option<usize>,
}

impl SampleMetrics {
    pub(super) fn of(profile: &Profile, metric: usize) -> SampleMetrics {
        let metrics = &profile.meta.metrics;
        // Perf calls it `cpu-clock:ppp`. The shown one comes first: a profile may have that of several events.
        let is_cpu = |&number: &usize| {
            let is_time = Unit::parse(&metrics[number].unit).family() == Family::Time;
            let counts_up = || profile.samples.values[number].iter().all(|&value| value >= 0);
            kind::is(&metrics[number].name, "cpu") && is_time && counts_up()
        };
        let cpu = std::iter::once(metric).chain(0..metrics.len()).find(is_cpu);
        let samples =
            profile.meta.metric_named("samples").filter(|&samples| metrics[samples].unit == "count");
        let weight = if cpu == Some(metric) { samples.unwrap_or(metric) } else { metric };
        SampleMetrics { weight, cpu: cpu.filter(|&cpu| cpu != weight) }
    }

    pub(super) fn all(&self) -> Vec<usize> {
        std::iter::once(self.weight).chain(self.cpu).collect()
    }

    /// The other one of the two metrics, if there are two.
    pub(super) fn second_metric(&self, metric: usize) -> Option<usize> {
        self.all().into_iter().find(|&other| other != metric)
    }
}

/// The origin of times: a whole millisecond, because a fraction would be rounded.
pub(super) struct Start {
    pub(super) milliseconds: i64,
}

impl Start {
    pub(super) fn of(profile: &Profile) -> Start {
        Start { milliseconds: profile.meta.time_ns.unwrap_or(0).div_euclid(1_000_000) }
    }

    /// The start and end of the recording, if its duration is known.
    pub(super) fn recording(&self, profile: &Profile) -> Option<(f64, f64)> {
        let first = || profile.samples.known_times().min();
        let begin = profile.meta.time_ns.or_else(first).unwrap_or(0);
        let end = begin.saturating_add(profile.meta.duration_ns?);
        Some((self.until(begin), self.until(end)))
    }

    /// Milliseconds from the start to `time`.
    pub(super) fn until(&self, time: i64) -> f64 {
        milliseconds(i128::from(time) - i128::from(self.milliseconds) * 1_000_000)
    }
}

/// In milliseconds.
pub(super) const NANOSECOND: f64 = 1e-6;

pub(super) fn milliseconds(nanoseconds: i128) -> f64 {
    nanoseconds as f64 / 1e6
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SampleTable {
    length: usize,
    stack: Vec<Option<u32>>,
    pub(super) time: Vec<f64>,
    weight: Vec<WrittenWeight>,
    weight_type: &'static str,
    #[serde(rename = "threadCPUDelta", skip_serializing_if = "Option::is_none")]
    cpu: Option<Vec<WrittenWeight>>,
}

/// A value, written as an integer if it is one.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum WrittenWeight {
    Whole(i64),
    Fraction(f64),
}

impl SampleTable {
    pub(super) fn of(
        profile: &Profile,
        columns: &SampleMetrics,
        start: &Start,
        rows: &[usize],
        stack: Vec<Option<u32>>,
    ) -> SampleTable {
        let metric = &profile.meta.metrics[columns.weight];
        let unit = Unit::parse(&metric.unit);
        let (weight_type, target) = match unit.family() {
            Family::Time => ("tracing-ms", Unit::parse("ms")),
            Family::Bytes => ("bytes", Unit::BYTES),
            _ => ("samples", unit.clone()),
        };
        let weight = column(profile, rows, columns.weight, &target);
        let time = match &profile.samples.time {
            Some(_) => {
                let first = profile.samples.known_times().min().unwrap_or(0);
                rows.iter().map(|&row| start.until(profile.samples.time_of(row).unwrap_or(first))).collect()
            }
            None => consecutive_times(&weight, weight_type == "tracing-ms", start.recording(profile)),
        };
        let cpu = columns.cpu.map(|cpu| column(profile, rows, cpu, &Unit::NANOSECONDS));
        SampleTable { length: rows.len(), stack, time, weight, weight_type, cpu }
    }
}

/// The values of a metric in a unit of the same kind.
fn column(profile: &Profile, rows: &[usize], metric: usize, target: &Unit) -> Vec<WrittenWeight> {
    let Metric { unit, divisor, .. } = &profile.meta.metrics[metric];
    let unit = Unit::parse(unit);
    let factor = i128::from(unit.factor_to(target).unwrap_or(1));
    let divisor = i128::from(*divisor) * i128::from(target.factor_to(&unit).unwrap_or(1));
    let weight = |&row: &usize| {
        let value = i128::from(profile.samples.values[metric][row]).saturating_mul(factor);
        let whole = i64::try_from(value / divisor).ok().filter(|_| value % divisor == 0);
        whole.map_or_else(|| WrittenWeight::Fraction(value as f64 / divisor as f64), WrittenWeight::Whole)
    };
    rows.iter().map(weight).collect()
}

/// Timestamps for samples without: each sample lasts as long as its weight if that is a time, else 1 ms. If
/// the recording's start and duration are known, they are scaled to fill it.
fn consecutive_times(weights: &[WrittenWeight], are_times: bool, recording: Option<(f64, f64)>) -> Vec<f64> {
    let mut passed = 0.0;
    let before = |weight: &WrittenWeight| {
        let before = passed;
        passed += match *weight {
            WrittenWeight::Whole(value) if are_times => value.abs() as f64,
            WrittenWeight::Fraction(value) if are_times => value.abs(),
            _ => 1.0,
        };
        before
    };
    let mut times: Vec<f64> = weights.iter().map(before).collect();
    if let Some((begin, end)) = recording {
        // The last sample may have no duration, and still must not be at the end.
        let scale = (end - begin) / (passed + 1.0);
        for time in &mut times {
            *time = begin + *time * scale;
        }
    }
    times
}
