//! `--show-stacks`, `--hide-stacks`, `--focus`: keeping or dropping whole stacks.

use crate::profile::Profile;
use crate::transform::Marks;
use crate::transform::engine::{Change, map_stacks};

/// Keeps the stacks with a marked frame. Also returns how many there are.
///
/// ```text
/// --show-stacks qsort    main;sort;qsort 30    →  main;sort;qsort 30
///                        main;render 8
/// ```
pub fn show_stacks(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = map_stacks(profile, |frames, _| {
        let touched = marks.match_any(frames);
        matched += usize::from(touched);
        if touched { Change::Keep } else { Change::Drop }
    });
    (shown, matched)
}

/// Drops the stacks with a marked frame. Also returns how many there were.
///
/// ```text
/// --hide-stacks qsort    main;sort;qsort 30    →  main;render 8
///                        main;render 8
/// ```
pub fn hide_stacks(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = map_stacks(profile, |frames, _| {
        let touched = marks.match_any(frames);
        matched += usize::from(touched);
        if touched { Change::Drop } else { Change::Keep }
    });
    (shown, matched)
}
