//! Markdown tables, for comments and documents: the columns and rows that text has.

use std::io::{self, Write};

use crate::name::{clean, display_width};
use crate::output::diff::comment;
use crate::output::table::{Cell, Column, Form, Kind, NameSpace, Note, Row, Table};
use crate::output::tables::tables;
use crate::output::text::{Style, cell_text, heading};
use crate::report::Report;
use crate::unit::IncompatibleUnits;

/// Writes a report as a table below its header; a `diff` becomes a comment ready to post. Of the style, only the unit
/// and the columns matter. Fails if the unit does not fit the metric.
pub fn markdown(
    report: &Report,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    if let Report::Diff(diff) = report {
        return comment(diff, out).map(Ok);
    }
    let style = Style { unit: style.unit.clone(), columns: style.columns.clone(), ..Style::plain() };
    let heading = report.header().map(|header| heading(header, &style)).transpose();
    match (heading, tables(report, Form::Markdown, &style)) {
        (Ok(heading), Ok(tables)) => write(&heading.unwrap_or_default(), &tables, &style, out).map(Ok),
        (Err(error), _) | (_, Err(error)) => Ok(Err(error)),
    }
}

/// Writes the header and the tables, each between the lines above and below it.
fn write(heading: &[String], tables: &[Table], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    let mut paragraph = |text: String| {
        let gap = if std::mem::take(&mut is_first) { "" } else { "\n" };
        writeln!(out, "{gap}{}", text.trim_end())
    };
    if !heading.is_empty() {
        // The backslash keeps the line break, which Markdown would drop.
        paragraph(heading.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\\\n"))?;
    }
    for table in tables {
        let notes = |notes: &[Note]| {
            notes
                .iter()
                .map(|note| escape(note.text.trim()))
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
        };
        notes(&table.above).into_iter().try_for_each(&mut paragraph)?;
        if !table.columns.is_empty() {
            let mut rows = Vec::new();
            Cells::of(table, style).write(&mut rows)?;
            paragraph(String::from_utf8_lossy(&rows).into_owned())?;
        }
        notes(&table.below).into_iter().try_for_each(&mut paragraph)?;
    }
    Ok(())
}

/// The titles and cells of a table in Markdown.
pub(super) struct Cells {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
}

impl Cells {
    /// Those of a table, but no columns without any text.
    pub(super) fn of(table: &Table, style: &Style) -> Self {
        let has_places = table.columns.iter().any(|column| matches!(column.kind, Kind::File));
        let space = NameSpace { room: None, line: usize::MAX, has_places };
        let text = |(cell, column): (&Cell, &Column)| match cell {
            Cell::Label(label) => label.lines(space, style.glyphs.ellipsis).join(" "),
            cell => cell_text(cell, &column.kind, style.glyphs),
        };
        let cells = |row: &Row| -> Vec<String> {
            let texts = row.cells.iter().zip(&table.columns).map(text);
            texts.map(|text| escape(text.trim())).collect()
        };
        let mut rows: Vec<Vec<String>> = table.rows().map(|row| cells(&row)).collect();
        rows.extend(table.closing.iter().map(cells));
        let shown: Vec<usize> =
            (0..table.columns.len()).filter(|&index| rows.iter().any(|row| !row[index].is_empty())).collect();
        let columns: Vec<&Column> = shown.iter().map(|&index| &table.columns[index]).collect();
        let is_right = |kind: &Kind| kind.is_number() && !matches!(kind, Kind::Key);
        let keep = |row: Vec<String>| shown.iter().map(|&index| row[index].clone()).collect();
        Cells {
            titles: columns.iter().map(|column| escape(column.title.trim())).collect(),
            right: (0..columns.len()).filter(|&index| is_right(&columns[index].kind)).collect(),
            rows: rows.into_iter().map(keep).collect(),
        }
    }

    /// Writes the table.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        table(&self.titles, &self.rows, &self.right, out)
    }
}

/// Writes a table of cells that are already escaped; the columns in `right` are right-aligned.
pub(super) fn table(
    titles: &[String],
    rows: &[Vec<String>],
    right: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let widths: Vec<usize> = (0..titles.len())
        .map(|index| {
            let cells = rows.iter().map(|row| display_width(&row[index]));
            cells.chain([display_width(&titles[index]), LEAST]).max().unwrap_or(LEAST).min(MOST)
        })
        .collect();
    let line = |cells: &[String], out: &mut dyn Write| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(index, (cell, width))| {
            let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
            if right.contains(&index) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
        });
        writeln!(out, "| {} |", padded.collect::<Vec<_>>().join(" | "))
    };
    line(titles, out)?;
    let rule = widths.iter().enumerate().map(|(index, width)| {
        if right.contains(&index) { format!("{}:", "-".repeat(width + 1)) } else { "-".repeat(width + 2) }
    });
    writeln!(out, "|{}|", rule.collect::<Vec<_>>().join("|"))?;
    rows.iter().try_for_each(|row| line(row, out))
}

/// The minimum width of a column.
const LEAST: usize = 1;

/// Columns are padded up to this width, so that one name of 15,000 characters does not widen every row.
const MOST: usize = 120;

/// Escapes the characters that are markup in Markdown or HTML.
pub(super) fn escape(cell: &str) -> String {
    let mut escaped = String::with_capacity(cell.len());
    for c in clean(cell).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
