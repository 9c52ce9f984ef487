//! Annotated source: the lines of each function with their values.

use crate::name::{clean, display_width, fit};
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::style::Style;
use crate::output::table::{Cell, Columns, Emphasis, Form, Kind, Note, ReportPart, Table};
use crate::output::tables::values::{
    HasValues, RowSides, ValueColumns, Which, Wholes, add_shares, artefact_note, more, side_only,
};
use crate::report::{
    AnnotatedSource, Grouping, Name, Origin, OtherFile, Pair, PairBySide, SourceFunction, SourceLine,
};
use crate::unit::{self};

/// A line of a function.
struct SourceRow<'r> {
    function: &'r SourceFunction,
    line: &'r SourceLine,
    /// Whether people see no values, because all are zero.
    is_blank: bool,
}

impl HasValues for SourceRow<'_> {
    fn sides(&self) -> RowSides {
        if self.is_blank { RowSides::default() } else { self.line.values.into() }
    }
}

/// A table per function, or for programs one of all lines.
pub(super) fn tables<'r>(
    source: &'r AnnotatedSource,
    form: Form,
    style: &'r Style,
) -> Scaled<Vec<Table<'r>>> {
    let header = &source.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    if form == Form::Csv {
        let rows = move || source.functions.iter().flat_map(move |function| lines(function, form));
        return Ok(vec![columns(source, &values, form).table(form, &[], rows, [])]);
    }
    let groups = match header.base {
        Some(_) => [Which::Total.group(), Which::Own.group()],
        None => [Which::Own.group(), Which::Total.group()],
    };
    let table = |place: usize, function: &'r SourceFunction| {
        let mut columns = columns(source, &values, form);
        columns.part(move |_, _| Some(ReportPart::Function(place)));
        let mut table = columns.table(form, &groups, move || lines(function, form), []);
        table.above = where_from(function);
        (table, summary(function, &values, source, style))
    };
    Ok(per_function(&source.functions, |function| &function.name, &values, form, style, table))
}

/// A table per function, below its name and what `table` returns beside it, and the notes about all of them.
pub(super) fn per_function<'r, F>(
    functions: &'r [F],
    name: impl Fn(&'r F) -> &'r Name,
    values: &ValueColumns<'r>,
    form: Form,
    style: &'r Style,
    table: impl Fn(usize, &'r F) -> (Table<'r>, String),
) -> Vec<Table<'r>> {
    let header = values.header;
    let names = || functions.iter().map(&name);
    let shown = DisplayNames::of(header, names(), form, style);
    let mut tables: Vec<Table> = Vec::new();
    for (place, (function, name)) in functions.iter().zip(names()).enumerate() {
        let (mut table, summary) = table(place, function);
        let emphasis = if header.is_highlighted(name) { Emphasis::Marked } else { Emphasis::Bold };
        let text = fitted(&shown.marked(header, name, style), &summary, style);
        table.above.insert(0, Note { emphasis, ..Note::plain(text).about(ReportPart::Function(place)) });
        tables.push(table);
    }
    let matches = Grouping { one: "function matches", several: "functions match", ..Grouping::default() };
    let elided = header.elided_rows;
    let mut below: Vec<Note> = Vec::new();
    below.extend((elided > 0).then(|| Note::faint(more(elided, &matches, style))));
    below.extend(values.highlight_note(style));
    below.extend(artefact_note(header, names(), style));
    tables.push(Table::of_notes(below));
    tables
}

fn lines(function: &SourceFunction, form: Form) -> impl Iterator<Item = SourceRow<'_>> {
    function.lines.iter().map(move |line| {
        let has_value = [line.values.new, line.values.old.unwrap_or_default()] != [Pair::default(); 2];
        SourceRow { function, line, is_blank: form != Form::Csv && !has_value }
    })
}

