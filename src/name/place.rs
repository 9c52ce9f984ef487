//! The place that a unique name ends in: `emit node:events:508:28`, `serve (app.py:82)`. A block of a picture
//! shows the function; the location goes to the tooltip.

use super::script::{is_known_place, is_script};
use super::short::short_names;

/// The label of a block in a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLabel {
    /// The function's short name.
    pub name: String,
    /// For anonymous functions, the location that distinguishes them: `app.mjs:52`. Empty for others.
    pub place: String,
}

/// Splits a unique name into the function and its place, which is empty if the name contains none. `function` is the
/// function's name in the profile.
pub fn split_place<'n>(name: &'n str, function: &str) -> (&'n str, &'n str) {
    if let Some(place) = name.strip_prefix(function).and_then(|rest| rest.strip_prefix(' ')) {
        return (&name[..function.len()], place);
    }
    in_parentheses(name).unwrap_or((name, ""))
}

/// The labels of all blocks of a picture. `names` are pairs of a unique name and its function.
pub fn block_labels(names: &[(&str, &str)]) -> Vec<BlockLabel> {
    let split: Vec<(&str, &str)> = names.iter().map(|(name, function)| split_place(name, function)).collect();
    let functions: Vec<&str> = split.iter().map(|&(function, _)| function).collect();
    let label = |(name, (function, place)): (String, &(&str, &str))| {
        let place = if needs_place(function) { file_and_line(place) } else { String::new() };
        BlockLabel { name, place }
    };
    short_names(&functions).into_iter().zip(&split).map(label).collect()
}

/// The last component of a Unix or Windows path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Splits a name into the function and its place without knowing the function: `waysToPay` and
/// `file:///srv/app.mjs:52:19`, or `f` and `(x.py:82)`. `None` if the name has no place.
pub fn split_shown(name: &str) -> Option<(&str, &str)> {
    let (function, place) = match name.strip_suffix(')') {
        // The parenthesis belongs to the place, so that nothing is lost.
        Some(_) => name.rfind(" (").map(|at| (&name[..at], &name[at + 1..]))?,
        None => {
            let start = name.rfind(" <frozen ").or_else(|| name.rfind(' '))?;
            (&name[..start], &name[start + 1..])
        }
    };
    let inside = place.trim_start_matches('(').trim_end_matches(')');
    let is_file = match without_position(inside) {
        Some(file) => file.contains(['/', '\\', '.']) || file.starts_with("node:") || file.starts_with('<'),
        // A function of a script, of which it is not known where it starts.
        None => is_known_place(inside) || (is_script(inside) && !inside.ends_with('>')),
    };
    (is_file && !function.is_empty()).then_some((function, place))
}

/// The part of a place that usually distinguishes it: `app.mjs:52:19` of `file:///srv/app.mjs:52:19`, and `x.py:82)`
/// of `(lib/x.py:82)`.
pub(super) fn end_of_place(place: &str) -> &str {
    base_name(place.trim_start_matches('('))
}

/// The line and column at the end of a place: `:52:19` of `app.mjs:52:19`, and `:82)` of `(x.py:82)`.
pub(super) fn position(place: &str) -> &str {
    let inside = place.trim_start_matches('(');
    let file = without_position(inside.trim_end_matches(')')).unwrap_or(inside);
    &inside[file.len()..]
}

/// The file of a place: `app.mjs` of `app.mjs:52:19`. `None` if the place has no line.
fn without_position(place: &str) -> Option<&str> {
    let (file, _) = place.rsplit_once(':').filter(|(_, number)| is_number(number))?;
    let shorter = file.rsplit_once(':').filter(|(_, number)| is_number(number));
    Some(shorter.map_or(file, |(file, _)| file))
}

/// Splits `serve (app.py:82)`, as py-spy writes it.
fn in_parentheses(name: &str) -> Option<(&str, &str)> {
    let (function, place) = name.strip_suffix(')')?.rsplit_once(" (")?;
    let (file, line) = place.rsplit_once(':')?;
    let is_place = file.contains('.') && is_number(line) && !function.is_empty();
    is_place.then_some((function, place))
}

/// How a block of a function that needs its place is labelled: `(anonymous) app.mjs:52`.
pub(super) fn label_with_place(name: &str) -> Option<String> {
    let (function, place) = split_shown(name).filter(|(function, _)| needs_place(function))?;
    Some(format!("{function} {}", file_and_line(place)))
}

/// Whether a name is meaningless without its place: an empty name, or one in brackets (`(anonymous)`, `<module>`,
/// `<class:Cart>`). [`super::is_anonymous`] is about identifying a function in another build.
pub(super) fn needs_place(function: &str) -> bool {
    let is_in = |open, close| function.starts_with(open) && function.ends_with(close);
    function.is_empty() || is_in('(', ')') || is_in('<', '>')
}

