//! Which metrics are meant, and how they are found again in another profile.

use anyhow::{Result, bail};

use crate::cli::failure::{hinted, meant};
use crate::kind;
use crate::profile::{Meta, Profile};

/// The metrics asked for, or the one that is shown by default, in profiles that say `metas` of themselves. A
/// name is that of a metric of the first profile, or else of its type (`prof types`); a number stands for
/// the metric at that place.
pub(super) fn metrics_wanted(asked: &[String], metas: &[&Meta]) -> Result<Vec<MetricKey>> {
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

/// The metric of the type that is asked for; of several the default one, or else the first.
fn meant_by(asked: &str, meta: &Meta) -> Option<usize> {
    let is_meant = |&number: &usize| kind::may_mean(asked, &meta.metrics[number].name);
    Some(meta.default_metric).filter(is_meant).or_else(|| (0..meta.metrics.len()).find(is_meant))
}

/// The metric that is shown unless another is asked for: the default of the first profile, or where that is
/// 0 throughout, the first that is not.
pub(super) fn default_metric(metas: &[&Meta]) -> usize {
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

/// Says that another metric than the profile's own default is shown, where that is so.
pub(super) fn note_of_default(asked: &[String], metas: &[&Meta]) -> Option<String> {
    let first = metas.first().filter(|_| asked.is_empty())?;
    let shown = default_metric(metas);
    (shown != first.default_metric).then(|| {
        let [default, shown] = [first.default_metric, shown].map(|number| &first.metrics[number].name);
        format!("the total of the default metric, {default}, is 0: {shown} is shown instead")
    })
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
    pub(super) fn of(meta: &Meta, metric: usize) -> Self {
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
