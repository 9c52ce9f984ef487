//! When threads were running, and which part of each sample counts because of that.

use hashbrown::HashMap;

use crate::kind;
use crate::profile::{Column, LabelSetId, LabelValue, Lengths, Profile, WAITS};
use crate::transform::idle::idle_stacks;
use crate::transform::interval::{quantile, sampling_interval};
use crate::transform::labels::THREAD_KEYS;

/// The thread with this number is that of an idle processor in recordings of perf.
const IDLE_THREAD: i64 = 0;

/// The thread of each set of labels.
pub(super) struct Threads {
    of_set: Column<LabelSetId, u32>,
    of_tid: HashMap<i64, u32>,
    count: usize,
    /// The thread that stands for idle processors, if there is one.
    idle: Option<u32>,
}

impl Threads {
    /// `None` if no sample has a thread. Threads may change their names, so those with a number are told apart by that.
    pub(super) fn of(profile: &Profile) -> Option<Self> {
        let mut threads = Threads { of_set: Column::new(), of_tid: HashMap::new(), count: 0, idle: None };
        let mut numbers: HashMap<[Option<LabelValue>; 3], u32> = HashMap::new();
        for set in profile.label_sets.ids() {
            let [thread, tid, process] = THREAD_KEYS.map(|key| profile.label(set, key));
            let key = [thread.filter(|_| tid.is_none()), tid, process];
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(key).or_insert(next);
            threads.of_set.push(number);
            let tid = tid.and_then(|tid| match tid {
                LabelValue::Text(text) => profile.symbols.strings.get(text).parse().ok(),
                LabelValue::Number(number, _) => Some(number),
            });
            if let Some(tid) = tid {
                threads.of_tid.insert(tid, number);
                threads.idle = threads.idle.or((tid == IDLE_THREAD).then_some(number));
            }
        }
        threads.count = numbers.len();
        let is_known = numbers.keys().any(|[thread, tid, _]| thread.is_some() || tid.is_some());
        is_known.then_some(threads)
    }

    fn of_row(&self, profile: &Profile, row: usize) -> u32 {
        self.of_set[profile.samples.labels[row]]
    }
}

/// A range of time: where it begins, and where it is over.
type Span = (i64, i64);

/// A wait.
struct Wait {
    row: usize,
    thread: u32,
    span: Span,
}

/// When threads were running.
pub(super) struct Running {
    /// For each thread, the spans in which it was running, in order.
    spans: Vec<Vec<Span>>,
    waits: Vec<Wait>,
}

impl Running {
    /// If the recording has CPU time, only samples with CPU time are taken on running threads.
    pub(super) fn of(profile: &Profile, threads: &Threads) -> Self {
        let waits = waits(profile, threads);
        let sampled = Sampled::of(profile, threads, &waits);
        let mut spans = sampled.spans(threads.count);
        let mut waits_of = vec![Vec::new(); threads.count];
        for wait in &waits {
            waits_of[wait.thread as usize].push(wait.span);
        }
        for (spans, waits) in spans.iter_mut().zip(waits_of).filter(|(_, waits)| !waits.is_empty()) {
            *spans = without(spans, &united(waits));
        }
        for (tid, Switched { spans: mut known, since }) in switched(profile) {
            let sampled = threads.of_tid.get(&tid).map(|&thread| &mut spans[thread as usize]);
            // The last thing that is known of a thread which did not leave is its last sample.
            let until = sampled.as_ref().and_then(|spans| Some(spans.last()?.1)).unwrap_or(i64::MIN);
            known.extend(since.map(|since| (since, until.max(since.saturating_add(1)))));
            match sampled {
                Some(spans) => *spans = known,
                // It ran too briefly to be sampled.
                None => spans.push(known),
            }
        }
        Running { spans, waits }
    }

