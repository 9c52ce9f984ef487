//! `hot` as text: the heaviest path, then the repeated sequences.

use crate::name::{Anchor, Chain, display_width};
use crate::output::text::Style;
use crate::output::text::chains::{self, NameWidth};
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::{LEAST_NAME, Layout};
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{Hot, HotSequence, Name, Neighbour, Pair, PathStep};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the path and why it ends, the sequences and their callers.
pub(super) fn lines(hot: &Hot, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&hot.header, style)?;
    let path = hot.path.iter().chain(&hot.next).map(|step| &step.name);
    let frames = hot.sequences.iter().flat_map(|sequence| &sequence.frames);
    let callers = hot.sequences.iter().flat_map(|sequence| &sequence.callers).map(|caller| &caller.name);
    let drawing = HotText {
        hot,
        style,
        scale: header::scale(&hot.header.metric, hot.header.shown.max(hot.header.old_sum()), style)?,
        names: DisplayNames::of(&hot.header, path.chain(frames).chain(callers), style),
    };
    lines.extend(drawing.path());
    lines.push(TextLine::default());
    lines.extend(drawing.sequences());
    let note = header::highlight_note(&hot.header, &drawing.scale, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

struct HotText<'h> {
    hot: &'h Hot,
    style: &'h Style,
    scale: Scale,
    names: DisplayNames,
}

