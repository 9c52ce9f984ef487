//! The table of profile types as text.

use crate::output::text::Style;
use crate::output::text::table::{Emphasis, TextLine, TextTable, wrap};
use crate::report::{TypeRow, Types};

/// The table, or what there is to say about the types asked for by name.
pub(super) fn lines(types: &Types, style: &Style) -> Vec<TextLine> {
    if types.name.is_some() {
        return types.types.iter().flat_map(|row| explained(row, style)).collect();
    }
    let mut lines = match types.language {
        Some(_) => of_one_language(types, style),
        None => of_all(types, style),
    };
    lines.push(TextLine::new(
        "prof types NAME explains when to use a type, and what a wide block in its flame graph means",
        Emphasis::Faint,
    ));
    lines
}

/// What a wide block means, for the types of one language.
fn of_one_language(types: &Types, style: &Style) -> Vec<TextLine> {
    let row = |row: &TypeRow| vec![row.name.to_string(), row.unit.to_string()];
    let widths: Vec<&str> =
        types.types.iter().map(|row| row.width.trim_start_matches("a wide block ")).collect();
    let rows = types.types.iter().map(row).zip(widths).collect();
    TextTable::explained(&["TYPE", "UNIT", "A WIDE BLOCK (FLAME GRAPH)"], rows, style.width).lines()
}

/// A column a language; where these do not fit, the languages are listed.
fn of_all(types: &Types, style: &Style) -> Vec<TextLine> {
    let mut languages: Vec<&str> = Vec::new();
    for row in &types.types {
        for language in row.languages {
            if !languages.contains(language) {
                languages.push(language);
            }
        }
    }
    let titles: Vec<&str> =
        ["TYPE", "UNIT"].into_iter().chain(languages.iter().copied()).chain([""]).collect();
    let mark = |row: &TypeRow, language: &&str| {
        if row.languages.contains(language) { style.glyphs.default.to_string() } else { String::new() }
    };
    let cells = |row: &TypeRow| -> Vec<String> {
        let named = [row.name, row.unit].map(String::from);
        named.into_iter().chain(languages.iter().map(|language| mark(row, language))).collect()
    };
    let rows: Vec<Vec<String>> = types.types.iter().map(cells).collect();
    if TextTable::width_of_numbers(&titles, &rows) <= style.layout_width() {
        let mut columns = TextTable::new(titles).first_left();
        for row in rows {
            columns.row(row, String::new(), Emphasis::None);
        }
        return columns.lines();
    }
    let mut columns = TextTable::new(["TYPE", "UNIT", "RECORDED FOR"]).first_left();
    for row in &types.types {
        let all = row.languages.len() == languages.len();
        let recorded = if all { "all".to_string() } else { row.languages.join(", ") };
        columns.row(vec![row.name.to_string(), row.unit.to_string()], recorded, Emphasis::None);
    }
    columns.lines()
}

fn explained(row: &TypeRow, style: &Style) -> Vec<TextLine> {
    let mut title = format!("{}{}{}", row.name, style.glyphs.dot, row.unit);
    if let Some(companion) = row.companion {
        title.push_str(&format!("{}companion {companion}", style.glyphs.dot));
    }
    let sentences = [
        (row.measures.to_string(), Emphasis::None),
        (row.when.to_string(), Emphasis::None),
        (format!("{}.", capitalized(&row.width)), Emphasis::None),
        (format!("Recorded for {}.", row.languages.join(", ")), Emphasis::Faint),
    ];
    let wrapped = sentences.into_iter().flat_map(|(sentence, emphasis)| {
        wrap(&sentence, style.layout_width()).into_iter().map(move |line| TextLine::new(line, emphasis))
    });
    std::iter::once(TextLine::new(title, Emphasis::Bold)).chain(wrapped).collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
