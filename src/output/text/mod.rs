//! Text output, for terminals and pipes.
//!
//! Numbers first and right-aligned, the name last, so that a shortened name never moves a number;
//! one unit per column, written on each number; no boxes. Names are never shortened in a pipe.

mod chains;
mod columns;
mod comparison;
mod diff;
mod focus;
mod graph;
mod grid;
mod header;
mod hot;
mod layout;
mod names;
mod source;
mod table;
mod traces;

use std::borrow::Cow;
use std::io::{self, Write};

pub(super) use focus::overlap_note;
pub(super) use graph::left_out;
pub(super) use hot::shares_of_callers;

pub(super) use columns::cell_text;
pub(super) use names::{DisplayNames, file_cell, short_file};
pub(super) use table::pad;
pub(crate) use table::wrap;

use crate::name::clean;
use crate::output::diff::Explain;
use crate::output::table::Form;
use crate::output::tables::tables;
use crate::output::text::table::TextLine;
use crate::report::{Artefact, Header, Report};
use crate::unit::{IncompatibleUnits, Unit, share};

/// Options for text output.
#[derive(Clone, Debug)]
pub struct Style {
    /// Columns of the terminal; `None` in a pipe, where nothing is shortened.
    pub width: Option<usize>,
    /// Whether names lose import paths, generic arguments and parameters.
    pub short_names: bool,
    /// Whether names keep their place (`file.py:12`) even where a column shows it.
    pub full_names: bool,
    /// Whether to colour.
    pub color: bool,
    /// The characters for marks, arrows and branches.
    pub glyphs: &'static Glyphs,
    /// The unit asked for; `None` for the one that fits.
    pub unit: Option<Unit>,
    /// The columns of `top` and `tree`; empty for the defaults of the view.
    pub columns: Vec<TextColumn>,
    /// Whether a row that stands for a chain of calls names all its functions, instead of counting those that do
    /// not fit on the line.
    pub full_chains: bool,
    /// Which causes a comparison lists.
    pub explain: Explain,
    /// The exit code of the program, which the text of `diff` mentions; `None` if there is none.
    pub exit_code: Option<u8>,
}

/// A column of the text of `top` and `tree`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColumn {
    /// Self, and its share.
    SelfValue,
    /// Total, and its share.
    Total,
    /// Total − self.
    Children,
    /// The share of self of this row and all rows above it.
    Sum,
    /// The source file.
    File,
    /// The source line.
    Line,
    /// The package, else the file.
    Package,
}

impl Style {
    /// Plain text for a pipe.
    pub fn plain() -> Self {
        Style {
            width: None,
            short_names: false,
            full_names: false,
            color: false,
            glyphs: &Glyphs::UNICODE,
            unit: None,
            columns: Vec::new(),
            full_chains: false,
            explain: Explain::default(),
            exit_code: None,
        }
    }

    /// The width to lay out for: that of the terminal, or a fixed one in a pipe.
    pub(super) fn layout_width(&self) -> usize {
        self.width.unwrap_or(PIPE_WIDTH)
    }

    /// Whether optional facts fit: files, rates and dates.
    pub(super) fn is_wide(&self) -> bool {
        self.layout_width() >= WIDE
    }
}

/// The width to lay out for in a pipe.
const PIPE_WIDTH: usize = 120;

/// The minimum width for files, rates and dates.
const WIDE: usize = 100;

/// The characters that text is drawn with.
#[derive(Debug)]
pub struct Glyphs {
    pub(super) candidate: &'static str,
    pub(super) artefact: &'static str,
    pub(super) marked: &'static str,
    pub(super) ellipsis: &'static str,
    pub(super) calls: &'static str,
    pub(super) called_by: &'static str,
    pub(super) dot: &'static str,
    pub(super) default: &'static str,
    pub(super) branch: &'static str,
    pub(super) first: &'static str,
    pub(super) focus: &'static str,
    pub(super) last: &'static str,
    pub(super) bar: &'static str,
}

impl Glyphs {
    /// For terminals that show UTF-8.
    pub const UNICODE: Glyphs = Glyphs {
        candidate: "◆",
        artefact: " †",
        marked: "» ",
        ellipsis: "…",
        calls: " → ",
        called_by: " ← ",
        dot: " · ",
        default: "●",
        branch: "├ ",
        first: "┌ ",
        focus: "● ",
        last: "└ ",
        bar: "│ ",
    };
    /// For terminals without UTF-8.
    pub const ASCII: Glyphs = Glyphs {
        candidate: "*",
        artefact: " [profiler]",
        marked: "> ",
        ellipsis: "..",
        calls: " -> ",
        called_by: " <- ",
        dot: " | ",
        default: "o",
        branch: "|- ",
        first: ",- ",
        focus: "o  ",
        last: "`- ",
        bar: "|  ",
    };

