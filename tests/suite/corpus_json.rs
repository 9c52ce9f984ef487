//! Compares the JSON readers with other programs on profiles recorded by other people: the expected results are snapshots
//! of the tests of speedscope and of the Firefox Profiler.
//!
//! These profiles belong to their repositories and are part of the corpus, not of the checkout.

use std::collections::BTreeMap;
use std::fs::{self, File};

use crate::support::corpus_root;
use prof::format::{self, LoadError, Source};
use prof::profile::{LoadOptions, Profile};

/// Values by stack, the names of a stack joined by `;`.
type ByStack = BTreeMap<String, f64>;

fn open(path: &str) -> Source {
    let file = File::open(corpus_root().join(path)).unwrap();
    Source::open(Box::new(file)).unwrap()
}

fn try_load(path: &str, options: LoadOptions) -> Result<Profile, LoadError> {
    format::load(&mut open(path), options, None)
}

fn load(path: &str) -> Profile {
    try_load(path, LoadOptions::default()).unwrap()
}

/// The values of a metric by stack.
fn by_stack(profile: &Profile, metric: &str, name: impl Fn(&str) -> String) -> ByStack {
    let metric = profile.meta.metric_named(metric).unwrap();
    let values = profile.value_by_stack(metric);
    let mut sums = ByStack::new();
    for stack in profile.stack_ids() {
        let frames = profile.stacks.frames(stack).iter().copied();
        // speedscope omits a function that V8 runs when a recording starts.
        let file = |frame| profile.symbols.function_file(profile.symbols.frames[frame].function);
        let frames = frames.filter(|&frame| file(frame) != "native dummy.js");
        let names: Vec<String> = frames.map(|frame| name(profile.symbols.frame_name(frame))).collect();
        *sums.entry(names.join(";")).or_default() += values[stack] as f64;
    }
    sums.retain(|_, value| *value != 0.0);
    sums
}

/// The snapshot called `title` in speedscope's tests: the stacks of all its threads in the unit of the profile, with the
/// rounding error of each sum.
struct Snapshot {
    stacks: BTreeMap<String, (f64, f64)>,
    /// Self values by name.
    own: ByStack,
}

fn snapshot(file: &str, title: &str, unit: &str) -> Snapshot {
    let path = corpus_root().join("_snapshots").join(file);
    let text = fs::read_to_string(path).unwrap();
    let mut snapshot = Snapshot { stacks: BTreeMap::new(), own: ByStack::new() };
    let mut found = false;
    for part in text.split("\nexports[`").skip(1) {
        let (name, body) = part.split_once("`] = `").unwrap();
        // `title 1`, and `title 2` … if there are several threads.
        if name.strip_prefix(title).is_none_or(|rest| rest.trim().parse::<u32>().is_err()) {
            continue;
        }
        found = true;
        let (frames, stacks) = body.split_once("\"stacks\": [").unwrap();
        snapshot.read_frames(frames);
        for line in stacks.lines().filter_map(|line| line.trim().strip_prefix('"')) {
            snapshot.read_stack(line.trim_end_matches("\","), unit);
        }
    }
    assert!(found, "{title} is not in {file}");
    snapshot
}

impl Snapshot {
    fn read_frames(&mut self, text: &str) {
        for frame in text.split("Frame {").skip(1) {
            let member = |key: &str| {
                let line = frame.lines().find_map(|line| line.trim().strip_prefix(&format!("\"{key}\": ")));
                line.map(|line| line.trim_end_matches(',').trim_matches('"').to_string())
            };
            // If the name is a number, it is only in the key.
            let key = || member("key").unwrap().split(':').next().unwrap().to_string();
            let name = plain_name(&member("name").unwrap_or_else(key));
            let own: f64 = member("selfWeight").unwrap().parse().unwrap();
            *self.own.entry(name).or_default() += own;
        }
    }

    fn read_stack(&mut self, line: &str, unit: &str) {
        // The weight is `10.06ms`, `32.23 KB` or `7`.
        let at = line.rfind(|c: char| c.is_ascii_digit()).unwrap();
        let start = line[..=at].rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |at| at + 1);
        let (names, number, suffix) = (&line[..start], &line[start..=at], line[at + 1..].trim());
        let factor = match (suffix, unit) {
            ("" | "B", _) | ("µs", "µs") | ("ms", "ms") => 1.0,
            ("ms", "µs") => 1e3,
            ("s", "µs") => 1e6,
            ("µs", "ms") => 1e-3,
            ("KB", _) => 1024.0,
            ("MB", _) => 1024.0 * 1024.0,
            other => panic!("{other:?} in {line}"),
        };
        let stack: Vec<String> = split_names(names.trim_end()).iter().map(|name| plain_name(name)).collect();
        let stack = stack.join(";");
        let stack = stack.strip_prefix("(root)").map_or(&*stack, |rest| rest.trim_start_matches(';'));
        if !stack.is_empty() {
            let sum = self.stacks.entry(stack.to_string()).or_default();
            let half = if number.contains('.') { 0.005 * factor } else { 0.0 };
            *sum = (sum.0 + number.parse::<f64>().unwrap() * factor, sum.1 + half + 1e-6);
        }
    }
}

