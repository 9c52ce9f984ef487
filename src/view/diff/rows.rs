//! The rows of a comparison, the most important first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hashbrown::HashMap;

use crate::profile::Id;
use crate::report::{CauseKind, DiffCause, DiffRow, EffectiveSamples, Moved, Name, Pair, RowTest};
use crate::stats::compare::{Cause, Comparison, Hypothesis, origin, taken_out_of, untested_verdict};
use crate::stats::{CountKind, Verdict};
use crate::tree::{KeyId, Subject};
use crate::view::diff::lines::values_by_line;
use crate::view::diff::options::DiffSort;
use crate::view::diff::stacks::is_of_library;
use crate::view::diff::totals::SideTotals;

/// Identical runs, such as counted instructions, are worth any number of samples; from this many on, the
/// number has no meaning.
pub(super) const COUNTLESS: f64 = (1_u64 << 53) as f64;

/// Builds the rows of a comparison.
pub(super) struct RowBuilder<'r, 'p> {
    pub(super) subject: &'r Subject<'p>,
    pub(super) old: &'r SideTotals,
    pub(super) new: &'r SideTotals,
    pub(super) comparison: Option<&'r Comparison>,
    /// How the share of unchanged code changed.
    pub(super) core_ratio: f64,
    /// The series of the new profiles.
    pub(super) new_series: Range<usize>,
    /// The column to sort by; `None` for the most important rows first.
    pub(super) sort: Option<DiffSort>,
    /// Why costs changed.
    pub(super) causes: &'r [DiffCause],
    /// Whether the tests of the comparison mean anything.
    pub(super) has_tests: bool,
}

/// The rows, and counts of functions.
#[derive(Default)]
pub(super) struct DiffRows {
    pub(super) rows: Vec<DiffRow>,
    /// How many of them were tested.
    pub(super) tested: usize,
    /// How many functions became more expensive, and cheaper.
    pub(super) regressed: usize,
    pub(super) improved: usize,
    /// Functions on one side only, too small to test.
    pub(super) appeared: usize,
    pub(super) vanished: usize,
}

/// The function that does now what the own code, or the total, of one did.
type Replaced = HashMap<(usize, CountKind), usize>;

impl RowBuilder<'_, '_> {
    pub(super) fn build(&self) -> DiffRows {
        let hypotheses = self.comparison.map_or(&[][..], |comparison| &comparison.hypotheses);
        let lines = self.hottest_lines(hypotheses);
        let moves = self.moves(hypotheses);
        let verdict = |index: usize| match moves[index] {
            Some(_) => Verdict::Moved,
            None => hypotheses[index].verdict,
        };
        let mut rows: Vec<DiffRow> = Vec::new();
        // What only moved did not change in its own code either.
        let changed = |&(index, row): &(usize, &Hypothesis)| {
            row.measure == CountKind::SelfCount
                && matches!(verdict(index), Verdict::Regressed | Verdict::Improved)
        };
        let own = hypotheses.iter().enumerate().filter(changed);
        let own: HashMap<usize, Verdict> = own.map(|(_, row)| (row.function, row.verdict)).collect();
        for index in self.order(hypotheses, verdict) {
            let verdict = match verdict(index) {
                Verdict::Inherits => self.verdict_of_caller(&hypotheses[index], &own),
                verdict => verdict,
            };
            let row = self.tested(&hypotheses[index], &lines);
            rows.push(DiffRow { verdict, moved: moves[index].clone(), ..row });
        }
        let mut is_named = vec![false; self.subject.keys.len()];
        let mut is_tested = is_named.clone();
        for row in hypotheses {
            is_named[row.function] = true;
            // A chain of callers with the same counts is tested once.
            row.same_counts.iter().for_each(|&function| is_tested[function] = true);
        }
        let others = self.subject.keys.ids().filter(|key| !is_named[key.index()] && self.has_value(*key));
        let mut made = DiffRows::default();
        let mut untested = Vec::new();
        for key in others {
            let row = self.untested(key);
            if !is_tested[key.index()] {
                made.appeared += usize::from(row.verdict == Verdict::New);
                made.vanished += usize::from(row.verdict == Verdict::Removed);
            }
            untested.push(row);
        }
        // Where nothing changed, the heaviest function is the first.
        untested.sort_by(|a, b| {
            by_points(a, b).then_with(|| size(b).cmp(&size(a))).then_with(|| a.name.cmp(&b.name))
        });
        rows.extend(untested);
        made.regressed = functions_with(&rows, Verdict::Regressed);
        made.improved = functions_with(&rows, Verdict::Improved);
        if let Some(sort) = self.sort {
            sort_rows(&mut rows, sort);
        }
        made.tested = rows.iter().filter(|row| row.tested).count();
        made.rows = rows;
        made
    }

