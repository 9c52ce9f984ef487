//! The flat view with `--per-event`, as text.

use crate::name::fit;
use crate::output::text::Style;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{Top, TopRow};
use crate::unit::{self, IncompatibleUnits};

/// One row per function: the mean cost of its events, and their number.
pub(super) fn lines(top: &Top, counts: &str, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let rows: Vec<Means> = top.rows.iter().map(Means::of).collect();
    let largest = rows.iter().flat_map(|row| [row.own, row.total]).flatten().map(i64::unsigned_abs).max();
    let scale = header::scale_of_means(&top.header.metric, largest.unwrap_or(0) as i64, style)?;
    let names = DisplayNames::of(&top.header, top.rows.iter().map(|row| &row.name), style);
    let titles = ["SELF", "EVENTS", "TOTAL", "EVENTS"];
    let cell = |value: Option<i64>| value.map(|value| scale.format(value)).unwrap_or_default();
    let count = |events: i64| unit::group_thousands(events.into());
    let numbers = |(row, means): (&TopRow, &Means)| {
        let events = row.events.unwrap_or_default();
        vec![cell(means.own), count(events.self_value), cell(means.total), count(events.total)]
    };
    let numbers: Vec<Vec<String>> = top.rows.iter().zip(&rows).map(numbers).collect();
    let layout = Layout::new(&titles, &Grid::new(&titles, &numbers), &[], style);
    let noun = top.header.by.one.to_uppercase();
    let mut columns =
        TextTable::new(layout.keep(titles.map(String::from).to_vec()).into_iter().chain([noun]));
    for (row, numbers) in top.rows.iter().zip(numbers) {
        let name = names.get(&row.name);
        let name =
            layout.room.map_or_else(|| name.to_string(), |room| fit(name, room, style.glyphs.ellipsis));
        columns.row(layout.keep(numbers), name, Emphasis::None);
    }
    let mut lines = columns.lines();
    lines.extend(layout.note());
    let metric = &top.header.metric.name;
    lines.push(TextLine::new(
        format!("SELF and TOTAL are the average {metric} per event; EVENTS counts {counts}"),
        Emphasis::Faint,
    ));
    Ok(lines)
}

struct Means {
    own: Option<i64>,
    total: Option<i64>,
}

impl Means {
    fn of(row: &TopRow) -> Self {
        let events = row.events.unwrap_or_default();
        Means {
            own: unit::mean(row.values.self_value, events.self_value),
            total: unit::mean(row.values.total, events.total),
        }
    }
}
