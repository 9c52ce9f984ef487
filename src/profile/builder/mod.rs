//! Building profiles: readers and transforms fill a [`ProfileBuilder`], which produces a [`Profile`].

mod apart;
mod calls;
mod columns;
mod kinds;
mod shared;
mod symbols;

use std::sync::Arc;

use hashbrown::HashMap;

pub(crate) use columns::RunColumns;
pub(crate) use kinds::LabelKinds;
use shared::BuilderTables;
pub use shared::SharedTables;

use crate::profile::budget::Reservation;
use crate::profile::call_collector::CallCollector;
use crate::profile::rows::RowTable;
use crate::profile::samples::LabelTable;
use crate::profile::stacks::AT_ONCE;
use crate::profile::too_large::{MOST_METRICS, TooLarge};
use crate::profile::{
    Column, FrameId, Label, LabelSetId, LoadOptions, Meta, Metric, Profile, SampleTimes, StackId, Stacks,
    StringId,
};
use crate::unit::plural;

/// Collects the parts of a profile, storing each distinct string, function, frame, stack and set of
/// labels once, and merging equal samples.
///
/// Declare the metrics first; then, for each sample, add its frames, its stack, and its
/// values.
#[derive(Debug)]
pub struct ProfileBuilder {
    /// Metadata of the profile. Readers fill in what they know; the builder computes totals and row
    /// counts.
    pub meta: Meta,
    options: LoadOptions,
    tables: BuilderTables,
    labels: LabelTable,
    /// Which labels are kept, if only those that may tell kinds of work are.
    kinds: LabelKinds,
    kept_labels: Vec<Label>,
    rows: RowTable,
    /// The stacks that are to be divided, with their parts and the weights of these.
    parts: HashMap<StackId, Vec<(StackId, u64)>>,
    /// Σ |value| of each metric, wide enough never to wrap.
    totals: Vec<u128>,
    /// Functions and calls, if the format has these instead of stacks.
    calls: Option<CallCollector>,
    too_large: Option<TooLarge>,
    /// How many samples have a time that does not fit.
    misdated: u64,
    /// The memory that the tables have reserved.
    reservation: Reservation,
    /// The approximate number of bytes added since the size of the tables was last measured.
    unmeasured: usize,
}

impl ProfileBuilder {
    /// An empty profile of `format`.
    pub fn new(format: &'static str, options: LoadOptions) -> Self {
        ProfileBuilder {
            meta: Meta { format, profiles: 1, ..Meta::default() },
            tables: BuilderTables::default(),
            labels: LabelTable::default(),
            kinds: LabelKinds::default(),
            kept_labels: Vec::new(),
            rows: RowTable::new(0, options.times),
            parts: HashMap::new(),
            totals: Vec::new(),
            calls: None,
            too_large: None,
            misdated: 0,
            reservation: options.budget.reservation(),
            options,
            unmeasured: 0,
        }
    }

    /// Uses tables of names and stacks that other profiles have as well. Nothing must have been added to its own.
    pub(crate) fn share_tables(&mut self, shared: SharedTables) {
        self.tables = BuilderTables::borrow(shared);
    }

    /// Uses shared tables for a while, and accounts for all their memory, not just for what is added.
    pub(crate) fn borrow_tables(&mut self, shared: &SharedTables) {
        self.tables = BuilderTables::borrow_all(shared.clone());
        self.measure();
    }

    /// Uses tables of its own after all. Nothing must have been added to the shared ones that is still needed.
    pub(crate) fn stop_sharing(&mut self) {
        self.tables = BuilderTables::default();
    }

    /// Makes shared tables its own.
    pub(crate) fn take_tables(&mut self, shared: &SharedTables) {
        self.tables = BuilderTables::taken(shared);
    }

    /// Whether other profiles have the same tables.
    pub(crate) fn shares_tables(&self) -> bool {
        self.tables.are_shared()
    }

