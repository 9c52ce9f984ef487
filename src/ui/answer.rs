//! What is on the screen: a report, prepared once so that moving through it costs nothing.

use std::collections::HashSet;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::name::{BlockLabel, block_labels};
use crate::output::{Emphasis, block_colors, display_names};
use crate::report::{
    Direction, Flame, LabelShare, LabelText, Name, Neighbour, Pair, Report, Timeline, TreeRow, Values,
};
use crate::ui::question::{Choice, Question};
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
    pub(crate) text: Vec<(String, Emphasis)>,
    /// The width of the screen that the text is for.
    pub(crate) width: u16,
    /// The metrics of the profile.
    pub(crate) metrics: Vec<String>,
    /// Names as they are displayed.
    names: HashMap<Name, String>,
    /// For each row of a tree, the row after its descendants.
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
        text: Vec<(String, Emphasis)>,
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
        let ends = if let Report::Tree(tree) = &*report { ends(&tree.rows) } else { Vec::new() };
        let colors = if let Report::Flame(flame) = &*report { block_colors(flame) } else { Vec::new() };
        let labels = if let Report::Flame(flame) = &*report { labels(flame) } else { HashMap::new() };
        let (heading, notes, metrics) = (Vec::new(), Vec::new(), Vec::new());
        Answer { question, report, heading, notes, text, width: 0, metrics, names, ends, colors, labels }
    }

    /// The same report as text for a screen of another width.
    pub(crate) fn with_text(&self, text: Vec<(String, Emphasis)>, width: u16) -> Self {
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

    /// The name of the function that a line is about.
    pub(crate) fn name_of(&self, line: Line) -> Option<&Name> {
        match (&*self.report, line) {
            (Report::Top(top), Line::Top(row)) => top.rows.get(row as usize).map(|row| &row.name),
            (Report::Tree(tree), Line::Tree(row)) => {
                tree.rows.get(row as usize).map(|row| &row.name).filter(|name| &***name != "(root)")
            }
            (Report::Focus(focus), Line::Subject | Line::Itself) => Some(&focus.name),
            (Report::Focus(_), Line::Caller(_) | Line::Callee(_)) => {
                let row = self.neighbour(line)?;
                (row.kind == crate::report::NeighbourKind::Function).then_some(&row.name)
            }
            (Report::Findings(findings), Line::Text(row)) => match self.part_of_report(row)? {
                PartOfReport::Finding(number) => findings.findings.get(number)?.function.as_ref(),
                PartOfReport::Remark(_) => None,
            },
            _ => None,
        }
    }

    /// A caller or a callee.
    pub(crate) fn neighbour(&self, line: Line) -> Option<&Neighbour> {
        let Report::Focus(focus) = &*self.report else { return None };
        match line {
            Line::Caller(row) => focus.callers.get(row as usize),
            Line::Callee(row) => focus.callees.get(row as usize),
            _ => None,
        }
    }

    /// The label that a line stands for, as `--label` takes it.
    pub(crate) fn label_of(&self, line: Line) -> Option<String> {
        let Report::Labels(labels) = &*self.report else { return None };
        match line {
            Line::Key(key) => Some(labels.keys.get(key as usize)?.key.clone()),
            Line::Label(key, value) => {
                let key = labels.keys.get(key as usize)?;
                Some(format!("{}={}", key.key, label_text(key.values.get(value as usize)?)))
            }
            _ => None,
        }
    }

    /// The text of a line without its numbers, as it is displayed.
    pub(crate) fn text_of(&self, line: Line) -> String {
        match (&*self.report, line) {
            (_, Line::Title(title)) => title.to_string(),
            (_, Line::Text(row)) => {
                self.text.get(row as usize).map(|(text, _)| text.clone()).unwrap_or_default()
            }
            (report, Line::Cut(_, count)) => {
                let noun = report.header().map_or("rows", |header| header.by.noun(count));
                let noun = if noun.is_empty() { "rows" } else { noun };
                format!("{count} more {noun}")
            }
            (_, Line::Itself) => "(self)".to_string(),
            (Report::Focus(_), Line::Caller(_) | Line::Callee(_)) => {
                self.neighbour(line).map(|row| self.shown(&row.name).to_string()).unwrap_or_default()
            }
            (Report::Tree(tree), Line::Tree(row)) => {
                tree.rows.get(row as usize).map(|row| self.shown(&row.name).to_string()).unwrap_or_default()
            }
            (Report::Labels(labels), Line::Key(key)) => {
                labels.keys.get(key as usize).map(|key| key.key.clone()).unwrap_or_default()
            }
            (Report::Labels(labels), Line::Label(key, value)) => {
                let value = labels.keys.get(key as usize).and_then(|key| key.values.get(value as usize));
                value.map(label_text).unwrap_or_default()
            }
            _ => self.name_of(line).map(|name| self.shown(name).to_string()).unwrap_or_default(),
        }
    }

    /// The command that shows more of what a line of text says.
    pub(crate) fn command_of(&self, line: Line) -> Option<String> {
        let Line::Text(row) = line else { return None };
        match &*self.report {
            Report::Findings(findings) => Some(match self.part_of_report(row)? {
                PartOfReport::Finding(number) => findings.findings.get(number)?.command.clone(),
                PartOfReport::Remark(number) => findings.remarks.get(number)?.command.clone(),
            }),
            _ => Some(self.text_at(row).trim().to_string()).filter(|text| text.starts_with("prof ")),
        }
    }

    /// The option that keeps only what a row of a timeline stands for.
    pub(crate) fn row_filter(&self, line: Line) -> Option<Choice> {
        let (Report::Timeline(timeline), Line::Text(row)) = (&*self.report, line) else { return None };
        let number = (row as usize).checked_sub(self.first_row_of(timeline)?)?;
        let name = &timeline.rows.get(number)?.name;
        match timeline.rows_by.split_once(':') {
            Some((_, key)) => Some(Choice::repeated("--label", format!("{key}={name}"))),
            None if timeline.rows_by == "package" => {
                Some(Choice::repeated("--focus", format!("package:^{}$", regex::escape(name))))
            }
            None => Some(Choice::repeated("--thread", format!("^{}$", regex::escape(name)))),
        }
    }

    /// The line of the first row of a timeline, which is below the titles of the columns.
    fn first_row_of(&self, timeline: &Timeline) -> Option<usize> {
        let is_title = |(text, _): &(String, Emphasis)| text.trim_start().starts_with("TOTAL");
        let title = self.text.iter().position(is_title)?;
        (!timeline.rows.is_empty()).then_some(title + 1)
    }

    /// The line that is selected at first: the first that Enter does something with.
    pub(crate) fn first_place(&self, lines: &[Line]) -> usize {
        let does_something = |line: &Line| {
            !matches!(line, Line::Text(_))
                || self.command_of(*line).is_some()
                || self.row_filter(*line).is_some()
        };
        lines.iter().position(does_something).unwrap_or(0)
    }

    fn text_at(&self, row: u32) -> &str {
        self.text.get(row as usize).map_or("", |(text, _)| text)
    }

    /// The finding or the remark that a line of `report` belongs to.
    fn part_of_report(&self, row: u32) -> Option<PartOfReport> {
        const REMARK: &str = "also: ";
        let part = |row: u32| {
            let text = self.text_at(row);
            // A finding begins with its number and its share: ` 1   34.9%  parse does the work itself`.
            let mut words = text.split_whitespace();
            let number = words.next()?.parse::<usize>().ok().filter(|_| words.next().is_some_and(is_share));
            match number {
                Some(number) => Some(number.checked_sub(1).map(PartOfReport::Finding)),
                None if text.starts_with(REMARK) => {
                    let before = (0..row).filter(|&row| self.text_at(row).starts_with(REMARK)).count();
                    Some(Some(PartOfReport::Remark(before)))
                }
                None => (!text.starts_with(' ')).then_some(None),
            }
        };
        (0..=row).rev().find_map(part)?
    }

    /// The numbers of a line.
    pub(crate) fn numbers(&self, line: Line) -> Numbers {
        let of_values = |values: &Values| Numbers {
            own: Some(values.self_value),
            total: Some(values.total),
            old: values.old,
        };
        let of_total = |total: i64, old: Option<i64>| Numbers {
            own: None,
            total: Some(total),
            old: old.map(|total| Pair { self_value: 0, total }),
        };
        match (&*self.report, line) {
            (Report::Top(top), Line::Top(row)) => of_values(&top.rows[row as usize].values),
            (Report::Top(top), Line::Cut(..)) => {
                Numbers { own: Some(top.header.elided), ..Numbers::default() }
            }
            (Report::Tree(tree), Line::Tree(row)) => of_values(&tree.rows[row as usize].values),
            (Report::Focus(focus), Line::Subject) => {
                of_total(focus.values.new.total, focus.values.old.map(|old| old.total))
            }
            (Report::Focus(focus), Line::Itself) => {
                of_total(focus.values.new.self_value, focus.values.old.map(|old| old.self_value))
            }
            (Report::Focus(_), Line::Caller(_) | Line::Callee(_)) => {
                self.neighbour(line).map(|row| of_total(row.value, row.old)).unwrap_or_default()
            }
            (Report::Labels(labels), Line::Key(key)) => {
                let key = &labels.keys[key as usize];
                of_total(key.total, key.old)
            }
            (Report::Labels(labels), Line::Label(key, value)) => {
                let value = &labels.keys[key as usize].values[value as usize];
                of_total(value.total, value.old)
            }
            _ => Numbers::default(),
        }
    }

    /// The values of a line in one of several metrics.
    pub(crate) fn metric_of(&self, line: Line, index: usize) -> Option<Pair> {
        let values = match (&*self.report, line) {
            (Report::Top(top), Line::Top(row)) => &top.rows.get(row as usize)?.values,
            (Report::Tree(tree), Line::Tree(row)) => &tree.rows.get(row as usize)?.values,
            _ => return None,
        };
        values.values.get(index).map(|(_, pair)| *pair)
    }

    /// Where the function of a line is, if that is known.
    pub(crate) fn place_of(&self, line: Line) -> Option<String> {
        match (&*self.report, line) {
            (Report::Top(top), Line::Top(row)) => {
                let row = top.rows.get(row as usize)?;
                let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
                Some(format!("{}{line}", row.file.as_ref()?))
            }
            (Report::Tree(tree), Line::Tree(row)) => {
                Some(tree.rows.get(row as usize)?.file.as_ref()?.to_string())
            }
            (Report::Focus(focus), Line::Subject) => Some(focus.file.as_ref()?.to_string()),
            _ => None,
        }
        .filter(|place| !place.is_empty())
    }
}

/// A part of a report that has a command of its own.
#[derive(Clone, Copy)]
enum PartOfReport {
    /// The finding with this index.
    Finding(usize),
    /// The remark with this index.
    Remark(usize),
}

/// `34.9%`
fn is_share(text: &str) -> bool {
    text.strip_suffix('%').is_some_and(|share| share.trim_start_matches('<').parse::<f64>().is_ok())
}

/// The value of a label with its unit.
fn label_text(label: &LabelShare) -> String {
    let unit = label.unit.as_deref().unwrap_or_default();
    match &label.value {
        LabelText::Text(text) => format!("{text}{unit}"),
        LabelText::Number(number) => format!("{number}{unit}"),
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
fn ends(rows: &[TreeRow]) -> Vec<u32> {
    let mut ends = vec![rows.len() as u32; rows.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        while let Some(&last) = open.last().filter(|&&last| rows[last].depth >= row.depth) {
            ends[last] = index as u32;
            open.pop();
        }
        open.push(index);
    }
    ends
}