/// `file:///srv/app.mjs:52:19` → `app.mjs:52`
fn file_and_line(place: &str) -> String {
    let mut file = place.trim_start_matches('(').trim_end_matches(')');
    let mut line = "";
    while let Some((rest, number)) = file.rsplit_once(':').filter(|(_, number)| is_number(number)) {
        (file, line) = (rest, number);
    }
    let file = base_name(file);
    if line.is_empty() { file.to_string() } else { format!("{file}:{line}") }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_places() {
        for (name, function, expected) in [
            ("pay file:///srv/my app.mjs:52:19", "pay", ("pay", "file:///srv/my app.mjs:52:19")),
            ("emit node:events:508:28", "emit", ("emit", "node:events:508:28")),
            ("serve (app.py:82)", "serve (app.py:82)", ("serve", "app.py:82")),
            ("<module> (a/b.py:1)", "<module> (a/b.py:1)", ("<module>", "a/b.py:1")),
            ("(anonymous) /a.js:1:2", "(anonymous)", ("(anonymous)", "/a.js:1:2")),
            ("f (libc.so.6)", "f (libc.so.6)", ("f (libc.so.6)", "")),
            ("operator new (int)", "operator new (int)", ("operator new (int)", "")),
            ("a.b:3)", "a.b:3)", ("a.b:3)", "")),
            ("void com.shop.Cart.add", "void com.shop.Cart.add", ("void com.shop.Cart.add", "")),
            ("0000000000401000 main a.c:3", "main", ("0000000000401000 main a.c:3", "")),
            ("", "", ("", "")),
        ] {
            assert_eq!(split_place(name, function), expected);
        }
    }

    #[test]
    fn anonymous_functions_are_labelled_with_their_place() {
        let names = [
            ("pay file:///srv/app.mjs:52:19", "pay"),
            ("pay file:///srv/old.mjs:7:1", "pay"),
            ("(anonymous) file:///srv/app.mjs:60:3", "(anonymous)"),
            ("<lambda> (C:\\shop\\app.py:82)", "<lambda> (C:\\shop\\app.py:82)"),
            ("encoding/gob.(*Decoder).Decode", "encoding/gob.(*Decoder).Decode"),
            ("(anonymous)", "(anonymous)"),
        ];
        let labels = block_labels(&names);
        let shown: Vec<(&str, &str)> = labels.iter().map(|label| (&*label.name, &*label.place)).collect();
        let expected = [
            ("pay", ""),
            ("pay", ""),
            ("(anonymous)", "app.mjs:60"),
            ("<lambda>", "app.py:82"),
            ("gob.(*Decoder).Decode", ""),
            ("(anonymous)", ""),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn names_are_split_without_knowing_the_function() {
        for (name, want) in [
            ("waysToPay file:///srv/app.mjs:52:19", Some(("waysToPay", "file:///srv/app.mjs:52:19"))),
            ("(anonymous) /srv/a b.js:5:1", Some(("(anonymous) /srv/a", "b.js:5:1"))),
            ("emit node:events:460:44", Some(("emit", "node:events:460:44"))),
            ("f (x.py:82)", Some(("f", "(x.py:82)"))),
            ("<module> (lib/my app.py:3)", Some(("<module>", "(lib/my app.py:3)"))),
            (
                "_load (<frozen importlib._bootstrap>:241)",
                Some(("_load", "(<frozen importlib._bootstrap>:241)")),
            ),
            ("main.f /srv/main.go:12", Some(("main.f", "/srv/main.go:12"))),
            ("step wt.py", Some(("step", "wt.py"))),
            ("run <frozen runpy>", Some(("run", "<frozen runpy>"))),
            ("run <frozen runpy>:71", Some(("run", "<frozen runpy>:71"))),
            ("_SSLSocket.read <built-in>", Some(("_SSLSocket.read", "<built-in>"))),
            ("operator< <int>", None),
            ("operator new foo.cc", None),
            ("gob.(*Decoder).Decode", None),
            ("main(int, char**)", None),
            ("operator new(unsigned long)", None),
            ("a::b<impl at src/main.rs:12:5>", None),
            ("GET /orders:80a", None),
            ("kworker 0:12", None),
            (" x.js:1:1", None),
            ("", None),
        ] {
            assert_eq!(split_shown(name), want, "{name}");
        }
        assert_eq!(file_and_line("file:///srv/app.mjs:52:19"), "app.mjs:52");
        assert_eq!(file_and_line("(x.py:82)"), "x.py:82");
        assert_eq!(position("file:///srv/app.mjs:52:19"), ":52:19");
        assert_eq!(position("(lib/my app.py:82)"), ":82)");
        assert_eq!(end_of_place("file:///srv/app.mjs:52:19"), "app.mjs:52:19");
        assert_eq!(end_of_place("(lib/x.py:82)"), "x.py:82)");
        assert_eq!(end_of_place("node:events:460:44"), "node:events:460:44");
    }
}
