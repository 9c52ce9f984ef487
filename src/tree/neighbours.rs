//! The direct callers and callees of a set of functions.

use crate::profile::Column;
use crate::tree::{KeyId, SeenKeys, Subject};

/// The callers and callees of a set of keys, in one series. The set counts as one node, and a sample
/// counts once in every row that it belongs to. If the set recurs through other functions, one stack can
/// have several callers, so rows can add up to more than the total.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The value of the samples whose leaf is in the set.
    pub self_value: i64,
    /// The value of the samples with the set anywhere on the stack.
    pub total: i64,
    /// Value by caller: a key outside the set, directly above a member.
    pub callers: Column<KeyId, i64>,
    /// Value by callee: a key outside the set, directly below a member.
    pub callees: Column<KeyId, i64>,
    /// The value of the samples in which a member calls a member, possibly itself.
    pub itself: i64,
    /// The value of the samples whose stack starts with a member.
    pub root: i64,
    /// How far callers, `itself` and `root` exceed the total. Negative if they add up to less, which
    /// recursive calls of a profile without stacks may cause.
    pub callers_excess: i64,
    /// The same for callees, `itself` and `self_value`.
    pub callees_excess: i64,
    /// For profiles of calls: whether callees of the set call back into it. Then the total of several
    /// keys is an upper bound.
    pub is_called_back: bool,
}

impl Neighbours {
    pub(super) fn none(keys: usize) -> Self {
        Neighbours {
            self_value: 0,
            total: 0,
            callers: Column::filled(0, keys),
            callees: Column::filled(0, keys),
            itself: 0,
            root: 0,
            callers_excess: 0,
            callees_excess: 0,
            is_called_back: false,
        }
    }
}

/// Counts the callers and callees of the keys that `wanted` marks, in series number `series`.
///
/// ```
/// use prof::profile::{Column, from_notation};
/// use prof::tree::{By, Subject, neighbours};
///
/// let profile = from_notation("main;a;a;b 4\na 1");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let wanted = (0..subject.keys.len()).map(prof::profile::Id::new);
/// let wanted: Column<_, bool> = wanted.map(|key| &**subject.keys.name(key) == "a").collect();
/// let found = neighbours(&subject, &wanted, 0);
/// assert_eq!((found.total, found.self_value, found.root, found.itself), (5, 1, 1, 4));
/// ```
pub fn neighbours(subject: &Subject<'_>, wanted: &Column<KeyId, bool>, series: usize) -> Neighbours {
    if let Some(calls) = &subject.calls {
        return calls.neighbours(wanted, series);
    }
    let keys = subject.keys.len();
    let mut found = Neighbours::none(keys);
    let (mut seen_above, mut seen_below) = (SeenKeys::new(keys), SeenKeys::new(keys));
    for (stack, &value) in subject.series[series].enumerate() {
        if value == 0 || !subject.stack_keys(stack).any(|key| wanted[key]) {
            continue;
        }
        found.total += value;
        seen_above.next();
        seen_below.next();
        let mut above = None;
        let mut calls_itself = false;
        for key in subject.stack_keys(stack) {
            match (above, wanted[key]) {
                (None, true) => found.root += value,
                (Some(caller), true) if wanted[caller] => calls_itself = true,
                (Some(caller), true) if seen_above.first(caller) => found.callers[caller] += value,
                (Some(member), false) if wanted[member] && seen_below.first(key) => {
                    found.callees[key] += value;
                }
                _ => {}
            }
            above = Some(key);
        }
        found.itself += if calls_itself { value } else { 0 };
        found.self_value += if above.is_some_and(|leaf| wanted[leaf]) { value } else { 0 };
    }
    let sum = |values: &Column<KeyId, i64>| values.iter().map(|&value| i128::from(value)).sum();
    found.callers_excess = excess(sum(&found.callers), found.root, found.itself, found.total);
    found.callees_excess = excess(sum(&found.callees), found.self_value, found.itself, found.total);
    found
}

/// How far the rows of one side exceed the total. Each row fits into an `i64`, but the sum of
/// overlapping rows may not.
pub(super) fn excess(others: i128, end: i64, itself: i64, total: i64) -> i64 {
    let excess = others + i128::from(end) + i128::from(itself) - i128::from(total);
    i64::try_from(excess).unwrap_or(if excess < 0 { i64::MIN } else { i64::MAX })
}