    /// The options for loading.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// Declares a metric and returns its number. Earlier samples get the value 0.
    pub fn metric(&mut self, name: &str, unit: &str) -> usize {
        self.meta.metrics.push(Metric {
            name: name.into(),
            unit: unit.into(),
            divisor: 1,
            ..Metric::default()
        });
        if self.totals.len() == MOST_METRICS {
            self.too_large.get_or_insert(TooLarge::Metrics);
        }
        if self.too_large.is_none() {
            self.rows.add_metric();
        }
        self.totals.push(0);
        self.totals.len() - 1
    }

    /// The number of the metric called `name`, which is declared if it is new.
    pub fn metric_once(&mut self, name: &str, unit: &str) -> usize {
        self.meta.metric_named(name).unwrap_or_else(|| self.metric(name, unit))
    }

    /// Multiplies all values of a metric, and its divisor, by `factor`. Readers of decimal weights call this when a
    /// value has more digits than all before.
    pub fn rescale(&mut self, metric: usize, factor: u64) {
        self.meta.metrics[metric].divisor *= factor;
        self.totals[metric] = self.totals[metric].saturating_mul(u128::from(factor));
        for value in self.rows.column_mut(metric) {
            // Wrapping is harmless: a metric whose total no longer fits is rejected as a whole.
            *value = value.wrapping_mul(factor as i64);
        }
    }

    /// Marks a metric as too large to be shown, because one of its values does not fit in an `i64`.
    pub fn overflow(&mut self, metric: usize) {
        self.totals[metric] = u128::MAX;
    }

    /// The id of the stack of `frames`, root first; a stack without frames is allowed.
    pub fn stack(&mut self, frames: &[FrameId]) -> StackId {
        if self.is_full(size_of_val(frames)) && !self.tables.stacks.stacks.is_empty() {
            return StackId::default();
        }
        self.tables.stacks.intern(frames).unwrap_or_else(|| {
            self.too_large = Some(TooLarge::Ids);
            StackId::default()
        })
    }

    /// Adds a stack that is not known yet and will not be looked up: the reader itself knows which stacks are equal.
    pub(crate) fn new_stack(&mut self, frames: &[FrameId]) -> StackId {
        if self.is_full(size_of_val(frames)) && !self.tables.stacks.stacks.is_empty() {
            return StackId::default();
        }
        self.tables.stacks.stacks.push(frames).unwrap_or_else(|| {
            self.too_large = Some(TooLarge::Ids);
            StackId::default()
        })
    }

    /// The ids of `count` stacks; `write` appends the frames of each, root first, to the given vector. Looking many stacks up
    /// at once takes less time. Fails if `write` fails.
    pub(crate) fn stacks_with<E>(
        &mut self,
        count: usize,
        mut write: impl FnMut(&mut Self, usize, &mut Vec<FrameId>) -> Result<(), E>,
    ) -> Result<Column<StackId, StackId>, E> {
        let (mut ids, mut some) = (Column::with_capacity(count), Stacks::new());
        for number in 0..count {
            some.push_with(|frames| write(self, number, frames))?;
            if some.len() == AT_ONCE || number + 1 == count {
                self.add_stacks(&some, &mut ids);
                some.clear();
            }
        }
        Ok(ids)
    }

    /// Appends the ids of several stacks to `ids`, which takes less time than looking them up one by one.
    pub(crate) fn add_stacks(&mut self, some: &Stacks, ids: &mut Column<StackId, StackId>) {
        let is_full = self.is_full(size_of_val(some.all_frames()) + some.len() * ROW);
        if is_full || self.tables.stacks.intern_all(some, ids).is_none() {
            self.too_large.get_or_insert(TooLarge::Ids);
            // The profile is not finished any more, so that any id of a stack will do.
            let any = self.tables.stacks.intern(&[]).unwrap_or_default();
            for _ in some.ids() {
                ids.push(any);
            }
        }
    }

    /// The frames of a stack that was added before, root first.
    pub fn stack_frames(&self, stack: StackId) -> &[FrameId] {
        self.tables.stacks.stacks.frames(stack)
    }

