//! Callees below their callers.

use crate::name::Anchor;
use crate::output::text::table::{Emphasis, TextLine};
use crate::output::text::tree::{TreeLine, TreeText};
use crate::report::Pair;
use crate::unit;

impl TreeText<'_> {
    pub(super) fn top_down(&self) -> Vec<TextLine> {
        let whole: i64 = self.whole();
        let no_stack = self.tree.header.no_stack;
        let header = &self.tree.header;
        let old = Pair { self_value: header.old_no_stack(), total: header.old_sum() };
        let new = Pair { self_value: no_stack, total: whole };
        let numbers = if self.is_per_event() {
            self.whole_per_event(new)
        } else {
            [self.top_down_numbers(new, old), self.further_wholes()].concat()
        };
        let mut drawn = vec![TreeLine {
            numbers,
            prefix: String::new(),
            names: vec!["(all)".to_string()],
            first: None,
            row: None,
            emphasis: Emphasis::None,
        }];
        self.draw_below(0, &mut drawn);
        let calls = self.style.glyphs.calls;
        let title = format!("FUNCTION{calls}CALLEES");
        let titles = self.titles(&["TOTAL", "%", "SELF", "CHILDREN"], title);
        let mut lines = self.lay_out(&titles, drawn, calls, Anchor::Last);
        lines.extend(self.top_down_note());
        lines
    }

    pub(super) fn top_down_numbers(&self, new: Pair, old: Pair) -> Vec<String> {
        if let Some(base) = &self.tree.header.base {
            return self.compared_numbers(base, new, old);
        }
        if !self.further.is_empty() {
            return self.numbers_of_metric(new, &self.scale, self.tree.header.total);
        }
        let Pair { self_value: own, total } = new;
        let format = |value| self.scale.format(value);
        vec![format(total), unit::share(total, self.tree.header.total), format(own), format(total - own)]
    }

    fn top_down_note(&self) -> Option<TextLine> {
        let header = &self.tree.header;
        if header.elided_rows == 0 {
            return None;
        }
        let note = match self.groups.len() - 1 {
            0 => "no row is heavy enough to show".to_string(),
            rows => {
                let share = unit::share(self.lightest as i64, header.total);
                format!("showing the {} heaviest rows, down to {share}", unit::group_thousands(rows as i128))
            }
        };
        Some(TextLine::new(note, Emphasis::Faint))
    }
}
