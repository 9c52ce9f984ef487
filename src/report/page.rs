//! What the interactive page counts with.

use crate::report::{About, Header, MetricName, Name};

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
    /// The same of the old side of a comparison, as recorded; empty without one.
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
    /// What is known of its recording.
    pub recording: About,
}

/// What a frame of the page is.
#[derive(Clone, Debug)]
pub struct PageName {
    /// The unique name.
    pub name: Name,
    /// The function's name alone; equal to `name` where that says it all.
    pub function: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The line, where there is one and only one.
    pub line: Option<u32>,
    /// What it belongs to: the package, else the binary, else the folder of the file; empty where none is known.
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
    /// What it belongs to: the package, else the binary, else the folder of the file; empty where none is known.
    pub package: Name,
    /// Whether the compiler inlined it there.
    pub inlined: bool,
}
