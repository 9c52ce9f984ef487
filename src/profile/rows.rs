//! Collecting rows of samples: equal rows are merged.

use std::iter;
use std::ops::Range;

use hashbrown::HashMap;

use crate::parallel;
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
    /// How many metrics are in a block: [`IN_BLOCK`], or 1 if times are kept. Then no rows are merged, and the blocks become the columns
    /// of the samples without a copy.
    in_block: usize,
    /// The values of each so many metrics, row by row, so that merging a row accesses one place in memory rather than one
    /// per metric. With a hundred metrics in one block, the value of each row would be on another page, which took a tenth of
    /// the time of comparing a hundred profiles.
    blocks: Vec<Vec<i64>>,
    /// The latest row of each stack without labels. Looking it up is faster than in `labelled_row`.
    plain_row: Vec<u32>,
    /// The latest rows of the stacks that are expected next, and a value of each of these rows.
    expected: Vec<u32>,
    expected_values: Vec<i64>,
    /// The latest row of each set of labels with the first stack that has it. Labels such as request IDs are on one stack only.
    first_row: Vec<u32>,
    /// The latest row of each further stack with labels.
    labelled_row: HashMap<(StackId, LabelSetId), u32>,
}

/// The number of metrics whose values are kept together: as many as fill a cache line.
const IN_BLOCK: usize = 8;

/// Blocks with fewer values are divided into columns on one thread.
const FEW_VALUES: usize = 100_000;

/// The latest rows of fewer stacks are in the cache anyway.
const FEW_STACKS: usize = 10_000;

/// The entry in `plain_row` of a stack that has no row yet.
const NO_ROW: u32 = u32::MAX;

impl RowTable {
    /// A table without rows.
    pub(crate) fn new(metrics: usize, times: bool) -> Self {
        let in_block = if times { 1 } else { IN_BLOCK };
        let blocks = vec![Vec::new(); metrics.div_ceil(in_block)];
        RowTable { metrics, in_block, blocks, time: times.then(Vec::new), ..RowTable::default() }
    }

    /// A table of rows without labels, one for each of these stacks, with a column of values for each metric.
    pub(crate) fn of_columns(stack: Vec<StackId>, columns: Vec<Vec<i64>>) -> Self {
        let labels = vec![LabelSetId::default(); stack.len()];
        RowTable {
            stack,
            labels,
            metrics: columns.len(),
            in_block: 1,
            blocks: columns,
            ..RowTable::default()
        }
    }

    /// The memory in bytes that [`RowTable::reserve`] takes for so many rows.
    pub(crate) fn growth(&self, rows: usize) -> usize {
        let row = size_of::<StackId>() + size_of::<LabelSetId>() + self.metrics * size_of::<i64>();
        rows.saturating_sub(self.stack.capacity()).saturating_mul(row)
    }

