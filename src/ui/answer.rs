//! What is on the screen: a report, prepared once so that moving through it costs nothing.

use std::collections::HashSet;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::name::{BlockLabel, block_labels};
use crate::output::{ScreenLine, block_colors, display_names};
use crate::report::{Direction, Flame, Name, Pair, Report, TreeRow};
use crate::ui::question::Question;
use crate::ui::search::Search;
use crate::unit::Unit;

/// A report, and what is shown with it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What was asked.
    pub(crate) question: Question,
    /// The report.
    pub(crate) report: Arc<Report>,
    /// The parts of the title; the last ones are left out where they do not fit.
    pub(crate) heading: Vec<String>,
    /// Notes that belong to this report.
    pub(crate) notes: Vec<String>,
    /// The lines of a view that is shown as text; empty for others.
    pub(crate) text: Vec<ScreenLine>,
    /// The width of the screen that the text is for.
    pub(crate) width: u16,
    /// The metrics of the profile.
    pub(crate) metrics: Vec<String>,
    /// Names as they are displayed.
    names: HashMap<Name, String>,
    /// For each row of a tree or node of a flame graph, the one after its descendants.
    ends: Vec<u32>,
    /// The colours of the blocks of a flame graph.
    pub(crate) colors: Vec<[u8; 3]>,
    /// What is written on its blocks.
    labels: HashMap<Name, BlockLabel>,
}

/// A line of the screen: what it shows of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A row of `top`.
    Top(u32),
    /// A row of `tree`.
    Tree(u32),
    /// So many rows below this one, or at the top, that are too light to be shown.
    Cut(Option<u32>, u64),
    /// A caller.
    Caller(u32),
    /// The function whose callers and callees are shown.
    Subject,
    /// The samples of the function that no callee has.
    Itself,
    /// A callee.
    Callee(u32),
    /// A key of labels.
    Key(u32),
    /// One of its values.
    Label(u32, u32),
    /// A line of text.
    Text(u32),
    /// A title.
    Title(&'static str),
}

/// The numbers of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// Self.
    pub(crate) own: Option<i64>,
    /// Total.
    pub(crate) total: Option<i64>,
    /// The old side of a comparison.
    pub(crate) old: Option<Pair>,
}

impl Answer {
    /// Prepares a report. A report without rows to choose from is shown as `text`.
    pub(crate) fn new(
        question: Question,
        report: impl Into<Arc<Report>>,
        text: Vec<ScreenLine>,
        short_names: bool,
    ) -> Self {
        let report = report.into();
        let names = match &*report {
            Report::Top(top) => display_names(top.rows.iter().map(|row| &row.name), short_names),
            Report::Tree(tree) => display_names(tree.rows.iter().map(|row| &row.name), short_names),
            Report::Focus(focus) => {
                let rows = focus.callers.iter().chain(&focus.callees).map(|row| &row.name);
                display_names(rows.chain([&focus.name]), short_names)
            }
            Report::Flame(flame) => {
                display_names(flame.nodes.iter().chain(&flame.callers).map(|node| &node.name), short_names)
            }
            _ => HashMap::new(),
        };
        let ends = match &*report {
            Report::Tree(tree) => ends(tree.rows.iter().map(|row| row.parent)),
            // The root is its own caller.
            Report::Flame(flame) => {
                ends(flame.nodes.iter().enumerate().map(|(place, node)| (place > 0).then_some(node.parent)))
            }
            _ => Vec::new(),
        };
        let colors = if let Report::Flame(flame) = &*report { block_colors(flame) } else { Vec::new() };
        let labels = if let Report::Flame(flame) = &*report { labels(flame) } else { HashMap::new() };
        let (heading, notes, metrics) = (Vec::new(), Vec::new(), Vec::new());
        Answer { question, report, heading, notes, text, width: 0, metrics, names, ends, colors, labels }
    }

    /// The same report as text for a screen of another width.
    pub(crate) fn with_text(&self, text: Vec<ScreenLine>, width: u16) -> Self {
        let Answer { question, report, heading, notes, metrics, .. } = self;
        Answer {
            heading: heading.clone(),
            notes: notes.clone(),
            metrics: metrics.clone(),
            width,
            ..Answer::new(question.clone(), report.clone(), text, true)
        }
    }

    /// The unit that was asked for.
    pub(crate) fn unit(&self) -> Option<Unit> {
        self.question.value("--unit").filter(|unit| *unit != "auto").map(Unit::parse)
    }

