//! Batches of stacks and samples, and adding them to a profile.

use std::convert::Infallible;

use crate::profile::{Column, FrameId, Id, LabelSetId, ProfileBuilder, StackId, Stacks};

/// A stack whose id is not known until its group has been looked up: its number among all that were added.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct GroupedStack(pub(super) u32);

/// Stacks and samples that wait.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) stacks: Stacks,
    pub(super) samples: Vec<Waiting>,
    /// The values of all samples, as many for each, for the metrics from a certain number on.
    pub(super) values: Vec<i64>,
    pub(super) width: usize,
    /// How many metrics the profile has by now.
    pub(super) metrics: usize,
}

/// A sample that has not been added yet.
pub(super) struct Waiting {
    pub(super) stack: GroupedStack,
    pub(super) labels: LabelSetId,
    pub(super) time: Option<i64>,
}

/// Adds batches of samples to a profile.
#[derive(Default)]
pub(super) struct Adder {
    /// The ids of the stacks of earlier batches.
    known: Column<StackId, StackId>,
    /// The first metric that samples have values for.
    first: usize,
}

impl Adder {
    /// For samples with values for the metrics from number `first` on.
    pub(super) fn from_metric(first: usize) -> Adder {
        Adder { first, ..Adder::default() }
    }

    /// Adds a batch, and empties it.
    pub(super) fn add(&mut self, batch: &mut Batch, builder: &mut ProfileBuilder) {
        builder.declare(batch.metrics);
        builder.add_stacks(&batch.stacks, &mut self.known);
        // Without metrics, samples are counted nevertheless.
        let mut values = batch.values.chunks_exact(batch.width.max(1));
        for sample in batch.samples.drain(..) {
            let stack = self.known[StackId::new(sample.stack.0 as usize)];
            let values = values.next().unwrap_or_default();
            builder.sample_from(self.first, stack, sample.labels, sample.time, values);
        }
        batch.stacks.clear();
        batch.values.clear();
    }
}

/// Appends a stack, even if there is one like it.
pub(super) fn append(stacks: &mut Stacks, frames: &[FrameId]) {
    let Ok(_) = stacks.push_with(|all| {
        all.extend_from_slice(frames);
        Ok::<(), Infallible>(())
    });
}
