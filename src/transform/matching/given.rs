//! Pairs given by the user.

use hashbrown::HashMap;

use super::pool::{EntryId, Groups, Pool, grouped};
use super::{MatchMethod, MatchingState};

/// Why given pairs cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GivenError {
    /// No function of the old or the new side has this name.
    #[error("{name}: no function of the {side} side has this name")]
    Unknown {
        /// The name as given.
        name: String,
        /// Which side it was looked for on: `old` or `new`.
        side: &'static str,
    },
    /// A function occurs in two pairs.
    #[error("{name}: two pairs name this function of the {side} side, and each can have only one match")]
    Twice {
        /// The name as given.
        name: String,
        /// Its side: `old` or `new`.
        side: &'static str,
    },
}

impl GivenError {
    /// The same error if the sides were given the other way round.
    pub(crate) fn swapped(self) -> Self {
        let other = |side| if side == "old" { "new" } else { "old" };
        match self {
            GivenError::Unknown { name, side } => GivenError::Unknown { name, side: other(side) },
            GivenError::Twice { name, side } => GivenError::Twice { name, side: other(side) },
        }
    }
}

/// Matches the given pairs.
pub(super) fn pair(pairs: &mut MatchingState<'_>, given: &[(String, String)]) -> Result<(), GivenError> {
    if given.is_empty() {
        return Ok(());
    }
    let (old_names, new_names) = (Names::new(pairs.old), Names::new(pairs.new));
    for (old, new) in given {
        let old_entry = old_names.named(old, "old")?;
        let new_entry = new_names.named(new, "new")?;
        if pairs.of_old[old_entry].is_some() {
            return Err(GivenError::Twice { name: old.clone(), side: "old" });
        }
        if pairs.of_new[new_entry].is_some() {
            return Err(GivenError::Twice { name: new.clone(), side: "new" });
        }
        pairs.pair(old_entry, new_entry, MatchMethod::Given, 1.0);
    }
    Ok(())
}

/// The functions of a side by their names.
struct Names<'p> {
    /// The first function with each name that views display.
    displayed: HashMap<String, EntryId>,
    /// The functions with each name, whatever their places.
    bare: Groups<&'p str>,
}

impl<'p> Names<'p> {
    fn new(pool: &'p Pool<'_>) -> Self {
        let mut displayed = HashMap::new();
        for entry in 0..pool.len() {
            displayed.entry(pool.get(entry).display()).or_insert(entry);
        }
        Names { displayed, bare: grouped(0..pool.len(), |entry| &*pool.get(entry).name) }
    }

    /// The function that views display as `name`, or else the only one called `name`.
    fn named(&self, name: &str, side: &'static str) -> Result<EntryId, GivenError> {
        let bare = || match self.bare.get(&name) {
            &[entry] => Some(entry),
            _ => None,
        };
        let found = self.displayed.get(name).copied().or_else(bare);
        found.ok_or_else(|| GivenError::Unknown { name: name.to_string(), side })
    }
}
