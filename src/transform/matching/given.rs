//! Pairs given by the user.

use std::fmt;

use super::pool::{EntryId, Pool};
use super::{MatchMethod, MatchingState};

/// Why given pairs cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenError {
    /// No function of the old or the new side has this name.
    Unknown {
        /// The name as given.
        name: String,
        /// Which side it was looked for on: `old` or `new`.
        side: &'static str,
    },
    /// A function occurs in two pairs.
    Twice {
        /// The name as given.
        name: String,
        /// Its side: `old` or `new`.
        side: &'static str,
    },
}

impl fmt::Display for GivenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenError::Unknown { name, side } => {
                write!(f, "{name}: no function of the {side} side has this name")
            }
            GivenError::Twice { name, side } => {
                write!(
                    f,
                    "{name}: two pairs name this function of the {side} side, and each can have only one match"
                )
            }
        }
    }
}

impl std::error::Error for GivenError {}

/// Matches the given pairs.
pub(super) fn pair(pairs: &mut MatchingState<'_>, given: &[(String, String)]) -> Result<(), GivenError> {
    for (old, new) in given {
        let old_entry = named(pairs.old, old, "old")?;
        let new_entry = named(pairs.new, new, "new")?;
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

/// The function that views display as `name`, or else the only one called `name`.
fn named(pool: &Pool<'_>, name: &str, side: &'static str) -> Result<EntryId, GivenError> {
    let exact = (0..pool.len()).find(|&entry| pool.get(entry).display() == name);
    let bare = || {
        let mut bare = (0..pool.len()).filter(|&entry| pool.get(entry).name == name);
        bare.next().filter(|_| bare.next().is_none())
    };
    exact.or_else(bare).ok_or_else(|| GivenError::Unknown { name: name.to_string(), side })
}
