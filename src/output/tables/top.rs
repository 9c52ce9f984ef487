//! The flat view.

use crate::name::{package, split_shown};
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::names::{DisplayNames, file_cell, short_file};
use crate::output::scale;
use crate::output::style::{Style, TextColumn};
use crate::output::table::{Cell, Columns, Emphasis, Entry, Form, Group, Kind, Note, Rank, Table};
use crate::output::tables::values::{
    HasValues, Means, Measured, RowSides, ValueColumns, Which, Wholes, add_shares, artefact_note,
    kind_of_events, more, per_event_note, side_only, sums_of_events,
};
use crate::report::{Header, MetricTotal, Top, TopRow};

/// A row, or one of those at the end.
enum TopLine<'r> {
    /// A function, with the sum of self of this row and all rows above it.
    Row { row: &'r TopRow, above: i64 },
    /// What was cut, the samples without a stack, or the sum of all: only self adds up. `metrics` has the self of each
    /// of several metrics.
    Closing { new: i64, old: i64, metrics: Vec<i64>, label: String },
}

impl<'r> TopLine<'r> {
    fn row(&self) -> Option<&'r TopRow> {
        match self {
            TopLine::Row { row, .. } => Some(row),
            TopLine::Closing { .. } => None,
        }
    }

    /// The values of one of several metrics.
    fn metric(&self, index: usize) -> Measured {
        match self {
            TopLine::Row { row, .. } => row.values.of_metric(index).into(),
            TopLine::Closing { metrics, .. } => Measured { own: metrics.get(index).copied(), total: None },
        }
    }
}

impl HasValues for TopLine<'_> {
    fn sides(&self) -> RowSides {
        let own = |value| Measured { own: Some(value), total: None };
        match *self {
            TopLine::Row { row, .. } => {
                RowSides { new: row.values.new_pair().into(), old: row.values.old.unwrap_or_default().into() }
            }
            TopLine::Closing { new, old, .. } => RowSides { new: own(new), old: own(old) },
        }
    }
}

/// One row per function, a row for all that were cut, and the sum.
pub(super) fn table<'r>(top: &'r Top, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let header = &top.header;
    let values = values(top, style)?;
    let columns = columns(top, &values, form, style)?;
    let mut table = columns.table(form, &groups(header, form, style), || lines(top), closing(top, style));
    table.below = notes(top, style);
    table.below.extend(values.highlight_note(style));
    table.below.extend(artefact_note(header, top.rows.iter().map(|row| &row.name), style));
    Ok(table)
}

/// What the table of a page takes over: the columns that the page does not count itself. There is a row for each of the report.
pub(in crate::output) fn further<'r>(top: &'r Top, style: &'r Style) -> Scaled<Table<'r>> {
    let columns = columns(top, &values(top, style)?, Form::Text, style)?;
    Ok(columns.table(Form::Text, &[Group::Calls], || lines(top), []))
}

fn values<'r>(top: &'r Top, style: &Style) -> Scaled<ValueColumns<'r>> {
    ValueColumns::new(&top.header, top.header.shown.max(top.header.old_total()), style)
}

fn lines(top: &Top) -> impl Iterator<Item = TopLine<'_>> {
    top.rows.iter().scan(0, |above, row| {
        *above += row.values.self_value;
        Some(TopLine::Row { row, above: *above })
    })
}

