//! One event of a trace.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::json::Json;

/// The fields of an event that the reader needs.
#[derive(Default)]
pub(super) struct TraceEvent<'a> {
    /// The first letter of `ph`, the kind of event; 0 if there is none.
    pub(super) phase: u8,
    pub(super) name: Cow<'a, str>,
    pub(super) pid: Cow<'a, str>,
    pub(super) tid: Cow<'a, str>,
    pub(super) id: Cow<'a, str>,
    /// In µs.
    pub(super) time: Option<f64>,
    /// In µs.
    pub(super) duration: Option<f64>,
    /// The position of `args`.
    pub(super) args: Option<usize>,
}

impl<'a> TraceEvent<'a> {
    pub(super) fn read(json: &mut Json<'a>) -> Result<Self, ParseError> {
        let mut event = TraceEvent::default();
        if !json.object_if_any()? {
            return Ok(event);
        }
        // CPU time, used in traces that have no wall-clock time.
        let mut busy = None;
        while let Some(key) = json.key()? {
            match &*key {
                "ph" => event.phase = json.text_if_any()?.and_then(|text| text.bytes().next()).unwrap_or(0),
                "name" => event.name = json.text_if_any()?.unwrap_or_default(),
                "pid" => event.pid = json.text_if_any()?.unwrap_or_default(),
                "tid" => event.tid = json.text_if_any()?.unwrap_or_default(),
                "id" => event.id = json.text_if_any()?.unwrap_or_default(),
                "ts" => event.time = json.number_if_any()?,
                "dur" => event.duration = json.number_if_any()?,
                "tdur" => busy = json.number_if_any()?,
                "args" => {
                    event.args = Some(json.position());
                    json.skip()?;
                }
                _ => json.skip()?,
            }
        }
        event.duration = event.duration.or(busy);
        Ok(event)
    }
}
