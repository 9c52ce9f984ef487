//! What a writable format is: how it is compressed, and what it cannot store.

use std::fmt;
use std::io::{self, Write};

use flate2::{Compression, GzBuilder};

use crate::profile::{Frame, Label, LabelValue, LoadOptions, Profile, StringId};
use crate::unit::Unit;

/// A format that can be written.
pub struct Writer {
    /// Name on the command line, such as `pprof`.
    pub name: &'static str,
    /// Name in prose, such as `pprof protobuf`.
    pub title: &'static str,
    /// File extensions.
    pub endings: &'static [&'static str],
    /// File extensions that imply compression.
    pub packed_endings: &'static [&'static str],
    /// Whether files are compressed by default.
    pub packed: bool,
    /// What it can store besides names and the values of one metric.
    pub holds: &'static [Part],
    /// Whether it can store functions and their calls, which some formats have instead of stacks.
    pub holds_calls: bool,
    /// The additional metric that the file stores next to the selected one, if any.
    pub second_metric: fn(&Profile, usize) -> Option<usize>,
    /// Names and units of metrics that the reader assumes, so that they need not be written.
    pub read_as: &'static [(&'static str, &'static str)],
    /// What has to be loaded to write everything that it can store.
    pub needs: LoadOptions,
    /// Writes the profile, with the metric of that index if the format stores only one. Returns messages
    /// about what had to be changed.
    pub write: fn(&Profile, usize, &mut dyn Write) -> io::Result<Vec<String>>,
}

/// A part of a profile that not every format can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// More than one metric.
    Metrics,
    /// The name of a metric.
    MetricNames,
    /// The unit of a metric.
    MetricUnits,
    /// Labels other than those of the thread.
    Labels,
    /// The names of threads.
    Threads,
    /// The numbers of threads, and the processes they are in.
    Processes,
    /// Source files.
    Files,
    /// The lines that were executing.
    Lines,
    /// The location that distinguishes functions with the same name.
    Places,
    /// Addresses, and the binaries they are in.
    Addresses,
    /// Which frames were inlined.
    Inlining,
    /// Which expressions name the frames to drop.
    DropFrames,
    /// The recorder's comments.
    Comments,
    /// When the recording started, how long it took, and the sampling period.
    Recording,
    /// The time of each sample.
    Times,
    /// Values below 0.
    Negatives,
}

impl Part {
    /// All parts, in the order in which losses are reported.
    pub const ALL: [Part; 16] = [
        Part::Metrics,
        Part::MetricNames,
        Part::MetricUnits,
        Part::Labels,
        Part::Threads,
        Part::Processes,
        Part::Files,
        Part::Lines,
        Part::Places,
        Part::Addresses,
        Part::Inlining,
        Part::DropFrames,
        Part::Comments,
        Part::Recording,
        Part::Times,
        Part::Negatives,
    ];
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Metrics => "the other metrics",
            Part::MetricNames => "the metric's name",
            Part::MetricUnits => "the metric's unit",
            Part::Labels => "labels",
            Part::Threads => "threads",
            Part::Processes => "processes and thread numbers",
            Part::Files => "source files",
            Part::Lines => "line numbers",
            Part::Places => "what distinguishes functions with the same name",
            Part::Addresses => "addresses and binaries",
            Part::Inlining => "which frames were inlined",
            Part::DropFrames => "which frames to drop",
            Part::Comments => "comments",
            Part::Recording => "the recording's start time, duration and sampling period",
            Part::Times => "the time of each sample",
            Part::Negatives => "negative values",
        })
    }
}

impl Writer {
    /// Whether a file with this name, or without one, is to be compressed.
    pub fn is_packed(&self, file: Option<&str>) -> bool {
        let Some(file) = file.map(str::to_ascii_lowercase) else { return self.packed };
        let ends = |endings: &[&str]| endings.iter().any(|ending| file.ends_with(ending));
        ends(&[".gz"]) || ends(self.packed_endings) || (self.packed && !ends(self.endings))
    }

    /// Writes a profile, compressed or not. Equal profiles give equal bytes. Fails if writing to `out` fails.
    pub fn write_to(
        &self,
        profile: &Profile,
        metric: usize,
        packed: bool,
        out: &mut dyn Write,
    ) -> io::Result<Vec<String>> {
        if !packed {
            return (self.write)(profile, metric, out);
        }
        // The header has no name and no time, or the files of equal profiles would differ.
        let mut gzip = GzBuilder::new().mtime(0).write(out, Compression::default());
        let changes = (self.write)(profile, metric, &mut gzip)?;
        gzip.finish()?;
        Ok(changes)
    }

