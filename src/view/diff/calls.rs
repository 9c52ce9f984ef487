//! How often functions were called, for profiles that count calls: with these, called more often and dearer per call can
//! be told apart.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use crate::profile::{Column, Id, Profile};
use crate::tree::{By, Subject, call_edges};

/// The calls of both sides by the names of functions, per run. They are counted on first use, because in most
/// comparisons there is nothing to explain.
#[derive(Clone, Debug)]
pub struct CallCounts {
    /// Each profile with the number of the metric that counts calls, the old ones first.
    profiles: Vec<(Profile, usize)>,
    /// How many of them are old.
    old: usize,
    /// Whether the old ones are the new side.
    is_reversed: bool,
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
    Some(CallCounts { profiles, old, is_reversed: false, by: by.clone(), counted: OnceLock::new() })
}

impl CallCounts {
    /// How often a function was called on the old and on the new side.
    pub(super) fn of(&self, function: &Arc<str>) -> Option<[f64; 2]> {
        let counted = self.counted();
        let calls = self.in_order(counted.functions[*counted.numbers.get(function)?]);
        calls.iter().any(|&calls| calls > 0.0).then_some(calls)
    }

    /// How often `caller` called `callee` on the old and on the new side.
    pub(super) fn of_edge(&self, caller: &Arc<str>, callee: &Arc<str>) -> Option<[f64; 2]> {
        let counted = self.counted();
        let number = |name| counted.numbers.get(name).copied();
        counted.edges.get(&(number(caller)?, number(callee)?)).map(|&calls| self.in_order(calls))
    }

    /// The same with the new side as the old one.
    pub(super) fn reversed(&self) -> Self {
        CallCounts { is_reversed: !self.is_reversed, ..self.clone() }
    }

    fn in_order(&self, [first, second]: [f64; 2]) -> [f64; 2] {
        if self.is_reversed { [second, first] } else { [first, second] }
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
