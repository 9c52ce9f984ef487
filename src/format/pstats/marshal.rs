//! Reads the types of Python's `marshal` format that profiles use: numbers, strings, tuples, lists, dicts, and code (`code.rs`).
//!
//! In version 3 and later, objects that will be referred to again are marked (bit 7 of the type). Python 2 numbers
//! interned strings. Both kinds of reference are resolved here.
//!
//! No objects are built: a tuple is the position of its items, and a referenced object is read again.

use hashbrown::HashMap;

/// A Python object; for a collection, the position of its items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Object<'a> {
    /// `None`, `...`, and others that profiles do not need.
    Nothing,
    Integer(i64),
    Float(f64),
    Text(MarshalText<'a>),
    /// A tuple or a list: the position of its items, and its length.
    Sequence(Items, usize),
    Dict(Items),
    /// Not an object, but the marker that ends a dict.
    End,
}

/// A string. It may not be valid UTF-8, because Python 2 and file systems allow any bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarshalText<'a> {
    pub(super) bytes: &'a [u8],
    /// Its number among the marked objects, if it is one. All references to it have the same number.
    pub(super) mark: Option<u32>,
}

/// The position of the items of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Items(usize);

/// The position to return to after the items of an object, from [`MarshalReader::enter`].
#[derive(Clone, Copy)]
pub(super) struct Outside {
    at: usize,
    is_again: bool,
}

/// A malformed object, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

const REFERRED_TO: u8 = 0x80;

pub(super) struct MarshalReader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// The positions of objects that can be referred to.
    pub(super) marked: Vec<usize>,
    /// The positions of strings that Python 2 can refer to.
    interned: Vec<usize>,
    /// Whether this object is being read again because of a reference, so that its marks are already known.
    is_again: bool,
    /// The names of code objects and where they end, by where they begin.
    pub(super) codes: HashMap<usize, (MarshalText<'a>, usize)>,
}

