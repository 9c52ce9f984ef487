//! Fits the names of a chain of functions into one row.

use unicode_width::UnicodeWidthStr;

use super::fit::{SHORTEST, fit};
use super::place::{end_of_place, split_shown};

/// The end of a chain at which the function is that the row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Callers follow the function that they call.
    First,
    /// Callees follow their callers, and the numbers are those of the last name.
    Last,
}

/// The names of a chain of frames that are shown in one row.
pub struct Chain<'a, S> {
    /// The names as they are shown.
    pub names: &'a [S],
    /// Whether the name at an index belongs to the program's own code rather than to a library or the runtime.
    pub is_own: &'a dyn Fn(usize) -> bool,
    /// The separator between two names, such as ` → `.
    pub arrow: &'a str,
    /// Which name the row is about.
    pub anchor: Anchor,
    /// The ellipsis for omitted parts.
    pub ellipsis: &'a str,
}

impl<S: AsRef<str>> Chain<'_, S> {
    /// All names, regardless of the width.
    pub fn whole(&self) -> String {
        self.names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(self.arrow)
    }

    /// Whether all names fit `width` columns.
    pub fn is_within(&self, width: usize) -> bool {
        self.fits(self.names.iter().map(AsRef::as_ref), width)
    }

    /// Joins the names so that they fit `width` columns; `None` means as wide as needed. If the row is too long,
    /// repeated prefixes are dropped first (`gob.(*Decoder).Decode → .DecodeValue`), then names, with their number
    /// (`a → … 3 … → z`), then letters of the longest names. Names near the anchor are kept longest, and the program's
    /// own code longer than libraries: what matters about a lock is its nearest caller in the program, not `main`.
    pub fn fit(&self, width: Option<usize>) -> String {
        let Some(width) = width else { return self.whole() };
        if self.is_within(width) {
            return self.whole();
        }
        let ranked = self.by_importance(width / (1 + self.arrow.width()) + 1);
        let parts = self.parts(&ranked, width);
        let shortened = self.shorten(&parts, width, MIN_OF_SEVERAL);
        let alone = || self.shorten(&self.shown(&ranked[..ranked.len().min(1)]), width, SHORTEST);
        let anchored = || fit(ranked.first().map_or("", |&i| self.name(i)), width, self.ellipsis);
        shortened.or_else(alone).unwrap_or_else(anchored)
    }

    /// Joins parts, and shortens the longest if they do not fit. `None` if these would have fewer than `shortest`
    /// columns.
    fn shorten(&self, parts: &[String], width: usize, shortest: usize) -> Option<String> {
        let arrows = parts.len().saturating_sub(1) * self.arrow.width();
        let max_part_width = max_part_width(parts, width.checked_sub(arrows)?);
        let is_cut = parts.iter().any(|part| part.width() > max_part_width);
        if is_cut && max_part_width < shortest {
            return None;
        }
        let parts: Vec<String> = parts.iter().map(|part| fit(part, max_part_width, self.ellipsis)).collect();
        Some(parts.join(self.arrow))
    }

    fn name(&self, i: usize) -> &str {
        self.names[i].as_ref()
    }

    /// Whether the joined parts fit. Stops at the first part beyond the width, because a stack can have 100,000 frames.
    fn fits<'b>(&self, parts: impl Iterator<Item = &'b str>, width: usize) -> bool {
        let mut used = 0;
        for (i, part) in parts.enumerate() {
            used += part.width() + if i > 0 { self.arrow.width() } else { 0 };
            if used > width {
                return false;
            }
        }
        true
    }

    /// The parts to show: all names without repeated prefixes and with shortened locations if they fit, otherwise as many
    /// as fit, but at least the two most important names.
    fn parts(&self, ranked: &[usize], width: usize) -> Vec<String> {
        let mut kept: Vec<usize> = Vec::new();
        if self.names.len() <= ranked.len() {
            let all: Vec<usize> = (0..self.names.len()).collect();
            let parts = self.shown(&all);
            if all.len() <= MIN_NAMES || self.fits(parts.iter().map(String::as_str), width) {
                return parts;
            }
        }
        for (rank, &candidate) in ranked.iter().enumerate() {
            let at = kept.partition_point(|&i| i < candidate);
            kept.insert(at, candidate);
            let is_needed = rank < MIN_NAMES;
            if !is_needed && !self.fits(self.shown(&kept).iter().map(String::as_str), width) {
                kept.remove(at);
            }
        }
        self.shown(&kept)
    }

    /// The indexes of the names, most important first: the anchor, then at most `most` names of the program's own code,
    /// then at most `most` others, each nearest to the anchor first.
    fn by_importance(&self, most: usize) -> Vec<usize> {
        let count = self.names.len();
        let at = |distance: usize| if self.anchor == Anchor::First { distance } else { count - 1 - distance };
        let nearest =
            |is_own: bool| (1..count).map(at).filter(move |&i| (self.is_own)(i) == is_own).take(most);
        (0..count.min(1)).map(at).chain(nearest(true)).chain(nearest(false)).collect()
    }
    /// The names at these indexes, and between them the numbers of hidden ones.
    fn shown(&self, indexes: &[usize]) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut before: Option<usize> = None;
        for &index in indexes {
            parts.extend(self.hidden(before.map_or(0, |before| before + 1), index));
            // A prefix may only be dropped if it is repeated from a name that is shown.
            parts.push(
                before.map_or_else(|| self.with_short_location(index), |before| self.after(index, before)),
            );
            before = Some(index);
        }
        parts.extend(self.hidden(before.map_or(0, |before| before + 1), self.names.len()));
        parts
    }

    /// The part that replaces names `from..to`: `… 3 …`. `None` if there are none.
    fn hidden(&self, from: usize, to: usize) -> Option<String> {
        (from < to).then(|| format!("{0} {1} {0}", self.ellipsis, to - from))
    }

    /// A name whose location is shortened to what distinguishes it.
    fn with_short_location(&self, i: usize) -> String {
        let name = self.name(i);
        match split_shown(name) {
            Some((function, place)) => {
                let width = function.width() + end_of_place(place).width() + 2 + self.ellipsis.width();
                fit(name, width, self.ellipsis)
            }
            None => name.to_owned(),
        }
    }

    /// Name `i` without the qualifier that it shares with name `before`: after `gob.(*Decoder).Decode`,
    /// `gob.(*Decoder).DecodeValue` is `.DecodeValue`.
    fn after(&self, i: usize, before: usize) -> String {
        if split_shown(self.name(i)).is_some() {
            return self.with_short_location(i);
        }
        let (name, before) = (self.name(i), self.name(before));
        // The end of a binary says nothing: `[kernel.kallsyms]`, `libc.so.6`.
        if name.starts_with('[') || name.contains(".so") {
            return name.to_owned();
        }
        let Some(at) = before.rfind(['.', ':']) else { return name.to_owned() };
        let separator = &before[at..=at];
        let qualifier = before[..at].trim_end_matches(':');
        match name.strip_prefix(qualifier) {
            Some(rest) if !qualifier.is_empty() && rest.starts_with(separator) => rest.to_owned(),
            _ => name.to_owned(),
        }
    }
}

