//! The samples of XHProf: stacks, by the time at which they were seen.

use std::borrow::Cow;

use crate::format::json::{self, Json, Kind};
use crate::format::xhprof::names::{CALLS, NAME, function};
use crate::format::{ParseError, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};
use crate::unit::saturated;

/// The time between two samples, if there is only one: that of XHProf unless its settings say otherwise. In µs.
const INTERVAL: i64 = 100_000;

/// A time and the stack that was seen then.
pub(super) type TimedStack<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Whether a text has stacks by their times.
pub(super) fn are_samples(text: &[u8]) -> bool {
    if let Some(rest) = text.strip_prefix(b"a:") {
        let first = rest
            .splitn(2, |&byte| byte == b'"')
            .nth(1)
            .and_then(|rest| rest.split(|&byte| byte == b'"').next());
        let key = first.and_then(|key| str::from_utf8(key).ok());
        return key.and_then(microseconds).is_some() && json::mentions(text, "main()");
    }
    let keys = json::keys(text);
    let is_sample = |(key, kind): &(String, Option<Kind>)| {
        microseconds(key).is_some() && kind.is_none_or(|kind| kind == Kind::String)
    };
    !keys.is_empty() && keys.iter().all(is_sample) && json::mentions(text, "main()")
}

/// The µs since 1970 of `1460294938.300000`.
fn microseconds(key: &str) -> Option<i64> {
    let (seconds, fraction) = key.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) || fraction.len() > 6 {
        return None;
    }
    let fraction = format!("{fraction:0<6}").parse::<i64>().ok()?;
    seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

/// Times and stacks of a JSON object.
pub(super) fn in_json(text: &[u8]) -> Result<Vec<TimedStack<'_>>, ParseError> {
    let mut json = Json::new(NAME, text);
    let mut stacks = Vec::new();
    json.object()?;
    while let Some(time) = json.key()? {
        stacks.push((time, json.string()?));
    }
    json.end()?;
    Ok(stacks)
}

pub(super) fn collect(stacks: &[TimedStack<'_>], options: LoadOptions) -> Result<Profile, ParseError> {
    let time = |(time, _): &TimedStack<'_>| {
        microseconds(time)
            .ok_or_else(|| ParseError::whole(NAME, format!("`{time}` is not the time of a sample")))
    };
    let times = stacks.iter().map(time).collect::<Result<Vec<i64>, ParseError>>()?;
    let interval = interval(&times);
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("wall", "microseconds");
    builder.meta.period = Some(Period { name: "wall".into(), unit: "microseconds".into(), value: interval });
    let (first, last) = (times.iter().min().copied(), times.iter().max().copied());
    builder.meta.time_ns = first.and_then(|first| first.checked_mul(1000));
    let length = first
        .zip(last)
        .map(|(first, last)| last.saturating_sub(first).saturating_add(interval).saturating_mul(1000));
    builder.meta.duration_ns = length.filter(|&length| length > 0);
    for ((_, stack), &time) in stacks.iter().zip(&times) {
        let frames: Vec<FrameId> = stack
            .split(CALLS)
            .map(|name| {
                let (function, _) = function(name, &mut builder);
                builder.frame(Frame { function, ..Frame::default() })
            })
            .collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), time.checked_mul(1000), &[1, interval]);
    }
    finished(builder)
}

/// The time between two samples: the shortest, as none is taken while PHP does not run.
fn interval(times: &[i64]) -> i64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let between = sorted.windows(2).map(|pair| pair[1].abs_diff(pair[0])).filter(|&between| between > 0);
    between.min().map_or(INTERVAL, saturated)
}

#[cfg(test)]
mod tests {
    use crate::format::{Source, load, recognize};
    use crate::profile::{LoadOptions, to_notation};

    #[test]
    fn a_sample_is_worth_the_time_between_two() {
        let json = r#"{"1460294938.300000": "main()==>parse", "1460294938.400000": "main()==>parse==>parse@1", "1460294938.600000": "main()"}"#;
        let serialized = "a:3:{s:17:\"1460294938.300000\";s:14:\"main()==>parse\";s:17:\"1460294938.400000\";s:24:\"main()==>parse==>parse@1\";\
                          s:17:\"1460294938.600000\";s:6:\"main()\";}";
        for text in [json, serialized] {
            let options = LoadOptions { times: false, ..LoadOptions::ALL };
            let profile = load(&mut Source::from_bytes(text.into()), options, None).unwrap();
            assert_eq!((profile.meta.format, profile.meta.confidence), ("xhprof", "certain"));
            assert_eq!(
                to_notation(&profile),
                "main() 1 100000\nmain();parse 1 100000\nmain();parse;parse 1 100000"
            );
            assert_eq!(profile.meta.time_ns, Some(1_460_294_938_300_000_000));
            assert_eq!(profile.meta.duration_ns, Some(400_000_000));
        }
        let is_it =
            |text: &str| recognize(text.as_bytes()).is_some_and(|(format, _)| format.name == "xhprof");
        assert!(!is_it(r#"{"1.5": "main()", "name": "x"}"#) && !is_it(r#"{"1.5": "main"}"#));
    }
}
