//! A source of random numbers that gives the same numbers for the same seed, on every machine and in every version.

/// A small random number generator (SplitMix64). Its sequence never changes, so a seed always means the same choice.
///
/// ```
/// use prof::stats::random::Random;
///
/// let shuffled = |seed| {
///     let mut items = [1, 2, 3, 4, 5];
///     Random::new(seed).shuffle(&mut items);
///     items
/// };
/// assert_eq!(shuffled(42), shuffled(42));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number; all 64-bit numbers are equally likely.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Puts items in a random order. All orders are equally likely, up to a bias of `items.len()` / 2⁶⁴.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.number() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_can_come_first() {
        let mut random = Random::new(1);
        let mut first = [0; 5];
        for _ in 0..1000 {
            let mut items = [0, 1, 2, 3, 4];
            random.shuffle(&mut items);
            first[items[0]] += 1;
        }
        assert!(first.iter().all(|count| (150..250).contains(count)), "{first:?}");
    }
}
