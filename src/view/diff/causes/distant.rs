//! A caller further up that makes a function cost more: all calls of the function come from one caller, and some of that one's
//! callers make it call the function as before.

use std::collections::{BTreeSet, HashSet};

use hashbrown::HashMap;

use crate::profile::{Id, StackId};
use crate::stats::CountKind;
use crate::stats::model::GONE;
use crate::view::diff::causes::flow::{Change, Edge, Flow};
use crate::view::diff::causes::origins::{LEAST_WITNESS, NEARLY_ALL};

/// The call above `function` that makes it cost more, while it costs in the others what it did, and how much more it costs there:
/// `details` makes `render` call `parse` for more work, and `row` does not.
///
/// ```text
/// row;render;parse 50        →    row;render;parse 50
/// details;render;parse 30         details;render;parse 60
/// ```
///
/// The way from there to the function is the first result.
pub(super) fn grown_call_above(flow: &Flow<'_, '_>, function: usize) -> Option<(Vec<usize>, Change)> {
    let way = way_up(flow, function);
    let (&caller, above) = way.split_first()?;
    if !is_only_caller(flow, function, caller) {
        return None;
    }
    let callees = way.iter().copied();
    let calls: Vec<Edge> = above.iter().copied().zip(callees).collect();
    let whole = flow.total(function);
    for (level, [through, others]) in split(flow, function, &calls).into_iter().enumerate() {
        // Where all of it comes from, nothing can be compared, but one of the callers there may say more.
        if others.old_share >= GONE * whole.old_share || others.new_share >= GONE * whole.new_share {
            let is_witness = others.old_share >= LEAST_WITNESS * whole.old_share;
            let is_it = through.points >= NEARLY_ALL * whole.points && !through.is_new();
            let down = way[..level + 2].iter().rev().copied().chain([function]);
            return (is_witness && is_it && others.grew_less_than(&through))
                .then(|| (down.collect(), through));
        }
    }
    None
}

/// The caller in which a function grew most, that one's, and so on up.
fn way_up(flow: &Flow<'_, '_>, function: usize) -> Vec<usize> {
    let mut seen = HashSet::from([function]);
    let callers = std::iter::successors(Some(function), |&at| {
        let (caller, _) = *flow.callers(at).first()?;
        seen.insert(caller).then_some(caller)
    });
    callers.skip(1).collect()
}

/// Whether hardly anything else calls a function.
fn is_only_caller(flow: &Flow<'_, '_>, function: usize, caller: usize) -> bool {
    let (others, total) = (flow.of_other_callers(function, caller), flow.total(function));
    others.old_share < GONE * total.old_share && others.new_share < GONE * total.new_share
}

/// How a function changed where it is called through each of these calls, directly or not, and elsewhere.
fn split(flow: &Flow<'_, '_>, function: usize, calls: &[Edge]) -> Vec<[Change; 2]> {
    let subject = flow.subject;
    let profiles = flow.profiles();
    let level: HashMap<Edge, usize> = calls.iter().copied().zip(0..).collect();
    let mut through = vec![vec![0_i64; profiles]; calls.len()];
    let mut whole = vec![0_i64; profiles];
    let add = |sums: &mut [i64], stack: StackId| {
        sums.iter_mut().zip(subject.values(stack)).for_each(|(sum, value)| *sum = sum.saturating_add(value));
    };
    for stack in subject.stacks().filter(|_| !calls.is_empty()) {
        let keys =
            subject.profile.stacks.frames(stack).iter().map(|&frame| subject.keys.of_frame(frame).index());
        let above: Vec<usize> = keys.clone().take_while(|&key| key != function).collect();
        if above.len() == keys.len() {
            continue;
        }
        add(&mut whole, stack);
        let levels = above.windows(2).filter_map(|call| level.get(&(call[0], call[1])));
        let levels: BTreeSet<usize> = levels.copied().collect();
        for level in levels {
            add(&mut through[level], stack);
        }
    }
    let change = |values: &[i64]| flow.of_values(values, function, CountKind::Total);
    let both = |through: Vec<i64>| {
        let others: Vec<i64> =
            whole.iter().zip(&through).map(|(whole, part)| whole.saturating_sub(*part)).collect();
        [change(&through), change(&others)]
    };
    through.into_iter().map(both).collect()
}
