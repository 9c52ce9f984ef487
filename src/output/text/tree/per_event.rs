//! Trees with `--per-event`: the average cost of events, and their number.

use crate::output::text::table::{Emphasis, TextLine};
use crate::output::text::tree::TreeText;
use crate::report::{Direction, Pair, TreeRow};
use crate::unit;

impl TreeText<'_> {
    /// Whether values are divided by their events.
    pub(super) fn is_per_event(&self) -> bool {
        self.tree.header.per_event.is_some()
    }

    pub(super) fn titles_per_event(&self) -> Vec<String> {
        let titles = match self.tree.direction {
            Direction::TopDown => ["TOTAL", "EVENTS", "SELF", "EVENTS"],
            Direction::BottomUp => ["SELF", "EVENTS", "TOTAL", "EVENTS"],
        };
        titles.map(str::to_string).to_vec()
    }

    /// The numbers of a row; blank for lines that are not rows.
    pub(super) fn numbers_per_event(&self, row: Option<&TreeRow>) -> Vec<String> {
        let Some(row) = row else { return vec![String::new(); 4] };
        let events = row.events.unwrap_or_default();
        let own = self.mean(row.values.self_value, events.self_value);
        let total = self.mean(row.values.total, events.total);
        match self.tree.direction {
            Direction::TopDown => [total, own].concat(),
            Direction::BottomUp => [own, total].concat(),
        }
    }

    /// The numbers of the line `(all)`.
    pub(super) fn whole_per_event(&self, whole: Pair) -> Vec<String> {
        let events = self.tree.header.per_event.as_ref().map_or(0, |per_event| per_event.events);
        let mut numbers = self.mean(whole.total, events);
        numbers.extend([String::new(), String::new()]);
        numbers
    }

    fn mean(&self, value: i64, events: i64) -> Vec<String> {
        let mean = unit::mean(value, events).map(|mean| self.scale.format(mean));
        vec![mean.unwrap_or_default(), unit::group_thousands(events.into())]
    }

    pub(super) fn note_per_event(&self) -> Option<TextLine> {
        let counts = &self.tree.header.per_event.as_ref()?.metric;
        let metric = &self.tree.header.metric.name;
        let text = format!("SELF and TOTAL are the average {metric} per event; EVENTS counts {counts}");
        Some(TextLine::new(text, Emphasis::Faint))
    }
}

/// The largest mean of any row, which determines the unit of the columns.
pub(super) fn largest_mean(rows: &[TreeRow]) -> i64 {
    let means = |row: &TreeRow| {
        let events = row.events.unwrap_or_default();
        let own = unit::mean(row.values.self_value, events.self_value);
        [own, unit::mean(row.values.total, events.total)]
    };
    rows.iter().flat_map(means).flatten().map(i64::saturating_abs).max().unwrap_or(0)
}
