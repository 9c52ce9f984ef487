//! `--by package`: the package, crate, namespace or module that a function belongs to.

use std::borrow::Cow;

use super::rust_escapes;

/// The package of a function, from its name and its source file (empty if unknown). `None` if it cannot be
/// determined from these.
///
/// | language | name, file | package |
/// |---|---|---|
/// | Go | `encoding/gob.(*Decoder).Decode` | `encoding/gob` |
/// | Rust | `<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend` | `alloc`, the crate of the type |
/// | C++ | `std::vector<int>::push_back` | `std`, the outermost namespace; a class is not a package |
/// | Java | `java/util/HashMap.put`, `java.util.HashMap.put` | `java.util` |
/// | .NET | `System.Threading!Thread.Run` | `System.Threading` |
/// | Python | file `/usr/lib/python3.11/json/encoder.py` | `json.encoder` |
/// | JavaScript | file `…/node_modules/@scope/pkg/a.js`, `node:fs` | `@scope/pkg`, `node:fs` |
/// | Ruby | file `…/gems/rack-2.2.8/lib/rack.rb` | `rack` |
pub fn package<'a>(function: &'a str, file: &'a str) -> Option<Cow<'a, str>> {
    if let Some(package) = from_file(file) {
        return Some(package);
    }
    let function = go_type_prefix(function).map_or(function, |at| &function[at..]);
    if let Some(package) = from_path(function) {
        return Some(package);
    }
    let decoded = rust_escapes::decode(function);
    if decoded.contains("::") && !decoded.contains(":::") {
        return outermost(&decoded).map(|package| Cow::Owned(package.to_owned()));
    }
    dot_net(function)
        .or_else(|| java_package(function))
        .or_else(|| go_package(function, file))
        .map(Cow::Borrowed)
        .or_else(|| go_assembly(file))
}

/// The package from the file, for languages in which names do not contain it.
fn from_file(file: &str) -> Option<Cow<'_, str>> {
    if let Some(builtin) = file.strip_prefix("node:") {
        // `node:internal/streams/readable` and other internal modules count as one package.
        let second = builtin.match_indices('/').nth(1).map_or(file.len(), |(at, _)| at + "node:".len());
        return Some(Cow::Borrowed(&file[..second]));
    }
    let slashed = if file.contains('\\') { Cow::Owned(file.replace('\\', "/")) } else { Cow::Borrowed(file) };
    let package = node_module(&slashed).or_else(|| gem(&slashed));
    package.map(str::to_owned).or_else(|| python_module(&slashed)).map(Cow::Owned)
}

/// The innermost package: `mongodb/node_modules/mongodb-core` is `mongodb-core`.
fn node_module(file: &str) -> Option<&str> {
    let (_, rest) = file.rsplit_once("node_modules/")?;
    let end = match rest.find('/') {
        Some(at) if rest.starts_with('@') => at + 1 + rest[at + 1..].find('/')?,
        Some(at) => at,
        None => return None,
    };
    Some(&rest[..end]).filter(|package| !package.is_empty())
}

/// `gems/actionpack-7.0.8/lib/…`: the gem without its version.
fn gem(file: &str) -> Option<&str> {
    let (before, rest) = file.rsplit_once("gems/")?;
    if !(before.is_empty() || before.ends_with('/')) {
        return None;
    }
    let (name, version) = rest.split('/').next()?.rsplit_once('-')?;
    (version.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()).then_some(name)
}

/// The module of a Python file: its path within the library. If no library can be recognized, a relative path is
/// assumed to start at the top-level package, and an absolute path to end with it.
fn python_module(file: &str) -> Option<String> {
    if let Some(frozen) = file.strip_prefix("<frozen ").and_then(|rest| rest.strip_suffix('>')) {
        return Some(frozen.to_owned());
    }
    let path = file.strip_suffix(".py")?;
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let below = ["site-packages/", "dist-packages/"]
        .iter()
        .find_map(|library| path.rsplit_once(library).map(|(_, rest)| rest))
        .or_else(|| standard_library(path));
    let module = below.unwrap_or_else(|| {
        let relative = path.trim_start_matches("./");
        let absolute = relative.starts_with('/') || relative.as_bytes().get(1) == Some(&b':');
        if absolute { relative.rsplit('/').next().unwrap_or(relative) } else { relative }
    });
    (!module.is_empty()).then(|| module.replace('/', "."))
}

/// The rest of the path after `…/lib/python3.11/`, or `…/Python311/Lib/` on Windows.
fn standard_library(path: &str) -> Option<&str> {
    let after_version = path.rsplit_once("lib/python").and_then(|(_, rest)| rest.split_once('/'));
    let (_, rest) = after_version.or_else(|| path.rsplit_once("/Lib/"))?;
    Some(rest.strip_prefix("lib-dynload/").unwrap_or(rest))
}