    /// Makes room for so many rows. Tables grow by doubling, which takes up to twice the memory of a hundred runs.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let known = self.stack.len();
        if rows <= self.stack.capacity() {
            return;
        }
        // Where more are added again and again, each row is copied a few times only.
        let rows = rows.max(known + known / 4);
        self.stack.reserve_exact(rows - known);
        self.labels.reserve_exact(rows - known);
        for number in 0..self.blocks.len() {
            let values = rows * self.width(number);
            let block = &mut self.blocks[number];
            block.reserve_exact(values.saturating_sub(block.len()));
        }
    }

    /// Adds a metric; its value in existing rows is 0.
    pub(crate) fn add_metric(&mut self) {
        let block = self.metrics / self.in_block;
        let width = self.width(block);
        self.metrics += 1;
        if block == self.blocks.len() {
            self.blocks.push(vec![0; self.stack.len()]);
            return;
        }
        let narrow = std::mem::take(&mut self.blocks[block]);
        let mut wide = Vec::with_capacity(self.stack.len() * (width + 1));
        for row in narrow.chunks_exact(width) {
            wide.extend_from_slice(row);
            wide.push(0);
        }
        self.blocks[block] = wide;
    }

    /// The number of metrics in a block; all but the last are full.
    fn width(&self, block: usize) -> usize {
        (self.metrics - block * self.in_block).min(self.in_block)
    }

    /// The values of a metric, row by row.
    pub(crate) fn column_mut(&mut self, metric: usize) -> impl Iterator<Item = &mut i64> {
        let (block, at) = (metric / self.in_block, metric % self.in_block);
        let width = self.width(block);
        self.blocks[block].iter_mut().skip(at).step_by(width)
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
            times.push(time.unwrap_or(Samples::UNTIMED));
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
            if self.merge(row as usize, first, values) {
                return true;
            }
            *self.latest_row(stack, labels) = new;
        }
        self.push(stack, labels, (first, values));
        true
    }

    /// Adds rows without labels and times, each with a value per metric, like [`RowTable::add`]; those without any value are left out.
    pub(crate) fn add_plain(&mut self, stacks: &[StackId], values: &[i64]) -> bool {
        let samples = stacks.iter().zip(values.chunks_exact(self.metrics));
        let mut samples = samples.filter(|(_, values)| values.iter().any(|&value| value != 0));
        if self.time.is_some() || self.blocks.len() != 1 {
            return samples.all(|(&stack, values)| self.add(stack, LabelSetId::default(), None, (0, values)));
        }
        let known = stacks.iter().map(|stack| stack.index() + 1).max().unwrap_or(0);
        if self.plain_row.len() < known {
            self.plain_row.resize(known, NO_ROW);
        }
        for (&stack, values) in samples {
            let row = self.plain_row[stack.index()];
            if row != NO_ROW && self.merge(row as usize, 0, values) {
                continue;
            }
            let Ok(new) = u32::try_from(self.stack.len()) else { return false };
            self.plain_row[stack.index()] = new;
            self.stack.push(stack);
            self.labels.push(LabelSetId::default());
            self.blocks[0].extend_from_slice(values);
        }
        true
    }

    /// Fetches the latest rows of these stacks into the cache. Their places in memory do not depend on one another, so the processor
    /// waits for many of them at once; when rows are added, it has to know each before it goes on with the next.
    pub(crate) fn expect(&mut self, stacks: &[StackId]) {
        // Rows with times are only appended.
        if self.time.is_some() || self.blocks.is_empty() || self.plain_row.len() < FEW_STACKS {
            return;
        }
        let latest = |stack: &StackId| self.plain_row.get(stack.index()).copied().unwrap_or(NO_ROW);
        self.expected.clear();
        self.expected.extend(stacks.iter().map(latest));
        let width = self.width(0);
        let value = |&row: &u32| self.blocks[0].get(row as usize * width).copied().unwrap_or(0);
        self.expected_values.clear();
        self.expected_values.extend(self.expected.iter().map(value));
    }

    /// Divides the values of the rows of a stack among its parts, in proportion to the weights of these. False if the
    /// table is full.
    pub(crate) fn divide(&mut self, parts: &HashMap<StackId, Vec<(StackId, u64)>>) -> bool {
        if parts.is_empty() {
            return true;
        }
        let whole = std::mem::replace(self, RowTable::new(self.metrics, self.time.is_some()));
        for (row, (&stack, &labels)) in whole.stack.iter().zip(&whole.labels).enumerate() {
            let time = whole.time.as_ref().map(|times| times[row]).filter(|&time| time != Samples::UNTIMED);
            let values: Vec<i64> = whole.row_values(row).collect();
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
            + self.blocks.iter().map(|block| block.capacity() * size_of::<i64>()).sum::<usize>()
            + (self.plain_row.capacity() + self.first_row.capacity()) * size_of::<u32>()
            + self.labelled_row.allocation_size()
    }

    fn push(&mut self, stack: StackId, labels: LabelSetId, (first, values): (usize, &[i64])) {
        self.stack.push(stack);
        self.labels.push(labels);
        if let [only] = &mut self.blocks[..] {
            let start = only.len();
            only.resize(start + first, 0);
            only.extend_from_slice(values);
            only.resize(start + self.metrics, 0);
            return;
        }
        let row = self.stack.len() - 1;
        for number in 0..self.blocks.len() {
            let width = self.width(number);
            self.blocks[number].resize((row + 1) * width, 0);
        }
        for piece in pieces(first, values, self.in_block) {
            self.kept(row, &piece).copy_from_slice(piece.values);
        }
    }

    /// Adds values to those of a row, unless their signs differ.
    fn merge(&mut self, row: usize, first: usize, values: &[i64]) -> bool {
        // Nearly all profiles have only one block, and dividing takes longer than the rest.
        let in_block = self.in_block;
        let (block, at) = if first < in_block { (0, first) } else { (first / in_block, first % in_block) };
        if at + values.len() <= in_block {
            let kept = self.kept(row, &Piece { block, at, values });
            let may_add = signs_agree(kept, values);
            if may_add {
                add_all(kept, values);
            }
            return may_add;
        }
        let may_add =
            pieces(first, values, in_block).all(|piece| signs_agree(self.kept(row, &piece), piece.values));
        if may_add {
            pieces(first, values, in_block).for_each(|piece| add_all(self.kept(row, &piece), piece.values));
        }
        may_add
    }

    /// The values of a row that are at the place of a piece.
    fn kept(&mut self, row: usize, piece: &Piece<'_>) -> &mut [i64] {
        let start = row * self.width(piece.block) + piece.at;
        &mut self.blocks[piece.block][start..start + piece.values.len()]
    }

    /// All values of a row.
    fn row_values(&self, row: usize) -> impl Iterator<Item = i64> {
        let of_block = move |(number, block): (usize, &'_ Vec<i64>)| {
            let width = self.width(number);
            block[row * width..][..width].to_vec()
        };
        self.blocks.iter().enumerate().flat_map(of_block)
    }

    fn latest_row(&mut self, stack: StackId, labels: LabelSetId) -> &mut u32 {
        if labels != LabelSetId::default() {
            if self.first_row.len() <= labels.index() {
                self.first_row.resize(labels.index() + 1, NO_ROW);
            }
            let first = &mut self.first_row[labels.index()];
            return match self.stack.get(*first as usize) {
                Some(&other) if other != stack => self.labelled_row.entry((stack, labels)).or_insert(NO_ROW),
                _ => first,
            };
        }
        if self.plain_row.len() <= stack.index() {
            self.plain_row.resize(stack.index() + 1, NO_ROW);
        }
        &mut self.plain_row[stack.index()]
    }

    /// The rows as columns. Times are kept if any is known.
    pub(crate) fn finish(mut self) -> Samples {
        let widths: Vec<usize> = (0..self.blocks.len()).map(|number| self.width(number)).collect();
        let mut values = Vec::with_capacity(self.metrics);
        // Each block is freed when its columns exist: together they would be twice the memory of a hundred runs.
        for (mut block, width) in std::mem::take(&mut self.blocks).into_iter().zip(widths) {
            if width == 1 {
                block.shrink_to_fit();
                values.push(block);
                continue;
            }
            let column = |metric: usize| block.iter().skip(metric).step_by(width).copied().collect();
            let columns = |metrics: Range<usize>| metrics.map(column).collect::<Vec<Vec<i64>>>();
            let least = if block.len() < FEW_VALUES { width } else { 1 };
            values.extend(parallel::ranges(width, least, columns).into_iter().flatten());
        }
        // Tables grow by doubling.
        self.stack.shrink_to_fit();
        self.labels.shrink_to_fit();
        let mut time = self.time.filter(|_| self.is_timed);
        time.iter_mut().for_each(Vec::shrink_to_fit);
        Samples { values, stack: self.stack, labels: self.labels, time }
    }
}

