//! What cells look like for people.

use crate::name::clean;
use crate::output::style::Glyphs;
use crate::output::table::{Cell, Kind};
use crate::unit;

/// A cell of a column, for people.
pub(super) fn cell_text(cell: &Cell, kind: &Kind, glyphs: &Glyphs) -> String {
    match (cell, kind) {
        (Cell::Number(value), Kind::Value(scale)) => scale.format(*value),
        (Cell::Number(value), Kind::Mean(scale)) => scale.format_mean(*value),
        (Cell::Number(value), Kind::Change(scale)) => glyphs.signed(scale.format_signed(*value)),
        (Cell::Number(count), Kind::Count) => unit::group_thousands((*count).into()),
        (Cell::Number(number), _) => number.to_string(),
        (Cell::Share { part, whole }, Kind::ChangeShare) => glyphs.signed(unit::signed_share(*part, *whole)),
        (Cell::Share { part, whole }, _) => unit::share(*part, *whole),
        (Cell::Text(text), _) => clean(text).into_owned(),
        (Cell::Float(number), _) => number.to_string(),
        (Cell::Name(name), _) => name.to_string(),
        (Cell::Empty | Cell::Flag(_) | Cell::Label(_), _) => String::new(),
    }
}
