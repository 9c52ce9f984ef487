//! Collects samples into the tables of a profile.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use hashbrown::DefaultHashBuilder;

use crate::format::pprof::raw_stacks::{FirstSeen, Lists, LookUp, RawStacks};
use crate::format::pprof::read::NAME;
use crate::format::{LoadError, ParseError};
use crate::profile::{Id, Label, LabelSetId, ProfileBuilder, Reservation, StackId};

/// Parsed samples whose stacks have not been looked up yet.
pub(super) struct Batch {
    stacks: Lists,
    /// The values of all samples, one after the other.
    pub(super) values: Vec<i64>,
    /// The labels of all samples, one after the other, and how many each has; neither is filled where
    /// no view asked for labels.
    pub(super) labels: Vec<Label>,
    label_counts: Vec<u32>,
    /// How many samples have labels that were skipped.
    skipped_labels: u64,
}

/// Samples of a batch: so many that handing it to another thread costs nothing, and so few that it stays
/// in the second-level cache.
const SAMPLES: usize = 4096;

/// What the stacks and labels of a batch may take in bytes, but for its last sample.
const BYTES: usize = 256 << 10;

impl Batch {
    /// A batch for the stacks of a [`Collector`] with this hasher.
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

    /// Ends the labels of a sample: those from number `start` on are its own.
    pub(super) fn end_labels(&mut self, start: usize) {
        self.label_counts.push((self.labels.len() - start) as u32);
    }

    /// Counts a sample whose labels were skipped.
    pub(super) fn skip_labels(&mut self) {
        self.skipped_labels += 1;
    }

    /// Whether it holds enough to be handed over.
    pub(super) fn is_full(&self) -> bool {
        self.stacks.len() >= SAMPLES
            || self.stacks.bytes() + size_of_val(&*self.values) + size_of_val(&*self.labels) > BYTES
    }

    /// A batch without samples, for the same stacks.
    fn empty(&self) -> Self {
        Batch::new(self.stacks.hasher())
    }

    fn clear(&mut self) {
        self.stacks.clear();
        self.values.clear();
        self.labels.clear();
        self.label_counts.clear();
        self.skipped_labels = 0;
    }
}

/// Collects the rows of a profile and their stacks.
pub(super) struct Collector {
    pub(super) builder: ProfileBuilder,
    pub(super) stacks: RawStacks,
    found: LookUp,
    /// What the stacks take of the budget.
    share: Reservation,
}

impl Collector {
    pub(super) fn new(builder: ProfileBuilder) -> Self {
        let share = builder.options().budget.share();
        Collector { builder, stacks: RawStacks::new(), found: LookUp::default(), share }
    }

    /// Adds the samples of a batch, each of `width` values, and empties it. Fails where stacks are too many
    /// or take too much memory.
    fn add(&mut self, batch: &mut Batch, width: usize) -> Result<(), LoadError> {
        while self.builder.meta.metrics.len() < width {
            self.builder.metric("", "");
        }
        let too_many = || ParseError::whole(NAME, "more than 2^32 distinct stacks");
        self.stacks.intern_all(&batch.stacks, &mut self.found).ok_or_else(too_many)?;
        let numbers = self.found.numbers.iter().map(|&number| StackId::new(number as usize));
        let samples = numbers.zip(batch.values.chunks_exact(width));
        if batch.label_counts.is_empty() {
            for (stack, values) in samples {
                self.builder.sample(stack, LabelSetId::default(), None, values);
            }
        } else {
            let mut rest = &mut *batch.labels;
            for ((stack, values), &count) in samples.zip(&batch.label_counts) {
                let (own, others) = rest.split_at_mut(count as usize);
                rest = others;
                let labels = self.builder.label_set(own);
                self.builder.sample(stack, labels, None, values);
            }
        }
        self.builder.meta.labelled_rows += batch.skipped_labels;
        batch.clear();
        Ok(self.share.set(self.stacks.size() as u64)?)
    }
}

/// Where batches are collected. Of the processor time that a million samples take, a fifth is inflating,
/// a sixth finding their fields, and a third looking up their stacks and adding up their rows: after the first
/// batch each of the three has a thread.
pub(super) enum Collecting {
    /// On the thread that reads.
    Here(Box<Collector>),
    /// On a thread of its own.
    Beside(Helper),
}

/// A thread that collects.
pub(super) struct Helper {
    full: SyncSender<Batch>,
    /// Emptied batches, to be filled again.
    emptied: Receiver<Batch>,
    thread: JoinHandle<Result<Box<Collector>, LoadError>>,
}

/// How many batches may wait for the thread.
const WAITING: usize = 2;

impl Collecting {
    /// Hands over a batch of samples of `width` values each, and empties it. `share` says whether those after
    /// it may go to a thread. Fails as [`Collector::add`] did by now.
    pub(super) fn add(self, batch: &mut Batch, width: usize, share: bool) -> Result<Self, LoadError> {
        match self {
            Collecting::Here(mut collector) => {
                collector.add(batch, width)?;
                Ok(if share {
                    Collecting::Beside(Helper::start(collector, width)?)
                } else {
                    Collecting::Here(collector)
                })
            }
            Collecting::Beside(helper) => {
                let empty = helper.emptied.try_recv().unwrap_or_else(|_| batch.empty());
                match helper.full.send(std::mem::replace(batch, empty)) {
                    Ok(()) => Ok(Collecting::Beside(helper)),
                    // The thread ended before its time, and says why.
                    Err(_) => helper.finish().map(Collecting::Here),
                }
            }
        }
    }

    /// Waits for all that was handed over. Fails as [`Collector::add`] does.
    pub(super) fn finish(self) -> Result<Collector, LoadError> {
        match self {
            Collecting::Here(collector) => Ok(*collector),
            Collecting::Beside(helper) => Ok(*helper.finish()?),
        }
    }
}

impl Helper {
    fn start(mut collector: Box<Collector>, width: usize) -> io::Result<Helper> {
        let (full, batches) = sync_channel::<Batch>(WAITING);
        let (empty, emptied) = channel();
        let collect = move || {
            for mut batch in batches {
                collector.add(&mut batch, width)?;
                // Not needed any more if the reader has failed.
                let _ = empty.send(batch);
            }
            Ok(collector)
        };
        let thread = thread::Builder::new().name("collect".into()).spawn(collect)?;
        Ok(Helper { full, emptied, thread })
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

    /// Five batches of samples, one of them near the end with this stack.
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
    fn a_thread_makes_no_difference() {
        let bytes = profile(&[2]);
        for labels in [false, true] {
            let here = load(&bytes, Inflate::Here, labels).unwrap();
            let beside = load(&bytes, Inflate::OnThread, labels).unwrap();
            assert_eq!(here.meta, beside.meta);
            assert_eq!((here.meta.rows, here.meta.labelled_rows), (20_000, 6_667));
            assert_eq!(here.meta.metrics[0].total, 20_000 * 19_999 / 2);
            assert_eq!(to_notation(&here), to_notation(&beside));
            assert_eq!(to_notation(&here).contains("one=two"), labels);
        }
    }

    #[test]
    fn a_location_that_is_not_there_is_named_with_its_sample() {
        let bytes = profile(&[4]);
        for inflate in [Inflate::Here, Inflate::OnThread] {
            let error = load(&bytes, inflate, false).unwrap_err();
            assert!(error.contains("sample 19991 refers to location 4"), "{error}");
        }
    }
}