impl HotText<'_> {
    fn path(&self) -> Vec<TextLine> {
        if self.hot.path.is_empty() {
            return vec![TextLine::new("no heaviest path: no sample has a stack", Emphasis::Faint)];
        }
        let mut lines = vec![TextLine::new(
            "heaviest path: each row has at least half the total of the row above",
            Emphasis::Bold,
        )];
        let title = format!("FUNCTION{}CALLEES", self.style.glyphs.calls);
        let mut titles = self.value_titles();
        titles.push("SELF".to_string());
        let groups = groups(&self.hot.path);
        let rows: Vec<Vec<String>> = groups.iter().map(|group| self.path_numbers(group)).collect();
        let (layout, room) = self.layout(&titles, &rows);
        let blank = layout.keep(vec![String::new(); titles.len()]);
        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([title]));
        // Of a recursion of thousands of rows, only both ends are shown.
        let cut = groups.len().saturating_sub(MOST_PATH);
        let head = if cut > 0 { MOST_PATH / 2 } else { groups.len() };
        for (index, (group, numbers)) in groups.iter().zip(rows).enumerate() {
            if index == head && cut > 0 {
                let count = unit::group_thousands(cut as i128);
                let rest = format!("{} {count} more rows", self.style.glyphs.ellipsis);
                columns.row(blank.clone(), rest, Emphasis::Faint);
            }
            if index < head || index >= head + cut {
                let names: Vec<&Name> = group.iter().map(|step| &step.name).collect();
                let last = group.last();
                let side = last.map_or("", |step| side_only(step.self_value, step.total, step.old));
                let (chain, emphasis) = self.chain(&names, room.without(side.len(), LEAST_NAME));
                add_row(&mut columns, layout.keep(numbers), "", chain, side, emphasis);
            }
        }
        lines.extend(columns.lines());
        lines.extend(layout.note());
        lines.push(self.end_of_path());
        lines
    }

    fn is_filtered(&self) -> bool {
        !self.hot.header.filters.is_empty()
    }

    fn value_titles(&self) -> Vec<String> {
        if self.hot.header.base.is_some() {
            return comparison::titles("TOTAL", self.style);
        }
        let shares: &[&str] = if self.is_filtered() { &["%ALL", "%SHOWN"] } else { &["%"] };
        ["TOTAL"].iter().chain(shares).map(ToString::to_string).collect()
    }

    /// A value and its shares; in a comparison its old value and the change.
    fn value(&self, value: i64, old: Option<Pair>) -> Vec<String> {
        let header = &self.hot.header;
        if let Some(base) = &header.base {
            return comparison::cells(&self.scale, base, value, old.unwrap_or_default().total, self.style);
        }
        let mut cells = vec![self.scale.format(value), unit::share(value, header.total)];
        if self.is_filtered() {
            cells.push(unit::share(value, header.shown));
        }
        cells
    }

    fn path_numbers(&self, group: &[PathStep]) -> Vec<String> {
        let Some(last) = group.last() else { return Vec::new() };
        let mut cells = self.value(last.total, last.old);
        cells.push(self.scale.format(last.self_value));
        cells
    }

    fn end_of_path(&self) -> TextLine {
        let text = match &self.hot.next {
            Some(next) => {
                let (name, value) = (self.names.get(&next.name), self.scale.format(next.total));
                format!("the path ends here: the heaviest callee, {name}, has only {value}, less than half")
            }
            None => "the path ends here: the last function calls nothing".to_string(),
        };
        TextLine::new(text, Emphasis::Faint)
    }

    fn layout(&self, titles: &[String], rows: &[Vec<String>]) -> (Layout, NameWidth) {
        let grid = Grid::new(titles, rows);
        let layout = Layout::new(titles, &grid, &[], self.style);
        let taken = layout.room.map_or(grid.width(), |room| self.style.layout_width().saturating_sub(room));
        let is_full = self.style.full_chains;
        let room = NameWidth { columns: self.style.width, full: is_full.then(|| self.style.layout_width()) };
        (layout, room.without(taken, LEAST_NAME))
    }

    /// A chain of names that call one another, with the highlighted ones marked.
    fn chain(&self, names: &[&Name], room: NameWidth) -> (Vec<String>, Emphasis) {
        let glyphs = self.style.glyphs;
        let is_marked = |name: &Name| self.hot.header.is_highlighted(name);
        let shown: Vec<String> = names
            .iter()
            .map(|name| {
                let mark = if is_marked(name) { glyphs.marked } else { "" };
                format!("{mark}{}", self.names.get(name))
            })
            .collect();
        let emphasis =
            if names.iter().any(|name| is_marked(name)) { Emphasis::Marked } else { Emphasis::None };
        let is_own = |index: usize| self.names.is_own(names[index], None);
        let chain = Chain {
            names: &shown,
            is_own: &is_own,
            arrow: glyphs.calls,
            anchor: Anchor::Last,
            ellipsis: glyphs.ellipsis,
        };
        (chains::lines(&chain, room), emphasis)
    }

    fn sequences(&self) -> Vec<TextLine> {
        let sequences = &self.hot.sequences;
        let mut lines = vec![TextLine::new(self.sequences_title(), Emphasis::Bold)];
        if sequences.is_empty() {
            return lines;
        }
        let mut titles = self.value_titles();
        titles.extend(["SELF", "CONTEXTS"].map(String::from));
        let rows: Vec<Vec<String>> = sequences.iter().map(|row| self.sequence_numbers(row)).collect();
        let (layout, room) = self.layout(&titles, &rows);
        let nothing = layout.keep(vec![String::new(); titles.len()]);
        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain(["SEQUENCE".to_string()]));
        let mut before: &[Name] = &[];
        for (sequence, numbers) in sequences.iter().zip(rows) {
            let numbers = layout.keep(numbers);
            let names: Vec<&Name> = sequence.frames.iter().collect();
            let side = side_only(sequence.self_value, sequence.total, sequence.old);
            let room = room.without(side.len(), LEAST_NAME);
            let goes_on = !before.is_empty() && sequence.frames.starts_with(before);
            if goes_on {
                let arrow = self.style.glyphs.calls.trim_start();
                let room = room.without(INDENT.len() + display_width(arrow), LEAST_NAME);
                let (rest, emphasis) = self.chain(&names[before.len()..], room);
                add_row(&mut columns, numbers, &format!("{INDENT}{arrow}"), rest, side, emphasis);
            } else {
                let (chain, emphasis) = self.chain(&names, room);
                add_row(&mut columns, numbers, "", chain, side, emphasis);
                let callers = self.callers(sequence, room.without(INDENT.len(), LEAST_NAME).columns);
                columns.row(nothing.clone(), format!("{INDENT}{callers}"), Emphasis::Faint);
            }
            before = &sequence.frames;
        }
        lines.extend(columns.lines());
        lines.extend(layout.note());
        lines
    }

    fn sequences_title(&self) -> String {
        let shown = self.hot.sequences.len();
        let count = unit::group_thousands((shown as u64 + self.hot.header.elided_rows).into());
        let rank = if self.hot.header.base.is_some() { "most changed" } else { "heaviest" };
        let which = match (shown, self.hot.header.elided_rows) {
            (0, _) => {
                return format!("repeated sequences: none with a share of at least {}%", self.hot.min_share);
            }
            (_, 0) => count,
            (1, _) => format!("the {rank} of {count}"),
            (shown, _) => format!("the {} {rank} of {count}", unit::group_thousands(shown as i128)),
        };
        format!("repeated sequences: {which}, with callers of the first function")
    }

    fn sequence_numbers(&self, sequence: &HotSequence) -> Vec<String> {
        let mut cells = self.value(sequence.total, sequence.old);
        cells.push(self.scale.format(sequence.self_value));
        cells.push(unit::group_thousands(sequence.contexts.into()));
        cells
    }

    /// `77% gob.(*Decoder).recvType · 23% .DecodeValue`: two callers where both fit whole, else one,
    /// and how many more there are.
    fn callers(&self, sequence: &HotSequence, room: Option<usize>) -> String {
        let glyphs = self.style.glyphs;
        let callers = &sequence.callers;
        let more = |shown: usize| match callers.len().saturating_sub(shown) {
            0 => String::new(),
            more => format!("{}{} more", glyphs.dot, unit::group_thousands(more as i128)),
        };
        let name = |index: usize| self.names.get(&callers[index].name);
        let shares = shares_of_callers(sequence);
        let share = |index: usize| format!("{} ", shares[index].1);
        let fitted = |names: &[&str], arrow: &str| {
            let (first, more) = (share(0), more(names.len()));
            let room = room.map(|room| room.saturating_sub(display_width(&first) + display_width(&more)));
            let (is_own, anchor, ellipsis) = (&|_| true, Anchor::First, glyphs.ellipsis);
            format!("{first}{}{more}", Chain { names, is_own, arrow, anchor, ellipsis }.fit(room))
        };
        let ellipses = |text: &str| text.matches(glyphs.ellipsis).count();
        match callers.len() {
            0 => String::new(),
            1 => fitted(&[name(0)], ""),
            _ => {
                let both = fitted(&[name(0), name(1)], &format!("{}{}", glyphs.dot, share(1)));
                let is_whole = ellipses(&both) <= ellipses(name(0)) + ellipses(name(1));
                if is_whole { both } else { fitted(&[name(0)], "") }
            }
        }
    }
}

