//! Reads traces of Perfetto, which Android, Chrome and programs with its SDK write: packets of protobuf, one after another.
//!
//! ```text
//! message Trace { repeated TracePacket packet = 1; }
//! message TracePacket { uint64 timestamp = 8; uint32 trusted_packet_sequence_id = 10; InternedData interned_data = 12;
//!                       and one of: PerfSample 66, StreamingProfilePacket 54, StackSample 135, ProfilePacket 37,
//!                       TrackEvent 11, … }
//! ```
//!
//! Stacks come from four sources, which become metrics of their own: samples of the processor (`samples`), samples that any counter
//! triggers (`samples` and the name of the counter), the heap of each process (`alloc_space`, `inuse_space` …), and slices, which
//! nest like calls (`wall`). What the packets of a sequence refer to by number
//! was defined by earlier packets of the same sequence; names of threads and symbols may come at the end, so a trace is read twice.

mod clocks;
mod heaps;
mod interned;
mod names;
mod packet;
mod reader;
mod slices;
mod stack_samples;

use crate::format::wire::{Value, Wire};
use crate::format::{Confidence, Format, LoadError, Source};
use crate::profile::{LoadOptions, Profile};

use packet::Packet;

/// The entry in the list of readable formats.
pub(super) static PERFETTO: Format = Format { name: NAME, title: "Perfetto trace", sniff, read };

const NAME: &str = "perfetto";

/// Number of packets that are examined to recognise a trace.
const EXAMINED: usize = 16;

/// A trace has no magic number: its first fields are packets, and one of them says which sequence it belongs to.
fn sniff(head: &[u8]) -> Confidence {
    let mut wire = Wire::new(head);
    let (mut count, mut is_trace) = (0, false);
    while count < EXAMINED {
        let Ok(Some(field)) = wire.field() else { break };
        let (1, Value::Bytes(bytes)) = (field.number, field.value) else { return Confidence::No };
        let Ok(packet) = Packet::read(bytes) else { return Confidence::No };
        is_trace |= packet.sequence.is_some() || packet.is_compressed();
        count += 1;
    }
    // A single packet that goes on past the head may be a large set of compressed ones.
    if is_trace && (count > 1 || wire.is_at_end()) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    Ok(reader::read(bytes, options)?)
}

#[cfg(test)]
mod tests;
