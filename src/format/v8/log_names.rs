//! Names in the logs of `node --prof`.

use crate::profile::{Frame, FrameId, Function, ProfileBuilder};

/// The frame of a JavaScript function: `push node:internal/fixed_queue:75:7`, in old logs without the column.
pub(super) fn script_frame(text: &str, builder: &mut ProfileBuilder) -> FrameId {
    let (name, place) = text.split_once(' ').unwrap_or((text, ""));
    let (place, last) = number_at_end(place);
    let (place, first) = number_at_end(place);
    // Two numbers are a line and a column, one is a line.
    let (line, column) = if first == 0 { (last, 0) } else { (first, last) };
    let name = builder.string(if name.is_empty() { "(anonymous)" } else { name });
    let file = builder.string(place);
    let function = builder.function(Function { name, file, line, column, by_place: !place.is_empty() });
    builder.frame(Frame { function, ..Frame::default() })
}

/// `a.js:75` is `a.js` and 75; 0 if there is no number.
fn number_at_end(text: &str) -> (&str, u32) {
    let parts = text.rsplit_once(':').and_then(|(rest, number)| Some((rest, number.parse().ok()?)));
    parts.unwrap_or((text, 0))
}

/// The state of the virtual machine during garbage collection, which is the same number in all versions.
pub(super) const GARBAGE_COLLECTION: i64 = 1;
