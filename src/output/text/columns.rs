//! Tables as text: right-aligned numbers, the name, then texts such as files.
//!
//! The rows are made twice: once to find the widths of the columns, once to be written, so that a table of any length
//! takes no memory.

use crate::name::{display_width, fit};
use crate::output::cell::cell_text;
use crate::output::label::{LEAST_NAME, NameSpace};
use crate::output::style::{PIPE_WIDTH, Style};
use crate::output::table::{Cell, Column, Emphasis, Kind, Names, Note, Rank, Row, Table, Without};
use crate::output::text::grid;
use crate::output::text::line::TextLine;
use crate::output::width::add_blanks;

/// The lines of a table, with those above and below it.
pub(super) fn lines<'t>(table: Table<'t>, style: &'t Style) -> Box<dyn Iterator<Item = TextLine> + 't> {
    let note = |note: Note| TextLine::new(note.text, note.emphasis).about(note.part);
    let Table { above, below, columns, .. } = &table;
    let above = above.clone().into_iter().map(note);
    if columns.is_empty() {
        return Box::new(above.chain(below.clone().into_iter().map(note)));
    }
    if !columns.iter().any(|column| column.kind.is_name()) {
        let rows = grid::lines(&table, style);
        return Box::new(above.chain(rows).chain(below.clone().into_iter().map(note)));
    }
    let layout = ColumnLayout::new(&table, style);
    let below: Vec<Note> = below.iter().filter_map(|note| layout.said(note)).collect();
    let title = TextLine::row(layout.title(), Emphasis::Bold);
    let left_out = layout.left_out();
    let rows = table.rows().map(|row| (row, true)).chain(table.closing.into_iter().map(|row| (row, false)));
    let rows = rows.flat_map(move |(row, is_fitted)| {
        let (first, further) = layout.lines(&row, is_fitted);
        std::iter::once(first).chain(further)
    });
    Box::new(above.chain([title]).chain(rows).chain(left_out).chain(below.into_iter().map(note)))
}

/// Which columns fit, and how wide they are.
struct ColumnLayout<'t> {
    style: &'t Style,
    columns: Vec<Column>,
    /// The width of each column but that of the names; 0 if it is not shown.
    widths: Vec<usize>,
    /// The width available for names and the texts after them; `None` if unlimited.
    room: Option<usize>,
    /// The width of the names in rows with texts after them.
    name: usize,
    left_out: LeftOut,
    /// The columns that are shown, of numbers and of texts.
    numbers: Vec<usize>,
    texts: Vec<usize>,
    /// The width of the columns of numbers, with their gaps.
    taken: usize,
}

/// Columns that do not fit, and the width of the terminal that shows all columns.
#[derive(Default)]
struct LeftOut {
    titles: Vec<String>,
    wanted: usize,
}

impl<'t> ColumnLayout<'t> {
    fn new(table: &Table, style: &'t Style) -> Self {
        let widths = Widths::of(table, style);
        let mut layout = ColumnLayout {
            style,
            columns: table.columns.clone(),
            widths: widths.cells,
            room: None,
            name: 0,
            left_out: LeftOut::default(),
            numbers: Vec::new(),
            texts: Vec::new(),
            taken: 0,
        };
        layout.drop_numbers();
        layout.fit_texts(widths.names);
        layout.taken = layout.taken();
        layout.numbers = layout.shown(Kind::is_number).collect();
        layout.texts = layout.shown(Kind::is_text).collect();
        layout
    }

    fn title_of(&self, index: usize) -> String {
        self.style.glyphs.plain(&self.columns[index].title).into_owned()
    }

    /// The columns that are shown, of those of a kind.
    fn shown(&self, is: impl Fn(&Kind) -> bool) -> impl DoubleEndedIterator<Item = usize> {
        let shown = self.columns.iter().zip(&self.widths).enumerate();
        let shown = shown.filter(|(_, (column, width))| **width > 0 && is(&column.kind));
        shown.map(|(index, _)| index).collect::<Vec<_>>().into_iter()
    }

    /// The width of the columns of numbers, with their gaps.
    fn taken(&self) -> usize {
        self.shown(Kind::is_number).map(|index| self.widths[index] + GAP).sum()
    }

