//! Comparing two sides, for `diff` and for `--base`: the functions of both are matched, and the values of both become
//! columns of one profile.
//!
//! ```text
//! Sides ──match functions──► Sides ──align──► one profile with a column per input ──fold, filter──► Compared ──► Diff
//! ```
//!
//! ```
//! use prof::compare::{CompareOptions, compare};
//! use prof::load::sides;
//! use prof::report::DiffVerdict;
//! use prof::{Filters, Request};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let [old, new] = [("old", 100), ("new", 250)].map(|(name, parse)| {
//! #     let path = folder.path().join(name);
//! #     std::fs::write(&path, format!("main;parse {parse}00\nmain;a 40000\nmain;b 40000\nmain;c 40000\n")).unwrap();
//! #     path.display().to_string()
//! # });
//! let sides = sides(&Request::new([old]), Some(&Request::new([new])))?;
//! let compared = compare(sides, &Filters::new(), &CompareOptions::default())?;
//! let options = compared.options();
//! let found = compared.report(&options)?;
//! assert_eq!(found.verdict, DiffVerdict::Regressed);
//! # Ok(())
//! # }
//! ```

mod base;
mod compared;
mod remarks;

pub use base::{BaseError, BaseOptions, add_base};
pub use compared::{CompareError, CompareOptions, Compared, compare};

use std::sync::Arc;

use crate::load::{Side, SideInput, Sides};
use crate::profile::{Profile, Symbols};
use crate::report::{Matched, Upgrade};
use crate::transform::{FunctionMatch, GivenError, LibraryUpgrade, MatchMethod, MatchOptions, Matching};
use crate::tree::By;

/// Matches the functions of both sides, and gives those of the old side the names of the new one.
///
/// Labels, addresses and binaries need no matching, because builds do not rename them.
fn match_functions(sides: &mut Sides, by: &By, options: &MatchOptions) -> Result<Matching, GivenError> {
    if matches!(by, By::Label(_) | By::Address | By::Mapping) {
        return Ok(Matching::default());
    }
    let matching = Matching::find(&sides.old.profiles(), &sides.new.profiles(), options)?;
    let rename = |side: &mut Side, rename: &dyn Fn(usize, &Profile) -> Profile| {
        // Names that profiles share are replaced once.
        let mut last: Option<(Arc<Symbols>, Arc<Symbols>)> = None;
        for (number, SideInput { profile, .. }) in side.inputs.iter_mut().enumerate() {
            if let Some((_, renamed)) = last.as_ref().filter(|(old, _)| Arc::ptr_eq(old, &profile.symbols)) {
                profile.symbols = renamed.clone();
                continue;
            }
            let renamed = rename(number, profile);
            last = Some((profile.symbols.clone(), renamed.symbols.clone()));
            *profile = renamed;
        }
    };
    rename(&mut sides.old, &|number, profile| matching.apply_old(number, profile));
    rename(&mut sides.new, &|number, profile| matching.apply_new(number, profile));
    Ok(matching)
}

/// The same, but gives the functions of the new side the names of the old one: several builds that are compared with the
/// same one can then be shown in one table.
fn match_functions_to_old(
    sides: &mut Sides,
    by: &By,
    options: &MatchOptions,
) -> Result<Matching, GivenError> {
    let given = options.given.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
    let options = MatchOptions { given, ..options.clone() };
    std::mem::swap(&mut sides.old, &mut sides.new);
    let matching = match_functions(sides, by, &options);
    std::mem::swap(&mut sides.old, &mut sides.new);
    let mut matching = matching.map_err(GivenError::swapped)?;
    for found in &mut matching.matches {
        std::mem::swap(&mut found.old, &mut found.new);
    }
    for found in &mut matching.upgrades {
        std::mem::swap(&mut found.old, &mut found.new);
    }
    Ok(matching)
}

/// The matches to report. Functions that only moved to another line are listed only if `all` are.
fn matched(matching: &Matching, all: bool) -> Vec<Matched> {
    let is_listed = |found: &&FunctionMatch| all || found.how != MatchMethod::Shifted;
    let listed = |found: &FunctionMatch| Matched {
        old: found.old.as_str().into(),
        new: found.new.as_str().into(),
        how: found.how.word(),
        similarity: found.similarity,
    };
    matching.matches.iter().filter(is_listed).map(listed).collect()
}

/// The libraries to report of which the sides have different versions.
fn upgrades(matching: &Matching) -> Vec<Upgrade> {
    let listed = |found: LibraryUpgrade| Upgrade { library: found.library, old: found.old, new: found.new };
    matching.upgrades.iter().cloned().map(listed).collect()
}
