//! Phases: stretches of time in which the mix of functions stays the same.
//!
//! The recording is cut into bins, and the share of each of the heaviest functions in each bin is a series. Where such a
//! series changes its level for good ([`steps`]), the mix changes. A change counts if it moves the share of some function by
//! [`LEAST_CHANGE`].

use std::ops::Range;

use crate::profile::{Column, Profile, StackId};
use crate::report::{Pair, TimeAxis, TimelineFunction, TimelinePhase};
use crate::stats::steps::{StepSearch, levels, steps};
use crate::tree::{Flat, KeyId, Subject, flat};
use crate::unit::moment;
use crate::view::timeline::axis::{Moment, bin_at, edge, spread};
use crate::view::timeline::moments::Moments;

/// The largest number of bins.
const BINS: usize = 100;

/// Shares of fewer samples than this say little, so a short recording has fewer bins.
const SAMPLES_IN_BIN: usize = 10;

/// The fewest bins in which a change can be found.
const LEAST_BINS: usize = 8;

/// The largest number of functions that are followed; one bit of a number each.
const FUNCTIONS: usize = 16;

/// The probability of a false alarm in a recording whose mix does not change.
const ALPHA: f64 = 0.01;

/// The smallest change of the share of a function that separates two phases.
const LEAST_CHANGE: f64 = 0.1;

/// A change of a share is real if it is so many times its standard error.
const ERRORS: f64 = 4.0;

/// A function with a smaller share of a phase says little about it.
const LEAST_SPECIAL: f64 = 0.2;

/// The fewest bins of a phase.
const LEAST_PHASE: usize = 3;

/// The phases of a recording, in order; a single one if its mix does not change, none if it has no samples.
pub(super) fn phases(
    subject: &Subject<'_>,
    metric: usize,
    moments: &Moments<'_>,
    command: &str,
) -> Vec<TimelinePhase> {
    let samples = &subject.profile.samples;
    let values = &samples.values[metric];
    let count =
        (0..samples.len()).filter(|&sample| values[sample] != 0 && moments.of(sample).is_some()).count();
    if count == 0 {
        return Vec::new();
    }
    let axis = moments.axis((count / SAMPLES_IN_BIN).clamp(1, BINS));
    let counted = flat(subject);
    let followed = Followed::new(subject, &counted);
    let binned = Binned::new(subject.profile, metric, moments, &axis, &followed);
    let mut begins = vec![false; axis.bins];
    for sample in (0..samples.len()).filter(|&sample| values[sample] != 0) {
        moments.of(sample).into_iter().for_each(|moment| begins[bin_at(&axis, moment)] = true);
    }
    let parts = parts(&changes(&binned), &begins);
    let parts = PhaseValues { subject, metric, moments, axis: &axis, followed: &followed, parts: &parts };
    parts.phases(command)
}

/// The functions whose shares are followed.
struct Followed {
    keys: Vec<KeyId>,
    /// For each stack, which of these are on it, one bit each.
    on_stack: Column<StackId, u16>,
}

impl Followed {
    /// Those whose share says the most: a function that is always or never on the stack says nothing.
    fn new(subject: &Subject<'_>, counted: &Flat) -> Self {
        let total = &counted.total[0];
        let whole = subject.series[0].iter().map(|value| value.unsigned_abs() as f64).sum::<f64>().max(1.0);
        let information = |key: KeyId| {
            let share = total[key].unsigned_abs() as f64 / whole;
            share * (1.0 - share)
        };
        let mut keys: Vec<KeyId> =
            subject.keys.ids().filter(|&key| information(key) > LEAST_INFORMATION).collect();
        keys.sort_by(|&a, &b| {
            information(b)
                .total_cmp(&information(a))
                .then_with(|| subject.keys.name(a).cmp(subject.keys.name(b)))
        });
        // Functions of one total are mostly callers of one another.
        keys.dedup_by_key(|key| total[*key]);
        keys.truncate(FUNCTIONS);
        let bit = |key: KeyId| keys.iter().position(|&other| other == key).map_or(0, |place| 1_u16 << place);
        let bits: Column<KeyId, u16> = std::iter::once(0).chain(subject.keys.ids().map(bit)).collect();
        let on_stack = subject
            .profile
            .stacks
            .ids()
            .map(|stack| subject.stack_keys(stack).fold(0, |all, key| all | bits[key]));
        Followed { on_stack: on_stack.collect(), keys }
    }
}

