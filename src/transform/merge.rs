//! Merging profiles: summing several into one.

use crate::profile::{Faults, LoadOptions, Meta, Metric, Period, Profile, ProfileBuilder, SharedTables};
use crate::transform::compact::compact;
use crate::transform::copier::{CopiedTables, Copier, SourceMetric};
use crate::transform::engine::keep_rows;
use crate::transform::merge_error::MergeError;
use crate::transform::metric_units::{common_divisor, factors};
use crate::transform::metrics::pick_metrics;
use crate::unit::Unit;

/// Sums profiles. Metrics are matched by name, in the first profile's order; metrics that are missing in a
/// profile are left out, with a warning. Units of one kind are converted to the finest of them. Fails if a metric
/// has units of different kinds, or if a table outgrows its ids.
pub fn merge(profiles: &[Profile]) -> Result<Profile, MergeError> {
    let Some(first) = profiles.first() else {
        let builder = ProfileBuilder::new("none", LoadOptions::default());
        return builder.finish().map_err(MergeError::TooLarge);
    };
    same_kind(&profiles.iter().collect::<Vec<_>>())?;
    let times = profiles.iter().any(|profile| profile.samples.time.is_some());
    let mut sum = Sum::like(&first.meta, LoadOptions { labels: true, times, ..LoadOptions::LEAST });
    // Find the finest units first: rows could be rescaled later, but the values of calls cannot.
    for profile in profiles {
        sum.refine(&profile.meta);
    }
    for profile in profiles {
        sum.add(profile);
    }
    sum.finish()
}

/// Rejects a mix of stacks and calls.
pub(super) fn same_kind(profiles: &[&Profile]) -> Result<(), MergeError> {
    let format = |calls: bool| {
        let found = profiles.iter().find(|profile| profile.calls.is_some() == calls);
        found.map(|profile| profile.meta.format)
    };
    match (format(false), format(true)) {
        (Some(stacks), Some(calls)) => Err(MergeError::Kinds(stacks, calls)),
        _ => Ok(()),
    }
}

/// A sum to which profiles are added one at a time, so that they need not all be in memory at once: 25 MB
/// instead of 388 MB for 100 profiles of a fleet.
///
/// ```
/// use prof::profile::{LoadOptions, from_notation, to_notation};
/// use prof::transform::Sum;
///
/// let profiles = [from_notation("main;a 1"), from_notation("main;b 2\nmain;a 3")];
/// let mut sum = Sum::like(&profiles[0].meta, LoadOptions::default());
/// for profile in &profiles {
///     sum.add(profile);
/// }
/// assert_eq!(to_notation(&sum.finish()?), "main;a 4\nmain;b 2");
/// # Ok::<(), prof::transform::MergeError>(())
/// ```
pub struct Sum {
    builder: ProfileBuilder,
    metrics: Vec<SumMetric>,
    /// The metadata of the profiles so far, except for their metrics.
    meta: Option<Meta>,
    /// The tables that the sum has in common with profiles that are added; the builder borrows them.
    shared: Option<SharedTables>,
}

/// A metric of the sum.
struct SumMetric {
    /// Its number in the first profile.
    place: usize,
    /// The number of samples with a value, as read.
    rows: u64,
    /// Whether it is left out because a profile lacks it.
    left_out: bool,
    /// Why its values cannot be summed, if so.
    error: Option<MergeError>,
}

impl Sum {
    /// An empty sum with the metrics of `first`. Labels are always kept, times of samples only if `options` ask
    /// for them. The sum reserves its memory in the budget of `options`.
    pub fn like(first: &Meta, options: LoadOptions) -> Self {
        let mut builder = ProfileBuilder::new(first.format, LoadOptions { labels: true, ..options });
        let declare = |(place, metric): (usize, &Metric)| {
            let made = builder.metric(&metric.name, &metric.unit);
            builder.meta.metrics[made].divisor = metric.divisor;
            SumMetric { place, rows: 0, left_out: false, error: None }
        };
        let metrics = first.metrics.iter().enumerate().map(declare).collect();
        builder.meta.default_metric = first.default_metric;
        Sum { builder, metrics, meta: None, shared: None }
    }

