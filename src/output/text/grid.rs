//! Tables without names, which are short: numbers and words, then prose that is wrapped.

use comfy_table::{CellAlignment, ContentArrangement, Row as GridRow, Table as Grid, presets};

use crate::name::display_width;
use crate::output::cell::cell_text;
use crate::output::style::Style;
use crate::output::table::{Column, Emphasis, Kind, Table};
use crate::output::text::line::TextLine;
use crate::output::width::{cut, wrap};

/// The titles and the cells of the rows, and how they stand out.
pub(super) fn rows(table: &Table, style: &Style) -> Vec<(Vec<String>, Emphasis)> {
    let plain = |text: &str| style.glyphs.plain(text).into_owned();
    let titles = table.columns.iter().map(|column| plain(&column.title)).collect();
    let mut rows: Vec<(Vec<String>, Emphasis)> = vec![(titles, Emphasis::Bold)];
    for row in table.rows() {
        let cells = row.cells.iter().zip(&table.columns);
        let cells = cells.map(|(cell, column)| plain(&cell_text(cell, &column.kind, style.glyphs)));
        rows.push((cells.collect(), row.emphasis));
    }
    rows
}

/// The lines of a table, titles first.
pub(super) fn lines(table: &Table, style: &Style) -> Vec<TextLine> {
    let mut rows = rows(table, style);
    if let (Some(last), Some(width)) = (table.columns.len().checked_sub(1), style.width)
        && matches!(table.columns[last].kind, Kind::Prose)
    {
        let widest = |index: usize| rows.iter().map(|(cells, _)| display_width(&cells[index])).max();
        let taken: usize = (0..last).filter_map(widest).map(|width| width + GAP).sum();
        let room = width.saturating_sub(taken).max(LEAST_WORDS);
        for (cells, _) in &mut rows {
            cells[last] = wrap(&cells[last], room).join("\n");
        }
    }
    let is_left = |column: &Column| matches!(column.kind, Kind::Key | Kind::Prose);
    laid_out(&rows, &table.columns.iter().map(is_left).collect::<Vec<_>>())
}

/// Rows of cells, each of one or several lines, as lines of text.
pub(super) fn laid_out(rows: &[(Vec<String>, Emphasis)], is_left: &[bool]) -> Vec<TextLine> {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    for (cells, _) in rows {
        // The width of a column is a number of 16 bits there.
        grid.add_row(GridRow::from(cells.iter().map(|cell| cut(cell, WIDEST_CELL, "…"))));
    }
    for (column, is_left) in grid.column_iter_mut().zip(is_left) {
        column.set_padding((0, GAP as u16));
        column.set_cell_alignment(if *is_left { CellAlignment::Left } else { CellAlignment::Right });
    }
    let heights = rows.iter().map(|(cells, emphasis)| {
        (cells.iter().map(|cell| cell.lines().count().max(1)).max().unwrap_or(1), *emphasis)
    });
    let emphases = heights.flat_map(|(height, emphasis)| std::iter::repeat_n(emphasis, height));
    grid.lines().zip(emphases).map(|(line, emphasis)| TextLine::row(line, emphasis)).collect()
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;

/// The maximum width of a cell.
const WIDEST_CELL: usize = 10_000;

/// The minimum width of prose, even if the terminal is narrower.
const LEAST_WORDS: usize = 16;
