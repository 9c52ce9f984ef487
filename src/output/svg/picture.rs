//! Writes the picture: the header, the blocks row by row, the legend, and the script.
//!
//! The picture is complete without its script, for viewers that run none. So the script gets no data of its own: it reads
//! names and positions from the blocks.

use std::fmt;
use std::io::{self, Write};

use quick_xml::escape::escape;

use crate::name::fit;
use crate::output::FIT_LABEL;
use crate::output::color::{self, Color, WHITE};
use crate::output::svg::layout::{Block, rows};
use crate::output::svg::legend::{Legend, ROOT};
use crate::output::svg::options::{MARGIN, NARROWEST, SvgOptions, TITLE, WIDTH, printable};
use crate::output::svg::wording::Wording;
use crate::report::Flame;

const STYLE: &str = include_str!("picture.css");
const SCRIPT: &str = include_str!("picture.js");
pub(super) const MOMENT: &str = include_str!("moment.js");

/// Distance in pixels from one row of blocks to the next, and the height of a block.
pub(super) const ROW: usize = 16;
const BLOCK: usize = ROW - 1;

/// Height in pixels of a line of the legend or the notes.
pub(super) const LINE: usize = 18;

/// Number of columns of the legend.
const COLUMNS: usize = 3;

/// Width of a character of a label in pixels. The script measures it.
const CHARACTER: f64 = 7.2;

/// Pixels between the edges of a block and its label, on both sides together.
const PADDING: f64 = 6.0;

/// Pixels for title and subtitle, and for the line that describes the block under the pointer.
pub(super) const HEADER: usize = 60;
pub(super) const DETAILS: usize = 18;

/// A picture that is being written.
pub(super) struct Picture<'p> {
    flame: &'p Flame,
    pub(super) options: &'p SvgOptions,
    pub(super) wording: Wording<'p>,
    pub(super) legend: Legend,
    pub(super) out: &'p mut dyn Write,
}

/// What is around the blocks; places are in pixels from the top.
pub(super) struct Frame {
    pub(super) details: usize,
    pub(super) legend: usize,
    pub(super) height: usize,
    /// Further classes of the picture, and data for its script.
    pub(super) class: &'static str,
    pub(super) data: String,
}

/// Where the blocks of a graph are.
struct Places {
    /// The root, in pixels from the top.
    root: usize,
    /// Whether callees are below their callers.
    downwards: bool,
    frame: Frame,
}

impl<'p> Picture<'p> {
    pub(super) fn new(
        flame: &'p Flame,
        options: &'p SvgOptions,
        wording: Wording<'p>,
        out: &'p mut dyn Write,
    ) -> Self {
        let legend = Legend::new(flame, options.color_by, &wording);
        Picture { flame, options, wording, legend, out }
    }

    pub(super) fn write(mut self) -> io::Result<()> {
        let width = self.options.frames_width() as f64;
        let below = rows(&self.flame.nodes, width);
        let above = if self.flame.callers.is_empty() { Vec::new() } else { rows(&self.flame.callers, width) };
        let mut notes = vec![self.legend.title().to_string()];
        notes.extend(self.wording.notes());
        let places = self.places(below.len(), above.len(), &notes);

        self.head(&places.frame)?;
        self.side(&below, 0, |row| {
            if places.downwards { places.root + row * ROW } else { places.root - row * ROW }
        })?;
        if !above.is_empty() {
            // The focus itself is the root of the other side.
            let first_caller = self.flame.nodes.len();
            self.side(&above[1..], first_caller, |row| places.root - (row + 1) * ROW)?;
        }
        self.below(places.frame.legend, &notes)?;
        self.end()
    }

