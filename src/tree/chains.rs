//! Counting given chains of keys, for example to find what the sequences of one side cost on the other.

use hashbrown::HashMap;

use crate::tree::{KeyId, Subject, whole};

/// The values of a chain of keys, one per series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainCount {
    /// The value of the stacks that contain the chain; each stack counts once.
    pub total: Vec<i64>,
    /// The part of `total` in which the last key is the leaf.
    pub self_value: Vec<i64>,
    /// For each caller of the first key, the value of the stacks on which it is the caller. The key of
    /// the whole profile stands for stacks that start with the chain.
    pub callers: HashMap<KeyId, Vec<i64>>,
}

/// Counts each of the chains. Chains start at the end nearest to the root and are not empty.
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
    // The distinct pairs of chain and caller on this stack.
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
