//! The page of `trend`: the verdicts as a table, and a chart per function. A point of a chart says which profile it is when the mouse
//! is over it.

use std::io::Write;

use crate::output::error::Error;
use crate::output::html::still::{paragraphs, row, still_page, text};
use crate::output::scale;
use crate::output::style::Style;
use crate::output::svg::trend::trend_chart;
use crate::output::tables::trend::{change, heading, interval, notes, rounded, since, slope, word};
use crate::report::{Trend, TrendRow};

/// Writes the functions of a series as a page. Fails if the requested unit is of another kind than the metric's unit.
pub fn trend_page(trend: &Trend, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    let header = &trend.header;
    let mut lines = vec![heading(trend, style)?, header.filters.join(" ")];
    lines.extend(header.warnings.iter().map(|warning| warning.text.clone()));
    still_page(out, "Trend", &lines, |out| {
        table(trend, style, out)?;
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

/// The verdicts, with the columns of the text.
fn table(trend: &Trend, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    let scale_to = |largest: f64| scale(&trend.header.metric, rounded(largest), style.unit.as_ref());
    let levels = scale_to(trend.rows.iter().flat_map(|row| [row.first, row.last]).fold(0.0, f64::max))?;
    let rises = || trend.rows.iter().filter_map(|row| row.rise.as_ref());
    let slopes = scale_to(rises().map(|rise| slope(rise).0).fold(0.0, f64::max))?;
    let sizes = scale_to(rises().filter_map(|rise| rise.in_a_day).fold(0.0, f64::max))?;
    let titles = ["", "First", "Last", "Change", "95% CI", "In a day", "Since"].map(str::to_string);
    let titles = [&titles[..], &[text(trend.header.by.one)]].concat();
    writeln!(out, "<table>\n<tr>{}</tr>", row("th", &titles))?;
    for (number, found) in trend.rows.iter().enumerate() {
        let in_a_day = found.rise.and_then(|rise| rise.in_a_day);
        let cells = [
            Some(word(found.verdict).to_string()),
            Some(levels.format(rounded(found.first))),
            Some(levels.format(rounded(found.last))),
            change(found, &slopes),
            interval(found, &slopes),
            in_a_day.map(|size| sizes.format(rounded(size))),
            found.step.as_ref().map(since),
        ];
        let cells = cells.map(|cell| text(&cell.unwrap_or_default()));
        let name = format!("<a href=\"#f{number}\">{}</a>", text(&found.name));
        writeln!(out, "<tr{}>{}</tr>", class(found), row("td", &[&cells[..], &[name]].concat()))?;
    }
    Ok(writeln!(out, "</table>")?)
}

fn class(row: &TrendRow) -> &'static str {
    match word(row.verdict) {
        "" => "",
        _ if row.verdict.is_failure() => " class=\"failed\"",
        _ => " class=\"improved\"",
    }
}
