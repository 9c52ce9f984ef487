//! Escape sequences in JSON strings.

/// Resolves the escapes in a string; `None` if one is invalid.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let letter = rest.chars().next()?;
        rest = &rest[letter.len_utf8()..];
        plain.push(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => unescape_unit(&mut rest)?,
            _ => return None,
        });
    }
    plain.push_str(rest);
    Some(plain)
}

/// Reads the character of a `\uXXXX` after the `\u`, including a following low surrogate.
fn unescape_unit(rest: &mut &str) -> Option<char> {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(rest)?;
    *rest = &rest[4..];
    let second = rest.strip_prefix("\\u").and_then(unit).filter(|unit| (0xDC00..0xE000).contains(unit));
    let pair = (0xD800..0xDC00).contains(&first).then_some(second).flatten();
    if pair.is_some() {
        *rest = &rest[6..];
    }
    let units = std::iter::once(first).chain(pair);
    char::decode_utf16(units).next().map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
}
