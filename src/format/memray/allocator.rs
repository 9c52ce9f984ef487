//! The functions that allocate and release memory.

use crate::format::paths::PathId;

/// A function that allocates or releases memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Allocator(usize);

/// The names of allocators, as memray writes them.
const NAMES: [&str; 15] = [
    "PYMALLOC_FREE",
    "PYMALLOC_MALLOC",
    "PYMALLOC_CALLOC",
    "PYMALLOC_REALLOC",
    "FREE",
    "MALLOC",
    "REALLOC",
    "CALLOC",
    "POSIX_MEMALIGN",
    "ALIGNED_ALLOC",
    "MEMALIGN",
    "VALLOC",
    "PVALLOC",
    "MMAP",
    "MUNMAP",
];

/// The numbers of allocators up to version 11, by those of later versions.
const OLD_NUMBERS: [u8; 15] = [15, 12, 13, 14, 2, 1, 4, 3, 5, 6, 7, 8, 9, 10, 11];

/// What an allocator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Allocate,
    Release,
    Map,
    Unmap,
}

impl Allocator {
    /// The allocator with a number of version 12 or later.
    pub(super) fn new(number: u8) -> Option<Allocator> {
        (1..=NAMES.len()).contains(&usize::from(number)).then(|| Allocator(usize::from(number) - 1))
    }

    /// The allocator with a number of version 11 or earlier.
    pub(super) fn old(number: u8) -> Option<Allocator> {
        OLD_NUMBERS.iter().position(|&old| old == number).map(Allocator)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES[self.0]
    }

    pub(super) fn deed(self) -> Deed {
        match self.name() {
            "PYMALLOC_FREE" | "FREE" => Deed::Release,
            "MMAP" => Deed::Map,
            "MUNMAP" => Deed::Unmap,
            _ => Deed::Allocate,
        }
    }
}

/// A place in the program, on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) path: PathId,
    pub(super) thread: u64,
    pub(super) allocator: Allocator,
}
