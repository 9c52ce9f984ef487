//! The instructions, and the traces that consist of them.

use crate::name::demangle;
use crate::profile::{Frame, FrameId, Mapping, MappingId, ProfileBuilder, StackId, StringId};

/// Strings, instructions and traces are numbered from 1 on; 0 stands for none.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub(super) strings: Vec<StringId>,
    /// Where the frames of each instruction end in `frames`.
    ends: Vec<u32>,
    /// The frames of all instructions, innermost first.
    frames: Vec<FrameId>,
    /// The instruction of each trace and the trace of its caller.
    nodes: Vec<(u32, u32)>,
    /// The frames of a stack.
    stack: Vec<FrameId>,
}

impl Traces {
    /// Adds an instruction of which functions, files and lines are known, innermost first; the last one is not inlined.
    pub(super) fn add_instruction(
        &mut self,
        builder: &mut ProfileBuilder,
        address: u64,
        module: u32,
        places: &[(u32, u32, u32)],
    ) -> Option<()> {
        let mapping = match self.string(module) {
            file if file == StringId::default() => MappingId::default(),
            file => builder.mapping(Mapping { file, ..Mapping::default() }),
        };
        let unknown = [(0, 0, 0)];
        let places = if places.is_empty() { &unknown } else { places };
        for (index, &(function, file, line)) in places.iter().enumerate() {
            let (name, file) = (self.string(function), self.string(file));
            let function = if name == StringId::default() {
                builder.unnamed_function(mapping)
            } else {
                let name = demangle(builder.text(name)).into_owned();
                let file = builder.text(file).to_string();
                builder.named_function(&name, &file)
            };
            let inlined = index + 1 < places.len();
            self.frames.push(builder.frame(Frame { function, line, address, mapping, inlined }));
        }
        self.end_instruction()
    }

    /// Adds an instruction of which only the module is known, and returns its number.
    pub(super) fn add_frame(&mut self, frame: FrameId) -> Option<u32> {
        self.frames.push(frame);
        self.end_instruction()?;
        u32::try_from(self.ends.len()).ok()
    }

    fn end_instruction(&mut self) -> Option<()> {
        self.ends.push(u32::try_from(self.frames.len()).ok()?);
        Some(())
    }

    pub(super) fn add(&mut self, instruction: u32, parent: u32) -> Option<()> {
        // A caller comes before its callees, so that there are no cycles.
        if parent as usize > self.nodes.len() || instruction as usize > self.ends.len() {
            return None;
        }
        self.nodes.push((instruction, parent));
        Some(())
    }

    /// The instruction of each trace and the trace of its caller.
    pub(super) fn nodes(&self) -> &[(u32, u32)] {
        &self.nodes
    }

    /// The number of instructions.
    pub(super) fn instruction_count(&self) -> usize {
        self.ends.len()
    }

    /// The frames of an instruction, innermost first.
    pub(super) fn instruction(&self, number: u32) -> &[FrameId] {
        let Some(index) = (number as usize).checked_sub(1) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.frames[start as usize..self.ends[index] as usize]
    }

    /// The stack of a trace.
    pub(super) fn stack(&mut self, builder: &mut ProfileBuilder, trace: u32) -> StackId {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let mut next = trace;
        while let Some(&(instruction, parent)) =
            (next as usize).checked_sub(1).and_then(|at| self.nodes.get(at))
        {
            stack.extend_from_slice(self.instruction(instruction));
            next = parent;
        }
        stack.reverse();
        let made = builder.stack(&stack);
        self.stack = stack;
        made
    }

    fn string(&self, number: u32) -> StringId {
        let text = (number as usize).checked_sub(1).and_then(|index| self.strings.get(index));
        text.copied().unwrap_or_default()
    }
}
