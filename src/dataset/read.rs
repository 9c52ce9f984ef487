//! A dataset as a profile: the sum of its profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::dataset::FOLDERS;
use crate::dataset::files::{files_of, open_all};
use crate::dataset::profiles::{Profiles, ReadMetric, ReadProfile};
use crate::dataset::samples::{ReadSample, Stacks, Wanted, read_samples};
use crate::dataset::selection::Selection;
use crate::format::parquet::result;
use crate::format::parquet::table::Table;
use crate::format::{LoadError, ParseError};
use crate::profile::{LoadOptions, Meta, Profile, ProfileBuilder};
use crate::unit::{Unit, plural, saturated, timestamp_minutes};

/// How many row groups of samples a dataset has, and how many of them were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowGroups {
    /// All of them.
    pub all: usize,
    /// Those that were read.
    pub read: usize,
}

/// Reads the dataset in a folder as one profile, the sum of all that are in it.
pub fn read(dataset: &Path, options: &LoadOptions) -> Result<Profile, LoadError> {
    Ok(read_counting(dataset, options)?.0)
}

/// Like [`read`]; also says how much was read. Row groups that have no samples of interest are left out.
pub fn read_counting(dataset: &Path, options: &LoadOptions) -> Result<(Profile, RowGroups), LoadError> {
    let (profile, groups) = read_wanted(dataset, options)?;
    if profile.samples.is_empty() && groups.read < groups.all {
        // The message of a filter that matches nothing names what there is.
        return read_wanted(dataset, &LoadOptions { only: None, ..options.clone() });
    }
    Ok((profile, groups))
}

fn read_wanted(dataset: &Path, options: &LoadOptions) -> Result<(Profile, RowGroups), LoadError> {
    if let Some(missing) = FOLDERS.iter().find(|name| !dataset.join(name).is_dir()) {
        let what = format!("the dataset is incomplete: it has no folder {missing}/. Copy all four folders");
        return Err(damaged(what));
    }
    let budget = options.budget.clone();
    let profiles = Profiles::read(dataset, options.only.is_some(), &budget)?;
    if profiles.rows.is_empty() {
        return Err(damaged("the dataset has no profiles: profiles/ has no complete part".to_string()));
    }
    let mut builder = ProfileBuilder::new("parquet", options.clone());
    let metrics = Metrics::declare(&profiles.rows, &mut builder)?;
    let stacks = Stacks::read(dataset, &mut builder, &budget)?;
    let wanted = Wanted { labels: options.labels, sizes: options.sizes, times: options.times };
    let selection = Selection::new(dataset, &profiles, options)?;
    let mut groups = RowGroups::default();
    let mut reading = Reading {
        profiles: &profiles,
        metrics: &metrics,
        stacks: &stacks,
        wanted,
        strays: BTreeSet::new(),
        seen: vec![false; profiles.rows.len()],
    };
    for table in open_all(dataset, "samples", &budget)? {
        let table = table?;
        for group in 0..table.groups() {
            groups.all += 1;
            if let Some(selection) = &selection
                && !selection.wants(&table, group, &profiles)?
            {
                continue;
            }
            groups.read += 1;
            let mut take =
                |builder: &mut ProfileBuilder, sample: &ReadSample| reading.take(&table, builder, sample);
            read_samples(&table, group, wanted, &mut builder, &mut take)?;
        }
    }
    let strays = reading.strays.len();
    if groups.read == groups.all {
        builder.meta.warnings.extend(without_samples(&profiles.rows, &reading.seen));
    }
    describe(&mut builder, &profiles, strays);
    let bytes = size(dataset);
    let mut profile = builder.finish()?;
    if let Some(selection) = selection.filter(|_| groups.read < groups.all) {
        selection.complete(&mut profile.meta);
        metrics.complete(&profiles.rows, &mut profile.meta);
    }
    profile.meta.rows = profiles.rows.iter().map(|profile| profile.samples).sum();
    profile.meta.labelled_rows = profiles.rows.iter().map(|profile| profile.labelled).sum();
    profile.meta.confidence = "certain";
    profile.meta.bytes = bytes;
    Ok((profile, groups))
}

/// Reads the result of a query with the stacks of the dataset that it came from; `None` if it has names itself.
pub fn read_result(file: &Path, dataset: &Path, options: LoadOptions) -> Result<Option<Profile>, LoadError> {
    let budget = options.budget.clone();
    let table = Table::open(File::open(file)?, String::new(), &budget)?;
    if !result::has_ids(&table) {
        return Ok(None);
    }
    let mut stacks = DatasetStacks { dataset, read: None };
    result::read(&table, options, Some(&mut stacks)).map(Some)
}

/// The stacks of a dataset, which are read when the first one is needed.
struct DatasetStacks<'d> {
    dataset: &'d Path,
    read: Option<Stacks>,
}

