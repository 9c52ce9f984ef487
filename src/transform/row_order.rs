//! Numbering stacks by their rows.

use std::sync::Arc;

use crate::profile::{Column, Profile, Stacks};

/// Gives each stack the number of its row, and drops stacks without one, where no two rows have the same stack. The values of a
/// hundred runs, row by row, then are those of the stacks, without a copy.
pub(crate) fn stacks_by_row(mut profile: Profile) -> Profile {
    if profile.calls.is_some() || profile.rows_are_stacks() {
        return profile;
    }
    let Some(samples) = Arc::get_mut(&mut profile.samples) else { return profile };
    let mut has_row = Column::filled(false, profile.stacks.len());
    let are_distinct = samples.stack.iter().all(|&stack| !std::mem::replace(&mut has_row[stack], true));
    if !are_distinct {
        return profile;
    }
    let mut stacks = Stacks::with_capacity(samples.len(), profile.stacks.all_frames().len());
    for stack in &mut samples.stack {
        let frames = profile.stacks.frames(*stack);
        *stack = stacks.push(frames).expect("no more stacks than before");
    }
    profile.stacks = Arc::new(stacks);
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};
    use crate::transform::{artefacts, fold_leaves};

    #[test]
    fn stacks_get_the_numbers_of_their_rows() {
        let text = "a 1\nb 2\nb;runtime.asyncPreempt 3\nc 4\nd 5\ne 6\nf 7\ng 8\nh 9";
        let profile = from_notation(text);
        let folded = fold_leaves(&profile, &artefacts(&profile)).0;
        let (stacks, notation) = (folded.stacks.len(), to_notation(&folded));
        let ordered = stacks_by_row(folded);
        assert_eq!((stacks, ordered.stacks.len()), (9, 8));
        assert_eq!(to_notation(&ordered), notation);
        assert!(ordered.rows_are_stacks());
    }

    #[test]
    fn rows_with_one_stack_keep_it() {
        let labelled = from_notation("b 2 {k=v}\na 1\nb 3");
        let stacks = labelled.stacks.clone();
        assert!(Arc::ptr_eq(&stacks, &stacks_by_row(labelled).stacks));
    }
}
