//! The page of `labels --outliers`: the differences as a table, and as bars.

use std::io::Write;

use crate::output::error::Error;
use crate::output::html::still::{RowStyle, paragraphs, still_page, table};
use crate::output::style::Style;
use crate::output::svg::outliers::{outliers_svg, title};
use crate::output::table::Form;
use crate::output::tables;
use crate::output::tables::outliers::notes;
use crate::report::Outliers;

/// Writes the values of a label that differ as a page.
pub fn outliers_page(found: &Outliers, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    still_page(out, &title(found), &[found.header.filters.join(" ")], |out| {
        if !found.rows.is_empty() {
            let plain = Style::plain();
            let differences = tables::outliers::table(found, Form::Markdown, &plain);
            table(out, &differences, &plain, |_| RowStyle::default())?;
        }
        paragraphs(out, &notes(found, style))?;
        if found.rows.is_empty() { Ok(()) } else { outliers_svg(found, out) }
    })
}
