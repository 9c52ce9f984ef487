//! Normalizes names by removing everything that may differ between two builds of the same function.

use std::borrow::Cow;

/// A name without generic arguments, parameters, hashes, compiler suffixes, the numbers of closures and
/// lambdas, and versions in package paths. It is the same for two builds of a function, but possibly also for
/// two different functions, which callers must check.
///
/// | language | name | normalised |
/// |---|---|---|
/// | Go | `shop/v2.(*Cart[go.shape.int]).Add.func1.2` | `shop.(*Cart).Add.func` |
/// | Rust | `shop::price::h0123456789abcdef` | `shop::price` |
/// | C++ | `std::vector<int>::at(unsigned long) const [clone .cold]` | `std::vector::at` |
/// | Java | `Shop.lambda$total$7`, `Shop$$Lambda$105+0x00c8` | `Shop.lambda$total$`, `Shop$$Lambda$` |
/// | Python | `total.<locals>.<lambda>` | `total.<locals>.<lambda>` |
pub fn normalized(name: &str) -> Cow<'_, str> {
    let bare = without_arguments(without_suffixes(name));
    // Most names have nothing to remove, and are not copied.
    and_then(and_then(bare, without_numbers), without_versions)
}

fn and_then(name: Cow<'_, str>, remove: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => remove(name),
        Cow::Owned(name) => Cow::Owned(remove(&name).into_owned()),
    }
}

/// A name without the numbers and addresses of hidden classes, which the Java virtual machine generates anew in every
/// run. `Shop$$Lambda$105+0x00c8.run` → `Shop$$Lambda.run`, `LambdaForm$MH/0x00f4.invoke` → `LambdaForm$MH.invoke`.
pub fn without_run(name: &str) -> Cow<'_, str> {
    let Some(at) = name.find("+0x").or_else(|| name.find("/0x")) else { return Cow::Borrowed(name) };
    let hex = &name[at + 3..];
    let digits = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
    let class = name[..at].trim_end_matches(|c: char| c.is_ascii_digit());
    let class = class.strip_suffix("$$Lambda$").map_or(&name[..at], |_| &class[..class.len() - 1]);
    let is_hidden_class = digits >= 8 && hex[digits..].starts_with('.') && class.contains('$');
    if is_hidden_class { Cow::Owned(format!("{class}{}", &hex[digits..])) } else { Cow::Borrowed(name) }
}

/// A name without the numbers that compilers assign to closures and lambdas in source order: `rankHits.func2` →
/// `rankHits.func`. Adding a closure earlier in the source changes all of them.
pub fn without_numbers(name: &str) -> Cow<'_, str> {
    if !has_generated_number(name) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        out.push_str(before);
        let (kind, end) = kind_of_number(&out, number);
        match kind {
            NumberKind::Written => out.push_str(&number[..end]),
            // `func1.2` is a closure in a closure.
            NumberKind::Generated if !out.ends_with('.') => {}
            NumberKind::Generated | NumberKind::Address => {
                out.pop();
            }
        }
        rest = &number[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The name of the function that a closure is in, if its own name says so.
///
/// | language | closure | function |
/// |---|---|---|
/// | Go | `main.(*Cart).Total.func1.2` | `main.(*Cart).Total` |
/// | Rust | `shop::total::{closure#0}::{closure#1}` | `shop::total` |
/// | C++ | `shop::total()::{lambda(int)#1}::operator()(int) const` | `shop::total()` |
/// | Python | `total.<locals>.<lambda>` | `total` |
pub fn enclosing(name: &str) -> Option<&str> {
    let starts = ["::{closure", "::{{closure", "::{lambda(", ".<locals>."];
    let of_words = starts.iter().filter_map(|start| name.find(start)).min();
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let of_go = || name.match_indices(".func").map(|(at, word)| (at, at + word.len()));
    let at = of_words.or_else(|| of_go().find(|&(_, end)| is_number(&name[end..])).map(|(at, _)| at))?;
    (at > 0).then(|| &name[..at])
}

/// Whether a name contains a number that [`without_numbers`] removes. Up to the first such number, it copies the name.
fn has_generated_number(name: &str) -> bool {
    let mut start = 0;
    while let Some(at) = name[start..].find(|c: char| c.is_ascii_digit()) {
        let (before, number) = name.split_at(start + at);
        let (kind, end) = kind_of_number(before, number);
        if kind != NumberKind::Written {
            return true;
        }
        start += at + end;
    }
    false
}

/// Where a number in a name comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    /// The source: `utf8`.
    Written,
    /// The memory of one run: `+0x00c8`.
    Address,
    /// The compiler: `func2`.
    Generated,
}

