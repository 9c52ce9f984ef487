//! Profile types: what each one measures, when to use it, and what a wide function in a flame graph means.

/// What is known about a profile type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// The names of its metrics in profiles. The companion's names are in the same order if the same
    /// profilers write both.
    pub metrics: &'static [&'static str],
    /// The type that measures the same events in another way: their number, their size, or their other end.
    pub companion: Option<&'static str>,
    /// The languages whose profilers record it.
    pub languages: &'static [&'static str],
    /// What it measures, as a sentence.
    pub measures: &'static str,
    /// When to use it, as a sentence.
    pub when: &'static str,
    /// What a wide function means; completes the sentence "a wide function …".
    pub width: &'static str,
    /// Whether it counts something that does not depend on the machine and its load.
    pub is_quantity: bool,
    /// Whether it says how much there is at a time, instead of how much was done.
    pub is_level: bool,
}

const ALL: &[&str] =
    &["Go", "Java", ".NET", "Ruby", "Python", "Rust", "C", "C++", "Node.js", "eBPF Go", "eBPF Python"];
const GO: &[&str] = &["Go"];
const JAVA: &[&str] = &["Java"];
const WALL: &[&str] = &["Go", "Java", ".NET", "Ruby", "Python", "C", "C++", "Node.js"];
const NATIVE: &[&str] = &["Rust", "C", "C++"];
const PEAK: &[&str] = &["Python", "Rust", "C", "C++"];
const ALLOCATIONS: &[&str] = &["Go", "Java", ".NET", "Ruby", "Python", "Rust", "C", "C++"];
const IN_USE: &[&str] = &["Go", "Java", ".NET", "Python", "Rust", "C", "C++", "Node.js"];
const LOCKS: &[&str] = &["Java", ".NET"];

