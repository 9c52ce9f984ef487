//! Instructions, and the sets of them that can be disassembled.

use std::sync::Arc;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address, as the linker counts it.
    pub address: u64,
    /// Its size in bytes.
    pub size: u32,
    /// Mnemonic and operands; `(bad)` for bytes that are none.
    pub text: String,
    /// The source file and the line, counted from 1, that it belongs to.
    pub place: Option<(Arc<str>, u32)>,
}

/// The instruction sets that can be disassembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstructionSet {
    /// 32 or 64 bits.
    X86(u32),
    Aarch64,
}