/// Splits at `;` except within arguments, as in `gamma {"detail":"a;b"}`.
fn split_names(stack: &str) -> Vec<&str> {
    let mut depth = 0;
    let split = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ';' && depth == 0
    };
    stack.split(split).collect()
}

/// A name without the parts that only speedscope adds: arguments of spans, locations of functions.
fn plain_name(name: &str) -> String {
    let name = name.split(" {").next().unwrap();
    if name.starts_with("(anonymous ") {
        return "(anonymous)".into();
    }
    name.split("(http").next().unwrap().to_string()
}

/// Compares stacks, except for those with a frame that speedscope moves to another stack.
fn compare(ours: &ByStack, snapshot: &Snapshot, moved: &[&str]) {
    let is_moved = |stack: &str| stack.split(';').any(|name| moved.contains(&name));
    let mut compared = 0;
    for (stack, &(expected, tolerance)) in snapshot.stacks.iter().filter(|(stack, _)| !is_moved(stack)) {
        let value = ours.get(stack).copied().unwrap_or(0.0);
        assert!((value - expected).abs() <= tolerance, "{stack}: {value}, expected {expected}");
        compared += 1;
    }
    for stack in ours.keys().filter(|stack| !is_moved(stack) && !stack.is_empty()) {
        assert!(snapshot.stacks.contains_key(stack), "{stack} is not expected");
    }
    println!("{compared} stacks agree");
}

/// Compares self values by name, exactly.
fn compare_own(ours: &ByStack, snapshot: &Snapshot, skip: &[&str]) {
    let mut own = ByStack::new();
    for (stack, value) in ours {
        *own.entry(stack.rsplit(';').next().unwrap().to_string()).or_default() += value;
    }
    for (name, &expected) in snapshot.own.iter().filter(|(name, _)| !skip.contains(&name.as_str())) {
        let value = own.get(name).copied().unwrap_or(0.0);
        assert!((value - expected).abs() < 0.5, "{name}: self {value}, expected {expected}");
    }
}

#[test]
#[needs(Corpus)]
fn chrome_traces_with_v8_profiles_agree_with_speedscope() {
    let cases = [
        ("chrome116_Trace-20230603T221323.json", "importFromChromeTimeline Chrome 116"),
        ("chrome69_simple.json", "importFromChromeTimeline Chrome 69"),
        ("chrome141_no-arg-data.json", "importTraceEvents Chrome 141 profile with missing arg data"),
    ];
    for (file, title) in cases {
        let profile = load(&format!("chrome-trace/jlfwong__speedscope__{file}"));
        let snapshot = snapshot("speedscope/jlfwong__speedscope__chrome.test.ts.snap", title, "µs");
        let mut ours = by_stack(&profile, "cpu", plain_name);
        if file.starts_with("chrome141") {
            // Five samples refer to nodes that are missing from the trace: speedscope continues the previous stack.
            assert_eq!(ours.remove(""), Some(668.0));
            *ours.get_mut("(anonymous)").unwrap() += 540.0;
            let before = ours.iter_mut().find(|(stack, _)| stack.ends_with("(anonymous);(anonymous);h;R"));
            *before.unwrap().1 += 128.0;
        }
        // speedscope omits the first and puts the others on top of the previous stack.
        let moved = ["(idle)", "(program)", "(garbage collector)"];
        compare(&ours, &snapshot, &moved);
        // In one of the files, the clock runs backwards seven times, always in `(program)`: speedscope subtracts that
        // time, whereas we let no time pass.
        let backwards: &[&str] = if profile.meta.warnings.is_empty() { &[] } else { &["(program)"] };
        compare_own(&ours, &snapshot, backwards);
    }
}

