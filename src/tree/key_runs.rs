//! Numbers for long runs of keys, so that deep recursion can be compared in large steps.
//!
//! Level `n` gives every prefix a number for its last 2ⁿ keys: two prefixes have the same number if they
//! end in the same 2ⁿ keys. A number is made from two of the level below, so each level takes one pass.
//! Levels are built on demand, since only stacks of hundreds of frames need them.

use hashbrown::HashMap;

use crate::profile::{Column, Id};
use crate::tree::KeyId;
use crate::tree::prefixes::{PrefixId, Prefixes};

/// The numbers of the last 2ⁿ keys of each prefix, by level.
pub(super) struct KeyRuns<'p> {
    prefixes: &'p Prefixes,
    levels: Vec<RunLevel>,
}

struct RunLevel {
    /// The number of the run of keys; meaningless if the prefix is shorter.
    name: Column<PrefixId, u32>,
    /// The prefix without these keys.
    above: Column<PrefixId, PrefixId>,
}

impl<'p> KeyRuns<'p> {
    pub(super) fn new(prefixes: &'p Prefixes) -> Self {
        KeyRuns { prefixes, levels: Vec::new() }
    }

    /// Builds all levels up to `level`.
    pub(super) fn build_to(&mut self, level: u32) {
        while self.levels.len() <= level as usize {
            let level_table = match self.levels.last() {
                None => self.first_level(),
                Some(below) => self.next_level(below),
            };
            self.levels.push(level_table);
        }
    }

    fn first_level(&self) -> RunLevel {
        let name = self.prefixes.key.iter().map(|&key| KeyId::index(key) as u32).collect();
        RunLevel { name, above: self.prefixes.parent.clone() }
    }

    fn next_level(&self, below: &RunLevel) -> RunLevel {
        let length = 2 << (self.levels.len() - 1);
        let mut level_table = RunLevel { name: Column::new(), above: Column::new() };
        let mut names: HashMap<(u32, u32), u32> = HashMap::new();
        for (node, &middle) in below.above.enumerate() {
            let is_long = self.prefixes.depth[node] as usize >= length;
            let next = names.len() as u32;
            let name = if is_long {
                *names.entry((below.name[node], below.name[middle])).or_insert(next)
            } else {
                u32::MAX
            };
            level_table.name.push(name);
            level_table.above.push(below.above[middle]);
        }
        level_table
    }

    /// The number of the last 2^`level` keys of a prefix, and the prefix without them; `None` if it has
    /// fewer keys. The level must have been built.
    #[inline]
    pub(super) fn step(&self, level: u32, node: PrefixId) -> Option<(u32, PrefixId)> {
        let level_table = &self.levels[level as usize];
        (self.prefixes.depth[node] as usize >= 1 << level)
            .then(|| (level_table.name[node], level_table.above[node]))
    }

    /// How many trailing keys two prefixes share, if fewer than 2^`level`, and what remains of the
    /// first.
    pub(super) fn shared(&self, level: u32, mut a: PrefixId, mut b: PrefixId) -> (usize, PrefixId) {
        let mut shared = 0;
        for level in (0..level).rev() {
            match (self.step(level, a), self.step(level, b)) {
                (Some((name, above)), Some((other, beyond))) if name == other => {
                    shared += 1 << level;
                    (a, b) = (above, beyond);
                }
                _ => {}
            }
        }
        (shared, a)
    }
}