/// All types, the most common first. If two types share the name of a metric (a mutex and a block
/// profile of Go both hold `contentions` and `delay`), the first one is used.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "cpu",
        unit: "nanoseconds",
        metrics: &["cpu", "cpu-time", "cpu-clock", "task-clock", "cycles"],
        companion: Some("samples"),
        languages: ALL,
        measures: "CPU time, sampled at a fixed rate.",
        when: "Use it to find what keeps CPUs busy; it does not include waiting.",
        width: "used a lot of CPU time, including callees",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "samples",
        unit: "count",
        metrics: &["samples", "sample", "events", "itimer", "ticks"],
        companion: Some("cpu"),
        languages: ALL,
        measures: "How often a stack was seen.",
        when: "Use it to see how much evidence there is; if the profile also has a metric such as cpu, that shows the cost.",
        width: "was often seen running",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "wall",
        unit: "nanoseconds",
        metrics: &["wall", "wall-time", "wall time", "elapsed", "time"],
        companion: Some("wall_samples"),
        languages: WALL,
        measures: "Elapsed time, running or waiting.",
        when: "Use it to find what users wait for: slow queries, sleeps, locks.",
        width: "took a long time, running or waiting",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "off_cpu",
        unit: "nanoseconds",
        metrics: &["off_cpu", "off-cpu", "offcpu", "waiting"],
        companion: None,
        languages: &["Rust", "C", "C++", "eBPF Go", "eBPF Python"],
        measures: "Time that threads waited off the CPU.",
        when: "Use it to find what blocks threads: locks, disks, sockets, sleeps.",
        width: "waited for a long time, including callees",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "wall_samples",
        unit: "count",
        metrics: &["wall_samples"],
        companion: Some("wall"),
        languages: JAVA,
        measures: "How often a stack was seen, running or waiting.",
        when: "Use it to see how much evidence there is; the metric wall shows the time.",
        width: "was often seen, running or waiting",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "native_samples",
        unit: "count",
        metrics: &["native_samples"],
        companion: None,
        languages: JAVA,
        measures: "How often a stack was seen in native code, running or waiting.",
        when: "Use it to find calls into native code that take long, such as reading from sockets.",
        width: "was often seen in native code, running or waiting",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "alloc_space",
        unit: "bytes",
        metrics: &[
            "alloc_space",
            "alloc_in_new_tlab_bytes",
            "alloc_outside_tlab_bytes",
            "alloc-size",
            "size",
            "alloc",
        ],
        companion: Some("alloc_objects"),
        languages: ALLOCATIONS,
        measures: "Bytes allocated since the start, freed or not.",
        when: "Use it to find what allocates the most: allocating costs time and keeps the garbage collector busy, if there is one.",
        width: "allocated a lot since the start, freed or not",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "alloc_objects",
        unit: "count",
        metrics: &[
            "alloc_objects",
            "alloc_in_new_tlab_objects",
            "alloc_outside_tlab_objects",
            "alloc-samples",
            "allocs",
            "allocations",
        ],
        companion: Some("alloc_space"),
        languages: ALLOCATIONS,
        measures: "Objects allocated since the start, freed or not.",
        when: "Use it to find many small allocations, each of which costs time.",
        width: "allocated often since the start, freed or not",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "temporary",
        unit: "count",
        metrics: &["temporary"],
        companion: None,
        languages: NATIVE,
        measures: "Allocations that were freed before anything else was allocated or freed.",
        when: "Use it to find allocations that can be avoided: the memory was hardly used.",
        width: "allocated memory and freed it at once, often",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "inuse_space",
        unit: "bytes",
        metrics: &["inuse_space", "space", "leaked_space", "leaked"],
        companion: Some("inuse_objects"),
        languages: IN_USE,
        measures: "Bytes allocated and still in use.",
        when: "Use it to find what holds memory; a leak grows from profile to profile and never shrinks.",
        width: "allocated a lot of memory that is still in use",
        is_quantity: true,
        is_level: true,
    },
    Kind {
        name: "inuse_objects",
        unit: "count",
        metrics: &["inuse_objects", "objects", "leaked_objects"],
        companion: Some("inuse_space"),
        languages: IN_USE,
        measures: "Objects allocated and still in use.",
        when: "Use it to find what holds many objects: each takes space, and time if a garbage collector has to visit it.",
        width: "allocated many objects that are still alive",
        is_quantity: true,
        is_level: true,
    },
    Kind {
        name: "old_space",
        unit: "bytes",
        metrics: &["old_space"],
        companion: Some("old_objects"),
        languages: JAVA,
        measures: "Bytes of objects that are old and still in use; only a few objects are sampled.",
        when: "Use it to find a leak in a recording without a heap dump; totals mean little, because few objects are sampled.",
        width: "allocated old objects that are still in use (a sample of them)",
        is_quantity: false,
        is_level: true,
    },
    Kind {
        name: "old_objects",
        unit: "count",
        metrics: &["old_objects"],
        companion: Some("old_space"),
        languages: JAVA,
        measures: "Objects that are old and still in use; only a few are sampled.",
        when: "Use it to find a leak in a recording without a heap dump.",
        width: "allocated old objects that are still in use (a sample of them)",
        is_quantity: false,
        is_level: true,
    },
    Kind {
        name: "peak_space",
        unit: "bytes",
        metrics: &["peak_space", "max_space", "peak"],
        companion: Some("peak_objects"),
        languages: PEAK,
        measures: "Bytes in use at a peak: that of the whole program, or for the metric max that of each stack.",
        when: "Use it to find what determines how much memory the program needs.",
        width: "held a lot of memory at peak usage (for the metric max: at a peak of its own)",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "peak_objects",
        unit: "count",
        metrics: &["peak_objects", "max_objects"],
        companion: Some("peak_space"),
        languages: PEAK,
        measures: "Objects in use at the same time: when the whole program used the most memory (peak), or when this stack did (max).",
        when: "Compare it with peak_space: many small objects cost more than their bytes.",
        width: "held many objects at peak memory usage (for the metric max: at a peak of its own)",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "malloc_space",
        unit: "bytes",
        metrics: &["malloc_space"],
        companion: Some("malloc_count"),
        languages: JAVA,
        measures: "Bytes of native memory requested, outside the garbage-collected heap.",
        when: "Use it to find memory use that heap statistics do not show.",
        width: "requested a lot of native memory",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "malloc_count",
        unit: "count",
        metrics: &["malloc_count"],
        companion: Some("malloc_space"),
        languages: JAVA,
        measures: "How often native memory was requested.",
        when: "Use it to find many small allocations of native memory.",
        width: "often requested native memory",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "goroutine",
        unit: "count",
        metrics: &["goroutine", "goroutines"],
        companion: None,
        languages: GO,
        measures: "Goroutines that existed when the profile was taken.",
        when: "Use it to find leaked goroutines and what they wait for.",
        width: "is on the stack of many goroutines",
        is_quantity: true,
        is_level: true,
    },
    Kind {
        name: "threads",
        unit: "count",
        metrics: &["threads", "thread", "threadcreate"],
        companion: None,
        languages: &["Go", "C", "C++"],
        measures: "Operating system threads: those that existed, or in Go the code that created them.",
        when: "Use it to find code that starts more threads than there are processors.",
        width: "is on the stack of many threads, or created them",
        is_quantity: true,
        is_level: true,
    },
    Kind {
        name: "block_duration",
        unit: "nanoseconds",
        metrics: &["delay"],
        companion: Some("block_count"),
        languages: GO,
        measures: "Time spent waiting for channels, locks and conditions; in a mutex profile, the waiting \
                   caused to others.",
        when: "Use it to find what blocks goroutines.",
        width: "waited a long time, or in a mutex profile made others wait a long time",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "block_count",
        unit: "count",
        metrics: &["contentions"],
        companion: Some("block_duration"),
        languages: GO,
        measures: "How often a goroutine had to wait; in a mutex profile, how often it made others wait.",
        when: "Compare it with the duration: many short waits need a different fix than a few long ones.",
        width: "waited often, or in a mutex profile made others wait often",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "mutex_duration",
        unit: "nanoseconds",
        metrics: &["mutex_duration", "delay"],
        companion: Some("mutex_count"),
        languages: &["Go", ".NET"],
        measures: "Time that others waited for a lock this code held.",
        when: "Use it to find locks that are held too long.",
        width: "made others wait a long time for a lock",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "mutex_count",
        unit: "count",
        metrics: &["mutex_count", "contentions"],
        companion: Some("mutex_duration"),
        languages: &["Go", ".NET"],
        measures: "How often others waited for a lock this code held.",
        when: "Use it to find locks that are taken too often.",
        width: "made others wait often for a lock",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "lock_duration",
        unit: "nanoseconds",
        metrics: &["lock_duration", "lock-time", "lock_time"],
        companion: Some("lock_count"),
        languages: LOCKS,
        measures: "Time spent waiting to enter a lock.",
        when: "Use it to find threads that wait for each other.",
        width: "waited a long time for locks",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "lock_count",
        unit: "count",
        metrics: &["lock_count", "lock-count"],
        companion: Some("lock_duration"),
        languages: LOCKS,
        measures: "How often a thread waited to enter a lock.",
        when: "Compare it with the duration of the waits.",
        width: "waited often for locks",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "park_duration",
        unit: "nanoseconds",
        metrics: &["park_duration"],
        companion: Some("park_count"),
        languages: JAVA,
        measures: "Time that threads were parked: waiting for locks of java.util.concurrent, queues, results.",
        when: "Use it to find what threads wait for; idle workers of a pool are parked too.",
        width: "was parked for a long time",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "park_count",
        unit: "count",
        metrics: &["park_count"],
        companion: Some("park_duration"),
        languages: JAVA,
        measures: "How often threads were parked.",
        when: "Compare it with the duration of the waits.",
        width: "was parked often",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "wait_duration",
        unit: "nanoseconds",
        metrics: &["wait_duration"],
        companion: Some("wait_count"),
        languages: JAVA,
        measures: "Time that threads waited to be notified (Object.wait).",
        when: "Use it to find what threads wait for; idle workers wait too.",
        width: "waited for a long time to be notified",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "wait_count",
        unit: "count",
        metrics: &["wait_count"],
        companion: Some("wait_duration"),
        languages: JAVA,
        measures: "How often threads waited to be notified (Object.wait).",
        when: "Compare it with the duration of the waits.",
        width: "waited often to be notified",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "sleep_duration",
        unit: "nanoseconds",
        metrics: &["sleep_duration"],
        companion: Some("sleep_count"),
        languages: JAVA,
        measures: "Time that threads slept.",
        when: "Use it to find sleeps that delay other work.",
        width: "slept for a long time",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "sleep_count",
        unit: "count",
        metrics: &["sleep_count"],
        companion: Some("sleep_duration"),
        languages: JAVA,
        measures: "How often threads slept.",
        when: "Compare it with the duration of the sleeps.",
        width: "slept often",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "socket_duration",
        unit: "nanoseconds",
        metrics: &["socket_duration"],
        companion: Some("socket_count"),
        languages: JAVA,
        measures: "Time spent reading from sockets and writing to them.",
        when: "Use it to find slow peers; the label operation separates reads and writes.",
        width: "waited for sockets for a long time",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "socket_count",
        unit: "count",
        metrics: &["socket_count"],
        companion: Some("socket_duration"),
        languages: JAVA,
        measures: "Reads from sockets and writes to them.",
        when: "Use it to find many small transfers.",
        width: "read from or wrote to sockets often",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "socket_bytes",
        unit: "bytes",
        metrics: &["socket_bytes"],
        companion: None,
        languages: JAVA,
        measures: "Bytes read from sockets and written to them.",
        when: "Use it to find what transfers the most over the network.",
        width: "transferred many bytes over sockets",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "file_duration",
        unit: "nanoseconds",
        metrics: &["file_duration"],
        companion: Some("file_count"),
        languages: JAVA,
        measures: "Time spent reading, writing and flushing files.",
        when: "Use it to find slow file access; the label operation separates reads and writes.",
        width: "waited for files for a long time",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "file_count",
        unit: "count",
        metrics: &["file_count"],
        companion: Some("file_duration"),
        languages: JAVA,
        measures: "Reads, writes and flushes of files.",
        when: "Use it to find many small reads and writes.",
        width: "read from or wrote to files often",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "file_bytes",
        unit: "bytes",
        metrics: &["file_bytes"],
        companion: None,
        languages: JAVA,
        measures: "Bytes read from files and written to them.",
        when: "Use it to find what reads or writes the most.",
        width: "read from or wrote to files a lot",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "instructions",
        unit: "count",
        metrics: &["instructions", "Ir"],
        companion: None,
        languages: NATIVE,
        measures: "Instructions executed. Callgrind counts every one, so runs can be compared exactly.",
        when: "Use it to see the cost of a change without the noise of time measurements.",
        width: "executed many instructions, including callees",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "calls",
        unit: "count",
        metrics: &["calls", "entries"],
        companion: None,
        languages: &["Java", "Python", "Rust", "C", "C++"],
        measures: "How often functions were called.",
        when: "Compare it with the cost: are functions called less often, or is each call cheaper?",
        width: "was called often",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "call_duration",
        unit: "nanoseconds",
        metrics: &["call_duration"],
        companion: None,
        languages: JAVA,
        measures: "Time from the call of a traced method to its return.",
        when: "Use it to find slow calls of the methods that are traced.",
        width: "had slow calls of traced methods",
        is_quantity: false,
        is_level: false,
    },
    Kind {
        name: "exceptions",
        unit: "count",
        metrics: &["exception", "exceptions"],
        companion: None,
        languages: &["Java", ".NET"],
        measures: "Exceptions thrown.",
        when: "Use it to find exceptions used for ordinary control flow.",
        width: "threw many exceptions",
        is_quantity: true,
        is_level: false,
    },
    Kind {
        name: "heap",
        unit: "bytes",
        metrics: &["heap", "inuse_space"],
        companion: None,
        languages: &["Node.js"],
        measures: "Bytes on the heap, by the code that allocated them.",
        when: "Use it to find what holds memory.",
        width: "allocated a lot of memory that is still in use",
        is_quantity: true,
        is_level: true,
    },
];

