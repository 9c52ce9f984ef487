//! What shows that something is the cause of a change, in words.

use crate::name::{clean, split_place};
use crate::output::diff::words;
use crate::report::{CauseKind, Diff, DiffCause, Growth, MixChange, Name, RowTest};
use crate::unit::{self, Family, Unit};

/// No more kinds of work than this are named.
const MOST_NAMED: usize = 4;

/// What shows that it is so: `equally from all 3 callers, so the function itself changed`. Names are shortened by `name`.
pub(in crate::output) fn evidence(diff: &Diff, cause: &DiffCause, name: impl Fn(&str) -> String) -> String {
    if let Some(place) = place(cause, &name) {
        return place;
    }
    let told = Told { diff, cause, name: &name };
    let evidence = match cause.cause {
        CauseKind::NewPath => told.path(),
        CauseKind::CalledLess if is_removed_path(cause) => told.path(),
        CauseKind::Mix => diff.mix.as_ref().map(|mix| mix_of_work(mix, &name)).unwrap_or_default(),
        CauseKind::Gc => told.collection(),
        _ => told.of_calls().unwrap_or_else(|| told.of_growth()),
    };
    match (cause.caller_points, cause.path.first()) {
        (Some(points), Some(caller)) => format!(
            "{evidence}; {} of it in the own code of {}, which {} these calls",
            words::change(diff, points),
            name(caller),
            told.either("makes", "made")
        ),
        _ => evidence,
    }
}

/// A cause that is told, and how names are shortened.
struct Told<'d, N> {
    diff: &'d Diff,
    cause: &'d DiffCause,
    name: N,
}

impl<N: Fn(&str) -> String> Told<'_, N> {
    /// The one word for what costs more, the other for what costs less.
    fn either<'w>(&self, grew: &'w str, shrank: &'w str) -> &'w str {
        if self.cause.explains_saving() { shrank } else { grew }
    }

    /// The names along the calls.
    fn path(&self) -> String {
        self.cause.path.iter().map(|function| (self.name)(function)).collect::<Vec<_>>().join(" → ")
    }

    /// The name at a place of the path.
    fn at(&self, place: usize) -> String {
        self.cause.path.get(place).map(|function| (self.name)(function)).unwrap_or_default()
    }

    fn first(&self) -> String {
        self.at(0)
    }

    fn last(&self) -> String {
        self.at(self.cause.path.len().saturating_sub(1))
    }

    fn collection(&self) -> String {
        let (more, grew) = (self.either("more", "less"), self.either("grew", "shrank"));
        match &self.cause.of {
            Some(collector) if *collector != self.cause.function => format!(
                "the collector ({}) has {more} work; this function's allocations {grew} most",
                (self.name)(collector)
            ),
            _ => format!("the collector has {more} work"),
        }
    }

    /// Where calls are counted, and their number is what changed.
    fn of_calls(&self) -> Option<String> {
        let is_about_calls = matches!(self.cause.cause, CauseKind::CalledMore | CauseKind::CalledLess);
        let calls = words::how_often_called(self.cause.calls.filter(|_| is_about_calls)?);
        Some(match self.cause.growth {
            Growth::OneCaller => {
                format!("{calls}; only {} calls it {} often", self.first(), self.either("more", "less"))
            }
            _ => calls,
        })
    }

    /// Where the growth is, or what was saved.
    fn of_growth(&self) -> String {
        let (more, many) = (self.either("more", "less"), self.either("more", "fewer"));
        match self.cause.growth {
            Growth::Itself => self.of_itself(),
            Growth::AllCallers(count) => {
                format!("equally from all {count} callers, so the function itself changed")
            }
            Growth::OneCaller => format!("only when called from {}", self.first()),
            Growth::FurtherCall => format!("{} calls it in {many} places than before", self.first()),
            Growth::Whole => format!(
                "its own code and everything that it calls {}: {many} calls, or {more} work per call",
                self.either("grew", "shrank")
            ),
            Growth::NewCallee => self.of_new_callee(),
            Growth::OneCallee if self.cause.path.len() > 2 => {
                format!("in {}, which it calls through {}", self.last(), self.at(1))
            }
            Growth::OneCallee => format!("in {}, which it calls", self.last()),
        }
    }

    fn of_itself(&self) -> String {
        let cause = self.cause;
        let is_own = cause.test == RowTest::SelfCount;
        if cause.path.len() > 1 && is_at_end_of_path(cause) {
            return format!("{} {}", self.either("called from", "was called from"), self.first());
        }
        if cause.ratio.is_none() && cause.path.is_empty() {
            let call = self.either("call", "have called");
            return format!("no function of the program is known to {call} it");
        }
        if is_own && cause.calls.is_none() {
            // Of code that runs twice as long, samples do not say whether it runs twice.
            let (more, many) = (self.either("more", "less"), self.either("more", "fewer"));
            return format!("in its own code: {more} work per call, or {many} calls");
        }
        if is_own {
            return "in its own code".to_string();
        }
        if cause.path.len() > 1 && cause.path.first() == Some(&cause.function) {
            return format!("in its own code and in {}, which it calls", self.last());
        }
        "in its own code and in what it calls".to_string()
    }

    /// A function that it calls now, or no longer.
    fn of_new_callee(&self) -> String {
        let is_way = self.cause.path.len() > 2;
        let is_new = |place: usize| is_new(self.diff, self.cause.path.get(place));
        match (self.cause.explains_saving(), is_way) {
            (true, true) => format!("it no longer calls {}, which led to {}", self.at(1), self.last()),
            (true, false) => format!("it no longer calls {}", self.last()),
            (false, true) => {
                format!("it calls {}, {} and leads to {}", self.at(1), is_new(1), self.last())
            }
            (false, false) => {
                format!("it calls {}, {}", self.last(), is_new(self.cause.path.len().saturating_sub(1)))
            }
        }
    }
}

