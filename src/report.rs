//! Reports: what a view found, as plain data with integers, ready to be printed in any form.
//!
//! Values are never rounded or scaled here. Field names are the keys of the JSON output, which is a
//! promise to scripts: a change of meaning needs a new `schema`.

mod diff;
mod focus;
mod graph;
mod hot;
mod labels;
mod source;
mod traces;
mod types;

use std::sync::Arc;

pub use diff::{
    Budget, Detectable, Diff, DiffAbout, DiffNoise, DiffRow, DiffSide, DiffVerdict, Moved, RowAbout, RowTest,
    RowVerdict,
};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

pub use focus::{Focus, Match, More, Neighbour};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use hot::{Hot, HotSequence, PathStep};
pub use labels::{LabelKey, LabelShare, LabelText, Labels};
pub use source::{Origin, Source, SourceFunction, SourceLine};
pub use traces::{Trace, Traces};
pub use types::{TypeRow, Types};

/// A name as the profile has it; shared, since a tree repeats names.
pub type Name = Arc<str>;

/// What a view found.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// The flat view.
    Top(Top),
    /// The call tree, from either end.
    Tree(Tree),
    /// One function between its callers and its callees.
    Focus(Focus),
    /// The heaviest path, and the repeated call sequences.
    Hot(Hot),
    /// Source lines with their values.
    Source(Source),
    /// Label keys and values.
    Labels(Labels),
    /// Distinct stacks.
    Traces(Traces),
    /// The known profile types.
    Types(Types),
    /// The call graph.
    Graph(Graph),
    /// What is in the input.
    Info(Info),
    /// The call tree to be drawn.
    #[serde(skip)]
    Flame(Flame),
    /// Everything the interactive page needs.
    #[serde(skip)]
    Page(Page),
    /// Two sides compared.
    Diff(Box<Diff>),
}

impl Report {
    /// What the report is about, where it is about one metric.
    pub fn header(&self) -> Option<&Header> {
        match self {
            Report::Top(report) => Some(&report.header),
            Report::Tree(report) => Some(&report.header),
            Report::Focus(report) => Some(&report.header),
            Report::Hot(report) => Some(&report.header),
            Report::Source(report) => Some(&report.header),
            Report::Labels(report) => Some(&report.header),
            Report::Traces(report) => Some(&report.header),
            Report::Graph(report) => Some(&report.header),
            Report::Flame(report) => Some(&report.header),
            Report::Page(report) => Some(&report.header),
            Report::Info(_) | Report::Types(_) => None,
            Report::Diff(report) => Some(&report.header),
        }
    }

    /// [`Report::header`], to complete it.
    pub fn header_mut(&mut self) -> Option<&mut Header> {
        match self {
            Report::Top(report) => Some(&mut report.header),
            Report::Tree(report) => Some(&mut report.header),
            Report::Focus(report) => Some(&mut report.header),
            Report::Hot(report) => Some(&mut report.header),
            Report::Source(report) => Some(&mut report.header),
            Report::Labels(report) => Some(&mut report.header),
            Report::Traces(report) => Some(&mut report.header),
            Report::Graph(report) => Some(&mut report.header),
            Report::Flame(report) => Some(&mut report.header),
            Report::Page(report) => Some(&mut report.header),
            Report::Info(_) | Report::Types(_) => None,
            Report::Diff(report) => Some(&mut report.header),
        }
    }
}

/// What a report is about: one metric of one or several profiles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Header {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The metric shown.
    pub metric: MetricName,
    /// Σ |value| of the metric in the profile as loaded: the whole that percentages are of.
    pub total: i64,
    /// Σ |value| of what filters left.
    pub shown: i64,
    /// The value of the samples without a stack.
    pub no_stack: i64,
    /// How many profiles went in.
    pub profiles: u32,
    /// The self value of all rows that were cut: with it, the rows and `no_stack` sum to `shown`.
    pub elided: i64,
    /// How many rows were cut.
    pub elided_rows: u64,
    /// What was odd about the input.
    pub warnings: Vec<String>,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// How the sides of a comparison were made comparable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalize: Option<Normalize>,
    /// Further metrics that stand beside the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricTotal>,
    /// What was to be marked among the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlight: Option<Highlight>,
    /// What the text header says besides.
    #[serde(skip)]
    pub about: About,
}

