//! The sentences and numbers of a comparison, which are the same in all reports for people.

use std::collections::HashSet;

use crate::name::clean;
use crate::output::Scaled;
use crate::output::headline;
use crate::report::{
    BudgetCheck, BudgetReport, CauseKind, ChangedCalls, Diff, DiffCause, DiffOutcome, DiffRow, DiffSide,
    DiffVerdict, DoubtfulCore, Folded, Header, IdleProcessors, Matched, Moved, RowTest, RowVerdict,
    SMALL_SHARE, SUGGESTED_RUNS, TYPICAL_SHARE,
};
use crate::unit::{
    self, Scale, Unit, about, group_thousands, human, plain_ratio, points, probability, ratio, saturated,
    significance, times,
};

/// The path of a source file: modules of JavaScript are recorded as `file:///srv/app/cart.js`, which no tool looks up.
pub(in crate::output) fn path(file: &str) -> &str {
    file.strip_prefix("file://").unwrap_or(file)
}

/// `1.10–1.23`; empty if nothing was tested.
pub(in crate::output) fn interval(row: &DiffRow) -> String {
    let Some(low) = row.ratio_low.filter(|_| row.ratio.is_some()) else { return String::new() };
    let high = row.ratio_high.map_or("∞".to_string(), plain_ratio);
    format!("{}–{high}", plain_ratio(low))
}

/// The cost of a row: a ratio, or `new` if there was none before.
pub(in crate::output) fn cost(row: &DiffRow) -> String {
    match (row.ratio, row.p) {
        (Some(value), _) => ratio(value),
        (None, Some(_)) => "new".to_string(),
        (None, None) => String::new(),
    }
}

/// Whether sides are compared as recorded, per run. The numbers are then values, not shares.
pub(in crate::output) fn is_per_run(diff: &Diff) -> bool {
    diff.header.normalize.as_ref().is_some_and(|normalize| normalize.method == "none")
}

/// Writes values as the mean of a run, all in one unit: `1.5MiB`, `0.41s`.
#[derive(Clone)]
pub(in crate::output) struct PerRun<'d> {
    diff: &'d Diff,
    scale: Scale,
}

impl<'d> PerRun<'d> {
    /// Values in the `requested` unit, or in the one that suits the totals. Fails if the unit is of another kind.
    pub(in crate::output) fn new(diff: &'d Diff, requested: Option<&Unit>) -> Scaled<Self> {
        let largest = [&diff.old, &diff.new].map(|side| mean_of_runs(side, side.total)).into_iter().max();
        let metric = &diff.header.metric;
        let scale = Scale::for_column(
            &Unit::parse(&metric.unit),
            metric.divisor,
            largest.unwrap_or_default(),
            requested,
        )?;
        // The mean of several runs may have more digits than the values of one.
        let is_one_run = diff.old.profiles <= 1 && diff.new.profiles <= 1;
        let resolution = metric.resolution.filter(|_| is_one_run).unwrap_or(0);
        Ok(PerRun { diff, scale: scale.with_resolution(resolution) })
    }

    /// Values in the unit that suits them.
    pub(in crate::output) fn automatic(diff: &'d Diff) -> Self {
        let scale = Scale::automatic(&Unit::parse(&diff.header.metric.unit), diff.header.metric.divisor, 0);
        PerRun::new(diff, None).unwrap_or(PerRun { diff, scale })
    }

    /// A sum over all runs of a side.
    pub(in crate::output) fn sum(&self, sum: i64, side: &DiffSide) -> String {
        self.scale.format(mean_of_runs(side, sum))
    }

    /// The value of a row on the old side.
    pub(in crate::output) fn old(&self, row: &DiffRow) -> String {
        self.sum(row.tested_values().0, &self.diff.old)
    }

    /// The value of a row on the new side.
    pub(in crate::output) fn new_side(&self, row: &DiffRow) -> String {
        self.sum(row.tested_values().1, &self.diff.new)
    }

    /// How much was added, given in points of the old total: in points, or as a value if sides are compared per run.
    pub(in crate::output) fn change(&self, of_old_total: f64) -> String {
        let diff = self.diff;
        if !is_per_run(diff) {
            return points(of_old_total);
        }
        let value = of_old_total / 100.0 * diff.old.total as f64 / diff.old.profiles.max(1) as f64;
        let size = self.scale.format(value.abs().round() as i64);
        let is_zero = !size.contains(|c: char| ('1'..='9').contains(&c));
        let sign = if is_zero {
            ""
        } else if value < 0.0 {
            "−"
        } else {
            "+"
        };
        format!("{sign}{size}")
    }
}

/// A sum over all runs of a side as the mean of a run.
pub(in crate::output) fn mean_of_runs(side: &DiffSide, sum: i64) -> i64 {
    let runs = saturated(side.profiles.max(1));
    unit::mean(sum, runs).unwrap_or(sum)
}

