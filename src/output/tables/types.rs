//! The table of profile types, or what there is to say about one of them.

use crate::name::display_width;
use crate::output::style::Style;
use crate::output::table::{Columns, Form, Kind, Note, Table, wrapped};
use crate::report::{TypeRow, Types};

/// All types, those of one language, or the types asked for by name.
pub(super) fn table<'r>(types: &'r Types, form: Form, style: &'r Style) -> Table<'r> {
    if types.name.is_some() && form == Form::Text {
        return Table::of_notes(types.types.iter().flat_map(|row| explained(row, style)).collect());
    }
    let mut columns = Columns::new();
    columns.add("name", Kind::Key, |row: &&TypeRow| row.name).titled("TYPE");
    columns.add("unit", Kind::Word, |row| row.unit).titled("UNIT");
    let companion = columns.add("companion", Kind::Word, |row| row.companion);
    if form == Form::Markdown {
        companion.titled("COMPANION");
    }
    let recorded = languages(types);
    let is_wide = types.language.is_none() && form == Form::Text && fit(types, &recorded, style);
    let all = recorded.len();
    let languages = columns.add("languages", Kind::Prose, move |row| match form {
        Form::Text if row.languages.len() == all => "all".to_string(),
        _ => row.languages.join(", "),
    });
    if !is_wide && types.language.is_none() {
        languages.titled("RECORDED FOR");
    }
    for language in recorded.into_iter().filter(|_| is_wide) {
        let mark = move |row: &&TypeRow| row.languages.contains(&language).then_some(style.glyphs.default);
        columns.show(language, Kind::Word, mark);
    }
    let when = columns.add("when", Kind::Prose, |row| row.when);
    if form == Form::Markdown {
        when.titled("WHEN TO USE IT");
    }
    let width = columns.add("width", Kind::Prose, move |row| match form {
        Form::Csv => &*row.width,
        _ => row.width.trim_start_matches("a wide function "),
    });
    if form == Form::Markdown || types.language.is_some() {
        width.titled("A WIDE FUNCTION (FLAME GRAPH)");
    }
    columns.add("measures", Kind::Prose, |row| row.measures);
    let mut table = columns.table(form, &[], || types.types.iter(), []);
    if form == Form::Text {
        table.below.push(Note::faint(
            "prof types NAME explains when to use a type, and what a wide function in its flame graph means",
        ));
    }
    table
}

/// The languages that types are recorded for, in the order of their first mention.
fn languages(types: &Types) -> Vec<&'static str> {
    let mut languages: Vec<&str> = Vec::new();
    for language in types.types.iter().flat_map(|row| row.languages) {
        if !languages.contains(language) {
            languages.push(language);
        }
    }
    languages
}

/// Whether a column per language fits; else the languages are listed.
fn fit(types: &Types, languages: &[&str], style: &Style) -> bool {
    let widest = |text: fn(&TypeRow) -> &str, title: &str| {
        types.types.iter().map(text).chain([title]).map(display_width).max().unwrap_or(0) + 2
    };
    let names = widest(|row| row.name, "TYPE") + widest(|row| row.unit, "UNIT");
    names + languages.iter().map(|language| display_width(language) + 2).sum::<usize>()
        <= style.layout_width()
}

fn explained(row: &TypeRow, style: &Style) -> Vec<Note> {
    let mut title = format!("{}{}{}", row.name, style.glyphs.dot, row.unit);
    if let Some(companion) = row.companion {
        title.push_str(&format!("{}companion {companion}", style.glyphs.dot));
    }
    let sentences = [
        Note::plain(row.measures),
        Note::plain(row.when),
        Note::plain(format!("{}.", capitalized(&row.width))),
        Note::faint(format!("Recorded for {}.", row.languages.join(", "))),
    ];
    std::iter::once(Note::title(title)).chain(wrapped(sentences, style)).collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
