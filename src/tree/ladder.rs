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
pub(super) struct Ladder<'p> {
    prefixes: &'p Prefixes,
    rungs: Vec<Rung>,
}

struct Rung {
    /// The number of the run of keys; meaningless if the prefix is shorter.
    name: Column<PrefixId, u32>,
    /// The prefix without these keys.
    above: Column<PrefixId, PrefixId>,
}

impl<'p> Ladder<'p> {
    pub(super) fn new(prefixes: &'p Prefixes) -> Self {
        Ladder { prefixes, rungs: Vec::new() }
    }

    /// Builds all levels up to `level`.
    pub(super) fn climb(&mut self, level: u32) {
        while self.rungs.len() <= level as usize {
            let rung = match self.rungs.last() {
                None => self.ground(),
                Some(below) => self.doubled(below),
            };
            self.rungs.push(rung);
        }
    }

    fn ground(&self) -> Rung {
        let name = self.prefixes.key.iter().map(|&key| KeyId::index(key) as u32).collect();
        Rung { name, above: self.prefixes.parent.clone() }
    }

    fn doubled(&self, below: &Rung) -> Rung {
        let length = 2 << (self.rungs.len() - 1);
        let mut rung = Rung { name: Column::new(), above: Column::new() };
        let mut names: HashMap<(u32, u32), u32> = HashMap::new();
        for (node, &middle) in below.above.enumerate() {
            let is_long = self.prefixes.depth[node] as usize >= length;
            let next = names.len() as u32;
            let name = if is_long {
                *names.entry((below.name[node], below.name[middle])).or_insert(next)
            } else {
                u32::MAX
            };
            rung.name.push(name);
            rung.above.push(below.above[middle]);
        }
        rung
    }

    /// The number of the last 2^`level` keys of a prefix, and the prefix without them; `None` if it has
    /// fewer keys. The level must have been built.
    #[inline]
    pub(super) fn step(&self, level: u32, node: PrefixId) -> Option<(u32, PrefixId)> {
        let rung = &self.rungs[level as usize];
        (self.prefixes.depth[node] as usize >= 1 << level).then(|| (rung.name[node], rung.above[node]))
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
