//! What the picture says in words.

use hashbrown::HashMap;

use crate::kind;
use crate::name::{short_name, short_names};
use crate::output::svg::printable;
use crate::report::{Direction, Flame, FlameNode, Name};
use crate::unit::{self, IncompatibleUnits, Scale, Unit};

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
        let mut names: Vec<&str> = flame.nodes.iter().skip(1).map(|node| &*node.name).collect();
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
        if self.filtered {
            let share = unit::share(header.shown, header.total);
            parts.push(format!(" · shown {}, {share} of all", self.scale.format(header.shown)));
        }
        parts.extend(
            kind::of_metric(&header.metric.name).map(|kind| format!(" · a wide block {}", kind.width)),
        );
        printable(parts.concat().trim_start())
    }

    /// The label of a node: its short name, with control characters made visible.
    pub(super) fn label(&self, index: usize) -> String {
        if index == 0 {
            let header = &self.flame.header;
            let share = unit::share(header.shown, header.total);
            let share = if share.is_empty() { String::new() } else { format!(" ({share})") };
            return format!("all — {}{share}", self.scale.format(header.shown));
        }
        let name = &*self.flame.nodes[index].name;
        self.short.get(name).cloned().unwrap_or_else(|| shown(name))
    }

    /// The full name of a node.
    pub(super) fn name(&self, index: usize) -> String {
        if index == 0 { self.label(0) } else { shown(&self.flame.nodes[index].name) }
    }

    /// The tooltip: `name (file:line, total …, self …)`. The picture's script takes what stands
    /// before the last opening parenthesis for the label, so there is no other behind the name.
    pub(super) fn title(&self, index: usize) -> String {
        let node = &self.flame.nodes[index];
        let details = if index == 0 { self.root_details() } else { self.details(node) };
        let details = printable(&details).replace('(', "[").replace(')', "]");
        format!("{} ({details})", self.name(index))
    }

    fn root_details(&self) -> String {
        let header = &self.flame.header;
        let mut parts = vec![header.metric.name.clone()];
        if self.filtered {
            parts.push(format!("all of it {}", self.scale.format(header.total)));
        }
        parts.extend(self.no_stack());
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }

    fn details(&self, node: &FlameNode) -> String {
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
        if self.flame.direction == Direction::TopDown {
            parts.push(format!("self {}", self.value(node.self_value)));
        }
        if let Some(old) = node.old {
            let change = self.scale.format_signed(node.total.saturating_sub(old.total));
            parts.push(format!("was {}, changed by {change}", self.scale.format(old.total)));
        }
        parts.join(", ")
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
        if flame.nodes.iter().any(|node| node.inlined) {
            notes.push("slanted: inlined".to_string());
        }
        notes.extend(self.removed());
        notes.extend(flame.header.warnings.iter().map(|warning| format!("warning: {warning}")));
        notes.iter().map(|note| printable(note)).collect()
    }

    /// `3 no longer there: main.work 1.20s, main.rest 0.10s, …`
    fn removed(&self) -> Option<String> {
        /// How many are named.
        const NAMED: usize = 5;
        let removed = &self.flame.removed;
        let name = |(name, old): &(Name, i64)| format!("{} {}", short_name(name), self.scale.format(*old));
        let named: Vec<String> = removed.iter().take(NAMED).map(name).collect();
        let more = if removed.len() > NAMED { ", …" } else { "" };
        let count = unit::group_thousands(removed.len() as i128);
        (!removed.is_empty()).then(|| format!("{count} no longer there: {}{more}", named.join(", ")))
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
