//! `--names short`: import paths, generic arguments and parameters go, as long as names stay
//! distinct.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::brackets::{is_word, segments};
use super::rust_escapes;

/// How much of a name is kept.
#[derive(Clone, Copy)]
struct Detail {
    /// Parts of the path kept beyond the one that a short name has anyway.
    path: usize,
    /// Whether generic arguments and parameters stay, without the paths in them.
    arguments: bool,
    /// Whether the hash of a Rust symbol stays, all that tells two instances of a function apart.
    hash: bool,
}

const fn detail(path: usize, arguments: bool, hash: bool) -> Detail {
    Detail { path, arguments, hash }
}

/// Names that become equal at one level are tried at the next; behind the last is the full name.
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

/// Collisions between the levels of different names end after a few rounds; a list made to go on
/// for long gets full names instead.
const MOST_ROUNDS: usize = 2 * LEVELS.len();

/// The short form of one name: `encoding/gob.(*Decoder).Decode` → `gob.(*Decoder).Decode`,
/// `gpq.(*GPQ[go.shape.int]).Len` → `gpq.(*GPQ[…]).Len`, `std::vector<int>::size() const` →
/// `vector::size`, `java.util.HashMap.put(Object)` → `HashMap.put`. A name that follows no
/// convention known here stays as it is.
pub fn short_name(name: &str) -> String {
    at_level(name, 0)
}

/// The short forms of all names that stand on one screen, in their order. Where two different names
/// would look the same, these keep more: a longer path, their arguments, in the end everything.
/// The result does not depend on the order of the names.
pub fn short_names<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut levels = vec![0; names.len()];
    let mut short: Vec<String> = names.iter().map(|name| short_name(name.as_ref())).collect();
    for _ in 0..MOST_ROUNDS {
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

/// All the ways in which a name may stand on the screen: in full, shortened as far as its neighbours
/// allow, and with escapes for what cannot be printed. A name without text is shown as `""`.
pub fn screen_forms(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec![NAMELESS.to_owned()];
    }
    let mut forms: Vec<String> =
        (0..=LEVELS.len()).map(|level| super::clean(&at_level(name, level)).into_owned()).collect();
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// Whether `name` may stand on the screen as `form`.
pub fn is_screen_form(name: &str, form: &str) -> bool {
    // Shortening leaves whole words out and changes none: most names need not be shortened to see
    // that they are others.
    let word = form.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default();
    (name.contains(word) || form.contains('\\')) && screen_forms(name).iter().any(|own| own == form)
}

/// The places of all names whose short form another, different name has too.
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
        return path_of_segments(name, detail);
    }
    dotted(name, detail)
}

/// What follows the import path of a Go name, the package path of a Java name
/// (`java/util/HashMap.put`) or the folders of a file (`werkzeug/serving.py:-1 - execute`), with
/// `extra` more of the folders. All of `name` where its slashes are something else.
fn after_path(name: &str, extra: usize) -> &str {
    let Some(path) = super::package::slash_path(name) else { return name };
    let last = path.rsplit('/').next().unwrap_or_default();
    // A major version is no name by itself: `badger/v4.(*DB).View`.
    let is_version = last.strip_prefix('v').and_then(|v| v.split('.').next()).is_some_and(is_number);
    let keep = extra.saturating_add(usize::from(is_version)).saturating_add(1);
    let start = path.rmatch_indices('/').nth(keep - 1).map_or(0, |(at, _)| at + 1);
    &name[start..]
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Undoes the escape of a dot in the last part of a Go import path: `yaml%2ev3`.
fn unescape(name: &str) -> Cow<'_, str> {
    if name.contains("%2e") { Cow::Owned(name.replace("%2e", ".")) } else { Cow::Borrowed(name) }
}

/// A name whose parts are joined by dots.
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

/// Where the parameters of `HashMap.put(Object)` or `main(int, char**)` begin. Not in
/// `gob.(*Decoder).Decode`, not in `Minor GC (young)`.
fn parameters(name: &str) -> Option<usize> {
    let open = name.find('(')?;
    let before = name[..open].bytes().last()?;
    ((is_word(before) || matches!(before, b'>' | b'!')) && name.ends_with(')') && !name[..open].contains(' '))
        .then_some(open)
}

/// Go's type arguments, `(*GPQ[go.shape.int])`: `[…]`, or without the paths in them.
fn go_arguments(name: &str, keep: bool) -> String {
    let mut out = String::with_capacity(name.len());
    // What is before the first dot is a package, or a name that is not Go's.
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

/// Tells `Map[go.shape.int]).Get` from `operator new[]`, `_[j]` and `a [clone .isra.0]`.
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

/// `[github.com/a/b.T,map[string]c/d.U]` → `[b.T,map[string]d.U]`.
fn without_paths(arguments: &str) -> String {
    let mut out = String::with_capacity(arguments.len());
    for word in arguments.split_inclusive([' ', '[', ']', '*', ',', ';', '{', '}', '"']) {
        out.push_str(word.rsplit('/').next().unwrap_or(word));
    }
    out
}

/// Rust and C++: the last two parts, and what is unnamed behind them.
fn path_of_segments(name: &str, detail: Detail) -> String {
    let name = name.split(" [clone ").next().unwrap_or(name);
    let mut parts = segments(name, detail.arguments);
    let hash = (parts.len() > 1).then(|| parts.pop_if(|part| is_rust_hash(part))).flatten();
    let only = parts.len() == 1;
    for part in &mut parts {
        // `<alloc::vec::Vec<T>>::push` in the newer Rust names: the type itself, not a trait's.
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

/// Closures and lambdas have no name, nor has the call of a lambda.
fn is_named(parts: &[String], i: usize) -> bool {
    let unnamed = |part: &str| part.starts_with('{') || part.starts_with("<lambda");
    let call_of_lambda = parts[i].starts_with("operator()") && i > 0 && unnamed(&parts[i - 1]);
    !unnamed(&parts[i]) && !call_of_lambda
}

/// `h0123456789abcdef`, which keeps Rust's symbols apart, not its functions.
fn is_rust_hash(part: &str) -> bool {
    part.strip_prefix('h').is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
#[path = "short_tests.rs"]
mod tests;