    /// The same, with tables into which profiles are read. These need not be copied, which takes a fifth of the time for a
    /// fleet.
    pub(crate) fn sharing(self, shared: SharedTables) -> Self {
        Sum { shared: Some(shared), ..self }
    }

    /// Adds a profile. All profiles must hold stacks, or all of them calls.
    pub fn add(&mut self, profile: &Profile) {
        self.add_profile(profile, true);
    }

    /// Adds a profile that was read into the tables of the sum.
    pub(crate) fn add_sharing(&mut self, profile: &Profile) {
        self.add_profile(profile, false);
    }

    fn add_profile(&mut self, profile: &Profile, has_tables: bool) {
        let taken: Vec<Option<SourceMetric>> =
            (0..self.metrics.len()).map(|metric| self.take(metric, &profile.meta)).collect();
        if let Some(shared) = &self.shared {
            self.builder.borrow_tables(shared);
        }
        let tables = has_tables.then(|| CopiedTables::new(&mut self.builder, profile));
        self.count_samples(&taken, &profile.meta);
        let copier = Copier::new(&mut self.builder, profile, tables.as_ref(), true);
        match &profile.calls {
            None => copier.copy_samples(&taken),
            Some(calls) => copier.copy_calls(calls, &taken),
        }
        if self.shared.is_some() {
            self.builder.stop_sharing();
        }
        self.meta = Some(match self.meta.take() {
            None => profile.meta.clone(),
            Some(meta) => combined(meta, &profile.meta),
        });
    }

    /// Adds the numbers of samples, if all profiles know theirs.
    fn count_samples(&mut self, taken: &[Option<SourceMetric>], other: &Meta) {
        let is_first = self.meta.is_none();
        for (metric, taken) in self.builder.meta.metrics.iter_mut().zip(taken) {
            let Some(taken) = taken else { continue };
            let samples = other.metrics[taken.column].effective_samples;
            let known = if is_first { Some(0) } else { metric.effective_samples };
            metric.effective_samples =
                known.zip(samples).map(|(known, samples)| known.saturating_add(samples));
        }
    }

    /// Makes the units of the sum at least as fine as those of a profile that is added later.
    fn refine(&mut self, other: &Meta) {
        for metric in 0..self.metrics.len() {
            if let Some(column) = self.find(metric, other)
                && let Err(error) = self.finer(metric, &other.metrics[column])
            {
                self.metrics[metric].error.get_or_insert(error);
            }
        }
    }

    /// The number of a metric of the sum in another profile.
    fn find(&self, metric: usize, other: &Meta) -> Option<usize> {
        let (name, place) = (&self.builder.meta.metrics[metric].name, self.metrics[metric].place);
        other.metric_named_at(name, place)
    }

    /// Finds a metric of the sum in a profile that is being added.
    fn take(&mut self, metric: usize, other: &Meta) -> Option<SourceMetric> {
        let Some(column) = self.find(metric, other) else {
            self.metrics[metric].left_out = true;
            return None;
        };
        let taken = &other.metrics[column];
        self.metrics[metric].rows += taken.rows;
        if taken.too_large {
            self.builder.overflow(metric);
        }
        match self.finer(metric, taken) {
            Ok(factor) => Some(SourceMetric { column, factor }),
            Err(error) => {
                self.metrics[metric].error.get_or_insert(error);
                None
            }
        }
    }

