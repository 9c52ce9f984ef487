//! The lines of a tree: which rows share one, which branches are drawn, and what is said about rows that were cut.

use std::iter;
use std::rc::Rc;

use crate::name::{Anchor, clean, package, split_shown};
use crate::output::label::{Joined, Label};
use crate::output::names::{DisplayNames, short_file};
use crate::output::style::{Style, TextColumn};
use crate::output::table::{Emphasis, Form, Note};
use crate::output::tables::values::{HasValues, Measured, RowSides, more, side_only};
use crate::report::{Direction, Pair, Tree, TreeRow};
use crate::unit;

/// A line of a tree, or a row of it.
#[derive(Clone, Default)]
pub(super) struct TreeLine<'r> {
    pub(super) what: What,
    /// The row with the numbers.
    pub(super) row: Option<&'r TreeRow>,
    /// The function at the top, for its callers.
    pub(super) top: Option<&'r TreeRow>,
    /// The values; on the new side of a comparison.
    pub(super) new: Measured,
    /// The values on the old side.
    pub(super) old: Measured,
    /// How many events the values weigh.
    pub(super) events: Measured,
    /// The values of several metrics, for rows that were cut.
    rest: Vec<Measured>,
    /// The branches before the names.
    branches: String,
    /// The branches of what stands below.
    below: String,
}

/// What a line is about.
#[derive(Clone, Copy, Default)]
pub(super) enum What {
    /// A single row.
    #[default]
    Row,
    /// The whole tree.
    All,
    /// The rows of a group, which have the same numbers.
    Group(usize),
    /// How many rows were cut below the line above.
    Rest(u64),
    /// How many functions were cut.
    More,
}

impl TreeLine<'_> {
    /// The values of one of several metrics.
    pub(super) fn metric(&self, index: usize, tree: &Tree) -> Measured {
        if index == 0 {
            return self.new;
        }
        let of_all = &tree.header.metrics[index];
        match (self.what, self.row) {
            (What::All, _) => Measured { own: Some(of_all.no_stack), total: Some(of_all.shown) },
            (What::More, _) => Measured { own: Some(of_all.elided), total: None },
            (_, Some(row)) => row.values.of_metric(index).into(),
            _ => self.rest.get(index).copied().unwrap_or_default(),
        }
    }
}

impl HasValues for TreeLine<'_> {
    fn sides(&self) -> RowSides {
        RowSides { new: self.new, old: self.old }
    }
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

/// A tree with what is needed to draw it.
pub(super) struct Drawing<'r> {
    pub(super) tree: &'r Tree,
    pub(super) form: Form,
    pub(super) style: &'r Style,
    names: DisplayNames,
    /// The groups in depth-first order. Group 0 stands for the whole tree.
    groups: Vec<RowGroup>,
    /// The smallest total of any line, except for the functions at the top of a bottom-up tree.
    lightest: u64,
    /// The signed sum of all values after filtering.
    whole: i64,
}

impl<'r> Drawing<'r> {
    pub(super) fn new(tree: &'r Tree, form: Form, style: &'r Style) -> Self {
        let groups = if form == Form::Text { groups(tree) } else { Vec::new() };
        let names = DisplayNames::of(&tree.header, tree.rows.iter().map(|row| &row.name), form, style);
        // In a bottom-up tree the rows of callers repeat the value of the function, so that the sum may be too large.
        let own = tree.rows.iter().map(|row| row.values.self_value);
        let whole = own.chain([tree.header.elided, tree.header.no_stack]).fold(0, i64::saturating_add);
        let mut drawing = Drawing { tree, form, style, names, groups, lightest: u64::MAX, whole };
        drawing.lightest = drawing.lightest();
        drawing
    }

    /// The lines, made one by one.
    pub(super) fn lines(self: &Rc<Self>) -> Box<dyn Iterator<Item = TreeLine<'r>> + 'r> {
        if self.form == Form::Text {
            return Box::new(Lines::new(self.clone()));
        }
        Box::new(self.tree.rows.iter().map(line_of))
    }

