//! Waiting: threads that do nothing in a profile of elapsed time, and who waits or holds a lock in a profile of waiting.

use hashbrown::HashMap;

use crate::findings::evidence::{CALLED, Candidate, REACHED, SampleGroup, Samples, add, focus};
use crate::findings::taxes::{mostly, of_set};
use crate::findings::{Cost, Rule};
use crate::report::Sentence;
use crate::tree::KeyId;
use crate::unit;

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
        Cost::Time => recorded(samples).into_iter().chain(idle(samples)).collect(),
        cost if cost.is_waiting() => who_waits(samples),
        _ => Vec::new(),
    }
}

/// Who waits in a profile of elapsed time that says which part of it was waiting. The functions may have any name.
fn recorded(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    let waiting = |group: &usize| samples.groups[*group].waits;
    let all: i64 = samples.groups.iter().filter(|group| group.waits).map(|group| group.value).sum();
    let whoever = |group: usize| {
        let frames = samples.groups[group].frames;
        let leaf = || frames.last().map(|&leaf| samples.key(leaf));
        samples.own_caller(group, frames.len(), None).or_else(leaf)
    };
    let candidate = |(key, groups): (KeyId, Vec<usize>)| {
        let name = samples.name(key);
        let is_its = |group: &&SampleGroup<'_>| {
            group.waits && group.frames.iter().any(|&frame| samples.key(frame) == key)
        };
        let measured = add(samples.groups.iter().filter(is_its));
        let share = format!("{} of all waiting", unit::share(measured.value, all));
        let leaf = |group: usize| samples.groups[group].frames.last().map(|&leaf| samples.key(leaf));
        let is_leaf = groups.iter().all(|&group| leaf(group) == Some(key));
        let detail = if is_leaf { None } else { samples.callers(IN, &groups, leaf) };
        let detail =
            detail.map_or_else(|| Sentence::new(share.clone()), |detail| detail.text(format!("; {share}")));
        let mut evidence = focus(name);
        evidence.words.extend(["-m", "waiting"].map(str::to_string));
        Candidate::new(groups, measured, evidence, Sentence::of(name).text(" waits"))
            .about(name)
            .detail(Some(detail))
            .without_ceiling()
    };
    grouped(samples.all_left().filter(waiting), whoever).into_iter().map(candidate).collect()
}

/// Groups of samples by a function of each.
fn grouped(
    groups: impl Iterator<Item = usize>,
    function: impl Fn(usize) -> Option<KeyId>,
) -> Vec<(KeyId, Vec<usize>)> {
    let mut by_function: HashMap<KeyId, Vec<usize>> = HashMap::new();
    for group in groups {
        if let Some(key) = function(group) {
            by_function.entry(key).or_default().push(group);
        }
    }
    let mut by_function: Vec<(KeyId, Vec<usize>)> = by_function.into_iter().collect();
    by_function.sort_by_key(|(key, _)| *key);
    by_function
}

/// The verb for where someone waits.
const IN: [&str; 2] = ["in", "in"];

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
    let innermost = |group: usize| samples.own_caller(group, samples.groups[group].frames.len(), None);
    let groups = grouped(samples.left(), innermost);
    let candidate = |(key, groups): (KeyId, Vec<usize>)| {
        let name = samples.name(key);
        let what = if samples.cost == Cost::Holding { " holds locks that others wait for" } else { " waits" };
        let is_waiting = samples.cost == Cost::Waiting;
        let leaf = |group: usize| samples.groups[group].frames.last().map(|&leaf| samples.key(leaf));
        let leaf = is_waiting.then(|| samples.callers(IN, &groups, leaf)).flatten();
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
    use crate::findings::tests::{drawn, drawn_with};
    use crate::profile::{Column, from_notation};

    /// Names such as `read` and `__schedule` say nothing about waiting; the recording does.
    #[test]
    fn recorded_waiting_is_no_work() {
        let profile = from_notation("main;load;read;__schedule 50\nmain;work 30\npool;take 20");
        // Of these, 45, 10 and 20 were spent waiting.
        let waits: Column<_, i64> = profile
            .stacks
            .ids()
            .map(|stack| match profile.stacks.frames(stack).len() {
                4 => 45,
                _ if profile.symbols.frame_name(profile.stacks.frames(stack)[1]) == "work" => 10,
                _ => 20,
            })
            .collect();
        let found =
            drawn_with(&profile, Cost::Time, |samples| samples.with_waits(std::slice::from_ref(&waits)));
        assert_eq!(
            found,
            [
                "waiting 45/45: __schedule waits | 60.0% of all waiting",
                "waiting 20/20: take waits | 26.7% of all waiting",
                "heavy-leaf 20/30: work does the work itself | called only by main",
                "waiting 10/10: work waits | 13.3% of all waiting",
                "heavy-leaf 5/50: __schedule does the work itself | called only by read",
                "rest 0",
            ]
        );
    }

    #[test]
    fn elapsed_time_may_be_waiting() {
        let profile = from_notation("main;load 60\nmain;strings.ToLower 40");
        let found = drawn_with(&profile, Cost::Time, |mut samples| {
            samples.may_wait = true;
            samples
        });
        assert_eq!(
            found[..2],
            [
                "heavy-leaf 60/60: load spends this itself, running or waiting | called only by main",
                "library 40/40: strings.ToLower, library code, spends this itself, running or waiting | reached only from main",
            ]
        );
    }

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
