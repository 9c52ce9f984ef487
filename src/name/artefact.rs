//! Functions that appear in a profile only because it was being recorded.

/// Leaf functions whose self value belongs to the function they interrupted. A name is listed only if nothing
/// but the recording runs it.
const ARTEFACTS: &[&str] = &[
    // Go: the signal that asks a goroutine to yield injects a call of these. How often a sample hits them depends
    // on how busy the machine is: in runs of one program they held 0.6 to 48 % of the samples.
    "runtime.asyncPreempt",
    "runtime.asyncPreempt2",
    // Rust: pprof-rs records its own unwinding. Programs that print backtraces call these as well, but spend the time in
    // what they call.
    "backtrace::backtrace::libunwind::trace",
    "backtrace::backtrace::trace_unsynchronized",
    "pprof::profiler::perf_signal_handler",
    // Linux: switches the counters of `perf` itself whenever a thread is scheduled; without a recording the kernel
    // does not call them.
    "__perf_event_task_sched_in",
    "__perf_event_task_sched_out",
    // Linux: the interrupt that takes the sample.
    "perf_event_nmi_handler",
];

/// Whether a function is an artefact of a profiler.
///
/// ```
/// use prof::name::is_artefact;
///
/// assert!(is_artefact("runtime.asyncPreempt") && is_artefact("__perf_event_task_sched_in_[k]"));
/// assert!(!is_artefact("runtime.gcAssistAlloc"));
/// ```
pub fn is_artefact(function: &str) -> bool {
    // The scripts of FlameGraph mark frames of the kernel.
    ARTEFACTS.contains(&function.strip_suffix("_[k]").unwrap_or(function))
}
