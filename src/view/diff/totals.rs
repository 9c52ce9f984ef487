//! The sums over all profiles of a side.

use crate::profile::{Column, Profile};
use crate::stats::Incomparable;
use crate::tree::{By, Flat, KeyId};

/// The sums over all profiles of a side.
pub(super) struct SideTotals {
    /// The self of every function.
    pub(super) self_value: Vec<i64>,
    /// The total of every function.
    pub(super) total: Vec<i64>,
    /// Σ |value| of all samples, before filters: displayed shares are relative to this.
    pub(super) recorded: i64,
    /// The sum of `self_value`: the statistics compare fractions of this.
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
        SideTotals {
            compared: add_up(&self_value),
            self_value,
            total: sum(&counted.total[series.clone()]),
            recorded: profile.meta.metrics[series].iter().map(|metric| metric.total).sum(),
        }
    }
}

/// Refuses to compare different programs: nearly all of their code would be gone on the one side and new on the other,
/// and what little has the same name would pass for the unchanged code that costs are relative to.
pub(super) fn check_common(old: &SideTotals, new: &SideTotals, by: &By) -> Result<(), Incomparable> {
    let has_names = matches!(by, By::Function | By::Name);
    let functions = |side: &SideTotals| side.self_value.iter().filter(|&&value| value > 0).count();
    if !has_names || functions(old).min(functions(new)) < FEWEST_TO_COMPARE {
        return Ok(());
    }
    let common = |side: &SideTotals| {
        let both = side.self_value.iter().zip(&old.self_value).zip(&new.self_value);
        let both = both.filter(|((_, old), new)| **old > 0 && **new > 0).map(|((value, _), _)| *value as f64);
        both.fold(0.0, |sum, value| sum + value) / side.compared
    };
    let (of_old, of_new) = (common(old), common(new));
    if of_old.min(of_new) < LEAST_COMMON {
        Err(Incomparable::NothingInCommon(of_old, of_new))
    } else {
        Ok(())
    }
}

/// Sides with fewer functions than this may have nothing in common.
const FEWEST_TO_COMPARE: usize = 20;

/// The part of each side, from 0 to 1, that must be in functions that both sides have.
const LEAST_COMMON: f64 = 0.05;

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
