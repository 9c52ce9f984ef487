//! Tables: what a report looks like as rows and columns.
//!
//! A view describes its table once, in `output/tables/<view>.rs`; text, Markdown and CSV print it, and nothing else
//! lays out cells. This is the path of one number of `prof top`:
//!
//! ```text
//! report::TopRow ──column("calls", …)──► Cell::Number(1024) ──► CSV   calls     1024
//!    (one row)       (tables/top.rs)         (typed)        ├─► text  CALLS    1,024
//!                                                           └─► Markdown | CALLS | … | 1,024 |
//! ```
//!
//! # Describing a table
//!
//! [`Columns`] is a list of entries in the order in which programs get them, which is that of the keys in JSON. An entry
//! is a key, a kind, and the function from a row to its cell; it may have a title, and then people see it too:
//!
//! ```text
//! let mut columns = Columns::new();
//! columns.add("name", Kind::Name, move |row: &&TopRow| label(row)).titled("FUNCTION");
//! columns.add("self", Kind::Value(scale), |row| row.values.self_value).titled("SELF");
//! columns.show("%", Kind::Share, |row| Cell::Share { part: row.values.self_value, whole }).rank(Rank::Share);
//! columns.add("candidate", Kind::Flag, |row| row.candidate);
//! let table = columns.table(form, &[], move || top.rows.iter(), []);
//! ```
//!
//! - [`Columns::add`] takes a key, so the column is in CSV. [`Columns::show`] takes none: it follows from other columns, such as a share, and is only
//!   for people. A key without a title is only for programs.
//! - The rows may be of any type `R`: rows of the report, or lines that a view makes of them (a tree joins rows on one
//!   line). Whatever ends a table (`… 12 more functions`, `all`) is of the same type, see [`Table::closing`]; cells that
//!   mean nothing in it are [`Cell::Empty`], to which `None` converts.
//! - The rows are made again each time they are asked for, one by one: a tree has millions of them, and CSV writes them
//!   as they come. Text asks twice: for the widths (without names unless texts follow them), then to write.
//! - [`Form`] says for whom the table is. [`Columns::table`] keeps the entries for programs as they are listed; for people
//!   it puts numbers first, then the name, then texts, so that a long name never moves a number. [`Group`]s are what
//!   people choose from with `--columns`: a value and its shares are one group, and the order of the groups is that of
//!   the request.
//! - A view with several tables (`hot`, `source`) returns several; each may have lines above and below ([`Note`]). A
//!   table without columns is nothing but these lines.
//!
//! # What the kinds mean
//!
//! The [`Kind`] of a column decides how its cells are printed: a [`Cell::Number`] of [`Kind::Value`] is `86.03s` for people
//! and `86030000000` in CSV. Scales are chosen by the view, from the largest value of the report, and not from the cells
//! of the column, so that a filtered table has the unit of the whole. Programs always get the integers.
//!
//! # Names
//!
//! Most tables for people have one [`Kind::Name`], with a [`Label`] in each row: branches and marks before it, one or
//! several names that a narrow terminal shortens, and what follows them (`suffix`, such as ` (new)`). For CSV the
//! cell is the name as it is. A table without names has a [`Kind::Key`] first and may end with a [`Kind::Prose`], which is
//! wrapped; such tables are short, and comfy-table lays them out.
//!
//! # Narrow terminals
//!
//! Text drops columns of numbers until names have enough space: the lowest [`Rank`] first, all columns of one rank together, then
//! from right to left. The first column stays, and requested ones ([`Entry::asked`]) go last. A note names the titles.

use std::borrow::Cow;
use std::rc::Rc;

use crate::output::label::Label;
use crate::output::style::{Style, TextColumn};
use crate::output::width::wrap;
use crate::report::Name;
use crate::unit::Scale;

/// For whom a table is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A terminal or a pipe.
    Text,
    /// A document or a comment.
    Markdown,
    /// A program.
    Csv,
}

/// Rows and columns, and the lines above and below them.
#[derive(Default)]
pub(super) struct Table<'r> {
    /// The lines above: what the table is about.
    pub(super) above: Vec<Note>,
    /// The columns; none if the lines are all there is.
    pub(super) columns: Vec<Column>,
    /// The lines below: remarks on what the rows show.
    pub(super) below: Vec<Note>,
    /// Makes the rows, with or without names; `None` where there are none.
    rows: Option<Box<dyn Fn(Names) -> Rows<'r> + 'r>>,
    /// The last rows: what was cut, and sums.
    pub(super) closing: Vec<Row<'r>>,
}

/// The rows of a table, made one by one.
pub(super) type Rows<'r> = Box<dyn Iterator<Item = Row<'r>> + 'r>;

