//! `--latency`: what the program waits for to end, rather than what uses its processors.
//!
//! A sample counts 1 ÷ n if n threads were running when it was taken. If `foo` runs for 9 s on one thread, and then `bar` for 1 s
//! on each of 128 threads, `bar` has 93.4% of the CPU time, but making it twice as fast saves 0.5 of 10 s: by latency, `foo` has
//! 90% and `bar` 10%.
//!
//! Samples do not say how long a thread ran, so a thread counts as running at a moment if it has a sample in the window of one
//! sampling interval around this moment. A thread that is sampled regularly has exactly one sample in each such window.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::kind;
use crate::profile::{Column, LabelSetId, LabelValue, Lengths, LoadOptions, Profile, RowTable, Samples};
use crate::transform::idle::idle_stacks;
use crate::transform::interval::{quantile, sampling_interval};
use crate::transform::labels::THREAD_KEYS;
use crate::unit::{Family, Unit, group_thousands, plural};

/// Why samples cannot be weighed by the number of running threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatencyError {
    /// Samples have no times.
    #[error("the profile does not say when its samples were taken")]
    NoTimes,
    /// Samples have no threads.
    #[error("the profile does not say on which threads its samples were taken")]
    NoThreads,
    /// Values are those of spans or calls.
    #[error("the profile records spans or calls, and a thread in a span may be waiting")]
    NoSamples,
}

/// The thread with this number is that of an idle processor in recordings of perf.
const IDLE_THREAD: &str = "0";

/// Divides the value of each sample by the number of threads that were running when it was taken. The sum of the values is exact:
/// it is that of the fractions, rounded once. Values that are neither nanoseconds nor bytes get three decimals (`divisor`).
///
/// The profile must have been loaded with times and labels; only what `keep` asks for remains of these.
///
/// ```
/// use prof::profile::{LoadOptions, from_notation, to_notation};
/// use prof::transform::by_latency;
///
/// let two = "main 1 {tid=1} @0\nmain 1 {tid=1} @10\nmain;a 1 {tid=1} @20\nmain;b 1 {tid=2} @20";
/// let profile = by_latency(&from_notation(two), &LoadOptions::default())?;
/// assert_eq!(to_notation(&profile), "main 2000\nmain;a 500\nmain;b 500");
/// # Ok::<(), prof::transform::LatencyError>(())
/// ```
pub fn by_latency(profile: &Profile, keep: &LoadOptions) -> Result<Profile, LatencyError> {
    if profile.calls.is_some() || profile.meta.holds_spans {
        return Err(LatencyError::NoSamples);
    }
    if profile.samples.time.is_none() && !profile.samples.is_empty() {
        return Err(LatencyError::NoTimes);
    }
    let threads = Threads::of(profile).ok_or(LatencyError::NoThreads)?;
    let running = Running::of(profile, &threads);
    let parallel = running.at_samples(profile, &threads);
    let mut weighed = profile.clone();
    let mut values = Vec::with_capacity(profile.samples.values.len());
    for (metric, column) in weighed.meta.metrics.iter_mut().zip(&profile.samples.values) {
        if metric.too_large {
            values.push(column.clone());
            continue;
        }
        let scale = scale_of(&metric.unit, metric.total);
        metric.divisor *= scale;
        let column = divided(column, &parallel, scale);
        metric.total = column.iter().map(|value| value.abs()).sum();
        values.push(column);
    }
    weighed.samples = kept(profile, &values, keep);
    let meta = &mut weighed.meta;
    meta.is_latency = true;
    // Samples no longer have the same weight.
    meta.period = None;
    if !keep.times {
        meta.sample_times = None;
    }
    meta.notes
        .push("values are latency: each sample counts 1 ÷ the number of threads that were running".into());
    meta.warnings.extend(note_of_untimed(profile));
    Ok(weighed)
}