fn columns<'r>(
    source: &'r AnnotatedSource,
    values: &ValueColumns<'r>,
    form: Form,
) -> Columns<'r, SourceRow<'r>> {
    let mut columns = Columns::new();
    columns.add("name", Kind::Text, |row: &SourceRow| &*row.function.name);
    columns.add("file", Kind::Text, |row| row.function.file.as_deref());
    let number = move |row: &SourceRow| match row.line.line {
        0 if form != Form::Csv => Cell::from("?"),
        number => i64::from(number).into(),
    };
    columns.add("line", Kind::Number, number).titled("LINE").asked(true);
    values.raw(&mut columns, Which::Own).titled("SELF").group(Which::Own.group());
    values.raw(&mut columns, Which::Total).titled("TOTAL").group(Which::Total.group());
    if source.header.base.is_none() {
        let wholes = Wholes::of(&source.header);
        add_shares(&mut columns, wholes, Which::Total.group(), |row: &SourceRow| row.values().total);
    }
    values.sides(&mut columns, &[Which::Total], &[Which::Total]);
    columns.add("text", Kind::Text, |row| row.line.text.as_deref());
    let text = |row: &SourceRow| {
        let text = row.line.text.as_deref().unwrap_or_default().replace('\t', "    ");
        Label::code(clean(&text))
    };
    columns.show("SOURCE", Kind::Name, text);
    columns.emphasis(|row| {
        let (own, whole) = (
            row.line.values.new.self_value.unsigned_abs(),
            row.function.values.new.self_value.unsigned_abs(),
        );
        if own != 0 && own * 2 >= whole { Emphasis::Strong } else { Emphasis::None }
    });
    columns
}

/// ` · self 0.17s, total 1.58s, 21.9%`
fn summary(
    function: &SourceFunction,
    values: &ValueColumns,
    source: &AnnotatedSource,
    style: &Style,
) -> String {
    let dot = style.glyphs.dot;
    let PairBySide { new, old, delta } = function.values;
    let [own, total] = [new.self_value, new.total].map(|value| values.scale.format(value));
    if let Some(delta) = delta {
        let delta = delta.total;
        let signed = |number: String| style.glyphs.signed(number);
        let change = signed(values.scale.format_signed(delta));
        let points = signed(unit::signed_share(delta, source.header.old_total()));
        return format!(
            "{}{dot}self {own}, total {total}, {change}, {points}",
            side_only(&source.header, new, old)
        );
    }
    format!("{dot}self {own}, total {total}, {}", unit::share(new.total, source.header.total))
}

/// A name, shortened so that the text after it fits on the line.
fn fitted(name: &str, rest: &str, style: &Style) -> String {
    let room = style.width.map(|width| width.saturating_sub(display_width(rest)).max(LEAST_TEXT));
    let name = room.map_or_else(|| name.to_string(), |room| fit(name, room, style.glyphs.ellipsis));
    format!("{name}{rest}")
}

/// A name gets at least this many columns.
const LEAST_TEXT: usize = 24;

/// The file that the lines are from, or where it was looked for.
fn where_from(function: &SourceFunction) -> Vec<Note> {
    match (&function.file, &function.origin) {
        (None, _) => vec![Note::faint("the profile does not name the source file")],
        (Some(_), Origin::Found(path)) => vec![Note::faint(clean(path))],
        // Without a line that has a value, the text of the file would not help.
        (Some(file), Origin::Missing(_)) if function.lines.iter().all(|line| line.line == 0) => {
            vec![Note::faint(clean(file))]
        }
        (Some(file), Origin::Missing(places)) => {
            if let Some(OtherFile { path, lacks_line, .. }) = &function.another {
                let [path, file] = [path, &**file].map(clean);
                let hint = format!(
                    "{path} has no line {lacks_line}, so it is another file or version; recorded as {file}; use --source-path DIR to say where the sources are"
                );
                return vec![Note::faint(hint)];
            }
            let hint = "file not found; use --source-path DIR to say where the sources are";
            let places = places.iter().map(|place| format!("  looked for {}", clean(place)));
            std::iter::once(format!("{}: {hint}", clean(file))).chain(places).map(Note::faint).collect()
        }
    }
}
