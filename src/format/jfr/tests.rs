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
const CPU_TIME: u64 = 151;
const LOST: u64 = 152;
const OBJECT: u64 = 153;
const SAMPLED_OBJECT: u64 = 154;
const TRACE: u64 = 155;
const WRITE: u64 = 156;
const SLEEP: u64 = 157;
const TIMING: u64 = 158;
const INT: u64 = 42;
const FLOAT: u64 = 43;
const FLAG: u64 = 44;
const STACK: u64 = 50;
const FRAME: u64 = 51;
const METHOD: u64 = 52;
const SYMBOL: u64 = 53;
const CLASS: u64 = 54;

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
fn metadata(prefix: &str) -> Vec<u8> {
    type Fields = &'static [(&'static str, u64)];
    let classes: [(u64, &str, Fields); 23] = [
        (TIMING, "jdk.MethodTiming", &[("method", METHOD), ("invocations", LONG)]),
        (CPU_TIME, "jdk.CPUTimeSample", &[("stackTrace", STACK), ("samplingPeriod", LONG)]),
        (LOST, "jdk.CPUTimeSamplesLost", &[("lostSamples", INT)]),
        (OBJECT, "jdk.ObjectAllocationSample", &[("stackTrace", STACK), ("weight", LONG)]),
        (SAMPLED_OBJECT, "datadog.ObjectSample", &[("stackTrace", STACK), ("size", LONG), ("weight", FLOAT)]),
        (TRACE, "jdk.MethodTrace", &[("duration", LONG), ("stackTrace", STACK), ("method", METHOD)]),
        (SLEEP, "jdk.ThreadSleep", &[("startTime", LONG), ("duration", LONG)]),
        (WRITE, "jdk.FileWrite", &[("duration", LONG), ("bytesWritten", LONG)]),
        (STACK, "jdk.types.StackTrace", &[("truncated", FLAG), ("frames", FRAME)]),
        (FRAME, "jdk.types.StackFrame", &[("method", METHOD), ("lineNumber", INT)]),
        (METHOD, "jdk.types.Method", &[("type", CLASS), ("name", SYMBOL)]),
        (CLASS, "java.lang.Class", &[("name", SYMBOL)]),
        (SYMBOL, "jdk.types.Symbol", &[("string", TEXT)]),
        (FLOAT, "float", &[]),
        (INT, "int", &[]),
        (FLAG, "boolean", &[]),
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
        let name = name.replacen("jdk.", prefix, 1);
        element("class", &[("id", id.to_string()), ("name", name)], fields.len());
        for &(name, class) in fields {
            let pooled = [STATE, STACK, METHOD, CLASS, SYMBOL].contains(&class).to_string();
            let dimension = u8::from(class == FRAME).to_string();
            let is_period = name == "samplingPeriod";
            let class = class.to_string();
            let attributes =
                [("name", name.into()), ("class", class), ("constantPool", pooled), ("dimension", dimension)];
            element("field", &attributes, usize::from(is_period));
            if is_period {
                element("annotation", &[("class", "99".into()), ("value", "MILLISECONDS".into())], 0);
            }
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
    chunk_of("jdk.", true, start_s, events)
}

/// The pools: thread states, and the stack 1, in which `a.Main.run` calls `a.Main.work` at line 7.
fn constants(has_kind: bool) -> Vec<u8> {
    let text = |text: &str| {
        let mut out = Vec::new();
        push_text(&mut out, text);
        out
    };
    let pools: [(u64, Vec<Vec<u8>>); 5] = [
        (STATE, STATES.iter().map(|name| text(name)).collect()),
        (SYMBOL, vec![text("a/Main"), text("run"), text("work"), text("slow")]),
        (CLASS, vec![vec![1]]),
        (METHOD, vec![vec![1, 2], vec![1, 3], vec![1, 4]]),
        (STACK, vec![vec![0, 2, 2, 7, 1, 9]]),
    ];
    event(1, |out| {
        // Events were removed, so the distance back leads nowhere.
        for number in [0, 0, if has_kind { 0 } else { 97 }] {
            push_varint(out, number);
        }
        if has_kind {
            out.push(0);
        }
        push_varint(out, pools.len() as u64);
        for (class, constants) in &pools {
            push_varint(out, *class);
            push_varint(out, constants.len() as u64);
            for (key, constant) in constants.iter().enumerate() {
                // 0 is null, except for states.
                push_varint(out, key as u64 + u64::from(*class != STATE));
                out.extend(constant);
            }
        }
    })
}

fn chunk_of(prefix: &str, has_kind: bool, start_s: i64, events: &[Vec<u8>]) -> Vec<u8> {
    let constants = constants(has_kind);
    let events = events.concat();
    let constants_at = 68 + events.len();
    let metadata_at = constants_at + constants.len();
    let metadata = metadata(prefix);
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

/// An event whose fields are small numbers.
fn numbers(class: u64, fields: &[u64]) -> Vec<u8> {
    event(class, |out| {
        for &field in fields {
            push_varint(out, field);
        }
    })
}

fn load(chunks: &[Vec<u8>]) -> Profile {
    read(&mut Source::from_bytes(chunks.concat()), LoadOptions::ALL).unwrap()
}

/// The same without times, which the notation would show.
fn load_untimed(chunks: &[Vec<u8>]) -> Profile {
    read(&mut Source::from_bytes(chunks.concat()), LoadOptions { times: false, ..LoadOptions::ALL }).unwrap()
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

/// A recording without a filter has an event without a method.
#[test]
fn timed_methods_give_a_warning() {
    let timings = [numbers(TIMING, &[1, 40]), numbers(TIMING, &[2, 7]), numbers(TIMING, &[3, 0])];
    let warnings = load(&[chunk(1, &timings), chunk(2, &timings)]).meta.warnings;
    let expected = "how often 2 methods were called (jdk.MethodTiming) is left out, since these events have no stacks; \
                    `jfr view method-timing` prints it";
    assert!(warnings.contains(&expected.to_string()), "{warnings:?}");
    let none = load(&[chunk(1, &[numbers(TIMING, &[0, 0]), samples(0, 1)])]).meta.warnings;
    assert!(!none.iter().any(|warning| warning.contains("MethodTiming")), "{none:?}");
}

#[test]
fn unsupported_sample_types_give_a_warning() {
    let other = event(OTHER, |out| push_varint(out, 0));
    let profile = load(&[chunk(1, &[other.repeat(3), samples(0, 1)])]);
    let warning = "skipped samples of unsupported event types: agent.OtherSample (3)";
    assert!(profile.meta.warnings.contains(&warning.to_string()), "{:?}", profile.meta.warnings);
}

/// A thread that had slept for 5 s when the recording began, and one second more. One that has slept since the first chunk counts in full.
#[test]
fn waits_count_from_the_start_of_the_recording() {
    let second = 1_000_000_000;
    let sleep = |start: i64, duration: i64| {
        event(SLEEP, |out| {
            for value in [start, duration] {
                push_varint(out, value.cast_unsigned());
                // The ninth byte has eight bits.
                out.truncate(out.len() - usize::from(value < 0));
            }
        })
    };
    let first = [sleep(-5 * second, 6 * second), sleep(0, second / 2), sleep(-5 * second, second)];
    let later = [sleep(-second, 3 * second), sleep(-2 * second, 3 * second)];
    let profile = load(&[chunk(10, &first), chunk(11, &later)]);
    let values: Vec<i64> = profile.samples.values[1].iter().map(|value| value * 2 / second).collect();
    assert_eq!(values, [2, 1, 2, 6, 4]);
    let times = [10, 10, 5, 10, 10].map(|time| time * second);
    assert_eq!(profile.samples.time.as_deref(), Some(&times[..]));
    assert_eq!(profile.meta.notes, ["2 waits began before the recording and count from its start"]);
    let untimed = load_untimed(&[chunk(10, &first), chunk(11, &later)]);
    assert_eq!(totals(&untimed), [("sleep_count", 5), ("sleep_duration", 15 * second / 2)]);
}

/// Chunks of two recorders that ran at the same time, and one of another day.
#[test]
fn the_duration_is_the_time_covered_by_chunks() {
    let day = 86_400;
    let profile = load(&[chunk(1, &[]), chunk(1, &[]), chunk(2, &[]), chunk(day, &[])]);
    assert_eq!(profile.meta.duration_ns, Some(3_000_000_000));
}

/// Since Java 25, samples of CPU time hold their period, and execution samples would count it twice.
#[test]
fn samples_of_cpu_time_replace_execution_samples() {
    let sample = numbers(CPU_TIME, &[1, 20]);
    let events = [sample.repeat(3), samples(0, 5), numbers(LOST, &[4])];
    let profile = load(&[chunk(1, &events)]);
    assert_eq!(totals(&profile), [("samples", 3), ("cpu", 60_000_000)]);
    let expected = [
        "jdk.ExecutionSample and jdk.CPUTimeSample measure the same; only the latter is used, to avoid counting twice",
        "4 samples of CPU time were lost by the recorder",
    ];
    assert_eq!(profile.meta.warnings, expected);
}

/// Samples of CPU time were turned on during a recording, or two recordings are in one file; Datadog's agent writes the chunks of
/// recorders that ran at once.
#[test]
fn samples_are_replaced_only_by_those_of_the_same_time() {
    let sampled = |start| chunk(start, &[numbers(CPU_TIME, &[1, 20]).repeat(3), samples(0, 5)]);
    let before = chunk(1, &[setting("period", "20 ms"), samples(0, 4)]);
    let profile = load(&[before.clone(), sampled(2)]);
    assert_eq!(totals(&profile), [("samples", 7), ("cpu", 140_000_000)]);
    assert_eq!(profile.meta.warnings.iter().filter(|text| text.contains("measure the same")).count(), 1);
    let beside = load(&[before, sampled(1)]);
    assert_eq!(totals(&beside), [("samples", 3), ("cpu", 60_000_000)]);
}

/// A sampled object of 100 bytes that stands for 2.5.
#[test]
fn sampled_objects_stand_for_several() {
    let sampled = event(SAMPLED_OBJECT, |out| {
        out.extend([1, 100]);
        out.extend(2.5_f32.to_be_bytes());
    });
    let profile = load(&[chunk(1, &[sampled.repeat(2), numbers(OBJECT, &[1, 9])])]);
    assert_eq!(totals(&profile), [("alloc_objects", 6), ("alloc_space", 500)]);
}

#[test]
fn traced_methods_are_called_from_the_stack() {
    let traces = [numbers(TRACE, &[50, 1, 3]), numbers(TRACE, &[7, 1, 2]), numbers(WRITE, &[30, 8])];
    let profile = load_untimed(&[chunk(1, &traces)]);
    let expected = [
        " 1 30 8 0 0 {operation=write}",
        "a.Main.run@a/Main.java:9;a.Main.work@a/Main.java:7 0 0 0 1 7",
        "a.Main.run@a/Main.java:9;a.Main.work@a/Main.java:7;a.Main.slow@a/Main.java:0 0 0 0 1 50",
    ];
    assert_eq!(crate::profile::to_notation(&profile), expected.join("\n"));
    let metrics = ["file_count", "file_duration", "file_bytes", "calls", "call_duration"];
    assert_eq!(totals(&profile).iter().map(|(name, _)| *name).collect::<Vec<_>>(), metrics);
}

#[test]
fn names_of_java_9_are_those_of_later_versions() {
    let events = [setting("period", "10 ms"), samples(0, 3)];
    let profile = load(&[chunk_of("com.oracle.jdk.", true, 1, &events)]);
    assert_eq!(totals(&profile), [("samples", 3), ("cpu", 30_000_000)]);
}

#[test]
fn constants_are_found_without_their_chain() {
    let expected = load(&[chunk(1, &[numbers(CPU_TIME, &[1, 20])])]);
    let found = load(&[chunk_of("jdk.", false, 1, &[numbers(CPU_TIME, &[1, 20])])]);
    let notation = crate::profile::to_notation;
    assert!(
        notation(&expected).starts_with("a.Main.run@a/Main.java:9;a.Main.work"),
        "{}",
        notation(&expected)
    );
    assert_eq!(notation(&found), notation(&expected));
}

/// A recording of version 0.9: two executions of `a.Main.run`, and one wait of 3 ticks, 1 µs each.
#[test]
fn version_0_9_is_read() {
    let text = |text: &str| [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat();
    let int = |number: u32| number.to_be_bytes().to_vec();
    let long = |number: u64| number.to_be_bytes().to_vec();
    let event = |class: u32, body: Vec<Vec<u8>>| {
        let body = body.concat();
        [int(body.len() as u32 + 8), int(class), body].concat()
    };
    // Name, type, pool, structure.
    let field = |name: &str, kind: u8, pool: u32, structure: u32| {
        [text(name), text(""), text(""), vec![0, kind], int(pool), int(structure), int(0)].concat()
    };
    let structure = |fields: &[Vec<u8>]| [int(fields.len() as u32), fields.concat()].concat();
    let structures = [
        structure(&[field("sampledThread", 6, 7, 0), field("stackTrace", 8, 9, 0)]),
        structure(&[field("klass", 8, 10, 0)]),
        structure(&[field("name", 11, 0, 0)]),
        structure(&[field("truncated", 0, 0, 0), field("frames", 15, 0, 4)]),
        structure(&[field("method", 8, 32, 0), field("line", 5, 0, 0)]),
        structure(&[field("name", 8, 33, 0)]),
        structure(&[field("class", 8, 10, 0), field("name", 8, 33, 0)]),
        structure(&[field("utf8", 11, 0, 0)]),
        structure(&[field("period", 7, 3, 0), field("path", 12, 0, 0)]),
    ];
    let kind = |id: u32, path: &str, flags: [u8; 4], structure: u32| {
        [int(id), text(""), text(""), text(path), flags.to_vec(), int(structure), int(0)].concat()
    };
    let kinds = [
        kind(60, "vm/prof/execution_sample", [0; 4], 0),
        kind(8, "java/monitor_wait", [1, 1, 1, 0], 1),
        kind(61, "recordings/recording_setting", [0; 4], 8),
    ];
    let pool =
        |id: u32, key: u8, structure: u32| [int(id), text(""), text(""), vec![key], int(structure)].concat();
    let pools = [pool(7, 6, 2), pool(9, 8, 3), pool(10, 8, 5), pool(32, 8, 6), pool(33, 8, 7)];
    let list = |items: &[Vec<u8>]| [int(items.len() as u32), items.concat()].concat();
    let producer = [
        int(1),
        text("HotSpot"),
        text(""),
        text("http://x/"),
        int(0),
        list(&structures),
        list(&kinds),
        list(&pools),
    ];
    let path: Vec<u8> =
        "http://x/vm/prof/execution_sample".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let setting = vec![long(100), long(20), int(path.len() as u32 / 2), path];
    let sample = event(60, vec![long(100), int(4), long(5)]);
    let wait = event(8, vec![long(103), long(100), int(4), long(5), long(6)]);
    let header = b"FLR\0\0\0\0\x09".to_vec();
    let events = [event(61, setting), sample.repeat(2), wait].concat();
    let constants_at = 16 + events.len() as u64;
    let constants = event(
        1,
        vec![
            long(0),
            long(0),
            [int(7), int(1), int(4), text("main")].concat(),
            [int(9), int(1), long(5), vec![0], int(1), long(2), int(9)].concat(),
            [int(10), int(1), long(6), long(1)].concat(),
            [int(32), int(1), long(2), long(6), long(3)].concat(),
            [int(33), int(2), long(1), text("a/Main"), long(3), text("run")].concat(),
        ],
    );
    let times = [long(7_000), long(9_000), long(0), long(1_000_000), long(constants_at)].concat();
    let metadata = event(0, vec![int(1), producer.concat(), times]);
    let metadata_at = constants_at + constants.len() as u64;
    let recording = [header, long(metadata_at), events, constants, metadata].concat();

    let times = load(std::slice::from_ref(&recording)).samples.time.clone();
    assert_eq!(times, Some(vec![7_000_100_000, 7_000_100_000, 7_000_100_000]));
    let profile = load_untimed(std::slice::from_ref(&recording));
    let expected = "a.Main.run@a/Main.java:9 0 0 1 3000 {class=a.Main thread=main}\n\
                    a.Main.run@a/Main.java:9 2 40000000 0 0 {thread=main}";
    assert_eq!(crate::profile::to_notation(&profile), expected);
    assert_eq!(profile.meta.duration_ns, Some(2_000_000_000));
    let metrics = [("samples", 2), ("cpu", 40_000_000), ("wait_count", 1), ("wait_duration", 3_000)];
    assert_eq!(totals(&profile), metrics);
    for end in 1..recording.len() {
        let cut = read(&mut Source::from_bytes(recording[..end].to_vec()), LoadOptions::ALL);
        assert!(cut.is_err(), "{end}");
    }
}
