//! The stacks and frames of a part that is exported.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use parquet::data_type::ByteArray;

use crate::dataset::ids::{Collision, Hasher, KnownIds, WideId};
use crate::dataset::schema;
use crate::format::parquet::file::{Cells, TableFile};
use crate::name::package;
use crate::profile::{
    Addresses, Column, Frame, FrameId, Function, FunctionId, Id, Mapping, Profile, StackId, StackTable,
    Stacks, StringId, SymbolTable, Symbols,
};

/// The ids of an export, of all kinds. A function and a stack may have the same id.
#[derive(Debug, Default)]
pub(super) struct Known {
    functions: KnownIds,
    frames: KnownIds,
    stacks: KnownIds,
    pub(super) profiles: KnownIds,
}

impl Known {
    pub(super) fn trim(&mut self) {
        for known in [&mut self.functions, &mut self.frames, &mut self.stacks, &mut self.profiles] {
            known.trim();
        }
    }
}

/// The stacks and frames of a part, each once, with their ids. A frame is stored as its id sees it: with its address in the
/// binary, wherever that was loaded. So the hash of each stack is computed once for all profiles of a part.
#[derive(Default)]
pub(super) struct SymbolRows {
    table: SymbolTable,
    stacks: StackTable,
    /// The name of each function, with its place if that tells functions of one name apart.
    names: Column<FunctionId, String>,
    function_ids: Column<FunctionId, u64>,
    frame_ids: Column<FrameId, u64>,
    stack_ids: Column<StackId, u64>,
    /// Where the tables of the last profile are in this part. The next profile often shares them.
    copied: Option<Copied>,
}

/// Where the rows of the tables of a profile are in a part, as far as they were copied.
struct Copied {
    from: (Arc<Symbols>, Arc<Stacks>),
    functions: Column<FunctionId, Option<FunctionId>>,
    frames: Column<FrameId, Option<FrameId>>,
    stacks: Column<StackId, Option<StackId>>,
}

impl Copied {
    fn new(profile: &Profile) -> Self {
        let symbols = &profile.symbols;
        Copied {
            from: (symbols.clone(), profile.stacks.clone()),
            functions: Column::filled(None, symbols.functions.len()),
            frames: Column::filled(None, symbols.frames.len()),
            stacks: Column::filled(None, profile.stacks.len()),
        }
    }

    fn are_of(&self, profile: &Profile) -> bool {
        let (symbols, stacks) = &self.from;
        Arc::ptr_eq(symbols, &profile.symbols) && Arc::ptr_eq(stacks, &profile.stacks)
    }
}

impl SymbolRows {
    /// Adds the stacks of a profile that have samples, with their frames, and returns where they are in this part.
    pub(super) fn add(
        &mut self,
        profile: &Profile,
        known: &mut Known,
    ) -> Result<Column<StackId, Option<StackId>>, Collision> {
        let copied = self.copied.take().filter(|copied| copied.are_of(profile));
        let mut copied = copied.unwrap_or_else(|| Copied::new(profile));
        let mut frames = Vec::new();
        for &stack in &profile.samples.stack {
            if copied.stacks[stack].is_some() {
                continue;
            }
            frames.clear();
            for &frame in profile.stacks.frames(stack) {
                frames.push(self.frame(&profile.symbols, frame, &mut copied, known)?);
            }
            copied.stacks[stack] = Some(self.stack(&frames, known)?);
        }
        let stacks = copied.stacks.clone();
        self.copied = Some(copied);
        Ok(stacks)
    }

    /// Lets go of the tables of the last profile.
    pub(super) fn forget_profile(&mut self) {
        self.copied = None;
    }

    fn stack(&mut self, frames: &[FrameId], known: &mut Known) -> Result<StackId, Collision> {
        // A part is full long before its tables are.
        let stack = self.stacks.intern(frames).unwrap_or_default();
        if stack.index() == self.stack_ids.len() {
            let id = stack_id(frames.iter().map(|&frame| self.frame_ids[frame]));
            known.stacks.check(id)?;
            let _: StackId = self.stack_ids.push(id.id);
        }
        Ok(stack)
    }

