//! New functions that do the work of functions that are gone.
//!
//! ```text
//! main;run;parse 500    →    main;run;decode 510
//! ```

use hashbrown::HashMap;

use super::call_paths::{Side, StackSource};
use super::called_elsewhere::{CalledElsewhere, may_hold};
use super::compare::{Cause, Comparison, Hypothesis, RemovedCount};
use super::examiner::Examiner;
use super::model::GONE;
use super::trades::{Trades, are_siblings};
use super::{CountKind, Verdict};

/// How many removed functions are examined for one that may have replaced them: a rebuilt program can lose thousands.
const CANDIDATES: usize = 20;

/// The functions apart from that of `row` that are known to have replaced a removed one.
fn replacements<'c>(
    removed: &'c RemovedCount,
    row: &'c Hypothesis,
    comparison: &'c Comparison,
) -> impl Iterator<Item = usize> + 'c {
    let is_other = |other: &&Hypothesis| {
        let from =
            matches!(other.cause, Some(Cause::Moved { from: Some(from), .. }) if from == removed.function);
        from && other.measure == removed.measure && other.function != row.function
    };
    comparison.hypotheses.iter().filter(is_other).map(|other| other.function)
}

/// The function that a new one replaced: removed, under the same caller, at least half and at most twice
/// as large, and such that both taken as one function cannot have grown by half as much as the new one.
pub(super) fn replaced(
    row: &Hypothesis,
    caller: Option<usize>,
    comparison: &Comparison,
    examiner: Examiner<'_, impl StackSource>,
    trades: &Trades,
) -> Option<usize> {
    if row.old > 0.0 {
        return None;
    }
    let size = row.points..=4.0 * row.points;
    let mut alike: Vec<&RemovedCount> = comparison
        .removed
        .iter()
        .filter(|removed| removed.measure == row.measure && size.contains(&(2.0 * removed.share)))
        .collect();
    let unlike = |removed: &RemovedCount| (removed.share - row.points).abs();
    alike.sort_by(|a, b| unlike(a).total_cmp(&unlike(b)));
    alike.truncate(CANDIDATES);
    alike.retain(|removed| may_be_one_closure(row.function, removed.function, comparison, examiner));
    // What a library does for new code of the program was none of the program.
    let is_library = |function: usize| examiner.stacks.is_library(function);
    if is_library(row.function) && examiner.callers(row, Side::New).first().copied() != caller {
        alike.retain(|removed| is_library(removed.function));
    }
    let appeared = examiner.counts(row.function, row.measure, row.unit);
    let takes_its_place = |removed: &&RemovedCount| {
        let mut both = appeared.clone();
        both.add(&examiner.counts(removed.function, removed.measure, row.unit));
        // What was lost once explains several gains only if it is as large as all of them.
        let traded = trades.gainers_of(removed.function).filter(|_| removed.measure == CountKind::SelfCount);
        let mut others: Vec<usize> = replacements(removed, row, comparison).chain(traded).collect();
        others.sort_unstable();
        others.dedup();
        for function in others {
            both.add(&examiner.counts(function, row.measure, row.unit));
        }
        let is_steady = if is_same_closure(row.function, removed.function, comparison, examiner.stacks) {
            examiner.may_be_unchanged(&both, row.measure, row.points)
        } else {
            examiner.max_growth(&both, row.measure) < row.points / 2.0
        };
        is_steady && examiner.callers_of_gone(removed).first().copied() == caller
    };
    let mut found: Vec<usize> =
        alike.into_iter().filter(takes_its_place).map(|removed| removed.function).collect();
    // Of closures of one size that one function calls, what they call tells which of them this one was.
    if found.len() > 1 {
        let unlike: HashMap<usize, f64> = found
            .iter()
            .map(|&removed| (removed, unlike_callees(row, removed, comparison, examiner.stacks)))
            .collect();
        found.sort_by(|a, b| unlike[a].total_cmp(&unlike[b]));
    }
    found.first().copied()
}

/// Whether nothing contradicts that a new function is one that is gone: closures stay in the function that they are in.
fn may_be_one_closure(
    new: usize,
    gone: usize,
    comparison: &Comparison,
    examiner: Examiner<'_, impl StackSource>,
) -> bool {
    let (Some(outer), Some(old_outer)) = (examiner.stacks.enclosing(new), examiner.stacks.enclosing(gone))
    else {
        return true;
    };
    let is_known = |(to, from)| to == outer || from == old_outer;
    outer == old_outer
        || is_same_closure(new, gone, comparison, examiner.stacks)
        || !(examiner.is_common(outer) || examiner.is_common(old_outer) || renamed(comparison).any(is_known))
}

