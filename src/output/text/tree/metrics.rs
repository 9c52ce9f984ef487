//! Several metrics side by side: each has its value, its share, and self or total.

use crate::name::clean;
use crate::output::text::Style;
use crate::output::text::header;
use crate::output::text::tree::TreeText;
use crate::report::{Direction, Header, Pair, TreeRow};
use crate::unit::{self, IncompatibleUnits, Scale};

/// A metric after the first.
pub(super) struct FurtherMetric {
    scale: Scale,
    title: String,
    total: i64,
    shown: i64,
}

impl FurtherMetric {
    /// The metrics after the first.
    pub(super) fn of(header: &Header, style: &Style) -> Result<Vec<FurtherMetric>, IncompatibleUnits> {
        let further = header.metrics.iter().skip(1).map(|metric| {
            Ok(FurtherMetric {
                scale: header::scale(&metric.metric, metric.shown, style)?,
                title: clean(&metric.metric.name).to_uppercase(),
                total: metric.total,
                shown: metric.shown,
            })
        });
        further.collect()
    }
}

impl TreeText<'_> {
    /// The titles of several metrics: a tree is read by total from the top down, and by self from the
    /// bottom up.
    pub(super) fn titles_of_metrics(&self) -> Vec<String> {
        let first = clean(&self.tree.header.metric.name).to_uppercase();
        let names = std::iter::once(&first).chain(self.further.iter().map(|metric| &metric.title));
        let other = match self.tree.direction {
            Direction::TopDown => "SELF",
            Direction::BottomUp => "TOTAL",
        };
        let share = self.extras.share.then_some("%");
        let other = self.extras.other.then_some(other);
        names.flat_map(|name| [Some(name.as_str()), share, other]).flatten().map(String::from).collect()
    }

    /// The numbers of one of several metrics.
    pub(super) fn numbers_of_metric(&self, pair: Pair, scale: &Scale, whole: i64) -> Vec<String> {
        let Pair { self_value: own, total } = pair;
        let (main, other) = match self.tree.direction {
            Direction::TopDown => (total, own),
            Direction::BottomUp => (own, total),
        };
        let share = self.extras.share.then(|| unit::share(main, whole));
        let other = self.extras.other.then(|| scale.format(other));
        [Some(scale.format(main)), share, other].into_iter().flatten().collect()
    }

    /// The numbers of the metrics after the first; blank for lines that are not rows.
    pub(super) fn further_numbers(&self, row: Option<&TreeRow>) -> Vec<String> {
        let values = row.and_then(|row| row.values.values.as_ref());
        let mut numbers = Vec::new();
        for (index, metric) in self.further.iter().enumerate() {
            numbers.extend(match values.and_then(|values| values.0.get(index + 1)) {
                Some((_, pair)) => self.numbers_of_metric(*pair, &metric.scale, metric.total),
                None => vec![String::new(); self.titles_of_metrics().len() / (1 + self.further.len())],
            });
        }
        numbers
    }

    /// The totals of the metrics after the first.
    pub(super) fn further_wholes(&self) -> Vec<String> {
        let mut numbers = Vec::new();
        for metric in &self.further {
            let whole = Pair { self_value: 0, total: metric.shown };
            let mut cells = self.numbers_of_metric(whole, &metric.scale, metric.total);
            // The value without a stack is shown for the first metric only.
            if let Some(own) = cells.last_mut().filter(|_| self.extras.other) {
                own.clear();
            }
            numbers.extend(cells);
        }
        numbers
    }
}