    /// The verdict on a function that inherits a change: if its own code changed as well, as `own` tells, it did not only
    /// inherit that of what it calls.
    fn verdict_of_caller(&self, row: &Hypothesis, own: &HashMap<usize, Verdict>) -> Verdict {
        let is_alike = |own: &Verdict| (*own == Verdict::Regressed) == (row.log_ratio > 0.0);
        match (own.get(&row.function), self.comparison) {
            (Some(own), Some(comparison)) if is_alike(own) => row.verdict_alone(&comparison.options),
            _ => Verdict::Inherits,
        }
    }

    /// The order of tested rows: by verdict, then by size of the change, with the callers that inherit a
    /// change after its origin.
    fn order(&self, rows: &[Hypothesis], verdict: impl Fn(usize) -> Verdict) -> Vec<usize> {
        let origin = |index| origin(rows, index);
        let name = |row: &Hypothesis| self.subject.keys.name(KeyId::new(row.function));
        let rank = |index: usize| {
            let verdict = verdict(index);
            if verdict.is_significant() { verdict } else { Verdict::Unchanged }
        };
        // In one pair, every caller of a function has changed by as much, give or take its own larger noise. So what
        // counts there is the part of a change that exceeds the noise.
        let is_pair = self.comparison.is_some_and(|comparison| comparison.profiles == (1, 1));
        let size_of_change = |index: usize| {
            let row = &rows[index];
            match row.verdict {
                Verdict::Mix => self.recorded_change(row),
                verdict if is_pair && !verdict.is_significant() => beyond_noise(row),
                _ => row.points.abs(),
            }
        };
        let size = |index: usize| rows[index].old_share + rows[index].new_share;
        let compare = |a: usize, b: usize| {
            rank(a)
                .cmp(&rank(b))
                .then_with(|| size_of_change(b).total_cmp(&size_of_change(a)))
                .then_with(|| rows[b].points.abs().total_cmp(&rows[a].points.abs()))
                .then_with(|| size(b).total_cmp(&size(a)))
                .then_with(|| name(&rows[a]).cmp(name(&rows[b])))
                .then_with(|| a.cmp(&b))
        };
        let mut order: Vec<(usize, usize)> = (0..rows.len()).map(|index| (origin(index), index)).collect();
        order.sort_by(|&(a_origin, a), &(b_origin, b)| {
            compare(a_origin, b_origin)
                .then_with(|| (a != a_origin).cmp(&(b != b_origin)))
                .then_with(|| size(a).total_cmp(&size(b)))
                .then_with(|| a.cmp(&b))
        });
        let is_regression = |(index, _): (usize, &Hypothesis)| verdict(index) == Verdict::Regressed;
        if is_pair && !rows.iter().enumerate().any(is_regression) {
            let others = order.iter().position(|&(origin, _)| rank(origin) == Verdict::Unchanged);
            let others = order.split_off(others.unwrap_or(order.len()));
            order.extend(alternating(others, |&(_, index)| rows[index].points > 0.0));
        }
        order.into_iter().map(|(_, index)| index).collect()
    }

    /// How much more or less was recorded per run, in parts of the old total.
    fn recorded_change(&self, row: &Hypothesis) -> f64 {
        let value = |side: &SideTotals| match row.measure {
            CountKind::SelfCount => side.self_value[row.function] as f64,
            CountKind::Total => side.total[row.function] as f64,
        };
        let runs = (self.new_series.start as f64, self.new_series.len() as f64);
        (value(self.new) / runs.1 - value(self.old) / runs.0).abs() * runs.0 / self.old.recorded as f64
    }

    fn tested(&self, row: &Hypothesis, lines: &HashMap<KeyId, u32>) -> DiffRow {
        let key = KeyId::new(row.function);
        let evidence = row.evidence();
        let line = self.subject.keys.get(key).line;
        DiffRow {
            test: row.measure,
            ratio: row.ratio,
            ratio_low: row.ratio_low.filter(|_| self.has_tests),
            ratio_high: row.ratio_high.filter(|_| self.has_tests),
            points: row.points * 100.0,
            p: self.has_tests.then_some(evidence.p),
            q: self.has_tests.then_some(evidence.q),
            verdict: row.verdict,
            line: line.or_else(|| lines.get(&key).copied().filter(|_| row.verdict == Verdict::Regressed)),
            samples: (row.old.max(row.new) < COUNTLESS
                && self.has_tests
                && self.comparison.is_some_and(Comparison::counts_samples))
            .then_some(EffectiveSamples { old: row.old, new: row.new }),
            tested: row.increase.reachable || row.decrease.reachable,
            ..self.plain(key)
        }
    }

