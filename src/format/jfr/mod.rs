//! Java Flight Recorder: recordings of a Java virtual machine, of async-profiler, and of agents that
//! build on either.
//!
//! A recording is a sequence of chunks, each with its own event metadata and constant pools.
//! Every event type that is a kind of sample has its own metrics; other events are skipped:
//!
//! | event | metrics |
//! |---|---|
//! | `CPUTimeSample`, `ExecutionSample` | `samples`, `cpu`; for async-profiler's wall-clock samples: `wall_samples`, `wall` |
//! | `WallClockSample`, Datadog's `MethodSample` | `wall_samples`, `wall` |
//! | `NativeMethodSample` | `native_samples`: threads in native code; most are waiting there, so no `cpu` |
//! | `ObjectAllocation…`, `LiveObject`, `Malloc` | `alloc_…`, `inuse_…`, `malloc_…`: a count and bytes |
//! | `JavaMonitorEnter` | `lock_count`, `lock_duration`: waiting to enter a synchronized block |
//! | `ThreadPark` | `park_count`, `park_duration`: waiting for any reason, including idle workers, so not a lock |
//! | `JavaMonitorWait`, `ThreadSleep` | `wait_…`, `sleep_…`: a program that waits to be notified, or sleeps, does so on purpose |
//! | `SocketRead`, `FileWrite`, … | `socket_…`, `file_…`: count, duration and bytes |
//! | `MethodTrace` | `calls`, `call_duration` |
//! | `JavaExceptionThrow`, Datadog's `ExceptionSample` | `exceptions` |
//! | `OldObjectSample` | `old_objects`, `old_space`: a few objects that live long, to help find leaks |
//!
//! Pauses of garbage collection (`pauses.rs`) are no samples: they belong to all threads.
//!
//! Oracle's Java 7 and 8 wrote version 0.9, which declares and stores the same things in another way (`old.rs`).

mod chunk;
mod class_name;
mod constants;
mod cursor;
mod kinds;
mod metadata;
mod old;
mod pauses;
mod samples;

use std::collections::BTreeMap;

use crate::format::jfr::chunk::{Chunk, MAGIC};
use crate::format::jfr::cursor::NAME;
use crate::format::jfr::kinds::{
    BY_WALL_CLOCK, EVENT_KINDS, EXECUTION_SAMPLE, EventKind, METHOD_TIMING, Measure, Survey,
    settings_of_chunks,
};
use crate::format::jfr::metadata::Class;
use crate::format::jfr::samples::{JfrMetrics, Plans, SampleEvents, TakenBy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::parallel;
use crate::profile::{Faults, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{group_thousands, plural};

/// The entry in the list of readable formats.
pub(super) static JFR: Format = Format { name: NAME, title: "Java Flight Recorder", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let times = options.times;
    let mut builder = ProfileBuilder::new(NAME, options);
    let chunks = chunks(&bytes, &mut builder)?;
    let surveys = parallel::ranges(chunks.len(), 1, |range| {
        chunks[range].iter().map(Survey::read).collect::<Vec<Result<Survey, ParseError>>>()
    });
    let surveys = surveys.into_iter().flatten().collect::<Result<Vec<Survey>, ParseError>>()?;
    let start = chunks.iter().map(|chunk| chunk.start_ns).min().unwrap_or(0);
    let mut plans = Vec::new();
    for ((chunk, survey), settings) in chunks.iter().zip(&surveys).zip(settings_of_chunks(&surveys)) {
        let taken_by = TakenBy::of(chunk, survey, &settings)?;
        let recorded_from = chunk.ticks_at(start);
        plans.push(Plans { chunk, survey, settings, taken_by, recorded_from, skipped: Vec::new() });
    }
    skip_equals(&mut plans);
    let mut metrics = declare(&mut builder, &plans);
    let sampled: Vec<_> = plans.iter().filter_map(|plan| plan.sample_events(&metrics, times)).collect();
    parallel::ahead(&sampled, SampleEvents::constants, |events, constants| {
        samples::add(&mut builder, &mut metrics, events, constants?)
    })?;
    recorded_times(&mut builder, &chunks);
    builder.meta.default_metric =
        ["cpu", "wall"].iter().find_map(|name| builder.meta.metric_named(name)).unwrap_or(0);
    metrics.lost = surveys.iter().fold(0, |lost, survey| survey.lost.saturating_add(lost));
    builder.meta.faults = faults(&plans, &metrics);
    warn_of_problems(&mut builder, &metrics);
    warn_of_unsupported_samples(&mut builder, &plans);
    builder.meta.processors = surveys.iter().filter_map(|survey| survey.processors).max();
    Ok(finished(builder)?)
}

/// The chunks of a recording. The last one may be truncated unless it is the only one.
fn chunks<'a>(bytes: &'a [u8], builder: &mut ProfileBuilder) -> Result<Vec<Chunk<'a>>, ParseError> {
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some((chunk, size)) = Chunk::read(&bytes[at..], at as u64)? else {
            if chunks.is_empty() {
                let message = "the recording is incomplete: its first chunk was never finished, so it does not say what its events are";
                return Err(ParseError::at_byte(NAME, at as u64, message));
            }
            builder.warn(format!("the last chunk (at byte {at}) was never finished and was skipped"));
            break;
        };
        chunks.push(chunk);
        at += size;
    }
    Ok(chunks)
}