/// How much was added, in a sentence: in points of the old total, or as a value if sides are compared per run.
pub(in crate::output) fn change(diff: &Diff, of_old_total: f64) -> String {
    PerRun::automatic(diff).change(of_old_total)
}

/// Which functions were matched although their names or locations differ, so that a reader can check.
/// Names are shortened by `name`; `all` lists every match.
pub(in crate::output) fn matched(diff: &Diff, all: bool, name: impl Fn(&str) -> String) -> Option<String> {
    let is_listed = diff.matched.iter().any(|matched| matched.how == "shifted");
    matched_text(&diff.matched, if is_listed { 0 } else { diff.shifted }, all, name)
}

/// The same for any matches, of which `shifted` more only moved to another line.
pub(in crate::output) fn matched_text(
    matched: &[Matched],
    shifted: usize,
    all: bool,
    name: impl Fn(&str) -> String,
) -> Option<String> {
    let most = if all { matched.len() } else { MOST_MATCHED };
    let named = |matched: &Matched| matched.spoken(name(&matched.old), name(&matched.new));
    let mut parts: Vec<String> = matched.iter().take(most).map(named).collect();
    parts.extend(more(matched.len().saturating_sub(most)));
    parts.extend((shifted > 0).then(|| format!("{} moved to other lines", group_thousands(shifted as i128))));
    (!parts.is_empty()).then(|| format!("matched: {}", parts.join(" · ")))
}

/// The libraries of which the sides have different versions; `all` lists every one.
pub(in crate::output) fn upgrades(diff: &Diff, all: bool) -> Option<String> {
    let most = if all { diff.upgrades.len() } else { MOST_MATCHED };
    let mut parts: Vec<String> = diff.upgrades.iter().take(most).map(ToString::to_string).collect();
    parts.extend(more(diff.upgrades.len().saturating_sub(most)));
    (!parts.is_empty()).then(|| format!("libraries in other versions: {}", parts.join(" · ")))
}

/// What is not listed of a list.
fn more(count: usize) -> Option<String> {
    (count > 0).then(|| format!("{} more (-v lists all)", group_thousands(count as i128)))
}

/// How many matches are listed by name, unless all are asked for.
const MOST_MATCHED: usize = 5;

/// The share of a row on the old side, relative to what that side recorded: `13.7%`. Empty for a side
/// without samples.
pub(in crate::output) fn old_share(diff: &Diff, row: &DiffRow) -> String {
    unit::share(row.tested_values().0, diff.old.total)
}

/// The share of a row on the new side, relative to what *that* side recorded.
pub(in crate::output) fn new_share(diff: &Diff, row: &DiffRow) -> String {
    unit::share(row.tested_values().1, diff.new.total)
}

/// The q of a row; empty if the row was not tested, since it is 1 then, whatever the values.
pub(in crate::output) fn q(row: &DiffRow) -> Option<String> {
    row.q.filter(|_| row.tested).map(probability)
}

/// The word before a row.
pub(in crate::output) fn verdict(row: &DiffRow) -> &'static str {
    match row.verdict {
        RowVerdict::Regressed => "REGRESSED",
        RowVerdict::Unchanged if row.tested => "~",
        verdict => verdict.word(),
    }
}

/// The line above the rows that are not significant.
pub(in crate::output) fn above_others(diff: &Diff) -> &'static str {
    match diff.verdict {
        DiffVerdict::Inconclusive => "too little data to tell:",
        _ => "not significant:",
    }
}

/// The text after the name: whether the row is about self, and where moved samples were before, or are now.
pub(in crate::output) fn after_name(diff: &Diff, row: &DiffRow, shown: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    if row.test == RowTest::SelfCount {
        text.push_str(" (self)");
    }
    let is_inlined = |cause: &&DiffCause| cause.cause == CauseKind::Inlined && cause.function == row.name;
    let inlined = diff.causes.iter().find(is_inlined).and_then(|cause| cause.of.as_ref());
    match &row.moved {
        Some(Moved::Below(_) | Moved::OutOf(_)) if let Some(callee) = inlined => {
            text.push_str(&format!(", with {} inlined", shown(callee)));
        }
        Some(Moved::OutOf(name)) => text.push_str(&format!(", extracted from {}", shown(name))),
        Some(Moved::Into(name)) if row.new.total == 0 => {
            text.push_str(&format!(", inlined into {}", shown(name)));
        }
        Some(Moved::Into(name)) => text.push_str(&format!(", extracted into {}", shown(name))),
        Some(Moved::To(name)) => text.push_str(&format!(", is now {}", shown(name))),
        Some(Moved::From(name)) => text.push_str(&format!(", was {}", shown(name))),
        Some(Moved::Below(name)) if *name == row.name => {
            text.push_str(", which does itself what it called before");
        }
        Some(Moved::Below(name)) => {
            text.push_str(&format!(", whose work was elsewhere below {} before", shown(name)));
        }
        Some(Moved::Elsewhere) if row.new.total == 0 => text.push_str(", whose work is elsewhere now"),
        Some(Moved::Elsewhere) if row.points < 0.0 => {
            text.push_str(", a part of whose work is elsewhere now");
        }
        Some(Moved::Elsewhere) if row.test == RowTest::Total && row.old.total > 0 => {
            text.push_str(", a part of whose work was elsewhere before");
        }
        Some(Moved::Elsewhere) => text.push_str(", whose work was elsewhere before"),
        None => {}
    }
    text
}