/// What is said of samples for which it is not known how many threads were running.
fn note_of_untimed(profile: &Profile) -> Option<String> {
    let count = (profile.samples.len() - profile.samples.known_times().count()) as u64;
    let text = plural(count, "sample without a time counts", "samples without a time count");
    (count > 0).then(|| format!("{} {text} in full", group_thousands(count.into())))
}

/// The thread of each set of labels.
struct Threads {
    of_set: Column<LabelSetId, u32>,
    count: usize,
    /// The thread that stands for idle processors, if there is one.
    idle: Option<u32>,
}

impl Threads {
    /// `None` if no sample has a thread.
    fn of(profile: &Profile) -> Option<Self> {
        let strings = &profile.symbols.strings;
        let mut numbers: HashMap<[Option<LabelValue>; 3], u32> = HashMap::new();
        let mut idle = None;
        let of_set: Column<LabelSetId, u32> = profile
            .label_sets
            .ids()
            .map(|set| {
                let labels @ [_, tid, _] = THREAD_KEYS.map(|key| profile.label(set, key));
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry(labels).or_insert(next);
                if tid.is_some_and(|tid| match tid {
                    LabelValue::Text(text) => strings.get(text) == IDLE_THREAD,
                    LabelValue::Number(number, _) => number == 0,
                }) {
                    idle = Some(number);
                }
                number
            })
            .collect();
        let is_known = numbers.keys().any(|[thread, tid, _]| thread.is_some() || tid.is_some());
        is_known.then(|| Threads { of_set, count: numbers.len(), idle })
    }
}

/// When threads were running.
struct Running {
    /// The samples of running threads in order of time: when, and on which thread.
    samples: Vec<(i64, u32)>,
    /// The time between two samples of a thread that keeps running.
    interval: i64,
}

impl Running {
    /// If the recording has CPU time, only samples with CPU time are taken on running threads.
    fn of(profile: &Profile, threads: &Threads) -> Self {
        let metrics = &profile.meta.metrics;
        let is_cpu = |name: &str| kind::of_metric(name).is_some_and(|kind| kind.name == "cpu");
        let cpu = metrics.iter().position(|metric| is_cpu(&metric.name));
        let counted: Vec<usize> = cpu.map_or_else(|| (0..metrics.len()).collect(), |cpu| vec![cpu]);
        let idle = counted.first().and_then(|&metric| idle_stacks(profile, metric));
        let rows = &profile.samples;
        let is_running = |&row: &usize| {
            counted.iter().any(|&metric| rows.values[metric][row] != 0)
                && Some(threads.of_set[rows.labels[row]]) != threads.idle
                && !idle.as_ref().is_some_and(|idle| idle.contain(rows.stack[row]))
        };
        let sample = |row: usize| Some((rows.time_of(row)?, threads.of_set[rows.labels[row]]));
        let mut samples: Vec<(i64, u32)> = (0..rows.len()).filter(is_running).filter_map(sample).collect();
        samples.sort_unstable();
        let lengths = cpu.and_then(|cpu| Some((cpu, Lengths::of(&metrics[cpu])?)));
        let length = lengths.and_then(|(cpu, lengths)| {
            let values = rows.values[cpu].iter().filter(|&&value| value != 0);
            quantile(values.map(|&value| lengths.length(value)).collect(), 2)
        });
        let interval = sampling_interval(gaps(&samples, threads.count), length).unwrap_or(0);
        Running { samples, interval }
    }

