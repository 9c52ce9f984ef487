//! The tables of a thread that describe its stacks, by column.
//!
//! ```text
//! main;work;+helper      [stack] 2 ─frame→ +helper ─func→ helper ─resource→ app
//!                         └prefix→ 1 ─frame→ work    …
//!                                  └prefix→ 0 ─frame→ main
//! ```
//!
//! Frames that have an address but no name are named after the address, which tells the profiler that it can
//! look up the symbol.

use std::borrow::Cow;

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::format::numbering::Numbering;
use crate::name::base_name;
use crate::profile::{Column, FrameId, FunctionId, Mapping, MappingId, Profile, StackId, unnamed};

/// The binaries and libraries of a profile, each listed once even if it was mapped several times.
pub(super) struct WrittenLibs {
    of_mapping: Column<MappingId, Option<u32>>,
    mappings: Vec<Mapping>,
}

impl WrittenLibs {
    pub(super) fn of(profile: &Profile) -> WrittenLibs {
        let mut numbers = Numbering::default();
        let mut mappings = Vec::new();
        let of_mapping = profile.symbols.mappings.iter().map(|mapping| {
            let key = (mapping.file, mapping.build_id);
            (key != Default::default()).then(|| numbers.number(key, |_| mappings.push(*mapping)))
        });
        WrittenLibs { of_mapping: of_mapping.collect(), mappings }
    }

    /// The rows of the list of libraries.
    pub(super) fn rows(&self, profile: &Profile) -> Vec<Value> {
        let text = |id| profile.symbols.strings.get(id);
        let row = |mapping: &Mapping| {
            let (path, build_id) = (text(mapping.file), text(mapping.build_id));
            let name = base_name(path);
            let (breakpad_id, code_id) = ids(build_id);
            json!({
                "name": name, "path": path, "debugName": name, "debugPath": path,
                "breakpadId": breakpad_id, "codeId": code_id, "arch": null,
            })
        };
        self.mappings.iter().map(row).collect()
    }
}

/// The two ids of a build: Breakpad's, with 32 digits and an age, and the linker's if it is different. Breakpad treats
/// the first half of an ELF build id as a GUID, in which the bytes of the first three numbers are reversed. An id
/// with 32 digits is already a GUID.
fn ids(build_id: &str) -> (String, Option<&str>) {
    if build_id.is_empty() || !build_id.is_ascii() {
        return (String::new(), Some(build_id).filter(|id| !id.is_empty()));
    }
    if build_id.len() == 32 {
        return (format!("{}0", build_id.to_ascii_uppercase()), None);
    }
    let padded = format!("{build_id:0<32}").to_ascii_uppercase();
    let swapped = |from: usize, to: usize| (from..to).step_by(2).rev().map(|at| &padded[at..at + 2]);
    let guid: String = swapped(0, 8).chain(swapped(8, 12)).chain(swapped(12, 16)).collect();
    (format!("{guid}{}0", &padded[16..32]), Some(build_id))
}

/// A column in which every cell is null; it takes no memory.
type Nulls = Vec<()>;

/// All tables of a thread except the samples.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadTables<'p> {
    string_array: Vec<Cow<'p, str>>,
    stack_table: StackColumns,
    frame_table: FrameColumns,
    func_table: FunctionColumns,
    resource_table: ResourceColumns,
    native_symbols: NativeSymbols,
    /// Whether every frame has a name.
    #[serde(skip)]
    pub(super) is_symbolicated: bool,
}

