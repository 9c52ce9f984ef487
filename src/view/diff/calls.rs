//! How often functions were called, for profiles that count calls: with these, called more often and dearer per call can
//! be told apart.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use crate::profile::{Column, Id, Profile};
use crate::report::ChangedCalls;
use crate::tree::{By, Flat, KeyId, Subject, call_edges};
use crate::view::diff::DiffSides;

/// The calls of both sides by the names of functions, per run. They are counted on first use, because in most
/// comparisons there is nothing to explain.
#[derive(Clone, Debug)]
pub struct CallCounts {
    /// Each profile with the number of the metric that counts calls, the old ones first.
    profiles: Vec<(Profile, usize)>,
    /// How many of them are old.
    old: usize,
    by: By,
    counted: OnceLock<CountedCalls>,
}

/// The calls on the old and on the new side. Functions are numbered, so that each name is looked up once.
#[derive(Clone, Debug, Default)]
struct CountedCalls {
    numbers: HashMap<Arc<str>, usize>,
    functions: Vec<[f64; 2]>,
    edges: HashMap<(usize, usize), [f64; 2]>,
}

/// The calls in profiles given with the number of their metric, the first `old` of which are the old side. `None` if one
/// of them does not count calls.
pub fn count_calls(profiles: &[(&Profile, usize)], old: usize, by: &By) -> Option<CallCounts> {
    let counted =
        |&(profile, _): &(&Profile, usize)| Some((profile.clone(), profile.calls.as_ref()?.calls_metric()?));
    let profiles = profiles.iter().map(counted).collect::<Option<Vec<_>>>()?;
    Some(CallCounts { profiles, old, by: by.clone(), counted: OnceLock::new() })
}

impl CallCounts {
    /// How often a function was called on the old and on the new side.
    pub(super) fn of(&self, function: &Arc<str>) -> Option<[f64; 2]> {
        let counted = self.counted();
        let calls = counted.functions[*counted.numbers.get(function)?];
        calls.iter().any(|&calls| calls > 0.0).then_some(calls)
    }

    /// How often `caller` called `callee` on the old and on the new side.
    pub(super) fn of_edge(&self, caller: &Arc<str>, callee: &Arc<str>) -> Option<[f64; 2]> {
        let counted = self.counted();
        let number = |name| counted.numbers.get(name).copied();
        counted.edges.get(&(number(caller)?, number(callee)?)).copied()
    }

    fn counted(&self) -> &CountedCalls {
        self.counted.get_or_init(|| {
            let mut counted = CountedCalls::default();
            for (number, (profile, metric)) in self.profiles.iter().enumerate() {
                let is_new = number >= self.old;
                let runs = if is_new { self.profiles.len() - self.old } else { self.old };
                counted.add(&Subject::new(profile, &self.by, &[*metric]), usize::from(is_new), runs as f64);
            }
            counted
        })
    }
}

/// Functions with a smaller share of both sides than this are called more often or not, which matters little.
const LEAST_SHARE: f64 = 0.01;
/// A function is called more often if it is called so many times as often.
const CLEAR: f64 = 1.1;
/// A caller that makes this fraction of the additional calls explains them.
const MOST: f64 = 0.8;
/// How many functions a person reads.
const MOST_LISTED: usize = 5;

/// The heaviest functions that are called more often than before, or less, without those that one of them calls as much more often.
/// Counted calls do not vary by chance, so one profile a side tells that.
pub(super) fn changed_calls(subject: &Subject<'_>, counted: &Flat, sides: &DiffSides) -> Vec<ChangedCalls> {
    let Some(calls) = &sides.calls else { return Vec::new() };
    let (first_new, end) = (sides.old.profiles, sides.old.profiles + sides.new.profiles);
    let share = |key: KeyId| -> f64 {
        let of_side = |columns: &[Column<KeyId, i64>], all: i64| {
            columns.iter().map(|column| column[key] as f64).sum::<f64>() / (all as f64).max(1.0)
        };
        let old = of_side(&counted.total[..first_new], sides.old.total);
        old.max(of_side(&counted.total[first_new..end], sides.new.total))
    };
    let changed = |key: KeyId| {
        let [old, new] = calls.of(subject.keys.name(key)).filter(|[old, new]| *old > 0.0 && *new > 0.0)?;
        let share = share(key);
        ((new / old).ln().abs() > CLEAR.ln() && share >= LEAST_SHARE).then_some((share, key, [old, new]))
    };
    let mut found: Vec<(f64, KeyId, [f64; 2])> = subject.keys.ids().filter_map(changed).collect();
    found.sort_by(|(a, one, _), (b, other, _)| b.total_cmp(a).then(one.cmp(other)));
    let mut listed: Vec<ChangedCalls> = Vec::new();
    for (_, key, [old, new]) in found {
        let function = subject.keys.name(key);
        let explains = |caller: &ChangedCalls| {
            let by_caller = calls.of_edge(&caller.function, function);
            by_caller.is_some_and(|[before, after]| (after - before) / (new - old) >= MOST)
        };
        if listed.len() < MOST_LISTED && !listed.iter().any(explains) {
            listed.push(ChangedCalls { function: function.clone(), old, new });
        }
    }
    listed
}

impl CountedCalls {
    /// Adds the calls of one of `runs` profiles of a side.
    fn add(&mut self, subject: &Subject<'_>, side: usize, runs: f64) {
        let Some(calls) = &subject.calls else { return };
        let mut number_of = vec![0; subject.keys.len()];
        for key in subject.keys.ids() {
            let next = self.functions.len();
            let number = *self.numbers.entry_ref(subject.keys.name(key)).or_insert(next);
            if number == next {
                self.functions.push([0.0; 2]);
            }
            number_of[key.index()] = number;
            self.functions[number][side] += calls.self_value(key).max(0) as f64 / runs;
        }
        let all = Column::filled(true, subject.keys.len());
        for edge in call_edges(subject, &all) {
            let ends = (number_of[edge.caller.index()], number_of[edge.callee.index()]);
            self.edges.entry(ends).or_default()[side] += edge.values[0] as f64 / runs;
        }
    }
}
