//! The kinds of events that are samples, and what each adds to which metric.

use crate::format::ParseError;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::cursor::Text;
use crate::format::jfr::metadata::{Class, Classes, Plan, Value};
use hashbrown::{HashMap, HashSet};

/// A kind of event that is a sample.
pub(super) struct EventKind {
    /// Name of its class.
    pub(super) event: &'static str,
    /// What it adds to, and how much.
    pub(super) metrics: &'static [(&'static str, &'static str, Measure)],
    /// The field with the thread.
    pub(super) thread: &'static str,
    /// The field with the amount, where there is one.
    pub(super) amount: &'static str,
    /// The field with the class that was allocated or locked.
    pub(super) class: &'static str,
}

/// How much an event adds to a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// 1.
    One,
    /// What its amount says.
    Amount,
    /// As many times the interval between samples of processor time as its amount says, or once where it
    /// has none.
    CpuInterval,
    /// The same with the interval between samples of elapsed time.
    WallInterval,
    /// How long it took.
    Duration,
}

use Measure::{Amount, CpuInterval, Duration, One, WallInterval};

const SAMPLED: &str = "sampledThread";
const OWN: &str = "eventThread";
const NS: &str = "nanoseconds";

const ALLOCATIONS: [(&str, &str, Measure); 2] =
    [("alloc_objects", "count", One), ("alloc_space", "bytes", Amount)];

/// The metrics come in the order of this list.
///
/// An allocation in a new buffer stands for all that goes into the buffer, hence its size.
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

/// The same events where async-profiler took them by elapsed time.
pub(super) static BY_WALL_CLOCK: EventKind = EventKind {
    event: EXECUTION_SAMPLE,
    thread: SAMPLED,
    amount: "",
    class: "",
    metrics: &[("wall_samples", "count", One), ("wall", NS, WallInterval)],
};

pub(super) const EXECUTION_SAMPLE: &str = "jdk.ExecutionSample";

/// How samples were taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// Nanoseconds between two samples of processor time, where they are taken by time.
    cpu_interval: Option<i64>,
    /// Nanoseconds between two samples of elapsed time.
    wall_interval: Option<i64>,
    /// Whether all execution samples were taken by elapsed time.
    pub(super) is_wall: bool,
    /// Whether samples of elapsed time were asked for beside others.
    pub(super) has_wall: bool,
}

/// The interval of async-profiler unless told otherwise.
const DEFAULT_INTERVAL: i64 = 10_000_000;

/// The same for elapsed time, where there are more threads to visit.
const DEFAULT_WALL_INTERVAL: i64 = 50_000_000;

/// What a first look at the events of a chunk tells.
#[derive(Default)]
pub(super) struct Survey {
    /// What the chunk says of how samples were taken, if it says anything.
    settings: Option<Settings>,
    /// The number of the class of execution samples, which differs between recorders.
    sampled: Option<i64>,
    /// How many events there are of each class.
    pub(super) counts: HashMap<i64, u64>,
    /// The states of the threads in execution samples.
    pub(super) states: HashSet<i64>,
    /// How many processors the machine has.
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
                let (Value::Text(Text::Here(name)), Value::Text(Text::Here(value))) = (name, value) else {
                    return Ok(());
                };
                // Every kind of event has a period; that of the execution samples counts.
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

/// A class of events, and which of its fields are wanted.
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

/// The settings that hold for each chunk. async-profiler writes its settings into the first chunk of a
/// recording only, so a chunk without any has those of the chunk before it that the same recorder wrote.
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
    /// What the settings of execution samples mean; `None` where there are none.
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
        // −1 stands for samples that are not taken.
        let wall = number("wall").filter(|&wall| wall >= 0);
        let beside = wall.map(|wall| or_default(wall, DEFAULT_WALL_INTERVAL));
        Some(Settings {
            cpu_interval: interval.filter(|_| !is_wall),
            wall_interval: beside.or(interval.filter(|_| is_wall)),
            is_wall,
            has_wall: wall.is_some(),
        })
    }

    /// Nanoseconds that a sample stands for; `None` for what has no interval, or an unknown one.
    pub(super) fn interval(&self, measure: Measure) -> Option<i64> {
        match measure {
            Measure::CpuInterval => self.cpu_interval,
            Measure::WallInterval => self.wall_interval,
            Measure::One | Measure::Amount | Measure::Duration => None,
        }
    }
}

/// Nanoseconds of `20 ms`.
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
    fn intervals_are_set_in_two_ways() {
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
    fn settings_are_those_of_the_recorder_that_wrote_the_chunk() {
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
