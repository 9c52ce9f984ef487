//! Memory maps of each process and of the kernel.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::format::ranges::Ranges;
use crate::profile::{Budget, FunctionId, MappingId, Reservation};

/// What a region takes in a space, approximately.
const BYTES_OF_REGION: u64 = 96;

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
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Those of the parent when it forked, where none of the process's own lie.
    inherited: Option<Rc<Space>>,
    own: Ranges<Map>,
    /// The memory that copied regions take.
    _copied: Option<Reservation>,
}

impl Space {
    pub(super) fn insert(&mut self, start: u64, end: u64, map: Map) {
        self.own.insert(start, end, map);
    }

    pub(super) fn at(&self, address: u64) -> Option<&Map> {
        self.own.at(address).or_else(|| self.inherited.as_ref()?.at(address))
    }
}

/// The memory of all processes.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    pub(super) kernel: Space,
    /// A forked process shares its parent's until either of them maps something.
    processes: HashMap<u32, Rc<Space>>,
    budget: Budget,
}

impl Spaces {
    pub(super) fn new(budget: Budget) -> Spaces {
        Spaces { budget, ..Spaces::default() }
    }

    pub(super) fn process(&self, pid: u32) -> Option<&Space> {
        self.processes.get(&pid).map(Rc::as_ref)
    }

    /// A process maps something.
    pub(super) fn insert(&mut self, pid: u32, start: u64, end: u64, map: Map) {
        let space = self.processes.remove(&pid).unwrap_or_default();
        let mut space = Rc::try_unwrap(space).unwrap_or_else(|shared| over(&shared, &self.budget));
        space.insert(start, end, map);
        self.processes.insert(pid, Rc::new(space));
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

/// An empty space over `space`. Regions are only copied if that lies over another itself, so that it takes two steps at most
/// to find one. A file of 1 MB in which each process forks the next could fill the memory in this way.
fn over(space: &Rc<Space>, budget: &Budget) -> Space {
    let Some(inherited) = &space.inherited else {
        return Space { inherited: Some(Rc::clone(space)), ..Space::default() };
    };
    let mut copied = budget.reservation();
    let regions = inherited.own.len() + space.own.len();
    if copied.set(regions as u64 * BYTES_OF_REGION).is_err() {
        return Space::default();
    }
    let mut own = inherited.own.clone();
    for (start, end, &map) in space.own.iter() {
        own.insert(start, end, map);
    }
    Space { inherited: None, own, _copied: Some(copied) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Id;

    fn map(number: usize) -> Map {
        Map {
            start: 0,
            offset: 0,
            mapping: MappingId::new(number),
            function: None,
            is_anonymous: false,
            keeps_addresses: false,
        }
    }

    fn at(spaces: &Spaces, pid: u32, address: u64) -> Option<usize> {
        Some(spaces.process(pid)?.at(address)?.mapping.index())
    }

    #[test]
    fn forked_processes_have_what_was_mapped_before() {
        let mut spaces = Spaces::default();
        spaces.insert(1, 100, 200, map(1));
        spaces.fork(1, 2);
        spaces.insert(1, 100, 110, map(2));
        spaces.insert(2, 150, 160, map(3));
        spaces.fork(2, 3);
        spaces.insert(3, 190, 200, map(4));
        spaces.exec(2);
        let found = |pid| [100, 110, 155, 195].map(|address| at(&spaces, pid, address));
        assert_eq!(found(1), [Some(2), Some(1), Some(1), Some(1)]);
        assert_eq!(found(2), [None; 4]);
        assert_eq!(found(3), [Some(1), Some(1), Some(3), Some(4)]);
    }

    #[test]
    fn copies_are_part_of_the_memory_that_is_allowed() {
        let budget = Budget::of(100 * BYTES_OF_REGION);
        let mut spaces = Spaces::new(budget.clone());
        for region in 0..60 {
            spaces.insert(0, region * 10, region * 10 + 5, map(1));
        }
        for pid in 0..9 {
            spaces.fork(pid, pid + 1);
            spaces.insert(pid + 1, 0, 5, map(2));
        }
        assert!(budget.is_exceeded());
    }
}