#[test]
#[needs(Corpus)]
fn spans_agree_with_speedscope() {
    let cases = [
        ("bex-interaction", "BEX interaction"),
        ("end-non-top-of-stack", "end-non-top-of-stack"),
        ("matching-x", "matching x"),
        ("mismatched-args", "mismatched args"),
        ("mismatched-name", "mismatched name"),
        ("multiprocess", "multiprocess"),
        ("must-retain-original-order", "event re-ordering"),
        ("out-of-order", "not out-of-order"),
        ("simple-partial-trailing-comma", "partial json import trailing comma"),
        ("simple-partial-whitespace", "partial json import whitespace padding"),
        ("simple-partial", "partial json import"),
        ("too-many-end-events", "bad E events"),
        ("unbalanced-args", "unbalanced args"),
        ("unbalanced-name", "unbalanced name"),
        ("x-events-matching-end", "x events matching end"),
        ("x-events-matching-start", "x events matching start"),
        ("zero-duration-events", "zero duration events"),
    ];
    for (file, title) in cases {
        let profile = load(&format!("chrome-trace/jlfwong__speedscope__te_{file}.json"));
        let snapshot = trace_event_snapshot(title);
        let mut ours = by_stack(&profile, "wall", plain_name);
        for value in ours.values_mut() {
            *value /= 1000.0;
        }
        println!("{file}");
        compare(&ours, &snapshot, &[]);
        compare_own(&ours, &snapshot, &[]);
    }
}

#[test]
#[needs(Corpus)]
fn samples_next_to_events_agree_with_speedscope() {
    let profile = load("chrome-trace/jlfwong__speedscope__te_simple-with-samples.json");
    let snapshot = trace_event_snapshot("simple profile with samples");
    let ours = by_stack(&profile, "cpu", plain_name);
    compare(&ours, &snapshot, &[]);
    compare_own(&ours, &snapshot, &[]);
}

fn trace_event_snapshot(title: &str) -> Snapshot {
    let title = format!("importTraceEvents {title}");
    snapshot("speedscope/jlfwong__speedscope__trace-event.test.ts.snap", &title, "µs")
}

#[test]
#[needs(Corpus)]
fn heap_profiles_agree_with_speedscope() {
    let cases = [("Heap-20181005T144546", "Chrome"), ("Heap-20181003T105432", "NodeJS")];
    for (file, from) in cases {
        let profile = load(&format!("heapprofile/jlfwong__speedscope__{file}.heapprofile"));
        let title = format!("importV8HeapAlloc from {from}");
        let snapshot = snapshot("speedscope/jlfwong__speedscope__v8heapalloc.test.ts.snap", &title, "B");
        let ours = by_stack(&profile, "inuse_space", plain_name);
        compare(&ours, &snapshot, &[]);
        compare_own(&ours, &snapshot, &["(root)"]);
    }
}

#[test]
#[needs(Corpus)]
fn stackprof_agrees_with_speedscope() {
    let cases = [
        ("simple-stackprof", "importFromStackprof", "wall"),
        ("object-stackprof", "importFromStackprof object mode", "samples"),
        (
            "stackprof-last-frame-no-name",
            "importFromStackprof when a profile has a frame with no name",
            "samples",
        ),
    ];
    for (file, title, metric) in cases {
        let profile = load(&format!("stackprof/jlfwong__speedscope__{file}.json"));
        let snapshot = snapshot("speedscope/jlfwong__speedscope__stackprof.test.ts.snap", title, "µs");
        let unnamed = |name: &str| plain_name(if name == "<unknown>" { "(unknown)" } else { name });
        let ours = by_stack(&profile, metric, unnamed);
        compare(&ours, &snapshot, &["(garbage collection)"]);
        compare_own(&ours, &snapshot, &[]);
    }
}