impl<'r> Table<'r> {
    /// Lines without a table.
    pub(super) fn of_notes(above: Vec<Note>) -> Self {
        Table { above, ..Table::default() }
    }

    /// The rows, without the closing ones.
    pub(super) fn rows(&self) -> Rows<'r> {
        self.rows_with(Names::Made)
    }

    /// The same, perhaps with empty cells for their names, which take most of the time.
    pub(super) fn rows_with(&self, names: Names) -> Rows<'r> {
        self.rows.as_ref().map_or_else(|| Box::new(std::iter::empty()) as Rows, |rows| rows(names))
    }
}

/// Whether the names of rows are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Made,
    Empty,
}

/// A line above or below a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) emphasis: Emphasis,
    /// What it says something about.
    pub(super) part: Option<ReportPart>,
    /// For a line that explains a column: what is said where a narrow terminal does not show that column.
    pub(super) without: Option<Without>,
}

/// What a line says where a column is not shown.
#[derive(Clone, Debug)]
pub(super) struct Without {
    /// The title of the column.
    pub(super) column: &'static str,
    /// The text without it; empty if the line is about nothing else.
    pub(super) text: String,
}

/// What a line shows of its report, by its place in a list of the report: a screen knows what is selected without reading the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportPart {
    /// What changed, in `report`.
    Changes,
    /// One of the causes.
    Cause(usize),
    /// One of the findings.
    Finding(usize),
    /// One of the remarks.
    Remark(usize),
    /// A step of the heaviest path, in `hot`.
    Step(usize),
    /// One of the sequences.
    Sequence(usize),
    /// A row of activity, in `timeline`.
    Activity(usize),
    /// One of the phases.
    Phase(usize),
    /// One of the functions, in `source`.
    Function(usize),
}

impl Note {
    /// A sentence.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Note { text: text.into(), ..Note::default() }
    }

    /// A remark.
    pub(super) fn faint(text: impl Into<String>) -> Self {
        Note { emphasis: Emphasis::Faint, ..Note::plain(text) }
    }

    /// The title of a table.
    pub(super) fn title(text: impl Into<String>) -> Self {
        Note { emphasis: Emphasis::Bold, ..Note::plain(text) }
    }

    /// A command.
    pub(super) fn command(text: impl Into<String>) -> Self {
        Note { emphasis: Emphasis::Command, ..Note::plain(text) }
    }

    /// The same, with what is said where the column of this title is not shown.
    pub(super) fn without(self, column: &'static str, text: impl Into<String>) -> Self {
        Note { without: Some(Without { column, text: text.into() }), ..self }
    }

    /// The same, about a part of the report.
    pub(super) fn about(self, part: ReportPart) -> Self {
        Note { part: Some(part), ..self }
    }
}

/// The lines of notes that are wrapped in a pipe, too, in characters that the terminal shows.
pub(super) fn wrapped(notes: impl IntoIterator<Item = Note>, style: &Style) -> Vec<Note> {
    let lines = |note: Note| {
        let lines = wrap(&style.glyphs.plain(&note.text), style.layout_width());
        lines.into_iter().map(move |text| Note { text, ..note.clone() })
    };
    notes.into_iter().flat_map(lines).collect()
}

/// How a line stands out where colour is on. Colour only repeats what the text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Emphasis {
    #[default]
    None,
    /// Titles.
    Bold,
    /// Leaf-heavy functions, and other rows that stand out.
    Strong,
    /// Rows with a highlighted name.
    Marked,
    /// Remainders and notes.
    Faint,
    /// Commands, which can be copied only as long as they are on one line.
    Command,
}

/// A column, without its cells.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The path of the value in a row of the JSON document, which is also the title in CSV: `old.self`. Empty for
    /// columns that only people see.
    pub(super) key: Cow<'static, str>,
    /// The title in text and Markdown; blanks in front of it leave space for the marks of names.
    pub(super) title: Cow<'static, str>,
    /// How its cells are printed.
    pub(super) kind: Kind,
    /// How early it is dropped on a narrow terminal.
    pub(super) rank: Rank,
    /// Whether it was requested: then it is dropped last.
    pub(super) asked: bool,
    /// How much wider than usual the column must be: `4` for names after the branches of a tree.
    pub(super) extra: usize,
}

/// How the cells of a column are printed, and where the column stands.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A value of a metric, in the unit of the scale.
    Value(Scale),
    /// A mean of such values, in parts of them.
    Mean(Scale),
    /// A change of such a value, with its sign.
    Change(Scale),
    /// A percentage; the cells are [`Cell::Share`].
    Share,
    /// A percentage with its sign.
    ChangeShare,
    /// A number of things, in groups of three digits.
    Count,
    /// A number that names something, such as a line.
    Number,
    /// Yes or no, for programs.
    Flag,
    /// A word aligned with the numbers, such as a unit.
    Word,
    /// What a row is about in a table without names: the first column, aligned to the left.
    Key,
    /// Sentences: the last column of a table without names, wrapped on narrow terminals.
    Prose,
    /// The name that a row is about.
    Name,
    /// The file of the name: while it is shown, names do not repeat their place.
    File,
    /// Any other text, after the name.
    Text,
}

