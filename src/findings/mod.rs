//! The rules of `prof report`: what a specialist would say about a profile, and from which share on.
//!
//! Each rule is a file with a [`Rule`] and a line in [`RULES`]. The rules are asked one after the other, the most specific
//! first. What a rule finds, it finds in the samples that no earlier rule has taken, so each sample supports one finding, and
//! the values of the findings and of the rest add up to the whole. `docs/findings.md` explains every rule.

mod allocation;
mod ceiling;
mod evidence;
mod heavy_leaf;
mod label;
mod label_totals;
mod library;
mod library_call;
mod light_parent;
mod lock;
mod object_size;
mod recursion;
mod remark;
mod sequence;
mod setup;
mod taxes;
mod threads;
mod waiting;

pub use ceiling::{accuracy, ceiling};
pub use evidence::{Candidate, Cost, Measured, SampleGroup, Samples};
pub use label_totals::RemarkRule;
pub use object_size::{Objects, small_objects};
pub use remark::remarks;

use std::cmp::Reverse;

use crate::parallel::checkpoint;
use crate::profile::FrameId;
use crate::tree::Subject;

/// A rule: what to look for, and from which share on.
#[derive(Debug)]
pub struct Rule {
    /// Its name, as in JSON and in `docs/findings.md`.
    pub name: &'static str,
    /// What it finds, as a sentence.
    pub finds: &'static str,
    /// The smallest share of what is shown that is a finding, in percent.
    pub least: f64,
    /// Whether it works for profiles of calls, in which only the function is known and not the stack.
    pub of_calls: bool,
    /// What it finds in the samples that are left.
    find: fn(&Samples<'_, '_>) -> Vec<Candidate>,
}

/// All rules, the most specific first.
pub static RULES: &[&Rule] = &[
    &waiting::RULE,
    &setup::RULE,
    &heavy_leaf::RULE,
    &lock::RULE,
    &allocation::RULE,
    &taxes::RULE,
    &library::RULE,
    &library_call::RULE,
    &recursion::RULE,
    &sequence::RULE,
    &light_parent::RULE,
];

/// What a rule found, with the value of its samples.
#[derive(Debug)]
pub struct Found {
    /// The rule.
    pub rule: &'static Rule,
    /// What it says.
    pub candidate: Candidate,
    /// The value of its samples, none of which supports another finding.
    pub value: i64,
}

/// Everything that the rules find, the heaviest first, and which samples are left. The values of `samples` must not be
/// negative.
pub fn find<'s, 'p>(mut samples: Samples<'s, 'p>) -> (Vec<Found>, Samples<'s, 'p>) {
    let mut found = Vec::new();
    let is_of_calls = samples.subject.calls.is_some();
    for rule in RULES.iter().filter(|rule| rule.of_calls || !is_of_calls) {
        checkpoint();
        let mut candidates = (rule.find)(&samples);
        candidates.sort_by_key(|candidate| Reverse(samples.sum(&candidate.groups)));
        for mut candidate in candidates {
            candidate.groups.retain(|&group| samples.is_left(group));
            let value = samples.sum(&candidate.groups);
            let is_own_finding = value >= candidate.least_value;
            if value > 0 && samples.percent(value) >= rule.least && is_own_finding {
                samples.take(&candidate.groups);
                found.push(Found { rule, candidate, value });
            }
        }
    }
    found.sort_by_key(|found| Reverse(found.value));
    (found, samples)
}

/// The frames that stand for stacks of one function each, for [`Samples::new`]: for profiles of calls.
pub fn lone_frames(subject: &Subject<'_>) -> Vec<FrameId> {
    let calls = subject.profile.calls.iter();
    calls.flat_map(|calls| calls.functions().map(|(_, frame)| frame).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::profile::{Profile, from_notation};
    use crate::tree::By;

    /// The findings in a few words: `heavy-leaf 60/60 work`.
    pub(crate) fn drawn(profile: &Profile, cost: Cost) -> Vec<String> {
        drawn_with(profile, cost, |samples| samples)
    }

    /// The same for samples of which more is known.
    pub(crate) fn drawn_with(
        profile: &Profile,
        cost: Cost,
        known: impl for<'s, 'p> FnOnce(Samples<'s, 'p>) -> Samples<'s, 'p>,
    ) -> Vec<String> {
        let subject = Subject::new(profile, &By::Function, &[0]);
        let lone = lone_frames(&subject);
        let (found, left) = find(known(Samples::new(&subject, &lone, cost)));
        let line = |found: &Found| {
            let Found { rule, candidate, value } = found;
            let details = candidate.details.iter().map(|detail| format!(" | {detail}"));
            format!(
                "{} {value}/{}: {}{}",
                rule.name,
                candidate.measured.value,
                candidate.says,
                details.collect::<String>()
            )
        };
        let rest = left.all_left().map(|group| left.groups[group].value).sum::<i64>();
        found.iter().map(line).chain([format!("rest {rest}")]).collect()
    }

    #[test]
    fn rules_have_names_of_their_own() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }

    #[test]
    fn values_add_up() {
        use proptest::prelude::*;
        let names = proptest::sample::select(vec![
            "main",
            "a",
            "b",
            "c",
            "runtime.mallocgc",
            "runtime.gcDrain",
            "encoding/json.Marshal",
            "sync.(*Mutex).Lock",
            "regexp.MustCompile",
            "runtime.memmove",
            "strings.ToLower",
            "fmt.Sprintf",
            "runtime.gopark",
            "[libc.so]",
        ]);
        let stack = proptest::collection::vec(names, 0..9);
        let stacks = proptest::collection::vec((stack, 0..500_i64), 0..40);
        proptest!(|(stacks in stacks)| {
            let text: Vec<String> =
                stacks.iter().map(|(stack, value)| format!("{} {value}", stack.join(";"))).collect();
            let profile = from_notation(&text.join("\n"));
            if profile.meta.metrics.is_empty() {
                return Ok(());
            }
            let subject = Subject::new(&profile, &By::Function, &[0]);
            let whole: i64 = stacks.iter().map(|(_, value)| value).sum();
            for cost in [Cost::Time, Cost::Allocated, Cost::Waiting] {
                let (found, left) = find(Samples::new(&subject, &[], cost));
                let rest: i64 = left.all_left().map(|group| left.groups[group].value).sum();
                let sum: i64 = found.iter().map(|found| found.value).sum();
                prop_assert_eq!(sum + rest, whole);
                for found in &found {
                    prop_assert!(found.value <= found.candidate.measured.value, "{:?}", found);
                }
            }
        });
    }
}
