//! The kinds of events that are samples, and what each adds to the metrics.

use crate::format::ParseError;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::cursor::PooledText;
use crate::format::jfr::metadata::{Class, Classes, FieldValue, Plan};
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
    /// The field with the class that was allocated or locked.
    pub(super) class: &'static str,
}

/// How much an event adds to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// 1.
    One,
    /// The value of its amount field.
    Amount,
    /// The CPU sampling interval, times the amount if the event has one.
    CpuInterval,
    /// The wall-clock sampling interval, times the amount if the event has one.
    WallInterval,
    /// The duration of the event.
    Duration,
}

use Measure::{Amount, CpuInterval, Duration, One, WallInterval};

const SAMPLED: &str = "sampledThread";
const OWN: &str = "eventThread";
const NS: &str = "nanoseconds";

const ALLOCATIONS: [(&str, &str, Measure); 2] =
    [("alloc_objects", "count", One), ("alloc_space", "bytes", Amount)];

/// All kinds; metrics are declared in this order.
///
/// An allocation in a new TLAB represents everything that is later allocated in that buffer, so it counts
/// with the size of the buffer.
#[rustfmt::skip] // One row a kind.
pub(super) static EVENT_KINDS: [EventKind; 10] = [
    EventKind { event: EXECUTION_SAMPLE, thread: SAMPLED, amount: "", class: "",
        metrics: &[("samples", "count", One), ("cpu", NS, CpuInterval)] },
    EventKind { event: "profiler.WallClockSample", thread: SAMPLED, amount: "samples", class: "",
        metrics: &[("wall_samples", "count", Amount), ("wall", NS, WallInterval)] },
    EventKind { event: "jdk.NativeMethodSample", thread: SAMPLED, amount: "", class: "",
        metrics: &[("native_samples", "count", One)] },
    EventKind { event: "jdk.ObjectAllocationInNewTLAB", thread: OWN, amount: "tlabSize", class: "objectClass",
        metrics: &ALLOCATIONS },
    EventKind { event: "jdk.ObjectAllocationOutsideTLAB", thread: OWN, amount: "allocationSize", class: "objectClass",
        metrics: &ALLOCATIONS },
    EventKind { event: "jdk.ObjectAllocationSample", thread: OWN, amount: "weight", class: "objectClass",
        metrics: &ALLOCATIONS },
    EventKind { event: "profiler.LiveObject", thread: OWN, amount: "allocationSize", class: "objectClass",
        metrics: &[("inuse_objects", "count", One), ("inuse_space", "bytes", Amount)] },
    EventKind { event: "profiler.Malloc", thread: OWN, amount: "size", class: "",
        metrics: &[("malloc_count", "count", One), ("malloc_space", "bytes", Amount)] },
    EventKind { event: "jdk.JavaMonitorEnter", thread: OWN, amount: "", class: "monitorClass",
        metrics: &[("lock_count", "count", One), ("lock_duration", NS, Duration)] },
    EventKind { event: "jdk.ThreadPark", thread: OWN, amount: "", class: "parkedClass",
        metrics: &[("park_count", "count", One), ("park_duration", NS, Duration)] },
];

/// Execution samples that async-profiler took by wall-clock time.
pub(super) static BY_WALL_CLOCK: EventKind = EventKind {
    event: EXECUTION_SAMPLE,
    thread: SAMPLED,
    amount: "",
    class: "",
    metrics: &[("wall_samples", "count", One), ("wall", NS, WallInterval)],
};

pub(super) const EXECUTION_SAMPLE: &str = "jdk.ExecutionSample";

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
    pub(super) counts: HashMap<i64, u64>,
    /// The thread states that occur in execution samples.
    pub(super) states: HashSet<i64>,
    /// The number of processors of the machine.
    pub(super) processors: Option<i64>,
}

impl Survey {
    pub(super) fn read(chunk: &Chunk<'_>) -> Result<Survey, ParseError> {
        let classes = &chunk.classes;
        let setting = Wanted::new(classes, "jdk.ActiveSetting", ["id", "name", "value"]);
        let sample = Wanted::new(classes, EXECUTION_SAMPLE, ["state"]);
        let machine = Wanted::new(classes, "jdk.CPUInformation", ["hwThreads"]);
        let sampled = classes.named(EXECUTION_SAMPLE);
        let mut survey = Survey { sampled, ..Survey::default() };
        let mut found: HashMap<String, String> = HashMap::new();
        chunk.events(|event_class, mut event| {
            *survey.counts.entry(event_class).or_default() += 1;
            let id = Some(event_class);
            if let Some(wanted) = sample.as_ref().filter(|_| id == sampled) {
                let [state] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                survey.states.insert(state);
            } else if let Some(wanted) = machine.as_ref().filter(|wanted| wanted.id == event_class) {
                let [processors] = classes.numbers(&mut event, wanted.class, &wanted.plan, false)?;
                survey.processors = Some(processors).filter(|&processors| processors > 0);
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
        survey.settings = Settings::of(&found);
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
        })
    }

    /// The nanoseconds that a sample represents; `None` if `measure` has no interval or it is unknown.
    pub(super) fn interval(&self, measure: Measure) -> Option<i64> {
        match measure {
            Measure::CpuInterval => self.cpu_interval,
            Measure::WallInterval => self.wall_interval,
            Measure::One | Measure::Amount | Measure::Duration => None,
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
