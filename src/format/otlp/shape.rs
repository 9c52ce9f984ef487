//! Which fields the messages have, as far as they are needed to tell OTLP from other protobuf messages.

use crate::format::wire::{Value, Wire, WireError};

/// The fields of a message: their numbers and what they may contain.
type Shape = [(u32, Content)];

#[derive(Clone, Copy)]
enum Content {
    /// A varint or fixed bytes.
    Number,
    /// A text, packed numbers, or a message that is not examined.
    Bytes,
    /// Numbers, packed or not.
    Numbers,
    Message(&'static Shape),
}

use Content::{Bytes, Message, Number, Numbers};

static PROFILES_DATA: &Shape = &[(1, Message(RESOURCE_PROFILES)), (2, Message(DICTIONARY))];
static RESOURCE_PROFILES: &Shape = &[(1, Message(RESOURCE)), (2, Message(SCOPE_PROFILES)), (3, Bytes)];
static RESOURCE: &Shape = &[(1, Message(KEY_VALUE)), (2, Number), (3, Bytes)];
static KEY_VALUE: &Shape = &[(1, Bytes), (2, Message(ANY_VALUE)), (3, Number)];
static ANY_VALUE: &Shape =
    &[(1, Bytes), (2, Number), (3, Number), (4, Number), (5, Bytes), (6, Bytes), (7, Bytes), (8, Number)];
static SCOPE_PROFILES: &Shape = &[(1, Message(SCOPE)), (2, Message(PROFILE)), (3, Bytes)];
static SCOPE: &Shape = &[(1, Bytes), (2, Bytes), (3, Message(KEY_VALUE)), (4, Number)];
static VALUE_TYPE: &Shape = &[(1, Number), (2, Number), (3, Number)];
/// The numbers of most fields changed between versions.
static PROFILE: &Shape = &[
    (1, Message(VALUE_TYPE)),
    (2, Message(SAMPLE)),
    (3, Numbers),
    (4, Number),
    (5, Numbers),
    (6, Numbers),
    (7, Numbers),
    (8, Numbers),
    (9, Numbers),
    (10, Numbers),
    (11, Numbers),
    (12, Numbers),
    (13, Numbers),
    (14, Numbers),
];
static SAMPLE: &Shape = &[(1, Number), (2, Numbers), (3, Numbers), (4, Numbers), (5, Numbers), (6, Numbers)];
static DICTIONARY: &Shape = &[
    (1, Message(MAPPING)),
    (2, Message(LOCATION)),
    (3, Message(FUNCTION)),
    (4, Message(&[(1, Bytes), (2, Bytes)])),
    (5, Bytes),
    (6, Message(&[(1, Numbers), (2, Message(ANY_VALUE)), (3, Number)])),
    (7, Message(&[(1, Numbers), (2, Number)])),
];
static MAPPING: &Shape = &[
    (1, Number),
    (2, Number),
    (3, Number),
    (4, Number),
    (5, Numbers),
    (6, Number),
    (7, Number),
    (8, Number),
    (9, Number),
];
static LOCATION: &Shape = &[(1, Number), (2, Number), (3, Message(LINE)), (4, Numbers), (5, Numbers)];
static LINE: &Shape = &[(1, Number), (2, Number), (3, Number)];
static FUNCTION: &Shape = &[(1, Number), (2, Number), (3, Number), (4, Number)];

/// Whether the front of an input looks like a message with profiles. The front may end anywhere.
pub(super) fn is_message(head: &[u8]) -> bool {
    let mut fields = 0;
    fits(head, PROFILES_DATA, &mut fields) && fields > ENOUGH
}

/// Two fields could be chance.
const ENOUGH: usize = 4;

/// Whether `bytes` has only fields of `shape`, which are counted. A field that continues after the end of the input is not
/// examined unless it is a message.
fn fits(bytes: &[u8], shape: &'static Shape, fields: &mut usize) -> bool {
    let mut wire = Wire::new(bytes);
    loop {
        let start = wire.position();
        match wire.field() {
            Ok(None) => return true,
            Ok(Some(field)) if field_fits(field.number, field.value, shape, fields) => {}
            Err(WireError::Truncated) => {
                let rest = cut(&bytes[start..]);
                return rest
                    .is_none_or(|(number, rest)| field_fits(number, Value::Bytes(rest), shape, fields));
            }
            _ => return false,
        }
    }
}

fn field_fits(number: u32, value: Value<'_>, shape: &'static Shape, fields: &mut usize) -> bool {
    let Some((_, content)) = shape.iter().find(|(known, _)| *known == number) else { return false };
    *fields += 1;
    match (content, value) {
        (Number | Numbers, Value::Varint(_) | Value::Fixed(_)) | (Bytes | Numbers, Value::Bytes(_)) => true,
        (Message(shape), Value::Bytes(message)) => fits(message, shape, fields),
        _ => false,
    }
}

/// The number and the available bytes of a field whose length is known, but which is not there as a whole.
fn cut(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut wire = Wire::new(bytes);
    let tag = wire.varint().ok().filter(|tag| tag & 7 == 2)?;
    wire.varint().ok()?;
    Some((u32::try_from(tag >> 3).ok()?, &bytes[wire.position()..]))
}
