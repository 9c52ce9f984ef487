//! Text in a buffer of cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::name::{clean, display_width};

/// A screen as text, without blanks at the ends of lines.
pub(crate) fn text_of(cells: &Buffer) -> String {
    let Rect { width, height, .. } = *cells.area();
    let line = |y: u16| {
        let mut line = String::new();
        // The cell after a wide character is not a blank.
        let mut covered = 0;
        for x in 0..width {
            let symbol = cells[(x, y)].symbol();
            if covered == 0 {
                line.push_str(symbol);
            }
            covered = covered.max(display_width(symbol)).saturating_sub(1);
        }
        line.trim_end().to_string()
    };
    (0..height).map(line).collect::<Vec<String>>().join("\n")
}

/// Replaces what a terminal without UTF-8 would show as several characters each, such as letters in names. A wide character
/// becomes as many as it covers, so that no cell of it lacks the background.
pub(super) fn only_ascii(area: Rect, cells: &mut Buffer) {
    for position in area.positions() {
        let (symbol, style) = (cells[position].symbol(), cells[position].style());
        if symbol.is_ascii() {
            continue;
        }
        let width = display_width(symbol).max(1) as u16;
        for x in position.x..position.x.saturating_add(width).min(area.right()) {
            cells[(x, position.y)].set_symbol("?").set_style(style);
        }
    }
}

/// Writes at most `room` columns of a text, if the line is on the screen. Texts of profiles are cleaned where they are made
/// for display; this is a safety net.
pub(super) fn put(cells: &mut Buffer, x: u16, y: u16, text: &str, room: usize, style: Style) {
    if y < cells.area().height && x < cells.area().width {
        cells.set_stringn(x, y, clean(text), room, style);
    }
}
