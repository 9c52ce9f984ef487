//! Finds the metrics to show, and the same metrics in other profiles.

use std::sync::Arc;

use crate::kind;
use crate::load::Error;
use crate::profile::{Meta, Metric, Profile};
use crate::unit::plural;

/// The metrics given, or the default one, for profiles with these `metas`. Each is the name of a metric of the
/// first profile, the name of a profile type (`prof types`), or the number of a metric.
pub(super) fn metrics_wanted(asked: &[String], metas: &[&Meta]) -> Result<Vec<MetricKey>, Error> {
    let Some(meta) = metas.first().filter(|meta| !meta.metrics.is_empty()) else {
        return Err(Error::NoMetric);
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

/// The metric to show by default: the default of the first profile, or if that one is 0 in all profiles, the first metric with a
/// value, one of the same unit if possible: `alloc_space` instead of `inuse_space`, not `alloc_objects`.
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
    // Counts are of different things.
    let unit = &first.metrics[default].unit;
    let of_unit = |&number: &usize| first.metrics[number].unit == *unit && unit != "count";
    let with_value = || (0..first.metrics.len()).filter(has_value);
    with_value().find(of_unit).or_else(|| with_value().next()).unwrap_or(default)
}

/// Adds the metrics that only some of several recordings have, with a value of 0, if one of them was `asked` for and all are of JFR:
/// one without `lock_duration` has no event of a thread that waited for a lock. The warning says so.
pub(super) fn add_missing(asked: &[String], mut profiles: Vec<&mut (String, Profile)>) -> Option<String> {
    if asked.is_empty() || profiles.iter().any(|(_, profile)| profile.meta.format != "jfr") {
        return None;
    }
    let knows = |profile: &Profile| metrics_wanted(asked, &[&profile.meta]).ok();
    let (metrics, wanted) =
        profiles.iter().find_map(|(_, profile)| Some((profile.meta.metrics.clone(), knows(profile)?)))?;
    let lack = |profile: &Profile| wanted.iter().any(|key| key.place_in(&profile.meta).is_none());
    let lacking: Vec<&mut (String, Profile)> =
        profiles.iter_mut().filter(|(_, profile)| lack(profile)).map(|input| &mut **input).collect();
    let (first, others) = (lacking.first()?.0.clone(), lacking.len() - 1);
    for (_, profile) in lacking {
        let new = metrics.iter().filter(|metric| profile.meta.metric_named(&metric.name).is_none());
        for metric in new.cloned().collect::<Vec<Metric>>() {
            let samples = Arc::make_mut(&mut profile.samples);
            samples.values.push(vec![0; samples.stack.len()]);
            let nothing =
                Metric { total: 0, idle: 0, too_large: false, rows: 0, effective_samples: None, ..metric };
            profile.meta.metrics.push(nothing);
        }
    }
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    let has = plural(others as u64 + 1, "has", "have");
    Some(format!(
        "{first}{more} {has} no events of {}, which counts as 0; if they were not recorded, the comparison means nothing",
        wanted[0].name
    ))
}

/// A note if the metric shown is not the default of the profile.
pub(super) fn note_of_default(asked: &[String], metas: &[&Meta]) -> Option<String> {
    let first = metas.first().filter(|_| asked.is_empty())?;
    let shown = default_metric(metas);
    (shown != first.default_metric).then(|| {
        let [default, shown] = [first.default_metric, shown].map(|number| &first.metrics[number].name);
        format!("the default metric, {default}, has a total of 0; showing {shown} instead")
    })
}

fn unknown_metric(name: &str, meta: &Meta) -> Error {
    Error::UnknownMetric { name: name.to_string(), known: names(meta) }
}

fn names(meta: &Meta) -> Vec<String> {
    meta.metrics.iter().map(|metric| metric.name.clone()).collect()
}

/// Identifies a metric across profiles: by name, or by position if names repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricKey {
    name: String,
    place: usize,
}

impl MetricKey {
    pub(super) fn of(meta: &Meta, metric: usize) -> Self {
        MetricKey { name: meta.metrics[metric].name.clone(), place: metric }
    }

    /// The number of this metric in another profile.
    pub(super) fn place_in(&self, meta: &Meta) -> Option<usize> {
        meta.metric_named_at(&self.name, self.place)
    }
}

/// Fails if an input lacks one of the metrics.
pub(super) fn check_metrics(inputs: &[(&str, &Meta)], wanted: &[MetricKey]) -> Result<(), Error> {
    for (input, meta) in inputs {
        if let Some(key) = wanted.iter().find(|key| key.place_in(meta).is_none()) {
            let has_all = |name: &String| inputs.iter().all(|(_, meta)| meta.metric_named(name).is_some());
            return Err(Error::MissingMetric {
                input: (*input).to_string(),
                metric: key.name.clone(),
                known: names(meta),
                common: names(meta).into_iter().filter(has_all).collect(),
            });
        }
    }
    Ok(())
}

/// Fails if the values of a metric do not fit in 64 bits.
pub(super) fn refuse_too_large(profile: &Profile, metric: usize) -> Result<(), Error> {
    let metric = &profile.meta.metrics[metric];
    if metric.too_large { Err(Error::MetricTooLarge(metric.name.clone())) } else { Ok(()) }
}
