//! What was looked up recently.

/// Values that were looked up before, some of which were replaced by others since. Asking here first takes a fraction of the time of
/// looking a key up in a hash map, which is what most of reading some formats consists of.
#[derive(Debug)]
pub(super) struct Recent<K, T> {
    /// Each key has one place.
    entries: Vec<Option<(K, T)>>,
}

/// The number of entries is 2 to the power of this.
const BITS: u32 = 12;

impl<K: Copy, T: Copy> Default for Recent<K, T> {
    fn default() -> Self {
        Recent { entries: vec![None; 1 << BITS] }
    }
}

impl<K: Copy + Eq, T: Copy> Recent<K, T> {
    /// The value of `key`, where `number` is most of the key.
    #[inline]
    pub(super) fn get(&self, number: u64, key: K) -> Option<T> {
        self.entries[place(number)].filter(|(known, _)| *known == key).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn set(&mut self, number: u64, key: K, value: T) {
        self.entries[place(number)] = Some((key, value));
    }
}

/// The golden ratio spreads numbers that are close together, and those with the same low bits.
fn place(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_place_is_kept() {
        let mut recent = Recent::default();
        for number in 0..1 << (BITS + 2) {
            recent.set(number, (number, 'a'), number * 2);
            assert_eq!(recent.get(number, (number, 'a')), Some(number * 2));
            assert_eq!(recent.get(number, (number, 'b')), None);
        }
        let known = (0..1 << (BITS + 2)).filter(|&number| recent.get(number, (number, 'a')).is_some());
        assert!((1 << (BITS - 1)..=1 << BITS).contains(&known.count()));
    }
}
