//! Frames stored as text, in raw profiles.

use crate::format::gecko::libs::Libs;
use crate::profile::{Frame, Function, ProfileBuilder};

/// Parses a frame: an address (`0x10bc5e3b4`), a JavaScript function (`emit (loader.js -> http://a/b.js:150:13)`), the
/// code of a script outside functions (`loader.js -> http://a/b.js:1:0`), a function of a library
/// (`malloc (in libc.so)`), or just a name. `None` for `(root)`, which is on every stack and
/// carries no information.
///
/// Newer versions of Firefox add the number of the script in a table of its process: `emit (http://a/b.js:150:13)[15]`, or
/// `http://a/b.js:1:1[15]` for the code of a script outside functions.
pub(super) fn frame(text: &str, libs: &Libs, builder: &mut ProfileBuilder) -> Option<Frame> {
    if text == "(root)" {
        return None;
    }
    if let Some(address) = address(text) {
        let (mapping, address) = libs.find(address);
        let function = builder.unnamed_function(mapping);
        return Some(Frame { function, address, mapping, ..Frame::default() });
    }
    if let Some(script) = without_script_number(text) {
        return Some(script_frame(script, builder).unwrap_or_else(|| named(text, builder)));
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
    Some(scripted(name, (file, line, column), builder))
}

/// `emit (http://a/b.js:150:13)` of `emit (http://a/b.js:150:13)[15]`; `None` for a text that does not end with a number.
fn without_script_number(text: &str) -> Option<&str> {
    let (before, number) = text.strip_suffix(']')?.rsplit_once('[')?;
    number.parse::<u32>().ok().map(|_| before)
}

/// The frame of `emit (http://a/b.js:150:13)`, `http://a/b.js:150:13` or `http://a/b.js`; `None` for the name of anything else,
/// such as `Array[3]`.
fn script_frame(text: &str, builder: &mut ProfileBuilder) -> Option<Frame> {
    let (name, place) =
        text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")).unwrap_or(("(root scope)", text));
    let place = place.rsplit(" -> ").next().unwrap_or(place);
    let (file, line, column) = split_place(place);
    let is_script = line > 0 || file == "self-hosted" || file.contains("://");
    is_script.then(|| scripted(name, (file, line, column), builder))
}

fn scripted(name: &str, (file, line, column): (&str, u32, u32), builder: &mut ProfileBuilder) -> Frame {
    let (name, file) = (builder.string(name), builder.string(file));
    let function = builder.function(Function { name, file, line, column, by_place: true });
    Frame { function, ..Frame::default() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LoadOptions;

    /// The name, file, line and column of the function of a location.
    fn function(text: &str) -> (String, String, u32, u32) {
        let mut builder = ProfileBuilder::new("gecko", LoadOptions::ALL);
        let frame = frame(text, &Libs::default(), &mut builder).unwrap();
        let function = builder.function_row(frame.function);
        let text = |id| builder.text(id).to_string();
        (text(function.name), text(function.file), function.line, function.column)
    }

    #[test]
    fn the_number_of_a_script_is_no_part_of_its_name() {
        let of = |name: &str, file: &str, line, column| (name.to_string(), file.to_string(), line, column);
        let emit = of("emit", "http://a/b.js", 150, 13);
        assert_eq!(function("emit (http://a/b.js:150:13)"), emit);
        assert_eq!(function("emit (http://a/b.js:150:13)[15]"), emit);
        assert_eq!(function("emit (loader.js -> http://a/b.js:150:13)[0]"), emit);
        assert_eq!(function("http://a/b.js:3:1[15]"), of("(root scope)", "http://a/b.js", 3, 1));
        assert_eq!(function("http://a/b.js[7]"), of("(root scope)", "http://a/b.js", 0, 0));
        // Names of other things.
        for name in ["Array[3]", "f (x)[2]", "setTimeout() for f<[Sqlite.sys.mjs]", "[1]"] {
            assert_eq!(function(name), of(name, "", 0, 0));
        }
    }
}
