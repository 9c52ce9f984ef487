//! The rows of a comparison.

use crate::output::diff::words::{self, PerRun};
use crate::output::table::{Columns, Emphasis, Form, Kind, Rank, Table};
use crate::report::{Diff, DiffRow, Moved, RowVerdict};
use crate::unit;

/// One row per function: how much more it costs, and the evidence. Names for people are not in it: text gives those that
/// do not fit a line of their own, and Markdown shows them as code.
pub(in crate::output) fn table<'r>(
    diff: &'r Diff,
    rows: Vec<&'r DiffRow>,
    form: Form,
    per_run: PerRun<'r>,
) -> Table<'r> {
    let mut columns = Columns::new();
    add_keys(&mut columns, |row: &&'r DiffRow| *row);
    let word = |row: &&DiffRow| {
        let indent = if row.verdict == RowVerdict::Inherits { "  " } else { "" };
        format!("{indent}{}", words::verdict(row))
    };
    columns.show("", Kind::Key, word);
    columns.show("COST", Kind::Word, |row| words::cost(row));
    columns.show("95% CI", Kind::Word, |row| words::interval(row)).rank(Rank::Interval);
    // What was recorded is always shown, in its unit; shares of it only where the width allows.
    if form == Form::Text || !words::is_per_run(diff) {
        columns.show("OLD%", Kind::Word, |row| words::old_share(diff, row)).rank(Rank::OtherForm);
        columns.show("NEW%", Kind::Word, |row| words::new_share(diff, row)).rank(Rank::OtherForm);
    }
    let [old, new] = [per_run.clone(), per_run.clone()];
    columns.show("OLD", Kind::Word, move |row| old.old(row));
    columns.show("NEW", Kind::Word, move |row| new.new_side(row));
    columns.show("Δ", Kind::Word, move |row| per_run.change(row.points)).rank(Rank::Points);
    columns.show("q", Kind::Word, |row| words::q(row)).rank(Rank::Probability);
    if form == Form::Text && rows.iter().any(|row| row.samples.is_some()) {
        columns.show("SAMPLES", Kind::Word, |row| samples(row)).rank(Rank::Samples);
    }
    columns.emphasis(|row| match row.verdict {
        RowVerdict::Regressed => Emphasis::Strong,
        RowVerdict::Unchanged => Emphasis::Faint,
        _ => Emphasis::None,
    });
    columns.table(form, &[], move || rows.clone().into_iter(), [])
}

/// What programs get of the row of a comparison.
pub(super) fn add_keys<'r, R: 'r>(columns: &mut Columns<'r, R>, of: impl Fn(&R) -> &'r DiffRow + Copy + 'r) {
    columns.add("name", Kind::Name, move |row: &R| &*of(row).name);
    columns.add("file", Kind::Text, move |row| of(row).file.as_deref());
    columns.add("old.self", Kind::Number, move |row| of(row).old.self_value);
    columns.add("old.total", Kind::Number, move |row| of(row).old.total);
    columns.add("new.self", Kind::Number, move |row| of(row).new.self_value);
    columns.add("new.total", Kind::Number, move |row| of(row).new.total);
    columns.add("delta.self", Kind::Number, move |row| of(row).delta.self_value);
    columns.add("delta.total", Kind::Number, move |row| of(row).delta.total);
    columns.add("test", Kind::Word, move |row| of(row).test.word());
    columns.add("ratio", Kind::Number, move |row| of(row).ratio);
    columns.add("ratio_low", Kind::Number, move |row| of(row).ratio_low);
    columns.add("ratio_high", Kind::Number, move |row| of(row).ratio_high);
    columns.add("points", Kind::Number, move |row| of(row).points);
    columns.add("p", Kind::Number, move |row| of(row).p);
    columns.add("q", Kind::Number, move |row| of(row).q);
    columns.add("verdict", Kind::Word, move |row| of(row).verdict.word());
    columns.add("line", Kind::Number, move |row| of(row).line.map(i64::from));
    columns.add("samples.old", Kind::Number, move |row| of(row).samples.map(|both| both.old));
    columns.add("samples.new", Kind::Number, move |row| of(row).samples.map(|both| both.new));
    columns.add("tested", Kind::Flag, move |row| of(row).tested);
    columns.add("moved", Kind::Text, move |row| {
        matches!(of(row).moved, Some(Moved::Elsewhere)).then_some("elsewhere")
    });
    columns.add("moved.from", Kind::Text, move |row| match &of(row).moved {
        Some(Moved::From(name)) => Some(&**name),
        _ => None,
    });
    columns.add("moved.below", Kind::Text, move |row| match &of(row).moved {
        Some(Moved::Below(name) | Moved::OutOf(name)) => Some(&**name),
        _ => None,
    });
    columns.add("moved.into", Kind::Text, move |row| match &of(row).moved {
        Some(Moved::Into(name)) => Some(&**name),
        _ => None,
    });
    columns.add("moved.to", Kind::Text, move |row| match &of(row).moved {
        Some(Moved::To(name)) => Some(&**name),
        _ => None,
    });
}

/// `1,204 → 1,377`
fn samples(row: &DiffRow) -> Option<String> {
    let count = |value: f64| unit::group_thousands(value.round() as i128);
    row.samples.map(|both| format!("{} → {}", count(both.old), count(both.new)))
}
