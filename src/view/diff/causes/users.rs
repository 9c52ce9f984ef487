//! What functions of the program spend in a function of a library or of the runtime, through whichever other ones of those: a
//! library did not change by itself, so they are what changed.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::profile::Id;
use crate::report::{CauseKind, DiffCause};
use crate::stats::CountKind;
use crate::tree::KeyId;
use crate::view::diff::causes::flow::{Change, Edge, Flow};
use crate::view::diff::causes::kinds::{name, of_library_call};
use crate::view::diff::causes::origins::Origin;

/// Users with this fraction of a library's growth, together, explain it.
const MOST: f64 = 0.7;
/// A user with less than this fraction of a library's growth is not worth a cause.
const LEAST_USER: f64 = 0.1;

/// The causes of an origin in a library: one for each function of the program that makes it do more, if those explain its growth.
/// The allocator is called from everywhere:
///
/// ```text
/// main;flips;makeslice;mallocgc 10    →    main;flips;makeslice;mallocgc 90
/// main;flips;append;mallocgc 0             main;flips;append;mallocgc 40
/// main;print;append;mallocgc 20            main;print;append;mallocgc 20
/// ```
///
/// What costs more for all of them alike may be the library, unless that is the runtime of the language.
pub(super) fn of_users(flow: &Flow<'_, '_>, origin: Origin) -> Option<Vec<DiffCause>> {
    let whole = flow.of(origin.function, origin.kind);
    let all = users(flow, &[KeyId::new(origin.function)], origin.kind);
    if !flow.is_runtime(origin.function) && is_dearer_for_all(&all, &whole) {
        return None;
    }
    let is_cause = |user: &&User| {
        let caller = flow.total(user.function);
        let is_enough = user.change.grew() && user.change.points >= LEAST_USER * whole.points;
        is_enough && caller.points > 0.0 && !caller.is_new()
    };
    let found: Vec<&User> = all.iter().filter(is_cause).collect();
    let explained: f64 = found.iter().map(|user| user.change.points).sum();
    // Stacks that lack the caller of `memmove` have the one above it instead.
    let calls_another = |user: &&&User| {
        found
            .iter()
            .any(|other| other.function != user.function && flow.is_below(user.function, other.function))
    };
    let may_be_theirs = flow.lacks_callers(origin.function);
    let named = found.iter().filter(|user| !(may_be_theirs && calls_another(user)));
    let causes = || named.map(|user| called_by(flow, user, origin)).collect();
    (explained >= MOST * whole.points).then(causes)
}

/// Whether an origin grew for several functions that used it before, and for none of those that use it much far less than for the
/// others.
fn is_dearer_for_all(users: &[User], whole: &Change) -> bool {
    let is_heavy = |user: &&User| user.change.new_share >= LEAST_USER * whole.new_share;
    let heavy = users.iter().filter(is_heavy).filter(|user| !user.change.is_new());
    let alike = heavy.clone().filter(|user| user.change.log_ratio >= whole.log_ratio / 4.0);
    heavy.clone().count() > 1 && alike.count() == heavy.count()
}

/// Whether a cause says no more than that a function of a library costs more.
pub(super) fn is_library_itself(flow: &Flow<'_, '_>, origin: Origin, cause: &DiffCause) -> bool {
    let names_itself =
        cause.path.iter().all(|function| flow.function(function).is_some_and(|other| !flow.is_own(other)));
    matches!(cause.cause, CauseKind::Dearer | CauseKind::CalledMore)
        && names_itself
        && flow.subject.calls.is_none()
        && !flow.is_own(origin.function)
        && !flow.is_collector(origin.function)
}

/// A function of the program, and what it spends in a function of a library.
pub(super) struct User {
    pub(super) function: usize,
    /// The function that it calls, through which it spends most of that.
    entry: usize,
    pub(super) change: Change,
}

fn called_by(flow: &Flow<'_, '_>, user: &User, origin: Origin) -> DiffCause {
    let mut path = vec![user.function, user.entry, origin.function];
    path.dedup();
    let path = path.into_iter().map(|function| name(flow, function)).collect();
    of_library_call(flow, user.function, path, user.change)
}

/// The functions of the program that are the nearest ones above these of a library, those that spend most more first.
pub(super) fn users(flow: &Flow<'_, '_>, library: &[KeyId], kind: CountKind) -> Vec<User> {
    let Some(one) = library.first() else { return Vec::new() };
    let mut calls: Vec<(Edge, Vec<i64>)> = spent_by_call(flow, library, kind).into_iter().collect();
    // Those of a function together, the one that it spends most in first.
    calls.sort_by_key(|((user, entry), values)| (*user, Reverse(sum(values)), *entry));
    let of_user = calls.chunk_by(|((one, _), _), ((other, _), _)| one == other);
    let user = |calls: &[(Edge, Vec<i64>)]| {
        let (function, entry) = calls[0].0;
        let of_run =
            |run: usize| calls.iter().fold(0_i64, |sum, (_, values)| sum.saturating_add(values[run]));
        let values: Vec<i64> = (0..flow.profiles()).map(of_run).collect();
        User { function, entry, change: flow.of_values(&values, one.index(), CountKind::Total) }
    };
    let mut found: Vec<User> = of_user.map(user).collect();
    found.sort_by(|a, b| b.change.points.total_cmp(&a.change.points));
    found
}

fn sum(values: &[i64]) -> i64 {
    values.iter().fold(0, |sum, value| sum.saturating_add(*value))
}

/// What the program spends in these functions in each run, by the calls through which it enters the library.
fn spent_by_call(flow: &Flow<'_, '_>, library: &[KeyId], kind: CountKind) -> HashMap<Edge, Vec<i64>> {
    let subject = flow.subject;
    let mut is_own: HashMap<KeyId, bool> = HashMap::new();
    let mut calls: HashMap<Edge, Vec<i64>> = HashMap::new();
    for stack in subject.stacks() {
        let keys: Vec<KeyId> = subject.stack_keys(stack).collect();
        let at = match kind {
            CountKind::Total => keys.iter().rposition(|key| library.contains(key)),
            CountKind::SelfCount => keys.len().checked_sub(1).filter(|&last| library.contains(&keys[last])),
        };
        let Some(at) = at else { continue };
        let mut is_user = |key: KeyId| *is_own.entry(key).or_insert_with(|| flow.is_user(key.index()));
        let Some(user) = keys[..at].iter().rposition(|&key| is_user(key)) else { continue };
        let call = (keys[user].index(), keys[user + 1].index());
        let sums = calls.entry(call).or_insert_with(|| vec![0; flow.profiles()]);
        sums.iter_mut().zip(subject.values(stack)).for_each(|(sum, value)| *sum = sum.saturating_add(value));
    }
    calls
}
