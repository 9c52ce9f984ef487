//! Decides for all views which columns of numbers a table keeps on a narrow terminal.

use crate::name::{display_width, fit};
use crate::output::text::Style;
use crate::output::text::table::{Emphasis, Grid, TextLine, cut, wrap};

/// The columns that are dropped first on a narrow terminal, in this order: shares follow from values, an old
/// value from the new one and the change. Columns not listed here are dropped last, from right to left; the
/// first column always stays.
const FIRST_TO_GO: [&str; 18] = [
    "%SHOWN",
    "OLD",
    "Δ%",
    "COMPANION",
    "UNIT",
    "RECORDED",
    "%FUNC",
    "%TOP",
    "%",
    "%ALL",
    "BYTES",
    "FORMAT",
    "DURATION",
    "SUM%",
    "CHILDREN",
    "CONTEXTS",
    "EVENTS",
    "PER CALL",
];

/// The minimum width of names: that of the title `FUNCTION → CALLEES`.
pub(super) const LEAST_NAME: usize = 18;

/// The columns of a table that fit the terminal, and the width left for names.
pub(super) struct Layout {
    keeps: Vec<bool>,
    /// The width of names; `None` if unlimited.
    pub(super) room: Option<usize>,
    left_out: Vec<String>,
    /// The terminal width that all columns need.
    wanted: usize,
}

impl Layout {
    /// Lays out columns with these titles and cells before the names. The columns titled `asked` are dropped
    /// last.
    pub(super) fn new(titles: &[impl AsRef<str>], grid: &Grid, asked: &[&str], style: &Style) -> Self {
        let titles: Vec<&str> = titles.iter().map(AsRef::as_ref).collect();
        let keeps = vec![true; titles.len()];
        let mut layout =
            Layout { keeps, room: None, left_out: Vec::new(), wanted: grid.width() + LEAST_NAME };
        let Some(width) = style.width else { return layout };
        let rank = |title: &str| {
            let is_asked = asked.contains(&title);
            let place = FIRST_TO_GO.iter().position(|first| style.glyphs.plain(first) == title);
            (is_asked, place.unwrap_or(FIRST_TO_GO.len()))
        };
        let taken = |layout: &Layout| grid.width_of(|index| layout.keeps[index]);
        while taken(&layout) + LEAST_NAME > width {
            let left = (1..titles.len()).rev().filter(|&index| layout.keeps[index]);
            let Some(next) = left.min_by_key(|&index| rank(titles[index])) else { break };
            layout.drop(next, &titles);
        }
        layout.room = Some(width.saturating_sub(taken(&layout)).max(LEAST_NAME));
        layout
    }

    /// Drops a column and all others with its title, so that the note can refer to them by title.
    fn drop(&mut self, column: usize, titles: &[&str]) {
        let is_named = FIRST_TO_GO.contains(&titles[column]);
        for (index, title) in titles.iter().enumerate().skip(1) {
            self.keeps[index] &= index != column && !(is_named && *title == titles[column]);
        }
        self.left_out.push(titles[column].to_string());
    }

    /// The widths of the columns that are kept.
    pub(super) fn grid(&self, grid: &Grid) -> Grid {
        grid.of(&self.keeps)
    }

    /// The cells of a row, or its titles, without those of columns that do not fit.
    pub(super) fn keep<T>(&self, cells: Vec<T>) -> Vec<T> {
        cells.into_iter().zip(&self.keeps).filter(|(_, keeps)| **keeps).map(|(cell, _)| cell).collect()
    }

    /// The note that lists the columns that do not fit.
    pub(super) fn note(&self) -> Option<TextLine> {
        note(&self.left_out, self.wanted)
    }
}

/// `too narrow to show OLD, Δ%: 93 columns needed`
pub(super) fn note(left_out: &[String], wanted: usize) -> Option<TextLine> {
    let text = format!("too narrow to show {}: {wanted} columns needed", left_out.join(", "));
    (!left_out.is_empty()).then(|| TextLine::new(text, Emphasis::Faint))
}

/// Wraps a line of prose at the width of the terminal. A row of a table is already laid out: if it is still
/// too long, because of a title or of `… 1,064 more functions`, its end is cut.
pub(super) fn wrapped(line: TextLine, width: usize, ellipsis: &str) -> Vec<TextLine> {
    if display_width(line.text.trim_end()) <= width {
        return vec![line];
    }
    if line.is_row {
        return vec![TextLine::row(cut(&line.text, width, ellipsis), line.emphasis)];
    }
    let text = line.text.trim_start();
    let indent = &line.text[..line.text.len() - text.len()];
    let room = width.saturating_sub(indent.len()).max(1);
    wrap(text, room)
        .into_iter()
        .map(|text| TextLine::new(format!("{indent}{}", fit(&text, room, ellipsis)), line.emphasis))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(titles: &[&str], asked: &[&str], width: usize) -> (String, String) {
        // Every column takes eight columns and two blanks.
        let rows = vec![vec!["12345678".to_string(); titles.len()]];
        let style = Style { width: Some(width), ..Style::plain() };
        let layout = Layout::new(titles, &Grid::new(titles, &rows), asked, &style);
        let note = layout.note().map_or(String::new(), |line| line.text);
        (layout.keep(titles.to_vec()).join(" "), note)
    }

    #[test]
    fn columns_that_follow_from_others_are_dropped_first() {
        let both = ["SELF", "OLD", "Δ", "Δ%", "TOTAL", "OLD", "Δ", "Δ%"];
        let all = both.join(" ");
        for (width, want, note) in [
            (98, all.as_str(), ""),
            (97, "SELF Δ Δ% TOTAL Δ Δ%", "too narrow to show OLD: 98 columns needed"),
            (77, "SELF Δ TOTAL Δ", "too narrow to show OLD, Δ%: 98 columns needed"),
            (57, "SELF Δ TOTAL", "too narrow to show OLD, Δ%, Δ: 98 columns needed"),
            (10, "SELF", "too narrow to show OLD, Δ%, Δ, TOTAL, Δ: 98 columns needed"),
        ] {
            assert_eq!(kept(&both, &[], width), (want.to_string(), note.to_string()), "{width}");
        }
    }

    #[test]
    fn requested_columns_stay() {
        let titles = ["SELF", "%", "TOTAL", "%", "CHILDREN", "SUM%"];
        assert_eq!(kept(&titles, &[], 60).0, "SELF TOTAL CHILDREN SUM%");
        assert_eq!(kept(&titles, &[], 52).0, "SELF TOTAL CHILDREN");
        assert_eq!(kept(&titles, &["SUM%"], 52).0, "SELF TOTAL SUM%");
    }

    #[test]
    fn prose_breaks_between_words() {
        let lines = |text: &str, width| -> Vec<String> {
            wrapped(TextLine::new(text, Emphasis::None), width, "…")
                .into_iter()
                .map(|line| line.text)
                .collect()
        };
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("  one two three", 8), ["  one", "  two", "  three"]);
        assert_eq!(lines("a/very/long/path", 9), ["a/ve…path"]);
        assert_eq!(lines("short", 9), ["short"]);
    }
}
