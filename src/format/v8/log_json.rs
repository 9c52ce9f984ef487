//! Reads the JSON that `node --prof-process --preprocess` makes of a log: names are already looked up.
//!
//! ```text
//! {"code": [{"name": "push node:internal/fixed_queue:75:7", "type": "JS", "kind": "Unopt", "func": 0, …}, …],
//!  "functions": […], "ticks": [{"tm": 20709, "vm": 3, "s": [3130, 288, -1, 0, 3595, 26]}, …]}
//! ```
//!
//! A stack is pairs of a code's number and an offset, the leaf first; -1 is unknown code. Times are in µs.

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::v8::log_names::{GARBAGE_COLLECTION, script_frame};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(in crate::format) static V8_LOG_JSON: Format =
    Format { name: NAME, title: "preprocessed node --prof log", sniff, read };

const NAME: &str = "v8-log-json";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let has_code = keys.first().is_some_and(|(key, kind)| key == "code" && *kind == Some(Kind::Array));
    // The list of code usually fills the head.
    let is_log =
        has_code && (json::mentions(head, "\"SHARED_LIB\"") || json::has(&keys, &["functions", "ticks"]));
    if is_log { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut json = Json::new(NAME, &text);
    let (mut code, mut ticks) = (None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "code" => code = Some(json.position()),
            "ticks" => ticks = Some(json.position()),
            _ => {}
        }
        json.skip()?;
    }
    json.end()?;
    let missing = |name: &str| ParseError::whole(NAME, format!("missing `{name}`"));
    let code = json.at(code.ok_or_else(|| missing("code"))?).list(|json| read_code(json, &mut builder))?;
    let mut ticks = json.at(ticks.ok_or_else(|| missing("ticks"))?);
    let mut last = 0;
    ticks.array()?;
    while ticks.element()? {
        last = last.max(read_tick(&mut ticks, &code, &mut builder)?);
    }
    builder.meta.duration_ns = Some(last).filter(|&last| last > 0);
    Ok(finished(builder)?)
}

fn read_code(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<FrameId, ParseError> {
    let (mut name, mut kind, mut detail) = (None, None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?,
            "type" => kind = json.text_if_any()?,
            "kind" => detail = json.text_if_any()?,
            _ => json.skip()?,
        }
    }
    let name = name.unwrap_or_default();
    Ok(match kind.as_deref() {
        Some("JS") => script_frame(&name, builder),
        Some("SHARED_LIB") => {
            let mapping = builder.named_mapping(&name);
            let function = builder.unnamed_function(mapping);
            builder.frame(Frame { function, mapping, ..Frame::default() })
        }
        // The letter with which `nm` marks functions.
        Some("CPP") => {
            let plain =
                name.split_once(' ').filter(|(letter, _)| letter.len() == 1).map_or(&*name, |(_, name)| name);
            builder.named_frame(plain)
        }
        _ => match detail {
            Some(detail) => builder.named_frame(&format!("{detail}: {name}")),
            None => builder.named_frame(&name),
        },
    })
}

/// Reads a tick and returns its time in nanoseconds.
fn read_tick(json: &mut Json<'_>, code: &[FrameId], builder: &mut ProfileBuilder) -> Result<i64, ParseError> {
    let (mut time, mut state, mut pairs) = (0, 0, Vec::new());
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "tm" => time = json.integer()?.saturating_mul(1000),
            "vm" => state = json.integer()?,
            "s" => pairs = json.list(Json::integer)?,
            _ => json.skip()?,
        }
    }
    let mut frames = Vec::new();
    for (depth, number) in pairs.iter().step_by(2).enumerate() {
        let known = usize::try_from(*number).ok().map(|number| code.get(number).copied());
        match known {
            Some(Some(frame)) => frames.push(frame),
            Some(None) => {
                return Err(json.error(format!("a tick refers to code {number}, which does not exist")));
            }
            // Callers that are not known are left out, as `node --prof-process` does.
            None if depth == 0 => frames.push(builder.named_frame("<unknown>")),
            None => {}
        }
    }
    frames.reverse();
    let stack = builder.stack(&frames);
    let labels = sample_labels(builder, |labels| {
        if state == GARBAGE_COLLECTION {
            labels.text("state", "garbage collection");
        }
    });
    builder.sample(stack, labels, Some(time), &[1]);
    Ok(time)
}