    /// The metrics that are lost if the file stores the metric with index `metric`.
    pub fn left_out<'p>(&self, profile: &'p Profile, metric: usize) -> Vec<&'p str> {
        if self.holds.contains(&Part::Metrics) {
            return Vec::new();
        }
        let second = (self.second_metric)(profile, metric);
        let others =
            (0..profile.meta.metrics.len()).filter(|&number| number != metric && Some(number) != second);
        others.map(|number| profile.meta.metrics[number].name.as_str()).collect()
    }

    fn lacks(&self, profile: &Profile, metric: usize, part: Part) -> bool {
        match part {
            Part::Metrics => !self.left_out(profile, metric).is_empty(),
            Part::MetricNames => {
                let metric = &profile.meta.metrics[metric];
                !self.read_as.contains(&(metric.name.as_str(), metric.unit.as_str()))
            }
            Part::MetricUnits => {
                let family = Unit::parse(&profile.meta.metrics[metric].unit).family();
                !self.read_as.iter().any(|(_, unit)| Unit::parse(unit).family() == family)
            }
            Part::Negatives if self.holds.contains(&Part::Metrics) => {
                (0..profile.meta.metrics.len()).any(|metric| has(profile, metric, part))
            }
            part => has(profile, metric, part),
        }
    }

    /// The parts of `profile` that this format cannot store.
    pub fn losses(&self, profile: &Profile, metric: usize) -> Vec<Part> {
        // Lines that were not loaded are lost even in a format that has lines.
        let is_left_out = |part: &Part| *part == Part::Lines && profile.meta.lacks_lines;
        Part::ALL
            .into_iter()
            .filter(|part| {
                is_left_out(part) || (!self.holds.contains(part) && self.lacks(profile, metric, *part))
            })
            .collect()
    }
}

/// Whether a profile has a part.
fn has(profile: &Profile, metric: usize, part: Part) -> bool {
    let (meta, symbols) = (&profile.meta, &profile.symbols);
    match part {
        Part::Metrics => meta.metrics.len() > 1,
        Part::MetricNames | Part::MetricUnits => !meta.metrics.is_empty(),
        // Labels that were not loaded count as well.
        Part::Labels => {
            has_label(profile, |key| !["thread", "tid", "process"].contains(&key)) || is_unlabelled(profile)
        }
        Part::Threads => has_label(profile, |key| key == "thread"),
        Part::Processes => has_label(profile, |key| ["tid", "process"].contains(&key)),
        Part::Files => {
            symbols.functions.iter().any(|function| !symbols.strings.get(function.file).is_empty())
        }
        Part::Lines => {
            symbols.frames.iter().any(|frame| ![0, function_line(profile, frame)].contains(&frame.line))
        }
        Part::Places => symbols.functions.iter().any(|function| function.by_place),
        Part::Addresses => {
            symbols.mappings.len() > 1 || symbols.frames.iter().any(|frame| frame.address != 0)
        }
        Part::Inlining => profile.calls.is_none() && symbols.frames.iter().any(|frame| frame.inlined),
        Part::DropFrames => !meta.drop_frames.is_empty(),
        Part::Comments => !meta.comments.is_empty(),
        Part::Recording => {
            let has_length = meta.duration_ns.is_some_and(|duration| duration > 0);
            meta.time_ns.is_some() || has_length || meta.period.is_some()
        }
        // Times that were not loaded count as well.
        Part::Times => profile.samples.time.is_some() || meta.has_times,
        Part::Negatives => profile.has_negatives(metric),
    }
}

/// The line at which the function of a frame starts.
fn function_line(profile: &Profile, frame: &Frame) -> u32 {
    profile.symbols.functions[frame.function].line
}

fn has_label(profile: &Profile, is_wanted: impl Fn(&str) -> bool) -> bool {
    let strings = &profile.symbols.strings;
    profile
        .label_sets
        .ids()
        .any(|set| profile.label_sets.labels(set).iter().any(|label| is_wanted(strings.get(label.key))))
}

/// Whether the input had labels, but none were kept.
fn is_unlabelled(profile: &Profile) -> bool {
    profile.meta.labelled_rows > 0 && profile.label_sets.len() == 1
}

/// The rows of a profile in the order of their timestamps, if known; otherwise, rows without a value in any
/// of `metrics` are omitted.
pub(super) fn rows_in_time(profile: &Profile, metrics: &[usize]) -> Vec<usize> {
    let samples = &profile.samples;
    let has_value = |row: usize| metrics.iter().any(|&metric| samples.values[metric][row] != 0);
    let mut rows: Vec<usize> = match &samples.time {
        Some(_) => (0..samples.len()).collect(),
        None => (0..samples.len()).filter(|&row| has_value(row)).collect(),
    };
    if let Some(times) = &samples.time {
        rows.sort_by_key(|&row| times[row]);
    }
    rows
}

/// Messages about names and labels of a profile that have a special meaning in `format` if they are empty.
pub(super) fn notes_of_empty_texts(profile: &Profile, format: &str, lacks_empty_labels: bool) -> Vec<String> {
    let symbols = &profile.symbols;
    let mut notes = Vec::new();
    if symbols.functions.iter().any(|function| function.name == StringId::default()) {
        notes.push(format!("{format}: functions with an empty name are read as addresses without a name"));
    }
    let is_empty = |label: &Label| label.value == LabelValue::Text(StringId::default());
    let mut sets = profile.label_sets.ids().map(|set| profile.label_sets.labels(set));
    if lacks_empty_labels && sets.any(|labels| labels.iter().any(is_empty)) {
        notes.push(format!("{format}: labels with an empty text are left out"));
    }
    notes
}

/// For [`Writer::second_metric`]: files of this format store only the selected metric.
pub(super) fn no_second_metric(_: &Profile, _: usize) -> Option<usize> {
    None
}
