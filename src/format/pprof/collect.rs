//! Collects samples into the tables of a profile, on another thread if possible.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use hashbrown::DefaultHashBuilder;

use crate::format::pprof::raw_stacks::{FirstSeen, Lists, LookUp, RawStacks};
use crate::format::pprof::sniff::NAME;
use crate::format::{LoadError, ParseError};
use crate::profile::{AT_ONCE, Id, Label, LabelSetId, ProfileBuilder, Reservation, StackId};

/// Parsed samples whose stacks have not been looked up yet.
pub(super) struct Batch {
    stacks: Lists,
    /// The values of all samples, concatenated.
    pub(super) values: Vec<i64>,
    /// The labels of all samples, concatenated, and how many each sample has; both empty if labels are not
    /// loaded.
    pub(super) labels: Vec<Label>,
    label_counts: Vec<u32>,
    /// The number of samples whose labels were skipped.
    skipped_labels: u64,
}

/// The maximum number of samples in a batch: enough to make the cost of passing it to another thread
/// negligible, but few enough to fit into the L2 cache.
const SAMPLES: usize = 4096;

/// The maximum size of a batch in bytes; only its last sample may exceed it.
const BYTES: usize = 256 << 10;

impl Batch {
    /// An empty batch for the [`Collector`] whose stacks have this hasher.
    pub(super) fn new(hasher: DefaultHashBuilder) -> Self {
        Batch {
            stacks: Lists::new(hasher),
            values: Vec::new(),
            labels: Vec::new(),
            label_counts: Vec::new(),
            skipped_labels: 0,
        }
    }

    /// Adds the stack of a sample.
    #[inline]
    pub(super) fn push_stack(&mut self, ids: &[u8], seen: FirstSeen) {
        self.stacks.push(ids, seen);
    }

    /// Ends the labels of a sample, which are those from index `start` on.
    pub(super) fn end_labels(&mut self, start: usize) {
        self.label_counts.push((self.labels.len() - start) as u32);
    }

    /// Counts a sample whose labels were skipped.
    pub(super) fn skip_labels(&mut self) {
        self.skipped_labels += 1;
    }

    /// Whether the batch is large enough to be collected.
    pub(super) fn is_full(&self) -> bool {
        self.stacks.len() >= SAMPLES
            || self.stacks.bytes() + size_of_val(&*self.values) + size_of_val(&*self.labels) > BYTES
    }

