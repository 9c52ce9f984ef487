//! Merging adjacent frames of the same function into one: `--collapse-recursion`, and `--by file`.

use crate::profile::{Column, FrameId, FunctionId, Profile, StringId};
use crate::transform::frames::keep_frames;

/// Replaces every run of frames of the same function by its innermost frame, whose line is where the work
/// was done. Functions with the same name are the same, unless their place distinguishes them.
///
/// ```text
/// main;fib;fib;fib 3    →  main;fib 3
/// main;a;b;a 1          →  main;a;b;a 1
/// ```
pub fn collapse_recursion(profile: &Profile) -> Profile {
    let symbols = &profile.symbols;
    let group: Column<FrameId, (StringId, Option<FunctionId>)> = symbols.frames.map(|frame| {
        let function = &symbols.functions[frame.function];
        (function.name, function.by_place.then_some(frame.function))
    });
    collapse(profile, |a, b| group[a] == group[b])
}

/// Replaces every run of adjacent frames that are the `same` by its innermost frame.
pub fn collapse(profile: &Profile, same: impl Fn(FrameId, FrameId) -> bool) -> Profile {
    keep_frames(profile, |frames, kept| {
        for &frame in frames {
            match kept.last_mut() {
                Some(last) if same(*last, frame) => *last = frame,
                _ => kept.push(frame),
            }
        }
    })
}
