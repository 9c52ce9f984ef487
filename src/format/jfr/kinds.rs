//! The kinds of events that are samples, and what each adds to the metrics.

use crate::format::ParseError;
use crate::format::by_number::ByNumber;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::cursor::PooledText;
use crate::format::jfr::metadata::{Class, Classes, FieldValue, Plan, TimeUnit};
use crate::format::jfr::old::OLD_SETTING;
use hashbrown::{HashMap, HashSet};

/// A kind of event that is a sample.
pub(super) struct EventKind {
    /// The name of its class.
    pub(super) event: &'static str,
    /// The metrics it contributes to: name, unit, and how much.
    pub(super) metrics: &'static [(&'static str, &'static str, Measure)],
    /// The field with the thread.
    pub(super) thread: &'static str,
    /// The field with the amount; empty if there is none.
    pub(super) amount: &'static str,
    /// The field with the number of objects that a sampled one stands for.
    pub(super) weight: &'static str,
    /// The field with the class that was allocated or locked.
    pub(super) class: &'static str,
    /// The field with the thread that let this one go on.
    pub(super) waker: &'static str,
    /// The field with the method that was called from the stack, and becomes its leaf.
    pub(super) method: &'static str,
    /// What was done, if events of several kinds contribute to the same metrics.
    pub(super) operation: &'static str,
    /// Kinds that measure the same: if these occur, this kind is skipped.
    pub(super) unless: &'static [&'static str],
}

/// How much an event adds to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// 1, or the weight if the event has one.
    One,
    /// The value of its amount field, times the weight if the event has one.
    Amount,
    /// The duration in its amount field.
    AmountOfTime,
    /// The CPU sampling interval, times the amount if the event has one.
    CpuInterval,
    /// The wall-clock sampling interval, times the amount if the event has one.
    WallInterval,
    /// The duration of the event.
    Duration,
}

use Measure::{Amount, AmountOfTime, CpuInterval, Duration, One, WallInterval};

const SAMPLED: &str = "sampledThread";
const NS: &str = "nanoseconds";

const IN_BUFFER: &str = "jdk.ObjectAllocationInNewTLAB";
const OUTSIDE_BUFFERS: &str = "jdk.ObjectAllocationOutsideTLAB";
const DATADOG_ALLOCATION: &str = "datadog.ObjectSample";
const DATADOG_EXECUTION: &str = "datadog.ExecutionSample";
const CPU_TIME: &str = "jdk.CPUTimeSample";

type Metrics = &'static [(&'static str, &'static str, Measure)];

const ALLOCATIONS: Metrics = &[("alloc_objects", "count", One), ("alloc_space", "bytes", Amount)];
const LIVE: Metrics = &[("inuse_objects", "count", One), ("inuse_space", "bytes", Amount)];
const LOCKS: Metrics = &[("lock_count", "count", One), ("lock_duration", NS, Duration)];
const CALLS: Metrics = &[("calls", "count", One), ("call_duration", NS, Duration)];
const SOCKETS: Metrics =
    &[("socket_count", "count", One), ("socket_duration", NS, Duration), ("socket_bytes", "bytes", Amount)];
const FILES: Metrics =
    &[("file_count", "count", One), ("file_duration", NS, Duration), ("file_bytes", "bytes", Amount)];

/// What most kinds have.
const EVENT: EventKind = EventKind {
    event: "",
    metrics: &[],
    thread: "eventThread",
    amount: "",
    weight: "",
    class: "",
    waker: "",
    method: "",
    operation: "",
    unless: &[],
};

