//! Reads the CPU samples of Dart's virtual machine, as Dart `DevTools` exports them.
//!
//! ```text
//! {"devToolsSnapshot": true, "activeScreenId": "cpu-profiler", "cpu-profiler": {"type": "_CpuProfileTimeline", "samplePeriod": 1000,
//!  "stackFrames": {"7-1": {"name": "main", "parent": "cpuProfileRoot", "packageUri": "package:shop/main.dart", "sourceLine": 12}},
//!  "traceEvents": [{"ph": "P", "pid": 5, "tid": 6, "ts": 100, "args": {"userTag": "Default", "vmTag": "Dart"}, "sf": "7-1"}]}}
//! ```
//!
//! It looks like a Chrome trace, but only threads that run are sampled: each sample is worth `samplePeriod`, and the time until the
//! next one says nothing.

use std::borrow::Cow;

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::numbering::Numbering;
use crate::format::threads::Thread;
use crate::format::v8::tree::V8Tree;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, LoadOptions, Period, Profile, ProfileBuilder};
use crate::unit::plural;

/// The entry in the list of readable formats.
pub(super) static DART: Format = Format { name: NAME, title: "Dart CPU samples", sniff, read };

const NAME: &str = "dart";

/// What the samples are called in the file.
const TYPE: &str = "_CpuProfileTimeline";

/// The keys of an export: what holds the samples, and what only an export has.
const SCREEN: &str = "cpu-profiler";
const EXPORTS: [&str; 2] = ["devToolsSnapshot", "dartDevToolsScreen"];

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let is_export = EXPORTS.iter().any(|export| json::has(&keys, &[export]));
    let is_bare = || json::has(&keys, &["type"]) && json::mentions(head, &format!("\"{TYPE}\""));
    if is_export || is_bare() { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let mut parts = Parts::find(&mut json)?;
    json.end()?;
    if let Some(screen) = parts.screen {
        parts = Parts::find(&mut json.at(screen))?;
    }
    let (Some(frames), Some(samples)) = (parts.frames, parts.samples) else {
        let message =
            "there are no CPU samples: export them from the screen \"CPU profiler\" of Dart DevTools";
        return Err(ParseError::whole(NAME, message).into());
    };
    let mut builder = ProfileBuilder::new(NAME, options);
    parts.declare_metrics(&mut builder);
    let mut stacks = DartStacks::default();
    stacks.read(json.at(frames), &mut builder)?;
    stacks.read_samples(json.at(samples), &parts, &mut builder)?;
    Ok(finished(builder)?)
}

/// The members of the object that holds the samples.
#[derive(Default)]
struct Parts {
    /// The position of the object, if it is inside this one.
    screen: Option<usize>,
    /// The positions of `stackFrames` and `traceEvents`.
    frames: Option<usize>,
    samples: Option<usize>,
    /// In µs; 0 if unknown.
    period: i64,
    origin: i64,
    extent: i64,
}

impl Parts {
    fn find(json: &mut Json<'_>) -> Result<Parts, ParseError> {
        let mut parts = Parts::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let at = Some(json.position());
            match (&*key, json.kind()?) {
                (SCREEN, Kind::Object) => parts.screen = at,
                ("stackFrames", Kind::Object) => parts.frames = at,
                ("traceEvents", Kind::Array) => parts.samples = at,
                ("samplePeriod", Kind::Number) => {
                    parts.period = json.integer()?.max(0);
                    continue;
                }
                ("timeOriginMicros", Kind::Number) => {
                    parts.origin = json.integer()?;
                    continue;
                }
                ("timeExtentMicros", Kind::Number) => {
                    parts.extent = json.integer()?;
                    continue;
                }
                _ => {}
            }
            json.skip()?;
        }
        Ok(parts)
    }

    fn declare_metrics(&self, builder: &mut ProfileBuilder) {
        builder.metric("samples", "count");
        builder.meta.duration_ns = Some(self.extent.saturating_mul(1000)).filter(|&extent| extent > 0);
        if self.period > 0 {
            builder.meta.default_metric = builder.metric("cpu", "microseconds");
            let (name, unit) = ("cpu".into(), "microseconds".into());
            builder.meta.period = Some(Period { name, unit, value: self.period });
        }
    }
}

