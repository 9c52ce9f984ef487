//! Numbers and strings of binary formats.

use crate::format::varint::first_number;

/// Reads fields from the front of a byte slice, in the byte order of the recording machine. Methods return `None` at the
/// end of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], is_big_endian: bool) -> Self {
        Fields { bytes, is_big_endian }
    }

    /// The same bytes from `offset` on, at most `size` of them.
    pub(super) fn part(&self, offset: u64, size: u64) -> Fields<'a> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let rest = &self.bytes[start..];
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        Fields { bytes: &rest[..size], ..*self }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn is_big_endian(&self) -> bool {
        self.is_big_endian
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Skips `count` 64-bit numbers.
    pub(super) fn skip_longs(&mut self, count: u64) -> Option<()> {
        self.take(usize::try_from(count.checked_mul(8)?).ok()?).map(|_| ())
    }

    #[inline]
    pub(super) fn u8(&mut self) -> Option<u8> {
        let [byte] = self.array()?;
        Some(byte)
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Option<u16> {
        let bytes = self.array()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Option<u32> {
        let bytes = self.array()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    #[inline]
    pub(super) fn u64(&mut self) -> Option<u64> {
        let bytes = self.array()?;
        Some(if self.is_big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// A LEB128 integer of up to 64 bits: seven bits per byte, lowest first.
    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let (&byte, rest) = self.bytes.split_first()?;
        if byte < 0x80 {
            self.bytes = rest;
            return Some(byte.into());
        }
        if let Some(first) = self.bytes.first_chunk() {
            let (number, length) = first_number(*first);
            if length <= first.len() {
                self.bytes = &self.bytes[length..];
                return Some(number);
            }
        }
        let mut number = 0;
        for (index, &byte) in self.bytes.iter().enumerate().take(10) {
            number |= u64::from(byte & 0x7F) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Some(number);
            }
        }
        None
    }

    /// A zero-terminated string, or the rest of the data.
    pub(super) fn text(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.bytes).unwrap_or(self.bytes.len());
        let text = &self.bytes[..end];
        self.bytes = &self.bytes[(end + 1).min(self.bytes.len())..];
        text
    }

    /// A string preceded by the length of its padded field.
    pub(super) fn sized_text(&mut self) -> Option<&'a [u8]> {
        let space = self.u32()? as usize;
        let space = self.take(space)?;
        Some(&space[..memchr::memchr(0, space).unwrap_or(space.len())])
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*array)
    }
}
