//! The causes of a comparison in words: what explains the growth, and what only moved.

use crate::name::{clean, quoted};
use crate::output::command;
use crate::output::diff::evidence::{evidence, is_removed_path, place};
use crate::output::diff::words;
use crate::output::style::Explain;
use crate::report::{
    CauseKind, CauseSummary, Diff, DiffCause, DiffRow, DiffSide, Growth, MixChange, TotalGrowth,
};
use crate::unit::{self, decimals, percentage};

/// The causes shown explain this part of the growth, from 0 to 1, unless all are asked for.
const MOST: f64 = 0.8;
/// Causes that explain less of the growth than this, from 0 to 1, are not mentioned.
const LEAST: f64 = 0.005;
/// No more causes than this are shown, unless all are asked for.
const MOST_SHOWN: usize = 5;
/// No more moved functions than this are named, unless all are asked for.
const MOST_MOVED: usize = 4;

/// The causes to show of what became more expensive, or of what became cheaper, and what the others explain together.
pub(in crate::output) struct Shown<'d> {
    pub(in crate::output) causes: Vec<&'d DiffCause>,
    others: Vec<&'d DiffCause>,
    is_saving: bool,
}

impl<'d> Shown<'d> {
    /// What became more expensive; `None` if nothing is asked for, or nothing did.
    pub(in crate::output) fn growth(diff: &'d Diff, explain: Explain) -> Option<Self> {
        // What explains 0 % is no news, unless it is that the mix of work changed.
        let is_shown = |cause: &&DiffCause| {
            cause.explains_growth() && (cause.explains >= LEAST || cause.cause == CauseKind::Mix)
        };
        Self::of(&diff.causes.iter().filter(is_shown).collect::<Vec<_>>(), explain, false)
    }

    /// What became cheaper.
    pub(in crate::output) fn savings(diff: &'d Diff, explain: Explain) -> Option<Self> {
        let is_shown = |cause: &&DiffCause| cause.explains_saving() && cause.explains >= LEAST;
        Self::of(&diff.causes.iter().filter(is_shown).collect::<Vec<_>>(), explain, true)
    }

    /// What became more expensive, then what became cheaper.
    pub(in crate::output) fn both(diff: &'d Diff, explain: Explain) -> Vec<Self> {
        let both = [Self::growth(diff, explain), Self::savings(diff, explain)];
        both.into_iter().flatten().collect()
    }