/// The stacks, which are a tree of frames that refer to their callers.
#[derive(Default)]
struct DartStacks<'a> {
    tree: V8Tree<'a>,
    ids: Numbering<Cow<'a, str>>,
}

impl<'a> DartStacks<'a> {
    fn read(&mut self, mut json: Json<'a>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        json.object()?;
        while let Some(id) = json.key()? {
            self.read_frame(id, &mut json, builder)?;
        }
        self.tree.link();
        Ok(())
    }

    fn number(&mut self, id: Cow<'a, str>) -> i64 {
        self.ids.number(id, |_| ()).into()
    }

    fn read_frame(
        &mut self,
        id: Cow<'a, str>,
        json: &mut Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        let node = self.tree.node(None);
        let id = self.number(id);
        self.tree.number(node, id);
        let (mut name, mut package, mut url) = (Cow::default(), Cow::default(), Cow::default());
        let mut line = 0;
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "name" => name = json.text_if_any()?.unwrap_or_default(),
                "packageUri" => package = json.text_if_any()?.unwrap_or_default(),
                "resolvedUrl" => url = json.text_if_any()?.unwrap_or_default(),
                "sourceLine" => line = json.number_if_any()?.map_or(0, |line| line as u32),
                "parent" => {
                    if let Some(parent) = json.text_if_any()? {
                        let parent = self.number(parent);
                        self.tree.parent(node, parent);
                    }
                }
                _ => json.skip()?,
            }
        }
        let file = if package.is_empty() { url } else { package };
        let function = builder.script_function(&name, &file, line);
        self.tree.set_frame(node, Some(builder.frame(Frame { function, ..Frame::default() })));
        Ok(())
    }

    fn read_samples(
        &mut self,
        mut json: Json<'a>,
        parts: &Parts,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        let values: &[i64] = if parts.period > 0 { &[1, parts.period] } else { &[1] };
        let mut lost: u64 = 0;
        json.array()?;
        while json.element()? {
            let Some(sample) = DartSample::read(&mut json)? else { continue };
            let node = self.ids.known(&sample.stack).and_then(|id| self.tree.find(id.into()));
            let stack = match node {
                Some(node) => self.tree.stack(builder, node)?,
                None => builder.stack(&[]),
            };
            lost += u64::from(node.is_none());
            let labels = sample_labels(builder, |labels| {
                sample.thread.add_to(labels);
                labels.text_if_known("userTag", &sample.user_tag);
                labels.text_if_known("vmTag", &sample.vm_tag);
            });
            let time = sample.time.map(|time| time.saturating_sub(parts.origin).saturating_mul(1000));
            builder.sample(stack, labels, time, values);
        }
        if lost > 0 {
            let samples = plural(
                lost,
                "sample refers to a missing frame and has an empty stack",
                "samples refer to missing frames and have empty stacks",
            );
            builder.warn(format!("{lost} {samples}"));
        }
        Ok(())
    }
}

#[derive(Default)]
struct DartSample<'a> {
    /// The id of its innermost frame.
    stack: Cow<'a, str>,
    thread: Thread,
    /// In µs.
    time: Option<i64>,
    user_tag: Cow<'a, str>,
    vm_tag: Cow<'a, str>,
}