    fn frame(
        &mut self,
        symbols: &Symbols,
        frame: FrameId,
        copied: &mut Copied,
        known: &mut Known,
    ) -> Result<FrameId, Collision> {
        if let Some(copy) = copied.frames[frame] {
            return Ok(copy);
        }
        let row = &symbols.frames[frame];
        let function = match copied.functions[row.function] {
            Some(function) => function,
            None => self.function(symbols, row.function, known)?,
        };
        copied.functions[row.function] = Some(function);
        let mapping = &symbols.mappings[row.mapping];
        let (address, addresses) = address(symbols, row);
        let (file, build_id) = (self.string(symbols, mapping.file), self.string(symbols, mapping.build_id));
        let mapping = self.table.mapping(Mapping { file, build_id, addresses, ..Mapping::default() });
        let copy = self.table.frame(Frame { function, address, mapping, ..*row });
        if copy.index() == self.frame_ids.len() {
            let id = self.content(copy).id();
            known.frames.check(id)?;
            let _: FrameId = self.frame_ids.push(id.id);
        }
        copied.frames[frame] = Some(copy);
        Ok(copy)
    }

    fn function(
        &mut self,
        symbols: &Symbols,
        function: FunctionId,
        known: &mut Known,
    ) -> Result<FunctionId, Collision> {
        let row = &symbols.functions[function];
        let (name, file) = (self.string(symbols, row.name), self.string(symbols, row.file));
        let row = Function { name, file, ..*row };
        let copy = self.table.function(row);
        if copy.index() == self.function_ids.len() {
            let mut name = String::new();
            self.table.symbols.write_function(&mut name, &row);
            let id = function_id(&name);
            known.functions.check(id)?;
            let _: FunctionId = self.names.push(name);
            let _: FunctionId = self.function_ids.push(id.id);
        }
        Ok(copy)
    }

    fn string(&mut self, symbols: &Symbols, id: StringId) -> StringId {
        self.table.symbols.strings.intern(symbols.strings.get(id))
    }

