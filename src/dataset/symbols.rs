//! The stacks and frames of a part that is exported.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use parquet::data_type::ByteArray;

use crate::dataset::ids::{Collision, Hasher, KnownIds, WideId};
use crate::dataset::schema;
use crate::format::parquet::file::{Cells, TableFile};
use crate::name::package;
use crate::profile::{Addresses, Column, Frame, FrameId, FunctionId, Id, Profile, StackId, Symbols};

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

/// The stacks and frames of a part, each once.
#[derive(Default)]
pub(super) struct SymbolRows {
    frames: HashMap<u64, FrameRow>,
    stacks: HashMap<u64, StackRow>,
    /// The number of frames of all stacks.
    pub(super) frames_of_stacks: usize,
}

struct StackRow {
    frames: Vec<u64>,
    functions: Vec<u64>,
}

struct FrameRow {
    function_id: u64,
    function: ByteArray,
    system_name: ByteArray,
    file: Option<ByteArray>,
    start_line: u32,
    start_column: u32,
    line: u32,
    package: Option<ByteArray>,
    mapping: Option<ByteArray>,
    build_id: Option<ByteArray>,
    address: Option<(u64, &'static str)>,
    inlined: bool,
}

/// The ids of the stacks of a profile that have samples, and of their frames and functions.
pub(super) struct SymbolIds {
    functions: Column<FunctionId, u64>,
    /// The names of functions, with their places where these tell them apart.
    names: Column<FunctionId, String>,
    frames: Column<FrameId, Option<u64>>,
    pub(super) stacks: Column<StackId, u64>,
    used: Column<StackId, bool>,
}

impl SymbolIds {
    pub(super) fn of(profile: &Profile, known: &mut Known) -> Result<SymbolIds, Collision> {
        let symbols = &profile.symbols;
        let names: Column<FunctionId, String> = symbols.functions.map(|function| {
            let mut name = String::new();
            symbols.write_function(&mut name, function);
            name
        });
        let mut functions = Column::new();
        for name in &names {
            let id = function_id(name);
            known.functions.check(id)?;
            let _: FunctionId = functions.push(id.id);
        }
        let mut frames = Column::filled(None, symbols.frames.len());
        let mut stacks = Column::filled(0, profile.stacks.len());
        let used = profile.used_stacks();
        let mut of_stack = Vec::new();
        for stack in profile.stacks.ids().filter(|&stack| used[stack]) {
            of_stack.clear();
            for &frame in profile.stacks.frames(stack) {
                let id = match frames[frame] {
                    Some(id) => id,
                    None => {
                        let id = FrameContent::of(symbols, &names, &symbols.frames[frame]).id();
                        known.frames.check(id)?;
                        id.id
                    }
                };
                frames[frame] = Some(id);
                of_stack.push(id);
            }
            let id = stack_id(&of_stack);
            known.stacks.check(id)?;
            stacks[stack] = id.id;
        }
        Ok(SymbolIds { functions, names, frames, stacks, used })
    }
}

impl SymbolRows {
    /// Adds the stacks of a profile that have samples, and their frames.
    pub(super) fn add(&mut self, profile: &Profile, ids: &SymbolIds) {
        let symbols = &profile.symbols;
        for stack in profile.stacks.ids().filter(|&stack| ids.used[stack]) {
            let frames = profile.stacks.frames(stack).iter();
            self.stacks.entry(ids.stacks[stack]).or_insert_with(|| {
                let row = StackRow {
                    frames: frames.filter_map(|&frame| ids.frames[frame]).collect(),
                    functions: distinct(profile, stack, &ids.functions),
                };
                self.frames_of_stacks += row.frames.len() + row.functions.len();
                row
            });
        }
        for (frame, id) in ids.frames.enumerate() {
            let Some(id) = *id else { continue };
            let frame = &symbols.frames[frame];
            self.frames.entry(id).or_insert_with(|| {
                FrameRow::new(&FrameContent::of(symbols, &ids.names, frame), ids.functions[frame.function])
            });
        }
    }

    /// Writes the table of stacks, in the order of their ids.
    pub(super) fn write_stacks(&self, out: &mut (dyn Write + Send)) -> parquet::errors::Result<()> {
        let mut rows: Vec<(&u64, &StackRow)> = self.stacks.iter().collect();
        rows.sort_unstable_by_key(|(id, _)| **id);
        let mut file = TableFile::new(out, schema::STACKS, &schema::notes("stacks"))?;
        for rows in rows.chunks(STACKS_IN_GROUP) {
            let ids: Vec<i64> = rows.iter().map(|(id, _)| **id as i64).collect();
            let (frame_ends, frames) = lists(rows.iter().map(|(_, row)| &row.frames));
            let (function_ends, functions) = lists(rows.iter().map(|(_, row)| &row.functions));
            file.group(&[
                Cells::Longs(&ids),
                Cells::LongLists(&frame_ends, &frames),
                Cells::LongLists(&function_ends, &functions),
            ])?;
        }
        file.finish()
    }

