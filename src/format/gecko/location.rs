//! Frames stored as text, in raw profiles.

use crate::format::gecko::libs::Libs;
use crate::profile::{Frame, Function, ProfileBuilder};

/// Parses a frame: an address (`0x10bc5e3b4`), a JavaScript function (`emit (loader.js -> http://a/b.js:150:13)`), the
/// code of a script outside functions (`loader.js -> http://a/b.js:1:0`), a function of a library
/// (`malloc (in libc.so)`), or just a name. `None` for `(root)`, which is on every stack and
/// carries no information.
pub(super) fn frame(text: &str, libs: &Libs, builder: &mut ProfileBuilder) -> Option<Frame> {
    if text == "(root)" {
        return None;
    }
    if let Some(address) = address(text) {
        let (mapping, address) = libs.find(address);
        let function = builder.unnamed_function(mapping);
        return Some(Frame { function, address, mapping, ..Frame::default() });
    }
    let (name, place) = match text.rfind(" (").filter(|_| text.ends_with(')')) {
        Some(at) => (&text[..at], &text[at + 2..text.len() - 1]),
        None => match text.rsplit_once(" -> ") {
            Some((_, script)) => ("(root scope)", script),
            None => return Some(named(text, builder)),
        },
    };
    if place.starts_with("in ") {
        return Some(named(name, builder));
    }
    // The loaded script follows its loader.
    let place = place.rsplit(" -> ").next().unwrap_or(place);
    let (file, line, column) = split_place(place);
    if line == 0 && file != "self-hosted" {
        // Not a location: some names contain parentheses.
        return Some(named(text, builder));
    }
    let (name, file) = (builder.string(name), builder.string(file));
    let function = builder.function(Function { name, file, line, column, by_place: true });
    Some(Frame { function, ..Frame::default() })
}

/// Parses an address used in place of a function name.
pub(super) fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn named(name: &str, builder: &mut ProfileBuilder) -> Frame {
    Frame { function: builder.named_function(name, ""), ..Frame::default() }
}

/// Splits `http://a/b.js:150:13` into the file, the line and the column.
fn split_place(place: &str) -> (&str, u32, u32) {
    let last_number = |text| -> Option<(&str, u32)> {
        let (rest, last): (&str, &str) = str::rsplit_once(text, ':')?;
        Some((rest, last.parse().ok()?))
    };
    match last_number(place) {
        None => (place, 0, 0),
        Some((rest, last)) => match last_number(rest) {
            Some((file, line)) => (file, line, last),
            None => (rest, last, 0),
        },
    }
}
