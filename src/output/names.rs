//! Names as they are displayed.

use std::cell::RefCell;

use hashbrown::HashMap;

use crate::name::{NAMELESS, clean, short_names, split_shown};
use crate::output::style::Style;
use crate::output::table::Form;
use crate::pattern::is_own;
use crate::report::{Header, Name};

/// The names of one report: short where the style says so, cleaned of control characters.
pub(super) struct DisplayNames {
    shown: HashMap<Name, String>,
    /// Whether names belong to the program's own code, for those looked up so far.
    own: RefCell<HashMap<Name, bool>>,
}

impl DisplayNames {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n Name>, style: &Style) -> Self {
        // A million stacks have far more frames than names, so only distinct names are sorted.
        let mut distinct: Vec<&Name> = distinct(names).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let shown = if style.short_names {
            short_names(&distinct)
        } else {
            distinct.iter().map(std::string::ToString::to_string).collect()
        };
        let printable =
            |name: String| if name.is_empty() { NAMELESS.to_string() } else { clean(&name).into_owned() };
        let shown = distinct.into_iter().cloned().zip(shown.into_iter().map(printable)).collect();
        DisplayNames { shown, own: RefCell::default() }
    }

    /// The names of a report, with a mark after the profiler artefacts that its header lists; none for programs, which get
    /// names as they are.
    pub(super) fn of<'n>(
        header: &Header,
        names: impl Iterator<Item = &'n Name>,
        form: Form,
        style: &Style,
    ) -> Self {
        let mut all = DisplayNames::new(names.filter(|_| form != Form::Csv), style);
        if !header.artefacts.is_empty() {
            for (_, shown) in all.shown.iter_mut().filter(|(name, _)| header.is_artefact(name)) {
                shown.push_str(style.glyphs.artefact);
            }
        }
        all
    }

    /// A name, with a mark before it if it is highlighted.
    pub(super) fn marked(&self, header: &Header, name: &Name, style: &Style) -> String {
        let mark = if header.is_highlighted(name) { style.glyphs.marked } else { "" };
        format!("{mark}{}", self.get(name))
    }

    /// The same for each of these names.
    pub(super) fn all_marked<'n>(
        &self,
        header: &Header,
        names: impl Iterator<Item = &'n Name>,
        style: &Style,
    ) -> MarkedNames {
        let marked = |name: &Name| (address(name), self.marked(header, name, style).into());
        MarkedNames(distinct(names).map(marked).collect())
    }

    pub(super) fn get<'s>(&'s self, name: &'s str) -> &'s str {
        self.shown.get(name).map_or(name, String::as_str)
    }

    /// Whether a function belongs to the program's own code rather than to a library or the runtime, judging by its
    /// name and, where it is known, its file.
    pub(super) fn is_own(&self, name: &Name, file: Option<&str>) -> bool {
        *self.own.borrow_mut().entry(name.clone()).or_insert_with(|| {
            let (function, place) = split_shown(name).unwrap_or((name, ""));
            let file = file.unwrap_or_else(|| place.trim_start_matches('('));
            is_own(function, file)
        })
    }
}

/// Names as a screen displays them: cleaned, and perhaps short where that keeps them distinct.
#[cfg(feature = "ui")]
pub(crate) fn display_names<'n>(
    names: impl Iterator<Item = &'n Name>,
    short_names: bool,
) -> HashMap<Name, String> {
    DisplayNames::new(names, &Style { short_names, ..Style::plain() }).shown
}

/// Names for people, by the address of the name in the report. A report of a million stacks holds few names many times,
/// and looking up an address is faster than looking up its text.
pub(super) struct MarkedNames(HashMap<usize, Name>);

impl MarkedNames {
    /// What to show for a name of the report.
    pub(super) fn get(&self, name: &Name) -> Name {
        self.0.get(&address(name)).unwrap_or(name).clone()
    }
}

fn address(name: &Name) -> usize {
    name.as_ptr().addr()
}

/// The names without repetitions of the same one; equal names at different addresses may remain.
fn distinct<'n>(names: impl Iterator<Item = &'n Name>) -> impl Iterator<Item = &'n Name> {
    names.map(|name| (address(name), name)).collect::<HashMap<_, _>>().into_values()
}

/// The frames of a stack in one cell of CSV: joined by `;`, which becomes `:` within names, as in collapsed stacks. So a program
/// that splits the cell gets as many names as there are frames.
pub(super) fn joined(frames: &[Name]) -> String {
    frames.iter().map(|name| name.replace(';', ":")).collect::<Vec<_>>().join(";")
}

/// The file of a function for a column of its own: the place that its name ends in, else `file`. A place
/// has line and column, without which the functions of a minified script are indistinguishable.
pub(super) fn file_cell(name: &str, file: &str) -> String {
    match split_shown(name) {
        Some((_, place)) => short_file(place.trim_matches(['(', ')'])),
        None => short_file(file),
    }
}

/// The last two components of a path: folder and file.
pub(super) fn short_file(file: &str) -> String {
    let parts: Vec<&str> = file.rsplitn(3, ['/', '\\']).collect();
    let short = match parts[..] {
        [name, folder, _] if !folder.is_empty() => format!("{folder}/{name}"),
        _ => file.to_string(),
    };
    clean(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_frames_can_be_split() {
        let frames: [Name; 3] = ["main".into(), "a;b".into(), "c".into()];
        assert_eq!(joined(&frames), "main;a:b;c");
    }
}
