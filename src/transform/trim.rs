//! `--show-from`, `--prune-from`: starting or ending stacks at a frame.

use crate::profile::Profile;
use crate::transform::Marks;
use crate::transform::engine::{Change, map_stacks};

/// Starts every stack at its outermost marked frame, and drops stacks without one. Also returns how many stacks
/// have one.
///
/// ```text
/// --show-from sort     main;sort;qsort;sort 3    →  sort;qsort;sort 3
///                      main;render 8
/// ```
pub fn show_from(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = map_stacks(profile, |frames, kept| {
        let Some(start) = frames.iter().position(|&frame| marks.contain(frame)) else { return Change::Drop };
        matched += 1;
        if start == 0 {
            return Change::Keep;
        }
        kept.extend_from_slice(&frames[start..]);
        Change::Replace
    });
    (shown, matched)
}

/// Ends every stack before its outermost marked frame, so that only its callers remain, and drops stacks without
/// one: the part that [`show_from`] leaves out. Also returns how many stacks have one.
///
/// ```text
/// callers of sort      main;sort;qsort;sort 3    →  main 3
///                      main;render 8
/// ```
pub fn end_before(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = map_stacks(profile, |frames, kept| {
        let Some(start) = frames.iter().position(|&frame| marks.contain(frame)) else { return Change::Drop };
        matched += 1;
        kept.extend_from_slice(&frames[..start]);
        Change::Replace
    });
    (shown, matched)
}

/// Ends every stack at its innermost marked frame, which thereby gets the value of its callees. Stacks without one
/// are unchanged. Also returns how many stacks have one.
///
/// ```text
/// --prune-from sort    main;sort;qsort;sort;cmp 3    →  main;sort;qsort;sort 3
///                      main;render 8                    main;render 8
/// ```
pub fn prune_from(profile: &Profile, marks: &Marks) -> (Profile, usize) {
    let mut matched = 0;
    let shown = map_stacks(profile, |frames, kept| {
        let Some(end) = frames.iter().rposition(|&frame| marks.contain(frame)) else { return Change::Keep };
        matched += 1;
        if end + 1 == frames.len() {
            return Change::Keep;
        }
        kept.extend_from_slice(&frames[..=end]);
        Change::Replace
    });
    (shown, matched)
}
