//! Labels as text: one line per key, its values below.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{LabelKey, LabelShare, LabelText, Labels};
use crate::unit::{self, IncompatibleUnits, Unit};

/// The header, the keys and their values.
pub(super) fn lines(labels: &Labels, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&labels.header, style)?;
    if labels.keys.is_empty() {
        lines.push(TextLine::new("no sample has a label", Emphasis::Faint));
        return Ok(lines);
    }
    let header = &labels.header;
    let scale = header::scale(&header.metric, header.shown.max(header.old_sum()), style)?;
    let titles = match &header.base {
        Some(_) => comparison::titles("TOTAL", style),
        None => ["TOTAL", "%"].map(str::to_string).to_vec(),
    };
    let mut rows: Vec<(Vec<String>, String, Emphasis)> = Vec::new();
    for key in &labels.keys {
        let own = (clean(&key.key).into_owned(), key.total, key.old, Emphasis::Strong);
        for (text, total, old, emphasis) in [own].into_iter().chain(below(key, style)) {
            let numbers = match &header.base {
                Some(base) => comparison::cells(&scale, base, total, old.unwrap_or(0), style),
                None => vec![scale.format(total), unit::share(total, header.total)],
            };
            rows.push((numbers, text, emphasis));
        }
    }
    let all: Vec<Vec<String>> = rows.iter().map(|(numbers, ..)| numbers.clone()).collect();
    let layout = Layout::new(&titles, &Grid::new(&titles, &all), &[], style);
    let mut columns = TextTable::new(layout.keep(titles).into_iter().chain(["LABEL".to_string()]));
    for (numbers, text, emphasis) in rows {
        columns.row(layout.keep(numbers), name(&text, layout.room, style), emphasis);
    }
    lines.extend(columns.lines());
    lines.extend(layout.note());
    let note = header::highlight_note(header, &scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

fn name(text: &str, width: Option<usize>, style: &Style) -> String {
    match width {
        Some(width) => fit(text, width, style.glyphs.ellipsis),
        None => text.to_string(),
    }
}

/// Text, new and old value of a line.
type LabelLine = (String, i64, Option<i64>, Emphasis);

/// The lines below a key: its values, and what was cut.
fn below(key: &LabelKey, style: &Style) -> Vec<LabelLine> {
    let cut = key.cut.rows;
    let branch = |last: bool| if last { style.glyphs.last } else { style.glyphs.branch };
    let count = key.values.len();
    let line = |(index, value): (usize, &LabelShare)| {
        let last = index + 1 == count && cut == 0;
        let side = match (value.total, value.old) {
            (0, Some(_)) => " (removed)",
            (_, Some(0)) => " (new)",
            _ => "",
        };
        let text = format!("{}{}{side}", branch(last), value_text(value));
        (text, value.total, value.old, Emphasis::None)
    };
    let mut lines: Vec<_> = key.values.iter().enumerate().map(line).collect();
    if cut > 0 {
        let cut = unit::group_thousands(cut.into());
        let text = format!("{}{} {cut} more", branch(true), style.glyphs.ellipsis);
        lines.push((text, key.cut.value, key.cut.old, Emphasis::Faint));
    }
    lines
}

fn value_text(share: &LabelShare) -> String {
    match (&share.value, &share.unit) {
        (LabelText::Text(text), _) => clean(text).into_owned(),
        (LabelText::Number(number), Some(unit)) => unit::human_short(*number, &Unit::parse(unit), 1),
        (LabelText::Number(number), None) => number.to_string(),
    }
}