/// The part of a name that is a path with slashes, as in Go, Java, and names that start with a file. `None` if there
/// is none: `kworker/0:1H` is a thread, `operator/(a::B)` an operator, `GET /x` a request.
pub(super) fn slash_path(name: &str) -> Option<&str> {
    let code_end = name.find(['(', '[', '<', '{', ' ', '"']).unwrap_or(name.len());
    // Java's lambda classes contain another slash: `a/b/C$$Lambda$12/0x0801.run`.
    let end = name[..code_end].find("$$Lambda").unwrap_or(code_end);
    let path = &name[..end];
    let last = path.rfind('/')?;
    let rest = &name[last + 1..];
    let is_code = rest.contains(['.', ':']) && !rest.starts_with(|c: char| c.is_ascii_digit());
    let in_segments = path[..last].contains("::");
    (is_code && !in_segments && !path[..last].ends_with("operator")).then_some(path)
}

/// The package of a name with slashes: Go's import path or Java's package.
fn from_path(name: &str) -> Option<Cow<'_, str>> {
    let path = slash_path(name)?;
    let last = path.rfind('/')? + 1;
    let folders = &path[..last - 1];
    if folders.starts_with(['.', '/']) || folders.contains(':') {
        // `./src/index.ts:main:24` starts with a file, not a package.
        return None;
    }
    if let Some((_, class)) = name.split_once('@').filter(|_| folders.contains('@')) {
        // `java.base@17/java.lang.Thread.run`: a Java module, then the class.
        return class.split_once('/').and_then(|(_, class)| java_package(class)).map(Cow::Borrowed);
    }
    let first = folders.split('/').next().unwrap_or_default();
    let class = &name[last..];
    if !first.contains('.') && (class.starts_with(|c: char| c.is_uppercase()) || path[last..].contains('$')) {
        return Some(Cow::Owned(folders.replace('/', ".")));
    }
    let end = last + go_package_end(&name[last..], first == "gopkg.in")?;
    let import = &name[..end];
    let own = import.rsplit_once("/vendor/").map(|(_, import)| import);
    Some(unescape(own.or_else(|| import.strip_prefix("vendor/")).unwrap_or(import)))
}

/// The length of the prefix before the type in names of functions generated by the Go compiler:
/// `type:.eq.golbat/geo.AreaName`.
pub(super) fn go_type_prefix(name: &str) -> Option<usize> {
    let rest = name.strip_prefix("type:.").or_else(|| name.strip_prefix("type.."))?;
    let dot = rest.find('.')?;
    Some(name.len() - rest.len() + dot + 1)
}

/// The length of the package in the last part of a Go name: `yaml.v3` in `yaml.v3.(*Decoder).Decode`. Some tools undo
/// the escape (`%2e`) of the dot within it.
fn go_package_end(last: &str, versions: bool) -> Option<usize> {
    let dot = last.find('.')?;
    let version = last[dot + 1..].split('.').next().and_then(|part| part.strip_prefix('v'));
    let is_version = version.is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()));
    Some(if versions && is_version { dot + 2 + version.map_or(0, str::len) } else { dot })
}

/// Undoes the `%2e` of Go's import paths.
fn unescape(import: &str) -> Cow<'_, str> {
    if !import.contains('%') {
        return Cow::Borrowed(import);
    }
    let mut out = String::with_capacity(import.len());
    let mut rest = import;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let byte = code.filter(u8::is_ascii_graphic);
        out.push(byte.map_or('%', char::from));
        rest = &after[if byte.is_some() { 2 } else { 0 }..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The package of a dotted Java name: at least two lower-case names, followed by a class and a method. (In Go, as in
/// `time.Time.String`, only one precedes the type.)
pub(super) fn java_package(name: &str) -> Option<&str> {
    let name = name.split(['(', ' ', '/', '[', ':']).next()?;
    let lower = |part: &str| part.starts_with(|c: char| c.is_lowercase()) && !part.contains('-');
    let mut length = 0;
    for (folders, part) in name.split('.').enumerate() {
        if !lower(part) {
            let class = part.starts_with(|c: char| c.is_uppercase());
            let has_method = name.len() > length + part.len() + 1;
            return (class && has_method && folders >= 2).then(|| &name[..length - 1]);
        }
        length += part.len() + 1;
    }
    None
}

fn dot_net(name: &str) -> Option<&str> {
    let (space, _) = name.split_once('!')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    (!space.is_empty() && space.chars().all(is_name)).then_some(space)
}

/// Packages of Go's standard library whose path has no slash.
const GO_STANDARD: [&str; 36] = [
    "bufio", "bytes", "cmp", "context", "crypto", "embed", "encoding", "errors", "expvar", "flag", "fmt",
    "hash", "html", "image", "io", "iter", "log", "main", "maps", "math", "mime", "net", "os", "path",
    "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "sync", "syscall",
    "testing", "time",
];

/// The package of a Go name without slashes: `runtime` of `runtime.mallocgc`. A dot alone does not make a Go name
/// (`Module._load`, `libc.so.6.read`): the file, a receiver in brackets or a known package must confirm it.
fn go_package<'a>(name: &'a str, file: &str) -> Option<&'a str> {
    let (package, rest) = name.split_once('.')?;
    let plain = package.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let go_file = [".go", ".s"].iter().any(|ending| file.ends_with(ending));
    let confirmed = go_file
        || rest.starts_with("(*")
        || GO_STANDARD.contains(&package)
        || matches!(package, "unicode" | "unsafe" | "unique" | "weak");
    (plain && confirmed && !package.is_empty() && !rest.is_empty()).then_some(package)
}

