//! Allocating memory, and collecting it: both grow with what is allocated.

use crate::findings::evidence::{ASKED_FOR, Candidate, Samples, focus};
use crate::findings::taxes::{mostly, of_set};
use crate::findings::{Cost, Rule};
use crate::report::Sentence;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "allocation",
    finds: "The program spends much on allocating memory and on collecting garbage.",
    least: 3.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    if samples.cost != Cost::Time {
        return Vec::new();
    }
    let [both, collector] = ["@memory", "@gc"].map(|set| samples.set(set));
    let groups = samples.left_in(&both);
    if groups.is_empty() {
        return Vec::new();
    }
    let measured = samples.measure(|frame| both[frame]);
    let (collecting, allocating): (Vec<usize>, Vec<usize>) =
        groups.iter().partition(|&&group| samples.touches(group, &collector));
    let says = match [samples.sum(&allocating), samples.sum(&collecting)] {
        [_, 0] => mostly(samples, Sentence::new("allocating and freeing memory"), &groups, &both),
        [0, _] => mostly(samples, Sentence::new("garbage collection"), &groups, &both),
        [allocating, collecting] => {
            let [allocating, collecting] = [allocating, collecting].map(|value| samples.share(value));
            Sentence::new(format!("memory: {allocating} to allocate it, {collecting} to collect garbage"))
        }
    };
    let lead = if samples.sum(&collecting) > 0 { ALLOCATED } else { ASKED_FOR };
    let callers = of_set(samples, lead, &allocating, &both);
    // The collector runs on threads of its own, so its stacks do not say who made the garbage.
    let hint = (samples.sum(&collecting) > 0).then(|| {
        Sentence::new(
            "collecting grows with what is allocated: a profile of allocations says who allocates most",
        )
    });
    vec![Candidate::new(groups, measured, focus("@memory"), says).detail(callers).detail(hint)]
}

/// The verb for those who allocate, where a finding includes the collector, which nobody calls.
const ALLOCATED: [&str; 2] = ["allocated by", "allocated only by"];

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn allocation_and_collection_are_one_finding() {
        let profile = from_notation(
            "main;split;runtime.growslice;runtime.mallocgc 30\nmain;join;runtime.mallocgc 10\nruntime.gcBgMarkWorker;runtime.gcDrain 20\nmain;work 40",
        );
        assert_eq!(
            drawn(&profile, Cost::Time),
            [
                "allocation 60/60: memory: 40.0% to allocate it, 20.0% to collect garbage | allocated by split (30.0%), join (10.0%) | \
                 collecting grows with what is allocated: a profile of allocations says who allocates most",
                "heavy-leaf 40/40: work does the work itself | called only by main",
                "rest 0",
            ]
        );
    }
}
