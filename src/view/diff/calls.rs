//! How often functions were called, for profiles that count calls: with these, called more often and dearer per call can
//! be told apart.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::profile::{Column, Profile};
use crate::tree::{By, Subject, call_edges};

/// The calls of both sides by the names of functions, per run.
#[derive(Clone, Debug, Default)]
pub struct CallCounts {
    functions: HashMap<Arc<str>, [f64; 2]>,
    edges: HashMap<(Arc<str>, Arc<str>), [f64; 2]>,
}

/// Counts the calls in profiles given with the number of their metric, the first `old` of which are the old side. `None`
/// if one of them does not count calls.
pub fn count_calls(profiles: &[(&Profile, usize)], old: usize, by: &By) -> Option<CallCounts> {
    let mut counts = CallCounts::default();
    for (number, (profile, _)) in profiles.iter().enumerate() {
        let metric = profile.calls.as_ref()?.calls_metric?;
        let subject = Subject::new(profile, by, &[metric]);
        let is_new = number >= old;
        let runs = if is_new { profiles.len() - old } else { old } as f64;
        let side = usize::from(is_new);
        for key in subject.keys.ids() {
            let calls = subject.calls.as_ref()?.self_value(key);
            if calls > 0 {
                counts.functions.entry(subject.keys.name(key).clone()).or_default()[side] +=
                    calls as f64 / runs;
            }
        }
        let all = Column::filled(true, subject.keys.len());
        for edge in call_edges(&subject, &all) {
            let ends = [edge.caller, edge.callee].map(|key| subject.keys.name(key).clone());
            counts.edges.entry(ends.into()).or_default()[side] += edge.values[0] as f64 / runs;
        }
    }
    Some(counts)
}

impl CallCounts {
    /// How often a function was called on the old and on the new side.
    pub(super) fn of(&self, function: &Arc<str>) -> Option<[f64; 2]> {
        self.functions.get(function).copied()
    }

    /// How often `caller` called `callee` on the old and on the new side.
    pub(super) fn of_edge(&self, caller: &Arc<str>, callee: &Arc<str>) -> Option<[f64; 2]> {
        self.edges.get(&(caller.clone(), callee.clone())).copied()
    }
}
