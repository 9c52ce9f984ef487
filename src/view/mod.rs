//! Views: one file per view, with its options and a pure function from a profile to a report.

mod activity;
mod assembly;
mod chart;
mod diff;
mod facets;
mod find;
mod findings;
mod flame;
mod focus;
mod graph;
mod groups;
mod heatmap;
mod hot;
mod info;
mod labels;
mod lint;
mod page;
mod page_calls;
mod page_table;
mod per_event;
mod sort;
mod source;
mod stack_order;
mod timeline;
mod top;
mod traces;
mod tree;
mod trend;
mod types;
mod values;

pub use assembly::{BinaryCode, CodeSpot, NoAssembly, assembly};
pub use chart::{ChartOptions, chart};
pub use diff::{
    BudgetLimit, BudgetRule, BySideOptions, CallCounts, DiffOptions, DiffSides, DiffSort, NoOutliers,
    SampleSize, align_sides, by_side, check_budgets, count_calls, count_listed, diff, learn_noise,
    limit_by_side, limit_outliers, limit_rows, normalization_name, outliers, usual_normalization,
};
pub(crate) use diff::{Reconciled, align_owned_sides, reconcile_counts};
pub use find::NotFound;
pub use findings::findings;
pub use flame::{FlameOptions, SiblingOrder, flame};
pub use focus::{FocusOptions, focus};
pub use graph::{GraphOptions, graph};
pub use heatmap::{HeatmapOptions, heatmap};
pub use hot::{HotOptions, hot};
pub use info::{InfoSource, info};
pub use labels::{LabelsOptions, labels};
pub use lint::{lint, unfit, unfit_to_compare};
pub use page::{PageOptions, page};
pub use per_event::{companion, top_per_event, top_with_calls, tree_per_event, with_events};
pub use sort::{SORT_KEYS, Sort, SortKey, SortRow};
pub use source::{SourceOptions, SourceText, source};
pub use timeline::{NoTimeline, TimelineOptions, TimelineRows, timeline};
pub use top::{TopOptions, top};
pub use traces::{TracesOptions, traces};
pub use tree::{TreeOptions, bottom_up, tree};
pub use trend::{History, HistoryError, Snapshot, TrendOptions, TrendOrder, trend};
pub use types::types;

use self::activity::{Activity, nanoseconds};
use self::values::threshold;
use crate::kind::is_thread_time;
use crate::profile::{Column, Meta, Metric, Profile};
use crate::report::{
    Artefact, Base, Grouping, Header, Highlight, Message, MetricName, MetricTotal, Name, Recording,
    Rescaling, rescaled,
};
use crate::stats::effective::{are_multiples, greatest_common_divisor};
use crate::transform::{Marks, artefacts, foldable, waiting_of};
use crate::tree::{By, KeyCalls, KeyId, Subject, neighbours};
use crate::unit::{Family, Unit};

/// The defaults of the options of views: for the first metric, by function.
macro_rules! defaults {
    ($($options:ident),*) => {
        $(impl Default for $options {
            fn default() -> Self {
                $options::new(Scope::default())
            }
        })*
    };
}
defaults!(TopOptions, TreeOptions, GraphOptions, HotOptions, FlameOptions);

/// Options shared by all views that count: what to show, by which nodes, compared with what.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The numbers of the metrics to show, never empty. Rows are sorted by the first.
    pub metrics: Vec<usize>,
    /// What a node is: a function, a line, a file …
    pub by: By,
    /// The frames that match `--focus`: a bottom-up view starts only at these.
    pub focus: Option<Marks>,
    /// The callers of `--focus`, if the view shows them separately; the main profile then starts at the focus.
    pub callers: Option<Profile>,
    /// The old side to compare with, if there is one.
    pub base: Option<BaseSide>,
    /// Which rows to highlight.
    pub highlight: Option<Marking>,
}

/// The value of `--highlight`.
#[derive(Clone, Debug)]
pub struct Marking {
    /// The pattern as typed.
    pub pattern: String,
    /// The frames that match it.
    pub marks: Marks,
}