/// What a share of 1 % has: less says nothing about the mix.
const LEAST_INFORMATION: f64 = 0.01;

/// The values of the followed functions, bin by bin.
struct Binned {
    /// How many samples there are in each bin.
    samples: Vec<f64>,
    total: Vec<f64>,
    functions: Vec<Vec<f64>>,
}

impl Binned {
    fn new(
        profile: &Profile,
        metric: usize,
        moments: &Moments<'_>,
        axis: &TimeAxis,
        followed: &Followed,
    ) -> Self {
        let samples = &profile.samples;
        let none = vec![0.0; axis.bins];
        let functions = vec![none.clone(); followed.keys.len()];
        let mut binned = Binned { samples: none.clone(), total: none, functions };
        for sample in 0..samples.len() {
            let value = samples.values[metric][sample].saturating_abs();
            let Some(start) = moments.of(sample).filter(|_| value != 0) else { continue };
            let end = moments.end(sample, metric, start);
            let bits = followed.on_stack[samples.stack[sample]];
            spread(Moment { start, end, value }, axis, |bin, part| {
                binned.samples[bin] += 1.0;
                binned.total[bin] += part as f64;
                for function in places(bits) {
                    binned.functions[function][bin] += part as f64;
                }
            });
        }
        binned
    }

    /// The share of a function in some bins.
    fn share(&self, function: usize, bins: Range<usize>) -> f64 {
        let total: f64 = self.total[bins.clone()].iter().sum();
        let own: f64 = self.functions[function][bins].iter().sum();
        if total > 0.0 { own / total } else { 0.0 }
    }

    /// How much the mix differs between two stretches that meet: the largest difference of the shares of a function, in
    /// parts of the difference that counts. A bin at the edge of a phase may belong to two, so it is left out.
    fn difference(&self, one: Range<usize>, other: Range<usize>) -> f64 {
        let inner = |bins: Range<usize>| if bins.len() < 3 { bins } else { bins.start + 1..bins.end - 1 };
        let (one, other) = (inner(one), inner(other));
        let sum = |values: &[f64], bins: &Range<usize>| values[bins.clone()].iter().sum::<f64>();
        let [few, many] = [&one, &other].map(|bins| sum(&self.samples, bins).max(1.0));
        let of = |function: usize| {
            let [a, b] = [&one, &other].map(|bins| self.share(function, bins.clone()));
            let both = (a * few + b * many) / (few + many);
            let error = (both * (1.0 - both) * (1.0 / few + 1.0 / many)).sqrt();
            (a - b).abs() / LEAST_CHANGE.max(ERRORS * error)
        };
        (0..self.functions.len()).map(of).fold(0.0, f64::max)
    }
}

/// The numbers of the bits that are set.
fn places(bits: u16) -> impl Iterator<Item = usize> {
    (0..FUNCTIONS).filter(move |place| bits >> place & 1 == 1)
}

