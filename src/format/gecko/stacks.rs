//! The stacks of a thread, and the tables that they refer to.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::gecko::libs::Libs;
use crate::format::gecko::parts::TablePositions;
use crate::format::gecko::table::{Document, row, table};
use crate::format::gecko::{NAME, location};
use crate::format::json::Kind;
use crate::profile::{Frame, FrameId, Function, FunctionId, Id, MappingId, ProfileBuilder, StackId};

/// Strings that other tables refer to by index.
pub(super) type StringList<'a> = Vec<Cow<'a, str>>;

/// Reads a list of strings: an array, or in old profiles an object around one.
pub(super) fn strings<'a>(document: &Document<'a>, at: Option<usize>) -> Result<StringList<'a>, ParseError> {
    let Some(at) = at else { return Ok(Vec::new()) };
    let mut json = document.at(at);
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
#[derive(Default)]
pub(super) struct GeckoStacks {
    /// What the way from a leaf to the root needs of each stack, and no more: stacks lie anywhere in memory.
    callers: Vec<Caller>,
    /// The frame of each stack as a leaf.
    leaves: Vec<Option<FrameId>>,
    /// The id in the profile of each stack that samples refer to; the last entry is that of samples without a stack.
    made: Vec<Made>,
    /// The stacks that are to be looked up next.
    pending: Vec<usize>,
}

/// Whether a stack was looked up, and its id in the profile.
#[derive(Clone, Copy)]
enum Made {
    No,
    Pending,
    Stack(StackId),
}

/// A stack below which there are others.
struct Caller {
    prefix: u32,
    /// Its frame as a caller, or [`NOT_SHOWN`].
    frame: u32,
}

/// The frame of a stack that is not shown.
const NOT_SHOWN: u32 = u32::MAX;

/// A frame in two forms: as a leaf, where the thread was interrupted, and as a caller. In raw profiles, the addresses of
/// callers are return addresses.
#[derive(Clone, Copy)]
struct Interrupted {
    here: FrameId,
    calling: FrameId,
}

/// The number of frames that are looked up together.
const LOOKED_UP_AT_ONCE: usize = 1 << 10;

/// The prefix of a stack of one frame.
const NO_PREFIX: u32 = u32::MAX;

impl GeckoStacks {
    pub(super) fn read(
        document: &Document,
        tables: &TablePositions,
        strings: &StringList,
        libs: &Libs,
        builder: &mut ProfileBuilder,
    ) -> Result<GeckoStacks, ParseError> {
        let names = Names::read(document, tables, strings)?;
        let functions = read_functions(document, tables, &names, libs, builder)?;
        let frames = read_frames(document, tables, &names, &functions, libs, builder)?;
        let mut stacks = GeckoStacks::default();
        // A future version may store callers in another column; without one, every frame would become a separate stack.
        let columns = tables.stacks.as_ref();
        let has = |name| columns.map_or(Ok(true), |columns| columns.has(document, name));
        let has_callers = has("prefix")? || has("prefixOffset")?;
        table(document, columns, ["prefix", "prefixOffset", "frame"], |[prefix, offset, frame]| {
            if !has_callers {
                let message = "the stack table has neither a `prefix` nor a `prefixOffset` column, so callers are unknown";
                return Err(ParseError::whole(NAME, message));
            }
            let frame = *row(frame).and_then(|frame| frames.get(frame)).ok_or_else(outside)?;
            let prefix = match row(offset) {
                None | Some(0) => row(prefix).map_or(NO_PREFIX, |prefix| prefix as u32),
                Some(offset) => stacks.callers.len().checked_sub(offset).ok_or_else(outside)? as u32,
            };
            let calling = frame.map_or(NOT_SHOWN, |frame| frame.calling.index() as u32);
            stacks.callers.push(Caller { prefix, frame: calling });
            stacks.leaves.push(frame.map(|frame| frame.here));
            Ok(())
        })?;
        stacks.made.resize(stacks.leaves.len() + 1, Made::No);
        Ok(stacks)
    }

    /// Appends the ids of stacks to `ids`, given their indexes; `None` stands for the stack without frames. Looking many up at once
    /// takes less time.
    pub(super) fn look_up(
        &mut self,
        builder: &mut ProfileBuilder,
        numbers: impl Iterator<Item = Option<usize>> + Clone,
        ids: &mut Vec<StackId>,
    ) -> Result<(), ParseError> {
        let empty = self.leaves.len();
        let mut pending = std::mem::take(&mut self.pending);
        let outside = numbers.clone().flatten().find(|&number| number >= empty);
        for number in numbers.clone().take_while(|number| number.is_none_or(|number| number < empty)) {
            let number = number.unwrap_or(empty);
            if matches!(self.made[number], Made::No) {
                self.made[number] = Made::Pending;
                pending.push(number);
            }
        }
        let found = builder
            .stacks_with(pending.len(), |_, number, frames| self.append_frames(pending[number], frames))?;
        for (number, &id) in pending.drain(..).zip(found.as_slice()) {
            self.made[number] = Made::Stack(id);
        }
        self.pending = pending;
        if let Some(outside) = outside {
            return Err(missing(outside));
        }
        ids.extend(numbers.map(|number| match self.made[number.unwrap_or(empty)] {
            Made::Stack(id) => id,
            Made::No | Made::Pending => StackId::default(),
        }));
        Ok(())
    }

