//! Binaries: looks up the functions at an address of a program or a library.
//!
//! Profiles often contain only addresses. [`Binary`] reads an ELF, Mach-O or PE file and converts a profile's address
//! to the file's address space. [`functions`] looks it up in the debug information, which has lines and inlined
//! functions, or else in the symbol table, which only has names.
//!
//! Nothing here opens a file: bytes come in as an [`object::ReadRef`], and only the parts that are needed are read.

mod build_id;
mod code;
mod debug_files;
mod decode;
mod file;
mod instruction;
mod kallsyms;
mod lines;
mod pdb;
mod place;
mod split;
mod symbols;
mod unwind;

pub use build_id::{BuildId, same_build_id};
pub use code::{Code, FunctionCode, NoCode, code};
pub use debug_files::DebugFiles;
pub use file::Binary;
pub use instruction::Instruction;
pub use kallsyms::{KernelSymbols, kernel_start};
pub use pdb::Pdb;
pub use place::{Address, CodePlace};
pub use split::SplitPart;
pub use unwind::{Machine, Registers, StackMemory, Step, UnwindTable};

use object::ReadRef;

use crate::binary::lines::{LineTable, Sections};
use crate::binary::symbols::FunctionTable;

/// The name for jumps to functions of other libraries, after the section of the procedure linkage table.
const JUMP: &str = ".plt";

/// Looks up the functions at each of `addresses`, innermost first: all but the last were inlined. Empty for
/// unknown addresses.
pub fn functions<'data, R: ReadRef<'data>>(
    binary: &Binary<'data, R>,
    files: &DebugFiles<'_, 'data, R>,
    addresses: &[Address],
) -> Vec<Vec<CodePlace>> {
    let both = [Some(binary), files.debug];
    let both: Vec<_> = both.into_iter().flatten().collect();
    let linked: Vec<u64> = addresses.iter().filter_map(|&address| binary.linked(address)).collect();
    let sections = Sections::of(binary, files, &linked);
    let lines = sections.as_ref().and_then(LineTable::new);
    let symbols = FunctionTable::of(&both);
    let mini = binary.mini_debug_info();
    let mini = mini.as_deref().and_then(|bytes| Binary::parse(bytes).ok());
    let mini: Vec<&Binary<&[u8]>> = mini.iter().collect();
    let internal = FunctionTable::of(&mini);
    let symbol_at = |address: u64| symbols.at(address).or_else(|| internal.at(address));
    let find = |&address: &Address| {
        let Some(linked) = binary.linked(address) else { return Vec::new() };
        let mut places = lines.as_ref().map_or_else(Vec::new, |lines| lines.at(linked));
        let mut outermost = places.pop().unwrap_or_default();
        if is_bare(&outermost.function)
            && let Some(symbol) = symbol_at(linked)
            && is_fuller(&symbol, &outermost.function)
        {
            outermost.function = symbol;
        }
        if outermost.function.is_empty() && symbols.is_jump(linked) {
            outermost.function = JUMP.to_string();
        }
        places.push(outermost);
        places.retain(|place| !place.function.is_empty());
        places
    };
    addresses.iter().map(find).collect()
}

/// Whether a name from debug information lacks the module or class of the function. With `debug = "line-tables-only"`,
/// Rust functions have names such as `new` and `parse<u32>`.
fn is_bare(name: &str) -> bool {
    let head = name.split('<').next().unwrap_or_default();
    !head.contains("::") && !head.contains('(')
}

/// Whether `symbol` is the qualified form of the name `bare`. If it is not, it is a different function with identical
/// code, which the linker merged. Assembly code has lines but no functions, so `bare` may be empty.
fn is_fuller(symbol: &str, bare: &str) -> bool {
    let head = bare.split('<').next().unwrap_or_default();
    bare.is_empty() || symbol.contains("::") && (head.starts_with('{') || symbol.contains(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_qualified_only_by_the_same_name() {
        for (bare, symbol, want) in [
            ("parse<u32>", "server::parse::<u32>", true),
            ("{closure#0}", "server::main::{{closure}}", true),
            ("", "memcpy", true),
            ("work", "work.part.0", false),
            ("first", "server::second", false),
            ("server::parse", "server::parse::<u32>", false),
            ("work(int)", "server::work(int)", false),
        ] {
            assert_eq!(is_bare(bare) && is_fuller(symbol, bare), want, "{bare} {symbol}");
        }
    }
}
