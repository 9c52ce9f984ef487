//! The heaps of processes: what was allocated at each stack since the recording began, and what has been freed since.
//!
//! ```text
//! message ProfilePacket { repeated ProcessHeapSamples process_dumps = 5; bool continued = 6; … }
//! message ProcessHeapSamples { uint64 pid = 1; repeated HeapSample samples = 2; uint64 timestamp = 9; string heap_name = 11; … }
//! message HeapSample { uint64 callstack_id = 1; uint64 self_allocated = 2; uint64 self_freed = 3; uint64 alloc_count = 5;
//!                      uint64 free_count = 6; uint64 self_max = 8; uint64 self_max_count = 9; }
//! ```
//!
//! Each dump of a process counts from the beginning, so what is in use is that of the last one. A call stack of which all was freed is
//! not in the dumps that follow, and counts anew if it comes back: what it allocated is what it had before, and since.

use std::collections::BTreeMap;

use crate::format::group::{GroupedStack, StackGroups};
use crate::format::labels::sample_labels;
use crate::format::perfetto::interned::{HEAP, Interned};
use crate::format::perfetto::names::{Names, messages};
use crate::format::perfetto::packet::each_field;
use crate::format::text::lossy;
use crate::format::wire::{Value, WireError};
use crate::profile::{ProfileBuilder, StackId};
use crate::unit::{plural, saturated};

/// A dump of a heap.
struct Dump {
    time: u64,
    /// When it was written, since boot.
    written: Option<i64>,
    /// Allocated objects and bytes, and those in use.
    samples: Vec<(GroupedStack, [i64; 4])>,
}

/// What is known of a call stack after some dumps.
#[derive(Clone, Copy, Default)]
struct CallStack {
    /// The last dump that has it, and its values there.
    dump: usize,
    values: [i64; 4],
    /// Objects and bytes that it had allocated before it was left out of a dump.
    before: [i64; 2],
}

impl CallStack {
    /// Counts it in a later dump.
    fn in_dump(&mut self, dump: usize, values: [i64; 4]) {
        let counts_anew = self.dump + 1 < dump || values[0] < self.values[0] || values[1] < self.values[1];
        if counts_anew {
            self.before = [0, 1].map(|kind| self.before[kind].saturating_add(self.values[kind]));
        }
        (self.dump, self.values) = (dump, values);
    }

    /// What it allocated, and what of it is in use after the last dump.
    fn after(&self, last: usize) -> [i64; 4] {
        let [count, allocated] = [0, 1].map(|kind| self.before[kind].saturating_add(self.values[kind]));
        let [.., objects, bytes] = if self.dump == last { self.values } else { [0; 4] };
        [count, allocated, objects, bytes]
    }
}

/// The values of each call stack after all dumps of a heap.
fn after_all(dumps: &[Dump], groups: &StackGroups) -> BTreeMap<StackId, [i64; 4]> {
    let mut stacks: BTreeMap<StackId, CallStack> = BTreeMap::new();
    for (number, dump) in dumps.iter().enumerate() {
        let mut sums: BTreeMap<StackId, [i64; 4]> = BTreeMap::new();
        for (stack, values) in &dump.samples {
            let sum = sums.entry(groups.id(*stack)).or_default();
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        }
        for (stack, values) in sums {
            stacks.entry(stack).or_default().in_dump(number, values);
        }
    }
    let last = dumps.len().saturating_sub(1);
    let after = stacks.into_iter().map(|(stack, known)| (stack, known.after(last)));
    after.filter(|(_, values)| *values != [0; 4]).collect()
}

/// The heaps of a trace by process and name, such as `malloc`.
#[derive(Default)]
pub(super) struct Heaps {
    dumps: BTreeMap<(u64, String), Vec<Dump>>,
    /// Whether what is in use is that of the moment at which the heap was largest.
    is_peak: bool,
    has_allocations: bool,
    /// Processes whose recording is incomplete.
    incomplete: u64,
    lost: u64,
}

impl Heaps {
    pub(super) fn packet(
        &mut self,
        (data, written): (&[u8], Option<i64>),
        interned: &mut Interned,
        names: &Names,
        groups: &mut StackGroups,
        builder: &mut ProfileBuilder,
    ) -> Result<(), WireError> {
        interned.add(data, &HEAP, builder)?;
        for (number, message) in messages(data)? {
            if number == 5 {
                self.dump((message, written), interned, names, groups, builder)?;
            }
        }
        Ok(())
    }

