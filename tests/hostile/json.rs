//! Mutations of JSON that mostly keep it valid: other numbers, and values swapped, duplicated or nested deeply.

use std::ops::Range;

use crate::random::Random;

/// Unexpected values to replace numbers with.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "1e400",
    "1e-400",
    "0.1",
    "-0.5",
    "123456789.123456789",
    "NaN",
    "Infinity",
    "-Infinity",
    "null",
    "true",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "\"\\ud800\"",
    "\"\\u0000\\u001b[2J\"",
];

/// Changes one or two values.
pub fn mutate(bytes: &mut Vec<u8>, dictionary: &[&str], random: &mut Random) {
    let found = values(bytes);
    if found.is_empty() {
        return;
    }
    let at = random.pick(&found).clone();
    match random.below(9) {
        0 => {
            let other = bytes[random.pick(&found).clone()].to_vec();
            bytes.splice(at, other);
        }
        1 => {
            let again = [b",", &bytes[at.clone()]].concat();
            bytes.splice(at.end..at.end, again);
        }
        2 => drop(bytes.splice(at, [])),
        3 => {
            let depth = 1 + random.below(2000);
            let (open, close) = *random.pick(&[("[", "]"), ("{\"a\":", "}")]);
            let value = bytes[at.clone()].to_vec();
            let nested = [open.repeat(depth).into_bytes(), value, close.repeat(depth).into_bytes()].concat();
            bytes.splice(at, nested);
        }
        4 if !dictionary.is_empty() => {
            let word = format!("\"{}\"", random.pick(dictionary));
            bytes.splice(at, word.into_bytes());
        }
        _ => drop(bytes.splice(at, random.pick(VALUES).bytes())),
    }
}

/// The ranges of strings, numbers and words. A simple scanner is sufficient, because the input may be malformed.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                found.push(start..at);
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                while at < bytes.len() && !b",]}: \n\r\t\"".contains(&bytes[at]) {
                    at += 1;
                }
                found.push(start..at);
            }
            _ => at += 1,
        }
    }
    found
}
