//! Callers and callees by brute force: goes through all stacks one by one, for all functions at once.

use std::collections::{BTreeMap, BTreeSet};

use prof::profile::Profile;
use prof::tree::{By, Subject};

/// Stacks of names, root first, with their values.
pub type Stacks = Vec<(Vec<String>, i64)>;

/// A function with all direct callers and callees that have a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub total: i64,
    pub self_value: i64,
    pub callers: BTreeMap<String, i64>,
    pub callees: BTreeMap<String, i64>,
    pub itself: i64,
    pub root: i64,
}

/// The samples of a profile, with the names that rows have.
pub fn stacks(profile: &Profile, metric: usize) -> Stacks {
    let subject = Subject::new(profile, &By::Function, &[metric]);
    let name = |key| subject.keys.name(key).to_string();
    let values = &profile.samples.values[metric];
    let rows = profile.samples.stack.iter().zip(values);
    rows.map(|(&stack, &value)| (subject.stack_keys(stack).map(name).collect(), value)).collect()
}

/// All functions. Each pair of neighbours counts once per sample.
pub fn nodes(stacks: &Stacks) -> BTreeMap<String, Node> {
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    for (stack, value) in stacks {
        for name in stack.iter().collect::<BTreeSet<_>>() {
            nodes.entry(name.clone()).or_default().total += value;
        }
        let (Some(first), Some(leaf)) = (stack.first(), stack.last()) else { continue };
        nodes.entry(first.clone()).or_default().root += value;
        nodes.entry(leaf.clone()).or_default().self_value += value;
        for (caller, callee) in stack.iter().zip(&stack[1..]).collect::<BTreeSet<_>>() {
            if caller == callee {
                nodes.entry(caller.clone()).or_default().itself += value;
            } else {
                let add = |side: &mut BTreeMap<String, i64>, name: &String| {
                    *side.entry(name.clone()).or_default() += value;
                };
                add(&mut nodes.entry(caller.clone()).or_default().callees, callee);
                add(&mut nodes.entry(callee.clone()).or_default().callers, caller);
            }
        }
    }
    for node in nodes.values_mut() {
        node.callers.retain(|_, value| *value != 0);
        node.callees.retain(|_, value| *value != 0);
    }
    nodes
}
