//! Stacks with their values: for people the leaf first, as debuggers print them.

use crate::name::clean;
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::names::{DisplayNames, joined};
use crate::output::scale;
use crate::output::style::Style;
use crate::output::table::{Cell, Columns, Emphasis, Form, Group, Kind, Table};
use crate::output::tables::values::{
    HasValues, Measured, RowSides, ValueColumns, Which, Wholes, add_shares, artefact_note, side_only,
};
use crate::report::{Header, LabelText, MetricTotal, Name, Trace, Traces};
use crate::unit::{self};

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
pub(super) fn table<'r>(traces: &'r Traces, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let header = &traces.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    let mut columns = Columns::new();
    add_stacks(&mut columns, traces, form, style);
    for (index, MetricTotal { metric, total, shown, .. }) in header.metrics.iter().enumerate() {
        let kind = Kind::Value(scale(metric, *shown, style.unit.as_ref())?);
        let value = move |line: &TraceLine| line.value(index);
        columns.add(metric.name.clone(), kind, value).titled(clean(&metric.name).to_uppercase());
        add_shares(&mut columns, Wholes::new(header, *total, *shown), Group::Always, value);
    }
    if header.metrics.is_empty() {
        let kind = Kind::Value(values.scale.clone());
        columns.add(header.metric.name.clone(), kind, |line| line.value(0)).titled("VALUE");
        if header.base.is_none() {
            let wholes = Wholes::of(header);
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
    columns.add("frames", Kind::Name, |line| line.trace.map(|trace| joined(&trace.frames)));
    let header = &traces.header;
    let frames = || traces.traces.iter().flat_map(|trace| &trace.frames).filter(|_| form != Form::Csv);
    let names = DisplayNames::of(header, frames(), form, style).all_marked(header, frames(), style);
    let label = move |line: &TraceLine| -> Cell<'r> {
        let side = line.trace.map_or("", |_| side_only(header, line.new.total.unwrap_or(0), line.old.total));
        let label = match line.what {
            What::Stack(trace) if !trace.frames.is_empty() => {
                let names = trace.frames.iter().map(|name| names.get(name));
                Label::new(names.collect::<Vec<_>>().join(style.glyphs.calls))
            }
            What::Frame(name) if side.is_empty() => return names.get(name).into(),
            What::Frame(name) => Label::new(&*names.get(name)),
            What::Stack(_) | What::NoStack => Label::new("(no stack)"),
            What::Labels(trace) => Label::new(clean(&labels(trace))).prefix("  "),
            What::Elided(_) => {
                let count = unit::group_thousands(header.elided_rows.into());
                let noun = unit::plural(header.elided_rows, "stack", "stacks");
                Label::new(format!("{} {count} more {noun}", style.glyphs.ellipsis))
            }
        };
        label.suffix(side).into()
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
    let frames = trace.frames.len();
    let count = match form {
        Form::Text => frames.max(1) + usize::from(!trace.labels.is_empty()),
        Form::Markdown | Form::Csv => 1,
    };
    (0..count).map(move |line| {
        let what = match line {
            _ if form != Form::Text => What::Stack(trace),
            _ if line < frames => What::Frame(&trace.frames[frames - 1 - line]),
            0 => What::NoStack,
            _ => What::Labels(trace),
        };
        match line {
            0 => TraceLine { what, ..first },
            _ => TraceLine { what, trace: None, new: Measured::default(), old: Measured::default() },
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::profile::from_notation;
    use crate::view::{Scope, TracesOptions};

    #[test]
    fn lines_share_the_names_of_frames() {
        let profile = from_notation("main;work 3\nmain;rest 2");
        let options = TracesOptions { scope: Scope::metric(0), limit: None, min_share: 0.0 };
        let traces = crate::view::traces(&profile, &options);
        let style = Style::plain();
        let table = table(&traces, Form::Text, &style).unwrap();
        let names: Vec<Name> = table
            .rows()
            .flat_map(|row| row.cells)
            .filter_map(|cell| match cell {
                Cell::Name(name) => Some(name),
                _ => None,
            })
            .collect();
        let texts: Vec<&str> = names.iter().map(|name| &**name).collect();
        assert_eq!(texts, ["work", "main", "rest", "main"]);
        assert!(Arc::ptr_eq(&names[1], &names[3]));
    }
}
