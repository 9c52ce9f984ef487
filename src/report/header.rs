//! The header of a report: its metric and totals, and everything that affects its numbers.

use std::borrow::Cow;

use serde::Serialize;

use crate::report::{Matched, Message, Name};

/// The header of a report on one metric of one or several profiles.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Header {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The metric shown.
    pub metric: MetricName,
    /// Σ |value| of the metric in the profile as loaded; percentages refer to it.
    pub total: i64,
    /// Σ |value| after filtering.
    pub shown: i64,
    /// Σ value after filtering, if some values are negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<i64>,
    /// The value of the samples without a stack.
    pub no_stack: i64,
    /// The number of profiles that were combined.
    pub profiles: u32,
    /// The self value of all rows that were cut: with it, the rows and `no_stack` sum to `shown`.
    pub elided: i64,
    /// How many rows were cut.
    pub elided_rows: u64,
    /// Warnings about the input.
    pub warnings: Vec<Message>,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// How the sides of a comparison were normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Rescaling>,
    /// Further metrics, shown next to the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricTotal>,
    /// The rows to highlight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlight: Option<Highlight>,
    /// Functions that the profiler itself added at the leaf of stacks, the heaviest first: their self belongs
    /// to their callers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artefacts: Vec<Artefact>,
    /// What a row or a node stands for.
    pub by: Grouping,
    /// The inputs, as given; empty for `diff`, whose sides have inputs of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// How several inputs were combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combined: Option<Combined>,
    /// What is known about the recording.
    #[serde(skip_serializing_if = "Recording::is_unknown")]
    pub recording: Recording,
    /// The filters, as typed.
    pub filters: Vec<String>,
    /// The value of the stacks that lost all their frames to filters; a part of `no_stack`.
    pub emptied: i64,
    /// What costs were before `--what-if` changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// The events by which values are divided (`--per-event`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_event: Option<PerEvent>,
    /// How the tree is approximated, if it is; this is also one of the warnings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<String>,
}

/// A function that the profiler itself added at the leaf of stacks.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Artefact {
    /// The function's name.
    pub name: String,
    /// Its self.
    #[serde(rename = "self")]
    pub self_value: i64,
}

impl Artefact {
    /// Whether a row with this name, with or without its place, stands for it.
    pub fn is_named(&self, name: &str) -> bool {
        name.strip_prefix(&*self.name).is_some_and(|place| place.is_empty() || place.starts_with(' '))
    }
}

impl Header {
    /// Whether the row with this name, with or without its place, is a profiler artefact.
    pub fn is_artefact(&self, name: &str) -> bool {
        self.artefacts.iter().any(|artefact| artefact.is_named(name))
    }

    /// The total as people read it.
    pub fn displayed_total(&self) -> i64 {
        displayed_total(self.total, self.shown, self.sum)
    }

    /// What is left after filtering, as people read it: the total of the row `all`.
    pub fn displayed_shown(&self) -> i64 {
        self.sum.unwrap_or(self.shown)
    }

    /// Σ value of the old side of a comparison after filtering, rescaled to the new side; 0 without an old side.
    pub fn old_sum(&self) -> i64 {
        self.base.as_ref().map_or(0, |base| base.sum)
    }

    /// Σ |value| of the old side as loaded, rescaled to the new side: what differences are shares of. With 10 s recorded and
    /// a ratio of 3, the old values add up to 30 s, and a function that cost 15 s of them and costs nothing now is -50%.
    pub fn old_total(&self) -> i64 {
        let ratio = self.normalize.as_ref().map_or(1.0, |normalize| normalize.ratio);
        self.base.as_ref().map_or(0, |base| rescaled(base.total, ratio))
    }

    /// The part of [`Header::old_sum`] from samples without a stack.
    pub fn old_no_stack(&self) -> i64 {
        self.base.as_ref().map_or(0, |base| base.no_stack)
    }

