//! Reads V8 CPU profiles, as written by Chrome's `DevTools`, `node --cpu-prof` and PM2.
//!
//! ```text
//! {"nodes": [{"id": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 0, …}, "children": [2]}, …],
//!  "startTime": 1000, "endTime": 9000, "samples": [2, 1, …], "timeDeltas": [500, 1000, …]}
//! ```
//!
//! Times are in µs. The format before Chrome 58 nests nodes in a `head`, counts lines from 1, has start and end in
//! seconds, and may have no timestamps; samples are then evenly spaced. Node.js 10 and older, and profilers made
//! for them, write it.
//!
//! Business Central writes a list of nodes instead of samples, each once, with the time that was spent in it as its delta, and the number
//! of samples as its `hitCount`.
//!
//! Bun writes the same format, but JavaScriptCore takes no samples while nothing runs, and there is no `(idle)`. A function must not be
//! charged with what the event loop slept after it, so times without samples become `(idle)`.
//!
//! The `positionTicks` of a node say how often each line of its function was running, but not when. So the values
//! of a node are divided among its lines in proportion, and only where the times of samples are not kept. Callers
//! have no lines.

use crate::format::json::{self, Json, Kind};
use crate::format::threads::Thread;
use crate::format::v8::nodes::{OwnValues, read_flat, read_nested};
use crate::format::v8::samples::{SampleWriter, Timestamps, declare_metrics};
use crate::format::v8::tree::V8Tree;
use crate::format::v8::{HEAD, enter_profile, has};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Column, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};
use crate::unit::{Scale, Unit, plural};

/// The entry in the list of readable formats.
pub(in crate::format) static CPUPROFILE: Format = Format { name: NAME, title: "V8 CPU profile", sniff, read };

pub(super) const NAME: &str = "cpuprofile";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let flat = has(head, &keys, "nodes") && json::mentions(head, "\"callFrame\"");
    // A heap profile has a `head`, too, and possibly `samples`.
    let nested = has(head, &keys, "head") && json::mentions(head, "\"functionName\"");
    if flat || (nested && !json::mentions(head, "\"selfSize\"")) {
        return Confidence::Certain;
    }
    Confidence::No
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    declare_metrics(&mut builder);
    let mut json = Json::new(NAME, &text);
    let is_answer = enter_profile(&mut json)?;
    // Nodes are read where they are, which takes a third less time than to skip them first. If that fails, they are read again
    // after the rest, so that of several errors the same one is reported.
    let mut nodes = None;
    let parts = CpuProfileParts::find_with(&mut json, |json| {
        let mut read = CallTree::default();
        let is_read = read_flat(json, &mut builder, &mut read.tree, &mut read.hits).is_ok();
        nodes = is_read.then_some(read);
        is_read
    })?;
    if !is_answer {
        json.end()?;
    }
    let parts = CpuProfileParts {
        is_sum: is_of_business_central(&text),
        has_pauses: parts.is_of_bun(&text),
        ..parts
    };
    parts.read_into(&json, nodes, &mut builder, &Thread::default())?;
    Ok(finished(builder)?)
}

/// Whether the functions are those of objects of Business Central.
fn is_of_business_central(text: &[u8]) -> bool {
    json::mentions(&text[..text.len().min(HEAD)], "\"applicationDefinition\"")
}

/// The nodes of a profile.
#[derive(Default)]
pub(in crate::format) struct CallTree<'a> {
    tree: V8Tree<'a>,
    hits: OwnValues,
}

/// The positions of the parts of a profile in the text, because samples may come before the nodes.
#[derive(Default)]
pub(in crate::format) struct CpuProfileParts {
    nodes: Option<usize>,
    head: Option<usize>,
    samples: Option<usize>,
    deltas: Option<usize>,
    timestamps: Option<usize>,
    /// Start and end as written: µs, or seconds in the old format.
    start: Option<f64>,
    end: Option<f64>,
    title: String,
    /// Whether each node is in `samples` once, with its whole time, as Business Central writes it.
    is_sum: bool,
    /// Whether there are no samples while nothing runs, as Bun writes it.
    has_pauses: bool,
}

/// The name of times without samples, which V8 gives to its samples of an event loop that waits.
const IDLE: &str = "(idle)";

/// No sample of Bun lasts longer than so many usual ones.
const LONGEST: i64 = 10;

/// The intervals between most samples of Bun, and the longest time that a sample may last.
struct Pauses {
    usual: i64,
    longest: i64,
    idle: StackId,
    /// How many times there were without samples, and how long they were together.
    count: u64,
    total: i64,
}

