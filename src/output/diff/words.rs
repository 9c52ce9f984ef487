//! What a comparison says in sentences; every form for people says it in the same words.

use crate::name::clean;
use crate::report::{BudgetCheck, Diff, DiffRow, DiffSide, DiffVerdict, Moved, RowTest, RowVerdict};
use crate::unit::{Unit, group_thousands, human};

/// `×1.16`
pub(in crate::output) fn ratio(ratio: f64) -> String {
    format!("×{}", plain_ratio(ratio))
}

fn plain_ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1e6 => format!("{ratio:.0e}"),
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        _ => format!("{ratio:.2}"),
    }
}

/// A ratio in a sentence, where two digits say enough: `×2.2`, `×1.16`, `×1.2`.
fn rough_ratio(value: f64) -> String {
    let text = if (2.0..10.0).contains(&value) { format!("{value:.1}") } else { plain_ratio(value) };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("×{text}")
}

/// `1.10–1.23`; empty where nothing was tested.
pub(in crate::output) fn interval(row: &DiffRow) -> String {
    let Some(low) = row.ratio_low.filter(|_| row.ratio.is_some()) else { return String::new() };
    let high = row.ratio_high.map_or("∞".to_string(), plain_ratio);
    format!("{}–{high}", plain_ratio(low))
}

/// The cost of a row: a ratio, or that there was none before.
pub(in crate::output) fn cost(row: &DiffRow) -> String {
    match (row.ratio, row.p) {
        (Some(value), _) => ratio(value),
        (None, Some(_)) => "new".to_string(),
        (None, None) => String::new(),
    }
}

/// `+2.3pt`
pub(in crate::output) fn points(points: f64) -> String {
    let sign = match points {
        points if points >= 0.05 => "+",
        points if points <= -0.05 => "−",
        _ => "",
    };
    format!("{sign}{:.1}pt", points.abs())
}

/// A share from 0 to 1 as percent.
pub(in crate::output) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A p-value with as many digits as matter: `1`, `0.27`, `0.001`, `<0.0001`.
pub(in crate::output) fn probability(q: f64) -> String {
    match q {
        q if q >= 0.995 => "1".to_string(),
        q if q >= 0.0095 => format!("{q:.2}"),
        q if q >= 0.00095 => format!("{q:.3}"),
        q if q >= 0.00005 => format!("{q:.4}"),
        _ => "<0.0001".to_string(),
    }
}

/// The word in front of a row.
pub(in crate::output) fn verdict(row: &DiffRow) -> &'static str {
    match row.verdict {
        RowVerdict::Regressed => "REGRESSED",
        RowVerdict::Unchanged if row.about.tested => "~",
        verdict => verdict.word(),
    }
}

/// What stands behind the name: which of its values, and where moved samples were before.
pub(in crate::output) fn behind_name(row: &DiffRow, shown: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    if row.test == RowTest::SelfValue {
        text.push_str(" (self)");
    }
    match &row.about.moved {
        Some(Moved::From(name)) => text.push_str(&format!(", was {}", shown(name))),
        Some(Moved::Below(name)) => text.push_str(&format!(", was elsewhere below {}", shown(name))),
        Some(Moved::Elsewhere) => text.push_str(", was elsewhere"),
        None => {}
    }
    text
}

/// The filters as typed; what they leave of each side is what its line says.
pub(in crate::output) fn filters(diff: &Diff) -> Option<String> {
    let filters = &diff.header.about.filters;
    (!filters.is_empty()).then(|| clean(&filters.join(" ")).into_owned())
}