fn columns<'r>(
    top: &'r Top,
    values: &ValueColumns<'r>,
    form: Form,
    style: &'r Style,
) -> Scaled<Columns<'r, TopLine<'r>>> {
    let header = &top.header;
    let mut columns = Columns::new();
    add_names(&mut columns, top, form, style);
    add_places(&mut columns, form, style);
    match &header.metrics[..] {
        [] if header.per_event.is_none() => add_values(&mut columns, header, values, style),
        _ => {
            values.raw(&mut columns, Which::Own);
            values.raw(&mut columns, Which::Total);
            add_children(&mut columns, values);
            add_metrics(&mut columns, header, style)?;
        }
    }
    columns.add("candidate", Kind::Flag, |line| line.row().map(|row| row.candidate));
    if header.per_event.is_some() {
        add_means(&mut columns, top, style)?;
    }
    add_calls(&mut columns, top, style)?;
    if top.rows.iter().any(|row| row.upper_bound) {
        let bound = |line: &TopLine| line.row().filter(|row| row.upper_bound).map(|_| true);
        columns.add("upper_bound", Kind::Flag, bound);
    }
    if top.rows.iter().any(|row| row.artefact) {
        columns.add("artefact", Kind::Flag, |line| line.row().filter(|row| row.artefact).map(|_| true));
    }
    if top.rows.iter().any(|row| row.files.is_some()) {
        columns.add("files", Kind::Count, |line| line.row()?.files.map(i64::from));
    }
    let is_plain = is_plain(header);
    columns.emphasis(move |line| match line {
        TopLine::Closing { .. } => Emphasis::Faint,
        TopLine::Row { row, .. } if header.is_highlighted(&row.name) => Emphasis::Marked,
        TopLine::Row { row, .. } if row.candidate && is_plain => Emphasis::Strong,
        TopLine::Row { .. } => Emphasis::None,
    });
    Ok(columns)
}

/// Whether rows have marks and places: neither a comparison nor averages leave space for them.
fn is_plain(header: &Header) -> bool {
    header.base.is_none() && header.per_event.is_none()
}

/// What stands before the name of a row. Where self is nearly all of the total, that total is nearly exact.
fn mark(row: &TopRow, style: &Style) -> Option<&'static str> {
    match row {
        TopRow { candidate: true, .. } => Some(style.glyphs.candidate),
        TopRow { upper_bound: true, .. } => Some(style.glyphs.upper_bound),
        _ => None,
    }
}

/// The groups of columns that people see: those requested, else self, total and calls.
fn groups(header: &Header, form: Form, style: &Style) -> Vec<Group> {
    if !style.columns.is_empty() {
        return style.columns.iter().map(|&column| Group::Of(column)).collect();
    }
    let mut groups = vec![Group::Of(TextColumn::SelfValue), Group::Of(TextColumn::Total)];
    groups.extend(style.by_children.then_some(Group::Of(TextColumn::Children)));
    groups.push(Group::Calls);
    let is_wide = form == Form::Markdown || style.is_wide();
    if is_wide && is_plain(header) && header.by.is_function() {
        groups.push(Group::Of(TextColumn::File));
    }
    groups
}

fn add_names<'r>(columns: &mut Columns<'r, TopLine<'r>>, top: &'r Top, form: Form, style: &'r Style) {
    let header = &top.header;
    columns.add("name", Kind::Name, |line| line.row().map(|row| &*row.name));
    let names = DisplayNames::of(header, top.rows.iter().map(|row| &row.name), form, style);
    let is_plain = is_plain(header);
    let indent = if is_plain { "  " } else { "" };
    let label = move |line: &TopLine| match line {
        TopLine::Closing { label, .. } => Label::new(label).prefix(indent),
        TopLine::Row { row, .. } => {
            let marked = if header.is_highlighted(&row.name) { style.glyphs.marked } else { "" };
            let files = row.files.map(|files| format!(" ({files} files)")).unwrap_or_default();
            let name = names.get(&row.name);
            let mark = mark(row, style).filter(|_| is_plain);
            let prefix = mark.map_or(indent.into(), |mark| format!("{mark} "));
            let side = side_only(header, row.values.new_pair(), row.values.old);
            let placeless = split_shown(name).filter(|_| !style.full_names);
            let placeless = placeless.map(|(function, _)| format!("{marked}{function}{files}"));
            Label { placeless, ..Label::new(format!("{marked}{name}{files}")).prefix(prefix).suffix(side) }
        }
    };
    let noun = header.by.title();
    columns.show(format!("{indent}{noun}"), Kind::Name, label);
}

/// Where the function is: file, line and package.
fn add_places<'r>(columns: &mut Columns<'r, TopLine<'r>>, form: Form, style: &'r Style) {
    let is_asked = !style.columns.is_empty();
    let file = move |line: &TopLine<'r>| {
        let row = line.row()?;
        Some(match row.file.as_deref().unwrap_or_default() {
            file if form == Form::Csv => Cell::from(file),
            file if style.full_names => short_file(file).into(),
            file => file_cell(&row.name, file).into(),
        })
    };
    let package = |line: &TopLine| {
        let row = line.row()?;
        Some(package(&row.function, row.file.as_deref().unwrap_or_default())?.into_owned())
    };
    columns.add("function", Kind::Text, |line| line.row().map(|row| &*row.function));
    let file = columns.add("file", Kind::File, file).titled("FILE");
    file.group(Group::Of(TextColumn::File)).asked(is_asked);
    let line = columns.add("line", Kind::Text, |line| line.row()?.line.map(i64::from)).titled("LINE");
    line.group(Group::Of(TextColumn::Line)).asked(is_asked);
    let package = columns.show("PACKAGE", Kind::Text, package);
    package.group(Group::Of(TextColumn::Package)).asked(is_asked);
}