/// The filters as typed; the lines of the sides show what they leave.
pub(in crate::output) fn filters(diff: &Diff) -> Option<String> {
    let filters = &diff.header.filters;
    (!filters.is_empty()).then(|| clean(&filters.join(" ")).into_owned())
}

/// The functions that were folded into their callers, with their share of each side.
pub(in crate::output) fn folded(diff: &Diff) -> Option<String> {
    let side = |value: i64, whole: i64| match unit::share(value, whole) {
        share if share.is_empty() => "nothing".to_string(),
        share => share,
    };
    let part = |folded: &Folded| {
        let (old, new) = (side(folded.old, diff.old.total), side(folded.new, diff.new.total));
        format!("{} ({old} of old, {new} of new)", clean(&folded.name))
    };
    folded_text(diff.folded.iter().map(part))
}

/// The same for budgets that were checked without an old side: `runtime.asyncPreempt (0.8%)`.
pub(in crate::output) fn folded_of_one_side(report: &BudgetReport) -> Option<String> {
    let share = |folded: &Folded| unit::share(folded.new, report.new.total);
    let part = |folded: &Folded| format!("{} ({})", clean(&folded.name), share(folded));
    folded_text(report.folded.iter().map(part))
}

fn folded_text(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("folded into the functions that call them: {}", parts.join(", ")))
}

/// `5 profiles together: 22,164 samples, cpu 88.66s in 99.99s`. Rows, in contrast, may be values per run. The samples are those
/// that filters leave, so that with a filter they come with what it leaves of the total:
/// `5 profiles together: cpu 88.66s in 99.99s; shown: 1,950 samples, cpu 7.80s, 8.8% of all`.
pub(in crate::output) fn side(diff: &Diff, side: &DiffSide, value: impl Fn(i64) -> String) -> String {
    let mut text = match &side.chosen {
        Some(chosen) => headline::selection(chosen),
        None => format!(
            "{} {}",
            group_thousands(side.profiles as i128),
            unit::plural(side.profiles as u64, "profile", "profiles")
        ),
    };
    let metric = &diff.header.metric;
    let counts_samples = metric.name == "samples" && Unit::parse(&metric.unit) == Unit::COUNT;
    let samples = side.samples.map(|samples| samples_of(diff, samples));
    let says_all = counts_samples && samples.is_some() && !diff.samples_estimated;
    // If the other side has no samples, nothing is tested, but what this one has is called the same.
    let is_untested = counts_samples && samples.is_none();
    let measured = |part: i64| {
        if is_untested {
            return format!("{} {}", value(part), unit::plural(part.unsigned_abs(), "sample", "samples"));
        }
        format!("{} {}", clean(&metric.name), value(part)).trim_start().to_string()
    };
    let contents = |part: i64| samples.clone().into_iter().chain((!says_all).then(|| measured(part)));
    let shown = side.compared.round() as i64;
    let is_part = !diff.header.filters.is_empty() && shown != side.total;
    text.push_str(if side.profiles > 1 { " together: " } else { ", " });
    text.push_str(&if is_part {
        measured(side.total)
    } else {
        contents(side.total).collect::<Vec<_>>().join(", ")
    });
    if let Some(duration) = side.duration_ns {
        text.push_str(&format!(" in {}", crate::unit::duration(duration)));
    }
    if is_part {
        let share = format!("{} of all", unit::share(shown, side.total));
        let shown: Vec<String> = contents(shown).chain([share]).collect();
        text.push_str(&format!("; shown: {}", shown.join(", ")));
    }
    text
}

/// `22,164 samples`, `worth about 860 samples`
fn samples_of(diff: &Diff, samples: i64) -> String {
    let noun = unit::plural(samples.unsigned_abs(), "sample", "samples");
    if diff.samples_estimated {
        format!("worth about {} {noun}", about(samples as f64))
    } else {
        format!("{} {noun}", group_thousands(samples.into()))
    }
}

/// The inputs of a side: the only one, or the first and the last.
pub(in crate::output) fn inputs(side: &DiffSide) -> String {
    match &side.inputs[..] {
        [] => String::new(),
        [one] => clean(one).into_owned(),
        [first, .., last] => format!("{} … {}", clean(first), clean(last)),
    }
}