impl<'a> MarshalReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        MarshalReader {
            bytes,
            at: 0,
            marked: Vec::new(),
            interned: Vec::new(),
            is_again: false,
            codes: HashMap::new(),
        }
    }

    /// The next object. Items of a collection must be read next, after [`MarshalReader::enter`].
    pub(super) fn next(&mut self) -> Result<Object<'a>, Broken> {
        let known = self.marked.len();
        let kind = self.begin()?;
        match kind & !REFERRED_TO {
            b'0' => Ok(Object::End),
            b'r' => self.reference(true),
            b'R' => self.reference(false),
            _ => {
                let mark = u32::try_from(known).ok().filter(|_| self.marked.len() > known);
                self.object(kind, mark)
            }
        }
    }

    /// The type of the next object, which is marked if it can be referred to.
    #[inline]
    pub(super) fn begin(&mut self) -> Result<u8, Broken> {
        let start = self.at;
        let kind = self.byte()?;
        if !self.is_again {
            if kind == b't' || kind == b't' | REFERRED_TO {
                self.interned.push(start);
            }
            if kind & REFERRED_TO != 0 && !matches!(kind & !REFERRED_TO, b'0' | b'r' | b'R') {
                self.marked.push(start);
            }
        }
        Ok(kind)
    }

    /// If the next object is a reference to a marked one, the number of that object.
    pub(super) fn reference_ahead(&self) -> Option<usize> {
        match *self.bytes.get(self.at..self.at + 5)? {
            [b'r', a, b, c, d] => usize::try_from(i32::from_le_bytes([a, b, c, d])).ok(),
            _ => None,
        }
    }

    /// Moves past a reference.
    pub(super) fn skip_reference(&mut self) {
        self.at += 5;
    }

    /// Moves to the items of an object.
    pub(super) fn enter(&mut self, Items(start): Items) -> Option<Outside> {
        if self.at == start {
            return None;
        }
        let outside = Outside { at: self.at, is_again: self.is_again };
        (self.at, self.is_again) = (start, true);
        Some(outside)
    }

    /// Moves past an object whose items have all been read.
    pub(super) fn leave(&mut self, outside: Option<Outside>) {
        if let Some(Outside { at, is_again }) = outside {
            (self.at, self.is_again) = (at, is_again);
        }
    }

    fn reference(&mut self, is_marked: bool) -> Result<Object<'a>, Broken> {
        let index = self.count()?;
        let table = if is_marked { &self.marked } else { &self.interned };
        let there =
            *table.get(index).ok_or_else(|| self.broken("reference to an object that does not exist"))?;
        // A marked object is never a reference itself, so this terminates.
        let behind = std::mem::replace(&mut self.at, there);
        let kind = self.byte()?;
        let mark = u32::try_from(index).ok().filter(|_| is_marked);
        // Code is still being read where something within it refers to it.
        let is_within = kind & !REFERRED_TO == b'c' && !self.codes.contains_key(&self.at);
        let object =
            if is_within { Err(self.broken("code refers to itself")) } else { self.object(kind, mark) };
        self.at = behind;
        object
    }

    #[inline]
    pub(super) fn object(&mut self, kind: u8, mark: Option<u32>) -> Result<Object<'a>, Broken> {
        Ok(match kind & !REFERRED_TO {
            b'N' | b'.' | b'S' => Object::Nothing,
            b'F' => Object::Integer(0),
            b'T' => Object::Integer(1),
            b'i' => Object::Integer(i64::from(i32::from_le_bytes(self.array()?))),
            b'I' => Object::Integer(i64::from_le_bytes(self.array()?)),
            b'l' => self.long()?,
            b'g' => Object::Float(f64::from_le_bytes(self.array()?)),
            b'f' => {
                let length = self.byte()?;
                let text = self.take(length.into())?;
                let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
                Object::Float(number.ok_or_else(|| self.broken("malformed float"))?)
            }
            b's' | b'u' | b'a' | b'A' | b't' => {
                let length = self.count()?;
                Object::Text(MarshalText { bytes: self.take(length)?, mark })
            }
            b'z' | b'Z' => {
                let length = self.byte()?;
                Object::Text(MarshalText { bytes: self.take(length.into())?, mark })
            }
            b'(' | b'[' => {
                let length = self.count()?;
                Object::Sequence(Items(self.at), length)
            }
            b')' => {
                let length = self.byte()?;
                Object::Sequence(Items(self.at), length.into())
            }
            b'{' => Object::Dict(Items(self.at)),
            b'c' => Object::Text(self.code(mark)?),
            _ => return Err(self.broken("unexpected object type")),
        })
    }

    /// Reads an integer of any size, in digits of 15 bits.
    fn long(&mut self) -> Result<Object<'a>, Broken> {
        let size = i32::from_le_bytes(self.array()?);
        let mut value: i64 = 0;
        for index in 0..size.unsigned_abs() {
            let digit = i64::from(u16::from_le_bytes(self.array()?));
            let shifted =
                15_u32.checked_mul(index).and_then(|shift| digit.checked_mul(1_i64.checked_shl(shift)?));
            let sum =
                if digit == 0 { Some(value) } else { shifted.and_then(|digit| value.checked_add(digit)) };
            value = sum.ok_or_else(|| self.broken("a number does not fit in 64 bits"))?;
        }
        Ok(Object::Integer(if size < 0 { -value } else { value }))
    }

    pub(super) fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn count(&mut self) -> Result<usize, Broken> {
        let count = i32::from_le_bytes(self.array()?);
        usize::try_from(count).map_err(|_| self.broken("a negative length"))
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.broken("file is truncated within an object"))
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            return Err(self.broken("file is truncated within an object"));
        }
        self.at += count;
        Ok(&rest[..count])
    }

    /// An error at the current position.
    pub(super) fn broken(&self, what: &'static str) -> Broken {
        Broken { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(bytes: &[u8]) -> Result<Object<'_>, Broken> {
        MarshalReader::new(bytes).next()
    }

    fn text(bytes: &[u8], mark: Option<u32>) -> Object<'_> {
        Object::Text(MarshalText { bytes, mark })
    }

    /// Reads the items of the next tuple.
    fn items<'a>(reader: &mut MarshalReader<'a>) -> Result<Vec<Object<'a>>, Broken> {
        let Object::Sequence(place, length) = reader.next()? else {
            return Err(reader.broken("no tuple"));
        };
        let outside = reader.enter(place);
        let items = (0..length).map(|_| reader.next()).collect();
        reader.leave(outside);
        items
    }

    #[test]
    fn references_of_both_kinds_are_resolved() {
        // marshal.dumps(("ab", "ab")) as Python 3 writes it, then as Python 2 does.
        let three = b"\xa9\x02\xda\x02abr\x01\x00\x00\x00";
        let two = b"(\x02\x00\x00\x00t\x02\x00\x00\x00abR\x00\x00\x00\x00";
        assert_eq!(items(&mut MarshalReader::new(three)), Ok(vec![text(b"ab", Some(1)); 2]));
        assert_eq!(items(&mut MarshalReader::new(two)), Ok(vec![text(b"ab", None); 2]));
    }

    #[test]
    fn referenced_objects_are_read_again_but_numbered_once() {
        // a = (7, "x"); [a, a, "x"], where a is object 0 and "x" is object 2.
        let bytes = b"\xa9\x02\xe9\x07\x00\x00\x00\xda\x01xr\x00\x00\x00\x00r\x02\x00\x00\x00";
        let mut reader = MarshalReader::new(bytes);
        assert_eq!(items(&mut reader).unwrap(), [Object::Integer(7), text(b"x", Some(2))]);
        // The string inside the object that is read again has no mark, but a reference to it does.
        assert_eq!(items(&mut reader).unwrap(), [Object::Integer(7), text(b"x", None)]);
        assert_eq!(reader.next(), Ok(text(b"x", Some(2))));
    }

    #[test]
    fn all_encodings_of_numbers_are_read() {
        let read = |bytes: &'static [u8]| object(bytes).unwrap();
        assert_eq!(read(b"i\xfe\xff\xff\xff"), Object::Integer(-2));
        assert_eq!(read(b"l\x03\x00\x00\x00\x01\x00\x00\x00\x04\x00"), Object::Integer(1 + (4 << 30)));
        assert_eq!(read(b"l\xff\xff\xff\xff\x07\x00"), Object::Integer(-7));
        assert_eq!(read(b"f\x030.5"), Object::Float(0.5));
        assert_eq!(read(b"g\x00\x00\x00\x00\x00\x00\xe0\x3f"), Object::Float(0.5));
    }

    #[test]
    fn malformed_objects_are_errors() {
        let broken: [&[u8]; 6] =
            [b"z\xffab", b"r\x00\x00\x00\x00", b"\xf2\x00\x00\x00\x00", b"(\xff\xff\xff\xff", b"\xff", b""];
        for bytes in broken {
            assert!(object(bytes).is_err(), "{bytes:?}");
        }
        assert!(object(b"l\xff\xff\xff\x7f\x01\x00").is_err());
        // A tuple that contains itself.
        let mut reader = MarshalReader::new(b"\xa9\x01r\x00\x00\x00\x00");
        let Ok(itself) = items(&mut reader) else { panic!("a tuple") };
        assert_eq!(itself, [Object::Sequence(Items(2), 1)]);
    }
}
