//! The values of a label that differ as a picture: two bars per function, one for the samples with the value, one for the others.

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::error::Error;
use crate::output::style::Style;
use crate::output::svg::options::printable;
use crate::output::tables::labels::value_text;
use crate::output::tables::outliers::{cost, notes};
use crate::report::{OutlierRow, Outliers};
use crate::unit::share;

/// Sizes in pixels.
const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 16.0;
const HEADER: f64 = 40.0;
const LINE: f64 = 18.0;
const BAR: f64 = 10.0;
const ROW: f64 = 58.0;
/// The bar of 100 %; the rest is for its number.
const WHOLE: f64 = WIDTH - 2.0 * MARGIN - 80.0;

const STYLE: &str = "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#222}.title{font-size:16px;font-weight:bold}\
.faint{fill:#666}.number{font-size:11px}.inside{fill:#c0392b}.outside{fill:#8a94a6}";

/// `Values of region that differ`
pub(in crate::output) fn title(found: &Outliers) -> String {
    format!("Values of {} that differ", clean(&found.key))
}

/// Draws the differences.
pub fn outliers_svg(found: &Outliers, out: &mut dyn Write) -> Result<(), Error> {
    let notes = notes(found, &Style::plain());
    let below = HEADER + found.rows.len() as f64 * ROW;
    let height = below + notes.len() as f64 * LINE + MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"26\">{}</text>",
        escape(printable(&title(found)))
    )?;
    for (number, row) in found.rows.iter().enumerate() {
        write_row(found, row, HEADER + number as f64 * ROW, out)?;
    }
    for (number, note) in notes.iter().enumerate() {
        let y = below + (number + 1) as f64 * LINE;
        writeln!(out, "<text class=\"faint\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", escape(printable(note)))?;
    }
    Ok(writeln!(out, "</svg>")?)
}

fn write_row(found: &Outliers, row: &OutlierRow, top: f64, out: &mut dyn Write) -> Result<(), Error> {
    let value = value_text(&found.key, &row.value, row.unit.as_deref());
    let words = [&value, row.name.as_ref(), &cost(row), row.test.word()].join(" · ");
    writeln!(
        out,
        "<g><title>{text}</title>\n<text x=\"{MARGIN}\" y=\"{}\">{text}</text>",
        top + 14.0,
        text = escape(printable(&clean(&words)))
    )?;
    for (class, side, y) in [("inside", row.inside, top + 20.0), ("outside", row.outside, top + 34.0)] {
        let width = side.fraction().clamp(0.0, 1.0) * WHOLE;
        let whose = if class == "inside" { value.as_str() } else { "others" };
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\"/>\n\
             <text class=\"number\" x=\"{:.1}\" y=\"{}\">{}</text>",
            MARGIN + width + 5.0,
            y + BAR - 1.0,
            escape(printable(&format!("{} {whose}", share(side.part, side.whole))))
        )?;
    }
    Ok(writeln!(out, "</g>")?)
}
