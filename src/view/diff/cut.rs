//! The rows of a comparison that are left out, and how many these are.

use crate::report::{BySide, BySideRow, Diff, DiffRow, Header, RowTest};
use crate::stats::Verdict;

/// How important a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Regressed,
    Improved,
    /// It changed, but not by itself, or by too little to matter.
    Significant,
    /// It did not change, or is excused by the mix of work.
    NotSignificant,
    Untested,
}

/// A row that can be left out.
pub(super) trait Row {
    fn rank(&self) -> Rank;
    /// Whether there were enough samples for any outcome to be significant.
    fn is_tested(&self) -> bool;
    /// Its part of the total in the header; 0 if it stands for callees, too, which have rows of their own.
    fn own_value(&self) -> i64;
}

impl Row for DiffRow {
    fn rank(&self) -> Rank {
        match self.verdict {
            Verdict::Regressed => Rank::Regressed,
            Verdict::Improved => Rank::Improved,
            Verdict::Moved | Verdict::Inherits | Verdict::Small => Rank::Significant,
            _ if self.p.is_some() => Rank::NotSignificant,
            _ => Rank::Untested,
        }
    }

    fn is_tested(&self) -> bool {
        self.tested
    }

    fn own_value(&self) -> i64 {
        if self.test == RowTest::SelfCount { self.new.self_value } else { 0 }
    }
}

/// A row of several comparisons is as important as in the one in which it matters most.
impl Row for BySideRow {
    fn rank(&self) -> Rank {
        self.builds.iter().flatten().map(Row::rank).min().unwrap_or(Rank::Untested)
    }

    fn is_tested(&self) -> bool {
        self.builds.iter().flatten().any(Row::is_tested)
    }

    fn own_value(&self) -> i64 {
        if self.test == RowTest::SelfCount { self.old.self_value } else { 0 }
    }
}

/// Rows, and where those that are left out are counted.
pub(super) struct Rows<'r, R> {
    list: &'r mut Vec<R>,
    header: &'r mut Header,
    elided_tested: &'r mut usize,
}

impl<'r> Rows<'r, DiffRow> {
    pub(super) fn of_diff(diff: &'r mut Diff) -> Self {
        Rows { list: &mut diff.rows, header: &mut diff.header, elided_tested: &mut diff.elided_tested }
    }
}

impl<'r> Rows<'r, BySideRow> {
    pub(super) fn of_by_side(all: &'r mut BySide) -> Self {
        Rows { list: &mut all.rows, header: &mut all.header, elided_tested: &mut all.elided_tested }
    }
}

impl<R: Row> Rows<'_, R> {
    /// Leaves out the rows that are not to be kept.
    pub(super) fn keep(&mut self, mut is_kept: impl FnMut(&R) -> bool) {
        self.list.retain(|row| {
            let keep = is_kept(row);
            if !keep {
                self.header.elided_rows += 1;
                self.header.elided += row.own_value();
                *self.elided_tested += usize::from(row.is_tested());
            }
            keep
        });
    }

    /// Leaves out all rows but the first `limit`.
    pub(super) fn limit(&mut self, limit: usize) {
        let mut place = 0..;
        self.keep(|_| place.next().is_some_and(|place| place < limit));
    }

    /// Leaves out all rows that were compared and are not significant but the first `limit`. If costs were compared without a
    /// test, that is all rows.
    pub(super) fn limit_others(&mut self, limit: usize, untested: bool) {
        let mut left = limit;
        self.keep(|row| {
            let is_other = row.rank() == Rank::NotSignificant || untested && row.rank() == Rank::Untested;
            let is_kept = !is_other || left > 0;
            left -= usize::from(is_other && is_kept);
            is_kept
        });
    }
}

/// Whether a row has at least the share `smallest`, from 0 to 1, of what was recorded on either side.
pub(super) fn is_heavy(row: &DiffRow, smallest: f64, (old, new): (i64, i64)) -> bool {
    let values = row.tested_values();
    let reaches = |value: i64, total: i64| value as f64 >= smallest * total as f64;
    smallest <= 0.0 || reaches(values.0, old) || reaches(values.1, new)
}
