//! Pages without scripts, such as CI servers show: tables and pictures.

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::error::Error;
use crate::output::markdown::cells::Cells;
use crate::output::style::Style;
use crate::output::table::Table;

const STYLE: &str = "body{font:14px system-ui,sans-serif;color:#222;background:#fff;margin:24px auto;max-width:1100px;padding:0 16px}\
table{border-collapse:collapse;margin:16px 0}th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #ddd;\
font-variant-numeric:tabular-nums}th:last-child,td:last-child{text-align:left;font-family:ui-monospace,Menlo,Consolas,monospace;\
overflow-wrap:anywhere}.failed{font-weight:bold;color:#a93226}.improved{color:#1e8449}p{color:#555}svg{width:100%;height:auto}\
a{color:inherit}";

/// Writes a page with a title, lines below it, and what `rest` writes.
pub(super) fn still_page(
    out: &mut dyn Write,
    title: &str,
    lines: &[String],
    rest: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"prof\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>",
        title = text(title)
    )?;
    paragraphs(out, lines)?;
    rest(out)?;
    Ok(writeln!(out, "</body>\n</html>")?)
}

/// Writes a paragraph for each line that is not empty.
pub(super) fn paragraphs(out: &mut dyn Write, lines: &[String]) -> Result<(), Error> {
    for line in lines.iter().filter(|line| !line.is_empty()) {
        writeln!(out, "<p>{}</p>", text(line))?;
    }
    Ok(())
}

/// What a page adds to a row of a table.
#[derive(Default)]
pub(super) struct RowStyle {
    /// The class of the row.
    pub(super) class: &'static str,
    /// The address that its name links to.
    pub(super) link: Option<String>,
}

/// Writes a table whose last column has the names.
pub(super) fn table(
    out: &mut dyn Write,
    table: &Table,
    style: &Style,
    of_row: impl Fn(usize) -> RowStyle,
) -> Result<(), Error> {
    let Cells { titles, rows, .. } = Cells::escaped(table, style, text);
    let row = |kind: &str, cells: &[String]| -> String {
        let cells: Vec<String> = cells.iter().map(|cell| format!("<{kind}>{cell}</{kind}>")).collect();
        cells.concat()
    };
    writeln!(out, "<table>\n<tr>{}</tr>", row("th", &titles))?;
    for (number, mut cells) in rows.into_iter().enumerate() {
        let RowStyle { class, link } = of_row(number);
        if let (Some(link), Some(name)) = (link, cells.last_mut()) {
            *name = format!("<a href=\"{link}\">{name}</a>");
        }
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        writeln!(out, "<tr{class}>{}</tr>", row("td", &cells))?;
    }
    Ok(writeln!(out, "</table>")?)
}

/// A text in which nothing is markup: names may hold anything.
fn text(text: &str) -> String {
    escape(&*clean(text)).into_owned()
}
