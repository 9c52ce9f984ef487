//! CSV after RFC 4180, for spreadsheets.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::name::clean;
use crate::output::style::Style;
use crate::output::table::{Cell, Form, Table};
use crate::output::tables::tables;
use crate::report::Report;

/// Writes the rows of a report, with a line of column names first. Fails where `out` does.
pub fn csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // Programs get integers, so no unit can be unsuitable.
    let style = Style::plain();
    let found = tables(report, Form::Csv, &style).unwrap_or_default();
    found.iter().try_for_each(|table| write(table, out))
}

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    line(out, table.columns.iter().map(|column| escape(&column.key)))?;
    table.rows().try_for_each(|row| line(out, row.cells.iter().map(cell)))
}

fn line<'c>(out: &mut dyn Write, cells: impl Iterator<Item = Cow<'c, str>>) -> io::Result<()> {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(cell.as_bytes())?;
    }
    out.write_all(b"\r\n")
}

fn cell<'c>(cell: &'c Cell) -> Cow<'c, str> {
    match cell {
        Cell::Number(number) => number.to_string().into(),
        // As in JSON.
        Cell::Float(number) if number.is_finite() => serde_json::to_string(number).unwrap_or_default().into(),
        Cell::Flag(flag) => flag.to_string().into(),
        Cell::Text(text) => escape(text),
        Cell::Empty | Cell::Float(_) | Cell::Share { .. } | Cell::Label(_) | Cell::Name(_) => "".into(),
    }
}

/// Quotes a cell where needed. A cell that a spreadsheet would take for a formula gets an apostrophe
/// in front: function names come from strangers. What a terminal would obey is written as an escape. Tabs stay, so that those
/// that indent a line of source are told from the `\t` in its text.
fn escape(cell: &str) -> Cow<'_, str> {
    let clean = if cell.contains('\t') {
        cell.split('\t').map(clean).collect::<Vec<_>>().join("\t").into()
    } else {
        clean(cell)
    };
    // A blank in front does not keep a spreadsheet from calculating.
    let defused = match cell.trim_start().as_bytes().first() {
        Some(b'=' | b'+' | b'-' | b'@') if cell.parse::<f64>().is_err() => format!("'{clean}").into(),
        _ => clean,
    };
    if defused.contains([',', '"', '\t']) {
        return format!("\"{}\"", defused.replace('"', "\"\"")).into();
    }
    defused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_defused() {
        assert_eq!(escape("main"), "main");
        assert_eq!(escape("f(a, \"b\")"), "\"f(a, \"\"b\"\")\"");
        assert_eq!(escape("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(escape("-12"), "-12");
        assert_eq!(escape("-[NSString x]"), "'-[NSString x]");
        assert_eq!(escape("\t=1+1"), "\"'\t=1+1\"");
        assert_eq!(escape("\tprint(a\\tb)"), "\"\tprint(a\\tb)\"");
        assert_eq!(escape("a\nb\u{1b}"), "a\\nb\\u{1b}");
    }
}
