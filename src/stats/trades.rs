//! Code that only changed places: what the own code of one function gained, that of a neighbour lost.
//!
//! A function that is extracted from another one, or inlined into one, makes one of them dearer and the other one cheaper.

use std::cell::LazyCell;

use hashbrown::{HashMap, HashSet};

use super::CountKind;
use super::call_paths::{COVERS, Caller, Side, StackSource};
use super::compare::{Cause, Comparison, Hypothesis, RemovedCount, row_of_own};
use super::dispersion::RunCounts;
use super::examiner::{Examiner, SURE};
use super::model::GONE;

/// How many copies of a function may be one function now.
const MOST_COPIES: usize = 10;

/// The functions that gained what the own code of each function lost. A loss explains several gains only if it is as large as
/// all of them. And the functions that were copies of a new one.
#[derive(Default)]
pub(super) struct Trades {
    gainers: HashMap<usize, Vec<usize>>,
    copies: HashSet<usize>,
}

impl Trades {
    /// The function whose own code lost most of what that of `row` gained, while both together did not grow: its caller, one that
    /// it called and has inlined, or one that is called from the same place.
    pub(super) fn loser(
        &mut self,
        row: &Hypothesis,
        caller: usize,
        comparison: &Comparison,
        examiner: Examiner<'_, impl StackSource>,
    ) -> Option<usize> {
        let own = |function: usize| examiner.own(function, row.unit);
        let has_lost_it = |function: usize| -examiner.growth(&own(function)) >= row.points / 2.0;
        // What a function loses to a new one, or one that is gone to another, needs no further evidence than that both together
        // did not certainly grow.
        let together = |function: usize| {
            let mut both = own(row.function);
            for part in self.gainers_of(function).chain([function]) {
                both.add(&own(part));
            }
            both
        };
        let is_balanced = |function: usize| {
            let (old, new) = examiner.model.comparable_shares(&own(function));
            let both = together(function);
            let is_exchanged = row.old <= 0.0 || new < GONE * old;
            // Where calls are counted, that of a new function certainly costs something.
            let hardly_grew = || examiner.growth(&both) < comparison.options.min_points;
            if is_exchanged {
                !examiner.certainly_grew(&both, CountKind::SelfCount) || hardly_grew()
            } else {
                examiner.max_growth(&both, CountKind::SelfCount) < row.points / 2.0
            }
        };
        let is_extracted = |caller: usize| {
            row.old <= 0.0
                && examiner.probably_shrank(&own(caller), CountKind::SelfCount)
                && has_lost_it(caller)
                && is_balanced(caller)
        };
        let stacks = examiner.stacks;
        let callers = LazyCell::new(|| stacks.callers(row.function, CountKind::SelfCount, Side::New));
        let is_neighbour = |other: &Hypothesis| {
            let above = stacks.callers(other.function, CountKind::SelfCount, Side::Old);
            let one = (row.function, row.new * row.unit, &callers[..]);
            let other_one = (other.function, other.old * other.unit, &above[..]);
            // Of two functions that both sides have, one may simply have become dearer and the other one cheaper, or be gone.
            let is_gone = other.new_share < GONE * other.old_share;
            // It may have been inlined into what seems to be called from the same place.
            let may_be_inlined = || {
                is_gone
                    && stacks.may_lack_callers(other.function)
                    && stacks.may_be_of_one_binary(other.function, row.function)
            };
            let is_replaced = row.old <= 0.0 || may_be_inlined();
            // Nor does one that became much cheaper hide that another one is new.
            let cancels_out = || !examiner.certainly_shrank(&together(other.function), CountKind::SelfCount);
            is_called_by(one, other.function)
                || is_called_by(other_one, row.function)
                || (is_replaced && are_siblings(one, other_one) && (is_gone || cancels_out()))
        };
        let losers = comparison.hypotheses.iter().filter(|other| {
            other.measure == CountKind::SelfCount
                && other.function != row.function
                && other.decrease.p < SURE
                && has_lost_it(other.function)
                && is_balanced(other.function)
                && is_neighbour(other)
        });
        let found = Some(caller).filter(|&caller| is_extracted(caller)).or_else(|| {
            losers.min_by(|a, b| a.decrease.p.total_cmp(&b.decrease.p)).map(|other| other.function)
        })?;
        self.note(found, row.function);
        Some(found)
    }

    /// Notes that a function gained what the own code of another one lost.
    pub(super) fn note(&mut self, loser: usize, gainer: usize) {
        self.gainers.entry(loser).or_default().push(gainer);
    }

