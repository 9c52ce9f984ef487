//! Markdown tables, for comments and documents: the columns and rows that text has.

pub(super) mod cells;

use std::io::{self, Write};

use crate::output::diff::comment;
use crate::output::error::Error;
use crate::output::markdown::cells::{Cells, escape};
use crate::output::style::Style;
use crate::output::table::{Form, Note, Table};
use crate::output::tables::tables;
use crate::output::text::{heading, heading_of};
use crate::report::Report;

/// Writes a report as a table below its header; a `diff` becomes a comment ready to post. Of the style, only the unit
/// and the columns matter. Fails if the unit does not fit the metric.
pub fn markdown(report: &Report, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    if let Report::Diff(diff) = report {
        return Ok(comment(diff, style, out)?);
    }
    let style = Style { unit: style.unit.clone(), columns: style.columns.clone(), ..Style::plain() };
    let heading = heading_of(report).map(|header| heading(header, &style)).transpose()?;
    let tables = tables(report, Form::Markdown, &style)?;
    Ok(write(&heading.unwrap_or_default(), &tables, &style, out)?)
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
