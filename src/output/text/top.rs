//! The flat view as text.

use crate::name::clean;
use crate::output::text::header;
use crate::output::text::layout::{LEAST_NAME, Layout};
use crate::output::text::name_columns::NameColumns;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::output::text::{PIPE_WIDTH, Style, TextColumn, ValueExtras};
use crate::output::text::{comparison, per_event};
use crate::report::{Header, MetricName, Pair, PerEvent, Top, TopRow};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the rows, a row for all that were cut, and the sum.
pub(super) fn lines(top: &Top, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&top.header, style)?;
    if let Some(base) = &top.header.base {
        lines.extend(comparison::top(top, base, style)?);
        return Ok(lines);
    }
    if let Some(PerEvent { metric, .. }) = &top.header.per_event {
        lines.extend(per_event::lines(top, metric, style)?);
        return Ok(lines);
    }
    let table = FlatText::new(top, style)?;
    lines.extend(table.lines());
    if top.rows.iter().any(|row| row.candidate) {
        let note = format!("{} leaf-heavy: self is at least 90% of total", style.glyphs.candidate);
        lines.push(TextLine::new(note, Emphasis::Faint));
    }
    if table.per_call.is_some() && style.columns.is_empty() {
        lines.push(TextLine::new("PER CALL: average total of one call", Emphasis::Faint));
    }
    let note = header::highlight_note(&top.header, &table.metrics[0].scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

/// The scale of the PER CALL column, if the profile holds calls.
fn per_call(top: &Top, style: &Style) -> Result<Option<Scale>, IncompatibleUnits> {
    let largest =
        top.rows.iter().filter_map(|row| row.per_call).map(|pair| pair.total.saturating_abs()).max();
    largest.map(|largest| header::scale_of_means(&top.header.metric, largest, style)).transpose()
}

/// One metric of the table: its totals, and the scale of its values.
struct MetricColumn {
    name: String,
    total: i64,
    shown: i64,
    scale: Scale,
}

struct FlatText<'t> {
    top: &'t Top,
    style: &'t Style,
    metrics: Vec<MetricColumn>,
    filtered: bool,
    /// The scale of the PER CALL column, if calls are known.
    per_call: Option<Scale>,
    extras: ValueExtras,
    names: DisplayNames,
}

impl<'t> FlatText<'t> {
    fn new(top: &'t Top, style: &'t Style) -> Result<Self, IncompatibleUnits> {
        let header = &top.header;
        let column = |metric: &MetricName, total: i64, shown: i64| {
            let scale = header::scale(metric, shown, style)?;
            Ok(MetricColumn { name: clean(&metric.name).to_uppercase(), total, shown, scale })
        };
        let metrics: Result<Vec<MetricColumn>, IncompatibleUnits> = match &header.metrics[..] {
            [] => column(&header.metric, header.total, header.shown).map(|column| vec![column]),
            several => several.iter().map(|m| column(&m.metric, m.total, m.shown)).collect(),
        };
        let metrics = metrics?;
        Ok(FlatText {
            top,
            style,
            extras: style.extras_of_values(metrics.len()),
            metrics,
            filtered: !header.filters.is_empty(),
            per_call: per_call(top, style)?,
            names: DisplayNames::of(&top.header, top.rows.iter().map(|row| &row.name), style),
        })
    }