/// Adds a row, and below it the names that have lines of their own.
fn add_row(
    columns: &mut TextTable,
    numbers: Vec<String>,
    prefix: &str,
    names: Vec<String>,
    side: &str,
    emphasis: Emphasis,
) {
    let blank = vec![String::new(); numbers.len()];
    let mut names = names.into_iter();
    columns.row(numbers, format!("{prefix}{}{side}", names.next().unwrap_or_default()), emphasis);
    names.for_each(|name| columns.row(blank.clone(), format!("{prefix}{name}"), emphasis));
}

/// The callers of a sequence, and how much of it comes from each: `77%`.
pub(in crate::output) fn shares_of_callers(sequence: &HotSequence) -> Vec<(&str, String)> {
    // If the new side has nothing, the shares are those of the old side.
    let is_gone = sequence.total == 0;
    let whole = if is_gone { sequence.old.map_or(0, |old| old.total) } else { sequence.total };
    let value = |caller: &Neighbour| if is_gone { caller.old.unwrap_or(0) } else { caller.value };
    let share = |caller| whole_percent(value(caller), whole);
    sequence.callers.iter().map(|caller| (&*caller.name, share(caller))).collect()
}

/// The suffix of a row that is on one side of a comparison only.
fn side_only(self_value: i64, total: i64, old: Option<Pair>) -> &'static str {
    old.map_or("", |old| comparison::on_one_side(Pair { self_value, total }, old))
}

/// Groups the steps that share a line because their numbers are the same.
fn groups(path: &[PathStep]) -> Vec<&[PathStep]> {
    let passes_on = |a: &PathStep, b: &PathStep| {
        let old = |step: &PathStep| step.old.map_or((0, 0), |old| (old.self_value, old.total));
        a.self_value == 0 && a.total == b.total && old(a).0 == 0 && old(a).1 == old(b).1
    };
    path.chunk_by(passes_on).collect()
}

/// A share without decimals: `77%`.
fn whole_percent(part: i64, whole: i64) -> String {
    let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
    match (part * 200 + whole).checked_div(whole * 2) {
        Some(0) if part > 0 => "<1%".to_string(),
        Some(percent) => format!("{percent}%"),
        None => "0%".to_string(),
    }
}

/// The indent of a line that continues the one above.
const INDENT: &str = "  ";

/// A path with more rows is cut in the middle.
const MOST_PATH: usize = 60;
