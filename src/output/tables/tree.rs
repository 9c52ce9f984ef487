//! Trees, from either end.
//!
//! People get lines: rows with the same numbers share one, and branches are drawn only if a row has several children,
//! so that depth takes no width. Programs and documents get the rows.

mod drawing;

use std::rc::Rc;

use crate::output::Scaled;
use crate::output::scale;
use crate::output::style::{Style, TextColumn};
use crate::output::table::{Cell, Columns, Form, Group, Kind, Note, Rank, Table};
use crate::output::tables::tree::drawing::{Drawing, TreeLine};
use crate::output::tables::values::{
    Means, ValueColumns, Which, Wholes, add_shares, add_shares_titled, artefact_note, kind_of_events, more,
    per_event_note, sums_of_events,
};
use crate::report::{Direction, Grouping, Header, Tree};

/// The rows, or the lines that people see.
pub(super) fn table<'r>(tree: &'r Tree, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let header = &tree.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_total()), style)?;
    let drawing = Rc::new(Drawing::new(tree, form, style));
    let mut columns = Columns::new();
    columns.add("depth", Kind::Count, |line: &TreeLine| Some(i64::from(line.row?.depth)));
    columns.add("parent", Kind::Count, |line| Some(i64::from(line.row?.parent?)));
    add_names(&mut columns, &drawing);
    columns.add("file", Kind::Text, |line| line.row?.file.as_deref());
    let counts = header.per_event.as_ref();
    let events = counts.map(|counts| kind_of_events(counts.divisor, counts.events)).transpose()?;
    add_values(&mut columns, tree, &values, events.clone(), style)?;
    if tree.rows.iter().any(|row| row.artefact) {
        columns.add("artefact", Kind::Flag, |line| line.row?.artefact.then_some(true));
    }
    if let Some(kind) = events {
        columns.add("events.self", kind.clone(), |line| Some(line.row?.events?.self_value));
        columns.add("events.total", kind, |line| Some(line.row?.events?.total));
    }
    if tree.rows.iter().any(|row| row.cut > 0) {
        columns.add("elided_rows", Kind::Count, |line| {
            Some(line.row?.cut).filter(|cut| *cut > 0).map(i64::from)
        });
    }
    let emphasis = drawing.clone();
    columns.emphasis(move |line| emphasis.emphasis(line));
    let closing = drawing.closing();
    let notes = notes(&drawing, form);
    let rows = move || drawing.lines();
    let mut table = columns.table(form, &groups(tree, style), rows, closing);
    table.below = notes;
    table.below.extend(values.highlight_note(style));
    table.below.extend(artefact_note(header, tree.rows.iter().map(|row| &row.name), style));
    Ok(table)
}

/// The groups of columns that people see. A tree is read by total from the top down, and by self from the bottom up.
fn groups(tree: &Tree, style: &Style) -> Vec<Group> {
    let usual = match (tree.direction, &tree.header.base) {
        (Direction::TopDown, _) | (_, Some(_)) => {
            [TextColumn::Total, TextColumn::SelfValue, TextColumn::Children]
        }
        (Direction::BottomUp, None) => [TextColumn::SelfValue, TextColumn::Children, TextColumn::Total],
    };
    let columns = if style.columns.is_empty() { &usual[..] } else { &style.columns };
    columns.iter().map(|&column| Group::Of(column)).collect()
}

fn add_names<'r>(columns: &mut Columns<'r, TreeLine<'r>>, drawing: &Rc<Drawing<'r>>) {
    columns.add("name", Kind::Name, |line| line.row.map(|row| &*row.name));
    let node = drawing.tree.header.by.title();
    let title = match drawing.tree.direction {
        Direction::TopDown => format!("{node}{}CALLEES", drawing.style.glyphs.calls),
        Direction::BottomUp => format!("{node}{}CALLERS", drawing.style.glyphs.called_by),
    };
    let drawing = drawing.clone();
    let width = drawing.width_of_branches();
    columns.show(title, Kind::Name, move |line: &TreeLine<'r>| drawing.label(line)).extra(width);
}

/// Whether the values are those of one metric.
fn is_one(header: &Header) -> bool {
    header.per_event.is_none() && header.metrics.is_empty()
}

fn add_values<'r>(
    columns: &mut Columns<'r, TreeLine<'r>>,
    tree: &'r Tree,
    values: &ValueColumns<'r>,
    events: Option<Kind>,
    style: &Style,
) -> Scaled<()> {
    let header = &tree.header;
    let is_asked = !style.columns.is_empty();
    let is_one = is_one(header);
    for which in [Which::Own, Which::Total] {
        let value = values.raw(columns, which);
        if is_one {
            value.titled(which.title()).group(which.group()).asked(is_asked);
        }
    }
    if is_one && header.base.is_none() {
        add_shares_of_total(columns, tree);
    }
    let children = |line: &TreeLine| Some(line.new.total? - line.new.own?);
    let children = columns.add("children", Kind::Value(values.scale.clone()), children);
    if is_one && header.base.is_none() {
        let group = Group::Of(TextColumn::Children);
        children.titled("CHILDREN").rank(Rank::Children).group(group).asked(is_asked);
    }
    values.sides(columns, &[Which::Total], &[Which::Own, Which::Total]);
    if let Some(events) = events {
        return add_means(columns, tree, &events, style);
    }
    add_metrics(columns, tree, style)
}

