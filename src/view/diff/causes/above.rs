//! The nearest function from which all growth of another one comes, whichever way it calls it.

use hashbrown::{HashMap, HashSet};

use crate::profile::Id;
use crate::tree::KeyId;
use crate::view::diff::causes::flow::Flow;

/// What one function spends in another one in every run, and how far it is above it.
#[derive(Default)]
struct Above {
    values: Vec<i64>,
    /// The value of all runs, and that times the distance.
    whole: f64,
    far: f64,
}

/// The nearest function above another one, on the stacks where that has `least` of its growth, a fraction of the old total: of
/// `read` and `symbol`, which call `bit`, none has most of the growth, but `expand` does, which calls both.
pub(super) fn common_caller(flow: &Flow<'_, '_>, function: usize, least: f64) -> Option<usize> {
    let grown =
        all_above(flow, function).into_iter().filter(|(_, above)| flow.growth_of(&above.values) >= least);
    let distance = |above: &Above| above.far / above.whole;
    let nearest =
        grown.min_by(|(one, a), (other, b)| distance(a).total_cmp(&distance(b)).then(one.cmp(other)));
    nearest.map(|(key, _)| key.index())
}

/// All functions above another one, with what they spend in it.
fn all_above(flow: &Flow<'_, '_>, function: usize) -> HashMap<KeyId, Above> {
    let subject = flow.subject;
    let function = KeyId::new(function);
    let mut found: HashMap<KeyId, Above> = HashMap::new();
    let mut seen: HashSet<KeyId> = HashSet::new();
    for stack in subject.stacks() {
        let mut above = subject.stack_keys(stack).rev().skip_while(|&key| key != function).skip(1).peekable();
        if above.peek().is_none() {
            continue;
        }
        let values: Vec<(usize, i64)> = subject
            .values(stack)
            .take(flow.profiles())
            .enumerate()
            .filter(|(_, value)| *value != 0)
            .collect();
        let whole: f64 = values.iter().map(|(_, value)| *value as f64).sum();
        seen.clear();
        for (distance, key) in above.enumerate().filter(|(_, key)| *key != function) {
            if !seen.insert(key) {
                continue;
            }
            let entry = found
                .entry(key)
                .or_insert_with(|| Above { values: vec![0; flow.profiles()], ..Above::default() });
            for &(run, value) in &values {
                entry.values[run] = entry.values[run].saturating_add(value);
            }
            entry.whole += whole;
            entry.far += whole * distance as f64;
        }
    }
    found
}