/// The old side of a comparison, as an additional metric of the profile.
#[derive(Clone, Debug, Default)]
pub struct BaseSide {
    /// The number of the metric that holds the values of the old side.
    pub metric: usize,
    /// How its values are rescaled for the comparison.
    pub normalize: Rescaling,
    /// What reports say about it, but for its sums.
    pub about: Base,
}

impl Default for Scope {
    /// The first metric, by function.
    fn default() -> Self {
        Scope::metric(0)
    }
}

impl Scope {
    /// One metric, by function.
    pub fn metric(metric: usize) -> Self {
        Scope {
            metrics: vec![metric],
            by: By::Function,
            focus: None,
            callers: None,
            base: None,
            highlight: None,
        }
    }

    /// Which nodes are highlighted, and their combined total.
    fn highlight(&self, subject: &Subject<'_>) -> Option<Highlight> {
        let Marking { pattern, marks } = self.highlight.as_ref()?;
        let mut marked = Column::<KeyId, bool>::filled(false, subject.keys.len());
        let (mut total, mut upper_bound) = (0, false);
        if let Some(calls) = &subject.profile.calls {
            for (_, frame) in calls.functions().filter(|&(_, frame)| marks.contain(frame)) {
                marked[subject.keys.of_frame(frame)] = true;
            }
            let counted = neighbours(subject, &marked, 0);
            let is_set = marked.iter().filter(|&&marked| marked).count() > 1;
            (total, upper_bound) = (counted.total, counted.is_called_back && is_set);
        }
        for (stack, &value) in subject.series[0].enumerate().filter(|(_, value)| **value != 0) {
            let frames = subject.profile.stacks.frames(stack);
            let matching = frames.iter().filter(|&&frame| marks.contain(frame));
            let mut is_touched = false;
            for &frame in matching {
                marked[subject.keys.of_frame(frame)] = true;
                is_touched = true;
            }
            total += if is_touched { value } else { 0 };
        }
        let mut names: Vec<Name> =
            subject.keys.ids().filter(|&key| marked[key]).map(|key| subject.keys.name(key).clone()).collect();
        names.sort_unstable();
        Some(Highlight { pattern: pattern.clone(), total, upper_bound, names })
    }

    fn subject<'p>(&self, profile: &'p Profile) -> Subject<'p> {
        let base = self.base.iter().map(|base| base.metric);
        let series: Vec<usize> = self.metrics.iter().copied().chain(base).collect();
        Subject::new(profile, &self.by, &series)
    }

    /// The counted profile, and the header of a report on it.
    fn open<'p>(&self, profile: &'p Profile, schema: &'static str) -> (Subject<'p>, Header) {
        let subject = self.subject(profile);
        let mut header = self.header(profile, schema);
        header.set_no_stack(&subject.no_stack());
        header.highlight = self.highlight(&subject);
        (subject, header)
    }

    /// A note on rows whose total is only an upper bound, for profiles of calls.
    fn note_of_bounds(&self, subject: &Subject<'_>) -> Option<Message> {
        let bounds = subject.calls.as_ref().map_or(0, KeyCalls::upper_bounds);
        let (one, several) = self.by.noun();
        let totals = match bounds {
            0 => return None,
            1 => format!("the total of 1 {one} is an upper bound"),
            _ => format!("the totals of {bounds} {several} are upper bounds"),
        };
        Some(Message::note(format!("{totals}, because of recursion through other {several}")))
    }

    /// What the profiler itself put at the end of stacks, as far as the samples shown have it there.
    fn artefacts(&self, profile: &Profile) -> Vec<Artefact> {
        let found = foldable(profile, &artefacts(profile), &self.metrics[..1]);
        found.into_iter().map(|(name, values)| Artefact { name, self_value: values[0] }).collect()
    }

    fn header(&self, profile: &Profile, schema: &'static str) -> Header {
        let total = |&metric: &usize| MetricTotal {
            metric: metric_name(profile, metric),
            total: profile.meta.metrics[metric].total,
            shown: profile.shown_total(metric),
            sum: profile.signed_total(metric),
            no_stack: 0,
            elided: 0,
        };
        let first = total(&self.metrics[0]);
        let several = self.metrics.len() > 1;
        let base = self.base.as_ref();
        let impossible = Activity::of(profile, self.metrics[0]).warning;
        Header {
            schema,
            metric: first.metric,
            total: first.total,
            shown: first.shown,
            sum: first.sum,
            profiles: profile.meta.profiles,
            warnings: warnings_of(profile)
                .chain(impossible.map(Message::note))
                .chain(note_of_negatives(profile, [self.metrics[0]]))
                .collect(),
            metrics: if several { self.metrics.iter().map(total).collect() } else { Vec::new() },
            base: base.map(|base| base_of(profile, base)),
            normalize: base.map(|base| base.normalize.clone()),
            artefacts: self.artefacts(profile),
            by: grouping(&self.by),
            recording: recording(profile, self.metrics[0]),
            ..Header::default()
        }
    }
}

