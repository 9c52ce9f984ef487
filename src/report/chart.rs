//! The report of `flame --time`: which functions were running when.

use serde::Serialize;

use crate::report::{ColorGroup, Header, Name};

/// A flame chart: from left to right is time, and each thread has a band of stacks. Times are nanoseconds from the start of the
/// recording.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Chart {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The moment from which all other times are counted, in nanoseconds since 1970; `None` if the recording has no date.
    pub start_ns: Option<i64>,
    /// Where the chart begins.
    pub from_ns: i64,
    /// Where the chart ends; later than it begins.
    pub to_ns: i64,
    /// The width of the columns of which each shows its heaviest stack; `None` if every sample is drawn.
    pub column_ns: Option<i64>,
    /// Title of the picture.
    #[serde(skip)]
    pub title: String,
    /// The threads, the heaviest first.
    pub bands: Vec<ChartBand>,
    /// The number of threads that are not drawn.
    pub more_bands: usize,
    /// The functions of the blocks.
    pub functions: Vec<ChartFunction>,
    /// The blocks: by band, by depth, and from left to right.
    pub blocks: Vec<ChartBlock>,
    /// The depth at which stacks were truncated, if some were.
    pub deepest: Option<u32>,
    /// The groups of functions that share a colour, in the order of their colours.
    pub groups: Vec<ColorGroup>,
    /// The self of every group.
    pub group_self: Vec<i64>,
    /// The self of every source file, the heaviest first.
    pub files: Vec<(Name, i64)>,
}

/// A thread.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChartBand {
    /// The unique name.
    pub name: Name,
    /// Its value.
    pub total: i64,
    /// The depth of its deepest block, counted from 1; 0 if it has none.
    pub rows: u32,
}

/// A function of a chart.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChartFunction {
    /// The unique name.
    pub name: Name,
    /// The name without a place; equal to `name` if that has none.
    pub function: Name,
    /// The source file, if there is exactly one.
    pub file: Option<Name>,
    /// The line, if there is exactly one.
    pub line: Option<u32>,
    /// The index of the group whose colour it has.
    pub group: u32,
    /// How long its blocks are together.
    pub length_ns: i64,
    /// Total.
    pub total: i64,
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
}

/// A stretch of time in which a function was on the stack of a thread, with the same callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChartBlock {
    /// The index of its band.
    pub band: u32,
    /// How many callers it has.
    pub depth: u32,
    /// Where it begins.
    pub from_ns: i64,
    /// Where it ends; later than it begins.
    pub to_ns: i64,
    /// The index of its function.
    pub function: u32,
}
