//! Turning series of counted values into the values of report rows.

use std::iter;

use crate::profile::Column;
use crate::report::{Artefact, Header, Name, Pair, PairBySide, Values, rescaled};
use crate::tree::{Flat, KeyId, Subject, flat};
use crate::view::{Sort, SortRow};

/// The smallest totals of rows that are shown, one per series. A row is shown if any of its totals is large enough:
/// a function without CPU time stays in a table that also shows its allocations.
pub(super) struct MinTotals {
    /// One per series; the last one also applies to further series.
    smallest: Vec<u64>,
    shows_all: bool,
}

impl MinTotals {
    /// `percent` of what filters leave of each metric. The old side of a comparison has the limit of the new side.
    pub(super) fn of_shown(header: &Header, percent: f64) -> Self {
        match &header.metrics[..] {
            [] => MinTotals::of(iter::once(header.shown), percent),
            several => MinTotals::of(several.iter().map(|metric| metric.shown), percent),
        }
    }

    /// `percent` of each of `wholes`.
    pub(super) fn of(wholes: impl Iterator<Item = i64>, percent: f64) -> Self {
        let smallest = wholes.map(|whole| threshold(whole.saturating_abs(), percent)).collect();
        MinTotals { smallest, shows_all: percent <= 0.0 }
    }

    /// Whether to show a row with these totals.
    pub(super) fn keep(&self, totals: impl Iterator<Item = i64>) -> bool {
        let last = self.smallest.last().copied().unwrap_or(0);
        let mut limits = self.smallest.iter().copied().chain(iter::repeat(last)).zip(totals);
        self.shows_all || limits.any(|(limit, total)| total != 0 && total.unsigned_abs() >= limit)
    }
}

/// Computes the values of rows: for one metric, for several, or for the two sides of a comparison.
pub(super) struct RowValues {
    names: Vec<Name>,
    /// The factor for the values of the old side, which is the last series; `None` without an old side.
    old_ratio: Option<f64>,
    artefacts: Vec<Artefact>,
}

impl RowValues {
    /// For the metrics and sides in `header`.
    pub(super) fn new(header: &Header) -> Self {
        let names = header.metrics.iter().map(|metric| metric.metric.name.as_str().into()).collect();
        let ratio = || header.normalize.as_ref().map_or(1.0, |normalize| normalize.ratio);
        let artefacts = header.artefacts.clone();
        RowValues { names, old_ratio: header.base.as_ref().map(|_| ratio()), artefacts }
    }

    /// Whether a row stands for a profiler artefact, which the header lists.
    pub(super) fn is_artefact(&self, name: &str) -> bool {
        self.artefacts.iter().any(|artefact| artefact.is_named(name))
    }

    /// The values of a row, given self and total for each series.
    pub(super) fn values(
        &self,
        self_value: impl Iterator<Item = i64>,
        total: impl Iterator<Item = i64>,
    ) -> Values {
        let mut pairs: Vec<Pair> =
            self_value.zip(total).map(|(self_value, total)| Pair { self_value, total }).collect();
        let old = self.old_ratio.and_then(|ratio| Some(scaled_pair(pairs.pop()?, ratio)));
        let first = pairs.first().copied().unwrap_or_default();
        let values = self.names.iter().cloned().zip(pairs).collect();
        Values {
            self_value: first.self_value,
            total: first.total,
            children: first.total - first.self_value,
            delta: old.map(|old| first.minus(old)),
            old,
            values,
        }
    }

    /// How many of the series determine which rows are the heaviest: both sides of a comparison, but only the first
    /// of several metrics, because their units differ.
    pub(super) fn weighed_series(&self) -> usize {
        if self.names.len() > 1 { 1 } else { usize::MAX }
    }

    /// Whether there is an old side.
    pub(super) fn compares(&self) -> bool {
        self.old_ratio.is_some()
    }

    /// The old side of a row, from series in the order of [`RowValues::values`]; zero without an old side.
    pub(super) fn old(&self, self_value: Option<i64>, total: Option<i64>) -> Pair {
        match (self.old_ratio, self_value, total) {
            (Some(ratio), Some(self_value), Some(total)) => scaled_pair(Pair { self_value, total }, ratio),
            _ => Pair::default(),
        }
    }
}

/// What keys cost, and what they cost on the old side, if there is one.
pub(super) struct CountedKeys<'s, 'p> {
    pub(super) subject: &'s Subject<'p>,
    pub(super) row_values: &'s RowValues,
    pub(super) flat: Flat,
}

impl<'s, 'p> CountedKeys<'s, 'p> {
    pub(super) fn new(subject: &'s Subject<'p>, row_values: &'s RowValues) -> Self {
        CountedKeys { subject, row_values, flat: flat(subject) }
    }

    /// Self and total of a key.
    pub(super) fn new_pair(&self, key: KeyId) -> Pair {
        Pair { self_value: self.flat.self_value[0][key], total: self.flat.total[0][key] }
    }

    /// The same on the old side; zero without one.
    pub(super) fn old_pair(&self, key: KeyId) -> Pair {
        let last = |columns: &[Column<KeyId, i64>]| columns.last().map(|column| column[key]);
        self.row_values.old(last(&self.flat.self_value), last(&self.flat.total))
    }

    /// Both sides of a key.
    pub(super) fn pairs(&self, key: KeyId) -> PairBySide {
        let old = self.row_values.compares().then(|| self.old_pair(key));
        PairBySide::new(self.new_pair(key), old)
    }

    /// What a key is sorted by.
    pub(super) fn sort_row(&self, key: KeyId) -> SortRow<'s> {
        SortRow { new: self.new_pair(key), old: self.old_pair(key), name: self.subject.keys.name(key) }
    }

    /// Sorts these keys, and keeps the first ones. Returns the others.
    pub(super) fn cut(&self, keys: &mut Vec<KeyId>, sort: &Sort, limit: Option<usize>) -> Vec<KeyId> {
        keys.sort_by(|&a, &b| sort.compare(self.sort_row(a), self.sort_row(b)));
        keys.split_off(keys.len().min(limit.unwrap_or(usize::MAX)))
    }
}

impl RowValues {
    /// The rescaled old side of a row; `None` without one.
    pub(super) fn old_pair(&self, old: Pair) -> Option<Pair> {
        self.old_ratio.map(|ratio| scaled_pair(old, ratio))
    }

    /// The same for a single value.
    pub(super) fn old_value(&self, old: i64) -> Option<i64> {
        self.old_ratio.map(|ratio| rescaled(old, ratio))
    }
}

fn scaled_pair(pair: Pair, ratio: f64) -> Pair {
    Pair { self_value: rescaled(pair.self_value, ratio), total: rescaled(pair.total, ratio) }
}

/// The smallest value that has `percent` of `whole`.
pub(super) fn threshold(whole: i64, percent: f64) -> u64 {
    (whole as f64 * percent / 100.0).ceil() as u64
}