/// The values of one metric, or of both sides of a comparison.
fn add_values<'r>(
    columns: &mut Columns<'r, TopLine<'r>>,
    header: &'r Header,
    values: &ValueColumns<'r>,
    style: &Style,
) {
    let is_asked = !style.columns.is_empty();
    values.value(columns, Which::Own, is_asked);
    values.value(columns, Which::Total, is_asked);
    let children = add_children(columns, values).titled("CHILDREN").rank(Rank::Children);
    children.group(Group::Of(TextColumn::Children)).asked(is_asked || style.by_children);
    let whole = header.total;
    let sum = columns.show("SUM%", Kind::Share, move |line| match *line {
        TopLine::Row { above, .. } => Cell::Share { part: above, whole },
        TopLine::Closing { .. } => Cell::Empty,
    });
    sum.rank(Rank::Sum).group(Group::Of(TextColumn::Sum)).asked(is_asked);
    let both = [Which::Own, Which::Total];
    values.sides(columns, &both, &both);
}

fn add_children<'c, 'r>(
    columns: &'c mut Columns<'r, TopLine<'r>>,
    values: &ValueColumns,
) -> &'c mut Entry<'r, TopLine<'r>> {
    let kind = Kind::Value(values.scale.clone());
    columns.add("children", kind, |line| line.row().map(|row| row.values.children))
}

/// Several metrics side by side.
fn add_metrics<'r>(columns: &mut Columns<'r, TopLine<'r>>, header: &Header, style: &Style) -> Scaled<()> {
    for (index, metric) in header.metrics.iter().enumerate() {
        let scale = scale(&metric.metric, metric.shown, style.unit.as_ref())?;
        let wholes = Wholes::new(header, metric.total, metric.shown);
        for which in [Which::Own, Which::Total] {
            let key = format!("values.{}.{}", metric.metric.name, which.key());
            let value = move |line: &TopLine| which.of(line.metric(index));
            let entry = columns.add(key, Kind::Value(scale.clone()), value);
            match which {
                Which::Own => entry.titled(which.title_of(&metric.metric)),
                Which::Total => entry.titled(which.title()).rank(Rank::SecondValue),
            };
            add_shares(columns, wholes, Group::Always, value);
        }
    }
    Ok(())
}

/// How many events the values weigh, and what one weighs on average (`--per-event`).
fn add_means<'r>(columns: &mut Columns<'r, TopLine<'r>>, top: &Top, style: &Style) -> Scaled<()> {
    let sums = || top.rows.iter().flat_map(|row| sums_of_events(&row.values, row.events));
    let divisor = top.header.per_event.as_ref().map_or(1, |counts| counts.divisor);
    let means = Means::new(&top.header.metric, divisor, sums(), style)?;
    let count = kind_of_events(divisor, sums().map(|(_, events)| events).max().unwrap_or(0))?;
    for which in [Which::Own, Which::Total] {
        let of = means.clone();
        let mean = move |line: &TopLine| {
            let row = line.row()?;
            of.mean(which.of(row.values.new_pair().into()), which.of(row.events?.into()))
        };
        columns.show(which.title(), means.kind(), mean);
        let key = format!("events.{}", which.key());
        let events = columns.add(key, count.clone(), move |line| which.of(line.row()?.events?.into()));
        events.titled("EVENTS").rank(Rank::Events);
    }
    Ok(())
}

