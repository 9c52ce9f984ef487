//! `--embed-source`: the source lines that a page carries.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::load::Sources;
use crate::profile::Profile;
use crate::report::SourceFunction;
use crate::view::{Scope, SourceOptions, SourceText, source};

/// The page carries the source of at most this many functions, and about this much text.
const FUNCTIONS: usize = 300;
const BYTES: usize = 2 << 20;

/// The lines of the functions whose source is found, the heaviest function first.
pub(super) fn embedded(profile: &Profile, scope: Scope, sources: &Sources) -> Vec<SourceFunction> {
    // A file has many functions.
    let known = RefCell::new(HashMap::<String, SourceText>::new());
    let text_of = |file: &str, last_line: u32| {
        let mut known = known.borrow_mut();
        known.entry(file.to_string()).or_insert_with(|| sources.text_of(file, last_line)).clone()
    };
    // The lines show the new side of a comparison.
    let scope = Scope { base: None, highlight: None, ..scope };
    let options = SourceOptions { scope, function: "^".into(), fixed: false, limit: None };
    let Ok(found) = source(profile, &options, &text_of) else { return Vec::new() };
    let mut left = BYTES;
    let is_found = |function: &SourceFunction| function.origin.path().is_some();
    let mut functions: Vec<SourceFunction> = found.functions.into_iter().filter(is_found).collect();
    functions.truncate(FUNCTIONS);
    functions.retain(|function| {
        let bytes: usize = function.lines.iter().filter_map(|line| line.text.as_ref()).map(String::len).sum();
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
    functions
}