impl Kind {
    /// Numbers come first and are aligned to the right, then the name, then texts.
    fn place(&self) -> usize {
        match self {
            Kind::Name => 1,
            Kind::File | Kind::Text | Kind::Prose => 2,
            _ => 0,
        }
    }

    /// Whether the column stands before the names, aligned to the right.
    pub(super) fn is_number(&self) -> bool {
        self.place() == 0
    }

    /// Whether the column holds the names.
    pub(super) fn is_name(&self) -> bool {
        matches!(self, Kind::Name)
    }

    /// Whether the column stands after the names.
    pub(super) fn is_text(&self) -> bool {
        self.place() == 2
    }
}

/// Which columns a narrow terminal drops first: shares follow from values, children from self and total, an old value
/// from the new one and the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// `SAMPLES`
    Samples,
    /// `OLD%` and `NEW%` next to values
    OtherForm,
    /// `q`
    Probability,
    /// `95% CI`
    Interval,
    /// `Δ` in points
    Points,
    /// `%SHOWN`
    ShareOfShown,
    /// `OLD`
    Old,
    /// `Δ%`
    ChangeShare,
    /// `RECORDED`
    Recorded,
    /// `CHILDREN`
    Children,
    /// `%FUNC` and `%TOP`
    ShareOfFunction,
    /// `%` and `%ALL`
    Share,
    /// `BYTES`
    Bytes,
    /// `FORMAT`
    Format,
    /// `DURATION`
    Duration,
    /// `SUM%`
    Sum,
    /// `CONTEXTS`
    Contexts,
    /// `EVENTS`
    Events,
    /// `PER CALL`
    PerCall,
    /// The second value of each of several metrics.
    SecondValue,
    /// What the table is about.
    #[default]
    Essential,
}

/// Columns that are requested together: a value and what follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Group {
    /// Not one of those to choose from.
    #[default]
    Always,
    /// One of those that `--columns` knows.
    Of(TextColumn),
    /// The number of calls, and what one costs.
    Calls,
}

/// One row.
pub(super) struct Row<'r> {
    /// A cell for each column.
    pub(super) cells: Vec<Cell<'r>>,
    /// How it stands out.
    pub(super) emphasis: Emphasis,
    /// What it shows of the report.
    pub(super) part: Option<ReportPart>,
}

/// What a row has in a column. How it looks depends on the [`Kind`] of the column.
pub(super) enum Cell<'r> {
    /// Nothing.
    Empty,
    /// An integer: a value, a count, a line.
    Number(i64),
    /// A number of a statistic.
    Float(f64),
    /// A part of a whole.
    Share { part: i64, whole: i64 },
    /// Yes or no.
    Flag(bool),
    /// A text.
    Text(Cow<'r, str>),
    /// A name for people.
    Label(Box<Label<'r>>),
    /// A name for people that stands alone: copying it takes no memory.
    Name(Name),
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Cell::Number(number)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Float(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Cell::Flag(flag)
    }
}

impl<'r> From<Label<'r>> for Cell<'r> {
    fn from(label: Label<'r>) -> Self {
        Cell::Label(Box::new(label))
    }
}

impl From<Name> for Cell<'_> {
    fn from(name: Name) -> Self {
        Cell::Name(name)
    }
}

impl<'r> From<&'r str> for Cell<'r> {
    fn from(text: &'r str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(Cow::Owned(text))
    }
}

impl<'r, C: Into<Cell<'r>>> From<Option<C>> for Cell<'r> {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Cell::Empty, Into::into)
    }
}

/// An entry in the list of columns: a column, who sees it, and the function that makes its cells.
pub(super) struct Entry<'r, R> {
    column: Column,
    /// Whether people see it.
    is_shown: bool,
    group: Group,
    cell: CellOf<'r, R>,
}

/// What makes the cell of a row.
type CellOf<'r, R> = Box<dyn Fn(&R) -> Cell<'r> + 'r>;

impl<R> Entry<'_, R> {
    /// Shows the column to people under this title.
    pub(super) fn titled(&mut self, title: impl Into<Cow<'static, str>>) -> &mut Self {
        self.column.title = title.into();
        self.is_shown = true;
        self
    }

    /// Drops the column before more important ones on narrow terminals.
    pub(super) fn rank(&mut self, rank: Rank) -> &mut Self {
        self.column.rank = rank;
        self
    }

    /// Drops the column last if it was requested.
    pub(super) fn asked(&mut self, is_asked: bool) -> &mut Self {
        self.column.asked = is_asked;
        self
    }

    /// Keeps this much space before the names, for the branches of a tree.
    pub(super) fn extra(&mut self, width: usize) -> &mut Self {
        self.column.extra = width;
        self
    }

    /// Makes the column one of those to choose from.
    pub(super) fn group(&mut self, group: Group) -> &mut Self {
        self.group = group;
        self
    }
}

