//! Profiles that begin with their symbols, as `pprof --raw` of gperftools, jeprof and ClickHouse write them.
//!
//! ```text
//! --- symbol
//! binary=/usr/bin/server
//! 0x00000000004066f4 main--work
//! 0x000000000043a1c5 parse
//! ---
//! --- heap
//! heap profile: …
//! ```
//!
//! Of functions that are inlined into one another, the caller comes first. What follows the last line is the profile as it was
//! recorded, which for `--- profile` is a binary CPU profile.

use hashbrown::HashMap;

use crate::format::LoadError;
use crate::format::pprof_legacy::recorder::AddressSymbol;
use crate::format::text::{Lines, Scan};
use crate::name::demangle;

/// The first line.
pub(super) const HEADER: &[u8] = b"--- symbol";

/// What follows the symbols.
pub(super) enum Next {
    /// A binary CPU profile.
    Cpu,
    /// The text of a profile, of which the current line is the first.
    Text,
    /// Nothing.
    End,
}

/// Reads the symbols after the first line, and the line that names the profile after them.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<(HashMap<u64, Vec<AddressSymbol>>, Next), LoadError> {
    let mut symbols = HashMap::new();
    while lines.advance()? && !lines.line().starts_with(b"---") {
        if let Some((address, names)) = symbol(lines.line()) {
            symbols.insert(address, names);
        }
    }
    let next = if !lines.advance()? {
        Next::End
    } else if is_name(lines.line(), &[b"profile", b"censusprofile"]) {
        Next::Cpu
    } else if is_name(lines.line(), &[b"heap", b"growth"]) && !lines.advance()? {
        Next::End
    } else {
        Next::Text
    };
    Ok((symbols, next))
}

/// Whether a line is one of the names after `---`.
fn is_name(line: &[u8], names: &[&[u8]]) -> bool {
    line.trim_ascii().strip_prefix(b"--- ").is_some_and(|name| names.contains(&name.trim_ascii()))
}

/// Parses `0x4066f4 main--work`. Other lines, such as `binary=/usr/bin/server`, name no address.
fn symbol(line: &[u8]) -> Option<(u64, Vec<AddressSymbol>)> {
    line.strip_prefix(b"0x")?;
    let mut scan = Scan(line);
    let address = scan.hex()?;
    let text = String::from_utf8_lossy(scan.0.trim_ascii());
    // Innermost first.
    let names = text.rsplit("--").map(str::trim).filter(|name| !name.is_empty());
    let symbol = |name| AddressSymbol { function: demangle(name).into_owned(), file: String::new(), line: 0 };
    let symbols: Vec<AddressSymbol> = names.map(symbol).collect();
    Some((address, symbols)).filter(|(_, symbols)| !symbols.is_empty())
}