/// Whether two closures are in functions of which the new one is known to have replaced the other. The largest functions are looked at
/// first, and closures cost less than what they are in.
fn is_same_closure(new: usize, gone: usize, comparison: &Comparison, stacks: &impl StackSource) -> bool {
    let outer = stacks.enclosing(new).zip(stacks.enclosing(gone));
    outer.is_some_and(|outer| renamed(comparison).any(|pair| pair == outer))
}

/// The new functions that are known to have replaced one that is gone, with that.
fn renamed(comparison: &Comparison) -> impl Iterator<Item = (usize, usize)> {
    comparison.hypotheses.iter().filter_map(|row| match row.cause {
        Some(Cause::Moved { from: Some(from), .. }) => Some((row.function, from)),
        _ => None,
    })
}

/// How much of the program, as the sum of shares, one of two functions calls, and the other one does not.
fn unlike_callees(
    row: &Hypothesis,
    removed: usize,
    comparison: &Comparison,
    stacks: &impl StackSource,
) -> f64 {
    let is_callee = |other: &&Hypothesis| {
        other.measure == CountKind::Total && other.old > 0.0 && may_hold(other, row.points)
    };
    let differs = |other: &&Hypothesis| {
        stacks.includes(row.function, other.function) != stacks.includes(removed, other.function)
    };
    let callees = comparison.hypotheses.iter().filter(is_callee).filter(differs);
    callees.map(|other| other.old_share.max(other.new_share)).sum()
}

/// Sets the verdict and the cause of own code that is gone, while new code below the same caller, which hardly grew, does its work:
/// `subtotal` and `discount` are `amount` now. New code replaces as much as it costs, the heaviest first.
pub(super) fn move_what_was_replaced(
    comparison: &mut Comparison,
    trades: &Trades,
    examiner: Examiner<'_, impl StackSource>,
) {
    let rows = &comparison.hypotheses;
    let mut room: HashMap<usize, f64> = HashMap::new();
    for row in rows.iter().filter(|row| row.measure == CountKind::SelfCount && row.old <= 0.0) {
        if let Some(Cause::Moved { caller: Some(caller), from: None, loser: None }) = row.cause {
            *room.entry(caller).or_default() += row.points;
        }
    }
    let is_gone = |row: &Hypothesis| {
        row.measure == CountKind::SelfCount
            && row.verdict == Verdict::Improved
            && row.new_share < GONE * row.old_share
    };
    let mut gone: Vec<usize> = (0..rows.len()).filter(|&index| is_gone(&rows[index])).collect();
    gone.sort_by(|&a, &b| rows[a].points.total_cmp(&rows[b].points).then(a.cmp(&b)));
    for index in gone {
        let rows = &comparison.hypotheses;
        let row = &rows[index];
        let caller = examiner.callers(row, Side::Old).first().copied();
        let room = caller.and_then(|caller| room.get_mut(&caller)).filter(|room| **room >= -row.points / 2.0);
        match room {
            Some(room) => *room += row.points,
            None if trades.was_copy(row.function) && !is_named(rows, row.function) => {}
            None => continue,
        }
        comparison.hypotheses[index].set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
    move_with_replaced_caller(comparison, examiner);
}

/// Sets the verdict and the cause of functions that are gone together with the one that called them, which another one replaced:
/// `indexer.Run` is what `main.func1` was, and all that it called, `indexJob`.
fn move_with_replaced_caller(comparison: &mut Comparison, examiner: Examiner<'_, impl StackSource>) {
    let rows = &comparison.hypotheses;
    let is_gone_with_caller = |row: &Hypothesis| {
        row.measure == CountKind::Total
            && row.verdict == Verdict::Improved
            && row.new <= 0.0
            && examiner.callers(row, Side::Old).first().is_some_and(|&caller| is_named(rows, caller))
    };
    let gone: Vec<usize> = (0..rows.len()).filter(|&index| is_gone_with_caller(&rows[index])).collect();
    for index in gone {
        comparison.hypotheses[index].set_moved(Cause::Moved { caller: None, from: None, loser: None });
    }
}

/// Whether a row says that it was this function, or a part of it.
fn is_named(rows: &[Hypothesis], function: usize) -> bool {
    rows.iter().any(|row| match row.cause {
        Some(Cause::Moved { from, loser, .. }) => [from, loser].contains(&Some(function)),
        _ => false,
    })
}

/// Sets the verdict and the cause of functions of which nearly nothing is left, although their caller, callees included, cannot
/// have lost half as much: their code is in the caller now, or in what it calls instead. The same if another function gained what
/// they lost, so that it is in that one.
///
/// ```text
/// main;hint 100           →    main;hint 150
/// main;hint;close_to 50
/// ```
pub(super) fn move_what_its_caller_does(
    comparison: &mut Comparison,
    examiner: Examiner<'_, impl StackSource>,
) {
    let hosts = Hosts { comparison, examiner };
    let is_gone = |row: &Hypothesis| {
        row.verdict == Verdict::Improved
            && row.new_share < GONE * row.old_share
            && !examiner.stacks.is_library(row.function)
    };
    let place = |row: &Hypothesis| if is_gone(row) { hosts.place(row) } else { Place::Nowhere };
    let places: Vec<Place> = comparison.hypotheses.iter().map(place).collect();
    for (row, place) in comparison.hypotheses.iter_mut().zip(places) {
        let caller = match place {
            Place::In(host) => Some(host),
            Place::Somewhere => None,
            Place::Nowhere => continue,
        };
        row.set_moved(Cause::Moved { caller, from: None, loser: None });
    }
}

/// Where the code of a function that is gone is now.
enum Place {
    /// In this function.
    In(usize),
    /// In what its caller does, wherever that is.
    Somewhere,
    /// It is gone.
    Nowhere,
}

/// Where the code of functions that are gone may be now.
struct Hosts<'a, S> {
    comparison: &'a Comparison,
    examiner: Examiner<'a, S>,
}

