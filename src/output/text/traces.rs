//! Stacks as text, the leaf first as debuggers print them.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line};
use crate::output::text::header;
use crate::output::text::names::Names;
use crate::report::{LabelText, Trace, Traces};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, and each stack with its value on the first line.
pub(super) fn lines(traces: &Traces, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let header = &traces.header;
    let mut lines = header::lines(header, style)?;
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
    titles.extend(["%".to_string(), "STACK".to_string()]);
    let names = Names::new(traces.traces.iter().flat_map(|trace| &trace.frames), style);
    let mut columns = Columns::new(titles);
    let width = style.width.map(|width| width.saturating_sub(TAKEN * scales.len()).max(LEAST_NAME));
    for trace in &traces.traces {
        let mut numbers: Vec<String> =
            scales.iter().zip(&trace.values).map(|(scale, &(_, value))| scale.format(value)).collect();
        numbers.push(unit::share(trace.values.first().map_or(0, |&(_, value)| value), header.total));
        for text in stack_lines(trace, &names) {
            let text = width.map_or_else(|| text.clone(), |width| fit(&text, width, style.glyphs.ellipsis));
            let cells = std::mem::replace(&mut numbers, vec![String::new(); scales.len() + 1]);
            columns.row(cells, text, Emphasis::None);
        }
    }
    if header.elided_rows > 0 {
        let mut numbers = vec![String::new(); scales.len() + 1];
        numbers[0] = scales[0].format(header.elided);
        numbers[scales.len()] = unit::share(header.elided, header.total);
        let count = unit::group_thousands(header.elided_rows.into());
        columns.row(numbers, format!("{} {count} more stacks", style.glyphs.ellipsis), Emphasis::Faint);
    }
    lines.extend(columns.lines());
    Ok(lines)
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
