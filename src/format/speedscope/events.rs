//! Profiles with events, which open and close frames.

use crate::format::ParseError;
use crate::format::json::{Json, KnownText};
use crate::format::speedscope::{Moment, SpeedscopeReader, ThreadScale, numbered_frame};
use crate::profile::{FrameId, StackId};

/// How events are written: what comes before the number of a frame and before a time.
#[derive(Default)]
struct EventText<'a> {
    opens: Option<KnownText<'a>>,
    closes: Option<KnownText<'a>>,
    at: Option<KnownText<'a>>,
}

impl EventText<'_> {
    /// Advances to the number of the frame, if the event is written as those before, and returns whether it opens the frame.
    fn kind(&self, json: &mut Json) -> Option<bool> {
        let is = |json: &mut Json, known: &Option<KnownText>| known.is_some_and(|known| json.repeats(&known));
        if is(json, &self.opens) {
            return Some(true);
        }
        is(json, &self.closes).then_some(false)
    }
}

impl SpeedscopeReader {
    /// The frames that are open between two events make a sample; time without open frames is ignored.
    pub(super) fn read_evented(&mut self, events: &mut Json, scale: &ThreadScale) -> Result<(), ParseError> {
        self.builder.meta.holds_spans = true;
        self.stack.clear();
        // The stacks of the open frames at each depth, as far as they were needed: closing a frame returns to a stack that
        // was looked up before.
        let mut stacks: Vec<Option<StackId>> = Vec::new();
        let mut last: Option<Moment> = None;
        let mut known = EventText::default();
        events.array()?;
        while events.element()? {
            let mut place = events.clone();
            let (opens, frame, at) = self.read_event(events, &mut known)?;
            let since = last.replace(at).unwrap_or(at);
            // Before the start: both ends of an interval must have the same scale, which this may make finer.
            let end = self.moment(scale, at);
            if at.is_before(since) {
                place.position();
                return Err(place.error(format!("events are out of order: {at} comes after {since}")));
            }
            if let Some(innermost) = stacks.last_mut() {
                let stack = *innermost.get_or_insert_with(|| {
                    let open = match &self.stack[..] {
                        [callers @ .., innermost] if self.own_code.contains(innermost) => callers,
                        open => open,
                    };
                    self.builder.stack(open)
                });
                // Rounding the timestamps rather than the durations keeps the sum exact.
                let value = end.saturating_sub(self.moment(scale, since));
                self.write(scale, stack, since.time(scale), value);
            }
            if opens {
                self.stack.push(frame);
                stacks.push(None);
            } else if self.stack.pop() == Some(frame) {
                stacks.pop();
            } else {
                place.position();
                return Err(place.error("event closes a frame that is not the innermost open frame"));
            }
        }
        if self.stack.is_empty() {
            Ok(())
        } else {
            Err(events.error("frames are still open after the last event"))
        }
    }

    fn read_event<'a>(
        &self,
        json: &mut Json<'a>,
        known: &mut EventText<'a>,
    ) -> Result<(bool, FrameId, Moment), ParseError> {
        let mut ahead = json.clone();
        if let Some(event) = self.usual_event(&mut ahead, known) {
            *json = ahead;
            return Ok(event);
        }
        let (mut opens, mut frame, mut at) = (None, None, None);
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "type" => {
                    opens = match &*json.string()? {
                        "O" => Some(true),
                        "C" => Some(false),
                        _ => return Err(json.error("event type is neither `O` nor `C`")),
                    }
                }
                "frame" => frame = Some(numbered_frame(json, &self.frames)?),
                "at" => at = Some(Moment::read(json)?),
                _ => json.skip()?,
            }
        }
        match (opens, frame, at) {
            (Some(opens), Some(frame), Some(at)) => Ok((opens, frame, at)),
            _ => Err(json.error("event has no `type`, `frame` or `at`")),
        }
    }

    /// Reads an event whose members are in the order in which speedscope writes them: `{"type": "O", "frame": 12, "at": 34}`.
    /// `None` for any other.
    fn usual_event<'a>(
        &self,
        json: &mut Json<'a>,
        known: &mut EventText<'a>,
    ) -> Option<(bool, FrameId, Moment)> {
        let all = |json: &mut Json, tokens: &[&str]| tokens.iter().all(|token| json.token(token));
        let opens = match known.kind(json) {
            Some(opens) => opens,
            None => {
                let before = json.clone();
                if !all(json, &["{", "\"type\"", ":"]) {
                    return None;
                }
                let opens = json.token("\"O\"");
                if !(opens || json.token("\"C\"")) || !all(json, &[",", "\"frame\"", ":"]) {
                    return None;
                }
                let text = if opens { &mut known.opens } else { &mut known.closes };
                *text = Some(json.known_text(&before));
                opens
            }
        };
        let frame = numbered_frame(json, &self.frames).ok()?;
        if !known.at.is_some_and(|at| json.repeats(&at)) {
            let before = json.clone();
            if !all(json, &[",", "\"at\"", ":"]) {
                return None;
            }
            known.at = Some(json.known_text(&before));
        }
        let at = Moment::read(json).ok()?;
        json.token("}").then_some((opens, frame, at))
    }
}

#[cfg(test)]
mod tests {
    use crate::format::Source;
    use crate::format::speedscope::SPEEDSCOPE;
    use crate::profile::{LoadOptions, to_notation};

    #[test]
    fn the_code_of_a_caller_itself_is_no_function() {
        let text = r#"{"profiles": [{"type": "evented", "name": "", "unit": "none", "events": [
            {"type": "O", "at": 0, "frame": 0}, {"type": "O", "at": 1, "frame": 1}, {"type": "C", "at": 4, "frame": 1},
            {"type": "O", "at": 4, "frame": 2}, {"type": "C", "at": 9, "frame": 2}, {"type": "C", "at": 9, "frame": 0}]}],
            "shared": {"frames": [{"name": "spin", "file": "p.py", "line": 5}, {"name": "[self]", "file": null, "line": null},
                {"name": "time", "file": "<built-in>", "line": 0}]}}"#;
        let profile =
            (SPEEDSCOPE.read)(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
        assert_eq!(to_notation(&profile), "spin@p.py:5 4\nspin@p.py:5;time@<built-in>:0 5");
    }
}