/// The kind of the number that `text` starts with, and its length, given what precedes it in the name.
fn kind_of_number(before: &str, text: &str) -> (NumberKind, usize) {
    let length = |is_digit: fn(char) -> bool| text.find(|c| !is_digit(c)).unwrap_or(text.len());
    if before.ends_with(['+', '/']) && text.starts_with("0x") {
        return (NumberKind::Address, length(|c| c.is_ascii_hexdigit() || c == 'x'));
    }
    let end = length(|c| c.is_ascii_digit());
    let is_generated = is_made_by_compiler(before) && ends_word(&text[end..]);
    (if is_generated { NumberKind::Generated } else { NumberKind::Written }, end)
}

/// Whether the text before a number shows that a compiler assigned it.
fn is_made_by_compiler(before: &str) -> bool {
    const WORDS: [&str; 9] =
        [".func", ".gowrap", ".deferwrap", "-range", "$anonfun$", "$$Lambda$", "#", "$_", ".func."];
    if WORDS.iter().any(|word| before.ends_with(word)) {
        return true;
    }
    // `lambda$total$7`, and `Shop$1`, an anonymous class.
    before.ends_with('$')
}

fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Drops suffixes that compilers and linkers add to a name.
fn without_suffixes(name: &str) -> &str {
    const CLONES: [&str; 8] =
        [".cold", ".isra", ".part", ".constprop", ".llvm", ".lto_priv", ".localalias", ".warm"];
    let mut name = name.find(" [clone ").map_or(name, |at| &name[..at]);
    name = name.find("@@").filter(|&at| at > 0).map_or(name, |at| &name[..at]);
    loop {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let bare = match name.rsplit_once('.') {
            Some((before, number)) if is_number(number) && CLONES.iter().any(|c| before.ends_with(c)) => {
                before
            }
            _ => name,
        };
        let shorter =
            CLONES.iter().find_map(|clone| bare.strip_suffix(clone)).filter(|rest| !rest.is_empty());
        match shorter {
            Some(shorter) => name = shorter,
            None => break,
        }
    }
    without_hash(name)
}

/// A path without the hash that Rust puts at its end: `shop::price` of `shop::price::h0123456789abcdef`.
pub(crate) fn without_hash(path: &str) -> &str {
    match path.rsplit_once("::h") {
        Some((before, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => before,
        _ => path,
    }
}

/// Drops brackets that follow a word: generic arguments and parameters. `(*Cart).Add`, `<lambda>` and
/// `<Vec as Drop>::drop` keep theirs.
fn without_arguments(name: &str) -> Cow<'_, str> {
    if !name.contains(['<', '[', '(']) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    let mut after_operator = false;
    while let Some(c) = rest.chars().next() {
        if out.ends_with("operator") && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            let symbols = rest.find(|c: char| !"<>=-!+*/%&|^~[],".contains(c)).unwrap_or(rest.len());
            let symbols = if rest.starts_with("()") { 2 } else { symbols.max(c.len_utf8()) };
            out.push_str(&rest[..symbols]);
            rest = &rest[symbols..];
            after_operator = true;
            continue;
        }
        let follows_word = after_operator
            || out.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '~' || c == ']');
        let is_argument = follows_word || (c == '<' && out.ends_with("::"));
        if matches!(c, '<' | '[' | '(') && is_argument {
            let Some(length) = bracketed(rest) else {
                // Searching for the end of each of a million open brackets would take quadratic time.
                out.push_str(rest);
                break;
            };
            if out.ends_with("::") {
                out.truncate(out.len() - 2);
            }
            rest = &rest[length..];
            // Qualifiers after the parameters of a C++ function: ` const`, ` &&`.
            if c == '(' && rest.starts_with(' ') {
                break;
            }
            continue;
        }
        after_operator = false;
        // Nothing else happens before the next bracket, or the end of `operator`.
        let is_end = |byte: &u8| matches!(byte, b'<' | b'[' | b'(' | b'r');
        let next = rest.bytes().skip(c.len_utf8()).position(|byte| is_end(&byte));
        let mut end = next.map_or(rest.len(), |at| c.len_utf8() + at);
        if c == 'r' {
            end = 1;
        } else if rest[end..].starts_with('r') {
            end += 1;
        }
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    Cow::Owned(out)
}

