//! The texts of the picture: subtitle, labels, tooltips and notes.

use hashbrown::HashMap;

use crate::kind;
use crate::name::{BlockLabel, base_name, block_labels, display_width, fit, short_name, split_place};
use crate::output::Scaled;
use crate::output::headline;
use crate::output::svg::options::printable;
use crate::report::{Direction, Flame, FlameNode};
use crate::unit::{self, Scale, Unit};

/// Maximum number of characters of the subtitle and of a note; they fit a window of 800 pixels.
const SUBTITLE: usize = 104;
const NOTE: usize = 108;

/// Separates the parts of a line.
const DOT: &str = " · ";

/// The meaning of the width of a block in a bottom-up graph, for any metric.
const INVERTED: &str = "bottom-up: each function with its callers; wide = a large self value";

/// The meaning of the width of a block in a chart.
const CHART: &str = "from left to right: time";

/// Maximum number of characters of the name of a removed function.
const REMOVED: usize = 48;

/// The texts of one picture.
pub(super) struct Wording<'f> {
    flame: &'f Flame,
    /// For what is drawn.
    scale: Scale,
    /// For the whole profile, of which filters may leave little.
    total_scale: Scale,
    labels: HashMap<&'f str, BlockLabel>,
    filtered: bool,
    /// Whether blocks are stretches of time.
    is_chart: bool,
}

impl<'f> Wording<'f> {
    pub(super) fn new(flame: &'f Flame, unit: Option<&Unit>) -> Scaled<Self> {
        let header = &flame.header;
        let metric = &header.metric;
        // As in tables and their headers: one unit for the values shown, and that of the whole for the whole.
        let scale = crate::output::scale(metric, header.shown.max(header.old_sum()), unit)?;
        let total = header.total.max(header.base.as_ref().map_or(0, |base| base.total));
        let total_scale = crate::output::scale(metric, total, unit)?;
        let drawn = flame.nodes.iter().skip(1).chain(flame.callers.iter().skip(1));
        let mut names: Vec<(&str, &str)> = drawn.map(|node| (&*node.name, &*node.function)).collect();
        names.sort_unstable();
        names.dedup();
        let labels = names.iter().map(|&(name, _)| name).zip(block_labels(&names)).collect();
        let filtered = header.shown != header.total || !header.filters.is_empty();
        Ok(Wording { flame, scale, total_scale, labels, filtered, is_chart: false })
    }

    /// The texts of a chart, the nodes of which are functions.
    pub(super) fn of_chart(flame: &'f Flame, unit: Option<&Unit>) -> Scaled<Self> {
        Ok(Wording { is_chart: true, ..Wording::new(flame, unit)? })
    }

    /// A value in the unit of what is drawn.
    pub(super) fn amount(&self, value: i64) -> String {
        self.scale.format(value)
    }

    /// The line under the title: `cpu 85.99s in 40.73s, 2.11 CPUs busy · 8,599 samples`.
    pub(super) fn subtitle(&self) -> String {
        self.sentence().0
    }

    /// The headline: the parts that fit the subtitle, and the rest, which becomes notes.
    fn sentence(&self) -> (String, Vec<String>) {
        let (mut line, mut rest) = (String::new(), Vec::new());
        for part in self.parts() {
            let part = printable(&part);
            if line.is_empty() {
                line = part;
            } else if rest.is_empty() && display_width(&line) + DOT.len() + display_width(&part) <= SUBTITLE {
                line.push_str(DOT);
                line.push_str(&part);
            } else {
                rest.push(part);
            }
        }
        (line, rest)
    }

    /// The parts of the headline, the most important first.
    fn parts(&self) -> Vec<String> {
        let header = &self.flame.header;
        let total = format!("{} {}", header.metric.name, self.total_scale.format(header.displayed_total()));
        // After the base, a number of samples or a date would look like those of the base.
        let is_alone = header.base.is_none();
        let mut recording = headline::recording(total.trim_start(), &header.recording, is_alone).into_iter();
        let before = if is_alone { 1 } else { usize::MAX };
        let mut parts: Vec<String> = recording.by_ref().take(before).collect();
        let inputs = headline::inputs(header);
        if ![inputs.as_str(), base_name(&inputs)].contains(&self.flame.title.as_str()) {
            parts.push(inputs);
        }
        if let Some(base) = &header.base {
            let mut old = headline::base(header, &self.total_scale.format(base.total)).into_iter();
            let inputs = headline::base_inputs(header);
            let name = base_name(&inputs);
            parts.push(format!("base {name} {}", old.next().unwrap_or_default()));
            parts.extend(old);
        }
        if self.filtered {
            parts.extend(headline::shown(header, &self.scale.format(header.shown)));
        }
        parts.extend(recording);
        parts.extend(self.width());
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The meaning of the width of a block.
    fn width(&self) -> Option<String> {
        if self.is_chart {
            return Some(CHART.to_string());
        }
        if self.flame.direction == Direction::BottomUp {
            return Some(INVERTED.to_string());
        }
        let header = &self.flame.header;
        let kind = kind::of_recorded(&header.metric.name, header.recording.thread_time)?;
        Some(format!("a wide function {}", kind.width))
    }

    /// The node with this number. The callers of a focus are numbered after the other nodes.
    pub(super) fn node(&self, index: usize) -> &'f FlameNode {
        let below = &self.flame.nodes;
        below.get(index).unwrap_or_else(|| &self.flame.callers[index - below.len()])
    }

