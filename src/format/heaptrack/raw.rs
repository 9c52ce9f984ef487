//! Raw recordings, whose traces consist of addresses.

use hashbrown::HashMap;

use crate::format::heaptrack::traces::Traces;
use crate::profile::{Addresses, Frame, Mapping, MappingId, ProfileBuilder, StringId};

/// The modules that are mapped at present, and the instructions found in them.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// The path of the program, which the list of modules calls `x`.
    program: StringId,
    /// Start, end, and the start of the module.
    sections: Vec<(u64, u64, u64, MappingId)>,
    is_sorted: bool,
    instructions: HashMap<u64, u32>,
}

impl Modules {
    pub(super) fn new(builder: &mut ProfileBuilder, program: StringId) -> Self {
        builder.mapping(Mapping { file: program, addresses: Addresses::Image, ..Mapping::default() });
        Modules { program, ..Modules::default() }
    }

    /// All modules follow again.
    pub(super) fn clear(&mut self) {
        self.sections.clear();
        self.instructions.clear();
    }

    pub(super) fn add(
        &mut self,
        builder: &mut ProfileBuilder,
        path: StringId,
        start: u64,
        sections: &[(u64, u64)],
    ) {
        let file = if builder.text(path) == "x" { self.program } else { path };
        let mapping = builder.mapping(Mapping { file, addresses: Addresses::Image, ..Mapping::default() });
        for &(offset, size) in sections {
            let from = start.saturating_add(offset);
            self.sections.push((from, from.saturating_add(size), start, mapping));
        }
        self.is_sorted = false;
    }

    /// The number of the instruction at `address`.
    pub(super) fn instruction(
        &mut self,
        builder: &mut ProfileBuilder,
        traces: &mut Traces,
        address: u64,
    ) -> Option<u32> {
        if let Some(&known) = self.instructions.get(&address) {
            return Some(known);
        }
        if !self.is_sorted {
            self.sections.sort_unstable_by_key(|&(from, ..)| from);
            self.is_sorted = true;
        }
        // All frames are callers, and their address is the one after the call.
        let call = address.saturating_sub(1);
        let place = self.sections.partition_point(|&(from, ..)| from <= call);
        let section = place.checked_sub(1).map(|place| self.sections[place]);
        let found = section.filter(|&(_, end, ..)| call < end);
        let (in_module, mapping) =
            found.map_or((call, MappingId::default()), |(.., start, mapping)| (call - start, mapping));
        let function = builder.unnamed_function(mapping);
        let frame = builder.frame(Frame { function, address: in_module, mapping, ..Frame::default() });
        let number = traces.add_frame(frame)?;
        self.instructions.insert(address, number);
        Some(number)
    }
}
