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

use crate::format::fields::Fields;

const HEADER: usize = 32;

/// Whether the records are packets.
pub(super) fn are_packets(version: u16) -> bool {
    (4..=5).contains(&version)
}

/// A part of the file.
pub(super) enum Packet<'a> {
    Thread(u32, &'a [u8]),
    Method(u64, &'a [u8]),
    Records(u32, &'a [u8]),
    Summary(&'a [u8]),
}

/// The packets, and whether the last one is complete.
pub(super) struct Packets<'a> {
    pub(super) rest: Fields<'a>,
    pub(super) is_truncated: bool,
}

impl<'a> Packets<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Packets<'a> {
        Packets { rest: Fields::new(bytes.get(HEADER..).unwrap_or_default(), false), is_truncated: false }
    }

    /// The next packet. Fails with the number of a kind that is unknown.
    pub(super) fn next(&mut self) -> Result<Option<Packet<'a>>, u8> {
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

/// The records of a thread: method and action, and the times of the wall and of the thread.
pub(super) struct Records<'a> {
    rest: Fields<'a>,
    has_two_clocks: bool,
    last: (u64, u64, u64),
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8], version: u16) -> Records<'a> {
        Records { rest: Fields::new(bytes, false), has_two_clocks: version == 5, last: (0, 0, 0) }
    }

    /// Whether all records were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

impl Iterator for Records<'_> {
    type Item = (u64, u64, u64);

    /// The next record; `None` also if it is incomplete.
    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.rest;
        let (method, wall, cpu) = self.last;
        let method = method.wrapping_add(signed(&mut rest)?);
        let wall = wall.wrapping_add(rest.varint()?);
        let cpu = if self.has_two_clocks { cpu.wrapping_add(rest.varint()?) } else { wall };
        self.rest = rest;
        self.last = (method, wall, cpu);
        Some(self.last)
    }
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
