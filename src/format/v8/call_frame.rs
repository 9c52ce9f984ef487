//! A function as described by V8.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::json::Json;
use crate::profile::{Frame, FrameId, Function, ProfileBuilder};

/// The `callFrame` of a node. Lines and columns are the function's own, not the call's.
#[derive(Clone, Default)]
pub(in crate::format) struct CallFrame<'a> {
    pub(in crate::format) name: Cow<'a, str>,
    pub(in crate::format) url: Cow<'a, str>,
    /// From 1; 0 where unknown.
    pub(in crate::format) line: u32,
    /// From 1; 0 where unknown.
    pub(in crate::format) column: u32,
    /// Whether `scriptId` is 0: the function is not JavaScript, so its place is not part of its identity.
    pub(in crate::format) is_native: bool,
}

impl<'a> CallFrame<'a> {
    /// Reads a `callFrame` object, whose lines and columns count from 0.
    pub(in crate::format) fn read(json: &mut Json<'a>) -> Result<Self, ParseError> {
        let mut frame = CallFrame::default();
        json.object()?;
        while let Some(key) = json.key()? {
            if !frame.member(&key, json, 1)? {
                json.skip()?;
            }
        }
        Ok(frame)
    }

    /// Takes a member of the object, if it is one that says something about the function. The first
    /// line of a file is `1 - base`.
    pub(in crate::format) fn member(
        &mut self,
        key: &str,
        json: &mut Json<'a>,
        base: i64,
    ) -> Result<bool, ParseError> {
        // Chrome's traces have functions whose name is a number.
        let text = |json: &mut Json<'a>| json.text_if_any().map(Option::unwrap_or_default);
        let number = |json: &mut Json<'a>| -> Result<u32, ParseError> {
            let number = json.number_if_any()?.map_or(0, |number| (number as i64).saturating_add(base));
            Ok(u32::try_from(number).unwrap_or(0))
        };
        match key {
            "functionName" => self.name = text(json)?,
            "url" => self.url = text(json)?,
            "lineNumber" => self.line = number(json)?,
            "columnNumber" => self.column = number(json)?,
            "scriptId" => self.is_native = text(json)? == "0",
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The frame of the function; `None` for `(root)`, which every stack has and which says nothing.
    /// `(program)`, `(idle)` and `(garbage collector)` are frames like others.
    pub(in crate::format) fn frame(&self, builder: &mut ProfileBuilder) -> Option<FrameId> {
        if self.name == "(root)" && self.url.is_empty() {
            return None;
        }
        let name = builder.string(if self.name.is_empty() { "(anonymous)" } else { &self.name });
        let file = builder.string(&self.url);
        let by_place = !self.url.is_empty() && !self.is_native;
        // A line without a file means nothing; some writers use 0, others -1.
        let (line, column) = if self.url.is_empty() { (0, 0) } else { (self.line, self.column) };
        let function = builder.function(Function { name, file, line, column, by_place });
        Some(builder.frame(Frame { function, ..Frame::default() }))
    }
}
