//! Mutations of an input: of its bytes, and of the structure of its format.

use crate::random::Random;
use crate::{json, lines, protobuf};

/// The structure of an input, which determines how it can be mutated beyond its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Bytes with lengths and offsets in them.
    Binary,
    /// Protobuf messages.
    Protobuf,
    /// JSON.
    Json,
    /// Lines of text.
    Lines,
}

/// Applies one to six mutations to `input`. `other` is another input of the format, from which parts can be taken.
pub fn mutate(shape: Shape, input: &[u8], other: &[u8], dictionary: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let changes = 1 + random.below(3) + if random.once_in(8) { 3 } else { 0 };
    for _ in 0..changes {
        let deep = !random.once_in(3);
        match shape {
            Shape::Protobuf if deep => protobuf::mutate(&mut bytes, random),
            Shape::Json if deep => json::mutate(&mut bytes, dictionary, random),
            Shape::Lines if deep => lines::mutate(&mut bytes, random),
            _ => change_bytes(&mut bytes, other, dictionary, random),
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// The maximum size of a mutated input. Larger ones would only take longer.
const LONGEST: usize = 1 << 20;

/// Integers at which code tends to break.
const EDGES: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    0xffff_ffff_ffff_ffff,
];

/// An edge case, or any integer.
pub fn edge(random: &mut Random) -> u64 {
    match random.below(8) {
        0 => random.number(),
        1 => random.number() >> random.below(64),
        _ => *random.pick(EDGES),
    }
}

fn change_bytes(bytes: &mut Vec<u8>, other: &[u8], dictionary: &[&str], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(12) {
        0 => bytes.truncate(at),
        1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        2 if !bytes.is_empty() => bytes[at] = random.number() as u8,
        3 => drop(bytes.drain(random.range(bytes.len()))),
        4 => {
            let part = bytes[random.range(bytes.len())].to_vec();
            bytes.splice(at..at, part);
        }
        5 => overwrite_integer(bytes, at, random),
        6 => overwrite_varint(bytes, at, random),
        7 | 8 if !dictionary.is_empty() => {
            let word = random.pick(dictionary).bytes();
            let end = if random.once_in(2) { at } else { (at + word.len()).min(bytes.len()) };
            bytes.splice(at..end, word);
        }
        9 => {
            let part = &other[random.range(other.len())];
            bytes.splice(at..at, part.iter().copied());
        }
        10 => {
            bytes.truncate(at);
            bytes.extend_from_slice(&other[random.below(other.len())..]);
        }
        _ => {
            let part = bytes[random.range(bytes.len())].to_vec();
            let times = 1 + random.below(if part.len() < 64 { 300 } else { 3 });
            bytes.splice(at..at, part.repeat(times));
        }
    }
}

/// Overwrites bytes with an integer of 2, 4 or 8 bytes, which may be a length, an offset or a count.
fn overwrite_integer(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = *random.pick(&[2, 4, 8]);
    let value = edge(random);
    let value = if random.once_in(2) { value.to_le_bytes() } else { value.swap_bytes().to_le_bytes() };
    for (byte, new) in bytes[at..].iter_mut().take(width).zip(value) {
        *byte = new;
    }
}

/// Replaces what may be a varint with another one.
fn overwrite_varint(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let length = bytes[at..].iter().take(10).position(|byte| byte & 0x80 == 0).map_or(0, |last| last + 1);
    let mut new = Vec::new();
    protobuf::put_varint(&mut new, edge(random));
    bytes.splice(at..at + length, new);
}
