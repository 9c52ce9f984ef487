//! What stands directly above and below a function.

use crate::profile::Column;
use crate::tree::{KeyId, Subject, whole};

/// What stands next to a set of keys, in one series. Every stack counts at the leaf-most frame
/// whose key is in the set, so that callers sum to the total, and self and callees do too.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The value of the stacks that end in the set.
    pub self_value: i64,
    /// The value of the stacks through the set.
    pub total: i64,
    /// Value by caller; under the key of the whole profile where the set starts the stack.
    pub callers: Column<KeyId, i64>,
    /// Value by callee.
    pub callees: Column<KeyId, i64>,
    /// Whether the values of callers or callees may contain each other: where calls are all that is
    /// known, and some lead back to the set.
    pub is_circular: bool,
}

/// Counts the neighbours of the keys that `wanted` marks, in series number `series`.
///
/// ```
/// use prof::profile::{Column, from_picture};
/// use prof::tree::{By, Subject, neighbours, whole};
///
/// let profile = from_picture("main;a;a;b 4\na 1");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let wanted = (0..subject.keys.len()).map(prof::profile::Id::new);
/// let wanted: Column<_, bool> = wanted.map(|key| &**subject.keys.name(key) == "a").collect();
/// let found = neighbours(&subject, &wanted, 0);
/// assert_eq!((found.total, found.self_value, found.callers[whole()]), (5, 1, 1));
/// ```
pub fn neighbours(subject: &Subject<'_>, wanted: &Column<KeyId, bool>, series: usize) -> Neighbours {
    if let Some(calls) = &subject.calls {
        return calls.neighbours(wanted, series);
    }
    let keys = subject.keys.len();
    let (callers, callees) = (Column::filled(0, keys), Column::filled(0, keys));
    let mut found = Neighbours { self_value: 0, total: 0, callers, callees, is_circular: false };
    for (stack, &value) in subject.series[series].enumerate() {
        if value == 0 {
            continue;
        }
        let mut below = None;
        let mut towards_root = subject.stack_keys(stack).rev();
        while let Some(key) = towards_root.next() {
            if wanted[key] {
                found.total += value;
                found.callers[towards_root.next().unwrap_or_else(whole)] += value;
                match below {
                    Some(callee) => found.callees[callee] += value,
                    None => found.self_value += value,
                }
                break;
            }
            below = Some(key);
        }
    }
    found
}
