//! Buffers that are used again for the next of many profiles.

use crate::format::pprof::collect::Batch;
use crate::format::pprof::raw_stacks::{Lists, LookUp, RawStacks};
use crate::format::pprof::tables::Tables;

/// What a reader fills and no longer needs once it has made the profile.
///
/// Each of a hundred runs of one program fills about as much. Freed memory goes back to the system while the profiles that were
/// read before lie between its pieces, and fresh pages cost a fifth of the time of reading small files.
pub(super) struct Buffers {
    pub(super) batch: Batch,
    /// The stacks of the batch, before they are looked up.
    pub(super) lists: Lists,
    pub(super) stacks: RawStacks,
    pub(super) found: LookUp,
    pub(super) tables: Tables,
}

impl Default for Buffers {
    fn default() -> Self {
        let stacks = RawStacks::new();
        Buffers {
            batch: Batch::default(),
            lists: Lists::new(stacks.hasher()),
            stacks,
            found: LookUp::default(),
            tables: Tables::default(),
        }
    }
}

/// Larger buffers are not kept: a single large file would cost all others memory.
const MOST: usize = 4 << 20;

impl Buffers {
    /// The same without contents; `None` if they are not worth keeping.
    pub(super) fn emptied(mut self) -> Option<Self> {
        if self.stacks.size() + self.tables.size() > MOST {
            return None;
        }
        self.batch.clear();
        self.lists.clear();
        self.stacks.clear();
        self.tables.clear();
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::pprof::read::read;
    use crate::format::writer_named;
    use crate::format::{Inflate, Source};
    use crate::profile::{Budget, LoadOptions, SharedTables, from_notation, to_notation};

    fn bytes_of(notation: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        writer_named("pprof").unwrap().write_to(&from_notation(notation), 0, false, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn profiles_that_are_read_one_after_the_other_do_not_mix() {
        let shared = SharedTables::default();
        let whole = ["main;a;b 1\nmain;c 2", "main;c 3\nother 4", "main 5"];
        let mut profiles = Vec::new();
        for notation in whole {
            let bytes = bytes_of(notation);
            let cut = bytes[..bytes.len() - 1].to_vec();
            for (bytes, is_whole) in [(cut, false), (bytes, true)] {
                let input = Box::new(std::io::Cursor::new(bytes));
                let mut source = Source::open_with(input, Inflate::Here, Budget::UNLIMITED).unwrap();
                source.share_tables(shared.clone());
                let profile = read(&mut source, LoadOptions::default());
                assert_eq!(profile.is_ok(), is_whole);
                profiles.extend(profile);
            }
        }
        let kept: Buffers = shared.take_buffers();
        assert_eq!((kept.stacks.len(), kept.tables.first_string()), (0, None));
        assert!(kept.stacks.size() > Buffers::default().stacks.size(), "the memory is kept");
        shared.give_to(profiles.iter_mut());
        assert_eq!(profiles.iter().map(to_notation).collect::<Vec<_>>(), whole);
    }
}