    /// The width before the names that is kept free.
    fn extra(&self) -> usize {
        self.columns.iter().map(|column| column.extra).sum()
    }

    /// Drops columns of numbers until the names have enough space.
    fn drop_numbers(&mut self) {
        let Some(width) = self.style.width else { return };
        let least_name = LEAST_NAME + self.extra();
        self.left_out.wanted = self.taken() + least_name;
        while self.taken() + least_name > width {
            let rank = |index: &usize| (self.columns[*index].asked, self.columns[*index].rank);
            let droppable = self.columns.iter().enumerate().skip(1).rev();
            let droppable =
                droppable.filter(|(index, column)| self.widths[*index] > 0 && column.kind.is_number());
            let Some(first) = droppable.map(|(index, _)| index).min_by_key(rank) else { break };
            let rank = self.columns[first].rank;
            self.left_out.titles.push(self.title_of(first));
            // All columns of a rank go together, so that the note can refer to them by title.
            for index in 1..self.columns.len() {
                let is_alike = rank != Rank::Essential && self.columns[index].rank == rank;
                if index == first || is_alike && self.columns[index].kind.is_number() {
                    self.widths[index] = 0;
                }
            }
        }
        self.room = Some(width.saturating_sub(self.taken()).max(LEAST_NAME));
    }
}