/// What a total is of the function at the top, and of all.
fn add_shares_of_total<'r>(columns: &mut Columns<'r, TreeLine<'r>>, tree: &'r Tree) {
    let wholes = Wholes::of(&tree.header);
    let group = Which::Total.group();
    let total = |line: &TreeLine| line.new.total;
    if tree.direction == Direction::TopDown {
        add_shares(columns, wholes, group, total);
        return;
    }
    let of_top = |line: &TreeLine| Some(Cell::Share { part: line.new.total?, whole: line.top?.values.total });
    columns.show("%TOP", Kind::Share, of_top).rank(Rank::ShareOfFunction).group(group);
    add_shares_titled(columns, "%ALL", wholes, group, total);
}

/// The value that a tree is read by, and the other one.
fn both(tree: &Tree) -> [Which; 2] {
    match tree.direction {
        Direction::TopDown => [Which::Total, Which::Own],
        Direction::BottomUp => [Which::Own, Which::Total],
    }
}

/// Several metrics side by side.
fn add_metrics<'r>(columns: &mut Columns<'r, TreeLine<'r>>, tree: &'r Tree, style: &Style) -> Scaled<()> {
    for (index, metric) in tree.header.metrics.iter().enumerate() {
        let kind = Kind::Value(scale(&metric.metric, metric.shown, style.unit.as_ref())?);
        for which in [Which::Own, Which::Total] {
            let key = format!("values.{}.{}", metric.metric.name, which.key());
            columns.add(key, kind.clone(), move |line| which.of(line.metric(index, tree)));
        }
        let [main, other] = both(tree);
        let value = move |line: &TreeLine| main.of(line.metric(index, tree));
        columns.show(main.title_of(&metric.metric), kind.clone(), value);
        add_shares(columns, Wholes::new(&tree.header, metric.total, metric.shown), Group::Always, value);
        let value = move |line: &TreeLine| other.of(line.metric(index, tree));
        columns.show(other.title(), kind, value).rank(Rank::SecondValue);
    }
    Ok(())
}

/// What an event weighs on average, and how many there are (`--per-event`).
fn add_means<'r>(
    columns: &mut Columns<'r, TreeLine<'r>>,
    tree: &'r Tree,
    count: &Kind,
    style: &Style,
) -> Scaled<()> {
    let sums = tree.rows.iter().flat_map(|row| sums_of_events(&row.values, row.events));
    let divisor = tree.header.per_event.as_ref().map_or(1, |counts| counts.divisor);
    let means = Means::new(&tree.header.metric, divisor, sums, style)?;
    for which in both(tree) {
        let of = means.clone();
        let mean = move |line: &TreeLine| of.mean(which.of(line.new), which.of(line.events));
        columns.show(which.title(), means.kind(), mean);
        let events = columns.show("EVENTS", count.clone(), move |line| which.of(line.events));
        events.rank(Rank::Events);
    }
    Ok(())
}

fn notes(drawing: &Drawing, form: Form) -> Vec<Note> {
    let header = &drawing.tree.header;
    let mut notes = Vec::new();
    notes.extend(match drawing.tree.direction {
        Direction::TopDown if form == Form::Markdown => note_of_cut(drawing),
        Direction::TopDown => drawing.note_of_rows(),
        Direction::BottomUp => note_of_callers(drawing),
    });
    notes.extend(per_event_note(header));
    notes
}

/// `… 1,064 more rows`
fn note_of_cut(drawing: &Drawing) -> Option<Note> {
    let count = drawing.tree.header.elided_rows;
    let rows = Grouping { one: "row", several: "rows", ..Grouping::default() };
    (count > 0).then(|| Note::faint(more(count, &rows, drawing.style)))
}

fn note_of_callers(drawing: &Drawing) -> Option<Note> {
    let (tree, header) = (drawing.tree, &drawing.tree.header);
    let has_share = header.base.is_none() && is_one(header);
    let showing = |whole: &str| {
        format!("showing callers with at least {}%{whole} (--min-share 0: all)", tree.min_share)
    };
    let without = showing(" of the function at the top");
    let note = if has_share {
        let dot = drawing.style.glyphs.dot;
        let with = format!("%TOP: share of the function at the top{dot}{}", showing(""));
        Note::faint(with).without("%TOP", without)
    } else {
        Note::faint(without)
    };
    (tree.min_share > 0.0).then_some(note)
}
