//! Decodes the numbers and strings of a recording.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::varint::first_number;

/// The name of the format.
pub(super) const NAME: &str = "jfr";

/// A position in a chunk. All reads are checked against the chunk's end.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of `bytes` in the input, for errors.
    base: u64,
    /// Whether integers have a variable length; otherwise they are as wide as their type.
    compressed: bool,
}

/// The value of a string field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum PooledText<'a> {
    #[default]
    Null,
    Here(Cow<'a, str>),
    /// The id of an entry in the pool of strings.
    Pooled(u64),
}

impl PooledText<'_> {
    /// The text, if it is stored inline; otherwise empty.
    pub(super) fn here(&self) -> &str {
        if let PooledText::Here(text) = self { text } else { "" }
    }
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], base: u64, compressed: bool) -> Self {
        Cursor { bytes, at: 0, base, compressed }
    }

    /// A cursor over the same bytes, at `offset`.
    pub(super) fn at(&self, offset: usize) -> Cursor<'a> {
        Cursor { at: offset.min(self.bytes.len()), ..*self }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::at_byte(NAME, self.base + self.at as u64, message)
    }

    /// The event that starts here: a cursor positioned after its size, and limited to the event. This
    /// cursor moves past the event.
    pub(super) fn event(&mut self) -> Result<Cursor<'a>, ParseError> {
        let start = self.at;
        let mut event = self.clone();
        let size = event.int()? as usize;
        let end = start.checked_add(size).filter(|&end| end >= event.at && end <= self.bytes.len());
        let Some(end) = end.filter(|_| size > 0) else {
            return Err(self.error(format!("invalid event size: {size} bytes")));
        };
        event.bytes = &event.bytes[..end];
        self.at = end;
        Ok(event)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, ParseError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub(super) fn float(&mut self) -> Result<f64, ParseError> {
        Ok(f32::from_be_bytes(self.array()?).into())
    }

    pub(super) fn double(&mut self) -> Result<f64, ParseError> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    pub(super) fn short(&mut self) -> Result<i64, ParseError> {
        if self.compressed { self.variable() } else { Ok(i16::from_be_bytes(self.array()?).into()) }
    }

    /// A 32-bit integer, not sign-extended.
    #[inline]
    pub(super) fn int(&mut self) -> Result<u32, ParseError> {
        if self.compressed { Ok(self.variable()? as u32) } else { Ok(u32::from_be_bytes(self.array()?)) }
    }

    #[inline]
    pub(super) fn long(&mut self) -> Result<i64, ParseError> {
        if self.compressed { self.variable() } else { Ok(i64::from_be_bytes(self.array()?)) }
    }

    /// The length of the list that follows. Each item takes at least a byte, which limits what a corrupt file can claim.
    pub(super) fn count(&mut self) -> Result<usize, ParseError> {
        let count = self.int()? as usize;
        if count > self.left() {
            return Err(self.error(format!(
                "a list of {count} items does not fit in the remaining {} bytes",
                self.left()
            )));
        }
        Ok(count)
    }

    pub(super) fn text(&mut self) -> Result<PooledText<'a>, ParseError> {
        Ok(match self.byte()? {
            0 => PooledText::Null,
            1 => PooledText::Here(Cow::Borrowed("")),
            2 => PooledText::Pooled(self.long()? as u64),
            3 => {
                let length = self.count()?;
                PooledText::Here(String::from_utf8_lossy(self.take(length)?))
            }
            4 => PooledText::Here(Cow::Owned(self.characters()?)),
            5 => {
                let length = self.count()?;
                PooledText::Here(self.take(length)?.iter().map(|&byte| char::from(byte)).collect())
            }
            kind => return Err(self.error(format!("unknown string encoding {kind}"))),
        })
    }

    /// Text of version 0.9 whose length takes two bytes.
    pub(super) fn short_text(&mut self) -> Result<PooledText<'a>, ParseError> {
        let length = u16::from_be_bytes(self.array()?);
        Ok(PooledText::Here(String::from_utf8_lossy(self.take(length.into())?)))
    }

    /// Text of version 0.9 in UTF-16.
    pub(super) fn wide_text(&mut self) -> Result<PooledText<'a>, ParseError> {
        Ok(PooledText::Here(Cow::Owned(self.characters()?)))
    }

    /// UTF-16 units, each encoded as an integer.
    fn characters(&mut self) -> Result<String, ParseError> {
        let count = self.count()?;
        let mut units = Vec::new();
        for _ in 0..count {
            units.push(self.short()? as u16);
        }
        Ok(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    }

    /// A LEB128 integer: seven bits per byte, lowest first, but a ninth byte contributes all eight.
    #[inline]
    fn variable(&mut self) -> Result<i64, ParseError> {
        // Most numbers are small.
        match self.bytes[self.at..] {
            [byte, ..] if byte < 0x80 => {
                self.at += 1;
                Ok(byte.into())
            }
            [low, high, ..] if high < 0x80 => {
                self.at += 2;
                Ok(i64::from(low & 0x7F) | i64::from(high) << 7)
            }
            _ => self.long_variable(),
        }
    }

    #[inline(never)]
    fn long_variable(&mut self) -> Result<i64, ParseError> {
        if let Some((first, [ninth, ..])) = self.bytes[self.at..].split_first_chunk() {
            let (number, length) = first_number(*first);
            self.at += length;
            let ninth = if length > first.len() { u64::from(*ninth) << 56 } else { 0 };
            return Ok((number | ninth).cast_signed());
        }
        self.last_variable()
    }

    /// A number among the last bytes.
    fn last_variable(&mut self) -> Result<i64, ParseError> {
        let mut value = 0_u64;
        for (index, &byte) in self.bytes[self.at..].iter().take(9).enumerate() {
            if index == 8 || byte & 0x80 == 0 {
                self.at += index + 1;
                return Ok((value | u64::from(byte) << (7 * index)) as i64);
            }
            value |= u64::from(byte & 0x7F) << (7 * index);
        }
        Err(self.error("the data ends within a number"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let Some(&bytes) = self.bytes[self.at..].first_chunk() else {
            return Err(self.error("the data ends within a number"));
        };
        self.at += N;
        Ok(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ParseError> {
        let Some(taken) = self.bytes[self.at..].get(..count) else {
            return Err(self.error(format!(
                "a field of {count} bytes does not fit in the remaining {} bytes",
                self.left()
            )));
        };
        self.at += count;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_one_to_nine_bytes() {
        let read = |bytes: &[u8]| Cursor::new(bytes, 0, true).long().ok();
        assert_eq!(read(&[5]), Some(5));
        assert_eq!(read(&[0x81, 1]), Some(129));
        assert_eq!(read(&[0x80, 0x80, 0x80, 0]), Some(0));
        assert_eq!(read(&[0xFF; 9]), Some(-1));
        assert_eq!(read(&[0xFF; 8]), None);
        assert_eq!(Cursor::new(&[0, 0, 1, 0], 0, false).int().ok(), Some(256));
    }

    #[test]
    fn strings_have_five_encodings() {
        let read = |bytes: &'static [u8]| Cursor::new(bytes, 0, true).text().unwrap();
        assert_eq!(read(&[0]), PooledText::Null);
        assert_eq!(read(&[2, 7]), PooledText::Pooled(7));
        for bytes in [&[3, 2, 0xC3, 0xA4][..], &[4, 1, 0xE4, 1], &[5, 1, 0xE4]] {
            assert_eq!(read(bytes), PooledText::Here("ä".into()));
        }
        let error = Cursor::new(&[3, 200, 1, 65], 0, true).text().unwrap_err();
        assert_eq!(
            error.to_string(),
            "jfr: a list of 200 items does not fit in the remaining 1 bytes (byte 3)"
        );
    }
}
