//! `info` as text.

use crate::kind;
use crate::name::{clean, display_width};
use crate::output::headline;
use crate::output::text::Style;
use crate::output::text::inputs;
use crate::output::text::table::{Emphasis, TextLine, TextTable, wrap};
use crate::report::{Info, InfoMetric, InfoPeriod, Pair};
use crate::unit::{self, Scale, Unit};

/// The facts about the input, and the table of metrics.
pub(super) fn lines(info: &Info, style: &Style) -> Vec<TextLine> {
    let mut facts = vec![input(info, style)];
    facts.extend(recorded(info).map(|text| ("recorded", text)));
    facts.push(match info.calls {
        Some(calls) => (
            "calls",
            format!(
                "{} distinct calls between functions; the profile has no stacks",
                unit::group_thousands(calls.into())
            ),
        ),
        None => ("stacks", stacks(info)),
    });
    facts.push(("functions", functions(info)));
    facts.push(("labels", labels(info)));
    if !info.threads.is_empty() {
        facts.push(("threads", clean(&info.threads.join(", ")).into_owned()));
    }
    facts.extend(info.comments.iter().map(|comment| ("comment", clean(comment).into_owned())));
    facts.extend(info.warnings.iter().map(|warning| ("warning", clean(warning).into_owned())));

    let name = match (&info.combined, &info.inputs[..]) {
        (None, [one]) => clean(&one.name).into_owned(),
        (combined, _) => combined.as_ref().map(headline::combined).unwrap_or_default(),
    };
    let width = Some(display_width(&name)).filter(|&width| width <= MOST_NAME).unwrap_or(0).max(TITLE);
    let mut lines = Vec::new();
    if info.inputs.len() > 1 {
        lines.extend(inputs::lines(info, style));
        lines.push(TextLine::default());
    }
    let room = style.width.map_or(usize::MAX, |columns| columns.saturating_sub(width + 2).max(LEAST_FACT));
    for (title, text) in facts {
        let mut title = if title.is_empty() { &*name } else { title };
        // A long name whose facts do not fit after it has a line of its own.
        let overhang = display_width(title).saturating_sub(width);
        if overhang > 0 && overhang + display_width(&text) > room {
            lines.push(TextLine::new(title, Emphasis::None));
            title = "";
        }
        for line in wrap(&text, room) {
            let line = format!("{}  {line}", super::table::pad(title, width));
            lines.push(TextLine::new(line, Emphasis::None));
            title = "";
        }
    }
    lines.extend(metrics(info, style));
    lines
}

/// The minimum width of facts, even if the terminal is narrower.
const LEAST_FACT: usize = 24;

/// The width of the longest title.
const TITLE: usize = 9;

/// Facts are aligned with the input's name, unless it is longer than this.
const MOST_NAME: usize = 24;

fn input(info: &Info, style: &Style) -> (&'static str, String) {
    let mut text = info.format.clone();
    match info.confidence {
        "maybe" => text.push_str(" (guessed from the content; --input-format overrides)"),
        "given" => text.push_str(" (set by --input-format)"),
        _ => {}
    }
    for encoding in &info.encoding {
        text.push_str(&format!(", {encoding}"));
    }
    let bytes: u64 = info.inputs.iter().map(|input| input.bytes).sum();
    text.push_str(&format!(", {} bytes", unit::group_thousands(bytes.into())));
    if let Some(program) = &info.program {
        text.push_str(&format!("{}{}", style.glyphs.dot, clean(program)));
    }
    ("", text)
}

fn recorded(info: &Info) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(info.time_ns.map(unit::timestamp_seconds));
    parts.extend(info.duration_ns.map(|duration| format!("for {}", unit::duration(duration))));
    parts.extend(info.busy.map(|busy| format!("{busy:.2} CPUs busy")));
    parts
        .extend(info.idle.map(|idle| format!("{:.0}% idle (--hide-stacks @idle excludes it)", idle * 100.0)));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn stacks(info: &Info) -> String {
    let mut text = format!("{} distinct", unit::group_thousands(info.stacks.into()));
    if info.stacks > 0 {
        text.push_str(&format!(", median depth {}, maximum {}", info.depth.median, info.depth.max));
    }
    if info.no_stack != 0 {
        let metric = &info.metrics[info.shown_metric];
        let scale = scale(metric, metric.total.unwrap_or(i64::MAX));
        text.push_str(&format!("; {} without a stack", scale.format(info.no_stack)));
    }
    text
}

