use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::profile::{Profile, from_notation};
use crate::tree::By;

const ALL: SequenceSearch = SequenceSearch {
    min_total: 1,
    min_length: 2,
    max_length: usize::MAX,
    contexts: 2,
    context_share: Fraction(0),
    tolerance: Fraction(0),
};

/// `a → b self/total in contexts < caller value, …`
fn drawn(profile: &Profile, search: SequenceSearch) -> Vec<String> {
    let subject = Subject::new(profile, &By::Function, &[0]);
    let sequences = PreparedSearch::new(&subject, search).find();
    let name = |key: KeyId| match &**subject.keys.name(key) {
        "(all)" => "(root)".to_string(),
        name => name.to_string(),
    };
    let draw = |sequence: &Sequence| {
        let keys: Vec<String> = sequences.keys(sequence).into_iter().map(name).collect();
        let callers: Vec<String> =
            sequence.callers.iter().map(|&(key, value)| format!("{} {value}", name(key))).collect();
        format!(
            "{} {}/{} in {} < {}",
            keys.join(" → "),
            sequence.self_value,
            sequence.total,
            sequence.contexts,
            callers.join(", ")
        )
    };
    sequences.found.iter().map(draw).collect()
}

#[test]
fn drawn_stacks() {
    let base = "main;a;x;y 4\nmain;b;x;y 3";
    let share = |percent| SequenceSearch { context_share: Fraction::percent(percent), ..ALL };
    let tolerance = |percent| SequenceSearch { tolerance: Fraction::percent(percent), ..ALL };
    let table: [(&str, SequenceSearch, &[&str]); 12] = [
        (base, ALL, &["x → y 7/7 in 2 < a 4, b 3"]),
        ("main;a;x;y 4\nmain;a;x;z 3", ALL, &[]),
        // The same caller, reached in two ways, is two contexts.
        ("p;a;x;y 4\nq;a;x;y 3", ALL, &["a → x → y 7/7 in 2 < p 4, q 3"]),
        // The empty prefix is a context.
        ("x;y 4\nmain;x;y;z 3", ALL, &["x → y 4/7 in 2 < (root) 4, main 3"]),
        // Recursion: each stack counts once, but every prefix is a context.
        ("a;a;a;a 5\na;a;a 3", ALL, &["a → a → a 8/8 in 2 < (root) 8, a 5"]),
        // Half of the total lies outside the heaviest context, 3 of 7.
        (base, share(42.8), &["x → y 7/7 in 2 < a 4, b 3"]),
        (base, share(42.9), &[]),
        // A longer chain with nine tenths of the total replaces the shorter one.
        ("p;x;y 1\nq;x;y;z 5\nr;x;y;z 4", tolerance(10.0), &["x → y → z 9/9 in 2 < q 5, r 4"]),
        (
            "p;x;y 1\nq;x;y;z 5\nr;x;y;z 4",
            tolerance(9.9),
            &["x → y 1/10 in 3 < q 5, r 4, p 1", "x → y → z 9/9 in 2 < q 5, r 4"],
        ),
        (base, SequenceSearch { contexts: 3, ..ALL }, &[]),
        (base, SequenceSearch { min_length: 3, ..ALL }, &[]),
        (
            "p;x;y;z 1\nq;x;y;z 1\nq;x;y 1",
            SequenceSearch { max_length: 2, ..ALL },
            &["x → y 1/3 in 2 < q 2, p 1"],
        ),
    ];
    for (picture, search, expected) in table {
        assert_eq!(drawn(&from_notation(picture), search), expected, "{picture}");
    }
}

#[test]
fn a_longer_chain_too_light_to_show_still_hides_a_shorter_one() {
    // x → y → z has 95 of 100: too light to be shown itself, but it makes x → y redundant.
    let picture = "p;x;y;z 50\nq;x;y;z 45\nr;x;y 5";
    let search = SequenceSearch { min_total: 100, tolerance: Fraction::percent(10.0), ..ALL };
    assert_eq!(drawn(&from_notation(picture), search), [""; 0]);
    assert_eq!(
        drawn(&from_notation(picture), SequenceSearch { tolerance: Fraction::percent(1.0), ..search }).len(),
        1
    );
}

#[test]
fn deep_recursion_is_no_problem() {
    let depth = 100_000;
    let stack = vec!["f"; depth].join(";");
    let picture = format!("a;{stack} 5\nb;{stack};{stack};g 5");
    let search = SequenceSearch { min_total: 2, tolerance: Fraction::percent(10.0), ..ALL };
    let profile = from_notation(&picture);
    let subject = Subject::new(&profile, &By::Function, &[0]);
    let found = PreparedSearch::new(&subject, search).find().found;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].length, found[0].total, found[0].contexts), (depth, 10, depth as u64 + 2));
}

