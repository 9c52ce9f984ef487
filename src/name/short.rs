//! `--names short`: drops import paths, generic arguments and parameters as long as names stay distinct.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::brackets::{is_word, segments};
use super::rust_escapes;

/// Which parts of a name are kept.
#[derive(Clone, Copy)]
struct Detail {
    /// The number of path segments kept in addition to the last.
    path: usize,
    /// Whether generic arguments and parameters are kept, without the paths in them.
    arguments: bool,
    /// Whether the hash of a Rust symbol is kept, which may be all that distinguishes two instances of a function.
    hash: bool,
}

const fn detail(path: usize, arguments: bool, hash: bool) -> Detail {
    Detail { path, arguments, hash }
}

/// The levels of detail, shortest first. Names that are equal at one level are tried at the next; after the last one,
/// the full name is used.
const LEVELS: [Detail; 6] = [
    detail(0, false, false),
    detail(1, false, false),
    detail(0, true, false),
    detail(2, true, false),
    detail(0, true, true),
    detail(usize::MAX, true, true),
];

/// How a function without a name is shown.
pub const NAMELESS: &str = "\"\"";

/// The maximum number of rounds. Collisions between names normally end after a few; for a list that was made to
/// collide for longer, the remaining names are shown in full.
const MAX_ROUNDS: usize = 2 * LEVELS.len();

/// The short form of one name: `encoding/gob.(*Decoder).Decode` → `gob.(*Decoder).Decode`,
/// `gpq.(*GPQ[go.shape.int]).Len` → `gpq.(*GPQ[…]).Len`, `std::vector<int>::size() const` →
/// `vector::size`, `java.util.HashMap.put(Object)` → `HashMap.put`. A name that follows no known convention is not
/// shortened.
pub fn short_name(name: &str) -> String {
    at_level(name, 0)
}

/// The short forms of all names on a screen, in the same order. Names that would look the same keep more: a longer
/// path, their arguments, and in the end everything. The short form of a name does not depend on the order.
pub fn short_names<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut levels = vec![0; names.len()];
    let mut short: Vec<String> = names.iter().map(|name| short_name(name.as_ref())).collect();
    for _ in 0..MAX_ROUNDS {
        let ambiguous = ambiguous(names, &short);
        if ambiguous.is_empty() {
            return short;
        }
        for i in ambiguous {
            levels[i] += 1;
            short[i] = at_level(names[i].as_ref(), levels[i]);
        }
    }
    names.iter().map(|name| name.as_ref().to_owned()).collect()
}

/// A name in full and shortened to every level, with escapes for unprintable characters.
pub(super) fn shortened_forms(name: &str) -> impl Iterator<Item = String> {
    (0..=LEVELS.len()).map(|level| super::clean(&at_level(name, level)).into_owned())
}

/// The indexes of all names whose short form is also that of a different name.
fn ambiguous<S: AsRef<str>>(names: &[S], short: &[String]) -> Vec<usize> {
    let mut owner: HashMap<&str, Option<&str>> = HashMap::new();
    for (name, short) in names.iter().zip(short) {
        let full = owner.entry(short).or_insert(Some(name.as_ref()));
        if *full != Some(name.as_ref()) {
            *full = None;
        }
    }
    (0..names.len()).filter(|&i| owner[short[i].as_str()].is_none()).collect()
}

fn at_level(name: &str, level: usize) -> String {
    let Some(&detail) = LEVELS.get(level) else { return name.to_owned() };
    let short = shorten(&rust_escapes::decode(name), detail);
    if short.is_empty() { name.to_owned() } else { short }
}

fn shorten(name: &str, detail: Detail) -> String {
    if let Some(at) = super::package::go_type_prefix(name) {
        return name[..at].to_owned() + &shorten_name(&name[at..], detail);
    }
    shorten_name(name, detail)
}

fn shorten_name(name: &str, detail: Detail) -> String {
    let after_path = after_path(name, detail.path);
    if after_path.len() < name.len() {
        return dotted(&unescape(after_path), detail);
    }
    let has_parameters = name.ends_with(')') && parameters(name).is_some();
    if (name.contains("::") && !name.contains(":::")) || (has_parameters && name.contains('<')) {
        return last_segments(name, detail);
    }
    dotted(name, detail)
}

/// The name without the import path (Go), package path (Java, `java/util/HashMap.put`) or folders of a file
/// (`werkzeug/serving.py:-1 - execute`), except for the last `extra` folders. The whole name if its slashes mean
/// something else.
fn after_path(name: &str, extra: usize) -> &str {
    let Some(path) = super::package::slash_path(name) else { return name };
    let last = path.rsplit('/').next().unwrap_or_default();
    // A major version needs the name before it: `badger/v4.(*DB).View`.
    let is_version = last.strip_prefix('v').and_then(|v| v.split('.').next()).is_some_and(is_number);
    let keep = extra.saturating_add(usize::from(is_version)).saturating_add(1);
    let start = path.rmatch_indices('/').nth(keep - 1).map_or(0, |(at, _)| at + 1);
    &name[start..]
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Decodes escaped dots in the last part of a Go import path: `yaml%2ev3`.
fn unescape(name: &str) -> Cow<'_, str> {
    if name.contains("%2e") { Cow::Owned(name.replace("%2e", ".")) } else { Cow::Borrowed(name) }
}