#[derive(Default, Serialize)]
struct StackColumns {
    length: usize,
    prefix: Vec<Option<u32>>,
    frame: Vec<u32>,
    category: Vec<u8>,
    subcategory: Vec<u8>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameColumns {
    length: usize,
    /// Relative to the library; −1 for none.
    address: Vec<i64>,
    inline_depth: Vec<u32>,
    category: Vec<u8>,
    subcategory: Vec<u8>,
    func: Vec<u32>,
    native_symbol: Nulls,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Nulls,
    implementation: Nulls,
    line: Vec<Option<u32>>,
    column: Nulls,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionColumns {
    length: usize,
    name: Vec<u32>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    /// −1 for none.
    resource: Vec<i64>,
    file_name: Vec<Option<u32>>,
    line_number: Vec<Option<u32>>,
    column_number: Vec<Option<u32>>,
}

#[derive(Default, Serialize)]
struct ResourceColumns {
    length: usize,
    lib: Vec<u32>,
    name: Vec<u32>,
    host: Nulls,
    #[serde(rename = "type")]
    kind: Vec<u8>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NativeSymbols {
    length: usize,
    address: Nulls,
    function_size: Nulls,
    lib_index: Nulls,
    name: Nulls,
}

/// A resource that is a library.
const LIBRARY: u8 = 1;

/// The categories of frames, in the order in which the file lists them.
const USER: u8 = 1;
const KERNEL: u8 = 2;
const IDLE: u8 = 3;

impl<'p> ThreadTables<'p> {
    /// The tables of the stacks of `rows`, and the index of each row's stack.
    pub(super) fn of(
        profile: &'p Profile,
        libs: &WrittenLibs,
        rows: &[usize],
    ) -> (ThreadTables<'p>, Vec<Option<u32>>) {
        let mut maker = TablesBuilder::new(profile, libs);
        let mut stacks: HashMap<StackId, Option<u32>> = HashMap::new();
        let stack = |&row: &usize| {
            let stack = profile.samples.stack[row];
            *stacks.entry(stack).or_insert_with(|| maker.stack(stack))
        };
        let of_rows = rows.iter().map(stack).collect();
        (maker.finish(), of_rows)
    }
}

/// Tables that are being filled.
struct TablesBuilder<'a, 'p> {
    profile: &'p Profile,
    libs: &'a WrittenLibs,
    tables: ThreadTables<'p>,
    strings: Numbering<Cow<'p, str>>,
    stacks: Numbering<(Option<u32>, u32)>,
    frames: Numbering<(FrameId, u32)>,
    /// Functions are identified by name and library, or by address if they have no name.
    functions: Numbering<(FunctionId, Option<u32>, Option<i64>)>,
    resources: Numbering<u32>,
}

impl<'a, 'p> TablesBuilder<'a, 'p> {
    fn new(profile: &'p Profile, libs: &'a WrittenLibs) -> Self {
        TablesBuilder {
            profile,
            libs,
            tables: ThreadTables { is_symbolicated: true, ..ThreadTables::default() },
            strings: Numbering::default(),
            stacks: Numbering::default(),
            frames: Numbering::default(),
            functions: Numbering::default(),
            resources: Numbering::default(),
        }
    }

    fn finish(self) -> ThreadTables<'p> {
        let mut tables = self.tables;
        tables.stack_table.subcategory = vec![0; tables.stack_table.length];
        let frames = &mut tables.frame_table;
        frames.subcategory = vec![0; frames.length];
        frames.native_symbol = vec![(); frames.length];
        frames.inner_window_id = vec![(); frames.length];
        frames.implementation = vec![(); frames.length];
        frames.column = vec![(); frames.length];
        tables.resource_table.host = vec![(); tables.resource_table.length];
        tables
    }

    fn string(&mut self, text: Cow<'p, str>) -> u32 {
        let strings = &mut self.tables.string_array;
        self.strings.number(text, |text| strings.push(text.clone()))
    }

    /// The index of a stack; `None` if it has no frames.
    fn stack(&mut self, stack: StackId) -> Option<u32> {
        let mut prefix = None;
        let mut depth = 0;
        for &frame in self.profile.stacks.frames(stack) {
            let is_inlined = self.profile.symbols.frames[frame].inlined;
            depth = if is_inlined { depth + 1 } else { 0 };
            let frame = self.frame(frame, depth);
            let category = self.tables.frame_table.category[frame as usize];
            let table = &mut self.tables.stack_table;
            prefix = Some(self.stacks.number((prefix, frame), |_| {
                table.length += 1;
                table.prefix.push(prefix);
                table.frame.push(frame);
                table.category.push(category);
            }));
        }
        prefix
    }

    fn frame(&mut self, id: FrameId, depth: u32) -> u32 {
        if let Some(number) = self.frames.known(&(id, depth)) {
            return number;
        }
        let frame = self.profile.symbols.frames[id];
        let address = relative_address(frame.address, &self.profile.symbols.mappings[frame.mapping]);
        let func = self.function(frame.function, frame.mapping, address);
        let category = self.category(frame.function, frame.mapping);
        let table = &mut self.tables.frame_table;
        self.frames.number((id, depth), |_| {
            table.length += 1;
            table.address.push(address.unwrap_or(-1));
            table.inline_depth.push(depth);
            table.category.push(category);
            table.func.push(func);
            table.line.push(known(frame.line));
        })
    }

    fn function(&mut self, id: FunctionId, mapping: MappingId, address: Option<i64>) -> u32 {
        let symbols = &self.profile.symbols;
        let (function, name, file) =
            (symbols.functions[id], symbols.function_name(id), symbols.function_file(id));
        let is_unnamed = file.is_empty() && name == unnamed(symbols.mapping_file(mapping));
        let address = address.filter(|_| is_unnamed);
        let lib = self.libs.of_mapping[mapping];
        let key = (id, lib, address);
        if let Some(number) = self.functions.known(&key) {
            return number;
        }
        self.tables.is_symbolicated &= address.is_none();
        let name = self.string(address.map_or(name.into(), |address| format!("{address:#x}").into()));
        let file_name = (!file.is_empty()).then(|| self.string(file.into()));
        let resource = lib.map_or(-1, |lib| i64::from(self.resource(lib)));
        let table = &mut self.tables.func_table;
        self.functions.number(key, |_| {
            table.length += 1;
            table.name.push(name);
            table.is_js.push(function.by_place);
            table.relevant_for_js.push(false);
            table.resource.push(resource);
            table.file_name.push(file_name);
            table.line_number.push(known(function.line));
            table.column_number.push(known(function.column));
        })
    }

    fn resource(&mut self, lib: u32) -> u32 {
        let path = self.profile.symbols.strings.get(self.libs.mappings[lib as usize].file);
        let name = self.string(base_name(path).into());
        let table = &mut self.tables.resource_table;
        self.resources.number(lib, |_| {
            table.length += 1;
            table.lib.push(lib);
            table.name.push(name);
            table.kind.push(LIBRARY);
        })
    }

    fn category(&self, function: FunctionId, mapping: MappingId) -> u8 {
        let symbols = &self.profile.symbols;
        let binary = symbols.mapping_file(mapping);
        let is_kernel = ["[kernel", "[guest.kernel"].iter().any(|kernel| binary.starts_with(kernel))
            || base_name(binary).starts_with("vmlinux")
            || base_name(binary).rsplit_once('.').is_some_and(|(_, ending)| ending == "ko");
        match symbols.function_name(function) {
            "(idle)" => IDLE,
            _ if is_kernel => KERNEL,
            _ => USER,
        }
    }
}

/// A line or column, if known.
fn known(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number > 0)
}

/// An address relative to the start of its library; `None` if it is unknown or too large for a number in JSON.
fn relative_address(address: u64, mapping: &Mapping) -> Option<i64> {
    let relative = relative_to(address, mapping);
    i64::try_from(relative).ok().filter(|_| relative > 0 && !is_too_large(address, mapping))
}

/// Whether an address is too large for a number in JSON, as those of the kernel are if it is not known where that was loaded.
pub(super) fn is_too_large(address: u64, mapping: &Mapping) -> bool {
    relative_to(address, mapping) >= 1 << f64::MANTISSA_DIGITS
}

fn relative_to(address: u64, mapping: &Mapping) -> u64 {
    let is_inside = (mapping.start..mapping.limit).contains(&address);
    if is_inside { (address - mapping.start).saturating_add(mapping.offset) } else { address }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpad_id_is_made_of_a_build_id() {
        // samply wrote this Breakpad id next to the build id.
        let (breakpad, code) = ids("7544444e7eeafbb5a7ecaf94fc3ebebd2b986846");
        assert_eq!(breakpad, "4E444475EA7EB5FBA7ECAF94FC3EBEBD0");
        assert_eq!(code, Some("7544444e7eeafbb5a7ecaf94fc3ebebd2b986846"));
        assert_eq!(ids("d12836bdd27ae760ac2c4a9c17e09df5").1, None);
        assert_eq!(ids("beef"), ("0000EFBE0000000000000000000000000".into(), Some("beef")));
    }

    #[test]
    fn addresses_are_relative_to_their_library() {
        let mapping = Mapping { start: 0x1000, limit: 0x2000, offset: 0x10, ..Mapping::default() };
        assert_eq!(relative_address(0x1234, &mapping), Some(0x244));
        assert_eq!(relative_address(0x44, &Mapping::default()), Some(0x44));
        assert_eq!(relative_address(0, &mapping), None);
        assert_eq!(relative_address(u64::MAX, &Mapping::default()), None);
    }
}
