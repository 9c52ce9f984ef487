//! What each place in the program allocated.

use hashbrown::HashMap;

use crate::unit::saturated;

/// Allocations of one size at one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) size: u64,
    pub(super) trace: u32,
}

/// The costs of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    pub(super) trace: u32,
    pub(super) allocations: i64,
    pub(super) allocated: i64,
    /// Allocations that were released before the next allocation or release.
    pub(super) temporary: i64,
    /// Bytes that have not been released.
    pub(super) leaked: i64,
    /// Bytes in use when the whole program used the most.
    pub(super) peak: i64,
    /// The number of peaks of the program when this place last changed.
    seen_peaks: u64,
}

/// The costs of all traces.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// The kinds of allocations, with the position of their trace in `sites`.
    kinds: Vec<(u64, u32)>,
    sites: Vec<Site>,
    site_of_trace: HashMap<u32, u32>,
    /// What was allocated or released last: a kind, or a pointer in version 0. heaptrack compares no more than that, so
    /// releasing the first kind twice in a row counts as temporary.
    last: u64,
    used: i64,
    most_used: i64,
    peaks: u64,
    /// The kind of the allocation at each pointer, and the number of each kind, if the file does not say.
    pointers: HashMap<u64, u32>,
    kind_numbers: HashMap<Kind, u32>,
}

impl Costs {
    pub(super) fn add_kind(&mut self, size: u64, trace: u32) -> Option<()> {
        let next = u32::try_from(self.sites.len()).ok()?;
        let site = *self.site_of_trace.entry(trace).or_insert(next);
        if site == next {
            self.sites.push(Site { trace, ..Site::default() });
        }
        self.kinds.push((size, site));
        Some(())
    }

    /// An allocation of a known kind.
    #[inline]
    pub(super) fn allocate(&mut self, kind: u32) -> Option<()> {
        self.add(kind)?;
        self.last = kind.into();
        Some(())
    }

    /// An allocation whose kind must be looked up. Version 0 compares pointers to find temporary ones.
    pub(super) fn allocate_at(&mut self, kind: Kind, pointer: u64, by_pointer: bool) -> Option<()> {
        let number = match self.kind_numbers.get(&kind) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.kinds.len()).ok()?;
                self.add_kind(kind.size, kind.trace)?;
                self.kind_numbers.insert(kind, number);
                number
            }
        };
        self.pointers.insert(pointer, number);
        self.add(number)?;
        self.last = if by_pointer { pointer } else { number.into() };
        Some(())
    }

    fn add(&mut self, kind: u32) -> Option<()> {
        let &(size, site) = self.kinds.get(kind as usize)?;
        let size = saturated(size);
        let site = &mut self.sites[site as usize];
        site.note_peak(self.peaks);
        site.allocations += 1;
        site.allocated = site.allocated.saturating_add(size);
        site.leaked = site.leaked.saturating_add(size);
        self.used = self.used.saturating_add(size);
        if self.used > self.most_used {
            self.most_used = self.used;
            self.peaks += 1;
        }
        Some(())
    }

    /// An allocation of a known kind is released.
    #[inline]
    pub(super) fn release(&mut self, kind: u32) -> Option<()> {
        let is_temporary = self.last == u64::from(kind);
        self.remove(kind, is_temporary)
    }

    /// The allocation at `pointer` is released; one from before the recording is ignored.
    pub(super) fn release_at(&mut self, pointer: u64, by_pointer: bool) {
        if let Some(kind) = self.pointers.remove(&pointer) {
            let is_temporary = self.last == if by_pointer { pointer } else { kind.into() };
            self.remove(kind, is_temporary);
        }
    }

    fn remove(&mut self, kind: u32, is_temporary: bool) -> Option<()> {
        let &(size, site) = self.kinds.get(kind as usize)?;
        let size = saturated(size);
        let site = &mut self.sites[site as usize];
        site.note_peak(self.peaks);
        site.temporary += i64::from(is_temporary);
        site.leaked = site.leaked.saturating_sub(size);
        self.used = self.used.saturating_sub(size);
        self.last = 0;
        Some(())
    }

    /// The costs of all traces, when everything has been read.
    pub(super) fn sites(&mut self) -> impl Iterator<Item = &Site> {
        for site in &mut self.sites {
            site.note_peak(self.peaks);
        }
        self.sites.iter()
    }
}

impl Site {
    /// Keeps what was in use at the latest peak, before it changes. Copying all sites at each peak would take too long.
    #[inline]
    fn note_peak(&mut self, peaks: u64) {
        if self.seen_peaks != peaks {
            self.peak = self.leaked;
            self.seen_peaks = peaks;
        }
    }
}
