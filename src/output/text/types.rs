//! The table of profile types as text.

use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line};
use crate::report::{TypeRow, Types};

/// The table, or what there is to say about the types asked for by name.
pub(super) fn lines(types: &Types, style: &Style) -> Vec<Line> {
    if types.one {
        return types.types.iter().flat_map(|row| explained(row, style)).collect();
    }
    let mut languages: Vec<&str> = Vec::new();
    for row in &types.types {
        for language in row.languages {
            if !languages.contains(language) {
                languages.push(language);
            }
        }
    }
    let titles = ["TYPE", "UNIT"].into_iter().chain(languages.iter().copied()).chain([""]);
    let mut columns = Columns::new(titles).first_left();
    for row in &types.types {
        let mark = |language: &&str| {
            if row.languages.contains(language) { style.glyphs.default.to_string() } else { String::new() }
        };
        let cells =
            [row.name, row.unit].map(String::from).into_iter().chain(languages.iter().map(mark)).collect();
        columns.row(cells, String::new(), Emphasis::None);
    }
    let mut lines = columns.lines();
    lines.push(Line::new(
        "prof types NAME says when to use one and what a wide block of it means",
        Emphasis::Faint,
    ));
    lines
}

fn explained(row: &TypeRow, style: &Style) -> Vec<Line> {
    let mut title = format!("{}{}{}", row.name, style.glyphs.dot, row.unit);
    if let Some(companion) = row.companion {
        title.push_str(&format!("{}companion {companion}", style.glyphs.dot));
    }
    vec![
        Line::new(title, Emphasis::Bold),
        Line::new(row.measures, Emphasis::None),
        Line::new(row.when, Emphasis::None),
        Line::new(format!("{}.", capitalized(&row.width)), Emphasis::None),
        Line::new(format!("Recorded for {}.", row.languages.join(", ")), Emphasis::Faint),
    ]
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
