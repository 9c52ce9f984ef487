//! From drawn lines to columns of text.

use crate::name::{Anchor, Chain, clean, display_width, fit, package, split_shown};
use crate::output::text::TextColumn;
use crate::output::text::chains::{self, NameWidth};
use crate::output::text::layout::{LEAST_NAME, Layout};
use crate::output::text::names::short_file;
use crate::output::text::table::{Grid, TextLine, TextTable};
use crate::output::text::tree::{TreeLine, TreeText};
use crate::report::{Direction, TreeRow};

impl TreeText<'_> {
    pub(super) fn lay_out(
        &self,
        titles: &[String],
        drawn: Vec<TreeLine>,
        arrow: &str,
        anchor: Anchor,
    ) -> Vec<TextLine> {
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let (name_title, titles) = titles.split_last().unwrap_or((&"", &titles));
        let titles = self.chosen(titles.to_vec());
        let numbers: Vec<Vec<String>> = drawn.iter().map(|line| self.chosen(line.numbers.clone())).collect();
        let grid = Grid::new(&titles, &numbers);
        let layout = Layout::new(&titles, &grid, &self.asked(), self.style);
        let taken = layout.room.map_or(grid.width(), |room| self.style.layout_width().saturating_sub(room));
        let is_full = self.style.full_chains;
        let room = NameWidth { columns: self.style.width, full: is_full.then(|| self.style.layout_width()) };
        let room = room.without(taken, LEAST_NAME);
        let ellipsis = self.style.glyphs.ellipsis;
        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([*name_title]));
        for (line, numbers) in drawn.into_iter().zip(numbers) {
            let numbers = layout.keep(numbers);
            let prefix = self.fit_branches(&line.prefix, room);
            let suffix = line.row.map(|row| self.suffix(&self.tree.rows[row])).unwrap_or_default();
            let suffix = fit_suffix(suffix, display_width(&prefix), room, ellipsis);
            let around = display_width(&prefix) + display_width(&suffix);
            let is_own = |index: usize| line.first.is_some_and(|first| self.is_own(first + index));
            let chain = Chain { names: &line.names, is_own: &is_own, arrow, anchor, ellipsis };
            let mut names = chains::lines(&chain, room.without(around, LEAST_NAME)).into_iter();
            let blank = vec![String::new(); numbers.len()];
            let first = names.next().unwrap_or_default();
            columns.row(numbers, format!("{prefix}{first}{suffix}"), line.emphasis);
            let below = self.below(&prefix);
            names.for_each(|name| columns.row(blank.clone(), format!("{below}{name}"), line.emphasis));
        }
        let mut lines = columns.lines();
        lines.extend(layout.note());
        lines
    }

    /// The titles of the requested columns.
    fn asked(&self) -> Vec<&'static str> {
        let title = |column: &TextColumn| match column {
            TextColumn::SelfValue => Some("SELF"),
            TextColumn::Total => Some("TOTAL"),
            TextColumn::Children => Some("CHILDREN"),
            _ => None,
        };
        self.style.columns.iter().filter_map(title).collect()
    }

    /// Shortens very deep branches to the innermost ones, so that the name keeps its minimum width.
    fn fit_branches(&self, prefix: &str, room: NameWidth) -> String {
        let most = room.columns.map_or(usize::MAX, |columns| columns.saturating_sub(LEAST_NAME));
        if display_width(prefix) <= most {
            return prefix.to_string();
        }
        let ellipsis = self.style.glyphs.ellipsis;
        // Every character is one column wide.
        let kept = most.saturating_sub(display_width(ellipsis));
        let inner: Vec<char> = prefix.chars().rev().take(kept).collect();
        ellipsis.chars().take(most).chain(inner.into_iter().rev()).collect()
    }

    /// Whether a row belongs to the program's own code.
    fn is_own(&self, row: usize) -> bool {
        let row = self.tree.rows.get(row);
        row.is_some_and(|row| self.names.is_own(&row.name, row.file.as_deref()))
    }

    /// The branches of the lines on which a row with branches `prefix` continues.
    fn below(&self, prefix: &str) -> String {
        let glyphs = self.style.glyphs;
        if let Some(before) = prefix.strip_suffix(glyphs.branch) {
            return format!("{before}{}", glyphs.bar);
        }
        prefix.strip_suffix(glyphs.last).map_or_else(|| prefix.to_string(), |before| format!("{before}  "))
    }

    /// The cells of the requested columns, in that order; all by default.
    fn chosen<T: Clone>(&self, cells: Vec<T>) -> Vec<T> {
        if self.style.columns.is_empty() {
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
        self.style.columns.iter().flat_map(places).filter_map(|place| cells.get(place).cloned()).collect()
    }

    /// The file or package after a name, if requested.
    fn suffix(&self, row: &TreeRow) -> String {
        let file = row.file.as_deref().unwrap_or_default();
        let text = |column: &TextColumn| match column {
            // A name such as `pay app.mjs:52:19` shows the file already.
            TextColumn::File if split_shown(&row.name).is_some() => None,
            TextColumn::File => Some(short_file(file)),
            TextColumn::Package => {
                Some(package(&row.name, file).map_or_else(String::new, |p| clean(&p).into()))
            }
            _ => None,
        };
        let texts = self.style.columns.iter().filter_map(text).filter(|text| !text.is_empty());
        texts.flat_map(|text| ["   ".to_string(), text]).collect()
    }
}

/// Shortens the text after a name so that the name keeps its minimum width.
fn fit_suffix(suffix: String, branches: usize, room: NameWidth, ellipsis: &str) -> String {
    let most = room.columns.map_or(usize::MAX, |columns| columns.saturating_sub(branches + LEAST_NAME));
    match most {
        _ if suffix.is_empty() => suffix,
        0..LEAST_SUFFIX => String::new(),
        _ => fit(&suffix, most, ellipsis),
    }
}

/// The minimum width of the text after a name, including blanks.
const LEAST_SUFFIX: usize = 12;
