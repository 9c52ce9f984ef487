//! The chains that extend a given chain by one key, at the front or at the back.

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::search::Fraction;
use crate::tree::{KeyId, whole};

/// A chain that extends a given chain by one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extension {
    /// That key; the key of the whole profile if the chain starts the stack.
    pub(super) key: KeyId,
    pub(super) places: usize,
    pub(super) total: i64,
    pub(super) weight: i64,
    /// Nodes before this one are descendants of an occurrence that was counted.
    pub(super) covered: PrefixId,
    /// The position for its next occurrence.
    pub(super) next: Option<usize>,
}

const NO_NUMBER: u32 = u32::MAX;

/// The chains that extend a given chain by one key.
pub(super) struct Extensions {
    pub(super) found: Vec<Extension>,
    number_of: Column<KeyId, u32>,
}

impl Extensions {
    pub(super) fn new(keys: usize) -> Self {
        Extensions { found: Vec::new(), number_of: Column::filled(NO_NUMBER, keys) }
    }

    pub(super) fn clear(&mut self) {
        for extension in self.found.drain(..) {
            self.number_of[extension.key] = NO_NUMBER;
        }
    }

    /// Counts an occurrence of the chain extended by `key`, and returns the number of that chain.
    /// Occurrences come in preorder: one below another adds nothing to the total.
    #[inline]
    pub(super) fn count(&mut self, prefixes: &Prefixes, key: KeyId, place: PrefixId) -> u32 {
        let mut number = self.number_of[key];
        if number == NO_NUMBER {
            number = self.found.len() as u32;
            self.number_of[key] = number;
            let covered = PrefixId::default();
            self.found.push(Extension { key, places: 0, total: 0, weight: 0, covered, next: None });
        }
        let extension = &mut self.found[number as usize];
        extension.places += 1;
        if place >= extension.covered {
            extension.total += prefixes.total[place];
            extension.weight += prefixes.weight(place);
            extension.covered = prefixes.end[place];
        }
        number
    }

    /// Whether one of them has the same `total` within the tolerance.
    pub(super) fn has_close_rival(&self, total: i64, tolerance: Fraction) -> bool {
        let is_rival = |extension: &Extension| {
            extension.key != whole() && tolerance.rest().is_reached_by(extension.total, total)
        };
        self.found.iter().any(is_rival)
    }
}