    /// Changes the unit of a metric to that of `taken` if that is finer, and returns the factor for the values of
    /// `taken`.
    fn finer(&mut self, metric: usize, taken: &Metric) -> Result<i64, MergeError> {
        let own = &self.builder.meta.metrics[metric];
        let Some((own_factor, factor)) = factors(&own.unit, &taken.unit) else {
            let units = (own.unit.clone(), taken.unit.clone());
            return Err(MergeError::Units { metric: own.name.clone(), units });
        };
        let overflow = || MergeError::Overflow { metric: own.name.clone() };
        let divisor = common_divisor(own.divisor, taken.divisor).ok_or_else(overflow)?;
        let with_divisor = |factor: i64, of: u64| {
            let finer = i64::try_from(divisor / of.max(1)).ok();
            let factor = finer.and_then(|finer| factor.checked_mul(finer));
            factor.ok_or_else(overflow)
        };
        let unit = if own_factor > 1 { taken.unit.clone() } else { own.unit.clone() };
        let factor = with_divisor(factor, taken.divisor)?;
        let own_factor = with_divisor(own_factor, own.divisor)?;
        if own_factor > 1 {
            // Rescaling multiplies the divisor, but a unit that is 1000 times finer is not a divisor of 1000.
            self.builder.meta.metrics[metric].divisor = 1;
            self.builder.rescale(metric, own_factor as u64);
            let own = &mut self.builder.meta.metrics[metric];
            (own.unit, own.divisor) = (unit, divisor);
        }
        Ok(factor)
    }

    /// The sum. Fails if a metric has units of different kinds, if its values do not fit in 64 bits in the finest
    /// unit, or if a table exceeds its ids or the budget.
    pub fn finish(self) -> Result<Profile, MergeError> {
        let Sum { mut builder, mut metrics, meta, shared } = self;
        if let Some(shared) = &shared {
            builder.take_tables(shared);
        }
        let mut sum = builder.finish().map_err(MergeError::TooLarge)?;
        if shared.is_some_and(|shared| shared.has_remains()) {
            sum = compact(&sum).map_err(MergeError::TooLarge)?;
        }
        if let Some(error) =
            metrics.iter_mut().filter(|metric| !metric.left_out).find_map(|metric| metric.error.take())
        {
            return Err(error);
        }
        let mut meta = Meta {
            metrics: std::mem::take(&mut sum.meta.metrics),
            default_metric: sum.meta.default_metric,
            sample_times: sum.meta.sample_times,
            ..meta.unwrap_or(sum.meta)
        };
        for (metric, summed) in meta.metrics.iter_mut().zip(&metrics) {
            metric.rows = summed.rows;
        }
        sum.meta = meta;
        Ok(leave_out(sum, &metrics))
    }
}

/// The sum without the metrics that a profile lacks.
fn leave_out(mut sum: Profile, metrics: &[SumMetric]) -> Profile {
    let kept: Vec<usize> = (0..metrics.len()).filter(|&metric| !metrics[metric].left_out).collect();
    if kept.len() == metrics.len() {
        return sum;
    }
    let left_out = sum.meta.metrics.iter().zip(metrics).filter(|(_, summed)| summed.left_out);
    let warnings: Vec<String> = left_out
        .map(|(metric, _)| format!("the metric {} is left out, because not all inputs have it", metric.name))
        .filter(|warning| !sum.meta.warnings.contains(warning))
        .collect();
    sum.meta.warnings.splice(0..0, warnings);
    let default = kept.iter().position(|&metric| metric == sum.meta.default_metric);
    let mut picked = pick_metrics(&sum, &kept);
    picked.meta.default_metric = default.unwrap_or(0);
    // Samples that had only the metrics left out are now empty.
    keep_rows(&picked, |row| picked.samples.values.iter().any(|column| column[row] != 0))
}

