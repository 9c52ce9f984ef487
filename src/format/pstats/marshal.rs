//! Python's `marshal` data, as far as profiles need it: numbers, text, tuples, lists, dicts.
//!
//! Version 3 and later mark objects that will be referred to again (bit 7 of the type); Python 2
//! numbers the strings it writes as interned. Both kinds of reference are resolved here.

use std::borrow::Cow;
use std::rc::Rc;

/// A Python object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object<'a> {
    /// `None`, `...`, and the like: nothing a profile needs.
    Nothing,
    Integer(i64),
    Float(f64),
    /// Of the input itself, wherever it is UTF-8: a text for every name took more memory than the input.
    Text(Cow<'a, str>),
    /// A tuple or a list.
    Sequence(Rc<[Object<'a>]>),
    Dict(Rc<[(Object<'a>, Object<'a>)]>),
}

/// Why bytes are no such data, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// How deeply objects may lie within each other: a profile needs five levels.
const MAX_DEPTH: usize = 8;

const REFERRED_TO: u8 = 0x80;

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    objects: Vec<Object<'a>>,
    interned: Vec<Object<'a>>,
    /// Items of the sequences that are being read, the innermost last.
    items: Vec<Object<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, objects: Vec::new(), interned: Vec::new(), items: Vec::new() }
    }

    /// Enters the dict that comes next; [`Reader::entry`] goes through it.
    pub(super) fn open_dict(&mut self) -> Result<(), Broken> {
        let kind = self.take(1)?[0];
        if kind & !REFERRED_TO != b'{' {
            return Err(Broken { at: 0, what: "the data are no dict of functions" });
        }
        if kind & REFERRED_TO != 0 {
            // Nothing within the dict refers to the dict, but its place counts.
            self.objects.push(Object::Nothing);
        }
        Ok(())
    }

    /// The next key and value of the dict that was entered; `None` behind its end.
    pub(super) fn entry(&mut self) -> Result<Option<(Object<'a>, Object<'a>)>, Broken> {
        let Some(key) = self.nested(1)? else { return Ok(None) };
        let value = self.nested(1)?.ok_or_else(|| self.broken("a key without a value"))?;
        Ok(Some((key, value)))
    }

    /// Reads an object; `None` stands for the mark that ends a dict.
    fn nested(&mut self, depth: usize) -> Result<Option<Object<'a>>, Broken> {
        if depth > MAX_DEPTH {
            return Err(self.broken("objects nested too deeply for a profile"));
        }
        let kind = self.take(1)?[0];
        let place = (kind & REFERRED_TO != 0).then(|| {
            self.objects.push(Object::Nothing);
            self.objects.len() - 1
        });
        let object = match kind & !REFERRED_TO {
            b'0' => return Ok(None),
            b'r' => return self.reference(|reader| &reader.objects).map(Some),
            b'R' => return self.reference(|reader| &reader.interned).map(Some),
            b'(' | b'[' => self.sequence(Reader::count, depth)?,
            b')' => self.sequence(Reader::byte, depth)?,
            b'{' => self.dict(depth)?,
            kind => self.leaf(kind)?,
        };
        if let Some(place) = place {
            self.objects[place] = object.clone();
        }
        Ok(Some(object))
    }

    fn reference(&mut self, table: fn(&Self) -> &Vec<Object<'a>>) -> Result<Object<'a>, Broken> {
        let index = self.count()?;
        table(self)
            .get(index)
            .cloned()
            .ok_or_else(|| self.broken("a reference to an object that is not there"))
    }

    fn sequence(
        &mut self,
        length: fn(&mut Self) -> Result<usize, Broken>,
        depth: usize,
    ) -> Result<Object<'a>, Broken> {
        let length = length(self)?;
        let start = self.items.len();
        for _ in 0..length {
            let item =
                self.nested(depth + 1)?.ok_or_else(|| self.broken("the end of a dict within a tuple"))?;
            self.items.push(item);
        }
        Ok(Object::Sequence(self.items.drain(start..).collect()))
    }

    fn dict(&mut self, depth: usize) -> Result<Object<'a>, Broken> {
        let mut items = Vec::new();
        while let Some(key) = self.nested(depth + 1)? {
            let value = self.nested(depth + 1)?.ok_or_else(|| self.broken("a key without a value"))?;
            items.push((key, value));
        }
        Ok(Object::Dict(items.into()))
    }

    fn leaf(&mut self, kind: u8) -> Result<Object<'a>, Broken> {
        Ok(match kind {
            b'N' | b'.' | b'S' => Object::Nothing,
            b'F' => Object::Integer(0),
            b'T' => Object::Integer(1),
            b'i' => Object::Integer(i64::from(i32::from_le_bytes(self.array()?))),
            b'I' => Object::Integer(i64::from_le_bytes(self.array()?)),
            b'l' => self.long()?,
            b'g' => Object::Float(f64::from_le_bytes(self.array()?)),
            b'f' => {
                let length = self.byte()?;
                let text = self.take(length)?;
                let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
                Object::Float(number.ok_or_else(|| self.broken("a float that is none"))?)
            }
            b's' | b'u' | b'a' | b'A' => self.text(Reader::count)?,
            b'z' | b'Z' => self.text(Reader::byte)?,
            b't' => {
                let text = self.text(Reader::count)?;
                self.interned.push(text.clone());
                text
            }
            _ => return Err(self.broken("a type of object that profiles do not hold")),
        })
    }

    fn text(&mut self, length: fn(&mut Self) -> Result<usize, Broken>) -> Result<Object<'a>, Broken> {
        let length = length(self)?;
        Ok(Object::Text(String::from_utf8_lossy(self.take(length)?)))
    }

    /// An integer of any size, in digits of 15 bits.
    fn long(&mut self) -> Result<Object<'a>, Broken> {
        let size = i32::from_le_bytes(self.array()?);
        let mut value: i64 = 0;
        for index in 0..size.unsigned_abs() {
            let digit = i64::from(u16::from_le_bytes(self.array()?));
            let shifted =
                15_u32.checked_mul(index).and_then(|shift| digit.checked_mul(1_i64.checked_shl(shift)?));
            let sum =
                if digit == 0 { Some(value) } else { shifted.and_then(|digit| value.checked_add(digit)) };
            value = sum.ok_or_else(|| self.broken("a number that does not fit 64 bits"))?;
        }
        Ok(Object::Integer(if size < 0 { -value } else { value }))
    }

    fn byte(&mut self) -> Result<usize, Broken> {
        Ok(usize::from(self.take(1)?[0]))
    }

    fn count(&mut self) -> Result<usize, Broken> {
        let count = i32::from_le_bytes(self.array()?);
        usize::try_from(count).map_err(|_| self.broken("a negative length"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.broken("the input ends within an object"))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            return Err(self.broken("the input ends within an object"));
        }
        self.at += count;
        Ok(&rest[..count])
    }

    fn broken(&self, what: &'static str) -> Broken {
        Broken { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Object<'_> {
        Object::Text(text.into())
    }

    /// One object with all that is in it.
    fn object(bytes: &[u8]) -> Result<Object<'_>, Broken> {
        let mut reader = Reader::new(bytes);
        reader.nested(0)?.ok_or(Broken { at: 0, what: "the end of a dict" })
    }

    #[test]
    fn references_of_both_kinds_are_resolved() {
        // marshal.dumps(("ab", "ab")) as Python 3 writes it, then as Python 2 does.
        let three = b"\xa9\x02\xda\x02abr\x01\x00\x00\x00";
        let two = b"(\x02\x00\x00\x00t\x02\x00\x00\x00abR\x00\x00\x00\x00";
        let expected = Object::Sequence([text("ab"), text("ab")].into());
        assert_eq!(object(three), Ok(expected.clone()));
        assert_eq!(object(two), Ok(expected));
    }

    #[test]
    fn numbers_have_many_forms() {
        let read = |bytes: &'static [u8]| object(bytes).unwrap();
        assert_eq!(read(b"i\xfe\xff\xff\xff"), Object::Integer(-2));
        assert_eq!(read(b"l\x03\x00\x00\x00\x01\x00\x00\x00\x04\x00"), Object::Integer(1 + (4 << 30)));
        assert_eq!(read(b"l\xff\xff\xff\xff\x07\x00"), Object::Integer(-7));
        assert_eq!(read(b"f\x030.5"), Object::Float(0.5));
        assert_eq!(read(b"g\x00\x00\x00\x00\x00\x00\xe0\x3f"), Object::Float(0.5));
    }

    #[test]
    fn what_is_broken_is_said() {
        for bytes in [&b"(\xff\xff\xff\x7f"[..], b"z\xffab", b"r\x00\x00\x00\x00", b"{0x", b"\xff", b"", b"0"]
        {
            assert!(object(bytes).is_err() || bytes == b"{0x", "{bytes:?}");
        }
        assert!(object(&[b')', 1].repeat(1000)).is_err());
        assert!(object(b"l\xff\xff\xff\x7f\x01\x00").is_err());
    }
}
