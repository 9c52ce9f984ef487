//! The table of `labels --outliers`: one row per value of the label and function.

use crate::name::clean;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::style::Style;
use crate::output::table::{Cell, Columns, Emphasis, Form, Kind, Note, Rank, Table, wrapped};
use crate::output::tables::labels::value_text;
use crate::report::{LabelText, OutlierRow, Outliers, PartOfWhole};
use crate::unit::{group_thousands, plural, probability, ratio, significance};

pub(in crate::output) fn table<'r>(found: &'r Outliers, form: Form, style: &'r Style) -> Table<'r> {
    let names = DisplayNames::new(found.rows.iter().map(|row| &row.name), style);
    let mut columns = Columns::new();
    add_keys(&mut columns);
    columns.show(clean(&found.key).to_uppercase(), Kind::Word, |row: &&OutlierRow| {
        value_text(&found.key, &row.value, row.unit.as_deref())
    });
    columns.show("SHARE", Kind::Share, |row| share(row.inside));
    columns.show("OTHERS", Kind::Share, |row| share(row.outside));
    columns.show("COST", Kind::Word, |row| cost(row));
    columns.show("q", Kind::Word, |row| probability(row.q)).rank(Rank::Probability);
    columns.show("", Kind::Word, |row| row.test.word());
    let title = found.header.by.title();
    columns.show(title, Kind::Name, move |row| Label::new(names.get(&row.name)));
    columns.emphasis(
        |row| {
            if found.header.is_highlighted(&row.name) { Emphasis::Marked } else { Emphasis::None }
        },
    );
    let notes: Vec<Note> = notes(found, style).into_iter().map(Note::plain).collect();
    let notes = if form == Form::Text { wrapped(notes, style) } else { notes };
    if found.rows.is_empty() && form != Form::Csv {
        return Table::of_notes(notes);
    }
    let mut table = columns.table(form, &[], || found.rows.iter(), []);
    table.below = notes;
    table.below.insert(0, Note::default());
    table
}

/// What programs get of a row.
fn add_keys<'r>(columns: &mut Columns<'r, &'r OutlierRow>) {
    columns.add("value", Kind::Text, |row: &&'r OutlierRow| match &row.value {
        LabelText::Text(text) => Cell::from(&**text),
        LabelText::Number(number) => Cell::Number(*number),
    });
    columns.add("unit", Kind::Text, |row: &&'r OutlierRow| row.unit.as_deref());
    columns.add("name", Kind::Name, |row: &&'r OutlierRow| &*row.name);
    columns.add("file", Kind::Text, |row: &&'r OutlierRow| row.file.as_deref());
    columns.add("test", Kind::Word, |row| row.test.word());
    columns.add("inside.part", Kind::Number, |row| row.inside.part);
    columns.add("inside.whole", Kind::Number, |row| row.inside.whole);
    columns.add("outside.part", Kind::Number, |row| row.outside.part);
    columns.add("outside.whole", Kind::Number, |row| row.outside.whole);
    columns.add("ratio", Kind::Number, |row| row.ratio);
    columns.add("ratio_low", Kind::Number, |row| row.ratio_low);
    columns.add("ratio_high", Kind::Number, |row| row.ratio_high);
    columns.add("p", Kind::Number, |row| row.p);
    columns.add("q", Kind::Number, |row| row.q);
}

fn share(PartOfWhole { part, whole }: PartOfWhole) -> Cell<'static> {
    Cell::Share { part, whole }
}

/// `×4.00`, or that only one side has the function.
pub(in crate::output) fn cost(row: &OutlierRow) -> String {
    match row.ratio {
        _ if row.inside.part == 0 => "not here".to_string(),
        Some(value) => ratio(value),
        None => "only here".to_string(),
    }
}

/// The result, and what limits it.
pub(in crate::output) fn notes(found: &Outliers, style: &Style) -> Vec<String> {
    let key = clean(&found.key);
    let count = |count: usize| group_thousands(count as i128);
    let more = found.header.elided_rows;
    let mut notes = Vec::new();
    if more > 0 {
        let rows = plural(more, "difference", "differences");
        notes.push(format!("{} {} more {rows}", style.glyphs.ellipsis, group_thousands(more.into())));
    }
    if !found.rows.is_empty() {
        notes.push(
            "SHARE and OTHERS: of the samples with this value, and with other values; COST: relative to the functions \
             that do not differ"
                .to_string(),
        );
    }
    notes.push(result(found, &key));
    if found.values == 2 && found.skipped == 0 && found.untestable.is_none() {
        notes.push("of two values, the lighter one is compared with the other".to_string());
    }
    if found.skipped > 0 && found.values > 0 {
        let values = plural(found.skipped as u64, "value is", "values are");
        notes.push(format!(
            "{} further {values} too light to test; their samples count among the others",
            count(found.skipped)
        ));
    }
    notes
}

/// `1 value of region differs from the others (4 values, 17 functions tested) · alpha 1% for all together`
fn result(found: &Outliers, key: &str) -> String {
    if let Some(why) = &found.untestable {
        return format!("cannot test which values of {key} differ: {why}");
    }
    match (found.values, found.skipped) {
        (0, _) => return format!("no value of {key} has enough samples for a test"),
        (1, 0) => return format!("{key} has only one value, so there are no others to compare it with"),
        _ => {}
    }
    let tested = format!(
        "({} {}, {} {} tested) · alpha {} for all together",
        group_thousands(found.values as i128),
        plural(found.values as u64, "value", "values"),
        group_thousands(found.tested as i128),
        found.header.by.noun(found.tested as u64),
        significance(found.alpha)
    );
    match found.differing {
        0 => format!("no value of {key} differs from the others by more than noise {tested}"),
        1 => format!("1 value of {key} differs from the others {tested}"),
        several => {
            format!("{} values of {key} differ from the others {tested}", group_thousands(several as i128))
        }
    }
}