    /// A new empty batch for the same collector.
    fn empty(&self) -> Self {
        Batch::new(self.stacks.hasher())
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

/// Adds batches of samples to a profile.
pub(super) struct Collector {
    pub(super) builder: ProfileBuilder,
    pub(super) stacks: RawStacks,
    pub(super) found: LookUp,
    /// The stacks of the samples that are added next.
    expected: Vec<StackId>,
    /// The memory used by the stacks.
    reservation: Reservation,
}

impl Collector {
    /// A collector into `builder`, with empty `stacks`.
    pub(super) fn new(builder: ProfileBuilder, stacks: RawStacks, found: LookUp) -> Self {
        let reservation = builder.options().budget.reservation();
        Collector { builder, stacks, found, expected: Vec::new(), reservation }
    }

    /// Adds the samples of a batch, each with `width` values, and clears it. Fails if there are too many stacks
    /// or they need too much memory.
    fn add(&mut self, batch: &mut Batch, width: usize) -> Result<(), LoadError> {
        while self.builder.meta.metrics.len() < width {
            self.builder.metric("", "");
        }
        let too_many = || ParseError::whole(NAME, "more than 2^32 distinct stacks");
        self.stacks.intern_all(&batch.stacks, &mut self.found).ok_or_else(too_many)?;
        let numbers = self.found.numbers.iter().map(|&number| StackId::new(number as usize));
        if batch.label_counts.is_empty() {
            self.expected.clear();
            self.expected.extend(numbers);
            for (stacks, values) in self.expected.chunks(AT_ONCE).zip(batch.values.chunks(AT_ONCE * width)) {
                self.builder.expect_samples(stacks);
                for (&stack, values) in stacks.iter().zip(values.chunks_exact(width)) {
                    self.builder.sample(stack, LabelSetId::default(), None, values);
                }
            }
        } else {
            let mut rest = &mut *batch.labels;
            for ((stack, values), &count) in
                numbers.zip(batch.values.chunks_exact(width)).zip(&batch.label_counts)
            {
                let (own, others) = rest.split_at_mut(count as usize);
                rest = others;
                // So many numbers are no sizes: a service may number its requests.
                let is_kept = self.builder.options().labels || self.builder.label_sets() < MOST_SIZES;
                let labels = if is_kept { self.builder.label_set(own) } else { LabelSetId::default() };
                self.builder.sample(stack, labels, None, values);
            }
        }
        self.builder.meta.labelled_rows += batch.skipped_labels;
        batch.clear();
        Ok(self.reservation.set(self.stacks.size() as u64)?)
    }
}

/// Where batches are collected. Of the CPU time for a million samples, a fifth is spent on decompression, a sixth
/// on decoding fields, and a third on looking up stacks and adding up rows. After the first batch, each of these
/// runs on its own thread.
pub(super) enum Collecting {
    /// On the thread that reads.
    OnReader(Box<Collector>),
    /// On its own thread.
    OnThread(CollectorThread),
}

/// A thread that runs a [`Collector`].
pub(super) struct CollectorThread {
    full: SyncSender<Batch>,
    /// Emptied batches, to be filled again.
    emptied: Receiver<Batch>,
    thread: JoinHandle<Result<Box<Collector>, LoadError>>,
}

/// The number of batches that may wait for the thread.
const WAITING: usize = 2;

impl Collecting {
    /// Collects a batch of samples with `width` values each, and clears it. `on_thread` allows later batches to be
    /// collected on another thread. Fails if [`Collector::add`] failed for this batch or, on a thread, an earlier
    /// one.
    pub(super) fn add(self, batch: &mut Batch, width: usize, on_thread: bool) -> Result<Self, LoadError> {
        match self {
            Collecting::OnReader(mut collector) => {
                collector.add(batch, width)?;
                Ok(if on_thread {
                    Collecting::OnThread(CollectorThread::start(collector, width)?)
                } else {
                    Collecting::OnReader(collector)
                })
            }
            Collecting::OnThread(thread) => {
                let empty = thread.emptied.try_recv().unwrap_or_else(|_| batch.empty());
                match thread.full.send(std::mem::replace(batch, empty)) {
                    Ok(()) => Ok(Collecting::OnThread(thread)),
                    // The thread has failed; joining it returns its error.
                    Err(_) => thread.finish().map(Collecting::OnReader),
                }
            }
        }
    }

    /// Waits until all batches are collected. Fails if [`Collector::add`] failed for any of them.
    pub(super) fn finish(self) -> Result<Collector, LoadError> {
        match self {
            Collecting::OnReader(collector) => Ok(*collector),
            Collecting::OnThread(thread) => Ok(*thread.finish()?),
        }
    }
}

impl CollectorThread {
    fn start(mut collector: Box<Collector>, width: usize) -> io::Result<CollectorThread> {
        let (full, batches) = sync_channel::<Batch>(WAITING);
        let (empty, emptied) = channel();
        let collect = move || {
            for mut batch in batches {
                collector.add(&mut batch, width)?;
                // Fails if the reader has failed and no longer needs the batch.
                let _ = empty.send(batch);
            }
            Ok(collector)
        };
        let thread = thread::Builder::new().name("collect".into()).spawn(collect)?;
        Ok(CollectorThread { full, emptied, thread })
    }

    fn finish(self) -> Result<Box<Collector>, LoadError> {
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
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
