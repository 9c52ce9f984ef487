//! pprof: the protobuf format of Go and of most continuous profilers
//! (<https://github.com/google/pprof/blob/main/proto/profile.proto>).

mod by_id;
mod collect;
mod expand;
mod integers;
mod locations;
mod mapping_order;
mod messages;
mod raw_stacks;
mod read;
mod tables;
mod write;
mod write_locations;

pub(in crate::format) use integers::{IntegerScale, scales};
pub(in crate::format) use messages::LocationMessage;
pub(in crate::format) use write::file_ends;
pub(in crate::format) use write_locations::{PackedStacks, WrittenLocations};

use crate::format::wire::{Value, Wire, WireError};
use crate::format::write::{Part, Writer, no_second_metric};
use crate::format::{Confidence, Format};
use crate::profile::LoadOptions;

/// The entry in the list of readable formats.
pub(super) static PPROF: Format = Format { name: "pprof", title: "pprof protobuf", sniff, read: read::read };

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: read::NAME,
    title: "pprof protobuf",
    endings: &[".pb"],
    packed_endings: &[".pprof", ".pgo"],
    packed: true,
    holds: &[
        Part::Metrics,
        Part::MetricNames,
        Part::MetricUnits,
        Part::Labels,
        Part::Threads,
        Part::Processes,
        Part::Files,
        Part::Lines,
        Part::Addresses,
        Part::Inlining,
        Part::DropFrames,
        Part::Comments,
        Part::Recording,
        Part::Negatives,
    ],
    holds_calls: false,
    second_metric: no_second_metric,
    read_as: &[],
    needs: LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
    write: write::write,
};

/// The number of fields that are examined to detect the format.
const SNIFFED_FIELDS: usize = 32;

/// Arbitrary bytes can look like protobuf for a while. So every field must have a number and a type that
/// `profile.proto` defines, and messages that consist of varints there must consist of varints here.
fn sniff(head: &[u8]) -> Confidence {
    let mut wire = Wire::new(head);
    for count in 0..SNIFFED_FIELDS {
        match wire.field() {
            Ok(None) => return if count == 0 { Confidence::No } else { Confidence::Likely },
            Ok(Some(field)) => match (field.number, field.value) {
                (1 | 11, Value::Bytes(bytes)) if consists_of_varints(bytes, 2) => {}
                (3, Value::Bytes(bytes)) if consists_of_varints(bytes, 10) => {}
                (5, Value::Bytes(bytes)) if consists_of_varints(bytes, 5) => {}
                (2 | 4 | 6 | 13, Value::Bytes(_)) | (7..=10 | 12..=15, Value::Varint(_)) => {}
                _ => return Confidence::No,
            },
            // The head may end inside a field.
            Err(WireError::Truncated) => return if count == 0 { Confidence::No } else { Confidence::Maybe },
            Err(WireError::Malformed) => return Confidence::No,
        }
    }
    Confidence::Likely
}

fn consists_of_varints(bytes: &[u8], highest_number: u32) -> bool {
    let mut wire = Wire::new(bytes);
    loop {
        match wire.field() {
            Ok(None) => return true,
            Ok(Some(field)) if field.number <= highest_number && matches!(field.value, Value::Varint(_)) => {}
            _ => return false,
        }
    }
}
