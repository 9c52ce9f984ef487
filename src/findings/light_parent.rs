//! A function that does little itself, far above many functions that do a little each.

use hashbrown::{HashMap, HashSet};

use crate::findings::evidence::{Candidate, Samples, focus};
use crate::findings::{Cost, Rule};
use crate::report::Sentence;
use crate::tree::KeyId;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "light-parent",
    finds: "A function does little itself, and what it calls is spread over many functions far below.",
    least: 5.0,
    of_calls: false,
    find,
};

/// A function that most of the profile goes through says nothing: `main` is one.
const MOST: f64 = 80.0;

/// The cost of fewer functions is not spread.
const FEWEST: usize = 4;

/// The callee with this share of its caller is where to look further down.
const NEXT: f64 = 0.6;

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    if samples.cost != Cost::Time {
        return Vec::new();
    }
    let mut groups: Vec<usize> = samples.left().collect();
    let mut found = Vec::new();
    while let Some((key, below)) = lowest(samples, &groups) {
        let taken: HashSet<usize> = below.iter().copied().collect();
        groups.retain(|group| !taken.contains(group));
        found.extend(candidate(samples, key, below));
    }
    found
}

/// The function furthest from the root through which most of the heaviest part of these samples goes, and those samples.
fn lowest(samples: &Samples<'_, '_>, groups: &[usize]) -> Option<(KeyId, Vec<usize>)> {
    let mut sums: HashMap<KeyId, i64> = HashMap::new();
    for &group in groups {
        let keys: HashSet<KeyId> = own_keys(samples, group).collect();
        keys.into_iter().for_each(|key| *sums.entry(key).or_default() += samples.groups[group].value);
    }
    let total = |key: KeyId| samples.flat.total[0][key];
    let is_specific = |key: KeyId| samples.percent(total(key)) < MOST;
    let heavy = sums.iter().filter(|(key, sum)| is_specific(**key) && samples.percent(**sum) >= RULE.least);
    let start = heavy.max_by_key(|(key, sum)| (**sum, std::cmp::Reverse(**key))).map(|(&key, _)| key)?;
    let mut key = start;
    let mut below = through(samples, groups, key);
    let mut seen: HashSet<KeyId> = HashSet::from_iter([key]);
    loop {
        let mut callees: HashMap<KeyId, i64> = HashMap::new();
        for &group in &below {
            let keys: Vec<KeyId> = own_keys(samples, group).collect();
            let next = keys.iter().rposition(|&other| other == key).and_then(|at| keys.get(at + 1));
            if let Some(&next) = next.filter(|next| !seen.contains(*next)) {
                *callees.entry(next).or_default() += samples.groups[group].value;
            }
        }
        let heaviest = callees.into_iter().max_by_key(|(key, sum)| (*sum, std::cmp::Reverse(*key)));
        let Some((next, sum)) = heaviest else { break };
        if (sum as f64) < NEXT * samples.sum(&below) as f64 || samples.percent(sum) < RULE.least {
            break;
        }
        key = next;
        seen.insert(key);
        below = through(samples, &below, key);
    }
    Some((key, below))
}

/// The functions of the program on a stack, or all of them if there is none.
fn own_keys<'a>(samples: &'a Samples<'_, '_>, group: usize) -> impl Iterator<Item = KeyId> + 'a {
    let frames = samples.groups[group].frames;
    let has_own = frames.iter().any(|&frame| samples.is_own(frame));
    frames.iter().filter(move |frame| !has_own || samples.is_own(**frame)).map(|&frame| samples.key(frame))
}

fn through(samples: &Samples<'_, '_>, groups: &[usize], key: KeyId) -> Vec<usize> {
    groups.iter().copied().filter(|&group| own_keys(samples, group).any(|other| other == key)).collect()
}

fn candidate(samples: &Samples<'_, '_>, key: KeyId, groups: Vec<usize>) -> Option<Candidate> {
    let name = samples.name(key);
    let mut leaves: HashMap<KeyId, i64> = HashMap::new();
    for &group in &groups {
        if let Some(&leaf) = samples.groups[group].frames.last() {
            *leaves.entry(samples.key(leaf)).or_default() += samples.groups[group].value;
        }
    }
    if leaves.len() < FEWEST {
        return None;
    }
    let largest = leaves.values().copied().max().unwrap_or_default();
    let count = leaves.len();
    let says = Sentence::of(name).text(format!(
        ": the cost is spread over {count} functions below it, none of which has more than {}",
        samples.share(largest)
    ));
    let hint = heaviest_callee(samples, key, &groups).map_or_else(
        || Sentence::new("prof tree with --focus shows what is below it"),
        |(callee, value)| {
            let share = format!(" ({}); prof tree with --focus shows all", samples.share(value));
            Sentence::new("its heaviest callee is ").name(samples.name(callee)).text(share)
        },
    );
    Some(Candidate::new(groups, samples.total_of(key), focus(name), says).about(name).detail(Some(hint)))
}

/// The function that has the most of these samples directly below `key`, its innermost occurrence.
fn heaviest_callee(samples: &Samples<'_, '_>, key: KeyId, groups: &[usize]) -> Option<(KeyId, i64)> {
    let mut sums: HashMap<KeyId, i64> = HashMap::new();
    for &group in groups {
        let keys: Vec<KeyId> = samples.groups[group].frames.iter().map(|&frame| samples.key(frame)).collect();
        let callee = keys.iter().rposition(|&other| other == key).and_then(|at| keys.get(at + 1));
        if let Some(&callee) = callee {
            *sums.entry(callee).or_default() += samples.groups[group].value;
        }
    }
    sums.into_iter().max_by_key(|(callee, value)| (*value, std::cmp::Reverse(*callee)))
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn many_functions_far_below() {
        let stacks: Vec<String> =
            (0..20).map(|number| format!("main;serve;render;page;part{number};leaf{number} 2")).collect();
        let profile = from_notation(&format!("{}\nmain;work 60", stacks.join("\n")));
        assert_eq!(
            drawn(&profile, Cost::Time)[1..],
            [
                "light-parent 40/40: page: the cost is spread over 20 functions below it, none of which has more than 2.0% | \
                 its heaviest callee is part0 (2.0%); prof tree with --focus shows all",
                "rest 0",
            ]
        );
    }
}
