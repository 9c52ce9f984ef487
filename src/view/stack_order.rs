//! Sorting rows by sequences of numbers, such as stacks.

/// Sorts rows by their sequences, and those with the same sequence by `rest`. Equal rows keep their order.
///
/// The sequences are stacks that lie scattered in memory, and comparing two of them costs two cache misses. So where they
/// begin to differ, as many numbers as fit are packed into one key, and few comparisons need the sequences themselves.
pub(super) fn sort<'s, R: Copy, K: Ord>(
    rows: &mut Vec<R>,
    sequence: impl Fn(&R) -> &'s [u32],
    rest: impl Fn(&R) -> K,
) {
    let Some((first, others)) = rows.split_first() else { return };
    let first = sequence(first);
    let shared = others.iter().fold(first.len(), |shared, row| {
        first[..shared].iter().zip(sequence(row)).take_while(|(one, other)| one == other).count()
    });
    let largest = rows.iter().flat_map(|row| &sequence(row)[shared..]).copied().max().unwrap_or(0);
    // 0 stands for the end of a sequence.
    let width = u64::BITS - (u64::from(largest) + 1).leading_zeros();
    let packed = (u128::BITS / width) as usize;
    let key = |row: &R| {
        let numbers = &sequence(row)[shared..];
        let number = |at| numbers.get(at).map_or(0, |&number| u128::from(number) + 1);
        (0..packed).fold(0, |key, at| key << width | number(at))
    };
    let mut order: Vec<(u128, usize)> = rows.iter().map(key).zip(0..).collect();
    let tail = |row: &R| sequence(row).get(shared + packed..).unwrap_or_default();
    order.sort_unstable_by(|(one, a), (other, b)| {
        one.cmp(other).then_with(|| {
            let (one, other) = (&rows[*a], &rows[*b]);
            tail(one).cmp(tail(other)).then_with(|| rest(one).cmp(&rest(other))).then(a.cmp(b))
        })
    });
    *rows = order.into_iter().map(|(_, row)| rows[row]).collect();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_sorted_by_sequence_then_by_the_rest(
            shared in proptest::collection::vec(0..5u32, 0..3),
            rows in proptest::collection::vec((proptest::collection::vec(0..3u32, 0..90), 0..2u8), 0..40),
            wide in any::<bool>(),
        ) {
            let number = |number: &u32| if wide { u32::MAX - number } else { *number };
            let sequences: Vec<Vec<u32>> =
                rows.iter().map(|(own, _)| shared.iter().chain(own).map(number).collect()).collect();
            let rest = |&row: &usize| rows[row].1;
            let mut expected: Vec<usize> = (0..rows.len()).collect();
            expected.sort_by_key(|row| (&sequences[*row], rest(row)));
            let mut sorted: Vec<usize> = (0..rows.len()).collect();
            sort(&mut sorted, |&row| &sequences[row][..], rest);
            prop_assert_eq!(sorted, expected);
        }
    }
}
