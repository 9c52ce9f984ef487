//! Columns of cells, and lines of text with an emphasis.

use std::io::{self, Write};

use crate::name::{clean, display_width};
pub(super) use crate::output::table::Emphasis;

/// A line of text.
#[derive(Clone, Debug, Default)]
pub(super) struct TextLine {
    pub(super) text: String,
    pub(super) emphasis: Emphasis,
    /// Whether it is a row of a table, which is laid out and never wrapped.
    pub(super) is_row: bool,
}

impl TextLine {
    /// A line of prose, which is wrapped if the terminal is too narrow for it.
    pub(super) fn new(text: impl Into<String>, emphasis: Emphasis) -> Self {
        TextLine { text: text.into(), emphasis, is_row: false }
    }

    /// A row of a table.
    pub(super) fn row(text: String, emphasis: Emphasis) -> Self {
        TextLine { text, emphasis, is_row: true }
    }

    pub(super) fn write(&self, out: &mut dyn Write, color: bool) -> io::Result<()> {
        // Names are cleaned where their width is computed; this is a safety net.
        let text = clean(self.text.trim_end());
        let code = match self.emphasis {
            _ if !color => "",
            Emphasis::None => "",
            Emphasis::Bold => "1",
            // Magenta is readable on dark and light backgrounds; yellow is not.
            Emphasis::Strong => "35",
            Emphasis::Marked => "7",
            Emphasis::Faint => "2",
        };
        if code.is_empty() { writeln!(out, "{text}") } else { writeln!(out, "\x1b[{code}m{text}\x1b[0m") }
    }
}

/// A table: right-aligned columns of numbers, then the text of each row.
#[derive(Default)]
pub(super) struct TextTable {
    titles: Vec<String>,
    rows: Vec<(Vec<String>, String, Emphasis)>,
}

impl TextTable {
    /// A table with these column titles; the last is the title of the text after the numbers.
    pub(super) fn new<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Self {
        TextTable { titles: titles.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row: one cell per column of numbers, and the text after them.
    pub(super) fn row(&mut self, numbers: Vec<String>, rest: String, emphasis: Emphasis) {
        debug_assert_eq!(numbers.len() + 1, self.titles.len());
        self.rows.push((numbers, rest, emphasis));
    }

    /// The lines, titles first.
    pub(super) fn lines(mut self) -> Vec<TextLine> {
        let last_title = self.titles.pop().unwrap_or_default();
        self.rows.insert(0, (self.titles, last_title, Emphasis::Bold));
        let grid = Grid::new(&self.rows[0].0, self.rows.iter().map(|(numbers, ..)| numbers));
        let line = |(numbers, rest, emphasis): &(Vec<String>, String, Emphasis)| {
            TextLine::row(grid.line(numbers, rest), *emphasis)
        };
        self.rows.iter().map(line).collect()
    }
}

/// The widths of columns of numbers, for rows that are laid out one by one.
pub(super) struct Grid {
    widths: Vec<usize>,
}

impl Grid {
    /// Columns as wide as their widest cell, or their title.
    pub(super) fn new<'r>(
        titles: &[impl AsRef<str>],
        rows: impl IntoIterator<Item = &'r Vec<String>>,
    ) -> Self {
        let widths = titles.iter().map(|title| display_width(title.as_ref())).collect();
        let mut grid = Grid { widths };
        rows.into_iter().for_each(|row| grid.widen(row));
        grid
    }

    /// Widens the columns so that a row fits.
    pub(super) fn widen(&mut self, row: &[String]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = (*width).max(display_width(cell));
        }
    }

    /// The width of all columns with their gaps. Columns that are empty in all rows take no space.
    pub(super) fn width(&self) -> usize {
        self.width_of(|_| true)
    }

    /// The columns for which `keeps` is true.
    pub(super) fn of(&self, keeps: &[bool]) -> Grid {
        let kept = self.widths.iter().zip(keeps).filter(|(_, keeps)| **keeps);
        Grid { widths: kept.map(|(width, _)| *width).collect() }
    }

    /// The width of the columns for which `keeps` is true.
    pub(super) fn width_of(&self, keeps: impl Fn(usize) -> bool) -> usize {
        let kept = self.widths.iter().enumerate().filter(|&(index, &width)| width > 0 && keeps(index));
        kept.map(|(_, width)| width + GAP).sum()
    }

    /// A line: the numbers, aligned, and the text after them. Missing numbers are blank.
    pub(super) fn line(&self, numbers: &[String], rest: &str) -> String {
        let mut line = String::new();
        for (index, &width) in self.widths.iter().enumerate().filter(|&(_, &width)| width > 0) {
            let cell = numbers.get(index).map_or("", String::as_str);
            let blanks = width.saturating_sub(display_width(cell));
            line.extend(std::iter::repeat_n(' ', blanks));
            line.push_str(cell);
            line.extend([' '; GAP]);
        }
        line.push_str(rest);
        line
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

/// Wraps a text at `width` columns, between words. A longer word gets a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && display_width(&line) + 1 + display_width(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Pads a text with blanks to a width.
pub(in crate::output) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Cuts the end of a text that is too long. Names lose their middle instead; code is read from the left.
pub(super) fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if display_width(text) <= width {
        return text.to_string();
    }
    let mut left = width.saturating_sub(display_width(ellipsis));
    let mut fits = |c: &char| {
        let needed = display_width(c.encode_utf8(&mut [0; 4]));
        left.checked_sub(needed).map(|rest| left = rest).is_some()
    };
    let kept: String = text.chars().take_while(|c| fits(c)).collect();
    format!("{kept}{ellipsis}")
}
