//! Reads speedscope's own format, which py-spy, rbspy, austin and many others write.
//!
//! ```text
//! {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "main", "line": 3}, …]},
//!  "profiles": [{"type": "sampled", "name": "main", "unit": "seconds", "samples": [[0, 1], …], "weights": [0.01, …]},
//!               {"type": "evented", "name": "worker", "unit": "none", "events": [{"type": "O", "frame": 0, "at": 0}, …]}]}
//! ```
//!
//! Each profile is a thread. Stacks are written root first. Weights in a unit of time become
//! nanoseconds; others keep up to six decimals.

use std::borrow::Cow;

use hashbrown::HashSet;

mod events;
mod moment;
mod sampled;

use crate::format::decimals::{Decimals, rounded};
use crate::format::json::{self, Json, Kind};
use crate::format::py_spy::{OutsideFrame, named_thread};
use crate::format::speedscope_write::EXPORTER;
use crate::format::threads::Thread;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::is_script;
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};

use moment::Moment;
use sampled::SampledStacks;

/// The entry in the list of readable formats.
pub(super) static SPEEDSCOPE: Format = Format { name: NAME, title: "speedscope", sniff, read };

const NAME: &str = "speedscope";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let has = |wanted: &[&str]| json::has(&keys, wanted);
    if has(&["$schema"]) && json::mentions(head, "speedscope.app/file-format-schema") {
        Confidence::Certain
    } else if has(&["shared", "profiles"])
        || (has(&["profiles"])
            && ["\"sampled\"", "\"evented\""].iter().any(|kind| json::mentions(head, kind)))
    {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut reader = SpeedscopeReader {
        builder: ProfileBuilder::new(NAME, options),
        is_ours: false,
        frames: Vec::new(),
        own_code: HashSet::new(),
        outside: HashSet::new(),
        decimals: Decimals::default(),
        stack: Vec::new(),
        values: Vec::new(),
    };
    let mut json = Json::new(NAME, &text);
    let (mut profiles, mut is_read) = (None, false);
    json.object()?;
    while let Some(key) = json.key()? {
        match (&*key, json.kind()?) {
            ("$schema", Kind::String) => check_schema(&mut json)?,
            ("shared", Kind::Object) => reader.read_shared(&mut json)?,
            ("profiles", Kind::Array) if !reader.frames.is_empty() => {
                reader.read_profiles(&mut json)?;
                is_read = true;
            }
            // The frames come later.
            ("profiles", Kind::Array) => {
                profiles = Some(json.position());
                json.skip()?;
            }
            ("name" | "exporter", Kind::String) => {
                let comment = json.string()?.into_owned();
                reader.is_ours |= key == "exporter" && comment.starts_with(EXPORTER);
                // It leaves out the samples in which a thread was idle, and those before it started.
                reader.builder.meta.lacks_idle |= key == "exporter" && comment.starts_with("py-spy@");
                reader.builder.meta.comments.extend((!comment.is_empty()).then_some(comment));
            }
            _ => json.skip()?,
        }
    }
    json.end()?;
    match profiles {
        Some(at) => reader.read_profiles(&mut json.at(at))?,
        None if is_read => {}
        None => return Err(ParseError::whole(NAME, "missing `profiles`").into()),
    }
    if reader.builder.meta.metrics.is_empty() {
        return Err(ParseError::whole(NAME, "`profiles` is empty").into());
    }
    Ok(finished(reader.builder)?)
}

/// Checks the address of the schema, which will be another one for an incompatible version.
fn check_schema(json: &mut Json) -> Result<(), ParseError> {
    let error = json
        .error("this version of the format is not supported: its schema is not `file-format-schema.json`");
    let schema = json.string()?;
    let is_known = !schema.contains("file-format-schema") || schema.ends_with("/file-format-schema.json");
    if is_known { Ok(()) } else { Err(error) }
}

