//! Columns of cells, and lines of text with an emphasis.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::name::{clean, display_width};

/// How a line stands out where colour is on. Colour only repeats what the text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Emphasis {
    #[default]
    None,
    /// Titles.
    Bold,
    /// Candidates.
    Strong,
    /// What was asked to be marked.
    Marked,
    /// Remainders and notes.
    Faint,
}

/// A line of text.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) emphasis: Emphasis,
}

impl Line {
    pub(super) fn new(text: impl Into<String>, emphasis: Emphasis) -> Self {
        Line { text: text.into(), emphasis }
    }

    pub(super) fn write(&self, out: &mut dyn Write, color: bool) -> io::Result<()> {
        // Every name is cleaned where its width is counted; what was forgotten is harmless here.
        let text = clean(self.text.trim_end());
        let code = match self.emphasis {
            _ if !color => "",
            Emphasis::None => "",
            Emphasis::Bold => "1",
            // Magenta is readable on dark and on light ground, yellow is not.
            Emphasis::Strong => "35",
            Emphasis::Marked => "7",
            Emphasis::Faint => "2",
        };
        if code.is_empty() { writeln!(out, "{text}") } else { writeln!(out, "\x1b[{code}m{text}\x1b[0m") }
    }
}

/// Numbers in right-aligned columns two blanks apart, then the rest of the line.
#[derive(Default)]
pub(super) struct Columns {
    titles: Vec<String>,
    rows: Vec<(Vec<String>, String, Emphasis)>,
    first_left: bool,
}

impl Columns {
    /// Columns with these titles; the last stands above the rest of the line.
    pub(super) fn new<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Self {
        Columns { titles: titles.into_iter().map(Into::into).collect(), rows: Vec::new(), first_left: false }
    }

    /// Aligns the first column to the left: it holds names.
    pub(super) fn first_left(mut self) -> Self {
        self.first_left = true;
        self
    }

    /// Rows that begin with a name and end with words, which go on in lines of their own where `width` is
    /// too narrow for them.
    pub(super) fn explained(titles: &[&str], rows: Vec<(Vec<String>, &str)>, width: Option<usize>) -> Self {
        let numbers: Vec<Vec<String>> = rows.iter().map(|(cells, _)| cells.clone()).collect();
        let taken = Self::width_of_numbers(titles, &numbers);
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(taken).max(LEAST_WORDS));
        let mut columns = Columns::new(titles.iter().copied()).first_left();
        for (mut cells, words) in rows {
            for line in wrap(words, room) {
                let blank = vec![String::new(); cells.len()];
                columns.row(std::mem::replace(&mut cells, blank), line, Emphasis::None);
            }
        }
        columns
    }

    /// Adds a row: one cell for each column of numbers, and the rest.
    pub(super) fn row(&mut self, numbers: Vec<String>, rest: String, emphasis: Emphasis) {
        debug_assert_eq!(numbers.len() + 1, self.titles.len());
        self.rows.push((numbers, rest, emphasis));
    }

    /// The width of all columns of numbers with their gaps, that is where the rest begins, if the
    /// numbers are these.
    pub(super) fn width_of_numbers(titles: &[&str], rows: &[Vec<String>]) -> usize {
        let column = |index: usize| {
            let cells = rows.iter().map(|row| display_width(&row[index]));
            cells.max().unwrap_or(0).max(display_width(titles[index]))
        };
        (0..titles.len() - 1).map(|index| column(index) + GAP).sum()
    }

    /// The lines, titles first.
    pub(super) fn lines(mut self) -> Vec<Line> {
        let last_title = self.titles.pop().unwrap_or_default();
        self.rows.insert(0, (self.titles, last_title, Emphasis::Bold));
        // Only the numbers go through the table: it measures widths in 16 bits, and names may be
        // longer than that.
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let mut rests = Vec::new();
        for (numbers, rest, emphasis) in self.rows {
            table.add_row(numbers);
            rests.push((rest, emphasis));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            let left = self.first_left && index == 0;
            let alignment = if left { CellAlignment::Left } else { CellAlignment::Right };
            column.set_padding((0, GAP as u16)).set_cell_alignment(alignment);
        }
        let join = |(numbers, (rest, emphasis)): (String, (String, Emphasis))| {
            Line::new(format!("{numbers}{rest}"), emphasis)
        };
        table.lines().zip(rests).map(join).collect()
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

/// Words get at least this many columns, even where the terminal has fewer.
const LEAST_WORDS: usize = 16;

/// Breaks a text into lines between words.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
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

/// Fills a text with blanks up to a width.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}
