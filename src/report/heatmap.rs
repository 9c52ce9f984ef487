//! The report of `flame --heatmap`: when samples were taken, second by second.

use serde::Serialize;

use crate::report::Header;

/// A heat map of time: a column per second (or another round time), and in it a cell for each part of the second, the first at the
/// bottom. Times are nanoseconds from the start of the recording.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Heatmap {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The moment from which all other times are counted, in nanoseconds since 1970; `None` if the recording has no date.
    pub start_ns: Option<i64>,
    /// Where the first column begins; a multiple of the width of a column.
    pub from_ns: i64,
    /// How long a column is.
    pub column_ns: i64,
    /// How long a cell is: `column_ns` is `rows` times as much.
    pub row_ns: i64,
    /// The number of columns.
    pub columns: u32,
    /// The number of cells of a column.
    pub rows: u32,
    /// Title of the picture.
    #[serde(skip)]
    pub title: String,
    /// The cells with samples: column by column, the earliest first.
    pub cells: Vec<HeatmapCell>,
    /// The largest value of a cell.
    pub largest: i64,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HeatmapCell {
    /// Its column, from 0.
    pub column: u32,
    /// Its row, from 0, the start of the column.
    pub row: u32,
    /// Its value. Spans are divided among the cells in which they last.
    pub value: i64,
    /// The number of samples that begin in it.
    pub samples: u64,
}
