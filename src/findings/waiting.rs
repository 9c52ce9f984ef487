//! Waiting: threads that do nothing in a profile of elapsed time, and who waits or holds a lock in a profile of waiting.

use hashbrown::HashMap;

use crate::findings::evidence::{CALLED, Candidate, REACHED, Samples, focus};
use crate::findings::taxes::{mostly, of_set};
use crate::findings::{Cost, Rule};
use crate::report::Sentence;
use crate::tree::KeyId;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "waiting",
    finds: "Threads wait, or hold a lock that others wait for.",
    least: 3.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    match samples.cost {
        Cost::Time => idle(samples).into_iter().collect(),
        cost if cost.is_waiting() => who_waits(samples),
        _ => Vec::new(),
    }
}

/// All idle stacks together: a thread pool has many, and none matters.
fn idle(samples: &Samples<'_, '_>) -> Option<Candidate> {
    let set = samples.set("@idle");
    let groups = samples.left_in(&set);
    if groups.is_empty() {
        return None;
    }
    let measured = samples.measure(|frame| set[frame]);
    let says = mostly(samples, Sentence::new("waiting or looking for work"), &groups, &set);
    let callers = of_set(samples, REACHED, &groups, &set);
    let hint = Sentence::new("the option --hide-stacks @idle leaves it out");
    Some(
        Candidate::new(groups, measured, focus("@idle"), says)
            .detail(callers)
            .detail(Some(hint))
            .without_ceiling(),
    )
}

/// The innermost function of the program on each stack.
fn who_waits(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    let mut groups: HashMap<KeyId, Vec<usize>> = HashMap::new();
    for group in samples.left() {
        let below = samples.groups[group].frames.len();
        if let Some(key) = samples.own_caller(group, below, None) {
            groups.entry(key).or_default().push(group);
        }
    }
    let mut groups: Vec<(KeyId, Vec<usize>)> = groups.into_iter().collect();
    groups.sort_by_key(|(key, _)| *key);
    let candidate = |(key, groups): (KeyId, Vec<usize>)| {
        let name = samples.name(key);
        let what = if samples.cost == Cost::Holding { " holds locks that others wait for" } else { " waits" };
        let is_waiting = samples.cost == Cost::Waiting;
        let leaf = |group: usize| samples.groups[group].frames.last().map(|&leaf| samples.key(leaf));
        let leaf = is_waiting.then(|| samples.callers(["in", "in"], &groups, leaf)).flatten();
        let callers = samples.callers(CALLED, &groups, |group| {
            samples.own_caller(group, samples.groups[group].frames.len(), Some(key))
        });
        let says = Sentence::of(name).text(what);
        Candidate::new(groups, samples.total_of(key), focus(name), says)
            .about(name)
            .detail(leaf)
            .detail(callers)
    };
    groups.into_iter().map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn idle_threads_are_one_finding() {
        let profile = from_notation("pool;runtime.gopark 40\nmain;listen;epoll_wait 20\nmain;work 40");
        assert_eq!(
            drawn(&profile, Cost::Time)[0],
            "waiting 60/60: waiting or looking for work, mostly in runtime.gopark | reached from pool (40.0%), listen (20.0%) | \
             the option --hide-stacks @idle leaves it out"
        );
    }

    #[test]
    fn who_waits_and_who_holds() {
        let text = "main;put;sync.(*Mutex).Unlock 30\nmain;serve;get;sync.(*Mutex).Unlock 70";
        let profile = from_notation(text);
        assert_eq!(
            drawn(&profile, Cost::Holding),
            [
                "waiting 70/70: get holds locks that others wait for | called only by serve",
                "waiting 30/30: put holds locks that others wait for | called only by main",
                "rest 0",
            ]
        );
        assert_eq!(
            drawn(&profile, Cost::Waiting)[0],
            "waiting 70/70: get waits | in sync.(*Mutex).Unlock | called only by serve"
        );
    }
}