    /// For each sample, on how many threads the program was running, its own included.
    fn at_samples(&self, profile: &Profile, threads: &Threads) -> Vec<u32> {
        let rows = &profile.samples;
        let mut order: Vec<(i64, usize)> =
            (0..rows.len()).filter_map(|row| Some((rows.time_of(row)?, row))).collect();
        order.sort_unstable();
        let mut parallel = vec![1; rows.len()];
        let mut window = Window { samples_of: vec![0; threads.count], threads: 0 };
        let (mut first, mut end) = (0, 0);
        for (time, row) in order {
            let from = time.saturating_sub(self.interval / 2);
            // With an unknown interval, the window is this moment.
            let to = from.saturating_add(self.interval.max(1));
            while let Some(&(_, thread)) = self.samples.get(end).filter(|(time, _)| *time < to) {
                window.add(thread);
                end += 1;
            }
            while let Some(&(_, thread)) = self.samples.get(first).filter(|(time, _)| *time < from) {
                window.remove(thread);
                first += 1;
            }
            let own = threads.of_set[rows.labels[row]];
            let others = u32::from(window.samples_of[own as usize] == 0);
            parallel[row] = window.threads + others;
        }
        parallel
    }
}

/// The samples in a window of time.
struct Window {
    samples_of: Vec<u32>,
    /// How many threads have any.
    threads: u32,
}

impl Window {
    fn add(&mut self, thread: u32) {
        let samples = &mut self.samples_of[thread as usize];
        self.threads += u32::from(*samples == 0);
        *samples += 1;
    }

    fn remove(&mut self, thread: u32) {
        let samples = &mut self.samples_of[thread as usize];
        *samples -= 1;
        self.threads -= u32::from(*samples == 0);
    }
}

/// The gaps between samples of the same thread, which are in order of time.
fn gaps(samples: &[(i64, u32)], threads: usize) -> Vec<i64> {
    let mut previous: Vec<Option<i64>> = vec![None; threads];
    let mut gaps = Vec::new();
    for &(time, thread) in samples {
        let before = previous[thread as usize].replace(time);
        gaps.extend(before.map(|before| time.saturating_sub(before)).filter(|&gap| gap > 0));
    }
    gaps
}

/// What values of a unit are multiplied by, so that a part of them is more than 0 or 1.
fn scale_of(unit: &str, total: i64) -> u64 {
    let unit = Unit::parse(unit);
    let is_fine = unit.family() == Family::Bytes || unit == Unit::NANOSECONDS;
    if is_fine || total > i64::MAX / 1000 { 1 } else { 1000 }
}

/// The samples that were taken while one number of threads was running.
struct Class {
    threads: u64,
    sum: u128,
    /// What is left over of the value before, and goes to the next one.
    carry: u128,
}

/// Each value times `scale`, divided by its number of threads. What rounding takes from one value goes to the next one with the
/// same number, so that the sum for each number is exact but for one unit; these go to the numbers with the largest remainders.
fn divided(values: &[i64], parallel: &[u32], scale: u64) -> Vec<i64> {
    let scaled = |value: i64| u128::from(value.unsigned_abs()) * u128::from(scale);
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of: HashMap<u32, usize> = HashMap::new();
    for (&value, &threads) in values.iter().zip(parallel) {
        let class = *class_of.entry(threads).or_insert_with(|| {
            classes.push(Class { threads: threads.into(), sum: 0, carry: 0 });
            classes.len() - 1
        });
        classes[class].sum += scaled(value);
    }
    // The remainders as parts of 2⁶⁴, rounded up: halves add up to at least a half.
    let part =
        |class: &Class| ((class.sum % u128::from(class.threads)) << 64).div_ceil(u128::from(class.threads));
    let units = (classes.iter().map(part).sum::<u128>() + (1 << 63)) >> 64;
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| (std::cmp::Reverse(part(&classes[class])), classes[class].threads));
    for &class in order.iter().take(usize::try_from(units).unwrap_or(usize::MAX)) {
        let class = &mut classes[class];
        let threads = u128::from(class.threads);
        class.carry = threads - class.sum % threads;
    }
    let mut divide = |value: i64, threads: u32| {
        let class = &mut classes[class_of[&threads]];
        let sum = scaled(value) + class.carry;
        class.carry = sum % u128::from(class.threads);
        let divided = i64::try_from(sum / u128::from(class.threads)).unwrap_or(i64::MAX);
        if value < 0 { -divided } else { divided }
    };
    values
        .iter()
        .zip(parallel)
        .map(|(&value, &threads)| if value == 0 { 0 } else { divide(value, threads) })
        .collect()
}