impl Header {
    /// Whether the row of this name is to be marked.
    pub fn is_highlighted(&self, name: &Name) -> bool {
        self.highlight.as_ref().is_some_and(|highlight| highlight.names.binary_search(name).is_ok())
    }
}

/// What was to be marked among the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Highlight {
    /// The pattern as typed.
    pub pattern: String,
    /// The value of the samples on whose stack a match stands, each once.
    pub total: i64,
    /// The unique names of the matches, in alphabetical order.
    pub names: Vec<Name>,
}

/// What the header line of the text output says besides the numbers of [`Header`].
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
    /// How many processors were busy on average, in hundredths.
    pub busy_hundredths: Option<i64>,
    /// How many samples the recorder took.
    pub samples: Option<i64>,
    /// Nanoseconds of the metric between two samples.
    pub period_ns: Option<i64>,
    /// The filters, as typed.
    pub filters: Vec<String>,
    /// What the header says of the old side of a comparison.
    pub base: BaseAbout,
    /// The metric that counts the events which values are to be divided by.
    pub per_event: Option<String>,
    /// The columns to show; none for those that fit the view.
    pub columns: Vec<Column>,
    /// That the tree is an approximation, and of what kind: one of the warnings too.
    pub approximation: Option<String>,
    /// What one node is called, and several: `function`, `functions`.
    pub noun: (&'static str, &'static str),
}

/// A column of the text of `top` and `tree`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Self, and its share.
    SelfValue,
    /// Total, and its share.
    Total,
    /// Total − self.
    Children,
    /// The share of self of this row and all rows above it.
    Sum,
    /// The source file.
    File,
    /// The source line.
    Line,
    /// The package, else the file.
    Package,
}

/// What the text says of the old side of a comparison, besides [`Base`].
#[derive(Clone, Debug, Default)]
pub struct BaseAbout {
    /// How long its recording took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// Σ value of what filters left, made comparable with the new side.
    pub sum: i64,
    /// Of that, the value of the samples without a stack.
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
}

/// One of several metrics of a report.
#[derive(Clone, Debug, Serialize)]
pub struct MetricTotal {
    /// The metric.
    #[serde(flatten)]
    pub metric: MetricName,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Σ |value| of what filters left.
    pub shown: i64,
}

/// The old side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Base {
    /// The inputs, as given.
    pub inputs: Vec<String>,
    /// Σ |value| as loaded.
    pub total: i64,
}

/// How the sides of a comparison were made comparable.
#[derive(Clone, Debug, Serialize)]
pub struct Normalize {
    /// `core`, `total`, `per` or `none`.
    pub method: &'static str,
    /// What the sums of the old side are multiplied by to be comparable with those of the new side.
    pub ratio: f64,
}

/// Self and total of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
}

/// The values of one row: those of the first metric, and of what stands beside it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Values {
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
    /// Total − self.
    pub children: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// Every metric by its name, where several were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ByMetric>,
}

/// Values by metric, in the order asked for.
#[derive(Clone, Debug, Default)]
pub struct ByMetric(pub Vec<(Name, Pair)>);

impl Serialize for ByMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, pair) in &self.0 {
            map.serialize_entry(&**name, pair)?;
        }
        map.end()
    }
}

/// The flat view.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// A row a function, in the order asked for.
    pub rows: Vec<TopRow>,
}

/// A function of the flat view.
#[derive(Clone, Debug, Serialize)]
pub struct TopRow {
    /// The unique name.
    pub name: Name,
    /// The function's name alone.
    pub function: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The source line, where there is one and only one.
    pub line: Option<u32>,
    /// Its values.
    #[serde(flatten)]
    pub values: Values,
    /// Whether it does the work by itself: self is at least 90 % of total and 1 % of all.
    pub candidate: bool,
    /// How many events its values weigh, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Pair>,
    /// How many different files hold a function of this name.
    #[serde(skip)]
    pub files: u32,
}

/// Which way a tree is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Callees below their callers.
    TopDown,
    /// Callers below the functions they call.
    BottomUp,
}

/// A call tree.
#[derive(Clone, Debug, Serialize)]
pub struct Tree {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// Which way it is read.
    pub direction: Direction,
    /// The nodes, depth first: flat, since real stacks are deeper than JSON readers nest.
    pub rows: Vec<TreeRow>,
    /// For the text: how many rows at the outermost were cut.
    #[serde(skip)]
    pub cut: u64,
    /// For the text: the smallest share, in percent, that a row had to have.
    #[serde(skip)]
    pub min_share: f64,
}