#[cfg(test)]
impl Scope {
    /// The first metric, compared with the second as its old side.
    pub(crate) fn compared() -> Self {
        let base = BaseSide { metric: 1, ..BaseSide::default() };
        Scope { base: Some(base), ..Scope::metric(0) }
    }
}

/// What is wrong with a profile, and what is worth knowing about it.
fn warnings_of(profile: &Profile) -> impl Iterator<Item = Message> + '_ {
    let Meta { warnings, notes, .. } = &profile.meta;
    warnings.iter().map(Message::warning).chain(notes.iter().map(Message::note))
}

/// What shares mean where values below 0 take from the sum, as in the difference of two profiles.
fn note_of_negatives(profile: &Profile, metrics: impl IntoIterator<Item = usize>) -> Option<Message> {
    let metric = metrics.into_iter().find(|&metric| profile.has_negatives(metric))?;
    let name = &profile.meta.metrics[metric].name;
    Some(Message::note(format!(
        "some values of {name} are negative: 100% is what all would add up to without their signs"
    )))
}

/// Adds the note that a tree is an approximation, if the profile holds calls instead of stacks. A flat profile holds none.
fn approximate(header: &mut Header, profile: &Profile) {
    if profile.calls.as_ref().is_none_or(|calls| calls.edge_count() == 0) {
        return;
    }
    let text = "approximated from calls: a function's cost is divided among its callers in proportion to what each call cost".to_string();
    header.warnings.push(Message::note(text.clone()));
    header.approximation = Some(text);
}

/// What rows stand for, in one word: `function`, `label:route`.
pub fn grouping_name(by: &By) -> String {
    grouping(by).by.to_string()
}

/// What a row or a node of a view by `by` stands for.
fn grouping(by: &By) -> Grouping {
    let (one, several) = by.noun();
    let by = match by {
        By::Label(key) => format!("label:{key}").into(),
        By::Name => "name".into(),
        _ => one.into(),
    };
    Grouping { by, one, several }
}

/// What a report says about the old side.
fn base_of(profile: &Profile, side: &BaseSide) -> Base {
    let scaled = |value| rescaled(value, side.normalize.ratio);
    let (mut sum, mut no_stack) = (profile.shown_total(side.metric), 0);
    if profile.calls.is_none() {
        sum = profile.samples.values[side.metric].iter().sum();
        no_stack = profile.no_stack(side.metric);
    }
    Base {
        total: profile.meta.metrics[side.metric].total,
        sum: scaled(sum),
        no_stack: scaled(no_stack),
        ..side.about.clone()
    }
}

fn metric_name(profile: &Profile, number: usize) -> MetricName {
    let metric = &profile.meta.metrics[number];
    MetricName {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        divisor: metric.divisor,
        resolution: resolution(profile, number),
    }
}

