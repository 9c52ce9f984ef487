//! Splitting work among threads, and stopping it.

mod stop;
mod worker;

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

pub use stop::{Stop, checkpoint};
pub(crate) use worker::Worker;

use crate::parallel::stop::{stop_of_thread, stoppable};

/// Splits `0..count` into ranges of at least `least` rows, at most one per processor, runs `work` on each range
/// in its own thread, and returns the results in the order of the ranges.
///
/// ```
/// let sums = prof::parallel::ranges(100, 10, |range| range.sum::<usize>());
/// assert_eq!(sums.into_iter().sum::<usize>(), 4950);
/// ```
pub fn ranges<T: Send>(count: usize, least: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    each(parts(count, least), work)
}

/// The ranges that [`ranges`] makes.
pub fn parts(count: usize, least: usize) -> Vec<Range<usize>> {
    let parts = processors().min(count / least.max(1)).max(1);
    (0..parts).map(|part| count * part / parts..count * (part + 1) / parts).collect()
}

/// Splits a list into slices as [`ranges`] does, but not between neighbours that belong `together`, and runs `work` on each in its
/// own thread, with the place where it starts.
pub fn slices<T: Send>(
    mut list: &mut [T],
    least: usize,
    together: impl Fn(&T, &T) -> bool,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let (mut slices, mut start) = (Vec::new(), 0);
    for range in parts(list.len(), least) {
        let mut length = range.end.saturating_sub(start);
        while (1..list.len()).contains(&length) && together(&list[length - 1], &list[length]) {
            length += 1;
        }
        slices.push((start, list.split_off_mut(..length).unwrap_or_default()));
        start += length;
    }
    each(slices, |(start, slice)| work(start, slice));
}

/// Sorts a list on all processors; parts of fewer than `least` items are sorted by one. Equal items may change places.
pub fn sort<T: Ord + Send>(list: &mut [T], least: usize) {
    if processors() == 1 || list.len() < 2 * least.max(1) {
        list.sort_unstable();
        return;
    }
    let (low, _, high) = list.select_nth_unstable(list.len() / 2);
    both(|| sort(low, least), || sort(high, least));
}

