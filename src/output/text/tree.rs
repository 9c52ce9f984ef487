//! Trees as text.
//!
//! A row directly below another is its child; branches are drawn only if a row has several children, so
//! that depth takes no width. Rows with the same numbers share a line.

mod bottom_up;
mod layout;
mod metrics;
mod per_event;
mod top_down;

use std::iter;

use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, TextLine};
use crate::output::text::tree::metrics::FurtherMetric;
use crate::output::text::{Style, ValueExtras};
use crate::report::{Base, Direction, Pair, Tree, TreeRow};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the rows, and a note on how they were chosen.
pub(super) fn lines(tree: &Tree, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&tree.header, style)?;
    let old = tree.header.base.as_ref().map_or(0, |base| base.total);
    let whole = header::scale(&tree.header.metric, tree.header.shown.max(old), style)?;
    let scale = match tree.header.per_event {
        Some(_) => header::scale_of_means(&tree.header.metric, per_event::largest_mean(&tree.rows), style)?,
        None => whole.clone(),
    };
    let names = DisplayNames::of(&tree.header, tree.rows.iter().map(|row| &row.name), style);
    let groups = groups(tree);
    let lightest = lightest(tree, &groups);
    let further = FurtherMetric::of(&tree.header, style)?;
    let extras = style.extras_of_values(1 + further.len());
    let drawing = TreeText { tree, style, names, scale, further, extras, groups, lightest };
    match tree.direction {
        Direction::TopDown => lines.extend(drawing.top_down()),
        Direction::BottomUp => lines.extend(drawing.bottom_up()),
    }
    lines.extend(drawing.note_per_event());
    let note = header::highlight_note(&tree.header, &whole, style);
    lines.extend(note.map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

/// Rows that share a line, and the lines directly below.
#[derive(Default)]
struct RowGroup {
    /// Index of the first row that shares the line.
    first: usize,
    /// Index of the last row, whose numbers the line shows.
    last: usize,
    /// Indexes of the groups directly below.
    below: Vec<usize>,
}

/// The groups of a tree in depth-first order. Group 0 stands for the whole tree.
fn groups(tree: &Tree) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = vec![RowGroup::default()];
    let mut group_of = vec![0; tree.rows.len()];
    for (index, row) in tree.rows.iter().enumerate() {
        let parent = row.parent.map(|parent| parent as usize);
        let above = parent.map_or(0, |parent| group_of[parent]);
        if parent.is_some_and(|parent| is_joined(tree, parent)) {
            groups[above].last = index;
            group_of[index] = above;
            continue;
        }
        group_of[index] = groups.len();
        let this = groups.len();
        groups[above].below.push(this);
        groups.push(RowGroup { first: index, last: index, below: Vec::new() });
    }
    groups
}

/// Whether a row shares a line with the next one, its only child. From the top down it only passes on what its
/// child costs; from the bottom up it is the only caller of a caller.
fn is_joined(tree: &Tree, index: usize) -> bool {
    let (row, Some(next)) = (&tree.rows[index], tree.rows.get(index + 1)) else { return false };
    let mut numbers = pairs(row).zip(pairs(next));
    next.parent == Some(index as u32)
        && row.cut == 0
        && match tree.direction {
            Direction::TopDown => numbers.all(|(row, next)| row.self_value == 0 && row.total == next.total),
            Direction::BottomUp => row.parent.is_some() && numbers.all(|(row, next)| row == next),
        }
}

/// The values of a row in all metrics, on both sides.
fn pairs(row: &TreeRow) -> impl Iterator<Item = Pair> {
    let values = &row.values;
    let further = values.values.iter().flat_map(|values| values.0.iter().map(|(_, pair)| *pair));
    let first = Pair { self_value: values.self_value, total: values.total };
    iter::once(first).chain(values.old).chain(row.events).chain(further)
}

/// The smallest total of any line that is shown, except for the functions at the top of a bottom-up tree.
fn lightest(tree: &Tree, groups: &[RowGroup]) -> u64 {
    let on_top =
        |group: &&RowGroup| tree.direction == Direction::BottomUp && tree.rows[group.first].parent.is_none();
    let below = groups[1..].iter().filter(|group| !on_top(group));
    let heavier = |group: &RowGroup| {
        let values = &tree.rows[group.last].values;
        values.total.unsigned_abs().max(comparison::old(values).total.unsigned_abs())
    };
    below.map(heavier).min().unwrap_or(u64::MAX)
}