/// All kinds; metrics are declared in this order.
///
/// An allocation in a new TLAB represents everything that is later allocated in that buffer, so it counts
/// with the size of the buffer.
#[rustfmt::skip] // One row a kind.
pub(super) static EVENT_KINDS: [EventKind; 28] = [
    EventKind { event: CPU_TIME, amount: "samplingPeriod",
        metrics: &[("samples", "count", One), ("cpu", NS, AmountOfTime)], ..EVENT },
    EventKind { event: EXECUTION_SAMPLE, thread: SAMPLED, unless: &[CPU_TIME, DATADOG_EXECUTION],
        metrics: &[("samples", "count", One), ("cpu", NS, CpuInterval)], ..EVENT },
    EventKind { event: DATADOG_EXECUTION, amount: "weight", unless: &[CPU_TIME],
        metrics: &[("samples", "count", Amount), ("cpu", NS, CpuInterval)], ..EVENT },
    EventKind { event: "profiler.WallClockSample", thread: SAMPLED, amount: "samples",
        metrics: &[("wall_samples", "count", Amount), ("wall", NS, WallInterval)], ..EVENT },
    EventKind { event: "datadog.MethodSample", amount: "weight",
        metrics: &[("wall_samples", "count", Amount), ("wall", NS, WallInterval)], ..EVENT },
    EventKind { event: "jdk.NativeMethodSample", thread: SAMPLED,
        metrics: &[("native_samples", "count", One)], ..EVENT },
    EventKind { event: IN_BUFFER, amount: "tlabSize", class: "objectClass", metrics: ALLOCATIONS, ..EVENT },
    EventKind { event: OUTSIDE_BUFFERS, amount: "allocationSize", class: "objectClass", metrics: ALLOCATIONS, ..EVENT },
    EventKind { event: DATADOG_ALLOCATION, amount: "size", weight: "weight", class: "objectClass",
        unless: &[IN_BUFFER, OUTSIDE_BUFFERS], metrics: ALLOCATIONS, ..EVENT },
    EventKind { event: "jdk.ObjectAllocationSample", amount: "weight", class: "objectClass",
        unless: &[IN_BUFFER, OUTSIDE_BUFFERS, DATADOG_ALLOCATION], metrics: ALLOCATIONS, ..EVENT },
    EventKind { event: "profiler.LiveObject", amount: "allocationSize", class: "objectClass", metrics: LIVE, ..EVENT },
    EventKind { event: "datadog.HeapLiveObject", amount: "size", weight: "weight", class: "objectClass",
        metrics: LIVE, ..EVENT },
    EventKind { event: "profiler.Malloc", amount: "size",
        metrics: &[("malloc_count", "count", One), ("malloc_space", "bytes", Amount)], ..EVENT },
    EventKind { event: "jdk.JavaMonitorEnter", class: "monitorClass", waker: "previousOwner", metrics: LOCKS, ..EVENT },
    EventKind { event: "profiler.NativeLock", metrics: LOCKS, ..EVENT },
    EventKind { event: "jdk.ThreadPark", class: "parkedClass",
        metrics: &[("park_count", "count", One), ("park_duration", NS, Duration)], ..EVENT },
    EventKind { event: "jdk.JavaMonitorWait", class: "monitorClass", waker: "notifier",
        metrics: &[("wait_count", "count", One), ("wait_duration", NS, Duration)], ..EVENT },
    EventKind { event: "jdk.ThreadSleep",
        metrics: &[("sleep_count", "count", One), ("sleep_duration", NS, Duration)], ..EVENT },
    EventKind { event: "jdk.SocketRead", amount: "bytesRead", operation: "read", metrics: SOCKETS, ..EVENT },
    EventKind { event: "jdk.SocketWrite", amount: "bytesWritten", operation: "write", metrics: SOCKETS, ..EVENT },
    EventKind { event: "jdk.FileRead", amount: "bytesRead", operation: "read", metrics: FILES, ..EVENT },
    EventKind { event: "jdk.FileWrite", amount: "bytesWritten", operation: "write", metrics: FILES, ..EVENT },
    EventKind { event: "jdk.FileForce", operation: "force",
        metrics: &[("file_count", "count", One), ("file_duration", NS, Duration)], ..EVENT },
    EventKind { event: "jdk.MethodTrace", method: "method", metrics: CALLS, ..EVENT },
    EventKind { event: "profiler.MethodTrace", method: "method", metrics: CALLS, ..EVENT },
    EventKind { event: "datadog.ExceptionSample", metrics: &[("exceptions", "count", One)], ..EVENT },
    EventKind { event: "jdk.JavaExceptionThrow", class: "thrownClass", unless: &["datadog.ExceptionSample"],
        metrics: &[("exceptions", "count", One)], ..EVENT },
    EventKind { event: "jdk.OldObjectSample", amount: "objectSize",
        metrics: &[("old_objects", "count", One), ("old_space", "bytes", Amount)], ..EVENT },
];