    /// The id of a set of labels; their order does not matter. Readers may skip this if [`LoadOptions::labels`] is
    /// not set.
    pub fn label_set(&mut self, labels: &mut [Label]) -> LabelSetId {
        if self.is_full(size_of_val(labels)) {
            return LabelSetId::default();
        }
        let mut labels = labels;
        if self.options.kinds_only {
            let (kinds, sizes) = (&mut self.kinds, self.options.sizes);
            self.kept_labels.clear();
            self.kept_labels.extend(labels.iter().filter(|label| kinds.keeps(label, sizes)));
            labels = &mut self.kept_labels;
        }
        self.labels.intern(labels).unwrap_or_else(|| {
            self.too_large = Some(TooLarge::Ids);
            LabelSetId::default()
        })
    }

    /// The number of distinct sets of labels, the empty one included.
    pub fn label_sets(&self) -> usize {
        self.labels.sets.len()
    }

    /// Whether any labels were added.
    pub fn has_labels(&self) -> bool {
        self.label_sets() > 1
    }

    /// Adds a sample with one value per metric. The values `i64::MAX`, `-i64::MAX` and `i64::MIN` stand for values
    /// that do not fit, so that their metric cannot be shown. A sample whose values are all 0 is counted but not
    /// stored. `time` is in nanoseconds.
    #[inline]
    pub fn sample(&mut self, stack: StackId, labels: LabelSetId, time: Option<i64>, values: &[i64]) {
        debug_assert_eq!(values.len(), self.totals.len());
        self.sample_from(0, stack, labels, time, values);
    }

    /// Like [`ProfileBuilder::sample`], with values for the metrics from number `first` on; all others are 0. Where
    /// hundreds of profiles become a metric each, most values are 0.
    pub(crate) fn sample_from(
        &mut self,
        first: usize,
        stack: StackId,
        labels: LabelSetId,
        time: Option<i64>,
        values: &[i64],
    ) {
        self.meta.rows += 1;
        let fits = time.filter(|&time| is_plausible(time));
        self.misdated += u64::from(fits != time);
        let time = fits;
        self.meta.labelled_rows += u64::from(labels != LabelSetId::default());
        self.meta.has_times |= time.is_some();
        self.count(first, values);
        let any = values.iter().fold(0, |any, value| any | value);
        if any == 0 || self.is_full(size_of_val(values)) {
            return;
        }
        if !self.rows.add(stack, labels, time, (first, values)) {
            self.too_large = Some(TooLarge::Ids);
        }
    }

    /// Adds samples without labels and times, each with a value per metric; together they take a third of the instructions of one by one.
    pub(crate) fn plain_samples(&mut self, stacks: &[StackId], values: &[i64]) {
        debug_assert_eq!(values.len(), stacks.len() * self.totals.len());
        self.meta.rows += stacks.len() as u64;
        self.count_columns(values);
        if self.is_full(size_of_val(values) + stacks.len() * ROW) {
            return;
        }
        if !self.rows.add_plain(stacks, values) {
            self.too_large = Some(TooLarge::Ids);
        }
    }

    /// Samples of these stacks come next. Finding the rows of many at once takes less time than one by one.
    pub(crate) fn expect_samples(&mut self, stacks: &[StackId]) {
        self.rows.expect(stacks);
    }

    /// Declares that `part` has `weight` of the samples of `whole`, which may be a part of itself. When the profile is
    /// finished, the values of `whole` are divided among its parts in proportion to their weights; sums stay exact, and
    /// the number of samples stays the same.
    pub(crate) fn divide(&mut self, whole: StackId, part: StackId, weight: u64) {
        if self.is_full(size_of::<(StackId, u64)>()) {
            return;
        }
        self.parts.entry(whole).or_default().push((part, weight));
    }

    /// Makes room for one row per stack that is known by now.
    pub(crate) fn reserve_rows(&mut self) {
        let rows = self.tables.stacks.stacks.len();
        self.account_for(self.rows.growth(rows));
        if self.too_large.is_none() {
            self.rows.reserve(rows);
        }
    }

    /// The number of sample rows so far.
    pub(crate) fn row_count(&self) -> usize {
        self.rows.stack.len()
    }

