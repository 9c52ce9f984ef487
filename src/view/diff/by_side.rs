//! `diff --by-side`: the comparisons of several builds with the first, in one table.

use std::cmp::Ordering;

use hashbrown::HashMap;

use crate::report::{BySide, BySideRow, Diff, DiffRow, DiffSide, DiffVerdict, Header, Name, RowTest};
use crate::stats::Verdict;
use crate::view::diff::DiffSort;

/// Which rows to keep, and their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct BySideOptions {
    /// The accepted probability of a false alarm in any of the builds.
    pub alpha: f64,
    /// The maximum number of rows; `None` for all.
    pub limit: Option<usize>,
    /// The maximum number of rows that are not significant in any build; `None` for all.
    pub others: Option<usize>,
    /// The column to sort rows by; `None` for the most important first.
    pub sort: Option<DiffSort>,
    /// Rows with a smaller share in all builds are cut, in percent.
    pub min_share: f64,
}

/// Puts comparisons of builds with one and the same first build next to each other, row by row. All of them name
/// functions as the first build does, and have all their rows.
pub fn by_side(mut builds: Vec<Diff>, options: &BySideOptions) -> BySide {
    let count = builds.len();
    let mut rows: Vec<BySideRow> = Vec::new();
    let mut known: HashMap<(Name, RowTest), usize> = HashMap::new();
    let all: Vec<Vec<DiffRow>> = builds.iter_mut().map(|diff| std::mem::take(&mut diff.rows)).collect();
    for (number, of_build) in all.iter().enumerate() {
        for row in of_build {
            let place = *known.entry((row.name.clone(), row.test)).or_insert_with(|| {
                rows.push(BySideRow {
                    name: row.name.clone(),
                    test: row.test,
                    old: row.old,
                    builds: vec![None; count],
                });
                rows.len() - 1
            });
            rows[place].builds[number] = Some(row.clone());
        }
    }
    for (number, (diff, of_build)) in builds.iter().zip(&all).enumerate() {
        let of_name: HashMap<&Name, &DiffRow> = of_build.iter().map(|row| (&row.name, row)).collect();
        for row in rows.iter_mut().filter(|row| row.builds[number].is_none()) {
            row.builds[number] = of_name.get(&row.name).map(|other| untested(other, row.test, diff));
        }
    }
    let mut all = BySide {
        header: header(&builds),
        old: builds.first().map(|diff| diff.old.clone()).unwrap_or_default(),
        verdict: overall(&builds),
        alpha: options.alpha,
        builds,
        rows,
        elided_tested: 0,
    };
    sort(&mut all.rows, options.sort);
    let (old, builds) = (all.old.clone(), all.builds.clone());
    cut(&mut all, |row| is_heavy(row, options.min_share / 100.0, &old, &builds));
    let mut others = options.others.unwrap_or(usize::MAX);
    cut(&mut all, |row| {
        let is_other = rank(row) == Rank::NotSignificant;
        let is_kept = !is_other || others > 0;
        others -= usize::from(is_other && is_kept);
        is_kept
    });
    limit_by_side(&mut all, options.limit.unwrap_or(usize::MAX));
    all
}

/// The self or the total of a function of which a comparison tested only the other one.
fn untested(other: &DiffRow, test: RowTest, diff: &Diff) -> DiffRow {
    let mut row = DiffRow {
        name: other.name.clone(),
        file: other.file.clone(),
        line: other.line,
        old: other.old,
        new: other.new,
        delta: other.delta,
        test,
        ..DiffRow::default()
    };
    let (old, new) = row.tested_values();
    let share =
        |value: i64, side: &DiffSide| if side.total > 0 { value as f64 / side.total as f64 } else { 0.0 };
    row.points = (share(new, &diff.new) / diff.core_ratio - share(old, &diff.old)) * 100.0;
    row
}

/// Leaves out all rows but the first `limit`, and counts those left out.
pub fn limit_by_side(all: &mut BySide, limit: usize) {
    let mut place = 0..;
    cut(all, |_| place.next().is_some_and(|place| place < limit));
}

