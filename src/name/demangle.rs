//! Demangles symbol names.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

use crate::name::rust_escapes;

/// The maximum nesting of types. Real names stay far below it, and demangling recurses.
const MAX_DEPTH: u32 = 192;

/// Whether a name looks like a symbol of C++ or Rust.
pub(crate) fn is_mangled(name: &str) -> bool {
    ["_Z", "__Z", "_R", "__R"].iter().any(|prefix| name.starts_with(prefix))
}

/// The demangled name of a Rust or C++ symbol; any other name unchanged.
///
/// Rust's trailing hash is dropped, because it means nothing to a reader.
pub fn demangle(name: &str) -> Cow<'_, str> {
    if !is_mangled(name) {
        return demangle_rest(name).map_or(Cow::Borrowed(name), Cow::Owned);
    }
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Cow::Owned(format!("{rust:#}"));
    }
    // macOS prefixes every symbol with another underscore.
    let cpp = if name.starts_with("__Z") { &name[1..] } else { name };
    cpp_name(cpp).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Demangles a legacy Rust symbol that was demangled as C++, which leaves Rust's escapes in place:
/// `_$LT$alloc..vec..Vec$LT$T$GT$$GT$::push::h0123456789abcdef`. Such names are recognized by their hash.
fn demangle_rest(name: &str) -> Option<String> {
    let (path, hash) = name.rsplit_once("::h")?;
    if hash.len() != 16 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let hash = &name[path.len()..];
    Some(rust_escapes::decode(name).strip_suffix(hash)?.to_string())
}

/// The name of a C++ symbol. Compilers append what they made of it: GCC `._omp_fn.17` to the body of a parallel loop, for example.
fn cpp_name(name: &str) -> Option<String> {
    whole_cpp_name(name).or_else(|| {
        let (symbol, made) = name.split_once('.')?;
        Some(format!("{} [clone .{made}]", whole_cpp_name(symbol)?))
    })
}

fn whole_cpp_name(name: &str) -> Option<String> {
    let options = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = Symbol::new_with_options(name, &options).ok()?;
    symbol.demangle_with_options(&DemangleOptions::new().recursion_limit(MAX_DEPTH)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_recognized_by_their_prefix() {
        assert_eq!(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(
            demangle("_RINvNtCse0yjq9ZQveU_3std2rt10lang_startuECs8K9WJNlS7Dz_5trace"),
            "std::rt::lang_start::<()>"
        );
        assert_eq!(demangle("_Z5gammav"), "gamma()");
        assert_eq!(demangle("__ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("_ZN3foo3barEi._omp_fn.17"), "foo::bar(int) [clone ._omp_fn.17]");
        assert_eq!(demangle("_ZN3foo3barEi.part.0"), "foo::bar(int) [clone .part.0]");
        assert_eq!(
            demangle("_$LT$alloc..vec..Vec$LT$T$GT$$GT$::push::h0123456789abcdef"),
            "<alloc::vec::Vec<T>>::push"
        );
        for plain in ["main", "_start", "_Zebra", "__Running", "_R", ""] {
            assert_eq!(demangle(plain), plain);
        }
    }
}
