//! `--rename RE=NEW`: renaming functions.

use std::borrow::Cow;
use std::sync::Arc;

use regex::{NoExpand, Regex};

use crate::pattern::{Aspect, contains, is_set, split_aspect};
use crate::profile::{Column, Function, FunctionId, Profile, Symbols};

/// A pattern for names of functions, and its replacement.
#[derive(Clone, Debug)]
pub struct Rename {
    text: String,
    renamed: Renamed,
    new: String,
    /// Whether `$1` in the new name is literal text rather than a reference to a group.
    fixed: bool,
}

/// What gets the new name.
#[derive(Clone, Debug)]
enum Renamed {
    /// Every match in a name.
    Matches(Regex),
    /// The name of one function: `exact:main.(*T).f`.
    Whole(String),
    /// The names of all functions of a set: `@gc`.
    Set(String),
}

impl Renamed {
    fn parse(old: &str, fixed: bool) -> Option<Renamed> {
        if fixed {
            return Regex::new(&regex::escape(old)).ok().map(Renamed::Matches);
        }
        let (aspect, body) = split_aspect(old);
        match aspect {
            Aspect::Exact => Some(Renamed::Whole(body.to_string())),
            Aspect::Any | Aspect::Function if is_set(body) => Some(Renamed::Set(body.to_string())),
            Aspect::Function => Some(Renamed::Matches(regex(body)?)),
            // Only names are changed, and these may be texts of a name.
            _ => Some(Renamed::Matches(regex(old)?)),
        }
    }
}

fn regex(text: &str) -> Option<Regex> {
    Regex::new(&text.replace('…', ".*")).ok()
}

impl Rename {
    /// Parses `RE=NEW`, split at the last `=`. `$1` in NEW stands for the text that the first group matched. The whole names of
    /// `exact:NAME` and of a set such as `@gc` are replaced. `None` if there is no `=`, or no valid regular expression before it.
    pub fn parse(text: &str, fixed: bool) -> Option<Rename> {
        let (old, new) = text.rsplit_once('=').filter(|(old, _)| !old.is_empty())?;
        let renamed = Renamed::parse(old, fixed)?;
        Some(Rename { text: text.to_string(), renamed, new: new.to_string(), fixed })
    }

    /// The option as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The new name of a function; `None` if it keeps its name.
    fn new_name<'n>(&'n self, name: &'n str, file: &str) -> Option<Cow<'n, str>> {
        match &self.renamed {
            Renamed::Matches(regex) if !regex.is_match(name) => None,
            Renamed::Matches(regex) if self.fixed => Some(regex.replace_all(name, NoExpand(&self.new))),
            Renamed::Matches(regex) => Some(regex.replace_all(name, self.new.as_str())),
            Renamed::Whole(whole) => (name == whole).then_some(Cow::Borrowed(&*self.new)),
            Renamed::Set(set) => contains(set, name, file).then_some(Cow::Borrowed(&*self.new)),
        }
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
            let (old, row) = (profile.symbols.function_name(function), profile.symbols.functions[function]);
            let Some(new) = rename.new_name(old, profile.symbols.function_file(function)) else { return row };
            matched += 1;
            Function { name: symbols.strings.intern(&new), ..row }
        })
        .collect();
    symbols.functions = renamed;
    (Profile { symbols: Arc::new(symbols), ..profile.clone() }, matched)
}
