//! The table of `trend`: one row per function, with its series as a line of blocks.

use crate::name::{base_name, clean};
use crate::output::Scaled;
use crate::output::diff::words::matched_text;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::scale as output_scale;
use crate::output::style::{Glyphs, Style};
use crate::output::table::{Cell, Columns, Emphasis, Form, Kind, Note, Rank, Table, wrapped};
use crate::report::{Trend, TrendPoint, TrendRise, TrendRow, TrendStep, TrendVerdict};
use crate::unit::{Scale, group_thousands, plain_ratio, plural, ratio, significance, timestamp_minutes};

pub(in crate::output) fn table<'r>(trend: &'r Trend, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let levels = trend.rows.iter().flat_map(|row| [row.first, row.last]);
    let largest = rounded(levels.fold(0.0, f64::max));
    let scale = output_scale(&trend.header.metric, largest, style.unit.as_ref())?;
    let names = DisplayNames::new(trend.rows.iter().map(|row| &row.name), style);
    let mut columns = Columns::new();
    add_keys(&mut columns);
    columns.show("", Kind::Word, |row: &&TrendRow| word(row.verdict));
    let level = |of: fn(&TrendRow) -> f64| {
        let scale = scale.clone();
        move |row: &&TrendRow| scale.format(rounded(of(row)))
    };
    columns.show("FIRST", Kind::Word, level(|row| row.first));
    columns.show("LAST", Kind::Word, level(|row| row.last));
    let rises = || trend.rows.iter().filter_map(|row| row.rise.as_ref());
    let largest = |of: fn(&TrendRise) -> f64| rounded(rises().map(of).fold(0.0, f64::max));
    let own_scale = |largest| output_scale(&trend.header.metric, largest, style.unit.as_ref());
    let slopes = own_scale(largest(|rise| slope(rise).0))?;
    let of_interval = slopes.clone();
    columns.show("CHANGE", Kind::Word, move |row| change(row, &slopes));
    columns.show("95% CI", Kind::Word, move |row| interval(row, &of_interval)).rank(Rank::Interval);
    if rises().any(|rise| rise.in_a_day.is_some()) {
        let sizes = own_scale(largest(|rise| rise.in_a_day.unwrap_or(0.0)))?;
        let in_a_day = move |row: &&TrendRow| Some(sizes.format(rounded(row.rise?.in_a_day?)));
        columns.show("IN A DAY", Kind::Word, in_a_day).rank(Rank::ChangeShare);
    }
    if trend.rows.iter().any(|row| row.step.is_some()) {
        columns.show("SINCE", Kind::Word, |row| row.step.as_ref().map(since)).rank(Rank::Points);
    }
    let glyphs = style.glyphs;
    columns
        .show("TREND", Kind::Word, move |row| spark(&costs(row, &trend.series), glyphs))
        .rank(Rank::OtherForm);
    let title = trend.header.by.title();
    columns.show(title, Kind::Name, move |row| Label::new(names.get(&row.name)));
    columns.emphasis(|row| match row.verdict {
        verdict if verdict.is_failure() => Emphasis::Strong,
        TrendVerdict::None => Emphasis::Faint,
        _ => Emphasis::None,
    });
    let mut table = columns.table(form, &[], || trend.rows.iter(), []);
    let fitted = |notes: Vec<Note>| if form == Form::Text { wrapped(notes, style) } else { notes };
    let filters = clean(&trend.header.filters.join(" ")).into_owned();
    let heading = [heading(trend, style)?, filters].into_iter().filter(|line| !line.is_empty());
    table.above = fitted(heading.map(Note::plain).chain([Note::default()]).collect());
    table.below = fitted(notes(trend, style));
    Ok(table)
}

