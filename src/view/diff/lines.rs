//! The lines of functions on which something was counted.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use hashbrown::HashMap;

use crate::profile::{Column, StackId};
use crate::tree::{KeyId, SeenKeys, Subject};

/// Sums a value of stacks by line, for each of some functions. A stack counts for the line of the function's frame nearest
/// to the leaf. All functions are counted in one pass: there may be a million stacks, and a hundred functions.
pub(super) fn values_by_line<T: Copy + Default + AddAssign>(
    subject: &Subject<'_>,
    functions: &[KeyId],
    value: impl Fn(StackId) -> T,
) -> HashMap<KeyId, BTreeMap<u32, T>> {
    let mut found: HashMap<KeyId, BTreeMap<u32, T>> = HashMap::new();
    let is_wanted = Column::marking(functions.iter().copied(), subject.keys.len());
    let mut seen = SeenKeys::new(subject.keys.len());
    for stack in subject.stacks().filter(|_| !functions.is_empty()) {
        seen.next();
        let mut known = None;
        for &frame in subject.profile.stacks.frames(stack).iter().rev() {
            let key = subject.keys.of_frame(frame);
            if is_wanted[key] && seen.first(key) {
                let value = *known.get_or_insert_with(|| value(stack));
                let line = subject.profile.symbols.frames[frame].line;
                *found.entry(key).or_default().entry(line).or_default() += value;
            }
        }
    }
    found
}
