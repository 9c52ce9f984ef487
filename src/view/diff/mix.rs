//! The mix of work: more requests of one kind and fewer of another are no change of the code.
//!
//! Kinds of work are told apart by a label, or else by what a common caller calls. If the code of a kind all grew alike,
//! there was more work of that kind. The sides are then compared as if both had done the same amount of each kind.

use hashbrown::{HashMap, HashSet};

use crate::name::is_library;
use crate::parallel;
use crate::pattern::is_collector;
use crate::profile::{Column, Id, LabelSetId, LabelValue, MOST_KINDS, Profile, StackId, StringId};
use crate::report::{CauseKind, DiffCause, MixChange, MixKind, Name, TotalGrowth};
use crate::stats::compare::Comparison;
use crate::stats::dispersion::RunCounts;
use crate::stats::mix::{WorkRatio, work_ratio};
use crate::stats::{CountKind, Normalization, SampleUnit, Verdict};
use crate::tree::{By, Flat, KeyId, SeenKeys, Subject, flat};
use crate::view::diff::options::{DiffSides, usual_normalization};
use crate::view::diff::sample_size::SampleSize;

/// A label tells kinds of work if this part of both sides has it, from 0 to 1.
const LEAST_LABELLED: f64 = 0.5;
/// A caller hands out work if it is in this part of both sides, from 0 to 1 …
const LEAST_HANDED_OUT: f64 = 0.5;
/// … and does no more than this part of it by itself.
const MOST_OWN: f64 = 0.05;
/// So many callers are examined.
const MOST_CALLERS: usize = 16;
/// Less change of a kind of work than this, on a logarithmic scale, may be noise.
const LEAST_CHANGE: f64 = 0.1;
/// Changes of less than this fraction of the old total do not matter.
const LEAST_EFFECT: f64 = 0.01;
/// The number of standard errors that a change of a kind of work must exceed.
const ERRORS: f64 = 4.0;
/// A function belongs to one kind of work if this part of its total does, from 0 to 1.
const NEARLY_ALL: f64 = 0.95;
/// A function has most of a kind of work if it has at least this part of it, from 0 to 1.
const MOST_OF_KIND: f64 = 0.5;
/// A collector that has so many times more to do than the work that grew is not explained by that.
const FAR_MORE: f64 = 2.0;
/// If the standard error of a growth, on a logarithmic scale, is larger than this, the growth says nothing.
const TOO_UNCERTAIN: f64 = 0.3;
/// Labels that tell threads rather than requests. The code of one thread is often called from one place, so more work of
/// a thread may well be code that is called more often.
const THREADS: &[&str] = &["thread", "tid", "process", "pid", "thread_id", "thread_name"];

/// A change of the mix, and the sides as if it had not changed.
pub(super) struct Mix<'p> {
    /// What changed.
    pub(super) change: MixChange,
    /// How it explains the growth.
    pub(super) cause: DiffCause,
    /// How much more the new side costs.
    pub(super) growth: TotalGrowth,
    /// The sides with equal amounts of each kind of work.
    pub(super) subject: Subject<'p>,
    pub(super) counted: Flat,
    /// How much of its values makes one sample.
    pub(super) size: SampleSize,
    /// The number of profiles of both sides.
    runs: usize,
    /// How costs compare if only the number of runs differs: with this, the mix shows as changes of functions.
    pub(super) recorded: Normalization,
}

impl Mix<'_> {
    /// The ratio of the totals with equal amounts of each kind of work; the first `old` profiles are the old side.
    pub(super) fn by_total(&self, old: usize) -> f64 {
        let sums = self
            .counted
            .self_value
            .iter()
            .map(|column| column.iter().map(|&value| value as f64).sum::<f64>());
        let sums: Vec<f64> = sums.collect();
        sums[old..self.runs].iter().sum::<f64>() / sums[..old].iter().sum::<f64>()
    }
}

