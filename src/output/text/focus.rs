//! `focus` as text: callers, the function, callees.

use crate::name::{clean, display_width, fit, split_shown};
use crate::output::text::Style;
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::names::{DisplayNames, short_file};
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable, wrap};
use crate::report::{
    CountedFrom, CutRows, Focus, FocusMatch, Grouping, Neighbour, NeighbourKind, Overlap, Pair,
};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the function between callers and callees, and the list of matching functions if there are
/// several.
pub(super) fn lines(focus: &Focus, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&focus.header, style)?;
    let neighbours = focus.callers.iter().chain(&focus.callees).map(|row| &row.name);
    let matches = focus.matches.iter().map(|row| &row.name);
    let drawing = FocusText {
        focus,
        style,
        scale: header::scale(&focus.header.metric, focus.total.max(old(focus).total), style)?,
        names: DisplayNames::of(&focus.header, neighbours.chain(matches), style),
    };
    lines.extend(drawing.lines());
    if let Some(note) = overlap_note(focus) {
        let note = style.width.map_or_else(|| vec![note.clone()], |width| wrap(&note, width));
        lines.extend(note.into_iter().map(|line| TextLine::new(line, Emphasis::Faint)));
    }
    let note = header::highlight_note(&focus.header, &drawing.scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    if focus.matches.len() > 1 {
        lines.extend(drawing.matches());
    }
    Ok(lines)
}

/// A note on why the rows do not add up to the total, if they do not.
pub(in crate::output) fn overlap_note(focus: &Focus) -> Option<String> {
    let is_of_old = focus.overlap == Overlap::default();
    let (overlap, total, of_old) = if is_of_old {
        (focus.old_overlap.unwrap_or_default(), old(focus).total, " on the old side")
    } else {
        (focus.overlap, focus.total, "")
    };
    let sides = [("callers", overlap.callers), ("self and callees", overlap.callees)];
    let uneven = sides.iter().filter(|(_, excess)| *excess != 0).enumerate();
    let sums: Vec<String> = uneven
        .map(|(index, (side, excess))| match (index, sum_share(*excess, total)) {
            (0, share) => format!("{side} add up to {share} of the total{of_old}"),
            (_, share) => format!("{side} to {share}"),
        })
        .collect();
    let why = match focus.counted_from {
        CountedFrom::Stacks => "rows overlap, because one sample can pass through several of them",
        CountedFrom::RecursiveCalls => {
            "rows do not add up, because the cost of a recursive call is also part of the call around it"
        }
        CountedFrom::Calls => {
            "rows do not add up, because the call costs in the profile do not match its totals"
        }
    };
    (!sums.is_empty()).then(|| format!("{why}: {}", sums.join(", ")))
}

/// The sum of rows as a percentage of the total that it differs from.
fn sum_share(excess: i64, total: i64) -> String {
    let share = unit::share(total.saturating_add(excess), total);
    match share.as_str() {
        "100.0%" if (excess < 0) == (total < 0) => "just over 100%".to_string(),
        "100.0%" => "just under 100%".to_string(),
        _ => share,
    }
}

/// The old side of the function.
fn old(focus: &Focus) -> Pair {
    focus.old.unwrap_or_default()
}

/// A row before its numbers are written: new and old value, name.
type DrawnRow = (i64, i64, String, Emphasis);

struct FocusText<'f> {
    focus: &'f Focus,
    style: &'f Style,
    scale: Scale,
    names: DisplayNames,
}

/// A line before it is laid out.
struct FocusLine {
    numbers: Vec<String>,
    prefix: &'static str,
    name: String,
    /// The text after the name, such as its file.
    suffix: String,
    emphasis: Emphasis,
}

