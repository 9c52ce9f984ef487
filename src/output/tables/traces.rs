//! Stacks with their values: for people the leaf first, as debuggers print them.

use crate::name::clean;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::scale;
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Group, Kind, Table};
use crate::output::tables::values::{
    HasValues, Measured, RowSides, ValueColumns, Which, Wholes, add_shares, artefact_note, side_only,
};
use crate::report::{Header, LabelText, MetricTotal, Name, Trace, Traces};
use crate::unit::{self, IncompatibleUnits};

/// A line of a stack.
struct TraceLine<'r> {
    what: What<'r>,
    /// The stack, on the line with its numbers.
    trace: Option<&'r Trace>,
    new: Measured,
    old: Measured,
}

#[derive(Clone, Copy)]
enum What<'r> {
    /// The whole stack, on one line.
    Stack(&'r Trace),
    /// One frame.
    Frame(&'r Name),
    /// A stack without frames.
    NoStack,
    Labels(&'r Trace),
    /// What was cut.
    Elided(&'r Header),
}

impl HasValues for TraceLine<'_> {
    fn sides(&self) -> RowSides {
        RowSides { new: self.new, old: self.old }
    }
}

impl TraceLine<'_> {
    /// The value of one of several metrics.
    fn value(&self, index: usize) -> Option<i64> {
        if index == 0 {
            return self.new.total;
        }
        match self.what {
            What::Elided(header) => header.metrics.get(index).map(|metric| metric.elided),
            _ => Some(self.trace?.values.get(index)?.1),
        }
    }
}

/// One line per frame for people, one per stack in documents and for programs. Lines are made as they are written,
/// because a million stacks would take too much memory.
pub(super) fn table<'r>(
    traces: &'r Traces,
    form: Form,
    style: &'r Style,
) -> Result<Table<'r>, IncompatibleUnits> {
    let header = &traces.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    let mut columns = Columns::new();
    add_stacks(&mut columns, traces, form, style);
    for (index, MetricTotal { metric, total, shown, .. }) in header.metrics.iter().enumerate() {
        let kind = Kind::Value(scale(metric, *shown, style.unit.as_ref())?);
        let value = move |line: &TraceLine| line.value(index);
        columns.add(metric.name.clone(), kind, value).titled(clean(&metric.name).to_uppercase());
        add_shares(&mut columns, Wholes { total: *total, shown: None }, Group::Always, value);
    }
    if header.metrics.is_empty() {
        let kind = Kind::Value(values.scale.clone());
        columns.add(header.metric.name.clone(), kind, |line| line.value(0)).titled("VALUE");
        if header.base.is_none() {
            let wholes = Wholes { total: header.total, shown: None };
            add_shares(&mut columns, wholes, Group::Always, |line: &TraceLine| line.new.total);
        }
    }
    values.side(&mut columns, Which::Total);
    let labels = columns.add("labels", Kind::Text, |line| line.trace.map(labels));
    if form == Form::Markdown {
        labels.titled("LABELS");
    }
    columns.emphasis(move |line| match line.what {
        What::Frame(name) if header.is_highlighted(name) => Emphasis::Marked,
        What::Elided(_) => Emphasis::Faint,
        _ => Emphasis::None,
    });
    let rows = move || traces.traces.iter().flat_map(move |trace| lines(trace, form));
    let mut table = columns.table(form, &[], rows, elided(traces));
    table.below.extend(values.highlight_note(style));
    let names = traces.traces.iter().flat_map(|trace| &trace.frames);
    table.below.extend(artefact_note(header, names, style));
    Ok(table)
}

fn add_stacks<'r>(
    columns: &mut Columns<'r, TraceLine<'r>>,
    traces: &'r Traces,
    form: Form,
    style: &'r Style,
) {
    columns.add("frames", Kind::Name, |line| line.trace.map(|trace| trace.frames.join(";")));
    let header = &traces.header;
    let names = DisplayNames::of(header, traces.traces.iter().flat_map(|trace| &trace.frames), form, style);
    let shown = move |name: &Name| names.marked(header, name, style);
    let label = move |line: &TraceLine| {
        let side = line.trace.map_or("", |_| side_only(line.new.total.unwrap_or(0), line.old.total));
        let label = match line.what {
            What::Stack(trace) if !trace.frames.is_empty() => {
                Label::new(trace.frames.iter().map(&shown).collect::<Vec<_>>().join(style.glyphs.calls))
            }
            What::Frame(name) => Label::new(shown(name)),
            What::Stack(_) | What::NoStack => Label::new("(no stack)"),
            What::Labels(trace) => Label::new(clean(&labels(trace))).prefix("  "),
            What::Elided(_) => {
                let count = unit::group_thousands(header.elided_rows.into());
                let noun = unit::plural(header.elided_rows, "stack", "stacks");
                Label::new(format!("{} {count} more {noun}", style.glyphs.ellipsis))
            }
        };
        label.suffix(side)
    };
    columns.show("STACK", Kind::Name, label);
}

/// The lines of a stack; only the first has its numbers.
fn lines(trace: &Trace, form: Form) -> impl Iterator<Item = TraceLine<'_>> {
    let total = |values: &[(Name, i64)]| values.first().map(|&(_, value)| value);
    let first = TraceLine {
        what: What::Stack(trace),
        trace: Some(trace),
        new: Measured { own: None, total: Some(total(&trace.values).unwrap_or(0)) },
        old: Measured { own: None, total: total(&trace.old) },
    };
    let whole = (form != Form::Text).then_some(What::Stack(trace));
    let frames = trace.frames.iter().rev().map(What::Frame).filter(move |_| form == Form::Text);
    let empty = (form == Form::Text && trace.frames.is_empty()).then_some(What::NoStack);
    let labels = (form == Form::Text && !trace.labels.is_empty()).then_some(What::Labels(trace));
    let mut first = Some(first);
    whole.into_iter().chain(frames).chain(empty).chain(labels).map(move |what| match first.take() {
        Some(first) => TraceLine { what, ..first },
        None => TraceLine { what, trace: None, new: Measured::default(), old: Measured::default() },
    })
}

/// The line for the stacks that were cut.
fn elided(traces: &Traces) -> Option<TraceLine<'_>> {
    let header = &traces.header;
    let shown: i64 = traces.traces.iter().flat_map(|trace| &trace.old).map(|(_, old)| old).sum();
    let measured = |value| Measured { own: None, total: Some(value) };
    (header.elided_rows > 0).then(|| TraceLine {
        what: What::Elided(header),
        trace: None,
        new: measured(header.elided),
        old: measured(header.old_sum() - shown),
    })
}

/// `thread=main bytes=4096`
fn labels(trace: &Trace) -> String {
    let label = |(key, value): &(Name, LabelText)| match value {
        LabelText::Text(text) => format!("{key}={text}"),
        LabelText::Number(number) => format!("{key}={number}"),
    };
    trace.labels.iter().map(label).collect::<Vec<_>>().join(" ")
}
