//! The packets of a trace.

use std::io::Read;

use flate2::read::ZlibDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::format::ParseError;
use crate::format::perfetto::NAME;
use crate::format::wire::{Value, Wire, WireError};

/// The numbers of the fields that hold data of one kind.
pub(super) mod kind {
    pub(crate) const PROCESS_TREE: u32 = 2;
    pub(crate) const CLOCKS: u32 = 6;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const HEAPS: u32 = 37;
    pub(crate) const PROCESS: u32 = 43;
    pub(crate) const THREAD: u32 = 44;
    pub(super) const DEFLATED: u32 = 50;
    pub(crate) const STREAMED_SAMPLES: u32 = 54;
    pub(crate) const TRACK: u32 = 60;
    pub(crate) const SYMBOLS: u32 = 61;
    pub(crate) const PERF_SAMPLE: u32 = 66;
    pub(super) const ZSTD: u32 = 133;
    pub(crate) const STACK_SAMPLE: u32 = 135;
}

/// The largest set of compressed packets that is unpacked. Perfetto keeps each below 512 KiB.
const LARGEST: u64 = 16 << 20;

/// The fields of a packet that the reader needs.
#[derive(Default)]
pub(super) struct Packet<'a> {
    pub(super) timestamp: Option<u64>,
    pub(super) clock: Option<u64>,
    pub(super) sequence: Option<u64>,
    /// Whether what was defined before in the sequence is no longer valid.
    pub(super) is_reset: bool,
    pub(super) defaults: &'a [u8],
    pub(super) interned: &'a [u8],
    /// Number of the field that says what kind of packet it is, and its content.
    pub(super) kind: u32,
    pub(super) data: &'a [u8],
}

impl<'a> Packet<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Packet<'a>, WireError> {
        let mut packet = Packet::default();
        each_field(bytes, |number, value| match (number, value) {
            (8, Value::Varint(time)) => packet.timestamp = Some(time),
            (10, Value::Varint(sequence)) => packet.sequence = Some(sequence),
            (12, Value::Bytes(interned)) => packet.interned = interned,
            (13, Value::Varint(flags)) => packet.is_reset |= flags & 1 != 0,
            (41, Value::Varint(reset)) => packet.is_reset |= reset != 0,
            (58, Value::Varint(clock)) => packet.clock = Some(clock),
            (59, Value::Bytes(defaults)) => packet.defaults = defaults,
            (_, Value::Bytes(data)) => (packet.kind, packet.data) = (number, data),
            _ => {}
        })?;
        Ok(packet)
    }

    pub(super) fn is_compressed(&self) -> bool {
        [kind::DEFLATED, kind::ZSTD].contains(&self.kind)
    }

    /// The packets that this one holds compressed.
    fn unpacked(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut read = |input: &mut dyn Read| input.take(LARGEST + 1).read_to_end(&mut bytes);
        let length = if self.kind == kind::DEFLATED {
            read(&mut ZlibDecoder::new(self.data))?
        } else {
            read(&mut StreamingDecoder::new(self.data).map_err(std::io::Error::other)?)?
        };
        if length as u64 > LARGEST {
            return Err(std::io::Error::other("they are larger than 16 MiB"));
        }
        Ok(bytes)
    }
}

/// Calls `add` with the number and the value of each field of a message.
pub(super) fn each_field<'a>(
    message: &'a [u8],
    mut add: impl FnMut(u32, Value<'a>),
) -> Result<(), WireError> {
    let mut wire = Wire::new(message);
    while let Some(field) = wire.field()? {
        add(field.number, field.value);
    }
    Ok(())
}

/// Calls `add` with each packet of a trace. Returns whether the trace is whole; a recording that was interrupted ends within a
/// packet.
pub(super) fn each_packet(
    trace: &[u8],
    mut add: impl FnMut(&Packet<'_>) -> Result<(), WireError>,
) -> Result<bool, ParseError> {
    let mut wire = Wire::new(trace);
    loop {
        let at = wire.position() as u64;
        let malformed = |_| ParseError::at_byte(NAME, at, "a packet is malformed");
        let bytes = match wire.field() {
            Ok(Some(field)) => match (field.number, field.value) {
                (1, Value::Bytes(bytes)) => bytes,
                _ => continue,
            },
            Ok(None) => return Ok(true),
            Err(WireError::Truncated) => return Ok(false),
            Err(error) => return Err(malformed(error)),
        };
        let packet = Packet::read(bytes).map_err(malformed)?;
        if !packet.is_compressed() {
            add(&packet).map_err(malformed)?;
            continue;
        }
        let unpacked = packet.unpacked().map_err(|error| {
            ParseError::at_byte(NAME, at, format!("compressed packets cannot be read: {error}"))
        })?;
        let mut inner = Wire::new(&unpacked);
        while let Some(field) = inner.field().map_err(malformed)? {
            if let (1, Value::Bytes(bytes)) = (field.number, field.value) {
                add(&Packet::read(bytes).map_err(malformed)?).map_err(malformed)?;
            }
        }
    }
}
