//! Mutations of text by line: lines are duplicated, moved or dropped, and numbers in them replaced.

use std::ops::Range;

use crate::random::Random;

/// Unexpected numbers.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "+1",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "1e308",
    "1e400",
    "-1e308",
    "0.0000000001",
    "123456789012345.678901234",
    "NaN",
    "inf",
    "-inf",
    "0x",
    "0xffffffffffffffff",
    "",
];

/// Changes a line or a number in one.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    if random.once_in(2) {
        let found = numbers(bytes);
        if !found.is_empty() {
            let at = random.pick(&found).clone();
            let new = if random.once_in(4) {
                bytes[random.pick(&found).clone()].to_vec()
            } else {
                random.pick(NUMBERS).as_bytes().to_vec()
            };
            bytes.splice(at, new);
        }
        return;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(7) {
        0 => lines.insert(other, lines[at].clone()),
        1 => lines.swap(at, other),
        2 => drop(lines.remove(at)),
        3 => {
            let again = lines[at].clone();
            lines.splice(at..at, std::iter::repeat_n(again, random.below(100)));
        }
        4 => {
            let deep = lines[at].repeat(1 + random.below(50));
            lines[at] = deep;
        }
        5 => lines[at].insert(0, *random.pick(b" \t\0#;\"\xff")),
        _ => {
            let rest = lines[other].clone();
            lines[at].extend(rest);
        }
    }
    *bytes = lines.join(&b'\n');
}

fn numbers(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if at > start {
            found.push(start..at);
        } else {
            at += 1;
        }
    }
    found
}
