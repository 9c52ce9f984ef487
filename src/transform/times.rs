//! `--from`, `--to`: keeping the samples of a period of time.

use std::sync::Arc;

use crate::profile::{Lengths, Profile, RecordedTimes, SampleTimes, Samples};
use crate::transform::engine::keep_rows;
use crate::unit::{Quantity, QuantityError, parse_rfc3339};

/// A point in time, as the user types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// Nanoseconds after the start of the recording, such as `1.5s`.
    AfterStart(i64),
    /// Nanoseconds before its end, such as `-1.5s`.
    BeforeEnd(i64),
    /// Nanoseconds since 1970: an RFC 3339 timestamp.
    At(i64),
}

/// Why samples cannot be chosen by time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    /// The text is not a point in time.
    #[error("`{}` is not a point in time", .0.escape_debug())]
    TimePoint(String),
    /// The profile does not say when its samples were taken.
    #[error("the profile does not say when its samples were taken")]
    NoTimes,
    /// Times are known only relative to the start of the recording, but a date was given.
    #[error("the profile does not say on which day it was recorded")]
    NoDate,
}

impl TimePoint {
    /// Parses `1.5s` (from the start), `-1.5s` (from the end) or `2024-02-26T18:40:37Z`. Fails for any other text.
    pub fn parse(text: &str) -> Result<TimePoint, TimeError> {
        if let Ok(time) = parse_rfc3339(text) {
            return Ok(TimePoint::At(time));
        }
        let span =
            |quantity: Result<Quantity, QuantityError>| quantity.ok().and_then(|span| span.nanoseconds());
        let error = || TimeError::TimePoint(text.to_string());
        match text.trim().strip_prefix('-') {
            // `-0s` is the end, so the sign is removed first.
            Some(rest) if !rest.starts_with(['-', '+']) => {
                span(Quantity::parse(rest)).map(TimePoint::BeforeEnd).ok_or_else(error)
            }
            _ => span(Quantity::parse(text)).map(TimePoint::AfterStart).ok_or_else(error),
        }
    }
}

/// The start and end of a recording as it was loaded, on the clock of its samples. Filters do not change it: `--from 1s`
/// means the same moment with and without `--thread`.
#[derive(Clone, Copy, Debug)]
pub struct RecordingSpan {
    /// The earliest sample, from which times such as `1.5s` are counted.
    pub start: i64,
    /// When the recording began, if that is known: 0 of formats that count from then; otherwise the same as `start`.
    pub began: i64,
    /// The end, or the time of the last sample if that is later.
    pub end: i64,
    /// Whether times are counted from 1970.
    pub is_dated: bool,
}

/// A sample may be older than the noted start of the recording by at most this much, in nanoseconds.
const SLACK: i64 = 3_600_000_000_000;

impl RecordingSpan {
    /// The span of a recording. Fails if samples have no times.
    pub fn of(profile: &Profile) -> Result<RecordingSpan, TimeError> {
        let recorded = profile.samples.time.as_ref().and_then(|_| RecordedTimes::of(&profile.meta));
        recorded.as_ref().map(RecordingSpan::of_times).ok_or(TimeError::NoTimes)
    }

    /// The span of each recording: of one, or of all that are compared, in the order of their metrics. Fails if samples have no
    /// times.
    pub fn of_all(profile: &Profile) -> Result<Vec<RecordingSpan>, TimeError> {
        let one = RecordingSpan::of(profile)?;
        let compared: Vec<RecordingSpan> =
            profile.meta.recordings.iter().map(RecordingSpan::of_times).collect();
        Ok(if compared.is_empty() { vec![one] } else { compared })
    }

    /// The span of a recording with these times, such as those that a dataset lists.
    pub(crate) fn of_times(recorded: &RecordedTimes) -> RecordingSpan {
        let RecordedTimes { samples, time_ns: time, duration_ns: duration } = *recorded;
        let SampleTimes { first, last, .. } = samples;
        let duration = duration.unwrap_or(0);
        let noted = time.filter(|&time| first >= time.saturating_sub(SLACK));
        let began = match noted {
            Some(time) => time.min(first),
            // Times that are counted from the start do not exceed the duration.
            None if first >= 0 && last <= duration => 0,
            None => first,
        };
        let end = began.saturating_add(duration).max(last);
        // Some recorders note when the program was started, others when they were, so times are counted from the first sample.
        RecordingSpan { start: first, began, end, is_dated: noted.is_some() }
    }