struct SpeedscopeReader {
    builder: ProfileBuilder,
    /// Whether `prof` wrote the file; its lines are always the first lines of functions.
    is_ours: bool,
    frames: Vec<FrameId>,
    /// The frames that stand for the code of their caller itself: pyinstrument's `[self]`.
    own_code: HashSet<FrameId>,
    /// The frames that stand for a process or a thread: py-spy's `thread (815): MainThread`.
    outside: HashSet<FrameId>,
    decimals: Decimals,
    stack: Vec<FrameId>,
    values: Vec<i64>,
}

/// The metadata of a profile, and the positions of its samples in the text.
#[derive(Default)]
struct SpeedscopeParts {
    kind: Option<String>,
    unit: Option<String>,
    name: Option<String>,
    start: Option<Moment>,
    samples: Option<usize>,
    weights: Option<usize>,
    events: Option<usize>,
    /// Whether the samples or events have already been read.
    is_read: bool,
}

impl SpeedscopeParts {
    /// Whether everything needed to read events is known, so that they can be read at once instead of being
    /// skipped first.
    fn can_read_events(&self) -> bool {
        self.kind.as_deref() == Some("evented") && self.unit.is_some() && self.name.is_some()
    }

    /// The samples and their start, if everything needed to read them is known but their weights, which come next.
    fn readable_samples(&self) -> Option<(usize, Moment)> {
        let is_known = self.kind.as_deref() == Some("sampled") && self.unit.is_some() && self.name.is_some();
        self.samples.zip(self.start).filter(|_| is_known)
    }
}

/// Converts the values of a profile to those of a metric.
struct ThreadScale {
    metric: usize,
    /// Nanoseconds per unit; `None` if the unit is not a time.
    nanoseconds: Option<f64>,
    labels: LabelSetId,
    /// Whether samples have labels that are not loaded.
    skipped_labels: bool,
}

impl SpeedscopeReader {
    fn read_shared(&mut self, json: &mut Json) -> Result<(), ParseError> {
        json.object()?;
        while let Some(key) = json.key()? {
            if key == "frames" {
                json.array()?;
                while json.element()? {
                    let frame = self.read_frame(json)?;
                    self.frames.push(frame);
                }
            } else {
                json.skip()?;
            }
        }
        Ok(())
    }

