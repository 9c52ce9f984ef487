//! The flat view: self and total of every key.

use std::ops::Range;

use crate::parallel;
use crate::profile::{Column, Id, StackId};
use crate::tree::{KeyId, SeenKeys, Subject};

/// Self and total of every key, one column per series.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The value of the samples whose leaf has this key.
    pub self_value: Vec<Column<KeyId, i64>>,
    /// The value of the samples with this key anywhere on the stack; each sample counts once.
    pub total: Vec<Column<KeyId, i64>>,
}

/// Counts self and total of every key.
///
/// ```
/// use prof::profile::from_notation;
/// use prof::tree::{By, Subject, flat};
///
/// let profile = from_notation("main;a;a 4\nmain 1");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let counted = flat(&subject);
/// let a = subject.keys.ids().find(|&key| &**subject.keys.name(key) == "a").unwrap();
/// assert_eq!((counted.self_value[0][a], counted.total[0][a]), (4, 4));
/// ```
pub fn flat(subject: &Subject<'_>) -> Flat {
    if let Some(calls) = &subject.calls {
        return calls.flat.clone();
    }
    // A million stacks take 30 ms, so slices of some ten thousand are worth a thread.
    let parts = parallel::ranges(subject.profile.stacks.len(), 20_000, |stacks| count(subject, stacks));
    parts.into_iter().reduce(|sum, part| sum.add(&part)).unwrap_or_else(|| count(subject, 0..0))
}

/// Counts a slice of the stacks.
fn count(subject: &Subject<'_>, stacks: Range<usize>) -> Flat {
    let keys = subject.keys.len();
    let mut flat = Flat { self_value: Vec::new(), total: Vec::new() };
    let mut seen = SeenKeys::new(keys);
    for series in &subject.series {
        let mut own = Column::filled(0, keys);
        let mut total = Column::filled(0, keys);
        for stack in stacks.clone().map(StackId::new) {
            let (frames, value) = (subject.profile.stacks.frames(stack), series[stack]);
            let (Some(&leaf), true) = (frames.last(), value != 0) else { continue };
            own[subject.keys.of_frame(leaf)] += value;
            seen.next();
            for &frame in frames {
                let key = subject.keys.of_frame(frame);
                if seen.first(key) {
                    total[key] += value;
                }
            }
        }
        flat.self_value.push(own);
        flat.total.push(total);
    }
    flat
}

impl Flat {
    fn add(mut self, other: &Flat) -> Flat {
        let columns = self.self_value.iter_mut().chain(&mut self.total);
        for (column, other) in columns.zip(other.self_value.iter().chain(&other.total)) {
            for (key, &value) in other.enumerate() {
                column[key] += value;
            }
        }
        self
    }
}
