//! JSON, for scripts.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::name::is_unprintable;
use crate::report::Report;

/// Writes a report as one JSON document and a line end. Fails if `out` does.
pub fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    report.serialize(&mut Serializer::with_formatter(&mut *out, EscapeUnprintable))?;
    out.write_all(b"\n")
}

/// Compact JSON in which control characters and invisible ones are escaped (`\u009b`): programs read the same
/// text, and a terminal neither obeys nor hides it.
struct EscapeUnprintable;

impl Formatter for EscapeUnprintable {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unprintable) {
            out.write_all(&rest.as_bytes()[..at])?;
            let mut after = rest[at..].chars();
            for unit in after.next().into_iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = after.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_escaped_and_read_back() {
        for text in ["größe → ключ", "a\u{1b}[2J\u{9b}2J\u{7f}", "x\u{202e}\u{e0041}\n\t\"\\", ""] {
            let mut out = Vec::new();
            text.serialize(&mut Serializer::with_formatter(&mut out, EscapeUnprintable)).unwrap();
            let written = String::from_utf8(out).unwrap();
            assert!(!written.contains(is_unprintable), "{written:?}");
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
