//! Runs that are compared: each becomes a column of values, by stack alone.

use std::mem::take;
use std::sync::Arc;

use crate::parallel;
use crate::profile::builder::{ProfileBuilder, SATURATED};
use crate::profile::rows::RowTable;
use crate::profile::{Id, Samples, StackId};

/// The samples of runs without labels and times, none of them negative. All samples with one stack become one row, whose number is
/// found one run after the other; the values are then added up on all processors.
#[derive(Debug, Default)]
pub(crate) struct RunColumns {
    /// The stack of each row, in the order in which runs have them.
    stack: Vec<StackId>,
    /// The row of each stack.
    row_of: Vec<u32>,
    runs: Vec<Run>,
}

/// The values of a run, and the row of each.
#[derive(Debug)]
struct Run {
    values: Vec<i64>,
    rows: Vec<u32>,
    factor: i64,
}

/// The row of a sample without a value, and of a stack that has none yet.
const NO_ROW: u32 = u32::MAX;

impl RunColumns {
    /// Adds a run, whose values of `metric` are multiplied by `factor`. `stack_of` returns the id in the builder of a stack of the run.
    pub(crate) fn add(
        &mut self,
        samples: Arc<Samples>,
        metric: usize,
        factor: i64,
        stack_of: impl Fn(StackId) -> StackId,
    ) {
        let (row_of, stack) = (&mut self.row_of, &mut self.stack);
        let row = |(&own, &value): (&StackId, &i64)| {
            if value == 0 {
                return NO_ROW;
            }
            let id = stack_of(own);
            if row_of.len() <= id.index() {
                row_of.resize(id.index() + 1, NO_ROW);
            }
            let row = &mut row_of[id.index()];
            if *row == NO_ROW {
                *row = stack.len() as u32;
                stack.push(id);
            }
            *row
        };
        let rows = samples.stack.iter().zip(&samples.values[metric]).map(row).collect();
        let values = match Arc::try_unwrap(samples) {
            Ok(mut samples) => samples.values.swap_remove(metric),
            Err(samples) => samples.values[metric].clone(),
        };
        self.runs.push(Run { values, rows, factor });
    }
}

/// What becomes of a run.
struct Summed {
    column: Vec<i64>,
    /// Σ |value|; the largest number if a value does not fit.
    total: u128,
    samples: u64,
    samples_with_value: u64,
}

impl Run {
    fn summed(self, rows: usize) -> Summed {
        let mut summed = Summed {
            column: vec![0; rows],
            total: 0,
            samples: self.rows.len() as u64,
            samples_with_value: 0,
        };
        for (&value, &row) in self.values.iter().zip(&self.rows) {
            if row == NO_ROW {
                continue;
            }
            summed.samples_with_value += 1;
            match value.checked_mul(self.factor).filter(|value| value.unsigned_abs() < SATURATED) {
                Some(value) => {
                    summed.total = summed.total.saturating_add(value.unsigned_abs().into());
                    let sum = &mut summed.column[row as usize];
                    *sum = sum.wrapping_add(value);
                }
                None => summed.total = u128::MAX,
            }
        }
        summed
    }
}

impl ProfileBuilder {
    /// Adds runs, one per metric, to a builder without samples.
    pub(crate) fn runs(&mut self, mut runs: RunColumns) {
        debug_assert!(self.rows.stack.is_empty() && runs.runs.len() == self.totals.len());
        let rows = runs.stack.len();
        self.account_for(self.rows.growth(rows));
        if self.too_large.is_some() {
            return;
        }
        // Each run is freed when its column exists.
        let mut rest = take(&mut runs.runs).into_iter();
        let sizes: Vec<u64> = rest.as_slice().iter().map(|run| (rows + run.rows.len()) as u64).collect();
        let slices = parallel::balanced(&sizes).into_iter();
        let slices: Vec<Vec<Run>> = slices.map(|slice| rest.by_ref().take(slice.len()).collect()).collect();
        let sum = |runs: Vec<Run>| runs.into_iter().map(|run| run.summed(rows)).collect::<Vec<_>>();
        let mut columns = Vec::with_capacity(self.totals.len());
        for (number, summed) in parallel::each(slices, sum).into_iter().flatten().enumerate() {
            self.totals[number] = summed.total;
            self.meta.metrics[number].rows = summed.samples_with_value;
            self.meta.rows += summed.samples;
            columns.push(summed.column);
        }
        self.rows = RowTable::of_columns(runs.stack, columns);
    }
}
