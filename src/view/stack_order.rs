//! Sorting rows by sequences of numbers, such as stacks.

use crate::parallel;

/// What rows are sorted by.
pub(super) trait Sequences: Sync {
    /// What the sequences hold.
    type Item: Copy;
    /// What orders rows with the same sequence.
    type Rest: Ord;

    /// The sequence of a row.
    fn sequence(&self, row: u32) -> &[Self::Item];

    /// The number that stands for an item, at most [`Sequences::largest`].
    fn number(&self, item: Self::Item) -> u32;

    /// A number that no other exceeds.
    fn largest(&self) -> u32;

    /// What orders a row among those with the same sequence.
    fn rest(&self, row: u32) -> Self::Rest;
}

/// Rows in order. The lower half of an entry is the row, and its next bit says whether the row differs from the one before it.
pub(super) struct SortedRows(Vec<u128>);

/// A row in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortedRow {
    /// Its number.
    pub(super) row: u32,
    /// Whether its sequence or its rest differs from that of the row before it.
    pub(super) is_new: bool,
}

impl SortedRows {
    /// All rows, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = SortedRow> {
        self.0.iter().map(|&entry| SortedRow { row: row_of(entry), is_new: key_of(entry) == IS_NEW })
    }
}

/// Fewer rows are not worth another thread.
const LEAST: usize = 20_000;

/// The key of a sorted row that differs from the one before it; all others have the key 0.
const IS_NEW: u128 = 1;

/// The bits of an entry that hold its row; the others hold its key.
const ROW_BITS: u32 = u32::BITS;

fn row_of(entry: u128) -> u32 {
    entry as u32
}

fn key_of(entry: u128) -> u128 {
    entry >> ROW_BITS
}

/// Sorts rows by their sequences, and those with the same sequence by what else orders them.
///
/// The sequences are stacks that lie scattered in memory, and comparing two of them costs two cache misses. So as many numbers as
/// fit are packed into one key, and rows with equal keys are sorted again by the numbers that follow.
pub(super) fn sort(rows: u32, by: &impl Sequences) -> SortedRows {
    let sorter = Sorter::new(rows, by);
    let mut entries = vec![0; rows as usize];
    parallel::slices(
        &mut entries,
        LEAST,
        |_, _| false,
        |start, entries| {
            for (entry, row) in entries.iter_mut().zip(start as u32..) {
                *entry = sorter.entry(row, sorter.shared);
            }
        },
    );
    parallel::sort(&mut entries, LEAST);
    let equal = |&one: &u128, &other: &u128| key_of(one) == key_of(other);
    parallel::slices(&mut entries, LEAST, equal, |_, entries| sorter.finish(entries));
    SortedRows(entries)
}

struct Sorter<'s, S> {
    by: &'s S,
    /// The bits of a number. 0 stands for the end of a sequence.
    width: u32,
    /// How many numbers a key has.
    numbers: usize,
    /// How many numbers all sequences begin with alike.
    shared: usize,
}

impl<'s, S: Sequences> Sorter<'s, S> {
    fn new(rows: u32, by: &'s S) -> Self {
        let width = u64::BITS - (u64::from(by.largest()) + 1).leading_zeros();
        let numbers = ((u128::BITS - ROW_BITS) / width) as usize;
        Sorter { by, width, numbers, shared: shared(rows, by) }
    }

    /// A row with the numbers from a place in its sequence on.
    fn entry(&self, row: u32, from: usize) -> u128 {
        let items = self.by.sequence(row).get(from..).unwrap_or_default();
        let number = |at| items.get(at).map_or(0, |&item| u128::from(self.by.number(item)) + 1);
        let key = (0..self.numbers).fold(0, |key, at| key << self.width | number(at));
        key << ROW_BITS | u128::from(row)
    }

    /// Sorts entries, which are sorted by their first keys, by what follows these.
    fn finish(&self, entries: &mut [u128]) {
        // Sequences may be long, so this does not recurse.
        let mut unfinished = vec![(0..entries.len(), self.shared)];
        while let Some((range, from)) = unfinished.pop() {
            let (mut start, next) = (range.start, from + self.numbers);
            for equal in entries[range].chunk_by_mut(|&one, &other| key_of(one) == key_of(other)) {
                let own = start..start + equal.len();
                start = own.end;
                if self.have_one_sequence(equal) {
                    self.sort_by_rest(equal);
                } else {
                    for entry in &mut *equal {
                        *entry = self.entry(row_of(*entry), next);
                    }
                    equal.sort_unstable();
                    unfinished.push((own, next));
                }
            }
        }
    }

