//! The list of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::name::display_width;
use crate::output::wrap;
use crate::ui::draw::cells::put;
use crate::ui::draw::theme::Theme;
use crate::ui::keys::KEYS;

/// The column in which explanations start.
const COLUMN: usize = 20;

/// The lines of the help on a screen of so many columns, each with whether it is a title.
pub(crate) fn lines(width: usize) -> Vec<(String, bool)> {
    let mut lines = Vec::new();
    for (topic, keys) in KEYS {
        lines.push(((*topic).to_string(), true));
        for key in *keys {
            let room = width.saturating_sub(COLUMN).max(10);
            // Long lists of keys take a line of their own.
            let mut before = format!("  {}", key.keys);
            if display_width(&before) >= COLUMN {
                lines.push((std::mem::take(&mut before), false));
            }
            for text in wrap(key.what, room) {
                let blanks = " ".repeat(COLUMN.saturating_sub(display_width(&before)));
                lines.push((format!("{before}{blanks}{text}"), false));
                before.clear();
            }
        }
    }
    let note = "The last line of the screen is the command that shows the same numbers.";
    lines.extend(wrap(note, width.max(10)).into_iter().map(|text| (text, false)));
    lines
}

pub(super) fn draw(first: usize, theme: Theme, area: Rect, cells: &mut Buffer) {
    let lines = lines(usize::from(area.width));
    for (place, (text, is_title)) in lines.iter().skip(first).take(usize::from(area.height)).enumerate() {
        let style = if *is_title { Theme::bold() } else { ratatui::style::Style::new() };
        let text = if theme.unicode { text.clone() } else { ascii(text) };
        put(cells, 0, area.y + place as u16, &text, usize::from(area.width), style);
    }
}

/// A text of our own where the terminal has only ASCII.
pub(super) fn ascii(text: &str) -> String {
    let arrows = [("↑ ↓", "Up Down"), ("← →", "Left Right"), ("…", ".."), ("·", "|")];
    arrows.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}
