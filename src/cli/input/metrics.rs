//! Finds the metrics to show, and the same metrics in other profiles.

use anyhow::{Result, bail};

use crate::cli::terminal::failure::{hinted, meant};
use crate::kind;
use crate::profile::{Meta, Profile};

/// The metrics given, or the default one, for profiles with these `metas`. Each is the name of a metric of the
/// first profile, the name of a profile type (`prof types`), or the number of a metric.
pub(crate) fn metrics_wanted(asked: &[String], metas: &[&Meta]) -> Result<Vec<MetricKey>> {
    let Some(meta) = metas.first().filter(|meta| !meta.metrics.is_empty()) else {
        bail!("the profile has no metric");
    };
    if asked.is_empty() {
        return Ok(vec![MetricKey::of(meta, default_metric(metas))]);
    }
    let mut wanted: Vec<MetricKey> = Vec::new();
    for name in asked {
        let exact = meta.metric_named(name);
        let alike = || meta.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name));
        let number = || name.parse::<usize>().ok().filter(|&number| number < meta.metrics.len());
        let metric = exact.or_else(alike).or_else(number).or_else(|| meant_by(name, meta));
        let key = MetricKey::of(meta, metric.ok_or_else(|| unknown_metric(name, meta))?);
        if !wanted.contains(&key) {
            wanted.push(key);
        }
    }
    Ok(wanted)
}

/// A metric of the profile type `asked`: the default metric if it is one, or else the first.
fn meant_by(asked: &str, meta: &Meta) -> Option<usize> {
    let is_meant = |&number: &usize| kind::may_mean(asked, &meta.metrics[number].name);
    Some(meta.default_metric).filter(is_meant).or_else(|| (0..meta.metrics.len()).find(is_meant))
}

/// The metric to show by default: the default of the first profile, or the first metric with a value if that
/// one is 0 in all profiles.
pub(crate) fn default_metric(metas: &[&Meta]) -> usize {
    let Some(first) = metas.first() else { return 0 };
    let has_value = |&number: &usize| {
        let key = MetricKey::of(first, number);
        let has_value = |meta: &&Meta| key.place_in(meta).is_some_and(|place| meta.metrics[place].total != 0);
        metas.iter().any(has_value)
    };
    let default = first.default_metric;
    if has_value(&default) {
        return default;
    }
    (0..first.metrics.len()).find(has_value).unwrap_or(default)
}

/// A note if the metric shown is not the default of the profile.
pub(crate) fn note_of_default(asked: &[String], metas: &[&Meta]) -> Option<String> {
    let first = metas.first().filter(|_| asked.is_empty())?;
    let shown = default_metric(metas);
    (shown != first.default_metric).then(|| {
        let [default, shown] = [first.default_metric, shown].map(|number| &first.metrics[number].name);
        format!("the default metric, {default}, has a total of 0; showing {shown} instead")
    })
}

fn unknown_metric(name: &str, meta: &Meta) -> anyhow::Error {
    let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
    hinted(
        format!("--metric {name}: no such metric"),
        format!("{}the metrics of this profile are {}", meant(name, &names), names.join(", ")),
    )
}

/// Identifies a metric across profiles: by name, or by position if names repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricKey {
    name: String,
    place: usize,
}

impl MetricKey {
    pub(crate) fn of(meta: &Meta, metric: usize) -> Self {
        MetricKey { name: meta.metrics[metric].name.clone(), place: metric }
    }

    /// The number of this metric in another profile.
    pub(crate) fn place_in(&self, meta: &Meta) -> Option<usize> {
        let same_place = meta.metrics.get(self.place).is_some_and(|metric| metric.name == self.name);
        if same_place { Some(self.place) } else { meta.metric_named(&self.name) }
    }
}

pub(crate) fn check_metrics(meta: &Meta, name: &str, wanted: &[MetricKey]) -> Result<()> {
    for key in wanted {
        if key.place_in(meta).is_none() {
            let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
            let hint = format!(
                "its metrics are {}; use --metric to choose one that all inputs have",
                names.join(", ")
            );
            return Err(hinted(format!("{name}: no metric named {}", key.name), hint));
        }
    }
    Ok(())
}

pub(crate) fn refuse_too_large(profile: &Profile, metric: usize) -> Result<()> {
    let metric = &profile.meta.metrics[metric];
    if metric.too_large {
        let message = format!("the sum of the values of {} does not fit 64 bits", metric.name);
        return Err(hinted(message, "choose another metric with --metric, or use fewer inputs"));
    }
    Ok(())
}