/// The common divisor of all values of a metric, if it matters. Time counted in ticks of 10.1ms is
/// accurate to about 10ms, so further digits of the ticks are ignored.
fn resolution(profile: &Profile, metric: usize) -> Option<i64> {
    let shown = &profile.meta.metrics[metric];
    let family = Unit::parse(&shown.unit).family();
    if !matches!(family, Family::Bytes | Family::Time) || profile.calls.is_some() || shown.too_large {
        return None;
    }
    let mut common = shown.total.unsigned_abs();
    for value in profile.samples.values[metric].iter().map(|value| value.unsigned_abs()) {
        if common == 1 {
            break;
        }
        common = greatest_common_divisor(value, common);
    }
    let common = i64::try_from(common).ok().filter(|&common| common > 0)?;
    let period = profile.meta.period_of(metric).unwrap_or(0);
    let is_ticks = family == Family::Time && period > 0 && common % period == 0;
    Some(if is_ticks { 10_i64.pow(period.ilog10()) } else { common })
}

/// What is known about the recording of a metric.
pub fn recording(profile: &Profile, metric: usize) -> Recording {
    let meta = &profile.meta;
    let shown = &meta.metrics[metric];
    let is_time = Unit::parse(&shown.unit).family() == Family::Time;
    let period = meta.period_of(metric).filter(|_| is_time);
    let activity = Activity::of(profile, metric);
    Recording {
        time_ns: meta.time_ns,
        duration_ns: activity.duration_ns,
        samples: samples(profile, metric),
        period_ns: period.and_then(|period| nanoseconds(period, &shown.unit, 1)),
        busy: activity.busy(),
        idle: activity.idle(),
        waits_recorded: waiting_of(&meta.metrics, metric).is_some(),
        thread_time: is_thread_time(&shown.name, meta.format),
        latency: meta.is_latency,
    }
}

/// How many samples a metric is worth, if that is known apart from its values.
fn effective_samples(metric: &Metric) -> Option<i64> {
    metric.effective_samples.and_then(|samples| i64::try_from(samples).ok())
}

/// How many samples were taken of a metric: the sum of the metric that counts them, else the number that the profile tells, else
/// the total divided by the period.
///
/// A recording of Java may have allocations next to CPU time, and count only the samples of CPU time.
fn samples(profile: &Profile, metric: usize) -> Option<i64> {
    let meta = &profile.meta;
    let shown = &meta.metrics[metric];
    let counts = |metric: &&Metric| matches!(metric.name.as_str(), "samples" | "sample" | "events");
    if counts(&shown) {
        return effective_samples(shown);
    }
    if let Some(number) = meta.metrics.iter().position(|metric| counts(&metric)) {
        let count = &meta.metrics[number];
        // A profile of calls has no samples.
        let values = |number: usize| profile.samples.values.get(number).into_iter().flatten();
        let counts_all = values(metric).zip(values(number)).all(|(&value, &count)| value == 0 || count != 0);
        // Where each row is a sample of one of several events, those of the others do not count.
        let is_each_one = u64::try_from(count.total).is_ok_and(|total| total == count.rows);
        let has_others = meta.metrics.len() > 2;
        let samples = if is_each_one && has_others { shown.rows as i64 } else { count.total };
        return (counts_all && !count.too_large && count.divisor == 1).then_some(samples);
    }
    if let Some(counted) = effective_samples(shown).filter(|_| !meta.is_latency) {
        return Some(counted);
    }
    let period = meta.period_of(metric)?;
    let count = (period > 1 && shown.divisor == 1).then(|| shown.total / period)?;
    // Some recorders write a wrong period: there are at least as many samples as rows. Where weights are the time that passed,
    // as austin measures it, a period is no sample.
    let weights = || profile.samples.values.get(metric).into_iter().flatten().copied();
    let is_possible = u64::try_from(count).is_ok_and(|count| count >= shown.rows);
    (is_possible && are_multiples(weights(), period)).then_some(count)
}