    /// Records the value of the samples without a stack, one value per series.
    pub(crate) fn set_no_stack(&mut self, values: &[i64]) {
        self.no_stack = values[0];
        for (metric, &value) in self.metrics.iter_mut().zip(values) {
            metric.no_stack = value;
        }
    }

    /// Counts a row that was cut, with its self, one value per series.
    pub(crate) fn elide(&mut self, mut own: impl Iterator<Item = i64> + Clone) {
        for (metric, value) in self.metrics.iter_mut().zip(own.clone()) {
            metric.elided += value;
        }
        self.elided += own.next().unwrap_or(0);
        self.elided_rows += 1;
    }

    /// Whether to highlight the row with this name.
    pub fn is_highlighted(&self, name: &Name) -> bool {
        self.highlight.as_ref().is_some_and(|highlight| highlight.names.binary_search(name).is_ok())
    }
}

/// The rows to highlight.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Highlight {
    /// The pattern as typed.
    pub pattern: String,
    /// The value of the samples with a match on their stack, each counted once.
    pub total: i64,
    /// Whether `total` is only an upper bound, because matches call each other through other functions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub upper_bound: bool,
    /// The unique names of the matches, in alphabetical order.
    pub names: Vec<Name>,
}

/// What a row or a node stands for. In JSON, it is the value of `--by`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Grouping {
    /// The value of `--by`, such as `function` or `label:endpoint`.
    pub by: Cow<'static, str>,
    /// The noun for one node, such as `function`.
    #[serde(skip)]
    pub one: &'static str,
    /// The noun for several, such as `functions`.
    #[serde(skip)]
    pub several: &'static str,
}

impl Grouping {
    /// The noun for `count` nodes.
    pub fn noun(&self, count: u64) -> &'static str {
        if count == 1 { self.one } else { self.several }
    }

    /// The title of a column of nodes, such as `FUNCTION`.
    pub fn title(&self) -> String {
        self.one.to_uppercase()
    }

    /// Whether nodes are functions.
    pub fn is_function(&self) -> bool {
        self.one == "function"
    }
}

/// What is known about a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recording {
    /// When it started, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long it took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// How many samples the recorder took.
    pub samples: Option<i64>,
    /// Nanoseconds of the metric between two samples.
    pub period_ns: Option<i64>,
    /// How many processors were busy on average, in steps of 0.01, without time that is known to be idle.
    pub busy: Option<f64>,
    /// The share of the metric that was spent waiting, from 0 to 1 in steps of 0.01, as far as it is known.
    pub idle: Option<f64>,
    /// Whether `idle` was recorded, rather than judged by the names of functions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits_recorded: bool,
    /// Whether the metric is the elapsed time of threads although it is called `cpu`; `busy` is then a number of threads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub thread_time: bool,
    /// Whether each sample counts 1 ÷ the number of threads that were running.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub latency: bool,
}

impl Recording {
    /// Whether the metric is the CPU time of a program that keeps about one processor busy: it becomes as much faster as it
    /// needs less CPU time.
    pub fn is_of_one_processor(&self) -> bool {
        self.busy.is_some_and(|busy| (0.9..=1.1).contains(&busy)) && !self.thread_time
    }

    fn is_unknown(&self) -> bool {
        *self == Recording::default()
    }
}

/// Which of several profiles were used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Selection {
    /// How many were used.
    pub used: usize,
    /// How many there were, without those that could not be read.
    pub found: usize,
    /// The seed of the choice, if they were chosen at random.
    pub seed: Option<u64>,
}

/// How several profiles were combined into one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Combined {
    /// `sum` or `mean`.
    pub method: &'static str,
    /// Which of them were used.
    #[serde(flatten)]
    pub selection: Selection,
    /// If only those with the highest total were used: how many percent of all.
    pub heaviest_percent: Option<usize>,
    /// How many could not be read.
    pub skipped: usize,
}

/// What costs were before `--what-if` changed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WhatIf {
    /// Σ |value| after filtering, as recorded; [`Header::shown`] is the same after the change.
    pub before: i64,
}

