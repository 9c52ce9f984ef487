//! Reads the profiles of Sentry's SDKs, in their three forms of JSON.
//!
//! ```text
//! of a transaction: {"version": "1", "platform": "python", "profile": {"frames": [{"function": "main", "filename": "a.py", "lineno": 5}],
//!                    "stacks": [[0]], "samples": [{"stack_id": 0, "thread_id": "7", "elapsed_since_start_ns": "9000000"}],
//!                    "thread_metadata": {"7": {"name": "main"}}}}
//! continuous:       {"version": "2", "chunk_id": "11cd", "profile": {…, "samples": [{…, "timestamp": 1724762625.57}]}}
//! of Android:       {"platform": "android", "profile": {"methods": [{"id": 1, "class_name": "A", "name": "f"}],
//!                    "events": [{"action": "Enter", "thread_id": 7, "method_id": 1, "time": {"Monotonic": {"wall": {"nanos": 5}}}}]}}
//! ```
//!
//! A stack starts with the leaf. A sample stands for the time until the next one of its thread; the last one of a thread for none,
//! since nothing says how long it lasted.

use std::collections::HashMap;

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};
use crate::unit::{parse_rfc3339, plural};

/// The entry in the list of readable formats.
pub(super) static SENTRY: Format = Format { name: NAME, title: "Sentry profile", sniff, read };

const NAME: &str = "sentry";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let is_known =
        ["client_sdk", "event_id", "chunk_id", "profile_id"].iter().any(|key| json::has(&keys, &[key]));
    // The server adds ids; what a library sends may have none.
    let is_known = is_known || json::has(&keys, &["version", "platform", "transaction"]);
    let is_profile = keys.iter().any(|(key, kind)| key == "profile" && *kind == Some(Kind::Object));
    let holds = |words: &[&str]| words.iter().all(|word| json::mentions(head, word));
    let is_sampled = holds(&["\"stacks\""]) || holds(&["\"stack_id\""]) || holds(&["\"frames\""]);
    let is_traced = holds(&["\"methods\""]) || holds(&["\"events\"", "\"Monotonic\""]);
    if is_known && is_profile && (is_sampled || is_traced) {
        Confidence::Certain
    } else if json::has(&keys, &["client_sdk"]) && json::mentions(head, "\"sentry.") {
        // What comes before the profile may fill the head.
        Confidence::Likely
    } else {
        Confidence::No
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut tables = None;
    json.object()?;
    while let Some(key) = json.key()? {
        let start = json.position();
        match (&*key, json.kind()?) {
            ("version", Kind::String) => check_version(&json.string()?, start)?,
            ("profile", Kind::Object) => tables = Some(Tables::read(&mut json, &mut builder)?),
            // The continuous form says for each sample when it was taken.
            ("timestamp", Kind::String) => builder.meta.time_ns = parse_rfc3339(&json.string()?).ok(),
            ("duration_ns", Kind::Number) => builder.meta.duration_ns = Some(json.integer()?),
            _ => json.skip()?,
        }
    }
    json.end()?;
    let Some(tables) = tables else {
        return Err(ParseError::whole(NAME, "the file has no `profile`").into());
    };
    if tables.events.is_empty() {
        tables.add_samples(&mut builder);
    } else {
        tables.add_calls(&mut builder);
    }
    Ok(finished(builder)?)
}

/// Profiles of transactions have version 1, continuous ones version 2, which Android writes as `2.android-trace`, or none.
fn check_version(version: &str, at: usize) -> Result<(), ParseError> {
    match version.strip_suffix(".android-trace").unwrap_or(version) {
        "" | "1" | "2" => Ok(()),
        _ => Err(ParseError::at_byte(NAME, at as u64, unsupported_version(version, 1, 2))),
    }
}

/// What a profile consists of. Its tables may come in any order.
#[derive(Default)]
struct Tables {
    frames: Vec<FrameId>,
    /// The frames of each stack, leaf first.
    stacks: Vec<Vec<u32>>,
    samples: Vec<Sample>,
    methods: HashMap<i64, FrameId>,
    events: Vec<Event>,
    /// The names of the threads, by id.
    threads: HashMap<String, String>,
}

struct Sample {
    stack: usize,
    thread: String,
    /// In nanoseconds, since the start or since 1970; `None` if it is missing.
    time: Option<i64>,
}

