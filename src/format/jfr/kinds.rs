//! The kinds of events that are samples, and what each adds to which metric.

use crate::format::ParseError;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::cursor::Text;
use crate::format::jfr::metadata::Value;
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
    /// As many times the sampling interval as its amount says, or once where it has none.
    Interval,
    /// How long it took.
    Duration,
}

use Measure::{Amount, Duration, Interval, One};

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
    EventKind { event: "jdk.ExecutionSample", thread: SAMPLED, amount: "", class: "",
        metrics: &[("samples", "count", One), ("cpu", NS, Interval)] },
    EventKind { event: "profiler.WallClockSample", thread: SAMPLED, amount: "samples", class: "",
        metrics: &[("wall_samples", "count", Amount), ("wall", NS, Interval)] },
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

/// The same events where async-profiler took them by elapsed time (`-e wall`, before version 3).
pub(super) static BY_WALL_CLOCK: EventKind = EventKind {
    event: "jdk.ExecutionSample",
    thread: SAMPLED,
    amount: "",
    class: "",
    metrics: &[("wall_samples", "count", One), ("wall", NS, Interval)],
};

/// What a chunk says of how it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// Nanoseconds between two samples, where they are taken by time.
    pub(super) interval: Option<i64>,
    /// Whether execution samples were taken by elapsed time.
    pub(super) is_wall: bool,
}

/// The interval of async-profiler unless told otherwise.
const DEFAULT_INTERVAL: i64 = 10_000_000;

/// The same for elapsed time, where there are more threads to visit.
const DEFAULT_WALL_INTERVAL: i64 = 50_000_000;

/// What a first look at the events of a chunk tells.
pub(super) struct Survey {
    pub(super) settings: Settings,
    /// The classes of its events.
    pub(super) classes: HashSet<i64>,
}

impl Survey {
    pub(super) fn read(chunk: &Chunk<'_>) -> Result<Survey, ParseError> {
        let setting = chunk.classes.named("jdk.ActiveSetting");
        let setting = setting.and_then(|id| {
            let class = chunk.classes.get(id)?;
            Some((id, class, class.plan(&["id", "name", "value"])))
        });
        let sampled = chunk.classes.named("jdk.ExecutionSample");
        let mut classes = HashSet::new();
        let mut found: HashMap<String, String> = HashMap::new();
        chunk.events(|event_class, mut event| {
            classes.insert(event_class);
            let Some((_, class, plan)) = setting.as_ref().filter(|&&(id, ..)| id == event_class) else {
                return Ok(());
            };
            let [about, name, value] = chunk.classes.read(&mut event, class, plan, false)?;
            let (Value::Text(Text::Here(name)), Value::Text(Text::Here(value))) = (name, value) else {
                return Ok(());
            };
            // Every kind of event has a period; that of the execution samples counts.
            if name == "event" || Some(about.number()) == sampled {
                found.insert(name.into_owned(), value.into_owned());
            }
            Ok(())
        })?;
        Ok(Survey { settings: Settings::of(&found), classes })
    }
}

impl Settings {
    fn of(found: &HashMap<String, String>) -> Settings {
        let setting = |name: &str| found.get(name).map(String::as_str);
        let event = setting("event");
        let is_wall = event == Some("wall");
        let is_time = matches!(event, None | Some("wall" | "cpu" | "itimer" | "ctimer"));
        let interval = match setting("interval").and_then(|text| text.parse().ok()) {
            Some(0) if is_wall => Some(DEFAULT_WALL_INTERVAL),
            Some(0) => Some(DEFAULT_INTERVAL),
            Some(interval) => Some(interval),
            None => setting("period").and_then(nanoseconds),
        };
        Settings { interval: interval.filter(|&interval| is_time && interval > 0), is_wall }
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
            Settings::of(&found).interval
        };
        assert_eq!(interval(&[("period", "20 ms")]), Some(20_000_000));
        assert_eq!(interval(&[("period", "everyChunk")]), None);
        assert_eq!(interval(&[("event", "itimer"), ("interval", "0")]), Some(10_000_000));
        assert_eq!(interval(&[("event", "wall"), ("interval", "0")]), Some(50_000_000));
        assert_eq!(interval(&[("event", "cache-misses"), ("interval", "1000")]), None);
    }
}