    fn dump(
        &mut self,
        (message, written): (&[u8], Option<i64>),
        interned: &mut Interned,
        names: &Names,
        groups: &mut StackGroups,
        builder: &mut ProfileBuilder,
    ) -> Result<(), WireError> {
        let (mut pid, mut time, mut name, mut samples) = (0, 0, &b""[..], Vec::new());
        let mut is_incomplete = false;
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(id)) => pid = id,
            (2, Value::Bytes(sample)) => samples.push(sample),
            // Another recording of the process, an overrun buffer, a corrupted one, or too much overhead.
            (4 | 7 | 8 | 10, Value::Varint(flag)) => is_incomplete |= flag != 0,
            (9, Value::Varint(timestamp)) => time = timestamp,
            (11, Value::Bytes(text)) => name = text,
            _ => {}
        })?;
        self.incomplete += u64::from(is_incomplete);
        let mut read = Vec::new();
        for sample in samples {
            let (stack, values) = self.sample(sample)?;
            match interned.stack(stack, names, groups, builder) {
                Some(stack) => read.push((stack, values)),
                None => self.lost += 1,
            }
        }
        let dumps = self.dumps.entry((pid, lossy(name).into_owned())).or_default();
        // A large dump has several packets, all with the same time.
        match dumps.last_mut().filter(|dump| dump.time == time) {
            Some(dump) => dump.samples.extend(read),
            None => dumps.push(Dump { time, written, samples: read }),
        }
        Ok(())
    }

    fn sample(&mut self, message: &[u8]) -> Result<(u64, [i64; 4]), WireError> {
        let mut fields = [0; 10];
        each_field(message, |number, value| {
            if let (Some(field), Value::Varint(value)) = (fields.get_mut(number as usize), value) {
                *field = saturated(value);
            }
        })?;
        let [_, stack, allocated, freed, _, count, frees, _, peak, peak_count] = fields;
        self.is_peak |= peak != 0;
        self.has_allocations |= allocated != 0;
        let in_use = if allocated == 0 {
            [peak_count, peak]
        } else {
            [count.saturating_sub(frees), allocated.saturating_sub(freed)]
        };
        Ok((stack.cast_unsigned(), [count, allocated, in_use[0], in_use[1]]))
    }

    /// When the first dump that is shown was written.
    pub(super) fn start(&self) -> Option<i64> {
        self.dumps.values().filter_map(|dumps| dumps.last()?.written).min()
    }

    /// Adds the samples, with metrics of their own; times count from `origin`.
    pub(super) fn write(
        self,
        origin: i64,
        names: &Names,
        groups: &StackGroups,
        builder: &mut ProfileBuilder,
    ) {
        if self.dumps.is_empty() {
            return;
        }
        // A recording of peaks does not say what was allocated.
        let skipped = if self.has_allocations { 0 } else { 2 };
        let kinds = [
            ("alloc_objects", "count"),
            ("alloc_space", "bytes"),
            ("inuse_objects", "count"),
            ("inuse_space", "bytes"),
        ];
        let first = builder.meta.metrics.len();
        for (name, unit) in &kinds[skipped..] {
            builder.metric(name, unit);
        }
        let mut repeated = 0;
        for ((pid, heap), dumps) in self.dumps {
            repeated += u64::from(dumps.len() > 1);
            let process = names.thread_of(Some(pid), None).process;
            let written = dumps.last().and_then(|dump| dump.written);
            let time = written.map(|time| time.saturating_sub(origin));
            for (stack, values) in after_all(&dumps, groups) {
                let labels = sample_labels(builder, |labels| {
                    labels.text_if_known("process", &process);
                    labels.text_if_known("heap", &heap);
                });
                builder.sample_from(first, stack, labels, time, &values[skipped..]);
            }
        }
        let warnings = [
            (
                repeated,
                "heap was dumped several times; what is in use is that of its last dump",
                "heaps were dumped several times; what is in use is that of their last dumps",
            ),
            (self.incomplete, "dump of a heap is incomplete", "dumps of heaps are incomplete"),
            (
                self.lost,
                "allocation was skipped because its stack was lost",
                "allocations were skipped because their stacks were lost",
            ),
        ];
        for (count, one, several) in warnings.into_iter().filter(|(count, ..)| *count > 0) {
            builder.warn(format!("{count} {}", plural(count, one, several)));
        }
        if self.is_peak {
            builder.meta.comments.push("heaps at the moments when they were largest".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_stays_allocated() {
        let mut stack = CallStack::default();
        // Two dumps that count on, one without the call stack, and one that counts anew.
        stack.in_dump(0, [1, 1000, 1, 1000]);
        stack.in_dump(1, [3, 1500, 0, 0]);
        assert_eq!(stack.after(2), [3, 1500, 0, 0]);
        stack.in_dump(3, [4, 1600, 1, 100]);
        assert_eq!(stack.after(3), [7, 3100, 1, 100]);
    }
}
