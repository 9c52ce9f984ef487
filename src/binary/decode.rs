//! Decoding machine code, written as GNU's tools write it (x86 in AT&T syntax).

use crate::binary::instruction::{Instruction, InstructionSet};

/// The instructions of `bytes`, the first of which is at `start`. `called` names the code at other addresses.
#[cfg(feature = "disassembly")]
pub(super) fn instructions(
    machine: InstructionSet,
    bytes: &[u8],
    start: u64,
    called: &dyn Fn(u64) -> Option<String>,
) -> Vec<Instruction> {
    match machine {
        InstructionSet::X86(bits) => x86::instructions(bits, bytes, start, called),
        InstructionSet::Aarch64 => aarch64::instructions(bytes, start, called),
    }
}

/// Without disassembler, no machine is known.
#[cfg(not(feature = "disassembly"))]
pub(super) fn instructions(
    _machine: InstructionSet,
    _bytes: &[u8],
    _start: u64,
    _called: &dyn Fn(u64) -> Option<String>,
) -> Vec<Instruction> {
    Vec::new()
}

/// Bytes that are no instruction.
#[cfg(feature = "disassembly")]
const BAD: &str = "(bad)";

/// A jump or call: `call 0x401000 <main.mix>`.
#[cfg(feature = "disassembly")]
fn with_target(text: String, target: u64, called: &dyn Fn(u64) -> Option<String>) -> String {
    match called(target) {
        Some(name) => format!("{text} <{name}>"),
        None => text,
    }
}

#[cfg(feature = "disassembly")]
mod x86 {
    use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, OpKind};

    use crate::binary::decode::{BAD, with_target};
    use crate::binary::instruction::Instruction;

    pub(super) fn instructions(
        bits: u32,
        bytes: &[u8],
        start: u64,
        called: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<Instruction> {
        let mut formatter = GasFormatter::new();
        let options = formatter.options_mut();
        options.set_uppercase_hex(false);
        options.set_small_hex_numbers_in_decimal(false);
        options.set_branch_leading_zeros(false);
        options.set_rip_relative_addresses(true);
        let mut decoder = Decoder::with_ip(bits, bytes, start, DecoderOptions::NONE);
        let mut found = Vec::new();
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let mut text = String::new();
            if instruction.is_invalid() {
                text.push_str(BAD);
            } else {
                formatter.format(&instruction, &mut text);
                let is_branch = matches!(
                    instruction.op0_kind(),
                    OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
                );
                if is_branch {
                    text = with_target(text, instruction.near_branch_target(), called);
                } else if instruction.is_ip_rel_memory_operand() {
                    let address = instruction.ip_rel_memory_address();
                    text = with_target(format!("{text} # {address:#x}"), address, called);
                }
            }
            let (address, size) = (instruction.ip(), instruction.len() as u32);
            found.push(Instruction { address, size, text, place: None });
        }
        found
    }
}

#[cfg(feature = "disassembly")]
mod aarch64 {
    use yaxpeax_arch::{Decoder, U8Reader};
    use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode, Operand};

    use crate::binary::decode::{BAD, with_target};
    use crate::binary::instruction::Instruction;

    /// Every instruction has four bytes.
    const SIZE: usize = 4;

    pub(super) fn instructions(
        bytes: &[u8],
        start: u64,
        called: &dyn Fn(u64) -> Option<String>,
    ) -> Vec<Instruction> {
        let decoder = InstDecoder::default();
        let words = bytes.chunks_exact(SIZE).enumerate();
        let decode = |(number, word): (usize, &[u8])| {
            let address = start.wrapping_add((number * SIZE) as u64);
            let text = match decoder.decode(&mut U8Reader::new(word)) {
                Err(_) => BAD.to_string(),
                Ok(instruction) => {
                    let text = corrected(instruction.to_string(), word);
                    let offset = instruction.operands.iter().find_map(|operand| match operand {
                        Operand::PCOffset(offset) => Some(*offset),
                        _ => None,
                    });
                    match offset {
                        None => text,
                        Some(offset) => {
                            // `adrp` counts pages of 4 KiB.
                            let is_page = instruction.opcode == Opcode::ADRP;
                            let base = if is_page { address & !0xfff } else { address };
                            let target = base.wrapping_add_signed(offset);
                            with_target(absolute(&text, target), target, called)
                        }
                    }
                }
            };
            Instruction { address, size: SIZE as u32, text, place: None }
        };
        words.map(decode).collect()
    }

    /// Mends what the decoder writes wrongly: of the register of `msr` it reads four bits of five, and it leaves out that a register
    /// of 32 bits is extended: `add x2, x21, w2, uxtw`.
    fn corrected(text: String, word: &[u8]) -> String {
        let Some((name, operands)) = text.split_once(' ') else { return text };
        let operands: Vec<&str> = operands.split(", ").collect();
        if name == "msr" && operands.get(1).is_some_and(|register| register.starts_with('x')) {
            return match word[0] & 31 {
                31 => format!("{name} {}, xzr", operands[0]),
                register => format!("{name} {}, x{register}", operands[0]),
            };
        }
        let is_wide = operands[0].starts_with('x') || operands[0] == "sp";
        if !is_wide || !["add", "adds", "sub", "subs", "cmp", "cmn"].contains(&name) {
            return text;
        }
        match operands[..] {
            [.., last] if last.starts_with('w') => format!("{text}, uxtw"),
            [.., register, shift] if register.starts_with('w') && shift.starts_with("lsl") => {
                text.replace(shift, &shift.replace("lsl", "uxtw"))
            }
            _ => text,
        }
    }

    /// `bl $-0x453bc` with the address that it means.
    fn absolute(text: &str, target: u64) -> String {
        let Some(at) = text.find('$') else { return text.to_string() };
        let length = text[at..].find([',', ' ', ']']).unwrap_or(text.len() - at);
        format!("{}{target:#x}{}", &text[..at], &text[at + length..])
    }
}

#[cfg(all(test, feature = "disassembly"))]
mod tests {
    use super::*;

    /// As GNU's assembler encodes and `objdump` writes them.
    #[test]
    fn registers_that_the_decoder_reads_wrongly() {
        for (word, expected) in [
            (0x8b22_42a2_u32, "add x2, x21, w2, uxtw"),
            (0xcb24_5284, "sub x4, x20, w4, uxtw #4"),
            (0xeb22_42bf, "cmp x21, w2, uxtw"),
            (0x8b02_0020, "add x0, x1, x2"),
            (0x0b02_0020, "add w0, w1, w2"),
            (0xd51b_d053, "msr tpidr_el0, x19"),
            (0xd51b_d05f, "msr tpidr_el0, xzr"),
        ] {
            let found = aarch64::instructions(&word.to_le_bytes(), 0, &|_| None);
            assert_eq!(found[0].text, expected);
        }
    }
}