impl<S: StackSource> Hosts<'_, S> {
    fn place(&self, row: &Hypothesis) -> Place {
        let elsewhere = CalledElsewhere { comparison: self.comparison, examiner: self.examiner };
        let caller = self.examiner.callers(row, Side::Old).first().copied();
        let has_it = |&host: &usize| {
            self.examiner.stacks.may_be_of_one_binary(host, row.function)
                && (self.may_have_own_code(host, row) || elsewhere.became_part_of(row, host))
        };
        match caller.filter(has_it).or_else(|| self.neighbour(row)) {
            Some(host) => Place::In(host),
            None if caller.is_some_and(|caller| self.cannot_have_lost(caller, row)) => Place::Somewhere,
            None => Place::Nowhere,
        }
    }

    fn cannot_have_lost(&self, caller: usize, row: &Hypothesis) -> bool {
        let total = self.examiner.total(caller, row.unit);
        self.examiner.max_change(&total, CountKind::Total, -1.0) < row.points.abs() / 2.0
    }

    /// Whether the own code of `host` may contain that of a function that is gone: it gained at least half as much, both together
    /// are not known to have lost anything, and it is not much more probable that they lost what the row did.
    fn may_have_own_code(&self, host: usize, row: &Hypothesis) -> bool {
        let mut both = self.examiner.own(host, row.unit);
        let gained = self.examiner.growth(&both);
        both.add(&self.examiner.own(row.function, row.unit));
        row.measure == CountKind::SelfCount
            && gained >= row.points.abs() / 2.0
            && self.examiner.may_be_unchanged(&both, CountKind::SelfCount, row.points)
    }

    /// The function that is called from the same place as one that is gone, and whose own code certainly grew by as much: a compiler
    /// has put the one into the other, and stacks lack the caller of some leaves.
    fn neighbour(&self, row: &Hypothesis) -> Option<usize> {
        let stacks = self.examiner.stacks;
        if row.measure == CountKind::Total || !stacks.may_lack_callers(row.function) {
            return None;
        }
        let above = stacks.callers(row.function, CountKind::SelfCount, Side::Old);
        let of_row = (row.function, row.old * row.unit, &above[..]);
        let is_sibling = |other: &Hypothesis| {
            let callers = stacks.callers(other.function, CountKind::SelfCount, Side::New);
            are_siblings((other.function, other.new * other.unit, &callers), of_row)
        };
        let is_neighbour = |other: &&Hypothesis| {
            other.measure == CountKind::SelfCount
                && other.verdict == Verdict::Regressed
                && other.old > 0.0
                && other.points >= row.points.abs()
                && stacks.may_be_of_one_binary(other.function, row.function)
                && is_sibling(other)
                && self.may_have_own_code(other.function, row)
        };
        let found = self.comparison.hypotheses.iter().filter(is_neighbour);
        found.min_by(|a, b| a.points.total_cmp(&b.points)).map(|other| other.function)
    }
}