/// The columns of a table whose rows are made from an `R` each, in the order of the keys in JSON.
pub(super) struct Columns<'r, R> {
    entries: Vec<Entry<'r, R>>,
    emphasis: Box<dyn Fn(&R) -> Emphasis + 'r>,
    part: PartOf<'r, R>,
}

/// What a row shows of the report, given its place among the rows.
type PartOf<'r, R> = Box<dyn Fn(&R, usize) -> Option<ReportPart> + 'r>;

impl<'r, R: 'r> Columns<'r, R> {
    pub(super) fn new() -> Self {
        Columns { entries: Vec::new(), emphasis: Box::new(|_| Emphasis::None), part: Box::new(|_, _| None) }
    }

    /// Adds a column for programs, and with [`Entry::titled`] for people.
    pub(super) fn add<C: Into<Cell<'r>>>(
        &mut self,
        key: impl Into<Cow<'static, str>>,
        kind: Kind,
        cell: impl Fn(&R) -> C + 'r,
    ) -> &mut Entry<'r, R> {
        self.push(key.into(), kind, Box::new(move |row: &R| cell(row).into()))
    }

    /// The part of [`Columns::add`] that is the same for all columns, which are hundreds, so that it is compiled once.
    fn push(&mut self, key: Cow<'static, str>, kind: Kind, cell: CellOf<'r, R>) -> &mut Entry<'r, R> {
        let column = Column { key, title: "".into(), kind, rank: Rank::default(), asked: false, extra: 0 };
        self.entries.push(Entry { column, is_shown: false, group: Group::default(), cell });
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    /// Adds a column for people only: it follows from others.
    pub(super) fn show<C: Into<Cell<'r>>>(
        &mut self,
        title: impl Into<Cow<'static, str>>,
        kind: Kind,
        cell: impl Fn(&R) -> C + 'r,
    ) -> &mut Entry<'r, R> {
        self.add("", kind, cell).titled(title)
    }

    /// Says how rows stand out.
    pub(super) fn emphasis(&mut self, emphasis: impl Fn(&R) -> Emphasis + 'r) {
        self.emphasis = Box::new(emphasis);
    }

    /// Says what rows show of the report, given their place among the rows. Closing rows show none.
    pub(super) fn part(&mut self, part: impl Fn(&R, usize) -> Option<ReportPart> + 'r) {
        self.part = Box::new(part);
    }

    /// The table for a form. People see the columns of the given groups, in that order, and those of no group; all if
    /// no groups are given.
    pub(super) fn table<I: Iterator<Item = R> + 'r>(
        self,
        form: Form,
        groups: &[Group],
        rows: impl Fn() -> I + 'r,
        closing: impl IntoIterator<Item = R>,
    ) -> Table<'r> {
        let Columns { mut entries, emphasis, part } = self;
        if form == Form::Csv {
            entries.retain(|entry| !entry.column.key.is_empty());
        } else {
            let place = |group: Group| groups.iter().position(|other| *other == group);
            entries.retain(|entry| {
                let is_chosen =
                    groups.is_empty() || entry.group == Group::Always || place(entry.group).is_some();
                is_chosen && entry.is_shown
            });
            entries
                .sort_by_key(|entry| (entry.column.kind.place(), place(entry.group).unwrap_or(groups.len())));
        }
        let mut columns = Vec::with_capacity(entries.len());
        let mut cells = Vec::with_capacity(entries.len());
        for entry in entries {
            cells.push((entry.column.kind.is_name(), entry.cell));
            columns.push(entry.column);
        }
        let make = Rc::new(move |row: R, place: Option<usize>, names: Names| Row {
            cells: cells
                .iter()
                .map(
                    |(is_name, cell)| {
                        if *is_name && names == Names::Empty { Cell::Empty } else { cell(&row) }
                    },
                )
                .collect(),
            emphasis: emphasis(&row),
            part: place.and_then(|place| part(&row, place)),
        });
        // Programs get the rows alone.
        let closing = closing.into_iter().filter(|_| form != Form::Csv);
        let closing = closing.map(|row| make(row, None, Names::Made)).collect();
        let rows = Box::new(move |names: Names| {
            let make = make.clone();
            Box::new(rows().enumerate().map(move |(place, row)| make(row, Some(place), names))) as Rows
        });
        Table { columns, rows: Some(rows), closing, ..Table::default() }
    }
}
