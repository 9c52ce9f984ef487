//! Totals that changed only because code of both sides is called from elsewhere: those of new functions that call it now
//! (wrappers), and those of functions that no longer do.

use super::CountKind;
use super::Verdict;
use super::call_paths::{COVERS, ExcludedStacks, Side, StackSource};
use super::compare::{Comparison, Hypothesis};
use super::dispersion::RunCounts;
use super::examiner::{CHANCE, Examiner, SURE};
use super::model::{APPEARED, GONE};

/// How many functions may hold what a total gained or lost, and the fraction of it that each holds at least.
const MOST_HOLDERS: usize = 8;
const LEAST_HELD: f64 = 0.5 / MOST_HOLDERS as f64;
/// Own code of less than this fraction of a function is that of its calls.
const LITTLE: f64 = 0.1;
/// A function spends less than this fraction of what it did in one that is called from elsewhere instead.
const MOSTLY_GONE: f64 = 0.5;
/// Own code of less than this fraction of a function is not what it is about.
const SOME: f64 = 0.25;
/// Code of which less than this fraction of what one function lost is gone altogether is elsewhere now.
const LOST: f64 = 0.25;
/// In a function that is so many times as large as what one that it calls gained, something else may have lost as much.
const LEAST_PART: f64 = 0.1;
/// A new function that costs more than another one by less than this fraction of it does what that did.
const HARDLY: f64 = 0.25;
/// How many functions are tried as holders, the heaviest first.
const CANDIDATES: usize = 64;

/// A comparison, and the stacks that it was made from.
pub(super) struct CalledElsewhere<'a, S> {
    pub(super) comparison: &'a Comparison,
    pub(super) examiner: Examiner<'a, S>,
}

/// Whether a function may hold so much of what a total gained or lost, given as a share of its side: it is one of both sides, or
/// one that moved. Functions that call nothing have no row for their total.
pub(super) fn may_hold(row: &Hypothesis, share: f64) -> bool {
    let is_known = row.old > 0.0 || row.verdict == Verdict::Moved;
    is_known && row.old_share.max(row.new_share) >= LEAST_HELD * share
}