/// A method that is running, and its frame.
type Call = (i64, FrameId);

/// A method is entered or left.
struct Event {
    is_enter: bool,
    method: i64,
    thread: String,
    /// In nanoseconds since the start.
    time: i64,
}

impl Tables {
    fn read(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<Tables, ParseError> {
        let mut tables = Tables::default();
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "frames" => tables.frames = json.list(|json| frame(json, builder))?,
                "stacks" => {
                    tables.stacks = json.list(|json| json.list(index))?;
                }
                "samples" => tables.samples = json.list(sample)?,
                "methods" => tables.methods = json.list(|json| method(json, builder))?.into_iter().collect(),
                "events" => tables.events = json.list(event)?,
                "threads" => tables.threads.extend(json.list(thread)?),
                "thread_metadata" => tables.read_thread_names(json)?,
                _ => json.skip()?,
            }
        }
        Ok(tables)
    }

    /// `{"7": {"name": "main", "priority": 31}}`
    fn read_thread_names(&mut self, json: &mut Json<'_>) -> Result<(), ParseError> {
        if !json.object_if_any()? {
            return Ok(());
        }
        while let Some(id) = json.key()? {
            let mut name = String::new();
            if json.object_if_any()? {
                while let Some(key) = json.key()? {
                    if key == "name" { name = text(json)? } else { json.skip()? }
                }
            }
            self.threads.insert(id.into_owned(), name);
        }
        Ok(())
    }

    fn add_samples(mut self, builder: &mut ProfileBuilder) {
        builder.metric("samples", "count");
        builder.meta.default_metric = builder.metric("wall", "nanoseconds");
        let mut missing = 0;
        let stacks: Vec<StackId> = std::mem::take(&mut self.stacks)
            .iter()
            .map(|stack| {
                let known = stack.iter().rev().filter_map(|&frame| self.frames.get(frame as usize).copied());
                let frames: Vec<FrameId> = known.collect();
                missing += stack.len() - frames.len();
                builder.stack(&frames)
            })
            .collect();
        // The time of each sample, from the last one of its thread on backwards.
        self.samples.sort_by_key(|sample| sample.time);
        let known = || self.samples.iter().filter_map(|sample| sample.time);
        let (start, end) = (known().next().unwrap_or(0), known().next_back().unwrap_or(0));
        let mut next: HashMap<&str, i64> = HashMap::new();
        let mut lasting = vec![0; self.samples.len()];
        for (sample, lasts) in self.samples.iter().zip(&mut lasting).rev() {
            let Some(time) = sample.time else { continue };
            *lasts = next.insert(&sample.thread, time).map_or(0, |next| next.saturating_sub(time));
        }
        let labels = self.labels(builder, self.samples.iter().map(|sample| &*sample.thread));
        if start > YEAR_2000 {
            builder.meta.time_ns = Some(start);
        }
        // The times of samples count from 1970 if the start of the recording is known.
        let origin = builder.meta.time_ns.unwrap_or(0);
        let (mut lost, empty) = (0, builder.stack(&[]));
        for (sample, lasts) in self.samples.iter().zip(lasting) {
            let stack = stacks.get(sample.stack).copied();
            lost += u64::from(stack.is_none());
            let labels = labels.get(&*sample.thread).copied().unwrap_or_default();
            let time = sample.time.map(|time| origin.saturating_add(time.saturating_sub(start)));
            builder.sample(stack.unwrap_or(empty), labels, time, &[1, lasts]);
        }
        if missing > 0 {
            let frames = plural(missing as u64, "frame", "frames");
            builder.warn(format!("{missing} {frames} of stacks are missing from the file"));
        }
        if lost > 0 {
            builder.warn(format!(
                "{lost} {} a stack that is missing from the file",
                plural(lost, "sample has", "samples have")
            ));
        }
        builder.meta.duration_ns.get_or_insert(end.saturating_sub(start));
    }

    /// Adds the time between two events of a thread to the stack in between.
    fn add_calls(self, builder: &mut ProfileBuilder) {
        builder.metric("wall", "nanoseconds");
        let labels = self.labels(builder, self.events.iter().map(|event| &*event.thread));
        let origin = builder.meta.time_ns.unwrap_or(0);
        // What each thread runs, and since when: the methods, with their frames.
        let mut running: HashMap<&str, (Vec<Call>, i64)> = HashMap::new();
        let mut unknown = 0;
        for event in &self.events {
            let (stack, since) = running.entry(&event.thread).or_insert((Vec::new(), event.time));
            let lasted = event.time.saturating_sub(*since);
            if lasted > 0 && !stack.is_empty() {
                let frames: Vec<FrameId> = stack.iter().map(|(_, frame)| *frame).collect();
                let id = builder.stack(&frames);
                let labels = labels.get(&*event.thread).copied().unwrap_or_default();
                builder.sample(id, labels, Some(origin.saturating_add(*since)), &[lasted]);
            }
            *since = event.time;
            if event.is_enter {
                let frame = self.methods.get(&event.method).copied().unwrap_or_else(|| {
                    unknown += 1;
                    builder.named_frame(&format!("[method {}]", event.method))
                });
                stack.push((event.method, frame));
            } else if let Some(place) = stack.iter().rposition(|(method, _)| *method == event.method) {
                // Events may be lost: whatever was called by this method has ended as well.
                stack.truncate(place);
            }
        }
        if unknown > 0 {
            let events = plural(unknown, "call", "calls");
            builder.warn(format!("{unknown} {events} of methods that the file does not name"));
        }
    }

    /// The labels of each thread.
    fn labels<'t>(
        &self,
        builder: &mut ProfileBuilder,
        threads: impl Iterator<Item = &'t str>,
    ) -> HashMap<&'t str, LabelSetId> {
        let mut labels = HashMap::new();
        for id in threads {
            labels.entry(id).or_insert_with(|| {
                let name = self.threads.get(id).map_or("", |name| name);
                sample_labels(builder, |labels| {
                    labels.text_if_known("thread", name);
                    labels.text_if_known("tid", id);
                })
            });
        }
        labels
    }
}

