//! What was looked up recently.

/// Values that were looked up before, some of which were replaced by others since. Asking here first takes a fraction of the time of
/// looking a key up in a hash map, which is what most of reading some formats consists of.
///
/// The number of entries is 2 to the power of `BITS`.
#[derive(Debug)]
pub(super) struct Recent<K, T, const BITS: u32 = 12> {
    /// Each key has one place.
    entries: Vec<Option<(K, T)>>,
}

impl<K: Copy, T: Copy, const BITS: u32> Default for Recent<K, T, BITS> {
    fn default() -> Self {
        Recent { entries: vec![None; 1 << BITS] }
    }
}

impl<K: Copy + Eq, T: Copy, const BITS: u32> Recent<K, T, BITS> {
    /// The value of `key`, where `number` is most of the key.
    #[inline]
    pub(super) fn get(&self, number: u64, key: K) -> Option<T> {
        self.entries[Self::place(number)].filter(|(known, _)| *known == key).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn set(&mut self, number: u64, key: K, value: T) {
        self.entries[Self::place(number)] = Some((key, value));
    }

    /// The golden ratio spreads numbers that are close together, and those with the same low bits.
    #[inline]
    fn place(number: u64) -> usize {
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_place_is_kept() {
        const BITS: u32 = 5;
        let mut recent: Recent<_, _, BITS> = Recent::default();
        for number in 0..1 << (BITS + 2) {
            recent.set(number, (number, 'a'), number * 2);
            assert_eq!(recent.get(number, (number, 'a')), Some(number * 2));
            assert_eq!(recent.get(number, (number, 'b')), None);
        }
        let known = (0..1 << (BITS + 2)).filter(|&number| recent.get(number, (number, 'a')).is_some());
        assert!((1 << (BITS - 1)..=1 << BITS).contains(&known.count()));
    }
}