impl result::StackIds for DatasetStacks<'_> {
    fn find(
        &mut self,
        builder: &mut ProfileBuilder,
        id: u64,
    ) -> Result<Option<crate::profile::StackId>, LoadError> {
        if self.read.is_none() {
            let budget = builder.options().budget.clone();
            self.read = Some(Stacks::read(self.dataset, builder, &budget)?);
        }
        Ok(self.read.as_ref().and_then(|stacks| stacks.get(id)))
    }
}

fn damaged(what: String) -> LoadError {
    ParseError::whole("parquet", what).into()
}

/// The size of all files.
fn size(dataset: &Path) -> u64 {
    let files = FOLDERS.iter().filter_map(|table| files_of(dataset, table).ok()).flatten();
    files.filter_map(|(_, path)| Some(path.metadata().ok()?.len())).sum()
}

/// The metrics of a dataset, and by what their values in the units of each profile are multiplied.
struct Metrics {
    /// The number of a metric, and the factor of the values in a unit and with a divisor.
    known: BTreeMap<(String, String, u64), (usize, i64)>,
}

impl Metrics {
    /// Declares the metrics of all profiles, in the order of the first ones that have them, in the finest of their units.
    fn declare(profiles: &[ReadProfile], builder: &mut ProfileBuilder) -> Result<Metrics, LoadError> {
        let mut finest: Vec<ReadMetric> = Vec::new();
        for metric in profiles.iter().flat_map(|profile| &profile.metrics) {
            let Some(found) = finest.iter_mut().find(|found| found.name == metric.name) else {
                finest.push(metric.clone());
                continue;
            };
            if found.unit != metric.unit {
                let (own, other) = (Unit::parse(&found.unit), Unit::parse(&metric.unit));
                if other.factor_to(&own).is_none() {
                    if own.factor_to(&other).is_none() {
                        let ReadMetric { name, unit, .. } = found;
                        return Err(damaged(format!(
                            "the metric {name} has the units {unit} and {}",
                            metric.unit
                        )));
                    }
                    found.unit.clone_from(&metric.unit);
                }
            }
            found.divisor = found.divisor.max(metric.divisor);
        }
        for metric in &finest {
            let number = builder.metric(&metric.name, &metric.unit);
            builder.meta.metrics[number].divisor = metric.divisor;
        }
        let default = profiles.first().map(|profile| &profile.default_metric);
        let default = finest.iter().position(|metric| Some(&metric.name) == default);
        builder.meta.default_metric = default.unwrap_or(0);
        let mut known = BTreeMap::new();
        for ReadMetric { name, unit, divisor, .. } in profiles.iter().flat_map(|profile| &profile.metrics) {
            let key = (name.clone(), unit.clone(), *divisor);
            if known.contains_key(&key) {
                continue;
            }
            let number = finest.iter().position(|metric| metric.name == *name).unwrap_or(0);
            let to = &finest[number];
            let of_unit =
                if *unit == to.unit { Some(1) } else { Unit::parse(unit).factor_to(&Unit::parse(&to.unit)) };
            let of_divisor = i64::try_from(to.divisor / divisor).ok();
            let factor = of_unit.zip(of_divisor).and_then(|(unit, divisor)| unit.checked_mul(divisor));
            let factor = factor
                .ok_or_else(|| damaged(format!("the values of {name} do not fit 64 bits in {}", to.unit)))?;
            known.insert(key, (number, factor));
        }
        Ok(Metrics { known })
    }

    fn find(&self, metric: &str, unit: &str, divisor: u64) -> Option<(usize, i64)> {
        let is_it = |key: &&(String, String, u64)| key.0 == metric && key.1 == unit && key.2 == divisor;
        self.known.iter().find(|(key, _)| is_it(key)).map(|(_, &found)| found)
    }

    /// Sets the totals to those of all samples, those that were not read included.
    fn complete(&self, profiles: &[ReadProfile], meta: &mut Meta) {
        let mut totals = vec![0_i128; meta.metrics.len()];
        for ReadMetric { name, unit, divisor, total } in profiles.iter().flat_map(|profile| &profile.metrics)
        {
            if let Some((metric, factor)) = self.find(name, unit, *divisor) {
                totals[metric] += i128::from(*total) * i128::from(factor);
            }
        }
        for (metric, total) in meta.metrics.iter_mut().zip(totals) {
            metric.too_large |= i64::try_from(total).is_err();
            metric.total = saturated(total);
        }
    }
}

/// Samples that are being read.
struct Reading<'d> {
    profiles: &'d Profiles,
    metrics: &'d Metrics,
    stacks: &'d Stacks,
    wanted: Wanted,
    /// Parts with samples of profiles that are not in the table of profiles.
    strays: BTreeSet<u64>,
    /// Which profiles have samples.
    seen: Vec<bool>,
}

