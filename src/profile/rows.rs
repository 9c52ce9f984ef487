//! Collecting rows of samples: equal rows are merged.

use hashbrown::HashMap;

use crate::profile::{Id, LabelSetId, Samples, StackId};

/// Samples while they are being collected. Rows with the same stack and the same labels are merged, unless times are
/// kept or values have opposite signs.
#[derive(Debug, Default)]
pub(crate) struct RowTable {
    /// The stack of every row.
    pub(crate) stack: Vec<StackId>,
    labels: Vec<LabelSetId>,
    time: Option<Vec<i64>>,
    /// Whether the time of any sample is known.
    is_timed: bool,
    metrics: usize,
    /// The values of all metrics, row by row, so that merging a row accesses one place in memory rather than one per
    /// metric.
    values: Vec<i64>,
    /// The latest row of each stack without labels. Looking it up is faster than in `labelled_row`.
    plain_row: Vec<u32>,
    /// The latest row of each stack with labels.
    labelled_row: HashMap<(StackId, LabelSetId), u32>,
}

/// The entry in `plain_row` of a stack that has no row yet.
const NO_ROW: u32 = u32::MAX;

impl RowTable {
    /// A table without rows.
    pub(crate) fn new(metrics: usize, times: bool) -> Self {
        RowTable { metrics, time: times.then(Vec::new), ..RowTable::default() }
    }

    /// Adds a metric; its value in existing rows is 0.
    pub(crate) fn add_metric(&mut self) {
        let narrow = std::mem::take(&mut self.values);
        self.values = Vec::with_capacity(self.stack.len() * (self.metrics + 1));
        for row in 0..self.stack.len() {
            self.values.extend_from_slice(&narrow[row * self.metrics..][..self.metrics]);
            self.values.push(0);
        }
        self.metrics += 1;
    }

    /// The values of a metric, row by row.
    pub(crate) fn column_mut(&mut self, metric: usize) -> impl Iterator<Item = &mut i64> {
        self.values.iter_mut().skip(metric).step_by(self.metrics)
    }

    /// Adds a row, or adds its values to an equal row. The values are those of the metrics from number `first` on; all
    /// others are 0. Returns false if the table is full; it holds at most 2³² rows.
    pub(crate) fn add(
        &mut self,
        stack: StackId,
        labels: LabelSetId,
        time: Option<i64>,
        (first, values): (usize, &[i64]),
    ) -> bool {
        if let Some(times) = &mut self.time {
            times.push(time.unwrap_or(0));
            self.is_timed |= time.is_some();
            self.push(stack, labels, (first, values));
            return true;
        }
        let Ok(new) = u32::try_from(self.stack.len()) else { return false };
        let latest = self.latest_row(stack, labels);
        let row = *latest;
        if row == NO_ROW {
            *latest = new;
        } else {
            let kept = &mut self.values[row as usize * self.metrics + first..][..values.len()];
            if signs_agree(kept, values) {
                for (kept, &value) in kept.iter_mut().zip(values) {
                    *kept = kept.wrapping_add(value);
                }
                return true;
            }
            *self.latest_row(stack, labels) = new;
        }
        self.push(stack, labels, (first, values));
        true
    }

    /// Divides the values of the rows of a stack among its parts, in proportion to the weights of these. False if the
    /// table is full.
    pub(crate) fn divide(&mut self, parts: &HashMap<StackId, Vec<(StackId, u64)>>) -> bool {
        if parts.is_empty() {
            return true;
        }
        let whole = std::mem::replace(self, RowTable::new(self.metrics, self.time.is_some()));
        let width = whole.metrics;
        for (row, (&stack, &labels)) in whole.stack.iter().zip(&whole.labels).enumerate() {
            let time = whole.time.as_ref().map(|times| times[row]);
            let values = &whole.values[row * width..][..width];
            let itself = [(stack, 1)];
            let parts = parts.get(&stack).map_or(&itself[..], Vec::as_slice);
            let all: u64 = parts.iter().map(|&(_, weight)| weight).sum();
            let mut before = 0;
            for &(part, weight) in parts {
                let after = before + weight;
                // The difference of two rounded sums: the parts add up to the value.
                let share = |&value: &i64| portion(value, after, all) - portion(value, before, all);
                let values: Vec<i64> = values.iter().map(share).collect();
                before = after;
                if values.iter().any(|&value| value != 0) && !self.add(part, labels, time, (0, &values)) {
                    return false;
                }
            }
        }
        true
    }

    /// The approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.stack.capacity() * size_of::<StackId>()
            + self.labels.capacity() * size_of::<LabelSetId>()
            + self.time.as_ref().map_or(0, |times| times.capacity() * size_of::<i64>())
            + self.values.capacity() * size_of::<i64>()
            + self.plain_row.capacity() * size_of::<u32>()
            + self.labelled_row.allocation_size()
    }

    fn push(&mut self, stack: StackId, labels: LabelSetId, (first, values): (usize, &[i64])) {
        self.stack.push(stack);
        self.labels.push(labels);
        let start = self.values.len();
        self.values.resize(start + first, 0);
        self.values.extend_from_slice(values);
        self.values.resize(start + self.metrics, 0);
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

    /// The rows as columns. Times are kept if any is known.
    pub(crate) fn finish(self) -> Samples {
        let column = |metric| self.values.iter().skip(metric).step_by(self.metrics).copied().collect();
        Samples {
            values: (0..self.metrics).map(column).collect(),
            stack: self.stack,
            labels: self.labels,
            time: self.time.filter(|_| self.is_timed),
        }
    }
}

/// `value` × `weight` ÷ `all`, rounded towards 0.
fn portion(value: i64, weight: u64, all: u64) -> i64 {
    (i128::from(value) * i128::from(weight) / i128::from(all)) as i64
}

fn signs_agree(kept: &[i64], values: &[i64]) -> bool {
    kept.iter().zip(values).all(|(&kept, &value)| kept == 0 || value == 0 || (kept < 0) == (value < 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_may_have_values_of_some_metrics_only() {
        let [one, two] = [0, 1].map(StackId::new);
        let mut rows = RowTable::new(3, false);
        for (stack, first, value) in [(one, 1, 5), (two, 2, 7), (one, 0, 2), (one, 1, -1), (one, 2, 9)] {
            rows.add(stack, LabelSetId::default(), None, (first, &[value]));
        }
        assert_eq!(rows.stack, [one, two, one]);
        assert_eq!(rows.values, [2, 5, 0, 0, 0, 7, 0, -1, 9]);
    }

    #[test]
    fn the_parts_of_a_row_add_up_to_it() {
        let [whole, one, two, other] = [0, 1, 2, 3].map(StackId::new);
        let mut rows = RowTable::new(2, false);
        rows.add(whole, LabelSetId::default(), None, (0, &[4, 101]));
        rows.add(other, LabelSetId::default(), None, (0, &[1, 7]));
        let parts = HashMap::from_iter([(whole, vec![(one, 1), (two, 2), (whole, 1)])]);
        assert!(rows.divide(&parts));
        // 101 ÷ 4 = 25.25: up to each part 25, 75 and 101.
        assert_eq!(rows.stack, [one, two, whole, other]);
        assert_eq!(rows.values, [1, 25, 2, 50, 1, 26, 1, 7]);
    }
}
