//! The functions that hand out memory, which lead the list of every heap profile and say nothing about the
//! program: they become the profile's `drop_frames`, so that what they allocated is their caller's.

/// C's allocation functions and C++'s `new`, as a regular expression that matches whole names without their
/// parameters.
pub(super) const MALLOC: &str = "calloc|malloc|realloc|reallocarray|(do_)?memalign|aligned_alloc|\
    (__)?posix_memalign|p?valloc|__libc_malloc|malloc_zone_.*|operator new(\\[\\])?|__builtin_(vec_)?new";