/// Whether a function is no longer called along a path.
pub(in crate::output) fn is_removed_path(cause: &DiffCause) -> bool {
    cause.cause == CauseKind::CalledLess
        && cause.growth == Growth::Itself
        && cause.path.len() > 1
        && is_at_end_of_path(cause)
}

/// Whether a path leads to the function of a cause: from callers that are new, or that call it now.
fn is_at_end_of_path(cause: &DiffCause) -> bool {
    cause.ratio.is_none() || cause.path.last() == Some(&cause.function)
}

/// What is said of a function that only the new side has. It may have been there without being hit, or without allocating.
fn is_new(diff: &Diff, function: Option<&Name>) -> &'static str {
    let is_memory = Unit::parse(&diff.header.metric.unit).family() == Family::Bytes;
    // What had the name is called otherwise now.
    let had_it = |function: &Name| {
        let name = split_place(function, "").0;
        diff.matched.iter().any(|pair| split_place(&pair.old, "").0 == name && pair.new != *function)
    };
    if function.is_some_and(had_it) {
        "which is new under this name"
    } else if is_memory {
        "which did not allocate before"
    } else {
        "which was not seen before"
    }
}

/// `work per run: route=/report ×1.72, route=/search ×0.55; all code of each changed alike …`
fn mix_of_work(mix: &MixChange, name: impl Fn(&str) -> String) -> String {
    let changed = mix.kinds.iter().filter_map(|kind| Some((kind, kind.ratio?)));
    let mut parts: Vec<String> = changed
        .map(|(kind, ratio)| {
            let kind = match &mix.label {
                Some(label) => format!("{}={}", clean(label), clean(&kind.name)),
                None => name(&kind.name),
            };
            format!("{kind} {}", unit::ratio(ratio))
        })
        .collect();
    if parts.len() > MOST_NAMED {
        let more = parts.len() - MOST_NAMED;
        parts.truncate(MOST_NAMED);
        parts.push(format!("{more} more"));
    }
    let has = |is: fn(f64) -> bool| mix.kinds.iter().filter_map(|kind| kind.ratio).any(is);
    let is_trade = has(|ratio| ratio > 1.0) && has(|ratio| ratio < 1.0);
    let meaning = match &mix.label {
        Some(_) if is_trade => "so there were more or fewer requests, not dearer ones",
        // A collector has more to do for requests that allocate more.
        Some(_) => {
            "as if there were more or fewer requests, unless something else slowed down all that they do, such as a \
             collector; if every run does the same work, use --normalize none"
        }
        // Callees of one function may be requests, or the stages of each.
        None => {
            "as if there were more or fewer requests; if every run does the same work, use --normalize none"
        }
    };
    format!("work per run: {}; all code of each changed alike, {meaning}", parts.join(", "))
}

/// What only changed its name or place, in words: `readHeader extracted from parse`. `None` if the cause is none of these.
pub(in crate::output) fn place(cause: &DiffCause, name: impl Fn(&str) -> String) -> Option<String> {
    let function = name(&cause.function);
    let of = cause.of.as_deref().map(&name);
    Some(match (cause.cause, of) {
        (CauseKind::Inlined, Some(callee)) => format!("{callee} inlined into {function}"),
        (CauseKind::Extracted, Some(caller)) => format!("{function} extracted from {caller}"),
        (CauseKind::Moved, None) if cause.test == RowTest::Total => {
            format!("what {function} calls was called from elsewhere before")
        }
        (CauseKind::Extracted | CauseKind::Moved, None) => {
            format!("the work of {function} was elsewhere before")
        }
        (CauseKind::Moved, Some(caller)) if caller == function => {
            format!("{function} does itself what it called before")
        }
        (CauseKind::Moved, Some(caller)) => {
            format!("the work of {function} was elsewhere below {caller} before")
        }
        (CauseKind::Renamed, Some(old)) => format!("{old} → {function} (renamed)"),
        _ => return None,
    })
}
