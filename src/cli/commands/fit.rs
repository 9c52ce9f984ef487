//! As many rows as fit the screen.

use anyhow::Result;

use crate::cli::terminal::failure::unwritten;
use crate::output::{self, Style};
use crate::report::{Message, Report};

/// A report with some number of rows.
pub(crate) struct Attempt {
    pub(crate) report: Report,
    /// What is printed above the report.
    pub(crate) notes: Vec<Message>,
}

/// Makes a report with `rows` rows, and then with fewer until its text fits on `lines` lines. At least `fewest` are kept.
pub(crate) fn fitted(
    style: &Style,
    lines: usize,
    mut rows: usize,
    fewest: usize,
    make: &mut dyn FnMut(usize) -> Result<Attempt>,
) -> Result<Attempt> {
    loop {
        let attempt = make(rows)?;
        let mut text = Vec::new();
        output::text(&attempt.report, style, &mut text).map_err(unwritten)?;
        let printed = memchr::memchr_iter(b'\n', &text).count() + attempt.notes.len();
        if printed <= lines || rows <= fewest {
            return Ok(attempt);
        }
        // A row takes several lines in trees where only the roots are counted.
        let lines_of_row = (printed / rows).max(1);
        rows = rows.saturating_sub((printed - lines).div_ceil(lines_of_row)).max(fewest);
    }
}