    fn lines(&self) -> Vec<TextLine> {
        let header = &self.top.header;
        let titles = self.chosen(self.titles());
        let mut above = 0;
        let numbers: Vec<Vec<String>> = self
            .top
            .rows
            .iter()
            .map(|row| {
                above += row.values.self_value;
                self.chosen(self.row_numbers(row, above))
            })
            .collect();
        let closing: Vec<(Vec<String>, String)> = self
            .closing_rows(header)
            .into_iter()
            .map(|(numbers, label)| (self.chosen(numbers), label))
            .collect();
        let mut all = numbers.clone();
        all.extend(closing.iter().map(|(numbers, _)| numbers.clone()));
        let grid = Grid::new(&titles, &all);
        let layout = Layout::new(&titles, &grid, &self.asked(), self.style);
        let room = layout.room.unwrap_or_else(|| PIPE_WIDTH.saturating_sub(grid.width()).max(LEAST_NAME));
        let texts = NameColumns::new(self.top, &self.names, self.style, room);

        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([texts.title()]));
        for (row, numbers) in self.top.rows.iter().zip(numbers) {
            let emphasis = match row.candidate {
                _ if header.is_highlighted(&row.name) => Emphasis::Marked,
                true => Emphasis::Strong,
                false => Emphasis::None,
            };
            columns.row(layout.keep(numbers), texts.line(row), emphasis);
        }
        for (numbers, rest) in closing {
            columns.row(layout.keep(numbers), format!("  {rest}"), Emphasis::Faint);
        }
        let mut lines = columns.lines();
        lines.extend(layout.note());
        lines.extend(texts.note());
        lines
    }

    /// The titles of the requested columns.
    fn asked(&self) -> Vec<&'static str> {
        let title = |column: &TextColumn| match column {
            TextColumn::SelfValue => Some("SELF"),
            TextColumn::Total => Some("TOTAL"),
            TextColumn::Children => Some("CHILDREN"),
            TextColumn::Sum => Some("SUM%"),
            TextColumn::File | TextColumn::Line | TextColumn::Package => None,
        };
        self.style.columns.iter().filter_map(title).collect()
    }

    /// The titles of all columns of numbers; [`FlatText::chosen`] selects those to show.
    fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        let several = self.metrics.len() > 1;
        for metric in &self.metrics {
            titles.push(if several { metric.name.clone() } else { "SELF".to_string() });
            titles.extend(self.share_titles());
            if self.extras.other {
                titles.push("TOTAL".to_string());
                titles.extend(self.share_titles());
            }
        }
        if !several {
            titles.extend(["CHILDREN", "SUM%"].map(str::to_string));
        }
        if self.per_call.is_some() {
            titles.extend(["CALLS", "PER CALL"].map(str::to_string));
        }
        titles
    }

    /// The cells of the requested columns, in that order; self and total by default.
    fn chosen(&self, cells: Vec<String>) -> Vec<String> {
        if self.metrics.len() > 1 {
            return cells;
        }
        let value = 1 + self.share_titles().len();
        let place = |column: TextColumn| match column {
            TextColumn::SelfValue => 0..value,
            TextColumn::Total => value..2 * value,
            TextColumn::Children => 2 * value..2 * value + 1,
            TextColumn::Sum => 2 * value + 1..2 * value + 2,
            TextColumn::File | TextColumn::Line | TextColumn::Package => 0..0,
        };
        let usual = [TextColumn::SelfValue, TextColumn::Total];
        let asked = &self.style.columns;
        let columns = if asked.is_empty() { &usual[..] } else { asked };
        let calls = if asked.is_empty() { &cells[2 * value + 2..] } else { &[] };
        let chosen = columns.iter().flat_map(|&column| &cells[place(column)]);
        chosen.chain(calls).cloned().collect()
    }

    fn share_titles(&self) -> Vec<String> {
        let titles: &[&str] = match (self.extras.share, self.filtered) {
            (false, _) => &[],
            (true, true) => &["%ALL", "%SHOWN"],
            (true, false) => &["%"],
        };
        titles.iter().map(|title| (*title).to_string()).collect()
    }

    /// A value and its shares.
    fn value(&self, metric: &MetricColumn, value: i64) -> Vec<String> {
        let mut cells = vec![metric.scale.format(value)];
        if self.extras.share {
            cells.push(unit::share(value, metric.total));
        }
        if self.extras.share && self.filtered {
            cells.push(unit::share(value, metric.shown));
        }
        cells
    }

    fn nothing(&self) -> Vec<String> {
        vec![String::new(); 1 + self.share_titles().len()]
    }

    /// All numbers of a row; `above` is the sum of self of this row and all rows above it.
    fn row_numbers(&self, row: &TopRow, above: i64) -> Vec<String> {
        let first = Pair { self_value: row.values.self_value, total: row.values.total };
        let pairs: Vec<Pair> = match &row.values.values {
            Some(values) => values.0.iter().map(|(_, pair)| *pair).collect(),
            None => vec![first],
        };
        let cells = self.metrics.iter().zip(pairs);
        let mut numbers: Vec<String> = cells
            .flat_map(|(metric, pair)| {
                let total = self.extras.other.then(|| self.value(metric, pair.total));
                [self.value(metric, pair.self_value), total.unwrap_or_default()].concat()
            })
            .collect();
        if let [metric] = &self.metrics[..] {
            numbers.push(metric.scale.format(row.values.children));
            numbers.push(unit::share(above, metric.total));
        }
        if let Some(scale) = &self.per_call {
            numbers.push(unit::group_thousands(row.calls.unwrap_or(0).into()));
            numbers.push(row.per_call.map(|pair| scale.format(pair.total)).unwrap_or_default());
        }
        numbers
    }

    /// The last rows: the rows that were cut, the samples without a stack, and the sum.
    fn closing_rows(&self, header: &Header) -> Vec<(Vec<String>, String)> {
        let row = |value: i64, label: String| {
            let mut cells = self.value(&self.metrics[0], value);
            let values = if self.extras.other { 2 } else { 1 };
            for _ in 1..values * self.metrics.len() {
                cells.extend(self.nothing());
            }
            if self.metrics.len() == 1 {
                // Rows that are not functions have no children, no running sum and no calls.
                let calls = if self.per_call.is_some() { 2 } else { 0 };
                cells.extend(vec![String::new(); 2 + calls]);
            }
            (cells, label)
        };
        let mut rows = Vec::new();
        if header.elided_rows > 0 {
            let count = unit::group_thousands(header.elided_rows.into());
            let noun = header.by.noun(header.elided_rows);
            rows.push(row(header.elided, format!("{} {count} more {noun}", self.style.glyphs.ellipsis)));
        }
        if header.no_stack != 0 {
            rows.push(row(header.no_stack, "(no stack)".to_string()));
        }
        let own: i64 = self.top.rows.iter().map(|row| row.values.self_value).sum();
        let label = if self.filtered { "all shown" } else { "all" };
        rows.push(row(own + header.elided + header.no_stack, label.to_string()));
        rows
    }
}
