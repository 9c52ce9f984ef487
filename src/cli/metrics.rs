//! Which metrics are meant, and how they are found again in another profile.

use anyhow::{Result, bail};

use crate::cli::failure::{hinted, meant};
use crate::profile::{Meta, Profile};

/// The names of the metrics asked for, or of the default one. A number stands for the metric at
/// that place.
pub(super) fn metrics_wanted(asked: &[String], meta: &Meta) -> Result<Vec<MetricKey>> {
    if meta.metrics.is_empty() {
        bail!("the profile has no metric");
    }
    if asked.is_empty() {
        return Ok(vec![MetricKey::of(meta, meta.default_metric)]);
    }
    let mut wanted: Vec<MetricKey> = Vec::new();
    for name in asked {
        let exact = meta.metric_named(name);
        let alike = || meta.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name));
        let number = || name.parse::<usize>().ok().filter(|&number| number < meta.metrics.len());
        let metric = exact.or_else(alike).or_else(number).ok_or_else(|| unknown_metric(name, meta))?;
        let key = MetricKey::of(meta, metric);
        if !wanted.contains(&key) {
            wanted.push(key);
        }
    }
    Ok(wanted)
}

fn unknown_metric(name: &str, meta: &Meta) -> anyhow::Error {
    let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
    hinted(
        format!("--metric {name}: no such metric"),
        format!("{}this profile has {}", meant(name, &names), names.join(", ")),
    )
}

/// How a metric is found again in another profile: by name, or by place where names repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricKey {
    name: String,
    place: usize,
}

impl MetricKey {
    fn of(meta: &Meta, metric: usize) -> Self {
        MetricKey { name: meta.metrics[metric].name.clone(), place: metric }
    }

    /// The number of the metric it stands for in a profile.
    pub(super) fn place_in(&self, meta: &Meta) -> Option<usize> {
        let same_place = meta.metrics.get(self.place).is_some_and(|metric| metric.name == self.name);
        if same_place { Some(self.place) } else { meta.metric_named(&self.name) }
    }
}

pub(super) fn check_metrics(meta: &Meta, name: &str, wanted: &[MetricKey]) -> Result<()> {
    for key in wanted {
        if key.place_in(meta).is_none() {
            let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
            let hint = format!("it has {}; choose one that all inputs have with --metric", names.join(", "));
            return Err(hinted(format!("{name}: has no metric {}", key.name), hint));
        }
    }
    Ok(())
}

pub(super) fn refuse_too_large(profile: &Profile, metric: usize) -> Result<()> {
    let metric = &profile.meta.metrics[metric];
    if metric.too_large {
        let message = format!("the values of {} sum to more than 64 bits hold", metric.name);
        return Err(hinted(message, "choose another metric with --metric, or fewer inputs"));
    }
    Ok(())
}
