//! `--latency`: what the program waits for to end, rather than what uses its processors.
//!
//! A sample counts 1 ÷ n if n threads were running when it was taken. If `foo` runs for 9 s on one thread, and then `bar` for 1 s
//! on each of 128 threads, `bar` has 93.4% of the CPU time, but making it twice as fast saves 0.5 of 10 s: by latency, `foo` has
//! 90% and `bar` 10%.
//!
//! Samples do not say how long a thread ran, so a thread counts as running at a moment if it has a sample in the window of one
//! sampling interval around this moment, and does not wait then. A thread that is sampled regularly has exactly one sample in each
//! such window. Where context switches were recorded, they say exactly when each thread was running (`running.rs`).

mod running;

use std::sync::Arc;

use hashbrown::HashMap;

use crate::profile::{LATENCY, LabelSetId, LoadOptions, Profile, RowTable, Samples, WAITING, WALL};
use crate::transform::latency::running::{Running, Shares, Threads, WHOLE};
use crate::unit::{Family, Unit, group_thousands, plural, saturated};

/// Why samples cannot be weighed by the number of running threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatencyError {
    /// Samples have no times.
    #[error("the profile does not say when its samples were taken")]
    NoTimes,
    /// Samples of idle threads were left out.
    #[error(
        "samples of idle threads were left out, so the profile does not say which threads ran at the same time"
    )]
    NoIdle,
    /// Samples have no threads.
    #[error("the profile does not say on which threads its samples were taken")]
    NoThreads,
    /// Values are those of spans or calls.
    #[error("the profile records spans or calls, and a thread in a span may be waiting")]
    NoSamples,
}

/// Divides the value of each sample by the number of threads that were running when it was taken. The sum of the values is exact:
/// it is that of the fractions, rounded once. Values that are neither nanoseconds nor bytes get three decimals (`divisor`).
///
/// A wait is divided for each moment that it lasted. In the metric `wall`, threads that wait count like those that run: two threads
/// that wait for the same 10 s have 5 s each.
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
    // It was divided before it was written.
    if profile.meta.is_latency {
        return Ok(profile.clone());
    }
    if profile.samples.time.is_none() && !profile.samples.is_empty() {
        return Err(LatencyError::NoTimes);
    }
    if profile.meta.lacks_idle {
        return Err(LatencyError::NoIdle);
    }
    let threads = Threads::of(profile).ok_or(LatencyError::NoThreads)?;
    let running = Running::of(profile, &threads);
    let shares = running.shares(profile, &threads, false);
    let has_wall = profile.meta.metric_named(WALL).is_some();
    let with_waits = has_wall.then(|| running.shares(profile, &threads, true));
    let mut weighed = profile.clone();
    let mut values = Vec::with_capacity(profile.samples.values.len());
    for (metric, column) in weighed.meta.metrics.iter_mut().zip(&profile.samples.values) {
        if metric.too_large {
            values.push(column.clone());
            continue;
        }
        let scale = scale_of(&metric.unit, metric.total);
        metric.divisor *= scale;
        let has_waits = [WALL, WAITING].contains(&&*metric.name);
        let of_metric = if has_waits { with_waits.as_ref() } else { None };
        let column = divided(column, of_metric.unwrap_or(&shares), scale);
        metric.total = column.iter().map(|value| value.abs()).sum();
        metric.effective_samples = effective(&column);
        values.push(column);
    }
    weighed.samples = kept(profile, &values, keep);
    let meta = &mut weighed.meta;
    meta.is_latency = true;
    // Samples no longer have the same weight.
    meta.period = None;
    meta.switches = Vec::new();
    if !keep.times {
        meta.sample_times = None;
    }
    let more = if has_wall { ", or in wall time running or waiting" } else { "" };
    meta.notes.push(format!("{LATENCY}{more}"));
    meta.warnings.extend(note_of_untimed(profile));
    Ok(weighed)
}

/// How many samples of equal weight would say as much as these: Kish's (Σ w)² ÷ Σ w². A share is as uncertain as one of so many.
fn effective(weights: &[i64]) -> Option<u64> {
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), &weight| {
        let weight = weight as f64;
        (sum + weight.abs(), squares + weight * weight)
    });
    (squares > 0.0).then(|| (sum * sum / squares).round() as u64)
}