/// What programs get of a row.
fn add_keys<'r>(columns: &mut Columns<'r, &'r TrendRow>) {
    fn step<T>(row: &TrendRow, of: impl Fn(&TrendStep) -> T) -> Option<T> {
        row.step.as_ref().map(of)
    }
    fn rise<T>(row: &TrendRow, of: impl Fn(&TrendRise) -> T) -> Option<T> {
        row.rise.as_ref().map(of)
    }
    columns.add("name", Kind::Name, |row: &&'r TrendRow| &*row.name);
    columns.add("verdict", Kind::Word, |row| row.verdict.word());
    columns.add("first", Kind::Number, |row| row.first);
    columns.add("last", Kind::Number, |row| row.last);
    columns.add("step.after", Kind::Text, |row: &&'r TrendRow| row.step.as_ref().map(|step| &*step.after));
    columns.add("step.since_ns", Kind::Number, |row| step(row, |step| step.since_ns).flatten());
    columns.add("step.old", Kind::Number, |row| step(row, |step| step.old));
    columns.add("step.new", Kind::Number, |row| step(row, |step| step.new));
    columns.add("step.ratio", Kind::Number, |row| step(row, |step| step.ratio).flatten());
    columns.add("step.ratio_low", Kind::Number, |row| step(row, |step| step.ratio_low).flatten());
    columns.add("step.ratio_high", Kind::Number, |row| step(row, |step| step.ratio_high).flatten());
    columns.add("step.p", Kind::Number, |row| step(row, |step| step.p));
    columns.add("step.q", Kind::Number, |row| step(row, |step| step.q));
    columns.add("rise.per_hour", Kind::Number, |row| rise(row, |rise| rise.per_hour).flatten());
    columns.add("rise.per_profile", Kind::Number, |row| rise(row, |rise| rise.per_profile));
    columns.add("rise.low", Kind::Number, |row| rise(row, |rise| rise.low));
    columns.add("rise.high", Kind::Number, |row| rise(row, |rise| rise.high));
    columns.add("rise.in_an_hour", Kind::Number, |row| rise(row, |rise| rise.in_an_hour).flatten());
    columns.add("rise.in_a_day", Kind::Number, |row| rise(row, |rise| rise.in_a_day).flatten());
    columns.add("rise.p", Kind::Number, |row| rise(row, |rise| rise.p));
    columns.add("rise.q", Kind::Number, |row| rise(row, |rise| rise.q));
    columns.add("steps", Kind::Text, |row| list(&row.steps));
    columns.add("values", Kind::Text, |row| list(&row.values));
}

/// The numbers as in JSON: `[18,25]`.
fn list<T: ToString>(numbers: &[T]) -> Cell<'static> {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Cell::Text(format!("[{}]", numbers.join(",")).into())
}

/// The nearest integer; values of functions are sums of integers.
pub(in crate::output) fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// What each profile has of a function, rescaled.
pub(in crate::output) fn costs(row: &TrendRow, series: &[TrendPoint]) -> Vec<f64> {
    row.values.iter().zip(series).map(|(value, point)| *value as f64 * point.scale).collect()
}

pub(in crate::output) fn word(verdict: TrendVerdict) -> &'static str {
    match verdict {
        TrendVerdict::Leak => "LEAK",
        TrendVerdict::Regressed => "REGRESSED",
        TrendVerdict::Improved => "improved",
        TrendVerdict::None | TrendVerdict::Inconclusive => "",
    }
}

/// `×1.25`, or for a leak `+1.20MiB/h`.
pub(in crate::output) fn change(row: &TrendRow, scale: &Scale) -> Option<String> {
    match (&row.rise, &row.step) {
        (Some(rise), _) => {
            let (slope, per) = slope(rise);
            Some(format!("+{}{per}", scale.format(rounded(slope))))
        }
        (None, Some(TrendStep { ratio: Some(value), .. })) => Some(ratio(*value)),
        (None, Some(step)) => Some(if step.new > step.old { "new" } else { "gone" }.to_string()),
        (None, None) => None,
    }
}

/// `1.21–1.29`, or for a leak `1.10MiB–1.31MiB`.
fn interval(row: &TrendRow, scale: &Scale) -> Option<String> {
    if let Some(rise) = &row.rise {
        let (slope, _) = slope(rise);
        let end = |part: f64| scale.format(rounded(slope * part));
        return Some(format!("{}–{}", end(rise.low), end(rise.high)));
    }
    let step = row.step.as_ref()?;
    Some(format!("{}–{}", plain_ratio(step.ratio_low?), plain_ratio(step.ratio_high?)))
}

fn slope(rise: &TrendRise) -> (f64, &'static str) {
    rise.per_hour.map_or((rise.per_profile, "/profile"), |slope| (slope, "/h"))
}

/// The time of the first profile after a step, or else the name of the last one before it.
pub(in crate::output) fn since(step: &TrendStep) -> String {
    let name = || format!("after {}", clean(base_name(&step.after)));
    step.since_ns.map_or_else(name, timestamp_minutes)
}

/// The most characters of a series.
const WIDEST: usize = 20;

/// A series as blocks, from low to high. Noise of a few percent stays small.
fn spark(costs: &[f64], glyphs: &Glyphs) -> String {
    let means: Vec<f64> = costs
        .chunks(costs.len().div_ceil(WIDEST).max(1))
        .map(|some| some.iter().sum::<f64>() / some.len() as f64)
        .collect();
    let (low, high) = means
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mean| (low.min(*mean), high.max(*mean)));
    let range = (high - low).max(0.2 * high.abs());
    let middle = f64::midpoint(low, high);
    let steps = glyphs.levels.chars().count();
    let block = |mean: f64| {
        let part = if range > 0.0 { (mean - middle) / range + 0.5 } else { 0.5 };
        let step = (part * steps as f64).clamp(0.0, (steps - 1) as f64) as usize;
        glyphs.levels.chars().nth(step).unwrap_or(' ')
    };
    means.into_iter().map(block).collect()
}