/// Leaves out the rows that are not to be kept, and counts them.
fn cut(all: &mut BySide, mut is_kept: impl FnMut(&BySideRow) -> bool) {
    let BySide { header, rows, elided_tested, .. } = all;
    rows.retain(|row| {
        let keep = is_kept(row);
        if !keep {
            header.elided_rows += 1;
            *elided_tested += usize::from(rank(row) != Rank::Untested);
            header.elided += if row.test == RowTest::SelfValue { row.old.self_value } else { 0 };
        }
        keep
    });
}

/// The header of the table; its totals are those of the first build.
fn header(diffs: &[Diff]) -> Header {
    let Some(first) = diffs.first() else { return Header::default() };
    let mut warnings = Vec::new();
    for warning in diffs.iter().flat_map(|diff| &diff.header.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let total = first.old.total;
    let profiles = diffs.iter().map(|diff| diff.new.profiles).sum::<usize>() + first.old.profiles;
    Header {
        schema: "prof.by-side.v1",
        total,
        shown: total,
        no_stack: 0,
        profiles: profiles as u32,
        elided: 0,
        elided_rows: 0,
        warnings,
        normalize: None,
        ..first.header.clone()
    }
}

/// The verdict on all builds: `none` only if no comparison has another one.
fn overall(diffs: &[Diff]) -> DiffVerdict {
    let order = [DiffVerdict::Regressed, DiffVerdict::Inconclusive, DiffVerdict::Improved];
    let has = |verdict: &DiffVerdict| diffs.iter().any(|diff| diff.verdict == *verdict);
    order.into_iter().find(has).unwrap_or(DiffVerdict::None)
}

/// How important a row is, judging by the build in which it matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Regressed,
    Improved,
    Significant,
    NotSignificant,
    Untested,
}

fn rank(row: &BySideRow) -> Rank {
    let rank = |row: &DiffRow| match row.verdict {
        Verdict::Regressed => Rank::Regressed,
        Verdict::Improved => Rank::Improved,
        Verdict::Moved | Verdict::Inherits | Verdict::Mix | Verdict::Small => Rank::Significant,
        _ if row.p.is_some() => Rank::NotSignificant,
        _ => Rank::Untested,
    };
    row.builds.iter().flatten().map(rank).min().unwrap_or(Rank::Untested)
}

/// Sorts rows by a column, or the most important first. Of several builds, the one with the largest value counts.
fn sort(rows: &mut [BySideRow], by: Option<DiffSort>) {
    let by_points = |a: &BySideRow, b: &BySideRow| descending(a, b, DiffSort::Delta);
    rows.sort_by(|a, b| {
        let order = match by {
            Some(column) => descending(a, b, column),
            None => rank(a).cmp(&rank(b)).then_with(|| by_points(a, b)),
        };
        order.then_with(|| a.name.cmp(&b.name)).then_with(|| a.test.cmp(&b.test))
    });
}

fn descending(a: &BySideRow, b: &BySideRow, column: DiffSort) -> Ordering {
    let key = |row: &BySideRow| {
        let keys = row.builds.iter().flatten().map(|row| column.key(row));
        keys.fold(f64::NEG_INFINITY, f64::max)
    };
    key(b).total_cmp(&key(a))
}

/// Whether a row has at least the share `smallest`, from 0 to 1, of what was recorded of any build.
fn is_heavy(row: &BySideRow, smallest: f64, old: &DiffSide, builds: &[Diff]) -> bool {
    let reaches = |value: i64, total: i64| value as f64 >= smallest * total as f64;
    let cells = || row.builds.iter().zip(builds).filter_map(|(cell, diff)| Some((cell.as_ref()?, diff)));
    smallest <= 0.0
        || cells().any(|(cell, _)| reaches(cell.tested_values().0, old.total))
        || cells().any(|(cell, diff)| reaches(cell.tested_values().1, diff.new.total))
}
