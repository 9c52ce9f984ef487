//! `timeline`: when the program was busy, row by row, and its phases.
//!
//! ```text
//! samples (time, labels, stack, values) ──moments──► offset and duration ──rows──► row × bin ──► report
//!                                                                        └phases─► function × bin ──► change points
//! ```
//!
//! Nothing is stored per sample: the columns of the profile are read once for the totals of rows, once for the bins, and
//! once for the phases.

pub(super) mod axis;
pub(super) mod moments;
mod page;
mod pauses;
mod phases;
pub(super) mod rows;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::profile::{Budget, Profile, TooLarge};
use crate::report::{
    Header, Message, Name, TimeAxis, Timeline, TimelineFunction, TimelineRow, TimelineSeries, busy_bins,
};
use crate::transform::{IdleStacks, TimeError, TimePoint, idle_stacks, samples_back};
use crate::tree::{By, KeyId, Subject};
use crate::unit::{group_thousands, plural};
use crate::view::Scope;
use crate::view::timeline::axis::{Moment, spread};
use crate::view::timeline::moments::Moments;
use crate::view::timeline::rows::RowKeys;

pub(in crate::view) use page::page_times;
pub use rows::TimelineRows;

/// Options for `timeline`.
#[derive(Clone, Debug)]
pub struct TimelineOptions {
    /// The metrics. Rows are sorted by the first; phases are those of the first.
    pub scope: Scope,
    /// What a row stands for.
    pub rows_by: TimelineRows,
    /// The largest number of bins; at least 1. Their width is a round number.
    pub bins: usize,
    /// The range of time to which a filter has limited the samples: `--from` and `--to`.
    pub range: [Option<TimePoint>; 2],
    /// The largest number of rows; `None` for all.
    pub limit: Option<usize>,
    /// What follows `prof top --from T --to T` in the commands for phases, quoted for a shell.
    pub command: String,
    /// The memory limit for rows.
    pub budget: Budget,
}

impl TimelineOptions {
    /// One row per thread, all of them.
    pub fn new(scope: Scope) -> Self {
        TimelineOptions {
            scope,
            rows_by: TimelineRows::Thread,
            bins: 60,
            range: [None, None],
            limit: None,
            command: String::new(),
            budget: Budget::UNLIMITED,
        }
    }
}

/// Why there is no timeline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTimeline {
    /// Samples have no times, or a range of time means nothing in this recording.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// No sample has the label.
    #[error("no sample has the label {0}")]
    NoLabel(String),
    /// Rows and bins need more memory than is allowed.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// When the program was busy. The profile must have been loaded with times and labels.
pub fn timeline(profile: &Profile, options: &TimelineOptions) -> Result<Timeline, NoTimeline> {
    let scope = Scope { by: By::Function, ..options.scope.clone() };
    let (subject, mut header) = scope.open(profile, "prof.timeline.v1");
    let moments = Moments::new(profile, &options.range)?;
    let axis = moments.axis(options.bins);
    let keys = RowKeys::new(profile, &options.rows_by).map_err(NoTimeline::NoLabel)?;
    let counted = counted_rows(&subject, &scope.metrics, &moments, &keys);
    header.warnings.extend(note_of_untimed(counted.untimed_samples, moments.leaves_clocks_out));
    header.warnings.extend(note_of_idle(profile));
    header.warnings.extend(note_of_order(samples_back(profile, scope.metrics[0])));
    let mut order: Vec<usize> = (0..keys.names.len()).filter(|&row| counted.rows[row].samples > 0).collect();
    order.sort_by_key(|&row| (Reverse(counted.rows[row].totals[0].unsigned_abs()), &keys.names[row]));
    let kept = order.len().min(options.limit.unwrap_or(usize::MAX));
    let has_more = order.len() > kept;
    let idle: Vec<Option<IdleStacks<'_>>> =
        scope.metrics.iter().map(|&metric| idle_stacks(profile, metric)).collect();
    // Each metric that may be idle has the bins twice.
    let columns = scope.metrics.len() + idle.iter().flatten().count();
    let cells = (kept + usize::from(has_more)) as u64 * (axis.bins * columns) as u64;
    options.budget.reservation().set(cells.saturating_mul(size_of::<i64>() as u64))?;
    let mut lines = Lines::new(&counted, &keys.names, &order, kept, &axis, scope.metrics.len());
    lines.fill(&subject, &scope.metrics, &idle, &moments, &keys);
    let (rows, more) = lines.finish(&header, &subject, has_more);
    for row in &order[kept..] {
        header.elide(counted.rows[*row].totals.iter().copied());
    }
    Ok(Timeline {
        start_ns: moments.start_ns(),
        largest: (0..scope.metrics.len()).map(|metric| largest(&rows, more.as_ref(), metric)).collect(),
        rows_by: options.rows_by.name(),
        rows,
        more,
        untimed: counted.untimed,
        pauses: pauses::pauses(&moments, &axis),
        phases: phases::phases(&subject, scope.metrics[0], &moments, &options.command),
        axis,
        header,
    })
}

