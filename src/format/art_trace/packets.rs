//! Method traces of versions 4 (one clock) and 5 (two), which Android 16 can write: a header of 32 bytes, then packets.
//!
//! ```text
//! "SLOW", u16 version (| 0xF0 if streamed), u64 start in ns since the machine started; zeros up to 32 bytes
//! 0  u32 thread, u16 size, name
//! 1  u64 method, u16 size, "class ↹ method ↹ signature ↹ file"
//! 2  u32 thread, u24 records, u32 size, records: method | action, and per clock its time in ns, each as the
//!    difference from the record before, in LEB128
//! 3  u16 size, the summary: text as in older versions, without methods and threads
//! ```

use crate::format::ParseError;
use crate::format::art_trace::{ArtTraceReader, Header, NAME, Record};
use crate::format::fields::Fields;
use crate::format::text::lossy;

const HEADER: usize = 32;

/// Whether the records are packets.
pub(super) fn are_packets(version: u16) -> bool {
    (4..=5).contains(&version)
}

/// A part of the file.
enum Packet<'a> {
    Thread(u32, &'a [u8]),
    Method(u64, &'a [u8]),
    Records(u32, &'a [u8]),
    Summary(&'a [u8]),
}

/// The packets, and whether the last one is complete.
struct Packets<'a> {
    rest: Fields<'a>,
    is_truncated: bool,
}

impl<'a> Packets<'a> {
    fn new(bytes: &'a [u8]) -> Packets<'a> {
        Packets { rest: Fields::new(bytes.get(HEADER..).unwrap_or_default(), false), is_truncated: false }
    }

    /// The next packet. Fails with the number of a kind that is unknown.
    fn next(&mut self) -> Result<Option<Packet<'a>>, u8> {
        let Some(kind) = self.rest.u8() else { return Ok(None) };
        if kind > 3 {
            return Err(kind);
        }
        let packet = self.packet(kind);
        self.is_truncated |= packet.is_none();
        Ok(packet)
    }

    fn packet(&mut self, kind: u8) -> Option<Packet<'a>> {
        let rest = &mut self.rest;
        let packet = match kind {
            0 => Packet::Thread(rest.u32()?, sized(rest)?),
            1 => Packet::Method(rest.u64()?, sized(rest)?),
            2 => {
                let thread = rest.u32()?;
                rest.take(3)?; // the number of records
                let size = rest.u32()?;
                Packet::Records(thread, rest.take(size as usize)?)
            }
            _ => Packet::Summary(sized(rest)?),
        };
        Some(packet)
    }
}

/// A text after its size.
fn sized<'a>(rest: &mut Fields<'a>) -> Option<&'a [u8]> {
    let size = rest.u16()?;
    rest.take(size.into())
}

/// Reads a trace in two passes: the summary, which names the clocks, comes last.
pub(super) fn read(reader: &mut ArtTraceReader, bytes: &[u8], header: &Header) -> Result<(), ParseError> {
    let mut packets = Packets::new(bytes);
    let mut has_summary = false;
    loop {
        let at = bytes.len() - packets.rest.len();
        let unknown = |kind| ParseError::at_byte(NAME, at as u64, format!("unknown packet of kind {kind}"));
        match packets.next().map_err(unknown)? {
            Some(Packet::Thread(thread, name)) => {
                reader.threads.insert(thread, lossy(name).into_owned());
            }
            Some(Packet::Method(method, text)) => {
                let text = lossy(text);
                reader.method(method, text.trim_end().split('\t'));
            }
            Some(Packet::Summary(text)) => {
                reader.text(text)?;
                has_summary = true;
            }
            Some(Packet::Records(..)) => {}
            None => break,
        }
    }
    reader.declare(header);
    reader.is_truncated = packets.is_truncated || !has_summary;
    let mut packets = Packets::new(bytes);
    while let Ok(Some(packet)) = packets.next() {
        if let Packet::Records(thread, records) = packet {
            reader.is_truncated |= read_records(reader, thread, records, header.version).is_none();
        }
    }
    Ok(())
}

/// The records of a thread; `None` if the last one is incomplete.
fn read_records(reader: &mut ArtTraceReader, thread: u32, records: &[u8], version: u16) -> Option<()> {
    let mut rest = Fields::new(records, false);
    // The clock of the wall comes before that of the thread.
    let (mut method, mut wall, mut cpu) = (0_u64, 0_u64, 0_u64);
    while !rest.is_empty() {
        method = method.wrapping_add(signed(&mut rest)?);
        wall = wall.wrapping_add(rest.varint()?);
        cpu = if version == 5 { cpu.wrapping_add(rest.varint()?) } else { wall };
        let action = (method & 3) as u32;
        reader.record(Record { thread, method: method & !3, action, times: [cpu, wall] });
    }
    Some(())
}

/// A number with a sign: seven bits per byte, the lowest first; the highest bit is the sign.
fn signed(rest: &mut Fields<'_>) -> Option<u64> {
    let length = rest.bytes().iter().position(|byte| byte & 0x80 == 0)? + 1;
    let last = rest.bytes()[length - 1];
    let number = rest.varint()?;
    let is_negative = last & 0x40 != 0 && length < 10;
    Some(if is_negative { number | u64::MAX << (7 * length) } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_signs() {
        let number = |bytes: &[u8]| signed(&mut Fields::new(bytes, false)).map(u64::cast_signed);
        assert_eq!(number(&[0xC0, 0xBB, 0x78]), Some(-123_456));
        assert_eq!(number(&[0xE5, 0x8E, 0x26]), Some(624_485));
        assert_eq!(number(&[0x7F]), Some(-1));
        assert_eq!(number(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]), Some(-1));
        assert_eq!(number(&[0x80, 0x80]), None);
        assert_eq!(number(&[0xFF; 12]), None);
    }
}
