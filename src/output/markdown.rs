//! Markdown tables, for comments and documents.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::name::clean;
use crate::output::rows::rows;
use crate::report::Report;

/// Writes the rows of a report as a table.
pub fn markdown(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (columns, rows) = rows(report);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|cell| escape(cell)));
    for row in &rows {
        table.add_row(row.iter().map(|cell| escape(cell)));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if rows.iter().all(|row| row[index].parse::<f64>().is_ok() || row[index].is_empty()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Escapes what Markdown or the HTML in it would take for markup.
fn escape(cell: &str) -> String {
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
