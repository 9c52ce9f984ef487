//! What frames are made of: functions, files, lines, addresses, mappings.

use hashbrown::HashMap;

use crate::profile::{Column, FrameId, FunctionId, MappingId, StringId, Strings, unnamed};

/// A function, as far as the format knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// Its full name; empty where the format has none.
    pub name: StringId,
    /// Its source file, or the script's URL; empty where unknown.
    pub file: StringId,
    /// The line it starts at, from 1; 0 where unknown.
    pub line: u32,
    /// The column it starts at, from 1; 0 where unknown.
    pub column: u32,
    /// Whether the place is part of what tells functions apart. A JavaScript file has twenty
    /// functions called `(anonymous)`, told apart by line and column only; a Go function is its
    /// name.
    pub by_place: bool,
}

/// One frame of a stack: a function at a line, at an address, in a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Frame {
    /// The function that was executing.
    pub function: FunctionId,
    /// The line it was at, from 1; 0 where unknown.
    pub line: u32,
    /// The instruction's address; 0 where unknown. Of callers, one within the call rather than the one
    /// that it returns to, except where names came with the addresses, as in the text of `perf script`.
    pub address: u64,
    /// The binary or library it belongs to; id 0 where unknown.
    pub mapping: MappingId,
    /// Whether the compiler inlined this frame into the next one towards the root.
    pub inlined: bool,
}

/// A binary or library that was mapped into the program's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mapping {
    /// Path of the file; empty where unknown.
    pub file: StringId,
    /// The linker's build id in hexadecimal; empty where unknown.
    pub build_id: StringId,
    /// First address of the mapping.
    pub start: u64,
    /// First address after the mapping.
    pub limit: u64,
    /// Offset in the file of the first mapped byte.
    pub offset: u64,
    /// What the addresses of its frames count from.
    pub addresses: Addresses,
}

/// What the addresses of frames count from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Addresses {
    /// The memory of the program, where the mapping's file starts at `start`. A mapping without start
    /// and offset is one whose addresses are those that the linker gave out.
    #[default]
    Memory,
    /// The first byte of the file.
    File,
    /// The start of the binary in memory, wherever it was.
    Image,
}

/// All names of a profile: strings, mappings, functions, frames, each distinct row once.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The text behind every [`StringId`].
    pub strings: Strings,
    /// Binaries and libraries; row 0 stands for "unknown".
    pub mappings: Column<MappingId, Mapping>,
    /// Functions.
    pub functions: Column<FunctionId, Function>,
    /// Frames.
    pub frames: Column<FrameId, Frame>,
}

impl Symbols {
    /// The name of `function`.
    pub fn function_name(&self, function: FunctionId) -> &str {
        self.strings.get(self.functions[function].name)
    }

    /// The name of the function of `frame`.
    pub fn frame_name(&self, frame: FrameId) -> &str {
        self.function_name(self.frames[frame].function)
    }

    /// The source file of `function`; empty where unknown.
    pub fn function_file(&self, function: FunctionId) -> &str {
        self.strings.get(self.functions[function].file)
    }

    /// Which frames have an address and no name: their function says only which binary they are in.
    pub fn unnamed_frames(&self) -> Column<FrameId, bool> {
        let stands_for_binary = self.functions.map(|function| {
            let name = self.strings.get(function.name);
            (function.line, function.file) == (0, StringId::default())
                && (name.starts_with('[') || name == unnamed(""))
        });
        if !stands_for_binary.iter().any(|&stands| stands) {
            return Column::filled(false, self.frames.len());
        }
        self.frames.map(|frame| {
            stands_for_binary[frame.function]
                && frame.address != 0
                && frame.line == 0
                && self.function_name(frame.function) == unnamed(self.mapping_file(frame.mapping))
        })
    }

    /// The path of the file of `mapping`; empty where unknown.
    pub fn mapping_file(&self, mapping: MappingId) -> &str {
        self.strings.get(self.mappings[mapping].file)
    }
}

impl Default for Symbols {
    fn default() -> Self {
        Symbols {
            strings: Strings::new(),
            mappings: Column::from_iter([Mapping::default()]),
            functions: Column::new(),
            frames: Column::new(),
        }
    }
}

/// Symbols while they are being collected: equal rows get equal ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct SymbolTable {
    pub(crate) symbols: Symbols,
    function_ids: HashMap<Function, FunctionId>,
    frame_ids: HashMap<Frame, FrameId>,
    mapping_ids: HashMap<Mapping, MappingId>,
}

impl SymbolTable {
    /// About how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        let Symbols { strings, mappings, functions, frames } = &self.symbols;
        strings.size()
            + mappings.len() * size_of::<Mapping>()
            + functions.len() * size_of::<Function>()
            + frames.len() * size_of::<Frame>()
            + self.function_ids.allocation_size()
            + self.frame_ids.allocation_size()
            + self.mapping_ids.allocation_size()
    }

    pub(crate) fn function(&mut self, function: Function) -> FunctionId {
        let table = &mut self.symbols.functions;
        *self.function_ids.entry(function).or_insert_with(|| table.push(function))
    }

    pub(crate) fn frame(&mut self, frame: Frame) -> FrameId {
        let table = &mut self.symbols.frames;
        *self.frame_ids.entry(frame).or_insert_with(|| table.push(frame))
    }

    pub(crate) fn mapping(&mut self, mapping: Mapping) -> MappingId {
        if mapping == Mapping::default() {
            return MappingId::default();
        }
        let table = &mut self.symbols.mappings;
        *self.mapping_ids.entry(mapping).or_insert_with(|| table.push(mapping))
    }
}
