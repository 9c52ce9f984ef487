//! Samples of stacks, each with a weight in the unit of a counter: time, cycles, allocated bytes, and so on.
//!
//! ```text
//! message StackSample { TaskContext task_context = 1; uint64 task_context_iid = 2; InlineCallstack callstack = 5;
//!                       uint64 callstack_iid = 6; string unwind_error = 7; uint64 unwind_error_iid = 8;
//!                       CounterDescriptor primary_descriptor = 9; uint64 primary_descriptor_iid = 10; uint64 primary_weight = 11;
//!                       repeated CounterDescriptor follower_descriptors = 12; repeated uint64 follower_descriptor_iids = 13;
//!                       repeated uint64 follower_weights = 14; }
//! message TaskContext { uint64 iid = 1; uint32 pid = 2; uint32 tid = 3; uint64 async_id = 4; }
//! message AsyncContextDescriptor { uint64 iid = 1; string name = 2; string kind = 3; uint64 parent_iid = 4; }
//! message CounterDescriptor { uint64 iid = 1; string name = 2; Unit unit = 3; string unit_str = 4; uint64 unit_multiplier = 5; }
//! message InlineCallstack { message Frame { string function_name = 1; string source_file = 2; uint32 line_number = 3; }
//!                           repeated Frame frames = 1; }     from the root
//! message StackSampleDefaults { CounterDescriptor primary_descriptor = 2; repeated CounterDescriptor follower_descriptors = 3; }
//! ```
//!
//! The first version of the message had a `Callstack`, which names interned frames, in place of the `InlineCallstack`.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::format::group::{GroupedStack, StackGroups};
use crate::format::labels::label_set;
use crate::format::numbering::Numbering;
use crate::format::perfetto::interned::{Interned, text};
use crate::format::perfetto::names::{Names, messages};
use crate::format::perfetto::packet::each_field;
use crate::format::text::lossy;
use crate::format::wire::{Value, WireError, numbers};
use crate::name::demangle;
use crate::profile::{Frame, LabelSetId, MappingId, ProfileBuilder};
use crate::unit::saturated;

/// The fields of `InternedData` that samples refer to; the second number of each is that of the first version.
const TASKS: [u32; 2] = [48, 2000];
const COUNTERS: [u32; 2] = [50, 2002];
const ASYNC_CONTEXTS: u32 = 51;

/// What a weight counts: a number among [`Counters`], and by what a weight is multiplied.
#[derive(Clone, Copy)]
struct Counter {
    number: u32,
    multiplier: u64,
}

impl Counter {
    fn scaled(self, weight: u64) -> i64 {
        saturated(weight.saturating_mul(self.multiplier))
    }
}

/// The names and units of all counters. Those of the same name and unit are one metric.
#[derive(Default)]
pub(super) struct Counters {
    named: Vec<(String, String)>,
    numbers: Numbering<(String, String)>,
    /// Descriptors that were read before, since every sample may repeat them.
    known: HashMap<Box<[u8]>, (u64, Counter)>,
}

impl Counters {
    /// Reads a `CounterDescriptor`, and returns its id as well.
    fn read(&mut self, message: &[u8]) -> Result<(u64, Counter), WireError> {
        if let Some(known) = self.known.get(message) {
            return Ok(*known);
        }
        let (mut id, mut multiplier, mut known_unit) = (0, 1, "count");
        let (mut name, mut unit) = (String::new(), String::new());
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(iid)) => id = iid,
            (2, Value::Bytes(text)) => name = lossy(text).into_owned(),
            (3, Value::Varint(1)) => known_unit = "nanoseconds",
            (3, Value::Varint(4)) => known_unit = "bytes",
            (4, Value::Bytes(text)) => unit = lossy(text).into_owned(),
            (5, Value::Varint(factor)) => multiplier = factor.max(1),
            _ => {}
        })?;
        if unit.is_empty() {
            unit = known_unit.to_string();
        }
        if name.is_empty() {
            name = if unit == "nanoseconds" { "wall" } else { "weight" }.to_string();
        }
        let number = self.numbers.number((name, unit), |named| self.named.push(named.clone()));
        let counter = (id, Counter { number, multiplier });
        self.known.insert(message.into(), counter);
        Ok(counter)
    }
}

