//! The model: tables of integers that every part of `prof` shares.
//!
//! A [`Profile`] is a table of distinct [`Stacks`] and the columns of its [`Samples`]; names are stored in
//! [`Symbols`] and referred to by typed ids. Only a [`ProfileBuilder`] fills these tables, and they do not change
//! afterwards: a filter creates a new profile that shares the unchanged tables.
//!
//! ```
//! use prof::profile::{Frame, LabelSetId, LoadOptions, ProfileBuilder};
//!
//! let mut builder = ProfileBuilder::new("example", LoadOptions::default());
//! builder.metric("samples", "count");
//! let main = builder.named_frame("main");
//! let work = builder.named_frame("work");
//! let stack = builder.stack(&[main, work]);
//! builder.sample(stack, LabelSetId::default(), None, &[3]);
//! let profile = builder.finish().unwrap();
//!
//! assert_eq!(profile.meta.metrics[0].total, 3);
//! assert_eq!(profile.stacks.len(), 1);
//! ```

mod budget;
mod builder;
mod call_collector;
mod calls;
mod column;
mod cycles;
mod index;
mod lengths;
mod notation;
mod options;
mod rows;
mod samples;
mod stacks;
mod strings;
mod symbols;
mod too_large;
mod value_sums;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use budget::{Budget, Reservation};
pub(crate) use builder::{LabelKinds, RunColumns};
pub use builder::{ProfileBuilder, SharedTables};
pub use calls::{CallLines, CallTable};
pub(crate) use column::ids;
pub use column::{Column, FrameId, FunctionId, Id, LabelSetId, MappingId, StackId, StringId};
pub(crate) use cycles::{Cycles, Total};
pub(crate) use index::HashIndex;
pub(crate) use lengths::{LONGEST, Lengths, WAITING, WAITS, WALL};
pub use notation::{from_notation, to_notation};
pub use options::{LoadOptions, MOST_KINDS, OnlySamples};
pub(crate) use rows::RowTable;
pub use samples::{ContextSwitch, Label, LabelSets, LabelValue, Pause, RecordedTimes, SampleTimes, Samples};
pub use stacks::Stacks;
pub(crate) use stacks::{AT_ONCE, StackTable};
pub use strings::Strings;
pub use symbols::{Addresses, Frame, Function, Mapping, Symbols};
pub(crate) use symbols::{SymbolTable, unnamed};
pub(crate) use too_large::MOST_METRICS;
pub use too_large::TooLarge;
pub(crate) use value_sums::ValueSums;

/// A loaded profile. Cloning is cheap: the tables are shared.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Metadata of the profile.
    pub meta: Meta,
    /// Names: strings, mappings, functions, frames.
    pub symbols: Arc<Symbols>,
    /// The distinct stacks.
    pub stacks: Arc<Stacks>,
    /// The distinct sets of labels.
    pub label_sets: Arc<LabelSets>,
    /// The samples.
    pub samples: Arc<Samples>,
    /// Functions and calls, for formats that record these instead of stacks. Such a profile has no stacks and no
    /// samples.
    pub calls: Option<Arc<CallTable>>,
    /// The memory reserved for the tables; released with the last profile that uses them.
    pub(crate) memory: Arc<Reservation>,
}

impl Profile {
    /// The values of metric number `metric`, summed by stack.
    pub fn value_by_stack(&self, metric: usize) -> Column<StackId, i64> {
        let mut sums = Column::filled(0, self.stacks.len());
        for (&stack, &value) in self.samples.stack.iter().zip(&self.samples.values[metric]) {
            sums[stack] += value;
        }
        sums
    }

    /// Whether each row of the samples has the stack of its number, so that the values of a metric are those of the stacks.
    pub(crate) fn rows_are_stacks(&self) -> bool {
        let is_own = |(row, stack): (usize, &StackId)| stack.index() == row;
        self.samples.len() == self.stacks.len() && self.samples.stack.iter().enumerate().all(is_own)
    }

    /// The value of a label as `--label` takes it: a number has its unit, as in `64bytes`.
    pub fn label_text(&self, value: LabelValue) -> String {
        let text = |id| self.symbols.strings.get(id);
        match value {
            LabelValue::Text(value) => text(value).to_string(),
            LabelValue::Number(number, unit) => format!("{number}{}", text(unit)),
        }
    }

    /// The value of the samples without a stack.
    pub fn no_stack(&self, metric: usize) -> i64 {
        // Values whose sum does not fit in 64 bits are not shown at all.
        if self.meta.metrics.get(metric).is_none_or(|metric| metric.too_large) {
            return 0;
        }
        let values = &self.samples.values[metric];
        let rows = self.samples.stack.iter().zip(values);
        rows.filter(|&(&stack, _)| self.stacks.frames(stack).is_empty()).map(|(_, &value)| value).sum()
    }