    /// The share of each sample. With `counts_waits`, threads that wait count as well.
    pub(super) fn shares(&self, profile: &Profile, threads: &Threads, counts_waits: bool) -> Shares {
        let mut edges: Vec<Edge> = Vec::new();
        for (spans, thread) in self.spans.iter().zip(0..) {
            edges.extend(spans.iter().flat_map(|&span| edges_of(span, thread)));
        }
        if counts_waits {
            edges.extend(self.waits.iter().flat_map(|wait| edges_of(wait.span, wait.thread)));
        }
        edges.sort_unstable();
        let sweep = || Sweep::new(&edges, self.spans.len(), counts_waits);
        let rows = &profile.samples;
        let mut order: Vec<(i64, usize)> =
            (0..rows.len()).filter_map(|row| Some((rows.time_of(row)?, row))).collect();
        order.sort_unstable();
        let mut shares = Shares { threads: vec![1; rows.len()], ..Shares::default() };
        let mut moment = sweep();
        for (time, row) in order {
            moment.advance(time);
            shares.threads[row] = moment.with(threads.of_row(profile, row));
        }
        let ends = |(number, wait): (usize, &Wait)| [(wait.span.0, number), (wait.span.1, number)];
        let mut bounds: Vec<(i64, usize)> = self.waits.iter().enumerate().flat_map(ends).collect();
        bounds.sort_unstable();
        let mut began: Vec<Option<u128>> = vec![None; self.waits.len()];
        let mut moment = sweep();
        for (time, number) in bounds {
            moment.advance(time);
            let Wait { row, span: (from, to), .. } = self.waits[number];
            match began[number] {
                None => began[number] = Some(moment.passed),
                Some(before) => {
                    let part = (moment.passed - before) / u128::from(to.abs_diff(from).max(1));
                    shares.waits.insert(row, u64::try_from(part).unwrap_or(u64::MAX));
                }
            }
        }
        shares
    }
}

/// What part of each sample counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// For each sample, on how many threads the program was running, its own included.
    pub(super) threads: Vec<u32>,
    /// For waits, by the number of the sample, the mean of 1 ÷ this number while they lasted, in parts of [`WHOLE`].
    pub(super) waits: HashMap<usize, u64>,
}

/// What 1 is in [`Shares::of_wait`].
pub(super) const WHOLE: u128 = 1 << 60;

impl Shares {
    /// The part of a sample that counts, in parts of [`WHOLE`], if it is a wait.
    pub(super) fn of_wait(&self, row: usize) -> Option<u64> {
        if self.waits.is_empty() { None } else { self.waits.get(&row).copied() }
    }
}

/// The waits of a recording.
fn waits(profile: &Profile, threads: &Threads) -> Vec<Wait> {
    let metrics = profile.meta.metrics.iter().zip(&profile.samples.values);
    let lengths: Vec<(Lengths, &Vec<i64>)> = metrics
        .filter(|(metric, _)| WAITS.contains(&&*metric.name))
        .filter_map(|(metric, values)| Some((Lengths::of(metric)?, values)))
        .collect();
    if lengths.is_empty() {
        return Vec::new();
    }
    let wait = |row: usize| {
        let from = profile.samples.time_of(row)?;
        let length = lengths.iter().map(|(lengths, values)| lengths.length(values[row])).max()?;
        let span = (from, from.saturating_add(length));
        (span.1 > from).then(|| Wait { row, thread: threads.of_row(profile, row), span })
    };
    (0..profile.samples.len()).filter_map(wait).collect()
}

/// The samples of running threads.
struct Sampled {
    /// In order of time: when, and on which thread.
    samples: Vec<(i64, u32)>,
    /// The time between two samples of a thread that keeps running.
    interval: i64,
}

impl Sampled {
    fn of(profile: &Profile, threads: &Threads, waits: &[Wait]) -> Self {
        let metrics = &profile.meta.metrics;
        let cpu = metrics.iter().position(|metric| kind::is(&metric.name, "cpu"));
        let counted: Vec<usize> = cpu.map_or_else(|| (0..metrics.len()).collect(), |cpu| vec![cpu]);
        let idle = counted.first().and_then(|&metric| idle_stacks(profile, metric));
        let rows = &profile.samples;
        let mut is_wait = vec![false; if waits.is_empty() { 0 } else { rows.len() }];
        for wait in waits {
            is_wait[wait.row] = true;
        }
        let is_running = |&row: &usize| {
            counted.iter().any(|&metric| rows.values[metric][row] != 0)
                && is_wait.get(row) != Some(&true)
                && Some(threads.of_row(profile, row)) != threads.idle
                && !idle.as_ref().is_some_and(|idle| idle.contain(rows.stack[row]))
        };
        let sample = |row: usize| Some((rows.time_of(row)?, threads.of_row(profile, row)));
        let mut samples: Vec<(i64, u32)> = (0..rows.len()).filter(is_running).filter_map(sample).collect();
        samples.sort_unstable();
        let lengths = cpu.and_then(|cpu| Some((cpu, Lengths::of(&metrics[cpu])?)));
        let length = lengths.and_then(|(cpu, lengths)| {
            let values = rows.values[cpu].iter().filter(|&&value| value != 0);
            quantile(values.map(|&value| lengths.length(value)).collect(), 2)
        });
        let interval = sampling_interval(gaps(&samples, threads.count), length).unwrap_or(0);
        Sampled { samples, interval }
    }

