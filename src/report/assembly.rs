//! The report of `source --asm`.

use serde::Serialize;

use crate::report::{Header, Name};

/// The instructions of functions with their values.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Assembly {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The functions that match, the heaviest first.
    pub functions: Vec<AssemblyFunction>,
}

/// The instructions of a function. A compiler may put a function into several places of a binary.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AssemblyFunction {
    /// Its unique name in the profile.
    pub name: Name,
    /// Its name in the binary.
    pub symbol: String,
    /// The file that was read.
    pub binary: String,
    /// Its first address, as the linker counts it, and the address after it, both in hexadecimal: `0x4caa00`.
    pub start: String,
    /// The address after it.
    pub end: String,
    /// The value of the samples that were taken in its code, inlined functions included.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples with its code on their stack, each counted once.
    pub total: i64,
    /// Whether the function goes on after the last instruction: it is too long to be shown whole.
    pub cut: bool,
    /// Its instructions in order.
    pub instructions: Vec<AssemblyLine>,
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AssemblyLine {
    /// Its address, as the linker counts it, in hexadecimal.
    pub address: String,
    /// The value of the samples that were taken at it.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// The value of the samples with it on their stack, each counted once.
    pub total: i64,
    /// The instruction, as GNU's tools write it.
    pub instruction: String,
    /// The source file; null if unknown.
    pub file: Option<Name>,
    /// The line in it, from 1; null if unknown.
    pub line: Option<u32>,
    /// The text of the line; null if the source was not found.
    pub text: Option<Name>,
}
