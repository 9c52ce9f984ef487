//! Converts the events of a chunk to samples.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::by_number::ByNumber;
use crate::format::decimals::rounded;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::constants::{Constants, RawStack};
use crate::format::jfr::cursor::Cursor;
use crate::format::jfr::kinds::{
    BY_WALL_CLOCK, EVENT_KINDS, EXECUTION_SAMPLE, EventKind, Measure, Settings, Survey,
};
use crate::format::jfr::metadata::{Class, FieldValue, Plan, TimeUnit};
use crate::format::jfr::old::END_TIME;
use crate::format::jfr::pauses::{FoundPauses, PauseEvents};
use crate::format::labels::label_set;
use crate::name::demangle;
use crate::profile::{Frame, FrameId, FunctionId, LabelSetId, ProfileBuilder, StackId, WAITS};

/// The metrics of a recording, and counts of problems with its samples.
#[derive(Debug, Default)]
pub(super) struct JfrMetrics {
    /// The index of each metric, by name.
    numbers: HashMap<&'static str, usize>,
    /// Kinds of events that are skipped in some chunk because another kind measures the same: the names of both.
    pub(super) skipped: Vec<(&'static str, &'static str)>,
    pub(super) truncated: u64,
    /// The number of samples that the recorder lost.
    pub(super) lost: i64,
    pub(super) without_stack: u64,
    /// Samples of time whose interval is unknown.
    pub(super) without_interval: u64,
    /// Waits that began before the recording.
    pub(super) cut: u64,
}

/// Which clock triggered the execution samples of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakenBy {
    ProcessorTime,
    ElapsedTime,
    /// Either: CPU samples have this thread state.
    Either(u64),
}

impl TakenBy {
    /// Determines the clock. From version 3 on, async-profiler can take both kinds of samples at once
    /// (`event=cpu,wall=50ms`). CPU samples then always have the default thread state, because async-profiler
    /// looks up the state only for wall-clock samples.
    pub(super) fn of(chunk: &Chunk<'_>, survey: &Survey, settings: &Settings) -> Result<TakenBy, ParseError> {
        if settings.is_wall {
            return Ok(TakenBy::ElapsedTime);
        }
        // Most recordings have a single state, so the constants need not be read for this.
        if survey.states.len() < 2 && (survey.states.is_empty() || !settings.has_wall) {
            return Ok(TakenBy::ProcessorTime);
        }
        Ok(match chunk.constants()?.state_called("STATE_DEFAULT") {
            Some(state) => TakenBy::Either(state),
            None => TakenBy::ProcessorTime,
        })
    }

    fn is_wall(self, state: u64) -> bool {
        match self {
            TakenBy::ProcessorTime => false,
            TakenBy::ElapsedTime => true,
            TakenBy::Either(processor_time) => state != processor_time,
        }
    }
}

/// A chunk, and how it is read.
pub(super) struct Plans<'a, 'c> {
    pub(super) chunk: &'c Chunk<'a>,
    pub(super) survey: &'c Survey,
    pub(super) settings: Settings,
    pub(super) taken_by: TakenBy,
    /// When the recording began, in ticks of the chunk.
    pub(super) recorded_from: i64,
    /// Kinds of events that are skipped because another kind measures the same: the names of both.
    pub(super) skipped: Vec<(&'static str, &'static str)>,
}

impl<'a, 'c> Plans<'a, 'c> {
    /// The kinds of samples that occur in the chunk.
    pub(super) fn kinds(&self) -> Vec<&'static EventKind> {
        let mut kinds = Vec::new();
        for kind in self.classes().values() {
            if kind.event != EXECUTION_SAMPLE {
                kinds.push(*kind);
                continue;
            }
            let states = &self.survey.states;
            let is_wall = |state: &i64| self.taken_by.is_wall(*state as u64);
            if states.iter().any(is_wall) {
                kinds.push(&BY_WALL_CLOCK);
            }
            if !states.iter().all(is_wall) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Whether events of a kind are skipped.
    pub(super) fn skips(&self, kind: &EventKind) -> bool {
        self.skipped.iter().any(|&(event, _)| event == kind.event)
    }

    /// Whether the events of a kind have the field called `name`; older virtual machines record less.
    pub(super) fn has_field(&self, kind: &EventKind, name: &str) -> bool {
        let class = self.chunk.classes.named(kind.event).and_then(|id| self.chunk.classes.get(id));
        class.is_some_and(|class| class.field(name).is_some())
    }

    /// The classes of events that become samples, and with `times` those of pauses; `None` if the chunk has no such events.
    pub(super) fn sample_events(
        &self,
        metrics: &JfrMetrics,
        times: bool,
    ) -> Option<SampleEvents<'a, 'c, '_>> {
        let events = self.classes().into_iter().filter(|(_, kind)| !self.skips(kind));
        let mut classes = ByNumber::default();
        for (id, kind) in events {
            if let Some(event) = self.sample_event(id, kind, metrics) {
                classes.insert(id.cast_unsigned(), event);
            }
        }
        let pauses = if times { PauseEvents::of(self.chunk, |id| self.survey.has(id)) } else { None };
        (classes.iter().next().is_some() || pauses.is_some()).then_some(SampleEvents {
            plan: self,
            classes,
            pauses,
        })
    }

