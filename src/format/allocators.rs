//! Allocation functions. They would top every heap profile without saying anything about the program, so they
//! go into the profile's `drop_frames`, which attributes their allocations to the callers.

/// A regular expression for the allocation functions of C and C++. It matches whole names without parameters.
pub(super) const MALLOC: &str = "calloc|malloc|realloc|reallocarray|(do_)?memalign|aligned_alloc|\
    (__)?posix_memalign|p?valloc|__libc_malloc|malloc_zone_.*|operator new(\\[\\])?|__builtin_(vec_)?new";