/// Finds a change of the mix in a comparison with significant changes; `unit` says how much of a self count makes one
/// sample. `None` if there is none, or if other changes are as likely.
pub(super) fn find<'p>(
    subject: &Subject<'p>,
    counted: &Flat,
    sides: &DiffSides,
    comparison: &Comparison,
    unit: &SampleUnit,
    by: &By,
) -> Option<Mix<'p>> {
    let is_change = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
    let has_functions = matches!(by, By::Function | By::Name | By::Line);
    if !has_functions
        || subject.calls.is_some()
        || !comparison.hypotheses.iter().any(|row| is_change(row.verdict))
    {
        return None;
    }
    let finder = Finder { subject, counted, sides, comparison, unit };
    let by_label = finder.labels().into_iter().filter_map(|label| finder.by_label(label));
    let largest = |a: &Found, b: &Found| a.effect().total_cmp(&b.effect());
    let found = by_label.max_by(largest).or_else(|| {
        // Whoever says that both sides did the same work, or how much, says that there were no other requests.
        if finder.is_work_given() {
            return None;
        }
        let callers = finder.callers();
        let by_caller = |&caller: &KeyId| finder.by_caller(caller);
        let found = parallel::ranges(callers.len(), 1, |range| {
            callers[range].iter().filter_map(by_caller).max_by(largest)
        });
        found.into_iter().flatten().max_by(largest)
    });
    found.map(|found| finder.made(&found, by))
}

/// A kind of work.
struct Kind {
    name: Name,
    /// Its values per run.
    old: f64,
    new: f64,
    /// The sums of its values.
    sums: [i64; 2],
    ratio: Option<WorkRatio>,
    /// Whether the work of this kind changed, more than the reference.
    is_changed: bool,
}

/// Kinds of work of which some changed.
struct Found {
    label: Option<StringId>,
    caller: Option<KeyId>,
    /// The kind of every row; kind 0 is everything else.
    of_row: Vec<u32>,
    kinds: Vec<Kind>,
    /// ln of how much more new runs did of the kinds that did not change.
    reference: f64,
}

impl Found {
    /// The growth by the changed amount of each kind, as a fraction of the old total.
    fn changes(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let all: f64 = self.kinds.iter().map(|kind| kind.old).sum();
        self.kinds.iter().enumerate().filter(|(_, kind)| kind.is_changed).filter_map(move |(index, kind)| {
            Some((index, (kind.ratio?.log_ratio - self.reference).exp_m1() * kind.old / all))
        })
    }

    fn effect(&self) -> f64 {
        self.changes().map(|(_, change)| change.abs()).sum()
    }
}

struct Finder<'a, 'p> {
    subject: &'a Subject<'p>,
    counted: &'a Flat,
    sides: &'a DiffSides,
    comparison: &'a Comparison,
    unit: &'a SampleUnit,
}