    fn places(&self, rows: usize, rows_above: usize, notes: &[String]) -> Places {
        let downwards = self.options.icicle || rows_above > 0;
        let above = if downwards { rows_above.saturating_sub(1) } else { rows - 1 };
        // The line of details is next to the root, where nothing else changes.
        let root = HEADER + above * ROW + if downwards { DETAILS } else { 0 };
        let end = root + ROW + if downwards { (rows - 1) * ROW } else { DETAILS };
        let legend = end + LINE;
        let details = if downwards { HEADER + 5 } else { root + ROW + DETAILS - 5 };
        let height = legend + self.lines_below(notes) * LINE + LINE / 2;
        Places { root, downwards, frame: Frame { details, legend, height, class: "", data: String::new() } }
    }

    /// The number of lines of the legend and the notes.
    pub(super) fn lines_below(&self, notes: &[String]) -> usize {
        self.legend.entries.len().div_ceil(COLUMNS) + notes.len()
    }

    pub(super) fn head(&mut self, frame: &Frame) -> io::Result<()> {
        let width = self.options.width.unwrap_or(WIDTH).max(NARROWEST);
        let Frame { details: y, height, class, data, .. } = frame;
        let fluid = if self.options.width.is_none() { " fluid" } else { "" };
        let dark = self.legend.dark_style();
        let grouped = if dark.is_empty() { "" } else { " grouped" };
        let title = printable(&self.flame.title);
        let subtitle = self.wording.subtitle();
        writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame{fluid}{grouped}{class}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\"{data}>\n<title>{}</title>\n<desc>Flame {}: {}</desc>\n<style>\n{STYLE}{dark}</style>\n\
             <rect class=\"background\" width=\"100%\" height=\"100%\"/>",
            escape(&*title),
            if class.is_empty() { "graph" } else { "chart" },
            escape(&*subtitle)
        )?;
        let title = fit(&title, TITLE, "…");
        self.text("class=\"title\" x=\"50%\" y=\"24\"", &title)?;
        self.text("class=\"subtitle\" x=\"50%\" y=\"48\"", &subtitle)?;
        self.text("class=\"reset hidden\" role=\"button\" tabindex=\"0\" x=\"10\" y=\"24\"", "Reset zoom")?;
        self.text(
            "class=\"search\" role=\"button\" tabindex=\"0\" x=\"100%\" dx=\"-10\" y=\"24\"",
            "Search",
        )?;
        self.text(&format!("class=\"details\" x=\"10\" y=\"{y}\""), "")?;
        self.text(&format!("class=\"matched\" x=\"100%\" dx=\"-10\" y=\"{y}\""), "")
    }

    /// Writes the blocks of one tree. The nodes of its first row start at `first`.
    fn side(&mut self, rows: &[Vec<Block>], first: usize, top: impl Fn(usize) -> usize) -> io::Result<()> {
        writeln!(self.out, "<g class=\"side\">")?;
        for (row, blocks) in rows.iter().enumerate() {
            // Many neighbours have the same colour, so only those that differ from the first name theirs.
            let usual = self.fill(first + blocks[0].node);
            writeln!(self.out, "<g transform=\"translate({MARGIN},{})\" fill=\"{usual}\">", top(row))?;
            for block in blocks {
                let index = first + block.node;
                let (fill, title) = (self.fill(index), self.wording.title(index));
                self.block(block, index, None, &title, (fill != usual).then_some(fill))?;
            }
            writeln!(self.out, "</g>")?;
        }
        writeln!(self.out, "</g>")
    }

    /// Writes a block with its tooltip and, if it is wide enough, its label. `fill` is its colour if that is not the one of its
    /// row. `exact` is the number of decimals of its place and width, if it is drawn without a gap to the next block.
    pub(super) fn block(
        &mut self,
        block: &Block,
        index: usize,
        exact: Option<usize>,
        title: &str,
        fill: Option<Color>,
    ) -> io::Result<()> {
        let node = self.wording.node(index);
        let label = self.wording.label(index);
        let width = if exact.is_some() { block.width } else { without_gap(block.width) };
        let digits = exact.unwrap_or(DIGITS);
        let (left, width) = (Pixels(block.left, digits), Pixels(width, digits));
        write!(self.out, "<rect x=\"{left}\" width=\"{width}\" height=\"{BLOCK}\"")?;
        if let Some(fill) = fill {
            write!(self.out, " fill=\"{fill}\"")?;
        }
        if label.name != self.wording.name(index) {
            write!(self.out, " data-label=\"{}\"", escape(&*label.name))?;
        }
        if !label.place.is_empty() {
            write!(self.out, " data-place=\"{}\"", escape(&*label.place))?;
        }
        if node.inlined {
            write!(self.out, " class=\"inlined\"")?;
        }
        writeln!(self.out, "><title>{}</title></rect>", escape(title))?;
        let room = ((block.width - PADDING) / CHARACTER).max(0.0) as usize;
        let label = label.fit(room);
        if label.is_empty() {
            return Ok(());
        }
        self.text(&format!("x=\"{}\" y=\"11\"", Pixels(block.left + PADDING / 2.0, DIGITS)), &label)
    }

    pub(super) fn fill(&self, index: usize) -> Color {
        let node = self.wording.node(index);
        match index {
            0 => ROOT.0,
            _ if self.flame.header.is_highlighted(&node.name) => color::MATCHED,
            _ => self.legend.color(node),
        }
    }

    /// Writes the legend and the notes.
    pub(super) fn below(&mut self, legend: usize, notes: &[String]) -> io::Result<()> {
        let entries = std::mem::take(&mut self.legend.entries);
        for (index, (fill, name)) in entries.iter().enumerate() {
            let top = legend + index / COLUMNS * LINE;
            let left = index % COLUMNS * 100 / COLUMNS;
            let fill = if *fill == WHITE { "none".to_string() } else { fill.to_string() };
            writeln!(
                self.out,
                "<svg x=\"{left}%\" y=\"{top}\"><rect x=\"10\" y=\"2\" width=\"12\" height=\"12\" fill=\"{fill}\"/>"
            )?;
            self.text("class=\"note\" x=\"26\" y=\"12\"", name)?;
            writeln!(self.out, "</svg>")?;
        }
        let top = legend + entries.len().div_ceil(COLUMNS) * LINE;
        for (row, note) in notes.iter().enumerate() {
            self.text(&format!("class=\"note\" x=\"10\" y=\"{}\"", top + row * LINE + 12), note)?;
        }
        Ok(())
    }

    /// Writes what is after all else.
    pub(super) fn end(self) -> io::Result<()> {
        script(&[FIT_LABEL, MOMENT, SCRIPT], self.out)?;
        writeln!(self.out, "</svg>")?;
        self.out.flush()
    }

    pub(super) fn text(&mut self, attributes: &str, content: &str) -> io::Result<()> {
        writeln!(self.out, "<text {attributes}>{}</text>", escape(content))
    }
}

