//! Comparing two sides, for `diff` and for `--base`: the functions of both are matched, and the values of both become
//! columns of one profile.
//!
//! ```text
//! Sides ──match functions──► Sides ──align──► one profile with a column per input ──fold──► filters, view
//! ```

mod base;

pub use base::{BaseError, BaseOptions, add_base};

use crate::load::{Side, SideInput, Sides};
use crate::profile::Profile;
use crate::report::{Folded, Matched};
use crate::transform::{
    FunctionMatch, GivenError, Marks, MatchMethod, MatchOptions, Matching, fold_leaves, foldable,
};
use crate::tree::By;

/// Matches the functions of both sides, and gives those of the old side the names of the new one.
///
/// Labels, addresses and binaries need no matching, because builds do not rename them.
pub fn match_functions(sides: &mut Sides, by: &By, options: &MatchOptions) -> Result<Matching, GivenError> {
    if matches!(by, By::Label(_) | By::Address | By::Mapping) {
        return Ok(Matching::default());
    }
    let matching = Matching::find(&sides.old.profiles(), &sides.new.profiles(), options)?;
    let rename = |side: &mut Side, rename: &dyn Fn(usize, &Profile) -> Profile| {
        for (number, SideInput { profile, .. }) in side.inputs.iter_mut().enumerate() {
            *profile = rename(number, profile);
        }
    };
    rename(&mut sides.old, &|number, profile| matching.apply_old(number, profile));
    rename(&mut sides.new, &|number, profile| matching.apply_new(number, profile));
    Ok(matching)
}

/// The matches to report. Functions that only moved to another line are listed only if `all` are.
pub fn matched(matching: &Matching, all: bool) -> Vec<Matched> {
    let is_listed = |found: &&FunctionMatch| all || found.how != MatchMethod::Shifted;
    let listed = |found: &FunctionMatch| Matched {
        old: found.old.as_str().into(),
        new: found.new.as_str().into(),
        how: found.how.word(),
        similarity: found.similarity,
    };
    matching.matches.iter().filter(is_listed).map(listed).collect()
}

/// Folds these leaf frames of an aligned profile, whose first columns are `old` inputs and the next ones `new` inputs. Also
/// returns how much that was on either side.
pub fn fold(whole: &Profile, leaves: &Marks, old: usize, new: usize) -> (Profile, Vec<Folded>) {
    let columns: Vec<usize> = (0..old + new).collect();
    let folded = |(name, values): (String, Vec<i64>)| Folded {
        name: name.into(),
        old: values[..old].iter().sum(),
        new: values[old..].iter().sum(),
    };
    let folded = foldable(whole, leaves, &columns).into_iter().map(folded).collect();
    (fold_leaves(whole, leaves).0, folded)
}