impl<'p> Finder<'_, 'p> {
    fn profile(&self) -> &'p Profile {
        self.subject.profile
    }

    /// Whether the command line says how much work was done.
    fn is_work_given(&self) -> bool {
        self.comparison.options.normalize != usual_normalization(self.profile())
    }

    fn old_runs(&self) -> usize {
        self.sides.old.profiles
    }

    fn runs(&self) -> usize {
        self.sides.old.profiles + self.sides.new.profiles
    }

    /// The values of a row, one per profile.
    fn values(&self, row: usize) -> impl Iterator<Item = i64> + '_ {
        self.profile().samples.values[..self.runs()].iter().map(move |column| column[row])
    }

    /// The sums of values on the old and the new side.
    fn sums(&self, values: impl Iterator<Item = i64>) -> [i64; 2] {
        let mut sums = [0_i64; 2];
        for (run, value) in values.enumerate() {
            let sum = &mut sums[usize::from(run >= self.old_runs())];
            *sum = sum.saturating_add(value);
        }
        sums
    }

    /// The labels that may tell kinds of work.
    fn labels(&self) -> Vec<StringId> {
        let sets = &self.profile().label_sets;
        let mut values: HashMap<StringId, HashSet<StringId>> = HashMap::new();
        for label in sets.ids().flat_map(|set| sets.labels(set)) {
            if let LabelValue::Text(text) = label.value {
                let values = values.entry(label.key).or_default();
                if values.len() <= MOST_KINDS {
                    values.insert(text);
                }
            }
        }
        let mut keys: Vec<StringId> = values
            .into_iter()
            .filter(|(_, values)| (2..=MOST_KINDS).contains(&values.len()))
            .map(|(key, _)| key)
            .collect();
        keys.sort_unstable();
        keys
    }

    /// The kinds of work that the values of a label tell.
    fn by_label(&self, label: StringId) -> Option<Found> {
        let profile = self.profile();
        let sets = &profile.label_sets;
        let mut names: Vec<StringId> = Vec::new();
        let of_set: Column<LabelSetId, u32> = sets
            .ids()
            .map(|set| {
                let value = sets.labels(set).iter().find_map(|found| match found.value {
                    LabelValue::Text(text) if found.key == label => Some(text),
                    _ => None,
                });
                value.map_or(0, |value| {
                    let place = names.iter().position(|name| *name == value).unwrap_or_else(|| {
                        names.push(value);
                        names.len() - 1
                    });
                    place as u32 + 1
                })
            })
            .collect();
        let of_row: Vec<u32> = profile.samples.labels.iter().map(|&set| of_set[set]).collect();
        let names = names.iter().map(|&name| profile.symbols.strings.get(name).into()).collect();
        let kinds = self.kinds(&of_row, names, LEAST_LABELLED)?;
        let key = profile.symbols.strings.get(label).to_ascii_lowercase();
        let is_thread = THREADS.contains(&&*key);
        let found = self.found(of_row, kinds)?;
        // If the work of all runs is said to be the same, what grew alone was slowed down.
        let is_same_work = self.is_work_given() && self.comparison.options.normalize == Normalization::Run;
        let is_more_work = || self.are_parts_alike(&found) && !self.is_collector_busier(&found);
        let is_evident = is_trade(&found) || (!is_thread && !is_same_work && is_more_work());
        is_evident.then_some(Found { label: Some(label), ..found })
    }

    /// The functions that hand out the work of the program to what they call, the outermost first.
    fn callers(&self) -> Vec<KeyId> {
        let sum = |columns: &[Column<KeyId, i64>], key: KeyId| {
            self.sums(columns[..self.runs()].iter().map(|column| column[key]))
        };
        let recorded =
            self.sums(self.profile().meta.metrics[..self.runs()].iter().map(|metric| metric.total));
        let hands_out = |key: &KeyId| {
            let (own, total) = (sum(&self.counted.self_value, *key), sum(&self.counted.total, *key));
            (0..2).all(|side| {
                total[side] as f64 >= LEAST_HANDED_OUT * recorded[side] as f64
                    && own[side] as f64 <= MOST_OWN * total[side] as f64
            })
        };
        let mut found: Vec<KeyId> = self.subject.keys.ids().filter(hands_out).collect();
        found.sort_by_key(|&key| std::cmp::Reverse(sum(&self.counted.total, key)[0]));
        found.truncate(MOST_CALLERS);
        found
    }

    /// The kinds of work that a caller hands out. Without a label to say so, only work of one kind that was traded for
    /// work of another is a change of the mix.
    fn by_caller(&self, caller: KeyId) -> Option<Found> {
        let profile = self.profile();
        let is_system = profile.symbols.system_mappings();
        let is_of_program = self.subject.keys.of_frames(&profile.symbols, |frame| !is_system[frame.mapping]);
        // A function of a library is no kind of work, but a part of any.
        let is_kind = |callee: KeyId| {
            let key = self.subject.keys.get(callee);
            is_of_program[callee] && !is_library(&key.function, key.file.as_deref().unwrap_or_default())
        };
        let mut kind_of: HashMap<KeyId, u32> = HashMap::new();
        let mut names: Vec<Name> = Vec::new();
        let of_stack: Column<StackId, u32> = profile
            .stacks
            .ids()
            .map(|stack| {
                let mut keys = self.subject.stack_keys(stack).skip_while(|&key| key != caller).skip(1);
                let callee = keys.find(|&key| key != caller);
                let Some(callee) = callee.filter(|&callee| is_kind(callee)) else { return 0 };
                *kind_of.entry(callee).or_insert_with(|| {
                    names.push(self.subject.keys.name(callee).clone());
                    names.len() as u32
                })
            })
            .collect();
        let of_row = profile.samples.stack.iter().map(|&stack| of_stack[stack]).collect::<Vec<u32>>();
        let kinds = self.kinds(&of_row, names, LEAST_HANDED_OUT)?;
        let found = self.found(of_row, kinds)?;
        is_trade(&found).then_some(Found { caller: Some(caller), ..found })
    }

    /// The values of each kind and how much more of it was done. `None` if kinds have less than the fraction `least` of a
    /// side, or if there is only one of them.
    fn kinds(&self, of_row: &[u32], names: Vec<Name>, least: f64) -> Option<Vec<Kind>> {
        if names.len() < 2 {
            return None;
        }
        let mut functions = FunctionSums::new(names.len() + 1, self.runs());
        let mut sums = vec![[0_i64; 2]; names.len() + 1];
        for (row, &kind) in of_row.iter().enumerate() {
            let of_row = self.sums(self.values(row));
            for side in 0..2 {
                sums[kind as usize][side] = sums[kind as usize][side].saturating_add(of_row[side]);
            }
            let leaf = self.subject.stack_keys(self.profile().samples.stack[row]).next_back();
            if let Some(leaf) = leaf.filter(|_| kind != 0) {
                functions.add(kind, leaf, self.values(row));
            }
        }
        let all: [f64; 2] = [0, 1].map(|side| sums.iter().map(|sums| sums[side] as f64).sum());
        let rest = sums[0];
        if (0..2).any(|side| all[side] <= 0.0 || rest[side] as f64 > (1.0 - least) * all[side]) {
            return None;
        }
        let per_run = |sums: [i64; 2]| {
            let new_runs = self.sides.new.profiles as f64;
            [sums[0] as f64 / self.old_runs() as f64, sums[1] as f64 / new_runs]
        };
        let kind = |(index, name): (usize, Name)| {
            let columns: Vec<RunCounts> =
                functions.of_kind(index).into_iter().map(|(key, values)| self.column(key, values)).collect();
            let [old, new] = per_run(sums[index]);
            let ratio = work_ratio(&columns, self.old_runs());
            Kind { name, old, new, sums: sums[index], ratio, is_changed: false }
        };
        Some(std::iter::once(Name::from("")).chain(names).enumerate().map(kind).collect())
    }

    /// Values of a function in effective samples.
    fn column(&self, key: KeyId, values: &[i64]) -> RunCounts {
        let unit = match self.unit {
            SampleUnit::Samples => 1.0,
            SampleUnit::PerFunction { self_units, .. } => self_units[key.index()],
            SampleUnit::Unknown => self.comparison.unit,
        };
        let size = self.sides.size.of_sample();
        RunCounts { counts: values.iter().map(|&value| value as f64 / size / unit).collect(), unit }
    }

    /// Marks the kinds that changed. `None` if none did, or not by enough to matter.
    fn found(&self, of_row: Vec<u32>, mut kinds: Vec<Kind>) -> Option<Found> {
        let mut ratios: Vec<WorkRatio> = kinds.iter().filter_map(|kind| kind.ratio).collect();
        ratios.sort_by(|a, b| a.log_ratio.total_cmp(&b.log_ratio));
        let middle = |at: usize| ratios.get(at).map(|ratio| ratio.log_ratio);
        let middle = f64::midpoint(middle(ratios.len().checked_sub(1)? / 2)?, middle(ratios.len() / 2)?);
        // Runs usually do the same amount of work, unless they differ in length.
        let is_unchanged =
            |ratio: &WorkRatio| ratio.log_ratio.abs() <= LEAST_CHANGE + 2.0 * ratio.variance.sqrt();
        let is_per_run = self.comparison.options.normalize == Normalization::Run
            || middle.abs() <= LEAST_CHANGE
            || ratios.iter().any(is_unchanged);
        let reference = if is_per_run { 0.0 } else { middle };
        for kind in &mut kinds {
            kind.is_changed = kind.ratio.is_some_and(|ratio| {
                (ratio.log_ratio - reference).abs() > LEAST_CHANGE.max(ERRORS * ratio.variance.sqrt())
            });
        }
        let found = Found { label: None, caller: None, of_row, kinds, reference };
        (found.effect() >= LEAST_EFFECT).then_some(found)
    }

    /// Whether the parts of each changed kind grew alike. A function that has most of a kind may be called more often by code
    /// that does what it did; but then what the kind does besides it, such as the code that all kinds share, did not grow.
    fn are_parts_alike(&self, found: &Found) -> bool {
        let totals = self.totals(found);
        found.changes().all(|(index, _)| {
            let Some(ratio) = found.kinds[index].ratio else { return false };
            let rests = self.rests(found, &totals, index as u32);
            let is_alike = |(key, values): &(KeyId, Vec<i64>)| {
                let column = self.column(*key, values);
                let (old, new) = column.counts.split_at(self.old_runs());
                let (old, new): (f64, f64) = (old.iter().sum(), new.iter().sum());
                let runs = (self.old_runs() as f64, self.sides.new.profiles as f64);
                let log_ratio = ((new + 0.5) / runs.1).ln() - ((old + 0.5) / runs.0).ln();
                let error = (1.0 / (old + 0.5) + 1.0 / (new + 0.5)).sqrt();
                // A few samples say nothing.
                error > TOO_UNCERTAIN
                    || (log_ratio - ratio.log_ratio).abs() <= LEAST_CHANGE + 2.0 * error
                        && (log_ratio - found.reference).abs() >= 2.0 * error
            };
            rests.iter().all(is_alike)
        })
    }

    /// Whether the collector has far more to do than the work that seems to have grown gives it: then that may be slower because
    /// its data became larger, with all of its code alike.
    fn is_collector_busier(&self, found: &Found) -> bool {
        let is_collection = |key: &KeyId| {
            let key = self.subject.keys.get(*key);
            is_collector(&key.function, key.file.as_deref().unwrap_or_default())
        };
        let collection: Vec<KeyId> = self.subject.keys.ids().filter(is_collection).collect();
        let columns = self.counted.self_value[..self.runs()].iter();
        let [old, new] = self.sums(columns.map(|column| collection.iter().map(|&key| column[key]).sum()));
        let (old, new) = (old as f64 / self.old_runs() as f64, new as f64 / self.sides.new.profiles as f64);
        let all: f64 = found.kinds.iter().map(|kind| kind.old).sum();
        let grown = found.kinds.iter().filter(|kind| kind.is_changed).filter_map(|kind| kind.ratio);
        let most = grown.map(|ratio| ratio.log_ratio).fold(0.0, f64::max);
        new - old >= LEAST_EFFECT * all && new >= FAR_MORE * most.exp() * old
    }

    /// What runs spent in a kind of work outside of each function that has most of it, and outside of the outermost one that
    /// works for this kind only.
    fn rests(&self, found: &Found, totals: &Totals, kind: u32) -> Vec<(KeyId, Vec<i64>)> {
        let Some(of_kind) = totals.by_kind.get(&kind) else { return Vec::new() };
        let whole: i64 =
            found.kinds[kind as usize].sums.iter().fold(0, |sum, part| sum.saturating_add(*part));
        let is_most = |key: &KeyId| of_kind[*key] >= MOST_OF_KIND * whole as f64;
        let own = totals.own_function(kind).filter(|key| !is_most(key));
        let most = self.subject.keys.ids().filter(is_most).chain(own);
        let mut rests: Vec<(KeyId, Vec<i64>)> = most.map(|key| (key, vec![0; self.runs()])).collect();
        let mut seen = SeenKeys::new(self.subject.keys.len());
        for (row, _) in found.of_row.iter().enumerate().filter(|(_, of)| **of == kind) {
            seen.next();
            for key in self.subject.stack_keys(self.profile().samples.stack[row]) {
                seen.first(key);
            }
            for (key, values) in &mut rests {
                if seen.first(*key) {
                    let parts = values.iter_mut().zip(self.values(row));
                    parts.for_each(|(sum, value)| *sum = sum.saturating_add(value));
                }
            }
        }
        rests
    }

    /// The totals of functions, altogether and of each kind of work that changed.
    fn totals(&self, found: &Found) -> Totals {
        let keys = self.subject.keys.len();
        let by_kind = found.changes().map(|(kind, _)| (kind as u32, Column::filled(0.0, keys)));
        let (mut by_kind, mut all): (HashMap<u32, Column<KeyId, f64>>, _) =
            (by_kind.collect(), Column::filled(0.0, keys));
        let mut seen = SeenKeys::new(keys);
        for (row, kind) in found.of_row.iter().enumerate() {
            let value: f64 = self.values(row).map(|value| value as f64).sum();
            let stack = self.profile().samples.stack[row];
            let mut of_kind = by_kind.get_mut(kind);
            seen.next();
            for key in self.subject.stack_keys(stack).filter(|&key| seen.first(key)) {
                all[key] += value;
                if let Some(of_kind) = &mut of_kind {
                    of_kind[key] += value;
                }
            }
        }
        Totals { by_kind, all }
    }

    /// What changed, and the sides without it.
    fn made(&self, found: &Found, by: &By) -> Mix<'p> {
        let old_total: f64 = found.kinds.iter().map(|kind| kind.old).sum();
        let new_total: f64 = found.kinds.iter().map(|kind| kind.new).sum();
        let points: f64 = found.changes().map(|(_, change)| change).sum();
        let variance: f64 = found
            .changes()
            .filter_map(|(index, change)| {
                let kind = &found.kinds[index];
                Some((change + kind.old / old_total).powi(2) * kind.ratio?.variance)
            })
            .sum();
        let half = self.comparison.model.as_ref().map_or(0.0, |model| model.half_width(variance.sqrt()));
        let percent = (new_total * (-found.reference).exp() / old_total - 1.0) * 100.0;
        let growth = TotalGrowth { percent, low: percent - half * 100.0, high: percent + half * 100.0 };
        let largest = found.changes().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(index, _)| index);
        let runs = (self.old_runs() as f64, self.sides.new.profiles as f64);
        let equal = self.equal(found, by);
        Mix {
            cause: cause(self.function(found, largest), points * 100.0),
            growth,
            change: self.change(found),
            counted: flat(&equal),
            subject: equal,
            size: match self.sides.size {
                SampleSize::Known(size) => SampleSize::Known(size.saturating_mul(self.finer())),
                other => other,
            },
            runs: self.runs(),
            recorded: Normalization::Per { old: runs.0, new: runs.1 * found.reference.exp() },
        }
    }

    fn change(&self, found: &Found) -> MixChange {
        let strings = &self.profile().symbols.strings;
        let kind = |kind: &Kind| {
            let ratio = kind.ratio.filter(|_| kind.is_changed);
            MixKind {
                name: kind.name.clone(),
                old: kind.sums[0],
                new: kind.sums[1],
                ratio: ratio.map(|ratio| (ratio.log_ratio - found.reference).exp()),
            }
        };
        let mut kinds: Vec<MixKind> = found.kinds[1..].iter().map(kind).collect();
        kinds.retain(|kind| kind.old != 0 || kind.new != 0);
        kinds.sort_by(|a, b| {
            let size = |kind: &MixKind| kind.ratio.map_or(0.0, |ratio| ratio.ln().abs());
            size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name))
        });
        MixChange {
            label: found.label.map(|label| strings.get(label).into()),
            caller: found.caller.map(|caller| self.subject.keys.name(caller).clone()),
            kinds,
        }
    }

    /// The outermost function that works for one kind only.
    fn function(&self, found: &Found, kind: usize) -> Name {
        if found.caller.is_some() {
            return found.kinds[kind].name.clone();
        }
        let totals = self.totals(found);
        let key = totals.own_function(kind as u32).or_else(|| totals.outermost(kind as u32));
        key.map_or_else(|| found.kinds[kind].name.clone(), |key| self.subject.keys.name(key).clone())
    }

    /// How much finer the values of [`Finder::equal`] are, so that rounding them does not matter.
    fn finer(&self) -> i64 {
        let total: f64 =
            self.profile().meta.metrics[..self.runs()].iter().map(|metric| metric.total as f64).sum();
        let is_small = matches!(self.sides.size, SampleSize::Known(_)) && total < (1_u64 << 50) as f64;
        if is_small { 1 << 10 } else { 1 }
    }

    /// The sides as if both had done the lesser amount of each kind of work. No side gets samples that it has not
    /// recorded, which would make it look more certain than it is.
    fn equal(&self, found: &Found, by: &By) -> Subject<'p> {
        let profile = self.profile();
        let mut subject = Subject::new(profile, by, &[]);
        let factor = |kind: u32, is_new: bool| {
            let kind = &found.kinds[kind as usize];
            let log_ratio =
                kind.ratio.filter(|_| kind.is_changed).map_or(0.0, |ratio| ratio.log_ratio - found.reference);
            if is_new { (-log_ratio).exp().min(1.0) } else { log_ratio.exp().min(1.0) }
        };
        let finer = self.finer() as f64;
        for (run, values) in profile.samples.values[..self.runs()].iter().enumerate() {
            let factors: Vec<f64> = (0..found.kinds.len() as u32)
                .map(|kind| factor(kind, run >= self.old_runs()) * finer)
                .collect();
            let mut sums: Column<StackId, f64> = Column::filled(0.0, profile.stacks.len());
            for (row, &value) in values.iter().enumerate() {
                sums[profile.samples.stack[row]] += value as f64 * factors[found.of_row[row] as usize];
            }
            subject.series.push(sums.map(|sum| sum.round() as i64).into());
        }
        subject.series.extend(self.subject.series[self.runs()..].iter().cloned());
        subject
    }
}

