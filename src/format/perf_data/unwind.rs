//! Unwinding stacks that were recorded as raw memory, with registers (`perf record --call-graph dwarf`).

use std::sync::Arc;

use hashbrown::HashMap;

use crate::binary::{Machine, Registers, StackMemory, Step, UnwindTable};
use crate::format::RecordedFiles;
use crate::format::fields::Fields;
use crate::format::perf_data::maps::Space;
use crate::name::{base_name, quoted};
use crate::profile::{Mapping, MappingId, ProfileBuilder};
use crate::unit::plural;

/// No stack is deeper.
const DEEPEST: usize = 8192;

/// The number of binaries that the warning names.
const NAMED: usize = 3;

/// The user registers and the stack of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dump<'a> {
    /// The bits of the registers that were recorded, in perf's order.
    pub(super) mask: u64,
    /// Their values, 64 bits each.
    pub(super) registers: Fields<'a>,
    /// The memory from the stack pointer on.
    pub(super) stack: &'a [u8],
    pub(super) is_big_endian: bool,
}

/// Finds the callers of samples.
pub(super) struct Unwinder {
    files: Option<Arc<dyn RecordedFiles>>,
    machine: Option<Machine>,
    /// The rules of each file, if they were found.
    tables: HashMap<MappingId, Option<UnwindTable>>,
    /// How many stacks there were.
    stacks: u64,
    /// How many of them end in a file that was not found.
    missing: HashMap<MappingId, u64>,
    /// How many of them go on in memory that was not copied.
    too_short: u64,
}

impl Unwinder {
    /// An unwinder for recordings of a machine whose processor is called `architecture`, as `uname -m` does.
    pub(super) fn new(files: Option<Arc<dyn RecordedFiles>>, architecture: &str) -> Unwinder {
        let machine = match architecture {
            "x86_64" => Some(Machine::X86_64),
            "aarch64" => Some(Machine::Aarch64),
            _ => None,
        };
        Unwinder { files, machine, tables: HashMap::new(), stacks: 0, missing: HashMap::new(), too_short: 0 }
    }

    /// The addresses of the functions on a stack, innermost first; empty if it cannot be unwound.
    pub(super) fn unwind(&mut self, builder: &ProfileBuilder, space: &Space, dump: Dump<'_>) -> Vec<u64> {
        let (Some(_), Some(machine)) = (&self.files, self.machine) else { return Vec::new() };
        let Some(mut registers) = registers(machine, dump) else { return Vec::new() };
        let Some(start) = registers.stack_pointer() else { return Vec::new() };
        let stack = StackMemory { start, bytes: dump.stack, is_big_endian: dump.is_big_endian };
        self.stacks += 1;
        let mut addresses = Vec::new();
        while addresses.len() < DEEPEST {
            let address = registers.code_address();
            let map = space.at(address);
            // What is no code is not a return address; but what runs is shown, wherever it is.
            if map.is_some() || addresses.is_empty() {
                addresses.push(address);
            }
            let Some(map) = map else { break };
            let step = if map.is_anonymous {
                Step::NoRules
            } else {
                match self.table(builder, map.mapping) {
                    Some(table) => table.caller(map.offset_of(address), &registers, stack),
                    None => {
                        *self.missing.entry(map.mapping).or_default() += 1;
                        break;
                    }
                }
            };
            let caller = match step {
                Step::Caller(caller) => Some(*caller),
                Step::Outermost => break,
                // Compiled code and assembly code may have frame pointers instead.
                Step::NoRules => registers.caller_by_frame_pointer(stack),
                Step::Lost => {
                    self.too_short += 1;
                    None
                }
            };
            // A caller's frame is further up, unless the innermost function has none; otherwise the stack is corrupt.
            let is_innermost = addresses.len() == 1;
            let moves = |caller: &Registers| {
                caller.stack_pointer() > registers.stack_pointer()
                    || is_innermost && caller.stack_pointer() == registers.stack_pointer()
            };
            match caller.filter(moves) {
                Some(caller) => registers = caller,
                None => break,
            }
        }
        addresses
    }

