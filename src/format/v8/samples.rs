//! The samples of a V8 CPU profile: which node was running when.

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::threads::Thread;
use crate::format::v8::Tree;
use crate::profile::{LabelSetId, ProfileBuilder, StackId};

/// Declares the metrics of a V8 CPU profile: `samples`, and the time, which is shown by default.
///
/// V8 samples one thread at a time whether it runs or waits, so the time is that of the clock on the
/// wall; waiting has frames of its own, `(idle)` and `(program)`. It is called `cpu` for what the
/// profile is called.
pub(in crate::format) fn declare_metrics(builder: &mut ProfileBuilder) {
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("cpu", "microseconds");
}

/// Turns nodes and moments into samples.
///
/// The file has the time *before* each sample. As in Chrome's `DevTools` and speedscope, a sample
/// lasts from its own moment to that of the next one, and the last one to the end of the recording;
/// what lies before the first sample belongs to none. A moment earlier than the one before it counts
/// as the same moment, so that durations add up to the time that passed.
pub(in crate::format) struct SampleWriter {
    /// Labels of all samples, and whether there are labels that were not asked for.
    labels: LabelSetId,
    skipped_labels: bool,
    /// When the recording started, in µs.
    start: i64,
    /// The latest sample: its stack and its moment in µs. Its duration is known with the next one.
    pending: Option<(StackId, i64)>,
    backwards: u64,
    unknown: u64,
}

impl SampleWriter {
    /// A writer of samples of a recording that started at `start` µs.
    pub(in crate::format) fn new(start: i64) -> Self {
        SampleWriter {
            labels: LabelSetId::default(),
            skipped_labels: false,
            start,
            pending: None,
            backwards: 0,
            unknown: 0,
        }
    }

    /// Labels all samples with their thread.
    pub(in crate::format) fn labelled(mut self, thread: &Thread, builder: &mut ProfileBuilder) -> Self {
        self.labels = thread.labels(builder);
        self.skipped_labels = thread.is_known() && !builder.options().labels;
        self
    }

    /// Takes the sample of the node numbered `node` at `moment` µs.
    pub(in crate::format) fn sample(
        &mut self,
        builder: &mut ProfileBuilder,
        tree: &mut Tree,
        node: i64,
        moment: i64,
    ) -> Result<(), ParseError> {
        let stack = if let Some(node) = tree.find(node) {
            tree.stack(builder, node)?
        } else {
            self.unknown += 1;
            builder.stack(&[])
        };
        let moment = self.write_pending(builder, moment);
        self.pending = Some((stack, moment));
        Ok(())
    }

    /// Writes the last sample, which lasts to the `end` of the recording, where that is known.
    pub(in crate::format) fn finish(mut self, builder: &mut ProfileBuilder, end: Option<i64>) {
        let last = self.pending.map_or(0, |(_, moment)| moment);
        let backwards = self.backwards;
        self.write_pending(builder, end.unwrap_or(last).max(last));
        if backwards > 0 {
            builder.warn(format!(
                "{backwards} samples have an earlier timestamp than the previous sample; they are treated as simultaneous"
            ));
        }
        if self.unknown > 0 {
            builder.warn(format!(
                "{} samples refer to nodes that do not exist; their stack is empty",
                self.unknown
            ));
        }
    }

    /// Writes the sample whose duration `moment` ends; the moment, moved behind that of the sample.
    fn write_pending(&mut self, builder: &mut ProfileBuilder, moment: i64) -> i64 {
        let Some((stack, since)) = self.pending else { return moment };
        self.backwards += u64::from(moment < since);
        let moment = moment.max(since);
        let time = since.saturating_sub(self.start).saturating_mul(1000);
        let duration = moment.saturating_sub(since);
        if self.skipped_labels {
            builder.skipped_labels();
        }
        builder.sample(stack, self.labels, Some(time), &[1, duration]);
        moment
    }
}

/// The moments of samples, in µs, from whichever array of the file has them.
pub(in crate::format) enum Moments<'a> {
    /// `timeDeltas`: the time before each sample.
    Deltas {
        /// Within the array.
        json: Json<'a>,
        /// The latest moment.
        moment: i64,
    },
    /// `timestamps`.
    Stamps(Json<'a>),
    /// Evenly spaced: the file has no moments.
    Even {
        /// Of the recording.
        start: i64,
        /// Of the recording.
        duration: i64,
        /// Of samples.
        count: u64,
        /// Of the next sample.
        index: u64,
    },
    /// Behind the last of an array.
    Over,
}

impl Moments<'_> {
    /// The moment of the next sample; `None` behind the last.
    pub(in crate::format) fn next(&mut self) -> Result<Option<i64>, ParseError> {
        match self {
            Moments::Deltas { json, moment } => {
                if json.element()? {
                    *moment = moment.saturating_add(json.integer()?);
                    return Ok(Some(*moment));
                }
            }
            Moments::Stamps(json) => {
                if json.element()? {
                    return json.integer().map(Some);
                }
            }
            Moments::Even { start, duration, count, index } => {
                let passed = i128::from(*duration) * i128::from(*index) / i128::from((*count).max(1));
                *index += 1;
                return Ok(Some(start.saturating_add(passed as i64)));
            }
            Moments::Over => {}
        }
        *self = Moments::Over;
        Ok(None)
    }

    /// How many moments the file has behind those that were asked for.
    pub(in crate::format) fn left(mut self) -> Result<u64, ParseError> {
        let mut left = 0;
        while !matches!(self, Moments::Even { .. }) && self.next()?.is_some() {
            left += 1;
        }
        Ok(left)
    }
}
