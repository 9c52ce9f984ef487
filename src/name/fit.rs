//! Fits names into a number of terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::place::{end_of_place, needs_place, position, split_shown};

/// With fewer columns than this a name is useless, and the whole row is cut instead.
const SHORTEST: usize = 3;

/// How many columns of a terminal a text takes.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Shortens a name to `width` columns by putting `ellipsis` (`…`, or `..` where there is no UTF-8) in place
/// of its middle, because both ends of a name distinguish it: `skl.(*Skiplist)…dSpliceForLevel`. A name that
/// ends with a place keeps its function, and as much of the end of the place as still fits: `waysToPay
/// …app.mjs:52:19`.
pub fn fit(name: &str, width: usize, ellipsis: &str) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let placed = split_shown(name).and_then(|parts| fit_placed(parts, width, ellipsis));
    placed.unwrap_or_else(|| fit_middle(name, width, ellipsis))
}

fn fit_middle(name: &str, width: usize, ellipsis: &str) -> String {
    let Some(room) = width.checked_sub(ellipsis.width()) else {
        return head(name, width).to_owned();
    };
    let tail_room = room / 2;
    let (head, tail) = (head(name, room - tail_room), tail(name, tail_room));
    format!("{head}{ellipsis}{tail}")
}

/// Shortens a name to `width` columns like [`fit`], but never in the part that distinguishes it: the last
/// parts of a qualified name, or the function and the line of one that ends with its place. `None` where
/// these do not fit.
///
/// ```
/// use prof::name::fit_telling;
///
/// let fit = |name, width| fit_telling(name, width, "…");
/// assert_eq!(fit("shop/matching.(*Engine).matchInstance", 22).unwrap(), "…matchInstance");
/// assert_eq!(fit("waysToPay file:///srv/app.mjs:52:19", 24).unwrap(), "waysToPay …app.mjs:52:19");
/// assert_eq!(fit("shop/matching.(*Engine).matchInstance", 12), None);
/// ```
pub fn fit_telling(name: &str, width: usize, ellipsis: &str) -> Option<String> {
    if name.width() <= width {
        return Some(name.to_owned());
    }
    let room = width.checked_sub(ellipsis.width())?;
    if let Some((function, place)) = split_shown(name) {
        let room = room.checked_sub(function.width() + 1)?;
        return (position(place).width() <= room)
            .then(|| format!("{function} {ellipsis}{}", tail(place, room)));
    }
    let starts = part_starts(name);
    let fits = |at: &usize| name[*at..].width() <= room;
    let is_telling = |at: &usize| name[*at..].width() >= LEAST_TELLING;
    let from = starts.into_iter().take_while(fits).last().filter(is_telling)?;
    Some(format!("{ellipsis}{}", &name[from..]))
}

/// The minimum number of columns for the end of a name to distinguish it: `func1` alone does not.
const LEAST_TELLING: usize = 12;

