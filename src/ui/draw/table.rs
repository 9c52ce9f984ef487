//! Lines with numbers and names: `top`, `tree`, callers and callees, labels, and views that are shown as text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::name::{display_width, fit};
use crate::output::{Emphasis, ScreenLine, scale};
use crate::report::{Header, MetricName, Report};
use crate::ui::answer::{Answer, Line};
use crate::ui::draw::cells::put;
use crate::ui::draw::theme::Theme;
use crate::ui::state::State;
use crate::unit::{Scale, share};

/// A column of numbers.
struct Column {
    title: String,
    width: usize,
    what: What,
}

/// What a column shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Own,
    OwnShare,
    OwnOld,
    OwnChange,
    Total,
    TotalShare,
    ShownShare,
    /// The share in the function whose callers and callees are shown.
    FunctionShare,
    TotalOld,
    TotalChange,
    /// Self of one of several metrics.
    MetricOwn(usize),
    /// Its total.
    MetricTotal(usize),
}

impl What {
    /// What `--sort` calls it.
    fn sort_key(self) -> &'static str {
        match self {
            What::Own | What::OwnShare | What::MetricOwn(_) => "self",
            What::Total
            | What::TotalShare
            | What::ShownShare
            | What::FunctionShare
            | What::MetricTotal(_) => "total",
            What::OwnOld | What::TotalOld => "old",
            What::OwnChange | What::TotalChange => "delta",
        }
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

/// What names keep at least.
const LEAST_NAME: usize = 14;

/// From this width on, old values are shown next to new ones, and shares of what filters left.
const WIDE: u16 = 110;

pub(super) fn draw(state: &State, answer: &Answer, theme: Theme, area: Rect, cells: &mut Buffer) {
    let first = state.cursor.top.min(state.lines.len());
    let lines = on_screen(state);
    if !answer.text.is_empty() {
        return draw_text(state, answer, theme, lines, area, cells);
    }
    let scales = Scales::of(answer);
    let columns = columns(answer, &scales, lines, area.width);
    let taken: usize = columns.iter().map(|column| column.width + GAP).sum();
    let titles = columns.iter().map(|column| (column.width, column.title.clone()));
    draw_numbers(titles, area.y, Theme::bold(), cells);
    let title = title_of_names(answer);
    put(cells, taken as u16, area.y, &title, usize::from(area.width), Theme::bold());
    for (place, &line) in lines.iter().enumerate() {
        let y = area.y + 1 + place as u16;
        let is_selected = first + place == state.cursor.selected;
        let base = if is_selected { Theme::selected() } else { style_of(answer, line, theme) };
        if is_selected {
            cells.set_style(Rect { y, height: 1, ..area }, base);
        }
        let number = |what: What| theme.signed(text_of(answer, &scales, what, line));
        let numbers = columns.iter().map(|column| (column.width, number(column.what)));
        draw_numbers(numbers, y, base, cells);
        if !is_selected {
            draw_changes(answer, &columns, line, theme, y, cells);
        }
        let before = branches(state, answer, theme, line, usize::from(area.width).saturating_sub(taken));
        let room = usize::from(area.width).saturating_sub(taken + display_width(&before));
        let text = answer.text_of(line);
        let is_found =
            state.search.as_ref().is_some_and(|search| search.finds(&text)) || is_marked(answer, line);
        put(cells, taken as u16, y, &before, usize::from(area.width) - taken, base);
        let x = (taken + display_width(&before)) as u16;
        let style = if is_found { base.patch(Theme::found()) } else { base };
        put(cells, x, y, &fit(&text, room, theme.ellipsis()), room, style);
    }
    if state.lines.is_empty() && state.cursor.only.is_none() {
        put(cells, 0, area.y + 1, nothing(answer), usize::from(area.width), theme.faint());
    }
}

/// The lines that are on the screen.
fn on_screen(state: &State) -> &[Line] {
    let first = state.cursor.top.min(state.lines.len());
    &state.lines[first..state.lines.len().min(first + state.page())]
}

/// The key of `--sort` for the column whose title is at this place of the screen.
pub(in crate::ui) fn sort_key_at(state: &State, answer: &Answer, x: u16) -> Option<&'static str> {
    if !answer.text.is_empty() || answer.flame().is_some() {
        return None;
    }
    let mut end = 0;
    for column in columns(answer, &Scales::of(answer), on_screen(state), state.size.0) {
        end += column.width + GAP;
        if usize::from(x) < end {
            return Some(column.what.sort_key());
        }
    }
    Some("name")
}

/// Whether `--highlight` marks the function of a line.
fn is_marked(answer: &Answer, line: Line) -> bool {
    let header = answer.report.header();
    answer.name_of(line).zip(header).is_some_and(|(name, header)| header.is_highlighted(name))
}

/// Why there are no lines.
pub(super) fn nothing(answer: &Answer) -> &'static str {
    match answer.report.header() {
        Some(header) if !header.filters.is_empty() => "nothing is left: X removes all filters",
        _ if matches!(*answer.report, Report::Labels(_)) => "the samples of this profile have no labels",
        _ => "the profile has no values of this metric",
    }
}

