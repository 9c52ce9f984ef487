//! The protobuf wire format: reads tags, varints and length-delimited fields without decoding messages.

use crate::format::varint::first_number;

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    pub(crate) value: Value<'a>,
}

/// The encoded value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Eight or four fixed bytes.
    Fixed(u64),
}

/// Why the bytes are not a sequence of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireError {
    /// The bytes end within a field; more bytes may complete it.
    Truncated,
    /// A varint of more than 64 bits, a group, field number 0, or a length past the address space.
    Malformed,
}

/// Reads fields from the front of a byte slice.
///
/// Reading is inlined, and functions that are not inlined take the remaining bytes by value, so that a loop over fields
/// keeps its position in registers: this saves a fifth of the instructions for expanding stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'a> {
    rest: &'a [u8],
    length: usize,
}

#[expect(clippy::inline_always, reason = "see `Wire`")]
impl<'a> Wire<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Wire { rest: bytes, length: bytes.len() }
    }

    /// Bytes read so far.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    #[inline]
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Result<u64, WireError> {
        // Ids and small counts have one or two bytes, which are decoded here without a loop.
        let (number, rest) = match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => (u64::from(*byte), rest),
            [low, high, rest @ ..] if *high < 0x80 => (u64::from(low & 0x7F) | u64::from(*high) << 7, rest),
            rest => long_varint(rest)?,
        };
        self.rest = rest;
        Ok(number)
    }

    /// The next field, or `None` at the end.
    #[inline(always)]
    pub(crate) fn field(&mut self) -> Result<Option<Field<'a>>, WireError> {
        if self.is_at_end() {
            return Ok(None);
        }
        // The tags of the first fifteen fields have one byte.
        let (number, kind) = match self.rest {
            [tag @ 8..0x80, rest @ ..] => {
                self.rest = rest;
                (u32::from(tag >> 3), tag & 7)
            }
            _ => self.long_tag()?,
        };
        let value = match kind {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed(fixed(self.take(8)?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| WireError::Malformed)?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed(fixed(self.take(4)?)),
            _ => return Err(WireError::Malformed),
        };
        Ok(Some(Field { number, value }))
    }

    /// The number of a field, and the kind of its value.
    fn long_tag(&mut self) -> Result<(u32, u8), WireError> {
        let tag = self.varint()?;
        match u32::try_from(tag >> 3) {
            Ok(number @ 1..) => Ok((number, tag as u8 & 7)),
            _ => Err(WireError::Malformed),
        }
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// A varint of any length, and the rest.
fn long_varint(bytes: &[u8]) -> Result<(u64, &[u8]), WireError> {
    let (mut number, mut known) = (0, 0);
    if let Some((first, rest)) = bytes.split_first_chunk() {
        let (found, length) = first_number(*first);
        if length <= first.len() {
            return Ok((found, &bytes[length..]));
        }
        // Times since 1970 in nanoseconds take nine bytes.
        if let [last @ ..0x80, rest @ ..] = rest {
            return Ok((found | u64::from(*last) << 56, rest));
        }
        (number, known) = (found, first.len());
    }
    for (count, &byte) in bytes.iter().enumerate().take(10).skip(known) {
        number |= u64::from(byte & 0x7F) << (7 * count);
        if byte < 0x80 {
            // Only one bit of the tenth byte fits.
            let fits = count < 9 || byte <= 1;
            return if fits { Ok((number, &bytes[count + 1..])) } else { Err(WireError::Malformed) };
        }
    }
    Err(if bytes.len() < 10 { WireError::Truncated } else { WireError::Malformed })
}

fn fixed(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Calls `add` with the numbers of a repeated field, packed or not.
pub(crate) fn numbers(value: Value<'_>, mut add: impl FnMut(u64)) -> Result<(), WireError> {
    match value {
        Value::Varint(number) => add(number),
        Value::Bytes(packed) => {
            let mut wire = Wire::new(packed);
            while !wire.is_at_end() {
                add(wire.varint()?);
            }
        }
        Value::Fixed(_) => return Err(WireError::Malformed),
    }
    Ok(())
}

/// Appends `number` as a varint.
pub(crate) fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a length-delimited field: a message, a text, or packed numbers.
pub(crate) fn push_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    push_varint(out, u64::from(number) << 3 | 2);
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_round_trip(number: u64) {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, number);
            prop_assert_eq!(Wire::new(&bytes).varint(), Ok(number));
            bytes.pop();
            prop_assert_eq!(Wire::new(&bytes).varint(), Err(WireError::Truncated));
        }
    }

    #[test]
    fn lengths_past_the_end_are_truncation_and_groups_are_malformed() {
        assert_eq!(Wire::new(&[0x0A, 5, 1]).field(), Err(WireError::Truncated));
        assert_eq!(Wire::new(&[0x0B]).field(), Err(WireError::Malformed));
        assert_eq!(Wire::new(&[0x00]).field(), Err(WireError::Malformed));
        assert_eq!(Wire::new(&[0xFF; 11]).varint(), Err(WireError::Malformed));
    }
}
