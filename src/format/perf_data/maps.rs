//! Memory maps of each process and of the kernel.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::format::ranges::Ranges;
use crate::profile::{FunctionId, MappingId};

/// What is in a memory region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Its first address, when it was mapped.
    pub(super) start: u64,
    /// Where in the file it starts.
    pub(super) offset: u64,
    pub(super) mapping: MappingId,
    /// The function, if the kernel says that the region is a single one.
    pub(super) function: Option<FunctionId>,
    /// Whether it is memory without a file.
    pub(super) is_anonymous: bool,
    /// Whether addresses in it are those in memory, rather than in a file.
    pub(super) keeps_addresses: bool,
}

impl Map {
    /// The offset in the file of what is at an address.
    pub(super) fn offset_of(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start).wrapping_add(self.offset)
    }
}

/// Memory regions of a process or of the kernel.
pub(super) type Space = Ranges<Map>;

/// The memory of all processes.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    pub(super) kernel: Space,
    /// A forked process shares its parent's until either of them maps something.
    processes: HashMap<u32, Rc<Space>>,
}

impl Spaces {
    pub(super) fn process(&self, pid: u32) -> Option<&Space> {
        self.processes.get(&pid).map(Rc::as_ref)
    }

    pub(super) fn process_mut(&mut self, pid: u32) -> &mut Space {
        Rc::make_mut(self.processes.entry(pid).or_default())
    }

    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if let Some(space) = self.processes.get(&parent).filter(|_| parent != child) {
            let space = Rc::clone(space);
            self.processes.insert(child, space);
        }
    }

    /// The process runs another program now.
    pub(super) fn exec(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }
}
