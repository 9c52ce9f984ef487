//! The lines above and below the report.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::name::{clean, display_width, fit};
use crate::output::{scale, wrap};
use crate::ui::answer::Answer;
use crate::ui::draw::cells::put;
use crate::ui::draw::help::ascii;
use crate::ui::draw::theme::Theme;
use crate::ui::question::View;
use crate::ui::state::{Purpose, State};
use crate::unit::share;

/// The heading and the tabs.
pub(super) fn top(
    state: &State,
    answer: &Answer,
    theme: Theme,
    computing: bool,
    area: Rect,
    cells: &mut Buffer,
) {
    let width = usize::from(area.width);
    let dot = if theme.unicode { " · " } else { " | " };
    let mut parts = &answer.heading[..];
    while parts.len() > 2 && display_width(&parts.join(dot)) > width {
        parts = &parts[..parts.len() - 1];
    }
    put(cells, 0, 0, &fit(&parts.join(dot), width, theme.ellipsis()), width, Theme::bold());
    let note = if computing { " computing, Esc stops " } else { "" };
    let mut x = 0;
    for (place, view) in View::ALL.into_iter().enumerate() {
        let is_shown = view == state.question.view;
        let text = format!(" {} {}", place + 1, name_of(view));
        // Where there is no space for the names of tabs, only that of the view is shown.
        let text = if tabs_fit(width) || is_shown { text } else { format!(" {}", place + 1) };
        let style = if is_shown { Theme::selected() } else { theme.faint() };
        put(cells, x as u16, 1, &text, width.saturating_sub(x), style);
        x += display_width(&text);
    }
    let start = width.saturating_sub(note.len());
    put(cells, start as u16, 1, note, note.len(), Theme::selected());
}

fn name_of(view: View) -> &'static str {
    if view == View::Focus { "callers" } else { view.command() }
}

fn tabs_fit(width: usize) -> bool {
    View::ALL.into_iter().map(|view| name_of(view).len() + 3).sum::<usize>() < width
}

/// The selected line in full or what happened, the keys, and the command.
pub(super) fn bottom(state: &State, answer: &Answer, theme: Theme, area: Rect, cells: &mut Buffer) {
    let (width, height) = (usize::from(area.width), area.height);
    let (text, style) = match (&state.typing, &state.message) {
        (Some(typing), _) => {
            let prompt = match typing.purpose {
                Purpose::Search => "/",
                Purpose::Options => ":",
                Purpose::Save => "save as: ",
            };
            let cursor = if theme.unicode { "▏" } else { "_" };
            let text = tail(&format!("{}{cursor}", typing.text), width.saturating_sub(prompt.len()));
            (format!("{prompt}{text}"), Theme::bold())
        }
        (None, Some(message)) => (clean(message).into_owned(), theme.strong()),
        (None, None) => (fit(&details(state, answer), width, theme.ellipsis()), Style::new()),
    };
    let rows = state.command_rows() as u16;
    let lines =
        if state.typing.is_none() && state.message.is_some() { wrap(&text, width) } else { vec![text] };
    let lines = &lines[..lines.len().min(MOST_LINES)];
    for (place, line) in lines.iter().enumerate() {
        // A long message covers the last lines of the report.
        let y = height - rows - 1 - (lines.len() - place) as u16;
        if lines.len() > 1 {
            cells.set_style(Rect { y, height: 1, ..area }, Style::reset());
            put(cells, 0, y, &" ".repeat(width), width, style);
        }
        put(cells, 0, y, &ascii_or(line, theme), width, style);
    }
    put(cells, 0, height - rows - 1, &ascii_or(&keys(state, answer, width), theme), width, theme.faint());
    put(cells, 0, height - rows, "$ ", width, theme.faint());
    let room = width.saturating_sub(2);
    let command = without_middle(&state.command_line(), room * usize::from(rows), theme);
    let mut rest = &*command;
    for row in 0..rows {
        let (line, after) = rest.split_at(split_place(rest, room));
        put(cells, 2, height - rows + row, line, room, Theme::bold());
        rest = after;
    }
}

/// How many lines a message takes at most.
const MOST_LINES: usize = 4;

