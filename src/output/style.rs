//! How text looks: its width, its characters, and which columns it has.

use std::borrow::Cow;

use crate::unit::Unit;

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
    /// Whether the defaults of `top` include what callees cost, because the rows are sorted by it.
    pub by_children: bool,
    /// Whether a row that stands for a chain of calls names all its functions, instead of counting those that do
    /// not fit on the line.
    pub full_chains: bool,
    /// Which causes a comparison lists.
    pub explain: Explain,
    /// Whether a comparison lists every match of functions whose names or places differ.
    pub all_matches: bool,
    /// The exit code of the program, which the text of `diff` mentions; `None` if there is none.
    pub exit_code: Option<u8>,
}

/// A column of the text of `top` and `tree`. The command line offers these values, with these descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum TextColumn {
    /// Self, and its share
    #[cfg_attr(feature = "cli", value(name = "self"))]
    SelfValue,
    /// Total, and its share
    Total,
    /// Total − self
    Children,
    /// The share of self of this row and all rows above it
    Sum,
    /// The source file
    File,
    /// The source line
    Line,
    /// The package, else the file
    Package,
}

impl TextColumn {
    /// Whether trees have it. `sum` adds up the rows of a list, and a node of a tree has many lines.
    #[cfg(feature = "cli")]
    pub(crate) fn is_of_trees(self) -> bool {
        !matches!(self, TextColumn::Sum | TextColumn::Line)
    }
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
            by_children: false,
            full_chains: false,
            explain: Explain::default(),
            all_matches: false,
            exit_code: None,
        }
    }

    /// The width to lay out for: that of the terminal, or a fixed one in a pipe.
    pub(super) fn layout_width(&self) -> usize {
        self.width.unwrap_or(PIPE_WIDTH)
    }

    /// How many characters a timeline may take next to its numbers and names: three fifths of a wide terminal, less of a
    /// narrow one, so that each character that it is wider brings it closer to showing all columns.
    #[cfg(feature = "cli")]
    pub(crate) fn room_for_bins(&self) -> usize {
        let width = self.layout_width();
        (width * 3 / 5).saturating_sub(22).min(width.saturating_sub(52)).max(10)
    }

    /// Whether optional facts fit: files, rates and dates.
    pub(super) fn is_wide(&self) -> bool {
        self.layout_width() >= WIDE
    }
}

/// The width to lay out for in a pipe.
pub(super) const PIPE_WIDTH: usize = 120;

/// The minimum width for files, rates and dates.
const WIDE: usize = 100;

/// The characters that text is drawn with.
#[derive(Debug)]
pub struct Glyphs {
    pub(super) candidate: &'static str,
    /// Before a name: the total is at most the number shown.
    pub(super) upper_bound: &'static str,
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
    /// From low to high.
    pub(super) levels: &'static str,
    /// In the place of a level: nothing happened.
    pub(super) idle: char,
}

impl Glyphs {
    /// For terminals that show UTF-8.
    pub const UNICODE: Glyphs = Glyphs {
        candidate: "◆",
        upper_bound: "≤",
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
        levels: "▁▂▃▄▅▆▇█",
        idle: '·',
    };
    /// For terminals without UTF-8.
    pub const ASCII: Glyphs = Glyphs {
        candidate: "*",
        upper_bound: "<",
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
        levels: ".:-=+*#@",
        idle: '_',
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

/// Which causes to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explain {
    /// The fewest that explain most of the growth.
    #[default]
    Most,
    /// All of them.
    All,
    /// None.
    Nothing,
}