impl<'a> DartSample<'a> {
    /// Reads an element of `traceEvents`, if it is a sample.
    fn read(json: &mut Json<'a>) -> Result<Option<Self>, ParseError> {
        let (mut sample, mut is_sample) = (DartSample::default(), false);
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "sf" => {
                    is_sample = true;
                    sample.stack = json.text_if_any()?.unwrap_or_default();
                }
                "pid" => sample.thread.process = json.text_if_any()?.unwrap_or_default().into_owned(),
                "tid" => sample.thread.tid = json.text_if_any()?.unwrap_or_default().into_owned(),
                "ts" => sample.time = json.number_if_any()?.map(|time| time as i64),
                "args" => sample.read_tags(json)?,
                _ => json.skip()?,
            }
        }
        Ok(is_sample.then_some(sample))
    }

    fn read_tags(&mut self, json: &mut Json<'a>) -> Result<(), ParseError> {
        if !json.object_if_any()? {
            return Ok(());
        }
        while let Some(key) = json.key()? {
            match &*key {
                "userTag" => self.user_tag = json.text_if_any()?.unwrap_or_default(),
                "vmTag" => self.vm_tag = json.text_if_any()?.unwrap_or_default(),
                _ => json.skip()?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const SAMPLES: &str = r#"{"type": "_CpuProfileTimeline", "samplePeriod": 1000, "sampleCount": 3, "timeOriginMicros": 50,
        "timeExtentMicros": 9000000, "stackFrames": {
          "7-2": {"category": "Dart", "name": "parse", "parent": "7-1", "resolvedUrl": "file:///srv/lib/a.dart", "packageUri": "package:shop/a.dart", "sourceLine": 30},
          "7-1": {"category": "Dart", "name": "main", "parent": "cpuProfileRoot", "resolvedUrl": "file:///srv/main.dart", "sourceLine": null}},
        "traceEvents": [
          {"ph": "P", "name": "", "pid": 5, "tid": 6, "ts": 100, "cat": "Dart", "args": {"userTag": "Default", "vmTag": "Dart"}, "sf": "7-1"},
          {"ph": "P", "name": "", "pid": 5, "tid": 6, "ts": 1100, "cat": "Dart", "args": {"userTag": "Default", "vmTag": "Dart"}, "sf": "7-2"},
          {"ph": "M", "name": "thread_name", "pid": 5, "tid": 6},
          {"ph": "P", "name": "", "pid": 5, "tid": 6, "ts": 8001100, "cat": "Dart", "args": {"userTag": "Load", "vmTag": "GC"}, "sf": "7-1"}]}"#;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    #[test]
    fn a_pause_is_charged_to_no_function() {
        let profile = load(SAMPLES).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(metrics, [("samples", 3), ("cpu", 3000)]);
        assert_eq!((profile.meta.default_metric, profile.meta.duration_ns), (1, Some(9_000_000_000)));
        let notation = to_notation(&profile);
        assert!(notation.contains("parse"), "{notation}");
        assert!(notation.contains("userTag=Load vmTag=GC"), "{notation}");
        let symbols = &profile.symbols;
        let places: Vec<_> = symbols
            .functions
            .iter()
            .map(|function| (symbols.strings.get(function.file), function.line))
            .collect();
        assert_eq!(places, [("package:shop/a.dart", 30), ("file:///srv/main.dart", 0)]);
    }

    #[test]
    fn an_export_holds_the_samples() {
        let bare = to_notation(&load(SAMPLES).unwrap());
        for before in [
            r#""devToolsSnapshot": true, "activeScreenId": "cpu-profiler""#,
            r#""dartDevToolsScreen": "cpu-profiler""#,
        ] {
            let text = format!(r#"{{{before}, "cpu-profiler": {SAMPLES}}}"#);
            assert_eq!(to_notation(&load(&text).unwrap()), bare);
        }
        let error = load(r#"{"devToolsSnapshot": true, "memory": {}}"#).unwrap_err().to_string();
        assert!(error.contains("there are no CPU samples"), "{error}");
    }

    #[test]
    fn a_missing_frame_is_counted() {
        let profile = load(&SAMPLES.replace("\"sf\": \"7-2\"", "\"sf\": \"7-9\"")).unwrap();
        assert_eq!(profile.meta.warnings, ["1 sample refers to a missing frame and has an empty stack"]);
    }
}
