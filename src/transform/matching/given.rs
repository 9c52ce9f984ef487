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
    #[error("{name}: two lines name this function of the {side} side, and each can have only one match")]
    Twice {
        /// The name as given.
        name: String,
        /// Its side: `old` or `new`.
        side: &'static str,
    },
    /// A function is to have no match, but the other side has the same one.
    #[error("{name}: the {side} side has a function with the same name and place, so the two share a row")]
    OneRow {
        /// The name as given.
        name: String,
        /// The other side: `old` or `new`.
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
            GivenError::OneRow { name, side } => GivenError::OneRow { name, side: other(side) },
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
        let old_entry = named(&old_names, old, "old")?;
        let new_entry = named(&new_names, new, "new")?;
        if old_entry.is_some_and(|entry| pairs.of_old[entry].is_some() || pairs.alone[0].contains(&entry)) {
            return Err(GivenError::Twice { name: old.clone(), side: "old" });
        }
        if new_entry.is_some_and(|entry| pairs.of_new[entry].is_some() || pairs.alone[1].contains(&entry)) {
            return Err(GivenError::Twice { name: new.clone(), side: "new" });
        }
        match (old_entry, new_entry) {
            (Some(old), Some(new)) => pairs.pair(old, new, MatchMethod::Given, 1.0),
            (Some(entry), None) if pairs.new.same_as(pairs.old.get(entry)).is_some() => {
                return Err(GivenError::OneRow { name: old.clone(), side: "new" });
            }
            (None, Some(entry)) if pairs.old.same_as(pairs.new.get(entry)).is_some() => {
                return Err(GivenError::OneRow { name: new.clone(), side: "old" });
            }
            (old, new) => {
                pairs.alone[0].extend(old);
                pairs.alone[1].extend(new);
            }
        }
    }
    Ok(())
}

/// The function with this name; `None` if the name is empty, which stands for no function.
fn named(names: &Names<'_>, name: &str, side: &'static str) -> Result<Option<EntryId>, GivenError> {
    if name.is_empty() { Ok(None) } else { names.named(name, side).map(Some) }
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