/// Who was running.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Task {
    pid: Option<u64>,
    tid: Option<u64>,
    context: u64,
}

impl Task {
    fn read(message: &[u8]) -> Result<(u64, Task), WireError> {
        let (mut id, mut task) = (0, Task::default());
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(iid)) => id = iid,
            (2, Value::Varint(pid)) => task.pid = Some(pid),
            (3, Value::Varint(tid)) => task.tid = Some(tid),
            (4, Value::Varint(context)) => task.context = context,
            _ => {}
        })?;
        Ok((id, task))
    }
}

/// What the samples of a sequence refer to.
#[derive(Default)]
pub(super) struct Contexts {
    tasks: HashMap<u64, Task>,
    counters: HashMap<u64, Counter>,
    async_names: HashMap<u64, Rc<str>>,
    primary: Option<Counter>,
    followers: Vec<Counter>,
}

impl Contexts {
    pub(super) fn add(&mut self, interned: &[u8], counters: &mut Counters) -> Result<(), WireError> {
        for (number, message) in messages(interned)? {
            if TASKS.contains(&number) {
                let (id, task) = Task::read(message)?;
                self.tasks.insert(id, task);
            } else if COUNTERS.contains(&number) {
                let (id, counter) = counters.read(message)?;
                self.counters.insert(id, counter);
            } else if number == ASYNC_CONTEXTS {
                let (id, name) = text(message)?;
                self.async_names.insert(id, lossy(name).into());
            }
        }
        Ok(())
    }