    /// Adds the values of a sample to the totals of the metrics from number `first` on.
    fn count(&mut self, first: usize, values: &[i64]) {
        let (totals, metrics) = (&mut self.totals[first..], &mut self.meta.metrics[first..]);
        // Zipped iterators are not inlined here, and took 4 % of the time for speedscope with samples.
        for (number, &value) in values.iter().enumerate() {
            let (Some(total), Some(metric)) = (totals.get_mut(number), metrics.get_mut(number)) else {
                return;
            };
            let size = value.unsigned_abs();
            // Readers replace values that do not fit by the largest value.
            *total = if size >= SATURATED { u128::MAX } else { total.saturating_add(size.into()) };
            metric.rows += u64::from(value != 0);
        }
    }

    /// Adds the values of samples, each of which has one per metric, to the totals.
    fn count_columns(&mut self, values: &[i64]) {
        let width = self.totals.len();
        for (number, total) in self.totals.iter_mut().enumerate() {
            let (mut sum, mut largest, mut rows) = (0_u128, 0, 0);
            for value in values.iter().skip(number).step_by(width) {
                let size = value.unsigned_abs();
                sum += u128::from(size);
                largest = largest.max(size);
                rows += u64::from(size != 0);
            }
            *total = if largest >= SATURATED { u128::MAX } else { total.saturating_add(sum) };
            self.meta.metrics[number].rows += rows;
        }
    }

    /// Accounts for a new row of about `bytes` bytes, and returns whether the tables are too large for it. In that
    /// case, nothing more is stored and finishing fails.
    #[inline]
    fn is_full(&mut self, bytes: usize) -> bool {
        self.unmeasured += bytes + ROW;
        if self.unmeasured > MEASURE_EVERY {
            self.measure();
        }
        self.too_large.is_some()
    }

    /// Updates the budget with the memory that the tables use.
    fn measure(&mut self) {
        self.account_for(0);
    }

    /// The same, with memory that will be used.
    fn account_for(&mut self, more: usize) {
        self.unmeasured = 0;
        let calls = self.calls.as_ref().map_or(0, CallCollector::size);
        let size = self.tables.growth() + self.labels.size() + self.rows.size() + calls + more;
        if let Err(error) = self.reservation.set(size as u64) {
            self.too_large.get_or_insert(error);
        }
    }

    /// Counts a sample whose labels the reader skipped.
    pub fn skipped_labels(&mut self) {
        self.meta.labelled_rows += 1;
    }

    /// Notes that samples have times, which the reader may skip.
    pub fn skipped_times(&mut self) {
        self.meta.has_times = true;
    }

    /// Adds a warning for the user.
    pub fn warn(&mut self, warning: String) {
        self.meta.warnings.push(warning);
    }

    /// Adds the warning that names are not valid UTF-8, as when a profiler records the bytes of a freed string.
    pub fn warn_of_encoding(&mut self) {
        self.warn("some names are not valid UTF-8; invalid bytes are shown as \u{fffd}".to_string());
    }

    /// Returns the profile, whose samples refer to stacks from [`ProfileBuilder::stack`]. Fails if a table outgrew
    /// its ids.
    pub fn finish(mut self) -> Result<Profile, TooLarge> {
        if !self.rows.divide(&std::mem::take(&mut self.parts)) {
            self.too_large = Some(TooLarge::Ids);
        }
        self.measure();
        if let Some(error) = self.too_large {
            return Err(error);
        }
        self.check_times();
        for (metric, &total) in self.meta.metrics.iter_mut().zip(&self.totals) {
            let fits = i64::try_from(total);
            metric.too_large = fits.is_err();
            metric.total = fits.unwrap_or(i64::MAX);
        }
        let calls = self.calls.map(|calls| {
            let wholes: Vec<i64> = self.meta.metrics.iter().map(|metric| metric.total).collect();
            let (table, impossible) = calls.finish(&mut self.tables.symbols, &wholes);
            self.meta.notes.extend(note_of_cut_totals(impossible.above));
            self.meta.notes.extend(note_of_raised_totals(impossible.below));
            Arc::new(table)
        });
        let tables = self.tables.finish();
        let samples = self.rows.finish();
        self.meta.sample_times = SampleTimes::of(&samples, &self.meta);
        Ok(Profile {
            meta: self.meta,
            symbols: Arc::new(tables.symbols.symbols),
            stacks: Arc::new(tables.stacks.stacks),
            label_sets: Arc::new(self.labels.sets),
            samples: Arc::new(samples),
            calls,
            memory: Arc::new(self.reservation),
        })
    }

