//! The samples of a thread.

use crate::format::ParseError;
use crate::format::decimals::{Decimals, rounded};
use crate::format::gecko::nanoseconds;
use crate::format::gecko::parts::{RecordingMeta, ThreadParts};
use crate::format::gecko::stacks::GeckoStacks;
use crate::format::gecko::table::{Cell, Document, TableColumns, in_batches, row};
use crate::profile::{LabelSetId, Profile, ProfileBuilder, StackId, TooLarge};

/// Adds samples to a profile, declaring each metric when it first occurs.
pub(super) struct ThreadSampleWriter {
    pub(super) builder: ProfileBuilder,
    values: Vec<i64>,
    decimals: Decimals,
    /// The metric of CPU time, and whether any sample has CPU time.
    cpu: Option<(usize, bool)>,
    /// Whether the weights are times or sizes, which the Firefox Profiler shows instead of the samples' number.
    is_weighted: bool,
    /// Whether the weights are times.
    has_durations: bool,
    /// The times of the first and the last sample, or when the last one ended.
    span: Option<(i64, i64)>,
    /// Whether the file says when the recording began.
    pub(super) notes_start: bool,
}

/// The metrics to which the columns of a table are added.
struct SampleTarget {
    /// The metric of the weights, and the factor from a weight to its value; without a factor, weights keep their
    /// decimals.
    metric: usize,
    factor: Option<f64>,
    /// The weight of a sample without one.
    unweighted: f64,
    /// The metric and factor of `threadCPUDelta`.
    cpu: Option<usize>,
    cpu_factor: f64,
    labels: LabelSetId,
    skipped_labels: bool,
    /// The origin of timestamps, in ns since 1970.
    start: i64,
}

/// Whether the weights of a thread are the time until its next sample: then the last sample has an end as well.
struct Lengths {
    are_times: bool,
    /// When the sample before ended.
    end: Option<i64>,
}

impl Lengths {
    /// What times are rounded to, in nanoseconds.
    const ROUNDED: u64 = 1000;

    fn add(&mut self, time: Option<i64>, weight: Option<f64>) {
        let (true, Some(time), Some(weight)) = (self.are_times, time, weight) else {
            *self = Lengths { are_times: false, end: None };
            return;
        };
        self.are_times = self.end.is_none_or(|end| end.abs_diff(time) <= Self::ROUNDED);
        self.end = self.are_times.then(|| time.saturating_add(nanoseconds(weight.max(0.0))));
    }
}

impl ThreadSampleWriter {
    pub(super) fn new(builder: ProfileBuilder) -> Self {
        ThreadSampleWriter {
            builder,
            values: Vec::new(),
            decimals: Decimals::default(),
            cpu: None,
            is_weighted: false,
            has_durations: false,
            span: None,
            notes_start: false,
        }
    }

