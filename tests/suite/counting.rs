//! Compares counting of random profiles with naive counting, and checks that sums are consistent.

use std::collections::BTreeMap;

use crate::support::naive;
use prof::profile::{LabelSetId, LoadOptions, Profile, ProfileBuilder};
use prof::report::Tree;
use prof::transform::merge;
use prof::view::{Scope, TopOptions, TreeOptions, bottom_up, top, tree};
use proptest::prelude::*;

/// Samples as drawn by proptest: a stack of small numbers, root first, and a value.
type Drawn = Vec<(Vec<u8>, i64)>;

fn samples(values: std::ops::Range<i64>) -> impl Strategy<Value = Drawn> {
    prop::collection::vec((prop::collection::vec(0..6u8, 0..7), values), 0..25)
}

fn name(function: u8) -> String {
    format!("f{function}")
}

fn profile(drawn: &Drawn) -> Profile {
    let mut builder = ProfileBuilder::new("drawn", LoadOptions::default());
    builder.metric("samples", "count");
    for (stack, value) in drawn {
        let frames: Vec<_> = stack.iter().map(|&f| builder.named_frame(&name(f))).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[*value]);
    }
    builder.finish().unwrap()
}

fn naive_profile(drawn: &Drawn) -> naive::Profile {
    let sample = |(stack, value): &(Vec<u8>, i64)| naive::Sample {
        stack: stack.iter().rev().map(|&f| name(f)).collect(),
        values: vec![*value],
    };
    naive::Profile { metrics: vec!["samples".into()], samples: drawn.iter().map(sample).collect() }
}

fn rows(profile: &Profile) -> BTreeMap<String, (i64, i64)> {
    let top = top(profile, &TopOptions::new(Scope::metric(0)));
    top.rows.iter().map(|row| (row.name.to_string(), (row.values.self_value, row.values.total))).collect()
}

/// Sums the self values of a tree's rows by function.
fn self_by_name(tree: &Tree) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for row in &tree.rows {
        *sums.entry(row.name.to_string()).or_default() += row.values.self_value;
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

fn options() -> TreeOptions {
    TreeOptions::new(Scope::metric(0))
}

proptest! {
    #[test]
    fn flat_equals_naive(drawn in samples(-5..20)) {
        let (whole, expected) = naive::flat(&naive_profile(&drawn), 0);
        let profile = profile(&drawn);
        prop_assert_eq!(profile.meta.metrics[0].total, whole);
        prop_assert_eq!(profile.shown_total(0), whole);
        prop_assert_eq!(rows(&profile), expected);
    }

    #[test]
    fn self_values_sum_to_the_shown_total(drawn in samples(0..20)) {
        let shown = top(&profile(&drawn), &TopOptions::new(Scope::metric(0)));
        let own: i64 = shown.rows.iter().map(|row| row.values.self_value).sum();
        prop_assert_eq!(own + shown.header.no_stack, shown.header.shown);
        prop_assert!(shown.rows.iter().all(|row| row.values.self_value <= row.values.total));
    }

    #[test]
    fn a_tree_adds_up(drawn in samples(0..20), limit in prop::option::of(0..6usize), share in 0..40u8) {
        let options = TreeOptions { limit, min_share: f64::from(share), ..options() };
        let tree = tree(&profile(&drawn), &options);
        let own: i64 = tree.rows.iter().map(|row| row.values.self_value).sum();
        prop_assert_eq!(own + tree.header.elided + tree.header.no_stack, tree.header.shown);
        for (index, row) in tree.rows.iter().enumerate() {
            let below = tree.rows.iter().filter(|other| other.parent == Some(index as u32));
            let sum: i64 = below.clone().map(|other| other.values.total).sum();
            prop_assert!(sum <= row.values.children);
            prop_assert!(sum == row.values.children || row.cut > 0);
            prop_assert!(below.clone().all(|other| other.depth == row.depth + 1));
        }
    }

    #[test]
    fn a_complete_tree_has_the_self_values_of_the_flat_view(drawn in samples(0..20)) {
        let profile = profile(&drawn);
        let expected: BTreeMap<String, i64> =
            rows(&profile).into_iter().map(|(name, (own, _))| (name, own)).filter(|&(_, own)| own != 0).collect();
        prop_assert_eq!(self_by_name(&tree(&profile, &options())), expected);
    }

    #[test]
    fn callers_sum_to_the_function(drawn in samples(0..20)) {
        let profile = profile(&drawn);
        let flat = rows(&profile);
        let tree = bottom_up(&profile, &options()).unwrap();
        for (index, row) in tree.rows.iter().enumerate() {
            if row.parent.is_none() {
                prop_assert_eq!(flat[&*row.name], (row.values.self_value, row.values.total));
            }
            let below: Vec<_> = tree.rows.iter().filter(|other| other.parent == Some(index as u32)).collect();
            if &*row.name != "(root)" {
                prop_assert_eq!(below.iter().map(|row| row.values.total).sum::<i64>(), row.values.total);
                prop_assert_eq!(below.iter().map(|row| row.values.self_value).sum::<i64>(), row.values.self_value);
            }
        }
    }

    #[test]
    fn merging_profiles_is_concatenating_samples(a in samples(0..20), b in samples(0..20)) {
        let merged = merge(&[profile(&a), profile(&b)]).unwrap();
        let together = profile(&[a, b].concat());
        prop_assert_eq!(rows(&merged), rows(&together));
        prop_assert_eq!(merged.meta.metrics[0].total, together.meta.metrics[0].total);
    }
}

#[test]
fn stacks_may_have_a_hundred_thousand_frames() {
    let deep: Vec<u8> = (0..100_000u32).map(|depth| (depth % 200) as u8).collect();
    let profile = profile(&vec![(deep, 7)]);
    assert_eq!(rows(&profile).len(), 200);
    let options = TreeOptions { join: true, limit: Some(40), ..options() };
    assert_eq!(tree(&profile, &options).rows.len(), 100_000);
    let up = bottom_up(&profile, &TreeOptions { limit: Some(1), ..options }).unwrap();
    assert_eq!(up.rows.iter().map(|row| row.values.total).max(), Some(7));
}
