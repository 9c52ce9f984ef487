//! The order of mappings for writing.

use std::cmp::Reverse;

use crate::name::base_name;
use crate::profile::{Column, Id, MappingId, Profile, StackId};

/// The order in which mappings are written: pprof's tools assume that the first one is the program.
pub(in crate::format) struct MappingOrder {
    first: MappingId,
    count: usize,
}

impl MappingOrder {
    /// Chooses the first mapping. A profile read from pprof already has the program first. Other formats list mappings
    /// in any order, perf the kernel first; there the program is the executable with the largest part of the
    /// default metric.
    pub(super) fn of(profile: &Profile) -> MappingOrder {
        let symbols = &profile.symbols;
        let count = symbols.mappings.len();
        let mut first = MappingId::new(1);
        if !profile.meta.format.starts_with("pprof") && count > 1 {
            let weights = weights(profile);
            let programs = symbols.mappings.ids().filter(|&id| is_program(symbols.mapping_file(id)));
            // The first of equal weights.
            first = programs.max_by_key(|&id| (weights[id], Reverse(id))).unwrap_or(first);
        }
        MappingOrder { first, count }
    }

    /// The id of a mapping in the file; 0 means none.
    pub(super) fn number(&self, id: MappingId) -> u64 {
        let shifted = id.index() > 0 && id.index() < self.first.index();
        if id == self.first { 1 } else { id.index() as u64 + u64::from(shifted) }
    }

    pub(in crate::format) fn in_order(&self) -> impl Iterator<Item = MappingId> + use<> {
        let (first, count) = (self.first, self.count);
        let others = (1..count).map(MappingId::new).filter(move |&id| id != first);
        (count > 1).then_some(first).into_iter().chain(others)
    }
}

/// Whether a mapping's file is an executable rather than a library, the kernel or anonymous memory.
fn is_program(file: &str) -> bool {
    let file = file.strip_suffix(" (deleted)").unwrap_or(file);
    let name = base_name(file);
    let is_library =
        [".so", ".dylib", ".dll", ".ko", ".ko.xz", ".ko.zst"].iter().any(|end| name.ends_with(end))
            || name.contains(".so.");
    let is_special = file.starts_with(['[', '<']) || file.starts_with("//") || file.starts_with("/memfd:");
    !name.is_empty() && !is_library && !is_special && !file.starts_with("/tmp/perf-")
}

/// For each mapping, the sum of |value| of the default metric over the stacks that contain its code.
fn weights(profile: &Profile) -> Column<MappingId, u128> {
    let frames = &profile.symbols.frames;
    let mut weights = Column::filled(0, profile.symbols.mappings.len());
    let mut of_stack = Column::<StackId, u128>::filled(0, profile.stacks.len());
    for (&stack, value) in
        profile.samples.stack.iter().zip(&profile.samples.values[profile.meta.default_metric])
    {
        of_stack[stack] += u128::from(value.unsigned_abs());
    }
    let mut met = Vec::new();
    for (stack, &weight) in of_stack.enumerate() {
        met.clear();
        met.extend(profile.stacks.frames(stack).iter().map(|&frame| frames[frame].mapping));
        met.sort_unstable();
        met.dedup();
        for &mapping in &met {
            weights[mapping] += weight;
        }
    }
    weights
}