/// What runs spent in the own code of functions, for each kind of work.
struct FunctionSums {
    runs: usize,
    /// The functions of each kind, and the place of their values.
    places: Vec<HashMap<KeyId, usize>>,
    values: Vec<i64>,
}

impl FunctionSums {
    fn new(kinds: usize, runs: usize) -> Self {
        FunctionSums { runs, places: vec![HashMap::new(); kinds], values: Vec::new() }
    }

    fn add(&mut self, kind: u32, function: KeyId, values: impl Iterator<Item = i64>) {
        let end = self.values.len();
        let place = *self.places[kind as usize].entry(function).or_insert(end);
        if place == end {
            self.values.resize(end + self.runs, 0);
        }
        let sums = self.values[place..][..self.runs].iter_mut();
        sums.zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(value));
    }

    /// The functions of a kind in the order of their numbers.
    fn of_kind(&self, kind: usize) -> Vec<(KeyId, &[i64])> {
        let found = self.places[kind].iter().map(|(&key, &place)| (key, &self.values[place..][..self.runs]));
        let mut found: Vec<(KeyId, &[i64])> = found.collect();
        found.sort_unstable();
        found
    }
}

/// Whether runs did more of one kind of work and less of another.
fn is_trade(found: &Found) -> bool {
    let changed = || found.kinds.iter().filter(|kind| kind.is_changed).filter_map(|kind| kind.ratio);
    changed().any(|ratio| ratio.log_ratio > LEAST_CHANGE)
        && changed().any(|ratio| ratio.log_ratio < -LEAST_CHANGE)
}

