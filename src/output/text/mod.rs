//! Text output, for terminals and pipes.
//!
//! Numbers first and right-aligned, the name last, so that a shortened name never moves a number;
//! one unit per column, written on each number; no boxes. Names are never shortened in a pipe.

mod cell;
mod columns;
mod diff;
mod grid;
mod header;
mod line;
mod names;

use std::borrow::Cow;
use std::io::{self, Write};

pub(super) use cell::cell_text;
pub(crate) use line::wrap;
pub(super) use line::{cut, pad};
pub(super) use names::{DisplayNames, file_cell, short_file};

use crate::name::clean;
use crate::output::diff::Explain;
use crate::output::table::Form;
use crate::output::tables::tables;
use crate::output::text::line::TextLine;
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
    match lines(report, style) {
        Ok(lines) => write(lines, style, out).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// The lines of a report, made as they are written.
fn lines<'r>(
    report: &'r Report,
    style: &'r Style,
) -> Result<Box<dyn Iterator<Item = TextLine> + 'r>, IncompatibleUnits> {
    if let Report::Diff(diff) = report {
        return Ok(Box::new(diff::lines(diff, style)?.into_iter()));
    }
    let heading = report.header().map(|header| header::lines(header, style)).transpose()?;
    let tables = tables(report, Form::Text, style)?.into_iter();
    let tables = tables.flat_map(|table| columns::lines(table, style));
    Ok(Box::new(heading.into_iter().flatten().chain(tables)))
}

/// Writes lines; prose that is too long for the terminal is wrapped.
fn write(lines: impl Iterator<Item = TextLine>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let width = style.width.unwrap_or(usize::MAX);
    let mut lines = lines.flat_map(|line| line.wrapped(width, style.glyphs.ellipsis));
    lines.try_for_each(|line| line.write(out, style.color))
}
