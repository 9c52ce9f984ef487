//! The headline of every output: inputs, total, recording, baseline and filters. Text, pictures and the
//! page choose how much of it they have space for.

use crate::name::clean;
use crate::report::{Combined, Header, Recording, Selection, WhatIf};
use crate::unit;

/// The inputs: the name of a single one (`cpu.pb.gz`), how several were combined (`4 profiles, averaged`), or
/// empty if neither is known.
pub(super) fn inputs(header: &Header) -> String {
    match (&header.combined, &header.inputs[..]) {
        (_, []) => String::new(),
        (Some(combined), _) => self::combined(combined),
        (None, [one]) if one == "-" => "standard input".to_string(),
        (None, several) => clean(&several.join(", ")).into_owned(),
    }
}

/// How several profiles were combined: `250 of 1,312 profiles, seed 42, averaged`.
pub(crate) fn combined(combined: &Combined) -> String {
    let Combined { method, selection, heaviest_percent, skipped } = combined;
    let mut parts = vec![profiles(selection)];
    parts.extend(heaviest_percent.map(|percent| format!("the top {percent}%")));
    parts.extend(selection.seed.map(|seed| format!("seed {seed}")));
    parts.push(if *method == "mean" { "averaged" } else { "summed" }.to_string());
    parts.extend((*skipped > 0).then(|| format!("{skipped} skipped")));
    parts.join(", ")
}

/// Which profiles were used: `5 of 12 profiles, seed 42`.
pub(super) fn selection(selection: &Selection) -> String {
    let seed = selection.seed.map(|seed| format!(", seed {seed}"));
    profiles(selection) + &seed.unwrap_or_default()
}

/// `4 profiles`, `5 of 12 profiles`.
fn profiles(selection: &Selection) -> String {
    let count = |count: usize| unit::group_thousands(count as i128);
    let of = (selection.used < selection.found).then(|| format!(" of {}", count(selection.found)));
    let noun = unit::plural(selection.found as u64, "profile", "profiles");
    format!("{}{} {noun}", count(selection.used), of.unwrap_or_default())
}

/// A metric with its recording, the most important first: `cpu 85.99s in 40.73s, 2.11 CPUs busy, 5% idle`,
/// `8,599 samples at 100 Hz`, `2024-02-26 18:40 UTC`. The rate and the date are left out unless `is_wide`.
pub(super) fn recording(metric: &str, recording: &Recording, is_wide: bool) -> Vec<String> {
    let metric = if recording.latency { format!("{metric} by latency") } else { metric.to_string() };
    let first = match activity(recording) {
        Some(activity) if recording.duration_ns.is_some() => format!("{metric} {activity}"),
        Some(activity) => format!("{metric}, {activity}"),
        None => metric,
    };
    let mut parts = vec![first];
    if let Some(samples) = recording.samples {
        let rate = recording.period_ns.and_then(unit::rate).filter(|_| is_wide);
        let at = rate.map(|rate| format!(" at {rate}")).unwrap_or_default();
        let noun = unit::plural(samples.unsigned_abs(), "sample", "samples");
        parts.push(format!("{} {noun}{at}", unit::group_thousands(samples.into())));
    }
    parts.extend(recording.time_ns.filter(|_| is_wide).map(unit::timestamp_minutes));
    parts
}

/// How long the recording took, and how busy it was: `in 40.73s, 2.11 CPUs busy, 78% idle`.
pub(super) fn activity(recording: &Recording) -> Option<String> {
    let mut parts = Vec::new();
    // The times of a single sample span nothing.
    let length = recording.duration_ns.filter(|&duration| duration > 0);
    parts.extend(length.map(|duration| format!("in {}", unit::duration(duration))));
    let hundredths = |value: f64| (value * 100.0).round() as i64;
    let busy = recording.busy.map(hundredths).filter(|&busy| busy > 0);
    let busy = busy.map(|busy| unit::fixed(busy, 100, 2));
    let what = busy_units(recording.thread_time);
    parts.extend(busy.map(|busy| format!("{busy} {what} busy")));
    parts.extend(recording.idle.map(|idle| format!("{}% idle", hundredths(idle))));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What is busy: elapsed time of threads says nothing about CPUs.
pub(super) fn busy_units(thread_time: bool) -> &'static str {
    if thread_time { "threads" } else { "CPUs" }
}