/// The bins with which a new phase begins, in order.
fn changes(binned: &Binned) -> Vec<usize> {
    // Nothing ran in the other bins, so they have no mix.
    let busy: Vec<usize> = (0..binned.total.len()).filter(|&bin| binned.total[bin] > 0.0).collect();
    if busy.len() < LEAST_BINS || binned.functions.is_empty() {
        return Vec::new();
    }
    let search = StepSearch { least: LEAST_PHASE, ..StepSearch::new(ALPHA, binned.functions.len()) };
    // The place of a change in `busy`, and how large it is.
    let mut found: Vec<(usize, f64)> = Vec::new();
    for values in &binned.functions {
        let shares: Vec<f64> = busy.iter().map(|&bin| values[bin] / binned.total[bin]).collect();
        let steps = steps(&shares, &search);
        let sizes =
            levels(&shares, &steps).windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect::<Vec<_>>();
        found.extend(steps.iter().map(|step| step.at).zip(sizes));
    }
    // Several functions change at once; the one that changes the most says where.
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut edges: Vec<usize> = Vec::new();
    for (at, _) in found {
        if edges.iter().all(|edge| edge.abs_diff(at) >= LEAST_PHASE) {
            edges.push(at);
        }
    }
    edges.sort_unstable();
    let mut edges: Vec<usize> = edges.into_iter().map(|at| busy[at]).collect();
    remove_small(binned, &mut edges);
    edges
}

/// The bins of each phase. One in which no sample begins, although earlier ones last until then, belongs to the one before
/// it, because `--from` and `--to` would select nothing.
fn parts(edges: &[usize], begins: &[bool]) -> Vec<Range<usize>> {
    let whole = 0..begins.len();
    let mut parts = Vec::from([whole]);
    for &edge in edges {
        let last = parts.len() - 1;
        let before = parts[last].start;
        if begins[before..edge].contains(&true) && begins[edge..].contains(&true) {
            parts[last].end = edge;
            parts.push(edge..begins.len());
        }
    }
    parts
}

/// Removes changes that are too small to matter, the smallest first.
fn remove_small(binned: &Binned, edges: &mut Vec<usize>) {
    loop {
        let size = |place: usize| {
            let start = place.checked_sub(1).map_or(0, |before| edges[before]);
            let end = edges.get(place + 1).copied().unwrap_or(binned.total.len());
            binned.difference(start..edges[place], edges[place]..end)
        };
        let smallest = (0..edges.len()).map(|place| (place, size(place))).min_by(|a, b| a.1.total_cmp(&b.1));
        match smallest {
            Some((place, size)) if size < 1.0 => drop(edges.remove(place)),
            _ => return,
        }
    }
}

/// Counts what was spent in each phase, as `--from` and `--to` select it.
struct PhaseValues<'t, 'p> {
    subject: &'t Subject<'p>,
    metric: usize,
    moments: &'t Moments<'p>,
    axis: &'t TimeAxis,
    followed: &'t Followed,
    /// The bins of each phase.
    parts: &'t [Range<usize>],
}

impl PhaseValues<'_, '_> {
    fn phases(&self, command: &str) -> Vec<TimelinePhase> {
        let by_stack = self.values_by_stack();
        let totals: Vec<i64> = by_stack.iter().map(|values| values.iter().sum()).collect();
        let shares: Vec<Vec<Pair>> = by_stack.iter().map(|values| self.pairs(values)).collect();
        let phase = |place: usize| {
            let (from_ns, to_ns) = self.ends(place);
            let function = self.special(place, &shares, &totals).or_else(|| self.heaviest(&by_stack[place]));
            let is_round = to_ns < self.axis.to_ns || self.moments.to() == Some(to_ns);
            let end = if is_round { to_ns } else { self.axis.round_end() };
            let range = format!("--from {} --to {}", moment(from_ns), moment(end));
            let command = format!("prof top {range} {command}");
            TimelinePhase {
                from_ns,
                to_ns,
                total: totals[place],
                function,
                command: command.trim_end().into(),
            }
        };
        (0..self.parts.len()).map(phase).collect()
    }

    /// Where a phase begins and ends. The last one ends with what is shown.
    fn ends(&self, place: usize) -> (i64, i64) {
        let part = &self.parts[place];
        let is_last = place + 1 == self.parts.len();
        let to = if is_last { self.axis.to_ns } else { edge(self.axis, part.end) };
        (edge(self.axis, part.start), to)
    }

