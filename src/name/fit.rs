//! Fits names into a number of terminal columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::clean::is_plain;
use super::place::{end_of_place, needs_place, position, split_shown};

/// The minimum width of a name. With fewer columns it would be useless, so the whole row is truncated instead.
pub(super) const SHORTEST: usize = 3;

/// The number of terminal columns that a text takes.
pub fn display_width(text: &str) -> usize {
    // The characters of ASCII are one column wide.
    if is_plain(text) { text.len() } else { text.width() }
}

/// Shortens a name to `width` columns by replacing its middle with `ellipsis` (`…`, or `..` without UTF-8),
/// because both ends distinguish it: `skl.(*Skiplist)…dSpliceForLevel`. A name that ends with a location keeps the
/// function and as much of the end of the location as fits: `waysToPay …app.mjs:52:19`.
pub fn fit(name: &str, width: usize, ellipsis: &str) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let with_short_location = split_shown(name).and_then(|parts| fit_placed(parts, width, ellipsis));
    with_short_location.unwrap_or_else(|| fit_middle(name, width, ellipsis))
}

pub(super) fn fit_middle(name: &str, width: usize, ellipsis: &str) -> String {
    let Some(available) = width.checked_sub(ellipsis.width()) else {
        return head(name, width).to_owned();
    };
    let tail_room = available / 2;
    let (head, tail) = (head(name, available - tail_room), tail(name, tail_room));
    // A name that was shortened before is not shortened twice in one place.
    let (head, tail) = (head.trim_end_matches(ellipsis), tail.trim_start_matches(ellipsis));
    format!("{head}{ellipsis}{tail}")
}

/// Shortens a name to `width` columns like [`fit`], but never the part that distinguishes it: the last parts of a
/// qualified name, or the function and the line of a name that ends with a location. `None` if these do not fit.
///
/// ```
/// use prof::name::fit_distinct;
///
/// let fit = |name, width| fit_distinct(name, width, "…");
/// assert_eq!(fit("shop/matching.(*Engine).matchInstance", 22).unwrap(), "…matchInstance");
/// assert_eq!(fit("waysToPay file:///srv/app.mjs:52:19", 24).unwrap(), "waysToPay …app.mjs:52:19");
/// assert_eq!(fit("shop/matching.(*Engine).matchInstance", 12), None);
/// ```
pub fn fit_distinct(name: &str, width: usize, ellipsis: &str) -> Option<String> {
    if name.width() <= width {
        return Some(name.to_owned());
    }
    if let Some((function, place)) = split_shown(name) {
        let available = width.checked_sub(ellipsis.width())?.checked_sub(function.width() + 1)?;
        return (position(place).width() <= available)
            .then(|| format!("{function} {ellipsis}{}", tail(place, available)));
    }
    fit_end(name, width, ellipsis)
}

/// As many whole parts from the end of a qualified name as fit `width` columns after the ellipsis. `None` where these do
/// not distinguish it.
pub(super) fn fit_end(name: &str, width: usize, ellipsis: &str) -> Option<String> {
    let available = width.checked_sub(ellipsis.width())?;
    let fits = |at: &usize| name[*at..].width() <= available;
    let is_distinct = |at: &usize| name[*at..].width() >= MIN_DISTINCT;
    let from = part_starts(name).into_iter().take_while(fits).last().filter(is_distinct)?;
    Some(format!("{ellipsis}{}", &name[from..]))
}

/// The minimum width of the end of a name to distinguish it: `func1` alone does not.
const MIN_DISTINCT: usize = 12;

/// Where the parts of a qualified name start, last one first. Text in brackets is not split.
pub(super) fn part_starts(name: &str) -> Vec<usize> {
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

/// Fits a function and its location into fewer columns than both need. First the location is shortened down to its
/// line, then it is dropped. Names such as `<lambda>` mean nothing without their location and keep the line.
/// `None` if there are too few columns for that.
fn fit_placed((function, place): (&str, &str), width: usize, ellipsis: &str) -> Option<String> {
    let end = end_of_place(place);
    let open = if place.starts_with('(') { "(" } else { "" };
    let between = 1 + open.width() + ellipsis.width();
    let least = between + position(end).width();
    let function = match width.checked_sub(least) {
        Some(available) if function.width() <= available => function.to_owned(),
        Some(available) if needs_place(function) && available >= MIN_FUNCTION => {
            fit_middle(function, available, ellipsis)
        }
        _ if needs_place(function) => return None,
        _ => return Some(fit(function, width, ellipsis)),
    };
    let available = width.saturating_sub(function.width() + between);
    Some(format!("{function} {open}{ellipsis}{}", tail(end, available)))
}

/// The minimum width of a function's name next to its location.
const MIN_FUNCTION: usize = 6;

/// The longest prefix that takes at most `width` columns.
pub(super) fn head(name: &str, width: usize) -> &str {
    let mut left = width;
    let end = name.char_indices().find(|&(_, c)| !take(&mut left, c)).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// The longest suffix that takes at most `width` columns.
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
    fn the_distinguishing_part_stays() {
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
            // A location ends with the line of a file, not with just any number.
            ("shop.restock worker:7", 17, Some("…restock worker:7")),
            ("a_single_long_word", 17, None),
            ("関数関数", 1, None),
        ] {
            assert_eq!(fit_distinct(name, width, "…").as_deref(), want, "{name} {width}");
        }
    }

    #[test]
    fn functions_are_kept_rather_than_their_locations() {
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

    proptest! {
        #[test]
        fn a_distinct_name_fits_the_width(name in "[a-c関.:() 1]{0,30}", width in 0..40_usize) {
            if let Some(fitted) = fit_distinct(&name, width, "…") {
                prop_assert!(fitted.width() <= width, "{}", fitted);
            }
        }

        #[test]
        fn a_placed_name_keeps_the_width(name in "[a-z]{1,20}", file in "[a-z/.]{0,30}", width in 0..60_usize) {
            let name = format!("{name} file:///{file}x.js:12:34");
            prop_assert!(fit(&name, width, "…").width() <= width);
        }
    }
}
