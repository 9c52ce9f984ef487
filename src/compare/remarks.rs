//! What speaks against a comparison although it is possible: copies of one recording, runs without samples, runs of
//! different builds on one side, the same build on both.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::kind;
use crate::load::{Side, SideInput, Sides};
use crate::name::base_name;
use crate::profile::{Column, FunctionId, Profile};
use crate::report::Message;
use crate::unit::{Family, Unit, first_of, times};

/// Warnings about sides that make verdicts doubtful, and notes on what else is unusual about them.
pub(super) fn remarks(sides: &Sides) -> Vec<Message> {
    let both = [("old", &sides.old), ("new", &sides.new)];
    let mut found = Vec::new();
    for (which, side) in both {
        found.extend(without_samples(which, side).map(Message::warning));
        found.extend(copies(which, side).map(Message::warning));
        found.extend(mixed_builds(which, side).map(Message::warning));
    }
    found.extend(on_both_sides(sides).or_else(|| same_build(sides)).map(Message::note));
    found.extend(formats(sides).map(Message::note));
    found.extend(allocated(sides).map(Message::note));
    found
}

/// Some of the runs are empty: a recording that failed, most likely.
fn without_samples(which: &str, side: &Side) -> Option<String> {
    let is_empty = |input: &&SideInput| input.profile.meta.metrics[input.metric].total == 0;
    let empty: Vec<&str> = side.inputs.iter().filter(is_empty).map(|input| &*input.name).collect();
    let (metric, count) = (metric(side), side.inputs.len());
    let named = first_of(empty.iter(), MOST_NAMED, ", ");
    match empty.len() {
        // If all are empty, there is no verdict anyway.
        0 => None,
        empty if empty == count => None,
        1 => Some(format!(
            "{named} has no samples of {metric}, but counts as one of {count} runs on the {which} side"
        )),
        _ => Some(format!(
            "{named} have no samples of {metric}, but count among the {count} runs on the {which} side"
        )),
    }
}

/// Copies of one run count as several, which hides how much runs differ. Counted calls do not differ between runs.
fn copies(which: &str, side: &Side) -> Option<String> {
    let inputs = side.inputs.iter().filter(|input| input.profile.calls.is_none());
    let inputs: Vec<&SideInput> = inputs.collect();
    let (first, other) = equal_pair(&inputs, &inputs)?;
    Some(format!(
        "{first} and {other} hold the same data; if one is a copy of the other, the {which} side has fewer runs than \
         profiles, and verdicts are too confident"
    ))
}

/// Runs of different builds: a file that was loaded has different build ids among them.
fn mixed_builds(which: &str, side: &Side) -> Option<String> {
    let mut builds: BTreeMap<String, (String, &str)> = BTreeMap::new();
    for input in &side.inputs {
        for (file, id) in build_ids(&input.profile) {
            let (first, name) = builds.entry(file.clone()).or_insert_with(|| (id.clone(), &input.name));
            if *first != id {
                return Some(format!(
                    "the {which} side mixes builds of {file}: {name} has build id {first}, {} has {id}",
                    input.name
                ));
            }
        }
    }
    None
}

/// Both sides hold the same data, in part or as a whole.
fn on_both_sides(sides: &Sides) -> Option<String> {
    let [old, new] = [&sides.old, &sides.new].map(|side| side.inputs.iter().collect::<Vec<_>>());
    let (first, other) = equal_pair(&old, &new)?;
    if first == other {
        return Some(format!("{first} is on both sides"));
    }
    Some(format!("both sides hold the same data: {first} and {other} are equal"))
}

/// Both sides were recorded from one and the same binary. That is usual for two snapshots of what a process holds.
fn same_build(sides: &Sides) -> Option<String> {
    let input = sides.new.inputs.first()?;
    let metric = &input.profile.meta.metrics[input.metric];
    if kind::is_quantity(&metric.name) || Unit::parse(&metric.unit).family() == Family::Bytes {
        return None;
    }
    let program = |side: &Side| build_ids(&side.inputs.first()?.profile).into_iter().next();
    let (file, id) = program(&sides.old)?;
    (program(&sides.new)? == (file.clone(), id.clone()))
        .then(|| format!("both sides are the same build of {file} (build id {id})"))
}

/// The sides were recorded, or converted, in different ways.
fn formats(sides: &Sides) -> Option<String> {
    let format = |side: &Side| side.inputs.first().map(|input| input.profile.meta.format);
    let (old, new) = (format(&sides.old)?, format(&sides.new)?);
    (old != new).then(|| {
        format!(
            "the old side is in the format {old} and the new side in {new}: functions are compared by name, and what one \
             of the formats lacks looks like a change"
        )
    })
}

