//! Fits the label of a block into the block. `fit.js` does the same when a picture is zoomed.

use super::fit::{display_width, head, part_starts};
use super::place::BlockLabel;

/// So many parts at the end of a name may say nothing, such as `{{closure}}::{{closure}}`.
const MOST_PARTS: usize = 64;

/// A shorter beginning of a name says nothing.
const SHORTEST: usize = 3;

impl BlockLabel {
    /// Fits the label into `room` columns. The place goes first. The colour of a block stands for the package, so a
    /// qualified name loses its first parts. What is left at last, the identifier, is cut at its end.
    ///
    /// ```
    /// use prof::name::BlockLabel;
    ///
    /// let label = BlockLabel { name: "flate.(*compressor).close".into(), place: String::new() };
    /// assert_eq!(label.fit(21), "compressor.close");
    /// assert_eq!(label.fit(8), "close");
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
        let starts = part_starts(name);
        let parts = starts.iter().map(|&at| &name[at..]);
        let forms = parts.clone().map(|part| (part, without_receiver(part)));
        // Each part contains the one before it, so none fits after the first that does not.
        let fitting = forms.take_while(|(_, form)| display_width(form) <= room);
        if let Some((_, longest)) = fitting.filter(|(part, _)| says_something(part)).last() {
            return longest;
        }
        let identifier = parts.take(MOST_PARTS).find(|part| says_something(part));
        let identifier = identifier.map_or_else(|| name.clone(), without_receiver);
        let cut = head(&identifier, room.saturating_sub(1)).trim_end_matches(['.', ':', '(']);
        if display_width(cut) < SHORTEST { String::new() } else { format!("{cut}…") }
    }
}

/// Whether a part of a name says something without the parts before it, unlike `func1`, `2`, `{{closure}}`, `part.0` and `0.cold`.
fn says_something(part: &str) -> bool {
    if is_of_compiler(part) {
        return false;
    }
    let is_numbers = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_in_brackets = part.starts_with(['(', '<', '{']) && part.ends_with([')', '>', '}']);
    !is_in_brackets && !is_numbers(part.strip_prefix("func").unwrap_or(part))
}

/// Whether a part of a name is what compilers add to it: `isra.0`, `0.cold`, `constprop.0.cold`.
fn is_of_compiler(part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut pieces = part.split('.');
    while let Some(piece) = pieces.next() {
        let is_added = match piece {
            "isra" | "part" | "constprop" | "llvm" | "lto_priv" => pieces.next().is_some_and(is_number),
            "cold" | "localalias" => true,
            number => is_number(number),
        };
        if !is_added {
            return false;
        }
    }
    true
}

/// `(*Decoder).Decode` → `Decoder.Decode`: the brackets of a receiver in Go are not needed without the package.
fn without_receiver(part: &str) -> String {
    let receiver = part.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match receiver {
        Some((name, method)) if method.starts_with('.') => {
            format!("{}{method}", name.trim_start_matches('*'))
        }
        _ => part.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_many_parts_are_fitted() {
        for (part, room, expected) in
            [("a.", 6, "a.a.a."), ("1.", 6, "1.1.1…"), ("{x}.", 6, "{x}."), ("work.", 3, "")]
        {
            let label = BlockLabel { name: part.repeat(200_000), place: String::new() };
            assert_eq!(label.fit(room), expected, "{part}");
        }
    }

    #[test]
    fn labels_keep_the_identifier() {
        for (name, place, room, expected) in [
            ("(anonymous)", "events.js:113", 25, "(anonymous) events.js:113"),
            ("(anonymous)", "events.js:113", 24, "(anonymous)"),
            ("(anonymous)", "events.js:113", 8, "(anonym…"),
            ("waysToPay", "", 6, "waysT…"),
            ("std::operator delete", "", 9, "operator…"),
            ("std::operator delete", "", 19, "operator delete"),
            ("runtime.mallocgc", "", 15, "mallocgc"),
            ("runtime.mallocgc", "", 8, "mallocgc"),
            ("runtime.mallocgc", "", 7, "malloc…"),
            ("runtime.mallocgc", "", 4, "mal…"),
            ("runtime.mallocgc", "", 3, ""),
            ("gob.(*Decoder).Decode", "", 20, "Decoder.Decode"),
            ("gob.(*Decoder).Decode", "", 13, "Decode"),
            ("main.(*server).serve.func1", "", 20, "server.serve.func1"),
            ("main.(*server).serve.func1", "", 17, "serve.func1"),
            ("main.(*server).serve.func1", "", 9, "serve.fu…"),
            ("main.(*server).serve.func1", "", 7, "serve…"),
            ("a::b::{{closure}}::{{closure}}", "", 29, "b::{{closure}}::{{closure}}"),
            ("trailing.dot.", "", 8, "dot."),
            ("関数.関数関数", "", 9, "関数関数"),
            ("関数.関数関数", "", 7, "関数関…"),
            ("work", "", 2, ""),
            ("1.1.1.1", "", 4, "1.1…"),
            ("call_init.part.0", "", 11, "call_init…"),
            ("ld.so.call_init.part.0", "", 16, "call_init.part.0"),
            ("do_sys_poll.isra.0.cold", "", 12, "do_sys_poll…"),
        ] {
            let label = BlockLabel { name: name.into(), place: place.into() };
            assert_eq!(label.fit(room), expected, "{name} {room}");
        }
    }
}
