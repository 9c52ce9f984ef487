//! A flame chart as SVG: an axis of time, and below it a band of rows for each thread.
//!
//! Colours, legend, labels and script are those of a flame graph: a node stands for a function here, and a function may have
//! many blocks.

use std::io::{self, Write};

use crate::name::fit;
use crate::output::color::Color;
use crate::output::error::Error;
use crate::output::svg::layout::Block;
use crate::output::svg::options::{MARGIN, SvgOptions, printable};
use crate::output::svg::picture::{DETAILS, Frame, HEADER, LINE, Picture, Pixels, ROW};
use crate::output::svg::wording::Wording;
use crate::report::{Chart, ChartBlock, ChartFunction, Direction, Flame, FlameNode, Name};
use crate::unit::{duration, group_thousands, moment, plural, round_step};

/// Pixels for the times above the root, and for the name of a thread above its band.
const AXIS: usize = 16;
const BAND: usize = 20;

/// The least distance between two times of the axis, in pixels.
const TICKS: f64 = 110.0;

/// The width of a letter of these times, in pixels.
const LETTER: f64 = 7.2;

/// Maximum number of characters of the name of a thread.
const NAME: usize = 90;

/// Writes a flame chart. Fails if the requested unit is of another kind than the metric's unit.
pub fn chart_svg(chart: &Chart, options: &SvgOptions, out: &mut dyn Write) -> Result<(), Error> {
    let flame = as_flame(chart);
    let wording = Wording::of_chart(&flame, options.unit.as_ref())?;
    Ok(Drawing { chart, picture: Picture::new(&flame, options, wording, out) }.write()?)
}

/// The functions as the nodes of a flame graph, for colours and labels. Node 0 is the whole.
fn as_flame(chart: &Chart) -> Flame {
    let root = FlameNode {
        parent: 0,
        name: Name::default(),
        function: Name::default(),
        file: None,
        line: None,
        group: 0,
        inlined: false,
        width: chart.to_ns - chart.from_ns,
        total: chart.header.shown,
        self_value: 0,
        old: None,
    };
    let node = |function: &ChartFunction| FlameNode {
        name: function.name.clone(),
        function: function.function.clone(),
        file: function.file.clone(),
        line: function.line,
        group: function.group,
        width: function.length_ns,
        total: function.total,
        self_value: function.self_value,
        ..root.clone()
    };
    Flame {
        header: chart.header.clone(),
        nodes: std::iter::once(root.clone()).chain(chart.functions.iter().map(node)).collect(),
        callers: Vec::new(),
        direction: Direction::TopDown,
        title: chart.title.clone(),
        groups: chart.groups.clone(),
        group_self: chart.group_self.clone(),
        files: chart.files.clone(),
        removed: Vec::new(),
        verdicts: Vec::new(),
        deepest: None,
        dropped: 0,
    }
}

/// A chart that is being drawn.
struct Drawing<'p> {
    chart: &'p Chart,
    picture: Picture<'p>,
}