    /// How events of the class `id` are read.
    fn sample_event(
        &self,
        id: i64,
        kind: &'static EventKind,
        metrics: &JfrMetrics,
    ) -> Option<SampleEvent<'c>> {
        let class = self.chunk.classes.get(id)?;
        let wanted = [
            "startTime",
            "duration",
            END_TIME,
            kind.thread,
            "stackTrace",
            "state",
            kind.amount,
            kind.class,
            kind.method,
            kind.waker,
        ];
        let is_execution = kind.event == EXECUTION_SAMPLE;
        let weight = Some(kind.weight).filter(|weight| !weight.is_empty());
        Some(SampleEvent {
            kind,
            class,
            plan: class.plan(&wanted),
            weight: weight.map(|weight| class.plan(&[weight])),
            unit: class.unit(kind.amount).unwrap_or(TimeUnit::Ticks),
            has_state: class.field("state").is_some(),
            is_wait: class.field("startTime").is_some()
                && kind.metrics.iter().any(|(name, ..)| WAITS.contains(name)),
            measured: metrics.measured(kind),
            measured_wall: if is_execution { metrics.measured(&BY_WALL_CLOCK) } else { Vec::new() },
        })
    }

    /// The ids of classes whose events are samples and occur in the chunk.
    fn classes(&self) -> HashMap<i64, &'static EventKind> {
        let id = |kind: &EventKind| self.chunk.classes.named(kind.event);
        let occurs = |id: &i64| self.survey.has(*id);
        EVENT_KINDS.iter().filter_map(|kind| Some((id(kind).filter(occurs)?, kind))).collect()
    }
}

impl JfrMetrics {
    /// The index of the metric called `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Declares the metrics of a kind of event that are known.
    pub(super) fn declare(
        &mut self,
        builder: &mut ProfileBuilder,
        kind: &EventKind,
        is_known: impl Fn(Measure) -> bool,
    ) {
        for &(name, unit, measure) in kind.metrics {
            if is_known(measure) && !self.numbers.contains_key(name) {
                self.numbers.insert(name, builder.metric(name, unit));
            }
        }
    }

    /// The metrics that events of `kind` add to, and how much.
    fn measured(&self, kind: &EventKind) -> Vec<(usize, Measure)> {
        let metrics = kind.metrics.iter();
        metrics.filter_map(|&(name, _, measure)| Some((self.number(name)?, measure))).collect()
    }
}

/// A kind of event, and how to read its fields.
struct SampleEvent<'c> {
    kind: &'static EventKind,
    class: &'c Class,
    plan: Plan<10>,
    /// How to read the number of objects that it stands for.
    weight: Option<Plan<1>>,
    /// The unit of a duration in its amount.
    unit: TimeUnit,
    /// Whether it has the state of the thread; 0 is a state too.
    has_state: bool,
    /// Whether its duration is that of a wait.
    is_wait: bool,
    /// The metrics that it adds to, and how much.
    measured: Vec<(usize, Measure)>,
    /// The same for wall-clock execution samples.
    measured_wall: Vec<(usize, Measure)>,
}

/// The classes of events of a chunk that become samples, by their ids, and of those that describe pauses.
pub(super) struct SampleEvents<'a, 'c, 'p> {
    plan: &'p Plans<'a, 'c>,
    classes: ByNumber<SampleEvent<'c>>,
    pauses: Option<PauseEvents<'c>>,
}

impl<'a> SampleEvents<'a, '_, '_> {
    /// Reads the constants of the chunk.
    pub(super) fn constants(&self) -> Result<Constants<'a>, ParseError> {
        self.plan.chunk.constants()
    }
}