    /// The line is the first line of the function if there is a column as well, as in JavaScript, or if the
    /// file was written by `prof`. Otherwise it is the executing line: py-spy and rbspy write one frame per
    /// line.
    fn read_frame(&mut self, json: &mut Json) -> Result<FrameId, ParseError> {
        let (mut name, mut file, mut line, mut column) = (Cow::default(), Cow::default(), 0, None);
        let number = |json: &mut Json| json.number_if_any().map(|number| number.unwrap_or(0.0) as u32);
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "name" => name = json.text_if_any()?.unwrap_or_default(),
                "file" => file = json.text_if_any()?.unwrap_or_default(),
                "line" => line = number(json)?,
                "col" => column = json.number_if_any()?.map(|column| column as u32),
                _ => json.skip()?,
            }
        }
        // py-spy and rbspy write no columns.
        let is_own_code = name == "[self]" && file.is_empty();
        let is_outside = file.is_empty() && OutsideFrame::parse(&name).is_some();
        let by_place = !file.is_empty() && (column.is_some() || (!self.is_ours && is_script(&file)));
        let (name, file) = (self.builder.string(&name), self.builder.string(&file));
        let (begins_at, line) = match column {
            None if self.is_ours => (line, 0),
            None => (0, line),
            Some(_) => (line, line),
        };
        let column = column.unwrap_or(0);
        let function = self.builder.function(Function { name, file, line: begins_at, column, by_place });
        let frame = self.builder.frame(Frame { function, line, ..Frame::default() });
        if is_own_code {
            self.own_code.insert(frame);
        }
        if is_outside {
            self.outside.insert(frame);
        }
        Ok(frame)
    }

    fn read_profiles(&mut self, json: &mut Json) -> Result<(), ParseError> {
        let mut stacks = SampledStacks::default();
        json.array()?;
        while json.element()? {
            self.read_profile(json, &mut stacks)?;
        }
        Ok(())
    }

    fn read_profile<'a>(
        &mut self,
        json: &mut Json<'a>,
        stacks: &mut SampledStacks<'a>,
    ) -> Result<(), ParseError> {
        let mut parts = SpeedscopeParts::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let at = Some(json.position());
            let text = |json: &mut Json| json.string().map(|text| Some(text.into_owned()));
            match (&*key, json.kind()?) {
                ("type", Kind::String) => parts.kind = text(json)?,
                ("unit", Kind::String) => parts.unit = text(json)?,
                ("name", Kind::String) => parts.name = text(json)?,
                ("startValue", Kind::Number) => parts.start = Some(Moment::read(json)?),
                ("events", Kind::Array) if parts.can_read_events() => {
                    let scale = self.scale(&parts);
                    self.read_evented(json, &scale)?;
                    parts.is_read = true;
                }
                ("weights", Kind::Array) if let Some((samples, start)) = parts.readable_samples() => {
                    let scale = self.scale(&parts);
                    self.read_sampled(json.at(samples), json, start, &scale, stacks)?;
                    parts.is_read = true;
                }
                (key, Kind::Array) => {
                    match key {
                        "samples" => parts.samples = at,
                        "weights" => parts.weights = at,
                        "events" => parts.events = at,
                        _ => {}
                    }
                    json.skip()?;
                }
                _ => json.skip()?,
            }
        }
        if parts.is_read {
            return Ok(());
        }
        let scale = self.scale(&parts);
        match (parts.kind.as_deref(), parts.samples, parts.weights, parts.events) {
            (Some("sampled"), Some(samples), Some(weights), _) => {
                let start = parts.start.unwrap_or_default();
                self.read_sampled(json.at(samples), &mut json.at(weights), start, &scale, stacks)
            }
            (Some("evented"), .., Some(events)) => self.read_evented(&mut json.at(events), &scale),
            (kind, ..) => {
                let kind = kind.unwrap_or_default();
                Err(json.error(format!("profile of type `{kind}` has no samples or events")))
            }
        }
    }

    /// The metric for a profile's unit.
    fn scale(&mut self, parts: &SpeedscopeParts) -> ThreadScale {
        let (nanoseconds, name, unit) = match parts.unit.as_deref().unwrap_or_default() {
            "nanoseconds" => (Some(1.0), "wall", "nanoseconds"),
            "microseconds" => (Some(1e3), "wall", "nanoseconds"),
            "milliseconds" => (Some(1e6), "wall", "nanoseconds"),
            "seconds" => (Some(1e9), "wall", "nanoseconds"),
            "bytes" => (None, "bytes", "bytes"),
            "none" | "" => (None, "samples", "count"),
            other => (None, other, other),
        };
        let metric = self.builder.metric_once(name, unit);
        self.values.resize(self.builder.meta.metrics.len(), 0);
        let name = parts.name.clone().unwrap_or_default();
        let thread = named_thread(&name).unwrap_or(Thread { name, ..Thread::default() });
        let skipped_labels = thread.is_known() && !self.builder.options().labels;
        ThreadScale { metric, nanoseconds, labels: thread.labels(&mut self.builder), skipped_labels }
    }

    /// Converts a timestamp to the unit of the metric.
    #[inline]
    fn moment(&mut self, scale: &ThreadScale, moment: Moment) -> i64 {
        match moment.whole {
            Some(whole) => self.whole(scale, whole),
            None => self.value(scale, moment.value),
        }
    }

    /// The same for a number that is not exact as `f64`.
    #[cold]
    fn whole(&self, scale: &ThreadScale, whole: i64) -> i64 {
        match scale.nanoseconds {
            Some(nanoseconds) => whole.saturating_mul(nanoseconds as i64),
            None => self.decimals.whole(scale.metric, whole),
        }
    }

    /// Converts a weight or a timestamp to the unit of the metric.
    #[inline]
    fn value(&mut self, scale: &ThreadScale, value: f64) -> i64 {
        match scale.nanoseconds {
            Some(nanoseconds) => rounded(value * nanoseconds),
            None => self.decimals.integer(&mut self.builder, scale.metric, value),
        }
    }

    #[inline]
    fn write(&mut self, scale: &ThreadScale, stack: StackId, time: Option<i64>, value: i64) {
        self.values[scale.metric] = value;
        if scale.skipped_labels {
            self.builder.skipped_labels();
        }
        self.builder.sample(stack, scale.labels, time, &self.values);
        self.values[scale.metric] = 0;
    }
}