    /// The defaults of a sequence replace those before.
    pub(super) fn defaults(&mut self, message: &[u8], counters: &mut Counters) -> Result<(), WireError> {
        (self.primary, self.followers) = (None, Vec::new());
        for (number, message) in messages(message)? {
            match number {
                2 => self.primary = Some(counters.read(message)?.1),
                3 => self.followers.push(counters.read(message)?.1),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What a packet says of a sample.
#[derive(Default)]
struct RawSample<'a> {
    task: Option<&'a [u8]>,
    task_id: u64,
    callstack: Option<&'a [u8]>,
    callstack_id: Option<u64>,
    is_cut: bool,
    primary: Option<&'a [u8]>,
    primary_id: Option<u64>,
    weight: Option<u64>,
    followers: Vec<&'a [u8]>,
    follower_ids: Vec<u64>,
    follower_weights: Vec<u64>,
}

impl<'a> RawSample<'a> {
    fn read(message: &'a [u8]) -> Result<RawSample<'a>, WireError> {
        let (mut sample, mut result) = (RawSample::default(), Ok(()));
        each_field(message, |number, value| match (number, value) {
            (1, Value::Bytes(task)) => sample.task = Some(task),
            (2, Value::Varint(id)) => sample.task_id = id,
            (5, Value::Bytes(callstack)) => sample.callstack = Some(callstack),
            (6, Value::Varint(id)) => sample.callstack_id = Some(id),
            (7, Value::Bytes(error)) => sample.is_cut |= !error.is_empty(),
            (8, Value::Varint(error)) => sample.is_cut |= error != 0,
            (9, Value::Bytes(counter)) => sample.primary = Some(counter),
            (10, Value::Varint(id)) => sample.primary_id = Some(id),
            (11, Value::Varint(weight)) => sample.weight = Some(weight),
            (12, Value::Bytes(counter)) => sample.followers.push(counter),
            (13, value) => result = result.and(numbers(value, |id| sample.follower_ids.push(id))),
            (14, value) => result = result.and(numbers(value, |weight| sample.follower_weights.push(weight))),
            _ => {}
        })?;
        result.map(|()| sample)
    }

    fn task(&self, contexts: &Contexts) -> Result<Task, WireError> {
        match self.task {
            Some(task) => Ok(Task::read(task)?.1),
            None => Ok(contexts.tasks.get(&self.task_id).cloned().unwrap_or_default()),
        }
    }

    /// Calls `add` with the counters and their weights, and returns whether the first is the one that triggered the sample.
    fn weights(
        &self,
        contexts: &Contexts,
        counters: &mut Counters,
        mut add: impl FnMut(Counter, u64),
    ) -> Result<bool, WireError> {
        let primary = match (self.primary, self.primary_id) {
            (Some(counter), _) => Some(counters.read(counter)?.1),
            (None, Some(id)) => contexts.counters.get(&id).copied(),
            (None, None) => contexts.primary,
        };
        let primary = primary.zip(self.weight);
        if let Some((counter, weight)) = primary {
            add(counter, weight);
        }
        let mut weights = self.follower_weights.iter().copied();
        let mut follow = |counter: Option<Counter>| {
            if let Some((weight, counter)) = weights.next().and_then(|weight| Some((weight, counter?))) {
                add(counter, weight);
            }
        };
        if !self.followers.is_empty() {
            for counter in &self.followers {
                follow(Some(counters.read(counter)?.1));
            }
        } else if !self.follower_ids.is_empty() {
            self.follower_ids.iter().for_each(|id| follow(contexts.counters.get(id).copied()));
        } else {
            contexts.followers.iter().for_each(|counter| follow(Some(*counter)));
        }
        Ok(primary.is_some())
    }
}

/// A sample that was read.
struct StackSample {
    stack: GroupedStack,
    labels: LabelSetId,
    time: Option<i64>,
    /// The counter that triggered it, among those of [`StackSamples`].
    primary: Option<u32>,
    /// Where its values begin.
    values: usize,
}

/// The samples of a trace.
#[derive(Default)]
pub(super) struct StackSamples {
    samples: Vec<StackSample>,
    /// The values of all samples, with the numbers of their counters.
    values: Vec<(u32, i64)>,
    pub(super) counters: Counters,
    label_sets: HashMap<(Task, Rc<str>), LabelSetId>,
    pub(super) cut: u64,
    pub(super) lost: u64,
}

impl StackSamples {
    pub(super) fn add(
        &mut self,
        (data, time): (&[u8], Option<i64>),
        contexts: &Contexts,
        interned: &mut Interned,
        names: &Names,
        groups: &mut StackGroups,
        builder: &mut ProfileBuilder,
    ) -> Result<(), WireError> {
        let raw = RawSample::read(data)?;
        let stack = match (raw.callstack_id, raw.callstack) {
            (Some(id), _) => interned.stack(id, names, groups, builder),
            (None, Some(callstack)) => own_stack(callstack, interned, names, groups, builder)?,
            (None, None) => Some(groups.add(&[], builder)),
        };
        let Some(stack) = stack else {
            self.lost += 1;
            return Ok(());
        };
        self.cut += u64::from(raw.is_cut);
        let labels = self.labels(&raw.task(contexts)?, contexts, names, builder);
        let (first, values) = (self.values.len(), &mut self.values);
        let add = |counter: Counter, weight| values.push((counter.number, counter.scaled(weight)));
        let has_primary = raw.weights(contexts, &mut self.counters, add)?;
        let primary = self.values.get(first).filter(|_| has_primary).map(|(number, _)| *number);
        self.samples.push(StackSample { stack, labels, time, primary, values: first });
        Ok(())
    }

    fn labels(
        &mut self,
        task: &Task,
        contexts: &Contexts,
        names: &Names,
        builder: &mut ProfileBuilder,
    ) -> LabelSetId {
        if !builder.options().labels {
            builder.skipped_labels();
            return LabelSetId::default();
        }
        let context = contexts.async_names.get(&task.context).cloned().unwrap_or_default();
        *self.label_sets.entry((task.clone(), context)).or_insert_with_key(|(task, context)| {
            label_set(builder, |labels| {
                names.thread_of(task.pid, task.tid).add_to(labels);
                labels.text_if_known("task", context);
            })
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// When samples were taken, since boot.
    pub(super) fn times(&self) -> impl Iterator<Item = i64> + Clone {
        self.samples.iter().filter_map(|sample| sample.time)
    }

    /// Adds the samples, with metrics of their own: how many each counter triggered, and the sums of the counters. Times count
    /// from `origin`. Returns the metric to show first.
    pub(super) fn write(self, origin: i64, groups: &StackGroups, builder: &mut ProfileBuilder) -> usize {
        let mut triggers: Vec<Option<u32>> = self.samples.iter().map(|sample| sample.primary).collect();
        triggers.sort_unstable();
        triggers.dedup();
        let is_only = triggers.len() == 1 && builder.meta.metric_named("samples").is_none();
        let first = builder.meta.metrics.len();
        for trigger in &triggers {
            let counter = trigger.map_or("other", |number| &*self.counters.named[number as usize].0);
            let name = if is_only { "samples".to_string() } else { format!("{counter} samples") };
            builder.metric(&name, "count");
        }
        let counters = first + triggers.len();
        for (name, unit) in &self.counters.named {
            builder.metric(name, unit);
        }
        let mut row = vec![0_i64; triggers.len() + self.counters.named.len()];
        for (number, sample) in self.samples.iter().enumerate() {
            row.fill(0);
            if let Ok(trigger) = triggers.binary_search(&sample.primary) {
                row[trigger] = 1;
            }
            let end = self.samples.get(number + 1).map_or(self.values.len(), |next| next.values);
            for (counter, value) in &self.values[sample.values..end] {
                let sum = &mut row[triggers.len() + *counter as usize];
                *sum = sum.saturating_add(*value);
            }
            let time = sample.time.map(|time| time.saturating_sub(origin));
            builder.sample_from(first, groups.id(sample.stack), sample.labels, time, &row);
        }
        let shown = triggers.iter().flatten().next();
        shown.map_or(first, |number| counters + *number as usize)
    }
}

/// The stack in a sample, which consists of names, or of numbers of interned frames.
fn own_stack(
    message: &[u8],
    interned: &mut Interned,
    names: &Names,
    groups: &mut StackGroups,
    builder: &mut ProfileBuilder,
) -> Result<Option<GroupedStack>, WireError> {
    let (mut ids, mut frames, mut result) = (Vec::new(), Vec::new(), Ok(()));
    each_field(message, |number, value| match (number, value) {
        (1, Value::Bytes(frame)) => frames.push(frame),
        (2, value) => result = result.and(numbers(value, |id| ids.push(id))),
        _ => {}
    })?;
    result?;
    if !ids.is_empty() {
        return Ok(interned.stack_of(&ids, names, groups, builder));
    }
    let mut stack = Vec::with_capacity(frames.len());
    for frame in frames {
        let (mut name, mut file, mut line) = (&b""[..], &b""[..], 0);
        each_field(frame, |number, value| match (number, value) {
            (1, Value::Bytes(text)) => name = text,
            (2, Value::Bytes(text)) => file = text,
            (3, Value::Varint(number)) => line = u32::try_from(number).unwrap_or(0),
            _ => {}
        })?;
        let function = match name {
            b"" => builder.unnamed_function(MappingId::default()),
            name => builder.named_function(&demangle(&lossy(name)), &lossy(file)),
        };
        stack.push(builder.frame(Frame { function, line, ..Frame::default() }));
    }
    Ok(Some(groups.add(&stack, builder)))
}
