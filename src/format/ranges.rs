//! What lies where in an address space.

use std::collections::BTreeMap;

/// Ranges of addresses without overlaps, each with a value.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Ranges(BTreeMap::new())
    }
}

impl<T: Copy> Ranges<T> {
    /// Puts `value` at the addresses from `start` up to `end`, replacing what was there.
    pub(crate) fn insert(&mut self, start: u64, end: u64, value: T) {
        if end <= start {
            return;
        }
        let overlapping: Vec<u64> = self
            .0
            .range(..end)
            .rev()
            .take_while(|(_, old)| old.0 > start)
            .map(|(&old_start, _)| old_start)
            .collect();
        for old_start in overlapping {
            let Some((old_end, old)) = self.0.remove(&old_start) else { continue };
            if old_start < start {
                self.0.insert(old_start, (start, old));
            }
            if old_end > end {
                self.0.insert(end, (old_end, old));
            }
        }
        self.0.insert(start, (end, value));
    }

    /// How many ranges there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The start, the end and the value of each range.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        self.0.iter().map(|(&start, (end, value))| (start, *end, value))
    }

    /// The value at `address`.
    pub(crate) fn at(&self, address: u64) -> Option<&T> {
        let (_, (end, value)) = self.0.range(..=address).next_back()?;
        (address < *end).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_ranges_cut_older_ones() {
        let mut ranges = Ranges::default();
        ranges.insert(100, 200, 'a');
        ranges.insert(120, 140, 'b');
        ranges.insert(300, 300, 'c');
        let at = |address| ranges.at(address).copied();
        assert_eq!([at(110), at(130), at(150)], [Some('a'), Some('b'), Some('a')]);
        assert_eq!([at(99), at(200), at(300)], [None; 3]);
        ranges.insert(0, u64::MAX, 'd');
        assert_eq!(ranges.at(130), Some(&'d'));
    }
}
