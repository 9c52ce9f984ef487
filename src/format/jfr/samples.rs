//! From the events of a chunk to samples.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::constants::{Constants, RawFrame};
use crate::format::jfr::cursor::Cursor;
use crate::format::jfr::kinds::{BY_WALL_CLOCK, EVENT_KINDS, EventKind, Measure, Settings};
use crate::format::jfr::metadata::{Class, Plan};
use crate::name::demangle;
use crate::profile::{
    Frame, FrameId, FunctionId, Label, LabelSetId, LabelValue, ProfileBuilder, StackId, StringId,
};

/// Allocations that were sampled by themselves.
pub(super) const ALLOCATION_SAMPLE: &str = "jdk.ObjectAllocationSample";

/// The metrics of a recording, and what was odd about its samples.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// The number of each metric, by name.
    numbers: HashMap<&'static str, usize>,
    /// Whether allocations come as samples of their own and by buffer, which would count them twice.
    pub(super) skips_allocation_samples: bool,
    pub(super) truncated: u64,
    pub(super) without_stack: u64,
}

impl Metrics {
    /// The number of the metric called `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    pub(super) fn declare(&mut self, builder: &mut ProfileBuilder, kind: &EventKind, has_interval: bool) {
        for &(name, unit, measure) in kind.metrics {
            if (measure != Measure::Interval || has_interval) && !self.numbers.contains_key(name) {
                self.numbers.insert(name, builder.metric(name, unit));
            }
        }
    }
}

/// The kinds of events that a chunk holds, by class.
pub(super) fn kinds_of(chunk: &Chunk<'_>, settings: Settings) -> HashMap<i64, &'static EventKind> {
    let mut kinds = HashMap::new();
    for kind in &EVENT_KINDS {
        if let Some(class) = chunk.classes.named(kind.event) {
            let is_wall = settings.is_wall && kind.event == BY_WALL_CLOCK.event;
            kinds.insert(class, if is_wall { &BY_WALL_CLOCK } else { kind });
        }
    }
    kinds
}

/// A kind of event, and where its fields are.
struct Event<'c> {
    kind: &'static EventKind,
    class: &'c Class,
    plan: Plan<7>,
    /// The metrics that it adds to, and how much.
    measured: Vec<(usize, Measure)>,
}

/// Adds the samples of a chunk.
pub(super) fn add(
    builder: &mut ProfileBuilder,
    metrics: &mut Metrics,
    chunk: &Chunk<'_>,
    settings: Settings,
) -> Result<(), ParseError> {
    let mut events = HashMap::new();
    for (id, kind) in kinds_of(chunk, settings) {
        let Some(class) = chunk.classes.get(id) else { continue };
        if !(metrics.skips_allocation_samples && kind.event == ALLOCATION_SAMPLE) {
            let wanted =
                ["startTime", "duration", kind.thread, "stackTrace", "state", kind.amount, kind.class];
            let measured = kind.metrics.iter();
            let measured = measured.filter_map(|&(name, _, measure)| Some((metrics.number(name)?, measure)));
            let measured = measured.collect();
            events.insert(id, Event { kind, class, plan: class.plan(&wanted), measured });
        }
    }
    let mut adder = Adder {
        values: vec![0; builder.meta.metrics.len()],
        builder,
        metrics,
        chunk,
        constants: chunk.constants()?,
        settings,
        stacks: HashMap::new(),
        known_frames: HashMap::new(),
        functions: HashMap::new(),
        label_sets: HashMap::new(),
        frames: Vec::new(),
    };
    chunk.events(|class, mut cursor| match events.get(&class) {
        Some(event) => adder.sample(event, &mut cursor),
        None => Ok(()),
    })
}

struct Adder<'a, 'c> {
    builder: &'c mut ProfileBuilder,
    metrics: &'c mut Metrics,
    chunk: &'c Chunk<'a>,
    constants: Constants<'a>,
    settings: Settings,
    /// Stacks, frames, methods and labels that were met before, by their numbers in the chunk.
    stacks: HashMap<u64, (StackId, bool)>,
    known_frames: HashMap<RawFrame, FrameId>,
    functions: HashMap<u64, FunctionId>,
    label_sets: HashMap<[u64; 3], LabelSetId>,
    values: Vec<i64>,
    frames: Vec<FrameId>,
}

