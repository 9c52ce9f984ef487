//! The chains that are a given chain and one key more, at the front or at the back.

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::Fraction;
use crate::tree::{KeyId, whole};

/// One of the chains that are a given chain and one key more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Longer {
    /// That key; the key of the whole profile where the chain starts the stack.
    pub(super) key: KeyId,
    pub(super) places: usize,
    pub(super) total: i64,
    pub(super) weight: i64,
    /// Nodes before this one lie below a place that was counted.
    pub(super) covered: PrefixId,
    /// Where its next place is to be put.
    pub(super) next: Option<usize>,
}

const NO_NUMBER: u32 = u32::MAX;

/// The chains that are a given chain and one key more.
pub(super) struct LongerChains {
    pub(super) found: Vec<Longer>,
    number_of: Column<KeyId, u32>,
}

impl LongerChains {
    pub(super) fn new(keys: usize) -> Self {
        LongerChains { found: Vec::new(), number_of: Column::filled(NO_NUMBER, keys) }
    }

    pub(super) fn clear(&mut self) {
        for longer in self.found.drain(..) {
            self.number_of[longer.key] = NO_NUMBER;
        }
    }

    /// Counts a place of the chain with `key`, and returns the chain's number. The places of a chain
    /// come in preorder: a place below another adds nothing to the total.
    #[inline]
    pub(super) fn count(&mut self, prefixes: &Prefixes, key: KeyId, place: PrefixId) -> u32 {
        let mut number = self.number_of[key];
        if number == NO_NUMBER {
            number = self.found.len() as u32;
            self.number_of[key] = number;
            let covered = PrefixId::default();
            self.found.push(Longer { key, places: 0, total: 0, weight: 0, covered, next: None });
        }
        let longer = &mut self.found[number as usize];
        longer.places += 1;
        if place >= longer.covered {
            longer.total += prefixes.total[place];
            longer.weight += prefixes.weight(place);
            longer.covered = prefixes.end[place];
        }
        number
    }

    /// Whether one of them has all of `total` but the tolerance.
    pub(super) fn has_rival(&self, total: i64, tolerance: Fraction) -> bool {
        let is_rival =
            |longer: &Longer| longer.key != whole() && tolerance.rest().is_reached_by(longer.total, total);
        self.found.iter().any(is_rival)
    }
}