/// The events by which values are divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PerEvent {
    /// The metric that counts them.
    pub metric: String,
    /// Their number after filtering.
    pub events: i64,
    /// What numbers of events are divided by, such as the number of profiles that were averaged; left out if it is 1.
    #[serde(skip_serializing_if = "is_one")]
    pub divisor: u64,
}

/// Whether a divisor leaves numbers as they are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_one(divisor: &u64) -> bool {
    *divisor <= 1
}

/// A metric's name and unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MetricName {
    /// Name, such as `cpu`.
    pub name: String,
    /// Unit as the profile wrote it, such as `nanoseconds`.
    pub unit: String,
    /// A value in this unit is the integer divided by this number.
    pub divisor: u64,
    /// Every value is a multiple of this: 10,000,000 for nanoseconds counted in ticks of 10ms. Null if unknown.
    pub resolution: Option<i64>,
}

/// One of several metrics of a report.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MetricTotal {
    /// The metric.
    #[serde(flatten)]
    pub metric: MetricName,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Σ |value| after filtering.
    pub shown: i64,
    /// Σ value after filtering, if some values are negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<i64>,
    /// The value of the samples without a stack.
    pub no_stack: i64,
    /// The self value of all rows that were cut.
    pub elided: i64,
}

impl MetricTotal {
    /// The total as people read it.
    pub fn displayed_total(&self) -> i64 {
        displayed_total(self.total, self.shown, self.sum)
    }
}

/// The total as people read it: that of the row `all`, unless filters removed a part of it.
fn displayed_total(total: i64, shown: i64, sum: Option<i64>) -> i64 {
    sum.filter(|_| shown == total).unwrap_or(total)
}

/// The old side of a comparison.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Base {
    /// The inputs, as given.
    pub inputs: Vec<String>,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Functions that are matched although their names or places differ, the heaviest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
    /// How several inputs were combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combined: Option<Combined>,
    /// What is known about the recording.
    #[serde(skip_serializing_if = "Recording::is_unknown")]
    pub recording: Recording,
    /// Σ value after filtering, rescaled to the new side.
    pub sum: i64,
    /// The part of `sum` from samples without a stack.
    pub no_stack: i64,
}

/// How the sides of a comparison were made comparable.
#[derive(Clone, Debug, Serialize)]
pub struct Rescaling {
    /// `core`, `total`, `per` or `none`.
    pub method: &'static str,
    /// The factor that makes the sums of the old side comparable with those of the new side.
    pub ratio: f64,
    /// Why the sides are taken to have equal totals although `method` asks for more; absent if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Default for Rescaling {
    fn default() -> Self {
        Rescaling { method: "none", ratio: 1.0, reason: None }
    }
}

/// A value of the old side, multiplied by the ratio of a [`Rescaling`]. A ratio of 1 leaves it exactly as it is.
pub(crate) fn rescaled(value: i64, ratio: f64) -> i64 {
    #[expect(clippy::float_cmp, reason = "the ratio is exactly 1 if nothing is rescaled")]
    if ratio == 1.0 { value } else { (value as f64 * ratio).round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_the_sum_that_the_row_all_shows() {
        let header = |shown, sum| Header { total: 12, shown, sum, ..Header::default() };
        let read = |header: Header| (header.displayed_total(), header.displayed_shown());
        assert_eq!(read(header(12, None)), (12, 12));
        assert_eq!(read(header(12, Some(2))), (2, 2));
        // What filters removed is not known with its signs.
        assert_eq!(read(header(7, Some(-3))), (12, -3));
    }

    #[test]
    fn differences_are_shares_of_the_old_total_as_it_is_shown() {
        let base = Base { total: 10, ..Base::default() };
        let recorded = Header { base: Some(base), ..Header::default() };
        assert_eq!(recorded.old_total(), 10);
        let normalize = Rescaling { method: "per", ratio: 3.0, reason: None };
        assert_eq!(Header { normalize: Some(normalize), ..recorded }.old_total(), 30);
        assert_eq!(Header::default().old_total(), 0);
    }
}