/// The type of the metric called `metric`; `None` if it is not known.
///
/// ```
/// use prof::kind::of_metric;
///
/// assert_eq!(of_metric("CPU").unwrap().name, "cpu");
/// assert_eq!(of_metric("cpu_core/cycles/P").unwrap().name, "cpu", "a Linux perf event");
/// assert_eq!(of_metric("cpu-clock/freq=499/").unwrap().name, "cpu");
/// assert_eq!(of_metric("bananas"), None);
/// ```
pub fn of_metric(metric: &str) -> Option<&'static Kind> {
    place_of(metric).map(|(kind, _)| kind)
}

/// Whether a metric is of the type called `kind`.
pub fn is(metric: &str, kind: &str) -> bool {
    of_metric(metric).is_some_and(|found| found.name == kind)
}

/// The type of a metric, and the index of its name.
fn place_of(metric: &str) -> Option<(&'static Kind, usize)> {
    let event = event(metric);
    KINDS.iter().find_map(|kind| {
        let place = kind.metrics.iter().position(|name| name.eq_ignore_ascii_case(event))?;
        Some((kind, place))
    })
}

/// The metrics that may measure the same events in another way, such as their number next to their size, the closest first:
/// for `max_space` it is `max_objects`, then `peak_objects`.
pub fn companions_of(metric: &str) -> Vec<&'static str> {
    let Some((kind, place)) = place_of(metric) else { return Vec::new() };
    kind.companion.and_then(named).map_or_else(Vec::new, |companion| companion.closest_to(place))
}

