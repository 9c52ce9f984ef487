//! `--rename RE=NEW`: renaming functions.

use std::sync::Arc;

use regex::{NoExpand, Regex};

use crate::profile::{Column, Function, FunctionId, Profile, Symbols};

/// A pattern for names of functions, and its replacement.
#[derive(Clone, Debug)]
pub struct Rename {
    text: String,
    regex: Regex,
    new: String,
    /// Whether `$1` in the new name is literal text rather than a reference to a group.
    fixed: bool,
}

impl Rename {
    /// Parses `RE=NEW`, split at the last `=`. `$1` in NEW stands for the text that the first group matched.
    /// `None` if there is no `=`, or no valid regular expression before it.
    pub fn parse(text: &str, fixed: bool) -> Option<Rename> {
        let (old, new) = text.rsplit_once('=').filter(|(old, _)| !old.is_empty())?;
        let regex =
            if fixed { Regex::new(&regex::escape(old)) } else { Regex::new(&old.replace('…', ".*")) };
        Some(Rename { text: text.to_string(), regex: regex.ok()?, new: new.to_string(), fixed })
    }

    /// The option as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Replaces every match of `rename` in the names of functions. Functions that end up with the same name
/// are counted as one. Also returns how many functions it renamed.
///
/// ```text
/// --rename '\[.*\]=[…]'    main;List[int].Len 3    →  main;List[…].Len 5
///                          main;List[str].Len 2
/// ```
pub fn rename(profile: &Profile, rename: &Rename) -> (Profile, usize) {
    let mut symbols = Symbols::clone(&profile.symbols);
    let mut matched = 0;
    let renamed: Column<FunctionId, Function> = profile
        .symbols
        .functions
        .ids()
        .map(|function| {
            let old = profile.symbols.function_name(function);
            let new = if rename.fixed {
                rename.regex.replace_all(old, NoExpand(&rename.new))
            } else {
                rename.regex.replace_all(old, rename.new.as_str())
            };
            matched += usize::from(rename.regex.is_match(old));
            Function { name: symbols.strings.intern(&new), ..profile.symbols.functions[function] }
        })
        .collect();
    symbols.functions = renamed;
    (Profile { symbols: Arc::new(symbols), ..profile.clone() }, matched)
}
