//! Slices: pairs of events on a track, which nest like calls.
//!
//! ```text
//! message TrackEvent { Type type = 9; uint64 track_uuid = 11; uint64 name_iid = 10; string name = 23; … }
//! ```

use hashbrown::HashMap;

use crate::format::perfetto::interned::Interned;
use crate::format::perfetto::names::Names;
use crate::format::perfetto::packet::each_field;
use crate::format::spans::Spans;
use crate::format::text::lossy;
use crate::format::wire::{Value, WireError};
use crate::profile::{ProfileBuilder, StringId};

const BEGIN: u64 = 1;
const END: u64 = 2;

/// The beginning of a slice, or the end of the innermost one.
struct Event {
    time: i64,
    track: u64,
    /// What begins.
    name: Option<StringId>,
}

/// The slices of a trace.
#[derive(Default)]
pub(super) struct Slices {
    events: Vec<Event>,
}

impl Slices {
    pub(super) fn add(
        &mut self,
        message: &[u8],
        (time, default_track): (Option<i64>, u64),
        interned: &Interned,
        builder: &mut ProfileBuilder,
    ) -> Result<(), WireError> {
        let (mut kind, mut track, mut id, mut text) = (0, default_track, None, &b""[..]);
        each_field(message, |number, value| match (number, value) {
            (9, Value::Varint(number)) => kind = number,
            (10, Value::Varint(number)) => id = Some(number),
            (11, Value::Varint(uuid)) => track = uuid,
            (23, Value::Bytes(name)) => text = name,
            _ => {}
        })?;
        let Some(time) = time else { return Ok(()) };
        let name = match kind {
            BEGIN => {
                let known = id.and_then(|id| interned.event(id));
                let name = known.unwrap_or_else(|| builder.string(&lossy(text)));
                Some(if name == StringId::default() { builder.string("(unnamed)") } else { name })
            }
            END => None,
            _ => return Ok(()),
        };
        self.events.push(Event { time, track, name });
        Ok(())
    }

    /// The time of the first event.
    pub(super) fn start(&self) -> Option<i64> {
        self.events.iter().map(|event| event.time).min()
    }

    /// Adds a sample for each interval in which the same slices were open; times count from `origin`.
    pub(super) fn write(mut self, origin: i64, names: &Names, builder: &mut ProfileBuilder) {
        if self.events.is_empty() {
            return;
        }
        // Several sequences may write to one track. Events of one moment stay in the order of the file.
        self.events.sort_by_key(|event| event.time);
        let (mut spans, mut tracks) = (Spans::default(), Vec::new());
        let mut open: HashMap<u64, (usize, Vec<usize>)> = HashMap::new();
        for event in self.events {
            let (thread, open) = open.entry(event.track).or_insert_with(|| {
                tracks.push(event.track);
                (tracks.len() - 1, Vec::new())
            });
            let time = event.time.saturating_sub(origin);
            match event.name {
                Some(name) => {
                    let frame = spans.frame(name, builder);
                    open.push(spans.begin(*thread, time, None, frame));
                }
                None => match open.pop() {
                    Some(number) => spans.set_end(*thread, number, time),
                    None => spans.skip_end(),
                },
            }
        }
        spans.write(builder, |number| names.thread_of_track(tracks[number]));
    }
}
