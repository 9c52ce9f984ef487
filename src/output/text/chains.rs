//! Joined rows: several functions on one line because they have the same numbers.

use crate::name::{Chain, fit};

/// The width available for the names of a row.
#[derive(Clone, Copy)]
pub(super) struct NameWidth {
    /// The number of columns; `None` if unlimited.
    pub(super) columns: Option<usize>,
    /// With `--chains full`, the width beyond which names are listed one per line.
    pub(super) full: Option<usize>,
}

impl NameWidth {
    /// The same width less `taken` columns, but at least `least`.
    pub(super) fn without(self, taken: usize, least: usize) -> NameWidth {
        let left = |columns: usize| columns.saturating_sub(taken).max(least);
        NameWidth { columns: self.columns.map(left), full: self.full.map(left) }
    }
}

/// The lines of a joined row. With `--chains full`, names that do not fit one line get one line each, and all
/// but the first start with the arrow.
pub(super) fn lines<S: AsRef<str>>(chain: &Chain<'_, S>, room: NameWidth) -> Vec<String> {
    match room.full {
        Some(width) if !chain.is_within(width) => {
            let name = |(index, name): (usize, &S)| {
                let arrow = if index == 0 { "" } else { chain.arrow.trim_start() };
                let name = name.as_ref();
                let columns = room.columns.map(|columns| columns.saturating_sub(arrow.chars().count()));
                let name =
                    columns.map_or_else(|| name.to_string(), |columns| fit(name, columns, chain.ellipsis));
                format!("{arrow}{name}")
            };
            chain.names.iter().enumerate().map(name).collect()
        }
        _ => vec![chain.fit(room.columns)],
    }
}