    /// A point in time on the clock of the samples. Fails if a date is given and the recording has none.
    pub fn resolve(&self, point: TimePoint) -> Result<i64, TimeError> {
        match point {
            TimePoint::AfterStart(span) => Ok(self.start.saturating_add(span)),
            TimePoint::BeforeEnd(span) => Ok(self.end.saturating_sub(span)),
            TimePoint::At(time) if self.is_dated => Ok(time),
            TimePoint::At(_) => Err(TimeError::NoDate),
        }
    }
}

/// Why a range of time has no samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyEmpty {
    /// It ends before it begins.
    Backwards,
    /// It begins after the last sample, which is this long after the first, in nanoseconds.
    TooLate(i64),
    /// It ends before the first sample.
    TooEarly,
    /// Nothing was sampled in it.
    Gap,
}

impl RecordingSpan {
    /// Why the range from `from` to `to` has no samples. `None` if these are not moments of the recording.
    pub fn why_empty(&self, from: Option<TimePoint>, to: Option<TimePoint>) -> Option<WhyEmpty> {
        let from = from.map_or(Some(i64::MIN), |from| self.resolve(from).ok())?;
        let to = to.map_or(Some(i64::MAX), |to| self.resolve(to).ok())?;
        Some(if to <= from {
            WhyEmpty::Backwards
        } else if from > self.end {
            WhyEmpty::TooLate(self.end.saturating_sub(self.start))
        } else if to <= self.start {
            WhyEmpty::TooEarly
        } else {
            WhyEmpty::Gap
        })
    }
}

/// Keeps the samples taken at `from` or later, and before `to`. Also returns how many there are. Of spans and waits, which say how
/// long they lasted, the part in this range is kept, so that the values of ranges that meet add up. If recordings are compared, the
/// range is that of each: `1.5s` is counted from its own start. Fails if samples have no times, or if a date is given and the
/// recording has none.
pub fn show_times(
    profile: &Profile,
    from: Option<TimePoint>,
    to: Option<TimePoint>,
) -> Result<(Profile, usize), TimeError> {
    let times = profile.samples.time.as_ref().ok_or(TimeError::NoTimes)?;
    let spans = RecordingSpan::of_all(profile)?;
    let ranges: Vec<Range> = spans.iter().map(|span| Range::of(span, from, to)).collect::<Result<_, _>>()?;
    let lasting = profile.meta.lasting();
    if let [range] = ranges[..]
        && lasting.iter().all(Option::is_none)
    {
        let shown = keep_rows(profile, |row| range.has(times[row]));
        let matched = shown.samples.len();
        return Ok((shown, matched));
    }
    let mut samples = Samples::clone(&profile.samples);
    let cut = Cut { ranges, lasting };
    let is_kept: Vec<bool> = (0..times.len()).map(|row| cut.row(&mut samples, row, times[row])).collect();
    let cut = Profile { samples: Arc::new(samples), ..profile.clone() };
    let shown = keep_rows(&cut, |row| is_kept[row]);
    let matched = shown.samples.len();
    Ok((shown, matched))
}

/// A range of time on the clock of a recording.
#[derive(Clone, Copy)]
struct Range {
    /// What was going on when the recording began counts from there.
    start: i64,
    from: i64,
    to: i64,
}

impl Range {
    fn of(span: &RecordingSpan, from: Option<TimePoint>, to: Option<TimePoint>) -> Result<Self, TimeError> {
        let from = from.map_or(Ok(span.start), |from| span.resolve(from))?.max(span.start);
        let to = to.map_or(Ok(i64::MAX), |to| span.resolve(to))?;
        // A range that ends before it begins is empty; nothing lasts less than no time in it.
        Ok(Range { start: span.start, from, to: to.max(from) })
    }

    fn has(&self, time: i64) -> bool {
        let counted = time.max(self.start);
        time != Samples::UNTIMED && counted >= self.from && (time < self.to || self.to == i64::MAX)
    }

    /// The part in the range of a value that lasted from `time` on: the difference of two rounded sums, so that parts add up.
    fn part(&self, value: i64, time: i64, length: i64) -> i64 {
        let until = |moment: i64| {
            let passed = (i128::from(moment) - i128::from(time)).clamp(0, length.into());
            (i128::from(value) * passed / i128::from(length)) as i64
        };
        until(self.to) - until(self.from)
    }
}