    /// Removes times that nothing can be added to without leaving the range of 64 bits. Those of samples were removed before.
    fn check_times(&mut self) {
        let meta = &mut self.meta;
        if meta.time_ns.take_if(|time| !is_plausible(*time)).is_some() {
            let start = "the recording says that it began before 1824 or after 2116; prof treats its start as unknown";
            meta.warnings.push(start.to_string());
        }
        if meta.duration_ns.take_if(|duration| !is_plausible(*duration)).is_some() {
            let duration =
                "the recording says that it took more than 146 years; prof treats its duration as unknown";
            meta.warnings.push(duration.to_string());
        }
        meta.switches.retain(|switch| is_plausible(switch.time));
        meta.pauses.retain(|pause| is_plausible(pause.time) && is_plausible(pause.duration));
        if self.misdated > 0 {
            let count = self.misdated;
            let have = plural(count, "sample has a time", "samples have times");
            meta.warnings
                .push(format!("{count} {have} before 1824 or after 2116; prof treats them as unknown"));
        }
    }

    /// Returns the profile, whose samples refer to provisional stacks 0 … `count`−1, for formats in which samples
    /// come before the tables that they refer to. `expand` appends the frames of a provisional stack, root first, to
    /// the given vector. Fails if a table outgrew its ids, or if `expand` fails.
    pub fn finish_provisional<E>(
        mut self,
        count: usize,
        expand: impl FnMut(&mut Self, usize, &mut Vec<FrameId>) -> Result<(), E>,
    ) -> Result<Result<Profile, TooLarge>, E> {
        let final_stack = self.stacks_with(count, expand)?;
        for stack in &mut self.rows.stack {
            *stack = final_stack[*stack];
        }
        Ok(self.finish())
    }

    /// Returns the profile, whose samples refer to `stacks`, which must be distinct. Searching a million stacks for
    /// equal ones would take half a second.
    pub(crate) fn finish_with(mut self, stacks: Stacks) -> Result<Profile, TooLarge> {
        debug_assert!(self.tables.stacks.stacks.is_empty(), "stacks come from one place");
        if !stacks.fit() {
            self.too_large = Some(TooLarge::Ids);
        }
        self.tables.stacks.stacks = stacks;
        self.finish()
    }

    /// Replaces every string id in the labels, for formats whose string table comes last.
    pub fn map_label_strings(&mut self, map: impl Fn(StringId) -> StringId) {
        self.labels.sets.map_strings(map);
    }
}

/// Whether a time in nanoseconds is small enough to be added to another. Readers replace times that do not fit by the largest number,
/// and `now - start` of such a time is a little less.
fn is_plausible(time: i64) -> bool {
    time.unsigned_abs() <= 1 << 62
}

/// The absolute value to which out-of-range values are clamped.
const SATURATED: u64 = i64::MAX as u64;

/// The approximate size of a table row in bytes.
const ROW: usize = 32;

/// The size of the tables is measured again after this many bytes: often enough not to exceed the budget by much,
/// but rarely enough to cost nothing.
const MEASURE_EVERY: usize = 1 << 20;

/// A note on functions whose totals are cut to the whole.
fn note_of_cut_totals(count: usize) -> Option<String> {
    let have = plural(count as u64, "function has a total", "functions have totals");
    (count > 0).then(|| {
        format!(
            "{count} {have} above the sum of all self values, as where several threads run at once or functions are \
             missing; 100% is shown instead"
        )
    })
}