/// `{"id": 7, "name": "main"}`
fn thread(json: &mut Json<'_>) -> Result<(String, String), ParseError> {
    let (mut id, mut name) = (String::new(), String::new());
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "id" => id = text(json)?,
                "name" => name = text(json)?,
                _ => json.skip()?,
            }
        }
    }
    Ok((id, name))
}

/// Times after this one are since 1970, and not since the start of a recording.
const YEAR_2000: i64 = 946_684_800_000_000_000;

/// The index of a row; one that no table has if it is not an index.
fn index(json: &mut Json<'_>) -> Result<u32, ParseError> {
    Ok(json.row()?.and_then(|row| u32::try_from(row).ok()).unwrap_or(u32::MAX))
}

/// Endings of files in languages of the Java virtual machine.
const JAVA: [&str; 3] = [".java", ".kt", ".scala"];

fn is_java(file: &str) -> bool {
    JAVA.iter().any(|ending| file.ends_with(ending))
}

/// A string, or a number as it is written; empty for anything else.
fn text(json: &mut Json<'_>) -> Result<String, ParseError> {
    Ok(json.text_if_any()?.unwrap_or_default().into_owned())
}

/// `{"function": "main", "module": "shop", "filename": "shop/a.py", "abs_path": "/srv/shop/a.py", "lineno": 5}`, or with the shorter
/// keys `name`, `file` and `line`.
fn frame(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<FrameId, ParseError> {
    let (mut function, mut module, mut file, mut address) =
        (String::new(), String::new(), String::new(), String::new());
    let (mut path, mut line) = (String::new(), 0);
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "function" | "name" => function = text(json)?,
                "module" => module = text(json)?,
                "filename" | "file" => file = text(json)?,
                "abs_path" => path = text(json)?,
                "instruction_addr" => address = text(json)?,
                "lineno" | "line" => line = json.number_if_any()?.unwrap_or(0.0) as u32,
                _ => json.skip()?,
            }
        }
    }
    let name = match (&*function, &*address) {
        ("", "") => "[unknown]".to_string(),
        ("", address) => address.to_string(),
        // Of Java, the module is the class, and the file may be unknown.
        (name, _) if !module.is_empty() && (file.is_empty() || is_java(&file)) => format!("{module}.{name}"),
        (name, _) => name.to_string(),
    };
    let file = if path.is_empty() { &file } else { &path };
    let function = builder.script_function(&name, file, 0);
    Ok(builder.frame(Frame { function, line, ..Frame::default() }))
}

