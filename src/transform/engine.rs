//! The building blocks of filters: changing stacks and selecting rows.
//!
//! A step is called once per distinct stack, not per sample. Its results are interned again, so stacks that
//! become equal are stored once, and samples that become equal are merged.

use std::sync::Arc;

use crate::profile::{Column, FrameId, Profile, RowTable, Samples, StackId, StackTable, Stacks};

/// What to do with a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Keep it unchanged.
    Keep,
    /// Replace it by the frames that were written. If there are none, its samples have no stack.
    Replace,
    /// Drop it and its samples.
    Drop,
}

/// Calls `step` with every stack that has samples; it may write the frames that replace the stack. A step never
/// makes a stack longer.
pub(super) fn map_stacks(
    profile: &Profile,
    mut step: impl FnMut(&[FrameId], &mut Vec<FrameId>) -> Change,
) -> Profile {
    let used = profile.used_stacks();
    let mut changes = Column::<StackId, Change>::filled(Change::Drop, profile.stacks.len());
    let mut written = Stacks::new();
    let mut frames = Vec::new();
    for stack in profile.stacks.ids().filter(|&stack| used[stack]) {
        frames.clear();
        changes[stack] = step(profile.stacks.frames(stack), &mut frames);
        if changes[stack] == Change::Replace {
            written.push(&frames).expect("a step makes no stack longer");
        }
    }
    if written.is_empty() {
        return keep_rows(profile, |row| changes[profile.samples.stack[row]] == Change::Keep);
    }
    replace_stacks(profile, &changes, &written)
}

/// Applies the changes. `written` holds the replacements, in the order of the replaced stacks.
fn replace_stacks(profile: &Profile, changes: &Column<StackId, Change>, written: &Stacks) -> Profile {
    let mut table = StackTable::default();
    let mut written = written.iter();
    let new_stack: Column<StackId, Option<StackId>> = changes
        .enumerate()
        .map(|(stack, change)| {
            let frames = match change {
                Change::Keep => profile.stacks.frames(stack),
                Change::Replace => written.next().unwrap_or_default(),
                Change::Drop => return None,
            };
            Some(table.intern(frames).expect("a step makes no stack longer"))
        })
        .collect();
    let samples = &profile.samples;
    let rows = (0..samples.len()).filter_map(|row| Some((row, new_stack[samples.stack[row]]?)));
    let samples = restack(profile, rows);
    Profile { stacks: Arc::new(table.stacks), samples, ..profile.clone() }
}

/// The samples of the given rows with their new stacks; rows that have become equal are merged.
pub(super) fn restack(profile: &Profile, rows: impl Iterator<Item = (usize, StackId)>) -> Arc<Samples> {
    let old = &profile.samples;
    let mut table = RowTable::new(old.values.len(), old.time.is_some());
    let mut values = vec![0; old.values.len()];
    for (row, stack) in rows {
        for (value, column) in values.iter_mut().zip(&old.values) {
            *value = column[row];
        }
        let time = old.time.as_ref().map(|times| times[row]);
        let fits = table.add(stack, old.labels[row], time, (0, &values));
        debug_assert!(fits, "no more rows than before");
    }
    Arc::new(table.finish())
}

/// The rows that `keep` selects. Stacks and all other tables are shared with `profile`.
pub(super) fn keep_rows(profile: &Profile, keep: impl Fn(usize) -> bool) -> Profile {
    let samples = &profile.samples;
    let kept: Vec<usize> = (0..samples.len()).filter(|&row| keep(row)).collect();
    if kept.len() == samples.len() {
        return profile.clone();
    }
    let pick = |column: &Vec<i64>| kept.iter().map(|&row| column[row]).collect();
    let samples = Samples {
        stack: kept.iter().map(|&row| samples.stack[row]).collect(),
        labels: kept.iter().map(|&row| samples.labels[row]).collect(),
        time: samples.time.as_ref().map(pick),
        values: samples.values.iter().map(pick).collect(),
    };
    Profile { samples: Arc::new(samples), ..profile.clone() }
}
