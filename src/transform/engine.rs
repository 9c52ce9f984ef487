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
    if written.len() < profile.stacks.len() / FEW {
        replace_few(profile, &changes, &written)
    } else {
        replace_stacks(profile, &changes, &written)
    }
}

/// Few stacks are replaced if it is less than one in so many.
const FEW: usize = 4;

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

/// The same for changes of few stacks: the table is kept, with the new stacks at its end. Looking all stacks up again
/// would take most of the time of comparing two profiles of a million stacks.
fn replace_few(profile: &Profile, changes: &Column<StackId, Change>, written: &Stacks) -> Profile {
    let mut made = StackTable::default();
    let made_of: Vec<StackId> =
        written.iter().map(|frames| made.intern(frames).expect("a step makes no stack longer")).collect();
    let (stacks, place) = append(profile, changes, &made);
    let mut replaced = made_of.into_iter();
    let mut is_target = Column::filled(false, stacks.len());
    let new_stack: Column<StackId, Option<StackId>> = changes
        .enumerate()
        .map(|(stack, change)| match change {
            Change::Keep => Some(stack),
            Change::Replace => replaced.next().map(|made| place[made]),
            Change::Drop => None,
        })
        .collect();
    place.iter().for_each(|&stack| is_target[stack] = true);
    // Only rows with these stacks can become equal.
    let samples = &profile.samples;
    let mut merged = RowTable::new(samples.values.len(), samples.time.is_some());
    let mut values = vec![0; samples.values.len()];
    // The rows of the result: those of the profile, and after them the merged ones.
    let mut rows = Vec::with_capacity(samples.len());
    for row in 0..samples.len() {
        let Some(stack) = new_stack[samples.stack[row]] else { continue };
        if !is_target[stack] {
            rows.push(row);
            continue;
        }
        for (value, column) in values.iter_mut().zip(&samples.values) {
            *value = column[row];
        }
        let (next, time) = (merged.stack.len(), samples.time_of(row));
        let fits = merged.add(stack, samples.labels[row], time, (0, &values));
        debug_assert!(fits, "no more rows than before");
        if merged.stack.len() > next {
            rows.push(samples.len() + next);
        }
    }
    let samples = Arc::new(picked(samples, &merged.finish(), &rows));
    Profile { stacks, samples, ..profile.clone() }
}

/// The stacks of a profile with those of `made` that are not among the kept ones at their end. Also returns where each
/// of these is.
fn append(
    profile: &Profile,
    changes: &Column<StackId, Change>,
    made: &StackTable,
) -> (Arc<Stacks>, Column<StackId, StackId>) {
    let mut place = Column::filled(None, made.stacks.len());
    // Most stacks end with other frames, so they need not be looked up.
    let mut is_leaf = Column::filled(false, profile.symbols.frames.len());
    made.stacks.iter().filter_map(<[FrameId]>::last).for_each(|&leaf| is_leaf[leaf] = true);
    for stack in profile.stacks.ids().filter(|&stack| changes[stack] == Change::Keep) {
        let frames = profile.stacks.frames(stack);
        if frames.last().is_none_or(|&leaf| is_leaf[leaf])
            && let Some(equal) = made.find(frames)
        {
            place[equal] = Some(stack);
        }
    }
    let mut stacks = Arc::clone(&profile.stacks);
    let place = place.enumerate().map(|(number, known)| {
        known.unwrap_or_else(|| {
            let frames = made.stacks.frames(number);
            Arc::make_mut(&mut stacks).push(frames).expect("a step makes no stack longer")
        })
    });
    let place = place.collect();
    (stacks, place)
}

/// Rows of `first`, and those of `second`, which are numbered after them.
fn picked(first: &Samples, second: &Samples, rows: &[usize]) -> Samples {
    fn pick<T: Copy>(first: &[T], second: &[T], rows: &[usize]) -> Vec<T> {
        rows.iter().map(|&row| *first.get(row).unwrap_or_else(|| &second[row - first.len()])).collect()
    }
    let columns = first.values.iter().zip(&second.values);
    Samples {
        stack: pick(&first.stack, &second.stack, rows),
        labels: pick(&first.labels, &second.labels, rows),
        time: first.time.as_ref().map(|times| pick(times, second.time.as_deref().unwrap_or_default(), rows)),
        values: columns.map(|(first, second)| pick(first, second, rows)).collect(),
    }
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
        let time = old.time_of(row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};
    use proptest::prelude::*;

    proptest! {
        /// Stacks that are cut may become equal to each other, to kept ones, or empty; values may cancel out.
        #[test]
        fn few_stacks_are_replaced_as_many_are(
            rows in prop::collection::vec((prop::collection::vec(0..3_u8, 1..4), -2..5_i64, 0..2_u8), 1..40),
            choices in prop::collection::vec(0..3_u8, 40),
        ) {
            let row = |(stack, value, label): &(Vec<u8>, i64, u8)| {
                let frames = stack.iter().map(|frame| format!("f{frame}")).collect::<Vec<_>>().join(";");
                let labels = if *label == 1 { " {k=v}" } else { "" };
                format!("{frames} {value} {}{labels}", value * 2)
            };
            let profile = from_notation(&rows.iter().map(row).collect::<Vec<_>>().join("\n"));
            let mut written = Stacks::new();
            let change = |stack: StackId| match choices[crate::profile::Id::index(stack) % choices.len()] {
                0 => Change::Keep,
                1 => Change::Drop,
                _ => {
                    let frames = profile.stacks.frames(stack);
                    written.push(&frames[..frames.len().saturating_sub(1)]);
                    Change::Replace
                }
            };
            let changes: Column<StackId, Change> = profile.stacks.ids().map(change).collect();
            let (few, many) = (replace_few(&profile, &changes, &written), replace_stacks(&profile, &changes, &written));
            prop_assert_eq!(to_notation(&few), to_notation(&many));
            // In the same order.
            prop_assert_eq!(&few.samples.values, &many.samples.values);
        }
    }
}
