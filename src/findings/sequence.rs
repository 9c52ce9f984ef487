//! A sequence of calls that recurs in many places: made cheaper once, it is cheaper everywhere.

use crate::findings::evidence::{Candidate, Measured, Samples};
use crate::findings::{Cost, Rule};
use crate::report::{Evidence, Sentence};
use crate::tree::{Fraction, KeyId, PreparedSearch, Sequence, SequenceSearch};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "sequence",
    finds: "The same sequence of calls recurs in many places.",
    least: 5.0,
    of_calls: false,
    find,
};

/// How many of the heaviest sequences are looked at: as many as `prof hot` shows.
const SEQUENCES: usize = 10;

/// The search of `prof hot`, for sequences that are heavy enough here.
fn search(samples: &Samples<'_, '_>) -> SequenceSearch {
    SequenceSearch {
        min_total: (samples.whole as f64 * RULE.least / 100.0).ceil().max(1.0) as u64,
        min_length: 2,
        max_length: usize::MAX,
        contexts: 2,
        context_share: Fraction::percent(5.0),
        tolerance: Fraction::percent(10.0),
    }
}

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    let left: i64 = samples.left().map(|group| samples.groups[group].value).sum();
    if samples.cost != Cost::Time || samples.percent(left) < RULE.least {
        return Vec::new();
    }
    let all = PreparedSearch::new(samples.subject, search(samples)).find();
    // With a base, `prof hot` puts what changed most first: the heaviest may be anywhere.
    let is_compared = samples.groups.iter().any(|group| group.old != 0);
    let candidate = |(rank, sequence): (usize, &Sequence)| {
        let keys = all.keys(sequence);
        // What `[libc.so] → [libc.so]` does is anybody's guess.
        if keys.iter().any(|&key| samples.is_nameless(key)) {
            return None;
        }
        let groups: Vec<usize> = samples.left().filter(|&group| holds(samples, group, &keys)).collect();
        let mut says = Sentence::new("the sequence ").name(samples.name(keys[0]));
        for &key in &keys[1..] {
            says = says.text(" → ").name(samples.name(key));
        }
        let says = says.text(format!(" recurs in {} contexts", sequence.contexts));
        let shown = if is_compared { 0 } else { rank + 1 };
        let words = ["hot", "-n", &shown.to_string()].map(str::to_string).to_vec();
        let old = (0..samples.groups.len()).filter(|&group| holds(samples, group, &keys));
        let old = old.map(|group| samples.groups[group].old).sum();
        let measured = Measured { value: sequence.total, old };
        let hint = Sentence::new("made cheaper once, it is cheaper everywhere");
        // Elsewhere a part of it already is a finding.
        let least_value = sequence.total / 2;
        let evidence = Evidence { words, subject: None };
        let candidate = Candidate::new(groups, measured, evidence, says).detail(Some(hint));
        Some(Candidate { least_value, ..candidate })
    };
    all.found.iter().take(SEQUENCES).enumerate().filter_map(candidate).collect()
}

/// Whether the functions stand next to each other on the stack.
fn holds(samples: &Samples<'_, '_>, group: usize, keys: &[KeyId]) -> bool {
    let frames = samples.groups[group].frames;
    frames
        .windows(keys.len())
        .any(|part| part.iter().zip(keys).all(|(&frame, &key)| samples.key(frame) == key))
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn a_sequence_in_many_places() {
        let stacks: Vec<String> =
            (0..12).map(|number| format!("main;page{number};check;verify;part{} 1", number % 6)).collect();
        let profile = from_notation(&format!("{}\nmain;work 88", stacks.join("\n")));
        let found = drawn(&profile, Cost::Time);
        assert_eq!(
            found[1..],
            [
                "sequence 12/12: the sequence check → verify recurs in 12 contexts | made cheaper once, it is cheaper everywhere",
                "rest 0",
            ]
        );
    }
}
