//! A sample as it is in the file.

use hashbrown::HashSet;

use crate::format::otlp::dictionary::Dictionary;
use crate::format::otlp::numbering::Numbering;
use crate::format::wire::{Value, Wire, WireError, numbers};

/// The fields of a sample.
#[derive(Debug, Default)]
pub(super) struct RawSample {
    /// The row of the stack table, or the first of its locations.
    pub(super) stack: u64,
    /// The number of locations, in versions without a stack table.
    pub(super) length: u64,
    pub(super) values: Vec<i64>,
    pub(super) times: Vec<i64>,
    pub(super) attributes: Vec<u64>,
    pub(super) link: u64,
}

impl RawSample {
    /// Reads a sample. Fails if a field does not have the type that `numbering` gives it.
    pub(super) fn decode(&mut self, bytes: &[u8], numbering: &Numbering) -> Result<(), WireError> {
        (self.stack, self.length, self.link) = (0, 0, 0);
        self.values.clear();
        self.times.clear();
        self.attributes.clear();
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Varint(stack)) => self.stack = stack,
                (2, Value::Varint(length)) if numbering.has_ranges => self.length = length,
                (number, value) if number == numbering.values => {
                    numbers(value, |value| self.values.push(value as i64))?;
                }
                (number, value) if number == numbering.attributes => {
                    numbers(value, |row| self.attributes.push(row))?;
                }
                (number, Value::Varint(link)) if number == numbering.link => self.link = link,
                (number, value) if number == numbering.timestamps => self.add_times(value)?,
                // Fields that are newer than this reader.
                (number, _) if number > numbering.timestamps => {}
                _ => return Err(WireError::Malformed),
            }
        }
        Ok(())
    }

    /// Times are fixed numbers of eight bytes, or varints in the first version.
    fn add_times(&mut self, value: Value<'_>) -> Result<(), WireError> {
        let packed = match value {
            Value::Varint(time) | Value::Fixed(time) => {
                self.times.push(time as i64);
                return Ok(());
            }
            Value::Bytes(packed) => packed,
        };
        if packed.len().is_multiple_of(8) && !are_varints(packed) {
            let times = packed.chunks_exact(8).filter_map(|time| time.first_chunk::<8>());
            self.times.extend(times.map(|time| i64::from_le_bytes(*time)));
            return Ok(());
        }
        numbers(Value::Bytes(packed), |time| self.times.push(time as i64))
    }

    /// Whether the sample could have been meant: its rows exist, and there is a value per time, or only values, or only times.
    /// The protocol allows each attribute once, but not all writers observe that; `is_strict` does.
    pub(super) fn makes_sense<'a>(
        &self,
        dictionary: &Dictionary<'a>,
        is_strict: bool,
        lists: &mut AttributeLists<'a>,
    ) -> bool {
        let has_attributes = lists.are_known(&self.attributes, dictionary, is_strict);
        let has_link = self.link == 0 || dictionary.has_link(self.link);
        let (values, times) = (self.values.len(), self.times.len());
        let has_values = if times == 0 { values > 0 } else { values == 0 || values == times };
        has_attributes && has_link && has_values
    }
}

/// The lists of attributes that samples have: many samples have the same.
#[derive(Default)]
pub(super) struct AttributeLists<'a> {
    known: HashSet<Vec<u64>>,
    /// The keys of a list, to find those that are there twice.
    keys: HashSet<&'a [u8]>,
}

/// The number of lists that are remembered, and their longest.
const MOST_LISTS: usize = 1 << 16;
const LONGEST_LIST: usize = 16;

impl<'a> AttributeLists<'a> {
    /// Whether all attributes of a list are in the dictionary, and, with `is_strict`, whether none has the key of another.
    fn are_known(&mut self, list: &[u64], dictionary: &Dictionary<'a>, is_strict: bool) -> bool {
        if list.is_empty() || self.known.contains(list) {
            return true;
        }
        self.keys.clear();
        // A single attribute is there once.
        let is_strict = is_strict && list.len() > 1;
        let are_known = list.iter().all(|&row| {
            let key = dictionary.attribute_key(row).filter(|_| row != 0);
            key.is_some_and(|key| !is_strict || self.keys.insert(key))
        });
        if are_known && list.len() <= LONGEST_LIST && self.known.len() < MOST_LISTS {
            self.known.insert(list.to_vec());
        }
        are_known
    }
}

/// Whether packed bytes are varints of nine bytes each, as times since 1970 in nanoseconds are.
fn are_varints(packed: &[u8]) -> bool {
    const TIME: usize = 9;
    packed.len().is_multiple_of(TIME)
        && packed.iter().enumerate().all(|(at, byte)| (byte & 0x80 == 0) == (at % TIME == TIME - 1))
}
