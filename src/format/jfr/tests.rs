//! Handmade recordings: chunks with settings and execution samples.

use super::*;
use crate::format::wire::push_varint;

/// Ids of classes.
const SETTING: u64 = 107;
const SAMPLE: u64 = 101;
const STATE: u64 = 30;
const LONG: u64 = 40;
const TEXT: u64 = 41;
const MACHINE: u64 = 109;
const OTHER: u64 = 150;

const STATES: &[&str] = &["STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING"];

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(3);
    push_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// An event preceded by its size, which is always encoded in four bytes.
fn event(class: u64, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = Vec::new();
    push_varint(&mut body, class);
    fill(&mut body);
    let size = body.len() as u64 + 4;
    let mut out: Vec<u8> =
        (0..4).map(|at| ((size >> (7 * at)) & 0x7F) as u8 | if at < 3 { 0x80 } else { 0 }).collect();
    out.extend(body);
    out
}

fn setting(name: &str, value: &str) -> Vec<u8> {
    event(SETTING, |out| {
        push_varint(out, SAMPLE);
        push_text(out, name);
        push_text(out, value);
    })
}

fn samples(state: u64, count: usize) -> Vec<u8> {
    event(SAMPLE, |out| push_varint(out, state)).repeat(count)
}

fn machine(processors: u64) -> Vec<u8> {
    event(MACHINE, |out| push_varint(out, processors))
}

/// The event that declares the classes: a tree of elements whose names and attributes are indexes of strings.
fn metadata() -> Vec<u8> {
    type Fields = &'static [(&'static str, u64)];
    let classes: [(u64, &str, Fields); 7] = [
        (SETTING, "jdk.ActiveSetting", &[("id", LONG), ("name", TEXT), ("value", TEXT)]),
        (SAMPLE, "jdk.ExecutionSample", &[("state", STATE)]),
        (MACHINE, "jdk.CPUInformation", &[("hwThreads", LONG)]),
        (OTHER, "agent.OtherSample", &[("stackTrace", LONG)]),
        (STATE, "jdk.types.ThreadState", &[("name", TEXT)]),
        (LONG, "long", &[]),
        (TEXT, "java.lang.String", &[]),
    ];
    let mut strings: Vec<String> = Vec::new();
    let mut tree = Vec::new();
    let mut number = |text: &str| {
        let known = strings.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            strings.push(text.to_string());
            strings.len() - 1
        }) as u64
    };
    let mut element = |name: &str, attributes: &[(&str, String)], children: usize| {
        push_varint(&mut tree, number(name));
        push_varint(&mut tree, attributes.len() as u64);
        for (key, value) in attributes {
            push_varint(&mut tree, number(key));
            push_varint(&mut tree, number(value));
        }
        push_varint(&mut tree, children as u64);
    };
    element("metadata", &[], classes.len());
    for (id, name, fields) in classes {
        element("class", &[("id", id.to_string()), ("name", name.to_string())], fields.len());
        for &(name, class) in fields {
            let pooled = (class == STATE).to_string();
            let class = class.to_string();
            element("field", &[("name", name.into()), ("class", class), ("constantPool", pooled)], 0);
        }
    }
    event(0, |out| {
        for number in [0, 0, 1] {
            push_varint(out, number);
        }
        push_varint(out, strings.len() as u64);
        for text in &strings {
            push_text(out, text);
        }
        out.extend(tree);
    })
}

/// A chunk with a duration of one second that contains `events`.
fn chunk(start_s: i64, events: &[Vec<u8>]) -> Vec<u8> {
    let constants = event(1, |out| {
        for number in [0, 0, 0] {
            push_varint(out, number);
        }
        out.push(0);
        push_varint(out, 1);
        push_varint(out, STATE);
        push_varint(out, STATES.len() as u64);
        for (number, name) in STATES.iter().enumerate() {
            push_varint(out, number as u64);
            push_text(out, name);
        }
    });
    let events = events.concat();
    let constants_at = 68 + events.len();
    let metadata_at = constants_at + constants.len();
    let metadata = metadata();
    let mut out = b"FLR\0\0\x02\0\0".to_vec();
    let size = metadata_at + metadata.len();
    let second = 1_000_000_000;
    for number in [size as i64, constants_at as i64, metadata_at as i64, start_s * second, second, 0, second]
    {
        out.extend(number.to_be_bytes());
    }
    out.extend([0, 0, 0, 1]);
    out.extend(events);
    out.extend(constants);
    out.extend(metadata);
    out
}

fn load(chunks: &[Vec<u8>]) -> Profile {
    read(&mut Source::from_bytes(chunks.concat()), LoadOptions::ALL).unwrap()
}

fn totals(profile: &Profile) -> Vec<(&str, i64)> {
    profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect()
}

#[test]
fn settings_of_the_first_chunk_apply_to_later_chunks() {
    let first = [setting("event", "itimer"), setting("interval", "5000000"), samples(0, 2)];
    let profile = load(&[chunk(1, &first), chunk(2, &[samples(0, 8)])]);
    assert_eq!(totals(&profile), [("samples", 10), ("cpu", 50_000_000)]);
    assert_eq!(profile.meta.warnings, ["10 samples have no stack"]);
}

/// `event=cpu,interval=10ms,wall=100ms`: 3 CPU samples, and wall-clock samples of runnable and sleeping threads.
#[test]
fn wall_clock_samples_do_not_count_as_cpu_time() {
    let both = [setting("event", "cpu"), setting("interval", "10000000"), setting("wall", "100000000")];
    let profile = load(&[chunk(1, &both), chunk(2, &[samples(0, 3), samples(1, 4), samples(2, 20)])]);
    assert_eq!(
        totals(&profile),
        [("samples", 3), ("cpu", 30_000_000), ("wall_samples", 24), ("wall", 2_400_000_000)]
    );
    // Version 3.0 did not write the intervals; the states still distinguish the samples.
    let profile = load(&[chunk(1, &[setting("event", "cpu"), samples(0, 3), samples(2, 20)])]);
    assert_eq!(totals(&profile), [("samples", 3), ("wall_samples", 20)]);
}

/// Views compare CPU time with the number of processors.
#[test]
fn the_number_of_processors_is_read() {
    let settings = [setting("event", "itimer"), setting("interval", "100000000"), machine(2)];
    let profile = load(&[chunk(1, &[settings.concat(), samples(0, 23)])]);
    assert_eq!((profile.meta.processors, profile.meta.duration_ns), (Some(2), Some(1_000_000_000)));
}

#[test]
fn unsupported_sample_types_give_a_warning() {
    let other = event(OTHER, |out| push_varint(out, 0));
    let profile = load(&[chunk(1, &[other.repeat(3), samples(0, 1)])]);
    let warning = "skipped samples of unsupported event types: agent.OtherSample (3)";
    assert!(profile.meta.warnings.contains(&warning.to_string()), "{:?}", profile.meta.warnings);
}

/// Chunks of two recorders that ran at the same time, and one of another day.
#[test]
fn the_duration_is_the_time_covered_by_chunks() {
    let day = 86_400;
    let profile = load(&[chunk(1, &[]), chunk(1, &[]), chunk(2, &[]), chunk(day, &[])]);
    assert_eq!(profile.meta.duration_ns, Some(3_000_000_000));
}