/// Execution samples that async-profiler took by wall-clock time.
pub(super) static BY_WALL_CLOCK: EventKind = EventKind {
    event: EXECUTION_SAMPLE,
    thread: SAMPLED,
    metrics: &[("wall_samples", "count", One), ("wall", NS, WallInterval)],
    ..EVENT
};

pub(super) const EXECUTION_SAMPLE: &str = "jdk.ExecutionSample";

/// How often some methods were called since the program began, and how long a call took; JDK 25 writes it once per chunk.
pub(super) const METHOD_TIMING: &str = "jdk.MethodTiming";

/// How execution samples were taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// Nanoseconds between two CPU samples, if they are taken at regular times.
    cpu_interval: Option<i64>,
    /// Nanoseconds between two wall-clock samples.
    wall_interval: Option<i64>,
    /// Whether all execution samples are wall-clock samples.
    pub(super) is_wall: bool,
    /// Whether wall-clock samples were taken in addition to CPU samples.
    pub(super) has_wall: bool,
    /// Whether the samples are those of the JDK itself, rather than of async-profiler.
    pub(super) is_of_jdk: bool,
}

/// async-profiler's default interval.
const DEFAULT_INTERVAL: i64 = 10_000_000;

/// async-profiler's default interval for wall-clock samples, which visit more threads.
const DEFAULT_WALL_INTERVAL: i64 = 50_000_000;

/// The results of a first pass over the events of a chunk.
#[derive(Default)]
pub(super) struct Survey {
    /// How samples were taken, if the chunk states it.
    settings: Option<Settings>,
    /// The id of the class of execution samples, which differs between recorders.
    sampled: Option<i64>,
    /// The number of events of each class.
    pub(super) counts: ByNumber<u64>,
    /// The thread states that occur in execution samples.
    pub(super) states: HashSet<i64>,
    /// The number of processors of the machine.
    pub(super) processors: Option<i64>,
    /// The number of samples of CPU time that the recorder lost.
    pub(super) lost: i64,
    /// The number of methods whose calls were timed.
    pub(super) timed_methods: u64,
}

/// The settings of Datadog's profiler.
const DATADOG_SETTINGS: &str = "datadog.DatadogProfilerConfig";

impl Survey {
    /// Whether there are events of the class `id`.
    pub(super) fn has(&self, id: i64) -> bool {
        self.counts.get(id.cast_unsigned()).is_some()
    }