/// How often functions were called, and what one call costs on average, where the profile holds calls.
fn add_calls<'r>(columns: &mut Columns<'r, TopLine<'r>>, top: &Top, style: &Style) -> Scaled<()> {
    if top.rows.iter().all(|row| row.calls.is_none()) {
        return Ok(());
    }
    let most = top.rows.iter().filter_map(|row| row.calls).max();
    let count = kind_of_events(top.calls_divisor, most.unwrap_or(0))?;
    let calls = columns.add("calls", count, |line| line.row()?.calls);
    let called = |row: &TopRow| Some((row.values.total, row.calls.filter(|_| row.per_call.is_some())?));
    let mut sums = top.rows.iter().filter_map(called).peekable();
    if sums.peek().is_none() {
        return Ok(());
    }
    calls.titled("CALLS").group(Group::Calls);
    // Programs get whole numbers, people some decimals.
    let means = Means::new(&top.header.metric, top.calls_divisor, sums, style)?;
    let kind = means.kind();
    columns.add("per_call.self", Kind::Number, |line| Some(line.row()?.per_call?.self_value));
    columns.add("per_call.total", Kind::Number, |line| Some(line.row()?.per_call?.total));
    let cost = columns.show("PER CALL", kind, move |line| {
        let (total, calls) = called(line.row()?)?;
        means.mean(Some(total), Some(calls))
    });
    cost.rank(Rank::PerCall).group(Group::Calls);
    Ok(())
}

/// The last rows: the rows that were cut, the samples without a stack, and the sum. Averages do not add up.
fn closing<'r>(top: &'r Top, style: &Style) -> Vec<TopLine<'r>> {
    let header = &top.header;
    if header.per_event.is_some() {
        let label = more(header.elided_rows, &header.by, style);
        let cut = TopLine::Closing { new: 0, old: 0, metrics: Vec::new(), label };
        return (header.elided_rows > 0).then_some(cut).into_iter().collect();
    }
    let shown: i64 = top.rows.iter().map(|row| row.values.self_value).sum();
    let shown_old: i64 = top.rows.iter().map(|row| row.values.old.unwrap_or_default().self_value).sum();
    let of_metrics =
        |value: &dyn Fn(&MetricTotal) -> i64| header.metrics.iter().map(value).collect::<Vec<i64>>();
    let elided = of_metrics(&|metric| metric.elided);
    let no_stack = of_metrics(&|metric| metric.no_stack);
    let mut sums: Vec<i64> =
        elided.iter().zip(&no_stack).map(|(elided, no_stack)| elided + no_stack).collect();
    for row in &top.rows {
        for (sum, (_, pair)) in sums.iter_mut().zip(&row.values.values) {
            *sum += pair.self_value;
        }
    }
    let mut lines = Vec::new();
    let has_no_stack =
        header.no_stack != 0 || header.old_no_stack() != 0 || no_stack.iter().any(|&value| value != 0);
    let mut line = |new, old, metrics, label| lines.push(TopLine::Closing { new, old, metrics, label });
    if header.elided_rows > 0 {
        let old = header.old_sum() - shown_old - header.old_no_stack();
        line(header.elided, old, elided, more(header.elided_rows, &header.by, style));
    }
    if has_no_stack {
        line(header.no_stack, header.old_no_stack(), no_stack, "(no stack)".to_string());
    }
    let label = if header.filters.is_empty() { "all" } else { "all shown" };
    line(shown + header.elided + header.no_stack, header.old_sum(), sums, label.to_string());
    lines
}

/// The legend.
fn notes(top: &Top, style: &Style) -> Vec<Note> {
    let header = &top.header;
    if header.per_event.is_some() {
        return per_event_note(header).into_iter().collect();
    }
    let mut notes = Vec::new();
    if is_plain(header) && top.rows.iter().any(|row| row.candidate) {
        let mark = style.glyphs.candidate;
        notes.push(Note::faint(format!(
            "{mark} leaf-heavy: self is at least 90% of total and 1% of all; waiting functions and the profiler's own are never marked"
        )));
    }
    if is_plain(header) && top.rows.iter().any(|row| row.upper_bound && !row.candidate) {
        let mark = style.glyphs.upper_bound;
        notes.push(Note::faint(format!(
            "{mark} the total is an upper bound: the {} calls others that call it back",
            header.by.one
        )));
    }
    if top.rows.iter().any(|row| row.per_call.is_some()) && style.columns.is_empty() {
        notes.push(Note::faint("PER CALL: average total of one call").without("PER CALL", ""));
    }
    notes
}
