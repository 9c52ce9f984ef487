//! Text output, for terminals and pipes.
//!
//! Numbers first and right-aligned, the name last, so that a shortened name never moves a number;
//! one unit per column, written on each number; no boxes. Names are never shortened in a pipe.

mod columns;
mod diff;
mod grid;
mod header;
mod line;

use std::io::{self, Write};

#[cfg(feature = "ui")]
use crate::name::clean;
use crate::output::Scaled;
use crate::output::error::Error;
use crate::output::style::Style;
use crate::output::table::Form;
#[cfg(feature = "ui")]
use crate::output::table::{Emphasis, ReportPart};
use crate::output::tables::tables;
use crate::output::text::line::TextLine;
use crate::report::{Header, Report};

/// The header to print above the tables. Those of several builds begin with one of the builds, and those of series of
/// profiles with one of their own.
pub(super) fn heading_of(report: &Report) -> Option<&Header> {
    report.header().filter(|_| !matches!(report, Report::BySide(_) | Report::Trend(_)))
}

/// The header lines of a report.
pub(super) fn heading(header: &Header, style: &Style) -> Scaled<Vec<String>> {
    Ok(header::lines(header, style)?.into_iter().map(|line| line.text).collect())
}

/// Writes a report as text. Fails if the requested unit does not fit the metric.
pub fn text(report: &Report, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    Ok(write(lines(report, style)?, style, out)?)
}

/// The lines of a report, made as they are written.
fn lines<'r>(report: &'r Report, style: &'r Style) -> Scaled<Box<dyn Iterator<Item = TextLine> + 'r>> {
    if let Report::Diff(diff) = report {
        return Ok(Box::new(diff::lines(diff, style)?.into_iter()));
    }
    let heading = heading_of(report).map(|header| header::lines(header, style)).transpose()?;
    let tables = tables(report, Form::Text, style)?.into_iter();
    let tables = tables.flat_map(|table| columns::lines(table, style));
    Ok(Box::new(heading.into_iter().flatten().chain(tables)))
}

/// A line of a screen.
#[cfg(feature = "ui")]
#[derive(Clone, Debug)]
pub(crate) struct ScreenLine {
    /// The text, as wide as it fits.
    pub(crate) text: String,
    /// How it stands out.
    pub(crate) emphasis: Emphasis,
    /// What it shows of the report.
    pub(crate) part: Option<ReportPart>,
}

/// The lines of a report that a screen of this style shows below the first line of the header.
#[cfg(feature = "ui")]
pub(crate) fn text_lines(report: &Report, style: &Style) -> Scaled<Vec<ScreenLine>> {
    Ok(on_screen(lines(report, style)?.skip(1), style))
}

/// The header of a report on one line, in parts that may be left out from the end.
#[cfg(feature = "ui")]
pub(crate) fn heading_parts(report: &Report, style: &Style) -> Scaled<Vec<String>> {
    let Some(header) = heading_of(report) else { return Ok(Vec::new()) };
    let parts = header::parts(header, style)?;
    Ok(parts.into_iter().map(|part| clean(&part).into_owned()).collect())
}

#[cfg(feature = "ui")]
fn on_screen(lines: impl Iterator<Item = TextLine>, style: &Style) -> Vec<ScreenLine> {
    let width = style.width.unwrap_or(usize::MAX);
    let lines = lines.flat_map(|line| line.wrapped(width, style.glyphs.ellipsis));
    let line = |TextLine { text, emphasis, part, .. }: TextLine| {
        let text = clean(text.trim_end()).into_owned();
        ScreenLine { text, emphasis, part }
    };
    lines.map(line).collect()
}

/// Writes lines; prose that is too long for the terminal is wrapped.
fn write(lines: impl Iterator<Item = TextLine>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let width = style.width.unwrap_or(usize::MAX);
    for line in lines {
        if line.fits(width) {
            line.write(out, style.color)?;
            continue;
        }
        let lines = line.wrapped(width, style.glyphs.ellipsis);
        lines.iter().try_for_each(|line| line.write(out, style.color))?;
    }
    Ok(())
}
