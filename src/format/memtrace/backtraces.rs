//! How the stack of an allocation differs from the last one.
//!
//! A stack begins with the outermost addresses, some of which it shares with the last stack. Each new one is `u16 place << 2 | how`: the address at a
//! place of a cache (`how` 0 to 2), followed by as many predicted ones, or a new address for that place (3). The prediction is what followed last.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::paths::{EMPTY, PathId, Paths};

/// A place of the cache.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    address: u64,
    /// The place of the address that followed last.
    next: u16,
}

/// The cache, and the last stack.
#[derive(Debug, Default)]
pub(super) struct Backtraces {
    cache: HashMap<u16, Place>,
    /// The path up to each address of the last stack, outermost first.
    last: Vec<PathId>,
}

impl Backtraces {
    /// Reads a stack that shares `common` addresses with the last one and has `count` codes for the others.
    pub(super) fn read(
        &mut self,
        fields: &mut Fields<'_>,
        common: u64,
        count: u16,
        paths: &mut LimitedPaths,
    ) -> Option<PathId> {
        let known = usize::try_from(common).ok().filter(|common| *common <= self.last.len());
        // The last stack was cut. What follows is decoded for the cache's sake.
        let mut rest = Vec::new();
        let stack = if known.is_some() { &mut self.last } else { &mut rest };
        stack.truncate(known.unwrap_or(0));
        let mut before = 0;
        for _ in 0..count {
            let code = fields.u16()?;
            let place = code >> 2;
            self.cache.entry(before).or_default().next = place;
            let mut predicted = 0;
            match code & 3 {
                3 => self.cache.entry(place).or_default().address = fields.u64()?,
                2 => predicted = fields.u8()?,
                number => predicted = number as u8,
            }
            before = place;
            paths.enter(stack, self.cache.entry(place).or_default().address);
            for _ in 0..predicted {
                before = self.cache.entry(before).or_default().next;
                paths.enter(stack, self.cache.entry(before).or_default().address);
            }
        }
        Some(self.last.last().copied().unwrap_or(EMPTY))
    }
}

/// Paths of addresses, of which a few bytes may announce thousands.
pub(super) struct LimitedPaths {
    pub(super) paths: Paths,
    most: usize,
}

impl LimitedPaths {
    /// At most one path per byte of the input, besides a few: real recordings have a tenth as many.
    pub(super) fn new(bytes: usize) -> LimitedPaths {
        LimitedPaths { paths: Paths::new(bytes), most: bytes.saturating_add(1 << 17) }
    }

    /// Whether stacks have been cut.
    pub(super) fn is_cut(&self) -> bool {
        self.paths.len() >= self.most
    }

    fn enter(&mut self, stack: &mut Vec<PathId>, address: u64) {
        let caller = stack.last().copied().unwrap_or(EMPTY);
        let path = if self.is_cut() { caller } else { self.paths.enter(caller, address) };
        stack.push(path);
    }
}