    /// The lines at the end.
    pub(super) fn closing(&self) -> Option<TreeLine<'r>> {
        let is_needed =
            self.form == Form::Text && self.tree.direction == Direction::BottomUp && self.tree.cut > 0;
        // Only self adds up, and averages do not.
        let own = Some(self.tree.header.elided).filter(|_| self.tree.header.per_event.is_none());
        let new = Measured { own, total: None };
        is_needed.then(|| TreeLine { what: What::More, new, ..TreeLine::default() })
    }

    /// The line of a group.
    fn group(&self, group: usize) -> TreeLine<'r> {
        let row = &self.tree.rows[self.groups[group].last];
        TreeLine { what: What::Group(group), ..line_of(row) }
    }

    /// The line for the whole tree.
    fn all(&self) -> TreeLine<'r> {
        let header = &self.tree.header;
        // An average has no part without a stack.
        let own = Some(header.no_stack).filter(|_| header.per_event.is_none());
        TreeLine {
            what: What::All,
            new: Measured { own, total: Some(self.whole) },
            old: Measured { own: Some(header.old_no_stack()), total: Some(header.old_sum()) },
            events: Measured { own: None, total: header.per_event.as_ref().map(|counts| counts.events) },
            ..TreeLine::default()
        }
    }

    /// The smallest total of any line, except for the functions at the top of a bottom-up tree.
    fn lightest(&self) -> u64 {
        let on_top = |group: &&RowGroup| {
            self.tree.direction == Direction::BottomUp && self.tree.rows[group.first].parent.is_none()
        };
        let below = self.groups.iter().skip(1).filter(|group| !on_top(group));
        let heavier = |group: &RowGroup| {
            let row = &self.tree.rows[group.last];
            row.values.total.unsigned_abs().max(row.values.old.unwrap_or_default().total.unsigned_abs())
        };
        below.map(heavier).min().unwrap_or(u64::MAX)
    }

    /// The width of the branches that a narrow terminal shows: without them nobody sees what calls what.
    pub(super) fn width_of_branches(&self) -> usize {
        let is_nested = self.groups.iter().skip(1).any(|group| !group.below.is_empty());
        if is_nested { LEAST_BRANCHES } else { 0 }
    }

    pub(super) fn emphasis(&self, line: &TreeLine) -> Emphasis {
        let is_marked = |row: &TreeRow| self.tree.header.is_highlighted(&row.name);
        match line.what {
            What::Row if line.row.is_some_and(is_marked) => Emphasis::Marked,
            What::Rest(_) | What::More => Emphasis::Faint,
            What::Group(group) if self.rows_of(group).iter().any(is_marked) => Emphasis::Marked,
            What::Group(_) if self.tree.direction == Direction::BottomUp && line.top.is_none() => {
                Emphasis::Strong
            }
            What::Row | What::All | What::Group(_) => Emphasis::None,
        }
    }

    /// The rows that share a line are consecutive: each is the only child of the previous one.
    fn rows_of(&self, group: usize) -> &'r [TreeRow] {
        let RowGroup { first, last, .. } = self.groups[group];
        &self.tree.rows[first..=last]
    }

    pub(super) fn label(self: &Rc<Self>, line: &TreeLine<'r>) -> Label<'r> {
        let is_bottom_up = self.tree.direction == Direction::BottomUp;
        let label = match (line.what, line.row) {
            (What::All, _) => Label::new("(all)"),
            (What::More, _) => Label::new(more(self.tree.cut, &self.tree.header.by, self.style)),
            (What::Rest(count), _) => {
                let noun = match (is_bottom_up, count) {
                    (false, 1) => " callee",
                    (false, _) => " callees",
                    (true, 1) => " caller",
                    (true, _) => " callers",
                };
                let count = unit::group_thousands(count.into());
                Label::new(format!("{} {count} more{noun}", self.style.glyphs.ellipsis))
            }
            (What::Group(group), Some(row)) => self.chain(group).aside(self.aside(row)),
            (_, Some(row)) => {
                Label::new(self.shown_name(row)).prefix(indent(row.depth)).aside(self.aside(row))
            }
            (_, None) => Label::default(),
        };
        let below = self.below(&line.branches);
        Label { branches: line.branches.clone(), below, ..label }
    }

    /// The names of the rows that share a line.
    fn chain(self: &Rc<Self>, group: usize) -> Label<'r> {
        let rows = self.rows_of(group);
        let mut names: Vec<String> = rows.iter().map(|row| self.shown_name(row)).collect();
        let is_bottom_up = self.tree.direction == Direction::BottomUp;
        let cut = rows.last().map_or(0, |row| row.cut);
        if is_bottom_up && self.groups[group].below.is_empty() && cut > 0 {
            let noun = if cut == 1 { "caller" } else { "callers" };
            names.push(format!("{} {noun}", unit::group_thousands(cut.into())));
        }
        if let (Some(name), Some(row)) = (names.last_mut(), rows.last()) {
            name.push_str(side_only(&self.tree.header, row.values.new_pair(), row.values.old));
        }
        let glyphs = self.style.glyphs;
        let (arrow, anchor) =
            if is_bottom_up { (glyphs.called_by, Anchor::First) } else { (glyphs.calls, Anchor::Last) };
        let drawing = self.clone();
        let is_own = move |index: usize| {
            rows.get(index).is_some_and(|row| drawing.names.is_own(&row.name, row.file.as_deref()))
        };
        let chain =
            Joined { arrow: arrow.into(), anchor, is_own: Box::new(is_own), full: self.style.full_chains };
        Label { names, chain: Some(chain), ..Label::default() }
    }

    fn shown_name(&self, row: &TreeRow) -> String {
        self.names.marked(&self.tree.header, &row.name, self.style)
    }

    /// The file or package after a name, if requested.
    fn aside(&self, row: &TreeRow) -> String {
        let file = row.file.as_deref().unwrap_or_default();
        let text = |column: &TextColumn| match column {
            // A name such as `pay app.mjs:52:19` shows the file already.
            TextColumn::File if split_shown(&row.name).is_some() => None,
            TextColumn::File => Some(short_file(file)),
            TextColumn::Package => {
                Some(package(&row.name, file).map_or_else(String::new, |package| clean(&package).into()))
            }
            _ => None,
        };
        let texts = self.style.columns.iter().filter_map(text).filter(|text| !text.is_empty());
        texts.flat_map(|text| ["   ".to_string(), text]).collect()
    }

    /// The branches of the lines on which a row with these branches continues.
    fn below(&self, branches: &str) -> String {
        let glyphs = self.style.glyphs;
        if let Some(before) = branches.strip_suffix(glyphs.branch) {
            return format!("{before}{}", glyphs.bar);
        }
        branches
            .strip_suffix(glyphs.last)
            .map_or_else(|| branches.to_string(), |before| format!("{before}  "))
    }

    /// The rows cut directly below a group, if their sum is at least that of the lightest row shown.
    fn remainder(&self, group: usize) -> Option<TreeLine<'r>> {
        let header = &self.tree.header;
        let is_top_down = self.tree.direction == Direction::TopDown;
        let row = (group > 0).then(|| &self.tree.rows[self.groups[group].last]);
        let count = row.map_or(self.tree.cut, |row| u64::from(row.cut));
        let below = &self.groups[group].below;
        // What is left of the group, or of `whole` for the tree, without the rows shown below it.
        let left_of = |of: &dyn Fn(&TreeRow) -> Pair, whole: i64| {
            let all = match (row.map(of), self.tree.direction) {
                (None, _) => Pair { self_value: 0, total: whole },
                (Some(pair), Direction::TopDown) => {
                    Pair { self_value: 0, total: pair.total - pair.self_value }
                }
                // From the bottom up, the values are those of the function at the top.
                (Some(pair), Direction::BottomUp) => pair,
            };
            let rows = below.iter().map(|&below| &self.tree.rows[self.groups[below].last]);
            rows.fold(all, |left, row| left.minus(of(row)))
        };
        let left = left_of(&|row| row.values.new_pair(), self.whole - header.no_stack);
        let was =
            left_of(&|row| row.values.old.unwrap_or_default(), header.old_sum() - header.old_no_stack());
        let heavier = left.total.unsigned_abs().max(was.total.unsigned_abs());
        let named = !is_top_down && below.is_empty();
        // Self and children mean nothing for many callees together.
        let measured = |pair: Pair| Measured {
            own: Some(pair.self_value).filter(|_| !is_top_down),
            total: Some(pair.total),
        };
        let of_metrics = header.metrics.iter().enumerate().map(|(index, metric)| {
            measured(left_of(&|row| row.values.of_metric(index), metric.shown - metric.no_stack))
        });
        (count > 0 && !named && heavier != 0 && heavier >= self.lightest).then(|| TreeLine {
            what: What::Rest(count),
            new: measured(left),
            old: measured(was),
            rest: of_metrics.collect(),
            ..TreeLine::default()
        })
    }

    /// `showing the 40 heaviest rows, down to 0.9% · for all rows: -n 0 --min-share 0`
    pub(super) fn note_of_rows(&self) -> Option<Note> {
        let Tree { header, hidden_by, min_share, .. } = self.tree;
        let of_what = match (&header.base, &header.metrics[..]) {
            (Some(_), _) => " of the new side",
            (None, []) => "",
            (None, _) => " of a metric",
        };
        let rows = self.groups.len().saturating_sub(1);
        let mut note = if rows == 0 && hidden_by.depth {
            "every row is deeper than --depth".to_string()
        } else if rows == 0 {
            "no row is heavy enough to show".to_string()
        } else if hidden_by.min_share && !hidden_by.limit {
            format!("showing rows with at least {min_share}%{of_what}")
        } else {
            let what = if header.metrics.is_empty() { of_what.to_string() } else { self.of_first_metric() };
            let share = unit::share(self.lightest as i64, header.total);
            match rows {
                1 => format!("showing the heaviest row, which has {share}{what}"),
                _ => format!(
                    "showing the {} heaviest rows, down to {share}{what}",
                    unit::group_thousands(rows as i128)
                ),
            }
        };
        let options = [(hidden_by.limit, "-n 0"), (hidden_by.min_share, "--min-share 0")];
        let options: Vec<&str> =
            options.iter().filter(|(hides, _)| *hides).map(|(_, option)| *option).collect();
        let mut for_all = vec![options.join(" ")];
        for_all.extend(hidden_by.depth.then(|| "without --depth".to_string()));
        for_all.retain(|part| !part.is_empty());
        if for_all.is_empty() {
            note = format!(
                "{} lighter rows are left out: a tree approximated from calls would grow without end",
                unit::group_thousands(header.elided_rows.into())
            );
        } else {
            note.push_str(&format!("{}for all rows: {}", self.style.glyphs.dot, for_all.join(", ")));
        }
        (header.elided_rows > 0).then(|| Note::faint(note))
    }

    fn of_first_metric(&self) -> String {
        format!(" of {}", clean(&self.tree.header.metric.name))
    }
}

