//! The cells of tables in Markdown and in pages without scripts.

use std::io::{self, Write};

use crate::name::{clean, display_width};
use crate::output::cell::cell_text;
use crate::output::label::NameSpace;
use crate::output::style::Style;
use crate::output::table::{Cell, Column, Kind, Row, Table};

/// The titles and cells of a table in a language of markup.
pub(in crate::output) struct Cells {
    pub(in crate::output) titles: Vec<String>,
    pub(in crate::output) rows: Vec<Vec<String>>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
}

impl Cells {
    /// Those of a table in Markdown, but no columns without any text.
    pub(in crate::output) fn of(table: &Table, style: &Style) -> Self {
        Cells::escaped(table, style, escape)
    }

    /// The same in another language, in which `escape` makes a text of what may be markup.
    pub(in crate::output) fn escaped(table: &Table, style: &Style, escape: fn(&str) -> String) -> Self {
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
    pub(in crate::output) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        table(&self.titles, &self.rows, &self.right, out)
    }
}

/// Writes a table of cells that are already escaped; the columns in `right` are right-aligned.
pub(in crate::output) fn table(
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
pub(in crate::output) fn escape(cell: &str) -> String {
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

/// A name or a command as inline code, unless it contains characters that would end the code or a table's cell.
pub(in crate::output) fn code(text: &str) -> String {
    let clean = clean(text);
    if clean.is_empty() || clean.contains(['`', '|', '\\']) { escape(&clean) } else { format!("`{clean}`") }
}

/// Escapes a sentence, except that what it has between backticks is code: "self of `Discounted` is 35.3%".
pub(in crate::output) fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // Names of .NET have a single one.
        return escape(text);
    }
    let part = |(index, part): (usize, &&str)| if index % 2 == 1 { code(part) } else { escape(part) };
    parts.iter().enumerate().map(part).collect()
}