    /// The flame graph, if it is one.
    pub(crate) fn flame(&self) -> Option<&Flame> {
        if let Report::Flame(flame) = &*self.report { Some(flame) } else { None }
    }

    /// What is written on a block of a flame graph.
    pub(crate) fn label(&self, name: &Name) -> BlockLabel {
        self.labels.get(name).cloned().unwrap_or_default()
    }

    /// A name as it is displayed.
    pub(crate) fn shown<'s>(&'s self, name: &'s Name) -> &'s str {
        self.names.get(name).map_or(&**name, String::as_str)
    }

    /// The lines to show, where these rows of a tree are open: all of them, or those that are searched for.
    pub(crate) fn lines(&self, open: &HashSet<u32>, only: Option<&Search>) -> Vec<Line> {
        let lines = self.all_lines(open);
        match only {
            Some(search) => self.matching(lines, search),
            None => lines,
        }
    }

    /// The lines that match, with the rows of a tree that they are below, the keys of labels, and titles.
    fn matching(&self, lines: Vec<Line>, search: &Search) -> Vec<Line> {
        let matches = |line: Line| self.finds(search, line);
        match &*self.report {
            Report::Tree(_) => {
                let found = self.rows_to(search);
                lines
                    .into_iter()
                    .filter(|line| matches!(line, Line::Tree(row) if found.contains(row)))
                    .collect()
            }
            Report::Labels(labels) => {
                let is_kept = |line: &Line| match *line {
                    Line::Label(key, _) => matches(Line::Key(key)) || matches(*line),
                    Line::Key(key) => {
                        let values = labels.keys[key as usize].values.len() as u32;
                        matches(*line) || (0..values).any(|value| matches(Line::Label(key, value)))
                    }
                    _ => false,
                };
                lines.into_iter().filter(is_kept).collect()
            }
            _ => {
                let is_kept = |line: &Line| match line {
                    Line::Title(_) | Line::Subject => true,
                    Line::Cut(..) => false,
                    line => matches(*line),
                };
                lines.into_iter().filter(is_kept).collect()
            }
        }
    }

    /// The rows of a tree that match, and those that they are below.
    pub(crate) fn rows_to(&self, search: &Search) -> HashSet<u32> {
        let Report::Tree(tree) = &*self.report else { return HashSet::new() };
        let mut found = HashSet::new();
        for (row, _) in tree.rows.iter().enumerate().filter(|(_, row)| self.finds_name(search, &row.name)) {
            let mut above = Some(row as u32);
            while let Some(row) = above.filter(|row| found.insert(*row)) {
                above = tree.rows[row as usize].parent;
            }
        }
        found
    }

    /// Whether a line is searched for: its text, or the full name of its function.
    pub(crate) fn finds(&self, search: &Search, line: Line) -> bool {
        search.finds(&self.text_of(line))
            || (!matches!(line, Line::Text(_)) && self.name_of(line).is_some_and(|name| search.finds(name)))
    }

    /// Whether a name is searched for, as it is displayed or in full.
    pub(crate) fn finds_name(&self, search: &Search, name: &Name) -> bool {
        search.finds(self.shown(name)) || search.finds(name)
    }

    fn all_lines(&self, open: &HashSet<u32>) -> Vec<Line> {
        let count = |rows: usize| 0..rows as u32;
        match &*self.report {
            Report::Top(top) => {
                let cut =
                    Some(Line::Cut(None, top.header.elided_rows)).filter(|_| top.header.elided_rows > 0);
                count(top.rows.len()).map(Line::Top).chain(cut).collect()
            }
            Report::Tree(tree) => {
                let mut lines = Vec::new();
                let mut row = 0;
                while (row as usize) < tree.rows.len() {
                    self.close_cut(&tree.rows, row, open, &mut lines);
                    lines.push(Line::Tree(row));
                    row = if open.contains(&row) { row + 1 } else { self.ends[row as usize] };
                }
                self.close_cut(&tree.rows, row, open, &mut lines);
                lines.extend(Some(Line::Cut(None, tree.cut)).filter(|_| tree.cut > 0));
                lines
            }
            Report::Focus(focus) => {
                let callers = count(focus.callers.len()).map(Line::Caller);
                let callees = count(focus.callees.len()).map(Line::Callee);
                let own = focus.values.new.self_value != 0 && !focus.counts_calls;
                [Line::Title("CALLERS")]
                    .into_iter()
                    .chain(callers)
                    .chain([Line::Title("FUNCTION"), Line::Subject, Line::Title("CALLEES")])
                    .chain(own.then_some(Line::Itself))
                    .chain(callees)
                    .collect()
            }
            Report::Labels(labels) => {
                let values = |key: u32| {
                    let values = labels.keys[key as usize].values.len();
                    [Line::Key(key)]
                        .into_iter()
                        .chain(count(values).map(move |value| Line::Label(key, value)))
                };
                count(labels.keys.len()).flat_map(values).collect()
            }
            Report::Flame(_) => Vec::new(),
            _ => count(self.text.len()).map(Line::Text).collect(),
        }
    }