fn functions(info: &Info) -> String {
    let mut text = unit::group_thousands(info.functions.into());
    if info.files > 0 {
        text.push_str(&format!(" in {} files", unit::group_thousands(info.files.into())));
    }
    match info.unnamed {
        0 => text.push_str(", all named"),
        unnamed => text.push_str(&format!(
            ", {} of them placeholders for code without names",
            unit::group_thousands(unnamed.into())
        )),
    }
    let metric = &info.metrics[info.shown_metric];
    if let (Some(whole @ 1..), Pair { self_value: own, total: total @ 1.. }) = (metric.total, info.unresolved)
    {
        let percent = |value: i64| format!("{:.1}%", 100.0 * value as f64 / whole as f64);
        let [own, total] = [own, total].map(percent);
        let all = if own == total { own } else { format!("{own}, or {total} including callees,") };
        text.push_str(&format!(" ({all} of {})", clean(&metric.name)));
    }
    if info.inlined {
        text.push_str(", with inlined frames");
    }
    text
}

fn labels(info: &Info) -> String {
    let label = |label: &crate::report::InfoLabel| clean(&label.key).into_owned();
    if info.labels.is_empty() {
        return "none".to_string();
    }
    let keys: Vec<String> = info.labels.iter().map(label).collect();
    let [with, all] = [info.labelled_rows, info.rows].map(|rows| unit::group_thousands(rows.into()));
    format!("{} (on {with} of {all} rows)", keys.join(", "))
}

/// The scale for values of a metric, the largest of which is `largest`.
fn scale(metric: &InfoMetric, largest: i64) -> Scale {
    let scale = Scale::automatic(&Unit::parse(&metric.unit), metric.divisor, largest);
    scale.with_resolution(metric.resolution.unwrap_or(0))
}

/// The sum of all values of a metric.
pub(in crate::output) fn total_of_metric(metric: &InfoMetric) -> String {
    metric.total.map_or_else(|| "too large".to_string(), |total| scale(metric, total).format(total))
}

/// The table of metrics, and how to read the default one.
fn metrics(info: &Info, style: &Style) -> Vec<TextLine> {
    let companions = style.is_wide() && info.metrics.len() > 2;
    let mut titles = vec!["METRIC", "UNIT", "TOTAL", "ROWS"];
    if companions {
        titles.push("COMPANION");
    }
    titles.push("A WIDE BLOCK (FLAME GRAPH)");
    let mut rows: Vec<(Vec<String>, &str)> = Vec::new();
    for metric in &info.metrics {
        let mark = if metric.default { format!(" {}", style.glyphs.default) } else { String::new() };
        let total = total_of_metric(metric);
        let samples = unit::group_thousands(metric.samples.into());
        let name = format!("{}{mark}", clean(&metric.name));
        let mut cells = vec![name, clean(&metric.unit).into_owned(), total, samples];
        let kind = kind::of_metric(&metric.name);
        if companions {
            cells.push(kind.and_then(|kind| kind.companion).unwrap_or_default().to_string());
        }
        rows.push((cells, kind.map_or("", |kind| kind.width)));
    }
    let mut lines = TextTable::explained(&titles, rows, style.width).lines();
    lines.extend(guidance(info, style));
    lines
}

/// `cpu: CPU time, sampled at a fixed rate. Read it to … One sample per 10ms of cpu (100 Hz). …`
fn guidance(info: &Info, style: &Style) -> Vec<TextLine> {
    let Some(metric) = info.metrics.get(info.shown_metric) else { return Vec::new() };
    let mut sentences = Vec::new();
    if metric.name == "cpu" && ["cpuprofile", "chrome-trace"].contains(&&*info.format) {
        // V8 samples a thread whether it runs or waits.
        sentences
            .push("Elapsed time of the thread, sampled; while it waits, the function is (idle).".to_string());
        sentences.push(
            "Read it to find what keeps the thread busy; --hide-stacks @idle hides the waiting.".to_string(),
        );
    } else if let Some(kind) = kind::of_metric(&metric.name) {
        sentences.extend([kind.measures.to_string(), kind.when.to_string()]);
    }
    if let Some(InfoPeriod { metric: name, unit, value }) = &info.period {
        let parsed = Unit::parse(unit);
        let amount = unit::human_short(*value, &parsed, 1);
        let nanoseconds = parsed.factor_to(&Unit::parse("ns")).map(|factor| value.saturating_mul(factor));
        let rate = nanoseconds.and_then(unit::rate).map(|rate| format!(" ({rate})")).unwrap_or_default();
        sentences.push(format!("One sample per {amount} of {}{rate}.", clean(name)));
    }
    sentences.push(format!("{} marks the default metric.", style.glyphs.default));
    let text = format!("{}: {}", clean(&metric.name), sentences.join(" "));
    wrap(&text, style.layout_width()).into_iter().map(|line| TextLine::new(line, Emphasis::Faint)).collect()
}