/// Where a text is to be split so that its first part fits.
fn split_place(text: &str, room: usize) -> usize {
    let mut width = 0;
    let fits = |c: char| {
        width += display_width(c.encode_utf8(&mut [0; 4]));
        width <= room
    };
    text.len() - text.trim_start_matches(fits).len()
}

fn ascii_or(text: &str, theme: Theme) -> String {
    if theme.unicode { text.to_string() } else { ascii(text) }
}

/// The end of what is being typed, if it is too long.
fn tail(text: &str, room: usize) -> String {
    let mut kept = text;
    while display_width(kept) > room {
        let Some(first) = kept.chars().next() else { break };
        kept = &kept[first.len_utf8()..];
    }
    kept.to_string()
}

/// The command, without its middle if it is too long.
fn without_middle(command: &str, room: usize, theme: Theme) -> String {
    if display_width(command) <= room {
        return command.to_string();
    }
    let start: String = command.chars().take(room / 2).collect();
    let rest = room.saturating_sub(display_width(&start) + display_width(theme.ellipsis()));
    format!("{start}{}{}", theme.ellipsis(), tail(command, rest))
}

/// The selected function in full, its numbers and its place.
fn details(state: &State, answer: &Answer) -> String {
    if let Some(flame) = answer.flame() {
        let Some(node) = flame.nodes.get(state.cursor.node as usize) else { return String::new() };
        let header = &flame.header;
        let Ok(scale) = scale(&header.metric, header.shown, None) else { return String::new() };
        let name = if state.cursor.node == 0 { "all" } else { &*node.name };
        let mut text = format!(
            "{name}  total {} {}  self {} {}",
            scale.format(node.total),
            share(node.total, header.total),
            scale.format(node.self_value),
            share(node.self_value, header.total),
        );
        if let Some(old) = node.old {
            text.push_str(&format!("  change {}", scale.format_signed(node.total - old.total)));
        }
        if let Some(file) = node.file.as_deref().filter(|file| !file.is_empty()) {
            let line = node.line.map(|line| format!(":{line}")).unwrap_or_default();
            text.push_str(&format!("  {file}{line}"));
        }
        return text;
    }
    let Some(line) = state.line() else { return String::new() };
    let Some(name) = answer.name_of(line) else { return String::new() };
    let place = answer.place_of(line).map(|place| format!("  {place}")).unwrap_or_default();
    format!("{name}{place}")
}

/// The most useful keys of a view, as many as fit.
fn keys(state: &State, answer: &Answer, width: usize) -> String {
    if state.help.is_some() {
        return "↑ ↓ scroll · any other key closes".to_string();
    }
    if let Some(typing) = &state.typing {
        return match typing.purpose {
            Purpose::Search => "Enter finds · Esc gives up",
            Purpose::Options => {
                "options as on the command line, such as --by package · Enter asks · Esc gives up"
            }
            Purpose::Save => "the name of the file, .html or .svg · Enter writes · Esc gives up",
        }
        .to_string();
    }
    let enter = match state.question.view {
        View::Tree => Some("Enter open"),
        View::Flame => Some("Enter zoom"),
        View::Labels => Some("Enter keep"),
        View::Top | View::Focus => Some("Enter callers"),
        View::Report | View::Timeline => Some("Enter shows it"),
        _ => None,
    };
    let is_function = state.selected(answer).is_some();
    let of_function: &[&str] = if is_function { &["f focus", "x ignore", "h hide frame"] } else { &[] };
    let of_tree: &[&str] = if state.question.view == View::Tree { &["H heaviest path"] } else { &[] };
    let back: &[&str] = if state.before.is_empty() { &[] } else { &["Backspace back"] };
    let rest = ["/ search", "b bottom-up", "t threads", "m metric", "s save", "y copy", ": options"];
    let all = ["? help", "q quit"].into_iter().chain(enter).chain(back.iter().copied());
    let all = all.chain(of_function.iter().copied()).chain(of_tree.iter().copied()).chain(rest);
    let mut text = String::new();
    for key in all {
        let longer = if text.is_empty() { key.to_string() } else { format!("{text} · {key}") };
        if display_width(&longer) > width {
            break;
        }
        text = longer;
    }
    text
}
