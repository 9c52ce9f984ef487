//! Finding the caller of a function in saved registers and stack memory, by the rules that compilers write for exceptions
//! (`.eh_frame`) and debuggers (`.debug_frame`).

use std::rc::Rc;

use addr2line::gimli::{
    self, BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, Encoding, EndianSlice, Evaluation,
    EvaluationResult, Location, Register, RegisterRule, RunTimeEndian, UnwindContext, UnwindExpression,
    UnwindOffset, UnwindSection, Value, Vendor,
};
use hashbrown::HashMap;
use object::{Architecture, Object, ObjectSection, ReadRef};

use crate::binary::Binary;
use crate::binary::file::Segments;

/// The processor that code is for, and with it the numbers of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
}

impl Machine {
    /// The number of the frame pointer, the stack pointer, and the return address in DWARF.
    fn numbers(self) -> (usize, usize, usize) {
        match self {
            Machine::X86_64 => (6, 7, 16),
            Machine::Aarch64 => (29, 31, 30),
        }
    }
}

/// The registers of a function that runs, or that waits for one that it called.
#[derive(Clone, Debug)]
pub struct Registers {
    machine: Machine,
    /// The address of the instruction that runs, or to which the called function returns.
    pub pc: u64,
    /// Whether the instruction at `pc` runs, or was interrupted by a signal: `pc` is not a return address.
    pub is_exact: bool,
    /// By their number in DWARF; `None` if unknown.
    values: [Option<u64>; 33],
}

impl Registers {
    /// The registers of a function that runs, all unknown.
    pub fn new(machine: Machine, pc: u64) -> Registers {
        Registers { machine, pc, is_exact: true, values: [None; 33] }
    }

    /// Sets the register with a number in DWARF; others are ignored.
    pub fn set(&mut self, number: usize, value: u64) {
        if let Some(register) = self.values.get_mut(number) {
            *register = Some(value);
        }
    }

    fn get(&self, register: Register) -> Option<u64> {
        // Rules of jumps into other libraries depend on how far a jump got: on x86-64, the register of the return address
        // means the instruction that runs.
        if self.machine == Machine::X86_64 && usize::from(register.0) == self.machine.numbers().2 {
            return Some(self.pc);
        }
        self.values.get(usize::from(register.0)).copied().flatten()
    }

    /// The stack pointer.
    pub fn stack_pointer(&self) -> Option<u64> {
        self.values[self.machine.numbers().1]
    }

    /// An address within the instruction that runs or that called.
    pub fn code_address(&self) -> u64 {
        self.pc.saturating_sub(u64::from(!self.is_exact))
    }

    /// The registers of the caller if frames are linked by their frame pointers, as in code that has no rules: the frame has
    /// the caller's frame pointer and the return address.
    pub fn caller_by_frame_pointer(&self, stack: StackMemory<'_>) -> Option<Registers> {
        let (frame, stack_pointer, _) = self.machine.numbers();
        let at = self.values[frame]?;
        if at < self.stack_pointer()? {
            return None;
        }
        let mut caller = Registers { is_exact: false, values: [None; 33], ..*self };
        caller.values[frame] = Some(stack.at(at)?);
        caller.values[stack_pointer] = Some(at.checked_add(16)?);
        caller.pc = code_pointer(self.machine, stack.at(at.checked_add(8)?)?);
        (caller.pc != 0).then_some(caller)
    }
}

/// On AArch64, the upper bits of return addresses may be a signature.
fn code_pointer(machine: Machine, address: u64) -> u64 {
    match machine {
        Machine::X86_64 => address,
        Machine::Aarch64 => address & (u64::MAX >> 16),
    }
}

/// A copy of a thread's stack.
#[derive(Clone, Copy, Debug)]
pub struct StackMemory<'a> {
    /// The address of its first byte.
    pub start: u64,
    /// Its contents.
    pub bytes: &'a [u8],
    /// The byte order.
    pub is_big_endian: bool,
}

impl StackMemory<'_> {
    /// The 64 bits at an address; `None` if they were not copied.
    pub fn at(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(offset..)?.first_chunk()?;
        Some(if self.is_big_endian { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) })
    }
}

/// A step from a function to its caller.
#[derive(Clone, Debug)]
pub enum Step {
    /// The registers of the caller.
    Caller(Box<Registers>),
    /// The function has no caller: a thread starts here.
    Outermost,
    /// The rules refer to memory or registers that were not recorded.
    Lost,
    /// There are no rules for the address.
    NoRules,
}

/// The rules of a binary.
pub struct UnwindTable {
    machine: Machine,
    flavour: Flavour,
    segments: Segments,
    sections: Vec<CallFrames>,
    /// The rules at addresses that were looked up.
    rules: HashMap<u64, Option<Rc<Rules>>>,
}