/// The profile type of this name.
fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Kind {
    /// The names of its metrics, that of the same place first.
    fn closest_to(&self, place: usize) -> Vec<&'static str> {
        self.metrics.get(place).into_iter().chain(self.metrics).copied().collect()
    }
}

/// The name of a Linux perf event without the unit that counts it and without modifiers: `cycles` of
/// `cycles:u`, of `cpu_core/cycles/P` and of `cpu/cpu-cycles/`.
fn event(metric: &str) -> &str {
    let mut parts = metric.split('/');
    let event = match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(terms), Some(_)) => {
            let named = terms.split(',').find(|term| !term.contains('='));
            // Without a name, as in `cpu-clock/freq=499/`, these are settings of the event before them. The unit `cpu` is no event:
            // what `cpu/event=0xcd,umask=0x1/` counts has no name.
            named.unwrap_or(if before == "cpu" { terms } else { before })
        }
        _ => metric,
    };
    let event = event.split_once(':').map_or(event, |(event, _)| event);
    if event.eq_ignore_ascii_case("cpu-cycles") { "cycles" } else { event }
}

/// Whether a metric counts clock cycles.
pub fn is_cycles(metric: &str) -> bool {
    event(metric).eq_ignore_ascii_case("cycles")
}

/// Whether `asked` can refer to the metric called `metric`: it is the metric's name without perf's modifiers,
/// or the name of its profile type.
///
/// ```
/// use prof::kind::may_mean;
///
/// assert!(may_mean("mutex_duration", "delay") && may_mean("block_duration", "delay"));
/// assert!(may_mean("cycles", "cycles:u") && may_mean("cpu", "cycles:u"));
/// assert!(!may_mean("cycles", "cpu"));
/// ```
pub fn may_mean(asked: &str, metric: &str) -> bool {
    let metric = event(metric);
    let is_type = |kind: &Kind| {
        kind.name.eq_ignore_ascii_case(asked)
            && kind.metrics.iter().any(|name| name.eq_ignore_ascii_case(metric))
    };
    event(asked).eq_ignore_ascii_case(metric) || KINDS.iter().any(is_type)
}