/// At least this many names are shown, even if they have to be shortened.
const MIN_NAMES: usize = 2;

/// If several names would have fewer columns than this, only one is shown.
const MIN_OF_SEVERAL: usize = 12;

/// The width to which the longest parts must shrink so that all of them take at most `available` columns.
fn max_part_width(parts: &[String], available: usize) -> usize {
    let mut widths: Vec<usize> = parts.iter().map(|part| part.width()).collect();
    widths.sort_unstable();
    let mut left = available;
    for (i, width) in widths.iter().enumerate() {
        let each = left / (widths.len() - i);
        if *width > each {
            return each;
        }
        left -= width;
    }
    available
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain(names: &[&str], own: &[&str], anchor: Anchor, width: usize) -> String {
        let arrow = if anchor == Anchor::Last { " → " } else { " ← " };
        let is_own = |i: usize| own.contains(&names[i]);
        Chain { names, is_own: &is_own, arrow, anchor, ellipsis: "…" }.fit(Some(width))
    }

    #[test]
    fn chains() {
        let decode = ["gob.(*Decoder).Decode", "gob.(*Decoder).DecodeValue"];
        let wake = ["runtime.futexwakeup", "runtime.notewakeup", "runtime.startm", "runtime.wakep"];
        let put = ["skl.(*Skiplist).findSpliceForLevel", "skl.(*Skiplist).Put"];
        let mixed = ["a.x", "b.yyyyyyyyyy", "b.z"];
        let kernel = ["[kernel.kallsyms]"; 3];
        let std = ["std::vector::push_back", "std::vector::emplace_back"];
        for (names, width, want) in [
            (&decode[..], 60, "gob.(*Decoder).Decode → gob.(*Decoder).DecodeValue"),
            (&decode, 40, "gob.(*Decoder).Decode → .DecodeValue"),
            (&wake, 60, "runtime.futexwakeup → .notewakeup → .startm → .wakep"),
            (&wake, 50, "… 1 … → runtime.notewakeup → .startm → .wakep"),
            (&wake, 35, "… 2 … → runtime.startm → .wakep"),
            (&put, 38, "skl.(*Skiplist)…dSpliceForLevel → .Put"),
            (&mixed, 20, "… 2 … → b.z"),
            (&kernel, 46, "… 1 … → [kernel.kallsyms] → [kernel.kallsyms]"),
            (&std, 42, "std::vector::push_back → ::emplace_back"),
            (&wake, 5, "ru…ep"),
            (&[], 5, ""),
        ] {
            assert_eq!(chain(names, &[], Anchor::Last, width), want, "{width}");
        }
    }

    #[test]
    fn the_frame_that_holds_the_lock_stays() {
        let names = [
            "net/http.(*conn).serve",
            "http.HandlerFunc.ServeHTTP",
            "api.Stats",
            "cache.(*Cache).All",
            "sync.(*RWMutex).RUnlock",
            "sync.(*Mutex).Unlock",
        ];
        let own = ["api.Stats", "cache.(*Cache).All"];
        let up: Vec<&str> = names.iter().rev().copied().collect();
        for (width, want, reversed) in [
            (
                78,
                "… 2 … → api.Stats → cache.(*Cache).All → … 1 … → sync.(*Mutex).Unlock",
                "sync.(*Mutex).Unlock ← … 1 … ← cache.(*Cache).All ← api.Stats ← … 2 …",
            ),
            (
                60,
                "… 3 … → cache.(*Cache).All → … 1 … → sync.(*Mutex).Unlock",
                "sync.(*Mutex).Unlock ← … 1 … ← cache.(*Cache).All ← … 3 …",
            ),
            (
                50,
                "… 3 … → cache.(…he).All → … 1 … → sync.(*….Unlock",
                "sync.(*….Unlock ← … 1 … ← cache.(…he).All ← … 3 …",
            ),
            (30, "… 5 … → sync.(*Mutex).Unlock", "sync.(*Mutex).Unlock ← … 5 …"),
        ] {
            assert_eq!(chain(&names, &own, Anchor::Last, width), want);
            assert_eq!(chain(&up, &own, Anchor::First, width), reversed);
        }
    }

    #[test]
    fn a_very_long_row_takes_little_time() {
        let names = vec!["runtime.f"; 100_000];
        assert_eq!(chain(&names, &[], Anchor::Last, 30), "… 99998 … → runtime.f → .f");
        assert_eq!(chain(&names, &["runtime.f"], Anchor::First, 30), "runtime.f ← .f ← … 99998 …");
    }

    proptest! {
        #[test]
        fn chains_fit_the_width(
            names in proptest::collection::vec("[a-c関.]{0,12}", 0..8),
            own in proptest::collection::vec(any::<bool>(), 8),
            last: bool,
            width in 0..60_usize,
        ) {
            let anchor = if last { Anchor::Last } else { Anchor::First };
            let is_own = |i: usize| own[i];
            let chain = Chain { names: &names, is_own: &is_own, arrow: " → ", anchor, ellipsis: "…" };
            let row = chain.fit(Some(width));
            prop_assert!(row.width() <= width, "{}", row);
            if chain.whole().width() <= width {
                prop_assert_eq!(row, chain.whole());
            }
        }
    }
}