    /// Writes the table of frames, in the order of their names.
    pub(super) fn write_frames(&self, out: &mut (dyn Write + Send)) -> parquet::errors::Result<()> {
        let mut rows: Vec<(&u64, &FrameRow)> = self.frames.iter().collect();
        rows.sort_unstable_by(|a, b| (a.1.function.data(), a.0).cmp(&(b.1.function.data(), b.0)));
        let mut file = TableFile::new(out, schema::FRAMES, &schema::notes("frames"))?;
        for rows in rows.chunks(ROWS_IN_GROUP) {
            write_frame_group(&mut file, rows)?;
        }
        file.finish()
    }
}

/// The number of rows in a row group of samples and of frames.
pub(super) const ROWS_IN_GROUP: usize = 128 << 10;

/// The number of stacks in a row group: they are lists, and take more space.
const STACKS_IN_GROUP: usize = 32 << 10;

fn write_frame_group<W: Write + Send>(
    file: &mut TableFile<W>,
    rows: &[(&u64, &FrameRow)],
) -> parquet::errors::Result<()> {
    let ids: Vec<i64> = rows.iter().map(|(id, _)| **id as i64).collect();
    let functions: Vec<i64> = rows.iter().map(|(_, row)| row.function_id as i64).collect();
    let texts = |of: fn(&FrameRow) -> &ByteArray| -> Vec<ByteArray> {
        rows.iter().map(|(_, row)| of(row).clone()).collect()
    };
    let optional = |of: fn(&FrameRow) -> &Option<ByteArray>| -> Vec<Option<ByteArray>> {
        rows.iter().map(|(_, row)| of(row).clone()).collect()
    };
    let numbers = |of: fn(&FrameRow) -> u32| -> Vec<Option<i32>> {
        let number = |row: &FrameRow| i32::try_from(of(row)).ok().filter(|&number| number > 0);
        rows.iter().map(|(_, row)| number(row)).collect()
    };
    let addresses: Vec<Option<i64>> =
        rows.iter().map(|(_, row)| row.address.map(|(address, _)| address as i64)).collect();
    let address_of: Vec<Option<ByteArray>> =
        rows.iter().map(|(_, row)| row.address.map(|(_, of)| ByteArray::from(of))).collect();
    let inlined: Vec<bool> = rows.iter().map(|(_, row)| row.inlined).collect();
    file.group(&[
        Cells::Longs(&ids),
        Cells::Longs(&functions),
        Cells::Texts(&texts(|row| &row.function)),
        Cells::Texts(&texts(|row| &row.system_name)),
        Cells::OptionalTexts(&optional(|row| &row.file)),
        Cells::Ints(&numbers(|row| row.start_line)),
        Cells::Ints(&numbers(|row| row.start_column)),
        Cells::Ints(&numbers(|row| row.line)),
        Cells::OptionalTexts(&optional(|row| &row.package)),
        Cells::OptionalTexts(&optional(|row| &row.mapping)),
        Cells::OptionalTexts(&optional(|row| &row.build_id)),
        Cells::OptionalLongs(&addresses),
        Cells::OptionalTexts(&address_of),
        Cells::Bools(&inlined),
    ])
}

/// Lists one after the other, and where each ends.
fn lists<'r>(lists: impl Iterator<Item = &'r Vec<u64>>) -> (Vec<usize>, Vec<i64>) {
    let (mut ends, mut items) = (Vec::new(), Vec::new());
    for list in lists {
        items.extend(list.iter().map(|&item| item as i64));
        ends.push(items.len());
    }
    (ends, items)
}

/// The functions of a stack, root first, each once.
fn distinct(profile: &Profile, stack: StackId, functions: &Column<FunctionId, u64>) -> Vec<u64> {
    let frames = profile.stacks.frames(stack).iter();
    let ids = frames.map(|&frame| functions[profile.symbols.frames[frame].function]);
    let mut seen = HashSet::new();
    ids.filter(|&id| seen.insert(id)).collect()
}

/// The id of a function: the hash of its name, with its place if that tells functions of one name apart.
fn function_id(name: &str) -> WideId {
    let mut hasher = Hasher::new("function");
    hasher.text(name);
    hasher.finish()
}

impl FrameRow {
    fn new(content: &FrameContent<'_>, function_id: u64) -> FrameRow {
        let some = |text: &str| (!text.is_empty()).then(|| ByteArray::from(text));
        FrameRow {
            function_id,
            function: ByteArray::from(content.function),
            system_name: ByteArray::from(content.system_name),
            file: some(content.file),
            start_line: content.start.0,
            start_column: content.start.1,
            line: content.line,
            package: package(content.system_name, content.file).and_then(|package| some(&package)),
            mapping: some(content.mapping),
            build_id: some(content.build_id),
            address: content.address,
            inlined: content.inlined,
        }
    }
}

fn stack_id(frames: &[u64]) -> WideId {
    let mut hasher = Hasher::new("stack");
    hasher.number(frames.len() as u64);
    hasher.numbers(frames.iter().copied());
    hasher.finish()
}

/// The address of a frame in its binary, which is the same wherever that was loaded, and what it is relative to.
fn address(symbols: &Symbols, frame: &Frame) -> Option<(u64, &'static str)> {
    let mapping = &symbols.mappings[frame.mapping];
    if frame.address == 0 {
        return None;
    }
    Some(match mapping.addresses {
        Addresses::File => (frame.address, "file"),
        Addresses::Image => (frame.address, "image"),
        Addresses::Memory if frame.mapping.index() == 0 || (mapping.start, mapping.offset) == (0, 0) => {
            (frame.address, "memory")
        }
        Addresses::Memory => match frame.address.checked_sub(mapping.start) {
            Some(distance) => (distance.wrapping_add(mapping.offset), "file"),
            None => (frame.address, "memory"),
        },
    })
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

impl<'p> FrameContent<'p> {
    fn of(symbols: &'p Symbols, names: &'p Column<FunctionId, String>, frame: &Frame) -> Self {
        let (function, mapping) = (&symbols.functions[frame.function], &symbols.mappings[frame.mapping]);
        let text = |id| symbols.strings.get(id);
        FrameContent {
            function: &names[frame.function],
            system_name: text(function.name),
            file: text(function.file),
            start: (function.line, function.column),
            line: frame.line,
            mapping: text(mapping.file),
            build_id: text(mapping.build_id),
            address: address(symbols, frame),
            inlined: frame.inlined,
        }
    }

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