    /// For each phase, the value of every stack.
    fn values_by_stack(&self) -> Vec<Column<StackId, i64>> {
        let samples = &self.subject.profile.samples;
        let mut phase_of = vec![0; self.axis.bins];
        for (phase, bins) in self.parts.iter().enumerate() {
            phase_of[bins.clone()].fill(phase);
        }
        let empty = Column::filled(0, self.subject.profile.stacks.len());
        let mut values = vec![empty; self.parts.len()];
        let lasts = self.moments.lasts(self.metric);
        for sample in 0..samples.len() {
            let value = samples.values[self.metric][sample];
            let Some(start) = self.moments.of(sample).filter(|_| value != 0) else { continue };
            let end = if lasts { self.moments.end(sample, self.metric, start) } else { start };
            spread(Moment { start, end, value }, self.axis, |bin, part| {
                values[phase_of[bin]][samples.stack[sample]] += part;
            });
        }
        values
    }

    /// Self and total of the followed functions.
    fn pairs(&self, values: &Column<StackId, i64>) -> Vec<Pair> {
        let mut pairs = vec![Pair::default(); self.followed.keys.len()];
        for (stack, &value) in values.enumerate().filter(|(_, value)| **value != 0) {
            for place in places(self.followed.on_stack[stack]) {
                pairs[place].total += value;
                let leaf = self.subject.stack_keys(stack).next_back();
                pairs[place].self_value += if leaf == Some(self.followed.keys[place]) { value } else { 0 };
            }
        }
        pairs
    }

    /// The function that sets a phase apart: of those that have a much larger share in it than in the phases next to it, the
    /// one with the largest share.
    fn special(&self, place: usize, pairs: &[Vec<Pair>], totals: &[i64]) -> Option<TimelineFunction> {
        let share = |phase: usize, function: usize| {
            if totals[phase] == 0 { 0.0 } else { pairs[phase][function].total as f64 / totals[phase] as f64 }
        };
        let next = [place.checked_sub(1), (place + 1 < self.parts.len()).then_some(place + 1)];
        let more = |function: usize| {
            let around = next.iter().flatten().map(|&phase| share(phase, function));
            share(place, function) - around.fold(0.0, f64::max)
        };
        let functions = 0..self.followed.keys.len();
        let most = functions.clone().map(more).fold(0.0, f64::max);
        if self.parts.len() < 2 || most < LEAST_CHANGE / 2.0 {
            return None;
        }
        let is_special =
            |&function: &usize| more(function) >= most / 2.0 && share(place, function) >= LEAST_SPECIAL;
        let candidates = functions.filter(is_special);
        let function =
            candidates.max_by_key(|&function| (pairs[place][function].total, std::cmp::Reverse(function)))?;
        let Pair { self_value, total } = pairs[place][function];
        Some(TimelineFunction {
            name: self.subject.keys.name(self.followed.keys[function]).clone(),
            self_value,
            total: Some(total),
        })
    }

    /// The function with the largest self.
    fn heaviest(&self, values: &Column<StackId, i64>) -> Option<TimelineFunction> {
        let mut own = Column::<KeyId, i64>::filled(0, self.subject.keys.len());
        let mut total = own.clone();
        for (stack, &value) in values.enumerate().filter(|(_, value)| **value != 0) {
            if let Some(leaf) = self.subject.stack_keys(stack).next_back() {
                own[leaf] += value;
            }
        }
        let key =
            self.subject.keys.ids().max_by_key(|&key| (own[key].unsigned_abs(), std::cmp::Reverse(key)))?;
        for (stack, &value) in values.enumerate().filter(|(_, value)| **value != 0) {
            if self.subject.stack_keys(stack).any(|other| other == key) {
                total[key] += value;
            }
        }
        let name = self.subject.keys.name(key).clone();
        (own[key] != 0).then(|| TimelineFunction { name, self_value: own[key], total: Some(total[key]) })
    }
}
