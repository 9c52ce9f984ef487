//! The report of `timeline`: when the program was busy, row by row, and its phases.

use serde::{Serialize, Serializer};

use crate::report::{Header, Name};

/// When the program was busy.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The moment from which all other times are counted, in nanoseconds since 1970; `None` if the recording has no date.
    pub start_ns: Option<i64>,
    /// The bins of all rows.
    pub axis: TimeAxis,
    /// The largest value of a bin without what is idle in it, one per metric: what a full block stands for.
    pub largest: Vec<i64>,
    /// What a row stands for: `thread`, `process`, `package` or `label:KEY`.
    pub rows_by: String,
    /// One row per thread or whatever [`Timeline::rows_by`] says, the heaviest first.
    pub rows: Vec<TimelineRow>,
    /// The sum of the rows that were cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<TimelineRow>,
    /// The value of the samples that have no time, or one on another clock. It belongs to no row.
    pub untimed: i64,
    /// When a garbage collector stopped all threads, if it did and this was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<TimelinePauses>,
    /// Stretches of time in which the mix of functions stays the same, in order.
    pub phases: Vec<TimelinePhase>,
}

/// Bins of equal width. Times are nanoseconds from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TimeAxis {
    /// Where the first bin begins.
    pub from_ns: i64,
    /// Where what is shown ends; the last bin may end later.
    pub to_ns: i64,
    /// The width of a bin; at least 1.
    pub bin_ns: i64,
    /// The number of bins; at least 1.
    pub bins: usize,
}

impl TimeAxis {
    /// The end of what is shown, rounded up so that it is short: 3.63 s of 3.627918 s.
    pub fn round_end(&self) -> i64 {
        let fine = self.to_ns.saturating_sub(self.from_ns).max(1) / LEAST_ROUND;
        let unit = 10_i64.pow(fine.checked_ilog10().unwrap_or(0));
        let beyond = self.to_ns.rem_euclid(unit);
        if beyond == 0 { self.to_ns } else { self.to_ns.saturating_add(unit - beyond) }
    }
}

/// The end is rounded by less than this part of the length.
const LEAST_ROUND: i64 = 200;

/// One thread, process, package or value of a label.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct TimelineRow {
    /// The unique name.
    pub name: Name,
    /// Its value in the first metric.
    pub total: i64,
    /// When its first sample was taken.
    pub first_ns: i64,
    /// When its last sample was taken, or ended.
    pub last_ns: i64,
    /// The function with the largest self; an idle one only if the row has no other.
    pub heaviest: Option<TimelineFunction>,
    /// Its value in each bin of the axis.
    pub bins: Vec<i64>,
    /// The part of it that is idle; empty if none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<i64>,
    /// The same for further metrics, in the order of those in the header; a map in JSON.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "by_metric")]
    pub further: Vec<TimelineSeries>,
}

impl TimelineRow {
    /// The value of each bin in one of the metrics of the header, and the part of it that is idle.
    pub(crate) fn bins_of(&self, metric: usize) -> (&[i64], &[i64]) {
        match metric.checked_sub(1).map(|further| &self.further[further]) {
            None => (&self.bins, &self.idle),
            Some(series) => (&series.bins, &series.idle),
        }
    }
}

/// The values of a row in one of several metrics.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TimelineSeries {
    /// The name of the metric.
    #[serde(skip)]
    pub metric: String,
    /// The value of the row.
    pub total: i64,
    /// Its value in each bin of the axis.
    pub bins: Vec<i64>,
    /// The part of it that is idle; empty if none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<i64>,
}

/// The value of each bin without what is idle in it.
pub(crate) fn busy_bins<'b>(bins: &'b [i64], idle: &'b [i64]) -> impl Iterator<Item = i64> + 'b {
    let idle = idle.iter().copied().chain(std::iter::repeat(0));
    bins.iter().zip(idle).map(|(bin, idle)| bin.saturating_sub(idle))
}

fn by_metric<S: Serializer>(series: &[TimelineSeries], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(series.iter().map(|series| (&series.metric, series)))
}

/// The pauses of a garbage collector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TimelinePauses {
    /// How many there are in the range of the axis.
    pub count: u64,
    /// How long they are together, in nanoseconds.
    pub total_ns: i64,
    /// The part of each bin in which the program was stopped, in nanoseconds.
    pub bins: Vec<i64>,
    /// Where the longest one begins, in nanoseconds from the start of the recording.
    pub longest_from_ns: i64,
    /// How long it is.
    pub longest_ns: i64,
    /// Why garbage was collected then; empty if unknown.
    pub longest_cause: String,
}

/// A function, and its part of a row or phase.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TimelineFunction {
    /// Its unique name.
    pub name: Name,
    /// Its self in the row or phase.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Its total in the phase; not counted in rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

/// A stretch of time in which the mix of functions stays the same.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TimelinePhase {
    /// Where it begins, in nanoseconds from the start of the recording.
    pub from_ns: i64,
    /// Where it ends: the next one begins here.
    pub to_ns: i64,
    /// The value of the samples that begin in it; of spans and waits, the part that was spent in it.
    pub total: i64,
    /// The function that sets it apart from the phases next to it; if there is none, the one with the largest self.
    pub function: Option<TimelineFunction>,
    /// The command that shows its functions, quoted for a shell.
    pub command: String,
}
