//! Markdown tables, for comments and documents.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::name::clean;
use crate::output::diff::comment;
use crate::output::rows::rows;
use crate::report::Report;

/// Writes the rows of a report as a table; a comparison becomes a comment ready to post.
pub fn markdown(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if let Report::Diff(diff) = report {
        return comment(diff, out);
    }
    let (columns, rows) = rows(report);
    let is_number =
        |index: &usize| rows.iter().all(|row| row[*index].parse::<f64>().is_ok() || row[*index].is_empty());
    let right: Vec<usize> = (0..columns.len()).filter(is_number).collect();
    let escaped = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect::<Vec<String>>();
    table(&escaped(&columns), &rows.iter().map(escaped).collect::<Vec<_>>(), &right, out)
}

/// Writes a table of cells that are Markdown already; the columns `right` are aligned to the right.
pub(super) fn table(
    titles: &[String],
    rows: &[Vec<String>],
    right: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(titles);
    for row in rows {
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Escapes what Markdown or the HTML in it would take for markup.
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
