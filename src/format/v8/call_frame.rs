//! V8's description of a function.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::json::Json;
use crate::profile::{Frame, FrameId, Function, ProfileBuilder};

/// The frames of the `callFrame` objects read so far, by their text. A call tree has a hundred nodes per function, and
/// finding the text of an object takes a fraction of the time for reading it.
#[derive(Default)]
pub(in crate::format) struct KnownFrames<'a> {
    by_text: HashMap<&'a [u8], Option<FrameId>>,
}

impl<'a> KnownFrames<'a> {
    /// Reads a `callFrame` object.
    pub(in crate::format) fn read(
        &mut self,
        json: &mut Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<Option<FrameId>, ParseError> {
        // An object with a `}` in a string is longer, and therefore not among those known.
        let rest = json.rest();
        if let Some(end) = memchr::memchr(b'}', rest)
            && let Some(&frame) = self.by_text.get(&rest[..=end])
        {
            json.advance(end + 1);
            return Ok(frame);
        }
        let start = json.position();
        let frame = CallFrame::read(json)?.frame(builder);
        self.by_text.insert(json.since(start), frame);
        Ok(frame)
    }
}

/// The `callFrame` of a node. Line and column are where the function is defined, not where it was executing.
#[derive(Clone, Default)]
pub(in crate::format) struct CallFrame<'a> {
    pub(in crate::format) name: Cow<'a, str>,
    pub(in crate::format) url: Cow<'a, str>,
    /// Counted from 1; 0 if unknown.
    pub(in crate::format) line: u32,
    /// Counted from 1; 0 if unknown.
    pub(in crate::format) column: u32,
    /// Whether `scriptId` is 0: the function is not JavaScript, so its location is not part of its identity.
    pub(in crate::format) is_native: bool,
}

/// A member that describes a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionKey {
    Name,
    Url,
    Line,
    Column,
    Script,
}

impl FunctionKey {
    pub(super) fn of(key: &str) -> Option<FunctionKey> {
        match key {
            "functionName" => Some(FunctionKey::Name),
            "url" => Some(FunctionKey::Url),
            "lineNumber" => Some(FunctionKey::Line),
            "columnNumber" => Some(FunctionKey::Column),
            "scriptId" => Some(FunctionKey::Script),
            _ => None,
        }
    }
}

impl<'a> CallFrame<'a> {
    /// Reads a `callFrame` object, in which lines and columns are counted from 0.
    pub(in crate::format) fn read(json: &mut Json<'a>) -> Result<Self, ParseError> {
        let mut frame = CallFrame::default();
        json.object()?;
        while let Some(key) = json.key()? {
            match FunctionKey::of(&key) {
                Some(key) => frame.member(key, json, 1)?,
                None => json.skip()?,
            }
        }
        Ok(frame)
    }

    /// Reads a member of the object. The first line of a file is number `1 - base`.
    pub(super) fn member(
        &mut self,
        key: FunctionKey,
        json: &mut Json<'a>,
        base: i64,
    ) -> Result<(), ParseError> {
        // In Chrome's traces, some functions have a number as their name.
        let text = |json: &mut Json<'a>| json.text_if_any().map(Option::unwrap_or_default);
        let number = |json: &mut Json<'a>| -> Result<u32, ParseError> {
            let number = json.number_if_any()?.map_or(0, |number| (number as i64).saturating_add(base));
            Ok(u32::try_from(number).unwrap_or(0))
        };
        match key {
            FunctionKey::Name => self.name = text(json)?,
            FunctionKey::Url => self.url = text(json)?,
            FunctionKey::Line => self.line = number(json)?,
            FunctionKey::Column => self.column = number(json)?,
            FunctionKey::Script => self.is_native = text(json)? == "0",
        }
        Ok(())
    }

    /// The frame of the function; `None` for `(root)`, which is on every stack and carries no information.
    /// `(program)`, `(idle)` and `(garbage collector)` are ordinary frames.
    pub(in crate::format) fn frame(&self, builder: &mut ProfileBuilder) -> Option<FrameId> {
        if self.name == "(root)" && self.url.is_empty() {
            return None;
        }
        let name = builder.string(if self.name.is_empty() { "(anonymous)" } else { &self.name });
        let file = builder.string(&self.url);
        let by_place = !self.url.is_empty() && !self.is_native;
        // A line without a file is meaningless; some writers use 0, others -1.
        let (line, column) = if self.url.is_empty() { (0, 0) } else { (self.line, self.column) };
        let function = builder.function(Function { name, file, line, column, by_place });
        Some(builder.frame(Frame { function, ..Frame::default() }))
    }
}
