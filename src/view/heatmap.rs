//! `flame --heatmap`: when samples were taken, second by second.

use std::collections::BTreeMap;

use crate::profile::Profile;
use crate::report::{Heatmap, HeatmapCell, TimeAxis};
use crate::transform::TimePoint;
use crate::view::timeline::axis::{Moment, bin_at, spread};
use crate::view::timeline::moments::Moments;
use crate::view::{NoTimeline, Scope};

/// Options for `heatmap`.
#[derive(Clone, Debug)]
pub struct HeatmapOptions {
    /// The metric.
    pub scope: Scope,
    /// Title of the picture.
    pub title: String,
    /// The range of time to which a filter has limited the samples: `--from` and `--to`.
    pub range: [Option<TimePoint>; 2],
}

impl HeatmapOptions {
    /// The whole recording.
    pub fn new(scope: Scope) -> Self {
        HeatmapOptions { scope, title: String::new(), range: [None, None] }
    }
}

const SECOND: i64 = 1_000_000_000;

/// The number of cells of a column: a cell is a fiftieth of a second, as in FlameScope.
const ROWS: u32 = 50;

/// How long columns may be. A column is a second, but of short recordings less, and of long ones more.
const WIDTHS: [i64; 10] = [
    SECOND / 1000,
    SECOND / 100,
    SECOND / 10,
    SECOND,
    10 * SECOND,
    60 * SECOND,
    600 * SECOND,
    3600 * SECOND,
    6 * 3600 * SECOND,
    24 * 3600 * SECOND,
];

/// A recording of at least this many seconds has columns of a second; a shorter one has shorter columns.
const FEWEST: i64 = 15;

/// The largest number of columns. The longest recording, of a year, has fewer of a day.
const MOST: i64 = 600;

/// The heat map of a profile, which must have been loaded with times.
pub fn heatmap(profile: &Profile, options: &HeatmapOptions) -> Result<Heatmap, NoTimeline> {
    let scope = &options.scope;
    let (_, header) = scope.open(profile, "prof.heatmap.v1");
    let moments = Moments::new(profile, &options.range)?;
    let values = &profile.samples.values[scope.metrics[0]];
    let times =
        (0..values.len()).filter(|&sample| values[sample] != 0).filter_map(|sample| moments.of(sample));
    let (start, end) = moments.shown_range(times.min());
    let length = end.saturating_sub(start);
    let width = column_width(length);
    let (rows, row) = (i64::from(ROWS), width / i64::from(ROWS));
    let from = start - start.rem_euclid(width);
    let columns = (end - from).max(1).div_euclid(width) + i64::from((end - from).rem_euclid(width) > 0);
    let axis = TimeAxis {
        from_ns: from,
        to_ns: from.saturating_add(columns.saturating_mul(row * rows)),
        bin_ns: row,
        bins: usize::try_from(columns * rows).unwrap_or(usize::MAX),
    };
    let cells = counted(profile, scope.metrics[0], &moments, &axis);
    let cell = |(&bin, &(value, samples)): (&usize, &(i64, u64))| HeatmapCell {
        column: (bin as i64 / rows) as u32,
        row: (bin as i64 % rows) as u32,
        value,
        samples,
    };
    let cells: Vec<HeatmapCell> = cells.iter().map(cell).filter(|cell| cell.value != 0).collect();
    Ok(Heatmap {
        header,
        start_ns: moments.start_ns(),
        from_ns: from,
        column_ns: width,
        row_ns: row,
        columns: columns as u32,
        rows: ROWS,
        title: options.title.clone(),
        largest: cells.iter().map(|cell| cell.value.saturating_abs()).max().unwrap_or(0),
        cells,
    })
}

/// How long the columns of a recording of this length are.
fn column_width(length: i64) -> i64 {
    let widths = WIDTHS.iter().copied();
    if length >= FEWEST * SECOND {
        let fitting = widths.filter(|&width| width >= SECOND).find(|width| length / width < MOST);
        return fitting.unwrap_or(WIDTHS[WIDTHS.len() - 1]);
    }
    let enough = widths.rev().filter(|&width| width < SECOND).find(|width| length / width >= FEWEST);
    enough.unwrap_or(WIDTHS[0])
}