/// The metadata of a sum: the earliest start, and the sums of durations and counts.
fn combined(sum: Meta, other: &Meta) -> Meta {
    let append = |mut all: Vec<String>, more: &[String]| {
        for text in more {
            if !all.contains(text) {
                all.push(text.clone());
            }
        }
        all
    };
    let faults = faults(&sum, other);
    Meta {
        bytes: sum.bytes + other.bytes,
        time_ns: [sum.time_ns, other.time_ns].into_iter().flatten().min(),
        duration_ns: [sum.duration_ns, other.duration_ns].into_iter().flatten().reduce(i64::saturating_add),
        period: sum.period.filter(|period| other.period.as_ref() == Some(period)),
        profiles: sum.profiles + other.profiles,
        rows: sum.rows + other.rows,
        labelled_rows: sum.labelled_rows + other.labelled_rows,
        has_times: sum.has_times || other.has_times,
        lacks_lines: sum.lacks_lines || other.lacks_lines,
        lacks_idle: sum.lacks_idle || other.lacks_idle,
        holds_spans: sum.holds_spans && other.holds_spans,
        processors: sum.processors.filter(|_| sum.processors == other.processors),
        faults,
        pauses: sum.pauses.iter().chain(&other.pauses).cloned().collect(),
        comments: append(sum.comments, &other.comments),
        warnings: append(sum.warnings, &other.warnings),
        notes: append(sum.notes, &other.notes),
        sources: other.sources.clone().into_iter().chain(sum.sources).collect(),
        ..sum
    }
}

