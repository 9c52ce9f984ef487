//! Profile types: what each measures, when to read it, and what a wide block of it means.

/// What is known about a profile type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// What metrics of this type are called in profiles.
    pub metrics: &'static [&'static str],
    /// The type that counts or weighs the same events, or the other end of their life.
    pub companion: Option<&'static str>,
    /// The languages whose profilers record it.
    pub languages: &'static [&'static str],
    /// What it measures, as a sentence.
    pub measures: &'static str,
    /// When to read it, as a sentence.
    pub when: &'static str,
    /// What a wide block did, to go on from "a wide block …".
    pub width: &'static str,
}

const ALL: &[&str] = &["Go", "Java", ".NET", "Ruby", "Python", "Rust", "Node.js", "eBPF Go", "eBPF Python"];
const GO: &[&str] = &["Go"];
const ALLOCATIONS: &[&str] = &["Go", "Java", ".NET"];
const LOCKS: &[&str] = &["Java", ".NET"];

/// All types, the most usual first. Where two types share the name of a metric (a mutex and a block
/// profile of Go both hold `contentions` and `delay`), the first stands for both.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "cpu",
        unit: "nanoseconds",
        metrics: &["cpu", "cpu-time", "CPU", "cycles"],
        companion: Some("samples"),
        languages: ALL,
        measures: "Processor time, sampled at a fixed rate.",
        when: "Read it to find what keeps processors busy; waiting is not in it.",
        width: "used much processor time, with its callees",
    },
    Kind {
        name: "samples",
        unit: "count",
        metrics: &["samples", "sample", "events", "itimer"],
        companion: Some("cpu"),
        languages: ALL,
        measures: "How often a stack was seen.",
        when: "Read it to see how much evidence there is; its companion says what it cost.",
        width: "was often seen running",
    },
    Kind {
        name: "wall",
        unit: "nanoseconds",
        metrics: &["wall", "wall-time", "elapsed"],
        companion: None,
        languages: &[".NET"],
        measures: "Elapsed time, running or waiting.",
        when: "Read it to find what makes people wait: slow queries, sleeps, locks.",
        width: "took long, running or waiting",
    },
    Kind {
        name: "alloc_space",
        unit: "bytes",
        metrics: &["alloc_space", "alloc_in_new_tlab_bytes", "alloc-size"],
        companion: Some("alloc_objects"),
        languages: ALLOCATIONS,
        measures: "Bytes allocated since the start, freed or not.",
        when: "Read it to find what keeps the garbage collector busy.",
        width: "allocated much since the start, freed or not",
    },
    Kind {
        name: "alloc_objects",
        unit: "count",
        metrics: &["alloc_objects", "alloc_in_new_tlab_objects", "alloc-samples"],
        companion: Some("alloc_space"),
        languages: ALLOCATIONS,
        measures: "Objects allocated since the start, freed or not.",
        when: "Read it to find many small allocations, each of which costs time.",
        width: "allocated often since the start, freed or not",
    },
    Kind {
        name: "inuse_space",
        unit: "bytes",
        metrics: &["inuse_space", "space"],
        companion: Some("inuse_objects"),
        languages: &["Go", ".NET"],
        measures: "Bytes allocated and still in use.",
        when: "Read it to find who holds memory; a leak rises from profile to profile and never falls.",
        width: "allocated much memory that is still in use",
    },
    Kind {
        name: "inuse_objects",
        unit: "count",
        metrics: &["inuse_objects", "objects"],
        companion: Some("inuse_space"),
        languages: &["Go", ".NET"],
        measures: "Objects allocated and still in use.",
        when: "Read it to find who holds many objects, which the garbage collector has to visit.",
        width: "allocated many objects that are still alive",
    },
    Kind {
        name: "goroutine",
        unit: "count",
        metrics: &["goroutine", "goroutines"],
        companion: None,
        languages: GO,
        measures: "Goroutines that existed when the profile was taken.",
        when: "Read it to find leaked goroutines and what they wait for.",
        width: "is on the stack of many goroutines",
    },
    Kind {
        name: "block_duration",
        unit: "nanoseconds",
        metrics: &["delay"],
        companion: Some("block_count"),
        languages: GO,
        measures: "Time spent waiting for channels, locks and conditions; in a mutex profile, the waiting \
                   caused to others.",
        when: "Read it to find what holds goroutines up.",
        width: "waited long, or in a mutex profile made others wait long",
    },
    Kind {
        name: "block_count",
        unit: "count",
        metrics: &["contentions"],
        companion: Some("block_duration"),
        languages: GO,
        measures: "How often a goroutine had to wait; in a mutex profile, how often it made others wait.",
        when: "Read it beside the duration: many short waits call for another cure than few long ones.",
        width: "waited often, or in a mutex profile made others wait often",
    },
    Kind {
        name: "mutex_duration",
        unit: "nanoseconds",
        metrics: &["mutex_duration"],
        companion: Some("mutex_count"),
        languages: &["Go", ".NET"],
        measures: "Time that others waited for a lock this code held.",
        when: "Read it to find locks that are held too long.",
        width: "made others wait long for a lock",
    },
    Kind {
        name: "mutex_count",
        unit: "count",
        metrics: &["mutex_count"],
        companion: Some("mutex_duration"),
        languages: &["Go", ".NET"],
        measures: "How often others waited for a lock this code held.",
        when: "Read it to find locks that are taken too often.",
        width: "made others wait often for a lock",
    },
    Kind {
        name: "lock_duration",
        unit: "nanoseconds",
        metrics: &["lock_duration", "lock_time"],
        companion: Some("lock_count"),
        languages: LOCKS,
        measures: "Time spent waiting to enter a lock.",
        when: "Read it to find threads that wait for each other.",
        width: "waited long for locks",
    },
    Kind {
        name: "lock_count",
        unit: "count",
        metrics: &["lock_count"],
        companion: Some("lock_duration"),
        languages: LOCKS,
        measures: "How often a thread waited to enter a lock.",
        when: "Read it beside the duration of the waits.",
        width: "waited often for locks",
    },
    Kind {
        name: "exceptions",
        unit: "count",
        metrics: &["exception", "exceptions"],
        companion: None,
        languages: &[".NET"],
        measures: "Exceptions thrown.",
        when: "Read it to find exceptions used for ordinary control flow.",
        width: "threw many exceptions",
    },
    Kind {
        name: "heap",
        unit: "bytes",
        metrics: &["heap"],
        companion: None,
        languages: &["Node.js"],
        measures: "Bytes on the heap, by what allocated them.",
        when: "Read it to find who holds memory.",
        width: "allocated much memory that is still in use",
    },
];

/// The type of the metric called `metric`; `None` where it is none of these.
pub fn of_metric(metric: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.metrics.iter().any(|name| name.eq_ignore_ascii_case(metric)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_lead_back() {
        for kind in KINDS {
            let Some(companion) = kind.companion else { continue };
            let companion = KINDS.iter().find(|other| other.name == companion).unwrap();
            assert_eq!(companion.companion, Some(kind.name));
        }
        assert_eq!(of_metric("CPU").map(|kind| kind.name), Some("cpu"));
        assert_eq!(of_metric("bananas"), None);
    }
}