/// Adds the samples of a chunk.
pub(super) fn add<'a>(
    builder: &mut ProfileBuilder,
    metrics: &mut JfrMetrics,
    events: &SampleEvents<'a, '_, '_>,
    constants: Constants<'a>,
) -> Result<(), ParseError> {
    let Plans { chunk, settings, taken_by, recorded_from, .. } = *events.plan;
    if !builder.options().times {
        builder.skipped_times();
    }
    let mut adder = Adder {
        values: vec![0; builder.meta.metrics.len()],
        builder,
        metrics,
        chunk,
        constants,
        settings,
        taken_by,
        recorded_from,
        stacks: HashMap::new(),
        last_stack: None,
        known_frames: Vec::new(),
        functions: HashMap::new(),
        label_sets: HashMap::new(),
        frames: Vec::new(),
    };
    let mut pauses = FoundPauses::default();
    chunk.events(|class, mut cursor| match (events.classes.get(class.cast_unsigned()), &events.pauses) {
        (Some(event), _) => adder.sample(event, &mut cursor),
        (None, Some(events)) => pauses.take(events, chunk, class, &mut cursor),
        (None, None) => Ok(()),
    })?;
    let Adder { builder, constants, .. } = adder;
    builder.meta.pauses.extend(pauses.finish(&constants));
    Ok(())
}

/// A stack of the profile.
#[derive(Clone, Copy)]
struct MadeStack {
    id: StackId,
    is_truncated: bool,
    is_empty: bool,
}

struct Adder<'a, 'c> {
    builder: &'c mut ProfileBuilder,
    metrics: &'c mut JfrMetrics,
    chunk: &'c Chunk<'a>,
    constants: Constants<'a>,
    settings: Settings,
    taken_by: TakenBy,
    recorded_from: i64,
    /// Stacks, methods and labels seen before, by their ids in the chunk.
    stacks: HashMap<u64, MadeStack>,
    /// The last one of them: an event often follows another one at the same place.
    last_stack: Option<(u64, MadeStack)>,
    /// The frames seen before, by their numbers among the constants.
    known_frames: Vec<Option<FrameId>>,
    functions: HashMap<u64, FunctionId>,
    label_sets: HashMap<([u64; 4], &'static str), LabelSetId>,
    values: Vec<i64>,
    frames: Vec<FrameId>,
}

impl<'a> Adder<'a, '_> {
    fn sample(&mut self, event: &SampleEvent<'_>, cursor: &mut Cursor<'a>) -> Result<(), ParseError> {
        let weight = match &event.weight {
            Some(plan) => self.weight(event, plan, &mut cursor.clone())?,
            None => 1.0,
        };
        let fields = self.chunk.classes.numbers(cursor, event.class, &event.plan, false)?;
        let [start, duration, end, thread, stack, state, amount, class, method, waker] = fields;
        let amount = if event.kind.amount.is_empty() { 1 } else { amount };
        // Version 0.9 has the end of an event instead of its duration.
        let duration = if end == 0 { duration } else { end.saturating_sub(start) };
        let (start, duration) =
            if event.is_wait { self.in_recording(start, duration) } else { (start, duration) };
        self.values.fill(0);
        let is_execution = event.kind.event == EXECUTION_SAMPLE;
        let is_wall = is_execution && self.taken_by.is_wall(state as u64);
        let measured = if is_wall { &event.measured_wall } else { &event.measured };
        for &(metric, measure) in measured {
            self.values[metric] = match measure {
                Measure::One if event.weight.is_some() => rounded(weight),
                Measure::Amount if event.weight.is_some() => rounded(weight * amount as f64),
                Measure::One => 1,
                Measure::Amount => amount,
                Measure::AmountOfTime => self.chunk.time_span(amount, event.unit),
                Measure::CpuInterval | Measure::WallInterval => {
                    let interval = self.settings.interval(measure);
                    self.metrics.without_interval += u64::from(interval.is_none());
                    amount.saturating_mul(interval.unwrap_or(0))
                }
                Measure::Duration => self.chunk.nanoseconds(duration),
            };
        }
        let state = if event.has_state { state as u64 } else { u64::MAX };
        let keys = [thread as u64, state, class as u64, waker as u64];
        let labels = self.labels(keys, event.kind.operation);
        let mut stack = self.stack(stack as u64);
        if method != 0 {
            stack = self.below(stack, method as u64);
        }
        // Only if needed: this is a 128-bit division.
        let time = self.builder.options().times.then(|| self.chunk.time(start));
        self.builder.sample(stack, labels, time, &self.values);
        Ok(())
    }

    /// The part of a wait that is in the recording, in ticks. A thread that had slept for an hour when the recording began, and
    /// was woken a second later, waited for a second of it. A wait that was over before was timed by another clock.
    fn in_recording(&mut self, start: i64, duration: i64) -> (i64, i64) {
        let end = start.saturating_add(duration);
        if !(start..end).contains(&self.recorded_from) || start == self.recorded_from {
            return (start, duration);
        }
        self.metrics.cut += 1;
        (self.recorded_from, end.saturating_sub(self.recorded_from))
    }

