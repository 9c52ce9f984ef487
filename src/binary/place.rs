//! Places in a binary: addresses, and the functions and lines there.

/// An address in a binary; profiles use different base addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// Relative to the first byte of the file.
    File(u64),
    /// Relative to the address at which the binary was linked to start.
    Image(u64),
    /// In the linker's address space: the addresses that `nm` and `addr2line` use.
    Linked(u64),
}

/// A function at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodePlace {
    /// Its name, demangled; never empty.
    pub function: String,
    /// The source file that `line` is in; empty if unknown.
    pub file: String,
    /// The line at which it starts, counted from 1; 0 if unknown.
    pub start_line: u32,
    /// The line of the address, or of the call that was inlined there, counted from 1; 0 if unknown.
    pub line: u32,
}
