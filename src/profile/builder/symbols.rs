//! Building the symbols of a profile.

use crate::name::is_script;
use crate::profile::builder::ProfileBuilder;
use crate::profile::stacks::AT_ONCE;
use crate::profile::{Frame, FrameId, Function, FunctionId, Mapping, MappingId, StringId, unnamed};

impl ProfileBuilder {
    /// Reserves space for functions, their names, and frames. Growing the tables step by step took 3 % of the time
    /// for a fleet.
    pub(crate) fn expect(&mut self, functions: usize, frames: usize) {
        self.tables.symbols.reserve(functions, frames);
    }

    /// The id of `text`.
    pub fn string(&mut self, text: &str) -> StringId {
        if self.is_full(text.len()) {
            return StringId::default();
        }
        self.tables.symbols.symbols.strings.intern(text)
    }

    /// The text of `id`.
    pub fn text(&self, id: StringId) -> &str {
        self.tables.symbols.symbols.strings.get(id)
    }

    /// The id of a mapping.
    pub fn mapping(&mut self, mapping: Mapping) -> MappingId {
        if self.is_full(0) {
            return MappingId::default();
        }
        self.tables.symbols.mapping(mapping)
    }

    /// The id of a mapping of which only the path of the file is known; that of the unknown mapping if the path is empty.
    pub fn named_mapping(&mut self, path: &str) -> MappingId {
        if path.is_empty() {
            return MappingId::default();
        }
        let file = self.string(path);
        self.mapping(Mapping { file, ..Mapping::default() })
    }

    /// All mappings but the unknown one.
    pub(crate) fn mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.tables.symbols.symbols.mappings.iter().skip(1)
    }

    /// The row of `mapping`.
    pub fn mapping_row(&self, mapping: MappingId) -> Mapping {
        self.tables.symbols.symbols.mappings[mapping]
    }

    /// The path of the file of a mapping; empty if unknown.
    pub fn mapping_file(&self, mapping: MappingId) -> &str {
        self.tables.symbols.symbols.mapping_file(mapping)
    }

    /// The id of a function.
    pub fn function(&mut self, function: Function) -> FunctionId {
        if self.is_full(0) && !self.tables.symbols.symbols.functions.is_empty() {
            return FunctionId::default();
        }
        self.tables.symbols.function(function)
    }

    /// The id of a function of which only the name, and perhaps the file, is known.
    pub fn named_function(&mut self, name: &str, file: &str) -> FunctionId {
        let (name, file) = (self.string(name), self.string(file));
        self.function(Function { name, file, line: 0, column: 0, by_place: false })
    }

    /// The id of a function that starts at `line`, if that is known. Each script may have a `main` of its own, so that its file is
    /// part of what it is; native functions between those of scripts are known by their names.
    pub fn script_function(&mut self, name: &str, file: &str, line: u32) -> FunctionId {
        let (name, file, by_place) = (self.string(name), self.string(file), is_script(file));
        self.function(Function { name, file, line, column: 0, by_place })
    }

    /// The placeholder function for all unnamed code of a mapping: `[libc.so.6]`, or `<unknown>` if the mapping has
    /// no file either.
    pub fn unnamed_function(&mut self, mapping: MappingId) -> FunctionId {
        if let Some(known) = self.tables.symbols.placeholder(mapping) {
            return known;
        }
        let name = unnamed(self.mapping_file(mapping));
        let function = self.named_function(&name, "");
        if self.too_large.is_none() {
            self.tables.symbols.set_placeholder(mapping, function);
        }
        function
    }

    /// The id of a frame.
    pub fn frame(&mut self, frame: Frame) -> FrameId {
        if self.is_full(0) && !self.tables.symbols.symbols.frames.is_empty() {
            return FrameId::default();
        }
        self.tables.symbols.frame(frame)
    }

    /// The ids of several frames, which takes less time than looking them up one by one.
    pub(crate) fn frames(&mut self, frames: &[Frame]) -> Vec<FrameId> {
        let mut ids = Vec::with_capacity(frames.len());
        for some in frames.chunks(AT_ONCE) {
            if self.is_full(size_of_val(some)) && !self.tables.symbols.symbols.frames.is_empty() {
                ids.resize(ids.len() + some.len(), FrameId::default());
            } else {
                self.tables.symbols.frames(some, &mut ids);
            }
        }
        ids
    }

    /// The id of a frame of which only the function's name is known.
    pub fn named_frame(&mut self, name: &str) -> FrameId {
        let function = self.named_function(name, "");
        self.frame(Frame { function, ..Frame::default() })
    }

    /// The row of `function`.
    pub fn function_row(&self, function: FunctionId) -> Function {
        self.tables.symbols.symbols.functions[function]
    }

    /// The row of `frame`.
    pub fn frame_row(&self, frame: FrameId) -> Frame {
        self.tables.symbols.symbols.frames[frame]
    }

    /// The name of the function of `frame`.
    pub fn frame_name(&self, frame: FrameId) -> &str {
        self.tables.symbols.symbols.frame_name(frame)
    }
}