/// What the recorder says that went wrong, and whether it sees all code.
fn faults(plans: &[Plans<'_, '_>], metrics: &JfrMetrics) -> Faults {
    let has = |plan: &&Plans<'_, '_>| {
        plan.kinds().iter().any(|kind| kind.event == EXECUTION_SAMPLE && !plan.skips(kind))
    };
    let sampled: Vec<&Plans<'_, '_>> = plans.iter().filter(has).collect();
    let mut intervals: Vec<i64> =
        sampled.iter().filter_map(|plan| plan.settings.interval(Measure::CpuInterval)).collect();
    intervals.sort_unstable();
    intervals.dedup();
    Faults {
        lost: metrics.lost.unsigned_abs(),
        intervals: if intervals.len() > 1 { intervals } else { Vec::new() },
        skips_code: sampled.iter().any(|plan| plan.settings.is_of_jdk),
        ..Faults::default()
    }
}

/// Decides which kinds of events are skipped in each chunk, because it has another kind that measures the same, or a chunk recorded
/// at the same time has: Datadog's agent joins the chunks of two recorders. In other chunks, such as those before `CPUTimeSample`
/// was turned on, the first kind is all there is.
fn skip_equals(plans: &mut [Plans<'_, '_>]) {
    let kinds: Vec<Vec<&EventKind>> = plans.iter().map(Plans::kinds).collect();
    for at in 0..plans.len() {
        let mut skipped = Vec::new();
        for kind in &kinds[at] {
            let used = kind.unless.iter().find(|other| {
                let has = |chunk: &usize| kinds[*chunk].iter().any(|kind| kind.event == **other);
                let mut chunks = (0..plans.len()).filter(has);
                chunks.any(|other| other == at || plans[at].chunk.is_beside(plans[other].chunk))
            });
            skipped.extend(used.map(|&used| (kind.event, used)));
        }
        plans[at].skipped = skipped;
    }
}

/// Declares the metrics of all kinds of events that occur, in the order of [`EVENT_KINDS`].
fn declare(builder: &mut ProfileBuilder, plans: &[Plans<'_, '_>]) -> JfrMetrics {
    let mut metrics = JfrMetrics::default();
    let used =
        |plan: &Plans<'_, '_>| plan.kinds().into_iter().filter(|kind| !plan.skips(kind)).collect::<Vec<_>>();
    let found: Vec<_> =
        plans.iter().flat_map(|plan| used(plan).into_iter().map(move |kind| (kind, plan))).collect();
    for kind in &EVENT_KINDS {
        let mut skipped = plans.iter().flat_map(|plan| &plan.skipped);
        metrics.skipped.extend(skipped.find(|(event, _)| *event == kind.event));
    }
    for kind in EVENT_KINDS.iter().flat_map(|kind| {
        let wall_kind = (kind.event == BY_WALL_CLOCK.event).then_some(&BY_WALL_CLOCK);
        std::iter::once(kind).chain(wall_kind)
    }) {
        let of_kind = || found.iter().filter(|(known, _)| std::ptr::eq(*known, kind));
        if of_kind().next().is_some() {
            let is_known = |measure| {
                of_kind().any(|(_, plan)| match measure {
                    Measure::CpuInterval | Measure::WallInterval => plan.settings.interval(measure).is_some(),
                    Measure::Amount | Measure::AmountOfTime => plan.has_field(kind, kind.amount),
                    Measure::One | Measure::Duration => true,
                })
            };
            metrics.declare(builder, kind, is_known);
        }
    }
    metrics
}