    fn of(all: &[&'d DiffCause], explain: Explain, is_saving: bool) -> Option<Self> {
        if all.is_empty() || explain == Explain::Nothing {
            return None;
        }
        let mut explained = 0.0;
        let mut count = 0;
        while count < all.len() && (explain == Explain::All || (explained < MOST && count < MOST_SHOWN)) {
            explained += all[count].explains;
            count += 1;
        }
        let (causes, others) = all.split_at(count);
        let others = others.iter().copied().filter(|cause| cause.explains >= LEAST).collect();
        Some(Shown { causes: causes.to_vec(), others, is_saving })
    }

    /// `+9.8% in total (95% CI 7.1 to 12.6): 2 causes explain 92% of it`
    pub(in crate::output) fn headline(&self, diff: &Diff) -> String {
        let count = self.causes.len();
        if self.causes.iter().all(|cause| cause.cause == CauseKind::Mix && cause.explains <= 0.0) {
            return "the mix of work changed".to_string();
        }
        let causes =
            if count == 1 { "1 cause explains".to_string() } else { format!("{count} causes explain") };
        match diff.growth {
            Some(TotalGrowth { percent, low, high }) if self.is_certain(diff) => {
                // Nothing is uncertain about a ratio that was given.
                let digits = digits_of_growth(percent);
                let interval = (low < high)
                    .then(|| format!("95% CI {} to {}", signed(low, digits), signed(high, digits)));
                let recorded = as_recorded(diff, percent, digits);
                let rescaled = if recorded.is_some() { " after rescaling" } else { "" };
                let details: Vec<String> = interval.into_iter().chain(recorded).collect();
                let details =
                    if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) };
                let sum: f64 = self.causes.iter().map(|cause| cause.points).sum();
                let end = if self.is_saving { -low } else { high };
                let found = if sum.abs() > end.max(MUCH_MORE * percent.abs()) {
                    let (count, sum) = (count_of(count), words::change(diff, sum));
                    let other = if self.is_saving { MORE_EXPENSIVE } else { CHEAPER };
                    format!("{count}, {sum}; other code {other}")
                } else {
                    // All causes together may be more than the growth of the whole, which is what this is a part of.
                    format!("{causes} {:.0}% of it", (sum / percent).clamp(0.0, 1.0) * 100.0)
                };
                format!("{} in total{rescaled}{details}: {found}", percentage(percent, digits))
            }
            _ => {
                // The growth of the whole is an estimate, of which causes are the part that is certain.
                let (became, changed) =
                    if self.is_saving { (CHEAPER, "shrank") } else { (MORE_EXPENSIVE, "grew") };
                let rest = if self.explains_all() {
                    String::new()
                } else {
                    format!("; that the rest {changed} is not certain")
                };
                let explained: f64 = self.causes.iter().map(|cause| cause.explains).sum();
                let explained = format!("{:.0}%", (explained * 100.0).min(100.0));
                format!("{causes} {explained} of what {became}{rest}")
            }
        }
    }

    /// Whether the whole certainly changed in this direction.
    fn is_certain(&self, diff: &Diff) -> bool {
        diff.growth.is_some_and(|growth| if self.is_saving { growth.high < 0.0 } else { growth.low > 0.0 })
    }

    /// Whether all causes together, with those that are not shown, explain what grew.
    fn explains_all(&self) -> bool {
        let explained: f64 = self.causes.iter().chain(&self.others).map(|cause| cause.explains).sum();
        explained >= MOST
    }

    /// `3 smaller causes: +2.1pt together (--explain lists them); 12% is unexplained`
    pub(in crate::output) fn rest(&self, diff: &Diff) -> Option<String> {
        let points: f64 = self.others.iter().map(|cause| cause.points).sum();
        let points = words::change(diff, points);
        let others = match self.others.len() {
            0 => None,
            1 => Some(format!("1 smaller cause: {points} (--explain lists it)")),
            several => Some(format!("{several} smaller causes: {points} together (--explain lists them)")),
        };
        let parts: Vec<String> = others.into_iter().chain(self.unexplained(diff)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// `12% is unexplained`: what no cause explains of a change that is certain, if anything explains some.
    fn unexplained(&self, diff: &Diff) -> Option<String> {
        if !self.is_certain(diff) {
            return None;
        }
        let is_part = |cause: &&DiffCause| cause.explains_saving() == self.is_saving;
        let explained: f64 = diff.causes.iter().filter(is_part).map(|cause| cause.explains).sum();
        let rest = ((1.0 - explained) * 100.0).round();
        (explained > 0.0 && rest >= 1.0).then(|| format!("{rest:.0}% is unexplained"))
    }
}

/// What happened to code that costs more, or less, than it did.
const MORE_EXPENSIVE: &str = "became more expensive";
const CHEAPER: &str = "became cheaper";

/// `7.1` or `−10.1`
fn signed(percent: f64, digits: usize) -> String {
    let sign = if percent < 0.0 { "−" } else { "" };
    format!("{sign}{}", decimals(percent.abs(), digits))
}

/// Causes that add up to this many times the growth of the whole, and certainly to more, are no part of it.
const MUCH_MORE: f64 = 1.1;

/// `1 cause`, `2 causes together`
fn count_of(causes: usize) -> String {
    if causes == 1 { "1 cause".to_string() } else { format!("{causes} causes together") }
}

/// `+11.1% as recorded`, if that is clearly another number: the lines of the sides have the recorded values.
fn as_recorded(diff: &Diff, percent: f64, digits: usize) -> Option<String> {
    let text = |recorded: f64| format!("{} as recorded", percentage(recorded, digits));
    recorded_growth(diff).filter(|recorded| (recorded - percent).abs() >= SIMILAR_GROWTH).map(text)
}

/// Whether the growth of the total is clearly another one than that of the recorded values.
pub(in crate::output) fn is_rescaled(diff: &Diff) -> bool {
    diff.growth.is_some_and(|growth| as_recorded(diff, growth.percent, 0).is_some())
}

/// Memory that grew tenfold needs no tenths of a percent.
pub(in crate::output) fn digits_of_growth(percent: f64) -> usize {
    usize::from(percent < 100.0)
}

/// How much more a run of the new side has than one of the old side, in percent.
pub(in crate::output) fn recorded_growth(diff: &Diff) -> Option<f64> {
    let per_run = |side: &DiffSide| side.total as f64 / side.profiles.max(1) as f64;
    let old = per_run(&diff.old);
    (old > 0.0).then(|| (per_run(&diff.new) / old - 1.0) * 100.0)
}

/// Growth that differs by fewer percentage points is the same for a reader.
const SIMILAR_GROWTH: f64 = 0.5;

/// What happened to the function: `more expensive ×1.21 (1.15–1.27)`.
pub(in crate::output) fn change(cause: &DiffCause) -> String {
    let word = match (cause.cause, cause.calls) {
        (CauseKind::Dearer, _) if cause.ratio.is_none() => return "new".to_string(),
        // What it calls costs more, but of the whole that is not known.
        (CauseKind::Dearer, _) if is_uncertain(cause) => return "more expensive in part".to_string(),
        (CauseKind::Dearer, _) => "more expensive",
        (CauseKind::Cheaper, _) if cause.ratio.is_none() => return "removed".to_string(),
        (CauseKind::Cheaper, _) if is_uncertain(cause) => return "cheaper in part".to_string(),
        (CauseKind::Cheaper, _) => "cheaper",
        (CauseKind::CalledLess, None) if is_removed_path(cause) => return "call path removed".to_string(),
        (CauseKind::CalledLess, Some(_)) => "called less often",
        (CauseKind::CalledLess, None) if cause.growth == Growth::FurtherCall => "called less often",
        (CauseKind::CalledLess, None) => "less work",
        (CauseKind::CalledMore, Some(_)) => "called more often",
        (CauseKind::CalledMore, None) if cause.growth == Growth::FurtherCall => "called more often",
        (CauseKind::CalledMore, None) => "more work",
        (CauseKind::NewPath, _) => return "new call path".to_string(),
        (CauseKind::Mix, _) => return "different mix of work".to_string(),
        (CauseKind::Gc, _) => return "garbage collection".to_string(),
        (CauseKind::Renamed, _) => return "renamed".to_string(),
        (CauseKind::Moved, _) => return "moved".to_string(),
        (CauseKind::Extracted, _) => return "extracted".to_string(),
        (CauseKind::Inlined, _) => return "inlined".to_string(),
    };
    match (cause.ratio, cause.ratio_low, cause.ratio_high) {
        (Some(ratio), Some(low), Some(high)) => {
            format!("{word} {} ({}–{})", unit::ratio(ratio), unit::plain_ratio(low), unit::plain_ratio(high))
        }
        _ => word.to_string(),
    }
}

/// Whether a function may cost as much as before, although it makes a call that costs more, or less.
fn is_uncertain(cause: &DiffCause) -> bool {
    let is_call = matches!(cause.growth, Growth::NewCallee | Growth::OneCallee);
    let is_other_way = |ratio: f64| if cause.explains_saving() { ratio > 1.0 } else { ratio < 1.0 };
    let end = if cause.explains_saving() { cause.ratio_high } else { cause.ratio_low };
    is_call && end.is_some_and(is_other_way)
}

/// Adds what scripts print of each cause. The sides and options have to be known, which commands repeat.
pub fn summarise(diff: &mut Diff) {
    let summary = |cause: &DiffCause| {
        let evidence = evidence(diff, cause, |name| clean(name).into_owned());
        CauseSummary::new(cause, diff.old.compared, evidence, command(diff, cause))
    };
    let summaries: Vec<CauseSummary> = diff.causes.iter().map(summary).collect();
    for (cause, summary) in diff.causes.iter_mut().zip(summaries) {
        cause.summary = Some(summary);
    }
}

/// A sentence on the row of the function, if there is one, and on what shows the cause.
pub fn sentence(diff: &Diff, cause: &DiffCause) -> String {
    let evidence = evidence(diff, cause, |name| clean(name).into_owned());
    let is_row = |row: &&DiffRow| row.name == cause.function && row.test == cause.test;
    // The costs of a row are for equal amounts of work.
    let row = diff.rows.iter().find(is_row).filter(|_| cause.cause != CauseKind::Mix);
    let cost = row.map_or_else(
        || format!("{}: {}, {}", clean(&cause.function), change(cause), words::change(diff, cause.points)),
        |row| words::sentence(diff, row),
    );
    format!("{cost}; {evidence}")
}

/// The command that shows it; `None` if both sides are in one file, which other commands cannot compare.
pub(in crate::output) fn command(diff: &Diff, cause: &DiffCause) -> Option<String> {
    if diff.old.inputs == diff.new.inputs {
        return None;
    }
    let literal =
        |function: &str| if function.chars().any(|c| "()[]{}*+?^$|\\".contains(c)) { " -F" } else { "" };
    let focus = |function: &str| format!("focus{} {}", literal(function), quoted(function));
    let view = match (cause.cause, &diff.mix) {
        (CauseKind::Mix, Some(MixChange { label: Some(label), .. })) => {
            format!("top --by {}", quoted(&format!("label:{label}")))
        }
        (CauseKind::Mix, Some(MixChange { caller: Some(caller), .. })) => focus(caller),
        // Formats that count calls have no whole stacks.
        (CauseKind::NewPath | CauseKind::CalledLess, _)
            if cause.calls.is_none() && (cause.cause == CauseKind::NewPath || is_removed_path(cause)) =>
        {
            let function = cause.path.first().unwrap_or(&cause.function);
            format!("tree{} --focus {}", literal(function), quoted(function))
        }
        _ => focus(&cause.function),
    };
    let words: Vec<String> =
        [format!("prof {view}")].into_iter().chain(selected(diff)).chain([both_sides(diff)]).collect();
    Some(clean(&words.join(" ")).into_owned())
}

/// The options that make a view count what was compared: `-m alloc_space --thread worker`.
fn selected(diff: &Diff) -> impl Iterator<Item = String> {
    let metric = (!diff.default_metric).then(|| format!("-m {}", quoted(&diff.header.metric.name)));
    let options = diff.options.iter().map(|word| quoted(word));
    metric.into_iter().chain(diff.header.filters.iter().cloned()).chain(options)
}

/// The words that name both sides for a view: `--base old.pb.gz new.pb.gz`. A view adds up several inputs, so that runs of
/// different numbers need to be rescaled.
fn both_sides(diff: &Diff) -> String {
    let (old, new) = (&diff.old, &diff.new);
    let rescaled = if old.profiles == new.profiles {
        String::new()
    } else {
        format!(" --normalize per={},{}", old.profiles, new.profiles)
    };
    if is_long(diff) {
        return format!("--base OLD{rescaled} NEW");
    }
    let base = old.inputs.iter().map(|input| format!("--base {}", quoted(input)));
    let inputs: Vec<String> = base.chain(new.inputs.iter().map(|input| quoted(input))).collect();
    format!("{}{rescaled}", inputs.join(" "))
}

/// How to complete a command that does not name all files.
pub(in crate::output) fn completed(diff: &Diff) -> Option<String> {
    is_long(diff).then(|| command::old_and_new(diff.old.inputs.len(), diff.new.inputs.len()))
}

/// Whether a command with all files would fill the screen.
fn is_long(diff: &Diff) -> bool {
    command::is_long(diff.old.inputs.len() + diff.new.inputs.len())
}

/// `moved, but not significantly more expensive: tokenise inlined into parse · readHeader extracted from parse`. Functions that were matched
/// under another name are listed elsewhere.
pub(in crate::output) fn moves(
    diff: &Diff,
    explain: Explain,
    name: impl Fn(&str) -> String,
) -> Option<String> {
    if explain == Explain::Nothing {
        return None;
    }
    let is_matched = |cause: &DiffCause| diff.matched.iter().any(|matched| matched.new == cause.function);
    let mut parts: Vec<String> = diff
        .causes
        .iter()
        .filter(|cause| !is_matched(cause))
        .filter_map(|cause| place(cause, &name))
        .collect();
    if explain != Explain::All && parts.len() > MOST_MOVED {
        let more = parts.len() - MOST_MOVED;
        parts.truncate(MOST_MOVED);
        parts.push(format!("{more} more"));
    }
    (!parts.is_empty()).then(|| format!("moved, but not significantly more expensive: {}", parts.join(" · ")))
}
