//! Samples as columns, and the labels they carry.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::profile::{Column, HashIndex, Id, LabelSetId, Lengths, Meta, StackId, StringId};

/// The samples of a profile: row `i` of every column belongs to sample `i`.
///
/// Rows with the same stack and the same labels are merged while loading, unless times are kept or their values have
/// opposite signs: the profile's total is the sum of absolute values, and merging +3 and −2 would change it.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The stack of each sample.
    pub stack: Vec<StackId>,
    /// The labels of each sample.
    pub labels: Vec<LabelSetId>,
    /// When each sample was taken, in nanoseconds since 1970, or since the start of the recording if the format has no
    /// date; [`Samples::UNTIMED`] if only other samples have a time. `None` unless times were requested and are known.
    pub time: Option<Vec<i64>>,
    /// One column per metric.
    pub values: Vec<Vec<i64>>,
}

impl Samples {
    /// The time of a sample without one, where others have one.
    pub const UNTIMED: i64 = i64::MIN;

    /// When a sample was taken, if that is known.
    pub fn time_of(&self, row: usize) -> Option<i64> {
        self.time.as_ref().map(|times| times[row]).filter(|&time| time != Samples::UNTIMED)
    }

    /// The times of the samples that have one.
    pub fn known_times(&self) -> impl Iterator<Item = i64> + '_ {
        self.time.iter().flatten().copied().filter(|&time| time != Samples::UNTIMED)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    /// The same rows with other columns of values.
    pub(crate) fn with_values(&self, values: Vec<Vec<i64>>) -> Samples {
        Samples { stack: self.stack.clone(), labels: self.labels.clone(), time: self.time.clone(), values }
    }
}

/// When the samples of a recording were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTimes {
    /// The earliest time. A wait or a span that began before the recording counts from the start of the recording, and so do a few
    /// samples of other kinds, such as an object of the heap that was allocated long before.
    pub first: i64,
    /// The latest time.
    pub last: i64,
    /// When the last sample was over: values that are times last as long as they say.
    pub end: i64,
}

/// The times of a recording, such as one of several that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTimes {
    /// When its samples were taken.
    pub samples: SampleTimes,
    /// When it is noted to have begun, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long it is noted to have taken, in nanoseconds.
    pub duration_ns: Option<i64>,
}

impl RecordedTimes {
    /// Those of a profile that was loaded with times.
    pub(crate) fn of(meta: &Meta) -> Option<Self> {
        let (time_ns, duration_ns) = (meta.time_ns, meta.duration_ns);
        meta.sample_times.map(|samples| RecordedTimes { samples, time_ns, duration_ns })
    }
}

impl SampleTimes {
    /// Those of all samples; `None` if no time is known.
    pub(crate) fn of(samples: &Samples, meta: &Meta) -> Option<Self> {
        let (earliest, last) = (samples.known_times().min()?, samples.known_times().max()?);
        let first = match meta.time_ns {
            Some(start) if earliest < start => first_seen(samples, meta, start).unwrap_or(earliest),
            _ => earliest,
        };
        let end = end_of(samples, meta, earliest..=last);
        Some(SampleTimes { first, last, end })
    }

    /// Those of the samples that were taken from `first` to `last`.
    pub(crate) fn between(samples: &Samples, meta: &Meta, first: i64, last: i64) -> Self {
        SampleTimes { first, last, end: end_of(samples, meta, first..=last) }
    }
}

/// When the last of the samples that were taken in a range was over.
fn end_of(samples: &Samples, meta: &Meta, range: RangeInclusive<i64>) -> i64 {
    let mut end = *range.end();
    for (metric, values) in meta.metrics.iter().zip(&samples.values) {
        let Some(lengths) = Lengths::of(metric) else { continue };
        for (row, &value) in values.iter().enumerate() {
            let time = samples.time_of(row).filter(|time| range.contains(time));
            end = time.map_or(end, |time| end.max(time.saturating_add(lengths.length(value))));
        }
    }
    end
}