/// A line of a drawing before it is laid out.
struct TreeLine {
    numbers: Vec<String>,
    /// The branches before the name.
    prefix: String,
    /// The names on the line, joined by arrows.
    names: Vec<String>,
    /// Index of the row of the first name; `None` for lines that are not rows.
    first: Option<usize>,
    /// Index of the row with these numbers; `None` for lines that are not rows.
    row: Option<usize>,
    emphasis: Emphasis,
}

struct TreeText<'t> {
    tree: &'t Tree,
    style: &'t Style,
    names: DisplayNames,
    scale: Scale,
    /// The metrics after the first.
    further: Vec<FurtherMetric>,
    /// What fits next to the values of several metrics.
    extras: ValueExtras,
    groups: Vec<RowGroup>,
    /// The smallest total of any line, except for the functions at the top.
    lightest: u64,
}

impl TreeText<'_> {
    /// The signed sum of all values after filtering.
    fn whole(&self) -> i64 {
        let own: i64 = self.tree.rows.iter().map(|row| row.values.self_value).sum();
        own + self.tree.header.elided + self.tree.header.no_stack
    }

    /// The column titles: those of a comparison, of `--per-event` or of several metrics, else `plain`; then `last`.
    fn titles(&self, plain: &[&str], last: String) -> Vec<String> {
        let mut titles = if self.tree.header.base.is_some() {
            return self.compared_titles(last);
        } else if self.is_per_event() {
            self.titles_per_event()
        } else if !self.further.is_empty() {
            self.titles_of_metrics()
        } else {
            plain.iter().map(ToString::to_string).collect()
        };
        titles.push(last);
        titles
    }

    /// The column titles of a comparison: totals of both sides, self of the new side and its change.
    fn compared_titles(&self, last: String) -> Vec<String> {
        let mut titles = comparison::titles("TOTAL", self.style);
        titles.push("SELF".to_string());
        titles.push(self.style.glyphs.plain("Δ").into_owned());
        titles.push(last);
        titles
    }

    fn compared_numbers(&self, base: &Base, new: Pair, old: Pair) -> Vec<String> {
        let mut cells = comparison::cells(&self.scale, base, new.total, old.total, self.style);
        cells.push(self.scale.format(new.self_value));
        cells.push(self.style.glyphs.signed(self.scale.format_signed(new.self_value - old.self_value)));
        cells
    }

    /// Draws all lines below a group, without recursion: stacks can be very deep.
    fn draw_below(&self, start: usize, drawn: &mut Vec<TreeLine>) {
        let bottom_up = self.tree.direction == Direction::BottomUp;
        // Each entry: a line to draw, its prefix, and the prefix of the lines below it.
        let mut work: Vec<(TreeEntry, String, String)> = Vec::new();
        let push = |work: &mut Vec<(TreeEntry, String, String)>, group: usize, prefix: &str| {
            let mut entries: Vec<TreeEntry> =
                self.groups[group].below.iter().map(|&below| TreeEntry::RowGroup(below)).collect();
            entries.extend(self.remainder(group));
            let choice = entries.len() > 1
                || matches!(entries[..], [TreeEntry::Rest { .. }])
                || (bottom_up && group == start);
            let count = entries.len();
            for (index, entry) in entries.into_iter().enumerate().rev() {
                let (own, below) = match (choice, index + 1 == count) {
                    (false, _) => ("", ""),
                    (true, false) => (self.style.glyphs.branch, self.style.glyphs.bar),
                    (true, true) => (self.style.glyphs.last, "  "),
                };
                work.push((entry, format!("{prefix}{own}"), format!("{prefix}{below}")));
            }
        };
        push(&mut work, start, "");
        while let Some((entry, prefix, below)) = work.pop() {
            drawn.push(self.draw(&entry, prefix, start));
            if let TreeEntry::RowGroup(group) = entry {
                push(&mut work, group, &below);
            }
        }
    }

    fn draw(&self, entry: &TreeEntry, prefix: String, top: usize) -> TreeLine {
        let (new, old, names, emphasis) = match *entry {
            TreeEntry::RowGroup(group) => {
                let values = &self.tree.rows[self.groups[group].last].values;
                let new = Pair { self_value: values.self_value, total: values.total };
                (new, comparison::old(values), self.group_names(group), self.emphasis(group, Emphasis::None))
            }
            TreeEntry::Rest { new, old, count } => {
                let what = match (self.tree.direction, count) {
                    (Direction::TopDown, _) => "",
                    (Direction::BottomUp, 1) => " caller",
                    (Direction::BottomUp, _) => " callers",
                };
                let count = unit::group_thousands(count.into());
                let name = format!("{} {count} more{what}", self.style.glyphs.ellipsis);
                (new, old, vec![name], Emphasis::Faint)
            }
        };
        let numbers = match self.tree.direction {
            Direction::BottomUp => {
                self.bottom_up_numbers(new, old, Some(&self.tree.rows[self.groups[top].last]))
            }
            Direction::TopDown => {
                let mut numbers = self.top_down_numbers(new, old);
                if matches!(entry, TreeEntry::Rest { .. }) {
                    // Self and children mean nothing for many rows together.
                    let count = match (self.further.is_empty(), self.extras.other) {
                        (true, _) => 2,
                        (false, other) => usize::from(other),
                    };
                    let last = numbers.len() - count;
                    numbers[last..].iter_mut().for_each(String::clear);
                }
                numbers
            }
        };
        let (first, row) = match entry {
            TreeEntry::RowGroup(group) => (Some(self.groups[*group].first), Some(self.groups[*group].last)),
            TreeEntry::Rest { .. } => (None, None),
        };
        let numbers = if self.is_per_event() {
            self.numbers_per_event(row.map(|row| &self.tree.rows[row]))
        } else {
            [numbers, self.further_numbers(row.map(|row| &self.tree.rows[row]))].concat()
        };
        TreeLine { numbers, prefix, names, first, row, emphasis }
    }

    fn group_names(&self, group: usize) -> Vec<String> {
        let RowGroup { first, last, below } = &self.groups[group];
        // The rows that share a line are consecutive: each is the only child of the previous one.
        let mut names: Vec<String> =
            self.tree.rows[*first..=*last].iter().map(|row| self.shown_name(row)).collect();
        let cut = self.tree.rows[*last].cut;
        if self.tree.direction == Direction::BottomUp && below.is_empty() && cut > 0 {
            let noun = if cut == 1 { "caller" } else { "callers" };
            names.push(format!("{} {noun}", unit::group_thousands(cut.into())));
        }
        if let Some(name) = names.last_mut().filter(|_| self.tree.header.base.is_some()) {
            name.push_str(comparison::side_only(&self.tree.rows[*last].values));
        }
        names
    }

    fn shown_name(&self, row: &TreeRow) -> String {
        let mark = if self.tree.header.is_highlighted(&row.name) { self.style.glyphs.marked } else { "" };
        format!("{mark}{}", self.names.get(&row.name))
    }

    /// The emphasis of a line: marked if it has a highlighted name, else `otherwise`.
    fn emphasis(&self, group: usize, otherwise: Emphasis) -> Emphasis {
        let RowGroup { first, last, .. } = self.groups[group];
        let mut rows = self.tree.rows[first..=last].iter();
        if rows.any(|row| self.tree.header.is_highlighted(&row.name)) { Emphasis::Marked } else { otherwise }
    }

    /// The rows cut directly below a group, if their sum is at least that of the lightest row shown.
    fn remainder(&self, group: usize) -> Option<TreeEntry> {
        let below_top = |total: i64| Pair { self_value: 0, total };
        let (mut new, mut old, count) = if group == 0 {
            let header = &self.tree.header;
            let new = self.whole() - header.no_stack;
            (below_top(new), below_top(header.old_sum() - header.old_no_stack()), self.tree.cut)
        } else {
            let row = &self.tree.rows[self.groups[group].last];
            let (values, old) = (&row.values, comparison::old(&row.values));
            let (new, old) = match self.tree.direction {
                Direction::TopDown => (below_top(values.children), below_top(old.total - old.self_value)),
                Direction::BottomUp => (Pair { self_value: values.self_value, total: values.total }, old),
            };
            (new, old, u64::from(row.cut))
        };
        for &below in &self.groups[group].below {
            let values = &self.tree.rows[self.groups[below].last].values;
            let was = comparison::old(values);
            new = Pair { self_value: new.self_value - values.self_value, total: new.total - values.total };
            old = Pair { self_value: old.self_value - was.self_value, total: old.total - was.total };
        }
        let heavier = new.total.unsigned_abs().max(old.total.unsigned_abs());
        let named = self.tree.direction == Direction::BottomUp && self.groups[group].below.is_empty();
        (count > 0 && !named && heavier != 0 && heavier >= self.lightest).then_some(TreeEntry::Rest {
            new,
            old,
            count,
        })
    }
}

/// A line below another.
enum TreeEntry {
    RowGroup(usize),
    /// Rows that were cut: their values on both sides, and their number.
    Rest {
        new: Pair,
        old: Pair,
        count: u64,
    },
}
