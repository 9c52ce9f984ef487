//! The sums over all profiles of a side.

use crate::name::is_library;
use crate::pattern::is_runtime;
use crate::profile::{Column, Id, Profile};
use crate::stats::Incomparable;
use crate::tree::{By, Flat, KeyId, Subject};

/// The sums over all profiles of a side.
pub(super) struct SideTotals {
    /// The self of every function.
    pub(super) self_value: Vec<i64>,
    /// The total of every function.
    pub(super) total: Vec<i64>,
    /// Σ |value| of all samples, before filters: displayed shares are relative to this.
    pub(super) recorded: i64,
    /// The sum of `self_value`: the statistics compare fractions of this. If values are negative, nothing is tested, and this is
    /// `recorded`.
    pub(super) compared: f64,
}

impl SideTotals {
    pub(super) fn new(profile: &Profile, counted: &Flat, series: std::ops::Range<usize>) -> Self {
        let sum = |columns: &[Column<KeyId, i64>]| {
            let mut sums = vec![0; columns.first().map_or(0, Column::len)];
            for column in columns {
                for (sum, value) in sums.iter_mut().zip(column) {
                    *sum += value;
                }
            }
            sums
        };
        let self_value = sum(&counted.self_value[series.clone()]);
        let recorded = profile.meta.metrics[series.clone()].iter().map(|metric| metric.total).sum();
        let has_negatives = series.clone().any(|metric| profile.has_negatives(metric));
        SideTotals {
            compared: if has_negatives { recorded as f64 } else { add_up(&self_value) },
            self_value,
            total: sum(&counted.total[series]),
            recorded,
        }
    }
}

/// Refuses to compare different programs: nearly all of their code would be gone on the one side and new on the other,
/// and what little has the same name would pass for the unchanged code that costs are relative to.
pub(super) fn check_common(
    subject: &Subject<'_>,
    old: &SideTotals,
    new: &SideTotals,
    by: &By,
) -> Result<(), Incomparable> {
    // A side without samples has nothing that could differ.
    let is_empty = [old, new].iter().any(|side| side.compared <= 0.0);
    if is_empty || !matches!(by, By::Function | By::Name) {
        return Ok(());
    }
    let functions = |side: &SideTotals| side.self_value.iter().filter(|&&value| value > 0).count();
    let common = |side: &SideTotals| {
        let both = side.self_value.iter().zip(&old.self_value).zip(&new.self_value);
        let both = both.filter(|((_, old), new)| **old > 0 && **new > 0).map(|((value, _), _)| *value as f64);
        both.fold(0.0, |sum, value| sum + value) / side.compared
    };
    let (of_old, of_new) = (common(old), common(new));
    if functions(old).min(functions(new)) >= FEWEST_TO_COMPARE && of_old.min(of_new) < LEAST_COMMON {
        return Err(Incomparable::NothingInCommon(of_old, of_new));
    }
    check_own(subject, old, new)
}

/// Programs in one language share its runtime and its libraries, so their own functions are looked at separately. Two Go
/// programs have `main.main` in common, and hardly more.
fn check_own(subject: &Subject<'_>, old: &SideTotals, new: &SideTotals) -> Result<(), Incomparable> {
    // Functions without weight are not matched if their names differ.
    let is_heavy =
        |key: KeyId, side: &SideTotals| side.total[key.index()] as f64 >= LEAST_SHARE * side.compared;
    let is_own = |key: KeyId| {
        let key = subject.keys.get(key);
        let file = key.file.as_deref().unwrap_or_default();
        !is_library(&key.function, file) && !is_runtime(&key.function, file)
    };
    let (mut of_old, mut of_new, mut of_both) = (0, 0, 0);
    for key in subject.keys.ids() {
        let (in_old, in_new) = (is_heavy(key, old), is_heavy(key, new));
        if (in_old || in_new) && is_own(key) {
            of_old += usize::from(in_old);
            of_new += usize::from(in_new);
            of_both += usize::from(old.total[key.index()] > 0 && new.total[key.index()] > 0);
        }
    }
    let fewer = of_old.min(of_new);
    // A side may have none of its own, such as the benchmark of a library.
    let is_few = fewer < FEWEST_OWN && (fewer > 0 || of_old.max(of_new) < FEWEST_TO_COMPARE);
    if is_few || of_both > 1 && of_both as f64 >= LEAST_COMMON * fewer as f64 {
        Ok(())
    } else {
        Err(Incomparable::DifferentPrograms { old: of_old, new: of_new, both: of_both })
    }
}

/// Sides with fewer functions than this may have nothing in common.
const FEWEST_TO_COMPARE: usize = 20;

/// The same for functions that are neither of the runtime nor of a library.
const FEWEST_OWN: usize = 10;

/// The part of each side, from 0 to 1, that must be in functions that both sides have.
const LEAST_COMMON: f64 = 0.05;

/// Functions with a smaller share of their side, from 0 to 1, do not tell programs apart.
const LEAST_SHARE: f64 = 0.001;

/// The sum of the values of all functions. With a hundred thousand functions it must be computed once,
/// not once per row.
fn add_up(values: &[i64]) -> f64 {
    #[cfg(test)]
    ADDED.with(|added| added.set(added.get() + values.len()));
    values.iter().map(|&value| value as f64).fold(0.0, |sum, value| sum + value)
}

#[cfg(test)]
thread_local! {
    /// The number of values that [`add_up`] has added up.
    pub(super) static ADDED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
