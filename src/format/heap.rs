//! What each place in a program allocated, and what of it was in use when, for formats that record every allocation and release.

use std::collections::BTreeMap;
use std::hash::Hash;

use hashbrown::HashMap;

use crate::profile::HashIndex;
use crate::unit::saturated;

/// A number of allocations and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) count: i64,
    pub(super) bytes: i64,
}

impl Amount {
    fn add(&mut self, count: i64, bytes: i64) {
        self.count = self.count.saturating_add(count);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The sums of a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) allocated: Amount,
    pub(super) in_use: Amount,
    /// What was in use when the whole program used the most.
    pub(super) at_peak: Amount,
    /// The number of peaks of the program when this place last changed.
    seen_peaks: u64,
}

/// The memory of a program, where `S` is a place in it.
#[derive(Debug)]
pub(super) struct Heap<S> {
    sites: Vec<S>,
    sums: Vec<Sums>,
    numbers: HashIndex<u32>,
    /// The place and the size of what is at an address, or has a number.
    blocks: HashMap<u64, (u32, i64)>,
    /// Mapped memory by its start: its end and the place.
    maps: BTreeMap<u64, (u64, u32)>,
    used: i64,
    most_used: i64,
    peaks: u64,
}

impl<S: Copy + Eq + Hash> Heap<S> {
    pub(super) fn new() -> Heap<S> {
        Heap {
            sites: Vec::new(),
            sums: Vec::new(),
            numbers: HashIndex::default(),
            blocks: HashMap::new(),
            maps: BTreeMap::new(),
            used: 0,
            most_used: 0,
            peaks: 0,
        }
    }

    /// The place with the number `site` allocates `size` at an address. What was there is gone.
    pub(super) fn allocate(&mut self, site: u32, address: u64, size: u64) {
        let size = saturated(size);
        if let Some((number, size)) = self.blocks.insert(address, (site, size)) {
            self.use_more(number, -1, -size);
        }
        self.add(site, size);
        self.note_use();
    }

    /// The place with the number `site` maps memory. What was mapped there is gone.
    pub(super) fn map(&mut self, site: u32, address: u64, size: u64) {
        self.remove(address, size);
        if let Some(end) = address.checked_add(size).filter(|end| *end > address) {
            self.maps.insert(address, (end, site));
        }
        self.add(site, saturated(size));
        self.note_use();
    }

    /// Memory is unmapped: all that was mapped at once, or a part.
    pub(super) fn unmap(&mut self, address: u64, size: u64) {
        self.remove(address, size);
        self.note_use();
    }

    /// Of several equal peaks, the last one counts, as it does for memray.
    fn note_use(&mut self) {
        if self.used >= self.most_used {
            self.most_used = self.used;
            self.peaks += 1;
        }
    }

    /// The number of a place.
    pub(super) fn number(&mut self, site: S) -> u32 {
        let hash = self.numbers.hash(&site);
        if let Some(known) = self.numbers.find(hash, |number| self.sites[number as usize] == site) {
            return known;
        }
        let number = self.sites.len() as u32;
        self.sites.push(site);
        self.sums.push(Sums::default());
        self.numbers.insert(hash, number);
        number
    }

    fn add(&mut self, number: u32, size: i64) {
        self.sums[number as usize].allocated.add(1, size);
        self.use_more(number, 1, size);
    }

    fn use_more(&mut self, number: u32, count: i64, bytes: i64) {
        let sums = &mut self.sums[number as usize];
        sums.note_peak(self.peaks);
        sums.in_use.add(count, bytes);
        self.used = self.used.saturating_add(bytes);
    }

    /// Releases what is at an address; what was allocated before the recording is not known.
    pub(super) fn release(&mut self, address: u64) {
        if let Some((number, size)) = self.blocks.remove(&address) {
            self.use_more(number, -1, -size);
        }
    }

    fn remove(&mut self, start: u64, size: u64) {
        let end = start.saturating_add(size);
        while let Some((&from, &(to, number))) = self.maps.range(..end).next_back() {
            if to <= start {
                break;
            }
            self.maps.remove(&from);
            let (first, last) = (from.max(start), to.min(end));
            let mut pieces = -1;
            for (from, to) in [(from, first), (last, to)] {
                if from < to {
                    self.maps.insert(from, (to, number));
                    pieces += 1;
                }
            }
            self.use_more(number, pieces, -saturated(last - first));
        }
    }

    /// The sums of all places, when everything has been read.
    pub(super) fn finish(mut self) -> impl Iterator<Item = (S, Sums)> {
        for sums in &mut self.sums {
            sums.note_peak(self.peaks);
        }
        self.sites.into_iter().zip(self.sums)
    }
}

impl Sums {
    /// Keeps what was in use at the latest peak, before it changes.
    fn note_peak(&mut self, peaks: u64) {
        if self.seen_peaks != peaks {
            self.at_peak = self.in_use;
            self.seen_peaks = peaks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(heap: Heap<char>) -> Vec<(char, [(i64, i64); 3])> {
        let pair = |amount: Amount| (amount.count, amount.bytes);
        heap.finish()
            .map(|(site, sums)| (site, [sums.allocated, sums.in_use, sums.at_peak].map(pair)))
            .collect()
    }

    #[test]
    fn the_peak_is_that_of_the_whole_program() {
        let mut heap = Heap::new();
        let [a, b] = ['a', 'b'].map(|site| heap.number(site));
        heap.allocate(a, 1, 100);
        heap.allocate(b, 2, 50);
        heap.release(1);
        heap.release(1);
        // 150 again: the later peak counts.
        heap.allocate(b, 3, 100);
        heap.release(3);
        heap.allocate(a, 4, 10);
        assert_eq!(sums(heap), [('a', [(2, 110), (1, 10), (0, 0)]), ('b', [(2, 150), (1, 50), (2, 150)])]);
    }

    #[test]
    fn a_part_of_mapped_memory_is_unmapped() {
        let mut heap = Heap::new();
        let [a, b] = ['a', 'b'].map(|site| heap.number(site));
        heap.map(a, 1000, 300);
        heap.map(b, 1300, 100);
        // A hole in the first, and the rest of the first with a part of the second.
        heap.unmap(1100, 50);
        heap.unmap(1200, 150);
        heap.unmap(0, 1000);
        assert_eq!(sums(heap), [('a', [(1, 300), (2, 150), (1, 300)]), ('b', [(1, 100), (1, 50), (1, 100)])]);
        let mut heap = Heap::new();
        let [a, b] = ['a', 'b'].map(|site| heap.number(site));
        heap.map(a, 1000, 100);
        heap.map(b, 1000, 100);
        heap.allocate(a, 7, 5);
        heap.allocate(b, 7, 6);
        assert_eq!(sums(heap), [('a', [(2, 105), (0, 0), (0, 0)]), ('b', [(2, 106), (2, 106), (2, 106)])]);
    }
}