/// Where the parts of a qualified name start, the last one first. What is in brackets is no part.
fn part_starts(name: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut depth = 0_usize;
    for (at, c) in name.char_indices().rev() {
        match c {
            ')' | ']' | '>' | '}' => depth += 1,
            '(' | '[' | '<' | '{' => depth = depth.saturating_sub(1),
            // Not between the colons of `::`.
            ':' if depth == 0 && name[at + 1..].starts_with(':') => {}
            '.' | ':' | '/' | '#' | '\\' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    starts
}

/// A function and its place in fewer columns than both take: the place gives way to the function, down to its
/// line, and is dropped where not even that fits. Names such as `<lambda>` mean nothing without
/// their place and keep the line. `None` where there are too few columns for that.
fn fit_placed((function, place): (&str, &str), width: usize, ellipsis: &str) -> Option<String> {
    let end = end_of_place(place);
    let open = if place.starts_with('(') { "(" } else { "" };
    let between = 1 + open.width() + ellipsis.width();
    let least = between + position(end).width();
    let function = match width.checked_sub(least) {
        Some(room) if function.width() <= room => function.to_owned(),
        Some(room) if needs_place(function) && room >= LEAST_FUNCTION => fit_middle(function, room, ellipsis),
        _ if needs_place(function) => return None,
        _ => return Some(fit(function, width, ellipsis)),
    };
    let room = width.saturating_sub(function.width() + between);
    Some(format!("{function} {open}{ellipsis}{}", tail(end, room)))
}

/// A function that keeps its place has at least this many columns.
const LEAST_FUNCTION: usize = 6;

/// The longest beginning that takes at most `width` columns.
fn head(name: &str, width: usize) -> &str {
    let mut left = width;
    let end = name.char_indices().find(|&(_, c)| !take(&mut left, c)).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// The longest end that takes at most `width` columns.
fn tail(name: &str, width: usize) -> &str {
    let mut left = width;
    let cut = name.char_indices().rev().find(|&(_, c)| !take(&mut left, c));
    &name[cut.map_or(0, |(at, c)| at + c.len_utf8())..]
}

fn take(left: &mut usize, c: char) -> bool {
    let rest = left.checked_sub(c.width().unwrap_or(0));
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// The end of a joined row at which the function stands that the row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Callers follow the function that they lead to.
    First,
    /// Callees follow their callers, and the numbers are those of the last.
    Last,
}

/// The names of a joined row.
pub struct Chain<'a, S> {
    /// The names as they are shown.
    pub names: &'a [S],
    /// Whether a name, given by its place, is of the program's own code rather than of a library or the runtime.
    pub is_own: &'a dyn Fn(usize) -> bool,
    /// The separator between two names, such as ` → `.
    pub arrow: &'a str,
    /// Which name the row is about.
    pub anchor: Anchor,
    /// The ellipsis for omitted parts.
    pub ellipsis: &'a str,
}

impl<S: AsRef<str>> Chain<'_, S> {
    /// All names, however long the row becomes.
    pub fn whole(&self) -> String {
        self.names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(self.arrow)
    }

    /// Whether all names fit `width` columns.
    pub fn is_within(&self, width: usize) -> bool {
        self.fits(self.names.iter().map(AsRef::as_ref), width)
    }

    /// Joins the names so that they fit `width` columns; `None` is as wide as needed. A row that is too long
    /// first drops repeated prefixes (`gob.(*Decoder).Decode → .DecodeValue`), then names, and says how many
    /// (`a → … 3 … → z`), then letters of its longest names. The names nearest to the anchor stay longest, and
    /// the program's own code longer than libraries: of the callers of a lock the nearest that is no library
    /// tells who holds it, `main` and what called that do not.
    pub fn fit(&self, width: Option<usize>) -> String {
        let Some(width) = width else { return self.whole() };
        if self.is_within(width) {
            return self.whole();
        }
        let ranked = self.by_importance(width / (1 + self.arrow.width()) + 1);
        let parts = self.parts(&ranked, width);
        let shortened = self.shorten(&parts, width, SHORTEST_OF_SEVERAL);
        let alone = || self.shorten(&self.shown(&ranked[..ranked.len().min(1)]), width, SHORTEST);
        let anchored = || fit(ranked.first().map_or("", |&i| self.name(i)), width, self.ellipsis);
        shortened.or_else(alone).unwrap_or_else(anchored)
    }

    /// Joins parts, and cuts letters of the longest where they are too long. `None` where these would have
    /// fewer than `shortest` columns.
    fn shorten(&self, parts: &[String], width: usize, shortest: usize) -> Option<String> {
        let arrows = parts.len().saturating_sub(1) * self.arrow.width();
        let cap = cap(parts, width.checked_sub(arrows)?);
        let is_cut = parts.iter().any(|part| part.width() > cap);
        if is_cut && cap < shortest {
            return None;
        }
        let parts: Vec<String> = parts.iter().map(|part| fit(part, cap, self.ellipsis)).collect();
        Some(parts.join(self.arrow))
    }

    fn name(&self, i: usize) -> &str {
        self.names[i].as_ref()
    }

    /// Stops at the first part beyond the width: a stack may be 100,000 names deep.
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

    /// The parts to show: all names without repeated prefixes and with the ends of their places, else as many
    /// as fit, but at least the anchor and the name that says most about it.
    fn parts(&self, ranked: &[usize], width: usize) -> Vec<String> {
        let mut kept: Vec<usize> = Vec::new();
        if self.names.len() <= ranked.len() {
            let all: Vec<usize> = (0..self.names.len()).collect();
            let parts = self.shown(&all);
            if all.len() <= LEAST_NAMES || self.fits(parts.iter().map(String::as_str), width) {
                return parts;
            }
        }
        for (rank, &candidate) in ranked.iter().enumerate() {
            let at = kept.partition_point(|&i| i < candidate);
            kept.insert(at, candidate);
            let is_needed = rank < LEAST_NAMES;
            if !is_needed && !self.fits(self.shown(&kept).iter().map(String::as_str), width) {
                kept.remove(at);
            }
        }
        self.shown(&kept)
    }

    /// The places of the names in the order in which they are worth showing, at most `most` of each kind: the
    /// anchor, the program's own code, the rest, the nearest to the anchor first.
    fn by_importance(&self, most: usize) -> Vec<usize> {
        let count = self.names.len();
        let at = |distance: usize| if self.anchor == Anchor::First { distance } else { count - 1 - distance };
        let nearest =
            |is_own: bool| (1..count).map(at).filter(move |&i| (self.is_own)(i) == is_own).take(most);
        (0..count.min(1)).map(at).chain(nearest(true)).chain(nearest(false)).collect()
    }
    /// The names at these places, and between them how many are hidden.
    fn shown(&self, places: &[usize]) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut before: Option<usize> = None;
        for &place in places {
            parts.extend(self.hidden(before.map_or(0, |before| before + 1), place));
            // A prefix must be repeated from what stands on the line, not from a name left out.
            parts.push(before.map_or_else(|| self.placed(place), |before| self.after(place, before)));
            before = Some(place);
        }
        parts.extend(self.hidden(before.map_or(0, |before| before + 1), self.names.len()));
        parts
    }

    /// `… 3 …` in the place of the names from one place up to another.
    fn hidden(&self, from: usize, to: usize) -> Option<String> {
        (from < to).then(|| format!("{0} {1} {0}", self.ellipsis, to - from))
    }

    /// A name with only as much of its location as distinguishes it.
    fn placed(&self, i: usize) -> String {
        let name = self.name(i);
        match split_shown(name) {
            Some((function, place)) => {
                let width = function.width() + end_of_place(place).width() + 2 + self.ellipsis.width();
                fit(name, width, self.ellipsis)
            }
            None => name.to_owned(),
        }
    }

    /// Name `i` without what it has in common with name `before`, up to that one's last part:
    /// after `gob.(*Decoder).Decode`, `gob.(*Decoder).DecodeValue` is `.DecodeValue`.
    fn after(&self, i: usize, before: usize) -> String {
        if split_shown(self.name(i)).is_some() {
            return self.placed(i);
        }
        let (name, before) = (self.name(i), self.name(before));
        let Some(at) = before.rfind(['.', ':']) else { return name.to_owned() };
        let separator = &before[at..=at];
        let qualifier = before[..at].trim_end_matches(':');
        match name.strip_prefix(qualifier) {
            Some(rest) if !qualifier.is_empty() && rest.starts_with(separator) => rest.to_owned(),
            _ => name.to_owned(),
        }
    }
}

