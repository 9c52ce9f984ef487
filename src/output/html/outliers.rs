//! The page of `labels --outliers`: the differences as a table, and as bars.

use std::io::Write;

use crate::output::error::Error;
use crate::output::html::still::{paragraphs, row, still_page, text};
use crate::output::style::Style;
use crate::output::svg::outliers::{outliers_svg, title};
use crate::output::tables::labels::value_text;
use crate::output::tables::outliers::{cost, notes};
use crate::report::Outliers;
use crate::unit::{probability, share};

/// Writes the values of a label that differ as a page.
pub fn outliers_page(found: &Outliers, style: &Style, out: &mut dyn Write) -> Result<(), Error> {
    still_page(out, &title(found), &[found.header.filters.join(" ")], |out| {
        if !found.rows.is_empty() {
            let titles = [text(&found.key), "Share".into(), "Others".into(), "Cost".into(), "q".into()];
            let titles = [&titles[..], &[String::new(), text(found.header.by.one)]].concat();
            writeln!(out, "<table>\n<tr>{}</tr>", row("th", &titles))?;
        }
        for found_row in &found.rows {
            let (inside, outside) = (found_row.inside, found_row.outside);
            let cells = [
                value_text(&found.key, &found_row.value, found_row.unit.as_deref()),
                share(inside.part, inside.whole),
                share(outside.part, outside.whole),
                cost(found_row),
                probability(found_row.q),
                found_row.test.word().to_string(),
                found_row.name.to_string(),
            ];
            writeln!(out, "<tr>{}</tr>", row("td", &cells.map(|cell| text(&cell))))?;
        }
        if !found.rows.is_empty() {
            writeln!(out, "</table>")?;
        }
        paragraphs(out, &notes(found, style))?;
        if found.rows.is_empty() { Ok(()) } else { outliers_svg(found, out) }
    })
}
