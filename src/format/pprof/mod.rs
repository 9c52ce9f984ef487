//! pprof: the protobuf format of Go and of most continuous profilers
//! (<https://github.com/google/pprof/blob/main/proto/profile.proto>).

mod buffers;
mod by_id;
mod collect;
mod expand;
mod integers;
mod locations;
mod mapping_order;
mod messages;
mod raw_stacks;
mod read;
mod sniff;
mod tables;
mod write;
mod write_locations;

pub(in crate::format) use integers::{IntegerScale, scales};
pub(in crate::format) use messages::LocationMessage;
pub(in crate::format) use write::file_ends;
pub(in crate::format) use write_locations::{PackedStacks, WrittenLocations};

use crate::format::Format;
use crate::format::pprof::sniff::{NAME, sniff};
use crate::format::write::{Part, Writer, no_second_metric};
use crate::profile::LoadOptions;

/// The entry in the list of readable formats.
pub(super) static PPROF: Format = Format { name: NAME, title: "pprof protobuf", sniff, read: read::read };

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: NAME,
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