    fn content(&self, frame: FrameId) -> FrameContent<'_> {
        let symbols = &self.table.symbols;
        let frame = &symbols.frames[frame];
        let (function, mapping) = (&symbols.functions[frame.function], &symbols.mappings[frame.mapping]);
        let text = |id| symbols.strings.get(id);
        FrameContent {
            function: &self.names[frame.function],
            system_name: text(function.name),
            file: text(function.file),
            start: (function.line, function.column),
            line: frame.line,
            mapping: text(mapping.file),
            build_id: text(mapping.build_id),
            address: (frame.address != 0).then_some((frame.address, address_of(mapping.addresses))),
            inlined: frame.inlined,
        }
    }

    /// The id of a stack.
    pub(super) fn id(&self, stack: StackId) -> u64 {
        self.stack_ids[stack]
    }

    /// The number of stacks.
    pub(super) fn len(&self) -> usize {
        self.stack_ids.len()
    }

    /// The number of distinct frames.
    pub(super) fn frames(&self) -> usize {
        self.frame_ids.len()
    }

    /// The number of frames of all stacks.
    pub(super) fn frames_of_stacks(&self) -> usize {
        self.stacks.stacks.all_frames().len()
    }

    /// Writes the table of those stacks that are used, in the order of their ids.
    pub(super) fn write_stacks(
        &self,
        used: &Column<StackId, bool>,
        out: &mut (dyn Write + Send),
    ) -> parquet::errors::Result<()> {
        let mut rows: Vec<StackId> = self.stack_ids.ids().filter(|&stack| used[stack]).collect();
        rows.sort_unstable_by_key(|&stack| self.stack_ids[stack]);
        rows.dedup_by_key(|stack| self.stack_ids[*stack]);
        let mut file = TableFile::new(out, schema::STACKS, &schema::notes("stacks"))?;
        for rows in rows.chunks(STACKS_IN_GROUP) {
            let ids: Vec<i64> = rows.iter().map(|&stack| self.stack_ids[stack] as i64).collect();
            let frame = |&frame: &FrameId| self.frame_ids[frame];
            let (frame_ends, frames) =
                lists(rows.iter().map(|&stack| self.stacks.stacks.frames(stack).iter().map(frame)));
            let (function_ends, functions) =
                lists(rows.iter().map(|&stack| self.functions_of(stack).into_iter()));
            file.group(&[
                Cells::Longs(&ids),
                Cells::LongLists(&frame_ends, &frames),
                Cells::LongLists(&function_ends, &functions),
            ])?;
        }
        file.finish()
    }

    /// The functions of a stack, root first, each once.
    fn functions_of(&self, stack: StackId) -> Vec<u64> {
        let frames = &self.table.symbols.frames;
        let ids = self.stacks.stacks.frames(stack).iter();
        let ids = ids.map(|&frame| self.function_ids[frames[frame].function]);
        let mut seen = HashSet::new();
        ids.filter(|&id| seen.insert(id)).collect()
    }

    /// Writes the table of the frames of those stacks that are used, in the order of their names.
    pub(super) fn write_frames(
        &self,
        used: &Column<StackId, bool>,
        out: &mut (dyn Write + Send),
    ) -> parquet::errors::Result<()> {
        let stacks = self.stack_ids.ids().filter(|&stack| used[stack]);
        let frames = stacks.flat_map(|stack| self.stacks.stacks.frames(stack).iter().copied());
        let used: Column<FrameId, bool> = Column::marking(frames, self.frame_ids.len());
        let symbols = &self.table.symbols;
        let name = |frame: FrameId| self.names[symbols.frames[frame].function].as_bytes();
        let mut rows: Vec<FrameId> = self.frame_ids.ids().filter(|&frame| used[frame]).collect();
        rows.sort_unstable_by_key(|&frame| (name(frame), self.frame_ids[frame]));
        rows.dedup_by_key(|frame| self.frame_ids[*frame]);
        let mut file = TableFile::new(out, schema::FRAMES, &schema::notes("frames"))?;
        for rows in rows.chunks(ROWS_IN_GROUP) {
            self.write_frame_group(&mut file, rows)?;
        }
        file.finish()
    }

    fn write_frame_group<W: Write + Send>(
        &self,
        file: &mut TableFile<W>,
        rows: &[FrameId],
    ) -> parquet::errors::Result<()> {
        let symbols = &self.table.symbols;
        let contents: Vec<FrameContent> = rows.iter().map(|&frame| self.content(frame)).collect();
        let ids: Vec<i64> = rows.iter().map(|&frame| self.frame_ids[frame] as i64).collect();
        let functions: Vec<i64> =
            rows.iter().map(|&frame| self.function_ids[symbols.frames[frame].function] as i64).collect();
        let texts =
            |of: fn(&FrameContent) -> ByteArray| -> Vec<ByteArray> { contents.iter().map(of).collect() };
        let optional = |of: fn(&FrameContent) -> Option<ByteArray>| -> Vec<Option<ByteArray>> {
            contents.iter().map(of).collect()
        };
        let numbers = |of: fn(&FrameContent) -> u32| -> Vec<Option<i32>> {
            let number = |content| i32::try_from(of(content)).ok().filter(|&number| number > 0);
            contents.iter().map(number).collect()
        };
        let addresses: Vec<Option<i64>> =
            contents.iter().map(|content| content.address.map(|(address, _)| address as i64)).collect();
        let inlined: Vec<bool> = contents.iter().map(|content| content.inlined).collect();
        file.group(&[
            Cells::Longs(&ids),
            Cells::Longs(&functions),
            Cells::Texts(&texts(|content| ByteArray::from(content.function))),
            Cells::Texts(&texts(|content| ByteArray::from(content.system_name))),
            Cells::OptionalTexts(&optional(|content| some(content.file))),
            Cells::Ints(&numbers(|content| content.start.0)),
            Cells::Ints(&numbers(|content| content.start.1)),
            Cells::Ints(&numbers(|content| content.line)),
            Cells::OptionalTexts(&optional(|content| {
                package(content.system_name, content.file).and_then(|package| some(&package))
            })),
            Cells::OptionalTexts(&optional(|content| some(content.mapping))),
            Cells::OptionalTexts(&optional(|content| some(content.build_id))),
            Cells::OptionalLongs(&addresses),
            Cells::OptionalTexts(&optional(|content| content.address.map(|(_, of)| ByteArray::from(of)))),
            Cells::Bools(&inlined),
        ])
    }
}

