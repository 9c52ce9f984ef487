//! The headline of every output: inputs, total, recording, baseline and filters. Text, pictures and the
//! page choose how much of it they have space for.

use crate::name::clean;
use crate::report::{About, Header};
use crate::unit;

/// The inputs: the name of a single one (`cpu.pb.gz`), how several were combined (`4 profiles, averaged`), or
/// empty if neither is known.
pub(super) fn inputs(about: &About) -> String {
    match &about.inputs[..] {
        [] => String::new(),
        [one] if about.combined.is_empty() && one == "-" => "standard input".to_string(),
        [one] if about.combined.is_empty() => clean(one).into_owned(),
        _ => about.combined.clone(),
    }
}

/// A metric with its recording, the most important first: `cpu 85.99s in 40.73s, 2.11 CPUs busy, 5% idle`,
/// `8,599 samples at 100 Hz`, `2024-02-26 18:40 UTC`. The rate and the date are left out unless `is_wide`.
pub(super) fn recording(metric: &str, about: &About, is_wide: bool) -> Vec<String> {
    let first = match activity(about) {
        Some(activity) if about.duration_ns.is_some() => format!("{metric} {activity}"),
        Some(activity) => format!("{metric}, {activity}"),
        None => metric.to_string(),
    };
    let mut parts = vec![first];
    if let Some(samples) = about.samples {
        let rate = about.period_ns.and_then(unit::rate).filter(|_| is_wide);
        let at = rate.map(|rate| format!(" at {rate}")).unwrap_or_default();
        parts.push(format!("{} samples{at}", unit::group_thousands(samples.into())));
    }
    parts.extend(about.time_ns.filter(|_| is_wide).map(unit::timestamp_minutes));
    parts
}

/// How long the recording took, and how busy it was: `in 40.73s, 2.11 CPUs busy, 78% idle`.
pub(super) fn activity(about: &About) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(about.duration_ns.map(|duration| format!("in {}", unit::duration(duration))));
    parts.extend(about.busy_hundredths.map(|busy| format!("{} CPUs busy", unit::fixed(busy, 100, 2))));
    parts.extend(about.idle_percent.map(|percent| format!("{percent}% idle")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// ` in 40.73s`
pub(super) fn duration(about: &About) -> String {
    about.duration_ns.map(|duration| format!(" in {}", unit::duration(duration))).unwrap_or_default()
}

/// The factor by which the values of the old side were multiplied: `rescaled × 1.050 (core)`.
pub(super) fn rescaled(header: &Header) -> Option<String> {
    let normalize = header.normalize.as_ref().filter(|normalize| normalize.method != "none")?;
    Some(format!("rescaled × {:.3} ({})", normalize.ratio, normalize.method))
}

/// The filters, and the value that is left after filtering: `--show-stacks DeQueue`, `shown 30.51s, 35.5% of all`.
pub(super) fn shown(header: &Header, shown: &str) -> Vec<String> {
    let filters = header.about.filters.join(" ");
    let share = unit::share(header.shown, header.total);
    let shown = format!("shown {shown}, {share} of all");
    [clean(&filters).into_owned(), shown].into_iter().filter(|part| !part.is_empty()).collect()
}

/// The old side of a comparison: `cpu 82.10s in 40.70s`, `rescaled × 1.050 (core)`.
pub(super) fn base(header: &Header, total: &str) -> Vec<String> {
    let name = clean(&header.metric.name);
    let duration = header.about.base.recording.as_deref().map(duration).unwrap_or_default();
    let first = format!("{name} {total}{duration}").trim_start().to_string();
    [first].into_iter().chain(rescaled(header)).collect()
}

/// The inputs of the old side, like [`inputs`]; a list of all if it is not known how they were combined.
pub(super) fn base_inputs(header: &Header) -> String {
    let given = header.base.as_ref().map(|base| base.inputs.join(", ")).unwrap_or_default();
    let combined = header.about.base.recording.as_deref().map(|about| about.combined.clone());
    combined.filter(|combined| !combined.is_empty()).unwrap_or_else(|| clean(&given).into_owned())
}

/// The file name of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
