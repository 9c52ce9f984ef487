//! The data of the interactive page.

use hashbrown::HashMap;
use serde::Serialize;

use crate::report::{ColorGroup, Diff, Header, MetricName, Name, Recording, SourceFunction, Top};

/// The data of the interactive page. It holds stacks instead of a tree, so that the page can filter and
/// count them itself.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// Title of the page.
    pub title: String,
    /// The metrics to choose from.
    pub metrics: Vec<PageMetric>,
    /// The metric shown first.
    pub default_metric: usize,
    /// The names that are counted, in alphabetical order.
    pub names: Vec<PageName>,
    /// The groups of functions that share a colour, in the order of their colours.
    pub groups: Vec<ColorGroup>,
    /// The elements of stacks: each is a name with the function, file and binary that patterns can match.
    pub places: Vec<PagePlace>,
    /// For each named set of frames (`@idle`), the places in it.
    pub sets: Vec<(&'static str, Vec<u32>)>,
    /// The labels to filter by.
    pub facets: Vec<PageFacet>,
    /// The keys of labels that the page does not know, because they have too many values.
    pub facets_left_out: Vec<String>,
    /// The distinct sets of labels: pairs of an index of `facets` and an index of its values.
    pub label_sets: Vec<Vec<(u32, u32)>>,
    /// The frames of all stacks, root first, as indices of `places`. The stacks are sorted, so that
    /// stacks with a common prefix are adjacent. A stack with values of both signs, or with several sets of labels,
    /// occurs several times.
    pub frames: Vec<u32>,
    /// The end of each stack in `frames`. It starts at the end of the previous stack.
    pub ends: Vec<u32>,
    /// The labels of each stack, as an index of `label_sets`.
    pub labels: Vec<u32>,
    /// For each metric, the value of every stack.
    pub values: Vec<Vec<i64>>,
    /// The same for the old side of a comparison, as recorded; empty if there is none.
    pub old: Vec<Vec<i64>>,
    /// The comparison of both sides, whose causes the page shows; null if there is no old side or it cannot be tested.
    pub comparison: Option<Box<Diff>>,
    /// The factors that make the old side comparable, by the names of `--normalize`; empty if there is no old side.
    pub ratios: Vec<(&'static str, f64)>,
    /// The lines of functions whose source was found, the heaviest function first.
    pub sources: Vec<SourceFunction>,
    /// The exact numbers of a profile that records calls; its stacks are then approximated.
    pub calls: Option<PageCalls>,
    /// When the samples were taken, if that is known and wanted.
    pub times: Option<PageTimes>,
    /// The flat view of such a profile, for what the page cannot count itself: how often functions are called.
    pub top: Option<Box<Top>>,
}

/// When samples were taken, sorted by row, then by time.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PageTimes {
    /// The length of a step in nanoseconds. Times are whole steps, rounded down: a range that begins and ends at steps has
    /// the samples that `--from` and `--to` keep.
    pub step_ns: i64,
    /// Where the first step begins, in nanoseconds from the start of the recording.
    pub from_ns: i64,
    /// The number of steps.
    pub steps: u32,
    /// The threads, the heaviest first.
    pub rows: Vec<PageTimeRow>,
    /// The step of each sample.
    pub time: Vec<u32>,
    /// The stack of each sample, as an index of [`Page::ends`].
    pub stack: Vec<u32>,
    /// For each metric, the value of every sample.
    pub values: Vec<Vec<i64>>,
    /// For each metric, how many nanoseconds a value of 1 lasts; 0 if its values are no times.
    pub lasts: Vec<f64>,
    /// For each metric, whether its values are the exact time of spans or waits, of which a range of time has a part.
    pub cuts: Vec<bool>,
    /// For each metric, whether its samples say what a thread does all the time, which those of an allocation do not: a sample
    /// without CPU time says that the thread was waiting.
    pub clocks: Vec<bool>,
    /// How many nanoseconds after its step each sample began; less than 0 if it began before the recording. Empty unless a metric
    /// is in [`PageTimes::cuts`].
    pub late: Vec<i64>,
    /// For each metric, the stacks in which nothing happens, in order.
    pub idle: Vec<Vec<u32>>,
    /// The longest pauses of a garbage collector.
    pub pauses: Vec<PagePause>,
}

/// A pause of a garbage collector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PagePause {
    /// Where it begins, in nanoseconds from the start of the recording.
    pub from_ns: i64,
    /// How long it is.
    pub length_ns: i64,
    /// Why garbage was collected; empty if unknown.
    pub cause: String,
}

/// A thread, and the number of its samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PageTimeRow {
    /// Its unique name.
    pub name: Name,
    /// The number of its samples.
    pub samples: u32,
}

/// What a profile of calls says about functions and calls.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PageCalls {
    /// The functions: those of the new side, then those of the old side if there is one.
    pub sides: Vec<PageCallSide>,
    /// Caller and callee of every call.
    pub edges: Vec<(u32, u32)>,
}

/// What one side of a profile of calls says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PageCallSide {
    /// Self of each name.
    pub self_value: Vec<i64>,
    /// Total of each name.
    pub total: Vec<i64>,
    /// The value of every call.
    pub edges: Vec<i64>,
}

impl Page {
    /// The index of each name.
    pub(crate) fn ids(&self) -> HashMap<&str, usize> {
        self.names.iter().enumerate().map(|(id, row)| (&*row.name, id)).collect()
    }
}

/// A label to filter by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PageFacet {
    /// The key.
    pub key: String,
    /// Its values, as `--label KEY=VALUE` takes them.
    pub values: Vec<String>,
}

/// A metric of the page.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PageMetric {
    /// Name and unit.
    pub metric: MetricName,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Σ |value| of the old side as loaded; 0 if there is none.
    pub old_total: i64,
    /// What is known about its recording.
    pub recording: Recording,
}

/// A name that is counted.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PageName {
    /// The unique name.
    pub name: Name,
    /// The function's name without a place; equal to `name` if that has none.
    pub function: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The line, if there is exactly one.
    pub line: Option<u32>,
    /// The package, else the binary, else the folder of the source file; empty if none is known.
    pub package: Name,
    /// The index of the group whose colour it has.
    pub group: u32,
}

/// A name together with one function, file and binary. Patterns match places instead of names, because
/// functions with the same name may be in several files and binaries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct PagePlace {
    /// The index of its name.
    pub name: u32,
    /// The function's full name.
    pub function: Name,
    /// The source file; empty if unknown.
    pub file: Name,
    /// The binary or library; empty if unknown.
    pub mapping: Name,
    /// The package, else the binary, else the folder of the source file; empty if none is known.
    pub package: Name,
    /// Whether the compiler inlined the function there.
    pub inlined: bool,
    /// The line that was running; 0 if unknown, or if the page does not tell lines apart.
    pub line: u32,
}

impl PagePlace {
    /// A place of which only the function is known.
    pub(crate) fn named(name: u32, function: Name) -> Self {
        PagePlace {
            name,
            function,
            file: Name::default(),
            mapping: Name::default(),
            package: Name::default(),
            inlined: false,
            line: 0,
        }
    }
}