    pub(super) fn read(chunk: &Chunk<'_>) -> Result<Survey, ParseError> {
        let classes = &chunk.classes;
        let setting = Wanted::new(classes, "jdk.ActiveSetting", ["id", "name", "value"]);
        let sample = Wanted::new(classes, EXECUTION_SAMPLE, ["state"]);
        let machine = Wanted::new(classes, "jdk.CPUInformation", ["hwThreads"]);
        let datadog = Wanted::new(classes, DATADOG_SETTINGS, ["cpuInterval", "wallInterval"]);
        let old_setting = Wanted::new(classes, OLD_SETTING, ["path", "period"]);
        let lost = Wanted::new(classes, "jdk.CPUTimeSamplesLost", ["lostSamples"]);
        let sampled = classes.named(EXECUTION_SAMPLE);
        let timing = Wanted::new(classes, METHOD_TIMING, ["method", "invocations"]);
        let mut survey = Survey { sampled, ..Survey::default() };
        let mut found: HashMap<String, String> = HashMap::new();
        let mut last_state = None;
        chunk.events(|event_class, mut event| {
            *survey.counts.or_default(event_class.cast_unsigned()) += 1;
            let id = Some(event_class);
            if let Some(wanted) = sample.as_ref().filter(|_| id == sampled) {
                let [state] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                // Nearly all samples have the same.
                if last_state.replace(state) != Some(state) {
                    survey.states.insert(state);
                }
            } else if let Some(wanted) = machine.as_ref().filter(|wanted| wanted.id == event_class) {
                let [processors] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                survey.processors = Some(processors).filter(|&processors| processors > 0);
            } else if let Some(wanted) = lost.as_ref().filter(|wanted| wanted.id == event_class) {
                let [lost] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                survey.lost = survey.lost.saturating_add(lost);
            } else if let Some(wanted) = timing.as_ref().filter(|wanted| wanted.id == event_class) {
                // Without a filter, there is one event without a method.
                let [method, calls] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                survey.timed_methods += u64::from(method != 0 && calls > 0);
            } else if let Some(wanted) = datadog.as_ref().filter(|wanted| wanted.id == event_class) {
                let [cpu, wall] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                let interval = |field, value| {
                    let unit = wanted.class.unit(field).unwrap_or(TimeUnit::Nanoseconds(1_000_000));
                    Some(chunk.time_span(value, unit)).filter(|&interval| interval > 0)
                };
                survey.settings = Some(Settings {
                    cpu_interval: interval("cpuInterval", cpu),
                    wall_interval: interval("wallInterval", wall),
                    ..Settings::default()
                });
            } else if let Some(wanted) = old_setting.as_ref().filter(|wanted| wanted.id == event_class) {
                let [path, period] = classes.read(&mut event, wanted.class, &wanted.plan, false)?;
                let FieldValue::Text(PooledText::Here(path)) = path else { return Ok(()) };
                if path.ends_with("vm/prof/execution_sample") {
                    found.insert("period".into(), format!("{} ms", period.number()));
                }
            } else if let Some(wanted) = setting.as_ref().filter(|wanted| wanted.id == event_class) {
                let [about, name, value] = classes.read(&mut event, wanted.class, &wanted.plan, false)?;
                let (FieldValue::Text(PooledText::Here(name)), FieldValue::Text(PooledText::Here(value))) =
                    (name, value)
                else {
                    return Ok(());
                };
                // Every event type has a period setting; only that of execution samples is needed.
                if name == "event" || name == "wall" || Some(about.number()) == sampled {
                    found.insert(name.into_owned(), value.into_owned());
                }
            }
            Ok(())
        })?;
        survey.settings = survey.settings.or(Settings::of(&found));
        Ok(survey)
    }
}

/// A class of events, and how to read its wanted fields.
struct Wanted<'c, const N: usize> {
    id: i64,
    class: &'c Class,
    plan: Plan<N>,
}

impl<'c, const N: usize> Wanted<'c, N> {
    fn new(classes: &'c Classes, name: &str, fields: [&str; N]) -> Option<Self> {
        let id = classes.named(name)?;
        let class = classes.get(id)?;
        Some(Wanted { id, class, plan: class.plan(&fields) })
    }
}

/// The settings of each chunk. async-profiler writes its settings only into the first chunk of a recording, so
/// a chunk without settings has those of the previous chunk of the same recorder.
pub(super) fn settings_of_chunks(surveys: &[Survey]) -> Vec<Settings> {
    let known = |at: &usize| surveys[*at].settings.is_some();
    (0..surveys.len())
        .map(|at| {
            let is_same = |other: &usize| surveys[*other].sampled == surveys[at].sampled && known(other);
            let before = (0..=at).rev().find(is_same);
            let from = before.or_else(|| (at..surveys.len()).find(is_same));
            from.and_then(|from| surveys[from].settings).unwrap_or_default()
        })
        .collect()
}