fn sample(json: &mut Json<'_>) -> Result<Sample, ParseError> {
    let mut sample = Sample { stack: usize::MAX, thread: String::new(), time: None };
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "stack_id" => sample.stack = json.row()?.unwrap_or(usize::MAX),
                "thread_id" => sample.thread = text(json)?,
                "elapsed_since_start_ns" => {
                    sample.time = json.number_if_any()?.map(|time| time as i64);
                }
                // Seconds since 1970.
                "timestamp" => sample.time = json.number_if_any()?.map(|time| (time * 1e9) as i64),
                _ => json.skip()?,
            }
        }
    }
    Ok(sample)
}

/// `{"id": 94, "class_name": "java.lang.ClassLoader", "name": "loadClass", "source_file": "ClassLoader.java", "source_line": 9}`
fn method(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<(i64, FrameId), ParseError> {
    let (mut id, mut line) = (0, 0);
    let (mut class, mut name, mut file) = (String::new(), String::new(), String::new());
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "id" => id = json.number_if_any()?.unwrap_or(0.0) as i64,
                "class_name" => class = text(json)?,
                "name" => name = text(json)?,
                "source_file" => file = text(json)?,
                "source_line" => line = json.number_if_any()?.unwrap_or(0.0) as u32,
                _ => json.skip()?,
            }
        }
    }
    let name = if class.is_empty() { name } else { format!("{class}.{name}") };
    let (name, file) = (builder.string(&name), builder.string(&file));
    let function = builder.function(Function { name, file, line, column: 0, by_place: false });
    Ok((id, builder.frame(Frame { function, ..Frame::default() })))
}

fn event(json: &mut Json<'_>) -> Result<Event, ParseError> {
    let mut event = Event { is_enter: false, method: 0, thread: String::new(), time: 0 };
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "action" => event.is_enter = text(json)? == "Enter",
                "method_id" => event.method = json.number_if_any()?.unwrap_or(0.0) as i64,
                "thread_id" => event.thread = text(json)?,
                "time" => event.time = wall_time(json)?,
                _ => json.skip()?,
            }
        }
    }
    Ok(event)
}

/// `{"Monotonic": {"wall": {"secs": 1, "nanos": 85901000}, "cpu": {"nanos": 5}}}`; what is 0 is left out. Recordings with one
/// clock have it in place of both: `{"Monotonic": {"secs": 1}}`.
fn wall_time(json: &mut Json<'_>) -> Result<i64, ParseError> {
    let mut time = 0;
    if json.object_if_any()? {
        while let Some(clock) = json.key()? {
            if clock == "Monotonic" { time = duration(json, "wall")? } else { json.skip()? }
        }
    }
    Ok(time)
}

