//! The tables of a message.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::otlp::sniff::NAME;
use crate::format::text::{hexadecimal, lossy};
use crate::format::wire::{Value, Wire, WireError};

/// The rows of all tables, undecoded.
#[derive(Debug, Default)]
pub(super) struct Dictionary<'a> {
    pub(super) mappings: Vec<&'a [u8]>,
    pub(super) locations: Vec<&'a [u8]>,
    pub(super) functions: Vec<&'a [u8]>,
    links: Vec<&'a [u8]>,
    strings: Vec<&'a [u8]>,
    attributes: Vec<&'a [u8]>,
    pub(super) stacks: Vec<&'a [u8]>,
}

impl<'a> Dictionary<'a> {
    /// Adds the tables of a dictionary.
    pub(super) fn add(&mut self, bytes: &'a [u8]) -> Result<(), WireError> {
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            let Value::Bytes(row) = field.value else { return Err(WireError::Malformed) };
            match field.number {
                1 => self.mappings.push(row),
                2 => self.locations.push(row),
                3 => self.functions.push(row),
                4 => self.links.push(row),
                5 => self.strings.push(row),
                6 => self.attributes.push(row),
                7 => self.stacks.push(row),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    pub(super) fn string(&self, row: u64) -> Option<Cow<'a, str>> {
        at(&self.strings, row).map(lossy)
    }

    /// The key of an attribute, as bytes.
    pub(super) fn attribute_key(&self, row: u64) -> Option<&'a [u8]> {
        let mut wire = Wire::new(at(&self.attributes, row)?);
        while let Ok(Some(field)) = wire.field() {
            match (field.number, field.value) {
                (1, Value::Bytes(key)) => return Some(key),
                (1, Value::Varint(key)) => return at(&self.strings, key),
                _ => {}
            }
        }
        Some(b"")
    }

    pub(super) fn has_link(&self, row: u64) -> bool {
        at(&self.links, row).is_some()
    }

    /// The encoded attribute in a row.
    pub(super) fn attribute(&self, row: u64) -> Option<&'a [u8]> {
        at(&self.attributes, row)
    }

    /// The trace and the span to which a sample belongs, in hexadecimal.
    pub(super) fn link(&self, row: u64) -> Result<[String; 2], ParseError> {
        let mut ids = [String::new(), String::new()];
        let mut wire = Wire::new(at(&self.links, row).ok_or_else(|| missing("link", row))?);
        while let Some(field) = wire.field().map_err(|_| malformed("link", row))? {
            if let (number @ 1..=2, Value::Bytes(id)) = (field.number, field.value) {
                ids[number as usize - 1] = hexadecimal(id);
            }
        }
        Ok(ids)
    }
}

/// A row of a table.
pub(super) fn at<T: Copy>(table: &[T], row: u64) -> Option<T> {
    usize::try_from(row).ok().and_then(|row| table.get(row)).copied()
}

/// The error for a row that a sample refers to.
pub(super) fn missing(what: &str, row: u64) -> ParseError {
    ParseError::whole(NAME, format!("a sample refers to {what} {row}, which does not exist"))
}

/// The error for a row that cannot be decoded.
pub(super) fn malformed(what: &str, row: u64) -> ParseError {
    ParseError::whole(NAME, format!("{what} {row} is malformed"))
}
