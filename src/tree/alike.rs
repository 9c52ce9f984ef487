//! Stacks that are the same once their frames are grouped by keys.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::profile::{Column, Profile, StackId};
use crate::tree::Keys;

/// For each stack, the first one with the same keys: stacks can differ in lines and addresses only.
///
/// ```
/// use prof::profile::{Id, from_notation};
/// use prof::tree::{By, Keys, first_alike};
///
/// let profile = from_notation("main@m.c:1;work 4\nmain@m.c:1 2\nmain@m.c:2;work 3");
/// let first = first_alike(&profile, &Keys::new(&profile, &By::Function));
/// assert_eq!(first.iter().map(|stack| stack.index()).collect::<Vec<_>>(), [0, 1, 0]);
/// ```
pub fn first_alike(profile: &Profile, keys: &Keys) -> Column<StackId, StackId> {
    let stacks = &profile.stacks;
    // If every frame has a key of its own, stacks differ in their keys whenever they differ at all.
    if keys.ids().count() == profile.symbols.frames.len() {
        return stacks.ids().collect();
    }
    let of = |stack: StackId| stacks.frames(stack).iter().map(|&frame| keys.of_frame(frame));
    let hasher = DefaultHashBuilder::default();
    let hash = |stack: StackId| {
        let mut hasher = hasher.build_hasher();
        of(stack).for_each(|key| key.hash(&mut hasher));
        hasher.finish()
    };
    let mut known = HashTable::with_capacity(stacks.len());
    let first = |stack: StackId| match known.entry(
        hash(stack),
        |&known| of(known).eq(of(stack)),
        |&known| hash(known),
    ) {
        Entry::Occupied(first) => *first.get(),
        Entry::Vacant(place) => {
            place.insert(stack);
            stack
        }
    };
    stacks.ids().map(first).collect()
}
