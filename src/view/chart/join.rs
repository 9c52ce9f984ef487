//! Consecutive stacks become blocks: a frame with the same callers as before goes on.

use crate::tree::{KeyId, Subject};
use crate::view::chart::stretches::Stretch;

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyBlock {
    pub(super) band: u32,
    pub(super) depth: u32,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) key: KeyId,
}

/// The blocks of all bands: by band, by depth, and from left to right.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) blocks: Vec<KeyBlock>,
    /// Whether stacks were deeper than allowed.
    pub(super) is_cut: bool,
}

impl Joined {
    /// The blocks of bands of stretches, which are in order; `None` if there are more than `most`.
    pub(super) fn of(subject: &Subject<'_>, bands: &[Vec<Stretch>], depth: u32, most: usize) -> Option<Self> {
        let mut joined = Joined::default();
        for (band, stretches) in bands.iter().enumerate() {
            let mut open: Vec<(KeyId, i64)> = Vec::new();
            let mut end = i64::MIN;
            for stretch in stretches {
                if stretch.from != end {
                    joined.close(band, &mut open, 0, end);
                }
                end = stretch.to;
                let keys: Vec<KeyId> = subject.stack_keys(stretch.stack).take(depth as usize + 1).collect();
                joined.is_cut |= keys.len() > depth as usize;
                let keys = &keys[..keys.len().min(depth as usize)];
                let same = keys.iter().zip(&open).take_while(|(key, (open, _))| *key == open).count();
                joined.close(band, &mut open, same, stretch.from);
                open.extend(keys[same..].iter().map(|&key| (key, stretch.from)));
                if joined.blocks.len() > most {
                    return None;
                }
            }
            joined.close(band, &mut open, 0, end);
        }
        joined.blocks.sort_by_key(|block| (block.band, block.depth, block.from));
        (joined.blocks.len() <= most).then_some(joined)
    }

    /// Ends the blocks from a depth on.
    fn close(&mut self, band: usize, open: &mut Vec<(KeyId, i64)>, from_depth: usize, to: i64) {
        let closed = open.drain(from_depth..).zip(from_depth..);
        self.blocks.extend(closed.map(|((key, from), depth)| KeyBlock {
            band: band as u32,
            depth: depth as u32,
            from,
            to,
            key,
        }));
    }

    /// The number of rows of a band.
    pub(super) fn rows(&self, band: usize) -> u32 {
        let of_band = self.blocks.iter().filter(|block| block.band as usize == band);
        of_band.map(|block| block.depth + 1).max().unwrap_or(0)
    }
}