/// The length of the bracketed text that `text` starts with.
fn bracketed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut previous = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' | b'{' => depth += 1,
            b'>' if previous == b'-' || previous == b'=' => {}
            b'>' | b']' | b')' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        previous = byte;
    }
    None
}

/// Drops versions from package paths: `/v2` of Go, `@1.4.0` of npm and of Java's modules.
fn without_versions(name: &str) -> Cow<'_, str> {
    if !name.contains(['/', '@']) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['/', '@']) {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        let body = &mark[1..];
        let number = body.strip_prefix('v').unwrap_or(body);
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let is_major = mark.starts_with('/') && body.starts_with('v') && digits > 0;
        if is_major && number[digits..].starts_with(['.', '/']) {
            rest = &number[digits..];
        } else if mark.starts_with('@') && digits > 0 {
            let end = body.find('/').unwrap_or(body.len());
            rest = &body[end..];
        } else {
            out.push_str(&mark[..1]);
            rest = body;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The identifiers in a name, outermost first: package, type, function. `shop.(*Cart).Add` → `shop`, `Cart`, `Add`.
pub fn identifiers(name: &str) -> impl Iterator<Item = &str> {
    let separators = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '~' | '<' | '>'));
    name.split(separators).filter(|part| !part.is_empty())
}

