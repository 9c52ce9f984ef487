//! The inputs of `info`, one row per input.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::layout::Layout;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{Info, InfoInput};
use crate::unit::{self, Scale, Unit};

/// One row per input: its total of the explained metric, its duration, and when it was recorded.
pub(super) fn lines(info: &Info, style: &Style) -> Vec<TextLine> {
    let mut titles = titles(info);
    let last = titles.pop().unwrap_or_default();
    let rows: Vec<Vec<String>> = cells(info);
    let layout = Layout::new(&titles, &Grid::new(&titles, &rows), &[], style);
    let room = layout.room;
    let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([last]));
    for (input, cells) in info.inputs.iter().zip(rows) {
        let name = clean(&input.name);
        let name = room.map_or_else(|| name.to_string(), |room| fit(&name, room, style.glyphs.ellipsis));
        columns.row(layout.keep(cells), name, Emphasis::None);
    }
    let mut lines = columns.lines();
    lines.extend(layout.note());
    lines
}

/// What the columns are called, that of the names last. What no input says has no column.
pub(in crate::output) fn titles(info: &Info) -> Vec<String> {
    let metric = info.metrics.get(info.shown_metric).map_or("", |metric| &metric.name);
    let mut titles = vec![clean(metric).to_uppercase()];
    titles.extend(has_duration(info).then(|| "DURATION".to_string()));
    titles.extend(has_time(info).then(|| "RECORDED".to_string()));
    titles.extend(["BYTES", "FORMAT", "INPUT"].map(str::to_string));
    titles
}

/// The cells of every input but its name.
pub(in crate::output) fn cells(info: &Info) -> Vec<Vec<String>> {
    // Rows of one unit are shown in one unit.
    let scale = |one: &InfoInput| {
        let alike =
            info.inputs.iter().filter(|input| (&input.unit, input.divisor) == (&one.unit, one.divisor));
        let largest = alike.map(|input| input.total).max().unwrap_or(0);
        Scale::automatic(&Unit::parse(&one.unit), one.divisor, largest)
    };
    let row = |input: &InfoInput| {
        let mut cells = vec![scale(input).format(input.total)];
        if has_duration(info) {
            cells.push(input.duration_ns.map(unit::duration).unwrap_or_default());
        }
        if has_time(info) {
            cells.push(input.time_ns.map(unit::timestamp_seconds).unwrap_or_default());
        }
        cells.extend([unit::group_thousands(input.bytes.into()), input.format.clone()]);
        cells
    };
    info.inputs.iter().map(row).collect()
}

fn has_duration(info: &Info) -> bool {
    info.inputs.iter().any(|input| input.duration_ns.is_some())
}

fn has_time(info: &Info) -> bool {
    info.inputs.iter().any(|input| input.time_ns.is_some())
}