/// Whether a metric counts things that exist or were done. Like memory, these are compared as recorded; time depends on the
/// machine and its load, so it is compared relative to code that did not change.
///
/// ```
/// use prof::kind::is_quantity;
///
/// assert!(is_quantity("inuse_objects") && is_quantity("goroutine"));
/// assert!(!is_quantity("cpu") && !is_quantity("samples"));
/// ```
pub fn is_quantity(metric: &str) -> bool {
    of_metric(metric).is_some_and(|kind| kind.is_quantity)
}

/// The time of a thread as V8 samples it, whether the thread runs or waits. The formats call it `cpu`.
static THREAD_TIME: Kind = Kind {
    name: "cpu",
    unit: "nanoseconds",
    metrics: &["cpu"],
    companion: Some("samples"),
    languages: &["Node.js"],
    measures: "Elapsed time of the thread, sampled; while it waits, the function is (idle).",
    when: "Use it to find what keeps the thread busy; --hide-stacks @idle hides the waiting.",
    width: "took a lot of the thread's time, including callees",
    is_quantity: false,
    is_level: false,
};

/// Whether a metric that is called like CPU time is the elapsed time of threads, because the recorder of `format` samples
/// them while they wait, too.
pub fn is_thread_time(metric: &str, format: &str) -> bool {
    metric == "cpu" && ["cpuprofile", "chrome-trace"].contains(&format)
}

/// The type of a metric, given whether it [is the time of threads](is_thread_time).
pub fn of_recorded(metric: &str, thread_time: bool) -> Option<&'static Kind> {
    if thread_time { Some(&THREAD_TIME) } else { of_metric(metric) }
}