/// Runs the work of each item in its own thread (the last one on the current thread), and returns the
/// results in order.
pub fn each<I: Send, T: Send>(mut items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let Some(last) = items.pop() else { return Vec::new() };
    let work = &work;
    let share = (processors() / (items.len() + 1)).max(1);
    let stop = stop_of_thread();
    thread::scope(|scope| {
        let spawn = |item| {
            let stop = stop.clone();
            scope.spawn(move || stoppable(stop, || within(share, || work(item))))
        };
        let others: Vec<_> = items.into_iter().map(spawn).collect();
        let last = within(share, || work(last));
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

/// Does two things at once, or one after the other if there is only one processor.
pub fn both<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
    if processors() == 1 {
        return (one(), other());
    }
    let share = processors() / 2;
    let stop = stop_of_thread();
    thread::scope(|scope| {
        let one = scope.spawn(move || stoppable(stop, || within(share, one)));
        let other = within(share, other);
        match one.join() {
            Ok(one) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Takes items one after the other, and prepares each on another thread while the one before it is taken. Stops at the
/// first error.
pub fn ahead<I: Sync, P: Send, E: Send>(
    items: &[I],
    prepare: impl Fn(&I) -> P + Sync,
    mut take: impl FnMut(&I, P) -> Result<(), E> + Send,
) -> Result<(), E> {
    if processors() == 1 {
        return items.iter().try_for_each(|item| take(item, prepare(item)));
    }
    let mut next = items.first().map(&prepare);
    for (number, item) in items.iter().enumerate() {
        let Some(prepared) = next else { break };
        let following = items.get(number + 1);
        let taken;
        (next, taken) = both(|| following.map(&prepare), || take(item, prepared));
        taken?;
    }
    Ok(())
}

/// Takes items on another thread while the next ones are made, in order; at most two are made ahead. `make` hands on its items
/// one after the other, and should end once that returns false: an item could not be taken, and its error is returned.
pub fn relay<I: Send, E: Send>(
    make: impl FnOnce(&mut dyn FnMut(I) -> bool) -> Result<(), E>,
    mut take: impl FnMut(I) -> Result<(), E> + Send,
) -> Result<(), E> {
    if processors() == 1 {
        let mut taken = Ok(());
        let made = make(&mut |item| {
            taken = take(item);
            taken.is_ok()
        });
        return taken.and(made);
    }
    let stop = stop_of_thread();
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        let taker = scope.spawn(move || stoppable(stop, || receiver.into_iter().try_for_each(&mut take)));
        let made = make(&mut |item| sender.send(item).is_ok());
        drop(sender);
        match taker.join() {
            Ok(taken) => taken.and(made),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Takes batches in order, each on another thread while the next one is made. `make` fills a batch and says whether there are
/// more; what it has filled before an error is taken, too. The first batch is taken on the current thread: little work is not worth
/// another one.
pub fn batches<B: Default + Send, E: Send>(
    mut make: impl FnMut(&mut B) -> Result<bool, E>,
    mut take: impl FnMut(B) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut first = B::default();
    let has_more = make(&mut first);
    take(first)?;
    if !has_more? {
        return Ok(());
    }
    let make_others = |hand_on: &mut dyn FnMut(B) -> bool| {
        loop {
            let mut batch = B::default();
            let has_more = make(&mut batch);
            if !hand_on(batch) || !has_more? {
                return Ok(());
            }
        }
    };
    relay(make_others, take)
}

/// The number of threads that the process may use at most; 0 for one per processor.
static MOST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of processors that the current thread may use; 0 for all.
    static SHARE: Cell<usize> = const { Cell::new(0) };
}

/// Limits how many threads work at once in this process.
pub fn limit(threads: NonZero<usize>) {
    MOST.store(threads.get(), Ordering::Relaxed);
}

/// Does something with so many processors, which is what [`processors`] returns meanwhile.
pub(crate) fn within<T>(share: usize, work: impl FnOnce() -> T) -> T {
    let before = SHARE.replace(share);
    let made = work();
    SHARE.set(before);
    made
}

/// How many threads the current thread may run at once, itself included. Where several threads share the work, they share
/// the processors as well.
pub fn processors() -> usize {
    /// Asking the system takes a tenth of a millisecond, because a container may have fewer than the machine.
    static ALL: OnceLock<usize> = OnceLock::new();
    match (SHARE.get(), MOST.load(Ordering::Relaxed)) {
        (0, 0) => *ALL.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get)),
        (0, most) => most,
        (share, _) => share,
    }
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
    fn slices_keep_together_what_belongs_together() {
        let tens = |one: &usize, other: &usize| one / 10 == other / 10;
        for (count, processors) in [(0, 2), (1, 2), (95, 1), (95, 2), (95, 7), (9, 7)] {
            let mut list: Vec<usize> = (0..count).collect();
            let seen = std::sync::Mutex::new(Vec::new());
            within(processors, || {
                slices(&mut list, 1, tens, |start, slice| {
                    assert!(slice.first().is_none_or(|first| *first == start && first % 10 == 0));
                    seen.lock().unwrap().extend_from_slice(slice);
                });
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, list);
        }
    }

    #[test]
    fn lists_are_sorted_on_any_number_of_processors() {
        let list: Vec<usize> = (0..1000).map(|number| number * 7_919 % 257).collect();
        let mut expected = list.clone();
        expected.sort_unstable();
        for processors in [1, 2, 5] {
            let mut sorted = list.clone();
            within(processors, || sort(&mut sorted, 10));
            assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn threads_share_the_processors() {
        within(4, || {
            assert_eq!(both(processors, processors), (2, 2));
            assert_eq!(each(vec![(), (), ()], |()| processors()), [1, 1, 1]);
            assert_eq!(both(|| both(processors, processors), || 0).0, (1, 1));
            assert_eq!(processors(), 4);
        });
        // On one processor, one after the other.
        let order = std::sync::Mutex::new(Vec::new());
        let add = |number| order.lock().unwrap().push(number);
        within(1, || both(|| add(1), || add(2)));
        assert_eq!(*order.lock().unwrap(), [1, 2]);
    }

    #[test]
    fn items_are_prepared_ahead_and_taken_in_order() {
        for processors in [1, 2] {
            let mut taken = Vec::new();
            let result = within(processors, || {
                ahead(
                    &[1, 2, 3, 4],
                    |item| item * 10,
                    |&item, prepared| {
                        taken.push((item, prepared));
                        if item == 3 { Err("three") } else { Ok(()) }
                    },
                )
            });
            assert_eq!((result, taken), (Err("three"), vec![(1, 10), (2, 20), (3, 30)]));
        }
        assert_eq!(ahead(&[], |()| (), |(), ()| Err(())), Ok(()));
    }

    #[test]
    fn items_are_relayed_in_order_until_an_error() {
        let relayed = |made: usize, fails_at: usize, ends: Result<(), &'static str>| {
            let (mut handed_on, mut taken) = (0, Vec::new());
            let result = relay(
                |hand_on| {
                    handed_on = (0..made).take_while(|&item| hand_on(item)).count();
                    ends
                },
                |item| {
                    taken.push(item);
                    if item == fails_at { Err("taking") } else { Ok(()) }
                },
            );
            // One item may wait to be taken.
            assert!(handed_on <= taken.len() + 1);
            (result, taken)
        };
        for processors in [1, 2] {
            within(processors, || {
                assert_eq!(relayed(4, 9, Ok(())), (Ok(()), vec![0, 1, 2, 3]));
                assert_eq!(relayed(9, 2, Ok(())), (Err("taking"), vec![0, 1, 2]));
                assert_eq!(relayed(2, 9, Err("making")), (Err("making"), vec![0, 1]));
            });
        }
    }

    #[test]
    fn batches_are_taken_in_order_until_an_error() {
        let batched = |count: usize, fails_at: usize, ends: Result<bool, &'static str>| {
            let (mut made, mut taken) = (0, Vec::new());
            let make = |batch: &mut Vec<usize>| {
                batch.push(made);
                made += 1;
                if made < count { Ok(true) } else { ends }
            };
            let take = |batch: Vec<usize>| {
                taken.extend(batch);
                if taken.contains(&fails_at) { Err("taking") } else { Ok(()) }
            };
            (batches(make, take), taken)
        };
        for processors in [1, 2] {
            within(processors, || {
                assert_eq!(batched(1, 9, Ok(false)), (Ok(()), vec![0]));
                assert_eq!(batched(4, 9, Ok(false)), (Ok(()), vec![0, 1, 2, 3]));
                assert_eq!(batched(4, 0, Ok(false)), (Err("taking"), vec![0]));
                assert_eq!(batched(4, 2, Ok(false)), (Err("taking"), vec![0, 1, 2]));
                assert_eq!(batched(1, 9, Err("making")), (Err("making"), vec![0]));
                assert_eq!(batched(3, 9, Err("making")), (Err("making"), vec![0, 1, 2]));
                assert_eq!(batched(3, 2, Err("making")), (Err("taking"), vec![0, 1, 2]));
            });
        }
    }

    #[test]
    fn runs_cover_all_items() {
        for weights in [&[][..], &[0, 0, 0], &[9], &[1, 1, 1, 1, 100], &[100, 1, 1, 1]] {
            let items: Vec<usize> = balanced(weights).into_iter().flatten().collect();
            assert_eq!(items, (0..weights.len()).collect::<Vec<usize>>());
        }
    }
}
