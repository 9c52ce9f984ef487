//! The flat view as text.

use crate::name::{display_width, fit};
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line, pad};
use crate::output::text::header;
use crate::output::text::names::{Names, short_file};
use crate::output::text::{compared, per_event};
use crate::report::{Header, MetricName, Pair, Top, TopRow};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the rows, what was cut, and their sum.
pub(super) fn lines(top: &Top, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let mut lines = header::lines(&top.header, style)?;
    if let Some(base) = &top.header.base {
        lines.extend(compared::top(top, base, style)?);
        return Ok(lines);
    }
    if let Some(counts) = &top.header.about.per_event {
        lines.extend(per_event::lines(top, counts, style)?);
        return Ok(lines);
    }
    let table = Table::new(top, style)?;
    lines.extend(table.lines());
    if top.rows.iter().any(|row| row.candidate) {
        let note =
            format!("{} self is at least 90% of total: it does the work itself", style.glyphs.candidate);
        lines.push(Line::new(note, Emphasis::Faint));
    }
    Ok(lines)
}

/// One metric of the table: its whole, and how its values are written.
struct MetricColumn {
    name: String,
    total: i64,
    shown: i64,
    scale: Scale,
}

struct Table<'t> {
    top: &'t Top,
    style: &'t Style,
    metrics: Vec<MetricColumn>,
    filtered: bool,
    names: Names,
}

impl<'t> Table<'t> {
    fn new(top: &'t Top, style: &'t Style) -> Result<Self, IncompatibleUnits> {
        let header = &top.header;
        let column = |metric: &MetricName, total: i64, shown: i64| {
            let scale = header::scale(metric, shown, style)?;
            Ok(MetricColumn { name: metric.name.to_uppercase(), total, shown, scale })
        };
        let metrics: Result<Vec<MetricColumn>, IncompatibleUnits> = match &header.metrics[..] {
            [] => column(&header.metric, header.total, header.shown).map(|column| vec![column]),
            several => several.iter().map(|m| column(&m.metric, m.total, m.shown)).collect(),
        };
        Ok(Table {
            top,
            style,
            metrics: metrics?,
            filtered: !header.about.filters.is_empty(),
            names: Names::new(top.rows.iter().map(|row| &row.name), style),
        })
    }

    fn lines(&self) -> Vec<Line> {
        let header = &self.top.header;
        let titles = self.titles();
        let numbers: Vec<Vec<String>> = self.top.rows.iter().map(|row| self.row_numbers(row)).collect();
        let mut closing = self.closing_rows(header);
        let mut all = numbers.clone();
        all.extend(closing.iter().map(|(numbers, _)| numbers.clone()));
        let title_refs: Vec<&str> = titles.iter().map(String::as_str).collect();
        let room = self.style.layout_width().saturating_sub(Columns::width_of_numbers(&title_refs, &all));
        let rests = self.rests(room.max(LEAST_NAME));

        let mut columns = Columns::new(
            titles[..titles.len() - 1].iter().cloned().chain([self.name_title(room)]).collect::<Vec<_>>(),
        );
        for ((row, numbers), rest) in self.top.rows.iter().zip(numbers).zip(rests) {
            let emphasis = if row.candidate { Emphasis::Strong } else { Emphasis::None };
            columns.row(numbers, rest, emphasis);
        }
        for (numbers, rest) in closing.drain(..) {
            columns.row(numbers, format!("  {rest}"), Emphasis::Faint);
        }
        columns.lines()
    }

    fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        let several = self.metrics.len() > 1;
        for metric in &self.metrics {
            titles.push(if several { metric.name.clone() } else { "SELF".to_string() });
            titles.extend(self.share_titles());
            titles.push("TOTAL".to_string());
            titles.extend(self.share_titles());
        }
        titles.push(self.top.header.about.noun.0.to_uppercase());
        titles
    }

    fn share_titles(&self) -> Vec<String> {
        let titles: &[&str] = if self.filtered { &["%ALL", "%SHOWN"] } else { &["%"] };
        titles.iter().map(|title| (*title).to_string()).collect()
    }

    /// A value and its shares.
    fn value(&self, metric: &MetricColumn, value: i64) -> Vec<String> {
        let mut cells = vec![metric.scale.format(value), unit::share(value, metric.total)];
        if self.filtered {
            cells.push(unit::share(value, metric.shown));
        }
        cells
    }

    fn nothing(&self) -> Vec<String> {
        vec![String::new(); if self.filtered { 3 } else { 2 }]
    }

    fn row_numbers(&self, row: &TopRow) -> Vec<String> {
        let first = Pair { self_value: row.values.self_value, total: row.values.total };
        let pairs: Vec<Pair> = match &row.values.values {
            Some(values) => values.0.iter().map(|(_, pair)| *pair).collect(),
            None => vec![first],
        };
        let cells = self.metrics.iter().zip(pairs);
        cells
            .flat_map(|(metric, pair)| {
                [self.value(metric, pair.self_value), self.value(metric, pair.total)].concat()
            })
            .collect()
    }

    /// What was cut, the samples without a stack, and the sum of all.
    fn closing_rows(&self, header: &Header) -> Vec<(Vec<String>, String)> {
        let row = |value: i64, label: String| {
            let mut cells = self.value(&self.metrics[0], value);
            cells.extend(self.nothing());
            for _ in &self.metrics[1..] {
                cells.extend([self.nothing(), self.nothing()].concat());
            }
            (cells, label)
        };
        let mut rows = Vec::new();
        if header.elided_rows > 0 {
            let (one, several) = header.about.noun;
            let count = unit::group_thousands(header.elided_rows.into());
            let noun = if header.elided_rows == 1 { one } else { several };
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

    fn name_title(&self, room: usize) -> String {
        let title = format!("  {}", self.top.header.about.noun.0.to_uppercase());
        match self.file_width() {
            0 => title,
            files => format!("{}  FILE", pad(&title, self.name_width(room, files))),
        }
    }

    /// The rest of each line: mark, name, and the file where there is room.
    fn rests(&self, room: usize) -> Vec<String> {
        let files = self.file_width();
        let width = self.name_width(room, files);
        let rest = |row: &TopRow| {
            let mark = if row.candidate { self.style.glyphs.candidate } else { " " };
            let mut name = self.shown_name(row);
            if self.style.width.is_some() {
                name = fit(&name, width.saturating_sub(MARK), self.style.glyphs.ellipsis);
            }
            let rest = format!("{mark} {name}");
            match &row.file {
                Some(file) if files > 0 => {
                    format!(
                        "{}  {}",
                        pad(&rest, width),
                        fit(&short_file(file), files, self.style.glyphs.ellipsis)
                    )
                }
                _ => rest,
            }
        };
        self.top.rows.iter().map(rest).collect()
    }

    fn shown_name(&self, row: &TopRow) -> String {
        let name = self.names.get(&row.name).to_string();
        if row.files > 1 { format!("{name} ({} files)", row.files) } else { name }
    }

    /// The width of the column of files; 0 where there is none.
    fn file_width(&self) -> usize {
        let is_function = self.top.header.about.noun.0 == "function";
        if !self.style.is_wide() || !is_function {
            return 0;
        }
        let widths = self
            .top
            .rows
            .iter()
            .filter_map(|row| row.file.as_ref())
            .map(|file| display_width(&short_file(file)));
        widths.max().unwrap_or(0).min(MOST_FILE)
    }

    /// The width of mark and name: what the longest needs, or what the files leave.
    fn name_width(&self, room: usize, files: usize) -> usize {
        if files == 0 {
            return room;
        }
        let longest = self.top.rows.iter().map(|row| display_width(&self.shown_name(row))).max().unwrap_or(0);
        (longest + MARK).min(room.saturating_sub(files + 2))
    }
}

/// Columns of the mark before a name.
const MARK: usize = 2;

/// Names get at least this many columns, even where the terminal has fewer.
const LEAST_NAME: usize = 16;

/// Files get at most this many columns.
const MOST_FILE: usize = 32;
