//! Symbol tables: names of functions with their start and, usually, their end.

use std::cmp::Reverse;

use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, ReadRef, SectionKind, SymbolIndex, SymbolKind,
};

use crate::binary::Binary;
use crate::name::demangle;

/// Functions by their start address.
pub(super) struct FunctionTable<'b, 'data, R: ReadRef<'data>> {
    symbols: Vec<Symbol>,
    binaries: &'b [&'b Binary<'data, R>],
    /// Where sections with code start and end: no function goes beyond.
    sections: Vec<(u64, u64)>,
    /// Those of them that hold jumps into other libraries. They have no symbols.
    jumps: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u64,
    /// 0 if the table does not say, as in Mach-O and of code written in assembly.
    size: u64,
    is_global: bool,
    is_weak: bool,
    /// Where its name is: which binary, which of its tables, which row.
    binary: usize,
    is_dynamic: bool,
    index: SymbolIndex,
}

/// How far back to look for a function that goes on behind others that start after it.
const MOST_NESTED: usize = 16;

impl<'b, 'data, R: ReadRef<'data>> FunctionTable<'b, 'data, R> {
    /// The functions of all `binaries`, which are parts of one: debug information and the code itself.
    pub(super) fn of(binaries: &'b [&'b Binary<'data, R>]) -> Self {
        let mut table =
            FunctionTable { symbols: Vec::new(), binaries, sections: Vec::new(), jumps: Vec::new() };
        for number in 0..binaries.len() {
            table.add(number);
        }
        table.symbols.sort_by_key(|symbol| symbol.start);
        table.sections.sort_unstable();
        table
    }

    fn add(&mut self, number: usize) {
        let file = &self.binaries[number].file;
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            let range = (section.address(), section.address().saturating_add(section.size()));
            self.sections.push(range);
            if section.name_bytes().is_ok_and(|name| name.starts_with(b".plt")) {
                self.jumps.push(range);
            }
        }
        let is_code = |symbol: &object::Symbol<'data, '_, R>| {
            let in_code = || {
                let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
                section.is_some_and(|section| section.kind() == SectionKind::Text)
            };
            match symbol.kind() {
                SymbolKind::Text => true,
                // Functions of assembly whose author did not say that they are.
                SymbolKind::Unknown | SymbolKind::Label => symbol.is_global() && in_code(),
                _ => false,
            }
        };
        for (is_dynamic, symbols) in [(false, file.symbols()), (true, file.dynamic_symbols())] {
            for symbol in symbols.filter(|symbol| symbol.is_definition() && is_code(symbol)) {
                self.symbols.push(Symbol {
                    start: symbol.address(),
                    size: symbol.size(),
                    is_global: symbol.is_global(),
                    is_weak: symbol.is_weak(),
                    binary: number,
                    is_dynamic,
                    index: symbol.index(),
                });
            }
        }
    }

    /// The name of the function at `address`. An address past the end of a function has none: the
    /// functions of a stripped library that it does not export stay unknown rather than going by the
    /// name of the one before.
    pub(super) fn at(&self, address: u64) -> Option<String> {
        let behind = self.symbols.partition_point(|symbol| symbol.start <= address);
        let mut end = behind;
        for _ in 0..MOST_NESTED {
            let start = self.symbols.get(end.checked_sub(1)?)?.start;
            let first = self.symbols[..end].partition_point(|symbol| symbol.start < start);
            let here = self.symbols[first..end].iter().filter(|symbol| match symbol.size {
                0 => end == behind && self.is_one_section(start, address),
                size => address - start < size,
            });
            if let Some((_, name)) = here.filter_map(|symbol| self.ranked(symbol)).min() {
                return Some(demangle(&name).into_owned());
            }
            end = first;
        }
        None
    }

    /// Whether `address` is in a jump into another library.
    pub(super) fn is_jump(&self, address: u64) -> bool {
        self.jumps.iter().any(|&(start, end)| (start..end).contains(&address))
    }

    fn is_one_section(&self, start: u64, address: u64) -> bool {
        let behind = self.sections.partition_point(|&(section, _)| section <= start);
        behind.checked_sub(1).is_some_and(|at| address < self.sections[at].1)
    }

    /// Of several names for one place, the smallest is the best known: global ones before local ones,
    /// these before weak ones, few underscores, short.
    fn ranked(&self, symbol: &Symbol) -> Option<(impl Ord + use<R>, String)> {
        let name = self.name(symbol)?;
        let underscores = name.bytes().take_while(|&byte| byte == b'_').count();
        let rank =
            (Reverse(symbol.size > 0), Reverse(symbol.is_global), symbol.is_weak, underscores, name.len());
        Some((rank, name))
    }

    fn name(&self, symbol: &Symbol) -> Option<String> {
        let file = &self.binaries[symbol.binary].file;
        let table = if symbol.is_dynamic { file.dynamic_symbol_table() } else { file.symbol_table() };
        let row = table?.symbol_by_index(symbol.index).ok()?;
        let name = String::from_utf8_lossy(row.name_bytes().ok()?).into_owned();
        // Marks of the instruction set, such as `$x`, are not names.
        if name.is_empty() || name.starts_with('$') {
            return None;
        }
        let is_mach = matches!(file.format(), object::BinaryFormat::MachO);
        Some(if is_mach { name.strip_prefix('_').map(str::to_string).unwrap_or(name) } else { name })
    }
}