/// A section with rules.
struct CallFrames {
    is_eh_frame: bool,
    bytes: Vec<u8>,
    bases: BaseAddresses,
    /// Where functions start and end, and where their rules are, in the order of their starts.
    functions: Vec<(u64, u64, usize)>,
}

/// The rules at an address.
#[derive(Clone, Debug)]
struct Rules {
    /// The number of the section, which has the expressions.
    section: usize,
    encoding: Encoding,
    /// The canonical frame address: the stack pointer before the call.
    cfa: CfaRule<usize>,
    registers: Vec<(Register, RegisterRule<usize>)>,
    return_address: Register,
    /// Whether the caller is code that a signal interrupted.
    is_signal: bool,
}

type Bytes<'s> = EndianSlice<'s, RunTimeEndian>;

/// The byte order, and whose extensions rules may use.
type Flavour = (RunTimeEndian, Vendor);

impl UnwindTable {
    /// The rules of a binary, and of the file that its debug information was moved to. `None` if it is for a processor that
    /// is not supported, or has none.
    pub fn new<'data, R: ReadRef<'data>>(
        binary: &Binary<'data, R>,
        debug: Option<&Binary<'data, R>>,
    ) -> Option<UnwindTable> {
        let machine = match binary.file.architecture() {
            Architecture::X86_64 => Machine::X86_64,
            Architecture::Aarch64 => Machine::Aarch64,
            _ => return None,
        };
        let endian = if binary.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let vendor = if machine == Machine::Aarch64 { Vendor::AArch64 } else { Vendor::Default };
        let flavour = (endian, vendor);
        let address = |name: &str| binary.file.section_by_name(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let debug_frame =
            [Some(binary), debug].into_iter().flatten().map(|file| file.section(".debug_frame"));
        let sections =
            [(true, binary.section(".eh_frame"))].into_iter().chain(debug_frame.map(|bytes| (false, bytes)));
        let sections = sections.filter(|(_, bytes)| !bytes.is_empty()).map(|(is_eh_frame, bytes)| {
            let mut section = CallFrames {
                is_eh_frame,
                bytes: bytes.into_owned(),
                bases: bases.clone(),
                functions: Vec::new(),
            };
            section.functions = section.index(flavour);
            section
        });
        let sections: Vec<CallFrames> = sections.collect();
        (!sections.is_empty()).then(|| UnwindTable {
            machine,
            flavour,
            segments: binary.segments.clone(),
            sections,
            rules: HashMap::new(),
        })
    }

    /// Goes to the caller of a function, whose code is at `offset` in the file.
    pub fn caller(&mut self, offset: u64, registers: &Registers, stack: StackMemory<'_>) -> Step {
        let Some(address) = self.segments.linked(offset).filter(|_| registers.machine == self.machine) else {
            return Step::NoRules;
        };
        let Some(rules) = self.rules(address) else { return Step::NoRules };
        self.apply(&rules, registers, stack)
    }

    fn rules(&mut self, address: u64) -> Option<Rc<Rules>> {
        if let Some(known) = self.rules.get(&address) {
            return known.clone();
        }
        let mut sections = self.sections.iter().enumerate();
        let found =
            sections.find_map(|(number, section)| section.rules(number, address, self.flavour)).map(Rc::new);
        self.rules.insert(address, found.clone());
        found
    }

    fn apply(&self, rules: &Rules, registers: &Registers, stack: StackMemory<'_>) -> Step {
        let evaluate = |expression: &UnwindExpression<usize>, cfa: Option<u64>| {
            self.evaluate(rules, expression, cfa, registers, stack)
        };
        let cfa = match &rules.cfa {
            CfaRule::RegisterAndOffset { register, offset } => {
                registers.get(*register).map(|value| value.wrapping_add_signed(*offset))
            }
            CfaRule::Expression(expression) => evaluate(expression, None),
        };
        let Some(cfa) = cfa else { return Step::Lost };
        let (_, stack_pointer, return_address) = self.machine.numbers();
        // What has no rule keeps its value.
        let mut caller = Registers { is_exact: rules.is_signal, ..registers.clone() };
        caller.set(stack_pointer, cfa);
        if self.machine == Machine::X86_64 {
            caller.values[return_address] = None;
        }
        let mut is_outermost = false;
        for (register, rule) in &rules.registers {
            let value = match rule {
                RegisterRule::Undefined => {
                    is_outermost |= *register == rules.return_address;
                    None
                }
                RegisterRule::Offset(offset) => stack.at(cfa.wrapping_add_signed(*offset)),
                RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
                RegisterRule::Register(other) => registers.get(*other),
                RegisterRule::Expression(expression) => {
                    evaluate(expression, Some(cfa)).and_then(|address| stack.at(address))
                }
                RegisterRule::ValExpression(expression) => evaluate(expression, Some(cfa)),
                RegisterRule::SameValue | RegisterRule::Architectural | RegisterRule::Constant(_) => continue,
            };
            if let Some(known) = caller.values.get_mut(usize::from(register.0)) {
                *known = value;
            }
        }
        if is_outermost {
            return Step::Outermost;
        }
        let pc = caller.values.get(usize::from(rules.return_address.0)).copied().flatten();
        let Some(pc) = pc else { return Step::Lost };
        caller.pc = code_pointer(self.machine, pc);
        if caller.pc == 0 {
            return Step::Outermost;
        }
        Step::Caller(Box::new(caller))
    }

    /// Evaluates an expression, whose stack starts with the canonical frame address, if that is known.
    fn evaluate(
        &self,
        rules: &Rules,
        expression: &UnwindExpression<usize>,
        cfa: Option<u64>,
        registers: &Registers,
        stack: StackMemory<'_>,
    ) -> Option<u64> {
        /// Real expressions have a dozen operations.
        const MOST_STEPS: u32 = 1000;
        let bytes = &self.sections[rules.section].bytes;
        let end = expression.offset.checked_add(expression.length)?;
        let bytes = EndianSlice::new(bytes.get(expression.offset..end)?, self.flavour.0);
        let mut evaluation = Evaluation::new(bytes, rules.encoding);
        evaluation.set_max_iterations(MOST_STEPS);
        if let Some(cfa) = cfa {
            evaluation.set_initial_value(cfa);
        }
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(registers.get(register)?))
                }
                EvaluationResult::RequiresMemory { address, size: 8, .. } => {
                    evaluation.resume_with_memory(Value::Generic(stack.at(address)?))
                }
                EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(cfa?),
                _ => return None,
            }
            .ok()?;
        }
        match evaluation.as_result() {
            [gimli::Piece { location: Location::Address { address }, .. }] => Some(*address),
            _ => None,
        }
    }
}

