//! What did not become slower but only moved: extracted and inlined functions, and those of another name or place.

use crate::name::is_built_in;
use crate::report::{CauseKind, DiffCause, Matched};
use crate::stats::compare::{Cause, Hypothesis, taken_out_of};
use crate::stats::model::GONE;
use crate::stats::{CountKind, Verdict};
use crate::view::diff::causes::flow::Flow;

/// Of a function that grew by so many times what its own code gained, that is a small part.
const SMALL_PART: f64 = 2.0;

/// The functions whose cost was elsewhere before, and those that are matched under another name or place. Functions of which the
/// `causes` say that they grew did not only move.
pub(super) fn moves(flow: &Flow<'_, '_>, matched: &[Matched], causes: &[DiffCause]) -> Vec<DiffCause> {
    let mut moves: Vec<DiffCause> = matched_moves(flow, matched);
    let name = |function: usize| flow.name(function).clone();
    let has_moved = |row: &&Hypothesis| row.verdict == Verdict::Moved && row.points >= 0.0;
    let mut rows: Vec<_> = flow.comparison.hypotheses.iter().filter(has_moved).collect();
    rows.sort_by(|a, b| b.points.total_cmp(&a.points));
    for row in rows {
        let function = name(row.function);
        // Its own code may have been elsewhere while what it calls was not.
        let grew = |other: &Hypothesis| {
            let inherits = other.verdict == Verdict::Inherits && other.points > SMALL_PART * row.points;
            other.function == row.function && (other.verdict == Verdict::Regressed || inherits)
        };
        if flow.comparison.hypotheses.iter().any(grew) {
            continue;
        }
        let is_cause = |cause: &DiffCause| cause.function == function || cause.path.contains(&function);
        if moves.iter().any(|made| made.function == function) || causes.iter().any(is_cause) {
            continue;
        }
        let (caller, from, loser) = match row.cause {
            Some(Cause::Moved { caller, from, loser }) => (caller, from, loser),
            Some(Cause::Wraps { caller }) => {
                let of = caller.map(name);
                moves.push(DiffCause { of, ..DiffCause::new(CauseKind::Moved, function, row.measure) });
                continue;
            }
            _ => continue,
        };
        // If `min()` does now what `cost` did, `cost` has no other name.
        if from.is_some() && is_built_in(&function) {
            continue;
        }
        // Nor has `escape` if `String.replaceAll` does its work, or if several functions do: it has one name at most. Functions of
        // libraries keep their names, and are not taken out of the program.
        let is_of_library = flow.is_library(row.function);
        let is_renamed = |from: usize| {
            let is_same = |made: &DiffCause| {
                made.cause == CauseKind::Renamed && made.of.as_ref() == Some(flow.name(from))
            };
            !flow.is_library(from) && !is_of_library && !moves.iter().any(is_same)
        };
        let (cause, of) = match (from, row.old > 0.0) {
            (Some(from), _) if is_renamed(from) => (CauseKind::Renamed, Some(from)),
            (Some(_), _) => (CauseKind::Moved, caller),
            (None, false) if flow.total(row.function).is_new() => {
                let place = taken_out_of(row, &flow.comparison.hypotheses).filter(|_| !is_of_library);
                let kind = if place.is_some() { CauseKind::Extracted } else { CauseKind::Moved };
                (kind, place.or(caller))
            }
            (None, _) => match inlined(flow, row, loser) {
                Some(callee) => (CauseKind::Inlined, Some(callee)),
                None => (CauseKind::Moved, caller),
            },
        };
        let of = of.map(name);
        moves.push(DiffCause { of, ..DiffCause::new(cause, function, row.measure) });
    }
    let gone = gone_into_hosts(flow, &moves);
    moves.extend(gone);
    moves
}

/// The functions that are gone because their code is in another one now.
fn gone_into_hosts(flow: &Flow<'_, '_>, moves: &[DiffCause]) -> Vec<DiffCause> {
    let mut found: Vec<DiffCause> = Vec::new();
    for &(gone, host, measure) in flow.inlined() {
        let of = Some(flow.name(gone).clone());
        if !moves.iter().chain(&found).any(|made| made.of == of) {
            let host = flow.name(host).clone();
            found.push(DiffCause { of, ..DiffCause::new(CauseKind::Inlined, host, measure) });
        }
    }
    found
}

/// The function that this one called, that is gone, and whose own code is what this one's own code grew by. Stacks that were
/// followed by frame pointers lack the caller of some leaves, so that compiled code counts as called if it was called from the same place.
fn inlined(flow: &Flow<'_, '_>, row: &Hypothesis, loser: Option<usize>) -> Option<usize> {
    let is_gone = |function: &usize| {
        let own = flow.own(*function);
        own.new_share < GONE * own.old_share
    };
    let is_called = |callee: usize| flow.callers(callee).iter().any(|(caller, _)| *caller == row.function);
    let gone = flow.comparison.removed.iter().filter(|gone| gone.measure == CountKind::SelfCount);
    let largest = gone
        .filter(|gone| gone.share >= row.points / 2.0 && is_called(gone.function))
        .max_by(|a, b| a.share.total_cmp(&b.share))
        .map(|gone| gone.function);
    let may_be_called = |callee: usize| is_called(callee) || flow.has_addresses(callee);
    loser.filter(|loser| is_gone(loser) && may_be_called(*loser)).or(largest)
}

/// What the matching of functions says: those of another name, and those in another place, the heaviest first. Own code
/// counts, and so does what it calls: of a parser in another package, people know the function that starts it, and not
/// the one that skips blanks.
fn matched_moves(flow: &Flow<'_, '_>, matched: &[Matched]) -> Vec<DiffCause> {
    let cause = |matched: &Matched| {
        let kind = match matched.how {
            "renamed" | "normalised" | "given" => CauseKind::Renamed,
            "relocated" => CauseKind::Moved,
            _ => return None,
        };
        let function = flow.function(&matched.new)?;
        let (own, total) = (flow.own(function), flow.total(function));
        let least = flow.comparison.options.min_tested;
        let of = Some(matched.old.clone());
        let made = DiffCause { of, ..DiffCause::new(kind, matched.new.clone(), CountKind::Total) };
        let weight = own.old_share + own.new_share + total.old_share + total.new_share;
        (total.old_share.max(total.new_share) >= least).then_some((weight, made))
    };
    let mut moves: Vec<(f64, DiffCause)> = matched.iter().filter_map(cause).collect();
    moves.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    moves.into_iter().map(|(_, cause)| cause).collect()
}
