//! Compressed names: written once and referred to by number afterwards.

use hashbrown::HashMap;

use crate::format::text::Scan;
use crate::name::demangle;
use crate::profile::{ProfileBuilder, StringId};

/// Names by number, and whether they denote recursive calls.
#[derive(Default)]
pub(super) struct CompressedNames(HashMap<i64, CompressedName>);

#[derive(Clone, Copy)]
pub(super) struct CompressedName {
    pub(super) text: StringId,
    pub(super) is_nested: bool,
}

impl CompressedNames {
    /// Resolves `(3) name`, `(3)` or `name`. `None` for a number that was never defined.
    pub(super) fn get(
        &mut self,
        builder: &mut ProfileBuilder,
        text: &[u8],
        clean: fn(&str) -> (String, bool),
    ) -> Option<CompressedName> {
        let numbered = text.strip_prefix(b"(").and_then(|rest| {
            let mut scan = Scan(rest);
            let number = scan.integer()?;
            let rest = scan.0.strip_prefix(b")")?;
            (rest.is_empty() || rest.starts_with(b" ")).then(|| (number, rest.trim_ascii()))
        });
        let mut intern = |name: &[u8]| {
            let (text, is_nested) = clean(&String::from_utf8_lossy(name));
            CompressedName { text: builder.string(&text), is_nested }
        };
        match numbered {
            Some((number, b"")) => self.0.get(&number).copied(),
            Some((number, name)) => {
                let name = intern(name);
                self.0.insert(number, name);
                Some(name)
            }
            None => Some(intern(text)),
        }
    }
}

/// Writers use `???` or `~` for an unknown file.
pub(super) fn clean_file(name: &str) -> (String, bool) {
    (if matches!(name, "???" | "~") { String::new() } else { name.to_string() }, false)
}

/// `dig'2` is a recursive call of `dig`.
pub(super) fn clean_function(name: &str) -> (String, bool) {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match plain.strip_suffix('\'') {
        Some(function) if plain.len() < name.len() && !function.is_empty() => {
            (demangle(function).into_owned(), true)
        }
        _ => (demangle(name).into_owned(), false),
    }
}
