//! The screen, as a pure function of state, answer, size and theme.

mod bars;
mod cells;
pub(super) mod flame;
pub(super) mod help;
mod table;
mod theme;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(super) use bars::tab_at;
pub(crate) use cells::text_of;
pub(super) use table::sort_key_at;
pub(crate) use theme::{Palette, Theme};

use crate::ui::answer::Answer;
use crate::ui::draw::cells::put;
use crate::ui::state::State;

/// The smallest screen.
const LEAST: (u16, u16) = (30, 8);

/// Draws the screen. `note` says what goes on in the background, such as that the answer to the question is still being computed.
pub(crate) fn draw(state: &State, answer: &Answer, theme: Theme, note: &str, area: Rect, cells: &mut Buffer) {
    let (width, height) = (area.width, area.height);
    if width < LEAST.0 || height < LEAST.1 {
        let text = format!("needs {}x{} cells; q quits", LEAST.0, LEAST.1);
        put(cells, 0, 0, &text, usize::from(width), Style::new());
        return;
    }
    bars::top(state, answer, theme, note, area, cells);
    let body = Rect { y: 2, height: state.page() as u16 + 1, ..area };
    match state.help {
        Some(first) => help::draw(first, theme, body, cells),
        None if answer.flame().is_some() => flame::draw(state, answer, theme, body, cells),
        None => table::draw(state, answer, theme, body, cells),
    }
    bars::bottom(state, answer, theme, area, cells);
    if !theme.unicode {
        cells::only_ascii(area, cells);
    }
}
