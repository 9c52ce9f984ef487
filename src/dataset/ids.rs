//! Ids: hashes of content.
//!
//! An id is the first 8 bytes of a SHA-256, as a big-endian number. What is hashed is a sequence of texts (the length in bytes as
//! a number, then UTF-8) and numbers (8 bytes, little-endian), beginning with a text that names the kind of thing.
//! `docs/fleet.md` lists the sequences.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use sha2::{Digest, Sha256};

/// A sequence of texts and numbers that is being hashed.
pub(super) struct Hasher(Sha256);

impl Hasher {
    /// Begins with the kind of thing.
    pub(super) fn new(kind: &str) -> Hasher {
        let mut hasher = Hasher(Sha256::new());
        hasher.text(kind);
        hasher
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// Numbers one after the other.
    pub(super) fn numbers(&mut self, numbers: impl Iterator<Item = u64>) {
        // One call for each block of the hash is faster than one for each number.
        let mut block = [0; 512];
        let mut used = 0;
        for number in numbers {
            block[used..used + 8].copy_from_slice(&number.to_le_bytes());
            used += 8;
            if used == block.len() {
                self.0.update(block);
                used = 0;
            }
        }
        self.0.update(&block[..used]);
    }

    /// A number that may be missing: 0, or 1 and the number.
    pub(super) fn optional(&mut self, number: Option<i64>) {
        self.number(u64::from(number.is_some()));
        if let Some(number) = number {
            self.number(number as u64);
        }
    }

    pub(super) fn finish(self) -> WideId {
        let hash = self.0.finalize();
        let half = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&hash[at..at + 8]);
            u64::from_be_bytes(bytes)
        };
        WideId { id: half(0), rest: half(8) }
    }
}

/// An id with 64 further bits of its hash, by which a collision is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WideId {
    pub(super) id: u64,
    rest: u64,
}

/// Two different things have the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collision(pub(super) u64);

/// The ids of an export so far.
#[derive(Debug, Default)]
pub(super) struct KnownIds {
    rest_of: HashMap<u64, u64>,
}

/// How many ids of a kind are remembered, in at most 18 MB. An export with more of them begins anew after a part, so that its memory
/// does not grow with the number of profiles. Reading compares the content of all parts.
const MOST_KNOWN: usize = 512 << 10;

impl KnownIds {
    /// Notes an id. Fails if it stands for something else already.
    pub(super) fn check(&mut self, id: WideId) -> Result<(), Collision> {
        match self.rest_of.entry(id.id) {
            Entry::Vacant(entry) => {
                entry.insert(id.rest);
                Ok(())
            }
            Entry::Occupied(entry) if *entry.get() == id.rest => Ok(()),
            Entry::Occupied(_) => Err(Collision(id.id)),
        }
    }

    /// Forgets all ids if there are too many.
    pub(super) fn trim(&mut self) {
        if self.rest_of.len() > MOST_KNOWN {
            self.rest_of.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `python3 -c "import hashlib, struct; q = struct.pack; print(hashlib.sha256(q('<Q', 5) + b'stack' + q('<Q', 2) + q('<QQ', 1, 2)).hexdigest()[:32])"`
    #[test]
    fn an_id_is_the_start_of_a_sha_256() {
        let mut hasher = Hasher::new("stack");
        hasher.number(2);
        hasher.numbers([1, 2].into_iter());
        let id = hasher.finish();
        assert_eq!(format!("{:016x}{:016x}", id.id, id.rest), EXPECTED);
        let mut one_by_one = Hasher::new("stack");
        for number in [2, 1, 2] {
            one_by_one.number(number);
        }
        assert_eq!(one_by_one.finish(), id);
        let of = |count: u64| {
            let mut hasher = Hasher::new("stack");
            hasher.numbers(0..count);
            hasher.finish()
        };
        let mut many = Hasher::new("stack");
        (0..200).for_each(|number| many.number(number));
        assert_eq!(of(200), many.finish());
    }

    const EXPECTED: &str = "89f3ac0e74c5091efc350819bc239369";

    #[test]
    fn a_collision_is_noticed() {
        let mut known = KnownIds::default();
        let id = WideId { id: 7, rest: 1 };
        assert_eq!(known.check(id), Ok(()));
        assert_eq!(known.check(id), Ok(()));
        assert_eq!(known.check(WideId { id: 7, rest: 2 }), Err(Collision(7)));
        known.trim();
        assert!(known.check(WideId { id: 7, rest: 2 }).is_err(), "few ids are kept");
    }
}