    /// The functions that are known to have gained what the own code of a function lost.
    pub(super) fn gainers_of(&self, loser: usize) -> impl Iterator<Item = usize> + '_ {
        self.gainers.get(&loser).into_iter().flatten().copied()
    }

    /// Whether a function that is gone was a copy of one that is new.
    pub(super) fn was_copy(&self, function: usize) -> bool {
        self.copies.contains(&function)
    }

    /// The function that lost most of what new code gained, if several of its callers lost it together: what was written in two
    /// places, or was inlined into both, is a function of its own now.
    pub(super) fn losers(
        &mut self,
        row: &Hypothesis,
        comparison: &Comparison,
        examiner: Examiner<'_, impl StackSource>,
    ) -> Option<usize> {
        let own = |function: usize| examiner.own(function, row.unit);
        let callers = examiner.stacks.callers(row.function, CountKind::SelfCount, Side::New);
        let count = row.new * row.unit;
        let is_gone = |function: usize| comparison.removed.iter().any(|gone| gone.function == function);
        // Who calls all of them did not lose a part.
        let near: Vec<&Caller> = callers.iter().take_while(|caller| caller.count < COVERS * count).collect();
        let of_row = examiner.model.comparable_shares(&own(row.function)).1;
        let lost = |caller: &Caller| {
            let lost = -row_of_own(&comparison.hypotheses, caller.function)?.points;
            // No more can have been taken out of it than it calls now.
            (lost > 0.0).then_some((caller.function, lost.min(of_row * caller.count / count)))
        };
        let mut found: Vec<(usize, f64)> = near.iter().filter_map(|caller| lost(caller)).collect();
        // Each of them may have had a copy of its own, which is gone.
        found.extend(possible_copies(row, comparison).into_iter().filter_map(|gone| {
            let caller = examiner.callers_of_gone(gone).first().copied()?;
            let caller = near.iter().find(|near| near.function == caller)?;
            Some((gone.function, gone.share.min(of_row * caller.count / count)))
        }));
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        if found.len() < 2 {
            return None;
        }
        let losers = found.iter().map(|(function, _)| *function);
        let gainers = losers.clone().flat_map(|function| self.gainers_of(function));
        let mut all = RunCounts { counts: vec![0.0; own(row.function).counts.len()], unit: row.unit };
        losers.chain(gainers).for_each(|function| all.add(&own(function)));
        let is_lost = found.iter().map(|(_, lost)| lost).sum::<f64>() >= row.points / 2.0
            && examiner.certainly_shrank(&all, CountKind::SelfCount);
        all.add(&own(row.function));
        if !is_lost || examiner.certainly_grew(&all, CountKind::SelfCount) {
            return None;
        }
        for (function, _) in &found {
            self.note(*function, row.function);
        }
        self.copies.extend(found.iter().map(|(function, _)| *function).filter(|function| is_gone(*function)));
        found.first().map(|(function, _)| *function)
    }
}

/// The own code that is gone, that nothing is known to have replaced, and that is heavy enough to have been a copy of a new function.
fn possible_copies<'c>(row: &Hypothesis, comparison: &'c Comparison) -> Vec<&'c RemovedCount> {
    let is_replaced = |gone: &RemovedCount| {
        let by = |other: &Hypothesis| matches!(other.cause, Some(Cause::Moved { from: Some(from), .. }) if from == gone.function);
        comparison.hypotheses.iter().any(by)
    };
    let may_be_copy = |gone: &&RemovedCount| {
        gone.measure == CountKind::SelfCount
            && gone.share >= row.points / (2.0 * MOST_COPIES as f64)
            && !is_replaced(gone)
    };
    let mut copies: Vec<&RemovedCount> = comparison.removed.iter().filter(may_be_copy).collect();
    copies.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.function.cmp(&b.function)));
    copies.truncate(MOST_COPIES);
    copies
}

/// A function with its count and its callers.
pub(super) type Called<'c> = (usize, f64, &'c [Caller]);

/// Whether at least half of a function is called, directly or not, by another one.
fn is_called_by((_, count, callers): Called<'_>, caller: usize) -> bool {
    callers.iter().any(|found| found.function == caller && found.count >= count / 2.0)
}

/// Whether two functions are called from the same place. Stacks that were followed by frame pointers lack the caller of some
/// leaves, so the caller of the one may be the second caller of the other.
pub(super) fn are_siblings(one: Called<'_>, other: Called<'_>) -> bool {
    let nearest = |(_, count, callers): Called<'_>| -> Vec<usize> {
        let enough = callers.iter().filter(|caller| caller.count >= COVERS * count);
        enough.map(|caller| caller.function).take(2).collect()
    };
    let (of_one, of_other) = (nearest(one), nearest(other));
    let is_near = |first: Option<&usize>, others: &[usize]| first.is_some_and(|first| others.contains(first));
    is_near(of_one.first(), &of_other) || is_near(of_other.first(), &of_one)
}