/// The width of a block without the gap to the next: a pixel, or a third of a block narrower than three pixels, which would
/// vanish otherwise. The script undoes this.
fn without_gap(width: f64) -> f64 {
    width - (width / 3.0).min(1.0)
}

/// Writes a script that consists of these parts, without comments and indentation.
pub(super) fn script(parts: &[&str], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<script><![CDATA[")?;
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim_start);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['/', '*'])) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "]]></script>")
}

/// The usual number of decimals: a zoom into the narrowest block of a graph enlarges it 3,600 times.
const DIGITS: usize = 3;

/// A distance with at most so many decimals.
pub(super) struct Pixels(pub(super) f64, pub(super) usize);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.*}", self.1, self.0);
        if self.1 == 0 {
            return f.write_str(&digits);
        }
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_short() {
        for (distance, text) in
            [(0.0, "0"), (10.0, "10"), (0.333_3, "0.333"), (1180.5, "1180.5"), (0.000_1, "0")]
        {
            assert_eq!(Pixels(distance, DIGITS).to_string(), text);
        }
    }

    #[test]
    fn siblings_have_a_gap() {
        for (width, drawn) in [(0.3, 0.2), (3.0, 2.0), (4.0, 3.0), (1180.0, 1179.0)] {
            assert!((without_gap(width) - drawn).abs() < 1e-9, "{width}");
        }
    }
}
