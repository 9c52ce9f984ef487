//! The functions that allocate and release memory.

use crate::format::paths::PathId;

/// A function that allocates or releases memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Allocator(u8);

/// The names of allocators, as memray writes them, and what they do.
const ALLOCATORS: [(&str, Deed); 15] = [
    ("PYMALLOC_FREE", Deed::Release),
    ("PYMALLOC_MALLOC", Deed::Allocate),
    ("PYMALLOC_CALLOC", Deed::Allocate),
    ("PYMALLOC_REALLOC", Deed::Allocate),
    ("FREE", Deed::Release),
    ("MALLOC", Deed::Allocate),
    ("REALLOC", Deed::Allocate),
    ("CALLOC", Deed::Allocate),
    ("POSIX_MEMALIGN", Deed::Allocate),
    ("ALIGNED_ALLOC", Deed::Allocate),
    ("MEMALIGN", Deed::Allocate),
    ("VALLOC", Deed::Allocate),
    ("PVALLOC", Deed::Allocate),
    ("MMAP", Deed::Map),
    ("MUNMAP", Deed::Unmap),
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
        (1..=ALLOCATORS.len()).contains(&usize::from(number)).then(|| Allocator(number - 1))
    }

    /// The allocator with a number of version 11 or earlier.
    pub(super) fn old(number: u8) -> Option<Allocator> {
        OLD_NUMBERS.iter().position(|&old| old == number).map(|at| Allocator(at as u8))
    }

    pub(super) fn name(self) -> &'static str {
        ALLOCATORS[usize::from(self.0)].0
    }

    pub(super) fn deed(self) -> Deed {
        ALLOCATORS[usize::from(self.0)].1
    }
}

/// A place in the program, on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) path: PathId,
    pub(super) thread: u64,
    pub(super) allocator: Allocator,
}
