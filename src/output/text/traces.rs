//! Stacks as text, the leaf first as debuggers print them.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::columns::{Emphasis, Grid, Line};
use crate::output::text::header;
use crate::output::text::names::Names;
use crate::report::{Header, LabelText, Trace, Traces};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, and each stack with its value on the first line. Lines are made as they are written: a
/// million stacks are many more lines.
pub(super) fn lines<'t>(
    traces: &'t Traces,
    style: &'t Style,
) -> Result<impl Iterator<Item = Line> + use<'t>, IncompatibleUnits> {
    let header = &traces.header;
    let heading = header::lines(header, style)?;
    let drawing = Drawing::new(traces, style)?;
    let titles = Line::new(drawing.grid.line(&drawing.titles, "STACK"), Emphasis::Bold);
    let elided = (header.elided_rows > 0).then(|| drawing.elided());
    let stacks = traces.traces.iter().flat_map(move |trace| drawing.stack(trace));
    Ok(heading.into_iter().chain([titles]).chain(stacks).chain(elided))
}

struct Drawing<'t> {
    header: &'t Header,
    style: &'t Style,
    scales: Vec<Scale>,
    titles: Vec<String>,
    names: Names,
    grid: Grid,
}

impl<'t> Drawing<'t> {
    fn new(traces: &'t Traces, style: &'t Style) -> Result<Self, IncompatibleUnits> {
        let header = &traces.header;
        let mut scales: Vec<Scale> = Vec::new();
        let mut titles: Vec<String> = Vec::new();
        for metric in &header.metrics {
            scales.push(header::scale(&metric.metric, metric.shown, style)?);
            titles.push(clean(&metric.metric.name).to_uppercase());
        }
        if scales.is_empty() {
            scales.push(header::scale(&header.metric, header.shown, style)?);
            titles.push("VALUE".to_string());
        }
        titles.push("%".to_string());
        let names = Names::new(traces.traces.iter().flat_map(|trace| &trace.frames), style);
        let grid = Grid::new(&titles, []);
        let mut drawing = Drawing { header, style, scales, titles, names, grid };
        for trace in &traces.traces {
            let numbers = drawing.numbers(trace);
            drawing.grid.widen(&numbers);
        }
        let elided = drawing.elided_numbers();
        drawing.grid.widen(&elided);
        Ok(drawing)
    }

    fn numbers(&self, trace: &Trace) -> Vec<String> {
        let values = self.scales.iter().zip(&trace.values).map(|(scale, &(_, value))| scale.format(value));
        let first = trace.values.first().map_or(0, |&(_, value)| value);
        values.chain([unit::share(first, self.header.total)]).collect()
    }

    fn stack(&self, trace: &Trace) -> Vec<Line> {
        let taken = TAKEN * self.scales.len();
        let width = self.style.width.map(|width| width.saturating_sub(taken).max(LEAST_NAME));
        let mut numbers = self.numbers(trace);
        let line = |text: String| {
            let text =
                width.map_or_else(|| text.clone(), |width| fit(&text, width, self.style.glyphs.ellipsis));
            Line::new(self.grid.line(&std::mem::take(&mut numbers), &text), Emphasis::None)
        };
        stack_lines(trace, &self.names).into_iter().map(line).collect()
    }

    fn elided_numbers(&self) -> Vec<String> {
        let mut numbers = vec![String::new(); self.scales.len() + 1];
        if self.header.elided_rows > 0 {
            numbers[0] = self.scales[0].format(self.header.elided);
            numbers[self.scales.len()] = unit::share(self.header.elided, self.header.total);
        }
        numbers
    }

    fn elided(&self) -> Line {
        let count = unit::group_thousands(self.header.elided_rows.into());
        let text = format!("{} {count} more stacks", self.style.glyphs.ellipsis);
        Line::new(self.grid.line(&self.elided_numbers(), &text), Emphasis::Faint)
    }
}

/// Columns that a number and its share take at most.
const TAKEN: usize = 24;
/// Names get at least this many columns.
const LEAST_NAME: usize = 16;

fn stack_lines(trace: &Trace, names: &Names) -> Vec<String> {
    let mut lines: Vec<String> =
        trace.frames.iter().rev().map(|frame| names.get(frame).to_string()).collect();
    if lines.is_empty() {
        lines.push("(no stack)".to_string());
    }
    if !trace.labels.is_empty() {
        let label = |(key, value): &(crate::report::Name, LabelText)| match value {
            LabelText::Text(text) => format!("{}={}", clean(key), clean(text)),
            LabelText::Number(number) => format!("{}={number}", clean(key)),
        };
        let labels: Vec<String> = trace.labels.iter().map(label).collect();
        lines.push(format!("  {}", labels.join(" ")));
    }
    lines
}
