//! Annotated source as text.

use crate::name::{clean, display_width, fit};
use crate::output::text::Style;
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable, cut};
use crate::report::{AnnotatedSource, Origin, Pair, SourceFunction, SourceLine};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, and each function with its lines.
pub(super) fn lines(source: &AnnotatedSource, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&source.header, style)?;
    let largest = source.header.shown.max(source.header.old_sum());
    let scale = header::scale(&source.header.metric, largest, style)?;
    let names =
        DisplayNames::of(&source.header, source.functions.iter().map(|function| &function.name), style);
    for function in &source.functions {
        let is_marked = source.header.is_highlighted(&function.name);
        let mark = if is_marked { style.glyphs.marked } else { "" };
        let name = format!("{mark}{}", names.get(&function.name));
        let emphasis = if is_marked { Emphasis::Marked } else { Emphasis::Bold };
        lines.push(TextLine::new(title(&name, function, source, &scale, style), emphasis));
        lines.extend(where_from(function));
        lines.extend(function_lines(function, source, &scale, style));
    }
    if source.header.elided_rows > 0 {
        let count = unit::group_thousands(source.header.elided_rows.into());
        lines.push(TextLine::new(
            format!("{} {count} more functions match", style.glyphs.ellipsis),
            Emphasis::Faint,
        ));
    }
    let note = header::highlight_note(&source.header, &scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

/// `catalog.(*Catalog).Search · self 0.17s, total 1.58s, 21.9%`
fn title(
    name: &str,
    function: &SourceFunction,
    source: &AnnotatedSource,
    scale: &Scale,
    style: &Style,
) -> String {
    let dot = style.glyphs.dot;
    let [own, total] = [function.self_value, function.total].map(|value| scale.format(value));
    if let (Some(base), Some(old)) = (&source.header.base, function.old) {
        let new = Pair { self_value: function.self_value, total: function.total };
        let delta = new.total - old.total;
        let signed = |number: String| style.glyphs.signed(number);
        let change = signed(scale.format_signed(delta));
        let points = signed(unit::signed_share(delta, base.total));
        let side = comparison::on_one_side(new, old);
        return fitted(name, &format!("{side}{dot}self {own}, total {total}, {change}, {points}"), style);
    }
    let share = unit::share(function.total, source.header.total);
    fitted(name, &format!("{dot}self {own}, total {total}, {share}"), style)
}

/// A name, shortened so that the text after it fits on the line.
fn fitted(name: &str, rest: &str, style: &Style) -> String {
    let room = style.width.map(|width| width.saturating_sub(display_width(rest)).max(LEAST_TEXT));
    let name = room.map_or_else(|| name.to_string(), |room| fit(name, room, style.glyphs.ellipsis));
    format!("{name}{rest}")
}

/// The file that the lines are from, or where it was looked for.
fn where_from(function: &SourceFunction) -> Vec<TextLine> {
    let missing = |text: String| vec![TextLine::new(text, Emphasis::Faint)];
    match (&function.file, &function.origin) {
        (None, _) => missing("the profile does not name the source file".to_string()),
        (Some(_), Origin::Found(path)) => missing(clean(path).into_owned()),
        (Some(file), Origin::Missing(places)) => {
            let mut lines = missing(format!(
                "{}: file not found; use --source-path DIR to say where the sources are",
                clean(file)
            ));
            lines.extend(
                places.iter().map(|p| TextLine::new(format!("  looked for {}", clean(p)), Emphasis::Faint)),
            );
            lines
        }
    }
}

fn function_lines(
    function: &SourceFunction,
    source: &AnnotatedSource,
    scale: &Scale,
    style: &Style,
) -> Vec<TextLine> {
    let titles = match &source.header.base {
        Some(_) => [comparison::titles("TOTAL", style), vec!["SELF".to_string()]].concat(),
        None => ["SELF", "TOTAL", "%"].map(str::to_string).to_vec(),
    };
    let titles: Vec<&str> = titles.iter().map(String::as_str).chain(["LINE"]).collect();
    let all: Vec<Vec<String>> =
        function.lines.iter().map(|line| numbers(line, source, scale, style)).collect();
    let layout = Layout::new(&titles, &Grid::new(&titles, &all), &["LINE"], style);
    let width = layout.room;
    let mut columns = TextTable::new(layout.keep(titles).into_iter().chain(["SOURCE"]));
    for (line, numbers) in function.lines.iter().zip(all) {
        let text = clean(&line.text.as_deref().unwrap_or_default().replace('\t', "    ")).into_owned();
        let text = width.map_or_else(|| text.clone(), |width| cut(&text, width, style.glyphs.ellipsis));
        let heavy =
            line.self_value != 0 && line.self_value.unsigned_abs() * 2 >= function.self_value.unsigned_abs();
        columns.row(layout.keep(numbers), text, if heavy { Emphasis::Strong } else { Emphasis::None });
    }
    let mut lines = columns.lines();
    lines.extend(layout.note());
    lines
}

/// A name gets at least this many columns.
const LEAST_TEXT: usize = 24;

fn numbers(line: &SourceLine, source: &AnnotatedSource, scale: &Scale, style: &Style) -> Vec<String> {
    let number = if line.line == 0 { "?".to_string() } else { line.line.to_string() };
    let old = line.old.unwrap_or_default();
    let has_value = (line.self_value, line.total) != (0, 0) || old != Pair::default();
    if let Some(base) = &source.header.base {
        if !has_value {
            return [vec![String::new(); 5], vec![number]].concat();
        }
        let mut cells = comparison::cells(scale, base, line.total, old.total, style);
        cells.extend([scale.format(line.self_value), number]);
        return cells;
    }
    if !has_value {
        return vec![String::new(), String::new(), String::new(), number];
    }
    let share = unit::share(line.total, source.header.total);
    vec![scale.format(line.self_value), scale.format(line.total), share, number]
}