/// The start of a recording if samples that are older may count from there: those that lasted until then, or only a few. `None` if
/// many samples are older, because then the start was noted wrongly, or on another clock.
fn first_seen(samples: &Samples, meta: &Meta, start: i64) -> Option<i64> {
    let lasting: Vec<_> = meta.lasting().into_iter().zip(&samples.values).collect();
    let end_of = |row: usize, time: i64| {
        let lengths =
            lasting.iter().filter_map(|(lengths, values)| Some(lengths.as_ref()?.length(values[row])));
        time.saturating_add(lengths.max().unwrap_or(0))
    };
    let is_early =
        |&row: &usize| samples.time_of(row).is_some_and(|time| time < start && end_of(row, time) < start);
    let early = (0..samples.len()).filter(is_early).count();
    (early <= samples.len() / FEW_OF).then_some(start)
}

/// At most one sample in so many may be older than the recording.
const FEW_OF: usize = 10;

/// A thread got a processor, or left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSwitch {
    /// When, on the clock of the samples.
    pub time: i64,
    /// The number of the thread.
    pub tid: i64,
    /// Whether it runs from then on.
    pub runs: bool,
}

/// A time in which a garbage collector stopped all threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pause {
    /// When it began, on the clock of the samples.
    pub time: i64,
    /// How long it was, in nanoseconds.
    pub duration: i64,
    /// Why garbage was collected, such as `System.gc()`; empty if unknown.
    pub cause: Arc<str>,
}

/// One label of a sample, such as `endpoint = /users` or `bytes = 4096`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label {
    /// The key.
    pub key: StringId,
    /// The value.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LabelValue {
    /// Text.
    Text(StringId),
    /// A number and its own unit (empty if it has none).
    Number(i64, StringId),
}

/// Distinct sets of labels. Row 0 is the empty set.
#[derive(Clone, Debug)]
pub struct LabelSets {
    end: Column<LabelSetId, u32>,
    labels: Vec<Label>,
}

impl LabelSets {
    /// The labels of `set`, sorted by key.
    pub fn labels(&self, set: LabelSetId) -> &[Label] {
        let start = if set.index() == 0 { 0 } else { self.end[LabelSetId::new(set.index() - 1)] as usize };
        &self.labels[start..self.end[set] as usize]
    }

    /// Number of distinct sets, the empty one included.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Never true: the empty set is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = LabelSetId> + use<> {
        self.end.ids()
    }

    /// Replaces the value of every label. Sets that become equal are not merged.
    pub(crate) fn map_values(&mut self, mut map: impl FnMut(LabelValue) -> LabelValue) {
        for label in &mut self.labels {
            label.value = map(label.value);
        }
    }

    /// Replaces every string id, for readers whose string table comes after their samples.
    pub(crate) fn map_strings(&mut self, map: impl Fn(StringId) -> StringId) {
        for label in &mut self.labels {
            label.key = map(label.key);
            label.value = match label.value {
                LabelValue::Text(text) => LabelValue::Text(map(text)),
                LabelValue::Number(number, unit) => LabelValue::Number(number, map(unit)),
            };
        }
    }
}

impl Default for LabelSets {
    fn default() -> Self {
        LabelSets { end: Column::from_iter([0]), labels: Vec::new() }
    }
}

/// Label sets while they are being collected: equal sets get equal ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelTable {
    pub(crate) sets: LabelSets,
    index: HashIndex<LabelSetId>,
}

impl LabelTable {
    /// The approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.sets.labels.capacity() * size_of::<Label>()
            + self.sets.end.len() * size_of::<u32>()
            + self.index.size()
    }

    /// The id of the set of `labels`, whose order does not matter. `None` if the table is full.
    pub(crate) fn intern(&mut self, labels: &mut [Label]) -> Option<LabelSetId> {
        if labels.is_empty() {
            return Some(LabelSetId::default());
        }
        labels.sort_unstable();
        let hash = self.index.hash(labels);
        if let Some(id) = self.index.find(hash, |set| self.sets.labels(set) == labels) {
            return Some(id);
        }
        let end = u32::try_from(self.sets.labels.len() + labels.len()).ok()?;
        self.sets.labels.extend_from_slice(labels);
        let id = self.sets.end.push(end);
        self.index.insert(hash, id);
        Some(id)
    }
}