    /// Where the cost of each row was before, or is now, if it only moved.
    fn moves(&self, rows: &[Hypothesis]) -> Vec<Option<Moved>> {
        // By what each function was replaced, the first row if there are several. Thousands of functions may be gone, so
        // they are not searched for again and again.
        let replaced = rows.iter().rev().filter_map(|row| match row.cause {
            Some(Cause::Moved { from: Some(from), .. }) => Some(((from, row.measure), row.function)),
            _ => None,
        });
        let replaced: Replaced = replaced.collect();
        let moves: Vec<Option<Moved>> = rows.iter().map(|row| self.moved(row, rows, &replaced)).collect();
        // A function moved if all that its total inherits is that its own code did.
        let of_own = |row: &Hypothesis| match row.cause {
            Some(Cause::Inherits { row: own }) if rows[own].function == row.function => moves[own].clone(),
            _ => None,
        };
        moves.iter().zip(rows).map(|(moved, row)| moved.clone().or_else(|| of_own(row))).collect()
    }

    fn moved(&self, row: &Hypothesis, rows: &[Hypothesis], replaced: &Replaced) -> Option<Moved> {
        let name = |function: usize| self.subject.keys.name(KeyId::new(function));
        match row.cause {
            Some(Cause::Moved { from: Some(from), .. }) => return Some(Moved::From(name(from).clone())),
            Some(Cause::Moved { caller, .. } | Cause::Wraps { caller }) => {
                // What a library does was never in the program.
                let may_be_taken_out = row.old <= 0.0 && !is_of_library(self.subject, row.function);
                if let Some(place) = taken_out_of(row, rows).filter(|_| may_be_taken_out) {
                    return Some(Moved::OutOf(name(place).clone()));
                }
                let below = || caller.map_or(Moved::Elsewhere, |caller| Moved::Below(name(caller).clone()));
                return Some(self.moved_to(row, rows, replaced).unwrap_or_else(below));
            }
            _ => {}
        }
        let has_lost = matches!(row.verdict, Verdict::Improved | Verdict::Inherits | Verdict::Small);
        if has_lost { self.moved_to(row, rows, replaced) } else { None }
    }

    /// The function that does now what one did that lost something; `None` if it lost nothing.
    fn moved_to(&self, row: &Hypothesis, rows: &[Hypothesis], replaced: &Replaced) -> Option<Moved> {
        if row.points >= 0.0 {
            return None;
        }
        let name = |function: usize| self.subject.keys.name(KeyId::new(function));
        if let Some(&by) = replaced.get(&(row.function, row.measure)) {
            return Some(Moved::To(name(by).clone()));
        }
        // What another function gained is what this one lost.
        let gained = |function: &Name| {
            let of_function = rows.iter().filter(|row| name(row.function) == function);
            of_function.map(|row| row.points).fold(0.0, f64::max) >= MOST_GAINED * -row.points
        };
        let is_into = |cause: &&DiffCause| {
            cause.of.as_ref() == Some(name(row.function))
                && match cause.cause {
                    CauseKind::Inlined => row.new == 0.0,
                    CauseKind::Extracted => row.measure == CountKind::SelfCount && gained(&cause.function),
                    _ => false,
                }
        };
        self.causes.iter().find(is_into).map(|cause| Moved::Into(cause.function.clone()))
    }

    /// The line with most of the new samples of each function that regressed, for profiles that do not say where a
    /// function begins.
    fn hottest_lines(&self, rows: &[Hypothesis]) -> HashMap<KeyId, u32> {
        let keys = rows.iter().filter(|row| row.verdict == Verdict::Regressed);
        let keys = keys.map(|row| KeyId::new(row.function));
        let keys: Vec<KeyId> = keys.filter(|&key| self.subject.keys.get(key).line.is_none()).collect();
        let series = &self.subject.series[self.new_series.clone()];
        let value = |stack| series.iter().map(|series| series[stack]).sum::<i64>();
        let hottest = |(key, mut lines): (KeyId, BTreeMap<u32, i64>)| {
            lines.remove(&0);
            let (line, _) = lines.into_iter().rev().max_by_key(|(_, value)| *value)?;
            Some((key, line))
        };
        values_by_line(self.subject, &keys, value).into_iter().filter_map(hottest).collect()
    }

