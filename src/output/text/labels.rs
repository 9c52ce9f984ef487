//! Labels as text: a line a key, its values below.

use crate::name::{clean, fit};
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line};
use crate::output::text::header;
use crate::report::{LabelKey, LabelShare, LabelText, Labels};
use crate::unit::{self, IncompatibleUnits, Unit};

/// The header, the keys and their values.
pub(super) fn lines(labels: &Labels, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let mut lines = header::lines(&labels.header, style)?;
    if labels.keys.is_empty() {
        lines.push(Line::new("no sample carries a label", Emphasis::Faint));
        return Ok(lines);
    }
    let scale = header::scale(&labels.header.metric, labels.header.shown, style)?;
    let numbers = |total: i64| vec![scale.format(total), unit::share(total, labels.header.total)];
    let mut columns = Columns::new(["TOTAL", "%", "LABEL"]);
    let width = style.width.map(|width| width.saturating_sub(TAKEN).max(LEAST_NAME));
    for key in &labels.keys {
        columns.row(numbers(key.total), name(&clean(&key.key), width, style), Emphasis::Strong);
        for (text, total, emphasis) in below(key, style) {
            columns.row(numbers(total), name(&text, width, style), emphasis);
        }
    }
    lines.extend(columns.lines());
    Ok(lines)
}

/// Columns that the numbers take at most.
const TAKEN: usize = 24;
/// Names get at least this many columns.
const LEAST_NAME: usize = 16;

fn name(text: &str, width: Option<usize>, style: &Style) -> String {
    match width {
        Some(width) => fit(text, width, style.glyphs.ellipsis),
        None => text.to_string(),
    }
}

/// The lines below a key: its values, and what was cut.
fn below(key: &LabelKey, style: &Style) -> Vec<(String, i64, Emphasis)> {
    let (cut, cut_total) = key.cut;
    let branch = |last: bool| if last { style.glyphs.last } else { style.glyphs.branch };
    let count = key.values.len();
    let line = |(index, value): (usize, &LabelShare)| {
        let last = index + 1 == count && cut == 0;
        (format!("{}{}", branch(last), value_text(value)), value.total, Emphasis::None)
    };
    let mut lines: Vec<_> = key.values.iter().enumerate().map(line).collect();
    if cut > 0 {
        let cut = unit::group_thousands(cut.into());
        let text = format!("{}{} {cut} more", branch(true), style.glyphs.ellipsis);
        lines.push((text, cut_total, Emphasis::Faint));
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