impl Drawing<'_> {
    fn write(mut self) -> io::Result<()> {
        let chart = self.chart;
        let root = HEADER + DETAILS + AXIS;
        let mut top = root + ROW;
        let tops: Vec<usize> = chart
            .bands
            .iter()
            .map(|band| {
                let this = top + BAND;
                top = this + band.rows as usize * ROW;
                this
            })
            .collect();
        let mut notes = vec![self.picture.legend.title().to_string()];
        notes.extend(self.notes());
        notes.extend(self.picture.wording.notes());
        let frame = Frame {
            details: HEADER + 5,
            legend: top + LINE,
            height: top + LINE + self.picture.lines_below(&notes) * LINE + LINE / 2,
            class: " chart",
            data: format!(" data-from=\"{}\" data-to=\"{}\"", chart.from_ns, chart.to_ns),
        };
        self.picture.head(&frame)?;
        self.axis(root, top)?;
        self.bands(&tops)?;
        self.blocks(root, &tops)?;
        self.picture.below(frame.legend, &notes)?;
        self.picture.end()
    }

    /// Where a moment is, in pixels from the start of the chart.
    fn place(&self, at: i64) -> f64 {
        let Chart { from_ns, to_ns, .. } = *self.chart;
        (at - from_ns) as f64 / (to_ns - from_ns) as f64 * self.picture.options.frames_width() as f64
    }

    /// The times, and a line for each. The script draws them anew when it zooms.
    fn axis(&mut self, root: usize, bottom: usize) -> io::Result<()> {
        let Chart { from_ns, to_ns, .. } = *self.chart;
        let y = root - 4;
        writeln!(self.picture.out, "<g class=\"axis\" data-top=\"{root}\" data-bottom=\"{bottom}\">")?;
        let width = self.picture.options.frames_width() as f64;
        for tick in ticks(from_ns, to_ns, width / TICKS) {
            let (at, label) = (MARGIN as f64 + self.place(tick), moment(tick));
            // A label stays in the picture.
            let half = label.chars().count() as f64 * LETTER / 2.0;
            let middle = Pixels(at.min(width + 2.0 * MARGIN as f64 - half).max(half), 1);
            let x = Pixels(at, 1);
            writeln!(
                self.picture.out,
                "<line x1=\"{x}\" x2=\"{x}\" y1=\"{root}\" y2=\"{bottom}\"/><text x=\"{middle}\" y=\"{y}\">{label}</text>",
            )?;
        }
        writeln!(self.picture.out, "</g>")
    }

    /// The names of the threads.
    fn bands(&mut self, tops: &[usize]) -> io::Result<()> {
        for (band, top) in self.chart.bands.iter().zip(tops) {
            let value = self.picture.wording.amount(band.total);
            let text = format!("{} · {value}", fit(&printable(&band.name), NAME, "…"));
            self.picture.text(&format!("class=\"band\" x=\"{MARGIN}\" y=\"{}\"", top - 5), &text)?;
        }
        Ok(())
    }

    fn blocks(&mut self, root: usize, tops: &[usize]) -> io::Result<()> {
        let chart = self.chart;
        writeln!(self.picture.out, "<g class=\"side\">")?;
        writeln!(self.picture.out, "<g transform=\"translate({MARGIN},{root})\">")?;
        let whole = Block { node: 0, left: 0.0, width: self.picture.options.frames_width() as f64 };
        let label = self.picture.wording.name(0);
        let lines = [label, format!("from {} to {}", moment(chart.from_ns), moment(chart.to_ns))];
        let fill = self.picture.fill(0);
        self.picture.block(&whole, 0, Some(3), &lines.join("\n"), Some(fill))?;
        writeln!(self.picture.out, "</g>")?;
        for row in chart.blocks.chunk_by(|a, b| (a.band, a.depth) == (b.band, b.depth)) {
            let ChartBlock { band, depth, function, .. } = row[0];
            let top = tops[band as usize] + depth as usize * ROW;
            let usual = self.picture.fill(function as usize + 1);
            writeln!(self.picture.out, "<g transform=\"translate({MARGIN},{top})\" fill=\"{usual}\">")?;
            for block in row {
                self.block(block, usual)?;
            }
            writeln!(self.picture.out, "</g>")?;
        }
        writeln!(self.picture.out, "</g>")
    }

    fn block(&mut self, block: &ChartBlock, usual: Color) -> io::Result<()> {
        let node = block.function as usize + 1;
        let left = self.place(block.from_ns);
        let drawn = Block { node, left, width: self.place(block.to_ns) - left };
        let mut lines = vec![self.picture.wording.name(node)];
        lines.extend(self.picture.wording.origin(node));
        let (from, to) = (moment(block.from_ns), moment(block.to_ns));
        lines.push(format!("from {from} to {to} (+{})", duration(block.to_ns - block.from_ns)));
        let fill = self.picture.fill(node);
        self.picture.block(&drawn, node, Some(6), &lines.join("\n"), (fill != usual).then_some(fill))
    }

    /// What the chart leaves out.
    fn notes(&self) -> Vec<String> {
        let chart = self.chart;
        let mut notes = Vec::new();
        notes.extend(chart.column_ns.map(|column| {
            format!(
                "too many samples to draw each one: of every {}, the heaviest stack of each thread is drawn; --from and --to draw less in more detail",
                moment(column)
            )
        }));
        notes.extend((chart.more_bands > 0).then(|| {
            let noun = plural(chart.more_bands as u64, "thread is", "threads are");
            format!(
                "{} further {noun} not drawn; --thread selects some",
                group_thousands(chart.more_bands as i128)
            )
        }));
        notes.extend(chart.deepest.map(|depth| format!("frames with {depth} or more callers are not drawn")));
        notes
    }
}

/// Round moments, at most `most` of them.
fn ticks(from: i64, to: i64, most: f64) -> Vec<i64> {
    let length = (i128::from(to) - i128::from(from)) as f64;
    let step = round_step(|step| length / step as f64 <= most.max(1.0));
    let first = from.div_euclid(step) + i64::from(from.rem_euclid(step) > 0);
    (first..).map_while(|number| number.checked_mul(step).filter(|&at| at <= to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let texts =
            |from, to, most| ticks(from, to, most).into_iter().map(moment).collect::<Vec<_>>().join(" ");
        assert_eq!(texts(0, 3_650_000_000, 10.0), "0s 500ms 1s 1.5s 2s 2.5s 3s 3.5s");
        assert_eq!(texts(1_234_567, 1_240_000, 4.0), "1.236ms 1.238ms 1.24ms");
        assert_eq!(texts(-30, 30, 3.0), "-20ns 0s 20ns");
        assert_eq!(ticks(0, i64::MAX, 10.0).len(), 10);
        assert_eq!(texts(5, 6, 10.0), "5ns 6ns");
    }
}
