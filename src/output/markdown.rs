//! Markdown tables, for comments and documents: the columns and rows that text has.

pub(super) mod cells;

use std::io::{self, Write};

use crate::output::diff::comment;
use crate::output::error::Error;
use crate::output::markdown::cells::{Cells, code, escape, sentence};
use crate::output::style::Style;
use crate::output::table::{Emphasis, Form, Note, Table};
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

/// A paragraph for each note; several about one part of the report, such as a finding, are an item of a list.
fn notes(notes: &[Note]) -> Vec<String> {
    let text = |note: &Note| match note.emphasis {
        Emphasis::Command => code(note.text.trim()),
        _ => sentence(note.text.trim()),
    };
    let is_told = |note: &&Note| !note.text.trim().is_empty();
    let told: Vec<&Note> = notes.iter().filter(is_told).collect();
    let parts = told.chunk_by(|a, b| a.part.is_some() && a.part == b.part);
    parts
        .map(|notes| {
            let lines: Vec<String> = notes.iter().map(|note| text(note)).collect();
            match notes {
                [_] => lines.concat(),
                // The backslash keeps the line break, and blanks keep the line in its item.
                _ => format!("- {}", lines.join("\\\n  ")),
            }
        })
        .collect()
}