impl Pauses {
    /// What is usual among these times between samples: where a program mostly waits, that is not the median.
    fn of(mut deltas: Vec<i64>, builder: &mut ProfileBuilder) -> Option<Pauses> {
        deltas.retain(|&delta| delta > 0);
        let middle = deltas.len() / 4;
        if deltas.is_empty() {
            return None;
        }
        let usual = *deltas.select_nth_unstable(middle).1;
        let frame = builder.named_frame(IDLE);
        let idle = builder.stack(&[frame]);
        Some(Pauses { usual, longest: usual.saturating_mul(LONGEST), idle, count: 0, total: 0 })
    }

    /// Ends the latest sample, which began at `from`, if the next moment that is known is too late for it.
    fn end_sample(&mut self, writer: &mut SampleWriter, builder: &mut ProfileBuilder, from: i64, to: i64) {
        let passed = to.saturating_sub(from);
        if passed > self.longest {
            let end = from.saturating_add(self.usual);
            writer.pause(builder, self.idle, end);
            self.count += 1;
            self.total = self.total.saturating_add(to.saturating_sub(end));
        }
    }

    fn note(&self, builder: &mut ProfileBuilder) {
        if self.count > 0 {
            let total = Scale::automatic(&Unit::parse("microseconds"), 1, self.total).format(self.total);
            builder.meta.notes.push(format!(
                "{} {} of more than {LONGEST} intervals without a sample, {total} in all, {} shown as {IDLE}: Bun takes no samples \
                 while the event loop waits",
                self.count,
                plural(self.count, "time", "times"),
                plural(self.count, "is", "are")
            ));
        }
    }
}

impl CpuProfileParts {
    /// Whether Bun wrote the profile. V8 calls no function `(module)`, and its times are whole microseconds.
    fn is_of_bun(&self, text: &[u8]) -> bool {
        let mentions = |name: &str| json::mentions(text, &format!("\"{name}\""));
        let is_fraction = [self.start, self.end].into_iter().flatten().any(|time| time.fract() != 0.0);
        self.nodes.is_some()
            && (is_fraction || mentions("(module)"))
            && !["(idle)", "(program)", "(garbage collector)"].into_iter().any(mentions)
    }

    /// Finds the parts of a profile.
    pub(in crate::format) fn find(json: &mut Json) -> Result<CpuProfileParts, ParseError> {
        CpuProfileParts::find_with(json, |_| false)
    }

