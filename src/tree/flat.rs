//! The flat view: self and total of every key.

use crate::profile::Column;
use crate::tree::{KeyId, Seen, Subject};

/// Self and total of every key, one column a series.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The values of the samples whose leaf the key is.
    pub self_value: Vec<Column<KeyId, i64>>,
    /// The values of the samples on whose stack the key stands, once a sample however often it
    /// recurs.
    pub total: Vec<Column<KeyId, i64>>,
}

/// Counts self and total of every key.
///
/// ```
/// use prof::profile::from_picture;
/// use prof::tree::{By, Subject, flat};
///
/// let profile = from_picture("main;a;a 4\nmain 1");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let counted = flat(&subject);
/// let a = subject.keys.ids().find(|&key| &**subject.keys.name(key) == "a").unwrap();
/// assert_eq!((counted.self_value[0][a], counted.total[0][a]), (4, 4));
/// ```
pub fn flat(subject: &Subject<'_>) -> Flat {
    let keys = subject.keys.len();
    let mut flat = Flat { self_value: Vec::new(), total: Vec::new() };
    let mut seen = Seen::new(keys);
    for series in &subject.series {
        let mut own = Column::filled(0, keys);
        let mut total = Column::filled(0, keys);
        for (stack, &value) in series.enumerate() {
            let frames = subject.profile.stacks.frames(stack);
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