    /// Whether entries with equal keys have nothing after these that may differ.
    fn have_one_sequence(&self, equal: &[u128]) -> bool {
        let [first, others @ ..] = equal else { return true };
        let sequence = self.by.sequence(row_of(*first));
        let ends = key_of(*first) & ((1 << self.width) - 1) == 0;
        ends || others.iter().all(|&other| std::ptr::eq(self.by.sequence(row_of(other)), sequence))
    }

    /// Sorts entries with the same sequence, and marks those that differ.
    fn sort_by_rest(&self, entries: &mut [u128]) {
        entries.sort_unstable_by_key(|&entry| (self.by.rest(row_of(entry)), row_of(entry)));
        let mut before = None;
        for entry in entries {
            let rest = self.by.rest(row_of(*entry));
            let key = if before.as_ref() == Some(&rest) { 0 } else { IS_NEW };
            *entry = key << ROW_BITS | u128::from(row_of(*entry));
            before = Some(rest);
        }
    }
}

/// How many numbers the sequences of all rows begin with alike.
fn shared<S: Sequences>(rows: u32, by: &S) -> usize {
    if rows == 0 {
        return 0;
    }
    let first = by.sequence(0);
    let same = |&(&one, &other): &(&S::Item, &S::Item)| by.number(one) == by.number(other);
    (1..rows).fold(first.len(), |shared, row| {
        first[..shared].iter().zip(by.sequence(row)).take_while(same).count()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sequences of numbers that are stored reversed, and what else orders them.
    struct Reversed {
        rows: Vec<(Vec<u32>, u8)>,
        largest: u32,
    }

    impl Sequences for Reversed {
        type Item = u32;
        type Rest = u8;

        fn sequence(&self, row: u32) -> &[u32] {
            &self.rows[row as usize].0
        }

        fn number(&self, item: u32) -> u32 {
            self.largest - item
        }

        fn largest(&self) -> u32 {
            self.largest
        }

        fn rest(&self, row: u32) -> u8 {
            self.rows[row as usize].1
        }
    }

    fn check(rows: Vec<(Vec<u32>, u8)>, largest: u32) {
        let by = Reversed { rows, largest };
        let key = |row: u32| {
            let numbers: Vec<u32> = by.sequence(row).iter().map(|&item| by.number(item)).collect();
            (numbers, by.rest(row))
        };
        let mut expected: Vec<u32> = (0..by.rows.len() as u32).collect();
        expected.sort_by_key(|&row| key(row));
        let sorted: Vec<SortedRow> = sort(by.rows.len() as u32, &by).iter().collect();
        assert_eq!(sorted.iter().map(|sorted| sorted.row).collect::<Vec<_>>(), expected);
        for (at, sorted) in sorted.iter().enumerate() {
            assert_eq!(
                sorted.is_new,
                at == 0 || key(expected[at - 1]) != key(sorted.row),
                "row {}",
                sorted.row
            );
        }
    }

    proptest! {
        #[test]
        fn rows_are_sorted_by_sequence_then_by_the_rest(
            shared in proptest::collection::vec(0..5u32, 0..3),
            rows in proptest::collection::vec((proptest::collection::vec(0..3u32, 0..90), 0..2u8), 0..40),
            largest in prop_oneof![Just(5), Just(u32::MAX)],
        ) {
            check(rows.into_iter().map(|(own, rest)| ([&shared[..], &own].concat(), rest)).collect(), largest);
        }
    }

    #[test]
    fn many_rows_are_sorted_by_several_threads() {
        // Half of the rows have one long sequence, so that no thread may cut them.
        let row = |number: u32| match number % 4 {
            0 | 1 => (vec![3; 40], (number % 5) as u8),
            _ => {
                ((0..number % 37).map(|at| number.wrapping_mul(2_654_435_761) >> (at % 30) & 7).collect(), 0)
            }
        };
        check((0..3 * LEAST as u32).map(row).collect(), 9);
    }
}
