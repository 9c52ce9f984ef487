//! Adds samples to a profile, on another thread if possible.

use crate::parallel::Worker;
use crate::profile::{AT_ONCE, Label, LabelSetId, ProfileBuilder, StackId};

/// Samples that have not been added to the profile yet.
#[derive(Default)]
pub(super) struct Batch {
    /// The stack of each sample.
    pub(super) stacks: Vec<StackId>,
    /// The values of all samples, concatenated, and how many each has.
    pub(super) values: Vec<i64>,
    pub(super) width: usize,
    /// The labels of all samples, concatenated, and how many each sample has; both empty if labels are not
    /// loaded.
    pub(super) labels: Vec<Label>,
    label_counts: Vec<u32>,
    /// The number of samples whose labels were skipped.
    skipped_labels: u64,
}

impl Batch {
    /// Ends the labels of a sample, which are those from index `start` on.
    pub(super) fn end_labels(&mut self, start: usize) {
        self.label_counts.push((self.labels.len() - start) as u32);
    }

    /// Counts a sample whose labels were skipped.
    pub(super) fn skip_labels(&mut self) {
        self.skipped_labels += 1;
    }

    /// Removes all samples, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.stacks.clear();
        self.values.clear();
        self.labels.clear();
        self.label_counts.clear();
        self.skipped_labels = 0;
    }
}

/// The maximum number of distinct sizes of allocations that are kept apart.
const MOST_SIZES: usize = 1 << 16;

/// Adds the samples of a batch to a profile, and clears it.
fn collect(batch: &mut Batch, builder: &mut ProfileBuilder) {
    let width = batch.width;
    while builder.meta.metrics.len() < width {
        builder.metric("", "");
    }
    if batch.labels.is_empty() {
        for (stacks, values) in batch.stacks.chunks(AT_ONCE).zip(batch.values.chunks(AT_ONCE * width)) {
            builder.expect_samples(stacks);
            builder.plain_samples(stacks, values);
        }
    } else {
        let mut rest = &mut *batch.labels;
        let samples = batch.stacks.iter().zip(batch.values.chunks_exact(width));
        for ((&stack, values), &count) in samples.zip(&batch.label_counts) {
            let (own, others) = rest.split_at_mut(count as usize);
            rest = others;
            // So many numbers are no sizes: a service may number its requests.
            let is_kept = builder.options().labels || builder.label_sets() < MOST_SIZES;
            let labels = if is_kept { builder.label_set(own) } else { LabelSetId::default() };
            builder.sample(stack, labels, None, values);
        }
    }
    builder.meta.labelled_rows += batch.skipped_labels;
    batch.clear();
}

/// Where samples are added to the profile. Of the CPU time for a million samples, a fifth is spent on decompression, a third on decoding
/// fields and looking up stacks, and a fifth on adding up rows. After the first batch, each of these runs on its own thread.
pub(super) enum Collecting {
    /// On the thread that reads.
    OnReader(Box<ProfileBuilder>),
    /// On its own thread.
    OnThread(Worker<Box<ProfileBuilder>, Batch>),
}

/// The number of batches that may wait for the thread.
const WAITING: usize = 2;

impl Collecting {
    /// Adds a batch of samples, and clears it. `on_thread` allows later batches to be added on another thread.
    pub(super) fn add(&mut self, batch: &mut Batch, on_thread: bool) {
        match self {
            Collecting::OnReader(builder) => {
                collect(batch, builder);
                if on_thread {
                    self.start();
                }
            }
            Collecting::OnThread(worker) => worker.add(batch),
        }
    }

    /// Without another thread, samples are added on this one.
    fn start(&mut self) {
        let work = |builder: &mut Box<ProfileBuilder>, batch: &mut Batch| collect(batch, builder);
        let Ok(worker) = Worker::start("collect", WAITING, work) else { return };
        if let Collecting::OnReader(builder) = std::mem::replace(self, Collecting::OnThread(worker))
            && let Collecting::OnThread(worker) = self
        {
            worker.begin(builder);
        }
    }

    /// The profile with all samples that were added; `None` if a thread was never given it.
    pub(super) fn finish(self) -> Option<Box<ProfileBuilder>> {
        match self {
            Collecting::OnReader(builder) => Some(builder),
            Collecting::OnThread(worker) => worker.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::format::pprof::read::read;
    use crate::format::wire::{push_bytes, push_varint};
    use crate::format::{Inflate, Source};
    use crate::profile::{Budget, LoadOptions, Profile, to_notation};

    /// Five batches of samples, one of which, near the end, has the stack `odd_stack`.
    fn profile(odd_stack: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_bytes(&mut bytes, 1, &[1 << 3, 1, 2 << 3, 1]);
        for number in 0..20_000_u64 {
            let mut sample = Vec::new();
            let stack = [&[1, 2][..], &[2], &[1, 3], &[3, 3, 1], &[]][number as usize % 5];
            push_bytes(&mut sample, 1, if number == 19_990 { odd_stack } else { stack });
            let mut value = Vec::new();
            push_varint(&mut value, number);
            push_bytes(&mut sample, 2, &value);
            if number % 3 == 0 {
                push_bytes(&mut sample, 3, &[1 << 3, 1, 2 << 3, 2 + (number % 2) as u8]);
            }
            push_bytes(&mut bytes, 2, &sample);
        }
        for id in 1..=3 {
            push_bytes(&mut bytes, 4, &[1 << 3, id, 4 << 3 | 2, 2, 1 << 3, id]);
            push_bytes(&mut bytes, 5, &[1 << 3, id, 2 << 3, id]);
        }
        for text in ["", "one", "two", "three"] {
            push_bytes(&mut bytes, 6, text.as_bytes());
        }
        bytes
    }

    fn load(bytes: &[u8], inflate: Inflate, labels: bool) -> Result<Profile, String> {
        let input = Box::new(Cursor::new(bytes.to_vec()));
        let mut source = Source::open_with(input, inflate, Budget::UNLIMITED).unwrap();
        let options = LoadOptions { labels, ..LoadOptions::default() };
        read(&mut source, options).map_err(|error| error.to_string())
    }

    #[test]
    fn collecting_on_a_thread_gives_the_same_profile() {
        let bytes = profile(&[2]);
        for labels in [false, true] {
            let on_reader = load(&bytes, Inflate::Here, labels).unwrap();
            let on_thread = load(&bytes, Inflate::OnThread, labels).unwrap();
            assert_eq!(on_reader.meta, on_thread.meta);
            assert_eq!((on_reader.meta.rows, on_reader.meta.labelled_rows), (20_000, 6_667));
            assert_eq!(on_reader.meta.metrics[0].total, 20_000 * 19_999 / 2);
            assert_eq!(to_notation(&on_reader), to_notation(&on_thread));
            assert_eq!(to_notation(&on_reader).contains("one=two"), labels);
        }
    }

    #[test]
    fn a_missing_location_is_reported_with_its_sample() {
        let bytes = profile(&[4]);
        for inflate in [Inflate::Here, Inflate::OnThread] {
            let error = load(&bytes, inflate, false).unwrap_err();
            assert!(error.contains("sample 19991 refers to location 4"), "{error}");
        }
    }
}