    fn table(&mut self, builder: &ProfileBuilder, mapping: MappingId) -> Option<&mut UnwindTable> {
        let files = self.files.as_ref()?;
        let find = || {
            let Mapping { build_id, .. } = builder.mapping_row(mapping);
            files.unwind_table(builder.mapping_file(mapping), builder.text(build_id))
        };
        self.tables.entry(mapping).or_insert_with(find).as_mut()
    }

    /// What to know about the stacks of the recording called `name`, which has stacks as raw memory.
    pub(super) fn warnings(&self, builder: &ProfileBuilder, name: &str) -> Vec<String> {
        let name = if name.is_empty() || name == "-" { "perf.data".to_string() } else { quoted(name) };
        let command = format!("perf script -i {name} | prof top");
        if self.stacks == 0 {
            return vec![format!(
                "stacks were recorded as raw memory (--call-graph dwarf), and none could be unwound; on the recorded \
                 machine, perf unwinds them: {command}"
            )];
        }
        let mut warnings = Vec::new();
        let missing: u64 = self.missing.values().sum();
        if missing > 0 {
            let mut files: Vec<(u64, &str)> = self
                .missing
                .iter()
                .map(|(&mapping, &count)| (count, builder.mapping_file(mapping)))
                .collect();
            files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
            let more = files.len().saturating_sub(NAMED);
            let mut names: Vec<String> = files
                .iter()
                .take(NAMED)
                .map(|(count, file)| format!("{} {count}", base_name(file)))
                .collect();
            if more > 0 {
                names.push(format!("{more} more"));
            }
            warnings.push(format!(
                "{missing} of {} stacks are incomplete: they end in a binary that was not found, or is another build ({}); \
                 name the binaries, or a folder of them, with --binary PATH, or let perf unwind the stacks on the recorded \
                 machine: {command}",
                self.stacks,
                names.join(", ")
            ));
        }
        if self.too_short > 0 {
            warnings.push(format!(
                "{} of {} {} deeper than the memory that was copied; record more of it, for example with --call-graph \
                 dwarf,32768",
                self.too_short,
                self.stacks,
                plural(self.stacks, "stack is", "stacks are")
            ));
        }
        warnings
    }
}

/// The registers of a sample, in DWARF's order.
fn registers(machine: Machine, dump: Dump<'_>) -> Option<Registers> {
    let mut values = dump.registers;
    let mut registers = Registers::new(machine, 0);
    let mut pc = None;
    for bit in (0..64).filter(|bit| dump.mask >> bit & 1 == 1) {
        let value = values.u64()?;
        match number(machine, bit) {
            PerfRegister::Number(number) => registers.set(number, value),
            PerfRegister::Instruction => pc = Some(value),
            PerfRegister::Other => {}
        }
    }
    registers.pc = pc?;
    Some(registers)
}

enum PerfRegister {
    /// The number in DWARF.
    Number(usize),
    /// The address of the instruction that runs.
    Instruction,
    /// Flags and segments.
    Other,
}

/// The register of a bit.
fn number(machine: Machine, bit: usize) -> PerfRegister {
    /// perf's order is ax, bx, cx, dx, si, di, bp, sp.
    const X86_64: [usize; 8] = [0, 3, 2, 1, 4, 5, 6, 7];
    match (machine, bit) {
        (Machine::X86_64, 0..8) => PerfRegister::Number(X86_64[bit]),
        (Machine::X86_64, 8) | (Machine::Aarch64, 32) => PerfRegister::Instruction,
        (Machine::X86_64, 16..24) => PerfRegister::Number(bit - 8),
        (Machine::Aarch64, 0..32) => PerfRegister::Number(bit),
        _ => PerfRegister::Other,
    }
}
