//! A caller further up that makes a function cost more: all calls of the function come from one caller, and some of that one's
//! callers make it call the function as before.

use std::collections::HashSet;

use crate::profile::Id;
use crate::stats::CountKind;
use crate::stats::model::GONE;
use crate::tree::KeyId;
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
    let mut way = vec![function];
    let mut seen = HashSet::from([function]);
    let mut at = function;
    while let Some(&(caller, _)) = flow.callers(at).first().filter(|(caller, _)| seen.insert(*caller)) {
        way.insert(0, caller);
        if at != function {
            let [through, others] = split(flow, function, (caller, at));
            let whole = flow.total(function);
            // What came from there before is all that there was: it says nothing, and its caller may say more.
            if others.old_share >= GONE * whole.old_share || others.new_share >= GONE * whole.new_share {
                let is_witness = others.old_share >= LEAST_WITNESS * whole.old_share;
                let is_it = through.points >= NEARLY_ALL * whole.points && !through.is_new();
                return (is_witness && is_it && others.grew_less_than(&through)).then_some((way, through));
            }
        } else if !is_only_caller(flow, function, caller) {
            return None;
        }
        at = caller;
    }
    None
}

/// Whether hardly anything else calls a function.
fn is_only_caller(flow: &Flow<'_, '_>, function: usize, caller: usize) -> bool {
    let (others, total) = (flow.of_other_callers(function, caller), flow.total(function));
    others.old_share < GONE * total.old_share && others.new_share < GONE * total.new_share
}

/// How a function changed where it is called, directly or not, through a call, and elsewhere.
fn split(flow: &Flow<'_, '_>, function: usize, edge: Edge) -> [Change; 2] {
    let subject = flow.subject;
    let profiles = flow.comparison.profiles.0 + flow.comparison.profiles.1;
    let mut values = [vec![0_i64; profiles], vec![0_i64; profiles]];
    for stack in subject.stacks() {
        let frames = subject.profile.stacks.frames(stack);
        let key = |index: usize| subject.keys.of_frame(frames[index]);
        let Some(outermost) = (0..frames.len()).find(|&index| key(index) == KeyId::new(function)) else {
            continue;
        };
        let is_edge = |index: usize| (key(index - 1).index(), key(index).index()) == edge;
        let side = usize::from(!(1..outermost).any(is_edge));
        for (sum, value) in values[side].iter_mut().zip(subject.values(stack)) {
            *sum = sum.saturating_add(value);
        }
    }
    values.map(|values| flow.of_values(&values, function, CountKind::Total))
}
