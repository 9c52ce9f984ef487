//! Comparisons with a baseline: new value, old value and change in adjacent columns.

use crate::name::{display_width, fit};
use crate::output::headline;
use crate::output::text::Style;
use crate::output::text::header;
use crate::output::text::layout::{LEAST_NAME, Layout};
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{Base, Header, Pair, Top, TopRow, Values};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The line of the old side: `base main.pb.gz · cpu 82.10s in 40.70s · rescaled × 1.050 (core)`.
pub(super) fn base_line(header: &Header, style: &Style) -> Result<Option<TextLine>, IncompatibleUnits> {
    let Some(base) = &header.base else { return Ok(None) };
    let scale = header::scale(&header.metric, header.total.max(base.total), style)?;
    let dot = style.glyphs.dot;
    let parts = headline::base(header, &scale.format(base.total));
    let rest = style.glyphs.plain(&parts.join(dot)).into_owned();
    let inputs = headline::base_inputs(header);
    let inputs = match style.width {
        Some(width) => {
            let taken = BASE.len() + display_width(dot) + display_width(&rest);
            header::shorten(&inputs, width.saturating_sub(taken).max(LEAST_NAME), style)
        }
        None => inputs,
    };
    Ok(Some(TextLine::new(format!("{BASE}{inputs}{dot}{rest}"), Emphasis::None)))
}

/// The word before the inputs of the old side.
const BASE: &str = "base ";

/// Titles of the columns of one value: its new, its old, what changed, and that in percent of the old
/// total.
pub(super) fn titles(value: &str, style: &Style) -> Vec<String> {
    [value, "OLD", "Δ", "Δ%"].iter().map(|title| style.glyphs.plain(title).into_owned()).collect()
}

/// Cells of one value.
pub(super) fn cells(scale: &Scale, base: &Base, new: i64, old: i64, style: &Style) -> Vec<String> {
    let delta = new - old;
    vec![
        scale.format(new),
        scale.format(old),
        style.glyphs.signed(scale.format_signed(delta)),
        style.glyphs.signed(unit::signed_share(delta, base.total)),
    ]
}

/// The flat view of two sides.
pub(super) fn top(top: &Top, base: &Base, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let header = &top.header;
    let scale = header::scale(&header.metric, header.shown.max(base.total), style)?;
    let names = DisplayNames::of(&top.header, top.rows.iter().map(|row| &row.name), style);
    let titles: Vec<String> = [titles("SELF", style), titles("TOTAL", style)].concat();
    let noun = header.by.one.to_uppercase();
    let mut rows: Vec<(Vec<String>, String, &str, Emphasis)> = Vec::new();
    for row in &top.rows {
        let old = old(&row.values);
        let numbers = [
            cells(&scale, base, row.values.self_value, old.self_value, style),
            cells(&scale, base, row.values.total, old.total, style),
        ];
        let is_marked = header.is_highlighted(&row.name);
        let (mark, emphasis) =
            if is_marked { (style.glyphs.marked, Emphasis::Marked) } else { ("", Emphasis::None) };
        rows.push((
            numbers.concat(),
            format!("{mark}{}", name(row, &names)),
            side_only(&row.values),
            emphasis,
        ));
    }
    for (new, old, label) in closing(top, style) {
        let mut numbers = cells(&scale, base, new, old, style);
        numbers.extend(vec![String::new(); 4]);
        rows.push((numbers, label, "", Emphasis::Faint));
    }
    let all: Vec<Vec<String>> = rows.iter().map(|(numbers, ..)| numbers.clone()).collect();
    let layout = Layout::new(&titles, &Grid::new(&titles, &all), &[], style);
    let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([noun]));
    for (numbers, label, side, emphasis) in rows {
        let room = layout.room.map(|room| room.saturating_sub(side.len()));
        let label = room.map_or_else(|| label.clone(), |room| fit(&label, room, style.glyphs.ellipsis));
        columns.row(layout.keep(numbers), label + side, emphasis);
    }
    let mut lines = columns.lines();
    lines.extend(layout.note());
    let note = header::highlight_note(header, &scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

/// The old side of a row.
pub(super) fn old(values: &Values) -> Pair {
    values.old.unwrap_or_default()
}

/// The suffix of a name that is on one side only: ` (new)` or ` (removed)`.
pub(super) fn side_only(values: &Values) -> &'static str {
    on_one_side(Pair { self_value: values.self_value, total: values.total }, old(values))
}

/// The suffix of a name with these values on the new and the old side.
pub(super) fn on_one_side(new: Pair, old: Pair) -> &'static str {
    match ((new.self_value, new.total), (old.self_value, old.total)) {
        ((0, 0), _) => " (removed)",
        (_, (0, 0)) => " (new)",
        _ => "",
    }
}

fn name(row: &TopRow, names: &DisplayNames) -> String {
    let mut name = names.get(&row.name).to_string();
    if row.files > 1 {
        name.push_str(&format!(" ({} files)", row.files));
    }
    name
}

/// What was cut, the samples without a stack, and the sum of all: new and old.
fn closing(top: &Top, style: &Style) -> Vec<(i64, i64, String)> {
    let header = &top.header;
    let old_no_stack = header.old_no_stack();
    let shown_new: i64 = top.rows.iter().map(|row| row.values.self_value).sum();
    let shown_old: i64 = top.rows.iter().map(|row| old(&row.values).self_value).sum();
    let mut rows = Vec::new();
    if header.elided_rows > 0 {
        let noun = header.by.noun(header.elided_rows);
        let count = unit::group_thousands(header.elided_rows.into());
        let label = format!("{} {count} more {noun}", style.glyphs.ellipsis);
        rows.push((header.elided, header.old_sum() - shown_old - old_no_stack, label));
    }
    if header.no_stack != 0 || old_no_stack != 0 {
        rows.push((header.no_stack, old_no_stack, "(no stack)".to_string()));
    }
    let label = if header.filters.is_empty() { "all" } else { "all shown" };
    rows.push((shown_new + header.elided + header.no_stack, header.old_sum(), label.to_string()));
    rows
}
