//! Numbers for what is listed once.

use std::hash::Hash;

use hashbrown::HashMap;

/// Assigns numbers to keys in order of first appearance.
pub(super) struct Numbering<K> {
    numbers: HashMap<K, u32>,
}

impl<K> Default for Numbering<K> {
    fn default() -> Self {
        Numbering { numbers: HashMap::new() }
    }
}

impl<K: Hash + Eq> Numbering<K> {
    /// The number of `key`. Calls `add` for a new key, to add its row.
    pub(super) fn number(&mut self, key: K, add: impl FnOnce(&K)) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            add(key);
            next
        })
    }

    /// The number of a key that has one.
    pub(super) fn known(&self, key: &K) -> Option<u32> {
        self.numbers.get(key).copied()
    }
}
