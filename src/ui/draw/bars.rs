//! The lines above and below the report.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::name::{clean, display_width, fit, split_shown};
use crate::output::{scale, wrap};
use crate::report::{Direction, Flame, FlameNode};
use crate::ui::answer::Answer;
use crate::ui::draw::cells::put;
use crate::ui::draw::help::ascii;
use crate::ui::draw::theme::Theme;
use crate::ui::offers::offers;
use crate::ui::question::View;
use crate::ui::state::{Purpose, State, TABS, most_lines};
use crate::unit::{group_thousands, share};

/// The heading and the tabs.
pub(super) fn top(state: &State, answer: &Answer, theme: Theme, note: &str, area: Rect, cells: &mut Buffer) {
    let width = usize::from(area.width);
    let taken: usize = tabs(state).map(|(_, text)| display_width(&text)).sum();
    // Where the tabs leave no space for the note, it is above them: a tab that is covered cannot be read.
    let (line, room) =
        if taken + note.len() <= width { (TABS, width) } else { (0, width.saturating_sub(note.len() + 1)) };
    let dot = if theme.unicode { " · " } else { " | " };
    let mut parts = &answer.heading[..];
    while parts.len() > 2 && display_width(&parts.join(dot)) > room {
        parts = &parts[..parts.len() - 1];
    }
    put(cells, 0, 0, &fit(&parts.join(dot), room, theme.ellipsis()), room, Theme::bold());
    let mut x = 0;
    for (view, text) in tabs(state) {
        let style = if view == state.question.view { Theme::selected() } else { theme.faint() };
        put(cells, x as u16, TABS, &text, width.saturating_sub(x), style);
        x += display_width(&text);
    }
    let start = width.saturating_sub(note.len());
    put(cells, start as u16, line, note, note.len(), Theme::selected());
}

/// Which lines are on the screen, if there are more: `1–20 of 330`.
fn position(state: &State, answer: &Answer, theme: Theme) -> Option<String> {
    let (all, page) = (state.lines.len(), state.page());
    if all <= page || answer.flame().is_some() || state.help.is_some() || state.typing.is_some() {
        return None;
    }
    let first = state.cursor.top.min(all - 1);
    let to = if theme.unicode { "–" } else { "-" };
    let number = |line: usize| group_thousands(line as i128);
    Some(format!("{}{to}{} of {}", number(first + 1), number((first + page).min(all)), number(all)))
}

/// The tabs. Where there is no space for their names, only that of the view is shown.
fn tabs(state: &State) -> impl Iterator<Item = (View, String)> {
    let (shown, fits) = (state.question.view, tabs_fit(usize::from(state.size.0)));
    View::ALL.into_iter().enumerate().map(move |(place, view)| {
        let number = place + 1;
        let is_named = fits || view == shown;
        (view, if is_named { format!(" {number} {}", view.title()) } else { format!(" {number}") })
    })
}

/// The view whose tab is in a column of the screen.
pub(in crate::ui) fn tab_at(state: &State, x: usize) -> Option<View> {
    let mut end = 0;
    tabs(state).find_map(|(view, text)| {
        end += display_width(&text);
        (x < end).then_some(view)
    })
}

fn tabs_fit(width: usize) -> bool {
    View::ALL.into_iter().map(|view| view.title().len() + 3).sum::<usize>() < width
}