    /// A signed number with a minus sign that is as wide as the plus.
    pub(super) fn signed(&self, number: String) -> String {
        match number.strip_prefix('-') {
            Some(rest) if !self.ellipsis.is_ascii() => format!("−{rest}"),
            _ => number,
        }
    }

    /// A text of our own, in ASCII if the terminal shows nothing else.
    pub(super) fn plain<'t>(&self, words: &'t str) -> Cow<'t, str> {
        if !self.ellipsis.is_ascii() {
            return Cow::Borrowed(words);
        }
        let mut plain = String::with_capacity(words.len());
        for c in words.chars() {
            match c {
                '·' | '−' | '–' => plain.push('-'),
                '×' => plain.push('x'),
                '÷' => plain.push('/'),
                '±' => plain.push_str("+-"),
                '→' => plain.push_str("->"),
                '…' => plain.push_str(".."),
                '∞' => plain.push_str("inf"),
                'Δ' => plain.push_str("CHANGE"),
                other => plain.push(other),
            }
        }
        Cow::Owned(plain)
    }
}

/// The header lines of a report.
pub(super) fn heading(header: &Header, style: &Style) -> Result<Vec<String>, IncompatibleUnits> {
    Ok(header::lines(header, style)?.into_iter().map(|line| line.text).collect())
}

/// The note that explains the mark of profiler artefacts.
fn artefact_note(header: &Header, style: &Style) -> Option<TextLine> {
    let text = artefact_words(header, style)?;
    let text = format!("{} {text}", style.glyphs.artefact.trim_start());
    Some(TextLine::new(style.glyphs.plain(&text), table::Emphasis::Faint))
}

/// `profiler artefact: runtime.asyncPreempt 80ms (1.1%); this cost belongs to the callers, and --fold moves it there`
pub(super) fn artefact_words(header: &Header, style: &Style) -> Option<String> {
    // The heaviest comes first and sets the scale. The report itself fails if the unit does not fit.
    let scale = header::scale(&header.metric, header.artefacts.first()?.self_value, style).ok()?;
    let part = |artefact: &Artefact| {
        let (value, share) = (scale.format(artefact.self_value), share(artefact.self_value, header.total));
        format!("{} {value} ({share})", clean(&artefact.name))
    };
    let parts = header.artefacts.iter().map(part).collect::<Vec<String>>().join(", ");
    Some(format!("profiler artefact: {parts}; this cost belongs to the callers, and --fold moves it there"))
}

/// Writes a report as text. Fails if the requested unit does not fit the metric.
pub fn text(
    report: &Report,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    if let Some(tables) = tables(report, Form::Text, style) {
        let heading = report.header().map_or_else(|| Ok(Vec::new()), |header| header::lines(header, style));
        let (heading, tables) = match (heading, tables) {
            (Ok(heading), Ok(tables)) => (heading, tables),
            (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
        };
        let rows = tables.into_iter().flat_map(|table| columns::lines(table, style));
        return write(Ok(heading.into_iter().chain(rows)), None, style, out);
    }
    let lines = match report {
        Report::Traces(report) => {
            let note = artefact_note(&report.header, style);
            return write(traces::lines(report, style), note, style, out);
        }
        Report::Focus(report) => focus::lines(report, style),
        Report::Hot(report) => hot::lines(report, style),
        Report::Source(report) => source::lines(report, style),
        Report::Graph(report) => graph::lines(report, style),
        Report::Diff(report) => diff::lines(report, style),
        // Pictures have no text, and other reports have typed tables.
        _ => Ok(Vec::new()),
    };
    let note = report.header().and_then(|header| artefact_note(header, style));
    write(lines.map(Vec::into_iter), note, style, out)
}

/// Writes lines, then `note` if one of them has the mark that it explains.
fn write(
    lines: Result<impl Iterator<Item = TextLine>, IncompatibleUnits>,
    note: Option<TextLine>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    match lines {
        Ok(lines) => {
            let width = style.width.unwrap_or(usize::MAX);
            let mut write = |line: TextLine| {
                let mut lines = layout::wrapped(line, width, style.glyphs.ellipsis).into_iter();
                lines.try_for_each(|line| line.write(out, style.color))
            };
            let mut is_marked = false;
            for line in lines {
                is_marked |= note.is_some() && line.text.contains(style.glyphs.artefact);
                write(line)?;
            }
            note.filter(|_| is_marked).map_or(Ok(()), write).map(Ok)
        }
        Err(error) => Ok(Err(error)),
    }
}