/// What is left out because of its time.
fn note_of_untimed(samples: u64, leaves_clocks_out: bool) -> Option<Message> {
    let noun = plural(samples, "sample has", "samples have");
    let why = if leaves_clocks_out { "no time, or one of another clock" } else { "no time" };
    let count = group_thousands(samples.into());
    (samples > 0)
        .then(|| Message::note(format!("{count} {noun} {why}: not on the axis, but in the row (no time)")))
}

/// What is missing on the axis.
pub(super) fn note_of_idle(profile: &Profile) -> Option<Message> {
    profile.meta.lacks_idle.then(|| {
        Message::note(
            "samples of idle threads were left out: stretches in which a thread was idle are missing, and threads are not aligned"
                .to_string(),
        )
    })
}

/// What is shown in another order than it was recorded.
fn note_of_order(samples: u64) -> Option<Message> {
    let noun = plural(samples, "sample is", "samples are");
    let count = group_thousands(samples.into());
    (samples > 0).then(|| {
        Message::note(format!(
            "the clock went back: {count} {noun} shown earlier than the one recorded before"
        ))
    })
}

/// The largest absolute value of a bin, without what is idle. What was cut counts only if all rows are idle: together, many
/// threads would make each look small.
fn largest(rows: &[TimelineRow], more: Option<&TimelineRow>, metric: usize) -> i64 {
    let bins = |row: &'_ TimelineRow| -> i64 {
        let (bins, idle) = row.bins_of(metric);
        busy_bins(bins, idle).map(i64::saturating_abs).max().unwrap_or(0)
    };
    let of_rows = rows.iter().map(bins).max().unwrap_or(0);
    if of_rows > 0 { of_rows } else { more.map_or(0, bins) }
}

/// What a row has in the whole range.
#[derive(Clone, Debug)]
struct CountedRow {
    samples: u64,
    totals: Vec<i64>,
    first: i64,
    last: i64,
}

/// The sums of all rows, and what belongs to none.
struct CountedRows {
    rows: Vec<CountedRow>,
    untimed: i64,
    untimed_samples: u64,
}

fn counted_rows(
    subject: &Subject<'_>,
    metrics: &[usize],
    moments: &Moments<'_>,
    keys: &RowKeys,
) -> CountedRows {
    let samples = &subject.profile.samples;
    let empty = CountedRow { samples: 0, totals: vec![0; metrics.len()], first: i64::MAX, last: i64::MIN };
    let mut counted = CountedRows { rows: vec![empty; keys.names.len()], untimed: 0, untimed_samples: 0 };
    for sample in 0..samples.len() {
        if metrics.iter().all(|&metric| samples.values[metric][sample] == 0) {
            continue;
        }
        let Some(moment) = moments.of(sample) else {
            counted.untimed += samples.values[metrics[0]][sample];
            counted.untimed_samples += 1;
            continue;
        };
        let row = &mut counted.rows[keys.row(samples, sample)];
        row.samples += 1;
        for (total, &metric) in row.totals.iter_mut().zip(metrics) {
            *total += samples.values[metric][sample];
        }
        row.first = row.first.min(moment.max(0));
        row.last = row.last.max(moments.end(sample, metrics[0], moment));
    }
    counted
}

/// The rows that are shown, with their bins, while they are being counted.
struct Lines<'t> {
    axis: &'t TimeAxis,
    metrics: usize,
    rows: Vec<TimelineRow>,
    /// For each row of the profile, the line that counts it.
    line_of: Vec<usize>,
    /// The self of the functions of each line, apart for idle stacks.
    functions: HashMap<(usize, KeyId, bool), i64>,
}

