//! What both forms of austin's output have in common.

use crate::format::group::SampleGroup;
use crate::format::labels::{LabelList, sample_labels};
use crate::format::{ParseError, finished};
use crate::profile::{FrameId, LoadOptions, Period, Profile, ProfileBuilder, StackId};

/// What is measured by the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Wall,
    Cpu,
    Memory,
    Full,
}

/// The measurements of a sample; those that the mode does not have are 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// In microseconds.
    pub(super) time: i64,
    /// In bytes; negative if memory was freed.
    pub(super) memory: i64,
    pub(super) is_idle: bool,
}

/// The stack of a sample.
#[derive(Clone, Copy)]
pub(super) enum SampleStack<'f> {
    Known(StackId),
    /// One that is to be looked up, root first.
    Frames(&'f [FrameId]),
}

/// A recording that is being read.
pub(super) struct Recording {
    pub(super) builder: ProfileBuilder,
    /// Samples that have not been added to the profile yet.
    group: SampleGroup,
    mode: Mode,
    has_metrics: bool,
}

impl Recording {
    /// An empty recording. `may_use_threads` allows another thread to add its samples.
    pub(super) fn new(format: &'static str, options: LoadOptions, may_use_threads: bool) -> Recording {
        Recording {
            builder: ProfileBuilder::new(format, options),
            group: SampleGroup::on_thread(may_use_threads),
            mode: Mode::Wall,
            has_metrics: false,
        }
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether samples were added, after which the mode must not change.
    pub(super) fn has_samples(&self) -> bool {
        self.has_metrics
    }

    /// Notes a property of the recording, such as `mode` with the value `wall`.
    pub(super) fn metadata(&mut self, key: &str, value: &str) {
        match (key, value) {
            ("mode", "cpu") => self.mode = Mode::Cpu,
            ("mode", "memory") => self.mode = Mode::Memory,
            ("mode", "full") => self.mode = Mode::Full,
            ("interval", _) => {
                let value = value.parse().ok().filter(|&value: &i64| value > 0);
                self.builder.meta.period =
                    value.map(|value| Period { name: "wall".into(), unit: "microseconds".into(), value });
            }
            ("duration", _) => {
                let microseconds = value.parse::<i64>().ok();
                self.builder.meta.duration_ns = microseconds.and_then(|value| value.checked_mul(1000));
            }
            _ => {}
        }
    }

    /// Declares the metrics, once the mode is known.
    fn metrics(&mut self) {
        let metrics: &[(&str, &str)] = match self.mode {
            Mode::Wall => &[("wall", "microseconds")],
            Mode::Cpu => &[("cpu", "microseconds")],
            Mode::Memory => &[("alloc_space", "bytes")],
            Mode::Full => &[
                ("wall", "microseconds"),
                ("cpu", "microseconds"),
                ("alloc_space", "bytes"),
                ("free_space", "bytes"),
            ],
        };
        for (name, unit) in metrics {
            self.builder.metric(name, unit);
        }
        self.has_metrics = true;
    }

    /// Adds a sample. `label` is asked for its process, its thread, and perhaps its asyncio task, if labels are loaded.
    pub(super) fn sample(
        &mut self,
        stack: SampleStack<'_>,
        measured: Measured,
        label: impl FnOnce(&mut LabelList<'_>),
    ) {
        if !self.has_metrics {
            self.metrics();
        }
        let Measured { time, memory, is_idle } = measured;
        let labels = sample_labels(&mut self.builder, label);
        let builder = &mut self.builder;
        let mut add = |values: &[i64]| match stack {
            SampleStack::Known(stack) => {
                self.group.write(builder);
                builder.sample(stack, labels, None, values);
            }
            SampleStack::Frames(frames) => {
                let stack = self.group.stack(frames, builder);
                self.group.sample(stack, labels, None, values, builder);
            }
        };
        match self.mode {
            Mode::Wall | Mode::Cpu => add(&[time]),
            // Freed memory is not attributed to the stack that allocated it.
            Mode::Memory => add(&[memory.max(0)]),
            Mode::Full => {
                let cpu = if is_idle { 0 } else { time };
                add(&[time, cpu, memory.max(0), memory.min(0).saturating_neg()]);
            }
        }
    }

    /// Adds a stack without a sample.
    pub(super) fn stack(&mut self, frames: &[FrameId]) {
        self.group.stack(frames, &mut self.builder);
    }

    /// Adds the samples that wait, before other stacks are added to the builder.
    pub(super) fn write(&mut self) {
        self.group.write(&mut self.builder);
    }

    pub(super) fn finish(mut self) -> Result<Profile, ParseError> {
        self.write();
        if !self.has_metrics {
            self.metrics();
        }
        finished(self.builder)
    }
}