/// ` in 40.73s`
pub(super) fn duration(recording: &Recording) -> String {
    recording.duration_ns.map(|duration| format!(" in {}", unit::duration(duration))).unwrap_or_default()
}

/// The factor by which the values of the old side were multiplied: `rescaled × 1.050 (core)`.
pub(super) fn rescaled(header: &Header) -> Option<String> {
    let normalize = header.normalize.as_ref().filter(|normalize| normalize.method != "none")?;
    Some(format!("rescaled × {:.3} ({})", normalize.ratio, normalize.method))
}

/// The filters, and the value that is left after filtering: `--show-stacks DeQueue`, `shown 30.51s, 35.5% of all`.
pub(super) fn shown(header: &Header, shown: &str) -> Vec<String> {
    let filters = header.filters.join(" ");
    let share = unit::share(header.displayed_shown(), header.total);
    let shown = format!("shown {shown}, {share} of all");
    [clean(&filters).into_owned(), shown].into_iter().filter(|part| !part.is_empty()).collect()
}

/// The change of costs of a filter, if it is one: `parse=0.5` of `--what-if parse=0.5`.
pub(super) fn change(filter: &str) -> Option<&str> {
    filter.strip_prefix("--what-if ")
}

/// What costs would be, as typed and in numbers: `what if parse=0.5: cpu 7.23s → 6.10s, 1.19 times as fast`.
pub(super) fn what_if(header: &Header, what_if: &WhatIf, format: impl Fn(i64) -> String) -> String {
    let changes: Vec<&str> = header.filters.iter().filter_map(|filter| change(filter)).collect();
    let (before, after) = (what_if.before, header.shown);
    let effect = match (before, after) {
        (before, after) if before == after => ", unchanged".to_string(),
        (_, 0) | (0, _) => String::new(),
        (before, after) if header.recording.is_of_one_processor() => {
            format!(", {} times as fast", ratio(before, after))
        }
        (before, after) if before > after => format!(", ÷ {}", ratio(before, after)),
        (before, after) => format!(", × {}", ratio(after, before)),
    };
    let (changes, name) = (changes.join(", "), &header.metric.name);
    let change = format!("what if {changes}: {name} {} → {}{effect}", format(before), format(after));
    clean(&change).into_owned()
}

/// A quotient with two decimals.
fn ratio(numerator: i64, denominator: i64) -> String {
    format!("{:.2}", numerator as f64 / denominator as f64)
}

/// The filters that hide all frames of some stacks, if there are such stacks: `--hide-frames`.
pub(super) fn emptied_by(header: &Header) -> Option<String> {
    let option = |filter: &String| filter.split(' ').next().unwrap_or_default().to_string();
    let mut options: Vec<String> = header.filters.iter().map(option).collect();
    options.retain(|option| ["--hide-frames", "--show-frames"].contains(&&**option));
    options.dedup();
    (header.no_stack != 0 && header.emptied != 0).then(|| options.join(" and "))
}

/// The old side of a comparison: `cpu 82.10s in 40.70s`, `rescaled × 1.050 (core)`.
pub(super) fn base(header: &Header, total: &str) -> Vec<String> {
    let name = clean(&header.metric.name);
    let duration = header.base.as_ref().map(|base| duration(&base.recording)).unwrap_or_default();
    let first = format!("{name} {total}{duration}").trim_start().to_string();
    [first].into_iter().chain(rescaled(header)).collect()
}

/// The inputs of the old side, like [`inputs`]; a list of all if it is not known how they were combined.
pub(super) fn base_inputs(header: &Header) -> String {
    let Some(base) = &header.base else { return String::new() };
    let given = || clean(&base.inputs.join(", ")).into_owned();
    base.combined.as_ref().map_or_else(given, combined)
}