    /// Appends the frames of a stack, root first.
    fn append_frames(&self, number: usize, frames: &mut Vec<FrameId>) -> Result<(), ParseError> {
        let Some(leaf) = self.leaves.get(number) else { return Ok(()) };
        let start = frames.len();
        frames.extend(*leaf);
        let mut at = self.callers[number].prefix;
        let mut steps = 0;
        while at != NO_PREFIX {
            let caller = self.callers.get(at as usize).ok_or_else(|| missing(at as usize))?;
            frames.extend((caller.frame != NOT_SHOWN).then(|| FrameId::new(caller.frame as usize)));
            at = caller.prefix;
            steps += 1;
            if steps > self.callers.len() {
                return Err(ParseError::whole(NAME, "the stack table contains a cycle"));
            }
        }
        frames[start..].reverse();
        Ok(())
    }
}

fn missing(number: usize) -> ParseError {
    ParseError::whole(NAME, format!("stack {number} is out of range of the stack table"))
}

/// Names of functions and files, and places in original sources.
struct Names<'n> {
    strings: &'n StringList<'n>,
    /// The name of each source file.
    sources: Vec<Option<usize>>,
    /// Places in original sources: the source, line and column.
    places: Vec<[Option<f64>; 3]>,
}

/// A place in a source file.
struct SourcePlace<'n> {
    file: &'n str,
    line: u32,
    column: u32,
}

impl<'n> Names<'n> {
    fn read(
        document: &Document,
        tables: &TablePositions,
        strings: &'n StringList<'n>,
    ) -> Result<Names<'n>, ParseError> {
        let (mut sources, mut places) = (Vec::new(), Vec::new());
        table(document, tables.sources.as_ref(), ["filename"], |[name]| {
            sources.push(row(name));
            Ok(())
        })?;
        table(document, tables.locations.as_ref(), ["source", "line", "column"], |place| {
            places.push(place);
            Ok(())
        })?;
        Ok(Names { strings, sources, places })
    }

    fn string(&self, number: usize) -> Result<&'n str, ParseError> {
        self.strings.get(number).map(|text| &**text).ok_or_else(outside)
    }

    /// The name of a source file; empty if it has none.
    fn source(&self, source: Option<usize>) -> Result<&'n str, ParseError> {
        let name = source.and_then(|source| self.sources.get(source).copied().flatten());
        name.map_or(Ok(""), |name| self.string(name))
    }

    /// The place in the original source, if a source map has told it.
    fn original(&self, place: Option<usize>) -> Result<Option<SourcePlace<'n>>, ParseError> {
        let Some(&[source, line, column]) = place.and_then(|place| self.places.get(place)) else {
            return Ok(None);
        };
        let file = self.source(row(source))?;
        Ok(Some(SourcePlace { file, line: number(line), column: number(column) })
            .filter(|_| !file.is_empty()))
    }
}

/// Which cells of a row hold a value, in the versions whose columns cannot be null: a bit of the `flags` column per
/// cell. In older versions, which lack that column, a missing value is null or −1.
#[derive(Clone, Copy)]
struct Flags(Option<u32>);

impl Flags {
    fn of(cell: Option<f64>) -> Flags {
        Flags(row(cell).map(|flags| flags as u32))
    }

    /// The cell, if its bit is set.
    fn keep(self, bit: u32, cell: Option<f64>) -> Option<f64> {
        cell.filter(|_| self.0.is_none_or(|flags| flags & bit != 0))
    }

    /// Whether `bit` is set; in older versions, whether the cell is true.
    fn or(self, bit: u32, cell: Option<f64>) -> bool {
        self.0.map_or(cell.is_some_and(|cell| cell > 0.0), |flags| flags & bit != 0)
    }
}

/// Bits of the flags of frames, since version 71.
mod frame_flags {
    pub(super) const INLINED: u32 = 1;
    pub(super) const ADDRESS: u32 = 1 << 1;
    pub(super) const LINE: u32 = 1 << 4;
    pub(super) const ORIGINAL: u32 = 1 << 6;
}

/// Bits of the flags of functions, since version 75.
mod function_flags {
    pub(super) const JAVASCRIPT: u32 = 1;
    pub(super) const RESOURCE: u32 = 1 << 2;
    pub(super) const SOURCE: u32 = 1 << 3;
    pub(super) const LINE: u32 = 1 << 4;
    pub(super) const COLUMN: u32 = 1 << 5;
    pub(super) const ORIGINAL: u32 = 1 << 6;
}

/// A function of the table.
#[derive(Clone, Copy)]
struct GeckoFunction {
    /// `None` if it is named after its address, which tells the profiler that the symbol can be looked up.
    named: Option<FunctionId>,
    /// Its library, in versions before 70. Later ones have it in the table of frames.
    mapping: MappingId,
}