/// The definition, evaluated by brute force chain by chain.
fn by_definition(
    stacks: &[(Vec<usize>, i64)],
    search: SequenceSearch,
) -> BTreeMap<String, (i64, i64, usize)> {
    #[derive(Default)]
    struct Counted {
        total: i64,
        self_value: i64,
        contexts: BTreeMap<Vec<usize>, i64>,
        holders: Vec<(i64, BTreeSet<Vec<usize>>)>,
    }
    let mut merged: BTreeMap<Vec<usize>, i64> = BTreeMap::new();
    for (stack, value) in stacks {
        *merged.entry(stack.clone()).or_default() += value;
    }
    let mut chains: BTreeMap<Vec<usize>, Counted> = BTreeMap::new();
    for (stack, &value) in merged.iter().filter(|(_, value)| **value != 0) {
        let mut places: BTreeMap<Vec<usize>, BTreeSet<usize>> = BTreeMap::new();
        for start in 0..stack.len() {
            for end in start + 1..=stack.len() {
                places.entry(stack[start..end].to_vec()).or_default().insert(start);
            }
        }
        for (chain, starts) in places {
            let counted = chains.entry(chain.clone()).or_default();
            counted.total += value;
            if stack.ends_with(&chain) {
                counted.self_value += value;
            }
            let contexts: BTreeSet<Vec<usize>> =
                starts.iter().map(|&start| stack[..start].to_vec()).collect();
            for context in &contexts {
                *counted.contexts.entry(context.clone()).or_default() += value;
            }
            counted.holders.push((value, contexts));
        }
    }
    let mut longer: BTreeMap<Vec<usize>, Vec<i64>> = BTreeMap::new();
    for (chain, counted) in chains.iter().filter(|(chain, _)| chain.len() > 1) {
        longer.entry(chain[1..].to_vec()).or_default().push(counted.total);
        longer.entry(chain[..chain.len() - 1].to_vec()).or_default().push(counted.total);
    }
    let mut shown = BTreeMap::new();
    for (chain, counted) in &chains {
        let mut contexts: Vec<(&Vec<usize>, i64)> = counted.contexts.iter().map(|(c, v)| (c, *v)).collect();
        contexts.sort_by_key(|&(context, value)| (Reverse(value.abs()), context.len(), context.clone()));
        let heaviest: BTreeSet<&Vec<usize>> =
            contexts.iter().take(search.contexts - 1).map(|(context, _)| *context).collect();
        let is_outside = |contexts: &BTreeSet<Vec<usize>>| contexts.iter().any(|c| !heaviest.contains(c));
        let outside: i64 =
            counted.holders.iter().filter(|(_, contexts)| is_outside(contexts)).map(|(value, _)| value).sum();
        let rival = |total: &i64| search.tolerance.rest().is_reached_by(*total, counted.total);
        let closed = !longer.get(chain).is_some_and(|longer| longer.iter().any(rival));
        if chain.len() >= search.min_length
            && chain.len() <= search.max_length
            && contexts.len() >= search.contexts
            && counted.total.unsigned_abs() >= search.min_total
            && search.context_share.is_reached_by(outside, counted.total)
            && closed
        {
            let names: Vec<String> = chain.iter().map(|key| format!("f{key}")).collect();
            shown.insert(names.join(" → "), (counted.self_value, counted.total, contexts.len()));
        }
    }
    shown
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_search_agrees_with_the_definition(
        stacks in proptest::collection::vec(
            (proptest::collection::vec(0..3_usize, 0..12), prop_oneof![9 => 1..9_i64, 1 => -5..0_i64]),
            1..10,
        ),
        min_total in 1..6_u64,
        min_length in 2..4_usize,
        max_length in prop_oneof![Just(3_usize), Just(usize::MAX)],
        contexts in 1..5_usize,
        context_share in prop_oneof![Just(0.0), Just(5.0), Just(50.0)],
        tolerance in prop_oneof![Just(0.0), Just(10.0), Just(40.0), Just(70.0)],
        stride: bool,
    ) {
        let [context_share, tolerance] = [context_share, tolerance].map(Fraction::percent);
        let search = SequenceSearch { min_total, min_length, max_length, contexts, context_share, tolerance };
        let text = |stack: &[usize]| stack.iter().map(|f| format!("f{f}")).collect::<Vec<_>>().join(";");
        let picture: Vec<String> = stacks.iter().map(|(stack, value)| format!("{} {value}", text(stack))).collect();
        let profile = from_notation(&picture.join("\n"));
        let subject = Subject::new(&profile, &By::Function, &[0]);
        // With steps of several keys from the second key on, and without.
        let strides = if stride { Strides { least: 1, depth: 0 } } else { Strides::USUAL };
        let sequences = PreparedSearch::with_strides(&subject, search, strides).find();
        let found: BTreeMap<String, (i64, i64, usize)> = sequences
            .found
            .iter()
            .map(|sequence| {
                let keys = sequences.keys(sequence);
                let names: Vec<&str> = keys.iter().map(|&key| &**subject.keys.name(key)).collect();
                (names.join(" → "), (sequence.self_value, sequence.total, sequence.contexts as usize))
            })
            .collect();
        prop_assert_eq!(sequences.found.len(), found.len());
        prop_assert_eq!(found, by_definition(&stacks, search));
        let order: Vec<_> = sequences.found.iter().map(|s| Reverse((s.total.unsigned_abs(), s.length))).collect();
        prop_assert!(order.is_sorted());
    }
}