    fn untested(&self, key: KeyId) -> DiffRow {
        let mut row = self.plain(key);
        row.points = untested_points(&row, [self.old.compared, self.new.compared], self.core_ratio);
        row.verdict = untested_verdict(row.old.total as f64, row.new.total as f64);
        row
    }

    /// A row without a test: for self if the function has any, else for total.
    fn plain(&self, key: KeyId) -> DiffRow {
        let pair = |side: &SideTotals| Pair {
            self_value: side.self_value[key.index()],
            total: side.total[key.index()],
        };
        let (old, new) = (pair(self.old), pair(self.new));
        let this = self.subject.keys.get(key);
        let has_self = old.self_value != 0 || new.self_value != 0;
        DiffRow {
            name: this.name.clone(),
            file: this.file.clone(),
            old,
            new,
            delta: new.minus(old),
            test: if has_self { RowTest::SelfCount } else { RowTest::Total },
            line: this.line,
            ..DiffRow::default()
        }
    }

    fn has_value(&self, key: KeyId) -> bool {
        [self.old, self.new]
            .iter()
            .any(|side| side.self_value[key.index()] != 0 || side.total[key.index()] != 0)
    }
}

/// The change of a row that was not tested, in points of the old total. `compared` are the totals that tested rows are fractions
/// of, and `core_ratio` is how the share of unchanged code changed.
pub(super) fn untested_points(row: &DiffRow, compared: [f64; 2], core_ratio: f64) -> f64 {
    let (old, new) = row.tested_values();
    let share = |value: i64, whole: f64| if whole > 0.0 { value as f64 / whole } else { 0.0 };
    (share(new, compared[1]) / core_ratio - share(old, compared[0])) * 100.0
}

/// A function that gained at least this fraction of what another one lost has taken it over.
const MOST_GAINED: f64 = 0.7;

/// Increases and decreases in turns, each in the order given, an increase first. If the scale of a
/// pair is a little off, most functions seem to have changed in one direction, and a list of the largest changes alone would
/// hide the one in the other direction that a reader looks for.
fn alternating<T>(rows: Vec<T>, is_increase: impl Fn(&T) -> bool) -> Vec<T> {
    let (increases, decreases): (Vec<T>, Vec<T>) = rows.into_iter().partition(is_increase);
    let mut sides = [increases.into_iter(), decreases.into_iter()];
    let mut turns = Vec::new();
    while sides.iter().any(|side| side.len() > 0) {
        turns.extend(sides.iter_mut().filter_map(Iterator::next));
    }
    turns
}

/// How much of a change, in parts of the old total, exceeds one standard error.
fn beyond_noise(row: &Hypothesis) -> f64 {
    let change = row.log_ratio.exp_m1().abs();
    let sure = (row.log_ratio.abs() - row.standard_error).max(0.0);
    let certain = sure.exp_m1().min(change) / change.max(f64::MIN_POSITIVE);
    row.points.abs() * certain
}

/// Sorts rows by a column.
fn sort_rows(rows: &mut [DiffRow], by: DiffSort) {
    rows.sort_by(|a, b| by.key(b).total_cmp(&by.key(a)));
}

impl DiffSort {
    /// What rows are sorted by, the largest first.
    pub(super) fn key(self, row: &DiffRow) -> f64 {
        let last = f64::NEG_INFINITY;
        match self {
            DiffSort::Delta => row.points.abs(),
            DiffSort::Ratio => row.ratio.unwrap_or(last),
            DiffSort::Q => row.q.map_or(last, |q| -q),
            DiffSort::Old => row.tested_values().0 as f64,
            DiffSort::New => row.tested_values().1 as f64,
        }
    }
}

/// How many functions have a verdict, be it on their self, their total, or both.
fn functions_with(rows: &[DiffRow], verdict: Verdict) -> usize {
    let names: BTreeSet<_> = rows.iter().filter(|row| row.verdict == verdict).map(|row| &row.name).collect();
    names.len()
}

/// The larger one of the values of both sides.
fn size(row: &DiffRow) -> u64 {
    let (old, new) = row.tested_values();
    old.unsigned_abs().max(new.unsigned_abs())
}

fn by_points(a: &DiffRow, b: &DiffRow) -> Ordering {
    b.points.abs().total_cmp(&a.points.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases_and_decreases_take_turns() {
        let turns = |rows: &[i32]| alternating(rows.to_vec(), |row| *row > 0);
        assert_eq!(turns(&[-9, -8, 3, -7, 2, -1]), [3, -9, 2, -8, -7, -1]);
        assert_eq!(turns(&[5, 4]), [5, 4]);
        assert_eq!(turns(&[-5, -4, 0]), [-5, -4, 0]);
        assert!(turns(&[]).is_empty());
    }
}
