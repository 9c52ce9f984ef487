//! Symbol tables: names of functions with their start and, usually, their end.

use std::cmp::Reverse;
use std::ops::Range;

use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, ReadRef, SectionKind, SymbolIndex, SymbolKind,
};

use crate::binary::file::Binary;
use crate::name::demangle;

/// Functions by their start address.
pub(super) struct FunctionTable<'b, 'data, R: ReadRef<'data>> {
    symbols: Vec<Symbol>,
    binaries: &'b [&'b Binary<'data, R>],
    /// The address ranges of code sections, beyond which no function extends.
    sections: Vec<(u64, u64)>,
    /// The sections that contain jumps into other libraries, which have no symbols.
    jumps: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u64,
    /// 0 if unknown, as in Mach-O and for assembly code.
    size: u64,
    is_global: bool,
    is_weak: bool,
    /// Where its name is: the binary, the table, the row.
    binary: usize,
    is_dynamic: bool,
    index: SymbolIndex,
}

/// How many symbols to search backwards for a function that contains others.
const MAX_NESTED: usize = 16;

impl<'b, 'data, R: ReadRef<'data>> FunctionTable<'b, 'data, R> {
    /// The functions of all `binaries`, which belong together: the code and its debug information.
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
                // Assembly functions whose symbols were not declared as functions.
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

    /// The name of the function at `address`. An address after the end of a function has none, so internal functions of a
    /// stripped library do not get the name of the preceding function.
    pub(super) fn at(&self, address: u64) -> Option<String> {
        self.find(address).map(|(_, name)| demangle(&name).into_owned())
    }

    /// The name of the function at `address`, and the addresses that belong to it. They end with the section, whatever size the
    /// symbol claims.
    pub(super) fn extent(&self, address: u64) -> Option<(String, Range<u64>)> {
        let (symbol, name) = self.find(address)?;
        let section = self.sections.partition_point(|&(section, _)| section <= symbol.start);
        let section_end = self.sections.get(section.checked_sub(1)?)?.1;
        let end = match symbol.size {
            0 => {
                let next = self.symbols.partition_point(|other| other.start <= symbol.start);
                self.symbols.get(next).map_or(section_end, |next| next.start)
            }
            size => symbol.start.saturating_add(size),
        };
        let end = end.min(section_end).max(symbol.start);
        Some((demangle(&name).into_owned(), symbol.start..end))
    }

    fn find(&self, address: u64) -> Option<(Symbol, String)> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let mut end = after;
        for _ in 0..MAX_NESTED {
            let start = self.symbols.get(end.checked_sub(1)?)?.start;
            let first = self.symbols[..end].partition_point(|symbol| symbol.start < start);
            let here = self.symbols[first..end].iter().filter(|symbol| match symbol.size {
                0 => end == after && self.is_one_section(start, address),
                size => address - start < size,
            });
            let ranked = here.filter_map(|symbol| self.ranked(symbol).map(|ranked| (ranked, *symbol)));
            if let Some(((_, name), symbol)) = ranked.min_by(|(a, _), (b, _)| a.cmp(b)) {
                return Some((symbol, name));
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
        let after = self.sections.partition_point(|&(section, _)| section <= start);
        after.checked_sub(1).is_some_and(|at| address < self.sections[at].1)
    }

    /// A key by which to choose among several names for the same address; the smallest is preferred: global before local
    /// before weak ones, then few underscores, then short ones.
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
        // Mapping symbols, such as `$x`, mark the instruction set and are not names.
        if name.is_empty() || name.starts_with('$') {
            return None;
        }
        let is_mach = matches!(file.format(), object::BinaryFormat::MachO);
        Some(if is_mach { name.strip_prefix('_').map(str::to_string).unwrap_or(name) } else { name })
    }
}
