//! Functions that are called more often than before, or less, where calls are counted.

use crate::profile::Column;
use crate::report::ChangedCalls;
use crate::tree::{Flat, KeyId, Subject};
use crate::view::diff::DiffSides;

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
