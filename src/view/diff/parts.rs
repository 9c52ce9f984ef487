//! The parts of the call tree: disjoint, and each with a small share of all samples.
//!
//! A function of a library costs more where changed code calls it more often, and the same elsewhere. The parts of a call tree
//! keep the two apart, which functions do not.

use hashbrown::HashMap;

use crate::profile::{Column, StackId};
use crate::tree::{Flat, KeyId, Subject};

/// What has at least this share, on the average of both sides, is divided further.
const DIVIDED: f64 = 0.05;

/// A part with a smaller share says too little.
const LEAST: f64 = 0.001;

/// The value of each part of the call tree in each of the first `profiles` series, of which the first `old` are the old side. Parts
/// are the calls with less than a twentieth of the whole whose callers have more, and what these callers do themselves.
///
/// ```text
/// main;handle;encode;write 3   main;handle;encode 1   main;handle;parse 40   main;handle 2   main;wait;poll 4
/// ```
///
/// has four parts: `main;handle;encode` with all that it calls, `main;handle;parse`, `main;handle` itself, and `main;wait`.
pub(super) fn parts(subject: &Subject<'_>, counted: &Flat, (old, profiles): (usize, usize)) -> Vec<Vec<i64>> {
    let whole = |series: usize| subject.series[series].iter().map(|&value| value as f64).sum::<f64>();
    let sides = [(0..old).map(whole).sum::<f64>(), (old..profiles).map(whole).sum::<f64>()];
    let share = |values: &mut dyn Iterator<Item = i64>| -> f64 {
        let of_side = |(series, value): (usize, i64)| value as f64 / sides[usize::from(series >= old)] / 2.0;
        values.take(profiles).enumerate().map(of_side).sum()
    };
    // A prefix has no more than the function that it ends with.
    let heavy = |key: &KeyId| share(&mut counted.total.iter().map(|total| total[*key])) >= DIVIDED;
    let is_heavy = Column::marking(subject.keys.ids().filter(heavy), subject.keys.len());
    let stacks: Vec<StackId> = subject.stacks().collect();
    let mut prefixes = Prefixes::default();
    let longest: Vec<usize> = stacks
        .iter()
        .map(|&stack| prefixes.add(subject.stack_keys(stack), &is_heavy, share(&mut subject.values(stack))))
        .collect();
    let part_of = prefixes.parts();
    let mut shares = vec![0.0; part_of.len()];
    part_of.iter().zip(&prefixes.own).for_each(|(&part, own)| shares[part] += own);
    let mut values: HashMap<usize, Vec<i64>> = HashMap::new();
    for (&stack, prefix) in stacks.iter().zip(longest) {
        let part = part_of[prefix];
        if shares[part] >= LEAST {
            let sums = values.entry(part).or_insert_with(|| vec![0; profiles]);
            sums.iter_mut().zip(subject.values(stack)).for_each(|(sum, value)| *sum += value);
        }
    }
    let mut parts: Vec<(usize, Vec<i64>)> = values.into_iter().collect();
    parts.sort_unstable_by_key(|(part, _)| *part);
    parts.into_iter().map(|(_, values)| values).collect()
}

/// The prefixes of stacks, up to the first function that is light. The first is the empty one; others come after those that they
/// extend.
struct Prefixes {
    next: HashMap<(usize, KeyId), usize>,
    parent: Vec<usize>,
    /// The share of the stacks that have none longer.
    own: Vec<f64>,
}

impl Default for Prefixes {
    fn default() -> Self {
        Prefixes { next: HashMap::new(), parent: vec![0], own: vec![0.0] }
    }
}

impl Prefixes {
    /// The number of the longest prefix of a stack.
    fn add(
        &mut self,
        stack: impl Iterator<Item = KeyId>,
        is_heavy: &Column<KeyId, bool>,
        share: f64,
    ) -> usize {
        let mut at = 0;
        for key in stack {
            let found = self.parent.len();
            let next = *self.next.entry((at, key)).or_insert(found);
            if next == found {
                self.parent.push(at);
                self.own.push(0.0);
            }
            at = next;
            if !is_heavy[key] {
                break;
            }
        }
        self.own[at] += share;
        at
    }

    /// Which prefix is the part of the tree that each belongs to.
    fn parts(&self) -> Vec<usize> {
        let mut total = self.own.clone();
        for prefix in (1..total.len()).rev() {
            total[self.parent[prefix]] += total[prefix];
        }
        let mut part_of = vec![0; total.len()];
        for prefix in 1..part_of.len() {
            let around = part_of[self.parent[prefix]];
            part_of[prefix] = if total[around] < DIVIDED { around } else { prefix };
        }
        part_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LoadOptions, from_notation};
    use crate::transform::{ProfileMetric, align};
    use crate::tree::{By, flat};

    #[test]
    fn light_calls_are_parts_with_all_that_they_call() {
        let old = "main;handle;encode;write 3\nmain;handle;encode 1\nmain;handle;parse 40\nmain;handle 2\nmain;wait;poll 4\nmain 50";
        let new = "main;handle;encode;write 4\nmain;handle;parse 30\nmain;handle;parse;write 10\nmain;wait 4\nmain 52";
        let sides = [from_notation(old), from_notation(new)];
        let of_side = [0, 1].map(|side| ProfileMetric { profile: &sides[side], metric: 0, extra: None });
        let whole = align(&of_side, LoadOptions::default()).unwrap();
        let subject = Subject::new(&whole, &By::Function, &[0, 1]);
        let mut found = parts(&subject, &flat(&subject), (1, 2));
        found.sort_unstable();
        // encode, handle itself, wait, parse itself, main itself; write below parse has 5 %, but nothing below it.
        let expected = [[0, 10], [2, 0], [4, 4], [4, 4], [40, 30], [50, 52]];
        assert_eq!(found, expected);
    }
}
