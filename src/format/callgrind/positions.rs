//! Positions: the numbers before the costs of a line.

use crate::format::text::Scan;

/// The position of a cost line, whose numbers may be relative to those of the previous line.
pub(super) struct Positions {
    last: Vec<i64>,
    /// Which of the numbers is the source line.
    pub(super) line: Option<usize>,
}

impl Positions {
    /// Parses the `positions: instr line` header.
    pub(super) fn declared(value: &[u8]) -> Positions {
        let words: Vec<&[u8]> =
            value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        Positions { last: vec![0; words.len()], line: words.iter().position(|&word| word == b"line") }
    }

    /// Parses each position: `16`, `0x10`, `+3`, `-3` or `*`. Of a range, such as
    /// `16:18`, it is the first one.
    pub(super) fn read(&mut self, scan: &mut Scan<'_>) {
        for last in &mut self.last {
            let word = scan.word();
            let word = memchr::memchr(b':', word).map_or(word, |colon| &word[..colon]);
            let number = |digits: &[u8]| {
                let digits = std::str::from_utf8(digits).ok()?;
                match digits.strip_prefix("0x") {
                    Some(hex) => i64::from_str_radix(hex, 16).ok(),
                    None => digits.parse().ok(),
                }
            };
            let next = match word {
                [b'+', rest @ ..] => number(rest).map(|by| last.saturating_add(by)),
                [b'-', rest @ ..] => number(rest).map(|by| last.saturating_sub(by)),
                b"*" => Some(*last),
                digits => number(digits),
            };
            // Anything that is not a number is an unknown position.
            *last = next.unwrap_or(0);
        }
    }

    /// The source line; 0 if unknown.
    pub(super) fn line(&self) -> u32 {
        self.line.and_then(|line| u32::try_from(self.last[line]).ok()).unwrap_or(0)
    }
}