/// What the numbers of the columns mean. Only this note says which of them are rescaled.
pub(in crate::output) fn scales(diff: &Diff, has_shares: bool) -> String {
    let shares = "shares of each side's own total";
    if is_per_run(diff) && diff.mix.is_none() {
        let shares = if has_shares { format!("; OLD% and NEW% are {shares}") } else { String::new() };
        return format!(
            "OLD and NEW are values per run as recorded, not rescaled (--normalize core compares per unit of unchanged \
             code); Δ is their difference{shares}"
        );
    }
    let shares = if has_shares { format!(", OLD% and NEW% {shares}") } else { String::new() };
    let hidden = unseen_change(diff).unwrap_or_default();
    format!("OLD and NEW are values per run as recorded{shares}; {}{hidden}", comparison_of_values(diff))
}

/// What costs per unit of unchanged code cannot show, if the sides differ by so much that they may hide it.
fn unseen_change(diff: &Diff) -> Option<String> {
    let normalize = diff.header.normalize.as_ref()?;
    let is_rescaled = normalize.method == "core" && normalize.reason.is_none();
    let is_said = diff.doubt.is_some() || diff.noise.is_none() || diff.mix.is_some();
    let is_much = per_run(diff, normalize.ratio).ln().abs() > MUCH.ln();
    (is_rescaled && is_much && !is_said).then(|| {
        "; a change of all code alike is not seen: if all runs did the same work, use --normalize none"
            .to_string()
    })
}

/// What costs leave out, if that is so much that they seem to contradict the values beside them.
pub(in crate::output) fn outside_costs(diff: &Diff) -> Option<String> {
    let normalize = diff.header.normalize.as_ref()?;
    let ratio = per_run(diff, normalize.ratio);
    let is_rescaled = diff.noise.is_some() && diff.mix.is_none() && normalize.reason.is_none();
    if !is_rescaled || ratio.ln().abs() <= MUCH.ln() {
        return None;
    }
    let ratio = times(ratio);
    match normalize.method {
        "core" => Some(format!(
            "unchanged code costs {ratio} as much per run on the new side; COST and Δ leave that out"
        )),
        "per" => Some(format!("a run of the new side did {ratio} as much work; COST and Δ leave that out")),
        _ => None,
    }
}

/// Sides that differ by more than this factor may differ by more than the length of the runs or the speed of the machine.
const MUCH: f64 = 1.1;

/// A ratio of sums as one of values per run, which people see.
fn per_run(diff: &Diff, ratio: f64) -> f64 {
    ratio * diff.old.profiles.max(1) as f64 / diff.new.profiles.max(1) as f64
}

/// What the numbers of the columns mean where several builds are compared with the one called `old`.
pub(in crate::output) fn scales_of_builds(diff: &Diff, old: &str) -> String {
    let method = diff.header.normalize.as_ref().map_or("total", |normalize| normalize.method);
    let basis = match method {
        "none" => "",
        "core" => ", after rescaling so that unchanged code costs the same",
        _ => ", as a share of the total",
    };
    format!(
        "numbers are values per run as recorded; COST is what the function costs compared with {old}{basis}; no COST: too little data to \
         test the function in this build"
    )
}

/// What COST and Δ are.
fn comparison_of_values(diff: &Diff) -> String {
    if diff.mix.is_some() {
        return "COST and Δ compare equal amounts of each kind of work".to_string();
    }
    if diff.noise.is_none() {
        return "Δ is the difference of the shares of each side's own total".to_string();
    }
    let Some(compare) = rescaling(diff) else {
        return "COST is the ratio of the shares of each side's own total, Δ their difference".to_string();
    };
    let of = if diff.header.filters.is_empty() { "the old total" } else { "the filtered old total" };
    format!("COST and Δ {compare}; Δ is in points of {of}")
}

/// What costs and changes do with the values as recorded; `None` if they compare shares.
fn rescaling(diff: &Diff) -> Option<String> {
    let normalize = diff.header.normalize.as_ref()?;
    let ratio = per_run(diff, normalize.ratio);
    let so_that = match normalize.method {
        "core" => "unchanged code costs the same on both sides",
        "per" => "both sides did the same amount of work",
        _ => return None,
    };
    Some(if let Some(why) = normalize.reason.as_deref() {
        format!("assume that both sides have equal totals, because {why}")
    } else if (ratio - 1.0).abs() < 0.0005 {
        "compare the values as recorded".to_string()
    } else {
        format!("compare the sides after the old one is multiplied by {ratio:.3}, so that {so_that}")
    })
}

/// Why the costs of a page differ from the ratios of its columns of values, which are as recorded.
pub(in crate::output) fn costs_of_page(diff: &Diff) -> Option<String> {
    let compare = match rescaling(diff) {
        _ if diff.noise.is_none() => return None,
        _ if diff.mix.is_some() => "compare equal amounts of each kind of work".to_string(),
        Some(compare) => compare,
        None => "compare the shares of each side's own total".to_string(),
    };
    Some(format!("Verdict and Cost {compare}; “Old side” changes only the other columns"))
}