impl FocusText<'_> {
    fn lines(&self) -> Vec<TextLine> {
        let focus = self.focus;
        let above = self.side(&focus.callers, focus.more_callers, "caller");
        let mut below = vec![(focus.self_value, old(focus).self_value, "(self)".to_string(), Emphasis::None)];
        below.extend(self.side(&focus.callees, focus.more_callees, "callee"));

        let glyphs = self.style.glyphs;
        let last = below.len() - 1;
        let mut drawn = Vec::new();
        for (index, row) in above.into_iter().enumerate() {
            drawn.push(self.draw(row, if index == 0 { glyphs.first } else { glyphs.branch }));
        }
        drawn.push(self.function());
        for (index, row) in below.into_iter().enumerate() {
            drawn.push(self.draw(row, if index == last { glyphs.last } else { glyphs.branch }));
        }
        let titles = match &focus.header.base {
            Some(_) => comparison::titles("TOTAL", self.style),
            None if self.is_filtered() => ["TOTAL", "%FUNC", "%ALL", "%SHOWN"].map(str::to_string).to_vec(),
            None => ["TOTAL", "%FUNC", "%ALL"].map(str::to_string).to_vec(),
        };
        self.lay_out(titles, "CALLERS, FUNCTION, CALLEES", drawn)
    }

    /// The functions on one side, what was cut of them, and the rows that are not functions.
    fn side(&self, rows: &[Neighbour], more: CutRows, noun: &str) -> Vec<DrawnRow> {
        let (functions, others): (Vec<&Neighbour>, Vec<&Neighbour>) =
            rows.iter().partition(|row| row.kind == NeighbourKind::Function);
        let mut drawn: Vec<DrawnRow> = functions.into_iter().map(|row| self.neighbour(row)).collect();
        drawn.extend(self.more(more, noun));
        drawn.extend(others.into_iter().map(|row| self.neighbour(row)));
        drawn
    }

    fn is_filtered(&self) -> bool {
        !self.focus.header.filters.is_empty()
    }

    fn numbers(&self, value: i64, old: i64) -> Vec<String> {
        let header = &self.focus.header;
        if let Some(base) = &header.base {
            return comparison::cells(&self.scale, base, value, old, self.style);
        }
        let mut cells = vec![
            self.scale.format(value),
            unit::share(value, self.focus.total),
            unit::share(value, header.total),
        ];
        if self.is_filtered() {
            cells.push(unit::share(value, header.shown));
        }
        cells
    }

    fn neighbour(&self, row: &Neighbour) -> DrawnRow {
        let is_marked = self.focus.header.is_highlighted(&row.name);
        let mark = if is_marked { self.style.glyphs.marked } else { "" };
        let emphasis = if is_marked { Emphasis::Marked } else { Emphasis::None };
        let mut name = format!("{mark}{}", self.names.get(&row.name));
        match (row.value, row.old) {
            (0, Some(_)) => name.push_str(" (removed)"),
            (_, Some(0)) => name.push_str(" (new)"),
            _ => {}
        }
        (row.value, row.old.unwrap_or(0), name, emphasis)
    }

    fn more(&self, more: CutRows, noun: &str) -> Option<DrawnRow> {
        let plural = if more.rows == 1 { "" } else { "s" };
        let count = unit::group_thousands(more.rows.into());
        let text = format!("{} {count} more {noun}{plural}", self.style.glyphs.ellipsis);
        (more.rows > 0).then_some((more.value, more.old.unwrap_or(0), text, Emphasis::Faint))
    }

    fn draw(&self, (value, old, name, emphasis): DrawnRow, prefix: &'static str) -> FocusLine {
        FocusLine { numbers: self.numbers(value, old), prefix, name, suffix: String::new(), emphasis }
    }

    fn function(&self) -> FocusLine {
        let focus = self.focus;
        let name = match &focus.matches[..] {
            [one] => self.names.get(&one.name).to_string(),
            several => {
                let count = unit::group_thousands(several.len() as i128);
                format!("{count} {} matching {}, combined", focus.header.by.several, clean(&focus.name))
            }
        };
        // A name such as `pay app.mjs:52:19` shows the file already.
        let file =
            focus.file.as_deref().filter(|_| self.style.is_wide() && split_shown(&focus.name).is_none());
        FocusLine {
            numbers: self.numbers(focus.total, old(focus).total),
            prefix: self.style.glyphs.focus,
            name,
            suffix: file.map(|file| format!("   {}", short_file(file))).unwrap_or_default(),
            emphasis: Emphasis::Strong,
        }
    }

    fn lay_out(&self, titles: Vec<String>, last: &str, drawn: Vec<FocusLine>) -> Vec<TextLine> {
        let numbers: Vec<Vec<String>> = drawn.iter().map(|line| line.numbers.clone()).collect();
        let layout = Layout::new(&titles, &Grid::new(&titles, &numbers), &[], self.style);
        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([last.to_string()]));
        for line in drawn {
            let name = match layout.room {
                None => line.name,
                Some(room) => {
                    let taken = display_width(line.prefix) + display_width(&line.suffix);
                    fit(&line.name, room.saturating_sub(taken), self.style.glyphs.ellipsis)
                }
            };
            let rest = format!("{}{name}{}", line.prefix, line.suffix);
            columns.row(layout.keep(line.numbers), rest, line.emphasis);
        }
        let mut lines = columns.lines();
        lines.extend(layout.note());
        lines
    }

    /// The matching functions, one row each.
    fn matches(&self) -> Vec<TextLine> {
        let matches = &self.focus.matches;
        let shown = matches.len().min(MOST_MATCHES);
        let row = |row: &FocusMatch| {
            vec![
                self.scale.format(row.total),
                unit::share(row.total, self.focus.header.total),
                self.scale.format(row.self_value),
            ]
        };
        let Grouping { one, several, .. } = self.focus.header.by;
        let title = format!("MATCHING {}", several.to_uppercase());
        let titles = ["TOTAL", "%ALL", "SELF"];
        let numbers: Vec<Vec<String>> = matches[..shown].iter().map(row).collect();
        let layout = Layout::new(&titles, &Grid::new(&titles, &numbers), &[], self.style);
        let mut columns = TextTable::new(layout.keep(titles.to_vec()).into_iter().chain([&*title]));
        for (numbers, row) in numbers.into_iter().zip(matches) {
            let name = self.names.get(&row.name);
            let ellipsis = self.style.glyphs.ellipsis;
            let name = layout.room.map_or_else(|| name.to_string(), |room| fit(name, room, ellipsis));
            columns.row(layout.keep(numbers), name, Emphasis::None);
        }
        if matches.len() > shown {
            let hidden = matches.len() - shown;
            let noun = if hidden == 1 { one } else { several };
            let count = unit::group_thousands(hidden as i128);
            let rest = format!("{} {count} more {noun}", self.style.glyphs.ellipsis);
            columns.row(layout.keep(vec![String::new(); 3]), rest, Emphasis::Faint);
        }
        let mut lines = vec![TextLine::default()];
        lines.extend(columns.lines());
        lines
    }
}

/// The number of matching functions that are listed. A longer list would push the answer off the screen.
const MOST_MATCHES: usize = 5;
