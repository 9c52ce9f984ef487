//! `--show-frames`, `--hide-frames`: keeping or removing single frames. The self of a removed frame goes to
//! its caller.

use crate::profile::{FrameId, Profile};
use crate::transform::Marks;
use crate::transform::engine::{Change, map_stacks};

/// Removes the marked frames. Also returns how many stacks had any.
///
/// ```text
/// --hide-frames qsort    main;sort;qsort;cmp 60    →  main;sort;cmp 60
///                        main;sort;qsort 30           main;sort 30
/// ```
pub fn hide_frames(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = keep_frames(profile, |frames, kept| {
        matched += usize::from(marks.match_any(frames));
        kept.extend(frames.iter().copied().filter(|&frame| !marks.contain(frame)));
    });
    (shown, matched)
}

/// Removes all frames except the marked ones. Also returns how many stacks had any. If none is left, the value
/// counts as a sample without a stack.
///
/// ```text
/// --show-frames sort     main;sort;qsort 30        →  sort;qsort 30
///                        main;render 8                8
/// ```
pub fn show_frames(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = keep_frames(profile, |frames, kept| {
        kept.extend(frames.iter().copied().filter(|&frame| marks.contain(frame)));
        matched += usize::from(!kept.is_empty());
    });
    (shown, matched)
}

/// Replaces every stack by the frames that `keep` writes.
pub(super) fn keep_frames(profile: &Profile, mut keep: impl FnMut(&[FrameId], &mut Vec<FrameId>)) -> Profile {
    map_stacks(profile, |frames, kept| {
        keep(frames, kept);
        if kept.len() == frames.len() { Change::Keep } else { Change::Replace }
    })
}
