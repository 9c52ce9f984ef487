//! Checks that the JSON we write is valid for the programs that read it: types, required members, references to rows,
//! lengths of tables. For every fixture and every profile of the corpus.
//!
//! The rules are those of speedscope's published schema, of `Profiler.Profile` in the Chrome DevTools Protocol, and of
//! the types of the Firefox Profiler in the version that we write.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prof::format::{Source, load, writer_named};
use prof::profile::Profile;
use serde_json::Value;

use crate::support::{below, corpus_root, fixture};

/// The maximum size of files of the corpus: larger ones take minutes in a debug build.
const LARGEST: u64 = 120_000;

/// The result of checking a file; the error is the violated rule.
type Checked = Result<(), String>;

fn unless(is_kept: bool, rule: impl FnOnce() -> String) -> Checked {
    if is_kept { Ok(()) } else { Err(rule()) }
}

/// A required member.
fn member<'v>(value: &'v Value, key: &str) -> Result<&'v Value, String> {
    value.get(key).ok_or_else(|| format!("`{key}` is missing"))
}

fn list<'v>(value: &'v Value, key: &str) -> Result<&'v [Value], String> {
    member(value, key)?.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{key}` is no list"))
}

fn number(value: &Value, key: &str) -> Result<f64, String> {
    member(value, key)?.as_f64().ok_or_else(|| format!("`{key}` is no number"))
}

fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    member(value, key)?.as_str().ok_or_else(|| format!("`{key}` is no text"))
}

fn optional(value: &Value, key: &str, is_kind: fn(&Value) -> bool) -> Checked {
    unless(value.get(key).is_none_or(is_kind), || format!("`{key}` is of another type"))
}

/// Whether a value is the index of one of `rows` rows.
fn is_row(value: &Value, rows: usize) -> bool {
    value.as_u64().is_some_and(|row| row < rows as u64)
}

fn speedscope(file: &Value) -> Checked {
    let schema = "https://www.speedscope.app/file-format-schema.json";
    unless(text(file, "$schema")? == schema, || "another schema".into())?;
    optional(file, "name", Value::is_string)?;
    optional(file, "exporter", Value::is_string)?;
    let frames = list(member(file, "shared")?, "frames")?;
    for frame in frames {
        text(frame, "name")?;
        optional(frame, "file", Value::is_string)?;
        optional(frame, "line", Value::is_number)?;
        optional(frame, "col", Value::is_number)?;
    }
    let profiles = list(file, "profiles")?;
    unless(!profiles.is_empty(), || "no profile".into())?;
    if let Some(active) = file.get("activeProfileIndex") {
        unless(is_row(active, profiles.len()), || "`activeProfileIndex` is no profile".into())?;
    }
    for profile in profiles {
        text(profile, "name")?;
        let units = ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"];
        unless(units.contains(&text(profile, "unit")?), || "an unknown unit".into())?;
        let (start, end) = (number(profile, "startValue")?, number(profile, "endValue")?);
        match text(profile, "type")? {
            "sampled" => sampled(profile, frames.len())?,
            "evented" => {
                unless(start <= end, || "the end is before the start".into())?;
                evented(profile, frames.len(), start..=end)?;
            }
            other => return Err(format!("a profile of type {other}")),
        }
    }
    Ok(())
}

fn sampled(profile: &Value, frames: usize) -> Checked {
    let (samples, weights) = (list(profile, "samples")?, list(profile, "weights")?);
    unless(samples.len() == weights.len(), || "samples and weights differ in number".into())?;
    unless(weights.iter().all(Value::is_number), || "a weight that is no number".into())?;
    let is_stack =
        |stack: &Value| stack.as_array().is_some_and(|stack| stack.iter().all(|row| is_row(row, frames)));
    unless(samples.iter().all(is_stack), || "a sample of frames that are not there".into())
}

fn evented(profile: &Value, frames: usize, within: std::ops::RangeInclusive<f64>) -> Checked {
    let (mut open, mut last) = (Vec::new(), *within.start());
    for event in list(profile, "events")? {
        let (at, frame) = (number(event, "at")?, member(event, "frame")?);
        unless(at >= last && within.contains(&at), || format!("an event out of order at {at}"))?;
        unless(is_row(frame, frames), || "an event of a frame that is not there".into())?;
        last = at;
        match text(event, "type")? {
            "O" => open.push(frame),
            "C" => unless(open.pop() == Some(frame), || format!("at {at} another frame is the innermost"))?,
            other => return Err(format!("an event of type {other}")),
        }
    }
    unless(open.is_empty(), || "frames stay open".into())
}

/// Checks the types of `Profiler.Profile`, and its references.
fn cpuprofile(file: &Value) -> Checked {
    let nodes = list(file, "nodes")?;
    let mut ids = HashSet::new();
    for node in nodes {
        let id = member(node, "id")?.as_i64().ok_or("an id that is no whole number")?;
        unless(ids.insert(id), || format!("two nodes have the id {id}"))?;
        let frame = member(node, "callFrame")?;
        for key in ["functionName", "scriptId", "url"] {
            text(frame, key)?;
        }
        for key in ["lineNumber", "columnNumber"] {
            unless(member(frame, key)?.is_i64(), || format!("`{key}` is no whole number"))?;
        }
        optional(node, "hitCount", Value::is_u64)?;
    }
    let is_node = |id: &Value| id.as_i64().is_some_and(|id| ids.contains(&id));
    let mut parents = HashSet::new();
    for node in nodes.iter().filter(|node| node.get("children").is_some()) {
        for child in list(node, "children")? {
            unless(is_node(child), || format!("the child {child} is not there"))?;
            unless(parents.insert(child.as_i64()), || format!("the child {child} has two parents"))?;
        }
    }
    unless(parents.len() + 1 == nodes.len(), || "not every node but the root has a parent".into())?;
    let (samples, deltas) = (list(file, "samples")?, list(file, "timeDeltas")?);
    unless(samples.len() == deltas.len(), || "samples and times differ in number".into())?;
    unless(samples.iter().all(is_node), || "a sample of a node that is not there".into())?;
    unless(deltas.iter().all(Value::is_i64), || "a time that is no whole number".into())?;
    let hits: u64 = nodes.iter().filter_map(|node| node.get("hitCount")?.as_u64()).sum();
    unless(hits == samples.len() as u64, || "the hits are not as many as the samples".into())?;
    let sum: f64 = deltas.iter().filter_map(Value::as_f64).sum();
    let (start, end) = (number(file, "startTime")?, number(file, "endTime")?);
    unless(start + sum <= end, || format!("from {start}, {sum} ends behind {end}"))
}

/// The name of a column, and the check for its cells.
type Column<'a> = (&'a str, &'a dyn Fn(&Value) -> bool);

/// Checks the columns of a table: the type of all cells, and the length stated by the table.
fn table<'v>(value: &'v Value, key: &str, columns: &[Column]) -> Result<&'v Value, String> {
    let table = member(value, key)?;
    let length = member(table, "length")?.as_u64().ok_or_else(|| format!("`{key}` has no length"))?;
    for (column, is_kind) in columns {
        let cells = list(table, column).map_err(|error| format!("{key}: {error}"))?;
        unless(cells.len() as u64 == length, || format!("{key}.{column} is not {length} long"))?;
        let wrong = cells.iter().find(|cell| !is_kind(cell));
        unless(wrong.is_none(), || format!("{key}.{column} holds {}", wrong.unwrap_or(&Value::Null)))?;
    }
    Ok(table)
}

fn firefox(file: &Value) -> Checked {
    let meta = member(file, "meta")?;
    unless(*member(meta, "preprocessedProfileVersion")? == 49, || "another version".into())?;
    for key in ["interval", "startTime", "processType", "version", "stackwalk"] {
        number(meta, key)?;
    }
    text(meta, "product")?;
    for key in ["markerSchema", "categories"] {
        list(meta, key)?;
    }
    for category in list(meta, "categories")? {
        text(category, "name")?;
        text(category, "color")?;
        unless(!list(category, "subcategories")?.is_empty(), || "a category without its `Other`".into())?;
    }
    let libs = list(file, "libs")?;
    for lib in libs {
        for key in ["name", "path", "debugName", "debugPath", "breakpadId"] {
            text(lib, key)?;
        }
        for key in ["arch", "codeId"] {
            let value = member(lib, key)?;
            unless(value.is_null() || value.is_string(), || format!("`{key}` is no text"))?;
        }
    }
    let threads = list(file, "threads")?;
    unless(!threads.is_empty(), || "no thread".into())?;
    for thread in threads {
        firefox_thread(thread, list(meta, "categories")?, libs.len())?;
        // Samples outside the recording would not be shown.
        let [begin, end] = ["profilingStartTime", "profilingEndTime"].map(|key| meta.get(key)?.as_f64());
        let is_shown = |time: f64| begin.zip(end).is_none_or(|(begin, end)| (begin..end).contains(&time));
        let times = list(member(thread, "samples")?, "time")?;
        unless(times.iter().filter_map(Value::as_f64).all(is_shown), || {
            "a sample outside of the recording".into()
        })?;
    }
    Ok(())
}

fn firefox_thread(thread: &Value, categories: &[Value], libs: usize) -> Checked {
    for key in ["name", "processType", "pid"] {
        text(thread, key)?;
    }
    unless(member(thread, "isMainThread")?.is_boolean(), || "`isMainThread` is no yes or no".into())?;
    let tid = member(thread, "tid")?;
    unless(tid.is_string() || tid.is_u64(), || "`tid` is no number or text".into())?;
    for key in ["processStartupTime", "registerTime"] {
        number(thread, key)?;
    }
    for key in ["processShutdownTime", "unregisterTime"] {
        let value = member(thread, key)?;
        unless(value.is_null() || value.is_number(), || format!("`{key}` is no time"))?;
    }
    list(thread, "pausedRanges")?;
    let strings = list(thread, "stringArray")?;
    unless(strings.iter().all(Value::is_string), || "a string that is none".into())?;
    let sizes = Sizes {
        strings: strings.len(),
        stacks: rows(thread, "stackTable")?,
        frames: rows(thread, "frameTable")?,
        functions: rows(thread, "funcTable")?,
        resources: rows(thread, "resourceTable")?,
        symbols: rows(thread, "nativeSymbols")?,
        libs,
    };
    firefox_samples(thread, &sizes)?;
    firefox_stacks(thread, &sizes, categories)?;
    firefox_names(thread, &sizes, categories.len())?;
    firefox_markers(thread, &sizes, categories.len())
}

/// The numbers of rows of tables that others refer to.
struct Sizes {
    strings: usize,
    stacks: usize,
    frames: usize,
    functions: usize,
    resources: usize,
    symbols: usize,
    libs: usize,
}

fn rows(thread: &Value, key: &str) -> Result<usize, String> {
    let rows = member(member(thread, key)?, "length")?.as_u64();
    rows.map(|rows| rows as usize).ok_or_else(|| format!("`{key}` has no length"))
}

fn row_of(rows: usize) -> impl Fn(&Value) -> bool {
    move |cell| is_row(cell, rows)
}

fn row_or_null(rows: usize) -> impl Fn(&Value) -> bool {
    or_null(row_of(rows))
}

fn row_or_none(rows: usize) -> impl Fn(&Value) -> bool {
    move |cell| cell.as_i64() == Some(-1) || is_row(cell, rows)
}

fn or_null(is_kind: impl Fn(&Value) -> bool) -> impl Fn(&Value) -> bool {
    move |cell| cell.is_null() || is_kind(cell)
}

fn is_address(cell: &Value) -> bool {
    cell.as_i64().is_some_and(|address| address >= -1)
}

fn firefox_samples(thread: &Value, sizes: &Sizes) -> Checked {
    let samples = table(
        thread,
        "samples",
        &[("stack", &row_or_null(sizes.stacks)), ("time", &Value::is_number), ("weight", &Value::is_number)],
    )?;
    let kinds = ["samples", "tracing-ms", "bytes"];
    unless(kinds.contains(&text(samples, "weightType")?), || "an unknown kind of weight".into())?;
    if samples.get("threadCPUDelta").is_some() {
        table(thread, "samples", &[("threadCPUDelta", &or_null(Value::is_number))])?;
    }
    let times: Vec<f64> = list(samples, "time")?.iter().filter_map(Value::as_f64).collect();
    unless(times.is_sorted(), || "samples that are not in order".into())
}

fn firefox_stacks(thread: &Value, sizes: &Sizes, categories: &[Value]) -> Checked {
    let stack_table = table(
        thread,
        "stackTable",
        &[
            ("frame", &row_of(sizes.frames)),
            ("prefix", &row_or_null(sizes.stacks)),
            ("category", &row_of(categories.len())),
            ("subcategory", &Value::is_u64),
        ],
    )?;
    for (stack, prefix) in list(stack_table, "prefix")?.iter().enumerate() {
        let is_before = prefix.as_u64().is_none_or(|prefix| prefix < stack as u64);
        unless(is_before, || format!("stack {stack} comes before its callers"))?;
    }
    let categorised = list(stack_table, "category")?.iter().zip(list(stack_table, "subcategory")?);
    for (category, subcategory) in categorised {
        let category = &categories[category.as_u64().unwrap_or(0) as usize];
        unless(is_row(subcategory, list(category, "subcategories")?.len()), || {
            "an unknown subcategory".into()
        })?;
    }
    Ok(())
}

/// Checks the tables of frames, functions and resources.
fn firefox_names(thread: &Value, sizes: &Sizes, categories: usize) -> Checked {
    table(
        thread,
        "frameTable",
        &[
            ("address", &is_address),
            ("inlineDepth", &Value::is_u64),
            ("category", &row_or_null(categories)),
            ("subcategory", &or_null(Value::is_u64)),
            ("func", &row_of(sizes.functions)),
            ("nativeSymbol", &row_or_null(sizes.symbols)),
            ("innerWindowID", &or_null(Value::is_u64)),
            ("implementation", &row_or_null(sizes.strings)),
            ("line", &or_null(Value::is_u64)),
            ("column", &or_null(Value::is_u64)),
        ],
    )?;
    table(
        thread,
        "funcTable",
        &[
            ("name", &row_of(sizes.strings)),
            ("isJS", &Value::is_boolean),
            ("relevantForJS", &Value::is_boolean),
            ("resource", &row_or_none(sizes.resources)),
            ("fileName", &row_or_null(sizes.strings)),
            ("lineNumber", &or_null(Value::is_u64)),
            ("columnNumber", &or_null(Value::is_u64)),
        ],
    )?;
    table(
        thread,
        "resourceTable",
        &[
            ("lib", &row_or_null(sizes.libs)),
            ("name", &row_of(sizes.strings)),
            ("host", &row_or_null(sizes.strings)),
            ("type", &Value::is_u64),
        ],
    )?;
    table(
        thread,
        "nativeSymbols",
        &[
            ("libIndex", &row_of(sizes.libs)),
            ("address", &is_address),
            ("name", &row_of(sizes.strings)),
            ("functionSize", &or_null(Value::is_u64)),
        ],
    )?;
    Ok(())
}

fn firefox_markers(thread: &Value, sizes: &Sizes, categories: usize) -> Checked {
    table(
        thread,
        "markers",
        &[
            ("data", &|_| true),
            ("name", &row_of(sizes.strings)),
            ("startTime", &or_null(Value::is_number)),
            ("endTime", &or_null(Value::is_number)),
            ("phase", &Value::is_u64),
            ("category", &row_of(categories)),
        ],
    )?;
    Ok(())
}

/// All files below a folder that are not too large.
fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = below(root).into_iter().map(|file| root.join(file)).collect();
    files.retain(|file| std::fs::metadata(file).is_ok_and(|about| about.len() <= LARGEST));
    files
}

fn loaded(path: &Path, options: prof::profile::LoadOptions) -> Option<Profile> {
    let file = std::fs::File::open(path).unwrap();
    load(&mut Source::open(Box::new(file)).ok()?, options, None).ok()
}

/// Writes every profile below `root` as `format`, in each metric, and checks it.
fn everything_keeps_the_rules(root: &Path, format: &str, check: fn(&Value) -> Checked) {
    let writer = writer_named(format).unwrap();
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in files_below(root) {
        let Some(profile) = loaded(&path, writer.needs.clone()).filter(|profile| profile.calls.is_none())
        else {
            continue;
        };
        for (number, metric) in
            profile.meta.metrics.iter().enumerate().filter(|(_, metric)| !metric.too_large)
        {
            let mut bytes = Vec::new();
            writer.write_to(&profile, number, false, &mut bytes).unwrap();
            let kept = serde_json::from_slice(&bytes)
                .map_err(|error| error.to_string())
                .and_then(|file| check(&file));
            checked += 1;
            if let Err(rule) = kept {
                wrong.push(format!("{} {}: {rule}", path.display(), metric.name));
            }
        }
    }
    println!("{checked} files of {format} keep the rules");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 20, "only {checked} files were written");
}

#[test]
fn speedscope_keeps_the_rules_of_its_schema() {
    everything_keeps_the_rules(&fixture(""), "speedscope", speedscope);
}

#[test]
#[needs(Corpus)]
fn real_profiles_as_speedscope_keep_the_rules_of_its_schema() {
    everything_keeps_the_rules(&corpus_root(), "speedscope", speedscope);
}

#[test]
fn cpuprofile_keeps_the_rules_of_the_devtools_protocol() {
    everything_keeps_the_rules(&fixture(""), "cpuprofile", cpuprofile);
}

#[test]
#[needs(Corpus)]
fn real_profiles_as_cpuprofile_keep_the_rules_of_the_devtools_protocol() {
    everything_keeps_the_rules(&corpus_root(), "cpuprofile", cpuprofile);
}

#[test]
fn gecko_keeps_the_rules_of_the_firefox_profiler() {
    everything_keeps_the_rules(&fixture(""), "gecko", firefox);
}

#[test]
#[needs(Corpus)]
fn real_profiles_as_gecko_keep_the_rules_of_the_firefox_profiler() {
    everything_keeps_the_rules(&corpus_root(), "gecko", firefox);
}

/// The checks find violations: each of these files breaks one rule.
#[test]
fn what_breaks_a_rule_is_found() {
    let file = |profile: &str| {
        let text = format!(
            r#"{{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {{"frames": [{{"name": "main"}}]}},
                "profiles": [{{"name": "", "unit": "none", "startValue": 0, "endValue": 1, {profile}}}]}}"#
        );
        speedscope(&serde_json::from_str(&text).unwrap())
    };
    assert_eq!(file(r#""type": "sampled", "samples": [[0], []], "weights": [1, 0.5]"#), Ok(()));
    let events = |events: &str| file(&format!(r#""type": "evented", "events": [{events}]"#));
    let (open, close) = (r#"{"type": "O", "frame": 0, "at": 0}"#, r#"{"type": "C", "frame": 0, "at": 1}"#);
    assert_eq!(events(&format!("{open}, {close}")), Ok(()));
    for wrong in [open, close, r#"{"type": "O", "frame": 1, "at": 0}"#, r#"{"type": "O", "frame": 0}"#] {
        assert!(events(wrong).is_err(), "{wrong}");
    }
    for wrong in
        [r#""samples": [[1]], "weights": [1]"#, r#""samples": [[0]], "weights": []"#, r#""weights": []"#]
    {
        assert!(file(&format!(r#""type": "sampled", {wrong}"#)).is_err(), "{wrong}");
    }
    let node = r#"{"id": 1, "callFrame": {"functionName": "", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1}}"#;
    let profile =
        |rest: &str| cpuprofile(&serde_json::from_str(&format!(r#"{{"nodes": [{node}], {rest}}}"#)).unwrap());
    assert_eq!(profile(r#""startTime": 0, "endTime": 1, "samples": [], "timeDeltas": []"#), Ok(()));
    for wrong in [
        r#""startTime": 2, "endTime": 1, "samples": [], "timeDeltas": []"#,
        r#""startTime": 0, "endTime": 1, "samples": [2], "timeDeltas": [1]"#,
        r#""startTime": 0, "endTime": 1, "samples": [], "timeDeltas": [1]"#,
    ] {
        assert!(profile(wrong).is_err(), "{wrong}");
    }
}
