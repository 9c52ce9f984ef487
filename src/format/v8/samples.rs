//! The samples of a V8 CPU profile: which node was running at what time.

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::threads::Thread;
use crate::format::v8::V8Tree;
use crate::profile::{LabelSetId, ProfileBuilder, StackId};
use crate::unit::plural;

/// Declares the metrics of a V8 CPU profile: `samples`, and `cpu`, which is the default.
///
/// V8 samples a thread whether it runs or waits, so the time is actually wall-clock time; waiting is attributed to
/// the frames `(idle)` and `(program)`. The metric is named `cpu` because V8 calls these CPU profiles.
pub(in crate::format) fn declare_metrics(builder: &mut ProfileBuilder) {
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("cpu", "microseconds");
}

/// Adds samples to a profile, given their nodes and timestamps.
///
/// The file contains the time *before* each sample. As in Chrome's `DevTools` and speedscope, a sample lasts until
/// the next one, and the last one until the end of the recording; the time before the first sample is not
/// attributed. A timestamp that is earlier than the previous one is replaced by the previous one, so that durations
/// add up to the elapsed time.
pub(in crate::format) struct SampleWriter {
    /// The labels of all samples, and whether there are labels that are not loaded.
    labels: LabelSetId,
    skipped_labels: bool,
    /// When the recording started, in µs.
    start: i64,
    /// The latest sample: its stack and its timestamp in µs. Its duration is only known with the next one.
    pending: Option<(StackId, i64)>,
    /// Whether that is no sample but a time without samples.
    is_pause: bool,
    /// The values of the latest sample: 1, its duration, and those of further metrics.
    values: Vec<i64>,
    backwards: u64,
    unknown: u64,
}

impl SampleWriter {
    /// A writer for a recording that started at `start` µs.
    pub(in crate::format) fn new(start: i64) -> Self {
        SampleWriter {
            labels: LabelSetId::default(),
            skipped_labels: false,
            start,
            pending: None,
            is_pause: false,
            values: vec![1, 0],
            backwards: 0,
            unknown: 0,
        }
    }

    /// Sets the thread of all samples.
    pub(in crate::format) fn labelled(mut self, thread: &Thread, builder: &mut ProfileBuilder) -> Self {
        self.labels = thread.labels(builder);
        self.skipped_labels = thread.is_known() && !builder.options().labels;
        self
    }

    /// Adds the sample of the node with the id `node` at `timestamp` µs, when `line` of its function was running; 0 if
    /// unknown.
    pub(in crate::format) fn sample(
        &mut self,
        builder: &mut ProfileBuilder,
        tree: &mut V8Tree,
        (node, line): (i64, u32),
        timestamp: i64,
    ) -> Result<(), ParseError> {
        let stack = if let Some(node) = tree.find(node) {
            tree.stack_at_line(builder, node, line)?
        } else {
            self.unknown += 1;
            builder.stack(&[])
        };
        let timestamp = self.write_pending(builder, timestamp);
        self.pending = Some((stack, timestamp));
        Ok(())
    }

    /// Ends the latest sample at `timestamp` µs. Until the next one, or the end, `stack` takes its place, which is no sample.
    pub(in crate::format) fn pause(&mut self, builder: &mut ProfileBuilder, stack: StackId, timestamp: i64) {
        let timestamp = self.write_pending(builder, timestamp);
        self.pending = Some((stack, timestamp));
        self.is_pause = true;
    }

    /// Sets the value of a further metric for the sample that was just added.
    pub(in crate::format) fn set(&mut self, metric: usize, value: i64) {
        if self.values.len() <= metric {
            self.values.resize(metric + 1, 0);
        }
        self.values[metric] = value;
    }

    /// Writes the last sample, which lasts until the `end` of the recording if that is known.
    pub(in crate::format) fn finish(mut self, builder: &mut ProfileBuilder, end: Option<i64>) {
        let last = self.pending.map_or(0, |(_, timestamp)| timestamp);
        let backwards = self.backwards;
        self.write_pending(builder, end.unwrap_or(last).max(last));
        if backwards > 0 {
            builder.meta.faults.backwards += backwards;
            builder.meta.warn_of_fault(format!(
                "{backwards} {} ignored",
                plural(
                    backwards,
                    "sample has a timestamp earlier than the sample before it; this timestamp is",
                    "samples have timestamps earlier than the sample before them; these timestamps are"
                ),
            ));
        }
        if self.unknown > 0 {
            builder.warn(format!(
                "{} {}",
                self.unknown,
                plural(
                    self.unknown,
                    "sample refers to a missing node and has an empty stack",
                    "samples refer to missing nodes and have empty stacks"
                )
            ));
        }
    }

    /// Writes the pending sample, which lasts until `timestamp`. Returns `timestamp`, or the timestamp of that sample if it is
    /// later.
    fn write_pending(&mut self, builder: &mut ProfileBuilder, timestamp: i64) -> i64 {
        let Some((stack, since)) = self.pending else { return timestamp };
        self.backwards += u64::from(timestamp < since);
        let timestamp = timestamp.max(since);
        let time = since.saturating_sub(self.start).saturating_mul(1000);
        self.values[0] = i64::from(!std::mem::take(&mut self.is_pause));
        self.values[1] = timestamp.saturating_sub(since);
        if self.skipped_labels {
            builder.skipped_labels();
        }
        builder.sample_from(0, stack, self.labels, Some(time), &self.values);
        self.values[2..].fill(0);
        timestamp
    }
}

/// The timestamps of samples in µs.
pub(in crate::format) enum Timestamps<'a> {
    /// `timeDeltas`: the time before each sample.
    Deltas {
        /// A cursor in the array.
        json: Json<'a>,
        /// The timestamp of the previous sample.
        timestamp: i64,
    },
    /// `timestamps`.
    Stamps(Json<'a>),
    /// Evenly spaced, because the file has no timestamps.
    Even {
        /// The start of the recording.
        start: i64,
        /// The duration of the recording.
        duration: i64,
        /// The number of samples.
        count: u64,
        /// The index of the next sample.
        index: u64,
    },
    /// At the end of an array.
    End,
}

impl Timestamps<'_> {
    /// The timestamp of the next sample; `None` after the last one.
    pub(in crate::format) fn next(&mut self) -> Result<Option<i64>, ParseError> {
        match self {
            Timestamps::Deltas { json, timestamp } => {
                if json.element()? {
                    *timestamp = timestamp.saturating_add(json.integer()?);
                    return Ok(Some(*timestamp));
                }
            }
            Timestamps::Stamps(json) => {
                if json.element()? {
                    return json.integer().map(Some);
                }
            }
            Timestamps::Even { start, duration, count, index } => {
                let passed = i128::from(*duration) * i128::from(*index) / i128::from((*count).max(1));
                *index += 1;
                return Ok(Some(start.saturating_add(passed as i64)));
            }
            Timestamps::End => {}
        }
        *self = Timestamps::End;
        Ok(None)
    }

    /// The number of remaining timestamps.
    pub(in crate::format) fn left(mut self) -> Result<u64, ParseError> {
        let mut left = 0;
        while !matches!(self, Timestamps::Even { .. }) && self.next()?.is_some() {
            left += 1;
        }
        Ok(left)
    }
}
