//! The text columns of the flat view, to the right of the numbers: mark, name, file, line, package.

use crate::name::{clean, display_width, fit, package, split_shown};
use crate::output::text::layout::{LEAST_NAME, note};
use crate::output::text::names::{DisplayNames, file_cell, short_file};
use crate::output::text::table::{TextLine, pad};
use crate::output::text::{Style, TextColumn};
use crate::report::{Header, Top, TopRow};

/// The text columns of `top`: mark and name, then columns such as FILE where they fit.
pub(super) struct NameColumns<'t> {
    rows: &'t [TopRow],
    header: &'t Header,
    names: &'t DisplayNames,
    style: &'t Style,
    /// The columns after the name, and their widths.
    columns: Vec<(TextColumn, usize)>,
    /// The width of mark and name: that of the longest name, or what the other columns leave.
    name: usize,
    /// The titles of the requested columns that do not fit, and the terminal width they need.
    left_out: (Vec<String>, usize),
}

impl<'t> NameColumns<'t> {
    pub(super) fn new(top: &'t Top, names: &'t DisplayNames, style: &'t Style, room: usize) -> Self {
        let (rows, header) = (&top.rows[..], &top.header);
        let is_text =
            |column: &TextColumn| matches!(column, TextColumn::File | TextColumn::Line | TextColumn::Package);
        let mut wanted: Vec<TextColumn> = style.columns.iter().copied().filter(is_text).collect();
        if style.columns.is_empty() && style.is_wide() && header.by.is_function() {
            wanted.push(TextColumn::File);
        }
        let width = |&column: &TextColumn| {
            let widths = rows.iter().map(|row| display_width(&cell(row, column, style)));
            let least = if style.columns.is_empty() { 0 } else { title_of(column).len() };
            (column, widths.max().unwrap_or(0).max(least).min(MOST_TEXT))
        };
        let mut columns: Vec<(TextColumn, usize)> =
            wanted.iter().map(width).filter(|(_, width)| *width > 0).collect();
        // Columns that would leave too little for the name are dropped, the last one first.
        let mut left_out = (Vec::new(), 0);
        let least = |columns: &[(TextColumn, usize)]| -> usize {
            columns.iter().map(|(_, width)| GAP + *width.min(&LEAST_TEXT)).sum()
        };
        let whole = MARK + LEAST_NAME + least(&columns);
        while style.width.is_some() && MARK + LEAST_NAME + least(&columns) > room.max(MARK + LEAST_NAME) {
            let Some((column, _)) = columns.pop() else { break };
            left_out.0.insert(0, title_of(column).to_string());
        }
        left_out.1 = style.width.unwrap_or_default() + whole.saturating_sub(room);
        if style.columns.is_empty() {
            left_out.0.clear();
        }
        // The name gets at least half of the width; the other columns share the rest.
        let most = (room / 2 / columns.len().max(1)).saturating_sub(GAP).max(LEAST_TEXT);
        for (_, width) in &mut columns {
            *width = most.min(*width);
        }
        let after: usize = columns.iter().map(|(_, width)| width + GAP).sum();
        let mut texts = NameColumns { rows, header, names, style, columns, name: room, left_out };
        texts.name = texts.name_width(room, after);
        texts
    }

    /// The width of mark and name, of `room` columns of which `after` are taken by the columns after it.
    fn name_width(&self, room: usize, after: usize) -> usize {
        let longest =
            self.rows.iter().map(|row| display_width(&self.shown_name(row))).max().unwrap_or(0) + MARK;
        match (&self.columns[..], self.style.width) {
            ([], _) => room,
            // In a pipe no name is shortened; the few that are longer than this push aside what follows.
            (_, None) => longest.min(WIDEST_NAME),
            (_, Some(_)) => longest.min(room.saturating_sub(after)).max(LEAST_NAME),
        }
    }

    /// The note that lists the columns that do not fit.
    pub(super) fn note(&self) -> Option<TextLine> {
        let (left_out, wanted) = &self.left_out;
        note(left_out, *wanted)
    }

    pub(super) fn title(&self) -> String {
        let title = format!("  {}", self.header.by.one.to_uppercase());
        if self.columns.is_empty() {
            return title;
        }
        let titles = self.columns.iter().map(|&(column, width)| pad(title_of(column), width));
        std::iter::once(pad(&title, self.name)).chain(titles).collect::<Vec<_>>().join(BETWEEN)
    }

    fn shown_name(&self, row: &TopRow) -> String {
        let is_marked = self.header.is_highlighted(&row.name);
        let mark = if is_marked { self.style.glyphs.marked } else { "" };
        let name = self.names.get(&row.name);
        let name = match split_shown(name) {
            Some((function, _)) if self.has_place_column() => function,
            _ => name,
        };
        if row.files > 1 { format!("{mark}{name} ({} files)", row.files) } else { format!("{mark}{name}") }
    }

    /// Whether the FILE column shows the places that names end in, so that the names need not.
    fn has_place_column(&self) -> bool {
        !self.style.full_names && self.columns.iter().any(|(column, _)| *column == TextColumn::File)
    }

    pub(super) fn line(&self, row: &TopRow) -> String {
        let style = self.style;
        let mark = if row.candidate { style.glyphs.candidate } else { " " };
        let mut name = self.shown_name(row);
        if style.width.is_some() {
            name = fit(&name, self.name.saturating_sub(MARK), style.glyphs.ellipsis);
        }
        let mut line = format!("{mark} {name}");
        let mut width = self.name;
        for &(column, room) in &self.columns {
            let text = fit(&cell(row, column, style), room, style.glyphs.ellipsis);
            line = format!("{}{BETWEEN}{text}", pad(&line, width));
            width += GAP + room;
        }
        line
    }
}

fn title_of(column: TextColumn) -> &'static str {
    match column {
        TextColumn::Line => "LINE",
        TextColumn::Package => "PACKAGE",
        _ => "FILE",
    }
}

/// The text of a row in a column after the name.
fn cell(row: &TopRow, column: TextColumn, style: &Style) -> String {
    let file = row.file.as_deref().unwrap_or_default();
    match column {
        TextColumn::Line => row.line.map(|line| line.to_string()).unwrap_or_default(),
        TextColumn::Package => {
            package(&row.function, file).map_or_else(String::new, |name| clean(&name).into())
        }
        _ if style.full_names => short_file(file),
        _ => file_cell(&row.name, file),
    }
}

/// The gap between two columns.
const BETWEEN: &str = "  ";

/// The width of the gap.
const GAP: usize = BETWEEN.len();

/// The width of the mark before a name.
const MARK: usize = 2;

/// In a pipe, longer names push the columns after them to the right instead of widening every row.
const WIDEST_NAME: usize = 80;

/// The maximum width of a column after the name.
const MOST_TEXT: usize = 32;

/// The minimum width of a column whose texts are at least this wide.
const LEAST_TEXT: usize = 12;