fn read_frames(
    document: &Document,
    tables: &TablePositions,
    names: &Names,
    functions: &[GeckoFunction],
    libs: &Libs,
    builder: &mut ProfileBuilder,
) -> Result<Vec<Option<Interrupted>>, ParseError> {
    use frame_flags::{ADDRESS, INLINED, LINE, ORIGINAL};
    // Frames are looked up many at a time; until the end, rows refer to their places in the order of the table.
    let (mut rows, mut ids) = (Vec::new(), Vec::new());
    let mut some: Vec<Frame> = Vec::new();
    let wanted = ["func", "location", "address", "line", "inlineDepth", "lib", "flags", "originalLocation"];
    table(document, tables.frames.as_ref(), wanted, |row_of_frame| {
        let [func, location, address, line, depth, lib, flags, original] = row_of_frame;
        let flags = Flags::of(flags);
        let inlined = flags.or(INLINED, depth);
        let original = names.original(row(flags.keep(ORIGINAL, original)))?;
        let line = original.map_or(number(flags.keep(LINE, line)), |original| original.line);
        let (frame, calls) = if let Some(location) = row(location) {
            let frame = location::frame(names.string(location)?, libs, builder);
            (frame.map(|frame| Frame { line, inlined, ..frame }), 1)
        } else {
            let function = row(func).and_then(|func| functions.get(func)).copied().ok_or_else(outside)?;
            let address = flags.keep(ADDRESS, address).filter(|&address| address > 0.0);
            let address = address.map_or(0, |address| address as u64);
            let mapping = row(flags.keep(ADDRESS, lib)).map_or(function.mapping, |lib| libs.mapping(lib));
            let function = function.named.unwrap_or_else(|| builder.unnamed_function(mapping));
            (Some(Frame { function, line, address, mapping, inlined }), 0)
        };
        rows.push(frame.map(|frame| {
            let calling = Frame { address: frame.address.saturating_sub(calls), ..frame };
            let here = FrameId::new(ids.len() + some.len());
            some.push(frame);
            some.extend(Some(calling).filter(|calling| *calling != frame));
            Interrupted { here, calling: FrameId::new(ids.len() + some.len() - 1) }
        }));
        if some.len() >= LOOKED_UP_AT_ONCE {
            ids.extend(builder.frames(&some));
            some.clear();
        }
        Ok(())
    })?;
    ids.extend(builder.frames(&some));
    for Interrupted { here, calling } in rows.iter_mut().flatten() {
        (*here, *calling) = (ids[here.index()], ids[calling.index()]);
    }
    Ok(rows)
}

fn read_functions(
    document: &Document,
    tables: &TablePositions,
    names: &Names,
    libs: &Libs,
    builder: &mut ProfileBuilder,
) -> Result<Vec<GeckoFunction>, ParseError> {
    use function_flags::{COLUMN, JAVASCRIPT, LINE, ORIGINAL, RESOURCE, SOURCE};
    let mut resources = Vec::new();
    table(document, tables.resources.as_ref(), ["lib"], |[lib]| {
        resources.push(row(lib).map_or(MappingId::default(), |lib| libs.mapping(lib)));
        Ok(())
    })?;
    let mut functions = Vec::new();
    let wanted = [
        "name",
        "isJS",
        "resource",
        "fileName",
        "source",
        "lineNumber",
        "columnNumber",
        "flags",
        "originalLocation",
    ];
    table(document, tables.functions.as_ref(), wanted, |row_of_function| {
        let [name, is_js, resource, file, source, line, column, flags, original] = row_of_function;
        let flags = Flags::of(flags);
        let resource = row(flags.keep(RESOURCE, resource));
        let mapping = resource.and_then(|at| resources.get(at)).copied().unwrap_or_default();
        let name = names.string(row(name).ok_or_else(outside)?)?;
        let is_js = flags.or(JAVASCRIPT, is_js);
        if !is_js && location::address(name).is_some() {
            functions.push(GeckoFunction { named: None, mapping });
            return Ok(());
        }
        let compiled = match row(file) {
            Some(file) => names.string(file)?,
            None => names.source(row(flags.keep(SOURCE, source)))?,
        };
        let compiled = SourcePlace {
            file: compiled,
            line: number(flags.keep(LINE, line)),
            column: number(flags.keep(COLUMN, column)),
        };
        let place = names.original(row(flags.keep(ORIGINAL, original)))?.unwrap_or(compiled);
        let by_place = is_js && !place.file.is_empty();
        let (name, file) = (builder.string(name), builder.string(place.file));
        let function = Function { name, file, line: place.line, column: place.column, by_place };
        functions.push(GeckoFunction { named: Some(builder.function(function)), mapping });
        Ok(())
    })?;
    Ok(functions)
}

/// A line or column; 0 if unknown.
fn number(cell: Option<f64>) -> u32 {
    cell.map_or(0, |number| number as u32)
}

fn outside() -> ParseError {
    ParseError::whole(NAME, "a table refers to a row that does not exist in another table")
}