/// The totals of functions, by kind of work and altogether.
struct Totals {
    by_kind: HashMap<u32, Column<KeyId, f64>>,
    all: Column<KeyId, f64>,
}

impl Totals {
    /// The outermost function nearly all of whose total belongs to a kind of work.
    fn own_function(&self, kind: u32) -> Option<KeyId> {
        self.largest(kind, |key, total| total >= NEARLY_ALL * self.all[key])
    }

    /// The outermost function of a kind of work.
    fn outermost(&self, kind: u32) -> Option<KeyId> {
        self.largest(kind, |_, _| true)
    }

    fn largest(&self, kind: u32, is_wanted: impl Fn(KeyId, f64) -> bool) -> Option<KeyId> {
        let of_kind = self.by_kind.get(&kind)?;
        let wanted = of_kind.ids().filter(|&key| of_kind[key] > 0.0 && is_wanted(key, of_kind[key]));
        wanted.max_by(|&a, &b| of_kind[a].total_cmp(&of_kind[b]).then(b.cmp(&a)))
    }
}

fn cause(function: Name, points: f64) -> DiffCause {
    DiffCause { points, ..DiffCause::new(CauseKind::Mix, function, CountKind::Total) }
}

/// Gives the rows that changed in what was recorded, but not with an equal mix, a verdict of their own.
pub(super) fn excuse(equal: &mut Comparison, recorded: &Comparison) {
    let is_change = |verdict| {
        matches!(verdict, Verdict::Regressed | Verdict::Improved | Verdict::Inherits | Verdict::Moved)
    };
    for row in equal.hypotheses.iter_mut().filter(|row| row.verdict == Verdict::Unchanged) {
        let changed = recorded.hypotheses.iter().any(|other| {
            other.measure == row.measure
                && other.same_counts.contains(&row.function)
                && is_change(other.verdict)
        });
        if changed {
            row.verdict = Verdict::Mix;
        }
    }
}
