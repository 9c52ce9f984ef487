//! Label keys, and below each its values.

use crate::name::clean;
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::style::Style;
use crate::output::table::{Cell, Columns, Emphasis, Form, Group, Kind, Note, Table};
use crate::output::tables::values::{
    HasValues, RowSides, ValueColumns, Which, Wholes, add_shares, side_only,
};
use crate::report::{LabelKey, LabelShare, LabelText, Labels};
use crate::unit;

/// A key, one of its values, or what was cut of these.
#[derive(Clone)]
struct LabelLine<'r> {
    key: &'r LabelKey,
    share: Option<&'r LabelShare>,
    total: i64,
    old: Option<i64>,
    /// What people see: branches, and the text after them.
    branch: &'static str,
    text: String,
    emphasis: Emphasis,
}

impl HasValues for LabelLine<'_> {
    fn sides(&self) -> RowSides {
        RowSides::of_total(self.total, self.old)
    }
}

/// One line per key, its values below.
pub(super) fn table<'r>(labels: &'r Labels, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let header = &labels.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    if labels.keys.is_empty() && form != Form::Csv {
        return Ok(Table::of_notes(vec![Note::faint("no sample has a label")]));
    }
    let mut columns = Columns::new();
    columns.add("key", Kind::Text, |line: &LabelLine| &*line.key.key);
    columns.add("value", Kind::Text, |line| match &line.share?.value {
        LabelText::Text(text) => Some(Cell::from(&**text)),
        LabelText::Number(number) => Some(Cell::Number(*number)),
    });
    columns.add("unit", Kind::Text, |line| line.share?.unit.as_deref());
    values.raw(&mut columns, Which::Total).titled("TOTAL");
    if header.base.is_none() {
        let total = |line: &LabelLine| Some(line.total);
        add_shares(&mut columns, Wholes::of(header), Group::Always, total);
    }
    values.side(&mut columns, Which::Total);
    let label = |line: &LabelLine| {
        let side = line.share.map_or("", |share| side_only(header, share.total, line.old));
        Label::new(line.text.clone()).prefix(line.branch).suffix(side)
    };
    columns.show("LABEL", Kind::Name, label);
    columns.emphasis(|line| line.emphasis);
    let lines = move || labels.keys.iter().flat_map(move |key| lines(key, form, style));
    let mut table = columns.table(form, &[], lines, []);
    table.below.extend(values.highlight_note(style));
    Ok(table)
}

/// The line of a key, those of its values, and what was cut.
fn lines<'r>(key: &'r LabelKey, form: Form, style: &Style) -> Vec<LabelLine<'r>> {
    let glyphs = style.glyphs;
    let own = LabelLine {
        key,
        share: None,
        total: key.total,
        old: key.old,
        branch: "",
        text: clean(&key.key).into_owned(),
        emphasis: Emphasis::Strong,
    };
    let cut = key.cut.rows;
    let value = |(index, share): (usize, &'r LabelShare)| LabelLine {
        share: Some(share),
        total: share.total,
        old: share.old,
        branch: if index + 1 == key.values.len() && cut == 0 { glyphs.last } else { glyphs.branch },
        text: value_text(&key.key, &share.value, share.unit.as_deref()),
        emphasis: Emphasis::None,
        ..own.clone()
    };
    let values = key.values.iter().enumerate().map(value);
    if form == Form::Csv {
        return values.collect();
    }
    let rest = LabelLine {
        total: key.cut.value,
        old: key.cut.old,
        branch: glyphs.last,
        text: format!("{} {} more", glyphs.ellipsis, unit::group_thousands(cut.into())),
        emphasis: Emphasis::Faint,
        ..own.clone()
    };
    std::iter::once(own.clone()).chain(values).chain((cut > 0).then_some(rest)).collect()
}

/// A value with its unit.
pub(in crate::output) fn value_text(key: &str, value: &LabelText, unit: Option<&str>) -> String {
    match value {
        LabelText::Text(text) => clean(text).into_owned(),
        LabelText::Number(number) => unit::label_number(key, *number, unit.unwrap_or_default()),
    }
}