/// What is said of samples for which it is not known how many threads were running.
fn note_of_untimed(profile: &Profile) -> Option<String> {
    let count = (profile.samples.len() - profile.samples.known_times().count()) as u64;
    let text = plural(count, "sample without a time counts", "samples without a time count");
    (count > 0).then(|| format!("{} {text} in full", group_thousands(count.into())))
}

/// What values of a unit are multiplied by, so that a part of them is more than 0 or 1.
fn scale_of(unit: &str, total: i64) -> u64 {
    let unit = Unit::parse(unit);
    let is_fine = unit.family() == Family::Bytes || unit == Unit::NANOSECONDS;
    if is_fine || total > i64::MAX / 1000 { 1 } else { 1000 }
}

/// The samples that are divided by one number.
struct Class {
    divisor: u128,
    sum: u128,
    /// What is left over of the value before, and goes to the next one.
    carry: u128,
}

/// Each value times `scale` and its share. What rounding takes from one value goes to the next one with the same divisor, so that
/// the sum for each divisor is exact but for one unit; these go to the divisors with the largest remainders.
fn divided(values: &[i64], shares: &Shares, scale: u64) -> Vec<i64> {
    // A value is multiplied by the first number, and divided by the second.
    let fraction = |row: usize| match shares.of_wait(row) {
        Some(part) => (u128::from(part), WHOLE),
        None => (1, u128::from(shares.threads[row])),
    };
    let scaled = |value: i64, factor: u128| u128::from(value.unsigned_abs()) * u128::from(scale) * factor;
    let mut classes: Vec<Class> = Vec::new();
    let mut class_of: HashMap<u128, usize> = HashMap::new();
    for (row, &value) in values.iter().enumerate() {
        let (factor, divisor) = fraction(row);
        let class = *class_of.entry(divisor).or_insert_with(|| {
            classes.push(Class { divisor, sum: 0, carry: 0 });
            classes.len() - 1
        });
        classes[class].sum += scaled(value, factor);
    }
    // The remainders as parts of 2⁶⁴, rounded up: halves add up to at least a half.
    let part = |class: &Class| ((class.sum % class.divisor) << 64).div_ceil(class.divisor);
    let units = (classes.iter().map(part).sum::<u128>() + (1 << 63)) >> 64;
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| (std::cmp::Reverse(part(&classes[class])), classes[class].divisor));
    for &class in order.iter().take(usize::try_from(units).unwrap_or(usize::MAX)) {
        let class = &mut classes[class];
        class.carry = class.divisor - class.sum % class.divisor;
    }
    let mut divide = |row: usize, value: i64| {
        let (factor, divisor) = fraction(row);
        let class = &mut classes[class_of[&divisor]];
        let sum = scaled(value, factor) + class.carry;
        class.carry = sum % divisor;
        let divided = saturated(sum / divisor);
        if value < 0 { -divided } else { divided }
    };
    let rows = values.iter().enumerate();
    rows.map(|(row, &value)| if value == 0 { 0 } else { divide(row, value) }).collect()
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
    use crate::profile::{ContextSwitch, from_notation, to_notation};
    use crate::transform::with_wall;

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

    #[test]
    fn samples_of_different_weights_say_less() {
        assert_eq!(effective(&[7; 50]), Some(50));
        // (90 + 10 × 1)² ÷ (90² + 10 × 1²) = 10,000 ÷ 8,110
        assert_eq!(effective(&[&[90_i64][..], &[1; 10]].concat()), Some(1));
        assert_eq!(effective(&[0, 0]), None);
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
        let lines = "a 1000 {tid=1} @9000\na 1000 {tid=1} @0\na 1000 {tid=1} @0\nb 1000 {tid=2} @0\na 1000 {tid=1} @4611686018427387904\nb 1000 {tid=2}";
        let weighed = by_latency(&cpu(lines), &LoadOptions::LEAST).unwrap();
        assert_eq!(to_notation(&weighed), "a 3000\nb 1500");
        assert_eq!(weighed.meta.warnings, ["1 sample without a time counts in full"]);
        // A thread with a single sample has no interval: the window is the moment.
        assert_eq!(of(&cpu("a 0 8 {tid=1} @5\nb 0 8 {tid=2} @6")), "a 0 8\nb 0 8");
    }

    /// CPU time and waits for locks, in nanoseconds.
    fn waiting(notation: &str) -> Profile {
        let mut profile = from_notation(notation);
        for (metric, name) in profile.meta.metrics.iter_mut().zip(["cpu", "lock_duration"]) {
            (metric.name, metric.unit) = (name.to_string(), "nanoseconds".to_string());
        }
        profile
    }

    #[test]
    fn threads_that_wait_at_the_same_time_share_wall_time() {
        // Thread 1 waits from 0 to 1000; thread 2 from 0 to 1500, and thread 3 from 500 to 1500.
        let waits = "a 0 1000 {tid=1} @0\nb 0 1500 {tid=2} @0\nc 0 1000 {tid=3} @500";
        let wall = with_wall(waiting(waits)).unwrap();
        // 500 ÷ 2 + 500 ÷ 3; the same + 500 ÷ 2; 500 ÷ 3 + 500 ÷ 2. Together, they waited for 1500.
        let weighed = by_latency(&wall, &ALL).unwrap();
        assert_eq!(weighed.samples.values[2], [416, 667, 417]);
        // By itself, a wait is divided by the threads that were running, and by its own.
        assert_eq!(weighed.samples.values[1], [1000, 1500, 1000]);
        // Thread 4 runs from 996 to 1006, around its only sample.
        let busy = format!("{waits}\nd 10 0 {{tid=4}} @1000");
        let weighed = by_latency(&with_wall(waiting(&busy)).unwrap(), &ALL).unwrap();
        // 996 + 4 ÷ 2; 996 + 10 ÷ 2 + 494; 496 + 10 ÷ 2 + 494.
        assert_eq!(weighed.samples.values[1], [998, 1495, 995, 0]);
        assert_eq!(weighed.samples.values[0], [0, 0, 0, 10]);
    }

    #[test]
    fn a_thread_that_waits_is_not_running() {
        // Both threads are sampled every 10, but 2 waits from 21 on, just after its last sample.
        let lines = "a 10 0 {tid=1} @0\na 10 0 {tid=1} @10\na 10 0 {tid=1} @22\na 10 0 {tid=1} @32\nb 10 0 {tid=2} @0\nb 10 0 {tid=2} @10\nb 10 0 {tid=2} @20\nb 0 40 {tid=2} @21";
        let weighed = by_latency(&waiting(lines), &ALL).unwrap();
        assert_eq!(weighed.samples.values[0], [5, 5, 10, 10, 5, 5, 5, 0]);
    }

    #[test]
    fn context_switches_say_which_threads_run() {
        let lines = "a 10 {tid=1} @0\na 10 {tid=1} @10\na 10 {tid=1} @20\nb 10 {tid=2} @11\nc 10 {tid=3} @20";
        let mut profile = cpu(lines);
        let switch = |time, tid, runs| ContextSwitch { time, tid, runs };
        // Thread 2 runs from 9 to 12; 4 has no sample and leaves at 5; 3 has no switch, so its sample counts.
        profile.meta.switches = vec![
            switch(0, 1, true),
            switch(5, 4, false),
            switch(9, 2, true),
            switch(12, 2, false),
            switch(30, 0, true),
        ];
        let weighed = by_latency(&profile, &ALL).unwrap();
        assert_eq!(weighed.samples.values[0], [5, 5, 5, 5, 5]);
        // Without them, 2 would have been running at 6, 4 would not be known, and the window of 2 would reach to 16.
        assert!(weighed.meta.switches.is_empty());
        profile.meta.switches = vec![switch(0, 1, true), switch(9, 2, true), switch(10, 2, false)];
        // 2 has left when 1 is sampled at 10; its own sample at 11 counts as its own.
        assert_eq!(by_latency(&profile, &ALL).unwrap().samples.values[0], [10, 10, 5, 5, 5]);
        // A thread whose end is not recorded does not run for ever.
        profile.meta.switches = vec![switch(0, 1, true), switch(1, 5, true), switch(2, 6, true)];
        assert_eq!(by_latency(&profile, &ALL).unwrap().samples.values[0], [10, 5, 5, 5, 5]);
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
            let shares = Shares { threads: parallel.clone(), ..Shares::default() };
            let divided = divided(&values, &shares, 1);
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