/// The value and the number of samples of each bin that has any.
fn counted(
    profile: &Profile,
    metric: usize,
    moments: &Moments<'_>,
    axis: &TimeAxis,
) -> BTreeMap<usize, (i64, u64)> {
    let samples = &profile.samples;
    let mut bins: BTreeMap<usize, (i64, u64)> = BTreeMap::new();
    for sample in 0..samples.len() {
        let value = samples.values[metric][sample];
        let Some(start) = moments.of(sample).filter(|_| value != 0) else { continue };
        // A sample of a profiler marks a moment, even if its value is a time.
        let end = if moments.lasts(metric) { moments.end(sample, metric, start) } else { start };
        bins.entry(bin_at(axis, start)).or_default().1 += u64::from(start >= axis.from_ns);
        spread(Moment { start, end, value }, axis, |bin, part| bins.entry(bin).or_default().0 += part);
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn cells(heatmap: &Heatmap) -> Vec<(u32, u32, i64, u64)> {
        heatmap.cells.iter().map(|cell| (cell.column, cell.row, cell.value, cell.samples)).collect()
    }

    #[test]
    fn a_column_is_a_second_and_a_row_a_fiftieth() {
        // At 0 s, twice at 3.02 s, just before 3.04 s, at 19.999 s.
        let lines = "a 1 @0\nb 2 @3020000000\na 1 @3020000000\na 4 @3039999999\na 1 @19999000000";
        let map = heatmap(&from_notation(lines), &HeatmapOptions::new(Scope::metric(0))).unwrap();
        assert_eq!((map.column_ns, map.row_ns, map.columns, map.rows), (SECOND, SECOND / 50, 20, 50));
        assert_eq!(cells(&map), [(0, 0, 1, 1), (3, 1, 7, 3), (19, 49, 1, 1)]);
        assert_eq!(map.largest, 7);
    }

    #[test]
    fn columns_are_as_long_as_the_recording_needs() {
        let day = 24 * 3600 * SECOND;
        for (length, want) in [
            (1, SECOND / 1000),
            (SECOND / 5, SECOND / 100),
            (3_650_000_000, SECOND / 10),
            (15 * SECOND, SECOND),
            (599 * SECOND, SECOND),
            (600 * SECOND, 10 * SECOND),
            (30 * day, 6 * 3600 * SECOND),
            (366 * day, day),
        ] {
            assert_eq!(column_width(length), want, "{length}");
        }
    }

    #[test]
    fn spans_are_divided_and_samples_are_not() {
        let mut profile = from_notation("a 30000000 @0\nb 10000000 @30000000");
        profile.meta.metrics[0].unit = "nanoseconds".to_string();
        profile.meta.duration_ns = Some(16 * SECOND);
        let map = |profile: &Profile| {
            let map = heatmap(profile, &HeatmapOptions::new(Scope::metric(0))).unwrap();
            cells(&map)
        };
        assert_eq!(map(&profile), [(0, 0, 30_000_000, 1), (0, 1, 10_000_000, 1)]);
        profile.meta.holds_spans = true;
        assert_eq!(map(&profile), [(0, 0, 20_000_000, 1), (0, 1, 20_000_000, 1)]);
    }

    #[test]
    fn times_of_two_clocks_or_before_0_are_no_reason_to_fail() {
        for lines in [
            "a 1 @0\na 1 @9\nb 1 @1708972837000000000",
            "a 1 @-4611686018427387904\nb 1 @4611686018427387904",
            "a 1 @5",
        ] {
            let map = heatmap(&from_notation(lines), &HeatmapOptions::new(Scope::metric(0))).unwrap();
            assert!(map.columns >= 1 && map.cells.iter().all(|cell| cell.column < map.columns), "{lines}");
        }
    }
}
