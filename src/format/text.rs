//! Helpers for text formats: numbered lines, numbers within lines, and the policy for malformed lines.

use std::borrow::Cow;

use crate::format::{LoadError, ParseError, Source};
use crate::profile::ProfileBuilder;
use crate::unit::plural;

/// An iterator over the numbered lines of a source that can push back one line.
pub(super) struct Lines<'a> {
    source: &'a mut Source,
    line: Vec<u8>,
    number: u64,
    pushed_back: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a mut Source) -> Self {
        Lines { source, line: Vec::new(), number: 0, pushed_back: false }
    }

    /// Advances to the next line; returns false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, LoadError> {
        if std::mem::take(&mut self.pushed_back) {
            return Ok(true);
        }
        let Some(line) = self.source.line()? else { return Ok(false) };
        self.line.clear();
        self.line.extend_from_slice(line);
        self.number += 1;
        Ok(true)
    }

    /// The current line.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Makes the next [`Lines::advance`] return the same line again.
    pub(super) fn push_back(&mut self) {
        self.pushed_back = true;
    }
}

/// The character of XML that `lt` and its like stand for.
pub(super) fn character(reference: &str) -> &'static str {
    quick_xml::escape::resolve_predefined_entity(reference).unwrap_or("\u{fffd}")
}

/// Converts bytes to text, with `�` for invalid UTF-8. Nearly all text is valid, so that is checked first:
/// walking over valid and invalid chunks took 7 % of the time of reading collapsed stacks.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// How many bytes two texts have in common at their start.
pub(super) fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let (ones, others) = (one.as_chunks::<16>().0, other.as_chunks::<16>().0);
    let whole = 16 * ones.iter().zip(others).take_while(|(one, other)| one == other).count();
    whole + one[whole..].iter().zip(&other[whole..]).take_while(|(one, other)| one == other).count()
}

/// A quick check whether the head of an input is binary: more than one in 64 bytes is a control character that does not
/// occur in text. Without it, treating protobuf as lines of text took 4 % of the time of loading many profiles.
pub(super) fn is_binary(head: &[u8]) -> bool {
    let front = &head[..head.len().min(4096)];
    let is_odd = |byte: &&u8| **byte < b' ' && !(b'\t'..=b'\r').contains(*byte) && **byte != b'\x1B';
    front.iter().filter(is_odd).count() * 64 > front.len()
}

/// Counts malformed lines.
#[derive(Debug, Default)]
pub(super) struct BadLines {
    count: u64,
    first: u64,
}

impl BadLines {
    pub(super) fn add(&mut self, number: u64) {
        if self.count == 0 {
            self.first = number;
        }
        self.count += 1;
    }

    /// Whether there were none.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Warns about a few bad lines, and fails if they outnumber the `good` ones or if nothing was good.
    /// `what` describes the problem.
    pub(super) fn settle(
        &self,
        builder: &mut ProfileBuilder,
        good: u64,
        what: &str,
    ) -> Result<(), ParseError> {
        if self.count > good || (good == 0 && self.count > 0) {
            return Err(ParseError::at_line(builder.meta.format, self.first, what));
        }
        if self.count > 0 {
            let lines = plural(self.count, "line was", "lines were");
            let warning = format!("{} {lines} skipped, the first at line {}: {what}", self.count, self.first);
            builder.warn(warning);
        }
        Ok(())
    }
}

/// The fields of a line of CSV; quoted ones may contain commas, and two quotes stand for one.
pub(super) fn csv_fields(line: &str) -> Vec<String> {
    fields_between(line, ',')
}

/// The fields of a line, as in CSV, between other delimiters than commas.
pub(super) fn fields_between(line: &str, delimiter: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                push(&mut fields, '"');
            }
            '"' => is_quoted = !is_quoted,
            character if character == delimiter && !is_quoted => fields.push(String::new()),
            other => push(&mut fields, other),
        }
    }
    fields
}

fn push(fields: &mut [String], character: char) {
    if let Some(field) = fields.last_mut() {
        field.push(character);
    }
}

/// Reads words and numbers from the front of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a>(pub(super) &'a [u8]);

impl<'a> Scan<'a> {
    pub(super) fn skip_blanks(&mut self) -> &mut Self {
        self.0 = self.0.trim_ascii_start();
        self
    }

    /// Skips blanks and `text`.
    pub(super) fn literal(&mut self, text: &[u8]) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(text)?;
        Some(())
    }

    /// Skips blanks and reads up to the next blank; empty at the end.
    pub(super) fn word(&mut self) -> &'a [u8] {
        let text = self.0.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        word
    }

    /// Skips blanks and reads a decimal integer.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let text = self.0.trim_ascii_start();
        let sign = usize::from(text.first() == Some(&b'-'));
        let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = text.split_at(sign + digits);
        self.0 = rest;
        decimal(number)
    }

    /// Skips blanks and reads hexadecimal digits, with or without `0x`.
    pub(super) fn hex(&mut self) -> Option<u64> {
        let text = self.0.trim_ascii_start();
        let text = text.strip_prefix(b"0x").unwrap_or(text);
        let (number, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count());
        self.0 = rest;
        hex(number)
    }
}

/// Parses a whole word as a decimal integer.
pub(super) fn decimal(word: &[u8]) -> Option<i64> {
    let (negative, digits) = word.strip_prefix(b"-").map_or((false, word), |digits| (true, digits));
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative { -value } else { value })
}

/// Parses a whole word as a hexadecimal number without `0x`.
pub(super) fn hex(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 16 {
        return None;
    }
    word.iter().try_fold(0, |value, &byte| Some(value << 4 | u64::from(char::from(byte).to_digit(16)?)))
}

/// Bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The first line of the head that is neither blank nor a comment, trimmed.
pub(super) fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_up_to_where_they_end() {
        let mut scan = Scan(b"  -12: 0x1f main");
        assert_eq!(scan.integer(), Some(-12));
        assert_eq!(scan.literal(b":"), Some(()));
        assert_eq!(scan.hex(), Some(0x1F));
        assert_eq!(scan.word(), b"main");
        assert_eq!(scan.word(), b"");
        assert_eq!(decimal(b"9223372036854775808"), None);
        assert_eq!(hex(b"ffffffffffffffff"), Some(u64::MAX));
        assert_eq!(hex(b"1g"), None);
    }
}
