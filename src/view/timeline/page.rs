//! When the samples of a page were taken: its tab Timeline draws them, and counts only those of a range of time.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::kind::is_clock;
use crate::profile::{Lengths, Profile};
use crate::report::{PagePause, PageTimeRow, PageTimes, TimeAxis};
use crate::transform::idle_stacks;
use crate::unit::round_step;
use crate::view::timeline::axis::{bin_at, edge};
use crate::view::timeline::moments::Moments;
use crate::view::timeline::rows::{RowKeys, TimelineRows};

/// Times are kept in at most this many steps: a range of the page begins and ends at a step.
const STEPS: usize = 100_000;

/// At most this many pauses are drawn, the longest.
const PAUSES: usize = 10_000;

/// Threads beyond these share a row.
const ROWS: usize = 200;

/// The times of the samples of a page; `None` if they are not known, or are those of several clocks. `stack_of` returns the
/// stack of a sample's values of one sign, if it has such values.
pub(in crate::view) fn page_times(
    profile: &Profile,
    metrics: &[usize],
    stack_of: &dyn Fn(usize, bool) -> Option<u32>,
) -> Option<PageTimes> {
    let moments = Moments::new(profile, &[None, None]).ok().filter(|moments| !moments.leaves_clocks_out)?;
    let keys = RowKeys::new(profile, &TimelineRows::Thread).ok()?;
    let (axis, rank) = (rounded(moments.axis(STEPS)), ranks(profile, metrics[0], &keys));
    let samples = &profile.samples;
    // Row, step, stack and the number of the sample.
    let mut order: Vec<(usize, u32, u32, usize, bool)> = Vec::new();
    for sample in 0..samples.len() {
        let Some(moment) = moments.of(sample) else { continue };
        let row = rank[keys.row(samples, sample)].min(ROWS - 1);
        for negative in [false, true] {
            if let Some(stack) = stack_of(sample, negative) {
                order.push((row, bin_at(&axis, moment) as u32, stack, sample, negative));
            }
        }
    }
    if order.is_empty() {
        return None;
    }
    order.sort_unstable();
    let value = |metric: usize, sample: usize, negative: bool| {
        let value = samples.values[metric][sample];
        if (value < 0) == negative { value } else { 0 }
    };
    let column = |&metric: &usize| {
        order.iter().map(|&(.., sample, negative)| value(metric, sample, negative)).collect()
    };
    let cuts: Vec<bool> = metrics.iter().map(|&metric| moments.lasts(metric)).collect();
    let late = |&(_, step, _, sample, _): &(usize, u32, u32, usize, bool)| {
        let step = edge(&axis, step as usize);
        moments.of(sample).map_or(0, |moment| moment.saturating_sub(step))
    };
    let idle = |&metric: &usize| -> Vec<u32> {
        let Some(idle) = idle_stacks(profile, metric) else { return Vec::new() };
        let is_idle =
            |&&(.., sample, _): &&(usize, u32, u32, usize, bool)| idle.contain(samples.stack[sample]);
        let stacks: BTreeSet<u32> = order.iter().filter(is_idle).map(|&(_, _, stack, ..)| stack).collect();
        stacks.into_iter().collect()
    };
    Some(PageTimes {
        idle: metrics.iter().map(idle).collect(),
        pauses: longest_pauses(&moments),
        late: if cuts.contains(&true) { order.iter().map(late).collect() } else { Vec::new() },
        cuts,
        clocks: metrics.iter().map(|&metric| is_clock(&profile.meta.metrics[metric].name)).collect(),
        step_ns: axis.bin_ns,
        from_ns: axis.from_ns,
        steps: axis.bins as u32,
        rows: rows(&keys, &rank, &order),
        time: order.iter().map(|&(_, step, ..)| step).collect(),
        stack: order.iter().map(|&(_, _, stack, ..)| stack).collect(),
        values: metrics.iter().map(column).collect(),
        lasts: metrics.iter().map(|&metric| lasts(profile, metric)).collect(),
    })
}

/// The longest pauses, in order of time.
fn longest_pauses(moments: &Moments<'_>) -> Vec<PagePause> {
    let mut pauses = moments.pauses();
    pauses.sort_by_key(|&(start, end, _)| Reverse(end.saturating_sub(start)));
    pauses.truncate(PAUSES);
    pauses.sort_unstable();
    let pause = |(start, end, cause): (i64, i64, &str)| PagePause {
        from_ns: start,
        length_ns: end.saturating_sub(start),
        cause: cause.to_string(),
    };
    pauses.into_iter().map(pause).collect()
}

