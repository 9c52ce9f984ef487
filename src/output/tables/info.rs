//! What is in the input: the inputs if there are several, facts, and the metrics.

use crate::kind;
use crate::name::{clean, display_width};
use crate::output::headline;
use crate::output::label::Label;
use crate::output::style::Style;
use crate::output::table::{Columns, Form, Kind, Note, Rank, Table, wrapped};
use crate::output::width::{pad, wrap};
use crate::report::{Info, InfoInput, InfoMetric, InfoPeriod, Pair};
use crate::unit::{self, Scale, Unit};

/// A table of the inputs if there are several, and one of the metrics.
pub(super) fn tables<'r>(info: &'r Info, form: Form, style: &'r Style) -> Vec<Table<'r>> {
    let mut tables = Vec::new();
    if info.inputs.len() > 1 && form != Form::Csv {
        let mut inputs = inputs(info, form);
        // A blank line before the facts.
        inputs.below.extend((form == Form::Text).then(Note::default));
        tables.push(inputs);
    }
    let mut metrics = metrics(info, form, style);
    match form {
        Form::Text => {
            metrics.above = aligned(&facts(info, style), &subject(info), style);
            metrics.below = guidance(info, style);
        }
        Form::Csv => {}
        Form::Markdown => metrics.above = paragraphs(&facts(info, style), &subject(info)),
    }
    tables.push(metrics);
    tables
}

/// One row per input: its total of the explained metric, its duration, and when it was recorded. What no input says has
/// no column.
fn inputs(info: &Info, form: Form) -> Table<'_> {
    // Rows of one unit are shown in one unit.
    let total = |input: &&InfoInput| {
        let alike = info.inputs.iter();
        let alike = alike.filter(|other| (&other.unit, other.divisor) == (&input.unit, input.divisor));
        let largest = alike.map(|input| input.total).max().unwrap_or(0);
        Scale::automatic(&Unit::parse(&input.unit), input.divisor, largest).format(input.total)
    };
    let metric = info.metrics.get(info.shown_metric).map_or("", |metric| &metric.name);
    let mut columns = Columns::new();
    columns.show(clean(metric).to_uppercase(), Kind::Word, total);
    if info.inputs.iter().any(|input| input.duration_ns.is_some()) {
        let duration = |input: &&InfoInput| input.duration_ns.map(unit::duration);
        columns.show("DURATION", Kind::Word, duration).rank(Rank::Duration);
    }
    if info.inputs.iter().any(|input| input.time_ns.is_some()) {
        let time = |input: &&InfoInput| input.time_ns.map(unit::timestamp_seconds);
        columns.show("RECORDED", Kind::Word, time).rank(Rank::Recorded);
    }
    columns.show("BYTES", Kind::Count, |input| input.bytes as i64).rank(Rank::Bytes);
    columns.show("FORMAT", Kind::Word, |input| input.format.as_str()).rank(Rank::Format);
    columns.show("INPUT", Kind::Name, |input| Label::new(clean(&input.name)));
    columns.table(form, &[], || info.inputs.iter(), [])
}

/// One row per metric, with what a wide function in a flame graph means.
fn metrics<'r>(info: &'r Info, form: Form, style: &'r Style) -> Table<'r> {
    let mut columns = Columns::new();
    let name = move |metric: &&InfoMetric| match form {
        Form::Csv => metric.name.clone(),
        _ if metric.default => format!("{} {}", metric.name, style.glyphs.default),
        _ => metric.name.clone(),
    };
    columns.add("name", Kind::Key, name).titled("METRIC");
    columns.add("unit", Kind::Word, |metric| metric.unit.as_str()).titled("UNIT");
    columns.add("divisor", Kind::Count, |metric| metric.divisor as i64);
    columns.add("total", Kind::Number, |metric| metric.total);
    columns.show("TOTAL", Kind::Word, |metric| total_of_metric(metric));
    columns.add("samples", Kind::Count, |metric| metric.samples as i64).titled("ROWS");
    columns.add("period", Kind::Number, |metric| metric.period);
    columns.add("default", Kind::Flag, |metric| metric.default);
    columns.add("resolution", Kind::Number, |metric| metric.resolution);
    if has_companions(info, style) {
        columns.show("COMPANION", Kind::Word, |metric| companion(info, metric));
    }
    let width = |metric: &&InfoMetric| Some(kind_of(info, metric)?.width);
    columns.show("A WIDE FUNCTION (FLAME GRAPH)", Kind::Prose, width);
    columns.table(form, &[], || info.metrics.iter(), [])
}

/// The type of a metric of the input.
fn kind_of(info: &Info, metric: &InfoMetric) -> Option<&'static kind::Kind> {
    kind::of_recorded(&metric.name, kind::is_thread_time(&metric.name, &info.format))
}

/// The other metric of the profile that measures the same events: their number next to their size or duration.
fn companion<'r>(info: &'r Info, metric: &InfoMetric) -> Option<&'r str> {
    let known = |name: &&str| info.metrics.iter().find(|other| other.name.eq_ignore_ascii_case(name));
    let exact = kind::companions_of(&metric.name).iter().find_map(known);
    let companion = kind::of_metric(&metric.name)?.companion?;
    let alike = || info.metrics.iter().find(|other| kind::is(&other.name, companion));
    exact.or_else(alike).map(|other| &*other.name)
}

fn has_companions(info: &Info, style: &Style) -> bool {
    let has = |metric| companion(info, metric).is_some();
    style.is_wide() && info.metrics.len() > 2 && info.metrics.iter().any(has)
}