    /// Which stacks have samples. A filter may leave stacks without any.
    pub fn used_stacks(&self) -> Column<StackId, bool> {
        let mut used = Column::filled(false, self.stacks.len());
        for &stack in &self.samples.stack {
            used[stack] = true;
        }
        used
    }

    /// The value of a set of labels under a key; the first one if it has several.
    pub(crate) fn label(&self, set: LabelSetId, key: &str) -> Option<LabelValue> {
        let mut labels = self.label_sets.labels(set).iter();
        labels.find(|label| self.symbols.strings.get(label.key) == key).map(|label| label.value)
    }

    /// Whether any value of metric number `metric` is below 0, as in the difference of two profiles.
    pub(crate) fn has_negatives(&self, metric: usize) -> bool {
        if let Some(calls) = &self.calls {
            return calls.self_values[metric].iter().any(|&value| value < 0);
        }
        self.samples.values.get(metric).is_some_and(|values| values.iter().any(|&value| value < 0))
    }

    /// Σ value of metric number `metric` over the samples that filters have left, if values below 0 take from it, so that it is
    /// not [`Profile::shown_total`].
    pub(crate) fn signed_total(&self, metric: usize) -> Option<i64> {
        self.has_negatives(metric).then(|| match &self.calls {
            Some(calls) => calls.self_values[metric].iter().sum(),
            None => self.samples.values[metric].iter().sum(),
        })
    }

    /// Σ |value| of metric number `metric` over the samples that filters have left.
    pub fn shown_total(&self, metric: usize) -> i64 {
        if let Some(calls) = &self.calls {
            return calls.self_values[metric].iter().map(|value| value.abs()).sum();
        }
        self.samples.values[metric].iter().map(|value| value.abs()).sum()
    }
}

/// Metadata of a profile, and what was counted while loading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Name of the format, such as `pprof`.
    pub format: &'static str,
    /// How certain format detection was: `certain`, `likely` or `maybe`; `given` if the user named the format;
    /// empty for a profile that was not loaded.
    pub confidence: &'static str,
    /// The compressions that were removed, outermost first.
    pub encoding: Vec<&'static str>,
    /// Size of the input before decompression.
    pub bytes: u64,
    /// The metrics, in the order of the value columns.
    pub metrics: Vec<Metric>,
    /// The metric that views show by default.
    pub default_metric: usize,
    /// When the recording started, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long it took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// The number of processors of the machine, if recorded.
    pub processors: Option<i64>,
    /// The sampling period.
    pub period: Option<Period>,
    /// Free text that the recorder left.
    pub comments: Vec<String>,
    /// A regular expression for functions to drop, including their callees; empty for none.
    pub drop_frames: String,
    /// A regular expression for exceptions from `drop_frames`; empty for none.
    pub keep_frames: String,
    /// How many profiles were summed in this one.
    pub profiles: u32,
    /// Samples read, before equal ones were merged.
    pub rows: u64,
    /// How many of them carry labels.
    pub labelled_rows: u64,
    /// If labels with text were left out: whether some of them may tell kinds of work, because their key has few values. `None` if
    /// none were, or if the reader did not look at them.
    pub skipped_kinds: Option<bool>,
    /// Whether samples have times in the input, even if these were not loaded.
    pub has_times: bool,
    /// When the samples were taken, as loaded, if times were.
    pub sample_times: Option<SampleTimes>,
    /// For each metric, the recording that it is from, if several are compared and all of them have times; otherwise empty.
    pub recordings: Vec<RecordedTimes>,
    /// When threads got and left processors, in order of time, if this was recorded and asked for.
    pub switches: Vec<ContextSwitch>,
    /// When a garbage collector stopped all threads, if this was recorded and times were asked for.
    pub pauses: Vec<Pause>,
    /// Whether the input says how often each line was running but not when, so that a profile with times lacks lines.
    pub lacks_lines: bool,
    /// Whether samples of idle threads were left out and the others closed up, so that their times say in which order samples of one
    /// thread were taken, but not which ones were taken at the same moment.
    pub lacks_idle: bool,
    /// Whether the input says when functions began and ended, so that a sample is the exact time between two such events.
    pub holds_spans: bool,
    /// Whether values were divided by the number of threads that were running.
    pub is_latency: bool,
    /// Whether samples were taken at intervals of elapsed time, although the metric does not say so.
    pub by_clock: bool,
    /// What the recorder says that went wrong while it recorded.
    pub faults: Faults,
    /// Warnings about the input, for the user.
    pub warnings: Vec<String>,
    /// Notes on the input, for the user.
    pub notes: Vec<String>,
    /// The texts of source files that were found with the names of functions, by the name of the file.
    pub sources: BTreeMap<String, Arc<EmbeddedSource>>,
    /// The source maps that the input contains, by the URL of their script. Loading applies them.
    pub source_maps: BTreeMap<String, Arc<[u8]>>,
}

