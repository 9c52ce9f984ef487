//! The page of `trend`: the verdicts as a table, and a chart per function. It needs no script; a point of a chart says which profile it
//! is when the mouse is over it.

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::error::Error;
use crate::output::scale;
use crate::output::style::Style;
use crate::output::svg::trend::trend_chart;
use crate::output::tables::trend::{change, heading, interval, notes, rounded, since, slope, word};
use crate::report::{Trend, TrendRow};

const STYLE: &str = "body{font:14px system-ui,sans-serif;color:#222;background:#fff;margin:24px auto;max-width:1100px;padding:0 16px}\
table{border-collapse:collapse;margin:16px 0}th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #ddd;\
font-variant-numeric:tabular-nums}th:last-child,td:last-child{text-align:left;font-family:ui-monospace,Menlo,Consolas,monospace;\
overflow-wrap:anywhere}.failed{font-weight:bold;color:#a93226}.improved{color:#1e8449}p{color:#555}svg{width:100%;height:auto}\
a{color:inherit}";

/// Writes the functions of a series as a page. Fails if the requested unit is of another kind than the metric's unit.
pub fn trend_page(trend: &Trend, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Trend</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Trend</h1>\n<p>{}</p>",
        text(&heading(trend, style)?)
    )?;
    if !trend.header.filters.is_empty() {
        writeln!(out, "<p>{}</p>", text(&trend.header.filters.join(" ")))?;
    }
    for warning in &trend.header.warnings {
        writeln!(out, "<p>{}</p>", text(&warning.text))?;
    }
    table(trend, style, out)?;
    for note in notes(trend, style).iter().filter(|note| !note.text.is_empty()) {
        writeln!(out, "<p>{}</p>", text(&note.text))?;
    }
    for (number, row) in trend.rows.iter().enumerate() {
        writeln!(out, "<div id=\"f{number}\">")?;
        trend_chart(trend, row, style.unit.as_ref(), out)?;
        writeln!(out, "</div>")?;
    }
    Ok(writeln!(out, "</body>\n</html>")?)
}

/// The verdicts, with the columns of the text.
fn table(trend: &Trend, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    let scale_to = |largest: f64| scale(&trend.header.metric, rounded(largest), style.unit.as_ref());
    let levels = scale_to(trend.rows.iter().flat_map(|row| [row.first, row.last]).fold(0.0, f64::max))?;
    let rises = || trend.rows.iter().filter_map(|row| row.rise.as_ref());
    let slopes = scale_to(rises().map(|rise| slope(rise).0).fold(0.0, f64::max))?;
    let sizes = scale_to(rises().filter_map(|rise| rise.in_a_day).fold(0.0, f64::max))?;
    let name = &trend.header.by.one;
    writeln!(
        out,
        "<table>\n<tr><th></th><th>First</th><th>Last</th><th>Change</th><th>95% CI</th><th>In a day</th><th>Since</th>\
         <th>{}</th></tr>",
        text(name)
    )?;
    let cell = |text_of: Option<String>| format!("<td>{}</td>", text(&text_of.unwrap_or_default()));
    for (number, row) in trend.rows.iter().enumerate() {
        let cells = [
            Some(word(row.verdict).to_string()),
            Some(levels.format(rounded(row.first)).to_string()),
            Some(levels.format(rounded(row.last)).to_string()),
            change(row, &slopes),
            interval(row, &slopes),
            row.rise.and_then(|rise| rise.in_a_day).map(|size| sizes.format(rounded(size)).to_string()),
            row.step.as_ref().map(since),
        ];
        writeln!(
            out,
            "<tr{}>{}<td><a href=\"#f{number}\">{}</a></td></tr>",
            class(row),
            cells.map(cell).concat(),
            text(&row.name)
        )?;
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

/// Names may hold anything.
fn text(text: &str) -> String {
    escape(&*clean(text)).into_owned()
}