/// Whether a name is shared by many functions and identifies none: `(anonymous)`, `<lambda>`.
pub fn is_anonymous(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "",
        "(anonymous)",
        "(anonymous function)",
        "anonymous",
        "<anonymous>",
        "<lambda>",
        "<listcomp>",
        "<genexpr>",
        "<dictcomp>",
        "<setcomp>",
        "<module>",
        "(inline)",
    ];
    let last = name.rsplit('.').next().unwrap_or(name);
    NAMES.contains(&name) || (last.starts_with('<') && NAMES.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_between_builds_are_removed() {
        for (name, expected) in [
            ("main.rankHits.func1", "main.rankHits.func"),
            ("main.rankHits.func12.3", "main.rankHits.func"),
            ("shop/v2.(*Cart[go.shape.int]).Add.func1.2", "shop.(*Cart).Add.func"),
            ("github.com/a/b/v10/c.Do", "github.com/a/b/c.Do"),
            ("runtime.gcenable.gowrap2", "runtime.gcenable.gowrap"),
            ("shop::price::h0123456789abcdef", "shop::price"),
            ("shop::price::half", "shop::price::half"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec as core::ops::Drop>::drop"),
            ("core::iter::map::<u32>::{closure#0}", "core::iter::map::{closure#}"),
            ("shop::run::{{closure}}", "shop::run::{{closure}}"),
            (
                "std::vector<int, std::allocator<int> >::at(unsigned long) const [clone .cold]",
                "std::vector::at",
            ),
            ("atlas::shellSort<double, atlas::Smaller<double> >", "atlas::shellSort"),
            ("atlas::(anonymous namespace)::cut", "atlas::(anonymous namespace)::cut"),
            ("atlas::text[abi:cxx11]", "atlas::text"),
            ("Shop::operator()(int)", "Shop::operator()"),
            ("Shop::operator<(Shop const&)", "Shop::operator<"),
            ("Shop::operator->() const", "Shop::operator->"),
            ("parse.isra.0.part.3", "parse"),
            ("parse.constprop.0.cold", "parse"),
            ("hypot@@GLIBC_2.35", "hypot"),
            ("Shop.lambda$total$7", "Shop.lambda$total$"),
            ("Shop$$Lambda$105+0x00007f3c.run", "Shop$$Lambda$.run"),
            ("Shop$$Lambda/0x00007f3c01.run", "Shop$$Lambda.run"),
            ("Shop$1.run(int)", "Shop$.run"),
            ("java.base@17.0.2/java.lang.Thread.run", "java.base/java.lang.Thread.run"),
            ("depot.Json.<init>", "depot.Json.<init>"),
            ("total.<locals>.<lambda>", "total.<locals>.<lambda>"),
            ("utf8_decode2", "utf8_decode2"),
            ("sha256", "sha256"),
            ("func1", "func1"),
        ] {
            assert_eq!(normalized(name), expected, "{name}");
        }
    }

    #[test]
    fn only_generated_numbers_are_removed() {
        for (name, expected) in [
            ("rankHits.func2", "rankHits.func"),
            ("outer.func1.2", "outer.func"),
            ("scan.func1-range1", "scan.func-range"),
            ("a.f2", "a.f2"),
            ("md5.block", "md5.block"),
            ("List$Node.get", "List$Node.get"),
        ] {
            assert_eq!(without_numbers(name), expected, "{name}");
        }
    }

    #[test]
    fn hidden_classes_lose_run_specific_numbers() {
        for (name, expected) in [
            ("depot.Main$$Lambda$106+0x00007ff4e5007a08.run", "depot.Main$$Lambda.run"),
            ("depot.Main$$Lambda/0x00007ff4e5007a08.run", "depot.Main$$Lambda.run"),
            (
                "java.lang.invoke.LambdaForm$MH+0x00007f002900e000.invoke",
                "java.lang.invoke.LambdaForm$MH.invoke",
            ),
            ("libc.so.6+0x12345678", "libc.so.6+0x12345678"),
            ("main+0x12", "main+0x12"),
            ("a/0x1", "a/0x1"),
        ] {
            assert_eq!(without_run(name), expected);
        }
    }

    #[test]
    fn identifiers_are_the_words_of_a_name() {
        let words = |name| identifiers(name).collect::<Vec<_>>();
        assert_eq!(words("main.(*index).query"), ["main", "index", "query"]);
        assert_eq!(words("atlas::Tree::descend"), ["atlas", "Tree", "descend"]);
        assert_eq!(words("depot.Json.<init>"), ["depot", "Json", "<init>"]);
    }

    #[test]
    fn names_shared_by_many_functions_are_anonymous() {
        for name in ["(anonymous)", "<lambda>", "Shop.total.<locals>.<listcomp>"] {
            assert!(is_anonymous(name), "{name}");
        }
        for name in ["main", "depot.Json.<init>", "Vec<T>"] {
            assert!(!is_anonymous(name), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_normalized(name in ".{0,60}") {
            let once = normalized(&name);
            proptest::prop_assert!(once.len() <= name.len());
        }
    }

    #[test]
    fn closures_say_which_function_they_are_in() {
        for (name, want) in [
            ("main.(*Cart).Total.func1.2", Some("main.(*Cart).Total")),
            ("main.total.func1", Some("main.total")),
            ("main.funcs.total", None),
            ("<shop::Cart>::total::{closure#0}::{closure#1}", Some("<shop::Cart>::total")),
            ("shop::total::{{closure}}", Some("shop::total")),
            ("shop::total()::{lambda(int)#1}::operator()(int) const", Some("shop::total()")),
            ("Cart.total.<locals>.<lambda>", Some("Cart.total")),
            ("total", None),
            ("", None),
        ] {
            assert_eq!(enclosing(name), want, "{name}");
        }
    }
}