fn draw_text(state: &State, answer: &Answer, theme: Theme, lines: &[Line], area: Rect, cells: &mut Buffer) {
    let selected = answer.block(&state.lines, state.cursor.selected);
    for (place, line) in lines.iter().enumerate() {
        let Line::Text(row) = line else { continue };
        let Some(ScreenLine { text, emphasis, .. }) = answer.text.get(*row as usize) else { continue };
        let is_selected = selected.contains(&(state.cursor.top + place));
        let is_found = state.search.as_ref().is_some_and(|search| search.finds(text));
        let style = match emphasis {
            _ if is_selected => Theme::selected(),
            _ if is_found => Theme::found(),
            Emphasis::Bold => Theme::bold(),
            Emphasis::Strong => theme.strong(),
            Emphasis::Marked => Theme::found(),
            Emphasis::Faint => theme.faint(),
            Emphasis::None | Emphasis::Command => Style::new(),
        };
        let y = area.y + place as u16;
        if is_selected {
            cells.set_style(Rect { y, height: 1, ..area }, style);
        }
        put(cells, 0, y, text, usize::from(area.width), style);
    }
}

/// Numbers, aligned to the right.
fn draw_numbers(texts: impl Iterator<Item = (usize, String)>, y: u16, style: Style, cells: &mut Buffer) {
    let mut end = 0;
    for (width, text) in texts {
        end += width;
        let x = end.saturating_sub(display_width(&text));
        put(cells, x as u16, y, &text, width, style);
        end += GAP;
    }
}

/// Colours what grew and what shrank.
fn draw_changes(answer: &Answer, columns: &[Column], line: Line, theme: Theme, y: u16, cells: &mut Buffer) {
    let mut x = 0;
    for column in columns {
        if matches!(column.what, What::OwnChange | What::TotalChange) {
            let change = value_of(answer, column.what, line).unwrap_or(0);
            let style = match change.signum() {
                1 => theme.grew(),
                -1 => theme.shrank(),
                _ => Style::new(),
            };
            cells.set_style(
                Rect { x, y, width: column.width as u16, height: 1 }.intersection(*cells.area()),
                style,
            );
        }
        x += (column.width + GAP) as u16;
    }
}

fn style_of(answer: &Answer, line: Line, theme: Theme) -> Style {
    match (&*answer.report, line) {
        (_, Line::Title(_) | Line::Subject | Line::Key(_)) => Theme::bold(),
        (_, Line::Cut(..)) => theme.faint(),
        (Report::Top(top), Line::Top(row))
            if top.rows[row as usize].candidate && top.header.base.is_none() =>
        {
            theme.strong()
        }
        _ => Style::new(),
    }
}

/// What is above the names.
fn title_of_names(answer: &Answer) -> String {
    match &*answer.report {
        Report::Labels(_) => "LABEL".to_string(),
        Report::Focus(_) => String::new(),
        Report::Tree(_) if answer.is_bottom_up() => {
            let noun = answer.report.header().map_or("", |header| header.by.one).to_uppercase();
            format!("{noun}, CALLERS BELOW")
        }
        report => report.header().map_or("", |header| header.by.one).to_uppercase(),
    }
}

/// What is before the name of a line: the depth of a row, and whether it is open. `room` is that of both.
fn branches(state: &State, answer: &Answer, theme: Theme, line: Line, room: usize) -> String {
    let (open, closed, leaf) = if theme.unicode { ("▾ ", "▸ ", "  ") } else { ("- ", "+ ", "  ") };
    match (&*answer.report, line) {
        (Report::Tree(tree), Line::Tree(row)) => {
            let mark = match answer.has_children(row) {
                true if state.cursor.open.contains(&row) => open,
                true => closed,
                false => leaf,
            };
            indented(tree.rows[row as usize].depth, room, theme) + mark
        }
        (Report::Tree(tree), Line::Cut(Some(row), _)) => {
            indented(tree.rows[row as usize].depth + 1, room, theme) + theme.ellipsis() + " "
        }
        (_, Line::Cut(..)) => format!("{} ", theme.ellipsis()),
        (_, Line::Caller(_) | Line::Callee(_) | Line::Label(..) | Line::Itself) => "  ".to_string(),
        _ => String::new(),
    }
}

/// The indentation of a row; that of deep rows is a number, so that their names keep some of the room.
fn indented(depth: u32, room: usize, theme: Theme) -> String {
    const DEEPEST: usize = 16;
    const MARK: usize = 2;
    let deepest = (room.saturating_sub(LEAST_NAME + MARK) / 2).min(DEEPEST);
    if depth as usize <= deepest {
        return "  ".repeat(depth as usize);
    }
    let number = format!("{}{depth} ", if theme.unicode { "↳" } else { ">" });
    let width = deepest * 2;
    format!("{}{number}", " ".repeat(width.saturating_sub(display_width(&number))))
}

/// How values are written.
struct Scales {
    first: Option<Scale>,
    further: Vec<Option<Scale>>,
}