/// `5 profiles, 22,164 samples, cpu 88.66s in 99.99s`
pub(in crate::output) fn side(diff: &Diff, side: &DiffSide, total: &str) -> String {
    let mut text = match &side.chosen {
        Some(chosen) => chosen.clone(),
        None => format!("{} profile{}", group_thousands(side.profiles as i128), plural(side.profiles)),
    };
    let metric = &diff.header.metric;
    let counts_samples = metric.name == "samples" && Unit::parse(&metric.unit) == Unit::COUNT;
    if let Some(samples) = side.samples {
        text.push_str(&format!(", {} samples", group_thousands(samples.into())));
    }
    if side.samples.is_none() || !counts_samples {
        text.push_str(&format!(", {} {total}", clean(&metric.name)));
    }
    if let Some(duration) = side.duration_ns {
        text.push_str(&format!(" in {}", crate::unit::duration(duration)));
    }
    text
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The inputs of a side: the one, or the first and the last.
pub(in crate::output) fn inputs(side: &DiffSide) -> String {
    match &side.inputs[..] {
        [] => String::new(),
        [one] => clean(one).into_owned(),
        [first, .., last] => format!("{} … {}", clean(first), clean(last)),
    }
}

/// What the numbers of the columns mean.
pub(in crate::output) fn unchanged_code(diff: &Diff) -> Option<String> {
    let by = match diff.header.normalize.as_ref()?.method {
        _ if diff.noise.is_none() => return None,
        "core" => "unchanged code",
        "per" => "work done",
        "none" => "run",
        _ => return Some("COST compares shares of the whole; NEW − OLD = Δ".to_string()),
    };
    Some(format!(
        "COST and NEW are per unit of {by} (new ÷ {}), so NEW − OLD = Δ",
        plain_ratio(diff.about.core_ratio)
    ))
}

/// What would have been seen, or that it was too little for a verdict.
pub(in crate::output) fn evidence(diff: &Diff) -> String {
    if let Some(why) = &diff.about.untestable {
        return format!("no verdict: {why}");
    }
    let seen = |share: f64| {
        let at = diff.detectable.iter().find(|at| (at.share - share).abs() < 1e-9)?;
        at.ratio
    };
    if diff.verdict == DiffVerdict::Inconclusive {
        return no_verdict(diff, seen(0.1));
    }
    let part = |share: f64, what: &str| match seen(share) {
        Some(value) => format!("{} at {what}", ratio(value)),
        None => format!("nothing at {what}"),
    };
    format!("could have seen (80%): {}, {}", part(0.1, "10% of the profile"), part(0.02, "2%"))
}

fn no_verdict(diff: &Diff, seen: Option<f64>) -> String {
    let needed = diff.about.samples_needed;
    let held = diff.old.samples.unwrap_or(0).min(diff.new.samples.unwrap_or(0));
    let enough = needed.is_some_and(|needed| held as f64 >= needed);
    let few = if enough { "runs that differ so much" } else { "so few samples" };
    let mut text = match seen {
        Some(value) => {
            let above = rough_ratio(value);
            format!("no verdict: {few} show only changes above {above} at a function of 10%.")
        }
        None => format!("no verdict: {few} show no change at a function of 10%."),
    };
    if let (Some(samples), Some(per_run)) = (needed, diff.about.samples_needed_per_run) {
        // More samples do not help where runs differ by themselves; more runs do.
        let longer =
            if enough { String::new() } else { format!("about {} samples a side, or ", about(samples)) };
        let wanted = rough_ratio(diff.about.wanted_ratio);
        let per_run = about(per_run);
        text.push_str(&format!(" To see {wanted} there: {longer}5 runs a side of about {per_run}"));
        text.push_str(if enough { " samples" } else { "" });
        text.push_str(if diff.about.named { "" } else { ", or name the function: --function F" });
    }
    text
}

/// A number with three digits that count: `11,900`.
fn about(value: f64) -> String {
    let digits = value.max(1.0).log10().floor();
    let step = 10_f64.powf((digits - 2.0).max(0.0));
    group_thousands(((value / step).round() * step) as i128)
}

/// `1 regressed, 0 improved of 57 tested · alpha 1%, floor ×1.05 and 1.0pt`
pub(in crate::output) fn summary(diff: &Diff) -> String {
    let alpha = format!("{:.4}", diff.about.alpha * 100.0);
    let alpha = alpha.trim_end_matches('0').trim_end_matches('.');
    format!(
        "{} · alpha {alpha}%, floor {} and {:.1}pt",
        counts(diff),
        ratio(1.0 + diff.about.min_effect),
        diff.about.min_points
    )
}

/// `1 regressed, 0 improved of 57 tested`
pub(in crate::output) fn counts(diff: &Diff) -> String {
    let count = |verdict| diff.with_verdict(verdict).count();
    let mut text = format!(
        "{} regressed, {} improved of {} tested",
        count(RowVerdict::Regressed),
        count(RowVerdict::Improved),
        group_thousands(diff.tested as i128)
    );
    if !diff.budgets.is_empty() {
        text.push_str(&format!(", {} of {} budgets exceeded", diff.exceeded().count(), diff.budgets.len()));
    }
    text
}

/// What one pair of profiles cannot show.
pub(in crate::output) fn one_pair(diff: &Diff) -> Option<String> {
    (diff.old.profiles == 1 && diff.new.profiles == 1).then(|| {
        "one pair: how much runs differ by themselves cannot be seen; to gate a build give 3 or more \
         profiles a side"
            .to_string()
    })
}

/// That everything moved.
pub(in crate::output) fn too_noisy(diff: &Diff) -> Option<String> {
    let tau = diff.about.too_noisy?;
    Some(format!(
        "functions of all sizes moved by ±{:.0}%: different machine, compiler or workload?",
        tau * 100.0
    ))
}

/// Functions on one side only that were not tested.
pub(in crate::output) fn on_one_side(diff: &Diff) -> Option<String> {
    let (new, removed) = (diff.about.appeared, diff.about.vanished);
    let (_, several) = diff.header.about.noun;
    (new + removed > 0).then(|| format!("{new} new and {removed} removed {several}, too small to test"))
}

/// `budget exceeded: total of ^serde at most 12%, is 14.2% (owner: parsing)`
pub(in crate::output) fn budget(diff: &Diff, budget: &BudgetCheck) -> String {
    let state = if budget.exceeded { "exceeded" } else { "kept" };
    let value = budget_value(diff, budget);
    let owner = budget.owner.as_ref().map(|owner| format!(" (owner: {})", clean(owner))).unwrap_or_default();
    format!("budget {state}: {}, is {value}{owner}", clean(&budget.rule))
}

/// What the functions of a budget have.
pub(in crate::output) fn budget_value(diff: &Diff, budget: &BudgetCheck) -> String {
    if budget.percent {
        return format!("{:.1}%", budget.value);
    }
    let metric = &diff.header.metric;
    // A mean of profiles has digits behind the last one of the unit, which nobody needs.
    human(budget.value.round() as i64, &Unit::parse(&metric.unit), 1)
}

/// What a regressed row says as a sentence.
pub(in crate::output) fn sentence(row: &DiffRow) -> String {
    let what = if row.test == RowTest::SelfValue { "its own code" } else { "with all it calls" };
    let from = format!(
        "{} to {} of the profile ({})",
        percent(row.about.old_share),
        percent(row.about.new_share),
        points(row.points)
    );
    match row.ratio {
        Some(value) => {
            format!("{} costs {} ({what}; 95% CI {}): {from}", clean(&row.name), ratio(value), interval(row))
        }
        None => format!("{} is new ({what}): {from}", clean(&row.name)),
    }
}