impl Reading<'_> {
    fn take(
        &mut self,
        table: &Table,
        builder: &mut ProfileBuilder,
        sample: &ReadSample,
    ) -> Result<(), LoadError> {
        let Some(number) = self.profiles.number(sample.profile, sample.part) else {
            // The samples of a further copy of a profile are no reason to worry.
            if self.profiles.number_of(sample.profile).is_none() && self.strays.len() < MOST_STRAYS {
                self.strays.insert(sample.part);
            }
            return Ok(());
        };
        self.seen[number] = true;
        let ReadSample { metric, unit, divisor, .. } = sample;
        let (metric, factor) = self
            .metrics
            .find(metric, unit, *divisor)
            .ok_or_else(|| table.error(format!("its profile has no metric {metric} ({unit})")))?;
        let stack = self.stacks.get(sample.stack).ok_or_else(|| {
            table.error(format!(
                "the stack {} is missing from stacks/: copy all files of the dataset",
                sample.stack
            ))
        })?;
        let value = sample.value.checked_mul(factor).unwrap_or_else(|| {
            builder.overflow(metric);
            0
        });
        let time = self.wanted.times.then(|| sample.time.or(self.profiles.rows[number].time)).flatten();
        builder.sample_from(metric, stack, sample.labels, time, &[value]);
        Ok(())
    }
}

const MOST_STRAYS: usize = 1000;

/// A warning about profiles whose samples are missing.
fn without_samples(profiles: &[ReadProfile], seen: &[bool]) -> Option<String> {
    let had_samples = |profile: &ReadProfile| profile.metrics.iter().any(|metric| metric.total != 0);
    let missing = profiles.iter().zip(seen).filter(|(profile, seen)| !**seen && had_samples(profile)).count();
    (missing > 0).then(|| {
        let all = profiles.len() as u64;
        let have = plural(missing as u64, "has", "have");
        format!("{missing} of {all} profiles {have} no samples in samples/: copy all files of the dataset")
    })
}

/// Fills in what is known about the profiles, and what there is to say about them.
fn describe(builder: &mut ProfileBuilder, profiles: &Profiles, strays: usize) {
    let rows = &profiles.rows;
    let same = |of: fn(&ReadProfile) -> Option<i64>| {
        let first = of(&rows[0]);
        first.filter(|_| rows.iter().all(|row| of(row) == first))
    };
    let durations = rows.iter().filter_map(|row| row.duration);
    builder.meta.profiles = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    builder.meta.time_ns = rows.iter().filter_map(|row| row.time).min();
    builder.meta.duration_ns = durations.reduce(i64::saturating_add);
    builder.meta.processors = same(|row| row.processors);
    let period = rows[0].period.clone();
    builder.meta.period = period.filter(|period| rows.iter().all(|row| row.period.as_ref() == Some(period)));
    builder.meta.has_times |= builder.meta.time_ns.is_some();
    if profiles.copies > 0 {
        let copies = profiles.copies as u64;
        let copies = format!("{copies} {}", plural(copies, "profile", "profiles"));
        builder.meta.notes.push(format!("the dataset has further copies of {copies}: each is counted once"));
    }
    if strays > 0 {
        builder.warn(format!(
            "samples/ has {strays} {} without profiles, as an export leaves that was interrupted: not counted",
            plural(strays as u64, "part", "parts")
        ));
    }
    let programs: BTreeSet<&str> =
        rows.iter().map(|row| &*row.program).filter(|name| !name.is_empty()).collect();
    if programs.len() > 1 {
        let named: Vec<&str> = programs.iter().take(MOST_NAMED).copied().collect();
        let more = if programs.len() > MOST_NAMED { ", …" } else { "" };
        let unknown = rows.iter().filter(|row| row.program.is_empty()).count() as u64;
        let unknown = match unknown {
            0 => String::new(),
            count => format!(" and {count} {} of unknown programs", plural(count, "profile", "profiles")),
        };
        builder.meta.notes.push(format!(
            "the dataset has profiles of {} programs ({}{more}){unknown}, which are added up",
            programs.len(),
            named.join(", ")
        ));
    }
    builder.meta.warnings.extend(future(rows.iter().filter_map(|row| row.time)));
}

/// How many programs are named.
const MOST_NAMED: usize = 5;

/// A warning about profiles that were recorded in the future.
pub fn future(times: impl Iterator<Item = i64>) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    // Clocks may differ a little, and time zones by a day.
    let limit = saturated((now + Duration::from_hours(24)).as_nanos());
    let late: Vec<i64> = times.filter(|&time| time > limit).collect();
    let latest = late.iter().max()?;
    Some(format!(
        "{} recorded in the future, up to {}: is the clock of a machine wrong?",
        match late.len() {
            1 => "1 profile was".to_string(),
            several => format!("{several} profiles were"),
        },
        timestamp_minutes(*latest)
    ))
}
