//! What the picture says in words.

use hashbrown::HashMap;

use crate::kind;
use crate::name::{display_width, fit, short_name, short_names};
use crate::output::svg::printable;
use crate::report::{Direction, Flame, FlameNode};
use crate::unit::{self, IncompatibleUnits, Scale, Unit};

/// Characters of the line under the title, and of a note, that fit a window of 800 pixels.
const SUBTITLE: usize = 104;
const NOTE: usize = 108;

/// Characters of the name of a function that is no longer there.
const REMOVED: usize = 48;

/// Texts of one picture.
pub(super) struct Wording<'f> {
    flame: &'f Flame,
    scale: Scale,
    short: HashMap<&'f str, String>,
    filtered: bool,
}

impl<'f> Wording<'f> {
    pub(super) fn new(flame: &'f Flame, unit: Option<&Unit>) -> Result<Self, IncompatibleUnits> {
        let header = &flame.header;
        let metric = &header.metric;
        let scale = Scale::for_column(&Unit::parse(&metric.unit), metric.divisor, header.total, unit)?;
        let drawn = flame.nodes.iter().skip(1).chain(flame.callers.iter().skip(1));
        let mut names: Vec<&str> = drawn.map(|node| &*node.name).collect();
        names.sort_unstable();
        names.dedup();
        let short = short_names(&names).into_iter().map(|name| shown(&name));
        let short = names.iter().copied().zip(short).collect();
        let filtered = header.shown != header.total || !header.about.filters.is_empty();
        Ok(Wording { flame, scale, short, filtered })
    }

    /// `cpu 85.99s in 40.73s, 2.11 CPUs busy · a wide block used much processor time`
    pub(super) fn subtitle(&self) -> String {
        let header = &self.flame.header;
        let about = &header.about;
        let mut parts = vec![format!("{} {}", header.metric.name, self.scale.format(header.total))];
        parts.extend(about.duration_ns.map(|duration| format!(" in {}", unit::duration(duration))));
        parts.extend(about.busy_hundredths.map(|busy| format!(", {} CPUs busy", unit::fixed(busy, 100, 2))));
        if let Some(base) = &header.base {
            parts.push(format!(" · old {}{}", self.scale.format(base.total), Self::old_inputs(&base.inputs)));
        }
        if self.filtered {
            let share = unit::share(header.shown, header.total);
            parts.push(format!(" · shown {}, {share} of all", self.scale.format(header.shown)));
        }
        let numbers = printable(parts.concat().trim_start());
        match self.width().filter(|width| display_width(&numbers) + width.len() <= SUBTITLE) {
            Some(width) => format!("{numbers} · {width}"),
            None => numbers,
        }
    }

    /// What the width of a block means.
    fn width(&self) -> Option<String> {
        let kind = kind::of_metric(&self.flame.header.metric.name)?;
        Some(format!("a wide block {}", kind.width))
    }

    /// ` (main.pb.gz)`, where the old side is one file.
    fn old_inputs(inputs: &[String]) -> String {
        match inputs {
            [one] if one != "-" => format!(" ({})", one.rsplit(['/', '\\']).next().unwrap_or(one)),
            [_] => String::new(),
            several => format!(" ({} profiles)", several.len()),
        }
    }

