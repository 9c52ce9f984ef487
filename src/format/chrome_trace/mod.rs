//! Reads traces in the Trace Event Format, which Chrome, Bazel, `PyTorch`, Hermes and many others write.
//!
//! ```text
//! [{"ph": "B", "name": "parse", "pid": 1, "tid": 2, "ts": 10}, {"ph": "E", "pid": 1, "tid": 2, "ts": 25},
//!  {"ph": "X", "name": "draw", "pid": 1, "tid": 2, "ts": 30, "dur": 5}, …
//! ```
//!
//! The top level is the list of events itself, or an object with the list as `traceEvents`. A bare list may
//! lack its closing bracket. Stacks come from the first of these three sources that the trace has: V8 CPU
//! profiles, in chunks; samples, which are `samples`, as written by Hermes, and events (`P`) whose `sf` refers to `stackFrames`; or
//! nested spans, which are begin (`B`) and end (`E`) events or complete (`X`) events. Times are in µs. Other events (asynchronous
//! ones, instants, counters, flows) have no stacks: a note says how many there are.

mod clang;
mod event;
mod sampled;
mod skipped;
mod v8_profiles;

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::decimals::rounded;
use crate::format::json::{self, Json, Kind, KnownKeys};
use crate::format::py_spy::OutsideFrame;
use crate::format::spans::Spans;
use crate::format::threads::Thread;
use crate::format::{Confidence, Format, LoadError, ParseError, Place, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{group_thousands, plural};

use clang::ClangArgs;
use event::{EventKey, TraceEvent};
use sampled::Samples;
use skipped::SkippedEvents;
use v8_profiles::V8Profiles;

/// The entry in the list of readable formats.
pub(super) static CHROME_TRACE: Format = Format { name: NAME, title: "Chrome trace", sniff, read };

const NAME: &str = "chrome-trace";

fn sniff(head: &[u8]) -> Confidence {
    let text = head.trim_ascii_start();
    let is_trace = match text.strip_prefix(b"[") {
        Some(events) => json::has(&json::keys(events), &["ph"]),
        None => json::has(&json::keys(text), &["traceEvents"]),
    };
    if is_trace { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut trace = TraceReader::default();
    let mut json = Json::new(NAME, &text);
    if json.kind()? == Kind::Array {
        trace.read_open_list(&mut json, &mut builder)?;
    } else {
        trace.read_object(&mut json, &mut builder)?;
        json.end()?;
    }
    trace.write(&json, &mut builder)?;
    Ok(finished(builder)?)
}

/// Where a list ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListEnd {
    /// At its closing bracket.
    Closed,
    /// At the end of the file, after an element.
    Open,
    /// At the end of the file, within an element.
    Incomplete,
}

/// The contents of a trace.
#[derive(Default)]
struct TraceReader<'a> {
    keys: KnownKeys<'a, EventKey>,
    threads: Threads<'a>,
    v8: V8Profiles<'a>,
    spans: Spans,
    skipped: SkippedEvents,
    samples: Samples<'a>,
}