/// The same range with steps of 1, 2 or 5 and zeros, counted from a whole step, so that ranges can end at round times.
fn rounded(axis: TimeAxis) -> TimeAxis {
    let bin_ns = round_step(|step| step >= axis.bin_ns);
    let from_ns = axis.from_ns - axis.from_ns.rem_euclid(bin_ns);
    let length = axis.to_ns.saturating_sub(from_ns).max(1).unsigned_abs();
    TimeAxis { from_ns, bin_ns, bins: length.div_ceil(bin_ns.unsigned_abs()) as usize, ..axis }
}

/// The place of each row in the order of their values, the largest first.
fn ranks(profile: &Profile, metric: usize, keys: &RowKeys) -> Vec<usize> {
    let samples = &profile.samples;
    let mut totals = vec![0_u64; keys.names.len()];
    for (sample, value) in samples.values[metric].iter().enumerate() {
        let total = &mut totals[keys.row(samples, sample)];
        *total = total.saturating_add(value.unsigned_abs());
    }
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by_key(|&row| (Reverse(totals[row]), &keys.names[row]));
    let mut rank = vec![0; totals.len()];
    for (place, row) in order.into_iter().enumerate() {
        rank[row] = place;
    }
    rank
}

/// The rows that have samples, with the number of these.
fn rows(keys: &RowKeys, rank: &[usize], order: &[(usize, u32, u32, usize, bool)]) -> Vec<PageTimeRow> {
    let mut names = vec!["".into(); rank.len()];
    for (row, name) in keys.names.iter().enumerate() {
        names[rank[row]] = name.clone();
    }
    if names.len() > ROWS {
        names[ROWS - 1] = format!("{} more threads", names.len() - ROWS + 1).into();
    }
    let chunks = order.chunk_by(|a, b| a.0 == b.0);
    chunks.map(|chunk| PageTimeRow { name: names[chunk[0].0].clone(), samples: chunk.len() as u32 }).collect()
}

/// How many nanoseconds a value of 1 lasts; 0 if the values are no times.
fn lasts(profile: &Profile, metric: usize) -> f64 {
    const MANY: i64 = 1_000_000;
    Lengths::of(&profile.meta.metrics[metric])
        .map_or(0.0, |lengths| lengths.length(MANY) as f64 / MANY as f64)
}

#[cfg(test)]
mod tests {
    use super::rounded;
    use crate::profile::from_notation;
    use crate::report::TimeAxis;
    use crate::view::{PageOptions, Scope, page};

    #[test]
    fn samples_are_sorted_by_thread_and_time() {
        let profile = from_notation(
            "main;b 5 {thread=w} @30\nmain;a 1 {thread=m} @20\nmain;b 2 {thread=w} @10\nmain;a 1 {thread=m} @40",
        );
        let page =
            page(&profile, &PageOptions { scope: Scope::metric(0), times: true, ..PageOptions::default() });
        let times = page.times.unwrap();
        let rows: Vec<(&str, u32)> = times.rows.iter().map(|row| (&*row.name, row.samples)).collect();
        assert_eq!(rows, [("w", 2), ("m", 2)]);
        // Times are counted from the first sample.
        assert_eq!((times.step_ns, times.from_ns, times.steps), (1, 0, 31));
        assert_eq!(times.time, [0, 20, 10, 30]);
        assert_eq!(times.values, [vec![2, 5, 1, 1]]);
        // The stacks of the page are sorted: `main;a` comes before `main;b`.
        assert_eq!(times.stack, [1, 1, 0, 0]);
    }

    #[test]
    fn steps_are_round() {
        for (bin_ns, want) in [(1, 1), (3, 5), (6, 10), (11, 20), (37_000, 50_000), (99_000, 100_000)] {
            let axis = TimeAxis { from_ns: 7 * bin_ns, to_ns: 1_000_000_000, bin_ns, bins: 0 };
            let found = rounded(axis);
            assert_eq!(found.bin_ns, want);
            assert!(found.from_ns % want == 0 && found.from_ns <= axis.from_ns);
            assert!(found.from_ns + found.bins as i64 * want >= axis.to_ns);
        }
    }

    #[test]
    fn values_of_both_signs_keep_their_stacks() {
        let profile = from_notation("a 5 @10\na -2 @20\na 1 @20");
        let page =
            page(&profile, &PageOptions { scope: Scope::metric(0), times: true, ..PageOptions::default() });
        let times = page.times.unwrap();
        for (metric, column) in page.values.iter().enumerate() {
            let mut sums = vec![0; column.len()];
            for (stack, value) in times.stack.iter().zip(&times.values[metric]) {
                sums[*stack as usize] += value;
            }
            assert_eq!(&sums, column);
        }
    }

    #[test]
    fn samples_without_times_have_no_timeline() {
        let profile = from_notation("a 5");
        let page =
            page(&profile, &PageOptions { scope: Scope::metric(0), times: true, ..PageOptions::default() });
        assert!(page.times.is_none());
    }
}
