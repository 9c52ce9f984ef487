//! Splitting work on ranges of rows among threads.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

/// Splits `0..count` into ranges of at least `least` rows, at most one per processor, runs `work` on each range
/// in its own thread, and returns the results in the order of the ranges.
///
/// ```
/// let sums = prof::parallel::ranges(100, 10, |range| range.sum::<usize>());
/// assert_eq!(sums.into_iter().sum::<usize>(), 4950);
/// ```
pub fn ranges<T: Send>(count: usize, least: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let parts = processors().min(count / least.max(1)).max(1);
    each((0..parts).map(|part| count * part / parts..count * (part + 1) / parts).collect(), work)
}

/// Runs the work of each item in its own thread (the last one on the current thread), and returns the
/// results in order.
pub fn each<I: Send, T: Send>(mut items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let Some(last) = items.pop() else { return Vec::new() };
    let work = &work;
    thread::scope(|scope| {
        let others: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        let last = work(last);
        let join = |thread: thread::ScopedJoinHandle<'_, T>| match thread.join() {
            Ok(made) => made,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let mut made: Vec<T> = others.into_iter().map(join).collect();
        made.push(last);
        made
    })
}

/// Splits a list of weighted items into one run per processor, of about equal weight.
pub fn balanced(weights: &[u64]) -> Vec<Range<usize>> {
    let parts = processors() as u128;
    let whole: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (mut runs, mut start, mut sum) = (Vec::new(), 0, 0);
    for (item, &weight) in weights.iter().enumerate() {
        sum += u128::from(weight);
        let cuts = runs.len() as u128 + 1;
        if sum * parts >= whole * cuts && cuts < parts {
            runs.push(start..item + 1);
            start = item + 1;
        }
    }
    runs.push(start..weights.len());
    runs.retain(|run| !run.is_empty());
    runs
}

/// How many threads can run at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_rows_in_order() {
        for count in [0, 1, 7, 1000] {
            let rows: Vec<usize> = ranges(count, 3, Iterator::collect::<Vec<usize>>).concat();
            assert_eq!(rows, (0..count).collect::<Vec<usize>>());
        }
        assert_eq!(each(vec![2..4, 0..1], |range| range.len()), [2, 1]);
    }

    #[test]
    fn runs_cover_all_items() {
        for weights in [&[][..], &[0, 0, 0], &[9], &[1, 1, 1, 1, 100], &[100, 1, 1, 1]] {
            let items: Vec<usize> = balanced(weights).into_iter().flatten().collect();
            assert_eq!(items, (0..weights.len()).collect::<Vec<usize>>());
        }
    }
}
