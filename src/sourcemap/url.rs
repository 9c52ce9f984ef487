//! Names of scripts and sources: URLs, and paths of Unix and Windows.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// Whether a name starts with a scheme, such as `webpack://shop/./src/a.ts` and `file:///srv/a.ts`. The letter of a drive, as in
/// `C:\srv`, is none.
pub fn is_url(name: &str) -> bool {
    scheme(name).is_some()
}

fn scheme(name: &str) -> Option<&str> {
    let (scheme, _) = name.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':')
}

/// A source with the root of all sources in front of it.
pub(super) fn joined(root: &str, source: &str) -> String {
    if root.is_empty() || is_absolute(source) {
        return source.to_string();
    }
    let between = if root.ends_with(['/', '\\']) { "" } else { "/" };
    format!("{root}{between}{source}")
}

fn is_absolute(name: &str) -> bool {
    is_url(name) || name.starts_with(['/', '\\']) || has_drive(name)
}

/// The full name of a source that the map of `script` mentions, without `.` and `..`:
///
/// | script | source | name |
/// |---|---|---|
/// | `file:///srv/shop/dist/app.js` | `../src/a.ts` | `file:///srv/shop/src/a.ts` |
/// | `C:\shop\dist\app.js` | `../src/a.ts` | `C:\shop\src\a.ts` |
/// | `https://shop.example/app.js` | `webpack://shop/./src/a.ts` | `webpack://shop/src/a.ts` |
pub fn resolved(script: &str, source: &str) -> String {
    if is_absolute(source) {
        return normalized(source);
    }
    let end = script.rfind(['/', '\\']).map_or(0, |at| at + 1);
    normalized(&format!("{}{source}", &script[..end]))
}

/// A name without `.` and `..`.
fn normalized(name: &str) -> String {
    let prefix = match scheme(name) {
        Some(scheme) => {
            let rest = &name[scheme.len() + 1..];
            // The host, which may be empty, is not a part of the path.
            let host = rest.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
            scheme.len() + 1 + host
        }
        None if has_drive(name) => 2,
        None => 0,
    };
    let (prefix, path) = name.split_at(prefix);
    let separator = if has_drive(name) && name.contains('\\') { "\\" } else { "/" };
    let is_rooted = path.starts_with(['/', '\\']);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_rooted || !prefix.is_empty() => {}
            part => parts.push(part),
        }
    }
    format!("{prefix}{}{}", if is_rooted { separator } else { "" }, parts.join(separator))
}

/// The data of a `data:` URL, whatever its character set: a source map is always UTF-8. `None` for other URLs, and if the data
/// are broken.
pub(crate) fn data_of_url(url: &str) -> Option<Vec<u8>> {
    let (about, data) = url.strip_prefix("data:")?.split_once(',')?;
    if !about.split(';').any(|part| part.trim().eq_ignore_ascii_case("base64")) {
        return Some(percent_decode_str(data).collect());
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let data: Vec<u8> = percent_decode_str(data).collect();
    GeneralPurpose::new(&STANDARD, config).decode(data).ok()
}

/// The path of a `file:` URL (`file:///srv/my%20app.mjs` → `/srv/my app.mjs`, `file:///C:/app.mjs` → `C:/app.mjs`); any other
/// text as it is.
pub(crate) fn path_of_url(file: &str) -> Cow<'_, str> {
    let Some(rest) = file.strip_prefix("file://") else { return Cow::Borrowed(file) };
    // A host may come first: `file://localhost/srv/app.mjs`.
    let path = rest.find('/').map_or(rest, |at| &rest[at..]);
    let path = if path.get(1..).is_some_and(has_drive) { &path[1..] } else { path };
    Cow::Owned(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_resolved_as_browsers_do() {
        for (script, root, source, expected) in [
            ("file:///srv/shop/dist/app.js", "", "../src/a.ts", "file:///srv/shop/src/a.ts"),
            ("file:///srv/shop/dist/app.js", "../src", "lib/a.ts", "file:///srv/shop/src/lib/a.ts"),
            ("file:///C:/shop/dist/app.js", "", "../src/a.ts", "file:///C:/shop/src/a.ts"),
            (r"C:\shop\dist\app.js", "", "../src/a.ts", r"C:\shop\src\a.ts"),
            (r"C:\shop\dist\app.js", "", r"..\src\a.ts", r"C:\shop\src\a.ts"),
            (r"C:\shop\dist\app.js", "", r"D:\other\a.ts", r"D:\other\a.ts"),
            ("/srv/dist/app.js", "/build/src/", "a.ts", "/build/src/a.ts"),
            ("https://shop.example/js/app.js", "", "../a.ts", "https://shop.example/a.ts"),
            ("https://shop.example/js/app.js", "", "../../../a.ts", "https://shop.example/a.ts"),
            ("https://shop.example/app.js", "", "webpack://shop/./src/a.ts", "webpack://shop/src/a.ts"),
            ("https://shop.example/app.js", "webpack:///", "./src/../a.ts", "webpack:///a.ts"),
            ("app.js", "", "../src/a.ts", "../src/a.ts"),
            ("app.js", "", "/abs/a.ts", "/abs/a.ts"),
        ] {
            assert_eq!(resolved(script, &joined(root, source)), expected, "{script} {root} {source}");
        }
        assert!(is_url("webpack:///a") && !is_url(r"C:\a") && !is_url("a/b:c"));
    }

    #[test]
    fn data_may_be_base64_or_text_of_any_character_set() {
        let expected = Some(b"{\"a\":1}".to_vec());
        for url in [
            "data:application/json;base64,eyJhIjoxfQ==",
            "data:application/json;charset=utf-8;base64,eyJhIjoxfQ",
            "data:application/json;charset=utf-8,%7B%22a%22%3A1%7D",
            "data:,{\"a\":1}",
        ] {
            assert_eq!(data_of_url(url), expected, "{url}");
        }
        assert_eq!(data_of_url("data:application/json;base64,%%%"), None);
        assert_eq!(data_of_url("https://shop.example/app.js.map"), None);
    }
}