    /// For each thread, the moments in whose window it has a sample. A window is one interval long, with the moment in its middle.
    fn spans(&self, threads: usize) -> Vec<Vec<Span>> {
        let after = self.interval / 2 + 1;
        // With an unknown interval, the window is the moment of the sample.
        let before = self.interval.max(1) - after;
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); threads];
        for &(time, thread) in &self.samples {
            let (from, to) = (time.saturating_sub(before), time.saturating_add(after));
            match spans[thread as usize].last_mut() {
                Some(last) if last.1 >= from => last.1 = to,
                _ => spans[thread as usize].push((from, to)),
            }
        }
        spans
    }
}

/// The gaps between samples of the same thread, which are in order of time.
fn gaps(samples: &[(i64, u32)], threads: usize) -> Vec<i64> {
    let mut previous: Vec<Option<i64>> = vec![None; threads];
    let mut gaps = Vec::new();
    for &(time, thread) in samples {
        let before = previous[thread as usize].replace(time);
        gaps.extend(before.map(|before| time.saturating_sub(before)).filter(|&gap| gap > 0));
    }
    gaps
}

/// When a thread had a processor.
#[derive(Default)]
struct Switched {
    spans: Vec<Span>,
    /// Since when it has one, if it did not leave it.
    since: Option<i64>,
}

/// When threads had a processor, by their numbers, as far as context switches were recorded. A thread that leaves first had one from
/// the start.
fn switched(profile: &Profile) -> HashMap<i64, Switched> {
    let mut threads: HashMap<i64, Switched> = HashMap::new();
    for switch in profile.meta.switches.iter().filter(|switch| switch.tid != IDLE_THREAD) {
        let had_one = || Switched { since: Some(i64::MIN).filter(|_| !switch.runs), ..Switched::default() };
        let thread = threads.entry(switch.tid).or_insert_with(had_one);
        if switch.runs {
            thread.since = thread.since.or(Some(switch.time));
        } else if let Some(since) = thread.since.take() {
            thread.spans.extend((since < switch.time).then_some((since, switch.time)));
        }
    }
    threads
}

/// Spans that may overlap as such that do not, in order.
fn united(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut united: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match united.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => united.push((from, to)),
        }
    }
    united
}

/// What is left of spans without some holes. Both are in order.
fn without(spans: &[Span], holes: &[Span]) -> Vec<Span> {
    let mut left = Vec::new();
    let mut holes = holes.iter().peekable();
    for &(mut from, to) in spans {
        while holes.next_if(|hole| hole.1 <= from).is_some() {}
        while let Some(&&(start, end)) = holes.peek().filter(|hole| hole.0 < to) {
            left.extend((from < start).then_some((from, start)));
            from = from.max(end);
            if end > to {
                break;
            }
            holes.next();
        }
        left.extend((from < to).then_some((from, to)));
    }
    left
}

/// When a thread starts or stops running: the time, whether it starts, and its number. What stops comes before what starts.
type Edge = (i64, bool, u32);

fn edges_of((from, to): Span, thread: u32) -> [Edge; 2] {
    [(from, true, thread), (to, false, thread)]
}

/// A moment that goes from the start of a recording to its end.
struct Sweep<'e> {
    edges: std::slice::Iter<'e, Edge>,
    /// How many spans of each thread the moment is in.
    spans_of: Vec<u32>,
    /// How many threads are running.
    running: u32,
    counts_waits: bool,
    now: i64,
    /// The sum of 1 ÷ the number of threads over the time so far, in parts of [`WHOLE`]. For a thread that waits, its own is
    /// one of these.
    passed: u128,
}

impl<'e> Sweep<'e> {
    fn new(edges: &'e [Edge], threads: usize, counts_waits: bool) -> Self {
        let spans_of = vec![0; threads];
        Sweep { edges: edges.iter(), spans_of, running: 0, counts_waits, now: i64::MIN, passed: 0 }
    }

    /// Goes on to a time that is not earlier.
    fn advance(&mut self, time: i64) {
        while let Some(&(at, starts, thread)) = self.edges.as_slice().first().filter(|edge| edge.0 <= time) {
            self.edges.next();
            self.pass(at);
            let spans = &mut self.spans_of[thread as usize];
            if starts {
                self.running += u32::from(*spans == 0);
                *spans += 1;
            } else {
                *spans -= 1;
                self.running -= u32::from(*spans == 0);
            }
        }
        self.pass(time);
    }

    fn pass(&mut self, time: i64) {
        let threads = if self.counts_waits { self.running.max(1) } else { self.running + 1 };
        self.passed += u128::from(time.abs_diff(self.now)) * WHOLE / u128::from(threads);
        self.now = time;
    }

    /// How many threads are running, this one included.
    fn with(&self, thread: u32) -> u32 {
        self.running + u32::from(self.spans_of[thread as usize] == 0)
    }
}
