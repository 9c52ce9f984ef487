//! Stacks that are looked up together, which takes less time than one by one, and the samples that wait for them.

mod batch;

pub(super) use batch::GroupedStack;

use crate::format::group::batch::{Adder, Batch, Waiting, append};
use crate::parallel::{self, Worker};
use crate::profile::{AT_ONCE, Column, FrameId, Id, LabelSetId, ProfileBuilder, StackId, Stacks};

/// A group with more frames is looked up at once: a few bytes of some formats may repeat a stack of any depth.
const MOST_FRAMES: usize = 1 << 16;

/// Whether this is the last stack.
fn ends_with(stacks: &Stacks, frames: &[FrameId]) -> bool {
    let last = stacks.len().checked_sub(1).map(StackId::new);
    last.is_some_and(|last| stacks.frames(last) == frames)
}

/// Whether stacks are looked up before another one is added to them, of which there are at most `most`.
fn is_full(stacks: &Stacks, frames: &[FrameId], most: usize) -> bool {
    stacks.len() >= most || stacks.all_frames().len() + frames.len() > MOST_FRAMES
}

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
        if !ends_with(&self.waiting, frames) {
            if is_full(&self.waiting, frames, AT_ONCE) {
                self.look_up(builder);
            }
            append(&mut self.waiting, frames);
        }
        GroupedStack((self.known.len() + self.waiting.len() - 1) as u32)
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
    batch: Batch,
    adder: Adder,
    /// How many stacks and samples were in earlier batches.
    stacks: usize,
    samples: usize,
    may_use_threads: bool,
    thread: Option<Worker<(ProfileBuilder, Adder), Batch>>,
}

/// As many samples of stacks that were looked up wait at most.
const MOST_SAMPLES: usize = 8 * AT_ONCE;

/// Batches for another thread are so many times as large, because passing them on takes time.
const FOR_THREAD: usize = 4;

/// The number of batches that may wait for the thread.
const WAITING: usize = 4;

/// From this number of samples on, another thread adds them. With fewer, it would hardly have started when all are read.
const MANY_SAMPLES: usize = 20_000;

impl SampleGroup {
    /// Samples with values for the metrics from number `first` on.
    pub(super) fn from_metric(first: usize) -> SampleGroup {
        SampleGroup { adder: Adder::from_metric(first), ..SampleGroup::default() }
    }

    /// Samples that another thread adds if there are many. Until [`SampleGroup::write`], metrics must not be rescaled.
    pub(super) fn on_thread(may_use_threads: bool) -> SampleGroup {
        let may_use_threads = may_use_threads && parallel::processors() > 1;
        SampleGroup { may_use_threads, ..SampleGroup::default() }
    }

    /// Adds a stack, root first, for samples.
    pub(super) fn stack(&mut self, frames: &[FrameId], builder: &mut ProfileBuilder) -> GroupedStack {
        if !ends_with(&self.batch.stacks, frames) {
            if is_full(&self.batch.stacks, frames, self.most(AT_ONCE)) {
                self.hand_over(builder);
            }
            append(&mut self.batch.stacks, frames);
        }
        GroupedStack((self.stacks + self.batch.stacks.len() - 1) as u32)
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
        if self.batch.width != values.len() {
            self.hand_over(builder);
            self.batch.width = values.len();
        }
        self.batch.samples.push(Waiting { stack, labels, time });
        self.batch.values.extend_from_slice(values);
        if self.batch.samples.len() >= self.most(MOST_SAMPLES) {
            self.hand_over(builder);
        }
    }

    /// Adds the samples that wait to the profile.
    pub(super) fn write(&mut self, builder: &mut ProfileBuilder) {
        self.hand_over(builder);
        if let Some((samples, adder)) = self.thread.take().and_then(Worker::finish) {
            builder.attach_samples(samples);
            self.adder = adder;
        }
    }

    /// How much waits at most, if it is this much without another thread.
    fn most(&self, here: usize) -> usize {
        if self.thread.is_some() { FOR_THREAD * here } else { here }
    }

    /// Adds the batch, here or on the other thread, which is started if there are enough samples.
    fn hand_over(&mut self, builder: &mut ProfileBuilder) {
        let width = self.batch.width;
        self.batch.metrics = builder.meta.metrics.len();
        self.stacks += self.batch.stacks.len();
        self.samples += self.batch.samples.len();
        match &self.thread {
            Some(thread) => thread.add(&mut self.batch),
            None => self.adder.add(&mut self.batch, builder),
        }
        self.batch.width = width;
        if self.may_use_threads && self.samples >= MANY_SAMPLES {
            self.may_use_threads = false;
            self.start(builder);
        }
    }

    fn start(&mut self, builder: &mut ProfileBuilder) {
        // Without another thread, samples are added here.
        let add =
            |(samples, adder): &mut (ProfileBuilder, Adder), batch: &mut Batch| adder.add(batch, samples);
        let Ok(thread) = Worker::start("samples", WAITING, add) else { return };
        if let Some(samples) = builder.detach_samples() {
            thread.begin((samples, std::mem::take(&mut self.adder)));
            self.thread = Some(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LoadOptions;

    /// Whatever waits, the profile is the one that adding each sample at once makes.
    #[test]
    fn samples_keep_their_order_and_their_stacks() {
        check(SampleGroup::default(), 5_000);
    }

    #[test]
    fn another_thread_adds_many_samples() {
        // Whatever the number of processors is here.
        check(SampleGroup { may_use_threads: true, ..SampleGroup::default() }, 3 * MANY_SAMPLES);
    }

    fn check(mut group: SampleGroup, samples: usize) {
        let [mut grouped, mut single] = [(); 2].map(|()| ProfileBuilder::new("test", LoadOptions::default()));
        for number in 0..samples {
            if [10, 3_000, 50_000].contains(&number) {
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