impl CallFrames {
    fn eh_frame(&self, (endian, vendor): Flavour) -> EhFrame<Bytes<'_>> {
        let mut section = EhFrame::new(&self.bytes, endian);
        section.set_vendor(vendor);
        section
    }

    fn debug_frame(&self, (endian, vendor): Flavour) -> DebugFrame<Bytes<'_>> {
        let mut section = DebugFrame::new(&self.bytes, endian);
        section.set_vendor(vendor);
        section
    }

    /// Finds all functions. What follows a corrupt entry is left out.
    fn index(&self, flavour: Flavour) -> Vec<(u64, u64, usize)> {
        let mut functions = if self.is_eh_frame {
            functions(&self.eh_frame(flavour), &self.bases)
        } else {
            functions(&self.debug_frame(flavour), &self.bases)
        };
        functions.sort_unstable();
        functions
    }

    fn rules(&self, number: usize, address: u64, flavour: Flavour) -> Option<Rules> {
        let after = self.functions.partition_point(|function| function.0 <= address);
        let &(_, end, at) = self.functions.get(after.checked_sub(1)?)?;
        if address >= end {
            return None;
        }
        if self.is_eh_frame {
            rules_at(&self.eh_frame(flavour), &self.bases, at, number, address)
        } else {
            rules_at(&self.debug_frame(flavour), &self.bases, at, number, address)
        }
    }
}

fn functions<'s, S>(section: &S, bases: &BaseAddresses) -> Vec<(u64, u64, usize)>
where
    S: UnwindSection<Bytes<'s>>,
    S::Offset: UnwindOffset<usize> + std::hash::Hash + Eq,
{
    let mut common = HashMap::new();
    let mut entries = section.entries(bases);
    let mut functions = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let parsed = partial.parse(|section, bases, offset| {
            if let Some(known) = common.get(&offset) {
                return Clone::clone(known);
            }
            let cie = section.cie_from_offset(bases, offset);
            common.insert(offset, cie.clone());
            cie
        });
        // A length of 0 marks functions that the linker removed.
        if let Ok(entry) = parsed
            && entry.len() > 0
        {
            let start = entry.initial_address();
            functions.push((start, start.saturating_add(entry.len()), entry.offset()));
        }
    }
    functions
}

fn rules_at<'s, S>(
    section: &S,
    bases: &BaseAddresses,
    at: usize,
    number: usize,
    address: u64,
) -> Option<Rules>
where
    S: UnwindSection<Bytes<'s>>,
    S::Offset: UnwindOffset<usize>,
{
    let function = section.fde_from_offset(bases, S::Offset::from(at), S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = function.unwind_info_for_address(section, bases, &mut context, address).ok()?;
    Some(Rules {
        section: number,
        encoding: function.cie().encoding(),
        cfa: row.cfa().clone(),
        registers: row.registers().cloned().collect(),
        return_address: function.cie().return_address_register(),
        is_signal: function.is_signal_trampoline(),
    })
}