/// Shortens a name whose parts are separated by dots.
fn dotted(name: &str, detail: Detail) -> String {
    let name = match name.split_once('!') {
        // .NET: `System.Threading!Thread.Run` names the namespace first.
        Some((space, rest)) if detail.path == 0 && is_dotted_word(space) && starts_name(rest) => rest,
        _ => name,
    };
    let name = match parameters(name) {
        Some(at) if !detail.arguments => &name[..at],
        _ => name,
    };
    let package = super::package::java_package(name).map_or("", |package| &name[..=package.len()]);
    let kept = package.trim_end_matches('.').rmatch_indices('.');
    let start = match detail.path {
        0 => package.len(),
        path => kept.map(|(at, _)| at + 1).nth(path - 1).unwrap_or(0),
    };
    go_arguments(&name[start..], detail.arguments)
}

fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_dotted_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| is_word(b) || b == b'.')
}

/// Where the parameters of `HashMap.put(Object)` or `main(int, char**)` start. The brackets in
/// `gob.(*Decoder).Decode` and `Minor GC (young)` are not parameters.
fn parameters(name: &str) -> Option<usize> {
    let open = name.find('(')?;
    let before = name[..open].bytes().last()?;
    ((is_word(before) || matches!(before, b'>' | b'!')) && name.ends_with(')') && !name[..open].contains(' '))
        .then_some(open)
}

/// Replaces Go's type arguments, as in `(*GPQ[go.shape.int])`, with `[…]`, or drops only the paths in them if `keep`.
fn go_arguments(name: &str, keep: bool) -> String {
    let mut out = String::with_capacity(name.len());
    // The text before the first dot is a package, or the name is not Go's.
    let mut rest = name.find('.').map_or("", |dot| &name[dot..]);
    out.push_str(&name[..name.len() - rest.len()]);
    while let Some(open) = rest.find('[') {
        let (before, bracketed) = rest.split_at(open);
        let Some(length) = matching_square(bracketed) else { break };
        let (arguments, after) = bracketed.split_at(length);
        out.push_str(before);
        if is_type_argument_list(&out, arguments, after) {
            out.push_str(&if keep { without_paths(arguments) } else { "[…]".to_owned() });
        } else {
            out.push_str(arguments);
        }
        rest = after;
    }
    out + rest
}

/// Whether brackets are type arguments, as in `Map[go.shape.int]).Get`, but not in `operator new[]`, `_[j]` and
/// `a [clone .isra.0]`.
fn is_type_argument_list(before: &str, arguments: &str, after: &str) -> bool {
    before.ends_with(|c: char| c.is_alphanumeric())
        && arguments.len() > 2
        && (after.is_empty() || after.starts_with(['.', ')', '-']))
}

fn matching_square(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return Some(at + 1),
            b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Drops paths in type arguments: `[github.com/a/b.T,map[string]c/d.U]` → `[b.T,map[string]d.U]`.
fn without_paths(arguments: &str) -> String {
    let mut out = String::with_capacity(arguments.len());
    for word in arguments.split_inclusive([' ', '[', ']', '*', ',', ';', '{', '}', '"']) {
        out.push_str(word.rsplit('/').next().unwrap_or(word));
    }
    out
}

/// Shortens a Rust or C++ name to its last two named parts, and unnamed parts after them.
fn last_segments(name: &str, detail: Detail) -> String {
    let name = name.split(" [clone ").next().unwrap_or(name);
    let mut parts = segments(name, detail.arguments);
    let hash = (parts.len() > 1).then(|| parts.pop_if(|part| is_rust_hash(part))).flatten();
    let only = parts.len() == 1;
    for part in &mut parts {
        // `<alloc::vec::Vec<T>>::push`: the v0 mangling of Rust writes inherent methods like this.
        let inherent = part.starts_with('<') && part.ends_with('>') && !part.contains(' ');
        if inherent && !only && !part.starts_with("<lambda") {
            *part = part[1..part.len() - 1].to_owned();
        }
    }
    let mut named = 0;
    let wanted = detail.path.saturating_add(2);
    let start = (0..parts.len()).rev().find(|&i| {
        named += usize::from(is_named(&parts, i));
        named == wanted
    });
    let short = parts[start.unwrap_or(0)..].join("::");
    match hash.filter(|_| detail.hash) {
        Some(hash) => format!("{short}::{hash}"),
        None => short.trim_end().to_owned(),
    }
}

/// Whether part `i` is a name. Closures and lambdas have none, nor has the call of a lambda.
fn is_named(parts: &[String], i: usize) -> bool {
    let unnamed = |part: &str| part.starts_with('{') || part.starts_with("<lambda");
    let call_of_lambda = parts[i].starts_with("operator()") && i > 0 && unnamed(&parts[i - 1]);
    !unnamed(&parts[i]) && !call_of_lambda
}

/// Whether a part is a hash such as `h0123456789abcdef`, which distinguishes Rust's symbols, but not its functions.
fn is_rust_hash(part: &str) -> bool {
    part.strip_prefix('h').is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
#[path = "short_tests.rs"]
mod tests;
