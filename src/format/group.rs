//! Stacks that are looked up together, which takes less time than one by one, and the samples that wait for them.

use std::convert::Infallible;

use crate::profile::{AT_ONCE, Column, FrameId, Id, LabelSetId, ProfileBuilder, StackId, Stacks};

/// A stack whose id is not known until its group has been looked up: its number among all that were added.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupedStack(u32);

/// A group with more frames is looked up at once: a few bytes of some formats may repeat a stack of any depth.
const MOST_FRAMES: usize = 1 << 16;

/// Stacks that are looked up in groups, in their order.
#[derive(Default)]
pub(super) struct StackGroups {
    /// The ids of those that were looked up.
    known: Column<StackId, StackId>,
    /// Those that were added since.
    waiting: Stacks,
}

impl StackGroups {
    /// Adds a stack, root first, even if it was added before.
    pub(super) fn add(&mut self, frames: &[FrameId], builder: &mut ProfileBuilder) -> GroupedStack {
        let last = self.waiting.len().checked_sub(1).map(StackId::new);
        if last.is_none_or(|last| self.waiting.frames(last) != frames) {
            if self.is_full(frames.len()) {
                self.look_up(builder);
            }
            let Ok(_) = self.waiting.push_with(|all| {
                all.extend_from_slice(frames);
                Ok::<(), Infallible>(())
            });
        }
        GroupedStack((self.known.len() + self.waiting.len() - 1) as u32)
    }

    fn is_full(&self, more: usize) -> bool {
        self.waiting.len() >= AT_ONCE || self.waiting.all_frames().len() + more > MOST_FRAMES
    }

    /// Looks up the stacks that wait. Call this before other stacks are added to the builder, and at the end.
    pub(super) fn look_up(&mut self, builder: &mut ProfileBuilder) {
        builder.add_stacks(&self.waiting, &mut self.known);
        self.waiting.clear();
    }

    /// The id of a stack that was looked up.
    pub(super) fn id(&self, stack: GroupedStack) -> StackId {
        self.known[StackId::new(stack.0 as usize)]
    }
}

/// Samples that wait until their stacks have been looked up. They are added in their order, as if each were added at once, as long as
/// nothing else adds stacks or samples in between; call [`SampleGroup::write`] before that, and at the end.
#[derive(Default)]
pub(super) struct SampleGroup {
    stacks: StackGroups,
    samples: Vec<Waiting>,
    /// The values of all samples, as many for each, for the metrics from a certain number on.
    values: Vec<i64>,
    width: usize,
    first: usize,
}

/// A sample that has not been added yet.
struct Waiting {
    stack: GroupedStack,
    labels: LabelSetId,
    time: Option<i64>,
}

/// As many samples of stacks that were looked up wait at most.
const MOST_SAMPLES: usize = 8 * AT_ONCE;

impl SampleGroup {
    /// Samples with values for the metrics from number `first` on.
    pub(super) fn from_metric(first: usize) -> SampleGroup {
        SampleGroup { first, ..SampleGroup::default() }
    }

    /// Adds a stack, root first, for samples.
    pub(super) fn stack(&mut self, frames: &[FrameId], builder: &mut ProfileBuilder) -> GroupedStack {
        if self.stacks.is_full(frames.len()) {
            self.write(builder);
        }
        self.stacks.add(frames, builder)
    }

    /// Adds a sample.
    pub(super) fn sample(
        &mut self,
        stack: GroupedStack,
        labels: LabelSetId,
        time: Option<i64>,
        values: &[i64],
        builder: &mut ProfileBuilder,
    ) {
        if self.width != values.len() {
            self.write(builder);
            self.width = values.len();
        }
        self.samples.push(Waiting { stack, labels, time });
        self.values.extend_from_slice(values);
        if self.samples.len() == MOST_SAMPLES {
            self.write(builder);
        }
    }

    /// Adds the samples that wait to the profile.
    pub(super) fn write(&mut self, builder: &mut ProfileBuilder) {
        self.stacks.look_up(builder);
        // Without metrics, samples are counted nevertheless.
        let mut values = self.values.chunks_exact(self.width.max(1));
        for sample in self.samples.drain(..) {
            let (stack, values) = (self.stacks.id(sample.stack), values.next().unwrap_or_default());
            builder.sample_from(self.first, stack, sample.labels, sample.time, values);
        }
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LoadOptions;

    /// Whatever waits, the profile is the one that adding each sample at once makes.
    #[test]
    fn samples_keep_their_order_and_their_stacks() {
        let [mut grouped, mut single] = [(); 2].map(|()| ProfileBuilder::new("test", LoadOptions::default()));
        let mut group = SampleGroup::default();
        for number in 0..5000_usize {
            if number == 10 || number == 3000 {
                for builder in [&mut grouped, &mut single] {
                    builder.metric(&number.to_string(), "count");
                }
            }
            let names = [number % 7, number * number % 1013, number % 3];
            let names = &names[..=number % 3];
            let values = vec![number as i64 % 5 - 1; single.meta.metrics.len()];
            let [frames, same] = [&mut grouped, &mut single].map(|builder| {
                names.iter().map(|name| builder.named_frame(&name.to_string())).collect::<Vec<FrameId>>()
            });
            let stack = group.stack(&frames, &mut grouped);
            group.sample(stack, LabelSetId::default(), None, &values, &mut grouped);
            let stack = single.stack(&same);
            single.sample(stack, LabelSetId::default(), None, &values);
        }
        group.write(&mut grouped);
        let [grouped, single] = [grouped, single].map(|builder| builder.finish().unwrap());
        assert_eq!(grouped.stacks.all_frames(), single.stacks.all_frames());
        assert_eq!(grouped.samples.stack, single.samples.stack);
        assert_eq!(grouped.samples.values, single.samples.values);
        assert_eq!((grouped.meta.rows, grouped.meta.metrics), (single.meta.rows, single.meta.metrics));
    }
}