/// Draws lines without recursion: stacks can be very deep.
struct Lines<'r> {
    drawing: Rc<Drawing<'r>>,
    /// The lines to draw next, the last one first, and the group at the top of each.
    work: Vec<(TreeLine<'r>, usize)>,
}

impl<'r> Lines<'r> {
    fn new(drawing: Rc<Drawing<'r>>) -> Self {
        let mut lines = Lines { work: Vec::new(), drawing };
        match lines.drawing.tree.direction {
            Direction::TopDown => lines.work.push((lines.drawing.all(), 0)),
            Direction::BottomUp => {
                for &top in lines.drawing.groups[0].below.iter().rev() {
                    let line = lines.drawing.group(top);
                    lines.work.push((line, top));
                }
            }
        }
        lines
    }

    /// Adds the lines directly below a group.
    fn add_below(&mut self, group: usize, top: usize, before: &str) {
        let drawing = &self.drawing;
        let is_bottom_up = drawing.tree.direction == Direction::BottomUp;
        let root = is_bottom_up.then(|| &drawing.tree.rows[drawing.groups[top].last]);
        let mut lines: Vec<TreeLine> =
            drawing.groups[group].below.iter().map(|&below| drawing.group(below)).collect();
        lines.extend(drawing.remainder(group));
        let is_rest = matches!(lines[..], [TreeLine { what: What::Rest(_), .. }]);
        let is_choice = lines.len() > 1 || is_rest || is_bottom_up && group == top;
        let (glyphs, count) = (drawing.style.glyphs, lines.len());
        for (index, mut line) in lines.into_iter().enumerate().rev() {
            let (own, below) = match (is_choice, index + 1 == count) {
                (false, _) => ("", ""),
                (true, false) => (glyphs.branch, glyphs.bar),
                (true, true) => (glyphs.last, "  "),
            };
            (line.branches, line.below) = (format!("{before}{own}"), format!("{before}{below}"));
            line.top = root;
            self.work.push((line, top));
        }
    }
}

