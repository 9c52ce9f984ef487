//! Stacks as text, the leaf first as debuggers print them.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine};
use crate::report::{Header, LabelText, Name, Trace, Traces};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, and each stack with its value on the first line. Lines are made as they are
/// written, because a million stacks would take too much memory.
pub(super) fn lines<'t>(
    traces: &'t Traces,
    style: &'t Style,
) -> Result<impl Iterator<Item = TextLine> + use<'t>, IncompatibleUnits> {
    let header = &traces.header;
    let heading = header::lines(header, style)?;
    let drawing = TracesText::new(traces, style)?;
    let titles = TextLine::row(drawing.grid.line(&drawing.titles, "STACK"), Emphasis::Bold);
    let left_out = drawing.layout.note();
    let elided = (header.elided_rows > 0).then(|| drawing.elided());
    let note = header::highlight_note(header, &drawing.scales[0], style);
    let stacks = traces.traces.iter().flat_map(move |trace| drawing.stack(trace));
    let after =
        elided.into_iter().chain(left_out).chain(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(heading.into_iter().chain([titles]).chain(stacks).chain(after))
}

struct TracesText<'t> {
    header: &'t Header,
    style: &'t Style,
    /// One scale per metric.
    scales: Vec<Scale>,
    titles: Vec<String>,
    names: DisplayNames,
    grid: Grid,
    layout: Layout,
    /// The numbers of the stacks that were cut.
    elided: Vec<String>,
}

impl<'t> TracesText<'t> {
    fn new(traces: &'t Traces, style: &'t Style) -> Result<Self, IncompatibleUnits> {
        let header = &traces.header;
        let (scales, titles) = scales_and_titles(header, style)?;
        let names =
            DisplayNames::of(&traces.header, traces.traces.iter().flat_map(|trace| &trace.frames), style);
        let grid = Grid::new(&titles, []);
        let layout = Layout::new(&titles, &grid, &[], style);
        let mut drawing =
            TracesText { header, style, scales, titles, names, grid, layout, elided: Vec::new() };
        for trace in &traces.traces {
            let numbers = drawing.numbers(trace);
            drawing.grid.widen(&numbers);
        }
        if header.elided_rows > 0 {
            drawing.elided = drawing.elided_numbers(traces);
            drawing.grid.widen(&drawing.elided);
        }
        drawing.layout = Layout::new(&drawing.titles, &drawing.grid, &[], style);
        drawing.grid = drawing.layout.grid(&drawing.grid);
        drawing.titles = drawing.layout.keep(drawing.titles);
        drawing.elided = drawing.layout.keep(drawing.elided);
        Ok(drawing)
    }

    fn numbers(&self, trace: &Trace) -> Vec<String> {
        let first = trace.values.first().map_or(0, |&(_, value)| value);
        if let (Some(base), [(_, old)]) = (&self.header.base, &trace.old[..]) {
            return comparison::cells(&self.scales[0], base, first, *old, self.style);
        }
        let values = self.scales.iter().zip(&trace.values).map(|(scale, &(_, value))| scale.format(value));
        values.chain([unit::share(first, self.header.total)]).collect()
    }

    fn elided_numbers(&self, traces: &Traces) -> Vec<String> {
        let header = self.header;
        if let Some(base) = &header.base {
            let shown: i64 = traces.traces.iter().flat_map(|trace| &trace.old).map(|(_, old)| old).sum();
            let old = header.old_sum() - shown;
            return comparison::cells(&self.scales[0], base, header.elided, old, self.style);
        }
        let mut numbers = vec![String::new(); self.scales.len() + 1];
        numbers[0] = self.scales[0].format(header.elided);
        numbers[self.scales.len()] = unit::share(header.elided, header.total);
        numbers
    }

    fn stack(&self, trace: &Trace) -> Vec<TextLine> {
        let width = self.layout.room;
        let mut numbers = self.layout.keep(self.numbers(trace));
        let line = |(text, emphasis): (String, Emphasis)| {
            let text = match width {
                Some(width) => fit(&text, width, self.style.glyphs.ellipsis),
                None => text,
            };
            TextLine::row(self.grid.line(&std::mem::take(&mut numbers), &text), emphasis)
        };
        self.texts(trace).into_iter().map(line).collect()
    }

    /// The frames of a stack, and its labels.
    fn texts(&self, trace: &Trace) -> Vec<(String, Emphasis)> {
        let mut texts: Vec<(String, Emphasis)> =
            trace.frames.iter().rev().map(|name| self.frame(name)).collect();
        if texts.is_empty() {
            texts.push(("(no stack)".to_string(), Emphasis::None));
        }
        if let ([(_, value)], [(_, old)]) = (&trace.values[..], &trace.old[..]) {
            texts[0].0.push_str(match (value, old) {
                (0, _) => " (removed)",
                (_, 0) => " (new)",
                _ => "",
            });
        }
        if !trace.labels.is_empty() {
            let label = |(key, value): &(Name, LabelText)| match value {
                LabelText::Text(text) => format!("{}={}", clean(key), clean(text)),
                LabelText::Number(number) => format!("{}={number}", clean(key)),
            };
            let labels: Vec<String> = trace.labels.iter().map(label).collect();
            texts.push((format!("  {}", labels.join(" ")), Emphasis::None));
        }
        texts
    }

    fn frame(&self, name: &Name) -> (String, Emphasis) {
        let shown = self.names.get(name);
        if self.header.is_highlighted(name) {
            return (format!("{}{shown}", self.style.glyphs.marked), Emphasis::Marked);
        }
        (shown.to_string(), Emphasis::None)
    }

    fn elided(&self) -> TextLine {
        let count = unit::group_thousands(self.header.elided_rows.into());
        let text = format!("{} {count} more stacks", self.style.glyphs.ellipsis);
        TextLine::row(self.grid.line(&self.elided, &text), Emphasis::Faint)
    }
}

/// The scale of each metric, and the titles of the columns of numbers.
fn scales_and_titles(header: &Header, style: &Style) -> Result<(Vec<Scale>, Vec<String>), IncompatibleUnits> {
    let mut scales: Vec<Scale> = Vec::new();
    let mut titles: Vec<String> = Vec::new();
    for metric in &header.metrics {
        scales.push(header::scale(&metric.metric, metric.shown, style)?);
        titles.push(clean(&metric.metric.name).to_uppercase());
    }
    if scales.is_empty() {
        scales.push(header::scale(&header.metric, header.shown.max(header.old_sum()), style)?);
        titles.push("VALUE".to_string());
    }
    if header.base.is_some() {
        return Ok((scales, comparison::titles("VALUE", style)));
    }
    titles.push("%".to_string());
    Ok((scales, titles))
}
