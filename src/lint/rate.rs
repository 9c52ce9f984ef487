//! Rules about when samples are taken.

use hashbrown::HashMap;

use crate::kind;
use crate::lint::recording::SMALL;
use crate::lint::{Finding, Recorded};
use crate::pattern::is_own;
use crate::profile::{FunctionId, LONGEST as LONGEST_RECORDING, LabelValue, StackId};
use crate::report::Severity;
use crate::transform::samples_back;
use crate::unit::{duration, group_thousands, plural};

/// The time between samples changed, because several recordings ran at once or were added up.
pub(super) fn intervals(recorded: &Recorded<'_>) -> Option<Finding> {
    let intervals = &recorded.profile.meta.faults.intervals;
    let (first, last) = (intervals.first()?, intervals.last().filter(|_| intervals.len() > 1)?);
    // Each sample stands for the time that it was taken with, so that shares of time are right.
    let counts = kind::is(&recorded.profile.meta.metrics[recorded.metric].name, "samples");
    Some(Finding {
        level: if counts { Severity::Warning } else { Severity::Note },
        says: format!(
            "the time between samples changed, from {} to {}: numbers of samples mean different amounts of time",
            duration(*first),
            duration(*last)
        ),
        remedy: "compare times (--metric cpu) rather than numbers of samples".to_string(),
        share: None,
    })
}

/// A clock that went back while the program was recorded, or several clocks in one recording.
pub(super) fn clock(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    let times = profile.meta.sample_times;
    if times.is_some_and(|times| times.last.saturating_sub(times.first) >= LONGEST_RECORDING) {
        return Some(Finding {
            level: Severity::Warning,
            says: "samples were taken more than a year apart, so their times are of several clocks: \
                   the order of such samples is unknown"
                .to_string(),
            remedy: "record each with the same clock (perf record -k mono), or look at one file at a time"
                .to_string(),
            share: None,
        });
    }
    let back = profile.meta.faults.backwards.max(samples_back(profile, recorded.metric));
    let samples =
        plural(back, "sample has a time earlier than the one", "samples have times earlier than the ones");
    (back > 0).then(|| Finding {
        // As for damaged records, a few of many samples change little.
        level: if (back as f64) < SMALL * profile.meta.rows as f64 {
            Severity::Note
        } else {
            Severity::Warning
        },
        says: format!(
            "{} {samples} before: the clock went back, and durations and times are wrong there",
            group_thousands(back.into())
        ),
        remedy: "record with a clock that only moves forward (perf record -k mono)".to_string(),
        share: None,
    })
}

/// With fewer samples of a thread, a pattern may be chance.
const FEWEST: usize = 60;

/// The longest pattern that is looked for, in samples.
const LONGEST: usize = 64;

/// A pattern holds if so many samples are like the one a period before.
const ALIKE: f64 = 0.9;

/// And if these are so many more than are like the sample before, and than chance explains.
const MORE: f64 = 0.3;

/// A program that does the same again and again, at a multiple of the time between samples: they always hit the same places. The
/// profile must have been loaded with times and labels.
pub(super) fn in_step(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    if profile.samples.time.is_none() || profile.meta.holds_spans {
        return None;
    }
    let mut threads: HashMap<Option<LabelValue>, Vec<(i64, FunctionId)>> = HashMap::new();
    let values = profile.samples.values.get(recorded.metric)?;
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let (Some(time), Some(function)) = (profile.samples.time_of(row), own_leaf(recorded, stack)) else {
            continue;
        };
        if values[row] != 0 {
            let thread =
                ["tid", "thread"].iter().find_map(|key| profile.label(profile.samples.labels[row], key));
            threads.entry(thread).or_default().push((time, function));
        }
    }
    let mut samples = threads.into_values().max_by_key(Vec::len)?;
    samples.sort_unstable_by_key(|(time, _)| *time);
    let functions: Vec<FunctionId> = samples.iter().map(|(_, function)| *function).collect();
    let period = period_of(&functions)?;
    let span = samples.last()?.0 - samples.first()?.0;
    let time = span / (samples.len() as i64 - 1) * period as i64;
    Some(Finding {
        level: Severity::Warning,
        says: format!(
            "every {period} samples ({}), the program is in the same function again: it is in step with the sampling, and what it does \
             in between is never seen",
            duration(time)
        ),
        remedy: "record at another rate, such as 97 or 997 Hz".to_string(),
        share: None,
    })
}

