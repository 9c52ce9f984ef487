//! The syntax of lines.

use crate::format::text::Scan;

/// The name of the format.
pub(super) const NAME: &str = "callgrind";

/// Splits `key: value`.
pub(super) fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr2(b':', b'=', line).filter(|&at| line[at] == b':')?;
    let key = &line[..at];
    (!key.is_empty() && key.iter().all(u8::is_ascii_alphabetic)).then(|| (key, line[at + 1..].trim_ascii()))
}

/// Splits `fn=value`.
pub(super) fn spec(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', line)?;
    let key = &line[..at];
    let known: [&[u8]; 14] = [
        b"fl", b"fi", b"fe", b"fn", b"ob", b"cfl", b"cfi", b"cfn", b"cob", b"calls", b"jump", b"jcnd",
        b"jfi", b"jfn",
    ];
    known.contains(&key).then(|| (key, line[at + 1..].trim_ascii()))
}

/// Parses a cost with or without a sign: `20`, `0x14`, `+7`, `-2`. Only positions are relative to the previous line.
pub(super) fn signed(scan: &mut Scan<'_>) -> Option<i64> {
    if let [b'+', rest @ ..] = scan.skip_blanks().0
        && rest.first().is_some_and(u8::is_ascii_digit)
    {
        scan.0 = rest;
    }
    number(scan)
}

/// Parses a number, which may be hexadecimal: `20` or `0x14`.
pub(super) fn number(scan: &mut Scan<'_>) -> Option<i64> {
    let start = scan.0;
    let decimal = scan.integer();
    // Nearly all numbers are decimal: `0x14` was read as far as the zero.
    if decimal != Some(0) || scan.0.first() != Some(&b'x') {
        return decimal;
    }
    scan.0 = start.trim_ascii_start();
    scan.0.starts_with(b"0x").then(|| scan.hex())?.and_then(|number| i64::try_from(number).ok())
}
