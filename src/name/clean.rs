//! Makes names safe to print: profiles are untrusted, and a name can contain terminal escapes (`\u{1b}[2J`
//! clears the screen) or characters that reverse the text direction.

use std::borrow::Cow;

/// Writes control characters and the invisible marks that reorder or hide text as escapes: `\n`,
/// `\u{1b}`, `\u{202e}`. Everything else stays, and a name without them is borrowed.
pub fn clean(name: &str) -> Cow<'_, str> {
    if is_plain(name) || !name.contains(is_unprintable) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_unprintable(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Whether all characters are printable ASCII, as in most names. There is no early exit, so that many bytes are compared at once.
pub(super) fn is_plain(name: &str) -> bool {
    name.bytes().fold(true, |is_plain, byte| is_plain & matches!(byte, b' '..=b'~'))
}

/// Whether a terminal or an editor interprets or hides a character instead of showing it.
pub(crate) fn is_unprintable(c: char) -> bool {
    // The joiners U+200C and U+200D are not here: Persian and emoji are spelled with them.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_made_visible() {
        for (name, want) in [
            ("gob.(*Decoder).Decode", "gob.(*Decoder).Decode"),
            ("größe → ключ 関数", "größe → ключ 関数"),
            ("a\u{1b}[31mred", "a\\u{1b}[31mred"),
            ("two\nlines\tand\rmore", "two\\nlines\\tand\\rmore"),
            ("x\u{202e}evil", "x\\u{202e}evil"),
            ("c1\u{9b}2J\u{7f}", "c1\\u{9b}2J\\u{7f}"),
            ("", ""),
        ] {
            assert_eq!(clean(name), want);
        }
        assert!(matches!(clean("plain"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn no_unprintable_character_is_left(name: String) {
            prop_assert!(!clean(&name).contains(is_unprintable));
        }
    }
}