impl<'t> Lines<'t> {
    fn new(
        counted: &CountedRows,
        names: &[Name],
        order: &[usize],
        kept: usize,
        axis: &'t TimeAxis,
        metrics: usize,
    ) -> Self {
        let mut line_of = vec![kept; names.len()];
        let mut rows = Vec::with_capacity(kept + 1);
        for (line, &row) in order[..kept].iter().enumerate() {
            line_of[row] = line;
            rows.push(Self::empty(names[row].clone(), axis, metrics));
            (rows[line].first_ns, rows[line].last_ns) = (counted.rows[row].first, counted.rows[row].last);
        }
        if let Some(cut) = order.get(kept..).filter(|cut| !cut.is_empty()) {
            let mut more = Self::empty("".into(), axis, metrics);
            more.first_ns = cut.iter().map(|&row| counted.rows[row].first).min().unwrap_or(0);
            more.last_ns = cut.iter().map(|&row| counted.rows[row].last).max().unwrap_or(0);
            rows.push(more);
        }
        Lines { axis, metrics, rows, line_of, functions: HashMap::new() }
    }

    fn empty(name: Name, axis: &TimeAxis, metrics: usize) -> TimelineRow {
        let series =
            || TimelineSeries { metric: String::new(), total: 0, bins: vec![0; axis.bins], idle: Vec::new() };
        TimelineRow {
            name,
            bins: vec![0; axis.bins],
            further: (1..metrics).map(|_| series()).collect(),
            ..TimelineRow::default()
        }
    }

    fn fill(
        &mut self,
        subject: &Subject<'_>,
        metrics: &[usize],
        idle: &[Option<IdleStacks<'_>>],
        moments: &Moments<'_>,
        keys: &RowKeys,
    ) {
        let samples = &subject.profile.samples;
        let is_idle = |number: usize, sample: usize| {
            idle[number].as_ref().is_some_and(|idle| idle.contain(samples.stack[sample]))
        };
        for sample in 0..samples.len() {
            let Some(moment) = moments.of(sample) else { continue };
            let line = self.line_of[keys.row(samples, sample)];
            let Some(row) = self.rows.get_mut(line) else { continue };
            for (number, &metric) in metrics.iter().enumerate() {
                let value = samples.values[metric][sample];
                if value == 0 {
                    continue;
                }
                let (total, bins, idle_bins) = match number.checked_sub(1) {
                    None => (&mut row.total, &mut row.bins, &mut row.idle),
                    Some(further) => {
                        let series = &mut row.further[further];
                        (&mut series.total, &mut series.bins, &mut series.idle)
                    }
                };
                *total += value;
                let spent = Moment { start: moment, end: moments.end(sample, metric, moment), value };
                spread(spent, self.axis, |bin, part| bins[bin] += part);
                if is_idle(number, sample) {
                    idle_bins.resize(self.axis.bins, 0);
                    spread(spent, self.axis, |bin, part| idle_bins[bin] += part);
                }
            }
            let value = samples.values[metrics[0]][sample];
            if let Some(&leaf) = subject.profile.stacks.frames(samples.stack[sample]).last()
                && value != 0
            {
                let function = (line, subject.keys.of_frame(leaf), is_idle(0, sample));
                *self.functions.entry(function).or_default() += value;
            }
        }
    }

    /// The rows, and the sum of those that were cut.
    fn finish(
        mut self,
        header: &Header,
        subject: &Subject<'_>,
        has_more: bool,
    ) -> (Vec<TimelineRow>, Option<TimelineRow>) {
        let mut heaviest: Vec<Option<(bool, i64, KeyId)>> = vec![None; self.rows.len()];
        for (&(line, key, is_idle), &value) in &self.functions {
            let name = |key: KeyId| Reverse(subject.keys.name(key));
            let weight = |(works, value, key): (bool, i64, KeyId)| (works, value.unsigned_abs(), name(key));
            let found = (!is_idle, value, key);
            if heaviest[line].is_none_or(|known| weight(found) > weight(known)) {
                heaviest[line] = Some(found);
            }
        }
        for (row, heaviest) in self.rows.iter_mut().zip(heaviest) {
            row.heaviest = heaviest.map(|(_, self_value, key)| TimelineFunction {
                name: subject.keys.name(key).clone(),
                self_value,
                total: None,
            });
            for (series, metric) in row.further.iter_mut().zip(header.metrics.iter().skip(1)) {
                series.metric.clone_from(&metric.metric.name);
            }
        }
        debug_assert!(self.rows.iter().all(|row| row.further.len() + 1 == self.metrics));
        let more = if has_more { self.rows.pop() } else { None };
        (self.rows, more)
    }
}
