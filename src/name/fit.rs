//! Names made to fit a number of terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// With fewer columns than this a name says nothing: the row is then cut as a whole.
const SHORTEST: usize = 3;

/// How many columns of a terminal a text takes.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Shortens a name to `width` columns by putting `ellipsis` (`…`, or `..` where there is no UTF-8)
/// in the place of its middle: both ends of a name tell it apart, `skl.(*Skiplist)…dSpliceForLevel`.
pub fn fit(name: &str, width: usize, ellipsis: &str) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let Some(room) = width.checked_sub(ellipsis.width()) else {
        return head(name, width).to_owned();
    };
    let tail_room = room / 2;
    let (head, tail) = (head(name, room - tail_room), tail(name, tail_room));
    format!("{head}{ellipsis}{tail}")
}

/// Shortens a name to `width` columns like [`fit`], but never in the part that tells it apart: the last parts of a
/// qualified name, or the function and the line of one that ends with its place. `None` where these do not fit.
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
    if let Some((function, place, line)) = with_place(name) {
        let room = room.checked_sub(function.width() + 1)?;
        return (line.width() <= room).then(|| format!("{function} {ellipsis}{}", tail(place, room)));
    }
    let starts = part_starts(name);
    let fits = |at: &usize| name[*at..].width() <= room;
    let is_telling = |at: &usize| name[*at..].width() >= LEAST_TELLING;
    let from = starts.into_iter().take_while(fits).last().filter(is_telling)?;
    Some(format!("{ellipsis}{}", &name[from..]))
}

/// The end of a name takes at least this many columns to tell it apart: `func1` alone does not.
const LEAST_TELLING: usize = 12;

/// The function, the place and the line of `f file.js:52:19` or `f (file.py:7)`.
fn with_place(name: &str) -> Option<(&str, &str, &str)> {
    let (function, place) = name.rsplit_once(' ')?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = place.strip_suffix(')').unwrap_or(place);
    let (mut before, last) = plain.rsplit_once(':')?;
    if !is_digits(last) {
        return None;
    }
    if let Some((file, line)) = before.rsplit_once(':').filter(|(_, line)| is_digits(line)) {
        (before, _) = (file, line);
    }
    Some((function, place, &place[before.len()..]))
}

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

/// Joins the names of a row with `arrow` (`" → "`) so that it fits `width` columns; `None` is as
/// wide as needed. A row that is too long first drops repeated prefixes (`gob.(*Decoder).Decode →
/// .DecodeValue`), then names in its middle (`a → … → z`), then letters in its longest names.
pub fn fit_chain<S: AsRef<str>>(names: &[S], arrow: &str, width: Option<usize>, ellipsis: &str) -> String {
    let plain = || names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(arrow);
    let Some(width) = width else { return plain() };
    let row = Row { names, arrow, width, ellipsis };
    if row.fits_in_full() {
        return plain();
    }
    let parts = row.parts();
    let used: usize = parts.iter().map(|part| part.width()).sum();
    let arrows = parts.len().saturating_sub(1) * arrow.width();
    if used + arrows <= width {
        return parts.join(arrow);
    }
    let cap = cap(&parts, width.saturating_sub(arrows));
    if cap < SHORTEST {
        return fit(&format!("{}{arrow}{}", parts[0], parts[parts.len() - 1]), width, ellipsis);
    }
    let parts: Vec<String> = parts.iter().map(|part| fit(part, cap, ellipsis)).collect();
    parts.join(arrow)
}

struct Row<'a, S> {
    names: &'a [S],
    arrow: &'a str,
    width: usize,
    ellipsis: &'a str,
}

