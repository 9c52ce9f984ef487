//! Measuring how much of a profile is unnamed code.

use std::ops::Range;

use hashbrown::HashMap;

use crate::parallel;
use crate::profile::{Column, Frame, FrameId, Id, Profile, StackId, StringId};

/// The cost of unnamed code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// Σ |value| of all samples.
    pub whole: i64,
    /// Its self.
    pub self_value: i64,
    /// Its total, including its callees.
    pub total: i64,
    /// The binaries that contain it, those with the greatest self first.
    pub binaries: Vec<UnresolvedBinary>,
}

/// A binary with unnamed code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedBinary {
    /// The path of its file; empty if unknown.
    pub file: String,
    /// The self of its unnamed code.
    pub self_value: i64,
    /// Its total, including its callees.
    pub total: i64,
}

/// Sums the cost of unnamed code over profiles, each given with the number of its metric.
pub fn unresolved<'p>(profiles: impl Iterator<Item = (&'p Profile, usize)>) -> Unresolved {
    let mut sum = Unresolved::default();
    let mut binaries: HashMap<&str, (i64, i64)> = HashMap::new();
    for (profile, metric) in profiles {
        sum.whole = sum.whole.saturating_add(profile.meta.metrics[metric].total);
        let unnamed = profile.symbols.unnamed_frames();
        if unnamed.iter().any(|&unnamed| unnamed) {
            add(&mut sum, &mut binaries, profile, metric, &unnamed);
        }
    }
    let binary = |(file, (self_value, total)): (&str, (i64, i64))| UnresolvedBinary {
        file: file.to_string(),
        self_value,
        total,
    };
    sum.binaries = binaries.into_iter().map(binary).collect();
    sum.binaries.sort_by(|a, b| (b.self_value, b.total, &a.file).cmp(&(a.self_value, a.total, &b.file)));
    sum
}

/// Σ |value| of each stack.
fn weights(profile: &Profile, metric: usize) -> Column<StackId, i64> {
    let mut weights = Column::<StackId, i64>::filled(0, profile.stacks.len());
    for (&stack, &value) in profile.samples.stack.iter().zip(&profile.samples.values[metric]) {
        weights[stack] = weights[stack].saturating_add(value.saturating_abs());
    }
    weights
}

fn add<'p>(
    sum: &mut Unresolved,
    binaries: &mut HashMap<&'p str, (i64, i64)>,
    profile: &'p Profile,
    metric: usize,
    unnamed: &Column<FrameId, bool>,
) {
    let symbols = &profile.symbols;
    // The binary of each unnamed frame, so that a frame of a stack is looked up once.
    let file = |(&unnamed, frame): (&bool, &Frame)| unnamed.then(|| symbols.mappings[frame.mapping].file);
    let file_of: Column<FrameId, Option<StringId>> =
        unnamed.iter().zip(symbols.frames.iter()).map(file).collect();
    let weights = weights(profile, metric);
    let parts = parallel::ranges(weights.len(), 20_000, |stacks| sums(profile, stacks, &weights, &file_of));
    for Sums { self_value, total, of_file } in parts {
        sum.self_value = sum.self_value.saturating_add(self_value);
        sum.total = sum.total.saturating_add(total);
        for (file, (self_value, total)) in of_file {
            let binary = binaries.entry(symbols.strings.get(file)).or_default();
            binary.0 = binary.0.saturating_add(self_value);
            binary.1 = binary.1.saturating_add(total);
        }
    }
}

/// The cost of unnamed code on some stacks: self and total, of all and of each binary.
#[derive(Default)]
struct Sums {
    self_value: i64,
    total: i64,
    of_file: HashMap<StringId, (i64, i64)>,
}

fn sums(
    profile: &Profile,
    stacks: Range<usize>,
    weights: &Column<StackId, i64>,
    file_of: &Column<FrameId, Option<StringId>>,
) -> Sums {
    let mut sums = Sums::default();
    let mut met: Vec<StringId> = Vec::new();
    for stack in stacks.map(StackId::new).filter(|&stack| weights[stack] > 0) {
        let (weight, frames) = (weights[stack], profile.stacks.frames(stack));
        met.clear();
        for file in frames.iter().filter_map(|&frame| file_of[frame]) {
            // A stack passes through few binaries, mostly through one after the other.
            if !met.contains(&file) {
                met.push(file);
            }
        }
        if met.is_empty() {
            continue;
        }
        sums.total = sums.total.saturating_add(weight);
        for &file in &met {
            let (_, total) = sums.of_file.entry(file).or_default();
            *total = total.saturating_add(weight);
        }
        if let Some(file) = frames.last().and_then(|&leaf| file_of[leaf]) {
            sums.self_value = sums.self_value.saturating_add(weight);
            let (self_value, _) = sums.of_file.entry(file).or_default();
            *self_value = self_value.saturating_add(weight);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LabelSetId, LoadOptions, Mapping, ProfileBuilder, from_notation};

    #[test]
    fn stacks_count_once_for_each_binary() {
        let [a, b] = [1, 2].map(|address| format!("!/lib/libx.so+{address:#x}"));
        let profile = from_notation(&format!("main;{a} 1\n{a};{b};{a};main 2\nmain 4"));
        let found = unresolved([(&profile, 0)].into_iter());
        assert_eq!((found.whole, found.self_value, found.total), (7, 1, 3));
        let binary = UnresolvedBinary { file: "/lib/libx.so".into(), self_value: 1, total: 3 };
        assert_eq!(found.binaries, [binary]);
    }

    #[test]
    fn a_binary_with_several_mappings_counts_once_in_a_stack() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("samples", "count");
        let file = builder.string("/lib/libx.so");
        let frames = [0x1000, 0x5000].map(|start| {
            let mapping = builder.mapping(Mapping { file, start, ..Mapping::default() });
            let function = builder.unnamed_function(mapping);
            builder.frame(Frame { function, address: start + 1, mapping, ..Frame::default() })
        });
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[3]);
        let found = unresolved([(&builder.finish().unwrap(), 0)].into_iter());
        let binary = UnresolvedBinary { file: "/lib/libx.so".into(), self_value: 3, total: 3 };
        assert_eq!((found.total, found.binaries), (3, vec![binary]));
    }
}