/// A node of a tree.
#[derive(Clone, Debug, Serialize)]
pub struct TreeRow {
    /// Distance from the row it belongs to at the outermost.
    pub depth: u32,
    /// Index of the row above it.
    pub parent: Option<u32>,
    /// The unique name.
    pub name: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// Its values. From the bottom up these are the top function's, as far as it is reached through
    /// this row.
    #[serde(flatten)]
    pub values: Values,
    /// For the text: how many rows directly below this one were cut.
    #[serde(skip)]
    pub cut: u32,
    /// For the text: whether this row shares a line with the one below it, whose numbers are the same.
    #[serde(skip)]
    pub joined: bool,
}

/// What is in the input.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// One entry an input.
    pub inputs: Vec<InfoInput>,
    /// Name of the format (the first input's).
    pub format: String,
    /// How sure the content made us of it: `certain`, `likely`, `maybe`; `given` where it was named.
    pub confidence: &'static str,
    /// The metrics.
    pub metrics: Vec<InfoMetric>,
    /// When the recording started, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long it took, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// How many processors were busy on average.
    pub busy: Option<f64>,
    /// Number of distinct stacks.
    pub stacks: u64,
    /// Number of distinct calls from one function to another, where the format holds these, not stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Number of distinct functions.
    pub functions: u64,
    /// Depths of the stacks.
    pub depth: Depth,
    /// Label keys, and on how many samples each stands.
    pub labels: Vec<InfoLabel>,
    /// Names of the threads.
    pub threads: Vec<String>,
    /// Free text that the recorder left.
    pub comments: Vec<String>,
    /// What was odd about the input.
    pub warnings: Vec<String>,
    /// What the text says besides.
    #[serde(skip)]
    pub about: InfoAbout,
}

/// What the text of `info` says besides.
#[derive(Clone, Debug, Default)]
pub struct InfoAbout {
    /// The compressions of the first input, outermost first.
    pub encoding: Vec<&'static str>,
    /// The recorded program, and its language, where they can be told.
    pub program: Option<String>,
    /// Number of samples read, before equal ones were merged.
    pub rows: u64,
    /// Number of samples that carry labels.
    pub labelled_rows: u64,
    /// The value of the samples without a stack, in the default metric.
    pub no_stack: i64,
    /// Number of distinct source files.
    pub files: u64,
    /// Number of functions without a name.
    pub unnamed: u64,
    /// What code costs of which only the address is known, in the default metric: itself, and with what
    /// it calls.
    pub unresolved: (i64, i64),
    /// Whether any frame is marked as inlined.
    pub inlined: bool,
    /// Number of the default metric.
    pub default_metric: usize,
    /// The sampling period, in words of its own metric: name, unit and amount.
    pub period: Option<(String, String, i64)>,
}

/// One input of `info`.
#[derive(Clone, Debug, Serialize)]
pub struct InfoInput {
    /// The input, as given.
    pub name: String,
    /// Name of its format.
    pub format: String,
    /// Size before decompression.
    pub bytes: u64,
    /// Σ |value| of its default metric.
    pub total: i64,
    /// When its recording started.
    pub time_ns: Option<i64>,
    /// How long it took.
    pub duration_ns: Option<i64>,
}

/// A metric of `info`.
#[derive(Clone, Debug, Serialize)]
pub struct InfoMetric {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// A value in this unit is the integer divided by this number.
    pub divisor: u64,
    /// Σ |value|; null where it exceeds 64 bits.
    pub total: Option<i64>,
    /// Number of samples whose value is not 0.
    pub samples: u64,
    /// How much of the metric lies between two samples.
    pub period: Option<i64>,
    /// Whether views show it unless told otherwise.
    pub default: bool,
}

/// Depths of the stacks, in frames.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Depth {
    /// Half of the distinct stacks are no deeper.
    pub median: u32,
    /// The deepest.
    pub max: u32,
}

/// A label key of `info`.
#[derive(Clone, Debug, Serialize)]
pub struct InfoLabel {
    /// The key.
    pub key: String,
    /// How many samples carry it.
    pub samples: u64,
}

