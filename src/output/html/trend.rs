//! The page of `trend`: the verdicts as a table, and a chart per function. A point of a chart says which profile it is when the mouse
//! is over it.

use std::io::Write;

use crate::output::error::Error;
use crate::output::html::still::{RowStyle, paragraphs, still_page, table};
use crate::output::style::Style;
use crate::output::svg::trend::trend_chart;
use crate::output::table::Form;
use crate::output::tables;
use crate::output::tables::trend::{heading, notes};
use crate::report::{Trend, TrendRow, TrendVerdict};

/// Writes the functions of a series as a page. Fails if the requested unit is of another kind than the metric's unit.
pub fn trend_page(trend: &Trend, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    let header = &trend.header;
    let mut lines = vec![heading(trend, style)?, header.filters.join(" ")];
    lines.extend(header.warnings.iter().map(|warning| warning.text.clone()));
    still_page(out, "Trend", &lines, |out| {
        let of_row =
            |number: usize| RowStyle { class: class(&trend.rows[number]), link: Some(format!("#f{number}")) };
        let plain = Style { unit: style.unit.clone(), ..Style::plain() };
        table(out, &tables::trend::table(trend, Form::Markdown, &plain)?, &plain, of_row)?;
        let notes: Vec<String> = notes(trend, style).into_iter().map(|note| note.text).collect();
        paragraphs(out, &notes)?;
        for (number, row) in trend.rows.iter().enumerate() {
            writeln!(out, "<div id=\"f{number}\">")?;
            trend_chart(trend, row, style.unit.as_ref(), out)?;
            writeln!(out, "</div>")?;
        }
        Ok(())
    })
}

fn class(row: &TrendRow) -> &'static str {
    match row.verdict {
        verdict if verdict.is_failure() => "failed",
        TrendVerdict::Improved => "improved",
        _ => "",
    }
}
