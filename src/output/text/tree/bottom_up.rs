//! Callers below the functions they call.

use crate::name::Anchor;
use crate::output::text::comparison;
use crate::output::text::table::{Emphasis, TextLine};
use crate::output::text::tree::{TreeLine, TreeText};
use crate::report::{Pair, TreeRow};
use crate::unit;

impl TreeText<'_> {
    pub(super) fn bottom_up(&self) -> Vec<TextLine> {
        let mut drawn = Vec::new();
        for &top in &self.groups[0].below {
            let row = &self.tree.rows[self.groups[top].last];
            let new = Pair { self_value: row.values.self_value, total: row.values.total };
            let numbers = self.bottom_up_numbers(new, comparison::old(&row.values), None);
            let numbers = if self.is_per_event() {
                self.numbers_per_event(Some(row))
            } else {
                [numbers, self.further_numbers(Some(row))].concat()
            };
            drawn.push(TreeLine {
                numbers,
                prefix: String::new(),
                names: self.group_names(top),
                first: Some(self.groups[top].first),
                row: Some(self.groups[top].last),
                emphasis: self.emphasis(top, Emphasis::Strong),
            });
            self.draw_below(top, &mut drawn);
        }
        if let Some(rest) = self.more_functions() {
            drawn.push(rest);
        }
        let called_by = self.style.glyphs.called_by;
        let title = format!("FUNCTION{called_by}CALLERS");
        let titles = self.titles(&["SELF", "CHILDREN", "TOTAL", "%TOP", "%ALL"], title);
        let mut lines = self.lay_out(&titles, drawn, called_by, Anchor::First);
        if self.tree.min_share > 0.0 {
            let mut note =
                format!("showing callers with at least {}% of the function at the top", self.tree.min_share);
            if self.tree.header.base.is_none() && self.further.is_empty() && !self.is_per_event() {
                note.push_str(&format!("{}%TOP: share of it", self.style.glyphs.dot));
            }
            lines.push(TextLine::new(note, Emphasis::Faint));
        }
        lines
    }

    pub(super) fn bottom_up_numbers(&self, new: Pair, old: Pair, top: Option<&TreeRow>) -> Vec<String> {
        if let Some(base) = &self.tree.header.base {
            return self.compared_numbers(base, new, old);
        }
        if !self.further.is_empty() {
            return self.numbers_of_metric(new, &self.scale, self.tree.header.total);
        }
        let Pair { self_value: own, total } = new;
        let of_top = top.map(|top| unit::share(total, top.values.total)).unwrap_or_default();
        let format = |value| self.scale.format(value);
        vec![
            format(own),
            format(total - own),
            format(total),
            of_top,
            unit::share(total, self.tree.header.total),
        ]
    }

    fn more_functions(&self) -> Option<TreeLine> {
        let header = &self.tree.header;
        let noun = header.by.noun(self.tree.cut);
        let count = match (&header.base, self.further.is_empty()) {
            (Some(_), _) => 6,
            (None, true) => 5,
            (None, false) => self.titles_of_metrics().len(),
        };
        let mut numbers = vec![String::new(); count];
        // Only self adds up.
        let place = if header.base.is_some() { 4 } else { 0 };
        if self.is_per_event() {
            // Means do not add up.
            numbers = self.numbers_per_event(None);
        } else {
            numbers[place] = self.scale.format(header.elided);
        }
        (self.tree.cut > 0).then(|| TreeLine {
            numbers,
            prefix: String::new(),
            names: vec![format!(
                "{} {} more {noun}",
                self.style.glyphs.ellipsis,
                unit::group_thousands(self.tree.cut.into())
            )],
            first: None,
            row: None,
            emphasis: Emphasis::Faint,
        })
    }
}