/// The package of a Go assembly file, since local functions in assembly (`memeqbody`) do not name it: the folder
/// relative to the source root, `internal/bytealg` for `/usr/local/go/src/internal/bytealg/equal_amd64.s`.
fn go_assembly(file: &str) -> Option<Cow<'_, str>> {
    let (folder, _) = file.strip_suffix(".s")?.rsplit_once('/')?;
    let roots = ["/go/src/", "/pkg/mod/", "/src/"];
    let below = roots.iter().find_map(|root| folder.split_once(root).map(|(_, below)| below));
    let path = below.or_else(|| (!folder.starts_with(['/', '.'])).then_some(folder))?;
    // `golang.org/x/crypto@v0.31.0/sha3`: a module's version is not part of the import path.
    match path.split_once('@') {
        Some((module, rest)) => {
            let below = rest.find('/').map_or("", |at| &rest[at..]);
            Some(Cow::Owned(format!("{module}{below}")))
        }
        None => Some(Cow::Borrowed(path)),
    }
}

/// The first part of a Rust or C++ path, which is the crate or the outermost namespace.
fn outermost(name: &str) -> Option<&str> {
    let name = without_return_type(name);
    let mut rest = name;
    // `<&mut alloc::vec::Vec<T> as core::fmt::Debug>::fmt` belongs to the crate of the type. If the type has
    // no path (`<usize as …>`, `<[T] as …>`), it belongs to the crate of the trait.
    while let Some(inner) = rest.strip_prefix('<').or_else(|| rest.strip_prefix("_<")) {
        let subject = without_sigils(inner);
        if subject.starts_with('<') || path_head(subject).is_some() {
            rest = subject;
        } else {
            rest = without_sigils(trait_of(subject)?);
        }
    }
    let head = path_head(rest)?;
    let after = rest[head.len()..].strip_prefix("::")?;
    // A class alone, as in `ChertTable::read`, is not a namespace.
    let only_class =
        head.starts_with(|c: char| c.is_uppercase()) && super::brackets::segments(after, false).len() == 1;
    (!only_class).then_some(head)
}

fn without_return_type(name: &str) -> &str {
    let Some(call) = name.rfind(">(") else { return name };
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, byte) in name[..call].bytes().enumerate() {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && !name[..at].ends_with("operator") => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Drops prefixes of a type: `&`, `mut`, `dyn`, `[`, a lifetime …
fn without_sigils(mut text: &str) -> &str {
    const SIGILS: [&str; 12] =
        ["&", "*const ", "*mut ", "mut ", "dyn ", "impl ", "[", "(", " ", "unsafe ", "extern \"C\" ", ","];
    loop {
        let before = text.len();
        for sigil in SIGILS {
            text = text.strip_prefix(sigil).unwrap_or(text);
        }
        if text.starts_with('\'')
            && let Some((_, rest)) = text.split_once(' ')
        {
            text = rest;
        }
        if text.len() == before {
            return text;
        }
    }
}

/// The text from the trait on: `core::fmt::Debug>::fmt` of `T as core::fmt::Debug>::fmt`.
fn trait_of(subject: &str) -> Option<&str> {
    subject.split_once(" as ").map(|(_, rest)| rest)
}

/// The identifier at the start of a path, if a `::` follows it.
fn path_head(text: &str) -> Option<&str> {
    let length = text.bytes().take_while(|&byte| super::brackets::is_word(byte)).count();
    (length > 0 && text[length..].starts_with("::")).then(|| &text[..length])
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