fn add_all(kept: &mut [i64], values: &[i64]) {
    for (number, kept) in kept.iter_mut().enumerate() {
        *kept = kept.wrapping_add(values[number]);
    }
}

/// Values of a row that are in one block.
struct Piece<'v> {
    block: usize,
    /// The place in the block of the first of them.
    at: usize,
    values: &'v [i64],
}

/// Divides values, which are those of the metrics from number `first` on, among blocks.
fn pieces(first: usize, values: &[i64], in_block: usize) -> impl Iterator<Item = Piece<'_>> {
    let (head, rest) = values.split_at(values.len().min(in_block - first % in_block));
    let start = Piece { block: first / in_block, at: first % in_block, values: head };
    let whole = rest.chunks(in_block).zip(start.block + 1..);
    iter::once(start).chain(whole.map(|(values, block)| Piece { block, at: 0, values }))
}

/// `value` × `weight` ÷ `all`, rounded towards 0.
fn portion(value: i64, weight: u64, all: u64) -> i64 {
    (i128::from(value) * i128::from(weight) / i128::from(all)) as i64
}

fn signs_agree(kept: &[i64], values: &[i64]) -> bool {
    let agrees = |kept: i64, value: i64| kept == 0 || value == 0 || (kept < 0) == (value < 0);
    kept.iter().enumerate().all(|(number, &kept)| agrees(kept, values[number]))
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
        assert_eq!(rows.finish().values, [[2, 0, 0], [5, 0, -1], [0, 7, 9]]);
    }

    /// Stack and labels take 4 bytes each, the time and each value 8, and nothing is reserved for more.
    #[test]
    fn rows_with_times_take_no_more_than_their_columns() {
        let mut rows = RowTable::new(1, true);
        rows.add_metric();
        for time in 0..100_000 {
            rows.add(StackId::new(0), LabelSetId::default(), Some(time), (0, &[1, 2 * time]));
        }
        let Samples { stack, labels, time, values } = rows.finish();
        assert_eq!((values[0][99_999], values[1][99_999], values.len()), (1, 199_998, 2));
        let bytes = 4 * (stack.capacity() + labels.capacity())
            + 8 * (time.unwrap().capacity() + values.iter().map(Vec::capacity).sum::<usize>());
        assert!(bytes <= 33 * 100_000, "{bytes}");
    }

    #[test]
    fn rows_that_are_expected_take_no_more_than_themselves() {
        let mut rows = RowTable::new(17, false);
        rows.reserve(1000);
        (0..1000).for_each(|stack| {
            rows.add(StackId::new(stack), LabelSetId::default(), None, (16, &[1]));
        });
        assert_eq!(rows.blocks.iter().map(Vec::capacity).sum::<usize>(), 17 * 1000);
        rows.reserve(1001);
        assert_eq!((rows.stack.capacity(), rows.blocks[0].capacity()), (1250, 8 * 1250));
    }

    #[test]
    fn values_of_many_metrics_are_in_several_blocks() {
        let [one, two] = [0, 1].map(StackId::new);
        let mut rows = RowTable::new(3, false);
        rows.add(one, LabelSetId::default(), None, (0, &[1, 2, 3]));
        (3..18).for_each(|_| rows.add_metric());
        let many: Vec<i64> = (0..12).collect();
        for (stack, first, values) in
            [(two, 17, &[5][..]), (one, 6, &many), (two, 7, &[1, 1]), (one, 17, &[-9])]
        {
            rows.add(stack, LabelSetId::default(), None, (first, values));
        }
        rows.column_mut(8).for_each(|value| *value *= 10);
        let values = rows.finish().values;
        let row = |row: usize| values.iter().map(|column| column[row]).collect::<Vec<i64>>();
        assert_eq!(row(0), [1, 2, 3, 0, 0, 0, 0, 1, 20, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(row(1), [0, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
        // The sign of the last value differs from that of the row, so it has a row of its own.
        assert_eq!(row(2), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9]);
    }

    #[test]
    fn rows_with_the_same_labels_and_stack_are_merged() {
        let [one, two] = [0, 1].map(StackId::new);
        let [plain, first, second] = [0, 1, 2].map(LabelSetId::new);
        let mut rows = RowTable::new(1, false);
        for (stack, labels, value) in [
            (one, second, 1),
            (two, second, 2),
            (one, plain, 4),
            (one, second, 8),
            (two, second, 16),
            (two, first, 32),
            // Another sign needs another row, to which the next value is added.
            (one, second, -64),
            (one, second, -128),
            (two, second, -256),
            (two, second, -512),
        ] {
            assert!(rows.add(stack, labels, None, (0, &[value])));
        }
        let samples = rows.finish();
        let found: Vec<_> = samples.stack.iter().zip(&samples.labels).zip(&samples.values[0]).collect();
        let expected = [
            ((&one, &second), &9),
            ((&two, &second), &18),
            ((&one, &plain), &4),
            ((&two, &first), &32),
            ((&one, &second), &-192),
            ((&two, &second), &-768),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_that_are_added_together_are_as_if_added_one_by_one() {
        // Ten metrics need more than one block; some values are 0, some negative.
        for (metrics, times) in [(1, false), (2, false), (10, false), (2, true)] {
            let stacks: Vec<StackId> = (0..60).map(|number| StackId::new(number * 7 % 11)).collect();
            let values: Vec<i64> = (0..60 * metrics as i64).map(|number| number * 5 % 7 - 2).collect();
            let (mut together, mut one_by_one) =
                (RowTable::new(metrics, times), RowTable::new(metrics, times));
            assert!(together.add_plain(&stacks[..25], &values[..25 * metrics]));
            assert!(together.add_plain(&stacks[25..], &values[25 * metrics..]));
            for (&stack, values) in stacks.iter().zip(values.chunks(metrics)) {
                if values.iter().any(|&value| value != 0) {
                    one_by_one.add(stack, LabelSetId::default(), None, (0, values));
                }
            }
            let (together, one_by_one) = (together.finish(), one_by_one.finish());
            assert_eq!((together.stack, together.values), (one_by_one.stack, one_by_one.values));
            assert_eq!((together.labels, together.time), (one_by_one.labels, one_by_one.time));
        }
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
        assert_eq!(rows.finish().values, [[1, 2, 1, 1], [25, 50, 26, 7]]);
    }
}