/// The selected line in full or what happened, the keys, and the command.
pub(super) fn bottom(state: &State, answer: &Answer, theme: Theme, area: Rect, cells: &mut Buffer) {
    let (width, height) = (usize::from(area.width), area.height);
    let (text, style) = match (&state.typing, &state.message) {
        (Some(typing), _) => {
            let prompt = match typing.purpose {
                Purpose::Search => "/",
                Purpose::Only => "only lines that match: ",
                Purpose::Options => ":",
                Purpose::Save => "save as: ",
            };
            let cursor = if theme.unicode { "▏" } else { "_" };
            let text = tail(&format!("{}{cursor}", typing.text), width.saturating_sub(prompt.len()));
            (format!("{prompt}{text}"), Theme::bold())
        }
        (None, Some(message)) => (clean(message).into_owned(), theme.strong()),
        (None, None) => (fit(&details(state, answer, theme), width, theme.ellipsis()), Style::new()),
    };
    let rows = state.command_rows() as u16;
    let is_message = state.typing.is_none() && state.message.is_some();
    let lines = if is_message { message_lines(&text, width, state.page(), theme) } else { vec![text] };
    draw_offers(state, answer, theme, height - rows - 2, cells);
    for (place, line) in lines.iter().enumerate() {
        // A long message covers the last lines of the report.
        let y = height - rows - 1 - (lines.len() - place) as u16;
        if lines.len() > 1 {
            clear(cells, Rect { y, height: 1, ..area }, style);
        }
        put(cells, 0, y, &ascii_or(line, theme), width, style);
    }
    let position = position(state, answer, theme).unwrap_or_default();
    let start = width.saturating_sub(display_width(&position));
    let keys = keys(state, answer, if position.is_empty() { width } else { start.saturating_sub(2) });
    put(cells, 0, height - rows - 1, &ascii_or(&keys, theme), width, theme.faint());
    put(cells, start as u16, height - rows - 1, &position, width, Theme::bold());
    put(cells, 0, height - rows, "$ ", width, theme.faint());
    let room = width.saturating_sub(2);
    for (row, line) in (0..rows).zip(command_lines(state, usize::from(rows), room, theme)) {
        put(cells, 2, height - rows + row, &line, room, Theme::bold());
    }
}

/// The command in so many lines. One that is too long loses its middle, because its end names the profiles.
fn command_lines(state: &State, count: usize, room: usize, theme: Theme) -> Vec<String> {
    let mut lines = state.command_lines();
    if lines.len() > count {
        let rest = lines.split_off(count - 1).join(" ");
        lines.push(without_middle(&rest, room, theme));
    }
    lines
}

/// The lines of a message, of which there may be too many.
fn message_lines(text: &str, width: usize, page: usize, theme: Theme) -> Vec<String> {
    let mut lines = wrap(text, width);
    let most = most_lines(page);
    if lines.len() > most {
        lines.truncate(most);
        let room = width.saturating_sub(1 + display_width(theme.ellipsis()));
        let last = wrap(&lines[most - 1], room).into_iter().next().unwrap_or_default();
        lines[most - 1] = format!("{last} {}", theme.ellipsis());
    }
    lines
}

/// What an option that is being typed may be, above the line where it is typed.
fn draw_offers(state: &State, answer: &Answer, theme: Theme, below: u16, cells: &mut Buffer) {
    let Some(typing) = state.typing.as_ref().filter(|typing| typing.purpose == Purpose::Options) else {
        return;
    };
    let found = offers(&state.grammar, state.question.view, answer, &typing.text);
    let width = usize::from(state.size.0);
    let most = (state.page() * 2 / 3).max(1);
    // One line says how many there are besides.
    let shown = if found.len() > most { most - 1 } else { found.len() };
    let column = found[..shown].iter().map(|offer| display_width(&offer.shown)).max().unwrap_or(0);
    let column = column.min(width / 2);
    let mut lines: Vec<(String, &str)> = found[..shown]
        .iter()
        .map(|offer| (fit(&offer.shown, column, theme.ellipsis()), &*offer.about))
        .collect();
    let more = format!("{} {} more", theme.ellipsis(), found.len() - shown);
    if shown < found.len() {
        lines.push((more, ""));
    }
    let first = below.saturating_sub(lines.len() as u16);
    for (y, (text, about)) in (first..).zip(&lines) {
        clear(cells, Rect { x: 0, y, width: state.size.0, height: 1 }, Style::new());
        put(cells, 0, y, text, width, Theme::bold());
        let x = column + 2;
        put(cells, x as u16, y, &ascii_or(about, theme), width.saturating_sub(x), theme.faint());
    }
}

