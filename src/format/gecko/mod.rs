//! Reads Firefox Profiler profiles, which samply, Vernier and others write too.
//!
//! ```text
//! {"meta": {"interval": 1, "startTime": 1733901673153.071, "preprocessedProfileVersion": 48, …}, "libs": […],
//!  "threads": [{"name": "main", "tid": 7, "stringArray": ["main", …],
//!    "funcTable": {"name": [0, …], …}, "frameTable": {"func": [0, …], "address": [-1, …], …},
//!    "stackTable": {"prefix": [null, …], "frame": [0, …]}, "samples": {"stack": [0, …], "time": [1.5, …], "weight": null, …}}, …]}
//! ```
//!
//! The form that the profiler saves ("processed", as above) has tables by column. Firefox itself produces the
//! "raw" form, in which tables are rows with a schema and frames are text; child processes are nested
//! profiles, in the oldest versions as a string. New processed profiles keep tables shared by all threads
//! under `shared`. The versions differ in where things are rather than in what they mean, so one reader
//! handles all of them: it looks up columns by name and falls back from the thread's table to the shared one.
//! Later versions encode the same things differently, so a processed profile of an unknown version is rejected.
//! Raw profiles name their columns in a schema, so they are read as long as the columns are there.
//!
//! Addresses are kept relative to the start of their library, as the format has them: `start` of
//! the mapping is 0.

mod libs;
mod location;
mod parts;
mod samples;
mod slabs;
mod stacks;
mod table;
mod write;
mod write_samples;
mod write_tables;

use crate::format::decimals::rounded;
use crate::format::json::{self, Json};
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{LoadOptions, Period, Profile, ProfileBuilder};
use crate::unit::{group_thousands, plural};

use libs::Libs;
use parts::{Markers, ProfileParts, RecordingMeta};
use samples::ThreadSampleWriter;
use slabs::Slabs;
use stacks::{GeckoStacks, strings};
use table::Document;
pub(super) use write::WRITER;

/// The entry in the list of readable formats.
pub(super) static GECKO: Format = Format { name: NAME, title: "Firefox Profiler", sniff, read };

const NAME: &str = "gecko";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(slabs::MAGIC) {
        return Confidence::Certain;
    }
    let keys = json::keys(head);
    let has = |wanted: &[&str]| json::has(&keys, wanted);
    let mentions = |wanted: &[&str]| wanted.iter().any(|text| json::mentions(head, text));
    if has(&["meta", "threads"]) || has(&["fileType", "profile"]) {
        return Confidence::Certain;
    }
    // One of the two keys may come after a long list of libraries or threads.
    let one = has(&["meta"]) || has(&["threads"]) || has(&["libs"]) || has(&["profile"]);
    if one && mentions(&["\"stackTable\"", "\"breakpadId\"", "\"preprocessedProfileVersion\""]) {
        return Confidence::Certain;
    }
    Confidence::No
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut reader = GeckoReader {
        writer: ThreadSampleWriter::new(ProfileBuilder::new(NAME, options)),
        any_thread: false,
        markers: Markers::default(),
    };
    let mut embedded = Vec::new();
    if text.starts_with(slabs::MAGIC) {
        let slabs = Slabs::open(&text)?;
        reader.read_text(&slabs.text()?, slabs, &mut embedded)?;
    } else {
        embedded.push(text);
    }
    let mut next = 0;
    while next < embedded.len() {
        let text = std::mem::take(&mut embedded[next]);
        reader.read_text(&text, Slabs::default(), &mut embedded)?;
        next += 1;
    }
    if !reader.any_thread {
        return Err(ParseError::whole(NAME, "the profile has no threads").into());
    }
    let markers = reader.markers;
    if markers.other_events > 0 {
        let samples = plural(markers.other_events, "sample", "samples");
        let count = group_thousands(markers.other_events.into());
        let warning =
            format!("{count} {samples} of other events, which samply writes as markers, are left out");
        reader.writer.builder.warn(warning);
    }
    if markers.allocations > 0 {
        let are = plural(
            markers.allocations,
            "allocation, which is a marker, is",
            "allocations, which are markers, are",
        );
        reader.writer.builder.warn(format!(
            "{} {are} left out; opened and saved again by profiler.firefox.com, the file has tables of them",
            group_thousands(markers.allocations.into())
        ));
    }
    let mut profile = reader.writer.finish().map_err(|error| ParseError::whole(NAME, error.to_string()))?;
    // Writers of markers make a sample of `(root)` for the beginning and the end.
    let symbols = &profile.symbols;
    if markers.are_any && symbols.functions.ids().all(|function| symbols.function_name(function) == "(root)")
    {
        let warning = "the profile consists of markers, which have no stacks: prof shows none of them";
        profile.meta.warnings.push(warning.to_string());
    }
    Ok(profile)
}

