//! Python's `marshal` data, as far as profiles need it: numbers, text, tuples, lists, dicts.
//!
//! Version 3 and later mark objects that will be referred to again (bit 7 of the type); Python 2
//! numbers the strings it writes as interned. Both kinds of reference are resolved here.
//!
//! No object is built: a tuple is where its items begin, and what is referred to is read once more.

/// A Python object, or where its parts begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Object<'a> {
    /// `None`, `...`, and the like: nothing a profile needs.
    Nothing,
    Integer(i64),
    Float(f64),
    /// UTF-8, but for what Python 2 and file systems hold.
    Text(&'a [u8]),
    /// A tuple or a list of this length.
    Sequence(Place, usize),
    Dict(Place),
}

/// Where the parts of an object begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

/// Why bytes are no such data, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

const REFERRED_TO: u8 = 0x80;

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the objects are that can be referred to.
    marked: Vec<usize>,
    interned: Vec<usize>,
    /// Whether this is read for the second time, because something refers to it: then its marks are known.
    is_again: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, marked: Vec::new(), interned: Vec::new(), is_again: false }
    }

    /// The next object; `None` stands for the mark that ends a dict. The parts of a tuple or a dict are read
    /// by [`Reader::within`], and before anything else.
    pub(super) fn next(&mut self) -> Result<Option<Object<'a>>, Broken> {
        let start = self.at;
        let kind = self.byte()?;
        match kind & !REFERRED_TO {
            b'0' => return Ok(None),
            b'r' => return self.reference(|reader| &reader.marked).map(Some),
            b'R' => return self.reference(|reader| &reader.interned).map(Some),
            b't' if !self.is_again => self.interned.push(start),
            _ => {}
        }
        if kind & REFERRED_TO != 0 && !self.is_again {
            self.marked.push(start);
        }
        self.object(kind & !REFERRED_TO).map(Some)
    }

    /// The next object, which is there.
    pub(super) fn part(&mut self) -> Result<Object<'a>, Broken> {
        self.next()?.ok_or_else(|| self.broken("the end of a dict, and not an object"))
    }

    /// Reads the parts of an object, wherever they are.
    pub(super) fn within<T>(
        &mut self,
        Place(start): Place,
        read: impl FnOnce(&mut Self) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        if self.at == start {
            return read(self);
        }
        let (behind, was_again) = (self.at, self.is_again);
        (self.at, self.is_again) = (start, true);
        let result = read(self)?;
        (self.at, self.is_again) = (behind, was_again);
        Ok(result)
    }

    fn reference(&mut self, table: fn(&Self) -> &Vec<usize>) -> Result<Object<'a>, Broken> {
        let index = self.count()?;
        let there = *table(self)
            .get(index)
            .ok_or_else(|| self.broken("a reference to an object that is not there"))?;
        // What is marked is no reference itself, so that this ends.
        let behind = std::mem::replace(&mut self.at, there);
        let kind = self.byte()?;
        let object = self.object(kind & !REFERRED_TO);
        self.at = behind;
        object
    }

    fn object(&mut self, kind: u8) -> Result<Object<'a>, Broken> {
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
                let text = self.take(length.into())?;
                let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
                Object::Float(number.ok_or_else(|| self.broken("a float that is none"))?)
            }
            b's' | b'u' | b'a' | b'A' | b't' => {
                let length = self.count()?;
                Object::Text(self.take(length)?)
            }
            b'z' | b'Z' => {
                let length = self.byte()?;
                Object::Text(self.take(length.into())?)
            }
            b'(' | b'[' => {
                let length = self.count()?;
                Object::Sequence(Place(self.at), length)
            }
            b')' => {
                let length = self.byte()?;
                Object::Sequence(Place(self.at), length.into())
            }
            b'{' => Object::Dict(Place(self.at)),
            _ => return Err(self.broken("a type of object that profiles do not hold")),
        })
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

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
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

    /// That the data are wrong where the reader is.
    pub(super) fn broken(&self, what: &'static str) -> Broken {
        Broken { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(bytes: &[u8]) -> Result<Object<'_>, Broken> {
        Reader::new(bytes).part()
    }

    /// The items of the tuple that comes next.
    fn items<'a>(reader: &mut Reader<'a>) -> Result<Vec<Object<'a>>, Broken> {
        let Object::Sequence(place, length) = reader.part()? else {
            return Err(reader.broken("no tuple"));
        };
        reader.within(place, |reader| (0..length).map(|_| reader.part()).collect())
    }

    #[test]
    fn references_of_both_kinds_are_resolved() {
        // marshal.dumps(("ab", "ab")) as Python 3 writes it, then as Python 2 does.
        let three = b"\xa9\x02\xda\x02abr\x01\x00\x00\x00";
        let two = b"(\x02\x00\x00\x00t\x02\x00\x00\x00abR\x00\x00\x00\x00";
        let expected = vec![Object::Text(b"ab"); 2];
        assert_eq!(items(&mut Reader::new(three)), Ok(expected.clone()));
        assert_eq!(items(&mut Reader::new(two)), Ok(expected));
    }

    #[test]
    fn what_is_referred_to_is_read_again_and_numbered_once() {
        // a = (7, "x"); [a, a, "x"], where a is object 0 and "x" is object 2.
        let bytes = b"\xa9\x02\xe9\x07\x00\x00\x00\xda\x01xr\x00\x00\x00\x00r\x02\x00\x00\x00";
        let mut reader = Reader::new(bytes);
        let expected = [Object::Integer(7), Object::Text(b"x")];
        assert_eq!(items(&mut reader).unwrap(), expected);
        assert_eq!(items(&mut reader).unwrap(), expected);
        assert_eq!(reader.part(), Ok(Object::Text(b"x")));
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
        let broken: [&[u8]; 7] = [
            b"z\xffab",
            b"r\x00\x00\x00\x00",
            b"\xf2\x00\x00\x00\x00",
            b"(\xff\xff\xff\xff",
            b"\xff",
            b"",
            b"0",
        ];
        for bytes in broken {
            assert!(object(bytes).is_err(), "{bytes:?}");
        }
        assert!(object(b"l\xff\xff\xff\x7f\x01\x00").is_err());
        // A tuple that holds itself.
        let mut reader = Reader::new(b"\xa9\x01r\x00\x00\x00\x00");
        let Ok(itself) = items(&mut reader) else { panic!("a tuple") };
        assert_eq!(itself, [Object::Sequence(Place(2), 1)]);
    }
}
