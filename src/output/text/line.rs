//! Lines of text with an emphasis.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::name::{clean, display_width, fit};
use crate::output::table::{Emphasis, ReportPart};
use crate::output::width::{cut, wrap};

/// A line of text.
#[derive(Clone, Debug, Default)]
pub(super) struct TextLine {
    pub(super) text: String,
    pub(super) emphasis: Emphasis,
    /// Whether it is a row of a table, which is laid out and never wrapped.
    pub(super) is_row: bool,
    /// What it shows of the report.
    pub(super) part: Option<ReportPart>,
}

impl TextLine {
    /// A line of prose, which is wrapped if the terminal is too narrow for it.
    pub(super) fn new(text: impl Into<String>, emphasis: Emphasis) -> Self {
        TextLine { text: text.into(), emphasis, ..TextLine::default() }
    }

    /// A row of a table.
    pub(super) fn row(text: String, emphasis: Emphasis) -> Self {
        TextLine { is_row: true, ..TextLine::new(text, emphasis) }
    }

    /// The same, which shows a part of the report.
    pub(super) fn about(self, part: Option<ReportPart>) -> Self {
        TextLine { part, ..self }
    }

    /// Whether it need not be wrapped in a terminal of `width` columns.
    pub(super) fn fits(&self, width: usize) -> bool {
        // No character is wider than its bytes are many.
        self.text.len() <= width || display_width(self.text.trim_end()) <= width
    }

    /// The lines in a terminal of `width` columns. Prose is wrapped. A row of a table is already laid out: if it is still
    /// too long, because of a title or of `… 1,064 more functions`, its end is cut.
    pub(super) fn wrapped(self, width: usize, ellipsis: &str) -> Vec<TextLine> {
        if self.emphasis == Emphasis::Command || self.fits(width) {
            return vec![self];
        }
        if self.is_row {
            return vec![TextLine { text: cut(&self.text, width, ellipsis), ..self }];
        }
        let text = self.text.trim_start();
        let indent = &self.text[..self.text.len() - text.len()];
        let room = width.saturating_sub(indent.len()).max(1);
        let line = |text: String| {
            let text = format!("{indent}{}", fit(&text, room, ellipsis));
            TextLine::new(text, self.emphasis).about(self.part)
        };
        wrap(text, room).into_iter().map(line).collect()
    }

    pub(super) fn write(&self, out: &mut dyn Write, color: bool) -> io::Result<()> {
        // Names are cleaned where their width is computed; this is a safety net.
        let text = clean(self.text.trim_end());
        let style = match self.emphasis {
            _ if !color => Style::new(),
            Emphasis::None | Emphasis::Command => Style::new(),
            Emphasis::Bold => Style::new().bold(),
            // Magenta is readable on dark and light backgrounds; yellow is not.
            Emphasis::Strong => AnsiColor::Magenta.on_default(),
            Emphasis::Marked => Style::new().invert(),
            Emphasis::Faint => Style::new().dimmed(),
        };
        if style.is_plain() {
            out.write_all(text.as_bytes())?;
            return out.write_all(b"\n");
        }
        writeln!(out, "{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_breaks_between_words() {
        let lines = |text: &str, width| -> Vec<String> {
            let lines = TextLine::new(text, Emphasis::None).wrapped(width, "…");
            lines.into_iter().map(|line| line.text).collect()
        };
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("  one two three", 8), ["  one", "  two", "  three"]);
        assert_eq!(lines("a/very/long/path", 9), ["a/ve…path"]);
        assert_eq!(lines("short", 9), ["short"]);
    }
}