struct GeckoReader {
    writer: ThreadSampleWriter,
    any_thread: bool,
    /// What is known of the markers of all threads.
    markers: Markers,
}

impl GeckoReader {
    /// Reads a profile and those of its child processes. Profiles that are strings containing JSON are appended to
    /// `embedded` instead.
    fn read_text(
        &mut self,
        text: &[u8],
        slabs: Slabs,
        embedded: &mut Vec<Vec<u8>>,
    ) -> Result<(), ParseError> {
        let mut json = Json::new(NAME, text);
        let outermost = ProfileParts::find(&mut json)?;
        json.end()?;
        let document = Document { json, slabs };
        let mut places = outermost.children.clone();
        self.read_profile(&document, outermost, embedded)?;
        let mut next = 0;
        while let Some(&at) = places.get(next) {
            next += 1;
            let parts = ProfileParts::find(&mut document.at(at))?;
            places.extend(&parts.children);
            self.read_profile(&document, parts, embedded)?;
        }
        Ok(())
    }

    fn read_profile(
        &mut self,
        document: &Document,
        parts: ProfileParts,
        embedded: &mut Vec<Vec<u8>>,
    ) -> Result<(), ParseError> {
        embedded.extend(parts.embedded.into_iter().map(String::into_bytes));
        if parts.threads.is_empty() {
            return Ok(());
        }
        let meta = parts
            .meta
            .map_or(Ok(RecordingMeta::default()), |at| RecordingMeta::read(&mut document.at(at)))?;
        check_version(&meta)?;
        self.take_meta(&meta);
        self.any_thread = true;
        let builder = &mut self.writer.builder;
        let shared_libs =
            parts.libs.map_or(Ok(Libs::default()), |at| Libs::read(&mut document.at(at), builder))?;
        let shared_strings = strings(document, parts.shared.strings)?;
        let mut shared_stacks: Option<GeckoStacks> = None;
        for thread in &parts.threads {
            self.markers.add(thread.markers);
            let builder = &mut self.writer.builder;
            let own_libs = thread.libs.map(|at| Libs::read(&mut document.at(at), builder)).transpose()?;
            let libs = own_libs.as_ref().unwrap_or(&shared_libs);
            let own_strings = thread.tables.strings.map(|at| strings(document, Some(at))).transpose()?;
            let strings = own_strings.as_ref().unwrap_or(&shared_strings);
            let mut own_stacks = None;
            // If the stacks are shared, so is everything they refer to.
            let has_own = thread.tables.stacks.is_some();
            let stacks = if has_own { &mut own_stacks } else { &mut shared_stacks };
            let stacks = if let Some(stacks) = stacks {
                stacks
            } else {
                let tables = thread.tables.or(&parts.shared);
                stacks.insert(GeckoStacks::read(document, &tables, strings, libs, builder)?)
            };
            self.writer.thread(document, thread, &meta, stacks)?;
        }
        Ok(())
    }

    /// Takes the recording's metadata from the first profile, which is that of the parent process.
    fn take_meta(&mut self, meta: &RecordingMeta) {
        if self.any_thread {
            return;
        }
        self.writer.notes_start = meta.profiling_start.is_some();
        let about = &mut self.writer.builder.meta;
        about.time_ns = meta
            .start
            .map(|start| nanoseconds(start).saturating_add(nanoseconds(meta.profiling_start.unwrap_or(0.0))));
        if let (Some(start), Some(end)) = (meta.profiling_start, meta.profiling_end) {
            about.duration_ns = Some(nanoseconds(end - start));
        }
        about.processors = meta.processors;
        about.period = meta.interval.map(nanoseconds).filter(|&value| value > 0).map(|value| Period {
            name: "wall".into(),
            unit: "nanoseconds".into(),
            value,
        });
        about.comments.extend(meta.product.clone());
    }
}