/// Where the noise is known from, if not from the profiles.
pub(in crate::output) fn learned(diff: &Diff) -> Option<String> {
    diff.learned_runs.map(|runs| format!("the noise of each function was learned from {runs} earlier runs"))
}

/// `59 tested rows are not shown, 2 of them regressed`, or `59 rows are not shown` if none was tested; `None` if all are shown.
pub(in crate::output) fn cut(diff: &Diff) -> Option<String> {
    let shown: HashSet<&str> = diff.with_verdict(RowVerdict::Regressed).map(|row| &*row.name).collect();
    let hidden = match diff.regressed.saturating_sub(shown.len()) {
        0 => String::new(),
        hidden => format!(", {} of them regressed", group_thousands(hidden as i128)),
    };
    let rows = diff.header.elided_rows;
    if diff.untestable.is_some() && rows > 0 {
        return Some(left_out(rows, ""));
    }
    not_shown(diff.elided_tested).map(|text| text + &hidden)
}

/// `59 tested rows are not shown`
pub(in crate::output) fn not_shown(rows: usize) -> Option<String> {
    (rows > 0).then(|| left_out(rows as u64, "tested "))
}

fn left_out(rows: u64, kind: &str) -> String {
    let are = unit::plural(rows, "row is", "rows are");
    format!("{} {kind}{are} not shown", group_thousands(rows.into()))
}

/// Why the exit code is 3.
pub(in crate::output) fn strict(diff: &Diff) -> Option<String> {
    let wanted = times(diff.strictness.detect);
    (diff.outcome() == DiffOutcome::Undecided).then(|| {
        format!(
            "--strict: these runs cannot show a change of {wanted} in a function with {} (--detect)",
            a_share(TYPICAL_SHARE)
        )
    })
}

/// What the words in front of the rows shown mean, each in a few words.
pub(in crate::output) fn legend<'r>(rows: &(impl Iterator<Item = &'r DiffRow> + Clone)) -> Option<String> {
    let is_any = |is: &dyn Fn(&DiffRow) -> bool| rows.clone().any(|row| row.p.is_some() && is(row));
    let has = |verdict: RowVerdict| is_any(&|row| row.verdict == verdict);
    let is_unchanged = |row: &DiffRow| row.verdict == RowVerdict::Unchanged;
    let words = [
        (has(RowVerdict::Regressed), "REGRESSED: costs more than noise explains"),
        (has(RowVerdict::Improved), "improved: costs less than noise explains"),
        (has(RowVerdict::Inherits), "inherits: the reason is not its own code, but a function that it calls"),
        (has(RowVerdict::Moved), "moved: not significantly more expensive, but in other code than before"),
        (has(RowVerdict::Mix), "mix: changed only because the mix of work did"),
        (has(RowVerdict::Small), "small: significant, but below the thresholds"),
        (is_any(&|row| row.ratio.is_none()), "new: not on the old side"),
        (has(RowVerdict::Removed), "removed: not on the new side"),
        (is_any(&|row| row.tested && is_unchanged(row)), "~: not significant"),
        (is_any(&|row| !row.tested && is_unchanged(row)), "blank: too few samples to test"),
        (is_any(&|row| row.test == RowTest::SelfCount), "(self): own code only, other rows include callees"),
    ];
    let shown: Vec<&str> = words.iter().filter(|(occurs, _)| *occurs).map(|(_, meaning)| *meaning).collect();
    (!shown.is_empty()).then(|| shown.join(" · "))
}

/// What was detectable, or why there is no verdict.
pub(in crate::output) fn evidence(diff: &Diff) -> String {
    if let Some(why) = &diff.untestable {
        return format!("no verdict: {why}");
    }
    match (diff.old.total, diff.new.total) {
        (0, 0) => return "no verdict: neither side has samples".to_string(),
        (0, _) => return "no verdict: the old side has no samples".to_string(),
        (_, 0) => return "no verdict: the new side has no samples".to_string(),
        _ => {}
    }
    if diff.doubt.as_ref().is_some_and(|doubt| !doubt.by_most) && diff.verdict == DiffVerdict::Inconclusive {
        return "no verdict: it is unclear which code is unchanged".to_string();
    }
    if diff.verdict == DiffVerdict::Inconclusive {
        return no_verdict(diff);
    }
    let part = |share: f64| {
        let seen = diff.detectable_ratio(share);
        seen.map_or("nothing".to_string(), |value| format!("{}×", plain_ratio(value)))
    };
    format!(
        "detectable with 80% power: {} for a function with {}, {} with {}",
        part(TYPICAL_SHARE),
        a_share(TYPICAL_SHARE),
        part(SMALL_SHARE),
        a_share(SMALL_SHARE)
    )
}

/// `a 10% share`
fn a_share(share: f64) -> String {
    format!("a {:.0}% share", share * 100.0)
}