/// Empties a line that covers the report.
fn clear(cells: &mut Buffer, line: Rect, style: Style) {
    let width = usize::from(line.width);
    cells.set_style(line, Style::reset());
    put(cells, 0, line.y, &" ".repeat(width), width, style);
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
fn details(state: &State, answer: &Answer, theme: Theme) -> String {
    if let Some(flame) = answer.flame() {
        let Some(node) = flame.nodes.get(state.cursor.node as usize) else { return String::new() };
        let header = &flame.header;
        let Ok(scale) = scale(&header.metric, header.shown, answer.unit().as_ref()) else {
            return String::new();
        };
        let value = |value: i64| format!("{} {}", scale.format(value), share(value, header.total));
        let total = value(node.total);
        let mut text = match (state.cursor.node, top_of(flame, node)) {
            (0, _) => format!("all  {total}"),
            (_, Some(top)) if std::ptr::eq(top, node) => format!("{}  self {total}", node.name),
            (_, Some(top)) => {
                format!("{}  called for {total}, self of {}", node.name, answer.shown(&top.name))
            }
            (_, None) => format!("{}  total {total}  self {}", node.name, value(node.self_value)),
        };
        if let Some(old) = node.old {
            let change = theme.signed(scale.format_signed(node.total - old.total));
            text.push_str(&format!("  change {change}"));
        }
        if let Some(file) = node.file.as_deref().filter(|file| !file.is_empty() && !has_place(&node.name)) {
            let line = node.line.map(|line| format!(":{line}")).unwrap_or_default();
            text.push_str(&format!("  {file}{line}"));
        }
        return text;
    }
    let Some(line) = state.line() else { return String::new() };
    if let Some(command) = answer.command_of(line) {
        let is_view = command.split_whitespace().nth(1).is_some_and(|name| View::named(name).is_some());
        return format!("{}: {command}", if is_view { "Enter" } else { "y copies" });
    }
    let Some(name) = answer.name_of(line) else { return String::new() };
    let place = answer.place_of(line).filter(|_| !has_place(name));
    let place = place.map(|place| format!("  {place}")).unwrap_or_default();
    format!("{name}{place}")
}

/// Whether a name ends with the place of the function: `serve (app.py:82)`.
fn has_place(name: &str) -> bool {
    split_shown(name).is_some()
}

/// In a graph of callers, the function whose self a block is a part of; its callers are below it.
fn top_of<'f>(flame: &'f Flame, node: &'f FlameNode) -> Option<&'f FlameNode> {
    if flame.direction == Direction::TopDown {
        return None;
    }
    let mut top = node;
    while top.parent != 0 {
        top = flame.nodes.get(top.parent as usize)?;
    }
    Some(top)
}

/// The most useful keys of a view, as many as fit.
fn keys(state: &State, answer: &Answer, width: usize) -> String {
    if state.help.is_some() {
        return "↑ ↓ scroll · any other key closes".to_string();
    }
    if let Some(typing) = &state.typing {
        return match typing.purpose {
            Purpose::Search => "Enter finds · Esc gives up · then n next, N previous",
            Purpose::Only => "Enter keeps these lines · Esc shows all again",
            Purpose::Options => "Tab completes · Enter asks · Esc gives up · ↑ ↓ typed before",
            Purpose::Save => "the name of the file, .html or .svg · Enter writes · Esc gives up",
        }
        .to_string();
    }
    let enter = match state.question.view {
        View::Tree => "Enter open",
        View::Flame => "Enter zoom",
        View::Top | View::Focus | View::Source | View::Hot => "Enter callers",
        View::Report => "Enter evidence",
        View::Labels | View::Timeline => "Enter keep",
    };
    let is_function = state.selected(answer).is_some();
    let of_function: &[&str] = if is_function { &["f keep", "x drop"] } else { &[] };
    let is_tree = matches!(state.question.view, View::Tree | View::Flame);
    let of_tree: &[&str] = if is_tree { &["H heaviest path"] } else { &[] };
    let back: &[&str] = if state.before.is_empty() { &[] } else { &["Backspace back"] };
    let report: &[&str] = if state.question.view == View::Report { &[] } else { &["9 report"] };
    let rest = [
        "b bottom-up",
        "& filter lines",
        "h hide frame",
        "t threads",
        "m metric",
        "s save",
        "y copy",
        "w watch",
        ": options",
    ];
    let all = ["? help", "q quit", enter].into_iter().chain(back.iter().copied());
    let all = all.chain(of_function.iter().copied()).chain(["/ search"]);
    let all = all.chain(of_tree.iter().copied()).chain(report.iter().copied()).chain(rest);
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