impl<'a, S: AsRef<str>> Row<'a, S> {
    fn name(&self, i: usize) -> &'a str {
        self.names[i].as_ref()
    }

    fn fits_in_full(&self) -> bool {
        self.fits(self.names.iter().map(AsRef::as_ref))
    }

    /// Stops at the first part beyond the width: a stack may be 100,000 names deep.
    fn fits<'b>(&self, parts: impl Iterator<Item = &'b str>) -> bool {
        let mut used = 0;
        for (i, part) in parts.enumerate() {
            used += part.width() + if i > 0 { self.arrow.width() } else { 0 };
            if used > self.width {
                return false;
            }
        }
        true
    }

    /// The names without repeated prefixes; if those are still too many, as many from both ends as
    /// fit around an ellipsis, and at least the first and the last.
    fn parts(&self) -> Vec<&'a str> {
        let count = self.names.len();
        let all = (0..count).map(|i| if i == 0 { self.name(0) } else { self.after(i, i - 1) });
        if count <= 2 || self.fits(all.clone()) {
            return all.collect();
        }
        let (mut head, mut tail) = (1, 1);
        // One more from the head, then one more from the tail, in turn.
        while head + tail < count - 1 {
            let (h, t) = if head > tail { (head, tail + 1) } else { (head + 1, tail) };
            if !self.fits(self.ends(h, t).into_iter()) {
                break;
            }
            (head, tail) = (h, t);
        }
        self.ends(head, tail)
    }

    /// The first `head` names, an ellipsis, the last `tail` names.
    fn ends(&self, head: usize, tail: usize) -> Vec<&'a str> {
        let first_of_tail = self.names.len() - tail;
        let mut parts = vec![self.name(0)];
        parts.extend((1..head).map(|i| self.after(i, i - 1)));
        parts.push(self.ellipsis);
        // A prefix must be repeated from what stands on the line, not from a name left out.
        parts.push(self.after(first_of_tail, head - 1));
        parts.extend((first_of_tail + 1..self.names.len()).map(|i| self.after(i, i - 1)));
        parts
    }

    /// Name `i` without what it has in common with name `before`, up to that one's last part:
    /// after `gob.(*Decoder).Decode`, `gob.(*Decoder).DecodeValue` is `.DecodeValue`.
    fn after(&self, i: usize, before: usize) -> &'a str {
        let (name, before) = (self.name(i), self.name(before));
        let Some(at) = before.rfind(['.', ':']) else { return name };
        let separator = &before[at..=at];
        let qualifier = before[..at].trim_end_matches(':');
        match name.strip_prefix(qualifier) {
            Some(rest) if !qualifier.is_empty() && rest.starts_with(separator) => rest,
            _ => name,
        }
    }
}

/// The width to which the longest parts must shrink so that all of them take at most `room`.
fn cap(parts: &[&str], room: usize) -> usize {
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
            // A closure is told apart by the function it is in.
            ("shop/cart.(*Cart).addItems.func1", 20, Some("…addItems.func1")),
            ("std::map<a::b, c::d>::insert(x::y const&)", 30, Some("…insert(x::y const&)")),
            ("get total (shop/cart.py:7)", 20, Some("get total …art.py:7)")),
            ("get total (shop/cart.py:7)", 13, None),
            ("waysToPay file:///srv/app.mjs:52:19", 17, Some("waysToPay …:52:19")),
            ("waysToPay file:///srv/app.mjs:52:19", 16, None),
            ("a_single_long_word", 17, None),
            ("関数関数", 1, None),
        ] {
            assert_eq!(fit_telling(name, width, "…").as_deref(), want, "{name} {width}");
        }
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
            (&wake, 50, "runtime.futexwakeup → .notewakeup → … → .wakep"),
            (&wake, 40, "runtime.futexwakeup → … → .wakep"),
            (&put, 38, "skl.(*Skiplist)…dSpliceForLevel → .Put"),
            (&mixed, 13, "a.x → … → b.z"),
            (&std, 42, "std::vector::push_back → ::emplace_back"),
            (&wake, 5, "ru…ep"),
            (&[], 5, ""),
        ] {
            assert_eq!(fit_chain(names, " → ", Some(width), "…"), want, "{width}");
        }
        assert_eq!(fit_chain(&put, " ← ", None, "…"), put.join(" ← "));
    }

    #[test]
    fn a_very_long_row_is_cheap() {
        let names = vec!["runtime.f"; 100_000];
        assert_eq!(fit_chain(&names, " → ", Some(22), "…"), "runtime.f → … → .f");
    }

    proptest! {
        #[test]
        fn a_telling_name_keeps_the_width(name in "[a-c関.:() 1]{0,30}", width in 0..40_usize) {
            if let Some(fitted) = fit_telling(&name, width, "…") {
                prop_assert!(fitted.width() <= width, "{}", fitted);
            }
        }

        #[test]
        fn the_width_is_kept(names in proptest::collection::vec("[a-c関.]{0,12}", 0..8), width in 0..60_usize) {
            let row = fit_chain(&names, " → ", Some(width), "…");
            prop_assert!(row.width() <= width, "{}", row);
            let full = names.join(" → ");
            if full.width() <= width {
                prop_assert_eq!(row, full);
            }
        }
    }
}