    /// Adds what was cut of the open rows that end before `row`, the innermost first.
    fn close_cut(&self, rows: &[TreeRow], row: u32, open: &HashSet<u32>, lines: &mut Vec<Line>) {
        let Some(Line::Tree(last)) = lines.iter().rev().find(|line| matches!(line, Line::Tree(_))).copied()
        else {
            return;
        };
        let mut above = Some(last);
        while let Some(ended) = above.filter(|&ended| self.ends[ended as usize] <= row) {
            let cut = rows[ended as usize].cut;
            if cut > 0 && open.contains(&ended) {
                lines.push(Line::Cut(Some(ended), u64::from(cut)));
            }
            above = rows[ended as usize].parent;
        }
    }

    /// Whether a tree or a flame graph shows callers below functions.
    pub(crate) fn is_bottom_up(&self) -> bool {
        match &*self.report {
            Report::Tree(tree) => tree.direction == Direction::BottomUp,
            Report::Flame(flame) => flame.direction == Direction::BottomUp,
            _ => false,
        }
    }

    /// The children of a row of a tree or of a node of a flame graph.
    pub(crate) fn children(&self, row: u32) -> impl Iterator<Item = u32> {
        let end = self.end_of(row);
        let is_inside = move |child: &u32| *child < end;
        std::iter::successors(Some(row + 1).filter(is_inside), move |&child| {
            Some(self.end_of(child)).filter(is_inside)
        })
    }

    /// The row after the descendants of a row of a tree.
    pub(crate) fn end_of(&self, row: u32) -> u32 {
        self.ends.get(row as usize).copied().unwrap_or(row + 1)
    }

    /// Whether a row of a tree is at the top.
    pub(crate) fn is_root(&self, row: u32) -> bool {
        matches!(&*self.report, Report::Tree(tree) if tree.rows.get(row as usize).is_some_and(|row| row.depth == 0))
    }

    /// Whether a row of a tree has something below it.
    pub(crate) fn has_children(&self, row: u32) -> bool {
        let Report::Tree(tree) = &*self.report else { return false };
        self.end_of(row) > row + 1 || tree.rows.get(row as usize).is_some_and(|row| row.cut > 0)
    }

    /// The rows of a tree that are open at first: those that have a twentieth of what is shown, but of a bottom-up tree only
    /// the first.
    pub(crate) fn opened(&self) -> HashSet<u32> {
        let Report::Tree(tree) = &*self.report else { return HashSet::new() };
        let least = tree.header.shown / 20;
        let is_heavy = |row: &TreeRow| row.values.total.abs() >= least.max(1);
        let rows = tree.rows.iter().enumerate();
        if self.is_bottom_up() {
            return HashSet::from([0]);
        }
        rows.filter(|(_, row)| is_heavy(row)).map(|(row, _)| row as u32).collect()
    }
}

/// The labels of the blocks of a flame graph, by name.
fn labels(flame: &Flame) -> HashMap<Name, BlockLabel> {
    let functions: HashMap<&Name, &Name> =
        flame.nodes.iter().map(|node| (&node.name, &node.function)).collect();
    let pairs: Vec<(&str, &str)> =
        functions.iter().map(|(name, function)| (&***name, &***function)).collect();
    functions.keys().map(|name| (*name).clone()).zip(block_labels(&pairs)).collect()
}

/// For each row in preorder, the row after its descendants.
fn ends(parents: impl ExactSizeIterator<Item = Option<u32>> + DoubleEndedIterator) -> Vec<u32> {
    let mut ends: Vec<u32> = (1..=parents.len() as u32).collect();
    for (row, parent) in parents.enumerate().rev() {
        if let Some(parent) = parent {
            ends[parent as usize] = ends[parent as usize].max(ends[row]);
        }
    }
    ends
}
