//! OTLP as JSON, which is converted to protobuf: the same fields, by name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::format::ParseError;
use crate::format::json::{Json, Kind, mentions};
use crate::format::otlp::numbering::{Numbering, RANGES, VALUES_LAST};
use crate::format::wire::{push_bytes, push_varint};

/// The fields of a message: the name in lower case without `_`, the number, and the content.
type Shape = [(&'static str, u32, Content)];

#[derive(Clone, Copy)]
enum Content {
    /// An integer or a bool.
    Number,
    /// An integer of eight fixed bytes.
    Fixed,
    Double,
    Text,
    /// Bytes in hexadecimal or base64.
    Id,
    Message(&'static Shape),
}

use Content::{Double, Fixed, Id, Message, Number, Text};

static PROFILES_DATA: &Shape =
    &[("resourceprofiles", 1, Message(RESOURCE_PROFILES)), ("dictionary", 2, Message(DICTIONARY))];
static RESOURCE_PROFILES: &Shape =
    &[("resource", 1, Message(RESOURCE)), ("scopeprofiles", 2, Message(SCOPE_PROFILES))];
static RESOURCE: &Shape = &[("attributes", 1, Message(KEY_VALUE))];
static KEY_VALUE: &Shape = &[("key", 1, Text), ("value", 2, Message(ANY_VALUE)), ("keystrindex", 3, Number)];
static ANY_VALUE: &Shape = &[
    ("stringvalue", 1, Text),
    ("boolvalue", 2, Number),
    ("intvalue", 3, Number),
    ("doublevalue", 4, Double),
    ("stringvaluestrindex", 8, Number),
];
static SCOPE_PROFILES: &Shape = &[("profiles", 2, Message(PROFILE))];
static VALUE_TYPE: &Shape = &[("typestrindex", 1, Number), ("unitstrindex", 2, Number)];
/// The names are those of all versions, the numbers those of the newest.
static PROFILE: &Shape = &[
    ("sampletype", 1, Message(VALUE_TYPE)),
    ("samples", 2, Message(SAMPLE)),
    ("sample", 2, Message(SAMPLE)),
    ("timeunixnano", 3, Fixed),
    ("timenanos", 3, Fixed),
    ("durationnano", 4, Number),
    ("durationnanos", 4, Number),
    ("periodtype", 5, Message(VALUE_TYPE)),
    ("period", 6, Number),
];
static SAMPLE: &Shape = &[
    ("stackindex", 1, Number),
    ("attributeindices", 2, Number),
    ("linkindex", 3, Number),
    ("values", 4, Number),
    ("value", 4, Number),
    ("timestampsunixnano", 5, Fixed),
];
static DICTIONARY: &Shape = &[
    ("mappingtable", 1, Message(MAPPING)),
    ("locationtable", 2, Message(LOCATION)),
    ("functiontable", 3, Message(FUNCTION)),
    ("linktable", 4, Message(LINK)),
    ("stringtable", 5, Text),
    ("attributetable", 6, Message(ATTRIBUTE)),
    ("stacktable", 7, Message(STACK)),
];
static MAPPING: &Shape = &[
    ("memorystart", 1, Number),
    ("memorylimit", 2, Number),
    ("fileoffset", 3, Number),
    ("filenamestrindex", 4, Number),
    ("attributeindices", 5, Number),
];
static LOCATION: &Shape = &[
    ("mappingindex", 1, Number),
    ("address", 2, Number),
    ("lines", 3, Message(LINE)),
    ("line", 3, Message(LINE)),
];
static LINE: &Shape = &[("functionindex", 1, Number), ("line", 2, Number), ("column", 3, Number)];
static FUNCTION: &Shape = &[
    ("namestrindex", 1, Number),
    ("systemnamestrindex", 2, Number),
    ("filenamestrindex", 3, Number),
    ("startline", 4, Number),
];
static LINK: &Shape = &[("traceid", 1, Id), ("spanid", 2, Id)];
static ATTRIBUTE: &Shape = &[
    ("keystrindex", 1, Number),
    ("key", 1, Text),
    ("value", 2, Message(ANY_VALUE)),
    ("unitstrindex", 3, Number),
];
static STACK: &Shape = &[("locationindices", 1, Number)];

// The version in which samples have ranges of locations.
static PROFILES_DATA_RANGES: &Shape =
    &[("resourceprofiles", 1, Message(RESOURCE_PROFILES_RANGES)), ("dictionary", 2, Message(DICTIONARY))];
static RESOURCE_PROFILES_RANGES: &Shape =
    &[("resource", 1, Message(RESOURCE)), ("scopeprofiles", 2, Message(SCOPE_PROFILES_RANGES))];
static SCOPE_PROFILES_RANGES: &Shape = &[("profiles", 2, Message(PROFILE_RANGES))];
static PROFILE_RANGES: &Shape = &[
    ("sampletype", 1, Message(VALUE_TYPE)),
    ("sample", 2, Message(SAMPLE_RANGES)),
    ("locationindices", 3, Number),
    ("timenanos", 4, Number),
    ("durationnanos", 5, Number),
    ("periodtype", 6, Message(VALUE_TYPE)),
    ("period", 7, Number),
];
static SAMPLE_RANGES: &Shape = &[
    ("locationsstartindex", 1, Number),
    ("locationslength", 2, Number),
    ("value", 3, Number),
    ("values", 3, Number),
    ("attributeindices", 4, Number),
    ("linkindex", 5, Number),
    ("timestampsunixnano", 6, Fixed),
];

/// Converts the object that comes next, and says which numbering the fields of the result have. `text` is the whole input.
pub(super) fn to_protobuf(
    json: &mut Json<'_>,
    text: &[u8],
) -> Result<(Vec<u8>, &'static Numbering), ParseError> {
    let has_ranges = [
        "\"locationsStartIndex\"",
        "\"locationsLength\"",
        "\"locations_start_index\"",
        "\"locations_length\"",
    ]
    .iter()
    .any(|name| mentions(text, name));
    let (shape, numbering) =
        if has_ranges { (PROFILES_DATA_RANGES, &RANGES) } else { (PROFILES_DATA, &VALUES_LAST) };
    let mut out = Vec::new();
    message(json, shape, &mut out)?;
    Ok((out, numbering))
}

/// Converts an object. Objects nest only as deeply as `shape` does.
fn message(json: &mut Json<'_>, shape: &'static Shape, out: &mut Vec<u8>) -> Result<(), ParseError> {
    json.object()?;
    while let Some(key) = json.key()? {
        let name: String = key.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect();
        match shape.iter().find(|(known, ..)| *known == name) {
            None => json.skip()?,
            Some(&(_, number, content)) => field(json, number, content, out)?,
        }
    }
    Ok(())
}

/// Converts a value, or all values of a list.
fn field(json: &mut Json<'_>, number: u32, content: Content, out: &mut Vec<u8>) -> Result<(), ParseError> {
    if json.kind()? != Kind::Array {
        return value(json, number, content, out);
    }
    json.array()?;
    if !matches!(content, Number | Fixed) {
        while json.element()? {
            value(json, number, content, out)?;
        }
        return Ok(());
    }
    let mut packed = Vec::new();
    while json.element()? {
        let integer = integer(json)?;
        match content {
            Fixed => packed.extend_from_slice(&integer.to_le_bytes()),
            _ => push_varint(&mut packed, integer),
        }
    }
    push_bytes(out, number, &packed);
    Ok(())
}

fn value(json: &mut Json<'_>, number: u32, content: Content, out: &mut Vec<u8>) -> Result<(), ParseError> {
    if json.null()? {
        return Ok(());
    }
    match content {
        Number => {
            push_varint(out, u64::from(number) << 3);
            push_varint(out, integer(json)?);
        }
        Fixed => {
            push_varint(out, u64::from(number) << 3 | 1);
            out.extend_from_slice(&integer(json)?.to_le_bytes());
        }
        Double => {
            push_varint(out, u64::from(number) << 3 | 1);
            out.extend_from_slice(&json.number_if_any()?.unwrap_or_default().to_le_bytes());
        }
        Text => push_bytes(out, number, json.string()?.as_bytes()),
        Id => push_bytes(out, number, &id(&json.string()?)),
        Message(shape) => {
            let mut inner = Vec::new();
            message(json, shape, &mut inner)?;
            push_bytes(out, number, &inner);
        }
    }
    Ok(())
}

/// An integer, which is in quotes if it may have 64 bits. Negative numbers keep their bits.
fn integer(json: &mut Json<'_>) -> Result<u64, ParseError> {
    match json.kind()? {
        Kind::Number => json.integer().map(|number| number as u64),
        Kind::Bool => json.is_true().map(u64::from),
        Kind::String => {
            let text = json.string()?;
            let negative = || text.parse::<i64>().ok().map(|number| number as u64);
            let number = text.parse::<u64>().ok().or_else(negative);
            number.ok_or_else(|| json.error("expected an integer"))
        }
        _ => Err(json.error("expected an integer")),
    }
}

/// An id of 8 or 16 bytes: OTLP says hexadecimal, protobuf's own JSON is base64.
fn id(text: &str) -> Vec<u8> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    match digits.filter(|digits| [16, 32].contains(&digits.len())) {
        Some(digits) => digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect(),
        None => STANDARD.decode(text).unwrap_or_default(),
    }
}
