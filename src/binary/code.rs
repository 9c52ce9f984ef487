//! The machine code of functions, as instructions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use object::{Architecture, Object, ObjectSection, ReadRef};

use crate::binary::debug_files::DebugFiles;
use crate::binary::decode;
use crate::binary::file::Binary;
use crate::binary::instruction::{Instruction, InstructionSet};
use crate::binary::lines::{LineTable, Sections};
use crate::binary::place::{Address, CodePlace};
use crate::binary::symbols::FunctionTable;

/// The code of some functions of a binary.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The functions, by address.
    pub functions: Vec<FunctionCode>,
    /// Each address that was asked for, as the linker counts it; `None` if it is outside the file.
    pub linked: Vec<Option<u64>>,
}

/// The code of a function.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// Its name in the binary, demangled.
    pub name: String,
    /// Its first address, as the linker counts it.
    pub start: u64,
    /// The address after it.
    pub end: u64,
    /// Its instructions, in order.
    pub instructions: Vec<Instruction>,
}

/// Why a binary has no instructions to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCode {
    /// There is no disassembler for this architecture.
    Architecture(String),
    /// The program was built without disassembler.
    NotBuilt,
    /// No symbol says where the functions start and end.
    NoSymbol,
    /// The file has the symbols, but not the code.
    Missing,
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCode::Architecture(name) => write!(f, "its code is for {name}, not for x86 or AArch64"),
            NoCode::NotBuilt => {
                f.write_str("prof was built without its disassembler (feature `disassembly`)")
            }
            NoCode::NoSymbol => f.write_str(
                "it has no symbol at these addresses, so nothing says where the function starts and ends",
            ),
            NoCode::Missing => f.write_str("it has no code at these addresses, only symbols"),
        }
    }
}

/// The most bytes of a function that are disassembled: a corrupt symbol may claim any size.
const MOST_BYTES: u64 = 1 << 20;

/// The most bytes of all functions together.
const MOST_BYTES_OF_ALL: u64 = 16 << 20;

/// Disassembles the functions at `addresses`.
pub fn code<'data, R: ReadRef<'data>>(
    binary: &Binary<'data, R>,
    files: &DebugFiles<'_, 'data, R>,
    addresses: &[Address],
) -> Result<Code, NoCode> {
    let machine = InstructionSet::of(binary)?;
    let both: Vec<_> = [Some(binary), files.debug].into_iter().flatten().collect();
    let symbols = FunctionTable::of(&both);
    let linked: Vec<Option<u64>> = addresses.iter().map(|&address| binary.linked(address)).collect();
    let mut extents = BTreeMap::new();
    for &address in linked.iter().flatten() {
        // Most addresses are in functions that are known already.
        let known = extents.range(..=address).next_back().is_some_and(|(_, (end, _))| address < *end);
        if !known && let Some((name, range)) = symbols.extent(address) {
            extents.insert(range.start, (range.end, name));
        }
    }
    if extents.is_empty() {
        return Err(NoCode::NoSymbol);
    }
    let known: Vec<u64> = linked.iter().flatten().copied().collect();
    let sections = Sections::of(binary, files, &known);
    let lines = sections.as_ref().and_then(LineTable::new);
    let mut files = Files::default();
    let mut functions = Vec::new();
    let mut left = MOST_BYTES_OF_ALL;
    for (start, (end, name)) in extents {
        let size = (end - start).min(MOST_BYTES).min(left);
        let Some(bytes) = binary.code_at(start, size).filter(|bytes| !bytes.is_empty()) else { continue };
        left -= bytes.len() as u64;
        let called = |address: u64| {
            let (name, range) = symbols.extent(address)?;
            match address - range.start {
                0 => Some(name),
                _ if range.start == start => None,
                offset => Some(format!("{name}+{offset:#x}")),
            }
        };
        let mut instructions = decode::instructions(machine, bytes, start, &called);
        if let Some(lines) = &lines {
            for instruction in &mut instructions {
                instruction.place =
                    lines.at(instruction.address).first().and_then(|place| files.place(place));
            }
        }
        functions.push(FunctionCode { name, start, end, instructions });
    }
    if functions.is_empty() { Err(NoCode::Missing) } else { Ok(Code { functions, linked }) }
}

/// The names of source files, each once.
#[derive(Default)]
struct Files(BTreeMap<String, Arc<str>>);

impl Files {
    fn place(&mut self, place: &CodePlace) -> Option<(Arc<str>, u32)> {
        if place.file.is_empty() || place.line == 0 {
            return None;
        }
        if let Some(file) = self.0.get(&place.file) {
            return Some((file.clone(), place.line));
        }
        let file: Arc<str> = Arc::from(&*place.file);
        self.0.insert(place.file.clone(), file.clone());
        Some((file, place.line))
    }
}

impl InstructionSet {
    fn of<'data, R: ReadRef<'data>>(binary: &Binary<'data, R>) -> Result<Self, NoCode> {
        if !cfg!(feature = "disassembly") {
            return Err(NoCode::NotBuilt);
        }
        match binary.file.architecture() {
            Architecture::X86_64 | Architecture::X86_64_X32 => Ok(InstructionSet::X86(64)),
            Architecture::I386 => Ok(InstructionSet::X86(32)),
            Architecture::Aarch64 if binary.is_little_endian() => Ok(InstructionSet::Aarch64),
            other => Err(NoCode::Architecture(format!("{other:?}"))),
        }
    }
}

impl<'data, R: ReadRef<'data>> Binary<'data, R> {
    /// At most `size` bytes of code from an address on, as far as the file has them.
    fn code_at(&self, start: u64, size: u64) -> Option<&'data [u8]> {
        let section = self.file.sections().find(|section| {
            let offset = start.checked_sub(section.address());
            section.kind() == object::SectionKind::Text
                && offset.is_some_and(|offset| offset < section.size())
        })?;
        let size = size.min(section.size() - (start - section.address()));
        section.data_range(start, size).ok().flatten()
    }
}
