//! The header of a report: its metric and totals, and everything that affects its numbers.

use serde::Serialize;

use crate::report::{Matched, Name};

/// The header of a report on one metric of one or several profiles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Header {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The metric shown.
    pub metric: MetricName,
    /// Σ |value| of the metric in the profile as loaded; percentages refer to it.
    pub total: i64,
    /// Σ |value| after filtering.
    pub shown: i64,
    /// The value of the samples without a stack.
    pub no_stack: i64,
    /// The number of profiles that were combined.
    pub profiles: u32,
    /// The self value of all rows that were cut: with it, the rows and `no_stack` sum to `shown`.
    pub elided: i64,
    /// How many rows were cut.
    pub elided_rows: u64,
    /// Warnings about the input.
    pub warnings: Vec<String>,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// How the sides of a comparison were normalised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Normalize>,
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
    /// Additional facts for the text header.
    #[serde(skip)]
    pub about: About,
}

/// A function that the profiler itself added at the leaf of stacks.
#[derive(Clone, Debug, Serialize)]
pub struct Artefact {
    /// The function's name.
    pub name: String,
    /// Its self.
    #[serde(rename = "self")]
    pub self_value: i64,
}

impl Header {
    /// Whether the row with this name, with or without its place, is a profiler artefact.
    pub fn is_artefact(&self, name: &str) -> bool {
        let is = |artefact: &Artefact| {
            name.strip_prefix(&*artefact.name).is_some_and(|place| place.is_empty() || place.starts_with(' '))
        };
        self.artefacts.iter().any(is)
    }

    /// Whether to highlight the row with this name.
    pub fn is_highlighted(&self, name: &Name) -> bool {
        self.highlight.as_ref().is_some_and(|highlight| highlight.names.binary_search(name).is_ok())
    }
}

/// The rows to highlight.
#[derive(Clone, Debug, Serialize)]
pub struct Highlight {
    /// The pattern as typed.
    pub pattern: String,
    /// The value of the samples with a match on their stack, each counted once.
    pub total: i64,
    /// The unique names of the matches, in alphabetical order.
    pub names: Vec<Name>,
}

/// Facts for the header line of the text output, in addition to the numbers of [`Header`].
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The inputs, as given.
    pub inputs: Vec<String>,
    /// How several inputs were combined: `4 profiles, summed`; empty for one.
    pub combined: String,
    /// How long the recording took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// When it started, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// The value of the stacks that lost all their frames to filters; a part of `no_stack`.
    pub emptied: i64,
    /// How many processors were busy on average, in hundredths.
    pub busy_hundredths: Option<i64>,
    /// The share of the metric that was spent waiting, in percent, as far as it is known.
    pub idle_percent: Option<u8>,
    /// How many samples the recorder took.
    pub samples: Option<i64>,
    /// Nanoseconds of the metric between two samples.
    pub period_ns: Option<i64>,
    /// The filters, as typed.
    pub filters: Vec<String>,
    /// Facts about the old side of a comparison.
    pub base: BaseAbout,
    /// The metric that counts the events by which values are divided (`--per-event`).
    pub per_event: Option<String>,
    /// The number of events after filtering.
    pub events: i64,
    /// How the tree is approximated, if it is; this is also one of the warnings.
    pub approximation: Option<String>,
    /// The noun for one node and for several: `function`, `functions`.
    pub noun: (&'static str, &'static str),
}

/// Facts about the old side of a comparison that only text shows, in addition to [`Base`].
#[derive(Clone, Debug, Default)]
pub struct BaseAbout {
    /// Facts about its recording.
    pub recording: Option<Box<About>>,
    /// Σ value after filtering, normalised to the new side.
    pub sum: i64,
    /// The part of it from samples without a stack.
    pub no_stack: i64,
}

/// A metric's name and unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MetricName {
    /// Name, such as `cpu`.
    pub name: String,
    /// Unit as the profile wrote it, such as `nanoseconds`.
    pub unit: String,
    /// A value in this unit is the integer divided by this number.
    pub divisor: u64,
    /// Every value is a multiple of this: 10,000,000 for nanoseconds counted in ticks of 10ms; 0 if unknown.
    #[serde(skip)]
    pub resolution: i64,
}

/// One of several metrics of a report.
#[derive(Clone, Debug, Serialize)]
pub struct MetricTotal {
    /// The metric.
    #[serde(flatten)]
    pub metric: MetricName,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Σ |value| after filtering.
    pub shown: i64,
}

/// The old side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Base {
    /// The inputs, as given.
    pub inputs: Vec<String>,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Functions that are matched although their names or places differ, the heaviest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<Matched>,
}

/// How the sides of a comparison were normalised.
#[derive(Clone, Debug, Serialize)]
pub struct Normalize {
    /// `core`, `total`, `per` or `none`.
    pub method: &'static str,
    /// The factor that makes the sums of the old side comparable with those of the new side.
    pub ratio: f64,
}