/// Sets the start and duration of the recording. Chunks overlap if two recorders ran at once, and in concatenated
/// files there may be years between them: only time covered by at least one chunk counts.
fn recorded_times(builder: &mut ProfileBuilder, chunks: &[Chunk<'_>]) {
    let mut spans: Vec<(i64, i64)> = chunks
        .iter()
        .map(|chunk| (chunk.start_ns, chunk.start_ns.saturating_add(chunk.duration_ns.max(0))))
        .collect();
    spans.sort_unstable();
    builder.meta.time_ns = spans.first().map(|&(start, _)| start);
    let (mut duration, mut recorded_to) = (0_i64, i64::MIN);
    for (start, end) in spans {
        let new = end.saturating_sub(start.max(recorded_to)).max(0);
        duration = duration.saturating_add(new);
        recorded_to = recorded_to.max(end);
    }
    builder.meta.duration_ns = Some(duration).filter(|&ns| ns > 0);
}

/// Warns of events that look like samples but are of an unsupported type, such as those of other agents.
fn warn_of_unsupported_samples(builder: &mut ProfileBuilder, plans: &[Plans<'_, '_>]) {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for plan in plans {
        for (id, &count) in plan.survey.counts.iter() {
            let class = plan.chunk.classes.get(id.cast_signed());
            let is_other = |name: &str| !EVENT_KINDS.iter().any(|kind| kind.event == name);
            let looks_like_sample =
                |class: &&Class| class.name.ends_with("Sample") && class.field("stackTrace").is_some();
            if let Some(class) = class.filter(looks_like_sample).filter(|class| is_other(&class.name)) {
                *others.entry(&class.name).or_default() += count;
            }
        }
    }
    // Each chunk has them again.
    let timed = plans.iter().map(|plan| plan.survey.timed_methods).max().unwrap_or(0);
    if timed > 0 {
        builder.warn(format!(
            "how often {} {} called ({METHOD_TIMING}) is left out, since these events have no stacks; `jfr view method-timing` prints it",
            group_thousands(timed.into()),
            plural(timed, "method was", "methods were")
        ));
    }
    if !others.is_empty() {
        let named: Vec<String> = others.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        builder.warn(format!("skipped samples of unsupported event types: {}", named.join(", ")));
    }
}

fn warn_of_problems(builder: &mut ProfileBuilder, metrics: &JfrMetrics) {
    if builder.meta.metrics.is_empty() {
        builder.metric("samples", "count");
        builder.warn("the recording has no CPU, allocation or lock samples".into());
    }
    for (skipped, used) in &metrics.skipped {
        builder.warn(format!(
            "{skipped} and {used} measure the same; only the latter is used, to avoid counting twice"
        ));
    }
    if metrics.truncated > 0 {
        builder.warn(format!(
            "{} {} deeper than the recorder's limit, so the outermost frames are missing; \
            raise `-XX:FlightRecorderOptions=stackdepth`, or async-profiler's `-j`",
            metrics.truncated,
            plural(metrics.truncated, "stack is", "stacks are")
        ));
    }
    if metrics.without_interval > 0 {
        builder.warn(format!(
            "{} execution {} no time value: the chunk does not state the sampling period",
            metrics.without_interval,
            plural(metrics.without_interval, "sample has", "samples have")
        ));
    }
    if metrics.cut > 0 {
        let waits = plural(
            metrics.cut,
            "wait began before the recording and counts from its start",
            "waits began before the recording and count from its start",
        );
        builder.meta.notes.push(format!("{} {waits}", group_thousands(metrics.cut.into())));
    }
    if metrics.lost > 0 {
        let samples = plural(metrics.lost as u64, "sample of CPU time was", "samples of CPU time were");
        let lost = group_thousands(metrics.lost.into());
        builder.meta.warn_of_fault(format!("{lost} {samples} lost by the recorder"));
    }
    if metrics.without_stack > 0 {
        let samples = plural(metrics.without_stack, "sample has", "samples have");
        builder.warn(format!("{} {samples} no stack", metrics.without_stack));
    }
}

#[cfg(test)]
mod tests;