/// The nanoseconds of `{"secs": 1, "nanos": 5}`, which may be in the field `within`.
fn duration(json: &mut Json<'_>, within: &str) -> Result<i64, ParseError> {
    let mut time = 0_i64;
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            match &*key {
                "secs" => {
                    let seconds = json.number_if_any()?.unwrap_or(0.0) as i64;
                    time = time.saturating_add(seconds.saturating_mul(1_000_000_000));
                }
                "nanos" => time = time.saturating_add(json.number_if_any()?.unwrap_or(0.0) as i64),
                key if !within.is_empty() && key == within => time = duration(json, "")?,
                _ => json.skip()?,
            }
        }
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        load_with(text, LoadOptions { times: false, ..LoadOptions::ALL })
    }

    fn load_with(text: &str, options: LoadOptions) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), options).unwrap()
    }

    #[test]
    fn profiles_may_lack_an_id() {
        let text = r#"{"version": "1", "platform": "python", "transaction": {"id": "x"}, "profile": {"samples": [
            {"stack_id": 0, "thread_id": "1", "elapsed_since_start_ns": 100}, {"stack_id": 0, "thread_id": "1", "elapsed_since_start_ns": 300}],
            "stacks": [[0]], "frames": [{"function": "main", "filename": "a.py", "lineno": 3}], "thread_metadata": {}}}"#;
        assert_eq!(to_notation(&load(text)), "main@a.py:3 2 200 {tid=1}");
        let other = text.replace("transaction", "transport");
        assert_eq!(sniff(other.as_bytes()), Confidence::No);
    }

    #[test]
    fn a_sample_lasts_until_the_next_one_of_its_thread() {
        let text = r#"{"event_id": "e", "platform": "python", "profile": {"samples": [
            {"stack_id": 0, "thread_id": "7", "elapsed_since_start_ns": "100"}, {"stack_id": 1, "thread_id": "8", "elapsed_since_start_ns": 150},
            {"stack_id": 1, "thread_id": "7", "elapsed_since_start_ns": "400"}, {"stack_id": 0, "thread_id": "7", "elapsed_since_start_ns": "900"}],
            "stacks": [[0], [1, 0]], "frames": [{"function": "main", "filename": "a.py", "lineno": 3}, {"function": "f", "abs_path": "/b.py", "lineno": 9}],
            "thread_metadata": {"7": {"name": "Main"}}}, "timestamp": "2024-02-26T18:40:37Z"}"#;
        let profile = load(text);
        assert_eq!(
            to_notation(&profile),
            "main@a.py:3 2 300 {thread=Main tid=7}\nmain@a.py:3;f@/b.py:9 1 0 {tid=8}\nmain@a.py:3;f@/b.py:9 1 500 {thread=Main tid=7}"
        );
        assert_eq!(profile.meta.time_ns, Some(1_708_972_837_000_000_000));
        assert_eq!(profile.meta.duration_ns, Some(800));
        let day = 1_708_972_837_000_000_000;
        let timed = load_with(text, LoadOptions::ALL);
        assert_eq!(timed.samples.time.as_deref().unwrap(), [0, 50, 300, 800].map(|after| day + after));
    }

    #[test]
    fn continuous_profiles_say_when_each_sample_was_taken() {
        let text = r#"{"chunk_id": "c", "version": "2", "profile": {"frames": [{"function": "f", "module": "m"}], "stacks": [[0, 5]],
            "samples": [{"timestamp": 1724762625.5, "thread_id": "1", "stack_id": 0}, {"timestamp": 1724762625.75, "thread_id": "1", "stack_id": 0},
            {"timestamp": 1724762626, "thread_id": "1", "stack_id": 3}]}}"#;
        let profile = load(text);
        assert_eq!(to_notation(&profile), " 1 0 {tid=1}\nm.f 2 500000000 {tid=1}");
        assert_eq!(profile.meta.time_ns, Some(1_724_762_625_500_000_000));
        assert_eq!(
            profile.meta.warnings,
            [
                "1 frame of stacks are missing from the file",
                "1 sample has a stack that is missing from the file"
            ]
        );
    }

    #[test]
    fn methods_have_the_time_between_their_events() {
        let event = |action: &str, method: u32, time: &str| {
            format!(
                r#"{{"action": "{action}", "thread_id": 5, "method_id": {method}, "time": {{"Monotonic": {{"wall": {time}, "cpu": {{}}}}}}}}"#
            )
        };
        let events = [
            event("Enter", 1, "{}"),
            event("Enter", 2, r#"{"nanos": 30}"#),
            // The end of 2 is lost.
            event("Exit", 1, r#"{"secs": 1}"#),
            event("Enter", 3, r#"{"secs": 2}"#),
            event("Unwind", 3, r#"{"secs": 2, "nanos": 7}"#),
        ];
        let text = format!(
            r#"{{"profile_id": "p", "platform": "android", "profile": {{"methods": [{{"id": 1, "class_name": "a.B", "name": "f", "source_file": "B.java"}},
            {{"id": 2, "class_name": "a.C", "name": "g"}}], "events": [{}], "threads": [{{"id": 5, "name": "main"}}]}}}}"#,
            events.join(",")
        );
        assert_eq!(
            to_notation(&load(&text)),
            "[method 3] 7 {thread=main tid=5}\na.B.f@B.java:0 30 {thread=main tid=5}\na.B.f@B.java:0;a.C.g 999999970 {thread=main tid=5}"
        );
    }

    #[test]
    fn an_unknown_version_is_named() {
        let of = |version: &str| {
            let text = format!(
                r#"{{"version": "{version}", "chunk_id": "e", "profile": {{"samples": [], "stacks": [], "frames": []}}}}"#
            );
            read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
        };
        assert!(["", "1", "2", "2.android-trace"].into_iter().all(|version| of(version).is_ok()));
        assert_eq!(
            of("3").unwrap_err().to_string(),
            "sentry: unsupported version 3; versions 1 to 2 are supported (byte 12)"
        );
    }
}
