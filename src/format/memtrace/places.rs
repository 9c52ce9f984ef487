//! The places in the source of an address: several if calls were inlined, outermost first.
//!
//! ```text
//! u64 address, u8 count, then for each place 48 bits:
//! 20 of a line, 8 and 10 of columns, 5 of the file's place among the last 31, 5 of the function's among those of the file
//! 31 says that the name follows
//! ```

use crate::format::fields::Fields;
use crate::format::text::lossy;
use crate::profile::{Frame, FrameId, ProfileBuilder};

/// The number of names that are remembered, and the number that says that one follows.
const REMEMBERED: usize = 31;

/// A name, and what belongs to it.
#[derive(Clone, Debug, Default)]
struct Entry<T> {
    name: String,
    value: T,
}

/// The names that were used last, the latest first.
type Recent<T> = Vec<Entry<T>>;

/// The files that were used last, each with its functions.
#[derive(Debug, Default)]
pub(super) struct Places {
    files: Recent<Recent<()>>,
}

impl Places {
    /// Reads an address and its frames.
    pub(super) fn read(
        &mut self,
        fields: &mut Fields<'_>,
        builder: &mut ProfileBuilder,
    ) -> Option<(u64, Vec<FrameId>)> {
        let address = fields.u64()?;
        let count = fields.u8()?;
        let mut frames = Vec::new();
        for _ in 0..count {
            let bits = u64::from(fields.u32()?) | u64::from(fields.u16()?) << 32;
            let part = |from: u32, count: u32| (bits >> from & ((1 << count) - 1)) as usize;
            let (line, file, function) = (part(0, 20) as u32, part(38, 5), part(43, 5));
            // The functions of the file that is forgotten become those of the new one: early versions relied on that.
            let oldest =
                |files: &Recent<Recent<()>>| files.get(REMEMBERED - 1).map(|file| file.value.clone());
            let file = recall(&mut self.files, file, fields, |files| oldest(files).unwrap_or_default())?;
            let name = &recall(&mut file.value, function, fields, |_| ())?.name;
            let function = builder.named_function(name, &file.name);
            frames.push(builder.frame(Frame { function, line, ..Frame::default() }));
        }
        Some((address, frames))
    }
}

/// The entry at a place, or a new one, which becomes the first.
fn recall<'r, T>(
    recent: &'r mut Recent<T>,
    place: usize,
    fields: &mut Fields<'_>,
    value: impl FnOnce(&Recent<T>) -> T,
) -> Option<&'r mut Entry<T>> {
    if place == REMEMBERED {
        let value = value(recent);
        recent.truncate(REMEMBERED - 1);
        recent.insert(0, Entry { name: lossy(fields.text()).into_owned(), value });
    } else {
        recent.get(place)?;
        recent[..=place].rotate_right(1);
    }
    recent.first_mut()
}
