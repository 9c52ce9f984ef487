//! The report of `info`.

use serde::Serialize;

use crate::report::{Combined, Pair};

/// The contents of the input.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Info {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// One entry per input.
    pub inputs: Vec<InfoInput>,
    /// Name of the format (the first input's).
    pub format: String,
    /// How certain the format is, judging by the content: `certain`, `likely`, `maybe`; `given` if the user set it.
    pub confidence: &'static str,
    /// The metrics.
    pub metrics: Vec<InfoMetric>,
    /// When the recording started, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long it took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// How many processors were busy on average.
    pub busy: Option<f64>,
    /// The share of the metric that was spent waiting, as far as it is known.
    pub idle: Option<f64>,
    /// Number of distinct stacks.
    pub stacks: u64,
    /// Number of distinct calls from one function to another, if the format holds calls instead of stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Number of distinct functions with a value of any metric.
    pub functions: u64,
    /// How many of them have a value of the explained metric: the rows of `top`.
    #[serde(skip)]
    pub functions_of_metric: u64,
    /// Depths of the stacks.
    pub depth: Depth,
    /// Label keys, and how many samples carry each.
    pub labels: Vec<InfoLabel>,
    /// Names of the threads.
    pub threads: Vec<String>,
    /// Free text that the recorder left.
    pub comments: Vec<String>,
    /// Warnings about the input.
    pub warnings: Vec<String>,
    /// How several inputs were combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combined: Option<Combined>,
    /// The compressions of the first input, outermost first.
    pub encoding: Vec<&'static str>,
    /// The recorded program and its language, if known.
    pub program: Option<String>,
    /// Number of samples read, before equal ones were merged.
    pub rows: u64,
    /// Number of samples that carry labels.
    pub labelled_rows: u64,
    /// The value of the samples without a stack, in the shown metric.
    pub no_stack: i64,
    /// Number of distinct source files.
    pub files: u64,
    /// Number of functions without a name.
    pub unnamed: u64,
    /// Self and total of code of which only the address is known, in the shown metric.
    pub unresolved: Pair,
    /// Whether any frame is marked as inlined.
    pub inlined: bool,
    /// The index of the shown metric in `metrics`: the default one unless another was requested.
    pub shown_metric: usize,
    /// The sampling period.
    pub period: Option<InfoPeriod>,
}

/// A sampling period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InfoPeriod {
    /// The name of its metric, which the profile need not hold.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The amount of the metric between two samples.
    pub value: i64,
}

/// One input of `info`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InfoInput {
    /// The input, as given.
    pub name: String,
    /// Name of its format.
    pub format: String,
    /// Size before decompression.
    pub bytes: u64,
    /// Σ |value| of the shown metric.
    pub total: i64,
    /// When its recording started.
    pub time_ns: Option<i64>,
    /// How long it took.
    pub duration_ns: Option<i64>,
    /// The unit of `total`, which may differ between inputs.
    pub unit: String,
    /// A value in this unit is `total` divided by this number.
    pub divisor: u64,
}

/// A metric of `info`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InfoMetric {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// A value in this unit is the integer divided by this number.
    pub divisor: u64,
    /// Σ |value|; null if it exceeds 64 bits.
    pub total: Option<i64>,
    /// Σ value, if some values are negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<i64>,
    /// Number of samples whose value is not 0.
    pub samples: u64,
    /// The amount of the metric between two samples.
    pub period: Option<i64>,
    /// Whether views show it by default.
    pub default: bool,
    /// All values are multiples of this, as in [`MetricName`](crate::report::MetricName).
    pub resolution: Option<i64>,
}

/// Depths of the stacks, in frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Depth {
    /// The median over the distinct stacks.
    pub median: u32,
    /// The maximum.
    pub max: u32,
}

/// A label key of `info`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InfoLabel {
    /// The key.
    pub key: String,
    /// How many samples carry it.
    pub samples: u64,
}
