//! The header lines of every view: what is shown, and what affects the numbers.

use crate::name::{base_name, clean, display_width, fit};
use crate::output::label::LEAST_NAME;
use crate::output::style::Style;
use crate::output::table::Emphasis;
use crate::output::text::line::TextLine;
use crate::output::{Scaled, headline, scale};
use crate::report::Header;
#[cfg(feature = "ui")]
use crate::unit::share;

/// `gpq.pprof · cpu 85.99s in 40.73s, 2.11 CPUs busy · 8,599 samples`
pub(super) fn lines(header: &Header, style: &Style) -> Scaled<Vec<TextLine>> {
    let rest = headline::recording(&metrics(header, style)?, &header.recording, style.is_wide());
    let rest = rest.join(style.glyphs.dot);
    let mut lines = vec![TextLine::new(with_inputs(header, &rest, style), Emphasis::None)];
    lines.extend(base_line(header, style)?);
    lines.extend(what_if_line(header, style)?.map(|text| TextLine::new(text, Emphasis::None)));
    if let Some(filters) = filter_line(header, style)? {
        lines.push(TextLine::new(filters, Emphasis::Faint));
    }
    if let Some(options) = headline::emptied_by(header) {
        let emptied = scale(&header.metric, header.shown, style.unit.as_ref())?.format(header.emptied);
        let text = format!("stacks whose frames are all hidden by {options}: {emptied}");
        lines.push(TextLine::new(text, Emphasis::Faint));
    }
    lines.extend(idle_note(header).map(|text| TextLine::new(text, Emphasis::Faint)));
    lines.extend(
        header.approximation.as_ref().map(|text| TextLine::new(clean(text).into_owned(), Emphasis::Faint)),
    );
    Ok(lines)
}

/// The header as a screen shows it that has one line for it: the most important first, since the last parts are left out if
/// there is no space.
#[cfg(feature = "ui")]
pub(super) fn parts(header: &Header, style: &Style) -> Scaled<Vec<String>> {
    let mut recording = headline::recording(&metrics(header, style)?, &header.recording, style.is_wide());
    let rest = recording.split_off(recording.len().min(1));
    let mut parts = Vec::new();
    // It names the metric and its total, too.
    match what_if_line(header, style)? {
        Some(line) => parts.push(line),
        None => parts.extend(recording),
    }
    if let Some(base) = &header.base {
        let total =
            scale(&header.metric, header.total.max(base.total), style.unit.as_ref())?.format(base.total);
        let rescaled = headline::rescaled(header).map(|rescaled| format!(", {rescaled}")).unwrap_or_default();
        parts.push(
            style
                .glyphs
                .plain(&format!("{BASE}{} {total}{rescaled}", headline::base_inputs(header)))
                .into_owned(),
        );
    }
    if !header.filters.iter().all(|filter| headline::change(filter).is_some()) {
        let shown = header.displayed_shown();
        let text = scale(&header.metric, header.shown, style.unit.as_ref())?.format(shown);
        let text = style.glyphs.signed(text);
        parts.push(format!("shown {text} ({})", share(shown, header.total)));
    }
    let taken =
        parts.iter().take(MOST_IMPORTANT).map(|part| display_width(style.glyphs.dot) + display_width(part));
    let room = style.width.map(|width| width.saturating_sub(taken.sum()).max(LEAST_INPUT));
    let inputs = headline::inputs(header);
    let inputs = room.map_or(inputs.clone(), |room| shorten(&inputs, room, style));
    parts.extend(rest);
    Ok([inputs].into_iter().filter(|inputs| !inputs.is_empty()).chain(parts).collect())
}

/// How many parts of the header matter more than the folders of the input.
#[cfg(feature = "ui")]
const MOST_IMPORTANT: usize = 2;

