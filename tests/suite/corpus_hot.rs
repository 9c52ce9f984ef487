//! Compares the search for repeated sequences with brute force on real profiles.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{corpus, load_file};
use hashbrown::HashMap;
use prof::profile::Profile;
use prof::view::{HotOptions, Scope, hot};

/// Total, self and contexts of each sequence.
type Found = BTreeMap<Vec<String>, (i64, i64, u64)>;

/// The maximum number of chains for brute force.
const MOST_CHAINS: usize = 1_500_000;

#[test]
#[needs(Corpus)]
fn sequences_of_real_profiles_agree_with_brute_force() {
    let (mut compared, mut too_large) = (0, Vec::new());
    for folder in ["pprof", "collapsed"] {
        let files = corpus(folder);
        for file in files {
            let Ok(profile) = load_file(&file) else { continue };
            let metric = profile.meta.default_metric;
            let stacks = stacks(&profile, metric);
            let chains: usize = stacks.keys().map(|stack| stack.len() * stack.len() / 2).sum();
            if chains > MOST_CHAINS {
                too_large.push(file.display().to_string());
                continue;
            }
            let options =
                HotOptions { context_share: 0.0, tolerance: 0.0, ..HotOptions::new(Scope::metric(metric)) };
            let found = hot(&profile, &options);
            let sequences = found.sequences.iter().map(|sequence| {
                let names = sequence.frames.iter().map(ToString::to_string).collect();
                (names, (sequence.total, sequence.self_value, sequence.contexts))
            });
            let threshold = (found.header.shown as f64 / 100.0).ceil() as i64;
            assert_eq!(
                sequences.collect::<Found>(),
                brute_force(&stacks, threshold.max(1)),
                "{}",
                file.display()
            );
            compared += 1;
        }
    }
    println!("{compared} compared, too large for brute force: {}", too_large.join(", "));
    assert!(compared > 60, "only {compared} files could be compared");
}

/// The value of every distinct stack of names.
fn stacks(profile: &Profile, metric: usize) -> BTreeMap<Vec<String>, i64> {
    let mut stacks: BTreeMap<Vec<String>, i64> = BTreeMap::new();
    for (stack, &value) in profile.value_by_stack(metric).enumerate() {
        let frames = profile.stacks.frames(stack);
        let names = frames.iter().map(|&frame| profile.symbols.frame_name(frame).to_string()).collect();
        *stacks.entry(names).or_default() += value;
    }
    stacks.retain(|_, value| *value != 0);
    stacks
}

fn brute_force(stacks: &BTreeMap<Vec<String>, i64>, threshold: i64) -> Found {
    let mut ids: HashMap<&str, u32> = HashMap::default();
    let mut names: Vec<&str> = Vec::new();
    let mut coded: Vec<(Vec<u32>, i64)> = Vec::new();
    for (stack, &value) in stacks {
        let mut keys = Vec::with_capacity(stack.len());
        for name in stack {
            let next = names.len() as u32;
            let id = *ids.entry(name).or_insert(next);
            if id == next {
                names.push(name);
            }
            keys.push(id);
        }
        coded.push((keys, value));
    }
    // For each chain of two or more functions: its total, and the last stack that was counted.
    let mut chains: HashMap<&[u32], (i64, usize)> = HashMap::default();
    for (number, (stack, value)) in coded.iter().enumerate() {
        for (_, chain) in chains_of(stack) {
            let (total, last) = chains.entry(chain).or_insert((0, usize::MAX));
            if *last != number {
                *last = number;
                *total += value;
            }
        }
    }
    let mut longer: HashMap<&[u32], i64> = HashMap::default();
    for (chain, (total, _)) in chains.iter().filter(|(chain, _)| chain.len() > 2) {
        for shorter in [&chain[1..], &chain[..chain.len() - 1]] {
            let most = longer.entry(shorter).or_default();
            *most = (*most).max(total.abs());
        }
    }
    let is_closed = |chain: &[u32], total: i64| longer.get(chain).is_none_or(|&longer| longer < total.abs());
    chains.retain(|chain, (total, _)| total.abs() >= threshold && is_closed(chain, *total));

    let mut details: HashMap<&[u32], (i64, BTreeSet<&[u32]>)> = HashMap::default();
    for (stack, value) in &coded {
        for (start, chain) in chains_of(stack).filter(|(_, chain)| chains.contains_key(chain)) {
            let (own, contexts) = details.entry(chain).or_default();
            contexts.insert(&stack[..start]);
            if start + chain.len() == stack.len() {
                *own += value;
            }
        }
    }
    let repeated = details.into_iter().filter(|(_, (_, contexts))| contexts.len() >= 2);
    repeated
        .map(|(chain, (own, contexts))| {
            let named = chain.iter().map(|&key| names[key as usize].to_string()).collect();
            (named, (chains[chain].0, own, contexts.len() as u64))
        })
        .collect()
}

/// All chains of two or more functions in a stack, and where they start.
fn chains_of(stack: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    (0..stack.len())
        .flat_map(move |start| (start + 2..=stack.len()).map(move |end| (start, &stack[start..end])))
}
