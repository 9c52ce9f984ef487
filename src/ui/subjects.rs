//! What a line of a report is about: its function, its numbers, the command that shows more.

use std::ops::Range;

use crate::output::ReportPart;
use crate::pattern::{exactly, exactly_of};
use crate::report::{LabelShare, LabelText, Name, Neighbour, Pair, Report, Values};
use crate::ui::answer::{Answer, Line, Numbers};
use crate::ui::question::Choice;

impl Answer {
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
            (_, Line::Text(_)) => self.name_of_part(self.part_of(line)?),
            _ => None,
        }
    }

    /// The function of a row, where rows stand for something else, such as lines.
    pub(crate) fn function_of(&self, line: Line) -> Option<&str> {
        match (&*self.report, line) {
            (Report::Top(top), Line::Top(row)) => Some(&top.rows.get(row as usize)?.function),
            // A line of source is called after its function and its file: `main /srv/main.go:7`.
            (Report::Tree(tree), Line::Tree(row)) => {
                let row = tree.rows.get(row as usize)?;
                let place = row.name.rfind(&format!(" {}", row.file.as_ref()?))?;
                Some(&row.name[..place])
            }
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
                self.text.get(row as usize).map(|line| line.text.clone()).unwrap_or_default()
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

    /// The part of the report that a line of text shows.
    pub(crate) fn part_of(&self, line: Line) -> Option<ReportPart> {
        let Line::Text(row) = line else { return None };
        self.text.get(row as usize)?.part
    }

    /// The lines that are selected together with this one: those of one finding or of one sequence.
    pub(crate) fn block(&self, lines: &[Line], place: usize) -> Range<usize> {
        let part = |place: usize| lines.get(place).and_then(|line| self.part_of(*line));
        // Each line of source is one by itself.
        let Some(shown) = part(place).filter(|part| !matches!(part, ReportPart::Function(_))) else {
            return place..place + 1;
        };
        let is_same = |place: &usize| part(*place) == Some(shown);
        let start = (0..place).rev().take_while(is_same).last().unwrap_or(place);
        let end = (place..lines.len()).take_while(is_same).last().unwrap_or(place);
        start..end + 1
    }

    /// The command that shows more of what a line of text says.
    pub(crate) fn command_of(&self, line: Line) -> Option<&str> {
        let command = match (&*self.report, self.part_of(line)?) {
            (Report::Findings(report), ReportPart::Finding(place)) => &report.findings.get(place)?.command,
            (Report::Findings(report), ReportPart::Remark(place)) => &report.remarks.get(place)?.command,
            (Report::Findings(report), ReportPart::Changes) => &report.changes.as_ref()?.command,
            (Report::Findings(report), ReportPart::Cause(place)) => {
                report.changes.as_ref()?.causes.get(place)?.cause.command()?
            }
            (Report::Timeline(timeline), ReportPart::Phase(place)) => &timeline.phases.get(place)?.command,
            _ => return None,
        };
        Some(command)
    }

    /// The option that keeps only what a row of a timeline stands for.
    pub(crate) fn row_filter(&self, line: Line) -> Option<Choice> {
        let (Report::Timeline(timeline), Some(ReportPart::Activity(place))) =
            (&*self.report, self.part_of(line))
        else {
            return None;
        };
        let name = &timeline.rows.get(place)?.name;
        match timeline.rows_by.split_once(':') {
            Some((_, key)) => Some(Choice::repeated("--label", format!("{key}={name}"))),
            None if timeline.rows_by == "package" => {
                Some(Choice::repeated("--focus", exactly_of("package", name)))
            }
            None => Some(Choice::repeated("--thread", exactly(name))),
        }
    }

    /// The function that a part of a report is about.
    fn name_of_part(&self, part: ReportPart) -> Option<&Name> {
        match (&*self.report, part) {
            (Report::Findings(report), ReportPart::Finding(place)) => {
                report.findings.get(place)?.function.as_ref()
            }
            (Report::Findings(report), ReportPart::Cause(place)) => {
                Some(&report.changes.as_ref()?.causes.get(place)?.cause.function)
            }
            (Report::Hot(hot), ReportPart::Step(place)) => Some(&hot.path.get(place)?.name),
            // Its self is that of the last function.
            (Report::Hot(hot), ReportPart::Sequence(place)) => hot.sequences.get(place)?.frames.last(),
            (Report::Timeline(timeline), ReportPart::Phase(place)) => {
                Some(&timeline.phases.get(place)?.function.as_ref()?.name)
            }
            (Report::Source(source), ReportPart::Function(place)) => Some(&source.functions.get(place)?.name),
            (Report::Assembly(assembly), ReportPart::Function(place)) => {
                Some(&assembly.functions.get(place)?.name)
            }
            _ => None,
        }
    }

    /// The line that is selected at first: the first that Enter does something with.
    pub(crate) fn first_place(&self, lines: &[Line]) -> usize {
        let does_something = |line: &Line| {
            !matches!(line, Line::Text(_))
                || self.command_of(*line).is_some()
                || self.row_filter(*line).is_some()
                || self.name_of(*line).is_some()
        };
        lines.iter().position(does_something).unwrap_or(0)
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

/// The value of a label with its unit.
fn label_text(label: &LabelShare) -> String {
    let unit = label.unit.as_deref().unwrap_or_default();
    match &label.value {
        LabelText::Text(text) => format!("{text}{unit}"),
        LabelText::Number(number) => format!("{number}{unit}"),
    }
}