impl Settings {
    /// Interprets the settings of execution samples; `None` if there are none.
    fn of(found: &HashMap<String, String>) -> Option<Settings> {
        if found.is_empty() {
            return None;
        }
        let setting = |name: &str| found.get(name).map(String::as_str);
        let number = |name: &str| setting(name).and_then(|text| text.parse::<i64>().ok());
        let or_default = |interval, default| if interval == 0 { default } else { interval };
        let event = setting("event");
        let is_wall = event == Some("wall");
        let is_time = matches!(event, None | Some("wall" | "cpu" | "itimer" | "ctimer"));
        let default = if is_wall { DEFAULT_WALL_INTERVAL } else { DEFAULT_INTERVAL };
        let interval = match number("interval") {
            Some(interval) => Some(or_default(interval, default)),
            None => setting("period").and_then(nanoseconds),
        };
        let interval = interval.filter(|&interval| is_time && interval > 0);
        // −1 means that no such samples are taken.
        let wall = number("wall").filter(|&wall| wall >= 0);
        let additional = wall.map(|wall| or_default(wall, DEFAULT_WALL_INTERVAL));
        Some(Settings {
            cpu_interval: interval.filter(|_| !is_wall),
            wall_interval: additional.or(interval.filter(|_| is_wall)),
            is_wall,
            has_wall: wall.is_some(),
            is_of_jdk: event.is_none() && setting("interval").is_none() && setting("period").is_some(),
        })
    }

    /// The nanoseconds that a sample represents; `None` if `measure` has no interval or it is unknown.
    pub(super) fn interval(&self, measure: Measure) -> Option<i64> {
        match measure {
            CpuInterval => self.cpu_interval,
            WallInterval => self.wall_interval,
            One | Amount | AmountOfTime | Duration => None,
        }
    }
}

/// Parses a duration such as `20 ms` to nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let factor = match unit.trim() {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_set_by_either_of_two_settings() {
        let interval = |settings: &[(&str, &str)]| {
            let found = settings.iter().map(|&(name, value)| (name.into(), value.into())).collect();
            let settings = Settings::of(&found).unwrap();
            (settings.cpu_interval, settings.wall_interval)
        };
        assert_eq!(interval(&[("period", "20 ms")]), (Some(20_000_000), None));
        assert_eq!(interval(&[("period", "everyChunk")]), (None, None));
        assert_eq!(interval(&[("event", "itimer"), ("interval", "0")]), (Some(10_000_000), None));
        assert_eq!(interval(&[("event", "wall"), ("interval", "0")]), (None, Some(50_000_000)));
        assert_eq!(interval(&[("event", "cache-misses"), ("interval", "1000")]), (None, None));
        let both = [("event", "cpu"), ("interval", "1000"), ("wall", "0")];
        assert_eq!(interval(&both), (Some(1_000), Some(50_000_000)));
        assert_eq!(
            interval(&[("event", "cpu"), ("interval", "0"), ("wall", "-1")]),
            (Some(10_000_000), None)
        );
        assert_eq!(interval(&[("wall", "7")]), (None, Some(7)));
    }

    #[test]
    fn chunks_inherit_settings_only_from_the_same_recorder() {
        let survey = |sampled, interval: Option<i64>| Survey {
            sampled: Some(sampled),
            settings: interval
                .map(|interval| Settings { cpu_interval: Some(interval), ..Settings::default() }),
            ..Survey::default()
        };
        let surveys =
            [survey(9, None), survey(101, Some(5)), survey(9, Some(20)), survey(101, None), survey(7, None)];
        let intervals = settings_of_chunks(&surveys);
        let intervals: Vec<_> = intervals.iter().map(|settings| settings.cpu_interval).collect();
        assert_eq!(intervals, [Some(20), Some(5), Some(20), Some(5), None]);
    }
}
