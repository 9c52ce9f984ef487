//! What cells look like for people.

use crate::name::clean;
use crate::output::style::Glyphs;
use crate::output::table::{Cell, Kind};
use crate::unit;

/// A cell of a column, for people.
pub(super) fn cell_text(cell: &Cell, kind: &Kind, glyphs: &Glyphs) -> String {
    match (cell, kind) {
        (Cell::Number(value), Kind::Value(scale)) => glyphs.signed(scale.format(*value)),
        (Cell::Number(value), Kind::Mean(scale)) => glyphs.signed(scale.format_mean(*value)),
        (Cell::Number(value), Kind::Change(scale)) => glyphs.signed(scale.format_signed(*value)),
        (Cell::Number(count), Kind::Count) => unit::group_thousands((*count).into()),
        (Cell::Number(number), _) => number.to_string(),
        (Cell::Share { part, whole }, Kind::ChangeShare) => glyphs.signed(unit::signed_share(*part, *whole)),
        (Cell::Share { part, whole }, _) => glyphs.signed(unit::share(*part, *whole)),
        (Cell::Text(text), _) => clean(text).into_owned(),
        (Cell::Float(number), _) => number.to_string(),
        (Cell::Name(name), _) => name.to_string(),
        (Cell::Empty | Cell::Flag(_) | Cell::Label(_), _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Scale, Unit};

    /// A value below 0 has the sign of a change below 0.
    #[test]
    fn there_is_one_minus_sign() {
        let scale = Scale::for_column(&Unit::parse("count"), 1, 5, None).unwrap();
        let share = || Cell::Share { part: -1, whole: 2 };
        for (cell, kind, text) in [
            (Cell::Number(-5), Kind::Value(scale.clone()), "−5"),
            (Cell::Number(-5), Kind::Change(scale), "−5"),
            (share(), Kind::Share, "−50.0%"),
            (share(), Kind::ChangeShare, "−50.0%"),
        ] {
            assert_eq!(cell_text(&cell, &kind, &Glyphs::UNICODE), text);
            assert_eq!(cell_text(&cell, &kind, &Glyphs::ASCII), text.replace('−', "-"));
        }
    }
}