impl<'a> Adder<'a, '_> {
    fn sample(&mut self, event: &Event<'_>, cursor: &mut Cursor<'a>) -> Result<(), ParseError> {
        let fields = self.chunk.classes.numbers(cursor, event.class, &event.plan, false)?;
        let [start, duration, thread, stack, state, amount, class] = fields;
        let amount = if event.kind.amount.is_empty() { 1 } else { amount };
        self.values.fill(0);
        for &(metric, measure) in &event.measured {
            self.values[metric] = match measure {
                Measure::One => 1,
                Measure::Amount => amount,
                Measure::Interval => amount.saturating_mul(self.settings.interval.unwrap_or(0)),
                Measure::Duration => self.chunk.nanoseconds(duration),
            };
        }
        let labels = self.labels([thread as u64, state as u64, class as u64]);
        let stack = self.stack(stack as u64);
        // A division in 128 bits.
        let time = self.builder.options().times.then(|| self.chunk.time(start));
        self.builder.sample(stack, labels, time, &self.values);
        Ok(())
    }

    fn stack(&mut self, key: u64) -> StackId {
        let known = self.stacks.get(&key).copied();
        let (stack, is_truncated) = known.unwrap_or_else(|| self.make_stack(key));
        self.metrics.truncated += u64::from(is_truncated);
        self.metrics.without_stack += u64::from(self.builder.stack_frames(stack).is_empty());
        stack
    }

    fn make_stack(&mut self, key: u64) -> (StackId, bool) {
        self.frames.clear();
        let Some(stack) = self.constants.stack(key) else { return (self.builder.stack(&[]), false) };
        for index in (0..self.constants.stack_frames(stack).len()).rev() {
            let raw = self.constants.stack_frames(stack)[index];
            let frame = self.frame(raw);
            self.frames.push(frame);
        }
        let made = (self.builder.stack(&self.frames), stack.is_truncated);
        self.stacks.insert(key, made);
        made
    }

    fn function(&mut self, key: u64) -> FunctionId {
        let (class, method) = self.constants.method(key);
        let name = match (&*class, method) {
            ("", "") => "<unknown>".into(),
            // Native functions belong to no class.
            ("", native) => demangle(native).into_owned(),
            (class, "") => class.to_string(),
            (class, method) => format!("{class}.{method}"),
        };
        let function = self.builder.named_function(&name, "");
        self.functions.insert(key, function);
        function
    }

    fn frame(&mut self, raw: RawFrame) -> FrameId {
        if let Some(&frame) = self.known_frames.get(&raw) {
            return frame;
        }
        let known = self.functions.get(&raw.method).copied();
        let function = known.unwrap_or_else(|| self.function(raw.method));
        let inlined = self.constants.is_inlined(raw.kind);
        let frame = self.builder.frame(Frame { function, line: raw.line, inlined, ..Frame::default() });
        self.known_frames.insert(raw, frame);
        frame
    }

    /// The labels of a thread, its state, and the class that was allocated or locked.
    fn labels(&mut self, keys: [u64; 3]) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        if let Some(&known) = self.label_sets.get(&keys) {
            return known;
        }
        let [thread, state, class] = keys;
        let mut labels = Vec::new();
        let mut add = |key: &str, text: &str| {
            if !text.is_empty() {
                let (key, value): (StringId, StringId) =
                    (self.builder.string(key), self.builder.string(text));
                labels.push(Label { key, value: LabelValue::Text(value) });
            }
        };
        if let Some(thread) = self.constants.thread(thread) {
            add("thread", self.constants.thread_name(thread));
            let tid = if thread.os_id > 0 { thread.os_id } else { thread.java_id };
            add("tid", &tid.to_string());
        }
        add("state", self.constants.state(state));
        add("class", &self.constants.class(class));
        let set = self.builder.label_set(&mut labels);
        self.label_sets.insert(keys, set);
        set
    }
}