/// What went wrong in either recording. If they have different periods, samples do not count the same.
fn faults(sum: &Meta, other: &Meta) -> Faults {
    let mut both = sum.faults.clone().and(&other.faults);
    if let (Some(one), Some(two)) = (&sum.period, &other.period)
        && one != two
    {
        let nanoseconds = |period: &Period| {
            let factor = Unit::parse(&period.unit).factor_to(&Unit::NANOSECONDS)?;
            period.value.checked_mul(factor)
        };
        both = both.and(&Faults {
            intervals: [one, two].into_iter().filter_map(nanoseconds).collect(),
            ..Faults::default()
        });
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{Budget, Label, LabelValue, from_notation, to_notation};

    #[test]
    fn same_stacks_and_labels_add_up() {
        let a = from_notation("main;a 1 {k=v}\nmain;b 2");
        let b = from_notation("main;b 3\nmain;a 4 {k=v}\nmain;a 5");
        let merged = merge(&[a, b]).unwrap();
        assert_eq!(to_notation(&merged), "main;a 5\nmain;a 5 {k=v}\nmain;b 5");
        assert_eq!((merged.meta.metrics[0].total, merged.meta.profiles, merged.meta.rows), (15, 2, 5));
    }

    #[test]
    fn numbers_of_samples_add_up_if_all_are_known() {
        let counted = |text: &str, samples| {
            let mut profile = from_notation(text);
            profile.meta.metrics[0].effective_samples = samples;
            profile
        };
        let samples = |profiles: &[Profile]| merge(profiles).unwrap().meta.metrics[0].effective_samples;
        let three = counted("main 300", Some(3));
        assert_eq!(samples(&[three.clone(), counted("main 400", Some(4))]), Some(7));
        assert_eq!(samples(&[three.clone(), from_notation("main 400"), three]), None);
    }

    #[test]
    fn stacks_and_calls_do_not_add_up() {
        let mut builder = ProfileBuilder::new("calls", LoadOptions::default());
        builder.metric("samples", "count");
        let main = builder.named_function("main", "");
        builder.call_node(main, &[7]);
        let calls = builder.finish().unwrap();
        let twice = merge(&[calls.clone(), calls.clone()]).unwrap();
        assert_eq!(twice.calls.unwrap().totals[0].iter().copied().collect::<Vec<_>>(), [14]);
        assert_eq!(twice.meta.metrics[0].total, 14);
        let error = merge(&[from_notation("main 1"), calls]).unwrap_err();
        assert_eq!(error, MergeError::Kinds("notation", "calls"));
    }

    #[test]
    fn sums_of_sums_are_the_sum() {
        let mut profiles =
            ["main 1 2\nmain;a 3 4", "main;b 5 6", "main 7\nb 8", "main;a 9 1"].map(from_notation);
        for (profile, unit) in profiles.iter_mut().zip(["ms", "s", "us", "s"]) {
            profile.meta.metrics[0].unit = unit.into();
            profile.meta.duration_ns = Some(10);
        }
        let all = merge(&profiles).unwrap();
        let [a, b] = [&profiles[..2], &profiles[2..]].map(|half| {
            let mut sum = Sum::like(&profiles[0].meta, LoadOptions::default());
            for profile in half {
                sum.add(profile);
            }
            sum.finish().unwrap()
        });
        let halves = merge(&[a, b]).unwrap();
        assert_eq!((to_notation(&all), &all.meta), (to_notation(&halves), &halves.meta));
        assert_eq!(to_notation(&all), "b 8\nmain 1007\nmain;a 9003000\nmain;b 5000000");
        assert_eq!(all.meta.warnings, ["the metric metric1 is left out, because not all inputs have it"]);
        assert_eq!((all.meta.rows, all.meta.metrics[0].rows, all.meta.duration_ns), (6, 6, Some(40)));
    }

    #[test]
    fn profiles_that_were_added_give_their_memory_back() {
        let lines: Vec<String> = (0..5000).map(|number| format!("main;function_{number} 1")).collect();
        let text = lines.join("\n");
        let options = LoadOptions { budget: Budget::of(4 << 20), ..LoadOptions::default() };
        let load = || format::load(&mut Source::from_bytes(text.clone().into()), options.clone(), None);
        let mut sum = Sum::like(&load().unwrap().meta, options.clone());
        for _ in 0..20 {
            sum.add(&load().unwrap());
        }
        assert_eq!(sum.finish().unwrap().meta.metrics[0].total, 100_000);
        let held: Vec<_> = (0..20).map(|_| load()).collect();
        assert!(held.iter().any(Result::is_err), "twenty at once are too much");
    }

    #[test]
    fn a_profile_may_be_read_into_the_tables_of_the_sum() {
        let shared = SharedTables::default();
        let shares = |lines: &[(&[&str], i64)]| {
            let mut builder = ProfileBuilder::new("notation", LoadOptions::ALL);
            builder.share_tables(shared.clone());
            builder.metric("samples", "count");
            for (names, value) in lines {
                let frames: Vec<_> = names.iter().map(|name| builder.named_frame(name)).collect();
                let (stack, key) = (builder.stack(&frames), builder.string("k"));
                let labels = builder.label_set(&mut [Label { key, value: LabelValue::Number(*value, key) }]);
                builder.sample(stack, labels, None, &[*value]);
            }
            builder
        };
        let first = shares(&[(&["main", "a"], 1), (&["main"], 2)]).finish().unwrap();
        let mut sum = Sum::like(&first.meta, LoadOptions::ALL).sharing(shared.clone());
        sum.add_sharing(&first);
        sum.add(&from_notation("other;a 5\nmain;a 7 {k=v}"));
        // An input that cannot be read to its end leaves nothing behind.
        drop(shares(&[(&["lost"], 9)]));
        sum.add_sharing(&shares(&[(&["main", "a"], 1), (&["main", "b"], 4)]).finish().unwrap());
        let sum = sum.finish().unwrap();
        let lines = "main 2 {k=2k}\nmain;a 2 {k=1k}\nmain;a 7 {k=v}\nmain;b 4 {k=4k}\nother;a 5";
        assert_eq!(to_notation(&sum), lines);
        assert_eq!((sum.meta.profiles, sum.meta.metrics[0].total, sum.stacks.len()), (3, 20, 4));
        assert!(sum.symbols.strings.find("lost").is_none());
    }

    #[test]
    fn units_are_reconciled_to_the_finest() {
        let mut a = from_notation("main 1");
        let mut b = from_notation("main 7");
        (a.meta.metrics[0].unit, b.meta.metrics[0].unit) = ("seconds".into(), "ms".into());
        let merged = merge(&[a.clone(), b.clone()]).unwrap();
        assert_eq!((merged.meta.metrics[0].total, merged.meta.metrics[0].unit.as_str()), (1007, "ms"));
        b.meta.metrics[0].unit = "bytes".into();
        assert!(matches!(merge(&[a, b]), Err(MergeError::Units { .. })));
    }
}
