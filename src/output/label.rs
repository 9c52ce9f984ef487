//! The name of a row for people, and how it is fitted to a narrow terminal.

use std::borrow::Cow;

use crate::name::{Anchor, Chain, display_width, fit};
use crate::output::width::cut;

/// The name of a row for people.
#[derive(Default)]
pub(super) struct Label<'r> {
    /// The branches of a tree; of very deep ones only the innermost are shown.
    pub(super) branches: String,
    /// The branches of the lines on which the names continue, if they need several.
    pub(super) below: String,
    /// Marks and arrows before the name.
    pub(super) prefix: String,
    /// The name, or the names that share the row.
    pub(super) names: Vec<String>,
    /// The name without its place, for tables with a [`Kind::File`].
    pub(super) placeless: Option<String>,
    /// What follows the names, such as ` (new)`.
    pub(super) suffix: String,
    /// What follows if there is space, such as a file.
    pub(super) aside: String,
    /// How several names are joined.
    pub(super) chain: Option<Joined<'r>>,
    /// What to show instead if the names do not fit whole.
    pub(super) shorter: Option<Box<Label<'r>>>,
    /// Whether it is code: its end is cut, because code is read from the left. Names lose their middle instead.
    pub(super) is_code: bool,
}

/// How the names that share a row are joined.
pub(super) struct Joined<'r> {
    /// The separator, such as ` → `.
    pub(super) arrow: Cow<'static, str>,
    /// Which name the numbers belong to.
    pub(super) anchor: Anchor,
    /// Whether a name is of the program's own code, which is worth more space.
    pub(super) is_own: Box<dyn Fn(usize) -> bool + 'r>,
    /// Whether names that do not fit on one line have one line each (`--chains full`).
    pub(super) full: bool,
}

impl Label<'_> {
    /// A name by itself.
    pub(super) fn new(name: impl Into<String>) -> Self {
        Label { names: vec![name.into()], ..Label::default() }
    }

    /// A line of code.
    pub(super) fn code(text: impl Into<String>) -> Self {
        Label { is_code: true, ..Label::new(text) }
    }

    /// With a branch before it.
    pub(super) fn branch(mut self, branch: impl Into<String>) -> Self {
        self.branches = branch.into();
        self
    }

    /// With marks or arrows before it.
    pub(super) fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// With a text after it if there is space.
    pub(super) fn aside(mut self, aside: impl Into<String>) -> Self {
        self.aside = aside.into();
        self
    }

    /// With a text after it.
    pub(super) fn suffix(mut self, suffix: impl Into<String>) -> Self {
        self.suffix = suffix.into();
        self
    }

    /// The width of the whole label in a table that shows places, or that does not.
    pub(super) fn width(&self, has_places: bool) -> usize {
        let name = match (&self.placeless, &self.names[..]) {
            (Some(name), _) if has_places => display_width(name),
            (_, [name]) => display_width(name),
            _ => 0,
        };
        display_width(&self.branches) + display_width(&self.prefix) + name + display_width(&self.suffix)
    }

    /// The lines of the label, fitted to the space for names.
    pub(super) fn lines(&self, space: NameSpace, ellipsis: &str) -> Vec<String> {
        let before = [&*fit_branches(&self.branches, space.room, ellipsis), &*self.prefix].concat();
        let aside = fit_aside(&self.aside, display_width(&before), space.room, ellipsis);
        let around = display_width(&before) + display_width(&self.suffix) + display_width(&aside);
        let left = NameSpace {
            room: space.room.map(|room| room.saturating_sub(around)),
            line: space.line.saturating_sub(around).max(LEAST_NAME),
            ..space
        };
        let names = self.fit(left, ellipsis);
        if let Some(shorter) = self.shorter.as_ref().filter(|_| self.is_shortened(&names, ellipsis)) {
            return shorter.lines(space, ellipsis);
        }
        let mut names = names.into_iter();
        let first = names.next().unwrap_or_default();
        let first = [&*before, &*first, &*self.suffix, &*aside].concat();
        std::iter::once(first).chain(names.map(|name| [&*self.below, &*name].concat())).collect()
    }

    /// Whether parts of the names are left out of these lines.
    fn is_shortened(&self, lines: &[String], ellipsis: &str) -> bool {
        let count = |texts: &[String]| texts.iter().map(|text| text.matches(ellipsis).count()).sum::<usize>();
        count(lines) > count(&self.names)
    }

    fn fit(&self, space: NameSpace, ellipsis: &str) -> Vec<String> {
        let fitted = |name: &str, taken: usize| match space.room {
            Some(room) if self.is_code => cut(name, room, ellipsis),
            Some(room) => fit(name, room.saturating_sub(taken), ellipsis),
            None => name.to_string(),
        };
        if let Some(name) = self.placeless.as_ref().filter(|_| space.has_places) {
            return vec![fitted(name, 0)];
        }
        let Some(Joined { arrow, anchor, is_own, full }) = &self.chain else {
            return self.names.iter().map(|name| fitted(name, 0)).collect();
        };
        let chain = Chain { names: &self.names, is_own, arrow, anchor: *anchor, ellipsis };
        if !full || chain.is_within(space.line) {
            return vec![chain.fit(space.room)];
        }
        // One name per line, all but the first after an arrow.
        let arrow = arrow.trim_start();
        let line = |(index, name): (usize, &String)| match index {
            0 => fitted(name, 0),
            _ => format!("{arrow}{}", fitted(name, display_width(arrow))),
        };
        self.names.iter().enumerate().map(line).collect()
    }
}

/// The space for the names of a table.
#[derive(Clone, Copy)]
pub(super) struct NameSpace {
    /// The columns of the terminal; `None` in a pipe, where nothing is shortened.
    pub(super) room: Option<usize>,
    /// The length of a line, in a pipe too.
    pub(super) line: usize,
    /// Whether a column shows the places of the names.
    pub(super) has_places: bool,
}

/// Shortens very deep branches to the innermost ones, so that the name keeps its minimum width.
fn fit_branches<'b>(branches: &'b str, room: Option<usize>, ellipsis: &str) -> Cow<'b, str> {
    let most = room.map_or(usize::MAX, |room| room.saturating_sub(LEAST_NAME));
    if display_width(branches) <= most {
        return branches.into();
    }
    // Every character is one column wide.
    let kept = most.saturating_sub(display_width(ellipsis));
    let inner: Vec<char> = branches.chars().rev().take(kept).collect();
    ellipsis.chars().take(most).chain(inner.into_iter().rev()).collect::<String>().into()
}

/// Shortens the text after a name so that the name keeps its minimum width.
fn fit_aside(aside: &str, branches: usize, room: Option<usize>, ellipsis: &str) -> String {
    match room.map_or(usize::MAX, |room| room.saturating_sub(branches + LEAST_NAME)) {
        _ if aside.is_empty() => String::new(),
        0..LEAST_ASIDE => String::new(),
        most => fit(aside, most, ellipsis),
    }
}

/// The minimum width of names: that of the title `FUNCTION → CALLEES`.
pub(super) const LEAST_NAME: usize = 18;

/// The minimum width of the text after a name, including blanks.
const LEAST_ASIDE: usize = 12;