impl<'r> Iterator for Lines<'r> {
    type Item = TreeLine<'r>;

    fn next(&mut self) -> Option<TreeLine<'r>> {
        let (line, top) = self.work.pop()?;
        match line.what {
            What::All => self.add_below(0, 0, ""),
            What::Group(group) => self.add_below(group, top, &line.below),
            What::Row | What::Rest(_) | What::More => {}
        }
        Some(line)
    }
}

/// The width of two levels of branches.
const LEAST_BRANCHES: usize = 4;

/// One dot per level. Deeper levels are numbered: a chain of 20,000 calls would be a gigabyte of dots.
fn indent(depth: u32) -> String {
    let dots = "· ".repeat(depth.min(MOST_DOTS) as usize);
    if depth > MOST_DOTS { format!("{dots}… {depth} · ") } else { dots }
}

/// The deepest level that is drawn as dots; deeper ones are numbered.
const MOST_DOTS: u32 = 40;

/// A line with the numbers of a row.
fn line_of(row: &TreeRow) -> TreeLine<'_> {
    TreeLine {
        row: Some(row),
        new: row.values.new_pair().into(),
        old: row.values.old.unwrap_or_default().into(),
        events: row.events.map_or_else(Measured::default, Measured::from),
        ..TreeLine::default()
    }
}

/// The groups of a tree in depth-first order. Group 0 stands for the whole tree.
fn groups(tree: &Tree) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = vec![RowGroup::default()];
    let labels = tree.header.filters.iter().filter(|filter| filter.starts_with("--label-root ")).count();
    // Who asks for a label looks for its values: they have lines of their own.
    let is_label =
        |row: usize| tree.direction == Direction::TopDown && (tree.rows[row].depth as usize) < labels;
    let mut group_of = vec![0; tree.rows.len()];
    for (index, row) in tree.rows.iter().enumerate() {
        let parent = row.parent.map(|parent| parent as usize);
        let above = parent.map_or(0, |parent| group_of[parent]);
        if parent.is_some_and(|parent| !is_label(parent) && is_joined(tree, parent)) {
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
    let further = values.values.iter().map(|(_, pair)| *pair);
    iter::once(values.new_pair()).chain(values.old).chain(row.events).chain(further)
}