/// A note on functions whose totals are raised to their self values.
fn note_of_raised_totals(count: usize) -> Option<String> {
    let have = plural(count as u64, "function has a total", "functions have totals");
    let shown =
        plural(count as u64, "its self value is shown instead", "their self values are shown instead");
    (count > 0).then(|| {
        format!(
            "{count} {have} below self, as where the calls of several threads interleave (cProfile since Python 3.12); {shown}, \
             and other totals may be wrong as well"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder(metrics: &[&str]) -> ProfileBuilder {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        for metric in metrics {
            builder.metric(metric, "count");
        }
        builder
    }

    #[test]
    fn equal_rows_merge_and_opposite_signs_do_not() {
        let mut builder = builder(&["delta"]);
        let main = builder.named_frame("main");
        let stack = builder.stack(&[main]);
        for value in [3, 4, -2, -1, 0] {
            builder.sample(stack, LabelSetId::default(), None, &[value]);
        }
        let profile = builder.finish().unwrap();
        assert_eq!(profile.samples.values[0], [7, -3]);
        assert_eq!(profile.meta.metrics[0].total, 10);
        assert_eq!(profile.shown_total(0), 10);
        assert_eq!((profile.meta.rows, profile.meta.metrics[0].rows), (5, 4));
    }

    #[test]
    fn a_total_past_i64_marks_the_metric() {
        let mut builder = builder(&["big", "small"]);
        let stack = builder.stack(&[]);
        builder.sample(stack, LabelSetId::default(), None, &[i64::MAX - 1, 1]);
        builder.sample(stack, LabelSetId::default(), None, &[-2, 1]);
        let profile = builder.finish().unwrap();
        assert!(profile.meta.metrics[0].too_large);
        assert_eq!(profile.meta.metrics[1].total, 2);
    }

    #[test]
    fn times_that_do_not_fit_are_unknown() {
        let options = LoadOptions { times: true, ..LoadOptions::default() };
        let mut builder = ProfileBuilder::new("test", options);
        builder.metric("samples", "count");
        let stack = builder.stack(&[]);
        let largest = 1 << 62;
        for time in [i64::MIN, -i64::MAX, -largest - 1, -largest, 0, largest, largest + 1, i64::MAX] {
            builder.sample(stack, LabelSetId::default(), Some(time), &[1]);
        }
        (builder.meta.time_ns, builder.meta.duration_ns) = (Some(i64::MAX), Some(i64::MAX - 1));
        let profile = builder.finish().unwrap();
        assert_eq!(profile.samples.known_times().collect::<Vec<_>>(), [-largest, 0, largest]);
        assert_eq!((profile.meta.time_ns, profile.meta.duration_ns), (None, None));
        assert_eq!(
            profile.meta.warnings,
            [
                "the recording says that it began before 1824 or after 2116; prof treats its start as unknown",
                "the recording says that it took more than 146 years; prof treats its duration as unknown",
                "5 samples have times before 1824 or after 2116; prof treats them as unknown",
            ]
        );
    }

    #[test]
    fn a_clamped_value_marks_the_metric() {
        for (value, fits) in
            [(i64::MAX - 1, true), (-i64::MAX + 1, true), (i64::MAX, false), (i64::MIN, false)]
        {
            let mut builder = builder(&["big"]);
            let stack = builder.stack(&[]);
            builder.sample(stack, LabelSetId::default(), None, &[value]);
            let profile = builder.finish().unwrap();
            assert_eq!(!profile.meta.metrics[0].too_large, fits, "{value}");
        }
    }

    #[test]
    fn rescaling_keeps_counts() {
        let mut builder = builder(&["weight"]);
        let stack = builder.stack(&[]);
        builder.sample(stack, LabelSetId::default(), None, &[3]);
        builder.rescale(0, 10);
        builder.sample(stack, LabelSetId::default(), None, &[5]);
        let profile = builder.finish().unwrap();
        assert_eq!((profile.meta.metrics[0].total, profile.meta.metrics[0].divisor), (35, 10));
        assert_eq!(profile.samples.values[0], [35]);
    }
}