impl ColumnLayout<'_> {
    /// Divides what the numbers leave among names and the texts after them. `names` are the widths of the longest
    /// names, without and with a column that shows their places.
    fn fit_texts(&mut self, [plain, placeless]: [usize; 2]) {
        let room = self.room.unwrap_or_else(|| PIPE_WIDTH.saturating_sub(self.taken()).max(LEAST_NAME));
        let title =
            self.columns.iter().find(|column| column.kind.is_name()).map_or("", |column| &column.title);
        let least_name = LEAST_NAME + title.len() - title.trim_start().len();
        let least = |layout: &Self| -> usize {
            let texts = layout.shown(Kind::is_text);
            least_name + texts.map(|index| GAP + layout.widths[index].min(LEAST_TEXT)).sum::<usize>()
        };
        // Numbers that were dropped come back first.
        let wanted = self.left_out.wanted + least(self).saturating_sub(LEAST_NAME + self.extra());
        let dropped = self.left_out.titles.len();
        while self.style.width.is_some() && least(self) > room.max(least_name) {
            let Some(last) = self.shown(Kind::is_text).next_back() else { break };
            self.widths[last] = 0;
            if self.columns[last].asked {
                self.left_out.titles.insert(dropped, self.title_of(last));
                self.left_out.wanted = wanted;
            }
        }
        // The name gets at least half of the width; the texts share the rest.
        let texts: Vec<usize> = self.shown(Kind::is_text).collect();
        let most = (room / 2 / texts.len().max(1)).saturating_sub(GAP).max(LEAST_TEXT);
        for &index in &texts {
            self.widths[index] = self.widths[index].min(most);
        }
        let after: usize = texts.iter().map(|&index| self.widths[index] + GAP).sum();
        let longest = if self.has_places() { placeless } else { plain };
        self.name = match self.style.width {
            // In a pipe no name is shortened; the few that are longer than this push aside what follows.
            None => longest.min(WIDEST_NAME),
            Some(_) => longest.min(room.saturating_sub(after)).max(LEAST_NAME),
        };
    }

    /// Whether a column shows the places of names, so that the names need not.
    fn has_places(&self) -> bool {
        let shown = self.columns.iter().zip(&self.widths);
        shown.into_iter().any(|(column, width)| *width > 0 && matches!(column.kind, Kind::File))
    }

    /// What a line below the table says where some columns may not be shown.
    fn said(&self, note: &Note) -> Option<Note> {
        let Some(Without { column, text }) = &note.without else { return Some(note.clone()) };
        let mut shown = self.columns.iter().zip(&self.widths);
        if shown.any(|(shown, width)| *width > 0 && shown.title.trim_start() == *column) {
            return Some(note.clone());
        }
        (!text.is_empty()).then(|| Note { text: text.clone(), ..note.clone() })
    }

    /// The note that lists the columns that do not fit.
    fn left_out(&self) -> Option<TextLine> {
        let LeftOut { titles, wanted } = &self.left_out;
        let text = || format!("too narrow to show {}: {wanted} columns needed", titles.join(", "));
        (!titles.is_empty()).then(|| TextLine::new(text(), Emphasis::Faint))
    }

    fn title(&self) -> String {
        let titles: Vec<String> = (0..self.columns.len()).map(|index| self.title_of(index)).collect();
        let name = self.columns.iter().position(|column| column.kind.is_name());
        let name = name.map_or("", |index| &titles[index]);
        let mut line = self.numbers(|index| titles[index].clone());
        self.add_name(&mut line, name, |index| titles[index].clone());
        line
    }

    /// The lines of a row: the first, and those on which its names continue. The names of closing rows are not fitted: if
    /// they are too long, their ends are cut.
    ///
    /// Reports have millions of rows, so a row with a plain name takes no memory but that of its line.
    fn lines(&self, row: &Row, is_fitted: bool) -> (TextLine, Vec<TextLine>) {
        let text = |index: usize| cell_text(&row.cells[index], &self.columns[index].kind, self.style.glyphs);
        let mut first = self.numbers(text);
        let has_texts = self.texts.iter().any(|&index| !text(index).is_empty());
        let line = self.room.unwrap_or_else(|| PIPE_WIDTH.saturating_sub(self.taken).max(LEAST_NAME));
        let space = NameSpace {
            room: self.room.filter(|_| is_fitted).map(|room| if has_texts { self.name } else { room }),
            line,
            has_places: self.has_places(),
        };
        let ellipsis = self.style.glyphs.ellipsis;
        let mut further = Vec::new();
        match row.cells.iter().find(|cell| matches!(cell, Cell::Label(_) | Cell::Name(_))) {
            Some(Cell::Name(name)) => match space.room {
                Some(room) => self.add_name(&mut first, &fit(name, room, ellipsis), text),
                None => self.add_name(&mut first, name, text),
            },
            Some(Cell::Label(label)) => {
                let mut names = label.lines(space, ellipsis).into_iter();
                self.add_name(&mut first, &names.next().unwrap_or_default(), text);
                let line = |name: String| [" ".repeat(self.taken), name].concat();
                further.extend(names.map(|name| TextLine::row(line(name), row.emphasis).about(row.part)));
            }
            _ => self.add_name(&mut first, "", text),
        }
        (TextLine::row(first, row.emphasis).about(row.part), further)
    }

    /// The numbers of a line, aligned to the right.
    fn numbers(&self, text: impl Fn(usize) -> String) -> String {
        // Most names fit, so that the line need not grow.
        let mut line = String::with_capacity(self.taken + 2 * LEAST_NAME);
        for &index in &self.numbers {
            let text = text(index);
            add_blanks(&mut line, self.widths[index].saturating_sub(display_width(&text)));
            line.push_str(&text);
            add_blanks(&mut line, GAP);
        }
        line
    }

    /// Adds a name and the texts after it.
    fn add_name(&self, line: &mut String, name: &str, text: impl Fn(usize) -> String) {
        let start = line.len();
        line.push_str(name);
        let mut width = self.name;
        for &index in &self.texts {
            let used = display_width(&line[start..]);
            add_blanks(line, width.saturating_sub(used) + GAP);
            line.push_str(&fit(&text(index), self.widths[index], self.style.glyphs.ellipsis));
            width += GAP + self.widths[index];
        }
    }
}

/// How wide the cells of a table are.
struct Widths {
    /// The widest cell of each column.
    cells: Vec<usize>,
    /// The longest name before texts, without and with a column for places.
    names: [usize; 2],
}

