//! Memory maps of each process and of the kernel.

use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashMap;

use crate::profile::{FunctionId, MappingId};

/// A memory region and its contents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    pub(super) end: u64,
    /// Where in the file it starts.
    pub(super) offset: u64,
    pub(super) mapping: MappingId,
    /// The function, if the kernel says that the region is a single one.
    pub(super) function: Option<FunctionId>,
}

/// Memory regions by start address, without overlaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Space(BTreeMap<u64, Map>);

impl Space {
    /// Maps `map` at `start`, replacing what was there.
    pub(super) fn insert(&mut self, start: u64, map: Map) {
        if map.end <= start {
            return;
        }
        let overlapping: Vec<u64> = self
            .0
            .range(..map.end)
            .rev()
            .take_while(|(_, old)| old.end > start)
            .map(|(&old_start, _)| old_start)
            .collect();
        for old_start in overlapping {
            let Some(old) = self.0.remove(&old_start) else { continue };
            if old_start < start {
                self.0.insert(old_start, Map { end: start, ..old });
            }
            if old.end > map.end {
                let offset = old.offset.wrapping_add(map.end - old_start);
                self.0.insert(map.end, Map { offset, ..old });
            }
        }
        self.0.insert(start, map);
    }

    /// The region that contains `address`, and its start.
    pub(super) fn at(&self, address: u64) -> Option<(u64, &Map)> {
        let (&start, map) = self.0.range(..=address).next_back()?;
        (address < map.end).then_some((start, map))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_maps_cut_older_ones() {
        let map = |end, offset| Map { end, offset, mapping: MappingId::default(), function: None };
        let mut space = Space::default();
        space.insert(100, map(200, 0));
        space.insert(120, map(140, 1000));
        let at = |address| space.at(address).map(|(start, map)| address - start + map.offset);
        assert_eq!([at(110), at(130), at(150)], [Some(10), Some(1010), Some(50)]);
        assert_eq!([at(99), at(200)], [None, None]);
    }
}