/// The innermost function of a stack that belongs to the program: which part of a library or the kernel is hit is chance.
fn own_leaf(recorded: &Recorded<'_>, stack: StackId) -> Option<FunctionId> {
    let symbols = &recorded.profile.symbols;
    let frames = recorded.profile.stacks.frames(stack);
    let is_own = |function: FunctionId| {
        let (name, file) = (symbols.function_name(function), symbols.function_file(function));
        !name.is_empty() && !name.starts_with('[') && is_own(name, file)
    };
    let functions = frames.iter().rev().map(|&frame| symbols.frames[frame].function);
    functions.clone().find(|&function| is_own(function)).or_else(|| functions.clone().next())
}

/// After how many samples a sequence repeats; `None` if it does not.
fn period_of(functions: &[FunctionId]) -> Option<usize> {
    if functions.len() < FEWEST {
        return None;
    }
    let count = functions.len() as f64;
    let mut counts: HashMap<FunctionId, f64> = HashMap::new();
    for &function in functions {
        *counts.entry(function).or_default() += 1.0;
    }
    let by_chance: f64 = counts.values().map(|hits| (hits / count).powi(2)).sum();
    let alike = |lag: usize| {
        let pairs = functions.iter().zip(&functions[lag..]);
        pairs.filter(|(a, b)| a == b).count() as f64 / (functions.len() - lag) as f64
    };
    let least = ALIKE.max(by_chance.max(alike(1)) + MORE);
    (2..=LONGEST.min(functions.len() / 4)).find(|&lag| alike(lag) >= least)
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn clocks_that_are_set_back_or_differ() {
        let many = |times: &dyn Fn(i64) -> i64| {
            let line = |number: i64| format!("main;work 1 {{tid=1}} @{}", times(number));
            let mut profile = from_notation(&(0..500).map(line).collect::<Vec<_>>().join("\n"));
            profile.meta.format = "perf-script";
            profile
        };
        let back = "before: the clock went back, and durations and times are wrong there";
        assert_eq!(drawn(&many(&|number| number / 3)), [""; 0]);
        let once = many(&|number| if number < 400 { number * 1_000 } else { number * 1_000 - 50_000 });
        assert_eq!(drawn(&once), [format!("note clock: 1 sample has a time earlier than the one {back}")]);
        let often = many(&|number| if number % 10 == 9 { number * 1_000 - 5_000 } else { number * 1_000 });
        assert_eq!(
            drawn(&often),
            [format!("warning clock: 50 samples have times earlier than the ones {back}")]
        );
        // perf writes what each processor recorded, one after the other.
        let mut perf = often;
        perf.meta.format = "perf-data";
        assert_eq!(drawn(&perf), [""; 0]);
        // What the reader counted, and its own words about it.
        perf.meta.faults.backwards = 7;
        perf.meta.warn_of_fault("7 samples have timestamps earlier".to_string());
        assert_eq!(
            drawn(&perf),
            [format!("warning clock: 7 samples have times earlier than the ones {back}")]
        );
        let clocks = many(&|number| if number < 300 { number } else { 1_700_000_000_000_000_000 + number });
        let [found] = &drawn(&clocks)[..] else { panic!("one finding") };
        assert!(found.starts_with("warning clock: samples were taken more than a year apart"), "{found}");
    }

    #[test]
    fn a_program_in_step_with_the_sampling() {
        let profile = |function: fn(i64) -> &'static str| {
            let line =
                |number: i64| format!("main;{} 1 {{tid=1}} @{}", function(number), number * 10_000_000);
            from_notation(&(0..90).map(line).collect::<Vec<_>>().join("\n"))
        };
        let turns = drawn(&profile(|number| if number % 3 == 0 { "read" } else { "draw" }));
        assert_eq!(
            turns,
            [
                "warning in-step: every 3 samples (30.00ms), the program is in the same function again: it is in step with the sampling, and \
              what it does in between is never seen"
            ]
        );
        // Long phases, one function, and no pattern.
        assert!(drawn(&profile(|number| if number / 30 == 1 { "read" } else { "draw" })).is_empty());
        assert!(drawn(&profile(|_| "read")).is_empty());
        assert!(
            drawn(&profile(|number| ["a", "b", "c"][(number * number * 7 % 31 % 3) as usize])).is_empty()
        );
    }

    #[test]
    fn intervals_that_change() {
        let mut profile = from_notation("main;work 500");
        profile.meta.faults.intervals = vec![10_000_000, 20_000_000];
        let says = "warning intervals: the time between samples changed, from 10.00ms to 20.00ms: numbers of samples mean different \
                    amounts of time";
        assert_eq!(drawn(&profile), [says]);
    }
}
