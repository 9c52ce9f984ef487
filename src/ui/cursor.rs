//! Where one is in a report.

use std::collections::HashSet;

use crate::ui::search::Search;

/// Where one is in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The selected line.
    pub(crate) selected: usize,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// The rows of a tree that are open.
    pub(crate) open: HashSet<u32>,
    /// The selected node of a flame graph.
    pub(crate) node: u32,
    /// The node of a flame graph that takes the whole width.
    pub(crate) zoom: u32,
    /// Only lines that match this are shown.
    pub(crate) only: Option<Search>,
}