/// Ranges of time, out of which what lasts is cut.
struct Cut {
    /// The one of all metrics, or one for each.
    ranges: Vec<Range>,
    /// For each metric, how long its values last, if they do.
    lasting: Vec<Option<Lengths>>,
}

impl Cut {
    fn range(&self, metric: usize) -> &Range {
        &self.ranges[metric.min(self.ranges.len() - 1)]
    }

    /// Leaves the part of a sample that is in the range. What does not last is kept if it begins there. Returns whether the sample
    /// is kept.
    fn row(&self, samples: &mut Samples, row: usize, time: i64) -> bool {
        let mut of = None;
        for (metric, (column, lengths)) in samples.values.iter_mut().zip(&self.lasting).enumerate() {
            let (value, range) = (&mut column[row], self.range(metric));
            *value = match lengths.map_or(0, |lengths| lengths.length(*value)) {
                _ if time == Samples::UNTIMED => 0,
                0 if range.has(time) => *value,
                0 => 0,
                length => range.part(*value, time, length),
            };
            if *value != 0 && of.is_none() {
                of = Some(range);
            }
        }
        // A sample without a value is one of the only recording there is.
        let of = of.or_else(|| self.ranges.first().filter(|range| self.ranges.len() == 1 && range.has(time)));
        if let (Some(times), Some(range)) = (&mut samples.time, of) {
            times[row] = time.max(range.from);
        }
        of.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LoadOptions, from_notation, to_notation};
    use crate::transform::{ProfileMetric, align};

    const DAY: i64 = 1_708_972_837_000_000_000; // 2024-02-26T18:40:37Z
    const MS: i64 = 1_000_000;

    /// A sample `t0`, `t1` … at every time.
    fn profile(times: &[i64], start: Option<i64>, duration: Option<i64>) -> Profile {
        let lines = times.iter().enumerate().map(|(number, time)| format!("t{number} 1 @{time}"));
        let mut profile = from_notation(&lines.collect::<Vec<_>>().join("\n"));
        (profile.meta.time_ns, profile.meta.duration_ns) = (start, duration);
        profile
    }

    fn shown(profile: &Profile, from: &str, to: &str) -> Result<String, TimeError> {
        let point = |text: &str| (!text.is_empty()).then(|| TimePoint::parse(text)).transpose();
        let (shown, matched) = show_times(profile, point(from)?, point(to)?)?;
        assert_eq!(matched, shown.samples.len());
        Ok(to_notation(&shown).replace(" 1", "").replace('\n', " "))
    }

    #[test]
    fn spans_and_waits_are_cut_at_the_ends_of_the_range() {
        // A span from 0 to 100 ns, then one until 130; and a wait from 20 to 120, which is one event.
        let mut spans = from_notation("load 100 @0\nidle 30 @100");
        spans.meta.metrics[0].unit = "nanoseconds".to_string();
        spans.meta.holds_spans = true;
        assert_eq!(shown(&spans, "40ns", "120ns").unwrap(), "idle 20 load 60");
        let mut waits = from_notation("work 5 0 0 @0\nlock 0 100 1 @20\nwork 5 0 0 @50\nwork 5 0 0 @130");
        for (metric, name) in waits.meta.metrics.iter_mut().zip(["cpu", "lock_duration", "lock_count"]) {
            metric.name = name.to_string();
            metric.unit = if name == "lock_count" { "count" } else { "nanoseconds" }.to_string();
        }
        let rows = |from: &str, to: &str| {
            let point = |text: &str| Some(TimePoint::parse(text).unwrap());
            to_notation(&show_times(&waits, point(from), point(to)).unwrap().0)
        };
        // An event counts where it began, its time where it was spent.
        assert_eq!(rows("0ns", "40ns"), "lock 0 20 1\nwork 5 0 0");
        assert_eq!(rows("40ns", "1s"), "lock 0 80 0\nwork 5 0 0\nwork 5 0 0");
        assert_eq!(rows("60ns", "70ns"), "lock 0 10 0");
        assert_eq!(rows("70ns", "60ns"), "");
    }

    #[test]
    fn a_wait_that_began_before_the_recording_counts_from_its_start() {
        let mut profile = from_notation("park 900 @100\nwork 10 @600\nwork 10 @700");
        profile.meta.metrics[0] = crate::profile::Metric {
            name: "off_cpu".into(),
            unit: "nanoseconds".into(),
            ..profile.meta.metrics[0].clone()
        };
        profile.meta.time_ns = Some(500);
        profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
        let times = SampleTimes { first: 500, last: 700, end: 1000 };
        assert_eq!(profile.meta.sample_times, Some(times));
        let span = RecordingSpan::of(&profile).unwrap();
        assert_eq!((span.start, span.is_dated), (500, true));
        let from =
            |text: &str| to_notation(&show_times(&profile, TimePoint::parse(text).ok(), None).unwrap().0);
        assert_eq!(from("0s"), "park 500\nwork 10\nwork 10");
        assert_eq!(from("150ns"), "park 350\nwork 10");
    }

