//! Mutations of protobuf messages that keep them well-formed: fields are duplicated, moved, dropped or renumbered, and
//! values replaced.

use crate::mutate::edge;
use crate::random::Random;

/// A field of a message.
#[derive(Clone, Debug)]
enum Value {
    Varint(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Field {
    number: u64,
    value: Value,
}

/// Mutates a message, or one nested in it.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let Some(mut fields) = parse(bytes) else { return };
    if fields.is_empty() {
        return;
    }
    let (at, other) = (random.below(fields.len()), random.below(fields.len()));
    match random.below(10) {
        0 => fields.insert(other, fields[at].clone()),
        1 => fields.swap(at, other),
        2 => drop(fields.remove(at)),
        3 => fields[at].number = 1 + random.below(16) as u64,
        4 => fields.swap_remove(at).write_with_wrong_length(&mut fields, random),
        // All fields with one number: drops a table, or duplicates each of its rows.
        5 => {
            let number = fields[at].number;
            fields.retain(|field| field.number != number);
        }
        6 => {
            let number = fields[at].number;
            let again: Vec<Field> = fields.iter().filter(|field| field.number == number).cloned().collect();
            fields.splice(at..at, again);
        }
        _ => change(&mut fields[at].value, random),
    }
    bytes.clear();
    for field in &fields {
        field.write(bytes);
    }
}

fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Varint(number) => *number = edge(random),
        Value::Fixed(bytes) => bytes.iter_mut().for_each(|byte| *byte = random.number() as u8),
        Value::Bytes(bytes) if random.once_in(8) => {
            // A list of packed integers: replaces one of them, or adds one.
            let mut packed = Vec::new();
            put_varint(&mut packed, edge(random));
            let at = random.below(bytes.len());
            bytes.splice(at..at, packed);
        }
        Value::Bytes(bytes) => mutate(bytes, random),
    }
}

impl Field {
    fn write(&self, out: &mut Vec<u8>) {
        let wire_type = match &self.value {
            Value::Varint(_) => 0,
            Value::Fixed(bytes) if bytes.len() == 8 => 1,
            Value::Fixed(_) => 5,
            Value::Bytes(_) => 2,
        };
        put_varint(out, self.number << 3 | wire_type);
        match &self.value {
            Value::Varint(number) => put_varint(out, *number),
            Value::Fixed(bytes) => out.extend_from_slice(bytes),
            Value::Bytes(bytes) => {
                put_varint(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }

    /// Moves the field to the end with a wrong length.
    fn write_with_wrong_length(self, fields: &mut Vec<Field>, random: &mut Random) {
        let Value::Bytes(bytes) = &self.value else { return fields.push(self) };
        let mut raw = Vec::new();
        put_varint(&mut raw, edge(random));
        raw.extend_from_slice(bytes);
        // The raw bytes are appended after all fields.
        fields.push(Field { number: self.number, value: Value::Bytes(raw) });
    }
}

/// The fields of a message; `None` if the bytes are not a message.
fn parse(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = take_varint(&mut bytes)?;
        let value = match tag & 7 {
            0 => Value::Varint(take_varint(&mut bytes)?),
            1 => Value::Fixed(take(&mut bytes, 8)?.to_vec()),
            2 => {
                let length = take_varint(&mut bytes)?;
                Value::Bytes(take(&mut bytes, usize::try_from(length).ok()?)?.to_vec())
            }
            5 => Value::Fixed(take(&mut bytes, 4)?.to_vec()),
            _ => return None,
        };
        fields.push(Field { number: tag >> 3, value });
    }
    Some(fields)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends a varint.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