/// What is said of a profile whose values were divided by the number of running threads. It is also a comment in converted files,
/// so that a reader knows.
pub const LATENCY: &str =
    "values are latency: each sample counts 1 ÷ the number of threads that were running";

/// What a recorder says that went wrong while it recorded, and what is known about its method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many samples it lost.
    pub lost: u64,
    /// How often it was made to pause, because it took too many samples.
    pub throttled: u64,
    /// The nanoseconds between samples, shortest first, if they changed while it recorded.
    pub intervals: Vec<i64>,
    /// Whether it sees threads only in some places, such as those with debug information for the virtual machine.
    pub skips_code: bool,
    /// How many samples were taken earlier than the one before them, by the clock of the recorder.
    pub backwards: u64,
    /// The warnings about faults that rules find by themselves, in this structure or in the samples.
    pub said: Vec<String>,
}

impl Faults {
    /// Those of two recordings that are added up.
    #[must_use]
    pub fn and(mut self, other: &Faults) -> Faults {
        self.lost = self.lost.saturating_add(other.lost);
        self.throttled = self.throttled.saturating_add(other.throttled);
        self.intervals.extend(&other.intervals);
        self.intervals.sort_unstable();
        self.intervals.dedup();
        self.skips_code |= other.skips_code;
        self.backwards = self.backwards.saturating_add(other.backwards);
        self.said.extend(other.said.iter().cloned());
        self
    }
}

/// The text of a source file, as it was when the program was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedSource {
    /// The file that contains the text, such as `dist/app.js.map`.
    pub from: String,
    /// The text.
    pub text: Arc<str>,
}

impl Meta {
    /// Adds a warning about a fault that a rule of `prof lint` finds by itself, so that it is not counted twice.
    pub fn warn_of_fault(&mut self, warning: String) {
        self.faults.said.push(warning.clone());
        self.warnings.push(warning);
    }

    /// The amount of a metric, in its unit, between two samples, if it is what the recorder counted.
    pub fn period_of(&self, metric: usize) -> Option<i64> {
        let Metric { name, unit, .. } = &self.metrics[metric];
        self.period
            .as_ref()
            .filter(|period| (&period.name, &period.unit) == (name, unit))
            .map(|period| period.value)
    }

    /// The number of the metric called `name`.
    pub fn metric_named(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    /// The number of the metric called `name`, preferably `expected`: names need not be unique.
    pub fn metric_named_at(&self, name: &str, expected: usize) -> Option<usize> {
        let is_there = self.metrics.get(expected).is_some_and(|metric| metric.name == name);
        if is_there { Some(expected) } else { self.metric_named(name) }
    }
}

/// One kind of value that samples carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metric {
    /// Name, such as `cpu`.
    pub name: String,
    /// Unit as the format wrote it, such as `nanoseconds`; empty if it has none.
    pub unit: String,
    /// A value in this unit is the stored integer divided by this number: 1 for most profiles, a power of ten for
    /// formats with fractional weights.
    pub divisor: u64,
    /// Σ |value| over all samples as loaded, including those without a stack. Percentages refer to it. It is
    /// `i64::MAX` if [`Metric::too_large`] is set.
    pub total: i64,
    /// The part of the total that was spent waiting, judged by function names; 0 until `transform::note_idle` has
    /// computed it.
    pub idle: i64,
    /// Whether Σ |value| does not fit in an `i64`; such a metric cannot be shown.
    pub too_large: bool,
    /// Number of samples, as read, whose value is not 0.
    pub rows: u64,
    /// How many samples the values stand for, if the format says so by itself, as V8's heap profiles do, or if each sample was
    /// counted many times, as `transform::note_multiples` finds out. By latency, how many samples of equal weight would say as
    /// much as those of different weights.
    pub effective_samples: Option<u64>,
}

/// The sampling period: one sample every `value` `unit` of `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// What is counted between samples, such as `cpu`.
    pub name: String,
    /// Its unit, such as `nanoseconds`.
    pub unit: String,
    /// The amount between two samples; never 0.
    pub value: i64,
}