/// The newest supported version of the processed format.
const NEWEST_PROCESSED: f64 = 75.0;

fn check_version(meta: &RecordingMeta) -> Result<(), ParseError> {
    match meta.processed_version {
        Some(version) if version > NEWEST_PROCESSED => Err(ParseError::whole(
            NAME,
            format!(
                "version {version} of the Firefox Profiler format is newer than {NEWEST_PROCESSED}, the newest \
                 that prof supports"
            ),
        )),
        _ => Ok(()),
    }
}

/// Converts milliseconds to nanoseconds. The fraction is converted separately, because a current time in nanoseconds as
/// a float is exact only to 256 ns.
fn nanoseconds(milliseconds: f64) -> i64 {
    let whole = milliseconds as i64;
    let fraction = rounded((milliseconds - whole as f64) * 1e6);
    whole.saturating_mul(1_000_000).saturating_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    #[test]
    fn a_processed_profile_has_tables_by_column() {
        let profile = load(
            r#"{"meta": {"interval": 1, "startTime": 1000, "preprocessedProfileVersion": 49, "sampleUnits": {"threadCPUDelta": "µs"}, "product": "p"},
            "libs": [{"name": "libc.so.6", "path": "/lib/libc.so.6", "codeId": "AB12", "breakpadId": "00"}],
            "threads": [{"name": "main", "pid": "3", "tid": 4, "processName": "app",
              "stringArray": ["main", "0x1f", "f", "a.js", "a.rs"],
              "resourceTable": {"length": 1, "lib": [0], "name": [0], "host": [null], "type": [1]},
              "funcTable": {"length": 3, "name": [0, 1, 2], "isJS": [false, false, true], "resource": [-1, 0, -1], "fileName": [4, null, 3], "lineNumber": [null, null, 9], "columnNumber": [null, null, 2]},
              "frameTable": {"length": 4, "address": [-1, 31, -1, -1], "inlineDepth": [0, 0, 0, 1], "func": [0, 1, 2, 0], "line": [5, null, 11, 6]},
              "stackTable": {"length": 4, "prefix": [null, 0, 0, 2], "frame": [0, 1, 2, 3]},
              "samples": {"length": 4, "weightType": "samples", "stack": [1, 3, 1, null], "timeDeltas": [2.5, 1, 1, 0.25], "weight": [1, 2, 1, 1], "threadCPUDelta": [null, 700, 300, 0]}}]}"#,
        )
        .unwrap();
        let labels = "{process=app thread=main tid=4}";
        let expected = format!(
            " 1 0 {labels}\nmain@a.rs:5;[libc.so.6] 1 0 {labels}\nmain@a.rs:5;[libc.so.6] 1 300000 {labels}\nmain@a.rs:5;f@a.js:11;+main@a.rs:6 2 700000 {labels}"
        );
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.meta.default_metric, 1);
        assert_eq!(profile.samples.time.as_ref().unwrap()[..2], [1_002_500_000, 1_003_500_000]);
        let frame = profile.symbols.frames.iter().find(|frame| frame.address != 0).unwrap();
        assert_eq!((frame.address, profile.symbols.mapping_file(frame.mapping)), (31, "/lib/libc.so.6"));
    }

    /// The process started at 1 s, and the first of the samples was taken 2.5 ms later.
    #[test]
    fn a_recording_lasts_from_its_first_sample_to_its_last() {
        let span = |meta: &str| {
            let text = r#"{"meta": {"startTime": 1000META}, "threads": [{"stringArray": ["f"], "funcTable": {"name": [0]},
                "frameTable": {"func": [0]}, "stackTable": {"prefix": [null], "frame": [0]},
                "samples": {"stack": [0, 0], "time": [2.5, 4.5]}}]}"#;
            let meta = load(&text.replace("META", meta)).unwrap().meta;
            (meta.time_ns.unwrap(), meta.duration_ns.unwrap())
        };
        assert_eq!(span(""), (1_002_500_000, 2_000_000));
        assert_eq!(span(r#", "profilingStartTime": 2"#), (1_002_000_000, 2_500_000));
        assert_eq!(span(r#", "profilingStartTime": 2, "profilingEndTime": 8"#), (1_002_000_000, 6_000_000));
    }

    /// A weight is a time that may be any multiple of the interval.
    #[test]
    fn weights_that_are_times_are_single_samples_with_an_end() {
        let of = |meta: &str, times: &str| {
            let text = r#"{"meta": {"interval": 1META}, "threads": [{"stringArray": ["f"], "funcTable": {"name": [0]},
                "frameTable": {"func": [0]}, "stackTable": {"prefix": [null], "frame": [0]},
                "samples": {"stack": [0, 0, 0], "weight": [500, 700, 900], "weightType": "tracing-ms", TIMES}}]}"#;
            let meta = load(&text.replace("META", meta).replace("TIMES", times)).unwrap().meta;
            (meta.period.map(|period| period.value), meta.duration_ns.unwrap() / 1_000_000)
        };
        assert_eq!(of("", r#""timeDeltas": [0, 500, 700]"#), (None, 2100));
        assert_eq!(of("", r#""time": [3, 503, 1203]"#), (None, 2100));
        // These lasted until another time.
        assert_eq!(of("", r#""time": [0, 500, 1000]"#), (None, 1000));
        // Samples that this program merged.
        let own = r#", "importedFrom": "pprof by prof 0.1.0""#;
        assert_eq!(of(own, r#""time": [0, 500, 1200]"#), (Some(1_000_000), 2100));
    }

    #[test]
    fn samples_of_other_events_are_reported() {
        let text = r#"{"meta": {"preprocessedProfileVersion": 55}, "threads": [{"stringArray": ["f"], "funcTable": {"name": [0]},
            "frameTable": {"func": [0]}, "stackTable": {"prefix": [null], "frame": [0]}, "samples": {"stack": [0], "time": [1]},
            "markers": {"data": [{"type": "Other event", "cause": {"stack": 0}}, null, {"type": "Other event"}]}}]}"#;
        let warning = "2 samples of other events, which samply writes as markers, are left out";
        assert_eq!(load(text).unwrap().meta.warnings, [warning]);
        assert_eq!(load(&text.replace("Other event", "Text")).unwrap().meta.warnings, [""; 0]);
        let warning = "2 allocations, which are markers, are left out; opened and saved again by profiler.firefox.com, the file has \
                       tables of them";
        assert_eq!(load(&text.replace("Other event", "JS allocation")).unwrap().meta.warnings, [warning]);
    }

    #[test]
    fn a_profile_of_markers_only_is_told() {
        let text = r#"{"meta": {"preprocessedProfileVersion": 47}, "threads": [{"stringArray": ["(root)", "build"], "funcTable": {"name": [0]},
            "frameTable": {"func": [0]}, "stackTable": {"prefix": [null], "frame": [0]}, "samples": {"stack": [0, 0], "time": [1, 9]},
            "markers": {"data": [{"type": "Task"}], "name": [1]}}]}"#;
        let warning = "the profile consists of markers, which have no stacks: prof shows none of them";
        assert_eq!(load(text).unwrap().meta.warnings, [warning]);
        assert_eq!(load(&text.replace("(root)", "f")).unwrap().meta.warnings, [""; 0]);
    }

    #[test]
    fn tables_may_be_shared() {
        let profile = load(
            r#"{"threads": [{"name": "a", "samples": {"stack": [0, 1], "time": [1, 2], "weight": null, "weightType": "samples"}},
                            {"name": "b", "samples": {"stack": [1], "time": [1], "weight": [1.5], "weightType": "tracing-ms"}}],
            "meta": {"preprocessedProfileVersion": 60},
            "shared": {"stringArray": ["main", "f", "x.js"], "sources": {"filename": [2]},
              "funcTable": {"name": [0, 1], "isJS": [true, true], "resource": [-1, -1], "source": [null, 0], "lineNumber": [1, 2]},
              "frameTable": {"func": [0, 1], "address": [-1, -1]},
              "stackTable": {"prefix": [null, 0], "frame": [0, 1]}}}"#,
        )
        .unwrap();
        assert_eq!(
            to_notation(&profile),
            "main 1 0 {thread=a}\nmain;f@x.js:0 0 1500000 {thread=b}\nmain;f@x.js:0 1 0 {thread=a}"
        );
    }

    /// The same stacks as versions 65, 70 and 75 store them: `main` at line 5 calls code without a name, and `f`, into
    /// which `main` is inlined.
    #[test]
    fn versions_encode_the_same_stacks_differently() {
        let profile = |version: &str, functions: &str, frames: &str, stacks: &str, resources: &str| {
            let text = format!(
                r#"{{"meta": {{"preprocessedProfileVersion": {version}}},
                "libs": [{{"name": "libc.so.6", "path": "/lib/libc.so.6", "codeId": "AB12", "breakpadId": "00"}}],
                "shared": {{"stringArray": ["main", "0x1f", "f", "a.min.js", "a.ts"], "sources": {{"filename": [3, 4]}},
                  "sourceLocationTable": {{"source": [1, 1], "line": [90, 91], "column": [7, 8]}},
                  "resourceTable": {{{resources}}},
                  "funcTable": {{"name": [0, 1, 2], {functions}}},
                  "frameTable": {{"func": [0, 1, 2, 0], {frames}}},
                  "stackTable": {{{stacks}, "frame": [0, 1, 2, 3]}}}},
                "threads": [{{"name": "t", "samples": {{"stack": [1, 3, -1], "time": [1, 2, 3], "weight": null}}}}]}}"#
            );
            let profile = load(&text).unwrap();
            let unnamed = profile.symbols.frames.iter().find(|frame| frame.address != 0).unwrap();
            assert_eq!(
                (unnamed.address, profile.symbols.mapping_file(unnamed.mapping)),
                (31, "/lib/libc.so.6")
            );
            let f = profile.symbols.functions.iter().find(|function| function.line == 90).unwrap();
            assert_eq!((profile.symbols.strings.get(f.file), f.column), ("a.ts", 7));
            to_notation(&profile)
        };
        let expected =
            " 1 {thread=t}\nmain@:5;[libc.so.6] 1 {thread=t}\nmain@:5;f@a.ts:91;+main@:6 1 {thread=t}";
        let null_functions = r#""isJS": [false, false, true], "resource": [-1, 0, -1], "source": [null, null, 0],
            "lineNumber": [null, null, 1], "columnNumber": [null, null, 999], "originalLocation": [null, null, 0]"#;
        let null_frames = r#""address": [-1, 31, -1, -1], "inlineDepth": [0, 0, 0, 1], "line": [5, null, 1, 6],
            "originalLocation": [null, null, 1, null]"#;
        let prefixes = r#""prefix": [null, 0, 0, 2]"#;
        let offsets = r#""prefixOffset": [0, 1, 2, 1]"#;
        assert_eq!(profile("65", null_functions, null_frames, prefixes, r#""lib": [0]"#), expected);
        let libs = format!(r#"{null_frames}, "lib": [-1, 0, -1, -1]"#);
        assert_eq!(profile("70", null_functions, &libs, offsets, ""), expected);
        // Cells without a value hold 0, and only the flags tell.
        let functions = r#""flags": [0, 4, 121], "resource": [0, 0, 0], "source": [0, 0, 0],
            "lineNumber": [0, 0, 1], "columnNumber": [0, 0, 999], "originalLocation": [0, 0, 0]"#;
        let frames = r#""flags": [16, 2, 80, 17], "address": [0, 31, 0, 0], "lib": [0, 0, 0, 0], "line": [5, 0, 1, 6],
            "originalLocation": [0, 0, 1, 0]"#;
        assert_eq!(profile("75", functions, frames, offsets, ""), expected);
    }

    #[test]
    fn a_raw_profile_has_rows_and_children() {
        let thread = r#"{"name": "GeckoMain", "samples": {"data": [[1, 0.5], [2, 1.5], [3, 2]], "schema": {"stack": 0, "time": 1}},
            "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [0, 1], [0, 2], [2, 3]]},
            "frameTable": {"schema": {"location": 0, "line": 3}, "data": [[0], [1], [2, null, null, 8], [3]]},
            "stringTable": ["(root)", "0x1010", "f (resource://x.js -> http://a/b.js:7:3)", "DOM::label"]}"#;
        let libs = r#"[{"name": "/usr/lib/xul", "start": 4096, "end": 8192, "breakpadId": "ABC0"}]"#;
        let child = format!(r#"{{"meta": {{"version": 3}}, "libs": [], "threads": [{thread}]}}"#);
        let text = format!(
            r#"{{"meta": {{"version": 3, "interval": 1}}, "libs": {}, "threads": [{thread}, {}], "processes": [{child}]}}"#,
            serde_json::to_string(libs).unwrap(),
            serde_json::to_string(&child).unwrap()
        );
        let profile = load(&text).unwrap();
        let by_stack: Vec<_> = profile.stack_ids().map(|stack| profile.value_by_stack(0)[stack]).collect();
        assert_eq!(by_stack, [1, 3, 3, 2]);
        let lines = to_notation(&profile);
        assert!(lines.starts_with("<unknown> 1 {thread=GeckoMain}\n"), "{lines}");
        assert!(lines.contains("[xul] 1 {thread=GeckoMain}\n"), "{lines}");
        assert!(lines.ends_with("f@http://a/b.js:8;DOM::label 1 {thread=GeckoMain}"), "{lines}");
    }

    #[test]
    fn large_tables_are_read_in_batches() {
        let count = 5000;
        let sampled = |last: &str| {
            let stacks: Vec<&str> =
                (0..count).map(|number| ["0", "1", "1"][number % 3]).chain([last]).collect();
            load(&format!(
                r#"{{"meta": {{}}, "threads": [{{"stringArray": ["f", "g"], "funcTable": {{"name": [0, 1]}}, "frameTable": {{"func": [0, 1]}},
                "stackTable": {{"prefix": [null, 0], "frame": [0, 1]}}, "samples": {{"stack": [{}]}}}}]}}"#,
                stacks.join(",")
            ))
        };
        let samples = to_notation(&sampled("1").unwrap());
        let times = |sample: &str| samples.lines().filter(|line| *line == sample).count();
        assert_eq!((times("f 1"), times("f;g 1")), (1667, 3334));
        assert_eq!(
            sampled("2").unwrap_err().to_string(),
            "gecko: stack 2 is out of range of the stack table"
        );
        assert!(sampled("\"").unwrap_err().to_string().contains("truncated"));
    }

    #[test]
    fn malformed_files_are_rejected() {
        let text = r#"{"meta": {}, "threads": [{"stringArray": ["f"], "funcTable": {"name": [0]}, "frameTable": {"func": [0]}, "stackTable": {"prefix": [1, 0], "frame": [0, 0]}, "samples": {"stack": [STACK]}}]}"#;
        let error = |stack: &str| load(&text.replace("STACK", stack)).unwrap_err().to_string();
        assert_eq!(error("0"), "gecko: the stack table contains a cycle");
        assert_eq!(error("7"), "gecko: stack 7 is out of range of the stack table");
        let unknown = text.replace("\"prefix\"", "\"callers\"").replace("STACK", "0");
        assert_eq!(
            load(&unknown).unwrap_err().to_string(),
            "gecko: the stack table has neither a `prefix` nor a `prefixOffset` column, so callers are unknown"
        );
        let before = text.replace("\"prefix\": [1, 0]", "\"prefixOffset\": [0, 2]").replace("STACK", "1");
        assert_eq!(
            load(&before).unwrap_err().to_string(),
            "gecko: a table refers to a row that does not exist in another table"
        );
        let newer = text.replace("\"meta\": {}", "\"meta\": {\"preprocessedProfileVersion\": 76}");
        assert_eq!(
            load(&newer).unwrap_err().to_string(),
            "gecko: version 76 of the Firefox Profiler format is newer than 75, the newest that prof supports"
        );
        assert_eq!(
            load(r#"{"meta": {}, "threads": []}"#).unwrap_err().to_string(),
            "gecko: the profile has no threads"
        );
    }
}