/// The call tree to be drawn.
#[derive(Clone, Debug)]
pub struct Flame {
    /// What it is about.
    pub header: Header,
    /// The nodes in preorder; node 0 is the whole profile.
    pub nodes: Vec<FlameNode>,
    /// Where one function is in focus, its callers in preorder, each on what it calls; node 0 is the
    /// whole again. Otherwise empty. `nodes` then starts at the function, and is drawn below them.
    pub callers: Vec<FlameNode>,
    /// Callees on their callers, or callers on the functions they call.
    pub direction: Direction,
    /// Title of the picture.
    pub title: String,
    /// The self of every package, narrow nodes included, the heaviest first.
    pub packages: Vec<(Name, i64)>,
    /// The self of every source file, the same way.
    pub files: Vec<(Name, i64)>,
    /// What a comparison's old side has and its new side has not, with its old total, the heaviest
    /// first.
    pub removed: Vec<(Name, i64)>,
    /// The depth at which the tree was cut off, where it is deeper than any picture can be.
    pub deepest: Option<u32>,
    /// How many nodes were too small to be drawn; what stood on them is not counted.
    pub dropped: u64,
    /// Their width, all added up.
    pub dropped_width: i64,
}

/// A node to be drawn.
#[derive(Clone, Debug)]
pub struct FlameNode {
    /// The node it stands on; node 0 is its own.
    pub parent: u32,
    /// The unique name.
    pub name: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The line, where there is one and only one.
    pub line: Option<u32>,
    /// What it belongs to: the package, else the file, else the binary; empty where none is known.
    pub package: Name,
    /// Whether the compiler inlined the function in all stacks through the node.
    pub inlined: bool,
    /// How wide it is drawn: Σ |value| of the samples through it. Never less than the widths of the
    /// nodes on it taken together, even where values have both signs.
    pub width: i64,
    /// Total.
    pub total: i64,
    /// Self.
    pub self_value: i64,
    /// The old side of a comparison.
    pub old: Option<Pair>,
}

/// Everything the interactive page needs to filter and count for itself: not a tree, but the stacks.
#[derive(Clone, Debug)]
pub struct Page {
    /// What it is about.
    pub header: Header,
    /// Title of the page.
    pub title: String,
    /// The metrics that can be chosen from.
    pub metrics: Vec<PageMetric>,
    /// The metric shown first.
    pub default_metric: usize,
    /// What is counted, in alphabetical order.
    pub names: Vec<PageName>,
    /// What stacks are made of: names, each apart for every place that patterns tell apart.
    pub places: Vec<PagePlace>,
    /// For each named set of frames (`@idle`), the places in it.
    pub sets: Vec<(&'static str, Vec<u32>)>,
    /// The frames of all stacks, root first, as indices of `places`. The stacks are sorted, so that
    /// those with a common beginning are neighbours. One that has values of both signs stands twice.
    pub frames: Vec<u32>,
    /// Where each stack ends in `frames`; it starts where the one before it ends.
    pub ends: Vec<u32>,
    /// For each metric, the value of every stack.
    pub values: Vec<Vec<i64>>,
    /// The same of the old side of a comparison; empty without one.
    pub old: Vec<Vec<i64>>,
}

/// A metric of the page.
#[derive(Clone, Debug)]
pub struct PageMetric {
    /// Name and unit.
    pub metric: MetricName,
    /// Σ |value| as loaded.
    pub total: i64,
    /// Σ |value| of the old side as loaded; 0 without one.
    pub old_total: i64,
}

/// What a frame of the page is.
#[derive(Clone, Debug)]
pub struct PageName {
    /// The unique name.
    pub name: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The line, where there is one and only one.
    pub line: Option<u32>,
    /// What it belongs to: the package, else the file, else the binary; empty where none is known.
    pub package: Name,
}

/// A name as it stands in one place: what a pattern matches is a place, as a function may be in
/// several files and binaries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PagePlace {
    /// The index of its name.
    pub name: u32,
    /// The function's full name.
    pub function: Name,
    /// The source file; empty where unknown.
    pub file: Name,
    /// The binary or library; empty where unknown.
    pub mapping: Name,
    /// What it belongs to: the package, else the file, else the binary; empty where none is known.
    pub package: Name,
    /// Whether the compiler inlined it there.
    pub inlined: bool,
}