    /// Adds the samples and the sampled allocations of a thread.
    pub(super) fn thread(
        &mut self,
        document: &Document,
        parts: &ThreadParts,
        meta: &RecordingMeta,
        stacks: &mut GeckoStacks,
    ) -> Result<(), ParseError> {
        let labels = parts.thread.labels(&mut self.builder);
        let skipped_labels = parts.thread.is_known() && !self.builder.options().labels;
        let start = nanoseconds(meta.start.unwrap_or(0.0));
        let target = SampleTarget {
            metric: 0,
            factor: None,
            unweighted: 1.0,
            cpu: None,
            cpu_factor: 1.0,
            labels,
            skipped_labels,
            start,
        };
        if let Some(samples) = &parts.samples {
            let (name, unit, factor) = match &*samples.weight_type {
                "tracing-ms" => ("wall", "nanoseconds", Some(1e6)),
                "bytes" => ("bytes", "bytes", None),
                _ => ("samples", "count", None),
            };
            let metric = self.metric(name, unit);
            self.is_weighted |= name != "samples";
            // A weight is how long the sample lasts, and no multiple of the interval, unless samples were merged.
            self.has_durations |= name == "wall" && !meta.is_own;
            let has_cpu = samples.has(document, "threadCPUDelta")?;
            let (cpu, cpu_factor) = if has_cpu { self.cpu_metric(meta) } else { (None, 1.0) };
            self.table(
                document,
                samples,
                &SampleTarget { metric, factor, cpu, cpu_factor, ..target },
                stacks,
            )?;
        }
        let allocations =
            [(&parts.native_allocations, "native_allocations"), (&parts.js_allocations, "js_allocations")];
        for (allocations, name) in allocations {
            if let Some(allocations) = allocations {
                let metric = self.metric(name, "bytes");
                self.table(
                    document,
                    allocations,
                    &SampleTarget { metric, unweighted: 0.0, ..target },
                    stacks,
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Profile, TooLarge> {
        if let (Some((cpu, true)), false) = (self.cpu, self.is_weighted) {
            self.builder.meta.default_metric = cpu;
        }
        if self.has_durations {
            self.builder.meta.period = None;
        }
        self.note_span();
        self.builder.finish()
    }

    /// Files that do not say when the recording began or how long it took began with the first sample and ended with the
    /// last. `startTime`, which the reader has noted, is the start of the process, which may be hours before.
    fn note_span(&mut self) {
        let Some((first, last)) = self.span else { return };
        let about = &mut self.builder.meta;
        if !self.notes_start {
            about.time_ns = about.time_ns.map(|_| first);
        }
        let begin = about.time_ns.filter(|_| self.notes_start).unwrap_or(first);
        let passed = last.saturating_sub(begin);
        about.duration_ns = about.duration_ns.or(Some(passed).filter(|&passed| passed > 0));
    }

    fn table(
        &mut self,
        document: &Document,
        samples: &TableColumns,
        target: &SampleTarget,
        stacks: &mut GeckoStacks,
    ) -> Result<(), ParseError> {
        let mut clock = 0.0;
        let mut lengths = Lengths { are_times: target.factor.is_some(), end: None };
        let wanted = ["stack", "time", "timeDeltas", "weight", "threadCPUDelta"];
        let mut ids = Vec::new();
        in_batches(document, samples, wanted, |rows| {
            ids.clear();
            let numbers = rows.iter().map(|&[stack, ..]| row(stack.number()));
            stacks.look_up(&mut self.builder, numbers, &mut ids)?;
            self.builder.expect_samples(&ids);
            for (&stack, row) in ids.iter().zip(rows) {
                let [_, time, delta, weight, cpu] = row.map(Cell::number);
                clock = time.unwrap_or(clock + delta.unwrap_or(0.0));
                let time = time.or(delta).map(|_| target.start.saturating_add(nanoseconds(clock)));
                lengths.add(time, weight);
                self.sample(target, stack, time, weight, cpu);
            }
            Ok(())
        })?;
        if let (Some(end), Some((_, last))) = (lengths.end, &mut self.span) {
            *last = end.max(*last);
        }
        Ok(())
    }

    fn sample(
        &mut self,
        target: &SampleTarget,
        stack: StackId,
        time: Option<i64>,
        weight: Option<f64>,
        cpu: Option<f64>,
    ) {
        self.values.fill(0);
        let weight = weight.unwrap_or(target.unweighted);
        self.values[target.metric] = match target.factor {
            Some(factor) => rounded(weight * factor),
            None => self.decimals.integer(&mut self.builder, target.metric, weight),
        };
        if let (Some(metric), Some(cpu)) = (target.cpu, cpu) {
            self.values[metric] = rounded(cpu * target.cpu_factor);
            self.cpu = Some((metric, self.cpu.is_some_and(|(_, any)| any) || cpu > 0.0));
        }
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        if target.skipped_labels {
            self.builder.skipped_labels();
        }
        self.builder.sample(stack, target.labels, time, &self.values);
    }

    fn metric(&mut self, name: &str, unit: &str) -> usize {
        let metric = self.builder.metric_once(name, unit);
        self.values.resize(self.builder.meta.metrics.len(), 0);
        metric
    }

    fn cpu_metric(&mut self, meta: &RecordingMeta) -> (Option<usize>, f64) {
        let (unit, factor) = match &*meta.cpu_unit {
            "ns" => ("nanoseconds", 1.0),
            "variable CPU cycles" => ("cycles", 1.0),
            _ => ("nanoseconds", 1000.0),
        };
        let metric = self.metric("cpu", unit);
        self.cpu = self.cpu.or(Some((metric, false)));
        (Some(metric), factor)
    }
}