impl Widths {
    fn of(table: &Table, style: &Style) -> Self {
        // A column of texts without any text is not shown, unless it was requested.
        let title = |column: &Column| match column.kind {
            Kind::Name => 0,
            ref kind if kind.is_text() && !column.asked => 0,
            _ => display_width(&style.glyphs.plain(&column.title)),
        };
        let name = table.columns.iter().find(|column| column.kind.is_name());
        let name = name.map_or(0, |column| display_width(&column.title));
        let mut widths = Widths { cells: table.columns.iter().map(title).collect(), names: [name, name] };
        let has_texts = table.columns.iter().any(|column| column.kind.is_text());
        let mut add = |row: &Row, is_closing: bool| {
            for ((cell, column), width) in row.cells.iter().zip(&table.columns).zip(&mut widths.cells) {
                match cell {
                    Cell::Label(label) if has_texts && !is_closing => {
                        widths.names[0] = widths.names[0].max(label.width(false));
                        widths.names[1] = widths.names[1].max(label.width(true));
                    }
                    Cell::Name(name) if has_texts && !is_closing => {
                        let width = display_width(name);
                        widths.names = widths.names.map(|widest| widest.max(width));
                    }
                    Cell::Label(_) | Cell::Name(_) | Cell::Empty => {}
                    cell => {
                        *width = (*width).max(display_width(&cell_text(cell, &column.kind, style.glyphs)));
                    }
                }
            }
        };
        let names = if has_texts { Names::Made } else { Names::Empty };
        table.rows_with(names).for_each(|row| add(&row, false));
        table.closing.iter().for_each(|row| add(row, true));
        for (width, column) in widths.cells.iter_mut().zip(&table.columns) {
            if column.kind.is_text() && *width > 0 {
                // Short texts, such as `m.c`, leave room for their title.
                let title = display_width(&style.glyphs.plain(&column.title));
                *width = (*width).min(MOST_TEXT).max(title);
            }
        }
        widths
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

/// In a pipe, longer names push the texts after them to the right instead of widening every row.
const WIDEST_NAME: usize = 80;

/// The maximum width of a column after the name.
const MOST_TEXT: usize = 32;

/// The minimum width of a column whose texts are at least this wide.
const LEAST_TEXT: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::label::Label;
    use crate::output::table::{Columns, Form};

    /// The titles that a terminal shows of columns of eight characters and two blanks each, and the note.
    fn kept(columns: &[(&'static str, Rank, bool)], width: usize) -> (String, String) {
        let mut all = Columns::new();
        for &(title, rank, is_asked) in columns {
            all.show(title, Kind::Word, |()| "12345678").rank(rank).asked(is_asked);
        }
        all.show("NAME", Kind::Name, |()| Label::new("main"));
        let style = Style { width: Some(width), ..Style::plain() };
        let table = all.table(Form::Text, &[], || std::iter::once(()), []);
        let lines: Vec<String> = lines(table, &style).map(|line| line.text).collect();
        let titles = lines[0].trim_end_matches("NAME").split_whitespace().collect::<Vec<_>>().join(" ");
        (titles, lines.get(2).cloned().unwrap_or_default())
    }

    #[test]
    fn columns_that_follow_from_others_are_dropped_first() {
        let side = |value| {
            let essential = Rank::Essential;
            [(value, essential), ("OLD", Rank::Old), ("Δ", essential), ("Δ%", Rank::ChangeShare)]
        };
        let both: Vec<(&str, Rank, bool)> =
            side("SELF").into_iter().chain(side("TOTAL")).map(|(title, rank)| (title, rank, false)).collect();
        for (width, want, note) in [
            (98, "SELF OLD Δ Δ% TOTAL OLD Δ Δ%", ""),
            (97, "SELF Δ Δ% TOTAL Δ Δ%", "too narrow to show OLD: 98 columns needed"),
            (77, "SELF Δ TOTAL Δ", "too narrow to show OLD, Δ%: 98 columns needed"),
            (57, "SELF Δ TOTAL", "too narrow to show OLD, Δ%, Δ: 98 columns needed"),
            (10, "SELF", "too narrow to show OLD, Δ%, Δ, TOTAL, Δ: 98 columns needed"),
        ] {
            assert_eq!(kept(&both, width), (want.to_string(), note.to_string()), "{width}");
        }
    }

    #[test]
    fn the_note_counts_the_numbers_that_come_back_before_a_text() {
        let lines_of = |width| {
            let mut columns = Columns::new();
            columns.show("TOTAL", Kind::Word, |()| "12345678");
            columns.show("%", Kind::Word, |()| "12345678").rank(Rank::Share);
            columns.show("NAME", Kind::Name, |()| Label::new("main"));
            columns.show("HEAVIEST", Kind::Text, |()| "parse").asked(true);
            let style = Style { width: Some(width), ..Style::plain() };
            let table = columns.table(Form::Text, &[], || std::iter::once(()), []);
            lines(table, &style).map(|line| line.text).skip(2).collect::<Vec<_>>()
        };
        let [note] = &lines_of(20)[..] else { panic!("{:?}", lines_of(20)) };
        let wanted = note.strip_prefix("too narrow to show %, HEAVIEST: ").unwrap();
        let wanted = wanted.strip_suffix(" columns needed").unwrap().parse().unwrap();
        assert!(lines_of(wanted).is_empty() && !lines_of(wanted - 1).is_empty(), "{wanted}");
    }

    #[test]
    fn titles_of_short_texts_are_whole() {
        let style = Style { width: Some(80), ..Style::plain() };
        let mut columns = Columns::new();
        columns.show("TOTAL", Kind::Word, |()| "1");
        columns.show("FUNCTION", Kind::Name, |()| Label::new("main"));
        columns.show("FILE", Kind::File, |()| "m.c");
        columns.show("NOTE", Kind::Text, |()| "");
        let table = columns.table(Form::Text, &[], || std::iter::once(()), []);
        let title = lines(table, &style).next().unwrap().text;
        assert_eq!(title.split_whitespace().collect::<Vec<_>>(), ["TOTAL", "FUNCTION", "FILE"]);
    }

    #[test]
    fn requested_columns_stay() {
        let columns = |is_asked| {
            let (essential, share) = (Rank::Essential, Rank::Share);
            [
                ("SELF", essential, false),
                ("%", share, false),
                ("TOTAL", essential, false),
                ("%", share, false),
                ("CHILDREN", Rank::Children, false),
                ("SUM%", Rank::Sum, is_asked),
            ]
        };
        assert_eq!(kept(&columns(false), 60).0, "SELF TOTAL SUM%");
        assert_eq!(kept(&columns(false), 70).0, "SELF % TOTAL % SUM%");
        assert_eq!(kept(&columns(false), 47).0, "SELF TOTAL");
        assert_eq!(kept(&columns(true), 52).0, "SELF TOTAL SUM%");
    }

    #[test]
    fn a_line_does_not_explain_a_column_that_is_not_shown() {
        let below = |width| {
            let mut columns = Columns::new();
            columns.show("%TOP", Kind::Word, |()| "12345678").rank(Rank::ShareOfFunction);
            columns.show("SELF", Kind::Word, |()| "12345678");
            columns.show("PER CALL", Kind::Word, |()| "12345678").rank(Rank::PerCall);
            columns.show("NAME", Kind::Name, |()| Label::new("main"));
            let mut table = columns.table(Form::Text, &[], || std::iter::once(()), []);
            table.below = vec![
                Note::faint("SELF and PER CALL").without("PER CALL", "SELF"),
                Note::faint("PER CALL").without("PER CALL", ""),
            ];
            let style = Style { width: Some(width), ..Style::plain() };
            let texts: Vec<String> = lines(table, &style).map(|line| line.text).collect();
            texts.into_iter().skip(2).filter(|line| !line.starts_with("too narrow")).collect::<Vec<_>>()
        };
        assert_eq!(below(48), ["SELF and PER CALL", "PER CALL"]);
        assert_eq!(below(20), ["SELF"]);
    }

    #[test]
    fn branches_have_space_before_names() {
        let titles = |extra| {
            let mut columns = Columns::new();
            columns.show("SELF", Kind::Word, |()| "12345678");
            columns.show("%", Kind::Word, |()| "12345678").rank(Rank::Share);
            columns.show("NAME", Kind::Name, |()| Label::new("main")).extra(extra);
            let style = Style { width: Some(38), ..Style::plain() };
            let table = columns.table(Form::Text, &[], || std::iter::once(()), []);
            lines(table, &style).next().unwrap().text
        };
        assert_eq!(titles(0).split_whitespace().collect::<Vec<_>>(), ["SELF", "%", "NAME"]);
        assert_eq!(titles(4).split_whitespace().collect::<Vec<_>>(), ["SELF", "NAME"]);
    }
}
