//! When samples were taken, and how long they last.

use crate::profile::{LONGEST, Lengths, Pause, Profile, SampleTimes};
use crate::report::TimeAxis;
use crate::transform::{RecordingSpan, TimeError, TimePoint};
use crate::view::timeline::axis::axis;

/// The times of the samples of a profile.
pub(in crate::view) struct Moments<'p> {
    profile: &'p Profile,
    span: RecordingSpan,
    /// The times that are shown, on the clock of the samples.
    shown: SampleTimes,
    /// The ends of the axis, if they were given.
    range: [Option<i64>; 2],
    /// For each metric, how long its values last, if they are times.
    lengths: Vec<Option<Lengths>>,
    lasting: Vec<bool>,
    /// Whether some samples have times of another clock.
    pub(in crate::view) leaves_clocks_out: bool,
}

impl<'p> Moments<'p> {
    /// The times of a profile of which `range` is shown. Fails if it has none.
    pub(in crate::view) fn new(
        profile: &'p Profile,
        range: &[Option<TimePoint>; 2],
    ) -> Result<Self, TimeError> {
        let span = RecordingSpan::of(profile)?;
        let [from, to] = range.map(|point| point.map(|point| span.resolve(point)).transpose());
        let since = |time: i64| time.saturating_sub(span.start);
        let loaded = profile.meta.sample_times.ok_or(TimeError::NoTimes)?;
        let is_one_clock = loaded.last.saturating_sub(loaded.first) < LONGEST;
        let shown = if is_one_clock { loaded } else { most_common_clock(profile) };
        Ok(Moments {
            profile,
            span,
            shown,
            range: [from?.map(since), to?.map(since)],
            lengths: profile.meta.metrics.iter().map(Lengths::of).collect(),
            lasting: profile.meta.lasting().iter().map(Option::is_some).collect(),
            leaves_clocks_out: !is_one_clock,
        })
    }

    /// When a sample was taken; less than 0 of a wait that began before the recording. `None` if that is unknown, or a time of
    /// another clock.
    pub(in crate::view) fn of(&self, sample: usize) -> Option<i64> {
        let time = self.profile.samples.time_of(sample)?;
        let is_shown = !self.leaves_clocks_out || (self.shown.first..=self.shown.last).contains(&time);
        let since = time.saturating_sub(self.span.start);
        // A few samples may have been taken before the noted start; they count from there, whole.
        is_shown.then(|| if self.is_lasting(sample) { since } else { since.max(0) })
    }

    /// Whether a sample is a span or a wait, of which a part may lie before the recording.
    fn is_lasting(&self, sample: usize) -> bool {
        let values = &self.profile.samples.values;
        self.lasting.iter().zip(values).any(|(is_lasting, values)| *is_lasting && values[sample] != 0)
    }

    /// The pauses of the garbage collector in order, each with its start and its end on the same clock. A pause that two recorders
    /// saw is one.
    pub(in crate::view) fn pauses(&self) -> Vec<(i64, i64, &'p str)> {
        let mut pauses: Vec<&Pause> = self.profile.meta.pauses.iter().collect();
        pauses.sort_unstable();
        pauses.dedup_by_key(|pause| (pause.time, pause.duration));
        let since = |pause: &'p Pause| {
            let start = pause.time.saturating_sub(self.span.start);
            (start, start.saturating_add(pause.duration), &*pause.cause)
        };
        pauses.into_iter().map(since).collect()
    }

    /// Whether the values of a metric are the exact time that spans or waits lasted.
    pub(in crate::view) fn lasts(&self, metric: usize) -> bool {
        self.lasting[metric]
    }

    /// When a sample that began at `moment` ended. A value of a time, such as that of a span, lasts as long as it says.
    pub(in crate::view) fn end(&self, sample: usize, metric: usize, moment: i64) -> i64 {
        moment.saturating_add(self.length(sample, metric))
    }

    /// How long a sample lasts; 0 if its value is no time.
    pub(in crate::view) fn length(&self, sample: usize, metric: usize) -> i64 {
        let value = self.profile.samples.values[metric][sample];
        self.lengths[metric].map_or(0, |lengths| lengths.length(value))
    }

    /// The start of the recording in nanoseconds since 1970.
    pub(in crate::view) fn start_ns(&self) -> Option<i64> {
        self.span.is_dated.then_some(self.span.start)
    }

    /// At most `most` bins for what is shown: the range that was given, otherwise the whole recording.
    pub(in crate::view) fn axis(&self, most: usize) -> TimeAxis {
        let since = |time: i64| time.saturating_sub(self.span.start);
        let mut end = since(self.shown.last).saturating_add(1).max(since(self.shown.end));
        // The durations of several recordings were added up.
        let meta = &self.profile.meta;
        if meta.profiles == 1 && !self.leaves_clocks_out && self.span.end - self.span.start < LONGEST {
            end = end.max(since(self.span.end));
        }
        let start = self.start(end, most);
        let from = self.range[0].unwrap_or(start).clamp(0, end.saturating_sub(1).max(0));
        let to = self.range[1].unwrap_or(end).min(end).max(from.saturating_add(1));
        axis(from, to, most)
    }

    /// The time that a picture of a metric shows: the range that was given, or the whole recording, but not its start if the
    /// `first` sample of the metric is in its second half.
    pub(in crate::view) fn shown_range(&self, first: Option<i64>) -> (i64, i64) {
        let axis = self.axis(1);
        let late = |first: &i64| self.range[0].is_none() && first - axis.from_ns > axis.to_ns - first;
        (first.filter(late).unwrap_or(axis.from_ns), axis.to_ns)
    }

    /// Where the first bin begins if the whole recording is shown: at its start, unless most of the time before `end` would be
    /// empty, because its first samples have times of another clock.
    fn start(&self, end: i64, most: usize) -> i64 {
        let first = self.shown.first.saturating_sub(self.span.start);
        if first <= end.saturating_sub(first) {
            return 0;
        }
        let bin = axis(first, end, most).bin_ns;
        first - first % bin
    }

    /// The end that was given for what is shown.
    pub(in crate::view) fn to(&self) -> Option<i64> {
        self.range[1]
    }
}

/// The ends of the clock that most samples have. Times of one clock are less than [`LONGEST`] apart.
fn most_common_clock(profile: &Profile) -> SampleTimes {
    let mut times: Vec<i64> = profile.samples.known_times().collect();
    times.sort_unstable();
    let clocks = times.chunk_by(|a, b| b.saturating_sub(*a) < LONGEST);
    let largest = clocks.reduce(|best, next| if next.len() > best.len() { next } else { best });
    let largest = largest.unwrap_or_default();
    let (first, last) = (largest.first().copied().unwrap_or(0), largest.last().copied().unwrap_or(0));
    SampleTimes::between(&profile.samples, &profile.meta, first, last)
}
