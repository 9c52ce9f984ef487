//! CSV after RFC 4180, for spreadsheets.

use std::io::{self, Write};

use crate::name::clean;
use crate::output::rows::ReportTable;
use crate::report::Report;

/// Writes the rows of a report, with a line of column names first. Fails where `out` does.
pub fn csv(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rows = ReportTable::of(report);
    line(out, &rows.columns)?;
    rows.cells().try_for_each(|row| line(out, &row))
}

fn line(out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(escape(cell).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// Quotes a cell where needed. A cell that a spreadsheet would take for a formula gets an apostrophe
/// in front: function names come from strangers. What a terminal would obey is written as an escape.
fn escape(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    // A blank in front does not keep a spreadsheet from calculating.
    let defused = match cell.trim_start().as_bytes().first() {
        Some(b'=' | b'+' | b'-' | b'@') if !is_number => format!("'{}", clean(cell)),
        _ => clean(cell).into_owned(),
    };
    if defused.contains([',', '"']) { format!("\"{}\"", defused.replace('"', "\"\"")) } else { defused }
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
        assert_eq!(escape("\t=1+1"), "'\\t=1+1");
        assert_eq!(escape("a\nb\u{1b}"), "a\\nb\\u{1b}");
    }
}
