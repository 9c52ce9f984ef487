//! One event of a trace.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::json::{Json, KnownKeys};

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
    /// The id of its stack among `stackFrames`; empty if it has none.
    pub(super) stack: Cow<'a, str>,
    /// The position of `args`.
    pub(super) args: Option<usize>,
    /// Whether it has a category; clang's spans have none.
    pub(super) has_category: bool,
    /// Whether py-spy wrote it, so that it is a function of Python.
    pub(super) is_py_spy: bool,
}

/// A member of an event.
#[derive(Clone, Copy)]
pub(super) enum EventKey {
    Phase,
    Name,
    Process,
    Thread,
    Id,
    Time,
    Duration,
    /// The CPU time, used in traces that have no wall-clock time.
    Busy,
    Stack,
    Args,
    Category,
    Other,
}

impl EventKey {
    fn of(key: &str) -> EventKey {
        match key {
            "ph" => EventKey::Phase,
            "name" => EventKey::Name,
            "pid" => EventKey::Process,
            "tid" => EventKey::Thread,
            "id" => EventKey::Id,
            "ts" => EventKey::Time,
            "dur" => EventKey::Duration,
            "tdur" => EventKey::Busy,
            "sf" => EventKey::Stack,
            "args" => EventKey::Args,
            "cat" => EventKey::Category,
            _ => EventKey::Other,
        }
    }
}

impl<'a> TraceEvent<'a> {
    /// Reads an event; `keys` are those of earlier events.
    pub(super) fn read(json: &mut Json<'a>, keys: &mut KnownKeys<'a, EventKey>) -> Result<Self, ParseError> {
        let mut event = TraceEvent::default();
        if !json.object_if_any()? {
            return Ok(event);
        }
        let mut busy = None;
        while let Some(key) = keys.key(json, EventKey::of)? {
            match key {
                EventKey::Phase => {
                    event.phase = json.text_if_any()?.and_then(|text| text.bytes().next()).unwrap_or(0);
                }
                EventKey::Name => event.name = json.text_if_any()?.unwrap_or_default(),
                EventKey::Process => event.pid = json.text_if_any()?.unwrap_or_default(),
                EventKey::Thread => event.tid = json.text_if_any()?.unwrap_or_default(),
                EventKey::Id => event.id = json.text_if_any()?.unwrap_or_default(),
                EventKey::Time => event.time = json.number_if_any()?,
                EventKey::Duration => event.duration = json.number_if_any()?,
                EventKey::Busy => busy = json.number_if_any()?,
                EventKey::Stack => event.stack = json.text_if_any()?.unwrap_or_default(),
                EventKey::Args => {
                    event.args = Some(json.position());
                    json.skip()?;
                }
                EventKey::Category => {
                    event.has_category = true;
                    event.is_py_spy = json.text_if_any()?.is_some_and(|text| text == "py-spy");
                }
                EventKey::Other => json.skip()?,
            }
        }
        event.duration = event.duration.or(busy);
        Ok(event)
    }
}
