//! The text of a generated script: which map belongs to it, and whether it is the script that was recorded.

use std::ops::Range;

/// A JavaScript file.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its text in UTF-16, in which columns are counted.
    units: Vec<u16>,
    /// Where each line starts.
    lines: Vec<usize>,
    /// The URL of its map; empty if it names none.
    pub map_url: String,
    /// The identifier that it shares with its map; empty if it has none.
    pub debug_id: String,
}

impl Script {
    /// Reads a script.
    pub fn parse(bytes: &[u8]) -> Script {
        let text = String::from_utf8_lossy(bytes);
        let units: Vec<u16> = text.strip_prefix('\u{feff}').unwrap_or(&text).encode_utf16().collect();
        let ends = units.iter().enumerate().filter(|(_, unit)| **unit == u16::from(b'\n'));
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let comment = |key: &str| {
            let found = [format!("//# {key}="), format!("//@ {key}=")].into_iter();
            let last = found.filter_map(|start| text.rfind(&start).map(|at| at + start.len())).max();
            let value = last.map_or("", |at| text[at..].split_whitespace().next().unwrap_or_default());
            value.to_string()
        };
        let (map_url, debug_id) = (comment("sourceMappingURL"), comment("debugId"));
        Script { units, lines, map_url, debug_id }
    }

    /// The number of code units of a line, counted from 0; `None` if there is no such line.
    pub fn line_length(&self, line: u32) -> Option<usize> {
        self.line(line).map(<[u16]>::len)
    }

    fn line(&self, line: u32) -> Option<&[u16]> {
        let line = line as usize;
        let start = *self.lines.get(line)?;
        let end = self.lines.get(line + 1).map_or(self.units.len(), |next| next - 1);
        Some(&self.units[start..end])
    }

    /// The text of some columns of a line, as far as these exist.
    fn text(&self, line: u32, columns: Range<usize>) -> String {
        let units = self.line(line).unwrap_or_default();
        let end = columns.end.min(units.len());
        String::from_utf16_lossy(&units[columns.start.min(end)..end])
    }

    /// Whether these columns are a name and the code between it and the parameters of its function: `u` in `function u(n)`,
    /// `l=` in `l=n=>n*2`.
    pub(super) fn names_function(&self, line: u32, columns: Range<u32>, word: &str) -> bool {
        let text = self.text(line, columns.start as usize..columns.end as usize);
        text.strip_prefix(word).is_some_and(|rest| without_glue_at_end(rest).is_empty())
    }

    /// Whether a function called `name` starts at a position. `None` if its name is none that the script would contain.
    pub fn has_function(&self, line: u32, column: u32, name: &str) -> Option<bool> {
        let word = last_word(name)?;
        let (column, length) = (column as usize, word.encode_utf16().count());
        let before = self.text(line, column.saturating_sub(length + GLUE)..column);
        let ends_with = |text: &str, word: &str| {
            text.strip_suffix(word).is_some_and(|rest| !rest.ends_with(is_part_of_word))
        };
        let name = without_glue_at_end(&before);
        // The name of a class is that of its constructor.
        if ends_with(name, word) || ends_with(name, "constructor") {
            return Some(true);
        }
        let after = self.text(line, column..column + GLUE + length);
        let mut rest = after.as_str();
        loop {
            let shorter = rest.trim_start();
            let shorter =
                ["async", "function", "class", "*"].iter().find_map(|glue| shorter.strip_prefix(glue));
            match shorter {
                Some(shorter) => rest = shorter,
                None => break,
            }
        }
        let starts =
            rest.trim_start().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_part_of_word));
        Some(starts && rest.len() < after.len())
    }
}

/// The number of characters around a function among which its name is searched.
const GLUE: usize = 24;

/// A text without the code at its end that may be between a name and the parameters of its function.
fn without_glue_at_end(text: &str) -> &str {
    const GLUE: [&str; 7] = ["=", ":", "(", "*", "function", "async", "?"];
    let mut text = text.trim_end();
    while let Some(shorter) = GLUE.iter().find_map(|glue| text.strip_suffix(glue)) {
        text = shorter.trim_end();
    }
    text
}

pub(super) fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The identifier in the name that an engine gives a function: `render` for `e.prototype.render`, `size` for `get size`. `None`
/// if it is none, as for `(anonymous)`.
pub fn last_word(name: &str) -> Option<&str> {
    let word = name.rsplit(['.', ' ', '/']).next().unwrap_or(name);
    let is_word = word.chars().all(|c| is_part_of_word(c) || c == '#');
    (is_word && !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
}
