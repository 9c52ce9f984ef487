//! Merging adjacent frames that have the same key.

use crate::profile::Profile;
use crate::transform::collapse;
use crate::tree::{By, Keys};

/// The profile to count under `by`. If keys are coarser than functions, adjacent frames of a stack with
/// the same key are merged into one, so that a file does not appear to call itself.
///
/// ```
/// use prof::profile::{from_notation, to_notation};
/// use prof::tree::{By, join_adjacent};
///
/// let profile = from_notation("main@main.go:1;sort@sort.go:8;less@sort.go:3 2");
/// assert_eq!(to_notation(&join_adjacent(&profile, &By::File)), "main@main.go:1;less@sort.go:3 2");
/// assert_eq!(to_notation(&join_adjacent(&profile, &By::Function)), to_notation(&profile));
/// ```
pub fn join_adjacent(profile: &Profile, by: &By) -> Profile {
    if !matches!(by, By::File | By::Package | By::Mapping) {
        return profile.clone();
    }
    let keys = Keys::new(profile, by);
    collapse(profile, |a, b| keys.of_frame(a) == keys.of_frame(b))
}
