//! Finding out how much of a recording was idle.

use crate::kind::{self, Idleness};
use crate::parallel;
use crate::pattern::{is_idle_processor, waits};
use crate::profile::{Column, FrameId, FunctionId, Metric, Profile, Samples, StackId, Stacks};
use crate::transform::waiting_of;

/// Computes [`Metric::idle`] for the given metrics: the value of the stacks that `--hide-stacks @idle` would
/// drop. For CPU time, only idle processors count: waiting threads use no CPU time, and a scheduler that looks
/// for work is busy. Where the time of waiting was recorded, that counts, whatever the functions are called.
///
/// ```
/// use prof::profile::from_notation;
/// use prof::transform::note_idle;
///
/// let mut profile = from_notation("main;work 2\n(idle) 8");
/// note_idle(&mut profile, &[0]);
/// assert_eq!(profile.meta.metrics[0].idle, 8);
/// ```
///
/// [`Metric::idle`]: crate::profile::Metric::idle
pub fn note_idle(profile: &mut Profile, metrics: &[usize]) {
    for functions in [IdleFunctions::OfProcessors, IdleFunctions::OfThreads] {
        let is_idle_there = |metric: &usize| {
            let known = &profile.meta.metrics;
            !known[*metric].too_large && idle_functions(known, *metric) == Some(functions)
        };
        let metrics: Vec<usize> = metrics.iter().copied().filter(is_idle_there).collect();
        if metrics.is_empty() {
            continue;
        }
        // Names are looked at once for all metrics.
        let stacks = IdleStacks::new(profile, functions);
        let idle: Vec<i64> = metrics.iter().map(|&metric| idle_value(profile, metric, &stacks)).collect();
        for (metric, idle) in metrics.into_iter().zip(idle) {
            profile.meta.metrics[metric].idle = idle;
        }
    }
}

fn idle_value(profile: &Profile, metric: usize, stacks: &IdleStacks<'_>) -> i64 {
    let Samples { stack, values, .. } = &*profile.samples;
    let waiting = waiting_of(&profile.meta.metrics, metric);
    let idle_part = |row: usize| match waiting {
        _ if stacks.contain(stack[row]) => values[metric][row].abs(),
        Some(waiting) => values[waiting][row].abs(),
        None => 0,
    };
    let sums = parallel::ranges(stack.len(), 50_000, |rows| rows.map(idle_part).sum::<i64>());
    sums.into_iter().sum()
}

/// Which stacks are idle in a metric; `None` if that is unknown.
pub fn idle_stacks(profile: &Profile, metric: usize) -> Option<IdleStacks<'_>> {
    let functions = idle_functions(&profile.meta.metrics, metric)?;
    Some(IdleStacks::new(profile, functions))
}

/// The functions in which nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdleFunctions {
    /// Where the processor has nothing to do.
    OfProcessors,
    /// Also where threads wait.
    OfThreads,
}

/// Which functions make a stack idle in a metric; `None` if that is unknown.
fn idle_functions(metrics: &[Metric], metric: usize) -> Option<IdleFunctions> {
    let with_cpu_time = metrics.iter().any(|metric| kind::is(&metric.name, "cpu"));
    match kind::idleness(&metrics[metric].name, with_cpu_time) {
        Idleness::None => None,
        Idleness::Processor => Some(IdleFunctions::OfProcessors),
        // The names of functions matter only where the recording does not say what waited.
        Idleness::Threads if waiting_of(metrics, metric).is_some() => Some(IdleFunctions::OfProcessors),
        Idleness::Threads => Some(IdleFunctions::OfThreads),
    }
}

/// The stacks with a frame in which nothing happens.
#[derive(Debug)]
pub struct IdleStacks<'p> {
    stacks: &'p Stacks,
    /// Whether each frame is such; empty if none is.
    frames: Column<FrameId, bool>,
}

impl<'p> IdleStacks<'p> {
    fn new(profile: &'p Profile, idle: IdleFunctions) -> Self {
        let symbols = &profile.symbols;
        let is_idle = |function: FunctionId| {
            let name = symbols.function_name(function);
            match idle {
                IdleFunctions::OfProcessors => is_idle_processor(name),
                IdleFunctions::OfThreads => waits(name, symbols.function_file(function)),
            }
        };
        let functions: Column<FunctionId, bool> = symbols.functions.ids().map(is_idle).collect();
        let has_any = functions.iter().any(|&is_idle| is_idle);
        let frames = symbols.frames.iter().filter(|_| has_any).map(|frame| functions[frame.function]);
        IdleStacks { stacks: &profile.stacks, frames: frames.collect() }
    }

    /// Whether a stack is one of them.
    pub fn contain(&self, stack: StackId) -> bool {
        !self.frames.is_empty() && self.stacks.frames(stack).iter().any(|&frame| self.frames[frame])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn idle(metrics: &[&str], picture: &str) -> Vec<i64> {
        let mut profile = from_notation(picture);
        for (metric, name) in profile.meta.metrics.iter_mut().zip(metrics) {
            metric.name = (*name).to_string();
        }
        let all: Vec<usize> = (0..profile.meta.metrics.len()).collect();
        note_idle(&mut profile, &all);
        profile.meta.metrics.iter().map(|metric| metric.idle).collect()
    }

    #[test]
    fn recorded_waiting_counts_whatever_functions_are_called() {
        // 40 and 5 were spent waiting; `park` used a CPU for 3, and the idle processor for 2.
        let picture = "main;read 10 40\npool;java.lang.Object.wait 3 5\nswapper;do_idle 2 0";
        let mut profile = from_notation(picture);
        for (metric, name) in profile.meta.metrics.iter_mut().zip(["cpu", "off_cpu"]) {
            (metric.name, metric.unit) = (name.to_string(), "nanoseconds".to_string());
        }
        let mut profile = crate::transform::with_wall(profile).unwrap();
        note_idle(&mut profile, &[2]);
        assert_eq!((profile.meta.metrics[2].total, profile.meta.metrics[2].idle), (60, 47));
    }

    #[test]
    fn stacks_that_wait_count_once() {
        let picture = "main;park;java.lang.Object.wait;__futex_wait 5\nmain;work 2\nswapper;do_idle 1";
        assert_eq!(idle(&["wall"], picture), [6]);
        assert_eq!(idle(&["samples"], picture), [6]);
    }

    #[test]
    fn cpu_time_is_idle_where_the_processor_is() {
        let picture =
            "main;runtime.findRunnable;runtime.netpoll 5 5\nmain;work 2 2\n(idle) 1 1\n(program) 3 3";
        assert_eq!(idle(&["samples", "cpu"], picture), [1, 1]);
        assert_eq!(idle(&["cycles:u", "samples"], picture), [1, 1]);
    }

    #[test]
    fn goroutines_and_bytes_are_never_idle() {
        let picture = "main;runtime.gopark 5 5 5";
        assert_eq!(idle(&["goroutine", "delay", "alloc_space"], picture), [0, 0, 0]);
    }
}