/// The frame whose number comes next.
fn numbered_frame(json: &mut Json, frames: &[FrameId]) -> Result<FrameId, ParseError> {
    let frame = json.row()?.and_then(|number| frames.get(number)).copied();
    frame.ok_or_else(|| json.error("frame number is out of range of `shared.frames`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    pub(super) fn load(profiles: &str) -> Result<Profile, LoadError> {
        let text = format!(
            r#"{{"profiles": [{profiles}], "exporter": "test",
            "shared": {{"frames": [{{"name": "a"}}, {{"name": "b", "file": "b.py", "line": 7, "col": null}}]}},
            "$schema": "https://www.speedscope.app/file-format-schema.json"}}"#
        );
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(
            &mut Source::from_bytes(text.into()),
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
        )
    }

    /// The main thread works for 1.5 s and then waits for a thread that works as long, but both begin at 0.
    #[test]
    fn py_spy_leaves_out_idle_samples() {
        let read_of = |exporter: &str| {
            let text = format!(
                r#"{{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": [{{"type": "sampled", "name": "Thread 7 \"\"",
                "unit": "seconds", "startValue": 0.0, "endValue": 1.0, "samples": [[0], [0]], "weights": [0.5, 0.5]}}],
                "shared": {{"frames": [{{"name": "a"}}]}}, "exporter": "{exporter}"}}"#
            );
            read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
        };
        for (exporter, lacks_idle) in [("py-spy@0.4.3", true), ("rbspy", false)] {
            let profile = read_of(exporter);
            assert_eq!(profile.samples.time, Some(vec![0, 500_000_000]), "{exporter}");
            assert_eq!(profile.meta.lacks_idle, lacks_idle, "{exporter}");
        }
    }

    #[test]
    fn sampled_profiles_are_threads() {
        let profile = load(
            r#"{"type": "sampled", "name": "one", "unit": "seconds", "startValue": 0, "endValue": 3, "samples": [[0], [0, 1], [0]], "weights": [1, 0.01, 2]},
               {"type": "sampled", "name": "two", "unit": "none", "startValue": 0, "endValue": 3, "samples": [[1], []], "weights": [0.5, 2.25]}"#,
        )
        .unwrap();
        let expected = " 0 225 {thread=two}\na 3000000000 0 {thread=one}\na;b@b.py:7 10000000 0 {thread=one}\nb@b.py:7 0 50 {thread=two}";
        assert_eq!(to_notation(&profile), expected);
        let metrics: Vec<_> = profile.meta.metrics.iter().map(|m| (&*m.name, &*m.unit, m.divisor)).collect();
        assert_eq!(metrics, [("wall", "nanoseconds", 1), ("samples", "count", 100)]);
    }

    #[test]
    fn the_time_between_events_belongs_to_the_open_frames() {
        let profile = load(
            r#"{"type": "evented", "name": "", "unit": "milliseconds", "startValue": 0, "endValue": 9, "events": [
                {"type": "O", "frame": 0, "at": 0.5}, {"type": "O", "frame": 1, "at": 2}, {"type": "C", "frame": 1, "at": 2},
                {"type": "O", "frame": 1, "at": 3}, {"type": "C", "frame": 1, "at": 4.25}, {"type": "C", "frame": 0, "at": 5},
                {"type": "O", "frame": 1, "at": 8}, {"type": "C", "frame": 1, "at": 9}]}"#,
        )
        .unwrap();
        assert_eq!(to_notation(&profile), "a 3250000\na;b@b.py:7 1250000\nb@b.py:7 1000000");
    }

    /// Nanoseconds since 1970 have more digits than a floating-point number.
    #[test]
    fn large_integers_are_exact() {
        let evented = |unit: &str| {
            format!(
                r#"{{"type": "evented", "name": "", "unit": "{unit}", "startValue": 0, "endValue": 9, "events": [
                {{"type": "O", "frame": 0, "at": 1700000000000000100}}, {{"type": "O", "at": 1700000000001000101, "frame": 1}},
                {{"type": "C", "frame": 1, "at": 1700000000003000103}}, {{"type": "C", "frame": 0, "at": 1700000000003000107}}]}}"#
            )
        };
        for unit in ["nanoseconds", "none"] {
            let profile = load(&evented(unit)).unwrap();
            assert_eq!(to_notation(&profile), "a 1000005\na;b@b.py:7 2000002", "{unit}");
        }
        let error = load(&evented("none").replace("3000107", "3000102")).unwrap_err().to_string();
        assert!(error.contains("1700000000003000102 comes after 1700000000003000103"), "{error}");
    }

    /// The times of samples are those of the start and what the weights add to it.
    #[test]
    fn large_starts_are_exact() {
        let text = r#"{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "a"}]},
            "profiles": [{"type": "sampled", "name": "", "unit": "nanoseconds", "startValue": 1700000000000000101, "endValue": 9,
            "samples": [[0], [0]], "weights": [3, 4]}]}"#;
        let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap();
        assert_eq!(
            profile.samples.time.as_deref(),
            Some(&[1_700_000_000_000_000_101, 1_700_000_000_000_000_104][..])
        );
    }

    #[test]
    fn the_members_of_an_event_may_be_in_any_order() {
        for open in [
            r#"{"type":"O","frame":0,"at":4}"#,
            r#"{ "type" : "O" , "frame" : 0 , "at" : 4.0 }"#,
            r#"{"at": 4, "frame": 0, "type": "O"}"#,
            r#"{"type": "O", "frame": 0, "at": 4, "args": {"at": 5}}"#,
            r#"{"type": "\u004f", "frame": 0, "at": 4}"#,
        ] {
            let profile = load(&format!(
                r#"{{"type": "evented", "name": "", "unit": "nanoseconds", "startValue": 0, "endValue": 9, "events": [
                {open}, {{"type": "C", "frame": 0, "at": 6}}]}}"#
            ));
            assert_eq!(to_notation(&profile.unwrap()), "a 2", "{open}");
        }
    }

    #[test]
    fn malformed_events_are_rejected() {
        let evented = |events: &str| {
            load(&format!(r#"{{"type": "evented", "name": "p", "unit": "none", "startValue": 0, "endValue": 9, "events": [{events}]}}"#))
                .unwrap_err()
                .to_string()
        };
        let open = r#"{"type": "O", "frame": 0, "at": 4}"#;
        assert!(evented(open).contains("frames are still open after the last event"));
        assert!(evented(r#"{"type": "C", "frame": 0, "at": 4}"#).contains("not the innermost open frame"));
        assert!(
            evented(&format!(r#"{open}, {{"type": "C", "frame": 0, "at": 3}}"#))
                .contains("events are out of order: 3 comes after 4 (byte ")
        );
        assert!(
            evented(r#"{"type": "O", "frame": 2, "at": 4}"#)
                .contains("frame number is out of range of `shared.frames`")
        );
    }

    #[test]
    fn other_schemas_are_rejected() {
        let text = r#"{"$schema": "https://www.speedscope.app/file-format-schema-2.json", "shared": {"frames": []}, "profiles": []}"#;
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let error = read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap_err().to_string();
        assert!(error.starts_with("speedscope: this version of the format is not supported"), "{error}");
    }
}
