//! Java Flight Recorder: recordings of a Java virtual machine, of async-profiler, and of agents that
//! build on either.
//!
//! A recording is a row of chunks, each with its own description of its events and its own constants.
//! Every kind of event that is a sample has metrics of its own, and other events are passed over:
//!
//! | event | metrics |
//! |---|---|
//! | `ExecutionSample` | `samples`, `cpu`; async-profiler's by elapsed time: `wall_samples`, `wall` |
//! | `WallClockSample` | `wall_samples`, `wall` |
//! | `NativeMethodSample` | `native_samples`: threads in native code, most of them waiting there, so no `cpu` |
//! | `ObjectAllocation…`, `LiveObject`, `Malloc` | `alloc_…`, `inuse_…`, `malloc_…`: a count and bytes |
//! | `JavaMonitorEnter` | `lock_count`, `lock_duration`: waiting for others to leave a block |
//! | `ThreadPark` | `park_count`, `park_duration`: waiting for whatever, idle workers included, so no lock |
//!
//! Sleeping, and waiting to be notified (`ThreadSleep`, `JavaMonitorWait`), is what a program asked for.

mod chunk;
mod class_name;
mod constants;
mod cursor;
mod kinds;
mod metadata;
mod samples;

use hashbrown::HashSet;

use crate::format::jfr::chunk::{Chunk, MAGIC};
use crate::format::jfr::kinds::{BY_WALL_CLOCK, EVENT_KINDS, Survey};
use crate::format::jfr::samples::{ALLOCATION_SAMPLE, Metrics};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{LoadOptions, Profile, ProfileBuilder};

/// The format's row in the list of formats.
pub(super) static JFR: Format = Format { name: NAME, title: "Java Flight Recorder", sniff, read };

const NAME: &str = "jfr";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let chunks = chunks(&bytes, &mut builder)?;
    let mut surveys = Vec::new();
    for chunk in &chunks {
        surveys.push(Survey::read(chunk)?);
    }
    let mut metrics = declare(&mut builder, &chunks, &surveys);
    for (chunk, survey) in chunks.iter().zip(&surveys) {
        samples::add(&mut builder, &mut metrics, chunk, survey.settings)?;
    }
    times(&mut builder, &chunks);
    builder.meta.default_metric =
        ["cpu", "wall"].iter().find_map(|name| builder.meta.metric_named(name)).unwrap_or(0);
    warn(&mut builder, &metrics);
    Ok(finished(builder)?)
}

/// The chunks of a recording. The last one may be cut short; the first may not.
fn chunks<'a>(bytes: &'a [u8], builder: &mut ProfileBuilder) -> Result<Vec<Chunk<'a>>, ParseError> {
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some((chunk, size)) = Chunk::read(&bytes[at..], at as u64)? else {
            if chunks.is_empty() {
                let message =
                    "the recording is not complete: its first chunk has no end; `jfr repair` may help";
                return Err(ParseError::at_byte(NAME, at as u64, message));
            }
            builder.warn(format!("the last chunk, at byte {at}, has no end and is left out"));
            break;
        };
        chunks.push(chunk);
        at += size;
    }
    Ok(chunks)
}

/// Declares the metrics of all kinds of events that there are, in the order of the list of kinds.
fn declare(builder: &mut ProfileBuilder, chunks: &[Chunk<'_>], surveys: &[Survey]) -> Metrics {
    let mut metrics = Metrics::default();
    // Kinds that occur, and whether the time between their samples is known.
    let mut found: HashSet<(&str, bool, bool)> = HashSet::new();
    for (chunk, Survey { settings, classes }) in chunks.iter().zip(surveys) {
        let kinds = samples::kinds_of(chunk, *settings);
        let kinds = kinds.iter().filter(|(class, _)| classes.contains(*class));
        found.extend(kinds.map(|(_, kind)| (kind.event, settings.is_wall, settings.interval.is_some())));
    }
    let has = |event: &str, is_wall: Option<bool>, has_interval: Option<bool>| {
        found.iter().any(|&(known, wall, interval)| {
            known == event
                && is_wall.is_none_or(|is| is == wall)
                && has_interval.is_none_or(|has| has == interval)
        })
    };
    for kind in &EVENT_KINDS {
        let is_wall = (kind.event == BY_WALL_CLOCK.event).then_some(false);
        if has(kind.event, is_wall, None) {
            metrics.declare(builder, kind, has(kind.event, is_wall, Some(true)));
        }
        if kind.event == BY_WALL_CLOCK.event && has(kind.event, Some(true), None) {
            metrics.declare(builder, &BY_WALL_CLOCK, has(kind.event, Some(true), Some(true)));
        }
    }
    let by_buffer = ["jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"];
    metrics.skips_allocation_samples =
        has(ALLOCATION_SAMPLE, None, None) && by_buffer.iter().any(|event| has(event, None, None));
    metrics
}

/// When the recording started and how long it took.
fn times(builder: &mut ProfileBuilder, chunks: &[Chunk<'_>]) {
    let start = chunks.iter().map(|chunk| chunk.start_ns).min();
    let end = chunks.iter().map(|chunk| chunk.start_ns.saturating_add(chunk.duration_ns)).max();
    builder.meta.time_ns = start;
    builder.meta.duration_ns =
        start.zip(end).map(|(start, end)| end.saturating_sub(start)).filter(|&ns| ns > 0);
}

fn warn(builder: &mut ProfileBuilder, metrics: &Metrics) {
    if builder.meta.metrics.is_empty() {
        builder.metric("samples", "count");
        builder.warn("the recording holds no samples of time, allocations or locks".into());
    }
    if metrics.skips_allocation_samples {
        builder.warn(
            "allocations are recorded by buffer and as samples; only those by buffer count, not to count twice"
                .into(),
        );
    }
    if metrics.truncated > 0 {
        builder.warn(format!(
            "{} samples have stacks deeper than the recorder was told to keep, and lack their root; \
             raise `-XX:FlightRecorderOptions=stackdepth`, or async-profiler's `-j`",
            metrics.truncated
        ));
    }
    if metrics.without_stack > 0 {
        let samples = if metrics.without_stack == 1 { "sample has" } else { "samples have" };
        builder.warn(format!("{} {samples} no stack", metrics.without_stack));
    }
}
