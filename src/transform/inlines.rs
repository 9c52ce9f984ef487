//! `--no-inlines`: removing inlined frames.

use crate::profile::Profile;
use crate::transform::frames::keep_frames;

/// Removes inlined frames, so that they count for the function they were inlined into. The outermost frame of a
/// stack is always kept: if it is inlined, the function it was inlined into is not on the stack.
///
/// ```text
/// main;work;+helper 3    →  main;work 3
/// ```
pub fn without_inlines(profile: &Profile) -> Profile {
    let inlined = profile.symbols.frames.map(|frame| frame.inlined);
    keep_frames(profile, |frames, kept| {
        let Some((&outermost, rest)) = frames.split_first() else { return };
        kept.push(outermost);
        kept.extend(rest.iter().copied().filter(|&frame| !inlined[frame]));
    })
}
