//! The stacks of a thread, and the tables that they refer to.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::gecko::libs::Libs;
use crate::format::gecko::parts::TablePositions;
use crate::format::gecko::table::{row, table};
use crate::format::gecko::{NAME, location};
use crate::format::json::{Json, Kind};
use crate::profile::{Frame, FrameId, Function, FunctionId, MappingId, ProfileBuilder, StackId};

/// Strings that other tables refer to by index.
pub(super) type StringList<'a> = Vec<Cow<'a, str>>;

/// Reads a list of strings: an array, or in old profiles an object around one.
pub(super) fn strings<'a>(json: &Json<'a>, at: Option<usize>) -> Result<StringList<'a>, ParseError> {
    let Some(at) = at else { return Ok(Vec::new()) };
    let mut json = json.at(at);
    if json.kind()? == Kind::Array {
        return json.list(|json| Ok(json.text_if_any()?.unwrap_or_default()));
    }
    json.object()?;
    while let Some(key) = json.key()? {
        if key == "_array" {
            return json.list(|json| Ok(json.text_if_any()?.unwrap_or_default()));
        }
        json.skip()?;
    }
    Ok(Vec::new())
}

/// A tree of stacks: each is a frame below another stack, its prefix.
pub(super) struct GeckoStacks {
    stacks: Vec<Stack>,
    /// `None` for frames that are not shown.
    frames: Vec<Option<Interrupted>>,
    path: Vec<FrameId>,
}

struct Stack {
    prefix: u32,
    frame: u32,
    made: Option<StackId>,
}

/// A frame in two forms: as a leaf, where the thread was interrupted, and as a caller. In raw profiles, the addresses of
/// callers are return addresses.
#[derive(Clone, Copy)]
struct Interrupted {
    here: FrameId,
    calling: FrameId,
}

/// The prefix of a stack of one frame.
const NO_PREFIX: u32 = u32::MAX;

impl GeckoStacks {
    pub(super) fn read(
        json: &Json,
        tables: &TablePositions,
        strings: &StringList,
        libs: &Libs,
        builder: &mut ProfileBuilder,
    ) -> Result<GeckoStacks, ParseError> {
        let functions = read_functions(json, tables, strings, libs, builder)?;
        let mut frames = Vec::new();
        let wanted = ["func", "location", "address", "line", "inlineDepth"];
        table(json, tables.frames.as_ref(), wanted, |[func, location, address, line, depth]| {
            let line = line.map_or(0, |line| line as u32);
            let inlined = depth.is_some_and(|depth| depth > 0.0);
            let (frame, calls) = if let Some(location) = row(location) {
                let frame = location::frame(string(strings, location)?, libs, builder);
                (frame.map(|frame| Frame { line, inlined, ..frame }), 1)
            } else {
                let function = row(func).and_then(|func| functions.get(func)).copied();
                let (function, mapping) = function.ok_or_else(outside)?;
                let address = address.filter(|&address| address > 0.0).map_or(0, |address| address as u64);
                (Some(Frame { function, line, address, mapping, inlined }), 0)
            };
            frames.push(frame.map(|frame| {
                let calling = Frame { address: frame.address.saturating_sub(calls), ..frame };
                Interrupted { here: builder.frame(frame), calling: builder.frame(calling) }
            }));
            Ok(())
        })?;
        let mut stacks = Vec::new();
        // Future versions may drop the column; without it every frame would become a separate stack.
        let has_prefix = tables.stacks.as_ref().map_or(Ok(true), |stacks| stacks.has(json, "prefix"))?;
        table(json, tables.stacks.as_ref(), ["prefix", "frame"], |[prefix, frame]| {
            if !has_prefix {
                let message = "the stack table has no `prefix` column, so callers are unknown";
                return Err(ParseError::whole(NAME, message));
            }
            let frame = row(frame).filter(|&frame| frame < frames.len()).ok_or_else(outside)? as u32;
            stacks.push(Stack {
                prefix: row(prefix).map_or(NO_PREFIX, |prefix| prefix as u32),
                frame,
                made: None,
            });
            Ok(())
        })?;
        Ok(GeckoStacks { stacks, frames, path: Vec::new() })
    }

    /// The stack with index `number`.
    pub(super) fn stack(
        &mut self,
        builder: &mut ProfileBuilder,
        number: usize,
    ) -> Result<StackId, ParseError> {
        let missing =
            |number| ParseError::whole(NAME, format!("stack {number} is out of range of the stack table"));
        if let Some(made) = self.stacks.get(number).ok_or_else(|| missing(number))?.made {
            return Ok(made);
        }
        self.path.clear();
        let mut at = number as u32;
        let mut steps = 0;
        while at != NO_PREFIX {
            let stack = self.stacks.get(at as usize).ok_or_else(|| missing(at as usize))?;
            let is_leaf = steps == 0;
            let frame = self.frames[stack.frame as usize];
            self.path.extend(frame.map(|frame| if is_leaf { frame.here } else { frame.calling }));
            at = stack.prefix;
            steps += 1;
            if steps > self.stacks.len() {
                return Err(ParseError::whole(NAME, "the stack table contains a cycle"));
            }
        }
        self.path.reverse();
        let made = builder.stack(&self.path);
        self.stacks[number].made = Some(made);
        Ok(made)
    }
}

fn read_functions(
    json: &Json,
    tables: &TablePositions,
    strings: &StringList,
    libs: &Libs,
    builder: &mut ProfileBuilder,
) -> Result<Vec<(FunctionId, MappingId)>, ParseError> {
    let mut resources = Vec::new();
    table(json, tables.resources.as_ref(), ["lib"], |[lib]| {
        resources.push(row(lib).map_or(MappingId::default(), |lib| libs.mapping(lib)));
        Ok(())
    })?;
    let mut sources = Vec::new();
    table(json, tables.sources.as_ref(), ["filename"], |[name]| {
        sources.push(row(name));
        Ok(())
    })?;
    let mut functions = Vec::new();
    let wanted = ["name", "isJS", "resource", "fileName", "source", "lineNumber", "columnNumber"];
    table(json, tables.functions.as_ref(), wanted, |[name, is_js, resource, file, source, line, column]| {
        let mapping = row(resource).and_then(|at| resources.get(at)).copied().unwrap_or_default();
        let name = string(strings, row(name).ok_or_else(outside)?)?;
        let is_js = is_js == Some(1.0);
        if !is_js && location::address(name).is_some() {
            functions.push((builder.unnamed_function(mapping), mapping));
            return Ok(());
        }
        let file =
            row(file).or_else(|| row(source).and_then(|source| sources.get(source).copied().flatten()));
        let file = file.map_or(Ok(""), |file| string(strings, file))?;
        let by_place = is_js && !file.is_empty();
        let (name, file) = (builder.string(name), builder.string(file));
        let number = |cell: Option<f64>| cell.map_or(0, |number| number as u32);
        let function = Function { name, file, line: number(line), column: number(column), by_place };
        functions.push((builder.function(function), mapping));
        Ok(())
    })?;
    Ok(functions)
}

fn string<'s>(strings: &'s StringList, number: usize) -> Result<&'s str, ParseError> {
    strings.get(number).map(|text| &**text).ok_or_else(outside)
}

fn outside() -> ParseError {
    ParseError::whole(NAME, "a table refers to a row that does not exist in another table")
}