/// The number of rows in a row group of samples and of frames.
pub(super) const ROWS_IN_GROUP: usize = 128 << 10;

/// The number of stacks in a row group: they are lists, and take more space.
const STACKS_IN_GROUP: usize = 32 << 10;

/// A text; none if it is empty.
fn some(text: &str) -> Option<ByteArray> {
    (!text.is_empty()).then(|| ByteArray::from(text))
}

/// Lists one after the other, and where each ends.
fn lists(lists: impl Iterator<Item = impl Iterator<Item = u64>>) -> (Vec<usize>, Vec<i64>) {
    let (mut ends, mut items) = (Vec::new(), Vec::new());
    for list in lists {
        items.extend(list.map(|item| item as i64));
        ends.push(items.len());
    }
    (ends, items)
}

/// The id of a function: the hash of its name, with its place if that tells functions of one name apart.
fn function_id(name: &str) -> WideId {
    let mut hasher = Hasher::new("function");
    hasher.text(name);
    hasher.finish()
}

fn stack_id(frames: impl ExactSizeIterator<Item = u64>) -> WideId {
    let mut hasher = Hasher::new("stack");
    hasher.number(frames.len() as u64);
    hasher.numbers(frames);
    hasher.finish()
}

/// The address of a frame in its binary, which is the same wherever that was loaded, and what it is relative to; 0 if there is none.
fn address(symbols: &Symbols, frame: &Frame) -> (u64, Addresses) {
    let mapping = &symbols.mappings[frame.mapping];
    if frame.address == 0 {
        return (0, Addresses::Memory);
    }
    let is_loaded = frame.mapping.index() > 0 && (mapping.start, mapping.offset) != (0, 0);
    match mapping.addresses {
        Addresses::Memory if is_loaded => match frame.address.checked_sub(mapping.start) {
            Some(distance) => (distance.wrapping_add(mapping.offset), Addresses::File),
            None => (frame.address, Addresses::Memory),
        },
        addresses => (frame.address, addresses),
    }
}

/// What addresses are relative to, as the table says it.
fn address_of(addresses: Addresses) -> &'static str {
    match addresses {
        Addresses::File => "file",
        Addresses::Image => "image",
        Addresses::Memory => "memory",
    }
}

/// What the id of a frame is the hash of.
struct FrameContent<'p> {
    function: &'p str,
    system_name: &'p str,
    file: &'p str,
    start: (u32, u32),
    line: u32,
    mapping: &'p str,
    build_id: &'p str,
    address: Option<(u64, &'static str)>,
    inlined: bool,
}

impl FrameContent<'_> {
    fn id(&self) -> WideId {
        let mut hasher = Hasher::new("frame");
        for text in [self.function, self.system_name, self.file] {
            hasher.text(text);
        }
        for number in [self.start.0, self.start.1, self.line] {
            hasher.number(number.into());
        }
        hasher.text(self.mapping);
        hasher.text(self.build_id);
        let (address, of) = self.address.unwrap_or((0, ""));
        hasher.number(address);
        hasher.text(of);
        hasher.number(self.inlined.into());
        hasher.finish()
    }
}
