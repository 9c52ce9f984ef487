//! Rows of samples while they are being collected: those that are alike are merged.

use hashbrown::HashMap;

use crate::profile::{Id, LabelSetId, Samples, StackId};

/// Samples while they are being collected. Rows of one stack and one set of labels become one row,
/// unless their times are kept or their values have opposite signs.
#[derive(Debug, Default)]
pub(crate) struct RowTable {
    pub(crate) samples: Samples,
    /// Whether the time of any sample is known.
    pub(crate) is_timed: bool,
    /// The latest row of each stack without labels; the fast way to the row to merge with.
    plain_row: Vec<u32>,
    /// The latest row of each stack with labels.
    labelled_row: HashMap<(StackId, LabelSetId), u32>,
}

/// Marks a stack that has no row yet in `plain_row`.
const NO_ROW: u32 = u32::MAX;

impl RowTable {
    /// A table without rows.
    pub(crate) fn new(metrics: usize, times: bool) -> Self {
        let values = vec![Vec::new(); metrics];
        let samples = Samples { time: times.then(Vec::new), values, ..Samples::default() };
        RowTable { samples, ..RowTable::default() }
    }

    /// Adds a row, or its values to the row that it is alike. False where the table is full: it
    /// holds at most 2³² rows.
    pub(crate) fn add(
        &mut self,
        stack: StackId,
        labels: LabelSetId,
        time: Option<i64>,
        values: &[i64],
    ) -> bool {
        if let Some(times) = &mut self.samples.time {
            times.push(time.unwrap_or(0));
            self.is_timed |= time.is_some();
            self.push(stack, labels, values);
            return true;
        }
        let row = *self.latest_row(stack, labels);
        if row != NO_ROW && self.signs_agree(row as usize, values) {
            for (column, &value) in self.samples.values.iter_mut().zip(values) {
                column[row as usize] = column[row as usize].wrapping_add(value);
            }
            return true;
        }
        let Ok(new) = u32::try_from(self.samples.len()) else { return false };
        *self.latest_row(stack, labels) = new;
        self.push(stack, labels, values);
        true
    }

    fn push(&mut self, stack: StackId, labels: LabelSetId, values: &[i64]) {
        self.samples.stack.push(stack);
        self.samples.labels.push(labels);
        for (column, &value) in self.samples.values.iter_mut().zip(values) {
            column.push(value);
        }
    }

    fn latest_row(&mut self, stack: StackId, labels: LabelSetId) -> &mut u32 {
        if labels != LabelSetId::default() {
            return self.labelled_row.entry((stack, labels)).or_insert(NO_ROW);
        }
        if self.plain_row.len() <= stack.index() {
            self.plain_row.resize(stack.index() + 1, NO_ROW);
        }
        &mut self.plain_row[stack.index()]
    }

    fn signs_agree(&self, row: usize, values: &[i64]) -> bool {
        self.samples.values.iter().zip(values).all(|(column, &value)| {
            let kept = column[row];
            kept == 0 || value == 0 || (kept < 0) == (value < 0)
        })
    }
}