/// One recording in several versions of the format, converted by the Firefox Profiler and samply: the tables move from
/// the threads to the profile, but have the same contents.
#[test]
#[needs(Corpus)]
fn versions_of_one_firefox_profile_hold_the_same() {
    let pairs = [
        ("firefox-devtools__profiler__processed-1.v60", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__processed-1.v62", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__processed-1.v64", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__processed-1.v66", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__processed-1.v68", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__processed-1.v70", "firefox-devtools__profiler__processed-1.v57"),
        ("firefox-devtools__profiler__gecko-1.gecko36", "firefox-devtools__profiler__gecko-1"),
        ("mstange__samply__profile_without_js.v64", "mstange__samply__profile_without_js.v61"),
        ("mstange__samply__profile_without_js.v66", "mstange__samply__profile_without_js.v61"),
        ("mstange__samply__profile_without_js.v68", "mstange__samply__profile_without_js.v61"),
    ];
    for (newer, older) in pairs {
        let newer = load(&format!("gecko/{newer}.json"));
        let older = load(&format!("gecko/golden/{older}.json"));
        let [newer, older] = [newer, older].map(|profile| by_stack(&profile, "samples", str::to_string));
        assert!(!newer.is_empty());
        assert_eq!(newer, older);
    }
}

/// In speedscope, a sample lasts until the next one, and Firefox's own scripts are omitted.
#[test]
#[needs(Corpus)]
fn a_raw_firefox_profile_agrees_with_speedscope() {
    let path = "gecko/jlfwong__speedscope__ff63_simple-firefox.json";
    let profile = try_load(path, LoadOptions::ALL);
    let profile = profile.unwrap();
    let snapshot = snapshot(
        "speedscope/jlfwong__speedscope__firefox.test.ts.snap",
        "importFromFirefox ignore self-hosted",
        "ms",
    );
    let symbols = &profile.symbols;
    let times = profile.samples.time.as_ref().unwrap();
    let mut ours = ByStack::new();
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let names: Vec<&str> = profile
            .stacks
            .frames(stack)
            .iter()
            .filter(|&&frame| {
                let file = symbols.function_file(symbols.frames[frame].function);
                !file.is_empty() && !file.starts_with("resource:") && file != "self-hosted"
            })
            .map(|&frame| symbols.frame_name(frame))
            .collect();
        let until = times.get(row + 1).unwrap_or(&times[row]);
        *ours.entry(names.join(";")).or_default() += (until - times[row]) as f64 / 1e6;
    }
    ours.retain(|_, value| *value != 0.0);
    compare(&ours, &snapshot, &[]);
}

/// The heaviest stacks of `thread` in the Firefox Profiler's tests: weight and stack.
fn heaviest(title: &str, thread: &str) -> Vec<(f64, String)> {
    let name = "_snapshots/firefox-profiler/firefox-devtools__profiler__profile-conversion.test.ts.snap";
    let text = fs::read_to_string(corpus_root().join(name)).unwrap();
    let (_, body) = text.split_once(&format!("{title} 1`] = `")).unwrap();
    let body = body.split("\n`;").next().unwrap();
    let (_, threads) = body.split_once("\"topStacksPerThread\"").unwrap();
    for part in threads.split("Object {").skip(1) {
        if part.contains(&format!("\"thread\": \"{thread}\"")) && !part.contains("\"stacks\": Array []") {
            let lines = part
                .lines()
                .filter_map(|line| line.trim().strip_prefix('"'))
                .filter(|line| line.contains("x) "));
            return lines
                .map(|line| {
                    let (weight, rest) = line.split_once(' ').unwrap();
                    let (_, names) = rest.split_once(") ").unwrap();
                    let names: Vec<&str> = names.trim_end_matches("\",").split(" -> ").skip(1).collect();
                    (weight.parse().unwrap(), names.join(";"))
                })
                .collect();
        }
    }
    panic!("{thread} is not in {title}");
}

#[test]
#[needs(Corpus)]
fn v8_profiles_agree_with_the_firefox_profiler() {
    let file = "cpuprofile/firefox-devtools__profiler__hello.cjs-20231120T211435.cpuprofile";
    let profile = load(file);
    let ours = by_stack(&profile, "samples", str::to_string);
    for (expected, stack) in
        heaviest("imports a profile with DevTools timestamp in filename", "Chrome Thread")
    {
        assert_eq!(ours.get(&stack), Some(&expected), "{stack}");
    }
    // It keeps only one sample per 0.5 ms of a trace, so only the stacks can be compared.
    let profile = load("chrome-trace/firefox-devtools__profiler__test.chrome.gz");
    let ours = by_stack(&profile, "samples", str::to_string);
    let title = "imports a chunked profile (one that uses Profile + ProfileChunk trace events)";
    for (expected, stack) in heaviest(title, "CrRendererMain") {
        assert!(ours.get(&stack).is_some_and(|&value| value >= expected), "{stack}");
    }
}

#[test]
#[needs(Corpus)]
fn dhat_agrees_with_the_firefox_profiler() {
    let profile = load("dhat/firefox-devtools__profiler__dhat.json.gz");
    let metrics = [
        ("alloc_space", "Total Bytes", 21_642),
        ("max_space", "Maximum Bytes", 19_016),
        ("peak_space", "Bytes at Global Max", 9_584),
        ("inuse_space", "Bytes at End", 1_112),
    ];
    for (metric, thread, total) in metrics {
        let number = profile.meta.metric_named(metric).unwrap();
        assert_eq!(profile.meta.metrics[number].total, total);
        let ours = by_stack(&profile, metric, str::to_string);
        for (expected, stack) in heaviest("should import a dhat profile", thread) {
            // We omit stacks that allocated nothing in this metric.
            if expected > 0.0 {
                assert_eq!(ours.get(&stack), Some(&expected), "{stack}");
            }
        }
    }
}
