//! The files that debug information may be in, besides the binary itself.

use object::ReadRef;

use crate::binary::file::Binary;
use crate::binary::split::SplitPart;

/// The files that may have the debug information of a binary.
pub struct DebugFiles<'b, 'data, R: ReadRef<'data>> {
    /// The file that it was moved to.
    pub debug: Option<&'b Binary<'data, R>>,
    /// The file that has what several binaries share (`.gnu_debugaltlink`).
    pub common: Option<&'b Binary<'data, R>>,
    /// The package that has what the compiler left in files of their own (`.dwp`).
    pub package: Option<&'b Binary<'data, R>>,
    /// Reads such a file (`.dwo`), given its path.
    pub part: &'b dyn Fn(&str) -> Option<SplitPart>,
}

impl<'data, R: ReadRef<'data>> DebugFiles<'_, 'data, R> {
    /// No files: debug information is in the binary itself, or nowhere.
    pub const NONE: Self = DebugFiles { debug: None, common: None, package: None, part: &|_| None };
}