impl<S: StackSource> CalledElsewhere<'_, S> {
    /// Whether more than half of a new function is in functions that both sides have, and these together cannot have grown by
    /// half as much as the new function has. Code that moved did not grow.
    ///
    /// ```text
    /// main;run;work 80    →    main;run;traced;run.func1;work 80
    /// ```
    ///
    /// A new way to call code that did become more expensive is not excused: `json.Marshal` grew when `audit.Log` began to call it.
    pub(super) fn is_wrapper(&self, row: &Hypothesis) -> bool {
        // Own code may have moved while what it calls grew.
        let has_grown = |function: usize| {
            let grew = |row: &Hypothesis| row.function == function && row.verdict == Verdict::Regressed;
            self.comparison.hypotheses.iter().any(grew)
        };
        let is_steady = |other: &Hypothesis| {
            may_hold(other, row.points) && (other.old > 0.0 || !has_grown(other.function))
        };
        let steady: Vec<&Hypothesis> = self.below(row, is_steady).collect();
        self.hold_most(row, steady.clone(), |counts| self.hardly_changed(row, counts))
            || self.may_wrap(row, steady)
    }

    /// The same of a function with little code of its own, in runs which differ so much that nothing shows what did not grow: that
    /// known code of the program grew has to be shown, as in its own row. Of a library, a new call does not show.
    fn may_wrap(&self, row: &Hypothesis, mut steady: Vec<&Hypothesis>) -> bool {
        steady.retain(|other| !self.examiner.stacks.is_library(other.function));
        !self.examiner.stacks.is_library(row.function)
            && self.own_part(row) < SOME
            && self.hold_most(row, steady, |counts| {
                self.examiner.may_be_unchanged(counts, CountKind::Total, row.points)
            })
    }

    /// The functions of both sides that a caller of a new function, or of one that is gone, calls, directly or not, and that have
    /// nothing to do with that: neither calls the other one, and they are not known to have become cheaper, as what a new one replaced
    /// is.
    pub(super) fn beside(&self, row: &Hypothesis, caller: usize) -> Vec<usize> {
        let is_beside = |other: &&Hypothesis| {
            other.old > 0.0
                && other.new > 0.0
                && may_hold(other, row.points.abs())
                && other.decrease.q > CHANCE
                && ![row.function, caller].contains(&other.function)
                && self.examiner.stacks.includes(caller, other.function)
                && !self.examiner.stacks.includes(row.function, other.function)
                && !self.examiner.stacks.includes(other.function, row.function)
        };
        let mut found: Vec<usize> =
            self.comparison.hypotheses.iter().filter(is_beside).map(|other| other.function).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a new function, with what it calls, was part of `caller`: that lost as much elsewhere, and did not grow.
    ///
    /// A call costs something, so that what was extracted may make its caller a little more expensive. As long as that is not
    /// significant, the build would pass if nothing had been extracted, so it passes.
    pub(super) fn was_part_of(&self, row: &Hypothesis, caller: usize) -> bool {
        if row.measure == CountKind::SelfCount || row.old > 0.0 {
            return false;
        }
        let examiner = self.examiner;
        let is_significant = |other: &Hypothesis| other.increase.q < self.comparison.options.alpha;
        let is_unchanged = || self.total_of(caller).is_some_and(|other| !is_significant(other));
        let lost_it = |others: &[usize]| {
            let whole = examiner.total_without(caller, others, row.unit);
            let grew_a_little =
                || others.is_empty() && is_unchanged() && examiner.growth(&whole) < row.points / 2.0;
            self.lost_without(row, caller, others)
                && (!examiner.probably_grew(&whole, CountKind::Total) || grew_a_little())
        };
        // What else the caller calls tells nothing, but its noise may hide what it lost.
        lost_it(&[]) || lost_it(&self.beside(row, caller))
    }

    /// Whether `caller` certainly lost elsewhere at least half of what a new function that it calls has.
    pub(super) fn lost_as_much(&self, row: &Hypothesis, caller: usize) -> bool {
        self.lost_without(row, caller, &[]) || self.lost_without(row, caller, &self.beside(row, caller))
    }

    /// The same for what a caller does besides some other functions.
    fn lost_without(&self, row: &Hypothesis, caller: usize, others: &[usize]) -> bool {
        let rest = self.examiner.total_without(caller, &[others, &[row.function]].concat(), row.unit);
        -self.examiner.growth(&rest) >= row.points / 2.0
            && self.examiner.certainly_shrank(&rest, CountKind::Total)
    }

    /// Whether a function that is gone, with what it called, became a part of `caller`: that gained as much elsewhere, and is not
    /// known to have become cheaper. What is in new functions of the program is theirs.
    ///
    /// ```text
    /// main;ingest;archive 10    →    main;ingest 12
    /// main;ingest;archive;text 40    main;ingest;text 40
    /// ```
    pub(super) fn became_part_of(&self, row: &Hypothesis, caller: usize) -> bool {
        let is_new = |other: &&Hypothesis| {
            other.old <= 0.0
                && other.verdict == Verdict::Regressed
                && self.examiner.stacks.includes(caller, other.function)
                && !self.examiner.stacks.is_library(other.function)
        };
        let new = self.comparison.hypotheses.iter().filter(is_new).map(|other| other.function);
        let others: Vec<usize> = self.beside(row, caller).into_iter().chain(new).collect();
        let whole = self.examiner.total_without(caller, &others, row.unit);
        let rest = self.examiner.total_without(caller, &[&others[..], &[row.function]].concat(), row.unit);
        self.examiner.growth(&rest) >= row.points.abs() / 2.0
            && self.examiner.certainly_grew(&rest, CountKind::Total)
            && !self.examiner.probably_shrank(&whole, CountKind::Total)
    }

    /// The row of a function with what it calls.
    pub(super) fn total_of(&self, function: usize) -> Option<&Hypothesis> {
        let is_total =
            |row: &&Hypothesis| row.measure == CountKind::Total && row.same_counts.contains(&function);
        self.comparison.hypotheses.iter().find(is_total)
    }

    /// Whether a new function calls several functions of both sides, and none of them is nearly all that it spends in these.
    pub(super) fn calls_several(&self, row: &Hypothesis) -> bool {
        let whole = self.shares(row, &[]).1;
        let spent_in = |functions: &[usize]| whole - self.shares(row, functions).1;
        let is_old = |other: &Hypothesis| other.old > 0.0 && may_hold(other, row.points);
        let old: Vec<usize> = self.below(row, is_old).map(|other| other.function).collect();
        let all = spent_in(&old);
        !old.iter().any(|&function| spent_in(&[function]) >= COVERS * all)
    }

    /// Whether a new function does next to nothing but call others.
    pub(super) fn has_little_own_code(&self, row: &Hypothesis) -> bool {
        self.own_part(row) < LITTLE
    }

    /// The fraction of a function that is its own code, on the new side.
    fn own_part(&self, row: &Hypothesis) -> f64 {
        let (_, own) = self.examiner.model.comparable_shares(&self.examiner.own(row.function, row.unit));
        own / self.shares(row, &[]).1
    }

    /// Whether more than half of what a function lost is in functions that it no longer calls, and these together cannot have
    /// become cheaper by half as much.
    ///
    /// ```text
    /// main;run;work 80    →    main;pool;work 80
    /// ```
    pub(super) fn gave_away(&self, row: &Hypothesis) -> bool {
        self.hold_most(row, self.given_away(row, row.points.abs(), MOSTLY_GONE), |counts| {
            self.hardly_changed(row, counts)
        })
    }

    /// Whether more than half of what a function gained is in functions that only others called before, and that only it calls
    /// now, and these together cannot have grown by half as much. Of what is called from many places, such as an allocator, some
    /// may have become dearer here while others became cheaper there.
    ///
    /// ```text
    /// main;api;auth 80    →    main;gateway;auth 80
    /// main;gateway 40          main;gateway 40
    /// ```
    ///
    /// It may have called them before, too, if the others that did are gone:
    ///
    /// ```text
    /// main;readAll 50          →    main;readAll 100
    /// thread;run;readAll 50
    /// ```
    pub(super) fn took_over(&self, row: &Hypothesis) -> bool {
        let called = self.holders(row, row.points, |other| other.new_share, |old, new| old < new);
        let is_taken = |other: &&Hypothesis| {
            // The row may be that of its own code.
            let total = self.examiner.total(other.function, other.unit);
            let (old, new) = self.examiner.model.comparable_shares(&total);
            let (old_here, new_here) = self.shares_below(row, other.function);
            let is_all_here = other.old > 0.0 && new_here >= COVERS * new;
            is_all_here && (old_here < GONE * new_here || self.gone_called(other, old - old_here))
        };
        let taken = called.into_iter().map(|(_, other)| other).filter(is_taken).collect();
        self.hold_most(row, taken, |counts| self.hardly_changed(row, counts))
    }

    /// Whether functions that are gone made nearly all calls of a function that cost this share.
    fn gone_called(&self, callee: &Hypothesis, share: f64) -> bool {
        let is_gone = |row: &&Hypothesis| {
            row.measure == CountKind::Total
                && row.new_share < GONE * row.old_share
                && row.old_share >= COVERS * share
                && self.examiner.stacks.includes(row.function, callee.function)
        };
        let mut gone = self.comparison.hypotheses.iter().filter(is_gone);
        gone.any(|gone| self.shares_below(gone, callee.function).0 >= COVERS * share)
    }

    /// The function which calls that of a row in exchange for something dearer: all that this total gained comes from new calls of
    /// a function that became cheaper by more. One that calls nothing is called from many places, so there it has to be the nearest
    /// caller that was there before. That may have called a function of a library before, too, whose code did not change.
    ///
    /// ```text
    /// main;render;scan 80    →    main;render;lookup 6
    /// main;pay;lookup 20          main;pay;lookup 20
    /// ```
    pub(super) fn cheaper_caller(&self, row: &Hypothesis) -> Option<usize> {
        let alpha = self.comparison.options.alpha;
        let is_cheaper = |other: &&Hypothesis| {
            other.measure == CountKind::Total && other.decrease.q < alpha && -other.points >= row.points
        };
        let is_library = self.examiner.stacks.is_library(row.function);
        let user = if is_library { self.examiner.nearest_user(row) } else { None };
        let gained_below = |caller: &&Hypothesis| {
            let (old, new) = self.shares_below(caller, row.function);
            let are_new_calls = || old < GONE * new || user == Some(caller.function);
            new - old >= COVERS * row.points && are_new_calls()
        };
        let nearest = (row.measure == CountKind::SelfCount).then(|| self.nearest_known_caller(row));
        let is_near = |caller: &&Hypothesis| nearest.is_none_or(|nearest| nearest == Some(caller.function));
        let all = self.comparison.hypotheses.iter().filter(is_cheaper).filter(is_near);
        let callers = all.filter(|caller| {
            caller.function != row.function && self.examiner.stacks.includes(caller.function, row.function)
        });
        callers.filter(gained_below).min_by(|a, b| a.new.total_cmp(&b.new)).map(|caller| caller.function)
    }

    /// The nearest caller on the new side of which the old side had more than next to nothing.
    fn nearest_known_caller(&self, row: &Hypothesis) -> Option<usize> {
        let is_known = |&caller: &usize| {
            let (old, new) = self.examiner.model.comparable_shares(&self.examiner.total(caller, row.unit));
            old >= APPEARED * new
        };
        self.examiner.callers(row, Side::New).into_iter().find(is_known)
    }

    /// The function of the program which calls that of a row, one of a library, more in exchange for another one of a library: below
    /// it, the other lost what this one gained, and both together are not known to have grown.
    ///
    /// ```text
    /// flips;growslice 117    →    flips;growslice 34
    /// flips;moveslice 12          flips;moveslice 68
    /// ```
    pub(super) fn exchanging_caller(&self, row: &Hypothesis) -> Option<usize> {
        if !self.examiner.stacks.is_library(row.function) {
            return None;
        }
        let others: Vec<&Hypothesis> = self
            .comparison
            .hypotheses
            .iter()
            .filter(|other| {
                other.decrease.p < SURE
                    && -other.points >= row.points / 2.0
                    && self.examiner.stacks.is_library(other.function)
            })
            .collect();
        if others.is_empty() {
            return None;
        }
        let gained_below = |caller: &Hypothesis, function: usize| {
            let (old, new) = self.shares_below(caller, function);
            new - old
        };
        let exchanges = |caller: &&Hypothesis| {
            let lost_by = |other: &&Hypothesis| {
                (row.old > 0.0 || self.takes_the_place_of(row, other))
                    && gained_below(caller, other.function) <= COVERS * other.points
                    && self.together_did_not_grow(row, other, caller)
            };
            gained_below(caller, row.function) >= COVERS * row.points && others.iter().any(lost_by)
        };
        let is_caller = |caller: &&Hypothesis| {
            caller.measure == CountKind::Total
                && caller.old > 0.0
                && !self.examiner.stacks.is_library(caller.function)
                && row.points >= LEAST_PART * caller.old_share.max(caller.new_share)
                && self.examiner.stacks.includes(caller.function, row.function)
        };
        let mut callers: Vec<&Hypothesis> = self.comparison.hypotheses.iter().filter(is_caller).collect();
        callers.sort_by(|a, b| a.new.total_cmp(&b.new).then(a.function.cmp(&b.function)));
        callers.into_iter().take(CANDIDATES).find(exchanges).map(|caller| caller.function)
    }

    /// The function of the program that did itself what a library does for it now, or the other way round, if both together are not
    /// known to have grown: of the work that one of them gained, the other one lost at least half.
    ///
    /// ```text
    /// main;digest 90    →    main;digest 4
    ///                        main;digest;sha1 86
    /// ```
    pub(super) fn exchanging_itself(&self, row: &Hypothesis) -> Option<usize> {
        let is_library = |function: usize| self.examiner.stacks.is_library(function);
        let has_lost = |other: &&Hypothesis| other.decrease.p < SURE && -other.points >= row.points / 2.0;
        let exchanges = |own: usize, library: usize, lost: f64| {
            let Some(whole) = self.total_of(own) else { return false };
            let (old, new) = self.shares_below(whole, library);
            let mut both = self.examiner.own(own, row.unit);
            both.add(&self.examiner.spent_in(own, &[library], row.unit));
            // Most of what the library gained or lost is below that function.
            (new - old) * lost.signum() >= COVERS * lost.abs()
                && self.examiner.growth(&both) < row.points / 2.0
                && self.examiner.may_be_unchanged(&both, CountKind::SelfCount, row.points)
        };
        let mut others: Vec<&Hypothesis> = self.comparison.hypotheses.iter().filter(has_lost).collect();
        others.sort_by(|a, b| a.points.total_cmp(&b.points).then(a.function.cmp(&b.function)));
        if is_library(row.function) {
            let is_caller = |other: &&&Hypothesis| {
                other.measure == CountKind::SelfCount
                    && !is_library(other.function)
                    && self.examiner.stacks.includes(other.function, row.function)
                    && exchanges(other.function, row.function, row.points)
            };
            return others.iter().take(CANDIDATES).find(is_caller).map(|other| other.function);
        }
        // Own code may be all that a function has.
        let is_whole =
            |other: &Hypothesis| other.measure == CountKind::Total || self.total_of(other.function).is_none();
        let is_callee = |other: &&&Hypothesis| {
            is_whole(other)
                && is_library(other.function)
                && self.examiner.stacks.includes(row.function, other.function)
                && exchanges(row.function, other.function, other.points)
        };
        let is_own = row.measure == CountKind::SelfCount && row.old > 0.0;
        is_own.then(|| others.iter().take(CANDIDATES).find(is_callee).map(|_| row.function))?
    }

    /// Whether a new function is called from where one was called that is gone.
    fn takes_the_place_of(&self, row: &Hypothesis, gone: &Hypothesis) -> bool {
        let nearest = |row: &Hypothesis, side: Side| self.examiner.callers(row, side).first().copied();
        gone.new_share < GONE * gone.old_share && nearest(row, Side::New) == nearest(gone, Side::Old)
    }

    /// Whether what a caller spends in two functions together is not known to have grown, nor much more probably grew by what the
    /// first one gained than not.
    fn together_did_not_grow(&self, row: &Hypothesis, other: &Hypothesis, caller: &Hypothesis) -> bool {
        let both = self.examiner.spent_in(caller.function, &[row.function, other.function], row.unit);
        let hardly_grew = || self.examiner.growth(&both) < HARDLY * row.points;
        (row.old > 0.0 || hardly_grew())
            && self.examiner.may_be_unchanged(&both, CountKind::Total, row.points)
    }

    /// The functions of a share that matters for a change of `points` which a function no longer calls, although they cost
    /// about as much as before.
    pub(super) fn given_away(&self, row: &Hypothesis, points: f64, left: f64) -> Vec<&Hypothesis> {
        let no_longer_calls = |old: f64, new: f64| new < left * old;
        let given = self.holders(row, points, |other| other.old_share, no_longer_calls);
        // What it lost by this was not lost altogether: code that was inlined here while it became dearer elsewhere was not given away.
        let is_elsewhere = |(change, other): &(f64, &Hypothesis)| {
            self.examiner.growth(&self.examiner.total(other.function, other.unit)) >= LOST * change
        };
        given.into_iter().filter(is_elsewhere).map(|(_, other)| other).collect()
    }

    /// The functions below that of a row of which a share that matters for a change of `points` came or went with its calls, and
    /// by how much. `share` is that of the side that has the calls; whether they came or went is known from the shares of the
    /// calls on both sides.
    fn holders(
        &self,
        row: &Hypothesis,
        points: f64,
        share: impl Fn(&Hypothesis) -> f64,
        came_or_went: impl Fn(f64, f64) -> bool,
    ) -> Vec<(f64, &Hypothesis)> {
        let least = LEAST_HELD * points;
        let mut holders: Vec<&Hypothesis> = self.below(row, |other| share(other) >= least).collect();
        holders.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a.function.cmp(&b.function)));
        holders.truncate(CANDIDATES);
        let (whole_old, whole_new) = self.shares(row, &[]);
        let rests = self.shares_without_each(row, &holders);
        let with_change = holders.into_iter().zip(rests).filter_map(|(other, (old_rest, new_rest))| {
            let (old, new) = (whole_old - old_rest, whole_new - new_rest);
            (old.max(new) >= least && came_or_went(old, new)).then_some((new - old, other))
        });
        with_change.collect()
    }

    /// The functions below that of a row for which `is_wanted` holds, which takes less time to find out.
    fn below(
        &self,
        row: &Hypothesis,
        is_wanted: impl Fn(&Hypothesis) -> bool,
    ) -> impl Iterator<Item = &Hypothesis> {
        self.comparison.hypotheses.iter().filter(move |other| {
            other.function != row.function
                && is_wanted(other)
                && self.examiner.stacks.includes(row.function, other.function)
        })
    }

    /// The shares of a function on both sides that it spends in another one, directly or not.
    fn shares_below(&self, caller: &Hypothesis, function: usize) -> (f64, f64) {
        let (whole, rest) = (self.shares(caller, &[]), self.shares(caller, &[function]));
        (whole.0 - rest.0, whole.1 - rest.1)
    }

    /// The shares of a function on both sides, without the stacks through others.
    fn shares(&self, row: &Hypothesis, through: &[usize]) -> (f64, f64) {
        let through = ExcludedStacks { through, ending: false };
        self.examiner.model.comparable_shares(&self.examiner.row_without(row, through))
    }

    /// The same without the stacks through each of some other functions in turn: a large one calls hundreds.
    fn shares_without_each(&self, row: &Hypothesis, others: &[&Hypothesis]) -> Vec<(f64, f64)> {
        let functions: Vec<usize> = others.iter().map(|other| other.function).collect();
        let counts = self.examiner.row_without_each(row, &functions).into_iter();
        counts.map(|counts| self.examiner.model.comparable_shares(&counts)).collect()
    }

    /// Whether counts cannot have changed by half as much as a row, in the same direction.
    fn hardly_changed(&self, row: &Hypothesis, counts: &RunCounts) -> bool {
        let most = self.examiner.max_change(counts, CountKind::Total, row.points.signum());
        most < row.points.abs() / 2.0
    }

    /// Whether these functions hold more than half of what a total gained or lost, although together they did not change as that did.
    fn hold_most(
        &self,
        row: &Hypothesis,
        candidates: Vec<&Hypothesis>,
        is_unchanged: impl Fn(&RunCounts) -> bool,
    ) -> bool {
        let sign = row.points.signum();
        let changed = |(old, new): (f64, f64)| sign * (new - old);
        let changed_without = |through: &[usize]| changed(self.shares(row, through));
        let whole = changed_without(&[]);
        let rests = self.shares_without_each(row, &candidates).into_iter();
        let mut candidates: Vec<(f64, &Hypothesis)> =
            rests.zip(candidates).map(|(rest, other)| (whole - changed(rest), other)).collect();
        // Those that hold most of it; of several that hold all, one that moved, else the smallest, which has the fewest other callers.
        let rank = |row: &Hypothesis| (row.old > 0.0, if sign > 0.0 { row.new } else { row.old });
        candidates.sort_by(|(a, one), (b, other)| {
            let ((known, size), (other_known, other_size)) = (rank(one), rank(other));
            b.total_cmp(a).then(known.cmp(&other_known)).then(size.total_cmp(&other_size))
        });
        let (mut through, mut left) = (Vec::new(), whole);
        let mut held: Option<RunCounts> = None;
        // Nor does one that holds next to nothing by itself.
        for (_, other) in candidates.into_iter().take_while(|(holds, _)| *holds >= LEAST_HELD * whole) {
            let total = self.examiner.total(other.function, row.unit);
            // The outermost function, or one that is called from everywhere, shows nothing.
            if other.old > 0.0 && !is_unchanged(&total) {
                continue;
            }
            through.push(other.function);
            let rest = changed_without(&through);
            // What is below a function that was counted adds nothing.
            if left - rest < LEAST_HELD * whole {
                through.pop();
                continue;
            }
            left = rest;
            if other.old > 0.0 {
                match &mut held {
                    Some(held) => held.add(&total),
                    None => held = Some(total),
                }
            }
            if left < whole / 2.0 || through.len() == MOST_HOLDERS {
                break;
            }
        }
        left < whole / 2.0 && held.is_none_or(|held| is_unchanged(&held))
    }
}