/// The same in one clause.
pub(in crate::output) fn short_evidence(diff: &Diff) -> String {
    if diff.verdict != DiffVerdict::Inconclusive || diff.untestable.is_some() {
        return evidence(diff);
    }
    let (why, share) = (why_inconclusive(diff), a_share(TYPICAL_SHARE));
    format!("no verdict: {why}; for a function with {share}, {}", detectable(diff))
}

/// Which changes of a typical function are large enough: `only changes above 2.2× are detectable`.
fn detectable(diff: &Diff) -> String {
    match diff.detectable_ratio(TYPICAL_SHARE) {
        Some(value) => format!("only changes above {} are detectable", times(value)),
        None => "no change is detectable".to_string(),
    }
}

/// Whether more samples of the same runs would not show more.
fn has_enough_samples(diff: &Diff) -> bool {
    let held = diff.old.samples.unwrap_or(0).min(diff.new.samples.unwrap_or(0));
    diff.samples_needed.is_some_and(|needed| held as f64 >= needed)
}

/// What keeps the comparison from a verdict.
fn why_inconclusive(diff: &Diff) -> &'static str {
    match (has_enough_samples(diff), one_pair(diff)) {
        (false, _) => "too few samples",
        // A single run does not differ from anything.
        (true, Some(_)) => "one run per side is too little",
        (true, None) => "the runs differ too much",
    }
}

fn no_verdict(diff: &Diff) -> String {
    let needed = diff.samples_needed;
    let enough = has_enough_samples(diff);
    let (why, share) = (why_inconclusive(diff), a_share(TYPICAL_SHARE));
    let mut text = format!("no verdict: {why}. For a function with {share}, {}.", detectable(diff));
    if let (Some(samples), Some(per_run)) = (needed, diff.samples_needed_per_run) {
        // If runs differ from each other, more runs help, but not more samples.
        let wanted = times(diff.strictness.detect);
        // Several runs take more samples, because what runs differ has to be estimated, too.
        let noise =
            if enough { "" } else { " (more in all, because they also have to show how much runs differ)" };
        let per_run = about(per_run);
        let runs = if enough {
            format!("{SUGGESTED_RUNS} runs per side with about {per_run} samples each")
        } else {
            let samples = about(samples);
            format!(
                "one run per side with about {samples} samples, or {SUGGESTED_RUNS} with about {per_run} each"
            )
        };
        text.push_str(&format!(" Detecting {wanted} takes {runs}{noise}"));
        text.push_str(if diff.strictness.named {
            ""
        } else {
            "; testing a single function (--function) takes fewer"
        });
    }
    text
}

/// `1 function regressed, 0 improved · 57 values tested · alpha 1%, thresholds 1.05× and 1.0pt`
pub(in crate::output) fn summary(diff: &Diff) -> String {
    format!("{} · alpha {}, {}", counts(diff), significance(diff.strictness.alpha), thresholds(diff))
}

/// `thresholds 1.05× and 1.0pt`
pub(in crate::output) fn thresholds(diff: &Diff) -> String {
    let ratio = plain_ratio(1.0 + diff.strictness.min_effect);
    let unit = if is_per_run(diff) { "% of the old total" } else { "pt" };
    format!("thresholds {ratio}× and {:.1}{unit}", diff.strictness.min_points)
}

/// `1 function regressed, 0 improved · 57 values tested`: self and total are tested separately, so there are more values
/// than functions.
pub(in crate::output) fn counts(diff: &Diff) -> String {
    let rows = if diff.regressed == 1 { diff.header.by.one } else { diff.header.by.several };
    let mut text = format!(
        "{} {rows} regressed, {} improved · {} {} tested",
        group_thousands(diff.regressed as i128),
        group_thousands(diff.improved as i128),
        group_thousands(diff.tested as i128),
        unit::plural(diff.tested as u64, "value", "values"),
    );
    text.extend(budgets(&diff.budgets).map(|budgets| format!(", {budgets}")));
    text
}

/// The verdict of a document in one line: `2 functions regressed, 1 budget exceeded`.
pub(in crate::output) fn headline(diff: &Diff) -> String {
    let number = |count: usize| format!("{count} {}", diff.header.by.noun(count as u64));
    let mut text = match diff.verdict {
        DiffVerdict::Regressed => format!("{} regressed", number(diff.regressed)),
        DiffVerdict::Improved => format!("{} improved, none regressed", number(diff.improved)),
        DiffVerdict::None => NO_CHANGE.to_string(),
        DiffVerdict::Inconclusive => NO_VERDICT.to_string(),
    };
    match diff.exceeded().count() {
        0 => {}
        1 => text.push_str(", 1 budget exceeded"),
        several => text.push_str(&format!(", {several} budgets exceeded")),
    }
    text
}