    /// A node: those above a focus are numbered behind the others.
    pub(super) fn node(&self, index: usize) -> &'f FlameNode {
        let below = &self.flame.nodes;
        below.get(index).unwrap_or_else(|| &self.flame.callers[index - below.len()])
    }

    /// The label of a node: its short name, with control characters made visible.
    pub(super) fn label(&self, index: usize) -> String {
        if index == 0 {
            let header = &self.flame.header;
            let share = unit::share(header.shown, header.total);
            let share = if share.is_empty() { String::new() } else { format!(" ({share})") };
            let what = if self.flame.callers.is_empty() { "all" } else { "callers above, callees below" };
            return format!("{what} — {}{share}", self.scale.format(header.shown));
        }
        let name = &*self.node(index).name;
        self.short.get(name).cloned().unwrap_or_else(|| shown(name))
    }

    /// The full name of a node.
    pub(super) fn name(&self, index: usize) -> String {
        if index == 0 { self.label(0) } else { shown(&self.node(index).name) }
    }

    /// The tooltip: `name (file:line, total …, self …)`. The picture's script takes what stands
    /// before the last opening parenthesis for the label, so there is no other behind the name.
    pub(super) fn title(&self, index: usize) -> String {
        let has_self = index < self.flame.nodes.len() && self.flame.direction == Direction::TopDown;
        let details = if index == 0 { self.root_details() } else { self.details(self.node(index), has_self) };
        let details = printable(&details).replace('(', "[").replace(')', "]");
        format!("{} ({details})", self.name(index))
    }

    fn root_details(&self) -> String {
        let header = &self.flame.header;
        let mut parts = vec![header.metric.name.clone()];
        if self.filtered {
            parts.push(format!("all of it {}", self.scale.format(header.total)));
        }
        parts.extend(self.flame.nodes[0].old.map(|old| self.change(header.shown, old.total)));
        parts.extend(self.no_stack());
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }

    fn details(&self, node: &FlameNode, has_self: bool) -> String {
        let mut parts = Vec::new();
        match (&node.file, node.line) {
            (Some(file), Some(line)) => parts.push(format!("{file}:{line}")),
            (Some(file), None) => parts.push(file.to_string()),
            (None, _) => {}
        }
        if node.inlined {
            parts.push("inlined".to_string());
        }
        parts.push(format!("total {}", self.value(node.total)));
        if has_self {
            parts.push(format!("self {}", self.value(node.self_value)));
        }
        if let Some(old) = node.old {
            parts.push(self.change(node.total, old.total));
        }
        parts.join(", ")
    }

    fn change(&self, new: i64, old: i64) -> String {
        let change = self.scale.format_signed(new.saturating_sub(old));
        format!("was {}, changed by {change}", self.scale.format(old))
    }

    /// `4.82s 5.6%`, and where filters are active also the share of what is shown.
    fn value(&self, value: i64) -> String {
        let header = &self.flame.header;
        let all = unit::share(value, header.total);
        let value_text = self.scale.format(value);
        if !self.filtered {
            return format!("{value_text} {all}").trim_end().to_string();
        }
        format!("{value_text} {all} of all {} of shown", unit::share(value, header.shown))
    }

    fn no_stack(&self) -> Option<String> {
        let header = &self.flame.header;
        let share = unit::share(header.no_stack, header.total);
        (header.no_stack != 0)
            .then(|| format!("without a stack {} {share}", self.scale.format(header.no_stack)))
    }

    /// What the picture leaves out, and what its marks mean.
    pub(super) fn notes(&self) -> Vec<String> {
        let flame = self.flame;
        let mut notes = Vec::new();
        notes.extend(self.width().filter(|width| !self.subtitle().contains(width)));
        if flame.dropped > 0 {
            let (blocks, are) = if flame.dropped == 1 { ("block", "is") } else { ("blocks", "are") };
            let too_deep = flame
                .deepest
                .map(|depth| format!(" or above {} others", unit::group_thousands(depth.into())));
            let too_deep = too_deep.unwrap_or_default();
            notes.push(format!(
                "{} {blocks} narrower than a third of a pixel{too_deep} {are} left out, with all on them: {} {}",
                unit::group_thousands(flame.dropped.into()),
                self.scale.format(flame.dropped_width),
                unit::share(flame.dropped_width, flame.header.total),
            ));
        }
        if let Some(no_stack) = self.no_stack() {
            notes.push(format!("blank right of the blocks on the root: {no_stack}"));
        }
        if flame.nodes.iter().chain(&flame.callers).any(|node| node.inlined) {
            notes.push("slanted: inlined".to_string());
        }
        notes.extend(self.removed());
        notes.extend(flame.header.warnings.iter().map(|warning| format!("warning: {warning}")));
        notes.iter().map(|note| printable(note)).collect()
    }

    /// `3 no longer there: main.work 1.20s, main.rest 0.10s, …`
    fn removed(&self) -> Option<String> {
        let removed = &self.flame.removed;
        let count = unit::group_thousands(removed.len() as i128);
        let mut text = format!("{count} no longer there: ");
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

/// A name as it is shown; a function without a name needs something to point at.
fn shown(name: &str) -> String {
    if name.is_empty() { "\"\"".to_string() } else { printable(name) }
}
