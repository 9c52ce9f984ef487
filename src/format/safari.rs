//! Reads timelines that Safari's Web Inspector exports: the stacks of JavaScript in them.
//!
//! ```text
//! {"version": 1, "recording": {"startTime": 4.16, "endTime": 6.69,
//!   "sampleStackTraces": [{"timestamp": 4.47, "stackFrames": [{"name": "f", "url": "a.js", "line": 2, "column": 10,
//!     "expressionLocation": {"line": 34, "column": 13}}, …]}, …],
//!   "sampleDurations": [0.001, …]}}
//! ```
//!
//! Times are in seconds; the first frame is the leaf.

use crate::format::json::{self, Json};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static SAFARI: Format = Format { name: NAME, title: "Safari timeline", sniff, read };

const NAME: &str = "safari";

/// The only version that there is.
const VERSION: i64 = 1;

fn sniff(head: &[u8]) -> Confidence {
    if json::has(&json::keys(head), &["version", "recording"]) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let mut recording = None;
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "version" => {
                let version = json.integer()?;
                if version > VERSION {
                    return Err(json.error(unsupported_version(version, VERSION, VERSION)).into());
                }
            }
            "recording" => {
                recording = Some(json.position());
                json.skip()?;
            }
            _ => json.skip()?,
        }
    }
    let recording = recording.ok_or_else(|| ParseError::whole(NAME, "missing `recording`"))?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("cpu", "nanoseconds");
    read_recording(&mut json.at(recording), &mut builder)?;
    Ok(finished(builder)?)
}

fn read_recording(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    let (mut stacks, mut durations, mut start, mut end) = (None, None, None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        let place = match &*key {
            "sampleStackTraces" => &mut stacks,
            "sampleDurations" => &mut durations,
            "startTime" => {
                start = json.number_if_any()?;
                continue;
            }
            "endTime" => {
                end = json.number_if_any()?;
                continue;
            }
            _ => {
                json.skip()?;
                continue;
            }
        };
        *place = Some(json.position());
        json.skip()?;
    }
    if let (Some(start), Some(end)) = (start, end) {
        builder.meta.duration_ns = Some(nanoseconds(end - start)).filter(|&duration| duration > 0);
    }
    let stacks = stacks.ok_or_else(|| {
        let message = "the timeline has no stacks; record with \"JavaScript & Events\" enabled";
        ParseError::whole(NAME, message)
    })?;
    let durations = match durations {
        Some(at) => json.at(at).list(|json| Ok(json.number_if_any()?.unwrap_or_default()))?,
        None => Vec::new(),
    };
    let mut samples = json.at(stacks);
    let mut durations = durations.into_iter();
    samples.array()?;
    while samples.element()? {
        let duration = nanoseconds(durations.next().unwrap_or_default());
        read_sample(&mut samples, duration, builder)?;
    }
    Ok(())
}

fn read_sample(json: &mut Json<'_>, duration: i64, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    let (mut time, mut frames) = (None, Vec::new());
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "timestamp" => time = json.number_if_any()?.map(nanoseconds),
            "stackFrames" => frames = json.list(|json| read_frame(json, builder))?,
            _ => json.skip()?,
        }
    }
    frames.reverse();
    let stack = builder.stack(&frames);
    builder.sample(stack, LabelSetId::default(), time, &[1, duration]);
    Ok(())
}

fn read_frame(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<FrameId, ParseError> {
    let (mut name, mut url) = (None, None);
    let (mut place, mut executing) = ([0; 2], [0; 2]);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?,
            "url" => url = json.text_if_any()?,
            "line" => place[0] = number(json)?,
            "column" => place[1] = number(json)?,
            "expressionLocation" => {
                if json.object_if_any()? {
                    while let Some(key) = json.key()? {
                        match &*key {
                            "line" => executing[0] = number(json)?,
                            _ => json.skip()?,
                        }
                    }
                }
            }
            _ => json.skip()?,
        }
    }
    let name = name.filter(|name| !name.is_empty()).unwrap_or("(anonymous)".into());
    let (name, file) = (builder.string(&name), builder.string(&url.unwrap_or_default()));
    let [line, column] = place;
    let function = builder.function(Function { name, file, line, column, by_place: true });
    Ok(builder.frame(Frame { function, line: executing[0], ..Frame::default() }))
}

/// A line or a column; -1 stands for an unknown one.
fn number(json: &mut Json<'_>) -> Result<u32, ParseError> {
    Ok(json.number_if_any()?.map_or(0, |number| number as u32))
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn the_leaf_comes_first() {
        let text = r#"{"version": 1, "recording": {"startTime": 4.5, "endTime": 6, "sampleStackTraces": [
            {"timestamp": 4.75, "stackFrames": [{"name": "", "url": "a.js", "line": 2, "column": 10, "expressionLocation": {"line": 34, "column": 1}},
             {"name": "main", "url": "a.js", "line": 1, "column": -1}]}, {"timestamp": 5, "stackFrames": []}], "sampleDurations": [0.001, 0.002]}}"#;
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let read = |text: &str| read(&mut Source::from_bytes(text.into()), LoadOptions::ALL);
        let profile = read(text).unwrap();
        assert_eq!(to_notation(&profile), " 1 2000000\nmain@a.js:0;(anonymous)@a.js:34 1 1000000");
        assert_eq!(profile.meta.duration_ns, Some(1_500_000_000));
        assert_eq!(profile.samples.time, Some(vec![4_750_000_000, 5_000_000_000]));
        let error = read(&text.replace("\"version\": 1", "\"version\": 2")).unwrap_err().to_string();
        assert!(error.contains("unsupported version 2; only version 1 is supported"), "{error}");
    }
}