/// `40 profiles from 2026-10-01 02:00 UTC to 2026-11-09 02:00 UTC: cpu 1.20s on average`
pub(in crate::output) fn heading(trend: &Trend, style: &Style) -> Scaled<String> {
    let count = trend.series.len();
    let profiles =
        format!("{} {}", group_thousands(count as i128), plural(count as u64, "profile", "profiles"));
    let ends = [trend.series.first(), trend.series.last()].map(|point| point.and_then(|point| point.time_ns));
    let times = match ends {
        [Some(first), Some(last)] if trend.order == "time" && count > 1 => {
            format!(" from {} to {}", timestamp_minutes(first), timestamp_minutes(last))
        }
        _ if count == 1 => String::new(),
        _ => format!(" in the order {}", if trend.order == "given" { "given" } else { "of their names" }),
    };
    let mean = trend.header.total / (count.max(1) as i64);
    let scale = output_scale(&trend.header.metric, mean, style.unit.as_ref())?;
    let metric = clean(&trend.header.metric.name);
    Ok(format!("{profiles}{times}: {metric} {} on average", scale.format(mean)))
}

/// What was cut, what the numbers mean, and the result.
pub(in crate::output) fn notes(trend: &Trend, style: &Style) -> Vec<Note> {
    let mut notes = Vec::new();
    let by = &trend.header.by;
    if trend.header.elided_rows > 0 {
        let more = group_thousands(trend.header.elided_rows.into());
        notes.push(Note::faint(format!(
            "{} {more} more {}",
            style.glyphs.ellipsis,
            by.noun(trend.header.elided_rows)
        )));
    }
    notes.push(Note::default());
    notes.extend(
        matched_text(&trend.matched, 0, style.all_matches, |name| clean(name).into_owned()).map(Note::faint),
    );
    let rescaled = match trend.relative_to {
        "core" => "values are rescaled so that unchanged code costs the same in every profile",
        "total" => "values are rescaled so that every profile has the same total",
        _ => "values are those recorded in each profile",
    };
    let value = if trend.value == "self" { "self" } else { "total, with callees" };
    notes.push(Note::faint(format!("{value}; {rescaled}")));
    if trend.rows.iter().any(|row| row.verdict != TrendVerdict::None) {
        notes.push(Note::faint(
            "FIRST and LAST of a step are the means before and after, of a leak the ends of a fitted line",
        ));
    }
    notes.push(Note::plain(result(trend, style)));
    notes
}

/// `2 regressed, 1 improved among 57 functions · alpha 1% for all together · exit 1`
fn result(trend: &Trend, style: &Style) -> String {
    let counts = [(trend.leaking, "leaking"), (trend.regressed, "regressed"), (trend.improved, "improved")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let tested = trend.tested as u64;
    let among = format!("{} {}", group_thousands(tested.into()), trend.header.by.noun(tested));
    let mut text = match (trend.verdict, counts.is_empty()) {
        (TrendVerdict::Inconclusive, _) => {
            let count = trend.series.len() as u64;
            let are = plural(count, "profile is", "profiles are");
            format!("no verdict: {count} {are} too few to find a step among {among}")
        }
        (_, true) => format!("no lasting change among {among}"),
        (_, false) => format!("{} among {among}", counts.join(", ")),
    };
    text.push_str(&format!(" · alpha {} for all together", significance(trend.alpha)));
    if let Some(needed) = trend.needed {
        text.push_str(&format!(" · a step is found once it has lasted {needed} profiles"));
    }
    text.extend(style.exit_code.map(|code| format!(" · exit {code}")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_show_steps_but_not_noise() {
        let unicode = |costs: &[f64]| spark(costs, &Glyphs::UNICODE);
        assert_eq!(unicode(&[1.0, 1.0, 2.0, 3.0]), "▁▁▅█");
        assert_eq!(unicode(&[100.0, 101.0, 99.0, 100.0]), "▅▅▄▅");
        assert_eq!(unicode(&[0.0, 0.0]), "▅▅");
        assert_eq!(unicode(&[]), "");
        assert_eq!(spark(&[1.0, 2.0], &Glyphs::ASCII), ".@");
        assert_eq!(unicode(&vec![5.0; 1000]).chars().count(), 20);
    }
}