/// The verdict in a cell of a table: `2 regressed, 1 improved`.
pub(in crate::output) fn short_verdict(diff: &Diff) -> String {
    let improved = format!("{} improved", diff.improved);
    let mut text = match diff.verdict {
        DiffVerdict::Regressed if diff.improved == 0 => format!("{} regressed", diff.regressed),
        DiffVerdict::Regressed => format!("{} regressed, {improved}", diff.regressed),
        DiffVerdict::Improved => improved,
        DiffVerdict::None => NO_CHANGE.to_string(),
        DiffVerdict::Inconclusive => NO_VERDICT.to_string(),
    };
    if diff.exceeded().next().is_some() {
        text.push_str(", budget exceeded");
    }
    text
}

const NO_CHANGE: &str = "no change";
const NO_VERDICT: &str = "no verdict";

/// In the place of rows, if there are none.
pub(in crate::output) const NO_SAMPLES: &str = "no samples on either side";

/// How many budgets were exceeded: `1 of 3 budgets exceeded`; `None` without budgets.
pub(in crate::output) fn budgets(budgets: &[BudgetCheck]) -> Option<String> {
    let exceeded = budgets.iter().filter(|budget| budget.exceeded).count();
    match budgets.len() {
        0 => None,
        1 => Some(format!("{exceeded} {} exceeded", unit::plural(exceeded as u64, "budget", "budgets"))),
        all => Some(format!("{exceeded} of {all} budgets exceeded")),
    }
}

/// The limits of a single pair of profiles.
pub(in crate::output) fn one_pair(diff: &Diff) -> Option<String> {
    let is_unknown = diff.old.profiles == 1 && diff.new.profiles == 1 && diff.learned_runs.is_none();
    is_unknown.then(|| {
        "only one run per side, so run-to-run noise is unknown; to gate a build, give 3 or more profiles \
         per side"
            .to_string()
    })
}

/// Warnings about the sides: they may not be comparable, or not in this way.
pub(in crate::output) fn doubts(diff: &Diff) -> impl Iterator<Item = String> + use<> {
    too_noisy(diff).into_iter().chain(doubtful_core(diff))
}

/// A warning that the code which costs are relative to may have changed.
fn doubtful_core(diff: &Diff) -> Option<String> {
    let DoubtfulCore { function, share, ratio, by_most } = diff.doubt.as_ref()?;
    let (function, ratio) = (clean(function), times(*ratio));
    let taken = if *by_most {
        format!(
            "{function} ({share:.0}% of the old total) costs {ratio} as much as before, compared to functions whose cost per run \
             changed less. These are assumed to be unchanged"
        )
    } else {
        format!(
            "{function} ({share:.0}% of the old total) is assumed to be unchanged; but compared to most other functions, it \
             costs {ratio} as much as before"
        )
    };
    Some(format!(
        "it is unclear which code is unchanged: {taken}. If the work done on each side is known, use --normalize per=OLD,NEW; \
         if all runs did the same work, --normalize none"
    ))
}

/// A warning that functions of all sizes changed, or that the runs of a side differ, where several show that.
fn too_noisy(diff: &Diff) -> Option<String> {
    let percent = diff.too_noisy? * 100.0;
    Some(if diff.old.profiles > 1 || diff.new.profiles > 1 {
        format!(
            "functions of all sizes differ by ±{percent:.0}% between runs of one side: was the machine busy, or the work not the same?"
        )
    } else {
        format!("functions of all sizes changed by ±{percent:.0}%: different machine, compiler or workload?")
    })
}

/// Functions on one side only that were not tested.
pub(in crate::output) fn on_one_side(diff: &Diff) -> Option<String> {
    let (new, old) = (diff.appeared, diff.vanished);
    let is_row = |is: fn(&DiffRow) -> bool| diff.rows.iter().any(|row| row.p.is_some() && is(row));
    // Of those that were tested, some have rows. Few samples do not show that a function is new, or gone.
    let kinds = [
        (new, "new", is_row(|row| row.tested_values().0 == 0)),
        (old, "old", is_row(|row| row.tested_values().1 == 0)),
    ];
    let mut parts: Vec<String> = Vec::new();
    for (count, side, is_shown) in kinds.into_iter().filter(|(count, ..)| *count > 0) {
        let more = if is_shown { " more" } else { "" };
        let noun = if parts.is_empty() {
            format!(" {} seen", diff.header.by.noun(count as u64))
        } else {
            String::new()
        };
        parts.push(format!("{}{more}{noun} only on the {side} side", group_thousands(count as i128)));
    }
    let why = match (&diff.untestable, diff.strictness.named) {
        (Some(_), _) => "",
        (None, true) => " (--function names others, or too few samples)",
        (None, false) => " (fewer than 3 samples, or a share below --min-tested)",
    };
    (!parts.is_empty()).then(|| format!("not tested: {}{why}", parts.join(", ")))
}

