//! `diff --by-side`: the comparisons of several builds with the first, in one table.

use std::cmp::Ordering;

use hashbrown::HashMap;

use crate::report::{BySide, BySideRow, Diff, DiffRow, DiffVerdict, Header, Name, RowTest};
use crate::view::diff::DiffSort;
use crate::view::diff::cut::{Row, Rows, is_heavy};
use crate::view::diff::rows::untested_points;

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
    let recorded: Vec<_> = all.builds.iter().map(|diff| (diff.old.total, diff.new.total)).collect();
    let mut rows = Rows::of_by_side(&mut all);
    rows.keep(|row| {
        let mut cells =
            row.builds.iter().zip(&recorded).filter_map(|(cell, totals)| Some((cell.as_ref()?, totals)));
        cells.any(|(cell, &totals)| is_heavy(cell, options.min_share / 100.0, totals))
    });
    rows.limit_others(options.others.unwrap_or(usize::MAX), false);
    rows.limit(options.limit.unwrap_or(usize::MAX));
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
    row.points = untested_points(&row, [diff.old.compared, diff.new.compared], diff.core_ratio);
    row
}

/// Leaves out all rows but the first `limit`, and counts those left out.
pub fn limit_by_side(all: &mut BySide, limit: usize) {
    Rows::of_by_side(all).limit(limit);
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

/// Sorts rows by a column, or the most important first. Of several builds, the one with the largest value counts.
fn sort(rows: &mut [BySideRow], by: Option<DiffSort>) {
    let by_points = |a: &BySideRow, b: &BySideRow| descending(a, b, DiffSort::Delta);
    rows.sort_by(|a, b| {
        let order = match by {
            Some(column) => descending(a, b, column),
            None => a.rank().cmp(&b.rank()).then_with(|| by_points(a, b)),
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
