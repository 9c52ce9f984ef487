//! The flat view of what one event costs, as text.

use crate::name::fit;
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line};
use crate::output::text::header;
use crate::output::text::names::Names;
use crate::report::{Top, TopRow};
use crate::unit::{self, IncompatibleUnits};

/// A row a function: what one of its events costs, and how many there are.
pub(super) fn lines(top: &Top, counts: &str, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let rows: Vec<Means> = top.rows.iter().map(Means::of).collect();
    let largest = rows.iter().flat_map(|row| [row.own, row.total]).flatten().map(i64::unsigned_abs).max();
    let scale = header::scale_of_means(&top.header.metric, largest.unwrap_or(0) as i64, style)?;
    let names = Names::new(top.rows.iter().map(|row| &row.name), style);
    let mut columns =
        Columns::new(["SELF", "EVENTS", "TOTAL", "EVENTS", &top.header.about.noun.0.to_uppercase()]);
    let cell = |value: Option<i64>| value.map(|value| scale.format(value)).unwrap_or_default();
    let count = |events: i64| unit::group_thousands(events.into());
    let width = style.width.map(|width| width.saturating_sub(TAKEN).max(LEAST_NAME));
    for (row, means) in top.rows.iter().zip(&rows) {
        let events = row.events.unwrap_or_default();
        let numbers = vec![cell(means.own), count(events.self_value), cell(means.total), count(events.total)];
        let name = names.get(&row.name);
        let name = width.map_or_else(|| name.to_string(), |width| fit(name, width, style.glyphs.ellipsis));
        columns.row(numbers, name, Emphasis::None);
    }
    let mut lines = columns.lines();
    let metric = &top.header.metric.name;
    lines.push(Line::new(
        format!("SELF and TOTAL are {metric} for each of the {counts} beside"),
        Emphasis::Faint,
    ));
    Ok(lines)
}

/// Columns that the numbers take at most.
const TAKEN: usize = 48;
/// Names get at least this many columns.
const LEAST_NAME: usize = 16;

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