    #[test]
    fn a_few_old_samples_count_from_the_start_and_many_move_it() {
        let start = |old: usize| {
            let lines = (0..20).map(|row| {
                if row < old { "old 1 @100".to_string() } else { format!("new 1 @{}", 1000 + row) }
            });
            let mut profile = from_notation(&lines.collect::<Vec<_>>().join("\n"));
            profile.meta.time_ns = Some(1000);
            profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
            RecordingSpan::of(&profile).unwrap().start
        };
        // Up to a tenth are old objects; if there are more, the start was noted wrongly.
        assert_eq!([start(0), start(1), start(2), start(3)], [1000, 1000, 1000, 100]);
    }

    #[test]
    fn each_recording_that_is_compared_has_its_own_range() {
        let recorded = |start: i64, lines: &[(&str, i64)]| {
            let lines: Vec<String> =
                lines.iter().map(|(name, after)| format!("{name} 1 @{}", start + after)).collect();
            let mut profile = from_notation(&lines.join("\n"));
            profile.meta.time_ns = Some(start);
            profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
            profile
        };
        let old = recorded(DAY, &[("a", 0), ("b", 1500 * MS)]);
        let new = recorded(DAY + 300_000 * MS, &[("a", 0), ("a", 500 * MS), ("b", 2000 * MS)]);
        let parts = [&old, &new].map(|profile| ProfileMetric { profile, metric: 0, extra: None });
        let whole = align(&parts, LoadOptions { times: true, ..LoadOptions::LEAST }).unwrap();
        let rows = |from: Option<&str>, to: Option<&str>| {
            let point = |text: Option<&str>| text.map(|text| TimePoint::parse(text).unwrap());
            let shown = show_times(&whole, point(from), point(to)).unwrap().0;
            [0, 1].map(|metric| shown.shown_total(metric))
        };
        assert_eq!(rows(None, Some("1s")), [1, 2]);
        assert_eq!(rows(Some("1s"), None), [1, 1]);
        assert_eq!(rows(Some("-0.1s"), None), [1, 1]);
        // A date is the same moment for all.
        assert_eq!(rows(Some("2024-02-26T18:41:37Z"), None), [0, 3]);
        assert_eq!(rows(Some("1s"), Some("0s")), [0, 0]);
    }

    #[test]
    fn windows_of_time() {
        let dated = profile(&[DAY, DAY + 500 * MS, DAY + 1500 * MS], Some(DAY), Some(2000 * MS));
        let from_start = profile(&[100 * MS, 600 * MS, 1600 * MS], Some(DAY), Some(2000 * MS));
        let of_a_clock = profile(&[7_000_100 * MS, 7_000_600 * MS, 7_001_600 * MS], None, None);
        for (profile, from, to, want) in [
            (&dated, "", "", "t0 t1 t2"),
            (&dated, "0.5s", "", "t1 t2"),
            (&dated, "", "0.5s", "t0"),
            (&dated, "-1.5s", "", "t1 t2"),
            (&dated, "100ms", "-0.5s", "t1"),
            (&dated, "2024-02-26T18:40:37.2Z", "2024-02-26T18:40:38Z", "t1"),
            (&dated, "3s", "", ""),
            (&from_start, "0.5s", "1s", "t1"),
            (&from_start, "-0.5s", "", "t2"),
            (&of_a_clock, "0s", "0.5s", "t0"),
            (&of_a_clock, "-1s", "-0s", "t1"),
        ] {
            assert_eq!(shown(profile, from, to).unwrap(), want, "{from} {to}");
        }
        assert_eq!(shown(&of_a_clock, "2024-02-26T18:40:37Z", ""), Err(TimeError::NoDate));
        assert_eq!(shown(&dated, "soon", ""), Err(TimeError::TimePoint("soon".into())));
        assert_eq!(shown(&dated, "5", ""), Err(TimeError::TimePoint("5".into())));
        assert_eq!(shown(&profile(&[], None, None), "1s", ""), Err(TimeError::NoTimes));
    }
}