/// The samples with new values, without the labels and times that nothing needs: equal rows are merged.
fn kept(profile: &Profile, values: &[Vec<i64>], keep: &LoadOptions) -> Arc<Samples> {
    let rows = &profile.samples;
    let mut table = RowTable::new(values.len(), keep.times);
    let mut of_row = vec![0; values.len()];
    for row in 0..rows.len() {
        for (value, column) in of_row.iter_mut().zip(values) {
            *value = column[row];
        }
        let labels = if keep.labels { rows.labels[row] } else { LabelSetId::default() };
        let fits = table.add(rows.stack[row], labels, rows.time_of(row), (0, &of_row));
        debug_assert!(fits, "no more rows than before");
    }
    Arc::new(table.finish())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{from_notation, to_notation};

    const ALL: LoadOptions = LoadOptions::ALL;
    const MS: i64 = 1_000_000;

    /// A profile of CPU time in nanoseconds.
    fn cpu(notation: &str) -> Profile {
        let mut profile = from_notation(notation);
        for (metric, name) in profile.meta.metrics.iter_mut().zip(["cpu", "alloc_space"]) {
            metric.name = name.to_string();
            metric.unit = if name == "cpu" { "nanoseconds" } else { "bytes" }.to_string();
        }
        profile
    }

    fn of(profile: &Profile) -> String {
        to_notation(&by_latency(profile, &LoadOptions::LEAST).unwrap())
    }

    /// Samples of `stack` on thread `tid`, each of 10 ms.
    fn samples(stack: &str, tid: u32, from: i64, to: i64) -> Vec<String> {
        (from..to).step_by(10).map(|ms| format!("{stack} 10000000 {{tid={tid}}} @{}", ms * MS)).collect()
    }

    /// The example of the documentation of the Linux kernel.
    #[test]
    fn nine_seconds_on_one_thread_and_one_on_128() {
        let mut lines = samples("main;foo", 1, 0, 9000);
        lines.extend((1..=128).flat_map(|tid| samples("main;bar", tid, 9000, 10_000)));
        let profile = cpu(&lines.join("\n"));
        assert_eq!(profile.meta.metrics[0].total, 137_000 * MS, "9 and 128 s: foo has 6.6%");
        let weighed = by_latency(&profile, &LoadOptions::LEAST).unwrap();
        assert_eq!(to_notation(&weighed), "main;bar 1000000000\nmain;foo 9000000000");
        assert_eq!(weighed.meta.metrics[0].total, 10_000 * MS);
        assert!(weighed.samples.time.is_none());
    }

    #[test]
    fn threads_that_are_sampled_in_turn_run_at_once() {
        // Two threads of which each is sampled every 10 ms, one 4 ms after the other.
        let turns = |from: i64| {
            (0..20).flat_map(move |turn| {
                let time = (turn * 10 + from) * MS;
                [format!("a 8 {{tid=1}} @{time}"), format!("b 8 {{tid=2}} @{}", time + 4 * MS)]
            })
        };
        let lines: Vec<String> = turns(0).collect();
        let mut profile = cpu(&lines.join("\n"));
        profile.meta.metrics[0].name = "samples".to_string();
        assert_eq!(of(&profile), "a 80\nb 80");
        // One after the other, the weights are those of CPU time.
        let [first, second] = [samples("a", 1, 0, 1000), samples("b", 2, 1000, 2000)];
        assert_eq!(of(&cpu(&[first, second].concat().join("\n"))), "a 1000000000\nb 1000000000");
    }

    #[test]
    fn only_threads_with_cpu_time_are_running() {
        // Thread 2 allocates while thread 1 runs, thread 3 does not use the processor, and the processor of 0 is idle.
        let lines = "a 4000 0 {tid=1} @0\na 4000 0 {tid=1} @10\nb 0 60 {tid=2} @10\nc 0 0 {tid=3} @10\nswapper 4000 0 {tid=0} @10";
        // Of the idle processor, too, the share is that of the moment: thread 1 was running.
        assert_eq!(of(&cpu(lines)), "a 8000 0\nb 0 30\nswapper 2000 0");
    }

    #[test]
    fn counts_get_decimals_and_the_sum_is_that_of_the_fractions() {
        let lines: Vec<String> = (1..4).map(|tid| format!("f{tid} 1 {{tid={tid}}} @5")).collect();
        let weighed = by_latency(&from_notation(&lines.join("\n")), &ALL).unwrap();
        let metric = &weighed.meta.metrics[0];
        assert_eq!((metric.total, metric.divisor), (1000, 1000), "three thirds");
        assert_eq!(weighed.samples.values[0], [333, 333, 334]);
        assert!(weighed.samples.time.is_some() && weighed.label_sets.len() == 4);
    }

    #[test]
    fn times_that_are_wrong_are_no_reason_to_fail() {
        // Backwards, repeated, far apart, and missing.
        let lines = "a 1000 {tid=1} @9000\na 1000 {tid=1} @0\na 1000 {tid=1} @0\nb 1000 {tid=2} @0\na 1000 {tid=1} @9223372036854775806\nb 1000 {tid=2}";
        let weighed = by_latency(&cpu(lines), &LoadOptions::LEAST).unwrap();
        assert_eq!(to_notation(&weighed), "a 3000\nb 1500");
        assert_eq!(weighed.meta.warnings, ["1 sample without a time counts in full"]);
        // A thread with a single sample has no interval: the window is the moment.
        assert_eq!(of(&cpu("a 0 8 {tid=1} @5\nb 0 8 {tid=2} @6")), "a 0 8\nb 0 8");
    }

    #[test]
    fn what_lacks_times_or_threads_is_refused() {
        let error = |profile: &Profile| by_latency(profile, &ALL).unwrap_err();
        assert_eq!(error(&cpu("a 1 {tid=1}")), LatencyError::NoTimes);
        assert_eq!(error(&cpu("a 1 {k=v} @1")), LatencyError::NoThreads);
        let mut spans = cpu("a 1 {tid=1} @1");
        spans.meta.holds_spans = true;
        assert_eq!(error(&spans), LatencyError::NoSamples);
    }

    proptest! {
        /// The sum is that of the exact fractions, and no value is off by a whole unit or more.
        #[test]
        fn sums_are_exact(rows in prop::collection::vec((-50_i64..50, 1_u32..13), 0..60)) {
            let (values, parallel): (Vec<i64>, Vec<u32>) = rows.iter().copied().unzip();
            let divided = divided(&values, &parallel, 1);
            // All numbers up to 12 divide this one.
            let exact: i64 = rows.iter().map(|&(value, threads)| value.abs() * (27_720 / i64::from(threads))).sum();
            let sum: i64 = divided.iter().map(|value| value.abs()).sum();
            prop_assert_eq!(sum, (exact + 13_860) / 27_720);
            for ((&value, &threads), &divided) in values.iter().zip(&parallel).zip(&divided) {
                let off = i64::from(threads) * divided - value;
                prop_assert!(off.abs() <= i64::from(threads), "{value} / {threads} = {divided}");
            }
        }

        /// Shifting a recording in time does not change its latency.
        #[test]
        fn latency_does_not_depend_on_the_clock(
            rows in prop::collection::vec((1_i64..9, 1_u8..5, 0_i64..500), 1..50),
            shift in 0_i64..1_000_000,
        ) {
            let drawn = |shift: i64| {
                let line = |(value, tid, time): &(i64, u8, i64)| format!("f{tid} {value} {{tid={tid}}} @{}", time + shift);
                rows.iter().map(line).collect::<Vec<_>>().join("\n")
            };
            prop_assert_eq!(of(&cpu(&drawn(0))), of(&cpu(&drawn(shift))));
        }
    }
}
