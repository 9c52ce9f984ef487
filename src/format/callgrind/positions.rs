//! The numbers in front of the costs of a line, which say where it is.

use crate::format::text::Scan;

/// Where a line of costs is: numbers in front of them, some relative to those of the line before.
pub(super) struct Positions {
    last: Vec<i64>,
    /// Which of them is the source line.
    pub(super) line: Option<usize>,
}

impl Positions {
    /// What `positions: instr line` declares.
    pub(super) fn declared(value: &[u8]) -> Positions {
        let words: Vec<&[u8]> =
            value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        Positions { last: vec![0; words.len()], line: words.iter().position(|&word| word == b"line") }
    }

    /// Reads `16`, `0x10`, `+3`, `-3` or `*` for each.
    pub(super) fn read(&mut self, scan: &mut Scan<'_>) {
        for last in &mut self.last {
            let word = scan.word();
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
            // What is no number is no place that is known.
            *last = next.unwrap_or(0);
        }
    }

    /// The source line; 0 where it is not known.
    pub(super) fn line(&self) -> u32 {
        self.line.and_then(|line| u32::try_from(self.last[line]).ok()).unwrap_or(0)
    }
}