    /// The label of a node, with control characters made visible.
    pub(super) fn label(&self, index: usize) -> BlockLabel {
        if index == 0 {
            let header = &self.flame.header;
            // What the blocks add up to. Where some values are negative, that is less than their sizes.
            let value = self.flame.nodes[0].total;
            let share = unit::share(value, header.total);
            let share = if share.is_empty() { String::new() } else { format!(" ({share})") };
            let what = if self.flame.callers.is_empty() { "all" } else { "callers above, callees below" };
            let name = format!("{what} — {}{share}", self.scale.format(value));
            return BlockLabel { name, place: String::new() };
        }
        let label = self.labels.get(&*self.node(index).name).cloned().unwrap_or_default();
        BlockLabel { name: shown(&label.name), place: printable(&label.place) }
    }

    /// The full name of a node.
    pub(super) fn name(&self, index: usize) -> String {
        if index == 0 { self.label(0).name } else { shown(&self.node(index).name) }
    }

    /// The tooltip: the name, `file:line`, total and self, each on its own line. The script in the picture takes the first
    /// line as the name.
    pub(super) fn title(&self, index: usize) -> String {
        let is_caller = index >= self.flame.nodes.len();
        let details =
            if index == 0 { self.root_details() } else { self.details(self.node(index), is_caller) };
        let lines = std::iter::once(self.name(index)).chain(details.iter().map(|line| printable(line)));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn root_details(&self) -> Vec<String> {
        let header = &self.flame.header;
        let mut parts = vec![header.metric.name.clone()];
        if self.filtered {
            parts.push(format!("whole profile {}", self.total_scale.format(header.total)));
        }
        parts.extend(self.flame.nodes[0].old.map(|old| self.change(self.flame.nodes[0].total, old.total)));
        parts.extend(self.no_stack());
        parts.retain(|part| !part.is_empty());
        parts
    }

    fn details(&self, node: &FlameNode, is_caller: bool) -> Vec<String> {
        let mut parts: Vec<String> = file_and_line(node).into_iter().collect();
        if node.inlined {
            parts.push("inlined".to_string());
        }
        if self.flame.header.is_artefact(&node.name) {
            parts.push("profiler artefact: its self belongs to the caller".to_string());
        }
        match self.flame.direction {
            // The width is the part of the root function's self that was reached through these callers.
            Direction::BottomUp => {
                let whose = if node.parent == 0 { "self" } else { "self of the function at the root" };
                parts.push(format!("{whose} {}", self.value(node.total)));
            }
            Direction::TopDown => {
                parts.push(format!("total {}", self.value(node.total)));
                let has_self = node.self_value != 0 && !is_caller;
                parts.extend(has_self.then(|| format!("self {}", self.value(node.self_value))));
            }
        }
        if let Some(old) = node.old {
            parts.push(self.change(node.total, old.total));
        }
        parts
    }

    /// Where a function is, as its tooltip says.
    pub(super) fn origin(&self, index: usize) -> Option<String> {
        file_and_line(self.node(index)).map(|place| printable(&place))
    }

    fn change(&self, new: i64, old: i64) -> String {
        let change = self.scale.format_signed(new.saturating_sub(old));
        format!("old {}, change {change}", self.scale.format(old))
    }

    /// `4.82s 5.6%`, and with filters also the share of what is shown.
    fn value(&self, value: i64) -> String {
        let header = &self.flame.header;
        let all = unit::share(value, header.total);
        let value_text = self.scale.format(value);
        if !self.filtered {
            return format!("{value_text} {all}").trim_end().to_string();
        }
        format!("{value_text} {all} of all and {} of what is shown", unit::share(value, header.shown))
    }

    fn no_stack(&self) -> Option<String> {
        let header = &self.flame.header;
        let value = |value: i64| format!("{} {}", self.scale.format(value), unit::share(value, header.total));
        let emptied = headline::emptied_by(header).map(|options| {
            format!("stacks whose frames are all hidden by {options} {}", value(header.emptied))
        });
        let recorded = header.no_stack - if emptied.is_some() { header.emptied } else { 0 };
        let recorded = (recorded != 0)
            .then(|| format!("samples without a stack {}", value(recorded)).trim_end().to_string());
        let parts: Vec<String> = recorded.into_iter().chain(emptied).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The notes: what the picture omits, what its marks mean, and warnings.
    pub(super) fn notes(&self) -> Vec<String> {
        let flame = self.flame;
        let mut notes = Vec::new();
        notes.extend(self.sentence().1);
        if flame.dropped > 0 {
            let (blocks, are) = if flame.dropped == 1 { ("block", "is") } else { ("blocks", "are") };
            let too_deep = flame
                .deepest
                .map(|depth| format!(", or beyond {} levels,", unit::group_thousands(depth.into())));
            let too_deep = too_deep.unwrap_or_default();
            notes.push(format!(
                "{} {blocks} narrower than a third of a pixel{too_deep} {are} not drawn",
                unit::group_thousands(flame.dropped.into()),
            ));
        }
        if let Some(no_stack) = self.no_stack().filter(|_| !self.is_chart) {
            notes.push(format!("empty space to the right of the blocks on the root: {no_stack}"));
        }
        if flame.nodes.iter().chain(&flame.callers).any(|node| node.inlined) {
            notes.push("italic: inlined".to_string());
        }
        notes.extend(self.removed());
        notes.extend(
            flame.header.warnings.iter().map(|message| format!("{}: {message}", message.kind.word())),
        );
        notes.iter().map(|note| printable(note)).collect()
    }

    /// `3 removed: main.work 1.20s, main.rest 0.10s, …`
    fn removed(&self) -> Option<String> {
        let removed = &self.flame.removed;
        let count = unit::group_thousands(removed.len() as i128);
        let mut text = format!("{count} removed: ");
        for (index, (name, old)) in removed.iter().enumerate() {
            let name = format!("{} {}", fit(&short_name(name), REMOVED, "…"), self.scale.format(*old));
            if index > 0 && display_width(&text) + display_width(&name) > NOTE {
                text.push_str(", …");
                break;
            }
            text.push_str(if index > 0 { ", " } else { "" });
            text.push_str(&name);
        }
        (!removed.is_empty()).then_some(text)
    }

    /// A value with its share, for the legend.
    pub(super) fn share(&self, value: i64) -> String {
        unit::share(value, self.flame.header.shown)
    }
}

/// The file and the line, unless the name has them.
fn file_and_line(node: &FlameNode) -> Option<String> {
    match (&node.file, node.line) {
        _ if !split_place(&node.name, &node.function).1.is_empty() => None,
        (Some(file), Some(line)) => Some(format!("{}:{line}", file_after(&node.name, file))),
        (Some(file), None) => Some(file_after(&node.name, file).to_string()),
        (None, _) => None,
    }
}

/// A printable name. An empty one is written as `""`, so that it can be seen and clicked.
fn shown(name: &str) -> String {
    if name.is_empty() { "\"\"".to_string() } else { printable(name) }
}

/// As much of a path as identifies a file after the name of a function: `flask/app.py`, or `gzip.go` if the name has the
/// folder, as `compress/gzip.(*Writer).Close`. Most of the bytes of a picture would be folders otherwise.
fn file_after<'p>(name: &str, path: &'p str) -> &'p str {
    let mut from_end = path.rmatch_indices(['/', '\\']).map(|(at, _)| at);
    let Some(before_file) = from_end.next() else { return path };
    let before_folder = from_end.next().map_or(0, |at| at + 1);
    let is_in_name = name.contains(&path[before_folder..before_file]);
    &path[if is_in_name { before_file + 1 } else { before_folder }..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_identified_by_its_folder_or_the_name() {
        for (name, path, want) in [
            ("compress/gzip.(*Writer).Close", "/usr/local/go/src/compress/gzip/gzip.go", "gzip.go"),
            ("serve", "/usr/lib/python3/flask/app.py", "flask/app.py"),
            ("serve", "app.py", "app.py"),
            ("serve", "/app.py", "app.py"),
            ("serve", r"C:\src\shop\cart.cpp", r"shop\cart.cpp"),
            ("serve", "src/", "src/"),
        ] {
            assert_eq!(file_after(name, path), want);
        }
    }
}