    fn weight(
        &self,
        event: &SampleEvent<'_>,
        plan: &Plan<1>,
        cursor: &mut Cursor<'a>,
    ) -> Result<f64, ParseError> {
        Ok(match self.chunk.classes.read(cursor, event.class, plan, false)? {
            [FieldValue::Float(weight)] => weight,
            [FieldValue::Number(weight)] => weight as f64,
            _ => 1.0,
        })
    }

    /// The stack with a method as its leaf.
    fn below(&mut self, stack: StackId, method: u64) -> StackId {
        self.frames.clear();
        self.frames.extend_from_slice(self.builder.stack_frames(stack));
        let known = self.functions.get(&method).copied();
        let function = known.unwrap_or_else(|| self.function(method));
        let is_leaf = |frame: &FrameId| self.builder.frame_row(*frame).function == function;
        // Some recorders have the method on the stack.
        if self.frames.last().is_some_and(is_leaf) {
            return stack;
        }
        let frame = self.builder.frame(Frame { function, ..Frame::default() });
        self.frames.push(frame);
        self.builder.stack(&self.frames)
    }

    fn stack(&mut self, key: u64) -> StackId {
        let known = self.last_stack.filter(|(last, _)| *last == key).map(|(_, stack)| stack);
        let stack = known.unwrap_or_else(|| {
            let known = self.stacks.get(&key).copied();
            known.unwrap_or_else(|| self.make_stack(key))
        });
        self.last_stack = Some((key, stack));
        self.metrics.truncated += u64::from(stack.is_truncated);
        self.metrics.without_stack += u64::from(stack.is_empty);
        stack.id
    }

    fn make_stack(&mut self, key: u64) -> MadeStack {
        self.frames.clear();
        let stack = self.constants.stack(key);
        for place in stack.map_or(0..0, RawStack::places).rev() {
            let frame = self.frame(self.constants.frame_at(place));
            self.frames.push(frame);
        }
        let made = MadeStack {
            id: self.builder.stack(&self.frames),
            is_truncated: stack.is_some_and(|stack| stack.is_truncated),
            is_empty: self.frames.is_empty(),
        };
        self.stacks.insert(key, made);
        made
    }

    fn function(&mut self, key: u64) -> FunctionId {
        let (class, method, file) = self.constants.method(key);
        let name = match (&*class, method) {
            ("", "") => "<unknown>".into(),
            // Native functions have no class.
            ("", native) => demangle(native).into_owned(),
            (class, "") => class.to_string(),
            (class, method) => format!("{class}.{method}"),
        };
        let function = self.builder.named_function(&name, &file);
        self.functions.insert(key, function);
        function
    }

    fn frame(&mut self, number: u32) -> FrameId {
        if let Some(&Some(frame)) = self.known_frames.get(number as usize) {
            return frame;
        }
        let raw = self.constants.raw_frame(number);
        let known = self.functions.get(&raw.method).copied();
        let function = known.unwrap_or_else(|| self.function(raw.method));
        let inlined = self.constants.is_inlined(raw.kind);
        let frame = self.builder.frame(Frame { function, line: raw.line, inlined, ..Frame::default() });
        if self.known_frames.len() <= number as usize {
            self.known_frames.resize(number as usize + 1, None);
        }
        self.known_frames[number as usize] = Some(frame);
        frame
    }

    /// The labels of a sample: the thread, its state, the class that was allocated or locked, the thread that had the lock before or
    /// notified this one, and what was done.
    fn labels(&mut self, keys: [u64; 4], operation: &'static str) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        if let Some(&known) = self.label_sets.get(&(keys, operation)) {
            return known;
        }
        let [thread, state, class, waker] = keys;
        let name_and_tid = |thread: u64| {
            let thread = self.constants.thread(thread)?;
            let tid = if thread.os_id > 0 { thread.os_id } else { thread.java_id };
            let tid = if tid == 0 { String::new() } else { tid.to_string() };
            Some((self.constants.thread_name(thread), tid))
        };
        let set = label_set(self.builder, |labels| {
            if let Some((name, tid)) = name_and_tid(thread) {
                labels.text_if_known("thread", name);
                labels.text_if_known("tid", &tid);
            }
            if let Some((name, tid)) = name_and_tid(waker) {
                labels.text_if_known("waker", format!("{name} {tid}").trim());
            }
            labels.text_if_known("state", self.constants.state(state));
            labels.text_if_known("class", &self.constants.class(class));
            labels.text_if_known("operation", operation);
        });
        self.label_sets.insert((keys, operation), set);
        set
    }
}
