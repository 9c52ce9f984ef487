//! Fits the label of a block into the block. `fit.js` does the same in pages and pictures when they are zoomed.

use super::fit::{display_width, fit_end, fit_middle, head, part_starts};
use super::place::BlockLabel;

/// Below this number of columns, a block is too narrow for both ends of a name.
const WIDE: usize = 14;

/// With fewer columns than this, a label says nothing.
const SHORTEST: usize = 3;

impl BlockLabel {
    /// Fits the label into `room` columns and keeps what distinguishes the function. The place goes first. The colour
    /// of a block stands for the package, so a qualified name keeps its last parts, or in a narrow block the beginning
    /// of the last one.
    ///
    /// ```
    /// use prof::name::BlockLabel;
    ///
    /// let label = BlockLabel { name: "flate.(*compressor).close".into(), place: String::new() };
    /// assert_eq!(label.fit(21), "…(*compressor).close");
    /// assert_eq!(label.fit(8), "…close");
    /// assert_eq!(label.fit(4), "clo…");
    /// ```
    pub fn fit(&self, room: usize) -> String {
        let BlockLabel { name, place } = self;
        if !place.is_empty() && display_width(name) + 1 + display_width(place) <= room {
            return format!("{name} {place}");
        }
        if display_width(name) <= room {
            return name.clone();
        }
        if room < SHORTEST {
            return String::new();
        }
        if room >= WIDE {
            return fit_end(name, room, "…").unwrap_or_else(|| fit_middle(name, room, "…"));
        }
        let mut parts = part_starts(name).into_iter().map(|at| &name[at..]);
        match parts.find(|part| !part.is_empty()) {
            Some(last) if display_width(last) < room => format!("…{last}"),
            last => format!("{}…", head(last.unwrap_or(name), room - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_the_most_telling_part() {
        for (name, place, room, expected) in [
            ("(anonymous)", "events.js:113", 25, "(anonymous) events.js:113"),
            ("(anonymous)", "events.js:113", 24, "(anonymous)"),
            ("waysToPay", "", 6, "waysT…"),
            ("std::operator delete", "", 9, "operator…"),
            ("std::operator delete", "", 19, "…operator delete"),
            ("runtime.mallocgc", "", 9, "…mallocgc"),
            ("runtime.mallocgc", "", 8, "mallocg…"),
            ("runtime.mallocgc", "", 3, "ma…"),
            ("gob.(*Decoder).Decode", "", 15, "gob.(*D….Decode"),
            ("gob.(*Decoder).Decode", "", 18, "…(*Decoder).Decode"),
            ("trailing.dot.", "", 8, "…dot."),
            ("関数.関数関数", "", 9, "…関数関数"),
            ("関数.関数関数", "", 8, "関数関…"),
            ("work", "", 2, ""),
        ] {
            let label = BlockLabel { name: name.into(), place: place.into() };
            assert_eq!(label.fit(room), expected, "{name} {room}");
        }
    }
}
