//! `info` as text.

use crate::name::{clean, display_width};
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line};
use crate::report::Info;
use crate::unit::{self, Scale, Unit};

/// What the input is, and its metrics.
pub(super) fn lines(info: &Info, style: &Style) -> Vec<Line> {
    let mut facts = vec![input(info, style)];
    facts.extend(recorded(info).map(|text| ("recorded", text)));
    facts.push(("stacks", stacks(info)));
    facts.push(("functions", functions(info)));
    facts.push(("labels", labels(info)));
    if !info.threads.is_empty() {
        facts.push(("threads", clean(&info.threads.join(", ")).into_owned()));
    }
    facts.extend(info.comments.iter().map(|comment| ("comment", clean(comment).into_owned())));
    facts.extend(info.warnings.iter().map(|warning| ("warning", clean(warning).into_owned())));

    let name = info.inputs.first().map_or("", |input| input.name.as_str());
    let name = clean(name);
    let width = Some(display_width(&name)).filter(|&width| width <= MOST_NAME).unwrap_or(0).max(TITLE);
    let mut lines: Vec<Line> = facts
        .into_iter()
        .map(|(title, text)| {
            let title = if title.is_empty() { &*name } else { title };
            Line::new(format!("{}  {text}", super::columns::pad(title, width)), Emphasis::None)
        })
        .collect();
    lines.extend(metrics(info, style));
    lines
}

/// Columns of the longest title.
const TITLE: usize = 9;

/// Facts are aligned with the input's name, unless it is longer than this.
const MOST_NAME: usize = 24;

fn input(info: &Info, style: &Style) -> (&'static str, String) {
    let mut text = info.format.clone();
    for encoding in &info.about.encoding {
        text.push_str(&format!(", {encoding}"));
    }
    let bytes: u64 = info.inputs.iter().map(|input| input.bytes).sum();
    text.push_str(&format!(", {} bytes", unit::group_thousands(bytes.into())));
    if info.inputs.len() > 1 {
        text.push_str(&format!("{}{} inputs", style.glyphs.dot, info.inputs.len()));
    }
    if let Some(program) = &info.about.program {
        text.push_str(&format!("{}{}", style.glyphs.dot, clean(program)));
    }
    ("", text)
}

fn recorded(info: &Info) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(info.time_ns.map(unit::timestamp_seconds));
    parts.extend(info.duration_ns.map(|duration| format!("for {}", unit::duration(duration))));
    parts.extend(info.busy.map(|busy| format!("{busy:.2} CPUs busy")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn stacks(info: &Info) -> String {
    let mut text = format!("{} distinct", unit::group_thousands(info.stacks.into()));
    if info.stacks > 0 {
        text.push_str(&format!(", depth {} (median) to {}", info.depth.median, info.depth.max));
    }
    if info.about.no_stack != 0 {
        let metric = &info.metrics[info.about.default_metric];
        let scale =
            Scale::automatic(&Unit::parse(&metric.unit), metric.divisor, metric.total.unwrap_or(i64::MAX));
        text.push_str(&format!("; {} without a stack", scale.format(info.about.no_stack)));
    }
    text
}

fn functions(info: &Info) -> String {
    let mut text = unit::group_thousands(info.functions.into());
    if info.about.files > 0 {
        text.push_str(&format!(" in {} files", unit::group_thousands(info.about.files.into())));
    }
    match info.about.unnamed {
        0 => text.push_str(", all named"),
        unnamed => text
            .push_str(&format!(", {} stand for code without names", unit::group_thousands(unnamed.into()))),
    }
    if info.about.inlined {
        text.push_str(", inlined frames known");
    }
    text
}

fn labels(info: &Info) -> String {
    let label = |label: &crate::report::InfoLabel| clean(&label.key).into_owned();
    if info.labels.is_empty() {
        return "none".to_string();
    }
    let keys: Vec<String> = info.labels.iter().map(label).collect();
    let [with, all] =
        [info.about.labelled_rows, info.about.rows].map(|rows| unit::group_thousands(rows.into()));
    format!("{} (on {with} of {all} rows)", keys.join(", "))
}

fn metrics(info: &Info, style: &Style) -> Vec<Line> {
    let mut columns = Columns::new(["METRIC", "UNIT", "TOTAL", "ROWS", ""]);
    for metric in &info.metrics {
        let mark = if metric.default { format!(" {}", style.glyphs.default) } else { String::new() };
        let unit = Unit::parse(&metric.unit);
        let total =
            metric.total.map_or("too large".to_string(), |total| unit::human(total, &unit, metric.divisor));
        let rows = unit::group_thousands(metric.samples.into());
        let name = format!("{}{mark}", clean(&metric.name));
        columns.row(vec![name, clean(&metric.unit).into_owned(), total, rows], String::new(), Emphasis::None);
    }
    let mut lines = columns.first_left().lines();
    if let Some((name, unit, value)) = &info.about.period {
        let amount = unit::human_short(*value, &Unit::parse(unit), 1);
        lines.push(Line::new(format!("a sample every {amount} of {}", clean(name)), Emphasis::Faint));
    }
    lines.push(Line::new(
        format!("{} is what commands show by default.", style.glyphs.default),
        Emphasis::Faint,
    ));
    lines
}
