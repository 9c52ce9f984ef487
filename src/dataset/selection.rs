//! Which row groups of samples need not be read, because filters drop all that is in them.
//!
//! What is known without reading a group: the statistics of its columns, and what the table of profiles says. A group is read if a
//! sample in it *may* be kept; the filters decide once it is read.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dataset::files::open_all;
use crate::dataset::profiles::{Profiles, ReadProfile};
use crate::dataset::schema;
use crate::format::LoadError;
use crate::format::parquet::table::{Extent, Table};
use crate::profile::{LoadOptions, Meta, OnlySamples, RecordedTimes, SampleTimes};
use crate::transform::{LabelFilter, RecordingSpan, TimeError, TimePoint};

/// The samples that filters may keep.
pub(super) struct Selection {
    /// The filters of each key, one of which has to match.
    labels: BTreeMap<String, Vec<LabelFilter>>,
    period: Option<Period>,
    /// Whether samples of a profile may have the labels, by the number of the profile.
    of_profile: Vec<bool>,
}

/// A period of time.
struct Period {
    from: i64,
    to: Option<i64>,
    /// When the samples of the whole dataset were taken, from which relative times are counted.
    all: SampleTimes,
}

impl Period {
    fn has(&self, time: i64) -> bool {
        time >= self.from && self.to.is_none_or(|to| time < to)
    }
}

impl Selection {
    /// `None` if all samples are needed, or if filters cannot be understood: they report that themselves.
    pub(super) fn new(
        dataset: &Path,
        profiles: &Profiles,
        options: &LoadOptions,
    ) -> Result<Option<Selection>, LoadError> {
        let Some(only) = &options.only else { return Ok(None) };
        let mut labels: BTreeMap<String, Vec<LabelFilter>> = BTreeMap::new();
        for text in &only.labels {
            let Ok((filter, _)) = LabelFilter::parse(text, only.fixed) else { return Ok(None) };
            labels.entry(filter.key().to_string()).or_default().push(filter);
        }
        let mut period = None;
        if only.from.is_some() || only.to.is_some() {
            let Some(all) = sample_times(dataset, profiles, options)? else { return Ok(None) };
            let Some(found) = Period::resolve(only, all, profiles) else { return Ok(None) };
            period = Some(found);
        }
        let of_profile = profiles.rows.iter().map(|row| may_have(row, &labels)).collect();
        Ok(Some(Selection { labels, period, of_profile }))
    }

    /// Whether a row group may have samples that filters keep.
    pub(super) fn wants(&self, table: &Table, group: usize, profiles: &Profiles) -> Result<bool, LoadError> {
        let mut only_profiles = false;
        if let Some(period) = &self.period {
            match table.ints_between(group, "time") {
                Extent::Between(first, last)
                    if last < period.from || period.to.is_some_and(|to| first >= to) =>
                {
                    return Ok(false);
                }
                // Samples without a time were taken when their profile was.
                Extent::Empty => only_profiles = true,
                _ => {}
            }
        }
        if !self.labels.is_empty() && !self.may_have_labels(table, group) {
            return Ok(false);
        }
        let mut ids = table.ints(group, "profile_id")?;
        while table.next_rows([("profile_id", &mut ids)], [])? > 0 {
            let numbers = ids.cells.items.iter().flatten().map(|&id| profiles.number_of(id as u64));
            for number in numbers {
                // Samples without a profile are reported once they are read.
                let Some(number) = number else { return Ok(true) };
                let is_in_time = || {
                    let time = profiles.rows[number].time;
                    self.period.as_ref().is_none_or(|period| time.is_some_and(|time| period.has(time)))
                };
                if self.of_profile[number] && (!only_profiles || is_in_time()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn may_have_labels(&self, table: &Table, group: usize) -> bool {
        let [keys, values] = table.map_between(group, "labels");
        let numeric = schema::numeric_labels(table);
        self.labels.iter().all(|(key, filters)| {
            let has_key = match &keys {
                Extent::Unknown => true,
                Extent::Empty => false,
                Extent::Between(first, last) => (first..=last).contains(&key),
            };
            has_key
                && match &values {
                    Extent::Between(first, last) if !numeric.contains(key) => {
                        filters.iter().any(|filter| filter.may_match_within(first, last))
                    }
                    _ => true,
                }
        })
    }

    /// What the metadata of the profile say of the samples that were not read.
    pub(super) fn complete(&self, meta: &mut Meta) {
        if let Some(period) = &self.period {
            meta.sample_times = Some(period.all);
        }
    }
}

/// Whether samples of a profile may have the labels. Labels that all its samples have are known.
fn may_have(profile: &ReadProfile, labels: &BTreeMap<String, Vec<LabelFilter>>) -> bool {
    profile.labels.iter().all(|(key, value)| {
        labels.get(key).is_none_or(|filters| filters.iter().any(|filter| filter.may_match(value)))
    })
}

impl Period {
    fn resolve(only: &OnlySamples, all: SampleTimes, profiles: &Profiles) -> Option<Period> {
        let time_ns = profiles.rows.iter().filter_map(|row| row.time).min();
        let duration_ns = profiles.rows.iter().filter_map(|row| row.duration).reduce(i64::saturating_add);
        let span = RecordingSpan::of_times(&RecordedTimes { samples: all, time_ns, duration_ns });
        let resolve = |text: &Option<String>| -> Result<Option<i64>, TimeError> {
            text.as_ref().map(|text| span.resolve(TimePoint::parse(text)?)).transpose()
        };
        let (from, to) = (resolve(&only.from).ok()?, resolve(&only.to).ok()?);
        Some(Period { from: from.unwrap_or(i64::MIN), to, all })
    }
}

/// When the samples of a dataset were taken, as statistics say; `None` if they do not.
fn sample_times(
    dataset: &Path,
    profiles: &Profiles,
    options: &LoadOptions,
) -> Result<Option<SampleTimes>, LoadError> {
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let mut add = |from: i64, to: i64| (first, last) = (first.min(from), last.max(to));
    let mut with_samples =
        profiles.rows.iter().filter(|row| row.metrics.iter().any(|metric| metric.total > 0));
    for table in open_all(dataset, "samples", &options.budget)? {
        let table = table?;
        for group in 0..table.groups() {
            match table.ints_between(group, "time") {
                Extent::Between(from, to) => add(from, to),
                Extent::Empty => {
                    let times = with_samples.by_ref().filter_map(|row| row.time);
                    times.for_each(|time| add(time, time));
                }
                Extent::Unknown => return Ok(None),
            }
        }
    }
    Ok((first <= last).then_some(SampleTimes { first, last, end: last }))
}