impl Scales {
    fn of(answer: &Answer) -> Self {
        let Some(header) = answer.report.header() else { return Scales { first: None, further: Vec::new() } };
        let largest = header.shown.max(header.old_total());
        let unit = answer.unit();
        let of_metric = |metric: &MetricName, largest| scale(metric, largest, unit.as_ref()).ok();
        let first = of_metric(&header.metric, largest);
        let further = header.metrics.iter().map(|metric| of_metric(&metric.metric, metric.shown)).collect();
        Scales { first, further }
    }

    fn of_column(&self, what: What) -> Option<&Scale> {
        match what {
            What::MetricOwn(index) | What::MetricTotal(index) => self.further.get(index)?.as_ref(),
            _ => self.first.as_ref(),
        }
    }
}

/// The columns that fit, the first of which stay.
fn columns(answer: &Answer, scales: &Scales, lines: &[Line], width: u16) -> Vec<Column> {
    let wanted = wanted(answer, width);
    let widest = |what: What| {
        lines.iter().map(|&line| display_width(&text_of(answer, scales, what, line))).max().unwrap_or(0)
    };
    let least = |what: What| match what {
        What::OwnShare | What::TotalShare | What::ShownShare | What::FunctionShare => 6,
        _ => 7,
    };
    let mut left = usize::from(width).saturating_sub(LEAST_NAME);
    let mut columns = Vec::new();
    for (title, what) in wanted {
        let width = display_width(&title).max(widest(what)).max(least(what));
        if left < width + GAP && !columns.is_empty() {
            break;
        }
        left = left.saturating_sub(width + GAP);
        columns.push(Column { title, width, what });
    }
    columns
}

/// The columns of a view, the most important first.
fn wanted(answer: &Answer, width: u16) -> Vec<(String, What)> {
    let titled =
        |list: &[(&str, What)]| list.iter().map(|(title, what)| ((*title).to_string(), *what)).collect();
    let Some(header) = answer.report.header() else { return Vec::new() };
    let has_own = matches!(*answer.report, Report::Top(_) | Report::Tree(_));
    let own_first = matches!(*answer.report, Report::Top(_)) || answer.is_bottom_up();
    if header.metrics.len() > 1 && has_own {
        let name = |index: usize| header.metrics[index].metric.name.to_uppercase();
        let of_metric =
            |index| [(name(index), What::MetricOwn(index)), ("TOTAL".to_string(), What::MetricTotal(index))];
        return (0..header.metrics.len()).flat_map(of_metric).collect();
    }
    let filtered = !header.filters.is_empty() && width >= WIDE;
    let in_order = |own: &[(&'static str, What)], total: &[(&'static str, What)]| match (has_own, own_first) {
        (true, true) => [own, total].concat(),
        (true, false) => [total, own].concat(),
        (false, _) => total.to_vec(),
    };
    if header.base.is_some() {
        let all = in_order(
            &[("SELF", What::Own), ("OLD", What::OwnOld), ("CHANGE", What::OwnChange)],
            &[("TOTAL", What::Total), ("OLD", What::TotalOld), ("CHANGE", What::TotalChange)],
        );
        let fits = |what: &What| width >= WIDE || !has_own || !matches!(what, What::OwnOld | What::TotalOld);
        return titled(&all.into_iter().filter(|(_, what)| fits(what)).collect::<Vec<_>>());
    }
    let mut all = in_order(
        &[("SELF", What::Own), ("%", What::OwnShare)],
        &[("TOTAL", What::Total), ("%", What::TotalShare)],
    );
    if matches!(*answer.report, Report::Focus(_)) {
        all.push(("%FUNC", What::FunctionShare));
    }
    if filtered {
        all.push(("%SHOWN", What::ShownShare));
    }
    titled(&all)
}

/// The number in a column.
fn value_of(answer: &Answer, what: What, line: Line) -> Option<i64> {
    let numbers = answer.numbers(line);
    let old = |own: bool| numbers.old.map(|old| if own { old.self_value } else { old.total });
    match what {
        What::Own | What::OwnShare => numbers.own,
        What::Total | What::TotalShare | What::ShownShare | What::FunctionShare => numbers.total,
        What::OwnOld => old(true),
        What::TotalOld => old(false),
        What::OwnChange => Some(numbers.own? - old(true)?),
        What::TotalChange => Some(numbers.total? - old(false)?),
        What::MetricOwn(index) => Some(answer.metric_of(line, index)?.self_value),
        What::MetricTotal(index) => Some(answer.metric_of(line, index)?.total),
    }
}

fn text_of(answer: &Answer, scales: &Scales, what: What, line: Line) -> String {
    let Some(value) = value_of(answer, what, line) else { return String::new() };
    let whole = |of: fn(&Header) -> i64| answer.report.header().map_or(0, of);
    match (what, scales.of_column(what)) {
        (What::OwnShare | What::TotalShare, _) => share(value, whole(|header| header.total)),
        (What::ShownShare, _) => share(value, whole(|header| header.shown)),
        (What::FunctionShare, _) => share(value, answer.numbers(Line::Subject).total.unwrap_or(0)),
        (_, None) => value.to_string(),
        (What::OwnChange | What::TotalChange, Some(scale)) => scale.format_signed(value),
        (_, Some(scale)) => scale.format(value),
    }
}
