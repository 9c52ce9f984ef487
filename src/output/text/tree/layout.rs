//! From drawn lines to columns of text.

use crate::name::{clean, display_width, fit_chain, package};
use crate::output::text::columns::{Columns, Line};
use crate::output::text::names::short_file;
use crate::output::text::tree::{Drawing, DrawnLine};
use crate::report::{Direction, TextColumn, TreeRow};

impl Drawing<'_> {
    pub(super) fn lay_out(&self, titles: &[String], drawn: Vec<DrawnLine>, arrow: &str) -> Vec<Line> {
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let (name_title, titles) = titles.split_last().unwrap_or((&"", &titles));
        let mut titles = self.chosen(titles.to_vec());
        titles.push(*name_title);
        let numbers: Vec<Vec<String>> = drawn.iter().map(|line| self.chosen(line.numbers.clone())).collect();
        let taken = Columns::width_of_numbers(&titles, &numbers);
        let room = self.style.width.map(|width| width.saturating_sub(taken).max(LEAST_NAME));
        let mut columns = Columns::new(titles);
        for (line, numbers) in drawn.into_iter().zip(numbers) {
            let beside = line.row.map(|row| self.beside(&self.tree.rows[row])).unwrap_or_default();
            let around = display_width(&line.prefix) + display_width(&beside);
            let left = room.map(|room| room.saturating_sub(around).max(LEAST_NAME));
            let names = fit_chain(&line.names, arrow, left, self.style.glyphs.ellipsis);
            columns.row(numbers, format!("{}{names}{beside}", line.prefix), line.emphasis);
        }
        columns.lines()
    }

    /// The cells of the columns asked for, in that order; all where none was.
    fn chosen<T: Clone>(&self, cells: Vec<T>) -> Vec<T> {
        let header = &self.tree.header;
        if header.about.columns.is_empty() {
            return cells;
        }
        let places = |column: &TextColumn| match (self.tree.direction, column) {
            (Direction::TopDown, TextColumn::Total) => 0..2,
            (Direction::TopDown, TextColumn::SelfValue) => 2..3,
            (Direction::TopDown, TextColumn::Children) => 3..4,
            (Direction::BottomUp, TextColumn::SelfValue) => 0..1,
            (Direction::BottomUp, TextColumn::Children) => 1..2,
            (Direction::BottomUp, TextColumn::Total) => 2..5,
            _ => 0..0,
        };
        header.about.columns.iter().flat_map(places).filter_map(|place| cells.get(place).cloned()).collect()
    }

    /// The file or the package behind a name, where they were asked for.
    fn beside(&self, row: &TreeRow) -> String {
        let file = row.file.as_deref().unwrap_or_default();
        let text = |column: &TextColumn| match column {
            TextColumn::File => Some(short_file(file)),
            TextColumn::Package => {
                Some(package(&row.name, file).map_or_else(String::new, |p| clean(&p).into()))
            }
            _ => None,
        };
        let texts = self.tree.header.about.columns.iter().filter_map(text).filter(|text| !text.is_empty());
        texts.flat_map(|text| ["   ".to_string(), text]).collect()
    }
}

/// Names get at least this many columns, even where the terminal has fewer.
const LEAST_NAME: usize = 16;