    /// Finds the parts of a profile. `read_nodes` may read the nodes and return true.
    fn find_with<'a>(
        json: &mut Json<'a>,
        mut read_nodes: impl FnMut(&mut Json<'a>) -> bool,
    ) -> Result<CpuProfileParts, ParseError> {
        let mut parts = CpuProfileParts::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let at = Some(json.position());
            match (&*key, json.kind()?) {
                ("nodes", Kind::Array) => {
                    parts.nodes = at;
                    let mut ahead = json.clone();
                    if read_nodes(&mut ahead) {
                        *json = ahead;
                        continue;
                    }
                }
                ("head", Kind::Object) => parts.head = at,
                ("samples", Kind::Array) => parts.samples = at,
                ("timeDeltas", Kind::Array) => parts.deltas = at,
                ("timestamps", Kind::Array) => parts.timestamps = at,
                ("startTime", Kind::Number) => parts.start = Some(json.clone().number()?),
                ("endTime", Kind::Number) => parts.end = Some(json.clone().number()?),
                ("title", Kind::String) => parts.title = json.clone().string()?.into_owned(),
                _ => {}
            }
            json.skip()?;
        }
        Ok(parts)
    }

    /// Adds the samples to the profile, all of them with the labels of `thread`; `nodes` are its nodes, if they have been read.
    pub(in crate::format) fn read_into<'a>(
        &self,
        json: &Json<'a>,
        nodes: Option<CallTree<'a>>,
        builder: &mut ProfileBuilder,
        thread: &Thread,
    ) -> Result<(), ParseError> {
        let CallTree { mut tree, hits } = nodes.map_or_else(|| self.read_nodes(json, builder), Ok)?;
        tree.link();
        builder.meta.duration_ns = self.duration().map(|duration| duration.saturating_mul(1000));
        builder.meta.comments.extend((!self.title.is_empty()).then(|| self.title.clone()));
        match self.samples {
            Some(at) if self.is_sum => self.read_sums(json.at(at), builder, &mut tree, &hits)?,
            Some(at) => self.read_samples(json.at(at), builder, &mut tree, thread)?,
            None => self.read_hits(builder, &mut tree, &hits)?,
        }
        tree.divide_among_lines(builder, &hits)
    }

    fn read_nodes<'a>(
        &self,
        json: &Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<CallTree<'a>, ParseError> {
        let mut read = CallTree::default();
        match (self.nodes, self.head) {
            (Some(at), _) => read_flat(&mut json.at(at), builder, &mut read.tree, &mut read.hits)?,
            (None, Some(at)) => read_nested(&mut json.at(at), builder, &mut read.tree, &mut read.hits)?,
            (None, None) => return Err(ParseError::whole(NAME, "missing both `nodes` and `head`")),
        }
        Ok(read)
    }

    /// Start and end in µs.
    fn span(&self) -> (i64, Option<i64>) {
        let unit = if self.nodes.is_some() { 1.0 } else { 1e6 };
        let start = self.start.map_or(0, |start| (start * unit) as i64);
        (start, self.end.map(|end| (end * unit) as i64).filter(|&end| end >= start))
    }

    /// The time between start and end in µs, if known.
    fn duration(&self) -> Option<i64> {
        let (start, end) = self.span();
        Some(end?.saturating_sub(start))
    }

    fn read_samples(
        &self,
        mut samples: Json,
        builder: &mut ProfileBuilder,
        tree: &mut V8Tree,
        thread: &Thread,
    ) -> Result<(), ParseError> {
        let (start, mut end) = self.span();
        let mut timestamps = self.timestamps(&samples)?;
        let mut writer = SampleWriter::new(start).labelled(thread, builder);
        let (mut latest, mut without_time) = (start, 0u64);
        let mut pauses = self.pauses(&samples, builder)?;
        let mut is_first = true;
        samples.array()?;
        while samples.element()? {
            let moment = timestamps.next()?;
            without_time += u64::from(moment.is_none());
            if let (Some(pauses), Some(moment), false) = (&mut pauses, moment, is_first) {
                pauses.end_sample(&mut writer, builder, latest, moment);
            }
            is_first = false;
            latest = moment.unwrap_or(latest);
            writer.sample(builder, tree, (samples.integer()?, 0), latest)?;
        }
        // Some profilers write one more timestamp, the end, which is more precise than the seconds.
        if let Timestamps::Stamps(_) = timestamps {
            end = timestamps.next()?.or(end);
        }
        let without_sample = timestamps.left()?;
        if let Some(pauses) = &mut pauses {
            pauses.end_sample(&mut writer, builder, latest, end.filter(|_| !is_first).unwrap_or(latest));
            pauses.note(builder);
        }
        writer.finish(builder, end);
        if without_time > 0 {
            builder.warn(format!(
                "the last {without_time} {} no timestamp",
                plural(without_time, "sample has", "samples have")
            ));
        }
        if without_sample > 0 {
            builder.warn(format!(
                "ignored {without_sample} extra {} after the last sample",
                plural(without_sample, "timestamp", "timestamps")
            ));
        }
        Ok(())
    }

    /// How to find times without samples, where they are to be told apart.
    fn pauses(&self, samples: &Json<'_>, builder: &mut ProfileBuilder) -> Result<Option<Pauses>, ParseError> {
        let Some(at) = self.deltas.filter(|_| self.has_pauses) else { return Ok(None) };
        let deltas = samples.at(at).list(Json::integer)?;
        Ok(Pauses::of(deltas, builder))
    }

    fn timestamps<'a>(&self, samples: &Json<'a>) -> Result<Timestamps<'a>, ParseError> {
        let (start, _) = self.span();
        if let Some(at) = self.deltas.or(self.timestamps) {
            let mut json = samples.at(at);
            json.array()?;
            let deltas = self.deltas.is_some();
            return Ok(if deltas {
                Timestamps::Deltas { json, timestamp: start }
            } else {
                Timestamps::Stamps(json)
            });
        }
        let mut count = 0;
        let mut samples = samples.clone();
        samples.array()?;
        while samples.element()? {
            samples.skip()?;
            count += 1;
        }
        Ok(Timestamps::Even { start, duration: self.duration().unwrap_or(0), count, index: 0 })
    }

    /// Reads a profile in which the sums of nodes stand in place of samples.
    fn read_sums(
        &self,
        mut nodes: Json,
        builder: &mut ProfileBuilder,
        tree: &mut V8Tree,
        hits: &OwnValues,
    ) -> Result<(), ParseError> {
        let mut times = Column::filled(0_i64, hits.len());
        let (mut unknown, mut deltas) = (0, self.deltas.map(|at| nodes.at(at)));
        if let Some(deltas) = &mut deltas {
            deltas.array()?;
        }
        nodes.array()?;
        while nodes.element()? {
            let node = tree.find(nodes.integer()?);
            let mut time = 0;
            if let Some(deltas) = &mut deltas
                && deltas.element()?
            {
                time = deltas.integer()?;
            }
            unknown += u64::from(node.is_none());
            if let Some(node) = node {
                times[node] = times[node].saturating_add(time.max(0));
            }
        }
        for (node, &time) in times.enumerate().filter(|(node, time)| **time > 0 || hits[*node] > 0) {
            let stack = tree.stack(builder, node)?;
            builder.sample(stack, LabelSetId::default(), None, &[hits[node].max(0), time]);
        }
        if unknown > 0 {
            let are = plural(unknown, "sample is of a node that is", "samples are of nodes that are");
            builder.warn(format!("{unknown} {are} not in the file"));
        }
        Ok(())
    }

    /// Reads a profile without samples, in which nodes only have hit counts: its duration is divided among the hits.
    fn read_hits(
        &self,
        builder: &mut ProfileBuilder,
        tree: &mut V8Tree,
        hits: &OwnValues,
    ) -> Result<(), ParseError> {
        let has_hits = hits.iter().any(|&hits| hits > 0);
        for (node, time) in std::mem::take(&mut tree.self_times).into_iter().filter(|_| !has_hits) {
            let stack = tree.stack(builder, node)?;
            builder.sample(stack, LabelSetId::default(), None, &[0, time.max(0)]);
        }
        let duration = i128::from(self.duration().unwrap_or(0));
        let all: i128 = hits.iter().map(|&hits| i128::from(hits.max(0))).sum();
        for (node, &hits) in hits.enumerate().filter(|(_, hits)| **hits > 0) {
            let stack = tree.stack(builder, node)?;
            let time = duration * i128::from(hits) / all;
            builder.sample(stack, LabelSetId::default(), None, &[hits, time as i64]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Id, to_notation};

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.as_bytes().to_vec()), LoadOptions::ALL)
    }

    #[test]
    fn answers_of_the_protocol_are_profiles() {
        let text = r#"{"nodes": [{"id": 1, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 2, "columnNumber": 4}}],
            "samples": [1], "timeDeltas": [5], "startTime": 0, "endTime": 9}"#;
        let expected = load(text).unwrap().meta.metrics[1].total;
        assert!(expected > 0);
        for answer in
            [format!(r#"{{"profile": {text}}}"#), format!(r#"{{"id": 7, "result": {{"profile": {text}}}}}"#)]
        {
            assert_eq!(load(&answer).unwrap().meta.metrics[1].total, expected);
        }
    }

    #[test]
    fn nodes_of_business_central_have_sums_instead_of_samples() {
        let text = r#"{"nodes": [
            {"id": 1, "callFrame": {"functionName": "Root", "url": "a.dal"}, "hitCount": 1, "children": [3],
             "applicationDefinition": {"objectId": -1}},
            {"id": 2, "callFrame": {"functionName": "IdleTime", "url": ""}, "hitCount": 199, "children": []},
            {"id": 3, "callFrame": {"functionName": "OnRun", "url": "b.dal"}, "hitCount": 16, "children": []}],
            "startTime": 0, "endTime": 23500000, "samples": [1, 2, 3], "timeDeltas": [100, 21781813, 1617281]}"#;
        let profile = load(text).unwrap();
        assert_eq!(
            to_notation(&profile),
            "IdleTime 199 21781813\nRoot@a.dal:0 1 100\nRoot@a.dal:0;OnRun@b.dal:0 16 1617281"
        );
        let unknown = load(&text.replace("[1, 2, 3]", "[1, 2, 9]")).unwrap().meta.warnings;
        assert_eq!(unknown, ["1 sample is of a node that is not in the file"]);
    }

    /// The event loop slept for 300 ms after the second sample, and for a second at the end.
    #[test]
    fn bun_takes_no_samples_while_it_waits() {
        let text = r#"{"nodes": [
            {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1, "columnNumber": -1}, "children": [2]},
            {"id": 2, "callFrame": {"functionName": "(module)", "url": "", "lineNumber": -1, "columnNumber": -1}, "children": [3]},
            {"id": 3, "callFrame": {"functionName": "f", "url": "", "lineNumber": -1, "columnNumber": -1}}],
            "startTime": 1000.5, "endTime": 1320000, "samples": [3, 3, 3, 3],
            "timeDeltas": [9000, 1000, 301000, 2000]}"#;
        let profile = load(text).unwrap();
        let expected = "(idle) 0 1004000\n(idle) 0 299000\n(module);f 1 1000\n(module);f 1 2000\n(module);f 1 2000\n(module);f 1 2000";
        assert_eq!(to_notation(&profile), expected);
        let note = "2 times of more than 10 intervals without a sample, 1.30s in all, are shown as (idle): Bun takes no samples while the \
                    event loop waits";
        assert_eq!(profile.meta.notes, [note]);
        // V8 samples what waits.
        let v8 = load(&text.replace("(module)", "(program)")).unwrap();
        assert_eq!((v8.meta.notes.len(), v8.symbols.functions.len()), (0, 2));
    }

    #[test]
    fn nodes_without_samples_and_hits_have_times() {
        let text = r#"{"head": {"functionName": "(root)", "url": "", "lineNumber": 0, "selfTime": 0, "children": [
            {"functionName": "f", "url": "", "lineNumber": 0, "selfTime": 495.7243, "children": []}]}}"#;
        assert_eq!(to_notation(&load(text).unwrap()), "f 0 495724");
    }

    const FLAT: &str = r#"{"samples": [2, 3, 2, 4, 9], "nodes": [
        {"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1}, "children": [2, 4]},
        {"id": 2, "callFrame": {"functionName": "", "url": "a.js", "lineNumber": 0, "columnNumber": 9}, "children": [3]},
        {"id": 3, "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 6, "columnNumber": 0}},
        {"id": 4, "callFrame": {"functionName": "(idle)", "url": "", "lineNumber": -1, "columnNumber": -1}}],
        "timeDeltas": [10, 5, -2, 7, 1], "startTime": 1000, "endTime": 1040}"#;

    #[test]
    fn a_sample_lasts_until_the_next_one() {
        let profile = load(FLAT).unwrap();
        // Timestamps 1010, 1015, 1013 → 1015, 1020, 1021, and the end at 1040.
        let expected = " 1 19\n(anonymous)@a.js:0 1 5\n(anonymous)@a.js:0 1 5\n(anonymous)@a.js:0;f@a.js:0 1 0\n(idle) 1 1";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.samples.time.as_ref().unwrap()[..2], [10_000, 15_000]);
        assert_eq!((profile.meta.default_metric, profile.meta.duration_ns), (1, Some(40_000)));
        assert_eq!(
            profile.meta.warnings,
            [
                "1 sample has a timestamp earlier than the sample before it; this timestamp is ignored",
                "1 sample refers to a missing node and has an empty stack"
            ]
        );
    }

    #[test]
    fn the_numbers_of_samples_and_timestamps_may_differ() {
        let with = |deltas: &str| load(&FLAT.replace("[10, 5, -2, 7, 1]", deltas)).unwrap();
        let few = with("[10, 5]");
        assert_eq!(few.meta.warnings[1], "the last 3 samples have no timestamp");
        assert_eq!((few.meta.rows, few.meta.metrics[1].total), (5, 30));
        let many = with("[10, 5, -2, 7, 1, 1, 1]");
        assert_eq!(many.meta.metrics, load(FLAT).unwrap().meta.metrics);
        assert_eq!(many.meta.warnings[2], "ignored 2 extra timestamps after the last sample");
    }

    #[test]
    fn functions_are_distinguished_by_location_counted_from_one() {
        let profile = load(FLAT).unwrap();
        let functions: Vec<_> =
            profile.symbols.functions.iter().map(|f| (f.line, f.column, f.by_place)).collect();
        assert_eq!(functions, [(1, 10, true), (7, 1, true), (0, 0, false)]);
    }

    #[test]
    fn the_nested_format_counts_lines_from_one_and_time_in_seconds() {
        let text = r#"{"typeId": "CPU", "title": "t", "head": {"functionName": "(root)", "url": "", "lineNumber": 0, "id": 1, "hitCount": 0, "children": [
            {"functionName": "f", "url": "a.js", "lineNumber": 6, "children": [{"functionName": "g", "url": "a.js", "lineNumber": 9, "id": 3, "hitCount": 3, "children": []}], "id": 2, "hitCount": 1}]},
            "startTime": 5, "endTime": 5.000004SAMPLES}"#;
        let profile = load(&text.replace("SAMPLES", r#", "samples": [3, 2, 3, 3]"#)).unwrap();
        let expected = "f@a.js:0 1 1\nf@a.js:0;g@a.js:0 1 1\nf@a.js:0;g@a.js:0 1 1\nf@a.js:0;g@a.js:0 1 1";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.symbols.functions[Id::new(0)].line, 9);
        let stamped =
            text.replace("SAMPLES", r#", "samples": [3, 2], "timestamps": [5000001, 5000002, 5000009]"#);
        assert_eq!(to_notation(&load(&stamped).unwrap()), "f@a.js:0 1 7\nf@a.js:0;g@a.js:0 1 1");
        assert_eq!(
            to_notation(&load(&text.replace("SAMPLES", "")).unwrap()),
            "f@a.js:0 1 1\nf@a.js:0;g@a.js:0 3 3"
        );
    }

    /// `f` was hit 4 times: once at line 7, twice at line 9, and once at a line that V8 did not know.
    const TICKS: &str = r#"{"nodes": [
        {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2, 3]},
        {"id": 2, "hitCount": 4, "positionTicks": [{"line": 7, "ticks": 1}, {"line": 9, "ticks": 2}, {"line": 8, "ticks": 0}],
         "callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 6}, "children": [4]},
        {"id": 3, "hitCount": 1, "positionTicks": [{"line": 1, "ticks": 1}], "callFrame": {"functionName": "(program)", "url": "", "lineNumber": -1}},
        {"id": 4, "hitCount": 1, "callFrame": {"functionName": "g", "url": "a.js", "lineNumber": 2}}],
        "startTime": 0, "endTime": 106SAMPLES}"#;
    const TICKS_SAMPLES: &str =
        r#", "samples": [2, 4, 2, 2, 2, 3, 2], "timeDeltas": [0, 10, 20, 30, 10, 20, 6]"#;

    #[test]
    fn a_node_is_divided_among_the_lines_that_were_running() {
        let text = TICKS.replace("SAMPLES", TICKS_SAMPLES);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let profile = read(&mut Source::from_bytes(text.clone().into()), options).unwrap();
        // `f` lasted 10 + 30 + 10 + 20 + 10 = 80 µs in 5 samples, which its 4 ticks divide 1 : 2 : 1.
        let expected = "(program) 1 6\nf@a.js:0 2 20\nf@a.js:0;g@a.js:0 1 20\nf@a.js:7 1 20\nf@a.js:9 2 40";
        assert_eq!(to_notation(&profile), expected);
        // It is still 7 samples, of which none is more than one.
        assert_eq!(
            (profile.meta.rows, profile.meta.metrics[1].rows, profile.meta.metrics[1].total),
            (7, 7, 106)
        );
        // Samples whose times are kept are not divided.
        let timed = load(&text).unwrap();
        assert!(timed.symbols.frames.iter().all(|frame| frame.line == 0));
        assert_eq!(timed.samples.len(), 7);
    }

    #[test]
    fn hits_are_divided_among_lines_exactly() {
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let profile = read(&mut Source::from_bytes(TICKS.replace("SAMPLES", "").into()), options).unwrap();
        // 106 µs in 6 hits: 70 of `f`, 17 of `(program)` and of `g`.
        let expected = "(program) 1 17\nf@a.js:0 1 18\nf@a.js:0;g@a.js:0 1 17\nf@a.js:7 1 17\nf@a.js:9 2 35";
        assert_eq!(to_notation(&profile), expected);
    }

    #[test]
    fn nesting_may_be_deep() {
        let node = r#"{"functionName":"f","url":"","lineNumber":0,"hitCount":0,"children":["#;
        let text = format!(
            "{{\"head\":{}{},\"startTime\":0,\"endTime\":1,\"samples\":[]}}",
            node.repeat(50_000),
            "]}".repeat(50_000)
        );
        assert_eq!(load(&text).unwrap().samples.len(), 0);
    }

    #[test]
    fn corrupt_files_are_rejected() {
        let cut = load(&FLAT[..FLAT.len() - 20]).unwrap_err().to_string();
        assert!(cut.starts_with("cpuprofile: unexpected end of JSON; the file is truncated"), "{cut}");
        let looped = FLAT.replace("\"children\": [3]", "\"children\": [3, 2]");
        assert_eq!(load(&looped).unwrap_err().to_string(), "cpuprofile: the call tree contains a cycle");
    }
}