impl<'a> TraceReader<'a> {
    fn read_object(&mut self, json: &mut Json<'a>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("traceEvents", Kind::Array) => {
                    json.array()?;
                    let end = self.read_events(json, builder)?;
                    if end == ListEnd::Open {
                        builder.warn("file is truncated: the list of events does not end".into());
                    }
                    if end != ListEnd::Closed {
                        return Ok(());
                    }
                    continue;
                }
                ("metadata", Kind::Object) => {
                    read_metadata(json, builder)?;
                    continue;
                }
                ("samples", Kind::Array) => self.samples.listed = Some(json.position()),
                ("stackFrames", Kind::Object) => self.samples.frames = Some(json.position()),
                _ => {}
            }
            json.skip()?;
        }
        Ok(())
    }

    /// Reads a list that may lack its closing bracket, as a crashed program leaves it.
    fn read_open_list(
        &mut self,
        json: &mut Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        json.array()?;
        if self.read_events(json, builder)? == ListEnd::Closed { json.end() } else { Ok(()) }
    }

    /// Reads the elements of a list, and its closing bracket if it has one.
    fn read_events(
        &mut self,
        json: &mut Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<ListEnd, ParseError> {
        loop {
            match json.element() {
                Ok(true) => {}
                Ok(false) => return Ok(ListEnd::Closed),
                Err(error) => return if json.is_at_end() { Ok(ListEnd::Open) } else { Err(error) },
            }
            if json.is_at_end() {
                return Ok(ListEnd::Open);
            }
            match TraceEvent::read(json, &mut self.keys) {
                Ok(event) => self.event(event, json, builder)?,
                Err(error) if error.place == Place::Byte(json.length()) => {
                    builder.warn(
                        "file is truncated: the last event of the trace is incomplete and was skipped".into(),
                    );
                    return Ok(ListEnd::Incomplete);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn event(
        &mut self,
        event: TraceEvent<'a>,
        json: &Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        match event.phase {
            b'M' => self.threads.name(&event, json),
            b'B' | b'E' | b'X' => self.span(&event, json, builder),
            _ => Ok(()),
        }?;
        if matches!(&*event.name, "Profile" | "ProfileChunk" | "CpuProfile") {
            let thread = self.threads.number(&event);
            return self.v8.event(event, thread, json);
        }
        if event.phase == b'P' && !event.stack.is_empty() {
            let thread = self.threads.number(&event);
            self.samples.event(event, thread);
            return Ok(());
        }
        self.skipped.add(event.phase);
        Ok(())
    }

    /// Handles an event of phase `B`, `E` or `X`.
    fn span(
        &mut self,
        event: &TraceEvent<'a>,
        json: &Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        let thread = self.threads.number(event);
        if let Some(outside) = Some(&*event.name).filter(|_| event.is_py_spy).and_then(OutsideFrame::parse) {
            self.threads.name_by_py_spy(event, outside);
            return Ok(());
        }
        // A time that does not fit is none: the largest number stands for a span without an end.
        let nanoseconds =
            |microseconds: f64| Some(rounded(microseconds * 1000.0)).filter(|&time| time < i64::MAX);
        let end = event.time.zip(event.duration);
        let end = end.and_then(|(time, duration)| nanoseconds(time + duration.max(0.0)));
        let Some(time) = event.time.and_then(nanoseconds).filter(|_| event.phase != b'X' || end.is_some())
        else {
            self.spans.skip();
            return Ok(());
        };
        if event.phase == b'X' && event.duration.is_some_and(|duration| duration < 0.0) {
            self.skipped.add_negative();
        }
        if event.phase == b'E' {
            let name = builder.string(&event.name);
            self.spans.end(thread, time, name);
        } else {
            let clang = match event.args.filter(|_| event.phase == b'X' && !event.has_category) {
                Some(args) => ClangArgs::read(json.at(args))?,
                None => ClangArgs::default(),
            };
            if clang.is_total && event.name.starts_with("Total ") {
                self.skipped.add_total();
                return Ok(());
            }
            let frame = match event.args.filter(|_| event.is_py_spy) {
                Some(args) => python_frame(&event.name, json.at(args), builder)?,
                None => {
                    let name = builder.string(&clang.name_of(&event.name));
                    self.spans.frame(name, builder)
                }
            };
            self.skipped.add_stack(!event.stack.is_empty());
            self.spans.begin(thread, time, end.filter(|_| event.phase == b'X'), frame);
        }
        Ok(())
    }

    fn write(self, json: &Json, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        let without_stacks = self.skipped.note();
        builder.meta.notes.extend(without_stacks);
        builder.meta.warnings.extend(self.skipped.negative_durations());
        let spans = self.spans.count();
        if self.v8.any_samples() {
            builder.meta.notes.extend(note_of_spans(spans));
            builder.meta.warnings.extend(self.samples.left_out("since the trace has CPU profiles as well"));
            return self.v8.write(json, builder, &self.threads);
        }
        if self.samples.are_any() {
            builder.meta.notes.extend(note_of_spans(spans));
            return self.samples.write(json, builder, &self.threads);
        }
        builder.meta.warnings.extend(self.samples.left_out("since the trace has no `stackFrames`"));
        builder.meta.warnings.extend(self.skipped.stacks_of_spans());
        self.spans.write(builder, |number| self.threads.thread(number));
        Ok(())
    }
}

/// A note on spans that are not shown, as a trace has samples.
fn note_of_spans(count: usize) -> Option<String> {
    let are = plural(count as u64, "span is", "spans are");
    let number = group_thousands(count as i128);
    (count > 0)
        .then(|| format!("{number} {are} left out, since the trace has samples of the processor as well"))
}

/// The frame of an event of py-spy: `{"filename": "/srv/shop/orders.py", "line": 31}`.
fn python_frame(name: &str, mut args: Json<'_>, builder: &mut ProfileBuilder) -> Result<FrameId, ParseError> {
    let (mut file, mut line) = (Cow::default(), 0);
    if args.object_if_any()? {
        while let Some(key) = args.key()? {
            match &*key {
                "filename" => file = args.text_if_any()?.unwrap_or_default(),
                "line" => line = args.number_if_any()?.map_or(0, |line| line as u32),
                _ => args.skip()?,
            }
        }
    }
    let function = builder.script_function(name, &file, 0);
    Ok(builder.frame(Frame { function, line, ..Frame::default() }))
}

/// Keeps the source maps that the enhanced traces of `DevTools` contain:
/// `{"sourceMaps": [{"url": "http://a/b.js", "sourceMap": {…}}], …}`.
fn read_metadata(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    json.object()?;
    while let Some(key) = json.key()? {
        if key != "sourceMaps" {
            json.skip()?;
            continue;
        }
        if !json.array_if_any()? {
            continue;
        }
        while json.element()? {
            if json.object_if_any()? {
                read_source_map(json, builder)?;
            }
        }
    }
    Ok(())
}

fn read_source_map(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    let (mut url, mut map) = (None, None);
    while let Some(key) = json.key()? {
        match (&*key, json.kind()?) {
            ("url", Kind::String) => url = Some(json.string()?.into_owned()),
            ("sourceMap", Kind::Object) => {
                let start = json.position();
                json.skip()?;
                map = Some(json.since(start));
            }
            _ => json.skip()?,
        }
    }
    if let (Some(url), Some(map)) = (url, map) {
        builder.meta.source_maps.insert(url, map.into());
    }
    Ok(())
}

/// The threads of a trace, in order of first appearance.
#[derive(Default)]
struct Threads<'a> {
    keys: Vec<ThreadKey<'a>>,
    numbers: HashMap<ThreadKey<'a>, usize>,
    names: HashMap<ThreadKey<'a>, String>,
    latest: usize,
    /// The ids that the operating system gave to threads, if those of the events are others.
    tids: HashMap<ThreadKey<'a>, String>,
    processes: HashMap<Cow<'a, str>, String>,
}

/// Process id and thread id, as written in the trace.
type ThreadKey<'a> = (Cow<'a, str>, Cow<'a, str>);

impl<'a> Threads<'a> {
    fn number(&mut self, event: &TraceEvent<'a>) -> usize {
        // Most events belong to the same thread as the previous one.
        if let Some((pid, tid)) = self.keys.get(self.latest)
            && *pid == event.pid
            && *tid == event.tid
        {
            return self.latest;
        }
        let key = (event.pid.clone(), event.tid.clone());
        self.latest = *self.numbers.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.keys.len() - 1
        });
        self.latest
    }

    /// Handles an event that names a thread or a process.
    fn name(&mut self, event: &TraceEvent<'a>, json: &Json<'a>) -> Result<(), ParseError> {
        let is_thread = event.name == "thread_name";
        let Some(args) = event.args.filter(|_| is_thread || event.name == "process_name") else {
            return Ok(());
        };
        let mut args = json.at(args);
        if !args.object_if_any()? {
            return Ok(());
        }
        while let Some(key) = args.key()? {
            match args.text_if_any()? {
                Some(name) if key == "name" && is_thread => {
                    self.names.insert((event.pid.clone(), event.tid.clone()), name.into_owned());
                }
                Some(name) if key == "name" => {
                    self.processes.insert(event.pid.clone(), name.into_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the name of a process or a thread from a span of py-spy, which lasts as long as there are stacks.
    fn name_by_py_spy(&mut self, event: &TraceEvent<'a>, outside: OutsideFrame<'_>) {
        match outside {
            // The processes that started this one come first.
            OutsideFrame::Process { pid, command } if *pid == *event.pid => {
                self.processes.insert(event.pid.clone(), command.to_string());
            }
            OutsideFrame::Process { .. } => {}
            OutsideFrame::Thread { tid, name } => {
                let key = (event.pid.clone(), event.tid.clone());
                if !name.is_empty() {
                    self.names.insert(key.clone(), name.to_string());
                }
                self.tids.insert(key, tid.to_string());
            }
        }
    }

    fn thread(&self, number: usize) -> Thread {
        let key = &self.keys[number];
        self.thread_of(key)
    }

    fn thread_of(&self, key: &ThreadKey) -> Thread {
        let (pid, tid) = key;
        Thread {
            process: self.processes.get(&**pid).map_or_else(|| pid.to_string(), Clone::clone),
            name: self.names.get(key).cloned().unwrap_or_default(),
            tid: self.tids.get(key).map_or_else(|| tid.to_string(), Clone::clone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    /// Spans of one thread, each `phase name ts [dur]`.
    fn spans(events: &[&str]) -> Profile {
        let events: Vec<String> = events
            .iter()
            .map(|event| {
                let words: Vec<&str> = event.split(' ').collect();
                let dur = words.get(3).map_or(String::new(), |dur| format!(", \"dur\": {dur}"));
                format!(
                    r#"{{"ph": "{}", "name": "{}", "ts": {}, "pid": 1, "tid": 1{dur}}}"#,
                    words[0], words[1], words[2]
                )
            })
            .collect();
        load(&format!("[{}]", events.join(","))).unwrap()
    }

    #[test]
    fn spans_nest() {
        let profile = spans(&["B a 0", "X c 4 1.5", "X b 3 4", "E a 10", "B a 10", "E a 12.25", "X a 20 0"]);
        assert_eq!(to_notation(&profile), "a 8250\na;b 2500\na;b;c 1500");
        assert_eq!(profile.meta.metrics[0].name, "wall");
        assert_eq!(profile.meta.duration_ns, Some(20_000));
    }

    /// The thread waits from 7 to 9 µs, when only its own frame is there.
    #[test]
    fn processes_and_threads_of_py_spy_are_no_spans() {
        let names = ["process 1:\\\"sh\\\"", "process 8:\\\"python x.py\\\"", "thread (9): Main"];
        let event = |phase: &str, name: &str, time: u32| {
            format!(
                r#"{{"args": {{"filename": "", "line": 0}}, "cat": "py-spy", "name": "{name}", "ph": "{phase}", "pid": 8, "tid": 140, "ts": {time}}}"#
            )
        };
        let mut events: Vec<String> = names.iter().map(|name| event("B", name, 2)).collect();
        events.extend([event("B", "f", 2), event("E", "f", 7)]);
        events.extend(names.iter().rev().map(|name| event("E", name, 9)));
        let text = format!("[{}]", events.join(","));
        let profile =
            read(&mut Source::from_bytes(text.into()), LoadOptions { times: false, ..LoadOptions::ALL });
        assert_eq!(to_notation(&profile.unwrap()), "f 5000 {process=python x.py thread=Main tid=9}");
    }

    #[test]
    fn spans_of_clang_say_what_they_are_about_and_are_not_counted_twice() {
        let profile = load(
            r#"{"traceEvents": [
            {"pid": 1, "tid": 0, "ph": "X", "ts": 10, "dur": 40, "name": "Source", "args": {"detail": "/usr/include/a.h"}},
            {"pid": 1, "tid": 0, "ph": "X", "ts": 60, "dur": 5, "name": "OptFunction", "args": {"detail": "_Z1fi"}},
            {"pid": 1, "tid": 0, "ph": "X", "ts": 0, "dur": 100, "name": "ExecuteCompiler"},
            {"pid": 1, "tid": 1, "ph": "X", "ts": 0, "dur": 100, "name": "Total ExecuteCompiler", "args": {"count": 1, "avg ms": 0}},
            {"pid": 1, "tid": 2, "ph": "X", "ts": 0, "dur": 40, "name": "Total Source", "args": {"count": 1, "avg ms": 0}},
            {"cat": "", "pid": 1, "tid": 0, "ts": 0, "ph": "M", "name": "process_name", "args": {"name": "clang-10"}}]}"#,
        )
        .unwrap();
        assert_eq!(
            to_notation(&profile),
            "ExecuteCompiler 55000\nExecuteCompiler;OptFunction f(int) 5000\nExecuteCompiler;Source /usr/include/a.h 40000"
        );
        assert_eq!(profile.meta.notes, ["left out what has no stack: 2 totals of other spans"]);
    }

    #[test]
    fn negative_durations_are_reported() {
        let profile = spans(&["X a 1 5", "X b 2 -3"]);
        assert_eq!(profile.meta.warnings, ["1 span has a negative duration, which is taken as 0"]);
    }

    #[test]
    fn overlapping_complete_spans_keep_their_duration() {
        let profile = spans(&["X a 0 10", "X b 5 10"]);
        assert_eq!(to_notation(&profile), "a 5000\na;b 5000\nb 5000");
        assert_eq!(profile.meta.warnings, ["1 span overlaps another without being nested in it"]);
    }

    #[test]
    fn unmatched_end_events_are_counted() {
        let profile = spans(&["E x 0", "B a 1", "B b 2", "E a 3", "E b 5", "B c 6"]);
        assert_eq!(to_notation(&profile), "a 2000\na;b 3000");
        assert_eq!(
            profile.meta.warnings,
            [
                "2 end events have no matching begin event and were skipped",
                "2 spans have no end event; they are assumed to last until the last event of their thread"
            ]
        );
    }

    #[test]
    fn functions_of_py_spy_have_files_and_lines() {
        let event = |phase: char, file: &str, time: u32| {
            format!(
                r#"{{"args": {{"filename": "{file}", "line": 3}}, "cat": "py-spy", "name": "main", "ph": "{phase}", "pid": 1, "tid": 2, "ts": {time}}}"#
            )
        };
        let events =
            [event('B', "a.py", 0), event('B', "b.py", 0), event('E', "b.py", 3), event('E', "a.py", 4)];
        let profile = load(&format!("[{}]", events.join(","))).unwrap();
        assert_eq!(to_notation(&profile), "main@a.py:3 1000\nmain@a.py:3;main@b.py:3 3000");
        assert!(profile.symbols.functions.iter().all(|function| function.by_place));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let other = ["b", "n", "e", "S", "F", "i", "C", "C", "s", "M"]
            .map(|phase| format!(r#"{{"ph": "{phase}", "name": "x", "ts": 1, "pid": 1, "tid": 1}}"#));
        let span = r#"{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}"#;
        let events = format!("{span},{}", other.join(","));
        let without_stacks = "left out what has no stack: 5 asynchronous events, 1 flow event, 1 instant, 2 values of counters";
        assert_eq!(load(&format!("[{events}]")).unwrap().meta.notes, [without_stacks]);
        let sampled = format!(
            r#"{{"traceEvents": [{events}], "samples": [{{"pid": 1, "tid": 1, "ts": 1, "sf": 1}}], "stackFrames": {{"1": {{"name": "f"}}}}}}"#
        );
        let of_spans = "1 span is left out, since the trace has samples of the processor as well";
        assert_eq!(load(&sampled).unwrap().meta.notes, [without_stacks, of_spans]);
    }

    #[test]
    fn a_list_may_lack_its_end() {
        let event = r#"{"ph": "X", "name": "a", "ts": "1", "dur": 2, "pid": 1, "tid": 1}"#;
        for end in ["", ",", "\n,\n", "]", " , {\"ph\": \"X\", \"na"] {
            let profile = load(&format!("[{event}{end}")).unwrap();
            assert_eq!(to_notation(&profile), "a 2000", "{end}");
            assert_eq!(profile.meta.warnings.len(), usize::from(end.ends_with("na")));
        }
        // In an object, the list is not the end.
        for end in ["", ",\n", " , {\"ph\": \"X\", \"na"] {
            let profile = load(&format!("{{\"traceEvents\": [{event}{end}")).unwrap();
            assert_eq!(to_notation(&profile), "a 2000", "{end}");
            assert!(profile.meta.warnings[0].contains("truncated"), "{:?}", profile.meta.warnings);
        }
        let text = format!("{{\"traceEvents\": [{event}], \"meta");
        assert!(load(&text).unwrap_err().to_string().contains("truncated"));
    }

    #[test]
    fn chunks_make_a_profile() {
        let text = r#"{"traceEvents": [
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": "main"}},
            {"ph": "X", "name": "task", "ts": 0, "dur": 100, "pid": 1, "tid": 7},
            {"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 9, "id": "0x2", "ts": 30, "args": {"data": {"cpuProfile": {"samples": [3, 2]}, "timeDeltas": [7, 5], "endTime": 40}}},
            {"ph": "P", "name": "Profile", "pid": 1, "tid": 7, "id": "0x2", "ts": 10, "args": {"data": {"startTime": 10}}},
            {"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 9, "id": "0x2", "ts": 20, "args": {"data": {"timeDeltas": [1, 2], "cpuProfile": {"nodes": [
                {"id": 1, "callFrame": {"functionName": "(root)", "scriptId": 0}},
                {"id": 2, "parent": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 0, "columnNumber": 0}},
                {"id": 3, "parent": 2, "callFrame": {"functionName": 800492, "url": "a.js", "lineNumber": 1, "columnNumber": 0}}], "samples": [2, 3]}}}}]}"#;
        let profile = load(text).unwrap();
        // Timestamps 11, 13, 20, 25, end 40.
        assert_eq!(to_notation(&profile), "f@a.js:0 2 17\nf@a.js:0;800492@a.js:0 2 12");
        let source = &mut Source::from_bytes(text.into());
        let labelled =
            read(source, LoadOptions { labels: true, times: false, ..LoadOptions::LEAST }).unwrap();
        assert!(to_notation(&labelled).ends_with("{process=1 thread=main tid=7}"));
        // The line of each sample; 0 where unknown, and the last sample has none.
        let with_lines = text
            .replace(r#""timeDeltas": [7, 5], "#, r#""timeDeltas": [7, 5], "lines": [3], "#)
            .replace(r#""timeDeltas": [1, 2], "#, r#""timeDeltas": [1, 2], "lines": [1, 0], "#);
        let expected = "f@a.js:0 1 15\nf@a.js:0;800492@a.js:0 1 7\nf@a.js:0;800492@a.js:3 1 5\nf@a.js:1 1 2";
        assert_eq!(to_notation(&load(&with_lines).unwrap()), expected);
    }

    #[test]
    fn samples_of_a_chunk_may_be_next_to_its_times() {
        let text = r#"{"traceEvents": [
            {"ph": "P", "name": "Profile", "pid": 1, "tid": 7, "id": "0x2", "ts": 10, "args": {"data": {"startTime": 10, "cpuProfile": {"nodes": [
                {"id": 1, "callFrame": {"functionName": "f"}, "children": [2]}, {"id": 2, "callFrame": {"functionName": "g"}}]}}}},
            {"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 7, "id": "0x2", "ts": 20, "args": {"data": {"samples": [2, 1], "timeDeltas": [1, 5]}}}]}"#;
        assert_eq!(to_notation(&load(text).unwrap()), "f 1 0\nf;g 1 5");
    }

    /// An enhanced trace has source maps in its metadata, before the events, and the text of scripts in events.
    #[test]
    fn scripts_and_source_maps_inside_a_trace_are_no_samples() {
        let script = r#"{\"snapshot\": {\"meta\": {\"node_fields\": []}}, \"functionName\", \"callFrame\", \"nodes\": []}"#;
        let text = format!(
            r#"{{"metadata": {{"enhancedTraceVersion": 1, "source": "DevTools", "sourceMaps": [{{"url": "http://a/b.js",
            "sourceMap": {{"version": 3, "sources": ["b.ts"], "mappings": "{}", "sourcesContent": ["{script}"]}}}}]}},
            "traceEvents": [
            {{"ph": "X", "cat": "disabled-by-default-devtools.target-rundown", "name": "ScriptCompiled", "ts": 5, "dur": 0, "pid": 1, "tid": 7, "args": {{"data": {{"scriptId": 5}}}}}},
            {{"ph": "I", "cat": "disabled-by-default-devtools.v8-source-rundown-sources", "name": "ScriptCatchup", "ts": 6, "pid": 1, "tid": 7,
              "args": {{"data": {{"sourceText": "{script}"}}}}}},
            {{"ph": "P", "name": "Profile", "pid": 1, "tid": 7, "id": "0x2", "ts": 10, "args": {{"data": {{"startTime": 10}}}}}},
            {{"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 9, "id": "0x2", "ts": 20, "args": {{"data": {{"timeDeltas": [1, 2], "endTime": 20, "cpuProfile": {{
              "nodes": [{{"id": 1, "callFrame": {{"functionName": "f", "url": "a.js", "lineNumber": 0, "columnNumber": 0}}}}], "samples": [1, 1]}}}}}}}}]}}"#,
            "AAAA;".repeat(30_000)
        );
        let mut source = Source::from_bytes(text.into());
        let profile = crate::format::load(&mut source, LoadOptions::default(), None).unwrap();
        assert_eq!((profile.meta.format, &*to_notation(&profile)), ("chrome-trace", "f@a.js:0 2 9"));
        assert_eq!(profile.meta.warnings, Vec::<String>::new());
    }

    /// A chunk written 119 hours after boot, without the event `Profile`.
    #[test]
    fn a_profile_without_its_start_does_not_begin_at_boot() {
        let text = r#"{"traceEvents": [
            {"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 9, "id": "0x2", "ts": 428400000040, "args": {"data": {"cpuProfile": {"samples": [1]}, "timeDeltas": [8], "endTime": 428400000050}}},
            {"ph": "P", "name": "ProfileChunk", "pid": 1, "tid": 9, "id": "0x2", "ts": 428400000030, "args": {"data": {"timeDeltas": [5, 7, 9], "cpuProfile": {"nodes": [
                {"id": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 0, "columnNumber": 0}}], "samples": [1, 1, 1]}}}}]}"#;
        let profile = load(text).unwrap();
        // Timestamps …014, …021, …030 and …038; the end …050.
        assert_eq!(to_notation(&profile), "f@a.js:0 4 36");
        assert!(profile.meta.warnings[0].starts_with("the start of 1 CPU profile"));
    }

    #[test]
    fn samples_may_be_next_to_the_events() {
        let text = r#"{"traceEvents": [], "samples": [{"ts": "5", "pid": 1, "tid": "2", "sf": 2, "weight": "1"}, {"ts": "9", "pid": 1, "tid": "2", "sf": 1}],
            "stackFrames": {"2": {"name": "f(http://a/b.js:3:4)", "category": "JavaScript", "parent": 1}, "1": {"name": "[root]", "category": "root"}}}"#;
        assert_eq!(to_notation(&load(text).unwrap()), "[root] 1 0\n[root];f@http://a/b.js:0 1 4");
    }

    /// The place in the name is that of a call, or of what was running.
    #[test]
    fn hermes_says_where_functions_are_defined() {
        let text = r#"{"traceEvents": [], "samples": [
            {"pid": 1, "ts": "10", "tid": "2", "weight": "1", "sf": 2}, {"pid": 1, "ts": "30", "tid": "2", "weight": "1", "sf": 1}],
            "stackFrames": {"1": {"line": "10", "column": "15", "funcLine": "7", "funcColumn": "13", "name": "fib(t.js:10:15)", "category": "JavaScript"},
            "2": {"line": "7", "column": "13", "funcLine": "7", "funcColumn": "13", "name": "fib(t.js:7:13)", "category": "JavaScript", "parent": 1}}}"#;
        let profile = load(text).unwrap();
        let functions: Vec<(&str, u32, u32)> = profile
            .symbols
            .functions
            .enumerate()
            .map(|(id, function)| (profile.symbols.function_name(id), function.line, function.column))
            .collect();
        assert_eq!(functions, [("fib", 7, 13)]);
    }

    /// Their ids may be anything.
    #[test]
    fn samples_may_be_events() {
        let event = |rest: &str| format!(r#"{{"ph": "P", "name": "sample", "pid": 1, "tid": 2, {rest}}}"#);
        let events = [
            event(r#""ts": 350, "sf": "a:2""#),
            event(r#""ts": 450, "sf": "1""#),
            event(r#""ts": 600, "sf": 1"#),
            event(r#""ts": 650"#),
            r#"{"ph": "X", "name": "work", "pid": 1, "tid": 2, "ts": 0, "dur": 1000}"#.to_string(),
        ]
        .join(",");
        let text = format!(
            r#"{{"traceEvents": [{events}], "stackFrames": {{"1": {{"name": "leaf", "parent": "a:2"}}, "a:2": {{"name": "main"}}}}}}"#
        );
        let profile = load(&text).unwrap();
        assert_eq!(to_notation(&profile), "main 1 100\nmain;leaf 2 150");
        assert_eq!(
            profile.meta.notes,
            [
                "left out what has no stack: 1 sample event",
                "1 span is left out, since the trace has samples of the processor as well"
            ]
        );
        // Together with those next to the events.
        let samples = r#""samples": [{"pid": 1, "tid": 2, "ts": 700, "sf": "a:2"}], "stackFrames""#;
        let profile = load(&text.replace(r#""stackFrames""#, samples)).unwrap();
        assert_eq!(to_notation(&profile), "main 2 100\nmain;leaf 2 250");
        // Without the frames, there are only spans.
        let profile = load(&format!("[{events}]")).unwrap();
        assert_eq!(to_notation(&profile), "work 1000000");
        assert_eq!(
            profile.meta.warnings,
            ["3 sample events are left out, since the trace has no `stackFrames`"]
        );
    }

    #[test]
    fn stacks_of_spans_are_reported() {
        let text = r#"{"traceEvents": [{"ph": "B", "name": "a", "sf": 1, "ts": 1, "pid": 1, "tid": 1},
            {"ph": "E", "name": "a", "ts": 3, "pid": 1, "tid": 1}], "stackFrames": {"1": {"name": "main"}}}"#;
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "a 2000");
        assert_eq!(
            profile.meta.warnings,
            ["the stack in which 1 span began (`sf`) is left out: only spans within spans are shown"]
        );
    }

    #[test]
    fn a_time_that_does_not_fit_is_none() {
        let profile = load(r#"[{"ph": "X", "name": "a", "ts": 1e308, "dur": 1e308, "pid": 1, "tid": 1}]"#);
        assert_eq!(profile.unwrap().meta.warnings, ["1 span without a timestamp or duration was skipped"]);
    }

    /// Some programs put the whole profile into the event that starts it, without the time.
    #[test]
    fn a_profile_may_be_in_the_event_that_starts_it() {
        let profile = load(
            r#"{"traceEvents": [{"name": "Profile", "ph": "P", "ts": 0, "pid": 1, "tid": 1, "args": {"data": {"cpuProfile": {
            "nodes": [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0"}},
                      {"id": 2, "parent": 1, "callFrame": {"functionName": "main", "scriptId": "42"}}],
            "samples": [2, 2]}, "timeDeltas": [0, 1000]}}}]}"#,
        )
        .unwrap();
        assert_eq!((&*profile.meta.warnings, profile.meta.metrics[1].total), (&[][..], 1000));
    }

    #[test]
    fn weights_of_samples_are_a_metric_for_each_event() {
        let text = r#"{"traceEvents": [], "stackFrames": {"1": {"name": "main"}, "2": {"name": "f", "parent": 1}}, "samples": [
            {"cpu": 0, "tid": 1, "ts": 1000.0, "name": "cycles:HG", "sf": 2, "weight": 5},
            {"cpu": 0, "tid": 1, "ts": 1001.0, "name": "faults", "sf": 1, "weight": "0.5"},
            {"cpu": 0, "tid": 1, "ts": 1004.0, "name": "cycles:HG", "sf": 2}]}"#;
        let profile = load(text).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(metrics, [("samples", 3), ("cpu", 4), ("cycles:HG", 6), ("faults", 5)]);
        assert_eq!((profile.meta.default_metric, profile.meta.metrics[3].divisor), (2, 10));
        assert_eq!(to_notation(&profile), "main 1 3 0 5\nmain;f 2 1 6 0");
    }
}