/// The facts about the input, each with its title; the first one has none, as it follows what the facts are about.
fn facts(info: &Info, style: &Style) -> Vec<(&'static str, String)> {
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
    facts
}

/// What the facts are about: the name of the input, or how several were combined.
fn subject(info: &Info) -> String {
    match (&info.combined, &info.inputs[..]) {
        (None, [one]) => clean(&one.name).into_owned(),
        (combined, _) => combined.as_ref().map(headline::combined).unwrap_or_default(),
    }
}

/// A paragraph for each fact.
fn paragraphs(facts: &[(&str, String)], subject: &str) -> Vec<Note> {
    let title = |title: &str| if title.is_empty() { subject.to_string() } else { title.to_string() };
    facts.iter().map(|(name, text)| Note::plain(format!("{}: {text}", title(name)))).collect()
}

/// The facts in a column of their own, each after its title.
fn aligned(facts: &[(&str, String)], subject: &str, style: &Style) -> Vec<Note> {
    let width = Some(display_width(subject)).filter(|&width| width <= MOST_NAME).unwrap_or(0).max(TITLE);
    let mut lines = Vec::new();
    let room = style.width.map_or(usize::MAX, |columns| columns.saturating_sub(width + 2));
    if room < LEAST_FACT {
        return paragraphs(facts, subject);
    }
    for (title, text) in facts {
        let mut title = if title.is_empty() { subject } else { title };
        // A long name whose facts do not fit after it has a line of its own.
        let overhang = display_width(title).saturating_sub(width);
        if overhang > 0 && overhang + display_width(text) > room {
            lines.push(Note::plain(title));
            title = "";
        }
        for line in wrap(text, room) {
            lines.push(Note::plain(format!("{}  {line}", pad(title, width))));
            title = "";
        }
    }
    lines
}

/// Facts that have less space than this have no column of their own.
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
    parts.extend(
        info.duration_ns
            .filter(|&duration| duration > 0)
            .map(|duration| format!("for {}", unit::duration(duration))),
    );
    let metric = &info.metrics[info.shown_metric].name;
    let what = headline::busy_units(kind::is_thread_time(metric, &info.format));
    parts.extend(info.busy.map(|busy| format!("{busy:.2} {what} busy")));
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
        let noun = unit::plural(info.files, "file", "files");
        text.push_str(&format!(" in {} {noun}", unit::group_thousands(info.files.into())));
    }
    let metric = &info.metrics[info.shown_metric];
    if info.functions_of_metric < info.functions {
        let count = unit::group_thousands(info.functions_of_metric.into());
        text.push_str(&format!(", {count} functions with {}", clean(&metric.name)));
    }
    match info.unnamed {
        0 if info.functions > 0 => text.push_str(", all named"),
        0 => {}
        1 if info.functions == 1 => text.push_str(", a placeholder for code without a name"),
        1 => text.push_str(", 1 of them a placeholder for code without a name"),
        unnamed => text.push_str(&format!(
            ", {} of them placeholders for code without names",
            unit::group_thousands(unnamed.into())
        )),
    }
    if let (Some(whole @ 1..), Pair { self_value: own, total: total @ 1.. }) = (metric.total, info.unresolved)
    {
        let percent = |value: i64| format!("{:.1}%", 100.0 * value as f64 / whole as f64);
        let [own, total] = [own, total].map(percent);
        let all = if own == total { own } else { format!("self {own}, total {total}") };
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
fn total_of_metric(metric: &InfoMetric) -> String {
    let text = |total| scale(metric, total).format(metric.sum.unwrap_or(total));
    metric.total.map_or_else(|| "too large".to_string(), text)
}

/// `cpu: CPU time, sampled at a fixed rate. Use it to … One sample per 10ms of cpu (100 Hz). …`
fn guidance(info: &Info, style: &Style) -> Vec<Note> {
    let Some(metric) = info.metrics.get(info.shown_metric) else { return Vec::new() };
    let mut sentences = Vec::new();
    if kind::is_cycles(&metric.name) {
        sentences.push(
            "Clock cycles of CPUs, sampled: in proportion to CPU time as long as the clock frequency is constant."
                .to_string(),
        );
        sentences.extend(kind::of_metric(&metric.name).map(|kind| kind.when.to_string()));
    } else if let Some(kind) = kind_of(info, metric) {
        sentences.extend([kind.measures.to_string(), kind.when.to_string()]);
    }
    // With a period of one event, every event was recorded.
    if let Some(InfoPeriod { metric: name, unit, value }) =
        info.period.as_ref().filter(|period| period.value > 1)
    {
        let parsed = Unit::parse(unit);
        let amount = unit::human_short(*value, &parsed, 1);
        let nanoseconds = parsed.factor_to(&Unit::parse("ns")).map(|factor| value.saturating_mul(factor));
        let rate = nanoseconds.and_then(unit::rate).map(|rate| format!(" ({rate})")).unwrap_or_default();
        sentences.push(format!("One sample per {amount} of {}{rate}.", clean(name)));
    }
    if !sentences.is_empty() {
        sentences.insert(0, format!("{}:", clean(&metric.name)));
    }
    let mut titles = vec![
        format!("{} marks the default metric", style.glyphs.default),
        "ROWS: samples with a value".to_string(),
    ];
    if has_companions(info, style) {
        titles.push("COMPANION: the metric that measures the same events in another way".to_string());
    }
    let texts = [titles.join(style.glyphs.dot), sentences.join(" ")];
    wrapped(texts.into_iter().filter(|text| !text.is_empty()).map(Note::faint), style)
}