/// Whether a metric says how much there is at a time, such as memory in use, instead of how much was done. What leaks is
/// seen in such a metric.
///
/// ```
/// use prof::kind::is_level;
///
/// assert!(is_level("inuse_space") && is_level("goroutine") && is_level("threads"));
/// assert!(!is_level("alloc_space") && !is_level("cpu"));
/// ```
pub fn is_level(metric: &str) -> bool {
    of_metric(metric).is_some_and(|kind| kind.is_level)
}

/// Which part of a metric can be recognised as waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idleness {
    /// None: it does not measure time, or it measures only waiting, as for goroutines and locks.
    None,
    /// Idle processors only: waiting threads use no CPU time.
    Processor,
    /// Waiting threads as well.
    Threads,
}

/// Which part of the metric called `metric` can be recognised as waiting. Samples that accompany a metric of
/// CPU time were taken while threads ran.
pub fn idleness(metric: &str, with_cpu_time: bool) -> Idleness {
    match of_metric(metric).map(|kind| kind.name) {
        Some("cpu") => Idleness::Processor,
        Some("samples") if with_cpu_time => Idleness::Processor,
        Some("samples" | "wall" | "wall_samples" | "native_samples") => Idleness::Threads,
        _ => Idleness::None,
    }
}

/// Whether the samples of the metric called `metric` say what a thread does all the time, as those of an allocation do not.
pub(crate) fn is_clock(metric: &str) -> bool {
    idleness(metric, true) != Idleness::None
}

/// Metrics that count the events of the metric called `metric`, the most likely first. Dividing the metric by
/// one of these gives the cost of one event.
///
/// ```
/// use prof::kind::counts_of;
///
/// assert_eq!(counts_of("delay"), ["contentions"]);
/// assert_eq!(counts_of("alloc-size")[0], "alloc-samples");
/// assert!(counts_of("alloc_objects").is_empty(), "it is a count itself");
/// ```
pub fn counts_of(metric: &str) -> Vec<&'static str> {
    let Some((kind, place)) = place_of(metric).filter(|(kind, _)| kind.unit != "count") else {
        return Vec::new();
    };
    let mut counts = Vec::new();
    if let Some(companion) = kind.companion.and_then(named).filter(|kind| kind.unit == "count") {
        counts = companion.closest_to(place);
    }
    match metric {
        // Some profilers call every count of samples `samples`.
        _ if kind.name == "wall" => counts.extend(named("samples").into_iter().flat_map(|kind| kind.metrics)),
        "space" => counts.push("allocations"),
        _ => {}
    }
    let mut distinct: Vec<&'static str> = Vec::new();
    for count in counts {
        if !distinct.contains(&count) {
            distinct.push(count);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_unit_are_not_cpu_time() {
        for metric in [
            "cpu/cycles/P",
            "cpu/cpu-cycles/",
            "cpu-cycles:u",
            "cpu_core/cycles,period=100/",
            "cycles/period=100/",
        ] {
            assert!(is_cycles(metric) && is(metric, "cpu"), "{metric}");
        }
        assert!(is("cpu-clock/freq=499/", "cpu"));
        for metric in ["cpu/mem-loads,ldlat=30/P", "cpu/event=0xcd,umask=0x1/pp", "cpu/cache-misses/"] {
            assert_eq!(of_metric(metric), None, "{metric}");
        }
    }

    #[test]
    fn companions_lead_back() {
        for kind in KINDS {
            let Some(companion) = kind.companion else { continue };
            let companion = KINDS.iter().find(|other| other.name == companion).unwrap();
            assert_eq!(companion.companion, Some(kind.name));
        }
    }

    #[test]
    fn a_maximum_belongs_to_a_maximum() {
        assert_eq!(companions_of("max_space")[..2], ["max_objects", "peak_objects"]);
        assert_eq!(companions_of("peak_objects")[0], "peak_space");
        assert!(companions_of("bananas").is_empty());
    }

    #[test]
    fn counts_of_metrics() {
        for (metric, count) in [
            ("cpu", "samples"),
            ("inuse_space", "inuse_objects"),
            ("space", "objects"),
            ("lock-time", "lock-count"),
            ("size", "allocs"),
            ("wall", "wall_samples"),
            ("park_duration", "park_count"),
        ] {
            assert_eq!(counts_of(metric)[0], count, "{metric}");
        }
        assert!(counts_of("wall").contains(&"samples") && counts_of("space").contains(&"allocations"));
        assert!(counts_of("samples").is_empty() && counts_of("bananas").is_empty());
    }
}
