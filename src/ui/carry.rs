//! From a place in a report to the same place in a newer report of the same question, whose rows may have other numbers.

use hashbrown::HashMap;

use crate::report::{Name, Report};
use crate::ui::answer::{Answer, Line};
use crate::ui::cursor::Cursor;

/// Which rows and nodes of two reports are the same: those with the same path.
pub(super) struct Carry<'a> {
    old: &'a Answer,
    new: &'a Answer,
    /// For each row or node of the old report, its caller.
    parents: Vec<Option<u32>>,
    /// For each row or node of the old report, that of the new one.
    places: Vec<Option<u32>>,
}

impl<'a> Carry<'a> {
    pub(super) fn new(old: &'a Answer, new: &'a Answer) -> Self {
        let (of_old, of_new) = (paths(&old.report), paths(&new.report));
        let places = same_paths(&of_old, &of_new);
        let parents = of_old.into_iter().map(|(parent, _)| parent).collect();
        Carry { old, new, parents, places }
    }

    /// The cursor in the new report; the line is still to be found.
    pub(super) fn cursor(&self, cursor: &Cursor) -> Cursor {
        Cursor {
            open: cursor.open.iter().filter_map(|&row| *self.places.get(row as usize)?).collect(),
            node: self.nearest(cursor.node).unwrap_or(0),
            zoom: self.nearest(cursor.zoom).unwrap_or(0),
            ..cursor.clone()
        }
    }

    /// The place among the new lines that a line had.
    pub(super) fn line(&self, line: Line, lines: &[Line]) -> Option<usize> {
        let wanted = match line {
            Line::Tree(row) | Line::Cut(Some(row), _) => Some(Line::Tree(self.nearest(row)?)),
            Line::Text(_) | Line::Subject | Line::Itself => Some(line),
            _ => None,
        };
        let is_same = |other: &Line| match wanted {
            Some(wanted) => *other == wanted,
            None => kind(line) == kind(*other) && self.identity(line) == identity(self.new, *other),
        };
        lines.iter().position(is_same)
    }

    fn identity(&self, line: Line) -> Option<String> {
        identity(self.old, line)
    }

    /// The new place of a row or node, or else of the nearest one above it that is still there.
    fn nearest(&self, row: u32) -> Option<u32> {
        let mut row = Some(row);
        while let Some(place) = row {
            let place = place as usize;
            if let Some(found) = *self.places.get(place)? {
                return Some(found);
            }
            row = self.parents[place];
        }
        None
    }
}

/// What a line is about.
fn identity(answer: &Answer, line: Line) -> Option<String> {
    answer.label_of(line).or_else(|| answer.name_of(line).map(ToString::to_string))
}

fn kind(line: Line) -> std::mem::Discriminant<Line> {
    std::mem::discriminant(&line)
}

/// The caller and the name of each row or node of a tree, callers first.
fn paths(report: &Report) -> Vec<(Option<u32>, &Name)> {
    match report {
        Report::Tree(tree) => tree.rows.iter().map(|row| (row.parent, &row.name)).collect(),
        Report::Flame(flame) => {
            let node = |(place, node): (usize, &'_ crate::report::FlameNode)| {
                // The root is its own caller.
                Some(node.parent).filter(|&parent| parent as usize != place)
            };
            let parents = flame.nodes.iter().enumerate().map(node);
            parents.zip(flame.nodes.iter().map(|node| &node.name)).collect()
        }
        _ => Vec::new(),
    }
}

/// For each old row, the new one with the same path.
fn same_paths(old: &[(Option<u32>, &Name)], new: &[(Option<u32>, &Name)]) -> Vec<Option<u32>> {
    let places: HashMap<(Option<u32>, &str), u32> =
        new.iter().zip(0..).map(|((parent, name), place)| ((*parent, &***name), place)).collect();
    let mut found: Vec<Option<u32>> = Vec::with_capacity(old.len());
    for (parent, name) in old {
        let above = match parent {
            None => Some(None),
            Some(parent) => found[*parent as usize].map(Some),
        };
        found.push(above.and_then(|above| places.get(&(above, &***name)).copied()));
    }
    found
}