/// How long processors were idle on each side: more of that is no work, and no function is blamed for it.
pub(in crate::output) fn idle(diff: &Diff) -> Option<String> {
    let IdleProcessors { old, new } = diff.idle.as_ref()?;
    let metric = &diff.header.metric.name;
    Some(format!(
        "not tested: {old:.1}% of {metric} is of idle processors on the old side, {new:.1}% on the new side"
    ))
}

/// How often a function is called in a run of each side: `called 480 times per run, was 240`.
pub(in crate::output) fn how_often_called(calls: [f64; 2]) -> String {
    let [old, new] = calls.map(|calls| group_thousands(calls.round() as i128));
    format!("called {new} times per run, was {old}")
}

/// What counted calls tell, although nothing could be tested: `minify is called 480 times per run, was 240`.
pub(in crate::output) fn changed_calls(diff: &Diff, name: impl Fn(&str) -> String) -> Option<String> {
    let said = |calls: &ChangedCalls| {
        format!("{} is {}", name(&calls.function), how_often_called([calls.old, calls.new]))
    };
    let all: Vec<String> = diff.calls.iter().map(said).collect();
    (!all.is_empty())
        .then(|| format!("calls are counted, so these differences are certain: {}", all.join("; ")))
}

/// `budget exceeded: total of ^serde is 14.2%, limit 12% (owner: parsing)`
pub(in crate::output) fn budget(header: &Header, budget: &BudgetCheck) -> String {
    let state = if budget.exceeded { "budget exceeded" } else { "within budget" };
    let owner = budget.owner.as_ref().map(|owner| format!(" (owner: {})", clean(owner))).unwrap_or_default();
    let pattern = clean(&budget.pattern);
    if !budget.matched {
        return format!("{state}: no function matches `{pattern}`; the budget is optional{owner}");
    }
    let (value, limit) = (budget_value(header, budget), budget_limit(header, budget));
    format!("{state}: {} of `{pattern}` is {value}, limit {limit}{owner}", budget.test.word())
}

/// The value that a budget limits.
fn budget_value(header: &Header, budget: &BudgetCheck) -> String {
    if budget.percent {
        return unit::share(budget.cost, header.total);
    }
    let metric = &header.metric;
    // The mean of profiles is rounded to the unit, since nobody needs more digits.
    human(budget.value.round() as i64, &Unit::parse(&metric.unit), 1)
}

fn budget_limit(header: &Header, budget: &BudgetCheck) -> String {
    if budget.percent {
        return format!("{}%", budget.limit);
    }
    human(budget.limit.round() as i64, &Unit::parse(&header.metric.unit), 1)
}

/// A changed row as a sentence.
pub(in crate::output) fn sentence(diff: &Diff, row: &DiffRow) -> String {
    let name = clean(&row.name);
    let what = if row.test == RowTest::SelfCount { "self" } else { "including callees" };
    if is_per_run(diff) {
        return sentence_of_values(diff, row, &name, what);
    }
    let (old, new) = (old_share(diff, row), new_share(diff, row));
    let Some(value) = row.ratio else {
        return format!("{name} is new ({what}): {new} of the new total");
    };
    let method = diff.header.normalize.as_ref().map_or("total", |normalize| normalize.method);
    let basis = match method {
        "core" => "relative to unchanged code",
        "per" => "per unit of work done",
        _ => "as a share of the whole",
    };
    format!(
        "{name} costs {}× as much {basis} ({what}; 95% CI {}; {}); {old} of the old total, {new} of the new",
        plain_ratio(value),
        interval(row),
        points(row.points)
    )
}

/// A changed row as a sentence, if sides are compared as recorded.
fn sentence_of_values(diff: &Diff, row: &DiffRow, name: &str, what: &str) -> String {
    let metric = clean(&diff.header.metric.name);
    let per_run = PerRun::automatic(diff);
    let (old, new) = (per_run.old(row), per_run.new_side(row));
    let Some(value) = row.ratio else {
        return format!("{name} is new ({what}): {metric} {new} per run");
    };
    format!(
        "{name}: {metric} {old} → {new} per run, {}× as much ({what}; 95% CI {}; {})",
        plain_ratio(value),
        interval(row),
        change(diff, row.points)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, want) in
            [(1.999, "2×"), (1.164, "1.16×"), (2.84, "2.8×"), (10.14, "10.1×"), (123.4, "123×")]
        {
            assert_eq!(times(value), want);
        }
        for (value, want) in [(-0.04, "0.0pt"), (-0.0, "0.0pt"), (0.06, "+0.1pt"), (-2.34, "−2.3pt")] {
            assert_eq!(points(value), want);
        }
    }

    proptest! {
        #[test]
        fn no_zero_has_a_sign(value in -100.0..100.0_f64, small in -0.1..0.1_f64) {
            for value in [value, small, 0.0, -0.0] {
                let text = points(value);
                let is_zero = text.contains("0.0pt") && !text.contains(|c: char| ('1'..='9').contains(&c));
                prop_assert!(!is_zero || text == "0.0pt", "{}", text);
            }
        }
    }
}
