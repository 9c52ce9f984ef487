//! A function that calls itself, with the cost spread over what it calls.

use hashbrown::HashMap;

use crate::findings::evidence::{Candidate, Measured, Samples, add, focus};
use crate::findings::{Cost, Rule};
use crate::report::Sentence;
use crate::tree::KeyId;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "recursion",
    finds: "A function calls itself, and what it calls is spread over many functions.",
    least: 5.0,
    of_calls: false,
    find,
};

/// Two frames of one name may be overloads, or closures; three are recursion.
const DEEP: usize = 3;

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    if samples.cost != Cost::Time {
        return Vec::new();
    }
    let mut recursive: HashMap<KeyId, (Vec<usize>, usize)> = HashMap::new();
    for group in samples.left() {
        for (key, depth) in direct(samples, group) {
            let (groups, deepest) = recursive.entry(key).or_default();
            if groups.last() != Some(&group) {
                groups.push(group);
            }
            *deepest = depth.max(*deepest);
        }
    }
    let mut recursive: Vec<(KeyId, (Vec<usize>, usize))> = recursive.into_iter().collect();
    recursive.sort_by_key(|(key, _)| *key);
    // Frames without names may be of different functions.
    let heavy = recursive.into_iter().filter(|(key, (groups, depth))| {
        *depth >= DEEP && !samples.is_nameless(*key) && samples.percent(samples.sum(groups)) >= RULE.least
    });
    heavy.map(|(key, (groups, depth))| candidate(samples, key, groups, depth)).collect()
}

fn candidate(samples: &Samples<'_, '_>, key: KeyId, groups: Vec<usize>, depth: usize) -> Candidate {
    let name = samples.name(key);
    // Its total, as the command shows it: not only the stacks on which it calls itself.
    let all =
        samples.groups.iter().filter(|group| group.frames.iter().any(|&frame| samples.key(frame) == key));
    let measured: Measured = add(all);
    let says = Sentence::of(name).text(format!(" calls itself, up to {depth} deep"));
    Candidate::new(groups, measured, focus(name), says).about(name)
}

/// The functions of a stack that call themselves directly, and how deep each time.
fn direct<'a>(samples: &'a Samples<'_, '_>, group: usize) -> impl Iterator<Item = (KeyId, usize)> + 'a {
    let frames = samples.groups[group].frames;
    let runs = frames.chunk_by(|&a, &b| samples.key(a) == samples.key(b));
    runs.filter(|run| run.len() > 1).map(|run| (samples.key(run[0]), run.len()))
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn code_without_names_does_not_call_itself() {
        let profile =
            from_notation("main;[libc.so.6];[libc.so.6];[libc.so.6];read 60\nmain;call;call;work 40");
        let findings = drawn(&profile, Cost::Time);
        assert!(findings.iter().all(|line| !line.contains("calls itself")), "{findings:?}");
    }

    #[test]
    fn what_recursion_spreads_is_one_finding() {
        let stacks: Vec<String> =
            (0..20).map(|number| format!("main;walk{};part{number} 2", ";walk".repeat(number % 4))).collect();
        let profile = from_notation(&format!("{}\nmain;work 60", stacks.join("\n")));
        assert_eq!(
            drawn(&profile, Cost::Time)[1..],
            [
                "recursion 30/40: walk calls itself, up to 4 deep",
                "light-parent 10/40: walk: the cost is spread over 5 functions below it, none of which has more than 2.0% | \
                 its heaviest callee is part0 (2.0%); prof tree with --focus shows all",
                "rest 0",
            ]
        );
    }
}