/// Both sides hold about as much memory, but one of them allocated more: `peak_space` and `inuse_space` do not show what was freed.
fn allocated(sides: &Sides) -> Option<String> {
    let held = metric(&sides.new);
    let all_held = if held.ends_with("_space") { "alloc_space" } else { "alloc_objects" };
    if !["peak_space", "peak_objects", "inuse_space", "inuse_objects"].contains(&held) {
        return None;
    }
    let ratio = |name: &str| Some(mean(&sides.new, name)? / mean(&sides.old, name)?);
    let is_equal = (ratio(held)? - 1.0).abs() < 0.02;
    let grew = ratio(all_held).filter(|ratio| is_equal && (ratio - 1.0).abs() >= 0.1)?;
    Some(format!(
        "{held} is about the same on both sides, but the new side has {} the {all_held} of the old one: compare it with \
         -m {all_held}",
        times(grew)
    ))
}

/// The mean total of a metric that all runs of a side have.
fn mean(side: &Side, name: &str) -> Option<f64> {
    let total = |input: &SideInput| {
        let meta = &input.profile.meta;
        meta.metric_named(name).map(|metric| meta.metrics[metric].total as f64)
    };
    let totals = side.inputs.iter().map(total).collect::<Option<Vec<f64>>>()?;
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    (mean > 0.0).then_some(mean)
}

fn metric(side: &Side) -> &str {
    side.inputs.first().map_or("", |input| &input.profile.meta.metrics[input.metric].name)
}

const MOST_NAMED: usize = 3;

/// The files that were loaded, without their folders, and their build ids, where these are known.
fn build_ids(profile: &Profile) -> Vec<(String, String)> {
    let strings = &profile.symbols.strings;
    let mappings = profile.symbols.mappings.iter();
    let known = mappings.map(|mapping| (strings.get(mapping.file), strings.get(mapping.build_id)));
    let known = known.filter(|(file, id)| !file.is_empty() && !id.is_empty());
    known.map(|(file, id)| (base_name(file).to_string(), id.to_string())).collect()
}

/// The names of the first two different inputs that hold the same data.
fn equal_pair<'s>(first: &[&'s SideInput], second: &[&'s SideInput]) -> Option<(&'s str, &'s str)> {
    let mut sums: BTreeMap<*const SideInput, u64> = BTreeMap::new();
    let mut sum = |input: &'s SideInput| *sums.entry(input).or_insert_with(|| checksum(input));
    for (number, &one) in first.iter().enumerate() {
        for (other_number, &other) in second.iter().enumerate() {
            // Pairs of one list are met once.
            let is_new = !std::ptr::eq(first, second) || number < other_number;
            if is_new && total(one) == total(other) && total(one) != 0 && sum(one) == sum(other) {
                return Some((&one.name, &other.name));
            }
        }
    }
    None
}

/// What inputs with the same data have in common and is known at once.
fn total(input: &SideInput) -> i64 {
    input.profile.meta.metrics[input.metric].total
}

/// A number that depends on the stacks and their values, but not on the order or the format in which they were stored.
fn checksum(input: &SideInput) -> u64 {
    let profile = &input.profile;
    let symbols = &profile.symbols;
    let hash = |value: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        value(&mut hasher);
        hasher.finish()
    };
    if let Some(calls) = &profile.calls {
        let own = &calls.self_values[input.metric];
        let named = symbols.functions.ids().map(|function| {
            let name = symbols.function_name(function);
            hash(&|hasher| name.hash(hasher)).wrapping_mul(own[function].cast_unsigned())
        });
        return named.fold(0, u64::wrapping_add);
    }
    let names: Column<FunctionId, u64> = symbols
        .functions
        .ids()
        .map(|function| hash(&|hasher| symbols.function_name(function).hash(hasher)))
        .collect();
    let samples = &profile.samples;
    // The table of stacks may have those of other inputs as well.
    let weighted = samples.stack.iter().zip(&samples.values[input.metric]).map(|(&stack, &value)| {
        let names = profile.stacks.frames(stack).iter().map(|&frame| names[symbols.frames[frame].function]);
        let stack_hash = names.fold(1_u64, |sum, name| sum.wrapping_mul(PRIME).wrapping_add(name));
        stack_hash.wrapping_mul(value.cast_unsigned())
    });
    weighted.fold(0, u64::wrapping_add)
}

/// Makes the hash of a stack depend on the order of its frames.
const PRIME: u64 = 0x0000_0100_0000_01b3;