/// The anchor and the name that says most about it are shown before any letters of them.
const LEAST_NAMES: usize = 2;

/// Where several names would have fewer columns than this, one is shown.
const SHORTEST_OF_SEVERAL: usize = 12;

/// The width to which the longest parts must shrink so that all of them take at most `room`.
fn cap(parts: &[String], room: usize) -> usize {
    let mut widths: Vec<usize> = parts.iter().map(|part| part.width()).collect();
    widths.sort_unstable();
    let mut left = room;
    for (i, width) in widths.iter().enumerate() {
        let each = left / (widths.len() - i);
        if *width > each {
            return each;
        }
        left -= width;
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_name() {
        for (name, width, want) in [
            ("skl.(*Skiplist).findSpliceForLevel", 31, "skl.(*Skiplist)…dSpliceForLevel"),
            ("short", 5, "short"),
            ("shorter", 5, "sh…er"),
            ("shorter", 4, "sh…r"),
            ("shorter", 1, "…"),
            ("shorter", 0, ""),
            ("関数関数", 5, "関…数"),
            ("関数関数", 4, "関…"),
        ] {
            assert_eq!(fit(name, width, "…"), want, "{width}");
        }
        assert_eq!(fit("shorter", 6, ".."), "sh..er");
        assert_eq!(fit("shorter", 1, ".."), "s");
    }

    #[test]
    fn what_tells_a_name_apart_stays() {
        for (name, width, want) in [
            ("matching.Engine.matchInstance", 29, Some("matching.Engine.matchInstance")),
            ("matching.Engine.matchInstance", 21, Some("…Engine.matchInstance")),
            ("matching.Engine.matchInstance", 20, Some("…matchInstance")),
            ("matching.Engine.matchInstance", 13, None),
            // A closure is distinguished by its enclosing function.
            ("shop/cart.(*Cart).addItems.func1", 20, Some("…addItems.func1")),
            ("std::map<a::b, c::d>::insert(x::y const&)", 30, Some("…insert(x::y const&)")),
            ("get total (shop/cart.py:7)", 20, Some("get total …art.py:7)")),
            ("get total (shop/cart.py:7)", 13, None),
            ("waysToPay file:///srv/app.mjs:52:19", 17, Some("waysToPay …:52:19")),
            ("waysToPay file:///srv/app.mjs:52:19", 16, None),
            ("total (shop/my cart.py:7)", 13, Some("total ….py:7)")),
            // The place ends in a line of a file, not in any number.
            ("shop.restock worker:7", 17, Some("…restock worker:7")),
            ("a_single_long_word", 17, None),
            ("関数関数", 1, None),
        ] {
            assert_eq!(fit_telling(name, width, "…").as_deref(), want, "{name} {width}");
        }
    }

    #[test]
    fn functions_are_kept_rather_than_their_places() {
        let (pay, anonymous) =
            ("waysToPay file:///srv/app.mjs:52:19", "(anonymous) file:///srv/app.mjs:7:15");
        for (name, width, want) in [
            (pay, 35, pay),
            (pay, 34, "waysToPay …app.mjs:52:19"),
            (pay, 24, "waysToPay …app.mjs:52:19"),
            (pay, 20, "waysToPay …mjs:52:19"),
            (pay, 17, "waysToPay …:52:19"),
            (pay, 16, "waysToPay"),
            (pay, 9, "waysToPay"),
            (pay, 8, "ways…Pay"),
            ("bit_vector /lib/board.py:27", 15, "bit_vector …:27"),
            ("bit_vector /lib/board.py:27", 14, "bit_vector"),
            ("<listcomp> /lib/board.py:27", 14, "<lis…omp> …:27"),
            (anonymous, 24, "(anonymous) …pp.mjs:7:15"),
            ("f (lib/x.py:82)", 12, "f (…x.py:82)"),
            ("f (x.py:82)", 10, "f (…py:82)"),
        ] {
            assert_eq!(fit(name, width, "…"), want, "{width}");
        }
    }

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
        let std = ["std::vector::push_back", "std::vector::emplace_back"];
        for (names, width, want) in [
            (&decode[..], 60, "gob.(*Decoder).Decode → gob.(*Decoder).DecodeValue"),
            (&decode, 40, "gob.(*Decoder).Decode → .DecodeValue"),
            (&wake, 60, "runtime.futexwakeup → .notewakeup → .startm → .wakep"),
            (&wake, 50, "… 1 … → runtime.notewakeup → .startm → .wakep"),
            (&wake, 35, "… 2 … → runtime.startm → .wakep"),
            (&put, 38, "skl.(*Skiplist)…dSpliceForLevel → .Put"),
            (&mixed, 20, "… 2 … → b.z"),
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
    fn a_very_long_row_is_cheap() {
        let names = vec!["runtime.f"; 100_000];
        assert_eq!(chain(&names, &[], Anchor::Last, 30), "… 99998 … → runtime.f → .f");
        assert_eq!(chain(&names, &["runtime.f"], Anchor::First, 30), "runtime.f ← .f ← … 99998 …");
    }

    proptest! {
        #[test]
        fn a_telling_name_keeps_the_width(name in "[a-c関.:() 1]{0,30}", width in 0..40_usize) {
            if let Some(fitted) = fit_telling(&name, width, "…") {
                prop_assert!(fitted.width() <= width, "{}", fitted);
            }
        }

        #[test]
        fn the_width_is_kept(
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

        #[test]
        fn a_placed_name_keeps_the_width(name in "[a-z]{1,20}", file in "[a-z/.]{0,30}", width in 0..60_usize) {
            let name = format!("{name} file:///{file}x.js:12:34");
            prop_assert!(fit(&name, width, "…").width() <= width);
        }
    }
}
