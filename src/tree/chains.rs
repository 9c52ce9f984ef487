//! Counting given chains of keys: what a sequence found on one side of a comparison has on the other.

use hashbrown::HashMap;

use crate::tree::{KeyId, Subject, whole};

/// What a chain of keys has, one value per series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainCount {
    /// The values of the stacks that contain it, each once.
    pub total: Vec<i64>,
    /// The part of it where the last key is the leaf.
    pub self_value: Vec<i64>,
    /// For each key that calls the first one, the values of the stacks in which it does; the key of the
    /// whole profile where the chain starts the stack.
    pub callers: HashMap<KeyId, Vec<i64>>,
}

/// Counts each of the chains, which are root-most first and not empty.
///
/// ```
/// use prof::profile::from_notation;
/// use prof::tree::{By, Subject, count_chains};
///
/// let profile = from_notation("main;a;b 3 1\nmain;a;b;a;b;c 2 5");
/// let subject = Subject::new(&profile, &By::Function, &[0, 1]);
/// let stack = profile.samples.stack[0];
/// let keys: Vec<_> = subject.stack_keys(stack).skip(1).collect();
/// let counted = &count_chains(&subject, &[keys])[0];
/// assert_eq!((&counted.total[..], &counted.self_value[..]), (&[5, 6][..], &[3, 1][..]));
/// ```
pub fn count_chains(subject: &Subject<'_>, chains: &[Vec<KeyId>]) -> Vec<ChainCount> {
    let zeros = || vec![0; subject.series.len()];
    let empty = ChainCount { total: zeros(), self_value: zeros(), callers: HashMap::new() };
    let mut counts = vec![empty; chains.len()];
    let mut by_end: HashMap<KeyId, Vec<usize>> = HashMap::new();
    for (number, chain) in chains.iter().enumerate() {
        by_end.entry(chain[chain.len() - 1]).or_default().push(number);
    }
    let mut keys: Vec<KeyId> = Vec::new();
    // The chains of a stack with their callers, each once.
    let mut met: Vec<(usize, KeyId)> = Vec::new();
    for stack in subject.stacks() {
        keys.clear();
        keys.extend(subject.stack_keys(stack));
        met.clear();
        for (at, key) in keys.iter().enumerate() {
            for &number in by_end.get(key).into_iter().flatten() {
                let Some(start) = (at + 1).checked_sub(chains[number].len()) else { continue };
                if keys[start..=at] != chains[number][..] {
                    continue;
                }
                let caller = start.checked_sub(1).map_or(whole(), |above| keys[above]);
                met.push((number, caller));
                if at + 1 == keys.len() {
                    add(&mut counts[number].self_value, subject.values(stack));
                }
            }
        }
        met.sort_unstable();
        met.dedup();
        for (index, &(number, caller)) in met.iter().enumerate() {
            let count = &mut counts[number];
            if index == 0 || met[index - 1].0 != number {
                add(&mut count.total, subject.values(stack));
            }
            add(count.callers.entry(caller).or_insert_with(zeros), subject.values(stack));
        }
    }
    counts
}

fn add(sums: &mut [i64], values: impl Iterator<Item = i64>) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}