/// The line of the old side: `base main.pb.gz · cpu 82.10s in 40.70s · rescaled × 1.050 (core) to 86.20s · Δ% is of this total`.
fn base_line(header: &Header, style: &Style) -> Scaled<Option<TextLine>> {
    let Some(base) = &header.base else { return Ok(None) };
    let largest = header.total.max(base.total).max(header.old_total());
    let scale = scale(&header.metric, largest, style.unit.as_ref())?;
    let dot = style.glyphs.dot;
    let parts = headline::base(header, &scale.format(base.total));
    let inputs = headline::base_inputs(header);
    let short = style.glyphs.plain(&parts.join(dot)).into_owned();
    // The last number before these words has to be the one that is meant.
    let to = match headline::rescaled(header) {
        Some(_) => format!(" to {}", scale.format(header.old_total())),
        None => String::new(),
    };
    let long = style.glyphs.plain(&format!("{short}{to}{dot}Δ% is of this total")).into_owned();
    // Where this does not fit, there is no space for the column either.
    let taken =
        BASE.len() + display_width(&inputs).min(LEAST_NAME) + display_width(dot) + display_width(&long);
    let rest = if style.width.is_none_or(|width| taken <= width) { long } else { short };
    let inputs = match style.width {
        Some(width) => {
            let taken = BASE.len() + display_width(dot) + display_width(&rest);
            shorten(&inputs, width.saturating_sub(taken).max(LEAST_NAME), style)
        }
        None => inputs,
    };
    Ok(Some(TextLine::new(format!("{BASE}{inputs}{dot}{rest}"), Emphasis::None)))
}

/// The word before the inputs of the old side.
const BASE: &str = "base ";

/// The metrics with their totals: `alloc_space 4.54GiB, inuse_space 3.95MiB`.
fn metrics(header: &Header, style: &Style) -> Scaled<String> {
    let total = scale(&header.metric, header.total, style.unit.as_ref())?.format(header.displayed_total());
    let total = style.glyphs.signed(total);
    let mut part = format!("{} {total}", clean(&header.metric.name)).trim_start().to_string();
    for further in header.metrics.iter().skip(1) {
        let scale = scale(&further.metric, further.total, style.unit.as_ref())?;
        part.push_str(&format!(
            ", {} {}",
            clean(&further.metric.name),
            scale.format(further.displayed_total())
        ));
    }
    Ok(part)
}

/// Puts the inputs before `rest`: the name of one, the number of several.
fn with_inputs(header: &Header, rest: &str, style: &Style) -> String {
    let inputs = headline::inputs(header);
    if inputs.is_empty() {
        return rest.to_string();
    }
    let taken = display_width(rest) + display_width(style.glyphs.dot);
    let inputs = match style.width {
        Some(width) => shorten(&inputs, width.saturating_sub(taken).max(LEAST_INPUT), style),
        None => inputs,
    };
    format!("{inputs}{}{rest}", style.glyphs.dot)
}

/// A path that is too long first loses its folders, then its middle.
pub(super) fn shorten(path: &str, width: usize, style: &Style) -> String {
    let path = if display_width(path) <= width { path } else { base_name(path) };
    fit(path, width, style.glyphs.ellipsis)
}

/// A path is never shortened below this many columns.
const LEAST_INPUT: usize = 12;

/// `--show-stacks DeQueue · shown 30.51s, 35.5% of all`
fn filter_line(header: &Header, style: &Style) -> Scaled<Option<String>> {
    // What costs would be has a line of its own.
    if header.filters.iter().all(|filter| headline::change(filter).is_some()) {
        return Ok(None);
    }
    let shown = scale(&header.metric, header.shown, style.unit.as_ref())?.format(header.shown);
    Ok(Some(headline::shown(header, &shown).join(style.glyphs.dot)))
}

/// `what if parse=0.5: cpu 7.23s → 6.10s, 1.19 times as fast`
fn what_if_line(header: &Header, style: &Style) -> Scaled<Option<String>> {
    let Some(what_if) = &header.what_if else { return Ok(None) };
    let scale = scale(&header.metric, what_if.before.max(header.shown), style.unit.as_ref())?;
    let line = headline::what_if(header, what_if, |value| scale.format(value));
    Ok(Some(style.glyphs.plain(&line).into_owned()))
}

/// How to exclude idle time, if part of the recording is known to be idle.
fn idle_note(header: &Header) -> Option<String> {
    let idle = (header.recording.idle? * 100.0).round();
    if header.recording.waits_recorded {
        return Some(format!(
            "waiting: {idle}% of {}; --metric waiting shows only that",
            clean(&header.metric.name)
        ));
    }
    let is_told = header.filters.iter().any(|filter| filter.contains("@idle"));
    (!is_told)
        .then(|| format!("idle: {idle}% of {}; --hide-stacks @idle excludes it", clean(&header.metric.name)))
}
