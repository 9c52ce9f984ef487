//! Decodes the escapes in legacy Rust symbols: `_$LT$T$u20$as$u20$core..fmt..Debug$GT$::fmt` is
//! `<T as core::fmt::Debug>::fmt`. Profilers that demangle such symbols as C++ leave the escapes in place.

use std::borrow::Cow;

/// Decodes the escapes of a legacy Rust symbol; other names are returned unchanged.
pub(super) fn decode(name: &str) -> Cow<'_, str> {
    // `..` without `::` occurs in other languages, too, and `(...)` in C.
    let has_dots = name.contains("..") && name.contains("::") && !name.contains("...");
    if !has_dots && !["$LT$", "$u7b$", "$u20$"].iter().any(|escape| name.contains(escape)) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        // Symbols must not start with `$`, so rustc puts an underscore before it.
        let starts_segment = out.is_empty() || out.ends_with("::");
        if c == '_' && rest[1..].starts_with('$') && starts_segment {
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix("..") {
            out.push_str("::");
            rest = after;
        } else if let Some((decoded, after)) = escape(rest) {
            out.push(decoded);
            rest = after;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(out)
}

/// Decodes an escape such as `$LT$` or `$u7b$` at the start. Returns the character and the rest.
pub(crate) fn escape(text: &str) -> Option<(char, &str)> {
    let (code, after) = text.strip_prefix('$')?.split_once('$')?;
    let c = match code {
        "LT" => '<',
        "GT" => '>',
        "LP" => '(',
        "RP" => ')',
        "RF" => '&',
        "BP" => '*',
        "SP" => '@',
        "C" => ',',
        _ => {
            let code = u32::from_str_radix(code.strip_prefix('u')?, 16).ok()?;
            char::from_u32(code).filter(|c| !c.is_control())?
        }
    };
    Some((c, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (name, want) in [
            (
                "_$LT$core..iter..Map$LT$I$C$$u20$F$GT$$u20$as$u20$core..iter..Iterator$GT$::next",
                "<core::iter::Map<I, F> as core::iter::Iterator>::next",
            ),
            ("log::set_logger::_$u7b$$u7b$closure$u7d$$u7d$", "log::set_logger::{{closure}}"),
            ("core::ptr::_$LT$impl$u20$$BP$const$u20$T$GT$::offset", "core::ptr::<impl *const T>::offset"),
            ("std..sys..fd..FileDesc::drop_contents.9811", "std::sys::fd::FileDesc::drop_contents.9811"),
            ("a::f(...)", "a::f(...)"),
            ("a$LT$$uZZ$é", "a<$uZZ$é"),
            ("plain::name", "plain::name"),
        ] {
            assert_eq!(decode(name), want);
        }
    }
}
