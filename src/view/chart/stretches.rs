//! When each thread had which stack.
//!
//! Spans and waits say so themselves. A sample stands for the time until the next sample of its thread, if that is at most three sampling
//! intervals away, and otherwise for one interval. Where filters have removed samples, one and a half takes the place of three:
//! two samples of a function may have had one of another function in between.

use crate::kind::is_clock;
use crate::profile::{Profile, StackId};
use crate::transform::{quantile, sampling_interval};
use crate::view::timeline::moments::Moments;
use crate::view::timeline::rows::RowKeys;

/// A stretch of time in which the stack of a thread was the same. Times are nanoseconds from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) stack: StackId,
}

/// A thread.
#[derive(Default)]
pub(super) struct ThreadStretches {
    /// In order of time; they do not overlap.
    pub(super) stretches: Vec<Stretch>,
    /// The number of samples with a value.
    pub(super) samples: usize,
    /// Σ |value| of its samples.
    pub(super) total: i64,
}

/// A sample of a thread.
struct Moment {
    at: i64,
    length: i64,
    /// `None` if the thread was not running.
    stack: Option<StackId>,
}

/// The stretches of all threads, by the number of their row.
pub(super) fn stretches(
    profile: &Profile,
    metric: usize,
    moments: &Moments<'_>,
    rows: &RowKeys,
    is_filtered: bool,
) -> Vec<ThreadStretches> {
    let samples = &profile.samples;
    let clocks: Vec<usize> = (0..profile.meta.metrics.len())
        .filter(|&other| other != metric && is_clock(&profile.meta.metrics[other].name))
        .collect();
    let mut threads: Vec<ThreadStretches> = Vec::new();
    threads.resize_with(rows.names.len(), ThreadStretches::default);
    let mut of_thread: Vec<Vec<Moment>> = Vec::new();
    of_thread.resize_with(rows.names.len(), Vec::new);
    for sample in 0..samples.len() {
        let Some(at) = moments.of(sample) else { continue };
        let (value, row) = (samples.values[metric][sample], rows.row(samples, sample));
        // A sample without CPU time says that the thread was waiting; an allocation says nothing of the kind.
        let is_sampled = value != 0 || clocks.iter().any(|&clock| samples.values[clock][sample] != 0);
        if !is_sampled {
            continue;
        }
        let thread = &mut threads[row];
        thread.samples += usize::from(value != 0);
        thread.total = thread.total.saturating_add(value.saturating_abs());
        let length = moments.length(sample, metric);
        of_thread[row].push(Moment { at, length, stack: (value != 0).then_some(samples.stack[sample]) });
    }
    for moments in &mut of_thread {
        moments.sort_by_key(|moment| moment.at);
    }
    let usual = (!moments.lasts(metric)).then(|| interval(of_thread.iter().map(Vec::as_slice)));
    for (thread, moments) in threads.iter_mut().zip(&of_thread) {
        let interval =
            usual.map(|usual| if moments.len() > FEW { interval([&moments[..]].into_iter()) } else { usual });
        thread.stretches = of_moments(moments, interval, is_filtered);
    }
    threads
}

/// A thread with fewer samples has the sampling interval of all threads.
const FEW: usize = 8;

/// The sampling interval of some threads; at least 1.
fn interval<'m>(threads: impl Iterator<Item = &'m [Moment]>) -> i64 {
    let (mut gaps, mut lengths) = (Vec::new(), Vec::new());
    for moments in threads {
        gaps.extend(moments.windows(2).map(|pair| pair[1].at - pair[0].at).filter(|&gap| gap > 0));
        lengths.extend(moments.iter().map(|moment| moment.length).filter(|&length| length > 0));
    }
    sampling_interval(gaps, quantile(lengths, 2)).unwrap_or(1).max(1)
}

/// The stretches of a thread whose samples are taken at an interval, or those of spans.
fn of_moments(moments: &[Moment], interval: Option<i64>, is_filtered: bool) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for (number, moment) in moments.iter().enumerate() {
        let next = moments.get(number + 1).map(|next| next.at);
        let to = match (interval, next) {
            (None, next) => moment.at.saturating_add(moment.length).min(next.unwrap_or(i64::MAX)),
            (Some(interval), Some(next)) if next - moment.at <= longest_gap(interval, is_filtered) => next,
            (Some(interval), _) => moment.at.saturating_add(interval),
        };
        // Of samples at the same time, the last one counts.
        if let Some(stack) = moment.stack.filter(|_| to > moment.at) {
            stretches.push(Stretch { from: moment.at, to, stack });
        }
    }
    stretches
}

/// The longest time between two samples of a thread that keeps running.
fn longest_gap(interval: i64, is_filtered: bool) -> i64 {
    if is_filtered { interval.saturating_add(interval / 2) } else { interval.saturating_mul(3) }
}
